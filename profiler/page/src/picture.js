// A graph as a picture of its own: SVG text, or the canvas as PNG.
import { eachInSight, PAD, ROW } from "./draw.js";

const LABEL_FROM = 26; // pixels
const HEIGHT_MAX = 4000;
const TITLE = 24;
const BETWEEN = 8;

function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`).replace(/[^\t\n\r -\uFFFD]/gu, "\uFFFD");
}

/** A graph's frames as elements, from a height on. @returns {{height: number, parts: string[]}} */
function elementsOf(graph, from, width, figures) {
  const { tree, look, labels } = graph;
  const rows = Math.min(graph.rows, Math.floor(HEIGHT_MAX / ROW));
  const sight = { ...graph.range, top: graph.up ? (graph.rows - rows) * ROW : 0, width, height: rows * ROW, rows: graph.rows, up: graph.up };
  const parts = [];
  const box = (x, y, w, colour, text, label, ink) => {
    parts.push(`<g><title>${escaped(text)}</title><rect x="${x.toFixed(1)}" y="${y + from}" width="${Math.max(0.5, w - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour}"/>`);
    if (label) parts.push(`<text x="${(x + PAD).toFixed(1)}" y="${y + from + 14}" fill="${ink}">${escaped(label)}</text>`);
    parts.push("</g>");
  };
  const { hit, ink } = look;
  eachInSight(tree, sight, (frame, x, y, w) => {
    const key = tree.frames.key[frame];
    const isHit = hit !== null && key >= 0 && hit[key] === 1;
    const label = w >= LABEL_FROM ? labels.fit(look.label(frame), graph.shorterLabels(frame), w - 2 * PAD) : "";
    box(x, y, w, isHit ? ink.hit : look.colour(frame), `${look.label(frame).slice(0, 2000)}: ${figures(tree, frame)}`, label, isHit ? ink.hitInk : ink.ink);
  }, (x, y, w, count) => box(x, y, w, ink.rest, `${count} narrow frames`, "", ink.ink));
  return { height: rows * ROW, parts };
}

/**
 * All rows of the graphs in sight, one below the other, from one edge to the other; names and figures are titles, which browsers
 * show.
 *
 * @param {import("./graph.js").Graph[]} graphs @param {(tree: import("./tree.js").Tree, frame: number) => string} figures
 */
export function svgOf(graphs, title, figures) {
  const width = 1200;
  const { ink } = graphs[0].look;
  const parts = [];
  let height = TITLE;
  for (const graph of graphs) {
    const made = elementsOf(graph, height, width, figures);
    parts.push(...made.parts);
    height += made.height + BETWEEN;
  }
  height -= BETWEEN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${ink.ground}"/><text x="${PAD}" y="16" fill="${ink.outline}">${escaped(title)}</text>
${parts.join("\n")}
</svg>
`;
}

/** @param {HTMLCanvasElement[]} all @returns {HTMLCanvasElement} one, or all below each other */
export function onOneCanvas(all) {
  if (all.length === 1) return all[0];
  const whole = document.createElement("canvas");
  whole.width = Math.max(...all.map((canvas) => canvas.width));
  whole.height = all.reduce((sum, canvas) => sum + canvas.height, 0);
  let y = 0;
  for (const canvas of all) {
    whole.getContext("2d").drawImage(canvas, 0, y);
    y += canvas.height;
  }
  return whole;
}

/** Hands a file to the user. @param {Blob} blob */
export function save(blob, fileName) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
