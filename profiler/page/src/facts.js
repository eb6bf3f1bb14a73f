// The first lines: what was recorded, and what is missing, as in the terminal. One line of it is always in sight.
import { byId, element, name } from "./dom.js";

/** Lines of these say how much there is; what is missing follows (profiler/report/text/summary.c, heap_summary.c). */
const SUM = /^ *(CPU time|allocated|live|grown by|shrunk by|peak|resident|temporary|the nearest snapshot) /;

/** A loss below this share changes no picture: it is listed without a warning's colour. */
const LITTLE_PERCENT = 1;

/** @returns {boolean} whether all shares of a line are too small to be warned of */
export function isLittle(text) {
  const shares = [...text.matchAll(/([\d.]+) %/g)].map((match) => Number(match[1]));
  return shares.length > 0 && shares.every((share) => share < LITTLE_PERCENT);
}

/**
 * @returns {{titles: string[], facts: {text: string, missing: boolean, little: boolean}[], line: string}} titles: the commands, whose
 *   facts are indented; line: the one fact that is always in sight
 */
export function splitFacts(summary) {
  const sum = summary.findLastIndex((line) => SUM.test(line));
  const facts = summary.map((line, i) => ({ line, missing: i > sum || /is missing$/.test(line) }))
    .filter(({ line }) => line.startsWith(" "))
    .map(({ line, missing }) => ({ text: line.trim(), missing, little: missing && (isLittle(line) || /^\s*try: /.test(line)) }));
  return {
    titles: summary.filter((line) => !line.startsWith(" ")),
    facts,
    line: facts.find(({ text }) => SUM.test(` ${text}`))?.text ?? facts[0]?.text ?? "",
  };
}

/** @returns {string[]} where and by what it was recorded, and what made the page: it may be read far from both */
export function aboutTexts(about) {
  if (!about) return [];
  const hosts = [...new Set(about.recorded.map(({ host }) => host).filter(Boolean))];
  const by = [...new Set(about.recorded.map((r) => r.by).filter(Boolean))];
  const some = (texts) => texts.slice(0, 3).join("; ") + (texts.length > 3 ? `; and ${texts.length - 3} more` : "");
  return [
    hosts.length > 0 ? `host: ${some(hosts)}` : "",
    `recorded by sfb ${some(by) || "?"}, page by sfb ${about.sfb}, times in UTC${about.zone.replace(/^(...)(..)$/, "$1:$2")}`,
  ].filter(Boolean);
}

export function showFacts({ summary, about }) {
  const { titles, facts, line } = splitFacts(summary);
  facts.push(...aboutTexts(about).map((text) => ({ text, missing: false, little: false })));
  document.title = `${(titles[0] ?? "").slice(0, 80)} – sfb report`;
  byId("title").replaceChildren(...titles.map((title) => element("div", { title: title.slice(0, 2000) }, name(title.slice(0, 2000)))));
  byId("facts").replaceChildren(...facts.map(({ text, missing, little }) => element("li", { class: little ? "little" : missing ? "missing" : "" }, name(text))));
  const warnings = facts.filter(({ missing, little }) => missing && !little).length;
  byId("facts-line").replaceChildren(name(line.slice(0, 200)));
  byId("facts-missing").textContent = warnings > 0 ? `${warnings} warning${warnings > 1 ? "s" : ""}` : "Facts";
  byId("facts-missing").classList.toggle("missing", warnings > 0);
  byId("facts-more").hidden = facts.length === 0;
}

/** Unfolds what was recorded, or folds it again. */
export function toggleFacts() {
  const box = byId("facts");
  box.hidden = !box.hidden;
  byId("facts-more").setAttribute("aria-expanded", String(!box.hidden));
  box.parentElement.classList.toggle("unfolded", !box.hidden);
}
