// Rows of a table on the screen: only those in sight are elements, and one of them is active.
import { element, name, oncePerPicture } from "./dom.js";
import { Labels, shorterNames } from "./label.js";

const ROW_HEIGHT = 28;
const NAME_MARKS = 40; // pixels of what stands before a name
const MORE = 8; // rows that are there above and below those in sight

/**
 * @typedef {object} GridEvents
 * @property {(id: string) => void} [onsort] a column's head was pressed
 * @property {(row: number) => void} onopen
 * @property {(event: KeyboardEvent) => boolean} [onkey] true: it was handled
 */

export class Grid {
  /** @param {"grid"|"treegrid"} role @param {string} label @param {string} id of its rows' ids @param {GridEvents} events */
  constructor(role, label, id, events) {
    this.id = id;
    this.events = events;
    this.head = element("div", { class: "head", role: "row" });
    this.body = element("div", { class: "body", role: "presentation" });
    this.rows = element("div", { class: "rows", role: "rowgroup" }, this.body);
    this.element = element("div", { class: "table", role, "aria-label": label, tabindex: "0" },
      element("div", { role: "rowgroup" }, this.head), this.rows);
    const context = document.createElement("canvas").getContext("2d");
    context.font = `13px ${getComputedStyle(document.documentElement).getPropertyValue("--font")}`;
    this.labels = new Labels((text) => context.measureText(text).width);
    this.at = 0; // the active row
    this.count = 0;
    this.redraw = oncePerPicture(() => this.draw());
    this.rows.addEventListener("scroll", this.redraw, { passive: true });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(this.redraw).observe(this.rows);
  }

  /**
   * @param {{columns: import("./columns.js").Column<number>[], count: number, item: (row: number) => number, sort?: string, rising?: boolean,
   *   attributes?: (row: number) => object, decorate?: (cell: HTMLElement, row: number) => void, empty: string, compares: boolean}} what
   *   decorate: what stands before a name
   */
  show(what) {
    this.what = what;
    this.count = what.count;
    this.at = Math.max(0, Math.min(this.at, this.count - 1));
    this.element.classList.toggle("compares", what.compares);
    this.element.setAttribute("aria-rowcount", String(this.count + 1));
    this.head.replaceChildren(...what.columns.map((column) => this.#headCell(column)));
    this.draw();
  }

  #headCell(column) {
    const { sort, rising } = this.what;
    const cell = element("div", { role: "columnheader", class: this.#classOf(column) });
    if (!this.events.onsort) {
      cell.append(element("span", { text: column.title }));
      return cell;
    }
    const sorted = column.id === sort;
    cell.setAttribute("aria-sort", sorted ? (rising ? "ascending" : "descending") : "none");
    cell.append(element("button", { type: "button", "data-sort": column.id, onclick: () => this.events.onsort(column.id) },
      column.title, element("span", { class: "arrow", "aria-hidden": "true", text: sorted ? (rising ? "▲" : "▼") : "" })));
    return cell;
  }

  #classOf(column) {
    return `cell ${column.text ? "text" : "number"} ${column.wide ? "wide" : ""} ${column.key}`;
  }

  draw() {
    if (!this.what) return;
    const { scrollTop, clientHeight } = this.rows;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - MORE);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + MORE);
    this.rooms = new Map([...this.head.children].map((cell, i) => [this.what.columns[i].key, cell.clientWidth]));
    this.body.style.height = `${this.count * ROW_HEIGHT}px`;
    const rows = [];
    for (let i = first; i < last; i++) rows.push(this.#row(i));
    if (this.count === 0) rows.push(element("p", { class: "empty", text: this.what.empty }));
    this.body.replaceChildren(...rows);
    if (this.at >= first && this.at < last) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #row(i) {
    const { what } = this;
    const row = element("div", {
      role: "row",
      id: `${this.id}-${i}`,
      class: i === this.at ? "row active" : "row",
      "aria-rowindex": String(i + 2),
      "aria-selected": String(i === this.at),
      ...what.attributes?.(i),
      onclick: () => {
        this.at = i;
        this.events.onopen(i);
      },
    });
    row.style.top = `${i * ROW_HEIGHT}px`;
    row.append(...what.columns.map((column) => this.#cell(column, i)));
    return row;
  }

  #cell(column, i) {
    const item = this.what.item(i);
    const cell = element("div", { role: "gridcell", class: this.#classOf(column) });
    const text = column.cell(item);
    if (column.bar) {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * Math.min(1, column.bar(item))).toFixed(2)}%`;
      cell.append(bar);
    }
    if (column.sign) cell.classList.add(["less", "same", "more"][column.sign(item) + 1]);
    if (column.id === "name") this.what.decorate?.(cell, i);
    if (column.code) cell.append(element("code", { text }));
    else if (column.text) {
      const used = (parseFloat(cell.style.paddingLeft) || 0) + (column.id === "name" ? NAME_MARKS : 0);
      cell.append(name(this.#fitting(text.slice(0, 2000), this.rooms.get(column.key) - used)));
      cell.title = text.slice(0, 2000);
    } else cell.append(element("span", { text }));
    return cell;
  }

  /** What of a name fits, with what tells it from others. */
  #fitting(text, room) {
    if (!(room > 40)) return text;
    const fitted = this.labels.fit(text, shorterNames(text), room);
    return fitted || text;
  }

  #onKey(event) {
    const page = Math.max(1, Math.floor(this.rows.clientHeight / ROW_HEIGHT) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.count - 1 }[event.key];
    if (event.target.tagName === "BUTTON" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.events.onkey?.(event)) void 0;
    else if (to !== undefined) this.activate(to);
    else if (event.key === "Enter" && this.count > 0) this.events.onopen(this.at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} by rows */
  step(by) {
    this.activate(this.at + by);
  }

  /** Makes a row the active one, in sight. */
  activate(i, centred = false) {
    this.at = Math.max(0, Math.min(i, this.count - 1));
    const top = this.at * ROW_HEIGHT;
    if (centred) this.rows.scrollTop = top - this.rows.clientHeight / 3;
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    if (top + ROW_HEIGHT > this.rows.scrollTop + this.rows.clientHeight) this.rows.scrollTop = top + ROW_HEIGHT - this.rows.clientHeight;
    this.draw();
  }
}

/** The colour of a row's function. */
export function swatch(colour) {
  const mark = element("span", { class: "mark", "aria-hidden": "true" });
  mark.style.background = colour;
  return mark;
}
