// What is shown, in the part of the address behind '#': a page can be sent around with what is in sight.

/**
 * @typedef {object} State
 * @property {"flame"|"callers"|"functions"|"sandwich"|"tree"} view
 * @property {boolean} inverted the call tree begins with the leaves
 * @property {boolean} up the root is at the bottom
 * @property {string} search
 * @property {boolean} regex
 * @property {number[]|null} threads
 * @property {number} from first step of the time line
 * @property {number|null} to behind the last; null: all
 * @property {number} type
 * @property {"module"|"kind"|"change"} colour
 * @property {number} focus function of the sandwich; -1: none
 * @property {string} sort column of the table
 * @property {boolean} rising
 * @property {boolean} shares
 * @property {string} theme "": the system's
 * @property {{node: number, depths: number[]}|null} zoom see Tree.anchor()
 */

export const VIEWS = ["flame", "callers", "functions", "sandwich", "tree"];
const COLOURS = ["module", "kind", "change"];
export const COLUMNS = ["self", "total", "selfOld", "totalOld", "selfChange", "totalChange", "name", "module"];

/** @returns {State} */
export function firstState(profile) {
  return {
    view: "flame",
    inverted: false,
    up: false,
    search: "",
    regex: false,
    threads: null,
    from: 0,
    to: null,
    type: profile.main,
    colour: profile.groups > 1 ? "change" : "module",
    focus: -1,
    sort: profile.groups > 1 ? "selfChange" : "self",
    rising: false,
    shares: false,
    theme: "",
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

/** Anything may stand behind '#': what cannot be is passed over. @returns {State} */
export function parseState(hash, profile) {
  const first = firstState(profile);
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const [from, to] = (given.get("time") ?? "").split("-").map((t) => whole(t, profile.time.steps + 1));
  const threads = (given.get("threads") ?? "").split(",").map((t) => whole(t, profile.threads.length));
  const [node, depths = ""] = (given.get("zoom") ?? "").split(":");
  const levels = depths.split(",").map((d) => whole(d, 1e6)).filter((d) => d > 0);
  const anchor = whole(node, profile.nodes.place.length);
  const type = whole(given.get("value"), profile.types.length);
  return {
    ...first,
    view: oneOf(given.get("view"), VIEWS, first.view),
    inverted: given.get("inverted") === "1",
    up: given.get("up") === "1",
    search: given.get("search") ?? "",
    regex: given.get("regex") === "1",
    threads: given.has("threads") ? threads.filter((t) => t >= 0) : null,
    ...(from >= 0 && to > from && profile.time.values[type >= 0 ? type : first.type] ? { from, to } : {}),
    type: type >= 0 ? type : first.type,
    colour: oneOf(given.get("colour"), profile.groups > 1 ? COLOURS : COLOURS.slice(0, 2), first.colour),
    focus: whole(given.get("function"), profile.names.length),
    sort: oneOf(given.get("sort"), profile.groups > 1 ? COLUMNS : COLUMNS.filter((c) => !/Old|Change/.test(c)), first.sort),
    rising: given.get("rising") === "1",
    shares: profile.groups > 1 && given.get("shares") === "1",
    theme: oneOf(given.get("theme"), ["light", "dark"], ""),
    zoom: anchor >= 0 && levels.length > 0 ? { node: anchor, depths: levels } : null,
  };
}

/** @param {State} state @returns {string} without '#'; only what differs from how a page begins */
export function formatState(state, profile) {
  const first = firstState(profile);
  const out = new URLSearchParams();
  const put = (name, value, usual) => value !== usual && out.set(name, String(value));
  put("view", state.view, first.view);
  put("inverted", state.inverted ? 1 : 0, 0);
  put("up", state.up ? 1 : 0, 0);
  put("search", state.search, "");
  put("regex", state.regex ? 1 : 0, 0);
  if (state.threads) out.set("threads", state.threads.join(","));
  if (state.to !== null) out.set("time", `${state.from}-${state.to}`);
  put("value", state.type, first.type);
  put("colour", state.colour, first.colour);
  put("function", state.focus, -1);
  put("sort", state.sort, first.sort);
  put("rising", state.rising ? 1 : 0, 0);
  put("shares", state.shares ? 1 : 0, 0);
  put("theme", state.theme, "");
  if (state.zoom) out.set("zoom", `${state.zoom.node}:${state.zoom.depths.join(",")}`);
  return out.toString();
}
