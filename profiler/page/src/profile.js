// What was recorded, as the page's data has it: texts by number, and typed arrays that stand side by side.

/**
 * @typedef {object} Profile
 * @property {number} groups 1, or 2: a comparison, 0 the old recordings and 1 the new ones
 * @property {string[]} summary what was recorded, then what is missing
 * @property {{sfb: string, zone: string, recorded: {host: string, by: string}[]}} [about]
 * @property {{type: string, unit: string}[]} types what rows count
 * @property {number} main the type that shares are of
 * @property {string[]} strings
 * @property {{name: number[], path: number[]}} modules numbers of strings
 * @property {string[]} names of functions; the last ones are marks
 * @property {Int32Array} functionModule -1: a mark
 * @property {Uint8Array} functionKnown 0: it has no name but its offset
 * @property {Places} places functions at lines; the last one is the mark's of what is hidden
 * @property {number} hiddenPlace
 * @property {Code[]} code of the hottest functions
 * @property {number} codeAll what its shares are of
 * @property {Process[]} processes
 * @property {Map<number, string>} notes of functions that stand for processes: their commands
 * @property {Nodes} nodes all stacks as one tree, in preorder
 * @property {Thread[]} threads
 * @property {Waker[]} wakers what ended waits of threads
 * @property {Rows} rows
 * @property {Time} time
 *
 * @typedef {{function: number, self: number, path: string, instructions: object, gaps: number[], sources: object}} Code
 *   instructions, sources: lists side by side; gaps: instructions before which some were left out; path: what tells functions of one
 *   name apart
 * @typedef {{function: Int32Array, file: Int32Array, line: Int32Array, kind: Uint8Array, inlined: Uint8Array}} Places
 * @typedef {{place: Int32Array, function: Int32Array, parent: Int32Array, depth: Int32Array, end: Int32Array}} Nodes
 *   parent -1: outermost; end: behind the last node below
 * @typedef {{pid: number, group: number, program: string, command: string, threads: number[], root: number, parent: number}} Process
 *   root, parent: places that stand for it and for its program; -1: for none
 * @typedef {{name: string, tid: number, group: number, pid: number, program: string, command: string}} Thread
 * @typedef {{thread: number, other: number, name: string, ns: number}} Waker other: the thread that woke it up; -1: name is no thread's
 * @typedef {{thread: Int32Array, group: Uint8Array, node: Int32Array, values: Float64Array[]}} Rows thread -1: of none
 * @typedef {{step: number, steps: number, at: Int32Array, row: Int32Array, values: (Float64Array|null)[],
 *   changes: number[], live: Live[], liveStep: number, memory: Memory|null, pauses: [number, number][], marks: [number, string][]}} Time
 *   what was sampled in each step of so many ns; null: times of these values are not known. changes: types whose values
 *   are by how much there was more behind a step than before it. live: of a heap, by group, in steps of liveStep ns
 * @typedef {{blocks: Float64Array, bytes: Float64Array, peak: {at: number, blocks: number, bytes: number}}} Live
 *   the most that lived in each step, whatever threads; at: ns
 * @typedef {{used?: Float64Array, held?: Float64Array, resident?: Float64Array}} Memory
 *   bytes at the end of each step of liveStep ns, of all processes: what their allocators have in use and hold, and what is
 *   resident; -1: not known
 */

/** @returns {Uint8Array} */
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // not yet in every browser, and ten times as fast
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** The element's text: JSON as it is, or packed with gzip in base64. */
async function textOf(element) {
  const text = element.textContent;
  if (element.type !== "application/gzip;base64") return text;
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** @returns {Promise<Profile>} */
export async function loadProfile(element) {
  const profile = readProfile(JSON.parse(await textOf(element)));
  element.remove(); // megabytes of text
  return profile;
}

function sums(deltas) {
  const out = new Int32Array(deltas.length);
  for (let i = 0, sum = 0; i < out.length; i++) out[i] = sum += deltas[i];
  return out;
}

/** Parents and ends follow from depths, in preorder. @returns {Nodes} */
export function linkNodes(place, depth, places) {
  const count = place.length;
  const parent = new Int32Array(count);
  const end = new Int32Array(count).fill(count);
  const open = []; // the nodes above
  for (let i = 0; i < count; i++) {
    while (open.length > depth[i]) end[open.pop()] = i;
    parent[i] = open.length > 0 ? open[open.length - 1] : -1;
    open.push(i);
  }
  return { place, depth, parent, end, function: place.map((p) => places.function[p]) };
}

/** @returns {number[]} the first index with the same words, of each index */
function firstOf(count, words) {
  const seen = new Map();
  return Array.from({ length: count }, (_, i) => {
    const text = words(i);
    if (!seen.has(text)) seen.set(text, i);
    return seen.get(text);
  });
}

/**
 * Functions of one name in modules of one name are one, as in the terminal's tables: two builds of a program can be
 * compared.
 */
function sameFunctions(raw) {
  const { name, module } = raw.functions;
  return firstOf(name.length, (f) => (f < module.length ? `${name[f]} ${raw.modules.name[module[f]]}` : String(f)));
}

function padded(kind, from, more) {
  const out = new kind(from.length + more);
  out.set(from);
  return out;
}

/**
 * Processes of the threads. Where there are several, each is a root of stacks that may be shown, and so is a program with several
 * processes: their names are functions, behind all others.
 *
 * @returns {{all: Process[], of: number[], roots: {name: string, note: string}[]}}
 */
function readProcesses({ threads, strings, places }) {
  const all = [];
  const numbers = new Map();
  const of = threads.name.map((_, i) => {
    const key = `${threads.group[i]} ${threads.pid[i]} ${threads.program[i]} ${threads.command?.[i]}`;
    if (!numbers.has(key)) {
      numbers.set(key, all.length);
      all.push({ pid: threads.pid[i], group: threads.group[i], program: strings[threads.program[i]], command: threads.command ? strings[threads.command[i]] : "", threads: [], root: -1, parent: -1 });
    }
    all[numbers.get(key)].threads.push(i);
    return numbers.get(key);
  });
  const roots = [];
  const placeOf = (name, note) => places.function.length + roots.push({ name, note });
  if (all.length < 2) return { all, of, roots };
  const programs = new Map();
  for (const process of all) {
    const same = programs.get(process.program) ?? [];
    programs.set(process.program, [...same, process]);
  }
  for (const [program, same] of programs) {
    const base = program.slice(program.lastIndexOf("/") + 1) || "?";
    const parent = same.length > 1 ? placeOf(`${base}, ${same.length} processes`, program) : -1;
    for (const process of same) {
      process.parent = parent;
      process.root = placeOf(`${base} ${process.pid}`, process.command || program);
    }
  }
  return { all, of, roots };
}

/** The last mark: what is hidden, and has no caller (shown.js). */
export const HIDDEN = "[hidden]";

/** @returns {Profile} */
export function readProfile(raw) {
  const { strings } = raw;
  const same = sameFunctions(raw);
  const sameModule = firstOf(raw.modules.name.length, (m) => raw.modules.name[m]);
  const processes = readProcesses(raw);
  const names = [...raw.functions.name.map((n) => strings[n]), HIDDEN];
  const hiddenFunction = names.length - 1;
  const places = {
    function: Int32Array.from([...raw.places.function.map((f) => same[f]), hiddenFunction, ...processes.roots.map((_, i) => names.length + i)]),
    file: padded(Int32Array, raw.places.file, 1 + processes.roots.length),
    line: padded(Int32Array, raw.places.line, 1 + processes.roots.length),
    kind: padded(Uint8Array, raw.places.kind, 1 + processes.roots.length),
    inlined: padded(Uint8Array, raw.places.inlined, 1 + processes.roots.length),
  };
  names.push(...processes.roots.map(({ name }) => name));
  const functionModule = new Int32Array(names.length).fill(-1);
  functionModule.set(raw.functions.module.map((m) => sameModule[m]));
  return {
    groups: raw.groups,
    summary: raw.summary,
    about: raw.about,
    types: raw.types,
    main: raw.main,
    strings,
    modules: raw.modules,
    names,
    functionModule,
    functionKnown: new Uint8Array(raw.functions.known),
    places,
    nodes: linkNodes(new Int32Array(raw.nodes.place), sums(raw.nodes.deeper), places),
    hiddenPlace: raw.places.function.length,
    code: (raw.code ?? []).map(({ function: f, weight, path, sources, gaps, ...instructions }) => ({ function: same[f], self: weight, path: strings[path] ?? "", sources, gaps: gaps ?? [], instructions })),
    codeAll: raw.rows.values[raw.main].reduce((a, b) => a + b, 0),
    processes: processes.all,
    notes: new Map(processes.roots.map(({ note }, i) => [hiddenFunction + 1 + i, note])),
    threads: raw.threads.name.map((n, i) => ({
      name: strings[n],
      tid: raw.threads.tid[i],
      group: raw.threads.group[i],
      pid: raw.threads.pid[i],
      program: strings[raw.threads.program[i]],
      process: processes.of[i],
      command: raw.threads.command ? strings[raw.threads.command[i]] : "",
    })),
    wakers: (raw.wakers?.thread ?? []).map((thread, i) => ({ thread, other: raw.wakers.other[i], name: strings[raw.wakers.name[i]], ns: raw.wakers.ns[i] })),
    rows: {
      thread: new Int32Array(raw.rows.thread),
      group: new Uint8Array(raw.rows.group),
      node: sums(raw.rows.node),
      values: raw.rows.values.map((v) => new Float64Array(v)),
    },
    time: {
      step: raw.time.step,
      steps: raw.time.steps,
      at: sums(raw.time.at),
      row: sums(raw.time.row),
      values: raw.time.values.map((v) => v && new Float64Array(v)),
      changes: raw.time.changes ?? [],
      liveStep: raw.time.liveStep ?? raw.time.step,
      live: (raw.time.live ?? []).map((l) => ({ blocks: new Float64Array(l.blocks), bytes: new Float64Array(l.bytes), peak: l.peak })),
      pauses: raw.pauses ?? [],
      marks: raw.marks ?? [],
      memory: raw.time.memory ? Object.fromEntries(Object.entries(raw.time.memory).map(([name, bytes]) => [name, new Float64Array(bytes)])) : null,
    },
  };
}

/** @returns {string} the module's name; "" for a mark, and for code that is in no module */
export function moduleName(profile, f) {
  const module = profile.functionModule[f];
  return module < 0 ? "" : profile.strings[profile.modules.name[module]];
}

/** Code that stands for what is not there: "[omitted]", "[unsampled]", ... */
export function isMark(profile, f) {
  return profile.functionModule[f] < 0;
}

/** @returns {string} "file:line", or what is known of it */
export function placeText(profile, place) {
  const file = profile.strings[profile.places.file[place]];
  const line = profile.places.line[place];
  return file && line ? `${file}:${line}` : file;
}

/** @returns {string} the last part of a path */
export function placeName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
