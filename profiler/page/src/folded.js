// Stacks as lines of text: thread;outermost;...;leaf value. As `sfb report --folded` writes them.
import { eachValue } from "./weigh.js";

/** `;` parts frames. */
function frameName(name) {
  return name.replaceAll(";", ":");
}

/**
 * @param {import("./weigh.js").Choice} choice
 * @param {((node: number) => boolean)|null} wanted stacks that end in these nodes; null: all
 */
export function folded(profile, choice, wanted = null) {
  const { nodes, rows, threads } = profile;
  const names = profile.names.map(frameName);
  const sums = new Map();
  eachValue(profile, choice, (row, value) => {
    const leaf = rows.node[row];
    if (wanted && !wanted(leaf)) return;
    const stack = [];
    for (let i = leaf; i >= 0; i = nodes.parent[i]) stack.push(names[nodes.function[i]]);
    stack.push(rows.thread[row] < 0 ? "[no thread]" : frameName(threads[rows.thread[row]].name));
    const line = stack.reverse().join(";");
    sums.set(line, (sums.get(line) ?? 0) + value);
  });
  return [...sums].map(([line, value]) => `${line} ${value}\n`).sort().join("");
}

/** @returns {(node: number) => boolean} whether a stack that ends in a node is in a frame of a tree */
export function within(tree, frame) {
  const { nodes } = tree.profile;
  const keys = tree.path(frame);
  const start = tree.focus >= 0 ? tree.focus : -1;
  return (leaf) => {
    const stack = [];
    for (let i = leaf; i >= 0; i = nodes.parent[i]) stack.push(nodes.function[i]);
    if (!tree.callers || start >= 0) stack.reverse();
    if (start >= 0) {
      const at = stack.indexOf(start);
      if (at < 0) return false;
      const rest = tree.callers ? stack.slice(0, at).reverse() : stack.slice(at + 1);
      return keys.every((key, i) => rest[i] === key);
    }
    return keys.every((key, i) => stack[i] === key);
  };
}

/**
 * What a frame of the order of time stands for: its steps, and in them stacks through it.
 *
 * @param {import("./timetree.js").TimeTree} tree @param {import("./weigh.js").Choice} choice
 * @returns {{choice: import("./weigh.js").Choice, wanted: (node: number) => boolean}}
 */
export function withinSteps(tree, frame, choice) {
  const { start, width } = tree.frames;
  const range = frame > 0 ? { from: start[frame], to: start[frame] + width[frame] } : choice.to === null ? { from: 0, to: tree.profile.time.steps } : {};
  return { choice: { ...choice, ...range, threads: new Set([tree.thread]) }, wanted: within(tree, frame) };
}
