import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColour, changeOf, functionColours } from "../src/colours.js";
import { isLittle, splitFacts } from "../src/facts.js";
import { duration, figure, moment, percent, points, typeName } from "../src/format.js";
import { Labels, shortName, shorterNames } from "../src/label.js";
import { firstState, formatState, parseState } from "../src/state.js";
import { assemblyRows, codeTitles, sourceRows } from "../src/code.js";
import { frameAt, threadTexts, wayTo } from "../src/names.js";
import { compile, hits } from "../src/search.js";
import { rootedProfile, shownProfile } from "../src/shown.js";
import { rowStates, stateOf, wakerSums } from "../src/states.js";
import { TimeTree } from "../src/timetree.js";
import { Tree } from "../src/tree.js";
import { tally, weigh } from "../src/weigh.js";
import { readProfile } from "../src/profile.js";
import { ALL, madeOf, profile, rawProfile } from "./profile.js";

test("figures have three digits that count", () => {
  assert.deepEqual([0, 5, 1234, 56789, 1.5e6, 999.6e6, 12.34e9].map(duration), ["0 s", "5.00 ns", "1.23 µs", "56.8 µs", "1.50 ms", "1.00 s", "12.3 s"]);
  assert.deepEqual([figure(1234567, "count"), figure(2048, "bytes"), figure(-1e6, "nanoseconds")], ["1,234,567", "2.00 KiB", "−1.00 ms"]);
  assert.deepEqual([percent(1, 3), percent(1, 0), points(-1.234), points(0.5)], ["33.33 %", "0.00 %", "−1.23", "+0.50"]);
  assert.deepEqual([moment(1.5e9, 1e6), moment(1.5e9, 1e8), moment(2e9, 1e9)], ["1.500 s", "1.5 s", "2 s"]);
  assert.deepEqual([typeName({ type: "cpu", unit: "nanoseconds" }), typeName({ type: "alloc_space", unit: "bytes" })], ["CPU time", "Allocated, bytes"]);
});

test("names are cut where they say least", () => {
  assert.equal(shortName("std::map<int, std::less<int> >::find(int const&)"), "std::map::find");
  assert.equal(shortName("a::operator()(int)"), "a::operator()");
  assert.equal(shortName("bool a::operator< <int>(int)"), "bool a::operator<");
  assert.equal(shortName("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  assert.equal(shortName("plain"), "plain");
  const labels = new Labels((text) => text.length * 6);
  assert.equal(labels.fit("f(int)", ["f"], 36), "f(int)");
  assert.equal(labels.fit("f(int)", ["f"], 20), "f");
  assert.equal(labels.fit("function", ["function"], 36), "funct…");
  assert.equal(labels.fit("function", ["function"], 12), "");
});

test("what tells functions apart is kept longest", () => {
  assert.deepEqual(shorterNames("a::Fib<8>::go(int)"), ["a::Fib<8>::go", "Fib<8>::go", "a::Fib::go", "Fib::go", "go"]);
  assert.deepEqual(shorterNames("std::map<int, std::less<std::pair<int, long> > >::find(int const&)"), ["std::map::find", "map::find", "find"]);
  assert.deepEqual(shorterNames("plain"), ["plain"]);
  assert.deepEqual(shorterNames("(anonymous namespace)::f(int)"), ["(anonymous namespace)::f", "f"]);
  for (const name of ["<<<<", "))))", "a<(b::c", "operator<", "::", "->", "a::"]) assert.ok(shorterNames(name).every((n) => n.length > 0), name);
});

test("a wait's words say its state", () => {
  const waits = ["runnable", "asleep in futex known_lock (server)", "asleep in epoll_wait", "asleep in ppoll", "asleep in recvfrom tcp 127.0.0.1:5432", "asleep in clock_nanosleep",
    "asleep in wait4", "asleep", "disk in read", "page fault", "stopped in ptrace", "short waits"];
  assert.deepEqual(waits.map(stateOf), [1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10]);
  assert.equal(rowStates(profile()), null);
});

test("what ended waits is said of the chosen threads", () => {
  const raw = rawProfile();
  assert.deepEqual(wakerSums(readProfile(raw), null), []);
  raw.wakers = { thread: [0, 0, 1, 1], other: [1, -1, -1, -1], name: [11, 11, 4, 11], ns: [20, 5, 30, 40] };
  assert.deepEqual(wakerSums(readProfile(raw), null), [["two", 45], ["read", 30], ["two 2", 20]]);
  assert.deepEqual(wakerSums(readProfile(raw), new Set([0])), [["two 2", 20], ["two", 5]]);
});

test("what is warned of is worth it", () => {
  assert.ok(isLittle("never sampled: 0.4 ms (0.03 %)") && isLittle("without names: lua 0.60 %") && !isLittle("lost: 7 samples") && !isLittle("a 0.1 %, b 13.79 %"));
});

test("the first lines are split into what was recorded and what is missing", () => {
  const { titles, facts } = splitFacts(["old: ./a", "  recorded x", "new: ./b", "  recorded y", "  CPU time 1 s, was 2 s", "  lost: 3"]);
  assert.deepEqual(titles, ["old: ./a", "new: ./b"]);
  assert.deepEqual(facts.map((f) => f.missing), [false, false, false, true]);
  assert.ok(splitFacts(["  the beginning of the recording is missing"]).facts[0].missing);
});

test("functions of one name in modules of one name are one", () => {
  const raw = rawProfile();
  raw.modules = { name: [6, 6, 4], path: [7, 6, 4] };
  raw.functions = { name: [0, 1, 0, 0, 4, 5], module: [0, 0, 1, 2, 0], known: [1, 1, 1, 1, 1] };
  const p = readProfile(raw);
  assert.deepEqual([...p.nodes.function], [0, 1, 0, 3, 3, 4, 5]);
  assert.deepEqual([...p.functionModule], [0, 0, 0, 2, 0, -1, -1]);
});

test("a state is read back from the address, and nonsense is passed over", () => {
  const p = profile();
  const state = { ...firstState(p), view: "callers", up: true, search: "a&b=#c", regex: true, threads: [1], from: 1, to: 3, type: 0, colour: "kind",
    focus: 2, sort: "name", rising: true, theme: "dark", only: "prog", hidden: { functions: [1], modules: ["prog"] }, collapsed: true, zoom: { path: "abcdAB-_", name: "sort@prog", depths: [1, 2] } };
  assert.deepEqual(parseState(`#${formatState(state, p)}`, p), state);
  assert.equal(formatState(firstState(p), p), "");
  const odd = "#view=x&thread=nobody&time=9-2&time=1..0&value=9&zoom=99:1&colour=change&function=x&shares=1&hide=&hide=%00&sort=selfOld";
  assert.deepEqual(parseState(odd, p), { ...firstState(p), threads: [] });
});

test("an address names functions and threads, so that it fits another recording", () => {
  const p = profile();
  const raw = rawProfile();
  raw.strings = raw.strings.map((s) => ({ two: "other" })[s] ?? s);
  raw.functions.name.reverse();
  raw.threads.tid = [71, 72];
  raw.time.step = 2e6;
  const q = readProfile(raw);
  const there = (state) => parseState(`#${formatState({ ...firstState(p), ...state }, p)}`, q);
  assert.equal(q.names[there({ focus: 2 }).focus], "sort");
  assert.deepEqual(there({ threads: [0] }).threads, [0]);
  assert.deepEqual(there({ threads: [1] }).threads, []);
  assert.deepEqual([there({ from: 2, to: 4 }).from, there({ from: 2, to: 4 }).to], [1, 2]);
  assert.deepEqual(threadTexts({ threads: [{ name: "a", tid: 1, group: 0 }, { name: "a", tid: 2, group: 0 }, { name: "b", tid: 3, group: 1 }] }, [0, 2]), ["a#1.0", "b"]);
  // The same way in another tree; where it is not there, the widest frame of the function.
  const tree = new Tree(p, weigh(p, ALL));
  const way = wayTo(p, tree, tree.find([0, 1, 2]));
  const other = readProfile({ ...rawProfile(), nodes: { place: [0, 2, 1, 3, 4, 5, 6], deeper: [0, 1, 1, 0, 1, -2, -1] } });
  const there2 = new Tree(other, weigh(other, ALL));
  assert.equal(frameAt(p, tree, way), tree.find([0, 1, 2]));
  assert.equal(other.names[there2.frames.key[frameAt(other, there2, way)]], "sort");
  assert.equal(frameAt(p, tree, { path: "????", name: "gone@" }), 0);
});

/** Two processes of one program, and one of another. */
function family() {
  const raw = rawProfile();
  raw.strings.push("/bin/cc", "cc a.c", "cc b.c");
  raw.threads = { name: [10, 11, 11], tid: [1, 2, 3], group: [0, 0, 0], pid: [9, 10, 11], program: [7, 13, 13], command: [7, 14, 15] };
  raw.rows.thread = [0, 1, 2, 2];
  return readProfile(raw);
}

test("processes are outermost frames, below their program where that has several", () => {
  const p = family();
  assert.deepEqual(p.processes.map(({ pid, command, threads }) => [pid, command, threads]), [[9, "/bin/prog", [0]], [10, "cc a.c", [1]], [11, "cc b.c", [2]]]);
  const q = rootedProfile(p);
  const tree = new Tree(q, weigh(q, ALL));
  const names = (frame) => Array.from({ length: tree.childCount(frame) }, (_, i) => q.names[tree.frames.key[tree.frames.first[frame] + i]]);
  assert.deepEqual(names(0), ["prog 9", "cc, 2 processes"]);
  assert.deepEqual(names(tree.frames.first[0] + 1), ["cc 10", "cc 11"]);
  assert.equal(q.notes.get(tree.frames.key[tree.find([q.names.indexOf("cc, 2 processes"), q.names.indexOf("cc 11")])]), "cc b.c");
  assert.equal(weigh(q, ALL).all[0], 115);
  assert.equal(rootedProfile(profile()).nodes.place.length, 7, "one process is no frame");
});

test("time order: a stack that stays is one frame, and a step without samples parts frames", () => {
  const raw = rawProfile();
  raw.time = { step: 1e6, steps: 8, at: [0, 1, 1, 2, 1], row: [0, 0, 1, -1, 0], values: [[1, 1, 1, 1, 1], [9, 9, 9, 9, 9]] };
  const p = readProfile(raw);
  const tree = new TimeTree(p, weigh(p, ALL), ALL, 0);
  const show = (frame) => Array.from({ length: tree.childCount(frame) }, (_, i) => tree.frames.first[frame] + i)
    .map((f) => `${p.names[tree.frames.key[f]]} ${tree.frames.start[f]}-${tree.frames.start[f] + tree.frames.width[f]}`).join(", ");
  assert.equal(show(0), "main 0-3, main 4-6");
  assert.equal(show(1), "work 0-3");
  assert.equal(show(tree.at(2, 0.5)), "sort 0-2, fib 2-3");
  assert.deepEqual([tree.frames.old[0], tree.frames.old[1], tree.frames.below[0], tree.at(1, 3.5)], [45, 27, 4, -1]);
  assert.equal(new TimeTree(p, weigh(p, ALL), { ...ALL, from: 4, to: 8 }, 0).frames.old[0], 18);
});

test("time order: a short gap parts no frame, a longer one does", () => {
  const p = profile();
  const at = [100, 105, 140];
  const time = { ...p.time, steps: 1000, at: Int32Array.from(at), row: Int32Array.from([0, 0, 0]), values: p.time.values.map((v) => v && Float64Array.from([1, 1, 1])) };
  const tree = new TimeTree({ ...p, time }, weigh(p, ALL), ALL, p.rows.thread[0]);
  const spans = () => Array.from({ length: tree.childCount(0) }, (_, i) => [tree.frames.start[tree.frames.first[0] + i], tree.frames.width[tree.frames.first[0] + i]]);
  assert.deepEqual(spans(), [[100, 6], [140, 1]]);
});

test("code: lines have the sums of their instructions, and instructions stand below their lines", () => {
  const strings = ["dir/a.c", "inc/b.h", "int x;", "return x;", "add", "call f", "ret", "y"];
  const code = {
    instructions: { offset: [16, 20, 25], text: [4, 5, 6], file: [0, 1, 0], line: [7, 2, 7], self: [30, 0, 10], total: [30, 5, 10] },
    sources: { file: [0, 0, 1], line: [7, 9, 2], text: [2, 3, 7] },
  };
  assert.deepEqual(sourceRows(code, strings).map(({ kind, self, total, at, text }) => [kind, self, total, at, text]), [
    ["file", 40, 0, "", "dir/a.c"], ["line", 40, 40, "7", "int x;"], ["gap", 0, 0, "⋮", ""], ["line", 0, 0, "9", "return x;"],
    ["file", 0, 0, "", "inc/b.h"], ["line", 0, 5, "2", "y"]]);
  assert.deepEqual(assemblyRows(code, strings).map(({ kind, self, at, text }) => [kind, self, at, text]), [
    ["line", 0, "a.c:7", "int x;"], ["instruction", 30, "10", "add"], ["line", 0, "b.h:2", "y"], ["instruction", 0, "14", "call f"],
    ["line", 0, "a.c:7", "int x;"], ["instruction", 10, "19", "ret"]]);
});

test("code: what the rows do not show is a row, gaps are marked, and files tell functions of one name apart", () => {
  const strings = ["a.c", "int x;", "add", "ret"];
  const code = {
    self: 50,
    instructions: { offset: [16, 64], text: [2, 3], file: [0, 0], line: [7, 0], self: [30, 5], total: [30, 5] },
    gaps: [1],
    sources: { file: [0], line: [7], text: [1] },
  };
  const kinds = (rows) => rows.map(({ kind, self }) => `${kind} ${self}`);
  assert.deepEqual(kinds(sourceRows(code, strings)), ["file 30", "line 30", "rest 20"]);
  assert.deepEqual(kinds(assemblyRows(code, strings)), ["line 0", "instruction 30", "gap 0", "instruction 5", "rest 15"]);
  const of = (f, path) => ({ function: f, path });
  assert.deepEqual(codeTitles({ names: ["init", "main"], code: [of(0, "x/a.c"), of(1, "x/a.c"), of(0, "")] }), ["init (a.c)", "main", "init (file unknown)"]);
});

test("modules are searched, too", () => {
  const p = profile();
  assert.deepEqual([...hits(p, compile("PRO".toLowerCase(), false).test)], [1, 1, 1, 1, 1, 0, 0]);
  assert.deepEqual([...hits(p, compile("^so", true).test)], [0, 0, 1, 0, 0, 0, 0]);
});

test("a recursion through others is one frame, and keeps who calls whom", () => {
  // main: a (b (a (c, b (d))), e): stacks as functions, outermost first, with a weight each.
  const stacks = [[[0, 1, 2, 1, 3], 1], [[0, 1, 2, 1, 2, 4], 2], [[0, 1, 2, 5], 4], [[0, 1], 8], [[0, 5], 16]];
  const p = madeOf(stacks, ["main", "a", "b", "c", "d", "e"]);
  const sums = new Map();
  const shown = shownProfile(p, { functions: [], modules: [] }, true);
  const weights = weigh(shown, ALL);
  shown.rows.node.forEach((node, row) => {
    const stack = [];
    for (let at = node; at >= 0; at = shown.nodes.parent[at]) stack.push(p.names[shown.nodes.function[at]]);
    const key = stack.reverse().join(" ");
    sums.set(key, (sums.get(key) ?? 0) + shown.rows.values[1][row]);
  });
  assert.deepEqual(Object.fromEntries(sums), { "main a": 8, "main a b d": 2, "main a b e": 4, "main a c": 1, "main e": 16 });
  assert.equal(weights.all[0], 31);
});

test("what is hidden is its caller's, and a recursion is one frame", () => {
  const p = profile();
  const all = (q) => {
    const w = weigh(q, ALL);
    const t = tally(q, w);
    return Object.fromEntries(q.names.map((n, f) => [n, [t.self[0][f], t.total[0][f]]]).filter(([, [, total]]) => total > 0));
  };
  const none = { functions: [], modules: [] };
  assert.equal(shownProfile(p, none, false), p);
  assert.deepEqual(all(shownProfile(p, { ...none, functions: [1] }, false)), { main: [0, 110], sort: [60, 60], fib: [30, 30], read: [20, 20], "[unsampled]": [5, 5] });
  assert.deepEqual(all(shownProfile(p, { ...none, functions: [3] }, false)).work, [30, 90]);
  assert.deepEqual(all(shownProfile(p, { ...none, modules: ["prog"] }, false)), { "[hidden]": [110, 110], "[unsampled]": [5, 5] });
  assert.equal(shownProfile(p, none, true).nodes.place.length, p.nodes.place.length, "one recursion is gone, and the mark's node is there");
  assert.deepEqual(all(shownProfile(p, none, true)), all(p));
});

// --- Colours --------------------------------------------------------------------------------------

const linear = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = (hex) => linear(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const INK = { light: "#211f1c", dark: "#121110" }; // style.css: --graph-ink

test("text can be read on every colour", () => {
  const p = profile();
  for (const theme of ["light", "dark"]) {
    const shown = ["module", "kind"].flatMap((by) => functionColours(p, by, new Float64Array(p.names.length).fill(1), theme).colours);
    for (let c = -1; c <= 1; c += 0.1) shown.push(changeColour(c, theme));
    for (const colour of shown) assert.ok(contrast(colour, INK[theme]) >= 4.5, `${theme} ${colour}: ${contrast(colour, INK[theme])}`);
  }
});

/** As seen without one kind of cones: Viénot, Brettel and Mollon 1999, on linear RGB. */
const BLIND = {
  protan: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
  deutan: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
};

/** A colour as it is seen, in OKLab: equal distances look equal. */
function seen(hex, matrix) {
  const [r, g, b] = matrix.map((row) => Math.max(0, row.reduce((sum, m, i) => sum + m * linear(hex)[i], 0)));
  const [l, m, s] = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]]
    .map(([x, y, z]) => Math.cbrt(x * r + y * g + z * b));
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

test("ten modules and the grey are told apart with all cones, without red and without green ones", () => {
  const names = [..."abcdefghijkl"];
  const p = {
    names: [...names, "[mark]"], strings: names, modules: { name: names.map((_, i) => i), path: names.map((_, i) => i) }, threads: [],
    functionModule: Int32Array.from([...names.keys(), -1]), functionKnown: new Uint8Array(12).fill(1), places: { function: [], kind: [], inlined: [] },
  };
  for (const theme of ["light", "dark"]) {
    const { legend } = functionColours(p, "module", Float64Array.from([...names.keys(), 0], (i) => 20 - i), theme);
    const colours = [...new Set(legend.map((l) => l.colour))];
    assert.equal(colours.length, 11);
    for (const [kind, matrix] of Object.entries({ all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], ...BLIND }))
      for (let i = 0; i < colours.length; i++)
        for (let j = 0; j < i; j++) {
          const [a, b] = [seen(colours[i], matrix), seen(colours[j], matrix)];
          const distance = Math.hypot(...a.map((v, k) => v - b[k]));
          assert.ok(distance > 0.05, `${theme} ${kind} ${colours[i]} ${colours[j]}: ${distance}`);
        }
  }
});

test("less and more are told apart without red or green cones", () => {
  for (const theme of ["light", "dark"])
    for (const [kind, matrix] of Object.entries(BLIND)) {
      const seen = (change) => matrix.map((row) => row.reduce((sum, m, i) => sum + m * linear(changeColour(change, theme))[i], 0));
      const [less, same, more] = [seen(-0.8), seen(0), seen(0.8)];
      const blueness = ([r, , b]) => (b - r) / (b + r);
      assert.ok(blueness(less) - blueness(same) > 0.15 && blueness(same) - blueness(more) > 0.15, `${theme} ${kind}: ${[less, same, more].map(blueness)}`);
    }
  assert.deepEqual([changeOf(0), changeOf(-10), changeOf(40), changeOf(2.5), changeOf(-0.001) > -0.02], [0, -1, 1, 0.5, true]);
});
