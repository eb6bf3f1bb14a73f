// Names that fit into a frame: whole, else without arguments, else cut off.

const ELLIPSIS = "…";

/** A name without what is in <> and (): "std::map<...>::find(int const&)" is "std::map::find". */
export function shortName(name) {
  if (!/[<(]/.test(name) || name.length > 2000) return name;
  let out = "";
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const rest = name.startsWith("operator", i) && /^operator(\(\)|<=>|<<=?|>>=?|<=?|>=?|->\*?)/.exec(name.slice(i, i + 12));
    if (rest && depth === 0) {
      out += rest[0];
      i += rest[0].length - 1;
    } else if (name.startsWith("(anonymous namespace)", i) && depth === 0) {
      out += "(anonymous namespace)";
      i += 20;
    } else if (name[i] === "<" || name[i] === "(") depth++;
    else if ((name[i] === ">" && name[i - 1] !== "-") || name[i] === ")") depth--;
    else if (depth === 0) out += name[i];
  }
  return out.trim() || name;
}

/** Widths of letters are measured once: a text is as wide as its letters. */
export class Labels {
  /** @param {(text: string) => number} measure */
  constructor(measure) {
    this.measure = measure;
    this.widths = new Map();
    this.ellipsis = measure(ELLIPSIS);
  }

  #widthOf(letter) {
    let width = this.widths.get(letter);
    if (width === undefined) this.widths.set(letter, (width = this.measure(letter)));
    return width;
  }

  /** @returns {number} letters that fit */
  #fitting(text, room) {
    let used = 0;
    for (let i = 0; i < text.length; i++) {
      used += this.#widthOf(text[i]);
      if (used > room) return i;
    }
    return text.length;
  }

  /** @returns {string} what of a name fits into so many pixels; "" if nothing does */
  fit(name, short, room) {
    if (this.#fitting(name, room) === name.length) return name;
    if (this.#fitting(short, room) === short.length) return short;
    const letters = this.#fitting(short, room - this.ellipsis);
    return letters < 2 ? "" : short.slice(0, letters) + ELLIPSIS;
  }
}
