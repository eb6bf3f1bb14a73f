// The tree that is drawn: stacks function by function, from the outermost one down, or from the leaf up (inverted).
//
// A frame stands for nodes of the profile, and knows its children when they are asked for: a frame that is too narrow
// to be drawn costs nothing. Children are there from the widest to the narrowest.

/** Arrays of numbers that grow together. */
export class Columns {
  constructor(kinds) {
    this.kinds = kinds;
    this.length = 0;
    this.room = 1024;
    for (const name in kinds) this[name] = new kinds[name](this.room);
  }

  /** @returns {number} the first of `count` new elements */
  add(count) {
    const at = this.length;
    this.length += count;
    if (this.length > this.room) {
      this.room = Math.max(this.length, 2 * this.room);
      for (const name in this.kinds) {
        const grown = new this.kinds[name](this.room);
        grown.set(this[name].subarray(0, at));
        this[name] = grown;
      }
    }
    return at;
  }
}

export const FRAME = {
  key: Int32Array, // function; -1: all of them
  parent: Int32Array,
  depth: Int32Array,
  start: Float64Array,
  width: Float64Array,
  old: Float64Array, // group 0
  new: Float64Array, // group 1
  first: Int32Array, // child; -1: not yet known
  count: Int32Array,
  below: Int32Array, // rows
  from: Int32Array, // members
  to: Int32Array,
};

const MEMBER = { node: Int32Array, width: Float64Array, old: Float64Array, new: Float64Array };

export class Tree {
  /**
   * @param {import("./profile.js").Profile} profile
   * @param {import("./weigh.js").Weights} weights
   * @param {{callers?: boolean, focus?: number}} [how] callers: from leaves up; focus: a function at the root. Where
   *   a stack has it twice, the outer one counts
   */
  constructor(profile, weights, { callers = false, focus = -1, deferred = false } = {}) {
    this.profile = profile;
    this.weights = weights;
    this.callers = callers;
    this.focus = focus;
    this.frames = new Columns(FRAME);
    this.members = new Columns(MEMBER);
    this.slotOf = new Int32Array(profile.names.length).fill(-1); // of a function, while children are made
    this.memberOf = callers ? new Int32Array(profile.nodes.place.length).fill(-1) : null;
    if (!deferred) this.makeRoot();
  }

  makeRoot() {
    const { frames, members, weights } = this;
    const root = frames.add(1);
    frames.key[root] = this.focus;
    frames.parent[root] = -1;
    frames.first[root] = -1;
    if (this.focus >= 0) for (const node of this.#outermost(this.focus)) this.#addMember(node, weights.width, weights.total);
    frames.to[root] = members.length;
    if (this.focus >= 0) {
      const sums = { from: 0, to: members.length, width: 0, old: 0, new: 0, below: 0 };
      this.#sumMembers(sums);
      for (const name of ["width", "old", "new", "below"]) frames[name][root] = sums[name];
    } else {
      frames.width[root] = weights.all.reduce((sum, v, g) => sum + v * weights.scale[g], 0);
      frames.old[root] = weights.all[0];
      frames.new[root] = weights.all[1] ?? 0;
      frames.below[root] = this.#deepest();
    }
  }

  /** Rows below the root that stands for all. */
  #deepest() {
    const { weights, profile } = this;
    let most = 0;
    for (let i = 0; i < weights.height.length; i++) {
      if (this.callers && weights.selfWidth[i] > 0) most = Math.max(most, profile.nodes.depth[i] + 1);
      else if (!this.callers && profile.nodes.parent[i] < 0) {
        most = Math.max(most, weights.height[i]);
        i = profile.nodes.end[i] - 1;
      }
    }
    return most;
  }

  /** Nodes of a function that are below no other one of it. */
  *#outermost(f) {
    const { nodes } = this.profile;
    for (let i = 0; i < nodes.place.length; )
      if (nodes.function[i] === f) {
        if (this.weights.width[i] > 0) yield i;
        i = nodes.end[i];
      } else i++;
  }

  #addMember(node, width, parts) {
    const { members } = this;
    const at = members.add(1);
    members.node[at] = node;
    members.width[at] = width[node];
    members.old[at] = parts[0][node];
    members.new[at] = parts.length > 1 ? parts[1][node] : 0;
  }

  /** @param {{from: number, to: number, width: number, old: number, new: number, below: number}} of the last four are written */
  #sumMembers(of) {
    const { members } = this;
    const { nodes } = this.profile;
    const { height } = this.weights;
    for (let m = of.from; m < of.to; m++) {
      of.width += members.width[m];
      of.old += members.old[m];
      of.new += members.new[m];
      of.below = Math.max(of.below, this.callers ? nodes.depth[members.node[m]] : height[members.node[m]] - 1);
    }
  }

  /** Calls visit(node, member) for what the children of a frame are made of. member -1: the node has its own weight. */
  #below(frame, visit) {
    const { frames, members, weights } = this;
    const { nodes } = this.profile;
    const isAll = frame === 0 && this.focus < 0;
    if (this.callers) {
      if (isAll) {
        for (let i = 0; i < nodes.place.length; i++) if (weights.selfWidth[i] > 0) visit(i, -1);
      } else
        for (let m = frames.from[frame]; m < frames.to[frame]; m++) {
          const parent = nodes.parent[members.node[m]];
          if (parent >= 0) visit(parent, m);
        }
      return;
    }
    const visitChildren = (i, end) => {
      for (; i < end; i = nodes.end[i]) if (weights.width[i] > 0) visit(i, -1);
    };
    if (isAll) visitChildren(0, nodes.place.length);
    else
      for (let m = frames.from[frame]; m < frames.to[frame]; m++)
        visitChildren(members.node[m] + 1, nodes.end[members.node[m]]);
  }

  /** Makes the children of a frame. */
  expand(frame) {
    const { frames, members, slotOf, profile } = this;
    const found = [];
    this.#below(frame, (node, member) => {
      const key = profile.nodes.function[node];
      let slot = slotOf[key];
      if (slot < 0) {
        slot = slotOf[key] = found.length;
        found.push({ key, nodes: [], sources: [], from: 0, to: 0, width: 0, old: 0, new: 0, below: 0 });
      }
      found[slot].nodes.push(node);
      found[slot].sources.push(member);
    });
    for (const child of found) {
      slotOf[child.key] = -1;
      child.from = members.length;
      this.#addMembers(child);
      child.to = members.length;
      this.#sumMembers(child);
    }
    if (found.length > 1) found.sort((a, b) => b.width - a.width || (profile.names[a.key] < profile.names[b.key] ? -1 : 1));
    const first = frames.add(found.length);
    let start = frames.start[frame];
    for (let i = 0; i < found.length; i++) {
      const child = found[i];
      const at = first + i;
      frames.key[at] = child.key;
      frames.parent[at] = frame;
      frames.depth[at] = frames.depth[frame] + 1;
      frames.start[at] = start;
      frames.width[at] = child.width;
      frames.old[at] = child.old;
      frames.new[at] = child.new;
      frames.first[at] = -1;
      frames.below[at] = child.below;
      frames.from[at] = child.from;
      frames.to[at] = child.to;
      start += child.width;
    }
    frames.first[frame] = first;
    frames.count[frame] = found.length;
  }

  /** Nodes that two members have in common (a caller of both) become one. */
  #addMembers({ nodes, sources }) {
    const { members, weights, memberOf, callers } = this;
    if (!callers) {
      for (const node of nodes) this.#addMember(node, weights.width, weights.total);
      return;
    }
    const before = members.length;
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i];
      const source = sources[i];
      let at = memberOf[node];
      if (at < before) {
        if (source < 0) {
          this.#addMember(node, weights.selfWidth, weights.self);
          memberOf[node] = members.length - 1;
          continue;
        }
        at = memberOf[node] = members.add(1);
        members.node[at] = node;
        members.width[at] = members.old[at] = members.new[at] = 0;
      }
      members.width[at] += members.width[source];
      members.old[at] += members.old[source];
      members.new[at] += members.new[source];
    }
  }

  /** @returns {number} how many children a frame has; they stand from frames.first[frame] on */
  childCount(frame) {
    if (this.frames.first[frame] < 0) this.expand(frame);
    return this.frames.count[frame];
  }

  /** @returns {number} what is in a frame, and in none of its children */
  selfOf(frame, group = -1) {
    const { frames } = this;
    const parts = group < 0 ? "width" : group === 0 ? "old" : "new";
    const count = this.childCount(frame);
    let self = frames[parts][frame];
    for (let i = 0; i < count; i++) self -= frames[parts][frames.first[frame] + i];
    return Math.max(0, self);
  }

  /**
   * Outer frames that have nearly all of it tell nothing: the graph opens at the last of them.
   *
   * @returns {number} the frame where stacks branch; 0: at the root
   */
  firstBranch(share = 0.95) {
    const { frames } = this;
    const least = frames.width[0] * share;
    let frame = 0;
    while (least > 0 && this.childCount(frame) > 0 && frames.width[frames.first[frame]] >= least) frame = frames.first[frame];
    return frame;
  }

  /** @returns {number[]} the functions from the root's child to a frame */
  path(frame) {
    const keys = [];
    for (; frame > 0; frame = this.frames.parent[frame]) keys.push(this.frames.key[frame]);
    return keys.reverse();
  }

  /** @returns {number} child with a key; -1: not found */
  child(frame, key) {
    const count = this.childCount(frame);
    for (let i = 0; i < count; i++) if (this.frames.key[this.frames.first[frame] + i] === key) return this.frames.first[frame] + i;
    return -1;
  }

  /** @returns {number} the frame at the end of a path, or the last one on the way that is there */
  find(path) {
    let frame = 0;
    for (const key of path) {
      const next = this.child(frame, key);
      if (next < 0) break;
      frame = next;
    }
    return frame;
  }

  /** @returns {number} the frame at a depth above this one, or this one */
  ancestor(frame, depth) {
    while (this.frames.depth[frame] > depth) frame = this.frames.parent[frame];
    return frame;
  }

  /** @returns {number} the frame of a row that has a value; -1: none */
  at(depth, value) {
    const { frames } = this;
    let frame = 0;
    while (frames.depth[frame] < depth) {
      const count = this.childCount(frame);
      if (count === 0) return -1;
      frame = frames.first[frame] + this.before(frame, count, value);
    }
    return value >= frames.start[frame] && value < frames.start[frame] + frames.width[frame] ? frame : -1;
  }

  /** @returns {number} the last of a frame's children that begins at or before a value */
  before(frame, count, value) {
    const first = this.frames.first[frame];
    let [low, high] = [0, count];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.frames.start[first + middle] <= value) low = middle;
      else high = middle;
    }
    return low;
  }

  /** @returns {{place: number, others: number}} where most of a frame is, and in how many other lines the rest */
  placeOf(frame) {
    const { frames, members, profile } = this;
    const widths = new Map();
    for (let m = frames.from[frame]; m < frames.to[frame]; m++) {
      const place = profile.nodes.place[members.node[m]];
      widths.set(place, (widths.get(place) ?? 0) + members.width[m]);
    }
    let best = -1;
    for (const [place, width] of widths) if (best < 0 || width > widths.get(best)) best = place;
    return { place: best, others: widths.size - 1 };
  }
}
