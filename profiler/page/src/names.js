// What of an address is said by names, so that it leads to the same functions and threads in a page of another recording.
import { moduleName } from "./profile.js";

/** The module keeps functions of one name apart: name@module. */
export function functionText(profile, f) {
  return `${profile.names[f]}@${moduleName(profile, f)}`;
}

/** @returns {number} the function of a text; of a name alone, the first that has it; -1: not here */
export function functionOf(profile, text) {
  if (!text) return -1;
  const at = text.lastIndexOf("@");
  const [name, module] = at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  let found = -1;
  for (let f = 0; f < profile.names.length; f++) {
    if (profile.names[f] === name && moduleName(profile, f) === module) return f;
    if (found < 0 && (profile.names[f] === name || profile.names[f] === text)) found = f;
  }
  return found;
}

/** @returns {string} one thread among all: name#tid.group */
export function threadText({ threads }, i) {
  return `${threads[i].name}#${threads[i].tid}.${threads[i].group}`;
}

/** Threads are named; one of several that have a name, with its number and group, too: name#tid.group. */
export function threadTexts(profile, chosen) {
  const { threads } = profile;
  const set = new Set(chosen);
  const whole = (name) => threads.every((thread, i) => thread.name !== name || set.has(i));
  return [...new Set(chosen.map((i) => (whole(threads[i].name) ? threads[i].name : threadText(profile, i))))];
}

/** @returns {number[]} threads of texts: of the same number, else all of the same name */
export function threadsOf(profile, texts) {
  const { threads } = profile;
  const all = [...threads.keys()];
  const found = new Set();
  for (const text of texts) {
    const [, name, tid, group] = /^([^]*)#(\d+)\.([01])$/.exec(text) ?? [null, text];
    const exact = tid === undefined ? [] : all.filter((i) => threads[i].name === name && threads[i].tid === Number(tid) && threads[i].group === Number(group));
    for (const i of exact.length > 0 ? exact : all.filter((i) => threads[i].name === name || threads[i].name === text)) found.add(i);
  }
  return [...found].sort((a, b) => a - b);
}

// --- A way through a tree -------------------------------------------------------------------------

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PATH_MAX = 4000; // frames: a deeper one is found by its name
const SEARCH_MAX = 20000;

const hashes = new WeakMap(); // of a profile: by function

/** Four letters that stand for a function's name and module. */
function hashOf(profile, f) {
  let known = hashes.get(profile);
  if (!known) hashes.set(profile, (known = []));
  return (known[f] ??= makeHash(profile, f));
}

function makeHash(profile, f) {
  const text = functionText(profile, f);
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  return [0, 6, 12, 18].map((shift) => LETTERS[(h >>> shift) & 63]).join("");
}

/** @returns {{path: string, name: string}} how a page of any recording finds a frame */
export function wayTo(profile, tree, frame) {
  const keys = tree.path(frame);
  return { path: keys.length > PATH_MAX ? "" : keys.map((f) => hashOf(profile, f)).join(""), name: functionText(profile, keys.at(-1)) };
}

/** @returns {number} the frame at the end of a way; where it is not in this tree, the widest of its function; 0: none */
export function frameAt(profile, tree, { path, name }) {
  const parts = path.match(/.{4}/g) ?? [];
  const { frames } = tree;
  let frame = 0;
  for (const hash of parts) {
    const count = tree.childCount(frame);
    let next = -1;
    for (let i = 0; i < count && next < 0; i++) if (hashOf(profile, frames.key[frames.first[frame] + i]) === hash) next = frames.first[frame] + i;
    if (next < 0) return widestOf(tree, functionOf(profile, name));
    frame = next;
  }
  return frame > 0 ? frame : widestOf(tree, functionOf(profile, name));
}

function widestOf(tree, key) {
  if (key < 0) return 0;
  const { frames } = tree;
  let row = [0];
  for (let looked = 0; row.length > 0 && looked < SEARCH_MAX; looked += row.length) {
    const hits = row.filter((frame) => frames.key[frame] === key);
    if (hits.length > 0) return hits.reduce((best, frame) => (frames.width[frame] > frames.width[best] ? frame : best));
    row = row.flatMap((frame) => Array.from({ length: tree.childCount(frame) }, (_, i) => frames.first[frame] + i));
  }
  return 0;
}
