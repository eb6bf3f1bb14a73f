// The keyboard: every command has a key, and the help lists them.
import { element } from "./dom.js";

/**
 * @typedef {object} Key
 * @property {string[]} keys as KeyboardEvent.key has them; "Shift+" before
 * @property {string} label what the help shows
 * @property {string} does
 * @property {(key: string) => void} run
 */

/** Where letters are text, or arrows mean something else. */
function isTyping(target) {
  return target instanceof HTMLElement && target.closest("input:not([type=checkbox]), select, textarea, dialog, .popup") !== null;
}

function nameOf(event) {
  return (event.shiftKey && event.key.length > 1 ? "Shift+" : "") + event.key;
}

/** @param {{title: string, keys: Key[]}[]} groups */
export function listen(groups) {
  const all = new Map(groups.flatMap((group) => group.keys.flatMap((key) => key.keys.map((k) => [k, key]))));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    // A button or a link that has the focus is pressed with these.
    if ((event.key === "Enter" || event.key === " ") && event.target.closest?.("button, a, summary, label")) return;
    const key = all.get(nameOf(event));
    if (!key) return;
    event.preventDefault();
    key.run(event.key);
  });
}

/** @returns {HTMLElement} */
export function helpTable(groups) {
  return element("div", { class: "keys" }, ...groups.map((group) =>
    element("section", {}, element("h3", { text: group.title }),
      element("dl", {}, ...group.keys.flatMap((key) => [
        element("dt", {}, ...key.label.split(" ").map((text) => element("kbd", { text }))),
        element("dd", { text: key.does }),
      ])))));
}
