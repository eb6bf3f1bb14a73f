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

/** @param {[number[], number][]} stacks functions, outermost first, and their weight @param {string[]} names of the functions */
export function madeOf(stacks, names) {
  const raw = rawProfile();
  raw.strings = [...names, "prog", "/bin/prog", "", "one"];
  const [prog, path, none, thread] = [0, 1, 2, 3].map((i) => names.length + i);
  raw.modules = { name: [prog], path: [path] };
  raw.functions = { name: names.map((_, i) => i), module: names.map(() => 0), known: names.map(() => 1) };
  const of = (value) => names.map(() => value);
  raw.places = { function: names.map((_, i) => i), file: of(none), line: of(0), kind: of(0), inlined: of(0) };
  const root = { children: new Map() };
  const ends = stacks.map(([stack]) => stack.reduce((node, f) => node.children.get(f) ?? node.children.set(f, { children: new Map() }).get(f), root));
  raw.nodes = { place: [], deeper: [] };
  let before = 0;
  const number = (node, depth) => {
    for (const [f, child] of node.children) {
      child.at = raw.nodes.place.push(f) - 1;
      raw.nodes.deeper.push(depth - before);
      before = depth;
      number(child, depth + 1);
    }
  };
  number(root, 0);
  const nodes = ends.map(({ at }) => at);
  raw.threads = { name: [thread], tid: [1], group: [0], pid: [9], program: [path] };
  raw.rows = { thread: nodes.map(() => 0), group: nodes.map(() => 0), node: nodes.map((n, i) => n - (nodes[i - 1] ?? 0)), values: [nodes.map(() => 1), stacks.map(([, weight]) => weight)] };
  raw.time = { step: 1e6, steps: 1, at: [], row: [], values: [[], []] };
  return readProfile(raw);
}
