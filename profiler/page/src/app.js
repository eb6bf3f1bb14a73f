// The state that is shown. Each change goes through set(), which computes what depends on it and calls the views'
// listeners.
import { changeColour, changeOf, functionColours } from "./colours.js";
import { frameAt, wayTo } from "./names.js";
import { isMark } from "./profile.js";
import { bothHit, compile, hits, matched } from "./search.js";
import { rootedProfile, shownProfile } from "./shown.js";
import { formatState, parseState } from "./state.js";
import { themeOf, inkOf } from "./theme.js";
import { TimeTree } from "./timetree.js";
import { Tree } from "./tree.js";
import { byThread, changeIn, eachValue, isLevel, levelOverTime, overTime, tally, weigh } from "./weigh.js";

const WEIGHED_BY = ["type", "threads", "from", "to", "shares", "hidden", "collapsed", "roots"];

export class App {
  /** @param {import("./profile.js").Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.listeners = [];
    this.ways = new WeakMap(); // of a tree: what was looked for last, and the frame that was found
    this.state = parseState(location.hash, profile);
    // Colours are by what was recorded in all: they stay when something else is chosen.
    this.selfOfAll = new Float64Array(profile.names.length);
    eachValue(profile, { type: profile.main, threads: null, from: 0, to: null }, (row, value) => {
      this.selfOfAll[profile.nodes.function[profile.rows.node[row]]] += value;
    });
    this.#work(null);
    addEventListener("hashchange", () => this.#follow());
    addEventListener("popstate", () => this.#follow());
  }

  onChange(run) {
    this.listeners.push(run);
  }

  get unit() {
    return this.profile.types[this.state.type].unit;
  }

  /** Self and total of each function: when they are asked for, as the first picture has no table. */
  get tally() {
    return (this.tallied ??= tally(this.shown, this.weights));
  }

  /** @returns {boolean} whether a function has anything of what is chosen; false: marks at most */
  get isCounted() {
    const { nodes } = this.shown;
    return this.weights.self.some((self) => self.some((value, node) => value > 0 && !isMark(this.profile, nodes.function[node])));
  }

  /** @returns {import("./weigh.js").Choice} */
  get choice() {
    const { type, threads, from, to, shares } = this.state;
    return { type, threads: threads && new Set(threads), from, to, shares };
  }

  /**
   * @param {Partial<import("./state.js").State>} change
   * @param {boolean} [isStep] the browser's back leads to what was before
   */
  set(change, isStep = false) {
    const before = this.state;
    this.state = { ...before, ...change };
    this.#work(before);
    const hash = formatState(this.state, this.profile);
    const address = hash ? `#${hash}` : location.pathname + location.search;
    history[isStep ? "pushState" : "replaceState"](null, "", address);
    this.tell();
  }

  /** The address was changed outside of set(): by the browser's back, or by the user. */
  #follow() {
    const state = parseState(location.hash, this.profile);
    if (formatState(state, this.profile) === formatState(this.state, this.profile)) return;
    const before = this.state;
    this.state = state;
    this.#work(before);
    this.tell();
  }

  tell() {
    for (const run of this.listeners) run(this);
  }

  /** Works out what differs. */
  #work(before) {
    const { profile, state } = this;
    const differs = (...names) => before === null || names.some((name) => before[name] !== state[name]);
    if (differs(...WEIGHED_BY)) {
      this.shown = shownProfile(profile, state.hidden, state.collapsed);
      if (state.roots) this.shown = rootedProfile(this.shown);
      this.weights = weigh(this.shown, this.choice);
      this.tallied = null;
      this.isLevel = isLevel(profile, state.type);
      const { series, step } = this.isLevel
        ? levelOverTime(profile, this.choice)
        : { series: overTime(profile, this.choice), step: profile.time.step };
      this.series = series;
      this.seriesStep = step;
      this.threadValues = byThread(profile, this.choice);
      this.trees = {};
    }
    if (differs("theme", "colour")) this.paint();
    if (differs("search", "regex", "only", "colour")) {
      const { test, error } = compile(state.search, state.regex);
      this.searchError = error;
      this.hit = bothHit(hits(profile, test), this.#onlyHit());
    }
    if (differs("search", "regex", "only", "colour", ...WEIGHED_BY)) {
      this.matched = this.hit && matched(this.shown, this.weights, this.hit);
      this.found = this.hit && this.hit.reduce((sum, is, f) => sum + (is && this.tally.total.some((t) => t[f] > 0) ? 1 : 0), 0);
    }
  }

  /** @returns {Uint8Array|null} functions of the legend's entry that is shown alone */
  #onlyHit() {
    const at = this.legend.findIndex((entry) => entry.name === this.state.only);
    return at < 0 ? null : Uint8Array.from(this.entries, (entry) => (entry === at ? 1 : 0));
  }

  /** Colours of the theme that holds now. */
  paint(theme = themeOf(this.state)) {
    this.theme = theme;
    this.ink = inkOf(this.theme);
    const by = this.state.colour === "kind" ? "kind" : "module";
    const { colours, legend, entries } = functionColours(this.profile, by, this.selfOfAll, this.theme);
    this.colours = colours;
    this.legend = legend;
    this.entries = entries;
  }

  /** @param {"flame"|"callers"|"focusCallers"|"focusCallees"} which @returns {Tree} */
  tree(which) {
    const focus = which.startsWith("focus") ? this.state.focus : -1;
    const key = `${which} ${focus}`;
    this.trees[key] ??= new Tree(this.shown, this.weights, { callers: which === "callers" || which === "focusCallers", focus });
    return this.trees[key];
  }

  /** @returns {number[]} chosen threads that ran, the busiest first */
  get timeThreads() {
    const { threads } = this.state;
    const all = [...this.threadValues.keys()].filter((i) => this.threadValues[i] > 0 && (!threads || threads.includes(i)));
    return all.sort((a, b) => this.threadValues[b] - this.threadValues[a]);
  }

  /** @returns {TimeTree} of the thread that is looked at, or of the busiest one that is chosen */
  timeTree() {
    const all = this.timeThreads;
    const thread = all.includes(this.state.timeThread) ? this.state.timeThread : (all[0] ?? -1);
    return (this.trees[`time ${thread}`] ??= new TimeTree(this.shown, this.weights, this.choice, thread));
  }

  /** @param {number} f function; -1: all @param {number} before @param {number} after of a comparison */
  colourOf(f, before, after) {
    const { profile, state, weights } = this;
    if (profile.groups > 1 && state.colour === "change") return changeColour(changeOf(changeIn(weights, state.shares, before, after)), this.theme);
    return f < 0 ? this.ink.rest : this.colours[f];
  }

  /** How the frames of a tree look. */
  look(tree) {
    const { frames } = tree;
    const { profile, ink, hit } = this;
    return {
      colour: (frame) => this.colourOf(frames.key[frame], frames.old[frame], frames.new[frame]),
      label: (frame) => (frames.key[frame] < 0 ? "all" : profile.names[frames.key[frame]]),
      hit,
      ink,
      font: ink.font.replace("11px", "12px"),
    };
  }

  // --- Zoom ---------------------------------------------------------------------------------------

  /** @returns {number[]} frames of the trail, from the root to the one that is zoomed */
  trail(tree) {
    const { zoom } = this.state;
    if (!zoom) return [0];
    const known = this.ways.get(tree);
    const frame = known?.zoom === zoom ? known.frame : frameAt(this.profile, tree, zoom);
    this.ways.set(tree, { zoom, frame });
    const depths = [...new Set([0, ...zoom.depths, tree.frames.depth[frame]])].filter((depth) => depth <= tree.frames.depth[frame]).sort((a, b) => a - b);
    return [...new Set(depths.map((depth) => tree.ancestor(frame, depth)))];
  }

  zoomTo(tree, frame) {
    if (frame === this.trail(tree).at(-1)) return;
    if (frame === 0) return this.set({ zoom: null }, true);
    const { depth } = tree.frames;
    const above = this.trail(tree).filter((f) => f > 0 && depth[f] < depth[frame] && tree.ancestor(frame, depth[f]) === f);
    const zoom = { ...wayTo(this.profile, tree, frame), depths: [...above.map((f) => depth[f]), depth[frame]] };
    this.ways.set(tree, { zoom, frame }); // it need not be looked for
    this.set({ zoom }, true);
  }

  /** @returns {boolean} whether there was something to go back from */
  zoomBack(tree) {
    const trail = this.trail(tree);
    if (trail.length < 2) return false;
    this.zoomTo(tree, trail.at(-2));
    return true;
  }
}
