// What is shown, in the part of the address behind '#': a page can be sent around with what is in sight. Functions and threads
// are named there and times are seconds, so that it shows the same of another recording.
import { functionOf, functionText, threadsOf, threadText, threadTexts } from "./names.js";
import { typeText } from "./format.js";

/**
 * @typedef {object} State
 * @property {"flame"|"callers"|"functions"|"sandwich"|"tree"|"time"|"code"} view
 * @property {boolean} assembly of the code: instructions, not lines
 * @property {boolean} roots each process is an outermost frame
 * @property {boolean} tracks of threads are shown
 * @property {boolean} memory of the allocator and of the kernel is shown on the time line of a heap
 * @property {boolean} inverted the call tree begins with the leaves
 * @property {boolean} up the root is at the bottom
 * @property {string} search
 * @property {boolean} regex
 * @property {number[]|null} threads
 * @property {number} timeThread in the order of time; -1: the busiest
 * @property {number} from first step of the time line
 * @property {number|null} to behind the last; null: all
 * @property {number} type
 * @property {"module"|"kind"|"change"} colour
 * @property {number} focus function of the sandwich; -1: none
 * @property {string} file of the code, where functions have one name; "": any
 * @property {string} sort column of the table
 * @property {boolean} rising
 * @property {boolean} shares
 * @property {string} theme "": the system's
 * @property {string} only what the legend shows alone; "": all
 * @property {{functions: number[], modules: string[]}} hidden
 * @property {boolean} collapsed a function that calls itself is one frame
 * @property {{path: string, name: string, depths: number[]}|null} zoom see wayTo()
 */

export const VIEWS = ["flame", "callers", "functions", "sandwich", "tree", "time", "code"];
const COLOURS = ["module", "kind", "change"];
export const COLUMNS = ["self", "total", "selfOld", "totalOld", "selfChange", "totalChange", "name", "module"];

/** @returns {State} */
export function firstState(profile) {
  return {
    view: "flame",
    assembly: false,
    roots: false,
    tracks: false,
    memory: true,
    inverted: false,
    up: false,
    search: "",
    regex: false,
    threads: null,
    timeThread: -1,
    from: 0,
    to: null,
    type: profile.main,
    colour: profile.groups > 1 ? "change" : "module",
    focus: -1,
    file: "",
    sort: profile.groups > 1 ? "selfChange" : "self",
    rising: false,
    shares: false,
    theme: "",
    only: "",
    hidden: { functions: [], modules: [] },
    collapsed: false,
    zoom: null,
  };
}

function whole(text, below) {
  const number = /^\d{1,9}$/.test(text ?? "") ? Number(text) : -1;
  return number < below ? number : -1;
}

function oneOf(text, all, otherwise) {
  return all.includes(text) ? text : otherwise;
}

/** @returns {number[]} steps of a range "0.2..0.45", in seconds; -1: not a range of this recording */
function stepsOf(text, { step, steps }) {
  const [from, to] = /^([\d.e-]+)\.\.([\d.e-]+)$/.exec(text ?? "")?.slice(1).map((s) => Math.round((Number(s) * 1e9) / step)) ?? [];
  return from >= 0 && to > from && from < steps ? [from, Math.min(to, steps)] : [-1, -1];
}

/** Anything may stand behind '#': what cannot be is passed over. @returns {State} */
export function parseState(hash, profile) {
  const first = firstState(profile);
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const [from, to] = stepsOf(given.get("time"), profile.time);
  const [, path = "", depths = ""] = /^((?:[\w-]{4})*)\.([\d,]*)$/.exec(given.get("zoom") ?? "") ?? [];
  const levels = depths.split(",").map((d) => whole(d, 1e6)).filter((d) => d > 0);
  const type = profile.types.findIndex((t) => typeText(t) === given.get("value"));
  const hidden = { functions: given.getAll("hide").map((text) => functionOf(profile, text)).filter((f) => f >= 0), modules: given.getAll("hide-module") };
  return {
    ...first,
    view: oneOf(given.get("view"), VIEWS, first.view),
    assembly: given.get("assembly") === "1",
    roots: profile.processes.length > 1 && given.get("roots") === "1",
    tracks: given.get("tracks") === "1",
    memory: given.get("memory") !== "0",
    inverted: given.get("inverted") === "1",
    up: given.get("up") === "1",
    search: given.get("search") ?? "",
    regex: given.get("regex") === "1",
    timeThread: threadsOf(profile, given.getAll("time-thread"))[0] ?? -1,
    threads: given.has("thread") ? threadsOf(profile, given.getAll("thread")) : null,
    ...(from >= 0 && to > from && profile.time.values[type >= 0 ? type : first.type] ? { from, to } : {}),
    type: type >= 0 ? type : first.type,
    colour: oneOf(given.get("colour"), profile.groups > 1 ? COLOURS : COLOURS.slice(0, 2), first.colour),
    focus: functionOf(profile, given.get("function")),
    file: given.get("file") ?? "",
    sort: oneOf(given.get("sort"), profile.groups > 1 ? COLUMNS : COLUMNS.filter((c) => !/Old|Change/.test(c)), first.sort),
    rising: given.get("rising") === "1",
    shares: profile.groups > 1 && given.get("shares") === "1",
    theme: oneOf(given.get("theme"), ["light", "dark"], ""),
    only: given.get("only") ?? "",
    hidden,
    collapsed: given.get("collapsed") === "1",
    zoom: levels.length > 0 ? { path, name: given.get("at") ?? "", depths: levels } : null,
  };
}

/** @param {State} state @returns {string} without '#'; only what differs from how a page begins */
export function formatState(state, profile) {
  const first = firstState(profile);
  const out = new URLSearchParams();
  const put = (name, value, usual) => value !== usual && out.set(name, String(value));
  put("view", state.view, first.view);
  put("assembly", state.assembly ? 1 : 0, 0);
  put("roots", state.roots ? 1 : 0, 0);
  put("tracks", state.tracks ? 1 : 0, 0);
  put("memory", state.memory ? 1 : 0, 1);
  put("inverted", state.inverted ? 1 : 0, 0);
  put("up", state.up ? 1 : 0, 0);
  put("search", state.search, "");
  put("regex", state.regex ? 1 : 0, 0);
  for (const text of state.threads ? threadTexts(profile, state.threads) : []) out.append("thread", text);
  if (state.timeThread >= 0) out.set("time-thread", threadText(profile, state.timeThread));
  if (state.threads?.length === 0) out.set("thread", "");
  if (state.to !== null) out.set("time", [state.from, state.to].map((steps) => (steps * profile.time.step) / 1e9).join(".."));
  put("value", typeText(profile.types[state.type]), typeText(profile.types[first.type]));
  put("colour", state.colour, first.colour);
  if (state.focus >= 0) out.set("function", functionText(profile, state.focus));
  if (profile.code.filter((c) => c.function === state.focus).length > 1) put("file", state.file, first.file);
  put("sort", state.sort, first.sort);
  put("rising", state.rising ? 1 : 0, 0);
  put("shares", state.shares ? 1 : 0, 0);
  put("theme", state.theme, "");
  put("only", state.only, "");
  for (const f of state.hidden.functions) out.append("hide", functionText(profile, f));
  for (const module of state.hidden.modules) out.append("hide-module", module);
  put("collapsed", state.collapsed ? 1 : 0, 0);
  if (state.zoom) {
    out.set("zoom", `${state.zoom.path}.${state.zoom.depths.join(",")}`);
    out.set("at", state.zoom.name);
  }
  return out.toString();
}
