// A graph on a canvas: what is in sight of a tree, and how hands and keys move it.
import { draw, ROW, rowAt, rowTop } from "./draw.js";
import { element, oncePerPicture } from "./dom.js";
import { Labels, shorterNames } from "./label.js";

const DRAG_FROM = 4; // pixels: less is a click
const STEP_MS = 160;
const CLOSEST = 1e-9; // of all: a range is no narrower

/**
 * @typedef {object} GraphEvents
 * @property {(frame: number) => void} onzoom a frame was clicked
 * @property {(frame: number, x: number, y: number) => void} onhover -1: none
 * @property {(frame: number, byKey: boolean) => void} onselect
 * @property {() => void} onscroll other rows are in sight
 */

export class Graph {
  /** @param {string} name for screen readers @param {GraphEvents} events */
  constructor(name, events) {
    this.events = events;
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.inside = element("div", { class: "inside" }, this.canvas);
    this.element = element(
      "div",
      { class: "graph", tabindex: "0", role: "application", "aria-roledescription": "flame graph", "aria-label": name },
      this.inside,
    );
    // A ring of its own: the canvas would lie over the element's outline.
    this.box = element("div", { class: "graph-box" }, this.element, element("div", { class: "ring" }));
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.tree = null;
    this.zoomed = this.selected = this.hovered = 0;
    this.range = { from: 0, to: 1 };
    this.drawn = { frames: 0, labels: 0 };
    this.times = []; // ms that the last pictures took
    this.shorterNames = new Map();
    this.redraw = oncePerPicture(() => this.#draw());
    this.lookUnder = oncePerPicture(() => this.pointer && this.#hover(this.frameAt(...this.pointer), ...this.pointer));
    this.#listen();
    new ResizeObserver(() => this.#onResize()).observe(this.element);
  }

  /** A graph whose root is at the bottom keeps it there. */
  #onResize() {
    const { element: box } = this;
    if (this.tree && box.clientHeight > 0) {
      this.#resize();
      if (!this.tall) this.reveal(this.zoomed > 0 ? this.zoomed : (this.begin ?? 0), true);
      else if (this.up) box.scrollTop += this.tall - box.clientHeight;
    }
    this.tall = box.clientHeight;
    this.redraw();
  }

  /** @param {{tree: import("./tree.js").Tree, look: object, up: boolean, zoomed: number}} what */
  show({ tree, look, up, zoomed }) {
    const isNew = tree !== this.tree;
    const path = isNew && this.tree && this.selected > 0 ? this.tree.path(this.selected) : null;
    const turned = up !== this.up;
    this.look = look;
    this.up = up;
    if (isNew) {
      this.tree = tree;
      this.hovered = -1;
      this.selected = path && this.#exact(path);
      if (!this.selected) this.selected = -1;
    }
    if (isNew || zoomed !== this.zoomed) this.#zoom(zoomed, !isNew);
    else if (turned) this.reveal(this.zoomed);
    this.redraw();
  }

  #exact(path) {
    const frame = this.tree.find(path);
    return this.tree.frames.depth[frame] === path.length ? frame : -1;
  }

  #rangeOf(frame) {
    const { start, width } = this.tree.frames;
    return { from: start[frame], to: start[frame] + Math.max(width[frame], Number.MIN_VALUE) };
  }

  #zoom(frame, animated) {
    this.zoomed = frame;
    const to = this.#rangeOf(frame);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#resize();
    if (animated && !calm && this.element.clientWidth > 0) this.#glide(this.range, to);
    else this.range = to;
    this.reveal(frame, true);
  }

  /** From one range to another, in a few pictures. */
  #glide(from, to) {
    const begin = performance.now();
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const step = (now) => {
      if (turn !== this.turn) return;
      const part = Math.min(1, Math.max(0, (now - begin) / STEP_MS));
      const eased = 1 - (1 - part) ** 3;
      this.range = { from: from.from + (to.from - from.from) * eased, to: from.to + (to.to - from.to) * eased };
      this.#draw();
      if (part < 1) requestAnimationFrame(step);
      else this.range = to;
    };
    requestAnimationFrame(step);
  }

  get rows() {
    const { frames } = this.tree;
    return frames.depth[this.zoomed] + frames.below[this.zoomed] + 1;
  }

  /** @returns {import("./draw.js").Sight} */
  sight() {
    return {
      ...this.range,
      top: this.element.scrollTop,
      width: this.element.clientWidth,
      height: this.element.clientHeight,
      rows: this.rows,
      up: this.up,
    };
  }

  #resize() {
    const height = `${Math.max(this.rows * ROW, this.element.clientHeight)}px`;
    if (this.inside.style.height !== height) this.inside.style.height = height;
    const ratio = devicePixelRatio || 1;
    const [width, tall] = [this.element.clientWidth, this.element.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(tall * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(tall * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${tall}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** At once: before paper is printed there is no other picture. */
  drawNow() {
    this.#draw();
  }

  #draw() {
    if (!this.tree || this.element.clientWidth === 0) return;
    const begin = performance.now();
    const { context, look, tree } = this;
    this.#resize();
    context.font = look.font;
    context.textBaseline = "middle";
    context.direction = "ltr";
    if (this.labelsFont !== look.font) {
      this.labelsFont = look.font;
      this.labels = new Labels((text) => context.measureText(text).width);
    }
    const full = {
      ...look,
      zoomed: this.zoomed,
      selected: this.selected,
      hovered: this.hovered,
      shorterLabels: (frame) => this.shorterLabels(frame),
    };
    this.drawn = draw(context, tree, this.sight(), full, this.labels);
    this.times.push(performance.now() - begin);
    if (this.times.length > 500) this.times.shift();
  }

  /** @returns {string[]} what a frame's name is cut to */
  shorterLabels(frame) {
    const { look } = this;
    const key = this.tree.frames.key[frame];
    let short = this.shorterNames.get(key);
    if (short === undefined) this.shorterNames.set(key, (short = shorterNames(look.label(frame))));
    return short;
  }

  /** @returns {number} rows that are scrolled away between the root and what is in sight */
  get rowsAbove() {
    const { scrollTop, clientHeight } = this.element;
    if (!this.tree) return 0;
    const away = this.up ? Math.max(this.rows * ROW, clientHeight) - clientHeight - scrollTop : scrollTop;
    return Math.max(0, Math.floor(away / ROW));
  }

  /** Begins with a frame, whose outer ones are then out of sight; as far as the graph is tall enough. */
  openAt(frame) {
    this.begin = frame; // until the element has a size
    if (frame > 0) this.reveal(frame, true);
  }

  /** Scrolls until a frame is in sight. @param {boolean} [asRoot] near the edge where the graph begins */
  reveal(frame, asRoot = false) {
    const { scrollTop, clientHeight } = this.element;
    const y = rowTop({ ...this.sight(), top: 0 }, this.tree.frames.depth[frame]);
    const margin = 2 * ROW;
    if (asRoot) this.element.scrollTop = this.up ? y + ROW + margin - clientHeight : y - margin;
    else if (y < scrollTop + ROW) this.element.scrollTop = y - margin;
    else if (y + 2 * ROW > scrollTop + clientHeight) this.element.scrollTop = y + ROW + margin - clientHeight;
  }

  // --- Hands ------------------------------------------------------------------------------------

  /** @returns {number} the frame at a place of the window; -1: none */
  frameAt(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const sight = this.sight();
    const value = sight.from + ((clientX - box.left) / sight.width) * (sight.to - sight.from);
    const depth = rowAt(sight, clientY - box.top);
    return depth < 0 ? -1 : this.tree.at(depth, value);
  }

  #listen() {
    const box = this.element;
    box.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    box.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    box.addEventListener("pointerdown", (event) => this.#onDown(event));
    box.addEventListener("pointermove", (event) => this.#onMove(event));
    box.addEventListener("pointerup", (event) => this.#onUp(event));
    box.addEventListener("pointercancel", () => this.#endDrag());
    box.addEventListener("pointerleave", () => this.#leave());
    box.addEventListener("blur", () => this.redraw());
  }

  /** Another frame is under a pointer that rests. */
  #onScroll() {
    this.redraw();
    this.lookUnder();
    this.events.onscroll?.();
  }

  #onWheel(event) {
    if (!this.tree) return;
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      const box = this.canvas.getBoundingClientRect();
      this.zoomBy(Math.exp(event.deltaY * 0.002), (event.clientX - box.left) / box.width);
    } else if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey) this.panBy(across);
    else return; // the browser scrolls
    event.preventDefault();
  }

  #onDown(event) {
    if (event.button !== 0 || !this.tree || event.offsetX > this.element.clientWidth) return;
    this.drag = { x: event.clientX, y: event.clientY, top: this.element.scrollTop, moved: false, touch: event.pointerType === "touch" };
  }

  #onMove(event) {
    const { drag } = this;
    if (!this.tree) return;
    if (!drag) {
      this.pointer = event.pointerType === "touch" ? null : [event.clientX, event.clientY];
      this.lookUnder();
      return;
    }
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
    if (!drag.moved) {
      drag.moved = true;
      drag.last = drag.x;
      this.element.setPointerCapture(event.pointerId);
      this.element.classList.add("dragged");
      this.#leave();
    }
    this.panBy(drag.last - event.clientX);
    drag.last = event.clientX;
    if (!drag.touch) this.element.scrollTop = drag.top + drag.y - event.clientY; // a finger scrolls by itself
  }

  #onUp(event) {
    const { drag } = this;
    this.#endDrag();
    if (!drag || drag.moved) return;
    const frame = this.frameAt(event.clientX, event.clientY);
    if (frame < 0) return;
    // A finger cannot hover: the first tap says what is there, the second one zooms.
    const zooms = !drag.touch || frame === this.selected;
    this.select(frame, false);
    if (zooms) this.events.onzoom(frame);
  }

  #endDrag() {
    this.drag = null;
    this.element.classList.remove("dragged");
  }

  #leave() {
    this.pointer = null;
    this.#hover(-1, 0, 0);
  }

  #hover(frame, x, y) {
    this.element.classList.toggle("over", frame >= 0);
    if (frame !== this.hovered) {
      this.hovered = frame;
      this.redraw();
    }
    this.events.onhover(frame, x, y);
  }

  // --- Moving -----------------------------------------------------------------------------------

  /** @param {number} factor below 1: closer @param {number} at part of the width that stays where it is */
  zoomBy(factor, at = 0.5) {
    if (!this.tree) return;
    const all = this.#rangeOf(0);
    const { from, to } = this.range;
    const width = Math.min(all.to - all.from, Math.max((to - from) * factor, (all.to - all.from) * CLOSEST));
    this.#setRange(from + (to - from - width) * at, width);
  }

  panBy(pixels) {
    if (!this.tree) return;
    const { from, to } = this.range;
    this.#setRange(from + (pixels / this.element.clientWidth) * (to - from), to - from);
  }

  #setRange(from, width) {
    const all = this.#rangeOf(0);
    const begin = Math.min(Math.max(from, all.from), all.to - width);
    this.turn = (this.turn ?? 0) + 1; // ends a glide
    this.range = { from: begin, to: begin + width };
    this.redraw();
  }

  /** @returns {boolean} whether the range is another than the zoomed frame's; then it becomes that again */
  resetRange() {
    if (!this.tree) return false;
    const to = this.#rangeOf(this.zoomed);
    const other = this.range.from !== to.from || this.range.to !== to.to;
    if (other) this.#glide(this.range, to);
    return other;
  }

  select(frame, byKey) {
    this.selected = frame;
    if (byKey && frame >= 0) {
      this.reveal(frame);
      const { from, to } = this.#rangeOf(frame);
      if (to <= this.range.from || from >= this.range.to) this.#setRange(from - (this.range.to - this.range.from) / 2, this.range.to - this.range.from);
    }
    this.events.onselect(frame, byKey);
    this.redraw();
  }

  /** @param {"in"|"out"|"before"|"after"} where towards the leaf, towards the root, to a neighbour */
  move(where) {
    if (!this.tree) return;
    const { frames } = this.tree;
    const at = this.selected;
    if (at < 0) {
      this.select(this.zoomed, true);
      return;
    }
    let next = at;
    if (where === "in" && this.tree.childCount(at) > 0) next = frames.first[at] + this.#childInSight(at);
    else if (where === "out" && at > 0) next = frames.parent[at];
    else if (at > 0) {
      const parent = frames.parent[at];
      const last = frames.first[parent] + frames.count[parent] - 1;
      if (where === "before") next = Math.max(frames.first[parent], at - 1);
      if (where === "after") next = Math.min(last, at + 1);
    }
    this.select(next, true);
  }

  #childInSight(frame) {
    return this.tree.before(frame, this.tree.frames.count[frame], Math.max(this.range.from, this.tree.frames.start[frame]));
  }

  /** @param {number} pages */
  scrollBy(pages) {
    this.element.scrollTop += pages * (this.element.clientHeight - 2 * ROW);
  }
}
