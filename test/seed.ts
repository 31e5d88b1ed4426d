/** One seed for every property test, so that a run can be repeated; HALOGEN_SEED names another, or "random". */
import fc from "fast-check";

const given = process.env.HALOGEN_SEED ?? "20261130";
if (given !== "random") fc.configureGlobal({ seed: Number.parseInt(given, 10) });
