// A track a thread: when each one ran, and where waits were recorded, what it waited in. A click looks at one alone.
import { byId, element, oncePerPicture } from "./dom.js";
import { rowStates, showStates, showWakers, stateColours, STATE_COUNT, wakerSums } from "./states.js";
import { drawPauses } from "./pauses.js";

const TALL = 18; // pixels of a track
const MOST = 200; // threads, the busiest
const BAR = 3;
const NAME_ROOM = 150;

export class Tracks {
  /** @param {import("./profile.js").Profile} profile @param {(threads: number[]|null) => void} onchange */
  constructor(profile, onchange) {
    this.profile = profile;
    this.onchange = onchange;
    this.box = byId("tracks");
    this.states = rowStates(profile);
    this.canvas = element("canvas", { role: "img", "aria-label": this.states
      ? "What each thread did when; the list below has the time of each state"
      : "When each thread ran; the list of threads has their figures" });
    this.box.append(this.canvas);
    this.redraw = oncePerPicture(() => this.#draw());
    this.canvas.addEventListener("click", (event) => {
      const thread = this.list?.[Math.floor(event.offsetY / TALL)];
      if (thread !== undefined) onchange(this.what.chosen?.length === 1 && this.what.chosen[0] === thread ? null : [thread]);
    });
    new ResizeObserver(this.redraw).observe(this.box);
  }

  /** @param {{on: boolean, type: number, chosen: number[]|null, values: Float64Array, ink: object}} what */
  show(what) {
    this.what = what;
    this.box.hidden = !what.on;
    showStates(what.on && this.states ? this.#stateSums() : null, what.ink.theme);
    showWakers(what.on ? wakerSums(this.profile, what.chosen && new Set(what.chosen)) : []);
    if (what.on) this.redraw();
  }

  /** ns of each state, of chosen threads. */
  #stateSums() {
    const { rows, main } = this.profile;
    const chosen = this.what.chosen && new Set(this.what.chosen);
    const out = new Float64Array(STATE_COUNT);
    rows.values[main].forEach((value, row) => {
      if (!chosen || chosen.has(rows.thread[row])) out[this.states[row]] += value;
    });
    return out;
  }

  /** What each thread has of each state in each bar. */
  #sumsOfStates(bars) {
    const { time, rows, main } = this.profile;
    const values = time.values[main] ?? [];
    const place = new Map(this.list.map((thread, i) => [thread, i]));
    const out = new Float64Array(bars * this.list.length * STATE_COUNT);
    for (let i = 0; i < values.length; i++) {
      const row = time.row[i];
      const at = place.get(rows.thread[row]);
      const bar = Math.min(bars - 1, Math.floor((time.at[i] / time.steps) * bars));
      if (at !== undefined && values[i] > 0) out[(at * bars + bar) * STATE_COUNT + this.states[row]] += values[i];
    }
    return out;
  }

  /** One above the other: together they are the thread's time. */
  #drawStates(context, y, width, bars, sums) {
    const colours = stateColours(this.what.ink.theme);
    for (let i = 0; i < bars; i++) {
      const all = sums.subarray(i * STATE_COUNT, (i + 1) * STATE_COUNT);
      const total = all.reduce((a, b) => a + b, 0);
      let top = y + TALL - 1;
      all.forEach((value, state) => {
        const high = total > 0 ? (value / total) * (TALL - 3) : 0;
        context.fillStyle = colours[state];
        if (high > 0) context.fillRect((i * width) / bars, top - high, width / bars + 0.5, high);
        top -= high;
      });
    }
  }

  /** What each thread has in each bar. */
  #sums(bars) {
    const { time, rows } = this.profile;
    const values = time.values[this.what.type] ?? [];
    const place = new Map(this.list.map((thread, i) => [thread, i]));
    const out = new Float64Array(bars * this.list.length);
    for (let i = 0; i < values.length; i++) {
      const at = place.get(rows.thread[time.row[i]]);
      if (at !== undefined && values[i] > 0) out[at * bars + Math.min(bars - 1, Math.floor((time.at[i] / time.steps) * bars))] += values[i];
    }
    return out;
  }

  #draw() {
    const { what, profile } = this;
    const width = this.box.clientWidth;
    if (!what?.on || width === 0) return;
    this.list = [...what.values.keys()].filter((i) => what.values[i] > 0).sort((a, b) => what.values[b] - what.values[a]).slice(0, MOST);
    const ratio = devicePixelRatio || 1;
    const tall = this.list.length * TALL;
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(tall * ratio) });
    this.canvas.style.height = `${tall}px`;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = what.ink.font;
    context.textBaseline = "middle";
    const bars = Math.max(1, Math.min(profile.time.steps, Math.floor(width / BAR)));
    const sums = this.states ? this.#sumsOfStates(bars) : this.#sums(bars);
    const most = Math.max(1e-9, sums.reduce((a, b) => Math.max(a, b), 0));
    const chosen = what.chosen && new Set(what.chosen);
    this.list.forEach((thread, row) => {
      const y = row * TALL;
      context.globalAlpha = chosen && !chosen.has(thread) ? 0.35 : 1;
      context.fillStyle = what.ink.line;
      context.fillRect(0, y + TALL - 1, width, 1);
      context.fillStyle = what.ink.bars;
      if (this.states) this.#drawStates(context, y, width, bars, sums.subarray(row * bars * STATE_COUNT, (row + 1) * bars * STATE_COUNT));
      else for (let i = 0; i < bars; i++) {
        const high = Math.min(1, sums[row * bars + i] / most) * (TALL - 3);
        if (high > 0) context.fillRect((i * width) / bars, y + TALL - 1 - Math.max(1, high), Math.max(1, width / bars - 1), Math.max(1, high));
      }
      const { name, tid } = profile.threads[thread];
      const text = `${name} ${tid}`;
      context.fillStyle = what.ink.veil;
      context.fillRect(0, y, Math.min(NAME_ROOM, context.measureText(text).width + 8), TALL - 2);
      context.fillStyle = what.ink.outline;
      context.fillText(text, 4, y + TALL / 2, NAME_ROOM - 8);
    });
    context.globalAlpha = 1;
    drawPauses(context, profile.time, width, tall, what.ink);
  }
}
