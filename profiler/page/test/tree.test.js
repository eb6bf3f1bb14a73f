import assert from "node:assert/strict";
import { test } from "node:test";
import { readProfile } from "../src/profile.js";
import { Tree } from "../src/tree.js";
import { weigh } from "../src/weigh.js";
import { ALL, profile, rawProfile } from "./profile.js";

/** "main 110 (work 90 (...))" */
function show(tree, frame = 0) {
  const { frames, profile: p } = tree;
  const name = frames.key[frame] < 0 ? "all" : p.names[frames.key[frame]];
  const children = Array.from({ length: tree.childCount(frame) }, (_, i) => show(tree, frames.first[frame] + i));
  return `${name} ${frames.width[frame]}${children.length ? ` (${children.join(", ")})` : ""}`;
}

function make(how) {
  const p = profile();
  return new Tree(p, weigh(p, ALL), how);
}

const number = (tree, name) => tree.profile.names.indexOf(name);

test("from the root down, the widest first", () => {
  assert.equal(show(make()), "all 115 (main 110 (work 90 (sort 60, fib 30 (fib 30)), read 20), [unsampled] 5)");
});

test("from the leaves up", () => {
  assert.equal(show(make({ callers: true })), "all 115 (sort 60 (work 60 (main 60)), fib 30 (fib 30 (work 30 (main 30))), read 20 (main 20), [unsampled] 5)");
});

test("a sandwich begins at the outer one of a recursion", () => {
  const tree = make();
  assert.equal(show(make({ focus: number(tree, "fib") })), "fib 30 (fib 30)");
  assert.equal(show(make({ focus: number(tree, "fib"), callers: true })), "fib 30 (work 30 (main 30))");
  assert.equal(show(make({ focus: number(tree, "read"), callers: true })), "read 20 (main 20)");
});

test("callers that two stacks share are one frame, and their line is known", () => {
  const raw = rawProfile();
  raw.rows = { thread: [0, 0], group: [0, 0], node: [2, 2], values: [[1, 1], [60, 30]] }; // work calls both
  const p = readProfile(raw);
  const tree = new Tree(p, weigh(p, ALL), { callers: true });
  assert.equal(tree.childCount(0), 2);
  const focus = new Tree(p, weigh(p, ALL), { callers: true, focus: 1 });
  assert.equal(show(focus), "work 90 (main 90)");
  assert.deepEqual(focus.placeOf(focus.find([0])), { place: 0, others: 0 });
});

test("rows below are known before they are made", () => {
  const below = (tree) => tree.frames.below[0];
  assert.deepEqual([below(make()), below(make({ callers: true }))], [4, 4]);
  assert.deepEqual([below(make({ focus: 3 })), below(make({ focus: 3, callers: true }))], [1, 2]);
});

test("a frame is found by row and value, and by path", () => {
  for (const how of [{}, { callers: true }, { focus: 1 }, { focus: 3, callers: true }]) {
    const tree = make(how);
    show(tree);
    const { frames } = tree;
    for (let f = 0; f < frames.length; f++) {
      assert.equal(tree.at(frames.depth[f], frames.start[f] + frames.width[f] / 2), f);
      assert.equal(tree.find(tree.path(f)), f);
    }
  }
  const tree = make();
  assert.equal(tree.at(1, 114), tree.find([5]));
  assert.equal(tree.at(3, 100), -1);
});

test("stacks of 100,000 frames are no recursion of ours", () => {
  const raw = rawProfile();
  const depth = 100000;
  raw.nodes = { place: Array(depth).fill(3), deeper: [0, ...Array(depth - 1).fill(1)] };
  raw.rows = { thread: [0], group: [0], node: [depth - 1], values: [[1], [1]] };
  const p = readProfile(raw);
  const tree = new Tree(p, weigh(p, ALL));
  assert.equal(tree.frames.below[0], depth);
  const deepest = tree.at(depth, 0.5);
  assert.equal(tree.path(deepest).length, depth);
});
