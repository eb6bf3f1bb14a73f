// Source and assembly of the hottest functions, each line with its figures: of all that the report has, whatever is chosen here.
import { byId, element, name } from "./dom.js";
import { Grid } from "./grid.js";
import { figure, percent } from "./format.js";
import { placeName } from "./profile.js";

/**
 * @typedef {object} CodeRow
 * @property {"file"|"line"|"gap"|"instruction"|"rest"} kind
 * @property {number} self
 * @property {number} total
 * @property {string} at line number, or offset
 * @property {string} text
 * @property {string} [place] of an instruction: where its line is, if that has no row
 */

const PLACE_AT = 40; // characters behind which places stand

/** Sums of instructions by line. @returns {Map<string, {self: number, total: number}>} by "file line" */
function sumsOf({ instructions }) {
  const sums = new Map();
  instructions.offset.forEach((_, i) => {
    const key = `${instructions.file[i]} ${instructions.line[i]}`;
    const sum = sums.get(key) ?? { self: 0, total: 0 };
    sum.self += instructions.self[i];
    sum.total += instructions.total[i];
    sums.set(key, sum);
  });
  return sums;
}

/** With what a function's rows do not show, as --annotate has it. @param {CodeRow[]} rows @param {string} kind of rows that have its self */
function withRest(rows, { self }, kind, text) {
  const rest = self - rows.reduce((sum, row) => sum + (row.kind === kind ? row.self : 0), 0);
  return rest > 0 ? [...rows, { kind: "rest", self: rest, total: 0, at: "", text: `[not shown: ${text}]` }] : rows;
}

/** Lines of each file, the file with the most first. @returns {CodeRow[]} */
export function sourceRows(code, strings) {
  const sums = sumsOf(code);
  const files = new Map();
  code.sources.file.forEach((file, i) => files.set(file, [...(files.get(file) ?? []), i]));
  const selfOf = (lines) => lines.reduce((sum, i) => sum + (sums.get(`${code.sources.file[i]} ${code.sources.line[i]}`)?.self ?? 0), 0);
  const rows = [];
  for (const [file, lines] of [...files].sort((a, b) => selfOf(b[1]) - selfOf(a[1]))) {
    rows.push({ kind: "file", self: selfOf(lines), total: 0, at: "", text: strings[file] });
    let before = 0;
    for (const i of lines) {
      const line = code.sources.line[i];
      if (before > 0 && line > before + 1) rows.push({ kind: "gap", self: 0, total: 0, at: "⋮", text: "" });
      rows.push({ kind: "line", ...(sums.get(`${file} ${line}`) ?? { self: 0, total: 0 }), at: String(line), text: strings[code.sources.text[i]] });
      before = line;
    }
  }
  return withRest(rows, code, "line", "code without a source line here");
}

/** Instructions, and before them their line where it is another one. @returns {CodeRow[]} */
export function assemblyRows(code, strings) {
  const { instructions, sources } = code;
  const texts = new Map(sources.file.map((file, i) => [`${file} ${sources.line[i]}`, strings[sources.text[i]]]));
  const rows = [];
  const gaps = new Set(code.gaps);
  let before = "";
  instructions.offset.forEach((offset, i) => {
    if (gaps.has(i)) rows.push({ kind: "gap", self: 0, total: 0, at: "⋮", text: "" });
    const key = `${instructions.file[i]} ${instructions.line[i]}`;
    const place = key !== before && instructions.line[i] > 0 ? `${placeName(strings[instructions.file[i]])}:${instructions.line[i]}` : "";
    if (place && texts.has(key)) rows.push({ kind: "line", self: 0, total: 0, at: place, text: texts.get(key).trim() });
    before = key;
    // A line whose text is not here is no row of its own.
    rows.push({ kind: "instruction", self: instructions.self[i], total: instructions.total[i], at: offset.toString(16), text: strings[instructions.text[i]], place: texts.has(key) ? "" : place });
  });
  return withRest(rows, code, "instruction", "another copy of the function, or instructions that are not in this page");
}

/** The file tells functions of one name apart. @returns {string[]} of each code */
export function codeTitles({ code, names }) {
  const count = new Map();
  for (const { function: f } of code) count.set(f, (count.get(f) ?? 0) + 1);
  return code.map(({ function: f, path }) => {
    const text = names[f].slice(0, 120);
    return count.get(f) > 1 ? `${text} (${path ? placeName(path) : "file unknown"})` : text;
  });
}

export class CodeView {
  /** @param {import("./profile.js").Profile} profile @param {{onchange: (change: object) => void}} events */
  constructor(profile, events) {
    this.profile = profile;
    this.rows = [];
    this.grid = new Grid("grid", "Source and assembly", "code", { onopen: () => {} });
    this.select = element("select", { "aria-label": "Function", onchange: () => this.#choose(events) });
    this.mode = element("button", { type: "button", title: "Lines of source, or instructions", onclick: () => events.onchange({ assembly: !this.assembly }) });
    this.note = element("span", { class: "quiet note", text: "of all threads and times of the report" });
    this.element = element("div", { class: "code" }, element("div", { class: "between line" }, this.select, this.mode, this.note), this.grid.element);
    const titles = codeTitles(profile);
    this.select.append(...profile.code.map(({ self }, i) => element("option", { value: String(i), text: `${percent(self, this.#all)}  ${titles[i]}` })));
  }

  #choose(events) {
    const { function: focus, path } = this.profile.code[this.select.selectedIndex];
    events.onchange({ focus, file: path });
  }

  /** @returns {number} the code of a function; of several of its name the one of a file, else the hottest; -1: none is here */
  #find(focus, file) {
    const { code } = this.profile;
    const exact = code.findIndex((c) => c.function === focus && c.path === file);
    return exact >= 0 ? exact : code.findIndex((c) => c.function === focus);
  }

  get #all() {
    return this.profile.codeAll;
  }

  show({ focus, file, assembly }) {
    const { profile } = this;
    const at = Math.max(0, this.#find(focus, file));
    const code = profile.code[at];
    const unit = profile.types[profile.main].unit;
    this.assembly = assembly || !code || code.sources.line.length === 0;
    this.mode.hidden = !code || code.sources.line.length === 0;
    this.mode.textContent = this.assembly ? "Assembly" : "Source";
    this.select.hidden = !code;
    this.note.replaceChildren(code ? "of all threads and times of the report" : name("No code is in this page: the programs were not at hand when it was made, or sfb was built without libcapstone."));
    this.select.selectedIndex = at;
    const wanted = code && `${at} ${this.assembly}`;
    if (wanted !== this.shown) this.rows = code ? (this.assembly ? assemblyRows : sourceRows)(code, profile.strings) : [];
    const share = (value) => (value > 0 ? percent(value, this.#all) : "");
    this.grid.show({
      columns: [
        { id: "self", key: "self", title: "Self %", cell: (row) => share(row.self), bar: (row) => row.self / Math.max(1, code?.self ?? 1) },
        { id: "self", key: "self-value", title: "Self", cell: (row) => (row.self > 0 ? figure(row.self, unit) : ""), wide: true },
        { id: "total", key: "total-value", title: "Total", cell: (row) => (row.total > 0 ? figure(row.total, unit) : ""), wide: true },
        { id: "at", key: "at", title: this.assembly ? "Offset" : "Line", cell: (row) => row.at },
        { id: "text", key: "text", title: this.assembly ? "Instruction" : "Source", cell: (row) => (row.place ? `${row.text.padEnd(PLACE_AT)}  ; ${row.place}` : row.text), code: true, text: true },
      ],
      count: this.rows.length,
      item: (i) => this.rows[i],
      attributes: (i) => ({ "data-kind": this.rows[i].kind }),
      empty: "",
      compares: false,
    });
    // At first the hottest row is in sight.
    if (wanted !== this.shown && this.rows.length > 0)
      this.grid.activate(this.rows.reduce((best, row, i) => (row.kind !== "file" && row.self > (this.rows[best].kind === "file" ? -1 : this.rows[best].self) ? i : best), 0), true);
    this.shown = wanted;
  }

  /** @returns {boolean} whether the page has a function's code */
  has(f) {
    return this.profile.code.some(({ function: own }) => own === f);
  }
}
