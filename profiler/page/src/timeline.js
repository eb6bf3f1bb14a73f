// What was used when, and which part of the time is looked at.
import { byId, element, oncePerPicture } from "./dom.js";
import { duration, figure, moment } from "./format.js";
import { drawMemory, mostOf } from "./memory.js";
import { drawMarks, drawPauses, pauseWords } from "./pauses.js";

const HANDLE = 7; // pixels
const BAR = 3; // pixels
const BAR_NS = 1e7; // a bar is of several samples, or it is noise

/** @returns {number[]} about five moments of round numbers, in ns */
export function ticks(length) {
  let step = 10 ** Math.floor(Math.log10(length / 2));
  if (length / step > 12) step *= 5;
  else if (length / step > 6) step *= 2;
  const out = [];
  for (let t = 0; t <= length; t += step) out.push(t);
  return out;
}

export class Timeline {
  /** @param {import("./profile.js").Time} time @param {(from: number, to: number|null) => void} onchange in steps */
  constructor(time, onchange) {
    this.time = time;
    this.onchange = onchange;
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.element = byId("timeline");
    this.label = byId("time-label");
    this.element.append(this.canvas);
    this.context = this.canvas.getContext("2d");
    this.redraw = oncePerPicture(() => this.#draw());
    this.element.addEventListener("pointerdown", (event) => this.#onDown(event));
    this.element.addEventListener("pointermove", (event) => this.#onMove(event));
    this.element.addEventListener("pointerup", (event) => this.#onUp(event));
    this.element.addEventListener("pointercancel", () => (this.drag = null));
    this.element.addEventListener("dblclick", () => this.onchange(0, null));
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  /**
   * @param {{series: Float64Array[], seriesStep: number, from: number, to: number|null, perStep: number, of: string, level: boolean, unit: string,
   *   memory: import("./profile.js").Memory|null, grown: boolean, peaks: {at: number, value: number}[], ink: object}} what
   *   perStep: what a processor, or a thread, has in a step; 0: figures are no time. of: "CPUs", "threads". level: the series are what there was, not what came.
   *   grown: a range shows what came and stayed
   */
  show(what) {
    this.what = what;
    const { from, to, peaks, unit, grown } = what;
    const { step, steps } = this.time;
    const range = to === null
      ? `All ${duration(step * steps)}`
      : `${moment(from * step, step)} to ${moment(to * step, step)}, ${duration((to - from) * step)}${grown ? ": growth" : ""}`;
    const words = [range, ...peaks.map((p) => `peak ${figure(p.value, unit)} at ${(p.at / 1e9).toFixed(3)} s`)].join(" · ");
    const more = pauseWords(this.time).join(" · ");
    this.label.textContent = words;
    this.element.title = more;
    this.element.classList.toggle("tall", what.memory !== null);
    byId("time-clear").hidden = to === null;
    this.element.setAttribute("aria-valuetext", more ? `${words} · ${more}` : words);
    this.element.setAttribute("aria-valuemax", String(steps));
    this.element.setAttribute("aria-valuenow", String(from));
    this.redraw();
  }

  #x(step) {
    return (step / this.time.steps) * this.element.clientWidth;
  }

  /** What each bar has: the mean of its steps, of levels the most of them. */
  #bars(series, width, level, seriesStep) {
    const length = this.time.step * this.time.steps;
    const steps = length / seriesStep;
    const count = Math.max(1, Math.floor(Math.min(width / (level ? 1 : BAR), length / BAR_NS, steps)));
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const first = Math.floor((i / count) * steps);
      const last = Math.min(series.length, Math.max(first + 1, Math.floor(((i + 1) / count) * steps)));
      for (let s = first; s < last; s++) out[i] = level ? Math.max(out[i], series[s]) : out[i] + series[s] / (last - first);
    }
    return out;
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.what || width === 0) return;
    const { series, seriesStep, from, to, perStep, level, memory, ink } = this.what;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const base = height - 15;
    const bars = series.map((s) => this.#bars(s, width, level, seriesStep));
    const most = Math.max(1e-9, perStep, memory ? mostOf(memory) : 0, ...bars.map((b) => b.reduce((x, y) => Math.max(x, y), 0)));
    bars.forEach((heights, g) => {
      const wide = width / heights.length;
      context.fillStyle = bars.length > 1 ? ink.groups[g] : ink.bars;
      context.globalAlpha = bars.length > 1 ? 0.65 : 1;
      if (level) return this.#fillLevel(heights.map((height) => base - (height / most) * (base - 2)), wide, base);
      heights.forEach((height, i) => {
        const tall = (height / most) * (base - 2);
        if (tall > 0) context.fillRect(i * wide, base - Math.max(1, tall), Math.max(1, wide - (wide > 4 ? 1 : 0)), Math.max(1, tall));
      });
    });
    context.globalAlpha = 1;
    drawPauses(context, this.time, width, base, ink);
    drawMarks(context, this.time, width, base, ink);
    this.#drawAxis(width, base, most, perStep, ink);
    this.#drawPeaks(width, base, ink);
    if (memory) drawMemory(context, memory, width, (value) => base - (value / most) * (base - 2), ink);
    if (to !== null) this.#drawRange(this.#x(from), this.#x(to), width, base, ink);
  }

  /** In one piece: bars of parts of pixels would show their edges. */
  #fillLevel(tops, wide, base) {
    const { context } = this;
    context.beginPath();
    context.moveTo(0, base);
    tops.forEach((top, i) => {
      context.lineTo(i * wide, top);
      context.lineTo((i + 1) * wide, top);
    });
    context.lineTo(tops.length * wide, base);
    context.fill();
  }

  #drawAxis(width, base, most, perStep, ink) {
    const { context } = this;
    const { step, steps } = this.time;
    context.fillStyle = ink.line;
    context.fillRect(0, base, width, 1);
    context.fillStyle = ink.quiet;
    context.font = ink.font;
    context.textBaseline = "alphabetic";
    for (const t of ticks(step * steps)) {
      const x = this.#x(t / step);
      context.textAlign = x < 20 ? "left" : x > width - 24 ? "right" : "center";
      context.fillText(duration(t).replace(/\.0+ /, " "), x, base + 12);
    }
    if (perStep > 0) {
      const text = `${(most / perStep).toFixed(1)} ${this.what.of}`;
      context.textAlign = "left";
      context.fillStyle = ink.veil;
      context.fillRect(0, 0, context.measureText(text).width + 8, 15);
      context.fillStyle = ink.quiet;
      context.fillText(text, 4, 11);
    }
  }

  /** A line where most lived, with what it was. */
  #drawPeaks(width, base, ink) {
    const { context } = this;
    const { peaks, unit, series } = this.what;
    peaks.forEach(({ at, value }, g) => {
      const x = this.#x(at / this.time.step);
      const text = `peak ${figure(value, unit)}`;
      const wide = context.measureText(text).width + 8;
      const left = x + wide > width ? x - wide : x;
      context.fillStyle = series.length > 1 ? ink.groups[g] : ink.accent;
      context.fillRect(x - 0.5, 0, 1, base);
      context.fillStyle = ink.veil;
      context.fillRect(left, 15 * g, wide, 15);
      context.fillStyle = ink.quiet;
      context.textAlign = "left";
      context.fillText(text, left + 4, 11 + 15 * g);
    });
  }

  #drawRange(left, right, width, base, ink) {
    const { context } = this;
    context.fillStyle = ink.veil;
    context.fillRect(0, 0, left, base);
    context.fillRect(right, 0, width - right, base);
    context.fillStyle = ink.accent;
    for (const x of [left, right]) {
      context.fillRect(x - 1, 0, 2, base);
      context.fillRect(x - 3, base / 2 - 8, 6, 16);
    }
  }

  // --- Hands and keys ---------------------------------------------------------------------------

  #stepAt(event) {
    const box = this.element.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    return Math.min(this.time.steps, Math.max(0, part * this.time.steps));
  }

  /** A handle is moved, the range as a whole, or a new one is drawn. */
  #onDown(event) {
    if (event.button !== 0) return;
    const { from, to } = this.what;
    const at = this.#stepAt(event);
    const reach = (HANDLE / this.element.clientWidth) * this.time.steps;
    this.drag = { kind: "new", start: at, x: event.clientX };
    if (to !== null) {
      if (Math.abs(at - from) <= reach) this.drag = { kind: "new", start: to, x: event.clientX };
      else if (Math.abs(at - to) <= reach) this.drag = { kind: "new", start: from, x: event.clientX };
      else if (at > from && at < to) this.drag = { kind: "move", start: at, from, to, x: event.clientX };
    }
    this.element.setPointerCapture(event.pointerId);
  }

  #onMove(event) {
    const { drag } = this;
    if (!drag || Math.abs(event.clientX - drag.x) < 2) return;
    drag.moved = true;
    const at = this.#stepAt(event);
    if (drag.kind === "new") this.set(Math.floor(Math.min(at, drag.start)), Math.ceil(Math.max(at, drag.start)));
    else this.shift(drag.from, drag.to, Math.round(at - drag.start));
  }

  #onUp() {
    if (this.drag && !this.drag.moved && this.drag.kind === "new" && this.what.to !== null) this.onchange(0, null);
    this.drag = null;
  }

  set(from, to) {
    const first = Math.max(0, Math.min(from, this.time.steps - 1));
    this.onchange(first, Math.min(this.time.steps, Math.max(first + 1, to)));
  }

  shift(from, to, by) {
    const shift = Math.max(-from, Math.min(by, this.time.steps - to));
    this.set(from + shift, to + shift);
  }

  #onKey(event) {
    const { from, to } = this.what;
    const { steps } = this.time;
    const far = Math.max(1, Math.round(steps / 50));
    const way = { ArrowLeft: -far, ArrowRight: far }[event.key];
    if (way && to === null) this.set(way > 0 ? 0 : Math.floor(steps / 2), way > 0 ? Math.ceil(steps / 2) : steps);
    else if (way && event.shiftKey) this.set(from, to + way);
    else if (way && event.altKey) this.set(Math.min(from + way, to - 1), to);
    else if (way) this.shift(from, to, way);
    else if (event.key === "Home" || event.key === "Escape" || event.key === "Delete") this.onchange(0, null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
