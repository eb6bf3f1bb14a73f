// Memory over time beside what lived of a heap: lines on the time line, and what they are.
import { byId, element } from "./dom.js";
import { figure } from "./format.js";

/** Lines differ in their dashes, too, for readers that see few colours. */
const LINES = [
  { name: "used", text: "allocator in use", dash: [2, 2] },
  { name: "held", text: "allocator holds", dash: [] },
  { name: "resident", text: "resident", dash: [6, 3] },
];

/** @returns {number} the most of all lines */
export function mostOf(memory) {
  return Object.values(memory).reduce((most, series) => series.reduce((x, y) => Math.max(x, y), most), 0);
}

/**
 * @param {import("./profile.js").Memory} memory @param {number} step ns
 * @returns {{free: number, held: number, at: number}|null} when the allocator held most that was not in use; at: ns
 */
export function mostFree({ used, held }, step) {
  if (!used || !held) return null;
  let best = -1;
  const free = (i) => held[i] - used[i];
  for (let i = 0; i < held.length; i++) if (held[i] > 0 && used[i] >= 0 && (best < 0 || free(i) > free(best))) best = i;
  return best < 0 ? null : { free: free(best), held: held[best], at: best * step };
}

/** Of each pixel the last step that is known: a single one is as wide as a line is high. */
function drawLine(context, series, width, yOf) {
  const x = (i) => (i / series.length) * width;
  context.beginPath();
  for (let i = 0; i < series.length; i++) {
    if (series[i] < 0) continue;
    const begins = i === 0 || series[i - 1] < 0;
    const end = Math.max(x(i + 1), begins ? x(i) + 4 : 0);
    if (begins) context.moveTo(end > width ? width - 4 : x(i), yOf(series[i]));
    else context.lineTo(x(i), yOf(series[i]));
    context.lineTo(Math.min(end, width), yOf(series[i]));
  }
  context.stroke();
}

/** @param {(value: number) => number} yOf */
export function drawMemory(context, memory, width, yOf, ink) {
  context.lineWidth = 2;
  for (const { name, dash } of LINES) {
    if (!memory[name]) continue;
    context.strokeStyle = ink.memory[name];
    context.setLineDash(dash);
    drawLine(context, memory[name], width, (value) => Math.round(yOf(value)));
  }
  context.setLineDash([]);
  context.lineWidth = 1;
}

function sample(colour, dash, ink) {
  const canvas = element("canvas", { width: 44, height: 18, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  if (dash === null) {
    context.fillStyle = ink.bars;
    context.fillRect(0, 2, 44, 14);
    return canvas;
  }
  context.scale(2, 2);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(0, 5);
  context.lineTo(22, 5);
  context.stroke();
  return canvas;
}

/** @param {import("./profile.js").Memory|null} memory null: no lines */
export function showMemoryLegend(memory, time, ink) {
  const box = byId("memory");
  box.hidden = memory === null;
  if (!memory) return box.replaceChildren();
  const lines = LINES.filter(({ name }) => memory[name]);
  const most = ({ name, text }) => `${text}, at most ${figure(mostOf({ [name]: memory[name] }), "bytes")}`;
  const worst = mostFree(memory, time.liveStep);
  const item = (canvas, text) => element("li", {}, ...(canvas ? [canvas] : []), document.createTextNode(text));
  box.replaceChildren(
    item(sample(null, null, ink), "live"),
    ...lines.map((line) => item(sample(ink.memory[line.name], line.dash, ink), most(line))),
    ...(worst ? [item(null, `most free: ${figure(worst.free, "bytes")} of ${figure(worst.held, "bytes")} at ${(worst.at / 1e9).toFixed(3)} s`)] : []),
  );
}
