// A graph as a picture of its own: SVG text, or the canvas as PNG.
import { eachInSight, PAD, ROW } from "./draw.js";

const LABEL_FROM = 26; // pixels
const HEIGHT_MAX = 4000;

function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`).replace(/[^\t\n\r -\uFFFD]/gu, "\uFFFD");
}

/**
 * All rows of what is in sight, from one edge to the other; names and figures are titles, which browsers show.
 *
 * @param {import("./graph.js").Graph} graph @param {(frame: number) => string} figures
 */
export function svgOf(graph, title, figures) {
  const { tree, look, labels } = graph;
  const width = 1200;
  const rows = Math.min(graph.rows, Math.floor(HEIGHT_MAX / ROW));
  const height = rows * ROW + 24;
  const sight = { ...graph.range, top: graph.up ? (graph.rows - rows) * ROW : 0, width, height: rows * ROW, rows: graph.rows, up: graph.up };
  const parts = [];
  const box = (x, y, w, colour, text, label, ink) => {
    parts.push(`<g><title>${escaped(text)}</title><rect x="${x.toFixed(1)}" y="${y + 24}" width="${Math.max(0.5, w - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour}"/>`);
    if (label) parts.push(`<text x="${(x + PAD).toFixed(1)}" y="${y + 24 + 14}" fill="${ink}">${escaped(label)}</text>`);
    parts.push("</g>");
  };
  const { hit, ink } = look;
  eachInSight(tree, sight, (frame, x, y, w) => {
    const key = tree.frames.key[frame];
    const isHit = hit !== null && key >= 0 && hit[key] === 1;
    const label = w >= LABEL_FROM ? labels.fit(look.label(frame), graph.shorterLabels(frame), w - 2 * PAD) : "";
    box(x, y, w, isHit ? ink.hit : look.colour(frame), `${look.label(frame).slice(0, 2000)}: ${figures(frame)}`, label, isHit ? ink.hitInk : ink.ink);
  }, (x, y, w, count) => box(x, y, w, ink.rest, `${count} narrow frames`, "", ink.ink));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${ink.ground}"/><text x="${PAD}" y="16" fill="${ink.outline}">${escaped(title)}</text>
${parts.join("\n")}
</svg>
`;
}

/** Hands a file to the user. @param {Blob} blob */
export function save(blob, fileName) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
