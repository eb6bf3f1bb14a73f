// States of threads by time: what a sample's or a wait's innermost frame says. `sfb report --timeline` has the same
// (profiler/report/text/timeline_tracks.h).
import { oklch } from "./colours.js";
import { element, byId, name as nameElement } from "./dom.js";
import { duration } from "./format.js";
import { moduleName } from "./profile.js";

const WAITING = "[waiting]"; // the module of what threads wait in

/** Lightness, chroma and hue: what matters is dark and full of colour on a light ground; neighbours differ in lightness, too. */
const STATES = [
  { name: "running", light: [0.55, 0.14, 255], dark: [0.7, 0.13, 255] },
  { name: "runnable", light: [0.78, 0.14, 70], dark: [0.82, 0.13, 75] },
  { name: "lock (futex)", light: [0.52, 0.17, 25], dark: [0.63, 0.17, 25] },
  { name: "poll", light: [0.86, 0.05, 195], dark: [0.42, 0.05, 195] },
  { name: "read, write, sockets", light: [0.65, 0.12, 310], dark: [0.72, 0.12, 310] },
  { name: "sleep", light: [0.9, 0.01, 90], dark: [0.34, 0.01, 90] },
  { name: "asleep elsewhere", light: [0.78, 0.03, 150], dark: [0.52, 0.03, 150] },
  { name: "disk", light: [0.6, 0.11, 110], dark: [0.78, 0.12, 110] },
  { name: "page fault", light: [0.72, 0.13, 350], dark: [0.75, 0.13, 350] },
  { name: "stopped", light: [0.35, 0.01, 90], dark: [0.95, 0.01, 90] },
  { name: "short waits", light: [0.83, 0.01, 90], dark: [0.45, 0.01, 90] },
];
export const STATE_COUNT = STATES.length;

/** Beginnings of calls, as the first that fits. */
const CALLS = [
  [2, ["futex"]],
  [3, ["epoll", "poll", "ppoll", "select", "pselect6", "io_getevents"]],
  [5, ["nanosleep", "clock_nanosleep"]],
  [4, ["read", "pread", "write", "pwrite", "recv", "send", "accept", "connect", "fsync", "fdatasync"]],
];
const WORDS = [["runnable", 1], ["disk", 7], ["page fault", 8], ["stopped", 9], ["short waits", 10], ["waiting for the GIL", 2]];

/** @param {string} wait "asleep in futex known_lock (server)" @returns {number} of a state */
export function stateOf(wait) {
  for (const [word, state] of WORDS) if (wait.startsWith(word)) return state;
  const call = wait.startsWith("asleep in ") ? wait.slice("asleep in ".length) : "";
  return CALLS.find(([, names]) => names.some((name) => call.startsWith(name)))?.[0] ?? 6;
}

/** @returns {Uint8Array|null} the state of each row; null: no waits were recorded */
export function rowStates(profile) {
  const of = profile.names.map((name, f) => (moduleName(profile, f) === WAITING ? stateOf(name) : 0));
  if (!of.some((state) => state > 0)) return null;
  return Uint8Array.from(profile.rows.node, (node) => of[profile.nodes.function[node]]);
}

export function stateColours(theme) {
  return STATES.map((state) => oklch(...state[theme]));
}

function swatch(colour) {
  const canvas = element("canvas", { width: 20, height: 20, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 20, 20);
  return canvas;
}

/** @param {Float64Array|null} sums ns of each state; null: no list */
export function showStates(sums, theme) {
  const box = byId("states");
  box.hidden = sums === null;
  if (!sums) return box.replaceChildren();
  const colours = stateColours(theme);
  box.replaceChildren(...STATES.flatMap(({ name }, i) =>
    (sums[i] > 0 ? [element("li", {}, swatch(colours[i]), document.createTextNode(`${name} ${duration(sums[i])}`))] : [])));
}

const MOST = 5; // wakers

/** What ended waits of threads. @param {Set<number>|null} chosen null: all @returns {[string, number][]} words and ns, the largest first */
export function wakerSums({ wakers, threads }, chosen) {
  const sums = new Map();
  for (const { thread, other, name, ns } of wakers) {
    if (chosen && !chosen.has(thread)) continue;
    const words = other < 0 ? name : `${name} ${threads[other].tid}`;
    sums.set(words, (sums.get(words) ?? 0) + ns);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** @param {[string, number][]} sums */
export function showWakers(sums) {
  const box = byId("wakers");
  const rest = sums.slice(MOST).reduce((sum, [, ns]) => sum + ns, 0);
  const item = (words, ns) => element("li", {}, nameElement(words.slice(0, 80)), document.createTextNode(` ${duration(ns)}`));
  box.hidden = sums.length === 0;
  box.replaceChildren(
    element("li", { text: "waits ended by" }),
    ...sums.slice(0, MOST).map(([words, ns]) => item(words, ns)),
    ...(rest > 0 ? [item(`${sums.length - MOST} others`, rest)] : []),
  );
}
