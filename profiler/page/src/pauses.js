// Where nothing was recorded, as it was asked for, and moments that were named.
import { moment } from "./format.js";

const STRIPE = 6; // pixels

/** Stripes over a pause. */
export function drawPauses(context, { pauses, step, steps }, width, height, ink) {
  const all = step * steps;
  for (const [from, to] of pauses) {
    const left = (from / all) * width;
    const right = (Math.min(to, all) / all) * width;
    context.save();
    context.beginPath();
    context.rect(left, 0, right - left, height);
    context.clip();
    context.fillStyle = ink.veil;
    context.fillRect(left, 0, right - left, height);
    context.strokeStyle = ink.quiet;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = left - height; x < right; x += STRIPE) {
      context.moveTo(x, height);
      context.lineTo(x + height, 0);
    }
    context.stroke();
    context.restore();
  }
}

/** A line for each mark, and its name where there is room up to the next one. */
export function drawMarks(context, { marks, step, steps }, width, height, ink) {
  const all = step * steps;
  marks.forEach(([at, name], i) => {
    const x = (at / all) * width;
    const next = i + 1 < marks.length ? (marks[i + 1][0] / all) * width : width;
    context.fillStyle = ink.accent;
    context.fillRect(Math.round(x), 0, 1, height);
    context.font = ink.font;
    const wide = context.measureText(name).width;
    if (wide + 8 > next - x) return;
    context.fillStyle = ink.veil;
    context.fillRect(x + 1, height - 15, wide + 6, 14);
    context.fillStyle = ink.outline;
    context.textAlign = "left";
    context.fillText(name, x + 4, height - 4);
  });
}

/** @returns {string[]} what a label says of them */
export function pauseWords({ pauses, marks, step, steps }) {
  const seconds = pauses.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, step * steps) - from), 0);
  return [
    ...(seconds > 0 ? [`not recorded, as asked for: ${moment(seconds, step)}`] : []),
    ...(marks.length > 0 ? [`marks: ${marks.slice(0, 8).map(([at, name]) => `${name} at ${moment(at, step)}`).join(", ")}${marks.length > 8 ? ", …" : ""}`] : []),
  ];
}
