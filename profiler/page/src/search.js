// Functions whose name, or whose module's, has a text or fits a regular expression.
import { moduleName } from "./profile.js";

/**
 * Capital letters count where there are some in what is looked for.
 *
 * @returns {{test: ((name: string) => boolean)|null, error: string}} test null: nothing is looked for
 */
export function compile(text, isRegex) {
  if (text === "") return { test: null, error: "" };
  const exact = /\p{Lu}/u.test(text);
  if (!isRegex) {
    const part = exact ? text : text.toLowerCase();
    return { test: (name) => (exact ? name : name.toLowerCase()).includes(part), error: "" };
  }
  try {
    const expression = new RegExp(text, exact ? "" : "i");
    return { test: (name) => expression.test(name), error: "" };
  } catch (error) {
    return { test: null, error: error.message };
  }
}

/** @returns {Uint8Array|null} 1 for each function that fits */
export function hits(profile, test) {
  return test && Uint8Array.from(profile.names, (name, f) => (test(name) || test(moduleName(profile, f)) ? 1 : 0));
}

/** @returns {Uint8Array|null} what is in both; null: all */
export function bothHit(one, other) {
  return one && other ? one.map((is, f) => is & other[f]) : (one ?? other);
}

/** @returns {number[]} of each group: what has a function that fits, anywhere in its stack */
export function matched(profile, weights, hit) {
  const { nodes } = profile;
  const has = new Uint8Array(nodes.place.length);
  const out = weights.all.map(() => 0);
  for (let i = 0; i < has.length; i++) {
    has[i] = hit[nodes.function[i]] | (nodes.parent[i] >= 0 ? has[nodes.parent[i]] : 0);
    if (has[i]) for (let g = 0; g < out.length; g++) out[g] += weights.self[g][i];
  }
  return out;
}
