// The functions as a table: each with its figures; sorted, filtered, and only the rows in sight are elements.
import { element, name, oncePerPicture } from "./dom.js";
import { figure, percent, points, signedFigure } from "./format.js";
import { moduleName } from "./profile.js";
import { changeIn } from "./weigh.js";

const ROW_HEIGHT = 28;
const MORE = 8; // rows that are there above and below those in sight

/**
 * @returns {number[]} functions that have a figure and fit, in order
 */
export function sortedFunctions({ profile, tally }, hit, sort, rising) {
  const last = tally.total.length - 1;
  const [self, total] = [tally.self[last], tally.total[last]];
  const change = (parts, f) => parts[1][f] - parts[0][f];
  const out = [];
  for (let f = 0; f < profile.names.length; f++)
    if (tally.total.some((t) => t[f] > 0) && (hit === null || hit[f])) out.push(f);
  const words = (text) => (a, b) => (text(a) < text(b) ? 1 : text(a) > text(b) ? -1 : 0);
  const by = {
    self: (a, b) => self[b] - self[a] || total[b] - total[a],
    total: (a, b) => total[b] - total[a] || self[b] - self[a],
    selfChange: (a, b) => Math.abs(change(tally.self, b)) - Math.abs(change(tally.self, a)),
    totalChange: (a, b) => Math.abs(change(tally.total, b)) - Math.abs(change(tally.total, a)),
    name: words((f) => profile.names[f]),
    module: words((f) => moduleName(profile, f)),
  }[sort];
  out.sort((a, b) => by(a, b) || a - b);
  return rising ? out.reverse() : out;
}

/** Columns: what they are called, which text they show, and what is drawn behind it. */
function columnsOf({ profile, tally, weights, unit, state }) {
  const last = profile.groups - 1;
  const share = (parts, g, f) => (weights.all[g] > 0 ? parts[g][f] / weights.all[g] : 0);
  const figures = (id, title, parts) => [
    { id, title, cell: (f) => percent(parts[last][f], weights.all[last]), bar: (f) => share(parts, last, f), wide: false },
    { id: "", title: "", cell: (f) => figure(parts[last][f], unit), wide: true },
  ];
  const change = (id, title, parts) => ({
    id,
    title,
    cell: (f) => `${signedFigure(parts[1][f] - parts[0][f], unit)}`,
    hint: (f) => `${points(changeIn(weights, state.shares, parts[0][f], parts[1][f]))} %`,
    sign: (f) => Math.sign(parts[1][f] - parts[0][f]),
    wide: id === "totalChange",
  });
  return [
    ...figures("self", "Self", tally.self),
    ...(profile.groups > 1 ? [change("selfChange", "Change", tally.self)] : []),
    ...figures("total", "Total", tally.total),
    ...(profile.groups > 1 ? [change("totalChange", "Change", tally.total)] : []),
    { id: "name", title: "Function", cell: (f) => profile.names[f], text: true },
    { id: "module", title: "Module", cell: (f) => moduleName(profile, f), text: true, wide: true },
  ];
}

export class Table {
  /** @param {{onsort: (id: string) => void, onopen: (f: number) => void}} events */
  constructor(events) {
    this.events = events;
    this.head = element("div", { class: "head", role: "row" });
    this.body = element("div", { class: "body", role: "presentation" });
    this.rows = element("div", { class: "rows", role: "rowgroup" }, this.body);
    this.element = element("div", { class: "table", role: "grid", "aria-label": "Functions", tabindex: "0" }, this.head, this.rows);
    this.at = 0; // the active row
    this.list = [];
    this.redraw = oncePerPicture(() => this.#draw());
    this.rows.addEventListener("scroll", this.redraw, { passive: true });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    new ResizeObserver(this.redraw).observe(this.rows);
  }

  show(app, hit, { sort, rising }) {
    this.columns = columnsOf(app);
    this.list = sortedFunctions(app, hit, sort, rising);
    this.at = Math.min(this.at, Math.max(0, this.list.length - 1));
    this.colours = app.colours;
    this.element.classList.toggle("compares", app.profile.groups > 1);
    this.element.setAttribute("aria-rowcount", String(this.list.length + 1));
    this.head.replaceChildren(...this.columns.map((column) => this.#headCell(column, sort, rising)));
    this.#draw();
  }

  #headCell(column, sort, rising) {
    const cell = element("div", { role: "columnheader", class: this.#classOf(column) });
    if (column.id === "") return cell;
    const sorted = column.id === sort;
    cell.setAttribute("aria-sort", sorted ? (rising ? "ascending" : "descending") : "none");
    cell.append(element("button", { type: "button", "data-sort": column.id, onclick: () => this.events.onsort(column.id) },
      column.title, element("span", { class: "arrow", "aria-hidden": "true", text: sorted ? (rising ? "▲" : "▼") : "" })));
    return cell;
  }

  #classOf(column) {
    return `cell ${column.text ? "text" : "number"} ${column.wide ? "wide" : ""} ${column.id}`;
  }

  #draw() {
    const { scrollTop, clientHeight } = this.rows;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - MORE);
    const last = Math.min(this.list.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + MORE);
    this.body.style.height = `${this.list.length * ROW_HEIGHT}px`;
    const rows = [];
    for (let i = first; i < last; i++) rows.push(this.#row(i));
    if (this.list.length === 0) rows.push(element("p", { class: "empty", text: "No function fits." }));
    this.body.replaceChildren(...rows);
    this.element.setAttribute("aria-activedescendant", this.list.length > 0 ? `row-${this.at}` : "");
  }

  #row(i) {
    const f = this.list[i];
    const row = element("div", {
      role: "row",
      id: `row-${i}`,
      class: i === this.at ? "row active" : "row",
      "aria-rowindex": String(i + 2),
      "aria-selected": String(i === this.at),
      onclick: () => {
        this.at = i;
        this.events.onopen(f);
      },
    });
    row.style.top = `${i * ROW_HEIGHT}px`;
    row.append(...this.columns.map((column) => this.#cell(column, f)));
    return row;
  }

  #cell(column, f) {
    const cell = element("div", { role: "gridcell", class: this.#classOf(column) });
    const text = column.cell(f);
    if (column.bar) {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${(100 * Math.min(1, column.bar(f))).toFixed(2)}%`;
      cell.append(bar);
    }
    if (column.sign) cell.classList.add(["less", "same", "more"][column.sign(f) + 1]);
    if (column.id === "name") {
      const mark = element("span", { class: "mark", "aria-hidden": "true" });
      mark.style.background = this.colours[f];
      cell.append(mark);
    }
    cell.append(column.text ? name(text.slice(0, 2000)) : element("span", { text }));
    cell.title = column.hint ? column.hint(f) : column.text ? text.slice(0, 2000) : "";
    return cell;
  }

  #onKey(event) {
    const page = Math.max(1, Math.floor(this.rows.clientHeight / ROW_HEIGHT) - 1);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.list.length - 1 }[event.key];
    if (event.target.tagName === "BUTTON") return;
    if (to !== undefined) this.#activate(to);
    else if (event.key === "Enter" && this.list.length > 0) this.events.onopen(this.list[this.at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} by rows */
  step(by) {
    this.#activate(this.at + by);
  }

  #activate(i) {
    this.at = Math.max(0, Math.min(i, this.list.length - 1));
    const top = this.at * ROW_HEIGHT;
    if (top < this.rows.scrollTop) this.rows.scrollTop = top;
    if (top + ROW_HEIGHT > this.rows.scrollTop + this.rows.clientHeight) this.rows.scrollTop = top + ROW_HEIGHT - this.rows.clientHeight;
    this.#draw();
  }
}
