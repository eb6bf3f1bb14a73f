// Which threads are looked at.
import { byId, element, name } from "./dom.js";
import { figure, percent } from "./format.js";

export class Threads {
  /** @param {import("./profile.js").Thread[]} threads @param {(threads: number[]|null) => void} onchange */
  constructor(threads, onchange) {
    this.threads = threads;
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
    const shown = [...this.threads.keys()]
      .filter((i) => `${this.threads[i].name} ${this.threads[i].tid} ${this.threads[i].program}`.toLowerCase().includes(wanted))
      .sort((a, b) => values[b] - values[a]);
    const had = this.items.contains(document.activeElement) ? document.activeElement.dataset.thread : null;
    this.items.replaceChildren(...shown.map((i) => this.#item(i, isOn.has(i), values[i], all, most, unit)));
    if (had) this.items.querySelector(`input[data-thread="${had}"]`)?.focus();
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
