// What is left of a recording when functions or modules are hidden, or recursions are collapsed: a hidden function's time
// is its caller's, as if it had been inlined.
import { linkNodes } from "./profile.js";

/** @returns {Uint8Array} 1 for each function that is hidden @param {{functions: number[], modules: string[]}} hidden */
function goneOf(profile, { functions, modules }) {
  const gone = new Uint8Array(profile.names.length);
  for (const f of functions) gone[f] = 1;
  const named = new Set(modules);
  for (let f = 0; named.size > 0 && f < gone.length; f++) {
    const module = profile.functionModule[f];
    if (module >= 0 && named.has(profile.strings[profile.modules.name[module]])) gone[f] = 1;
  }
  return gone;
}

/** The kept node of a function, from one outwards. @returns {number} -1: none */
function outerOf(kept, node, f) {
  while (node >= 0 && kept.function[node] !== f) node = kept.parent[node];
  return node;
}

/** Nodes in preorder: the ones below a collapsed recursion move to its outer call. @returns {{place: Int32Array, depth: Int32Array, to: Int32Array}} */
function inPreorder(kept) {
  const count = kept.place.length;
  const [first, last, next] = [0, 0, 0].map(() => new Int32Array(count + 1).fill(-1)); // children; the last element is of the root
  for (let i = 0; i < count; i++) {
    const parent = kept.parent[i] < 0 ? count : kept.parent[i];
    if (first[parent] < 0) first[parent] = i;
    else next[last[parent]] = i;
    last[parent] = i;
  }
  const [place, depth, to] = [0, 0, 0].map(() => new Int32Array(count));
  let at = 0;
  for (let i = first[count], level = 0; i >= 0; ) {
    place[at] = kept.place[i];
    depth[at] = level;
    to[i] = at++;
    if (first[i] >= 0) {
      i = first[i];
      level++;
      continue;
    }
    while (i >= 0 && next[i] < 0) {
      i = kept.parent[i];
      level--;
    }
    i = i < 0 ? -1 : next[i];
  }
  return { place, depth, to };
}

/**
 * @param {import("./profile.js").Profile} profile
 * @param {{functions: number[], modules: string[]}} hidden
 * @param {boolean} collapsed a function that calls itself, also through others, is one frame: the outer one
 * @returns {import("./profile.js").Profile} the same, with other nodes
 */
export function shownProfile(profile, hidden, collapsed) {
  const { nodes, rows, places } = profile;
  if (!collapsed && hidden.functions.length === 0 && hidden.modules.length === 0) return profile;
  const gone = goneOf(profile, hidden);
  const to = new Int32Array(nodes.place.length).fill(-1); // the node that has its time; -1: a hidden one without a caller
  const kept = { place: [], function: [], parent: [] };
  for (let i = 0; i < to.length; i++) {
    const f = nodes.function[i];
    const caller = nodes.parent[i] >= 0 ? to[nodes.parent[i]] : -1;
    const outer = gone[f] ? caller : collapsed ? outerOf(kept, caller, f) : -1;
    if (gone[f] || outer >= 0) {
      to[i] = outer;
      continue;
    }
    to[i] = kept.place.length;
    kept.place.push(nodes.place[i]);
    kept.function.push(f);
    kept.parent.push(caller);
  }
  const nowhere = kept.place.length;
  kept.place.push(profile.hiddenPlace);
  kept.parent.push(-1);
  const { place, depth, to: ordered } = inPreorder(kept);
  return { ...profile, nodes: linkNodes(place, depth, places), rows: { ...rows, node: rows.node.map((n) => ordered[to[n] < 0 ? nowhere : to[n]]) } };
}

/**
 * Stacks with their process, and its program where that has several, as outermost frames.
 *
 * @param {import("./profile.js").Profile} profile
 * @returns {import("./profile.js").Profile}
 */
export function rootedProfile(profile) {
  const { nodes, rows, places, processes, threads } = profile;
  if (processes.length < 2) return profile;
  const place = [];
  const depth = [];
  const node = new Int32Array(rows.node.length);
  const rowsOf = [...processes.map(() => []), []]; // the last ones are of no thread
  rows.thread.forEach((thread, row) => rowsOf[thread < 0 ? processes.length : threads[thread].process].push(row));
  const to = new Int32Array(nodes.place.length);
  const seen = new Int32Array(nodes.place.length).fill(-1);
  const add = (at, level) => {
    place.push(at);
    depth.push(level);
  };
  const order = [...processes.keys()].sort((a, b) => processes[a].parent - processes[b].parent);
  let parent = -1;
  for (const p of [...order, processes.length]) {
    const process = processes[p];
    let level = 0;
    if (process) {
      if (process.parent >= 0 && process.parent !== parent) add(process.parent, 0);
      parent = process.parent;
      level = process.parent >= 0 ? 1 : 0;
      add(process.root, level++);
    }
    const used = [];
    for (const row of rowsOf[p])
      for (let at = rows.node[row]; at >= 0 && seen[at] !== p; at = nodes.parent[at]) {
        seen[at] = p;
        used.push(at);
      }
    for (const at of used.sort((a, b) => a - b)) {
      to[at] = place.length;
      add(nodes.place[at], nodes.depth[at] + level);
    }
    for (const row of rowsOf[p]) node[row] = to[rows.node[row]];
  }
  return { ...profile, nodes: linkNodes(Int32Array.from(place), Int32Array.from(depth), places), rows: { ...rows, node } };
}
