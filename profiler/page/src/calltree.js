// The call tree as a table that is a tree: from the outermost function down, or from the leaves up. Branches open when they
// are asked for.
import { figureColumns } from "./columns.js";
import { element } from "./dom.js";
import { Grid, swatch } from "./grid.js";
import { figure, percent } from "./format.js";
import { moduleName } from "./profile.js";

const INDENT = 12; // pixels
const INDENTS_MAX = 30; // deeper rows say how deep they are
const EXPAND_MAX = 5000; // rows of one "expand all"
const EXPAND_SHARE = 0.001; // of the branch: narrower ones stay closed

export class CallTree {
  /** @param {{onfocus: (frame: number) => void, onselect: (frame: number) => void}} events */
  constructor(events) {
    this.events = events;
    this.list = [];
    this.open = new Set();
    this.chosen = false; // a row, by hand or by key
    this.grid = new Grid("treegrid", "Call tree: arrows open and close branches, Enter looks at one alone", "branch", {
      onopen: (i) => this.#choose(i),
      onkey: (event) => this.#onKey(event),
    });
    this.element = this.grid.element;
  }

  /** @param {import("./app.js").App} app @param {import("./tree.js").Tree} tree @param {number} root what is looked at alone; 0: all of it */
  show(app, tree, root) {
    if (tree !== this.tree) this.#take(tree);
    if (root !== this.root || tree !== this.begun) this.#begin(tree, root);
    this.app = app;
    this.#list();
  }

  /** Branches that were open stay open where the new tree has them. */
  #take(tree) {
    const old = this.tree;
    const same = old && old.callers === tree.callers;
    const active = same && this.list.length > 0 ? old.path(this.list[this.grid.at]) : null;
    const paths = same ? [...this.open].map((frame) => old.path(frame)) : [];
    this.tree = tree;
    this.open = new Set();
    for (const path of paths) {
      const frame = tree.find(path);
      if (tree.frames.depth[frame] === path.length) this.open.add(frame);
    }
    this.wanted = active && tree.find(active);
  }

  /** At first it is open up to where stacks branch. */
  #begin(tree, root) {
    const { frames } = tree;
    this.root = root;
    this.begun = tree;
    if (this.open.size > 0 && root === 0) return;
    let frame = root;
    const least = 0.95 * frames.width[root];
    for (;;) {
      this.open.add(frame);
      if (tree.childCount(frame) === 0 || frames.width[frames.first[frame]] < least || tree.callers) break;
      frame = frames.first[frame];
    }
  }

  /** Rows are the frames below open ones. */
  #list() {
    const { tree, root, app } = this;
    const { frames } = tree;
    const at = this.wanted || this.list[this.grid.at];
    const rows = [];
    this.indents = new Map(); // only branches are moved in: a chain of calls stays where it is
    const todo = root > 0 ? [root] : this.#children(0).reverse();
    while (todo.length > 0) {
      const frame = todo.pop();
      rows.push(frame);
      if (!this.open.has(frame)) continue;
      const children = this.#children(frame);
      const indent = (this.indents.get(frame) ?? 0) + (children.length > 1 ? 1 : 0);
      for (const child of children.reverse()) {
        this.indents.set(child, indent);
        todo.push(child);
      }
    }
    this.list = rows;
    this.wanted = null;
    this.grid.at = Math.max(0, rows.indexOf(at));
    const { profile } = app;
    const groups = (old, fresh) => [old, fresh].slice(0, profile.groups);
    const total = (frame) => groups(frames.old[frame], frames.new[frame]);
    const self = (frame) => groups(tree.selfOf(frame, 0), profile.groups > 1 ? tree.selfOf(frame, 1) : 0);
    this.element.classList.toggle("inverted", tree.callers);
    this.grid.show({
      columns: [
        ...figureColumns(app, "total", "Total", total),
        ...(tree.callers ? [] : figureColumns(app, "self", "Self", self)),
        { id: "name", key: "name", title: "Function", cell: (frame) => profile.names[frames.key[frame]], text: true },
        { id: "module", key: "module", title: "Module", cell: (frame) => moduleName(profile, frames.key[frame]), text: true, wide: true },
      ],
      count: rows.length,
      item: (i) => rows[i],
      attributes: (i) => this.#attributes(rows[i]),
      decorate: (cell, i) => this.#decorate(cell, rows[i], total(rows[i])),
      empty: "Nothing was counted.",
      compares: profile.groups > 1,
    });
  }

  #children(frame) {
    const { frames } = this.tree;
    return Array.from({ length: this.tree.childCount(frame) }, (_, i) => frames.first[frame] + i).filter((child) => frames.width[child] > 0);
  }

  #isBranch(frame) {
    return this.tree.childCount(frame) > 0 && this.tree.frames.width[this.tree.frames.first[frame]] > 0;
  }

  #level(frame) {
    return this.tree.frames.depth[frame] - (this.root > 0 ? this.tree.frames.depth[this.root] - 1 : 0);
  }

  #attributes(frame) {
    const { frames } = this.tree;
    const parent = frames.parent[frame];
    const { hit } = this.app;
    return {
      "aria-level": String(this.#level(frame)),
      "aria-setsize": String(frame === this.root ? 1 : frames.count[parent]),
      "aria-posinset": String(frame === this.root ? 1 : frame - frames.first[parent] + 1),
      "aria-expanded": this.#isBranch(frame) ? String(this.open.has(frame)) : undefined,
      "data-hit": hit !== null && hit[frames.key[frame]] === 1,
    };
  }

  #decorate(cell, frame, parts) {
    const level = this.indents.get(frame) ?? 0;
    const twist = element("span", { class: "twist", "aria-hidden": "true", text: this.#isBranch(frame) ? (this.open.has(frame) ? "▾" : "▸") : "" });
    cell.style.paddingLeft = `${Math.min(level, INDENTS_MAX) * INDENT}px`;
    if (level > INDENTS_MAX) cell.append(element("span", { class: "quiet", text: `+${level - INDENTS_MAX} ` }));
    cell.append(twist, swatch(this.app.colourOf(this.tree.frames.key[frame], ...parts)));
  }

  // --- Hands and keys ---------------------------------------------------------------------------

  /** @returns {number} frame of the active row; -1: none */
  get active() {
    return this.list[this.grid.at] ?? -1;
  }

  /** A row was clicked: it opens, or closes. */
  #choose(i) {
    this.chosen = true;
    this.toggle(this.list[i]);
  }

  toggle(frame, open = !this.open.has(frame)) {
    if (open) this.open.add(frame);
    else this.open.delete(frame);
    this.wanted = frame;
    this.#list();
    this.grid.activate(this.grid.at);
    this.events.onselect(frame);
  }

  #onKey(event) {
    const frame = this.active;
    if (frame < 0) return false;
    this.chosen = true;
    const { frames } = this.tree;
    const isOpen = this.open.has(frame);
    if (event.key === "ArrowRight") {
      if (!this.#isBranch(frame)) return true;
      if (isOpen) this.select(frames.first[frame]);
      else this.toggle(frame, true);
    } else if (event.key === "ArrowLeft") {
      if (isOpen && this.#isBranch(frame)) this.toggle(frame, false);
      else if (frame !== this.root && frames.parent[frame] > 0) this.select(frames.parent[frame]);
    } else if (event.key === "*") this.expandAll(frame);
    else if (event.key === "Enter") this.events.onfocus(frame);
    else return false;
    return true;
  }

  /** Opens all that is below a frame, but for what is too narrow to matter. */
  expandAll(frame = this.active) {
    if (frame < 0) return;
    const { frames } = this.tree;
    const least = frames.width[frame] * EXPAND_SHARE;
    const todo = [frame];
    for (let rows = 0; todo.length > 0 && rows < EXPAND_MAX; ) {
      const next = todo.shift();
      this.open.add(next);
      for (const child of this.#children(next)) {
        rows++;
        if (frames.width[child] >= least && this.#isBranch(child)) todo.push(child);
      }
    }
    this.toggle(frame, true);
  }

  /** Makes a frame's row the active one: all above it is opened. */
  select(frame) {
    const { frames } = this.tree;
    for (let above = frames.parent[frame]; above > 0 && above !== frames.parent[this.root]; above = frames.parent[above]) this.open.add(above);
    this.wanted = frame;
    this.#list();
    this.grid.activate(this.grid.at);
    this.events.onselect(frame);
  }

  step(by) {
    this.grid.activate(this.grid.at + by);
    if (this.active >= 0) this.events.onselect(this.active);
  }

  /** @returns {string} the rows as text: moved in as they are called */
  text() {
    const { app, tree } = this;
    const { frames } = tree;
    return this.list.map((frame) =>
      `${percent(frames.width[frame], frames.width[0]).padStart(9)}  ${figure(frames.width[frame], app.unit).padStart(9)}  ` +
      `${"  ".repeat(this.#level(frame) - 1)}${app.profile.names[frames.key[frame]]}\n`).join("");
  }
}
