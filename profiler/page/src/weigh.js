// How much of what was chosen (a value, threads, a range of time) each node of the tree has.

/**
 * @typedef {object} Choice
 * @property {number} type
 * @property {Set<number>|null} threads null: all
 * @property {number} from first step of the time
 * @property {number|null} to behind the last step; null: no range of time was chosen
 * @property {boolean} [shares] of a comparison: each recording counts as much as the other
 *
 * @typedef {object} Weights
 * @property {Float64Array[]} self of each group: what ended in a node
 * @property {Float64Array[]} total of each group: that, and what is below
 * @property {Float64Array} width as total, what a frame is wide: of both groups together
 * @property {Float64Array} selfWidth
 * @property {number[]} all of each group
 * @property {number[]} scale what a group's figures are multiplied with in widths
 * @property {Int32Array} height nodes on the longest way down that has a weight
 */

/** @returns {boolean} whether the thread of a row was chosen; what is no thread's is there if all are */
function hasThread(choice, thread) {
  return !choice.threads || choice.threads.has(thread);
}

/** Calls visit(row, value) for what was chosen: a row once, or as often as it has a time within the range. */
export function eachValue(profile, choice, visit) {
  const { rows, time } = profile;
  if (choice.to === null) {
    const values = rows.values[choice.type];
    for (let r = 0; r < values.length; r++)
      if (values[r] > 0 && hasThread(choice, rows.thread[r])) visit(r, values[r]);
    return;
  }
  const values = time.values[choice.type];
  if (!values) return;
  if (time.changes.includes(choice.type)) return eachGrowth(profile, choice, values, visit);
  for (let i = 0; i < values.length; i++)
    if (time.at[i] >= choice.from && time.at[i] < choice.to && hasThread(choice, rows.thread[time.row[i]]))
      visit(time.row[i], values[i]);
}

/** Rows that grew within a range. Rows that shrank are left out. */
function eachGrowth({ rows, time }, choice, values, visit) {
  const grown = new Float64Array(rows.thread.length);
  for (let i = 0; i < values.length; i++)
    if (time.at[i] >= choice.from && time.at[i] < choice.to) grown[time.row[i]] += values[i];
  for (let r = 0; r < grown.length; r++) if (grown[r] > 0 && hasThread(choice, rows.thread[r])) visit(r, grown[r]);
}

/** Adds what a node has to its parent: in preorder a parent stands before it. */
function addUp(nodes, self) {
  const total = self.slice();
  for (let i = total.length - 1; i >= 0; i--) if (nodes.parent[i] >= 0) total[nodes.parent[i]] += total[i];
  return total;
}

function mixed(parts, scale) {
  if (parts.length === 1) return parts[0];
  return parts[0].map((v, i) => v * scale[0] + parts[1][i] * scale[1]);
}

/** @param {Choice} choice @returns {Weights} */
export function weigh(profile, choice) {
  const { nodes, rows } = profile;
  const count = nodes.place.length;
  const self = Array.from({ length: profile.groups }, () => new Float64Array(count));
  eachValue(profile, choice, (row, value) => {
    self[rows.group[row]][rows.node[row]] += value;
  });
  const total = self.map((s) => addUp(nodes, s));
  const all = self.map((s) => s.reduce((a, b) => a + b, 0));
  const most = Math.max(...all);
  const scale = all.map((a) => (choice.shares && a > 0 ? most / a : 1));
  const width = mixed(total, scale);
  const height = new Int32Array(count);
  for (let i = count - 1; i >= 0; i--) {
    if (width[i] <= 0) continue;
    height[i]++;
    if (nodes.parent[i] >= 0) height[nodes.parent[i]] = Math.max(height[nodes.parent[i]], height[i]);
  }
  return { self, total, all, scale, width, selfWidth: mixed(self, scale), height };
}

/**
 * Self and total of each function. A stack counts once in the total of a function that it has twice.
 *
 * @param {Weights} weights
 * @returns {{self: Float64Array[], total: Float64Array[]}}
 */
export function tally(profile, weights) {
  const { nodes } = profile;
  const functions = profile.names.length;
  const self = weights.all.map(() => new Float64Array(functions));
  const total = weights.all.map(() => new Float64Array(functions));
  const within = new Int32Array(functions); // of the nodes above, and this one
  const open = [];
  for (let i = 0; i < nodes.place.length; i++) {
    while (open.length > nodes.depth[i]) within[nodes.function[open.pop()]]--;
    const f = nodes.function[i];
    for (let g = 0; g < self.length; g++) {
      self[g][f] += weights.self[g][i];
      if (within[f] === 0) total[g][f] += weights.total[g][i];
    }
    within[f]++;
    open.push(i);
  }
  return { self, total };
}

/**
 * What changed, in points of a hundred: of all that the old recordings have, as the terminal says it; of shares, their
 * difference.
 *
 * @param {Weights} weights @param {boolean} shares
 */
export function changeIn(weights, shares, before, after) {
  const [old, fresh] = weights.all;
  const share = (part, all) => (all > 0 ? (100 * part) / all : 0);
  return shares ? share(after, fresh) - share(before, old) : share(after - before, old > 0 ? old : fresh);
}

/** @returns {Float64Array[]} of each group, by step of time */
export function overTime(profile, choice) {
  const { rows, time } = profile;
  const values = time.values[choice.type];
  const out = Array.from({ length: profile.groups }, () => new Float64Array(time.steps));
  if (values)
    for (let i = 0; i < values.length; i++)
      if (hasThread(choice, rows.thread[time.row[i]])) out[rows.group[time.row[i]]][time.at[i]] += values[i];
  return out;
}

/** @returns {boolean} whether a value of a heap is shown by what lived, and not by what was counted in each step */
export function isLevel({ types, time }, type) {
  return time.live.length > 0 && !types[type].type.startsWith("alloc_");
}

/**
 * What lived by step of time: of all threads the most in each step; of some, what they had allocated of it behind each
 * step. Of sums alone it is always that of all.
 *
 * @returns {{series: Float64Array[], step: number}} of each group; the length of a step, in ns
 */
export function levelOverTime(profile, choice) {
  const { types, time } = profile;
  const { unit } = types[choice.type];
  const type = time.changes.find((t) => types[t].unit === unit);
  if (!choice.threads || !time.values[type])
    return { series: time.live.map((l) => (unit === "bytes" ? l.bytes : l.blocks)), step: time.liveStep };
  const series = overTime(profile, { ...choice, type });
  for (const level of series) for (let i = 1; i < level.length; i++) level[i] += level[i - 1];
  return { series, step: time.step };
}

/** @returns {Float64Array} what each thread has, whatever threads were chosen */
export function byThread(profile, choice) {
  const out = new Float64Array(profile.threads.length);
  eachValue(profile, { ...choice, threads: null }, (row, value) => {
    if (profile.rows.thread[row] >= 0) out[profile.rows.thread[row]] += value;
  });
  return out;
}
