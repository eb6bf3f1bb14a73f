// Text for the clipboard. Where a page may not write to it, an element that was selected does.
import { element } from "./dom.js";

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { "aria-hidden": "true", class: "off" });
    area.value = text;
    document.body.append(area);
    area.select();
    const good = document.execCommand("copy");
    area.remove();
    return good;
  }
}
