// Names that fit into a frame: whole, else without arguments, else the last component, which tells it from its neighbours.

const ELLIPSIS = "…";

/** Parts of a name: the text outside of brackets, and what is in <> and () of the outermost level. */
function partsOf(name) {
  const parts = [];
  let depth = 0;
  let from = 0;
  const cut = (to, bracket) => {
    if (to > from) parts.push({ text: name.slice(from, to), bracket });
    from = to;
  };
  for (let i = 0; i < name.length; i++) {
    const operator = depth === 0 && name.startsWith("operator", i) && /^operator(\(\)|<=>|<<=?|>>=?|<=?|>=?|->\*?)/.exec(name.slice(i, i + 12));
    if (operator) i += operator[0].length - 1;
    else if (depth === 0 && name.startsWith("(anonymous namespace)", i)) i += 20;
    else if (name[i] === "<" || name[i] === "(") {
      if (depth++ === 0) {
        cut(i, "");
        parts.kind = name[i];
      }
    } else if ((name[i] === ">" && name[i - 1] !== "-") || name[i] === ")") {
      if (depth > 0 && --depth === 0) cut(i + 1, parts.kind);
    }
  }
  cut(name.length, depth > 0 ? parts.kind : "");
  return parts;
}

/** A name without what is in <> and (): "std::map<...>::find(int const&)" is "std::map::find". */
export function shortName(name) {
  if (!/[<(]/.test(name) || name.length > 2000) return name;
  return partsOf(name).filter(({ bracket }) => bracket === "").map(({ text }) => text).join("").trim().replace(/ const$/, "") || name;
}

/** Template arguments that tell functions apart: longer ones hide the name. */
const ARGUMENTS_MAX = 24;

/**
 * What a name is cut to, from the longest to the shortest: without parameters, without template arguments, without its
 * outer namespaces, at last its last component: "a::Fib<8>::go(int)": "a::Fib<8>::go", "Fib<8>::go", "a::Fib::go", "Fib::go", "go".
 *
 * @returns {string[]}
 */
export function shorterNames(name) {
  const short = shortName(name);
  const out = [];
  const add = (text) => {
    for (let rest = text; rest; ) {
      out.push(rest);
      const at = rest.startsWith("operator") ? -1 : indexOfNamespace(rest);
      rest = at < 0 ? "" : rest.slice(at + 2);
    }
  };
  if (name.length <= 2000 && /[<(]/.test(name)) {
    const parts = partsOf(name).filter(({ bracket }) => bracket !== "(");
    if (parts.every(({ text, bracket }) => bracket === "" || text.length <= ARGUMENTS_MAX)) add(parts.map(({ text }) => text).join("").trim().replace(/ const$/, ""));
  }
  add(short);
  return [...new Set(out)].sort((a, b) => b.length - a.length);
}

/** @returns {number} the first "::" outside of brackets; -1: none */
function indexOfNamespace(name) {
  for (let i = 0, depth = 0; i < name.length - 2; i++) {
    if (name[i] === "<" || name[i] === "(") depth++;
    else if (name[i] === ">" || name[i] === ")") depth--;
    else if (depth <= 0 && name[i] === ":" && name[i + 1] === ":") return i;
  }
  return -1;
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

  /** @param {string[]} shorter the last one is cut off @returns {string} what of a name fits into so many pixels; "" if nothing does */
  fit(name, shorter, room) {
    if (this.#fitting(name, room) === name.length) return name;
    for (const text of shorter) if (this.#fitting(text, room) === text.length) return text;
    const last = shorter.at(-1) ?? name;
    const letters = this.#fitting(last, room - this.ellipsis);
    return letters < 2 ? "" : last.slice(0, letters) + ELLIPSIS;
  }
}
