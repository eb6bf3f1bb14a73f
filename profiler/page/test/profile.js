// A small recording for tests: as the data of a page has it.
import { readProfile } from "../src/profile.js";

/**
 *     main ─ work ─ sort            60
 *                 └ fib ─ fib       30
 *          └ read                   20
 *     [unsampled]                    5
 */
export function rawProfile() {
  return {
    groups: 1,
    summary: ["./prog a", "  recorded today", "  CPU time 0.1 s", "  lost: 3 samples"],
    types: [{ type: "samples", unit: "count" }, { type: "cpu", unit: "nanoseconds" }],
    main: 1,
    strings: ["main", "work", "sort", "fib", "read", "[unsampled]", "prog", "/bin/prog", "a.c", "", "one;thread", "two", "[omitted]"],
    modules: { name: [6], path: [7] },
    functions: { name: [0, 1, 2, 3, 4, 5], module: [0, 0, 0, 0, 0], known: [1, 1, 1, 1, 1] },
    places: { function: [0, 1, 2, 3, 3, 4, 5], file: [8, 8, 8, 8, 8, 9, 9], line: [1, 2, 3, 4, 5, 0, 0], kind: [0, 0, 0, 0, 0, 0, 0], inlined: [0, 0, 1, 0, 0, 0, 0] },
    nodes: { place: [0, 1, 2, 3, 4, 5, 6], deeper: [0, 1, 1, 0, 1, -2, -1] },
    threads: { name: [10, 11], tid: [1, 2], group: [0, 0], pid: [9, 9], program: [7, 7] },
    rows: { thread: [0, 0, 1, 1], group: [0, 0, 0, 0], node: [2, 2, 1, 1], values: [[6, 3, 2, 0], [60, 30, 20, 5]] },
    time: { step: 1e6, steps: 4, at: [0, 1, 0, 2], row: [0, 1, -1, 2], values: [[3, 3, 3, 2], [30, 30, 30, 20]] },
  };
}

/** The same stacks as those of a heap: two rows with events, in 10 ms. */
export function heap() {
  const raw = rawProfile();
  const unit = (name) => [{ type: `${name}_objects`, unit: "count" }, { type: `${name}_space`, unit: "bytes" }];
  raw.types = ["alloc", "inuse", "peak", "temporary"].flatMap(unit);
  raw.main = 3;
  raw.rows = { thread: [0, 1], group: [0, 0], node: [2, 3], values: [[10, 5], [1000, 500], [9, 0], [900, 0], [10, 5], [1000, 500], [0, 0], [0, 0]] };
  raw.time = {
    step: 1e7, steps: 4, at: [0, 1, 1, 0], row: [0, 1, -1, 1],
    values: [[10, 5, 0, 0], [1000, 500, 0, 0], [10, 5, -1, -6], [1000, 500, -100, -600], null, null, null, null],
    changes: [2, 3],
    live: [{ blocks: [10, 16, 15, 9], bytes: [1000, 1600, 1500, 900], peak: { at: 12e6, blocks: 16, bytes: 1600 } }],
  };
  return readProfile(raw);
}

export const profile = () => readProfile(rawProfile());

export const ALL = { type: 1, threads: null, from: 0, to: null };
