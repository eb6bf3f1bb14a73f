// A box beside the pointer that says what a frame is.
import { element, name } from "./dom.js";

const GAP = 14; // pixels

export class Tooltip {
  constructor() {
    this.element = element("div", { id: "tooltip", role: "tooltip", hidden: true });
    document.body.append(this.element);
  }

  /** @param {import("./describe.js").Description} d */
  show(d, x, y) {
    const head = d.columns.length > 0 ? element("tr", {}, ...["", ...d.columns].map((text) => element("th", { text }))) : null;
    const rows = d.rows.map(([title, ...values]) =>
      element("tr", {}, element("th", { text: title }), ...values.map((text) => element("td", { text }))));
    this.element.replaceChildren(
      name(d.title, { class: "title" }),
      ...[d.place, d.module, d.note].filter(Boolean).map((text, i) => element("div", { class: i === 0 && d.place ? "place" : "quiet" }, name(text))),
      element("table", {}, head, ...rows),
    );
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + GAP + width > innerWidth ? Math.max(4, x - GAP - width) : x + GAP;
    const top = y + GAP + height > innerHeight ? Math.max(4, y - GAP - height) : y + GAP;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}
