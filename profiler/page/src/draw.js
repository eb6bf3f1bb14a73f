// Draws what is in sight of a tree: a frame that is out of sight, or narrower than a pixel, costs nothing.

export const ROW = 20;
export const PAD = 5;
const LABEL_FROM = 26; // pixels
const REST_LABEL_FROM = 130;
const NARROWEST = 1.5;

/**
 * @typedef {object} Sight
 * @property {number} from value at the left edge
 * @property {number} to value at the right edge
 * @property {number} top pixels that are scrolled away
 * @property {number} width pixels
 * @property {number} height pixels
 * @property {number} rows of the whole graph
 * @property {boolean} up the root is at the bottom
 *
 * @typedef {object} Look
 * @property {(frame: number) => string} colour
 * @property {(frame: number) => string} label
 * @property {(frame: number) => string[]} shorterLabels
 * @property {Uint8Array|null} hit of each function: matched by the search
 * @property {number} selected frame; -1: none
 * @property {number} hovered
 * @property {number} zoomed frames above it are pale
 * @property {{ground: string, ink: string, paleInk: string, outline: string, rest: string, hit: string, hitInk: string, accent: string, pale: number}} ink
 */

/** @returns {number} where a row begins, in pixels of the canvas */
export function rowTop(sight, depth) {
  return (sight.up ? Math.max(sight.rows * ROW, sight.height) - (depth + 1) * ROW : depth * ROW) - sight.top;
}

/** @returns {number} the row at a height of the canvas */
export function rowAt(sight, y) {
  const inside = y + sight.top;
  return Math.floor((sight.up ? Math.max(sight.rows * ROW, sight.height) - inside : inside) / ROW);
}

/**
 * Visits the frames in sight.
 *
 * @param {(frame: number, x: number, y: number, width: number) => void} visit
 * @param {(x: number, y: number, width: number, count: number) => void} rest frames that are too narrow, side by side
 */
export function eachInSight(tree, sight, visit, rest) {
  const { frames } = tree;
  const scale = sight.width / (sight.to - sight.from);
  const open = [0];
  while (open.length > 0) {
    const frame = open.pop();
    const depth = frames.depth[frame];
    const y = rowTop(sight, depth);
    const left = Math.max(0, (frames.start[frame] - sight.from) * scale);
    const right = Math.min(sight.width, (frames.start[frame] + frames.width[frame] - sight.from) * scale);
    if (y > -ROW && y < sight.height) visit(frame, left, y, right - left);
    const below = y + (sight.up ? -ROW : ROW);
    if (sight.up ? below <= -ROW : below >= sight.height) continue;
    const count = tree.childCount(frame);
    if (count === 0) continue;
    const first = frames.first[frame];
    for (let i = tree.before(frame, count, sight.from); i < count; i++) {
      const child = first + i;
      if (frames.start[child] >= sight.to) break;
      if (frames.width[child] * scale < NARROWEST) {
        // Sorted by width, all that follow are as narrow; in the order of time, those up to the next wide one, or a gap.
        let last = first + count - 1;
        if (tree.inTime) {
          last = child;
          while (last + 1 < first + count && frames.width[last + 1] * scale < NARROWEST && frames.start[last + 1] <= frames.start[last] + frames.width[last]) last++;
        }
        if (tree.inTime && last === child) {
          open.push(child);
          continue;
        }
        const x = Math.max(0, (frames.start[child] - sight.from) * scale);
        const end = Math.min(sight.width, (frames.start[last] + frames.width[last] - sight.from) * scale);
        if (below > -ROW && below < sight.height && end - x > (tree.inTime ? 0 : 0.5)) rest(x, below, end - x, last - child + 1);
        if (!tree.inTime) break;
        i = last - first;
        continue;
      }
      if (frames.start[child] + frames.width[child] > sight.from) open.push(child);
    }
  }
}

/** @returns {{frames: number, labels: number}} what was drawn */
export function draw(context, tree, sight, look, labels) {
  const { ink } = look;
  const { frames } = tree;
  const drawn = { frames: 0, labels: 0 };
  const texts = [];
  const rests = [];
  context.fillStyle = ink.ground;
  context.fillRect(0, 0, sight.width, sight.height);
  const paleAbove = frames.depth[look.zoomed];
  // On whole pixels: nothing is to be blended.
  const box = (x, y, width) => {
    const left = Math.round(x);
    const right = Math.round(x + width);
    context.fillRect(left, y, Math.max(1, right - left - (width > 3 ? 1 : 0)), ROW - 1);
  };
  const outlined = [];
  eachInSight(
    tree,
    sight,
    (frame, x, y, width) => {
      const isHit = look.hit !== null && frames.key[frame] >= 0 && look.hit[frames.key[frame]] === 1;
      const pale = frames.depth[frame] < paleAbove || (look.hit !== null && !isHit);
      context.globalAlpha = pale ? ink.pale : 1;
      context.fillStyle = isHit ? ink.hit : look.colour(frame);
      box(x, y, width);
      drawn.frames++;
      if (width >= LABEL_FROM) texts.push([frame, x, y, width, isHit ? ink.hitInk : pale ? ink.paleInk : ink.ink]);
      if (frame === look.selected || frame === look.hovered) outlined.push([frame, x, y, width]);
    },
    (x, y, width, count) => {
      context.globalAlpha = look.hit === null ? 1 : ink.pale;
      context.fillStyle = ink.rest;
      box(x, y, width);
      drawn.frames++;
      if (width >= REST_LABEL_FROM) rests.push([`${count} narrow frames`, x, y, width]);
    },
  );
  context.globalAlpha = 1;
  for (const [frame, x, y, width, colour] of texts) {
    const text = labels.fit(look.label(frame), look.shorterLabels(frame), width - 2 * PAD);
    if (text === "") continue;
    context.fillStyle = colour;
    context.fillText(text, x + PAD, y + ROW / 2, width - PAD);
    drawn.labels++;
  }
  context.fillStyle = look.hit === null ? ink.ink : ink.paleInk;
  for (const [text, x, y, width] of rests) context.fillText(text, x + PAD, y + ROW / 2, width - PAD);
  for (const [frame, x, y, width] of outlined) {
    context.strokeStyle = frame === look.selected ? ink.accent : ink.outline;
    context.lineWidth = frame === look.selected ? 2 : 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(1, width - 2), ROW - 2);
  }
  return drawn;
}
