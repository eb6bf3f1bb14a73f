// The page: reads the data, and joins what is shown with what is done.
import { App } from "./app.js";
import { CallTree } from "./calltree.js";
import { changeColour } from "./colours.js";
import { CodeView } from "./code.js";
import { copyText } from "./copy.js";
import { describe, sentence, totalOf } from "./describe.js";
import { byId, element, name } from "./dom.js";
import { ROW } from "./draw.js";
import { showFacts, toggleFacts } from "./facts.js";
import { folded, within, withinSteps } from "./folded.js";
import { figure, percent, typeName } from "./format.js";
import { Graph } from "./graph.js";
import { helpTable, listen } from "./keys.js";
import { onOneCanvas, save, svgOf } from "./picture.js";
import { Popup } from "./popup.js";
import { loadProfile, moduleName } from "./profile.js";
import { VIEWS } from "./state.js";
import { swatch } from "./grid.js";
import { Table } from "./table.js";
import { onSystemTheme } from "./theme.js";
import { Threads } from "./threads.js";
import { Tracks } from "./tracks.js";
import { showMemoryLegend } from "./memory.js";
import { Timeline } from "./timeline.js";
import { Tooltip } from "./tooltip.js";

const HITS_MAX = 200; // frames that a person goes through
const HEADING = 22; // pixels of a half's name
const THREADS_MAX = 200; // that a list has

class Page {
  constructor(profile) {
    this.profile = profile;
    this.app = new App(profile);
    this.tooltip = new Tooltip();
    showFacts(profile);
    this.#makeGraphs();
    this.#makeTools();
    this.keys = this.#keys();
    listen(this.keys);
    byId("help-keys").append(helpTable(this.keys));
    this.app.onChange(() => this.show());
    onSystemTheme(() => {
      this.app.paint();
      this.show();
    });
    this.show();
    if (!byId("nothing").hidden && !byId("facts-more").hidden) toggleFacts();
  }

  // --- Parts --------------------------------------------------------------------------------------

  #makeGraphs() {
    const { app } = this;
    const events = (which) => ({
      onzoom: (frame) => this.#onZoom(which, frame),
      onhover: (frame, x, y) => this.#onHover(which, frame, x, y),
      onselect: (frame, byKey) => this.#onSelect(which, frame, byKey),
      onscroll: () => which === "main" && this.#showAbove(),
    });
    this.graphs = {
      main: new Graph("Flame graph: arrows go from frame to frame, Enter zooms, ? lists all keys", events("main")),
      callers: new Graph("Callers of the function", events("callers")),
      callees: new Graph("What the function calls", events("callees")),
    };
    byId("panel-graph").append(this.graphs.main.box);
    byId("callers").append(this.graphs.callers.box);
    byId("callees").append(this.graphs.callees.box);
    this.active = "main";
    for (const [which, graph] of Object.entries(this.graphs))
      graph.element.addEventListener("focus", () => (this.active = which));
    this.zooms = { callers: 0, callees: 0, time: 0 }; // of the sandwich, and of time order
    this.table = new Table({
      onsort: (id) => this.app.set({ sort: id, rising: this.app.state.sort === id ? !this.app.state.rising : false }),
      onopen: (f) => this.openSandwich(f),
    });
    byId("panel-functions").append(this.table.element);
    this.callTree = new CallTree({
      onfocus: (frame) => app.zoomTo(this.callTree.tree, frame),
      onselect: () => this.#showSelected(),
    });
    byId("panel-tree").append(this.callTree.element);
    this.code = new CodeView(this.profile, { onchange: (change) => app.set(change) });
    byId("panel-code").append(this.code.element);
    byId("view-code").hidden = this.profile.code.length === 0;
  }

  #makeTools() {
    const { app, profile } = this;
    for (const view of VIEWS) byId(`view-${view}`).addEventListener("click", () => this.setView(view));
    byId("views").addEventListener("keydown", (event) => this.#moveTab(event));
    this.timeline = new Timeline(profile.time, (from, to) => this.setTime(from, to));
    byId("time-clear").addEventListener("click", () => app.set({ from: 0, to: null }));
    this.threads = new Threads(profile, (threads) => app.set({ threads }));
    this.tracks = new Tracks(profile, (threads) => app.set({ threads }));
    byId("roots").hidden = profile.processes.length < 2;
    byId("roots").addEventListener("click", () => this.#flip("roots"));
    byId("tracks-on").hidden = profile.threads.length < 2;
    byId("tracks-on").addEventListener("click", () => this.#flip("tracks"));
    byId("memory-on").hidden = profile.time.memory === null;
    byId("memory-on").addEventListener("click", () => this.#flip("memory"));
    const search = byId("search");
    search.addEventListener("input", () => app.set({ search: search.value }));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.nextHit(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        app.set({ search: "", only: "" });
        (this.rows ?? this.activeGraph).element.focus();
      } else return;
      event.preventDefault();
    });
    byId("regex").addEventListener("click", () => app.set({ regex: !app.state.regex }));
    this.#fill("value", profile.types.map((type, i) => [String(i), typeName(type)]), (value) => this.setType(Number(value)));
    const colours = [["module", "By module"], ["kind", "By kind"]];
    if (profile.groups > 1) colours.unshift(["change", "By change"]);
    this.#fill("colour", colours, (colour) => app.set({ colour }));
    byId("value-box").hidden = profile.types.length < 2;
    byId("shares").hidden = profile.groups < 2;
    byId("shares").addEventListener("click", () => app.set({ shares: !app.state.shares }));
    byId("hit-before").addEventListener("click", () => this.nextHit(-1));
    byId("hit-next").addEventListener("click", () => this.nextHit(1));
    byId("collapse").addEventListener("click", () => app.set({ collapsed: !app.state.collapsed }));
    byId("unhide").addEventListener("click", () => this.unhide());
    byId("frame-code").addEventListener("click", () => this.openCode());
    byId("frame-hide").addEventListener("click", () => this.hide());
    byId("frame-hide-module").addEventListener("click", () => this.hide(true));
    byId("legend-more").addEventListener("click", () => this.#unfoldLegend());
    byId("inverted").addEventListener("click", () => this.invert());
    byId("expand").addEventListener("click", () => this.callTree.expandAll());
    byId("up").addEventListener("click", () => app.set({ up: !app.state.up }));
    byId("above").addEventListener("click", () => this.graphs.main.reveal(0));
    byId("facts-more").addEventListener("click", toggleFacts);
    this.share = new Popup(byId("share"), byId("share-box"));
    byId("copy").addEventListener("click", () => this.copy());
    byId("copy-link").addEventListener("click", () => this.copyLink());
    byId("save-svg").addEventListener("click", () => save(new Blob([this.svg()], { type: "image/svg+xml" }), "flamegraph.svg"));
    byId("save-png").addEventListener("click", () => this.png().toBlob((blob) => blob && save(blob, "flamegraph.png"), "image/png"));
    byId("print").addEventListener("click", () => print());
    addEventListener("beforeprint", () => this.#inPrint(true));
    addEventListener("afterprint", () => this.#inPrint(false));
    byId("thread-shown").addEventListener("change", () => app.set({ timeThread: Number(byId("thread-shown").value) }));
    byId("thread-before").addEventListener("click", () => this.nextThread(-1));
    byId("thread-next").addEventListener("click", () => this.nextThread(1));
    byId("theme").addEventListener("click", () => this.switchTheme());
    byId("help").addEventListener("click", () => this.toggleHelp());
    byId("help-close").addEventListener("click", () => byId("help-box").close());
    byId("frame-zoom").addEventListener("click", () => this.#zoomSelected());
    byId("frame-sandwich").addEventListener("click", () => this.sandwichOfSelected());
    byId("frame-name").addEventListener("click", () => this.#copied(this.#selectedName(), "the name"));
  }

  #fill(id, options, onchange) {
    const select = byId(id);
    select.append(...options.map(([value, text]) => element("option", { value, text })));
    select.addEventListener("change", () => onchange(select.value));
  }

  #keys() {
    const { app, profile } = this;
    const key = (keys, label, does, run) => ({ keys, label, does, run });
    const move = (where) => () => this.activeGraph.move(where);
    const vertical = (down) => () => {
      if (this.rows) this.rows.step(down ? 1 : -1);
      else this.activeGraph.move(this.activeGraph.up !== down ? "in" : "out");
    };
    return [
      { title: "Views", keys: [
        key(["1"], "1", "flame graph", () => this.setView("flame")),
        key(["2", "i"], "2 i", "callers: the graph inverted", () => this.setView(app.state.view === "callers" ? "flame" : "callers")),
        key(["3", "t"], "3 t", "table of functions", () => this.setView("functions")),
        key(["4", "s"], "4 s", "sandwich of the selected function", () => this.sandwichOfSelected()),
        key(["5", "e"], "5 e", "call tree", () => this.setView("tree")),
        key(["6"], "6", "one thread in the order of time", () => this.setView("time")),
        key(["[", "]"], "[ ]", "in the order of time: the thread before, the next one", (pressed) => this.nextThread(pressed === "[" ? -1 : 1)),
        key(["7"], "7", "source and assembly of the hottest functions", () => this.profile.code.length > 0 && this.setView("code")),
        key(["w"], "w", "source and assembly of the selected function", () => this.openCode()),
        key(["b"], "b", "call tree: bottom up, or top down", () => this.invert()),
        key(["*"], "*", "call tree: open all below the row", () => app.state.view === "tree" && this.callTree.expandAll()),
        key(["o"], "o", "root at the bottom, or at the top", () => app.set({ up: !app.state.up })),
      ] },
      { title: "In the graph", keys: [
        key(["ArrowDown"], "↓", "the frame below", vertical(true)),
        key(["ArrowUp"], "↑", "the frame above", vertical(false)),
        key(["ArrowLeft"], "←", "the frame to the left", move("before")),
        key(["ArrowRight"], "→", "the frame to the right", move("after")),
        key(["Enter", " "], "Enter", "zoom into the selected frame", () => this.#zoomSelected()),
        key(["Escape", "Backspace"], "Esc", "back, one zoom", () => this.back()),
        key(["Home"], "Home", "back to all of it", () => this.home()),
        key(["+", "="], "+", "closer", () => this.activeGraph.zoomBy(0.6)),
        key(["-"], "−", "farther", () => this.activeGraph.zoomBy(1 / 0.6)),
        key(["Shift+ArrowLeft"], "⇧←", "move to the left", () => this.activeGraph.panBy(-80)),
        key(["Shift+ArrowRight"], "⇧→", "move to the right", () => this.activeGraph.panBy(80)),
        key(["PageDown"], "PgDn", "scroll down", () => this.activeGraph.scrollBy(1)),
        key(["PageUp"], "PgUp", "scroll up", () => this.activeGraph.scrollBy(-1)),
      ] },
      { title: "What is looked at", keys: [
        key(["/", "f"], "/ f", "search", () => byId("search").select()),
        key(["r"], "r", "regular expression, or text", () => app.set({ regex: !app.state.regex })),
        key(["n"], "n", "next hit", () => this.nextHit(1)),
        key(["N"], "N", "hit before", () => this.nextHit(-1)),
        key(["h"], "h", "threads", () => this.threads.toggle()),
        key(["p"], "p", "each process as an outermost frame", () => profile.processes.length > 1 && this.#flip("roots")),
        key(["k"], "k", "tracks of threads", () => this.#flip("tracks")),
        key(["M"], "M", "memory of the allocator and the kernel on the time line of a heap", () => profile.time.memory && this.#flip("memory")),
        key(["g"], "g", "time line: arrows move the range, Shift its end, Alt its beginning", () => byId("timeline").focus()),
        key(["x"], "x", "hide the selected function: its time becomes its caller's", () => this.hide()),
        key(["X"], "X", "hide its module", () => this.hide(true)),
        key(["u"], "u", "show all that was hidden", () => this.unhide()),
        key(["y"], "y", "collapse recursion", () => app.set({ collapsed: !app.state.collapsed })),
        key(["v"], "v", "next value", () => this.setType((app.state.type + 1) % this.profile.types.length)),
        key(["m"], "m", "next colouring", () => this.#next("colour", [...byId("colour").options].map((o) => o.value))),
      ] },
      { title: "Page", keys: [
        key(["c"], "c", "copy what is in sight as folded stacks", () => this.copy()),
        key(["a"], "a", "what was recorded, and what is missing", toggleFacts),
        key(["l"], "l", "copy the address of what is in sight", () => this.copyLink()),
        key(["d"], "d", "dark or light", () => this.switchTheme()),
        key(["?"], "?", "this help", () => this.toggleHelp()),
      ] },
    ];
  }

  /** Top down, or bottom up. */
  invert() {
    this.app.set({ view: "tree", inverted: this.app.state.view === "tree" ? !this.app.state.inverted : this.app.state.inverted, zoom: null }, true);
    this.#focusView();
  }

  /** @returns {Table|CallTree|null} what rows are in sight */
  get rows() {
    return { functions: this.table, tree: this.callTree, code: this.code.grid }[this.app.state.view] ?? null;
  }

  #flip(what) {
    this.app.set({ [what]: !this.app.state[what], ...(what === "roots" ? { zoom: null } : {}) });
  }

  #next(what, all) {
    this.app.set({ [what]: all[(all.indexOf(this.app.state[what]) + 1) % all.length] });
  }

  // --- What is done -------------------------------------------------------------------------------

  /** A range is of values whose times are known: of a heap, in place of its peak, what it grew by. */
  setTime(from, to) {
    const { types, time } = this.profile;
    const { type } = this.app.state;
    const known = time.values[type] ? type : (time.changes.find((t) => time.values[t] && types[t].unit === types[type].unit) ?? -1);
    if (to === null) this.app.set({ from, to });
    else if (known >= 0) this.app.set({ from, to, type: known });
    else this.#say("Times are not known: this recording has sums alone.");
  }

  setType(type) {
    this.app.set(this.profile.time.values[type] ? { type } : { type, from: 0, to: null });
  }

  get activeGraph() {
    if (this.app.state.view !== "sandwich") return this.graphs.main;
    return this.active === "main" ? this.graphs.callees : this.graphs[this.active];
  }

  setView(view) {
    const { app } = this;
    if (view === app.state.view) return;
    // The hottest function, if none was chosen.
    const hottest = app.tally.self[0].reduce((best, v, f) => (v > app.tally.self[0][best] ? f : best), 0);
    app.set({ view, zoom: null, ...(view === "sandwich" && app.state.focus < 0 ? { focus: hottest } : {}) }, true);
    this.#focusView();
  }

  #focusView() {
    if (this.rows) this.rows.element.focus({ preventScroll: true });
    else this.activeGraph.element.focus({ preventScroll: true });
  }

  #moveTab(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const views = VIEWS.filter((view) => !byId(`view-${view}`).hidden);
    this.setView(views[(views.indexOf(this.app.state.view) + way + views.length) % views.length]);
    byId(`view-${this.app.state.view}`).focus();
  }

  openSandwich(f) {
    this.zooms = { callers: 0, callees: 0, time: 0 };
    this.app.set({ view: "sandwich", focus: f, zoom: null }, true);
    this.active = "callees";
    this.#focusView();
  }

  /** The tree in sight, and the frame of it that is selected; -1: none. */
  get selection() {
    const { view } = this.app.state;
    if (view === "functions" || view === "code") return { tree: null, frame: -1, zoomed: 0 };
    if (view === "tree") return { tree: this.callTree.tree ?? null, frame: this.callTree.active, zoomed: this.callTree.root };
    const { tree, selected, zoomed } = this.activeGraph;
    return { tree, frame: tree ? selected : -1, zoomed };
  }

  #selectedKey() {
    const { tree, frame } = this.selection;
    return frame >= 0 ? tree.frames.key[frame] : -1;
  }

  #selectedName() {
    const key = this.#selectedKey();
    return key >= 0 ? this.profile.names[key] : "";
  }

  sandwichOfSelected() {
    const inTable = this.app.state.view === "functions" ? this.table.active : this.#selectedKey();
    if (inTable >= 0) this.openSandwich(inTable);
    else this.setView("sandwich");
  }

  /** Hides the selected function, or its module. */
  hide(module = false) {
    const f = this.app.state.view === "functions" ? this.table.active : this.#selectedKey();
    const { functions, modules } = this.app.state.hidden;
    if (f < 0) return;
    if (!module) return this.app.set({ hidden: { functions: [...functions, f], modules }, zoom: null }, true);
    const named = moduleName(this.profile, f);
    if (named) this.app.set({ hidden: { functions, modules: [...modules, named] }, zoom: null }, true);
  }

  /** The selected function's code, if the page has it. */
  openCode() {
    const f = this.app.state.view === "functions" ? this.table.active : this.#selectedKey();
    if (f >= 0 && this.code.has(f)) this.app.set({ view: "code", focus: f, zoom: null }, true);
    else if (f >= 0) this.#say("The page has the code of its hottest functions only; --annotate has any.");
  }

  unhide() {
    this.app.set({ hidden: { functions: [], modules: [] } }, true);
  }

  #unfoldLegend() {
    const more = byId("legend-more");
    const open = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(open));
    byId("legend").classList.toggle("unfolded", open);
  }

  #zoomSelected() {
    if (this.app.state.view === "tree") return this.callTree.active >= 0 ? this.app.zoomTo(this.callTree.tree, this.callTree.active) : undefined;
    const graph = this.activeGraph;
    this.#onZoom(Object.keys(this.graphs).find((which) => this.graphs[which] === graph), graph.selected);
  }

  #onZoom(which, frame) {
    if (frame < 0 || this.rows) return;
    if (this.app.state.view === "time") {
      this.zooms.time = frame;
      return this.show();
    }
    if (this.app.state.view !== "sandwich") return this.app.zoomTo(this.graphs.main.tree, frame);
    if (which === "main") return;
    this.zooms[which] = frame;
    this.show();
  }

  back() {
    const graph = this.activeGraph;
    const { view, search } = this.app.state;
    if (view === "tree") return !this.app.zoomBack(this.callTree.tree) && search ? this.app.set({ search: "" }) : undefined;
    if (view === "functions" || view === "code") return search ? this.app.set({ search: "" }) : undefined;
    if (graph.resetRange()) return;
    if (view === "time") {
      if (this.zooms.time === 0) return search ? this.app.set({ search: "" }) : undefined;
      this.zooms.time = Math.max(0, graph.tree.frames.parent[this.zooms.time]);
      return this.show();
    }
    if (view === "sandwich") {
      const which = graph === this.graphs.callers ? "callers" : "callees";
      this.zooms[which] = Math.max(0, graph.tree.frames.parent[this.zooms[which]]);
      return this.show();
    }
    if (!this.app.zoomBack(graph.tree) && search) this.app.set({ search: "" });
  }

  home() {
    this.zooms = { callers: 0, callees: 0, time: 0 };
    this.app.set({ zoom: null }, this.app.state.zoom !== null);
    if (this.rows) return;
    this.activeGraph.resetRange();
    this.activeGraph.reveal(0, true);
  }

  /** Frames that fit, from the left to the right and from the root on, as far as they are made. */
  nextHit(way) {
    const { hit } = this.app;
    const graph = this.app.state.view === "tree" ? this.callTree : this.activeGraph;
    if (!hit || this.app.state.view === "functions" || this.app.state.view === "code") return;
    const { tree } = graph;
    const found = this.#hitsOf(tree, hit);
    if (found.length === 0) return;
    const at = found.indexOf(this.selection.frame);
    graph.select(found[(at + way + found.length + (at < 0 && way < 0 ? 1 : 0)) % found.length], true);
  }

  /** The widest come first, and no more than a person goes through. */
  #hitsOf(tree, hit) {
    if (this.hits?.tree === tree && this.hits.hit === hit) return this.hits.found;
    const { frames } = tree;
    const least = frames.width[0] / 5000;
    const found = [];
    const open = [0];
    while (open.length > 0) {
      const frame = open.pop();
      if (frames.key[frame] >= 0 && hit[frames.key[frame]]) found.push(frame);
      const count = tree.childCount(frame);
      for (let i = 0; i < count && frames.width[frames.first[frame] + i] >= least; i++) open.push(frames.first[frame] + i);
    }
    this.hits = { tree, hit, found: found.sort((a, b) => frames.width[b] - frames.width[a]).slice(0, HITS_MAX) };
    return this.hits.found;
  }

  /** What is in sight: with the chosen threads and times, and below the zoomed frame. */
  foldedText() {
    const { app } = this;
    const { view } = app.state;
    let wanted = null;
    if (view === "flame" || view === "callers") {
      const graph = this.graphs.main;
      if (graph.zoomed > 0) wanted = within(graph.tree, graph.zoomed);
    } else if (view === "tree") {
      if (this.callTree.root > 0) wanted = within(this.callTree.tree, this.callTree.root);
    } else if (view === "sandwich") {
      const { tree, zoomed } = this.activeGraph;
      wanted = within(tree, zoomed);
    } else if (view === "time") {
      const { choice, wanted: through } = withinSteps(app.timeTree(), this.zooms.time, app.choice);
      return folded(app.shown, choice, through);
    }
    return folded(app.shown, app.choice, wanted);
  }

  copy() {
    if (this.app.state.view === "tree") return this.#copied(this.callTree.text(), "the rows");
    return this.#copied(this.foldedText(), "folded stacks");
  }

  copyLink() {
    return this.#copied(location.href, "the address");
  }

  /** @returns {Graph[]} graphs in sight, from the top down; empty in tables */
  get graphsInSight() {
    const { main, callers, callees } = this.graphs;
    if (this.rows) return [];
    return this.app.state.view === "sandwich" ? [callers, callees] : [main];
  }

  /** @returns {string} the graphs in sight as SVG */
  svg() {
    const { app, profile } = this;
    const of = { profile, weights: app.weights, unit: app.unit, shares: app.state.shares };
    const thread = app.state.view === "time" ? `thread ${byId("thread-shown").selectedOptions[0]?.textContent ?? ""}` : "";
    const title = [document.title, byId("time-label").textContent, thread].filter(Boolean).join(": ");
    return svgOf(this.graphsInSight, title, (tree, frame) => totalOf(of, tree, frame).slice(1).join(", "));
  }

  /** @returns {HTMLCanvasElement} the graphs in sight, as they are on the screen */
  png() {
    return onOneCanvas(this.graphsInSight.map(({ canvas }) => canvas));
  }

  /** Paper is light. */
  #inPrint(on) {
    this.share.toggle(false);
    if (this.app.theme !== "dark" && !this.printing) return;
    this.printing = on;
    this.app.paint(on ? "light" : undefined);
    this.show();
    for (const graph of Object.values(this.graphs)) graph.drawNow();
  }

  async #copied(text, what) {
    if (text === "") return;
    this.#say((await copyText(text)) ? `Copied ${what}.` : "The browser does not let this page copy.");
  }

  #say(text) {
    const toast = byId("toast");
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => (toast.hidden = true), 2500);
  }

  switchTheme() {
    this.app.set({ theme: this.app.theme === "dark" ? "light" : "dark" });
  }

  toggleHelp() {
    const box = byId("help-box");
    if (box.open) box.close();
    else box.showModal();
  }

  // --- What is shown ------------------------------------------------------------------------------

  #describe(which, frame) {
    return this.#describeIn(this.graphs[which].tree, frame, this.graphs[which].zoomed);
  }

  #describeIn(tree, frame, zoomed) {
    const { app, profile } = this;
    return describe({ profile, weights: app.weights, tally: app.tally, unit: app.unit, shares: app.state.shares }, tree, frame, zoomed);
  }

  #onHover(which, frame, x, y) {
    if (frame < 0) this.tooltip.hide();
    else this.tooltip.show(this.#describe(which, frame), x, y);
  }

  #onSelect(which, frame, byKey) {
    this.active = which;
    this.#showSelected();
    if (byKey) {
      this.tooltip.hide();
      clearTimeout(this.spoken);
      this.spoken = setTimeout(() => (byId("spoken").textContent = sentence(this.#describe(which, frame))), 150);
    }
  }

  /** The line below: what is selected. */
  #showSelected() {
    this.#showFound();
    const { tree, frame, zoomed } = this.selection;
    byId("frame").hidden = frame < 0 || (this.app.state.view === "tree" && !this.callTree.chosen);
    if (byId("frame").hidden) return;
    const d = this.#describeIn(tree, frame, zoomed);
    byId("frame-title").replaceChildren(name(d.title.slice(0, 2000)));
    byId("frame-place").replaceChildren(name([d.place, d.module, d.note].filter(Boolean).join(" · ")));
    byId("frame-figures").textContent = d.rows.map(([what, ...values]) => `${what} ${values.join("  ")}`).join("   ");
    const f = this.#selectedKey();
    byId("frame-sandwich").hidden = byId("frame-name").hidden = byId("frame-hide").hidden = f < 0;
    byId("frame-code").hidden = f < 0 || !this.code.has(f);
    byId("frame-hide-module").hidden = f < 0 || moduleName(this.profile, f) === "";
  }

  /** How many functions fit; in a graph, which of its frames that fit is selected. */
  #showFound() {
    const { app } = this;
    byId("hits").hidden = app.hit === null;
    if (app.hit === null) return;
    const functions = `${app.found} function${app.found === 1 ? "" : "s"}`;
    const { tree, frame } = this.selection;
    const found = tree && frame >= 0 ? this.#hitsOf(tree, app.hit) : []; // only then it is asked which one
    const at = found.indexOf(frame);
    byId("found").textContent = tree && found.length > 0 && at >= 0 ? `${at + 1} of ${found.length}${found.length === HITS_MAX ? "+" : ""}` : functions;
    byId("found").title = functions;
    byId("hit-before").hidden = byId("hit-next").hidden = tree === null;
  }

  show() {
    const { app } = this;
    const { state } = app;
    this.tooltip.hide();
    for (const view of VIEWS) {
      byId(`view-${view}`).setAttribute("aria-selected", String(view === state.view));
      byId(`view-${view}`).tabIndex = view === state.view ? 0 : -1;
    }
    if (this.shownView !== state.view) byId(`view-${state.view}`).scrollIntoView({ block: "nearest", inline: "nearest" });
    this.shownView = state.view;
    const inGraph = state.view === "flame" || state.view === "callers" || state.view === "time";
    byId("panel-graph").hidden = !inGraph;
    byId("panel-functions").hidden = state.view !== "functions";
    byId("panel-sandwich").hidden = state.view !== "sandwich";
    byId("panel-code").hidden = state.view !== "code";
    byId("panel-tree").hidden = state.view !== "tree";
    byId("up").hidden = !inGraph;
    byId("inverted").hidden = byId("expand").hidden = state.view !== "tree";
    byId("save-svg").hidden = byId("save-png").hidden = this.rows !== null;
    if (inGraph) this.#showGraph(state.view);
    else if (state.view === "functions") this.table.show(app, app.hit, state);
    else if (state.view === "tree") this.#showTree();
    else if (state.view === "code") this.code.show(state);
    else this.#showSandwich();
    this.#showTools();
    this.#showNothing();
    this.#showTrail(state.view === "time" ? null : inGraph ? this.graphs.main.tree : state.view === "tree" ? this.callTree.tree : null);
    this.#showSelected();
  }

  #showGraph(which) {
    const tree = which === "time" ? this.app.timeTree() : this.app.tree(which);
    if (which === "time" && this.graphs.main.tree !== tree) this.zooms.time = 0;
    const zoomed = which === "time" ? this.zooms.time : this.app.trail(tree).at(-1);
    this.graphs.main.show({ tree, look: this.app.look(tree), up: this.app.state.up, zoomed });
    if (!this.opened && zoomed === 0 && which === "flame") this.graphs.main.openAt(tree.firstBranch());
    this.opened = true;
  }

  #showTree() {
    const tree = this.app.tree(this.app.state.inverted ? "callers" : "flame");
    this.callTree.show(this.app, tree, this.app.trail(tree).at(-1));
  }

  #showSandwich() {
    const { app, profile } = this;
    const { focus } = app.state;
    const callers = app.tree("focusCallers");
    const callees = app.tree("focusCallees");
    for (const [which, tree] of [["callers", callers], ["callees", callees]]) {
      if (this.graphs[which].tree !== tree) this.zooms[which] = 0;
      this.graphs[which].show({ tree, look: app.look(tree), up: which === "callers", zoomed: this.zooms[which] });
      byId(which).style.flexGrow = String(Math.min(30, Math.max(8, this.graphs[which].rows)));
      byId(which).style.minHeight = `${ROW * Math.min(5, this.graphs[which].rows) + HEADING}px`;
    }
    const figures = profile.groups > 1 ? ["old", "new"] : [""];
    byId("sandwich-title").replaceChildren(focus >= 0 ? name(profile.names[focus].slice(0, 2000)) : "No function was chosen: take one of the table.");
    byId("sandwich-figures").textContent = focus < 0 ? "" : figures.map((title, g) =>
      `${title} self ${figure(app.tally.self[g][focus], app.unit)} (${percent(app.tally.self[g][focus], app.weights.all[g])}), ` +
      `total ${figure(app.tally.total[g][focus], app.unit)} (${percent(app.tally.total[g][focus], app.weights.all[g])})`.trim()).join("; ").trim();
  }

  #showTools() {
    const { app, profile } = this;
    const { state } = app;
    if (byId("search").value !== state.search) byId("search").value = state.search;
    byId("regex").setAttribute("aria-pressed", String(state.regex));
    byId("search").setAttribute("aria-invalid", String(app.searchError !== ""));
    byId("matched").textContent = app.searchError ? "not an expression" : app.matched
      ? app.matched.map((v, g) => percent(v, app.weights.all[g])).join(" → ") : "";
    byId("matched").title = app.searchError || "share of what has such a function anywhere in its stack";
    for (const [id, on] of [["roots", state.roots], ["tracks-on", state.tracks], ["memory-on", state.memory]]) byId(id).setAttribute("aria-pressed", String(on));
    this.#showTimeThread();
    this.tracks.show({ on: state.tracks && profile.threads.length > 1, type: state.type, chosen: state.threads, values: app.threadValues, ink: app.ink });
    byId("collapse").setAttribute("aria-pressed", String(state.collapsed));
    const hidden = state.hidden.functions.length + state.hidden.modules.length;
    byId("unhide").hidden = hidden === 0;
    byId("unhide").textContent = `${hidden} hidden ✕`;
    byId("unhide").setAttribute("aria-label", `${hidden} hidden: show all`);
    byId("inverted").textContent = state.inverted ? "Bottom up" : "Top down";
    byId("up").textContent = state.up ? "Flame ↑" : "Icicle ↓";
    byId("shares").setAttribute("aria-pressed", String(state.shares));
    byId("value").value = String(state.type);
    byId("colour").value = state.colour;
    const sum = app.weights.all;
    byId("sum").textContent = sum.map((v, g) => (profile.groups > 1 ? ["old ", "new "][g] : "") + figure(v, app.unit)).join(", ");
    this.threads.show({ chosen: state.threads, values: app.threadValues, unit: app.unit });
    const isTime = app.unit === "nanoseconds";
    const { time } = profile;
    byId("time").hidden = !app.isLevel && (time.values[state.type] === null || time.at.length === 0);
    const memory = app.isLevel && app.unit === "bytes" && !state.threads && state.memory ? time.memory : null;
    showMemoryLegend(memory, time, app.ink);
    this.timeline.show({
      memory,
      series: app.series,
      seriesStep: app.seriesStep,
      from: state.from,
      to: state.to,
      perStep: isTime ? time.step : 0,
      of: profile.types[state.type].type === "cpu" ? "CPUs" : "threads",
      level: app.isLevel,
      unit: app.unit,
      grown: time.changes.includes(state.type),
      peaks: app.isLevel && !state.threads ? time.live.map((l) => ({ at: l.peak.at, value: app.unit === "bytes" ? l.peak.bytes : l.peak.blocks })) : [],
      ink: app.ink,
    });
    byId("theme").setAttribute("aria-label", app.theme === "dark" ? "Light colours" : "Dark colours");
    this.#showLegend();
  }

  /** Which thread is shown in the order of time, and the others. */
  #showTimeThread() {
    const { app, profile } = this;
    const all = app.state.view === "time" ? app.timeThreads.slice(0, THREADS_MAX) : [];
    byId("time-thread").hidden = all.length === 0;
    byId("thread-before").hidden = byId("thread-next").hidden = all.length < 2;
    if (all.length === 0) return;
    const { thread } = app.timeTree();
    const shown = all.includes(thread) ? all : [thread, ...all];
    byId("thread-shown").replaceChildren(...shown.map((i) =>
      element("option", { value: String(i), text: `${profile.threads[i].name} ${profile.threads[i].tid}, ${figure(app.threadValues[i], app.unit)}` })));
    byId("thread-shown").value = String(thread);
  }

  /** Another thread in the order of time. */
  nextThread(way) {
    const all = this.app.timeThreads;
    if (this.app.state.view !== "time" || all.length < 2) return;
    const at = all.indexOf(this.app.timeTree().thread);
    this.app.set({ timeThread: all[(at + way + all.length) % all.length] });
  }

  /** A page without samples says so, and what is missing. */
  #showNothing() {
    const { app } = this;
    const counted = app.isCounted;
    byId("nothing").hidden = counted;
    if (counted) return;
    const why = app.state.threads || app.state.to !== null ? "The chosen threads and times have no samples."
      : app.state.hidden.functions.length + app.state.hidden.modules.length > 0 ? "All functions are hidden." : "This recording has no samples.";
    byId("nothing").textContent = why;
  }

  #showLegend() {
    const { app, profile } = this;
    const mark = (colour) => swatch(colour);
    if (profile.groups > 1 && app.state.colour === "change") {
      const texts = [[-0.8, "less than before"], [0, "as before"], [0.8, "more than before"]];
      byId("legend").replaceChildren(...texts.map(([change, text]) => element("li", {}, mark(changeColour(change, app.theme)), name(text))));
    } else
      byId("legend").replaceChildren(...app.legend.map((l) => {
        const only = app.state.only === l.name;
        return element("li", {}, element("button", { type: "button", class: "flat", "aria-pressed": String(only), title: only ? "Show all" : `Show ${l.name.slice(0, 80)} alone`,
          onclick: () => app.set({ only: only ? "" : l.name }) },
          mark(l.colour), name(l.name.slice(0, 80)), element("span", { class: "quiet", text: percent(l.share, 1) })));
      }));
    const { scrollWidth, clientWidth } = byId("legend");
    byId("legend-more").hidden = scrollWidth <= clientWidth && byId("legend-more").getAttribute("aria-expanded") !== "true";
  }

  /** The way back to the outermost frames, where the graph begins behind them. */
  #showAbove() {
    const { view } = this.app.state;
    const hidden = view === "flame" || view === "callers" || view === "time" ? this.graphs.main.rowsAbove : 0;
    byId("above").hidden = hidden === 0;
    byId("above").textContent = `${this.app.state.up ? "↓" : "↑"} ${hidden} outer row${hidden > 1 ? "s" : ""}`;
  }

  #showTrail(tree) {
    const box = byId("trail");
    this.#showAbove();
    if (!tree || this.app.trail(tree).length < 2) return box.replaceChildren();
    const trail = this.app.trail(tree);
    box.replaceChildren(...trail.map((frame, i) => {
      const key = tree.frames.key[frame];
      const text = key < 0 ? "All" : this.profile.names[key].slice(0, 200);
      const last = i === trail.length - 1;
      return element("li", {}, element("button", { type: "button", "aria-current": last ? "true" : undefined, title: text, onclick: () => this.app.zoomTo(tree, frame) }, name(text)));
    }));
  }
}

/** The page is a global: for tests, and for the browser's console. */
async function main() {
  try {
    const begin = performance.now();
    const profile = await loadProfile(byId("data"));
    document.body.classList.remove("loading");
    byId("loading").remove();
    globalThis.sfbPage = new Page(profile);
    requestAnimationFrame(() => (globalThis.sfbPage.firstPicture = performance.now() - begin));
  } catch (error) {
    (byId("loading") ?? byId("title")).textContent = `This page cannot show its data: ${error.message}`;
    throw error;
  }
}

main();
