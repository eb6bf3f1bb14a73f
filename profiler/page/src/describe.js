// A frame in words and figures: for the tooltip, and for screen readers.
import { figure, percent, points, signedFigure } from "./format.js";
import { isMark, moduleName, placeText } from "./profile.js";
import { changeIn } from "./weigh.js";

const MARKS = {
  "[omitted]": "frames in between were left out when this was recorded",
  "[truncated]": "the stack is cut off here: its outer frames are not known",
  "[await]": "what follows outwards did not call it: it awaits it",
  "[no stack]": "no stack could be taken",
  "[unsampled]": "CPU time that was used, but never sampled",
};

/**
 * @typedef {object} Description
 * @property {string} title
 * @property {string} place "file:line", "" if it is not known
 * @property {string} module
 * @property {string} note
 * @property {string[]} columns of the figures
 * @property {[string, ...string[]][]} rows
 */

/** A row of figures: a part of all, of one recording or of two. */
function row(title, parts, { weights, unit, shares }) {
  const { all } = weights;
  if (parts.length === 1) return [title, figure(parts[0], unit), percent(parts[0], all[0])];
  return [title, ...parts.map((v, g) => `${figure(v, unit)} (${percent(v, all[g])})`),
    `${signedFigure(parts[1] - parts[0], unit)} (${points(changeIn(weights, shares, ...parts))})`];
}

/** @returns {[string, ...string[]]} what a frame has in all; its width may be another thing */
export function totalOf(of, { frames }, frame) {
  return row("Frame total", [frames.old[frame], frames.new[frame]].slice(0, of.profile.groups), of);
}

/** @returns {Description} */
export function describe(of, tree, frame, zoomed = 0) {
  const { profile, tally } = of;
  const { frames } = tree;
  const f = frames.key[frame];
  const groups = profile.groups;
  const both = (before, after) => [before, after].slice(0, groups);
  const rows = [];
  rows.push(totalOf(of, tree, frame));
  if (zoomed > 0 && frame !== zoomed && groups === 1) rows.push(["Of the zoomed frame", "", percent(frames.old[frame], frames.old[zoomed])]);
  if (!tree.callers) rows.push(row("Frame self", both(tree.selfOf(frame, 0), groups > 1 ? tree.selfOf(frame, 1) : 0), of));
  if (f >= 0 && !isMark(profile, f)) {
    rows.push(row("Function self", tally.self.map((v) => v[f]), of));
    rows.push(row("Function total", tally.total.map((v) => v[f]), of));
  }
  const columns = groups > 1 ? ["Old", "New", "Change"] : [];
  if (f < 0) return { title: "All", place: "", module: "", note: "", columns, rows: rows.slice(0, 1) };
  const { place, others } = tree.placeOf(frame);
  return {
    title: profile.names[f],
    place: placeText(profile, place) + (others > 0 ? `  and ${others} more line${others > 1 ? "s" : ""}` : ""),
    module: moduleName(profile, f),
    note: profile.notes.get(f) ?? MARKS[profile.names[f]] ?? (profile.places.inlined[place] ? "inlined here" : ""),
    columns,
    rows,
  };
}

/** All of it in one sentence. */
export function sentence(description) {
  const { title, place, module, note, rows } = description;
  const figures = rows.map(([what, ...values]) => `${what.toLowerCase()} ${values.join(" ")}`);
  return [title, place, module && `module ${module}`, note, ...figures].filter(Boolean).join(", ");
}
