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

/**
 * @param {import("./profile.js").Profile} profile
 * @param {{functions: number[], modules: string[]}} hidden
 * @param {boolean} collapsed a function that calls itself is one frame
 * @returns {import("./profile.js").Profile} the same, with other nodes
 */
export function shownProfile(profile, hidden, collapsed) {
  const { nodes, rows, places } = profile;
  if (!collapsed && hidden.functions.length === 0 && hidden.modules.length === 0) return profile;
  const gone = goneOf(profile, hidden);
  const to = new Int32Array(nodes.place.length).fill(-1); // the node that has its time; -1: a hidden one without a caller
  const place = [];
  const depth = [];
  for (let i = 0; i < to.length; i++) {
    const f = nodes.function[i];
    const caller = nodes.parent[i] >= 0 ? to[nodes.parent[i]] : -1;
    if (gone[f] || (collapsed && caller >= 0 && places.function[place[caller]] === f)) {
      to[i] = caller;
      continue;
    }
    to[i] = place.length;
    place.push(nodes.place[i]);
    depth.push(caller >= 0 ? depth[caller] + 1 : 0);
  }
  const nowhere = place.length;
  place.push(profile.hiddenPlace);
  depth.push(0);
  return { ...profile, nodes: linkNodes(Int32Array.from(place), Int32Array.from(depth), places), rows: { ...rows, node: rows.node.map((n) => (to[n] < 0 ? nowhere : to[n])) } };
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
