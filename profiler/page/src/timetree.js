// Stacks of one thread in the order of time: each step of the time line has the stack that most of it was spent in. A frame that
// stays is one frame; so is one that a short while without a sample parts: the thread waited for a processor.
import { Tree } from "./tree.js";

const GAP_MAX = 1 / 100; // of what is shown

export class TimeTree extends Tree {
  /**
   * @param {import("./profile.js").Profile} profile
   * @param {import("./weigh.js").Weights} weights
   * @param {import("./weigh.js").Choice} choice of one thread
   * @param {number} thread
   */
  constructor(profile, weights, choice, thread) {
    super(profile, weights, { deferred: true });
    this.inTime = true;
    this.thread = thread;
    this.from = choice.to === null ? 0 : choice.from;
    this.shown = (choice.to ?? profile.time.steps) - this.from;
    this.gap = Math.floor(this.shown * GAP_MAX); // steps that part no frame
    this.#collect(choice);
    this.makeRoot();
  }

  /** Of each step with a sample: the heaviest row's stack, outermost first, and what was counted. */
  #collect(choice) {
    const { time, rows, nodes } = this.profile;
    const values = time.values[choice.type] ?? [];
    const best = new Map();
    for (let i = 0; i < values.length; i++) {
      const at = time.at[i];
      if (rows.thread[time.row[i]] !== this.thread || !(values[i] > 0)) continue;
      if (choice.to !== null && (at < choice.from || at >= choice.to)) continue;
      const now = best.get(at) ?? { at, row: -1, most: 0, value: 0 };
      now.value += values[i];
      if (values[i] > now.most) [now.most, now.row] = [values[i], time.row[i]];
      best.set(at, now);
    }
    this.steps = [...best.values()].sort((a, b) => a.at - b.at);
    this.paths = this.steps.map(({ row }) => {
      const path = new Int32Array(nodes.depth[rows.node[row]] + 1);
      for (let node = rows.node[row], i = path.length; node >= 0; node = nodes.parent[node]) path[--i] = node;
      return path;
    });
  }

  makeRoot() {
    const { frames } = this;
    const root = frames.add(1);
    this.range = [0];
    this.rangeEnd = [this.steps.length];
    frames.key[root] = -1;
    frames.parent[root] = frames.first[root] = -1;
    frames.start[root] = this.from;
    frames.width[root] = this.shown;
    frames.old[root] = this.steps.reduce((sum, { value }) => sum + value, 0);
    frames.below[root] = this.paths.reduce((most, path) => Math.max(most, path.length), 0);
  }

  /** Children of a frame: steps side by side whose next function is the same. */
  expand(frame) {
    const { frames, paths, steps, range, rangeEnd } = this;
    const { nodes } = this.profile;
    const depth = frames.depth[frame];
    const found = [];
    for (let i = range[frame]; i < rangeEnd[frame]; i++) {
      if (paths[i].length <= depth) continue;
      const key = nodes.function[paths[i][depth]];
      const last = found.at(-1);
      if (last && last.to === i && last.key === key && steps[i].at - steps[i - 1].at - 1 <= this.gap) last.to = i + 1;
      else found.push({ key, from: i, to: i + 1 });
    }
    const first = frames.add(found.length);
    found.forEach(({ key, from, to }, i) => {
      const at = first + i;
      range[at] = from;
      rangeEnd[at] = to;
      frames.key[at] = key;
      frames.parent[at] = frame;
      frames.depth[at] = depth + 1;
      frames.start[at] = steps[from].at;
      frames.width[at] = steps[to - 1].at + 1 - steps[from].at;
      frames.old[at] = steps.slice(from, to).reduce((sum, { value }) => sum + value, 0);
      frames.new[at] = 0;
      frames.first[at] = -1;
      frames.below[at] = paths.slice(from, to).reduce((most, path) => Math.max(most, path.length), 0) - depth - 1;
    });
    frames.first[frame] = first;
    frames.count[frame] = found.length;
  }

  selfOf(frame) {
    const { frames } = this;
    let self = frames.old[frame];
    for (let i = 0, count = this.childCount(frame); i < count; i++) self -= frames.old[frames.first[frame] + i];
    return Math.max(0, self);
  }

  placeOf(frame) {
    return { place: this.profile.nodes.place[this.paths[this.range[frame]][this.frames.depth[frame] - 1]], others: 0 };
  }

  firstBranch() {
    return 0;
  }
}
