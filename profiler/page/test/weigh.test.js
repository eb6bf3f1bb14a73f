import assert from "node:assert/strict";
import { test } from "node:test";
import { folded } from "../src/folded.js";
import { compile, hits, matched } from "../src/search.js";
import { byThread, changeIn, isLevel, levelOverTime, overTime, tally, weigh } from "../src/weigh.js";
import { ALL, heap, profile } from "./profile.js";

const byName = (p, values) => Object.fromEntries(p.names.map((name, f) => [name, values[f]]));

test("a node has what ended in it, and below it", () => {
  const p = profile();
  const w = weigh(p, ALL);
  assert.deepEqual([...w.self[0]], [0, 0, 60, 0, 30, 20, 5]);
  assert.deepEqual([...w.total[0]], [110, 90, 60, 30, 30, 20, 5]);
  assert.deepEqual([w.all, [...w.height]], [[115], [4, 3, 1, 2, 1, 1, 1]]);
});

test("a recursion counts once in its function's total", () => {
  const p = profile();
  const t = tally(p, weigh(p, ALL));
  assert.deepEqual(byName(p, t.total[0]), { main: 110, work: 90, sort: 60, fib: 30, read: 20, "[unsampled]": 5, "[hidden]": 0 });
  assert.equal(byName(p, t.self[0]).fib, 30);
});

test("threads and times are chosen", () => {
  const p = profile();
  assert.deepEqual(weigh(p, { ...ALL, threads: new Set([1]) }).all, [25]);
  assert.deepEqual(weigh(p, { ...ALL, threads: new Set() }).all, [0]);
  // What was never sampled has no time.
  assert.deepEqual(weigh(p, { ...ALL, from: 0, to: 4 }).all, [110]);
  assert.deepEqual(weigh(p, { ...ALL, from: 1, to: 2 }).all, [60]);
  assert.deepEqual(weigh(p, { ...ALL, from: 1, to: 2, threads: new Set([1]) }).all, [0]);
  assert.deepEqual([...overTime(p, ALL)[0]], [30, 60, 0, 20]);
  assert.deepEqual([...byThread(p, { ...ALL, threads: new Set([1]) })], [90, 25]);
});

test("two recordings are weighed apart, and together in widths", () => {
  const p = profile();
  p.groups = 2;
  p.rows.group[2] = 1;
  const w = weigh(p, ALL);
  assert.deepEqual(w.all, [95, 20]);
  assert.deepEqual([w.width[0], w.total[0][0], w.total[1][0]], [110, 90, 20]);
  assert.equal(changeIn(w, false, 0, 9.5), 10); // of the old one
  assert.equal(changeIn(w, true, 47.5, 20), 50);
  const shares = weigh(p, { ...ALL, shares: true });
  assert.equal(shares.all[1] * shares.scale[1], 95);
});

test("search finds text and expressions, and the share of stacks", () => {
  const p = profile();
  const w = weigh(p, ALL);
  const share = (text, isRegex) => matched(p, w, hits(p, compile(text, isRegex).test))[0];
  assert.equal(share("fib", false), 30);
  assert.equal(share("FIB", false), 0); // capital letters count
  assert.equal(share("^(sort|read)$", true), 80);
  assert.equal(share("main", true), 110);
  assert.equal(compile("(", true).test, null);
  assert.match(compile("(", true).error, /./);
  assert.equal(compile("(", false).error, "");
});

test("folded lines have the thread first, and no ; in names", () => {
  const p = profile();
  assert.equal(folded(p, ALL), "one:thread;main;work;fib;fib 30\none:thread;main;work;sort 60\ntwo;[unsampled] 5\ntwo;main;read 20\n");
  assert.equal(folded(p, { ...ALL, type: 0 }, (node) => node === 2), "one:thread;main;work;sort 6\n");
});

test("a range of a heap's live bytes is what rows grew by", () => {
  const p = heap();
  const live = { type: 3, threads: null, from: 0, to: null };
  assert.deepEqual(weigh(p, live).all, [900]);
  // Row 0 has 1,000 more and row 1 500 in the first two steps; row 1 frees 600 in the third, and row 0 100.
  assert.deepEqual(weigh(p, { ...live, from: 0, to: 2 }).all, [1500]);
  assert.deepEqual(weigh(p, { ...live, from: 2, to: 4 }).all, [0]);
  assert.deepEqual(weigh(p, { ...live, from: 1, to: 4 }).all, [0]);
  assert.deepEqual(weigh(p, { ...live, from: 0, to: 4, threads: new Set([0]) }).all, [900]);
  assert.deepEqual(weigh(p, { ...live, type: 1, from: 0, to: 2 }).all, [1500]);
  assert.deepEqual(weigh(p, { ...live, type: 5, from: 0, to: 2 }).all, [0]);
});

test("its time line is what lived, of chosen threads by their own events", () => {
  const p = heap();
  assert.deepEqual([0, 1, 3, 5, 7].map((type) => isLevel(p, type)), [false, false, true, true, true]);
  assert.deepEqual([...levelOverTime(p, { type: 3, threads: null }).series[0]], [1000, 1600, 1500, 900]);
  assert.deepEqual([...levelOverTime(p, { type: 6, threads: null }).series[0]], [10, 16, 15, 9]);
  assert.deepEqual([...levelOverTime(p, { type: 5, threads: new Set([0]) }).series[0]], [1000, 1000, 900, 900]);
  assert.deepEqual([...levelOverTime(p, { type: 3, threads: new Set([1]) }).series[0]], [0, 500, -100, -100]);
  p.time.liveStep = 5e6; // steps of rows are longer where there are many of them
  assert.deepEqual([null, new Set([1])].map((threads) => levelOverTime(p, { type: 3, threads }).step), [5e6, 1e7]);
  p.time.values.fill(null); // sums alone: what is known is of all
  assert.deepEqual([...levelOverTime(p, { type: 3, threads: new Set([1]) }).series[0]], [1000, 1600, 1500, 900]);
  assert.equal(isLevel(profile(), 1), false);
});
