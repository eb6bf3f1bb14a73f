// The first lines: what was recorded, and what is missing, as in the terminal.
import { byId, element, name } from "./dom.js";

/** Lines of these say how much there is; what is missing follows (profiler/report/text/summary.c, heap_summary.c). */
const SUM = /^ *(CPU time|allocated|live|grown by|shrunk by|peak|resident|temporary|the nearest snapshot) /;

/** @returns {{titles: string[], facts: {text: string, missing: boolean}[]}} titles: the commands; what is said of them is indented */
export function splitFacts(summary) {
  const sum = summary.findLastIndex((line) => SUM.test(line));
  return {
    titles: summary.filter((line) => !line.startsWith(" ")),
    facts: summary.map((line, i) => ({ line, missing: i > sum || /is missing$/.test(line) }))
      .filter(({ line }) => line.startsWith(" "))
      .map(({ line, missing }) => ({ text: line.trim(), missing })),
  };
}

export function showFacts({ summary }) {
  const { titles, facts } = splitFacts(summary);
  document.title = `${(titles[0] ?? "").slice(0, 80)} – sfb report`;
  byId("title").replaceChildren(...titles.map((title) => element("div", { title: title.slice(0, 2000) }, name(title.slice(0, 2000)))));
  byId("facts").replaceChildren(...facts.map(({ text, missing }) => element("li", { class: missing ? "missing" : "" }, name(text))));
}
