// Elements. Names of functions are other people's: they are text everywhere, never HTML.

/** @param {Record<string, unknown>} [properties] on...: a listener; else an attribute; text: what it says */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A name that may be written from right to left does not turn what stands beside it around. */
export function name(text, properties = {}) {
  return element("bdi", { ...properties, text });
}

/** Calls what is given once before the next picture, however often it is asked to. */
export function oncePerPicture(run) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      run();
    });
  };
}
