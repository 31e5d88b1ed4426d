/** One project per tier: what a run needs decides the tier, and `npm test -- --only <tier>` runs one. */
import { defineConfig } from "vitest/config";

interface Tier {
  name: string;
  include: string[];
  /** Of one test and of a hook, in milliseconds: a limit against hanging, not a measurement. */
  timeout: number;
  /** Tiers that start whole processes or use every core run their files one after another. */
  parallel: boolean;
}

const tiers: Tier[] = [
  { name: "unit", include: ["test/unit/**/*.test.{ts,tsx}"], timeout: 20_000, parallel: true },
  { name: "store", include: ["test/store/**/*.test.ts"], timeout: 60_000, parallel: true },
  { name: "native", include: ["test/native/**/*.test.ts"], timeout: 120_000, parallel: false },
  { name: "kernels", include: ["test/kernels/**/*.test.ts"], timeout: 600_000, parallel: false },
  { name: "oracle", include: ["test/oracle/**/*.test.ts"], timeout: 600_000, parallel: false },
  { name: "fuzz", include: ["test/fuzz/**/*.test.ts"], timeout: 1_800_000, parallel: false },
  { name: "peer", include: ["test/peer/**/*.test.ts"], timeout: 600_000, parallel: false },
  { name: "e2e", include: ["test/e2e/**/*.test.ts"], timeout: 300_000, parallel: false },
  { name: "electron", include: ["test/electron/**/*.test.ts"], timeout: 300_000, parallel: false },
];

export default defineConfig({
  test: {
    projects: tiers.map((tier) => ({
      extends: true as const,
      test: {
        name: tier.name,
        include: tier.include,
        exclude: ["**/node_modules/**"],
        environment: "node",
        setupFiles: ["test/seed.ts"],
        pool: "forks" as const,
        fileParallelism: tier.parallel,
        testTimeout: tier.timeout,
        hookTimeout: tier.timeout,
        restoreMocks: true,
      },
    })),
  },
});
