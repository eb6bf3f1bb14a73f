// What `sfb report` says in text, read by rules of our own: the page has to say the same.
import { execFileSync } from "node:child_process";

export function run(program, ...args) {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 30 });
}

/** @returns {{stack: string[], value: number}[]} the thread first */
export function foldedLines(text) {
  return text.split("\n").filter(Boolean).map((line) => {
    const at = line.lastIndexOf(" ");
    return { stack: line.slice(0, at).split(";"), value: Number(line.slice(at + 1)) };
  });
}

/** @returns {Map<string, {self: number, total: number}>} by function, of lines whose thread is left out */
export function functionsOf(lines) {
  const out = new Map();
  const entry = (name) => out.get(name) ?? out.set(name, { self: 0, total: 0 }).get(name);
  for (const { stack, value } of lines) {
    const frames = stack.slice(1);
    for (const name of new Set(frames)) entry(name).total += value;
    entry(frames.at(-1)).self += value;
  }
  return out;
}

/** @returns {Map<string, {self: number, total: number}>} what the page's table is made of, by function */
export function pageFunctions(page, group = 0) {
  return page.evaluate((g) => {
    const { profile, tally } = sfbPage.app;
    return profile.names.map((name, f) => [name.replaceAll(";", ":"), tally.self[g][f], tally.total[g][f]]);
  }, group).then((rows) => {
    const out = new Map();
    for (const [name, self, total] of rows) {
      if (total === 0) continue;
      const entry = out.get(name) ?? { self: 0, total: 0 };
      out.set(name, { self: entry.self + self, total: entry.total + total });
    }
    return out;
  });
}

export const sum = (lines) => lines.reduce((all, { value }) => all + value, 0);
