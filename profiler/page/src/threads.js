// Which threads are looked at.
import { byId, element, name } from "./dom.js";
import { figure, percent } from "./format.js";

const COMMAND_MAX = 44;

/** What tells commands apart is mostly at their end: a file. */
function shortCommand(command) {
  const text = command.replace(/^\S*\//, "");
  if (text.length <= COMMAND_MAX) return text;
  const first = text.slice(0, Math.max(0, text.indexOf(" ")));
  return `${first} … ${text.slice(-(COMMAND_MAX - first.length - 3))}`;
}

export class Threads {
  /** @param {import("./profile.js").Profile} profile @param {(threads: number[]|null) => void} onchange */
  constructor({ threads, processes }, onchange) {
    this.threads = threads;
    this.processes = processes;
    // Programs of which a group has several processes, or several programs.
    this.grouped = [0, 1].some((group) => processes.filter((p) => p.group === group).length > 1);
    this.compares = threads.some((thread) => thread.group > 0);
    this.onchange = onchange;
    this.button = byId("threads");
    this.box = byId("threads-box");
    this.filter = element("input", { type: "search", placeholder: "Filter threads", "aria-label": "Filter threads", oninput: () => this.#list() });
    this.items = element("div", { class: "items" });
    this.box.append(
      element("div", { class: "line" }, this.filter, element("button", { type: "button", text: "All", id: "threads-all", onclick: () => onchange(null) })),
      this.items,
    );
    this.button.addEventListener("click", () => this.toggle());
    this.box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.toggle(false);
      this.button.focus();
      event.stopPropagation();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.box.hidden && !this.box.contains(event.target) && !this.button.contains(event.target)) this.toggle(false);
    });
  }

  toggle(open = this.box.hidden) {
    this.box.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    this.#list();
    this.filter.focus();
  }

  /** @param {{chosen: number[]|null, values: Float64Array, unit: string}} what */
  show(what) {
    this.what = what;
    const { length } = this.threads;
    const count = what.chosen?.length;
    this.button.textContent = count === undefined ? `${length} thread${length === 1 ? "" : "s"}`
      : count === 1 ? `Thread ${this.threads[what.chosen[0]].name}` : `${count} of ${length} threads`;
    this.button.classList.toggle("on", count !== undefined);
    if (!this.box.hidden) this.#list();
  }

  #list() {
    const { chosen, values, unit } = this.what;
    const wanted = this.filter.value.toLowerCase();
    const all = values.reduce((a, b) => a + b, 0);
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const isOn = new Set(chosen ?? this.threads.keys());
    const words = (i) => `${this.threads[i].name} ${this.threads[i].tid} ${this.threads[i].program} ${this.threads[i].pid} ${this.threads[i].command}`.toLowerCase();
    const shown = [...this.threads.keys()].filter((i) => words(i).includes(wanted)).sort((a, b) => values[b] - values[a]);
    const had = this.items.contains(document.activeElement) ? document.activeElement.dataset.thread : null;
    const item = (i) => this.#item(i, isOn.has(i), values[i], all, most, unit);
    this.items.replaceChildren(...(this.grouped ? this.#byProgram(shown, values, all, unit, isOn, item) : shown.map(item)));
    if (had) this.items.querySelector(`input[data-thread="${had}"]`)?.focus();
  }

  /** Programs, the heaviest first; below each its processes with their commands, and their threads. */
  #byProgram(shown, values, all, unit, isOn, item) {
    const out = [];
    const sum = (list) => list.reduce((total, i) => total + values[i], 0);
    const grouped = (list, key) => {
      const groups = new Map();
      for (const i of list) groups.set(key(i), [...(groups.get(key(i)) ?? []), i]);
      return [...groups].sort((a, b) => sum(b[1]) - sum(a[1]));
    };
    for (const [program, ofProgram] of grouped(shown, (i) => this.threads[i].program)) {
      const processes = grouped(ofProgram, (i) => this.threads[i].process);
      const base = program.slice(program.lastIndexOf("/") + 1) || "?";
      out.push(this.#head(`${base}`, `${processes.length} process${processes.length === 1 ? "" : "es"}`, program, ofProgram, sum(ofProgram), all, unit, isOn, "program"));
      for (const [process, ofProcess] of processes) {
        const { pid, command } = this.processes[process];
        out.push(this.#head(shortCommand(command) || base, String(pid), command, ofProcess, sum(ofProcess), all, unit, isOn, "process"));
        if (ofProcess.length > 1) out.push(...ofProcess.map(item));
      }
    }
    return out;
  }

  /** A row for several threads. */
  #head(title, number, hint, threads, value, all, unit, isOn, level) {
    const on = threads.filter((i) => isOn.has(i)).length;
    const box = element("input", { type: "checkbox", onchange: () => this.#flipAll(threads, on < threads.length) });
    box.checked = on === threads.length;
    box.indeterminate = on > 0 && on < threads.length;
    const only = element("button", { type: "button", class: "only", "aria-label": `only ${title.slice(0, 80)} ${number}`, text: "only", onclick: () => this.onchange(threads) });
    return element("div", { class: `item ${level}` },
      element("label", { title: hint.slice(0, 2000) }, box, name(title.slice(0, 300), { class: "title" }), element("span", { class: "quiet", text: number })),
      element("span", { class: "value", text: `${figure(value, unit)}  ${percent(value, all)}` }), only);
  }

  #flipAll(threads, to) {
    const on = new Set(this.what.chosen ?? this.threads.keys());
    for (const i of threads) to ? on.add(i) : on.delete(i);
    this.onchange(on.size === this.threads.length ? null : [...on].sort((a, b) => a - b));
  }

  #item(i, on, value, all, most, unit) {
    const { name: title, tid, pid, program, group } = this.threads[i];
    const number = this.compares ? `${tid}, ${["old", "new"][group]}` : String(tid);
    const box = element("input", { type: "checkbox", "data-thread": String(i), onchange: () => this.#flip(i) });
    box.checked = on;
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${most > 0 ? (100 * value) / most : 0}%`;
    const only = element("button", { type: "button", class: "only", "data-only": String(i), "aria-label": `only ${title} ${number}`, text: "only", onclick: () => this.onchange([i]) });
    return element("div", { class: "item" }, bar,
      element("label", { title: `${program}, process ${pid}` }, box, name(title, { class: "title" }), element("span", { class: "quiet", text: number })),
      element("span", { class: "value", text: `${figure(value, unit)}  ${percent(value, all)}` }), only);
  }

  #flip(i) {
    const on = new Set(this.what.chosen ?? this.threads.keys());
    if (!on.delete(i)) on.add(i);
    this.onchange(on.size === this.threads.length ? null : [...on].sort((a, b) => a - b));
  }
}
