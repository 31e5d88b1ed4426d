// The tiers of the tests: what each needs beyond Node 24 and the built app, and how it is run.

/** In the order in which they run: what says most about a change comes first. */
export const tiers = [
  { name: "unit", needs: [] },
  { name: "store", needs: [] },
  { name: "native", needs: ["compiler", "cmake", "generator"], model: true },
  { name: "kernels", needs: ["compiler", "cmake", "generator"] },
  { name: "oracle", needs: [], model: true, vectors: true, real: true },
  { name: "fuzz", needs: ["cmake", "generator", "fuzzer", "compiler"] },
  { name: "peer", needs: [], model: true, peer: true },
  { name: "e2e", needs: ["chromium"], model: true },
  { name: "electron", needs: ["display", "electronLibraries"], model: true, electron: true },
];
