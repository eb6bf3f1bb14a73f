// The functions as a table: each with its figures; sorted, and filtered by the search.
import { figureColumns } from "./columns.js";
import { Grid, swatch } from "./grid.js";
import { moduleName } from "./profile.js";

/** @returns {number[]} functions that have a figure and fit, in order */
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
    selfOld: (a, b) => tally.self[0][b] - tally.self[0][a],
    totalOld: (a, b) => tally.total[0][b] - tally.total[0][a],
    selfChange: (a, b) => Math.abs(change(tally.self, b)) - Math.abs(change(tally.self, a)),
    totalChange: (a, b) => Math.abs(change(tally.total, b)) - Math.abs(change(tally.total, a)),
    name: words((f) => profile.names[f]),
    module: words((f) => moduleName(profile, f)),
  }[sort];
  out.sort((a, b) => by(a, b) || a - b);
  return rising ? out.reverse() : out;
}

export class Table {
  /** @param {{onsort: (id: string) => void, onopen: (f: number) => void}} events */
  constructor(events) {
    this.list = [];
    this.grid = new Grid("grid", "Functions", "row", { onsort: events.onsort, onopen: (i) => events.onopen(this.list[i]) });
    this.element = this.grid.element;
  }

  show(app, hit, { sort, rising }) {
    const { profile, tally } = app;
    const parts = (figures) => (f) => figures.map((of) => of[f]);
    this.list = sortedFunctions(app, hit, sort, rising);
    this.grid.show({
      columns: [
        ...figureColumns(app, "self", "Self", parts(tally.self)),
        ...figureColumns(app, "total", "Total", parts(tally.total)),
        { id: "name", key: "name", title: "Function", cell: (f) => profile.names[f], text: true },
        { id: "module", key: "module", title: "Module", cell: (f) => moduleName(profile, f), text: true, wide: true },
      ],
      count: this.list.length,
      item: (i) => this.list[i],
      sort,
      rising,
      decorate: (cell, i) => cell.append(swatch(app.colourOf(this.list[i], ...parts(tally.self)(this.list[i])))),
      empty: "No function fits.",
      compares: profile.groups > 1,
    });
  }

  /** @returns {number} function of the active row; -1: none */
  get active() {
    return this.list[this.grid.at] ?? -1;
  }

  /** @param {number} by rows */
  step(by) {
    this.grid.activate(this.grid.at + by);
  }
}
