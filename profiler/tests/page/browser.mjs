// The page in Chromium: its figures are those of the text reports, each thing that it can do is done by hand and by key,
// no name is more than text, and nothing is asked of a network. browser.mjs SFB RECORDINGS.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, settle } from "./chromium.mjs";
import { foldedLines, functionsOf, pageFunctions, run, sum } from "./figures.mjs";

const [sfb, recordings] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "sfb-page-"));
const at = (name) => join(folder, name);
const MS = 1e6;

function record(kind) {
  run(recordings, kind, at(`${kind}.sfbr`));
  run(sfb, "report", "--html", at(`${kind}.html`), at(`${kind}.sfbr`));
}

const text = (page, id) => page.$eval(`#${id}`, (element) => element.textContent);
const state = (page) => page.evaluate(() => ({ ...sfbPage.app.state }));
const selected = (page) => page.evaluate(() => {
  const graph = sfbPage.activeGraph;
  return graph.selected < 0 ? "" : graph.look.label(graph.selected);
});

/** Where the widest frame of a function is, in the window. */
function placeOf(page, name, graph = "main") {
  return page.evaluate((wanted, which) => {
    const { tree, canvas } = sfbPage.graphs[which];
    const box = canvas.getBoundingClientRect();
    for (let y = 10; y < box.height; y += 20)
      for (let x = 3; x < box.width; x += 5) {
        const frame = sfbPage.graphs[which].frameAt(box.left + x, box.top + y);
        const key = frame < 0 ? -1 : tree.frames.key[frame];
        if (key >= 0 && sfbPage.profile.names[key] === wanted) return [box.left + x, box.top + y];
      }
    return null;
  }, name, graph);
}

async function clickOn(page, name, graph) {
  const place = await placeOf(page, name, graph);
  assert.ok(place, `no frame of ${name} in sight`);
  await page.mouse.click(...place);
  await settle(page);
}

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await settle(page);
}

/** Names of a tree's frames, row by row, as they stand. */
const rowNames = (page, graph = "main") => page.evaluate((which) => {
  const { tree } = sfbPage.graphs[which];
  const rows = [];
  let row = [0];
  while (row.length > 0) {
    rows.push(row.map((f) => (tree.frames.key[f] < 0 ? "all" : sfbPage.profile.names[tree.frames.key[f]])));
    row = row.flatMap((f) => Array.from({ length: tree.childCount(f) }, (_, i) => tree.frames.first[f] + i));
  }
  return rows;
}, graph);

// --- Tests ----------------------------------------------------------------------------------------

/** Each with a page of its own. */
const onOnePage = {
  async "figures are those of the folded stacks"(page) {
    for (const [type, option] of [[1, "--folded-ns"], [0, "--folded"]]) {
      const lines = foldedLines(run(sfb, "report", option, at("old.sfbr")));
      await page.evaluate((t) => sfbPage.app.set({ type: t }), type);
      assert.deepEqual(await pageFunctions(page), functionsOf(lines), option);
      assert.equal(await page.evaluate(() => sfbPage.app.weights.all[0]), sum(lines));
      assert.equal(await page.evaluate(() => sfbPage.foldedText()), run(sfb, "report", option, at("old.sfbr")));
    }
  },

  async "the first lines are those of the terminal"(page) {
    const lines = run(sfb, "report", at("old.sfbr")).split("\n\n")[0].split("\n").map((line) => line.trim());
    const shown = await page.$$eval("#title div, #facts li", (all) => all.map((e) => e.textContent));
    for (const line of lines.filter(Boolean)) assert.ok(shown.includes(line), line);
    const missing = await page.$$eval("#facts .missing", (all) => all.map((e) => e.textContent));
    assert.ok(missing.some((line) => /never sampled/.test(line)) && missing.some((line) => /^lost: 7/.test(line)), String(missing));
    assert.ok(!missing.some((line) => /^(recorded|CPU time)/.test(line)), String(missing));
  },

  async "facts are one line that unfolds"(page) {
    assert.ok(await page.$eval("#facts", (e) => e.hidden));
    assert.match(await text(page, "facts-line"), /^CPU time 0\.145 s/);
    assert.match(await text(page, "facts-missing"), /^\d warnings?$/);
    await press(page, "a");
    assert.ok(await page.$eval("#facts", (e) => !e.hidden && e.clientHeight >= e.scrollHeight), "all of it is in sight");
    await page.click("#facts-more");
    assert.ok(await page.$eval("#facts", (e) => e.hidden));
  },

  async "the graph has stacks from the root on, the widest first"(page) {
    const rows = await rowNames(page);
    assert.deepEqual(rows.slice(0, 4), [["all"], ["main", "[unsampled]", "[truncated]"], ["work(int; char)", "read", "sort<int>"], ["sort<int>", "fib"]]);
    assert.ok(await page.evaluate(() => sfbPage.graphs.main.drawn.labels >= 6));
  },

  async "zoom by mouse, trail, back, and the browser's back"(page) {
    await clickOn(page, "work(int; char)");
    await clickOn(page, "fib");
    assert.deepEqual(await page.$$eval("#trail button", (all) => all.map((e) => e.textContent)), ["All", "work(int; char)", "fib"]);
    const range = await page.evaluate(() => sfbPage.graphs.main.range);
    assert.equal(range.to - range.from, 40 * MS);
    assert.equal(await page.evaluate(() => sfbPage.foldedText()),
      "main;main;work(int: char);fib;fib;fib 30000000\nwörker;main;work(int: char);fib;fib;fib 10000000\n");
    await press(page, "Escape");
    assert.equal(await page.$$eval("#trail button", (all) => all.length), 2);
    await page.goBack();
    await settle(page);
    assert.equal(await page.$$eval("#trail button", (all) => all.length), 3);
    await page.$$eval("#trail button", (all) => all[0].click());
    await settle(page);
    assert.equal((await state(page)).zoom, null);
  },

  async "hands: drag, wheel, and a finger, which cannot hover"(page) {
    const range = () => page.evaluate(() => ({ ...sfbPage.graphs.main.range }));
    await page.mouse.move(...(await placeOf(page, "work(int; char)")));
    await page.keyboard.down("Control");
    await page.mouse.wheel({ deltaY: -300 });
    await page.keyboard.up("Control");
    await settle(page);
    const near = await range();
    assert.ok(near.to - near.from < 100 * MS, `${near.to - near.from}`);
    const [x, y] = await placeOf(page, "work(int; char)");
    await page.mouse.move(x + 300, y);
    await page.mouse.down();
    await page.mouse.move(x + 100, y, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const moved = await range();
    assert.ok(moved.from > near.from && Math.abs(moved.to - moved.from - near.to + near.from) < 1, JSON.stringify([near, moved]));
    assert.equal((await state(page)).zoom, null, "a drag is no click");
    await press(page, "Escape");
    await page.waitForFunction(() => sfbPage.graphs.main.range.from === 0);
    const at = await placeOf(page, "work(int; char)");
    await page.touchscreen.tap(...at);
    await settle(page);
    assert.deepEqual([await selected(page), (await state(page)).zoom], ["work(int; char)", null]);
    assert.match(await text(page, "frame"), /work\(int; char\).*Frame total 100 ms/);
    await page.touchscreen.tap(...(await placeOf(page, "work(int; char)")));
    await settle(page);
    assert.equal((await state(page)).zoom?.depths[0], 2);
  },

  async "the keyboard goes from frame to frame, zooms and goes back"(page) {
    await page.focus(".graph");
    await press(page, "ArrowDown", "ArrowDown");
    assert.equal(await selected(page), "main");
    await press(page, "ArrowDown");
    assert.equal(await selected(page), "work(int; char)");
    await press(page, "ArrowRight");
    assert.equal(await selected(page), "read");
    await press(page, "ArrowLeft", "Enter");
    assert.equal((await page.$$eval("#trail button", (all) => all.at(-1).textContent)), "work(int; char)");
    await page.waitForFunction(() => document.getElementById("spoken").textContent.startsWith("work(int; char)"));
    await press(page, "o", "ArrowUp");
    assert.equal(await selected(page), "sort<int>");
    await press(page, "Home", "o");
    assert.deepEqual([(await state(page)).zoom, (await state(page)).up], [null, false]);
    await press(page, "+", "+");
    assert.ok(await page.evaluate(() => sfbPage.graphs.main.range.to - sfbPage.graphs.main.range.from < 60e6));
    await press(page, "Escape");
    await page.waitForFunction(() => sfbPage.graphs.main.range.to === sfbPage.graphs.main.tree.frames.width[0]);
    await press(page, "3");
    assert.equal((await state(page)).view, "functions");
    await press(page, "ArrowDown", "Enter");
    assert.deepEqual([(await state(page)).view, await text(page, "sandwich-title")], ["sandwich", "fib"]);
    await press(page, "1", "h");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Filter threads");
    await press(page, "Escape", "g", "ArrowRight");
    assert.notEqual((await state(page)).to, null);
    await press(page, "Escape", "/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "search");
    await press(page, "Escape", "v");
    assert.equal((await state(page)).type, 0);
    await press(page, "v", "m");
    assert.deepEqual([(await state(page)).type, (await state(page)).colour], [1, "kind"]);
    await press(page, "m", "d");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await press(page, "?");
    assert.ok(await page.$eval("#help-box", (box) => box.open));
    const listed = await page.$$eval("#help-keys kbd", (all) => all.length);
    assert.ok(listed >= 30, `${listed} keys`);
    await press(page, "Escape", "d");
    assert.deepEqual(await page.$eval("#help-box", (box) => box.open), false);
  },

  async "search by text and by expression, with the share"(page) {
    await page.type("#search", "FIB".toLowerCase());
    await settle(page);
    assert.equal(await text(page, "matched"), "27.59 %"); // 40 of 145 ms
    await press(page, "Enter");
    assert.equal(await selected(page), "fib");
    await page.$eval("#search", (e) => (e.value = ""));
    await page.type("#search", "^(read|sort)");
    await settle(page);
    assert.equal(await text(page, "matched"), "0.00 %");
    await page.click("#regex");
    await settle(page);
    assert.equal(await text(page, "matched"), "58.62 %"); // 85 of 145 ms
    await page.type("#search", "(");
    await settle(page);
    assert.equal(await text(page, "matched"), "not an expression");
    assert.equal(await page.$eval("#search", (e) => e.getAttribute("aria-invalid")), "true");
    await press(page, "Escape");
    assert.equal(await text(page, "matched"), "");
    await page.click("#regex");
  },

  async "search: how many, the one before and the next"(page) {
    await page.type("#search", "fib");
    await settle(page);
    assert.equal(await text(page, "found"), "1 function");
    await page.click("#hit-next");
    await settle(page);
    assert.match(await text(page, "found"), /^1 of \d+$/);
    const first = await selected(page);
    await page.click("#hit-next");
    await page.click("#hit-before");
    await settle(page);
    assert.deepEqual([await selected(page), await text(page, "found")], [first, await text(page, "found")]);
    await press(page, "Escape");
    assert.ok(await page.$eval("#hits", (e) => e.hidden));
  },

  async "the legend has every colour, and shows one alone"(page) {
    const colours = await page.evaluate(() => {
      const shown = new Set([...document.querySelectorAll("#legend .mark")].map((e) => e.style.background));
      const probe = document.createElement("i");
      const near = (c) => ((probe.style.background = c), probe.style.background);
      return sfbPage.app.legend.every((l) => shown.has(near(l.colour))) && sfbPage.app.entries.length === sfbPage.profile.names.length;
    });
    assert.ok(colours);
    await page.click("#legend li:first-child button");
    await settle(page);
    const only = (await state(page)).only;
    assert.ok(only !== "" && (await text(page, "matched")) !== "");
    await press(page, "3");
    const modules = await page.$$eval("#panel-functions .row .module", (all) => [...new Set(all.map((e) => e.textContent))]);
    assert.deepEqual(modules.map((m) => m || "no module"), [only]);
    await page.click("#legend li:first-child button");
    await press(page, "1");
    assert.equal((await state(page)).only, "");
  },

  async "hidden functions' time is their callers', and a recursion is one frame"(page) {
    await clickOn(page, "work(int; char)");
    await press(page, "Home", "x");
    assert.deepEqual((await rowNames(page)).slice(1, 3), [["main", "[unsampled]", "[truncated]"], ["sort<int>", "fib", "read", "sort<int>"]]);
    assert.match(await text(page, "unhide"), /^1 hidden/);
    assert.match(await page.evaluate(() => location.hash), /hide=work/);
    assert.match(await page.evaluate(() => sfbPage.foldedText()), /main;main;sort<int> /);
    await page.click("#unhide");
    await settle(page);
    assert.equal((await rowNames(page)).length, 6);
    await press(page, "y");
    assert.equal((await rowNames(page)).length, 4);
    assert.equal(await page.$eval("#collapse", (e) => e.getAttribute("aria-pressed")), "true");
    await press(page, "y");
  },

  async "inverted: leaves first, then who called them"(page) {
    await press(page, "2");
    const widths = await page.evaluate(() => {
      const { frames, ...tree } = sfbPage.graphs.main.tree;
      return Array.from({ length: frames.count[0] }, (_, i) => [sfbPage.profile.names[frames.key[frames.first[0] + i]], frames.width[frames.first[0] + i] / 1e6]);
    });
    assert.deepEqual(Object.fromEntries(widths), { "sort<int>": 65, fib: 40, "[unsampled]": 20, read: 20 });
    await clickOn(page, "fib");
    assert.equal(sum(foldedLines(await page.evaluate(() => sfbPage.foldedText()))), 40 * MS);
    await press(page, "2");
    assert.equal((await state(page)).view, "flame");
  },

  async "sandwich: callers above, calls below, a recursion once"(page) {
    await press(page, "3");
    const row = await page.$$eval(".row", (rows) => rows.findIndex((r) => r.textContent.includes("fib")));
    await page.click(`#row-${row}`);
    await settle(page);
    assert.equal(await text(page, "sandwich-title"), "fib");
    assert.match(await text(page, "sandwich-figures"), /^self 40\.0 ms \(27\.59 %\), total 40\.0 ms \(27\.59 %\)$/);
    assert.deepEqual(await rowNames(page, "callers"), [["fib"], ["work(int; char)"], ["main"]]);
    assert.deepEqual(await rowNames(page, "callees"), [["fib"], ["fib"], ["fib"]]);
    await clickOn(page, "main", "callers");
    assert.equal(sum(foldedLines(await page.evaluate(() => sfbPage.foldedText()))), 40 * MS);
    await press(page, "1");
  },

  async "table: sorted, the other way round, filtered"(page) {
    await press(page, "3");
    const names = () => page.$$eval(".row .name", (all) => all.map((e) => e.textContent));
    const self = (await names()).slice(0, 2);
    assert.deepEqual(self, ["sort<int>", "fib"]);
    assert.equal(await page.$eval(".row .self", (e) => e.textContent), "44.83 %");
    await page.click('[data-sort="total"]');
    assert.deepEqual((await names()).slice(0, 2), ["main", "work(int; char)"]);
    assert.equal(await page.$eval('[role=columnheader].total', (e) => e.getAttribute("aria-sort")), "descending");
    await page.click('[data-sort="name"]');
    const sorted = await names();
    assert.deepEqual(sorted, [...sorted].sort().reverse());
    await page.click('[data-sort="name"]');
    assert.deepEqual(await names(), [...sorted].sort());
    await page.type("#search", "sort");
    await settle(page);
    assert.deepEqual(await names(), ["sort<int>"]);
    await press(page, "Escape");
    await page.click('[data-sort="self"]');
    await press(page, "1");
  },

  async "call tree: opens, closes, goes in and out, alone, from both ends"(page) {
    await press(page, "5");
    const rows = () => page.$$eval("#panel-tree .row", (all) => all.map((r) => `${r.getAttribute("aria-level")} ${r.querySelector("bdi").textContent} ${r.children[0].textContent}`));
    assert.deepEqual(await rows(), ["1 main 82.76 %", "1 [unsampled] 13.79 %", "1 [truncated] 3.45 %"]);
    const active = () => page.$eval("#panel-tree .row.active", (r) => r.querySelector("bdi").textContent);
    await press(page, "ArrowRight", "ArrowRight", "ArrowRight");
    assert.equal(await active(), "work(int; char)");
    assert.equal(await page.$eval("#panel-tree .row.active", (r) => r.getAttribute("aria-expanded")), "true");
    assert.match(await text(page, "frame"), /work\(int; char\).*Frame total 100 ms/);
    await press(page, "ArrowLeft", "ArrowLeft");
    assert.equal(await active(), "main");
    await press(page, "*");
    const all = await rows();
    assert.ok(all.some((r) => /^5 fib /.test(r)), all.join("\n"));
    assert.deepEqual(all.slice(0, 3).map((r) => r.replace(/^\d+ | [\d.]+ %$/g, "")), ["main", "work(int; char)", "sort<int>"]);
    await press(page, "ArrowDown", "Enter");
    assert.deepEqual(await page.$$eval("#trail button", (buttons) => buttons.map((e) => e.textContent)), ["All", "work(int; char)"]);
    assert.equal((await rows())[0], "1 work(int; char) 68.97 %");
    await page.evaluate(() => (navigator.clipboard.writeText = async (what) => (globalThis.copied = what)));
    await press(page, "c");
    assert.match(await page.evaluate(() => globalThis.copied), /^ +68\.97 %  +100 ms  work\(int; char\)\n +41\.38 %  +60\.0 ms    sort<int>\n/);
    await press(page, "Escape", "b");
    assert.equal((await state(page)).inverted, true);
    assert.deepEqual((await rows()).slice(0, 2), ["1 sort<int> 44.83 %", "1 fib 27.59 %"]);
    await press(page, "ArrowRight", "ArrowRight");
    assert.equal(await active(), "work(int; char)");
    await press(page, "s");
    assert.equal(await text(page, "sandwich-title"), "work(int; char)");
    await press(page, "1");
  },

  async "time order: the busiest thread, or the chosen one; tracks of all"(page) {
    await press(page, "6");
    const shownThread = () => page.$eval("#thread-shown", (e) => e.selectedOptions[0].textContent);
    assert.equal(await shownThread(), "main 201, 90.0 ms");
    await press(page, "]");
    assert.equal(await shownThread(), "wörker 202, 55.0 ms");
    const { timeThread } = await state(page);
    assert.equal(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("time-thread")), "wörker#202.0");
    assert.equal(await page.evaluate(() => sfbPage.graphs.main.tree.thread), timeThread);
    await page.select("#thread-shown", "0");
    await settle(page);
    assert.equal(await shownThread(), "main 201, 90.0 ms");
    const rows = await rowNames(page);
    assert.deepEqual(rows[1], [...rows[1]].fill("main"), "main is at the root of each stack");
    assert.ok(rows[3].includes("fib") && rows[3].includes("sort<int>"));
    assert.equal(await page.evaluate(() => sfbPage.graphs.main.tree.frames.old[0]), await page.evaluate(() => sfbPage.app.threadValues[0]));
    const [x, y] = await page.evaluate(() => {
      const { tree, canvas } = sfbPage.graphs.main;
      const box = canvas.getBoundingClientRect();
      const frame = tree.frames.first[0];
      return [box.left + ((tree.frames.start[frame] + tree.frames.width[frame] / 2) / tree.frames.width[0]) * box.width, box.top + 30];
    });
    await page.mouse.click(x, y);
    await settle(page);
    assert.equal(await page.evaluate(() => sfbPage.graphs.main.zoomed), await page.evaluate(() => sfbPage.graphs.main.tree.frames.first[0]));
    // What is copied and saved is that of the thread, and of the zoomed frame's steps.
    const [own, zoomedLines] = await page.evaluate(() => {
      const { tree, zoomed } = sfbPage.graphs.main;
      return [tree.frames.old[zoomed], sfbPage.foldedText()];
    });
    assert.equal(sum(foldedLines(zoomedLines)), own);
    await press(page, "Escape");
    assert.equal(await page.evaluate(() => sfbPage.foldedText()), run(sfb, "report", "--folded-ns", "--thread", "main", at("old.sfbr")).split("\n").filter((line) => !line.includes("[unsampled]")).join("\n"));
    const figures = await page.evaluate(() => [...sfbPage.svg().matchAll(/<title>([^<]*): ([\d.]+ ms), ([\d.]+ %)/g)].map(([, name, value, part]) => [name, value, part]));
    const all = await page.evaluate(() => sfbPage.graphs.main.tree.frames.old[0] / 1e6);
    assert.deepEqual(figures[0], ["all", `${all.toPrecision(3)} ms`, `${((100 * all) / 145).toFixed(2)} %`]);
    await press(page, "k");
    const [height, tall] = await page.$eval("#tracks canvas", (e) => [e.clientHeight, e.closest("#tracks").hidden]);
    assert.deepEqual([height, tall], [36, false], "two threads");
    const box = await (await page.$("#tracks canvas")).boundingBox();
    await page.mouse.click(box.x + 300, box.y + 27);
    await settle(page);
    assert.match(await shownThread(), /^wörker 202,/);
    await page.mouse.click(box.x + 300, box.y + 27);
    await press(page, "k", "1");
    await page.evaluate(() => sfbPage.app.set({ timeThread: -1 }));
    assert.equal((await state(page)).threads, null);
  },

  async "one thread, as --thread has it"(page) {
    await page.click("#threads");
    await page.click('[data-only="1"]');
    await settle(page);
    const want = run(sfb, "report", "--folded-ns", "--thread", "wörker", at("old.sfbr"));
    assert.deepEqual(await pageFunctions(page), functionsOf(foldedLines(want)));
    assert.equal(await text(page, "threads"), "Thread wörker");
    await page.click("#threads-all");
    await settle(page);
    assert.equal(await page.evaluate(() => sfbPage.app.weights.all[0]), 145 * MS);
    await press(page, "Escape");
  },

  async "a range of time, as --time has it"(page) {
    const box = await (await page.$("#timeline")).boundingBox();
    const x = (ms) => box.x + (ms / 501) * box.width;
    await page.mouse.move(x(150), box.y + 20);
    await page.mouse.down();
    await page.mouse.move(x(250), box.y + 20);
    await page.mouse.move(x(420), box.y + 20);
    await page.mouse.up();
    await settle(page);
    const { from, to } = await state(page);
    const step = await page.evaluate(() => sfbPage.profile.time.step);
    const seconds = (steps) => (steps * step) / 1e9;
    assert.ok(seconds(from) < 0.2 && seconds(to) > 0.4 && seconds(to) < 0.5, `${seconds(from)} to ${seconds(to)}`);
    const want = run(sfb, "report", "--folded-ns", "--time", `${seconds(from)}..${seconds(to)}`, at("old.sfbr"));
    assert.deepEqual(await pageFunctions(page), functionsOf(foldedLines(want)));
    assert.equal(sum(foldedLines(want)), 60 * MS);
    assert.match(await text(page, "time-label"), /^0\.1\d+ s to 0\.4\d+ s/);
    await page.click("#time-clear");
    await settle(page);
    assert.equal((await state(page)).to, null);
  },

  async "tooltip: function, figures, what it is"(page) {
    await page.mouse.move(...(await placeOf(page, "work(int; char)")));
    await settle(page);
    const tip = await text(page, "tooltip");
    for (const part of ["work(int; char)", "100 ms", "68.97 %", "Function total", "Frame self"]) assert.ok(tip.includes(part), tip);
    await page.mouse.move(...(await placeOf(page, "[unsampled]")));
    await settle(page);
    assert.match(await text(page, "tooltip"), /never sampled/);
    await page.mouse.move(5, 5);
    await settle(page);
    assert.ok(await page.$eval("#tooltip", (e) => e.hidden));
  },

  async "what is shown stands in the address, and a page that is opened with it shows that"(page, browser) {
    await clickOn(page, "work(int; char)");
    await clickOn(page, "fib");
    await page.evaluate(() => sfbPage.app.set({ threads: [0], search: "i", colour: "kind", up: true, theme: "dark" }));
    const [hash, want] = await page.evaluate(() => [location.hash.slice(1), sfbPage.foldedText()]);
    const other = await open(browser, at("old.html"), { hash });
    assert.deepEqual(await state(other), await state(page));
    assert.equal(await other.evaluate(() => sfbPage.foldedText()), want);
    assert.equal(await other.$$eval("#trail button", (all) => all.length), 3);
    assert.deepEqual(other.complaints, []);
    await other.close();
    const odd = await open(browser, at("old.html"), { hash: "view=%00&zoom=99999999:-1&zoom=AAAA.1&at=x&thread=x&time=5..1&value=7&function=1e9&hide=%3Cb%3E&only=x&search=%E2%80%AE" });
    assert.equal((await state(odd)).view, "flame");
    assert.deepEqual(odd.complaints, []);
    await odd.close();
    await page.evaluate(() => sfbPage.app.set({ threads: null, search: "", colour: "module", up: false, theme: "", zoom: null }));
    assert.equal(await page.evaluate(() => location.hash), "");
  },

  async "the graph is saved as SVG with its names, and as PNG"(page) {
    const svg = await page.evaluate(() => sfbPage.svg());
    const read = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return [parsed.querySelector("parsererror") === null, [...parsed.querySelectorAll("title")].map((e) => e.textContent)];
    }, svg);
    assert.ok(read[0]);
    for (const title of ["all: 145 ms, 100.00 %", "work(int; char): 100 ms, 68.97 %", "sort<int>: 60.0 ms, 41.38 %"]) assert.ok(read[1].includes(title), read[1].join("\n"));
    assert.match(svg, />sort&#60;int&#62;<\/text>/);
    await page.evaluate(() => {
      globalThis.saved = [];
      HTMLAnchorElement.prototype.click = function () { globalThis.saved.push(this.download); };
    });
    await page.click("#share");
    await page.click("#save-svg");
    await page.click("#save-png");
    await page.waitForFunction(() => globalThis.saved.length === 2);
    assert.deepEqual(await page.evaluate(() => globalThis.saved), ["flamegraph.svg", "flamegraph.png"]);
    await press(page, "Escape", "3");
    await page.click("#share");
    assert.deepEqual(await page.$$eval("#save-svg, #save-png", (all) => all.map((e) => e.hidden)), [true, true], "a table is no graph");
    await press(page, "Escape");
    await page.evaluate(() => sfbPage.openSandwich(sfbPage.profile.names.indexOf("sort<int>")));
    await settle(page);
    const both = await page.evaluate(() => [sfbPage.svg(), sfbPage.png().height, sfbPage.graphs.callers.canvas.height + sfbPage.graphs.callees.canvas.height]);
    assert.ok(both[1] === both[2] && both[0].match(/<title>sort&#60;int&#62;/g).length === 2, "callers and callees");
    await press(page, "1");
    assert.ok(await page.$eval("#share-box", (e) => e.hidden));
  },

  async "on paper: the facts, the graph and the colours' names, light, on one page"(page) {
    await page.evaluate(() => sfbPage.app.set({ theme: "dark" }));
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
    await page.emulateMediaType("print");
    assert.ok(await page.$eval("#facts", (e) => e.clientHeight > 20) && (await page.$eval(".tools", (e) => e.clientHeight === 0)));
    await page.emulateMediaType();
    const pdf = Buffer.from(await page.pdf({ format: "A4", landscape: true })).toString("latin1");
    assert.equal(pdf.match(/\/Type\s*\/Page[^s]/g).length, 1, "pages");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  },

  async "says where it was recorded, by what, and in which zone its times are"(page) {
    const facts = await page.$$eval("#facts li", (all) => all.map((e) => e.textContent));
    assert.ok(facts.some((f) => /^recorded by sfb .*, page by sfb \d+\.\d+\.\d+, times in UTC[+-]\d\d:\d\d$/.test(f)), facts.join("\n"));
    assert.ok(facts.some((f) => /^host: ./.test(f)), facts.join("\n"));
    assert.equal(await page.$("#loading"), null);
  },

  async "copies what is in sight"(page, browser) {
    await browser.defaultBrowserContext().overridePermissions("file:///", []).catch(() => {});
    await page.bringToFront();
    await page.evaluate(() => {
      globalThis.copied = null;
      navigator.clipboard.writeText = async (what) => (globalThis.copied = what);
    });
    await press(page, "c");
    assert.equal(await page.evaluate(() => globalThis.copied), run(sfb, "report", "--folded-ns", at("old.sfbr")));
    assert.match(await text(page, "toast"), /^Copied/);
  },

};

const onOthers = {
  async "a heap: each value is the recording's, with a time line of what lived"(browser) {
    record("heap");
    const page = await open(browser, at("heap.html"));
    // What recordings.c writes of each site: allocated, live, at the peak, temporary; blocks and bytes.
    const sites = [
      [["main", "main", "work(int: char)", "sort<int>"], 11, 1100, 10, 1000, 10, 1000, 1, 100],
      [["wörker", "main", "work(int: char)", "read"], 5, 5000, 2, 2000, 5, 5000, 0, 0],
      [["main", "main", "work(int: char)"], 4, 1600, 4, 1600, 0, 0, 0, 0],
    ];
    for (let type = 0; type < 8; type++) {
      const lines = sites.map(([stack, ...values]) => ({ stack, value: values[type] })).filter(({ value }) => value > 0);
      await page.evaluate((t) => sfbPage.setType(t), type);
      assert.deepEqual(await pageFunctions(page), functionsOf(lines), `value ${type}`);
      const words = ["--value", ["allocated", "live", "peak", "temporary"][type >> 1], ...(type % 2 ? [] : ["--blocks"])];
      assert.deepEqual(functionsOf(foldedLines(run(sfb, "report", "--folded", ...words, at("heap.sfbr")))), functionsOf(lines), words.join(" "));
    }
    assert.deepEqual(await page.$$eval("#value option", (all) => all.map((o) => o.textContent)).then((all) => all.slice(2, 5)), ["Live, blocks", "Live, bytes", "At the peak, blocks"]);
    await page.evaluate(() => sfbPage.setType(3));
    assert.match(await text(page, "time-label"), /^All 29\.0 s · peak 5\.86 KiB at 0\.300 s$/);
    const level = await page.evaluate(() => ({ step: sfbPage.app.seriesStep, series: [...sfbPage.app.series[0]] }));
    const at100 = (ms) => level.series[Math.floor((ms * MS) / level.step)];
    assert.deepEqual([0, 100, 300, 900, 1000, 1500, 2000].map(at100), [0, 1000, 6000, 6000, 6000, 3100, 4600]);
    // A range is growth, and the peak gives way to it.
    await page.evaluate(() => {
      sfbPage.setType(5);
      const { step } = sfbPage.profile.time;
      sfbPage.setTime(Math.floor(0.2e9 / step), Math.floor(1.2e9 / step));
    });
    assert.equal((await state(page)).type, 3);
    const grown = [{ stack: sites[1][0], value: 2000 }];
    assert.deepEqual(await pageFunctions(page), functionsOf(grown));
    assert.deepEqual(foldedLines(run(sfb, "report", "--folded", "--value", "live", "--time", "0.2..1.2", at("heap.sfbr"))), grown);
    assert.match(await text(page, "time-label"), /^0\.20* s to 1\.20* s, 1\.00 s: growth · peak/);
    await page.evaluate(() => sfbPage.setType(7));
    assert.equal((await state(page)).to, null, "times of what is temporary are not known");
    // Of a thread its own events are counted.
    await page.evaluate(() => sfbPage.setType(3));
    await page.evaluate(() => sfbPage.app.set({ threads: [1] }));
    assert.deepEqual(await page.evaluate(() => [Math.max(...sfbPage.app.series[0]), sfbPage.app.series[0].at(-1)]), [5000, 2000]);
    assert.doesNotMatch(await text(page, "time-label"), /peak/);
    assert.deepEqual(page.complaints, []);
    await page.close();
  },

  async "memory over time: the allocator's lines and the kernel's stand where the states say"(browser) {
    record("memory");
    const page = await open(browser, at("memory.html"));
    // What recordings.c writes: seconds, and KiB in use, held, resident; -1: not known, of one process or of both.
    const moments = [
      [0.2, -1, -1, -1], [0.7, -1, -1, 4096], [1.5, 3584, 4096, 6144], [3, 768, 4096, 6144], [5.2, -1, -1, -1], [7, -1, -1, 8192], [12, 768, 4096, 6144],
      [25, 640, 1024, 5120],
    ];
    const names = ["used", "held", "resident"];
    for (const [seconds, ...kib] of moments)
      assert.deepEqual(await page.evaluate((s, all) => {
        const { memory, liveStep } = sfbPage.profile.time;
        return all.map((n) => memory[n][Math.floor((s * 1e9) / liveStep)]);
      }, seconds, names), kib.map((k) => (k < 0 ? -1 : k * 1024)), `at ${seconds} s`);
    const rows = run(sfb, "report", "--memory-rows", at("memory.sfbr")).split("\n").filter(Boolean).map((line) => JSON.parse(line));
    assert.deepEqual(rows.map((row) => row.held_bytes ?? -1).filter((bytes) => bytes > 0), [4096, 4096, 1024].map((k) => k * 1024), "as the rows have it");
    // Each line is on the canvas at the height of its value, and nowhere else: the colour of each pixel says whose it is.
    const heights = (seconds) => page.evaluate((s, all) => {
      const canvas = document.querySelector("#timeline canvas");
      const { ink } = sfbPage.app;
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
      const dots = (colour) => {
        copy.fillStyle = colour;
        copy.fillRect(0, 0, 1, 1);
        return [...copy.getImageData(0, 0, 1, 1).data];
      };
      const colours = Object.fromEntries(all.map((n) => [n, dots(ink.memory[n])]));
      const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      const base = (canvas.clientHeight - 15) * devicePixelRatio;
      const from = Math.round((s / sfbPage.profile.time.step / sfbPage.profile.time.steps) * 1e9 * canvas.width);
      // Dashes have gaps: a few pixels to the right there is a line.
      copy.clearRect(0, 0, canvas.width, canvas.height);
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(from, 0, 9, base);
      const found = { used: [], held: [], resident: [] };
      for (let y = 0; y < base; y++)
        for (let x = 0; x < 9; x++) {
          const at = 4 * (y * 9 + x);
          const pixel = data.slice(at, at + 3);
          const whose = data[at + 3] === 255 ? all.find((n) => far(pixel, colours[n]) < 24) : undefined;
          if (whose) found[whose].push((base - y - 0.5) / devicePixelRatio);
        }
      return all.map((n) => (found[n].length === 0 ? -1 : found[n].sort((a, b) => a - b)[found[n].length >> 1]));
    }, seconds, names);
    const tall = await page.evaluate(() => document.querySelector("#timeline").clientHeight - 17);
    for (const [seconds, ...kib] of moments) {
      const seen = await heights(seconds);
      kib.forEach((k, i) => (k < 0 ? assert.equal(seen[i], -1, `${names[i]} at ${seconds} s`)
        : assert.ok(Math.abs(seen[i] - (k / 8192) * tall) < 1.6, `${names[i]} at ${seconds} s: ${seen[i]}, not ${(k / 8192) * tall}`)));
    }
    const legend = () => page.$$eval("#memory li", (all) => all.map((li) => li.textContent));
    assert.deepEqual(await legend(), ["live", "allocator in use, at most 3.50 MiB", "allocator holds, at most 4.00 MiB", "resident, at most 8.00 MiB",
      "most free: 3.25 MiB of 4.00 MiB at 2.000 s"]);
    // Off and on, by key and by hand, also in the address. Of blocks and of some threads it is not known.
    await press(page, "M");
    assert.deepEqual([await legend(), await heights(3)], [[], [-1, -1, -1]]);
    assert.match(await page.evaluate(() => location.hash), /memory=0/);
    await page.click("#memory-on");
    await settle(page);
    assert.ok((await heights(3)).every((y) => y > 0));
    await page.evaluate(() => sfbPage.setType(2));
    assert.deepEqual(await legend(), []);
    await page.evaluate(() => sfbPage.setType(3));
    await page.evaluate(() => sfbPage.app.set({ threads: [0] }));
    assert.deepEqual(await legend(), []);
    assert.deepEqual(page.complaints, []);
    await page.close();
  },

  async "sums of a heap: the time line is there, and no range of it"(browser) {
    record("sums");
    const page = await open(browser, at("sums.html"));
    assert.equal(await page.$eval("#time", (e) => e.hidden), false);
    assert.equal(await page.evaluate(() => Math.max(...sfbPage.app.series[0])), 6000);
    await page.focus("#timeline");
    await press(page, "ArrowRight");
    assert.equal((await state(page)).to, null);
    assert.match(await text(page, "toast"), /sums alone/);
    await page.evaluate(() => sfbPage.setType(1));
    assert.equal(await page.$eval("#time", (e) => e.hidden), true, "nobody knows when it was allocated");
    assert.deepEqual(page.complaints, []);
    await page.close();
  },

  async "a comparison: both figures, two colours, shares"(browser) {
    run(sfb, "report", "--html", at("diff.html"), "--diff", at("old.sfbr"), at("new.sfbr"));
    const page = await open(browser, at("diff.html"));
    for (const [group, kind] of [[0, "old"], [1, "new"]])
      assert.deepEqual(await pageFunctions(page, group), functionsOf(foldedLines(run(sfb, "report", "--folded-ns", at(`${kind}.sfbr`)))), kind);
    const colourOf = (name) => page.evaluate((wanted) => {
      const { tree, look } = sfbPage.graphs.main;
      const open = [0];
      for (const f of open) {
        if (tree.frames.key[f] >= 0 && sfbPage.profile.names[tree.frames.key[f]] === wanted) return look.colour(f);
        for (let i = 0; i < tree.childCount(f); i++) open.push(tree.frames.first[f] + i);
      }
      return null;
    }, name);
    const rgb = async (name) => /^#(..)(..)(..)$/.exec(await colourOf(name)).slice(1).map((h) => parseInt(h, 16));
    const [less, more, same] = [await rgb("read"), await rgb("fresh"), await rgb("fib")];
    assert.ok(less[2] > less[0] + 60, `gone is blue: ${less}`);
    assert.ok(more[0] > more[2] + 60, `fresh is orange: ${more}`);
    assert.ok(Math.max(...same) - Math.min(...same) < 16, `as before is grey: ${same}`);
    await page.mouse.move(...(await placeOf(page, "read")));
    await settle(page);
    assert.match(await text(page, "tooltip"), /Old.*New.*Change.*20\.0 ms \(13\.79 %\).*0 s \(0\.00 %\).*−20\.0 ms \(−13\.79\)/);
    await page.click("#shares");
    await settle(page);
    const [before, after] = await page.evaluate(() => sfbPage.app.weights.all.map((v, g) => v * sfbPage.app.weights.scale[g]));
    assert.ok(Math.abs(before - after) < 1);
    await press(page, "h");
    assert.deepEqual(await page.$$eval("#threads-box .item .quiet", (all) => all.map((e) => e.textContent).sort()),
      ["201, new", "201, old", "202, new", "202, old"]);
    await press(page, "Escape", "3");
    assert.equal(await page.$$eval('[role=columnheader]', (all) => all.map((e) => e.textContent.replace(/[▲▼]/, ""))).then((all) => all.join()),
      "Self old,Self new,Difference,%,Total old,Total new,Difference,%,Function,Module");
    await page.click("#shares");
    await settle(page);
    const cells = await page.$$eval(".row", (rows) => rows.map((r) => [...r.children].map((c) => c.textContent)).find((r) => r[8] === "read"));
    assert.deepEqual(cells.slice(0, 8), ["20.0 ms", "0 s", "−20.0 ms", "−13.79", "20.0 ms", "0 s", "−20.0 ms", "−13.79"]);
    const mark = await page.$$eval(".row", (rows) => getComputedStyle(rows.find((r) => r.children[8].textContent === "read").querySelector(".mark")).backgroundColor.match(/\d+/g).map(Number));
    assert.ok(mark[2] > mark[0] + 60, `a row's colour is its change's: ${mark}`);
    await page.click('[data-sort="selfOld"]');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    assert.equal((await state(page)).sort, "selfOld");
    assert.deepEqual(page.complaints, []);
    await page.close();
  },

  async "a recording without samples says so, and what is missing"(browser) {
    run(sfb, "record", "--force", "--engine", "timer", "-o", at("nothing.sfbr"), "--", "true");
    run(sfb, "report", "--html", at("nothing.html"), at("nothing.sfbr"));
    const page = await open(browser, at("nothing.html"));
    assert.equal(await page.$eval("#nothing", (e) => (e.hidden ? "" : e.textContent)), "This recording has no samples.");
    assert.ok(await page.$eval("#facts", (e) => !e.hidden));
    for (const view of ["callers", "functions", "tree", "time", "sandwich"]) await page.evaluate((v) => sfbPage.setView(v), view);
    assert.deepEqual(page.complaints, []);
    await page.close();
    const chosen = await open(browser, at("old.html"), { hash: "time=0..0.05" });
    assert.equal(await text(chosen, "nothing"), "The chosen threads and times have no samples.");
    await chosen.evaluate(() => sfbPage.app.set({ from: 0, to: null }));
    assert.ok(await chosen.$eval("#nothing", (e) => e.hidden));
    await chosen.close();
  },

  async "names are text, whatever they say"(browser) {
    record("hostile");
    const source = readFileSync(at("hostile.html"), "utf8");
    assert.equal(source.match(/<script/g).length, 2, "the data and the page's own");
    for (const hash of ["", "view=callers", "view=functions", "view=sandwich&function=main"]) {
      const page = await open(browser, at("hostile.html"), { hash });
      await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
      await page.click("#threads");
      await page.mouse.move(300, 400);
      await settle(page);
      assert.equal(await page.evaluate(() => typeof globalThis.hacked), "undefined");
      assert.equal(await page.$$eval("img, b, script:not([id])", (all) => all.filter((e) => e.localName !== "script" && !e.closest("dialog")).length), 0);
      assert.deepEqual(await pageFunctions(page), functionsOf(foldedLines(run(sfb, "report", "--folded-ns", at("hostile.sfbr")))));
      assert.ok(await page.evaluate(() => sfbPage.profile.names.every((n) => !/[\u202a-\u202e\u0000-\u001f]/.test(n))));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "a long name makes nothing wide");
      assert.deepEqual(page.complaints, []);
      await page.close();
    }
  },

  async "tracks by state; pauses and marks on the time line"(browser) {
    record("waits");
    for (const dark of [false, true]) {
      const page = await open(browser, at("waits.html"), { hash: "tracks=1", dark });
      const list = () => page.$$eval("#states li", (all) => all.map((e) => e.textContent));
      assert.deepEqual(await list(), ["running 100 ms", "runnable 300 ms", "lock (futex) 400 ms", "poll 400 ms", "sleep 300 ms", "disk 100 ms"]);
      const wakers = () => page.$$eval("#wakers li", (all) => all.map((e) => e.textContent));
      const tid = await page.evaluate(() => sfbPage.profile.threads[0].tid);
      const hostile = "<img src=x onerror=\"window.hacked = 4\"> 400 ms";
      assert.deepEqual(await wakers(), ["waits ended by", `main ${tid} 400 ms`, hostile, "interrupt 300 ms"]);
      await page.evaluate(() => sfbPage.app.set({ threads: [1] }));
      assert.deepEqual(await wakers(), ["waits ended by", `main ${tid} 400 ms`, hostile]);
      await page.evaluate(() => sfbPage.app.set({ threads: null }));
      const said = await page.$eval("#timeline", (e) => e.getAttribute("aria-valuetext"));
      assert.match(said, /not recorded, as asked for: 0\.2\d* s · marks: order sent at 0\.2\d* s, <img src=x onerror="window\.hacked = 3"> at 0\.8\d* s$/);
      // What stands in the middle of each part, of both threads: as many colours as there are states, and the stripes' ground.
      const colours = await page.evaluate(() => {
        const canvas = document.querySelector("#tracks canvas");
        const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const { step, steps } = sfbPage.profile.time;
        const at = (ms, row) => {
          const pixel = Math.round(((row * 18 + 12) / 36) * canvas.height) * width + Math.round(((ms * 1e6) / (step * steps)) * width);
          return data.subarray(4 * pixel, 4 * pixel + 4).join(" ");
        };
        return { sleep: at(300, 0), disk: at(650, 0), runnable: at(850, 0), lock: at(250, 1), lockLater: at(380, 1), poll: at(800, 1) };
      });
      assert.equal(new Set(Object.values(colours)).size, 5, JSON.stringify(colours));
      assert.equal(colours.lock, colours.lockLater);
      await press(page, "k");
      assert.ok(await page.$eval("#states", (e) => e.hidden) && await page.$eval("#wakers", (e) => e.hidden));
      assert.equal(await page.evaluate(() => typeof globalThis.hacked), "undefined");
      assert.deepEqual(page.complaints, []);
      await page.close();
    }
    const narrow = await open(browser, at("waits.html"), { hash: "tracks=1", width: 380, height: 720 });
    assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the list of states is no wider");
    await narrow.close();
  },

  async "of 900 x 600 pixels the graph has 70 %"(browser) {
    for (const file of ["old.html", "diff.html"]) {
      const page = await open(browser, at(file), { width: 900, height: 600 });
      const share = await page.$eval("#panel-graph", (e) => e.clientHeight / innerHeight);
      assert.ok(share >= 0.7, `${file}: ${share}`);
      await page.close();
    }
  },

  async "380 pixels are enough, light and dark"(browser) {
    for (const dark of [false, true])
      for (const view of ["flame", "callers", "functions", "sandwich", "tree"]) {
        const page = await open(browser, at("old.html"), { hash: `view=${view}&function=fib`, width: 380, height: 720, dark });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
        assert.ok(await page.$eval("main", (e) => e.clientHeight >= 160 && e.getBoundingClientRect().bottom <= innerHeight), view);
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), dark ? "dark" : "light");
        const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]);
        assert.ok(dark ? ground < 60 : ground > 200, String(ground));
        await page.close();
      }
  },

  async "at 200 % of 900 x 600 all is there, by scrolling"(browser) {
    for (const view of ["flame", "functions", "tree"]) {
      const page = await open(browser, at("old.html"), { width: 450, height: 300, hash: `view=${view}&search=fib` });
      await press(page, "a");
      const cut = await page.evaluate(() => {
        const outside = (e) => {
          const box = e.getBoundingClientRect();
          return box.right > innerWidth + 1 || box.bottom + scrollY > document.documentElement.scrollHeight + 1;
        };
        return [...document.querySelectorAll("header button, #facts, .choices > *, #search, #found, main, .legend")].filter((e) => e.offsetParent && outside(e)).map((e) => e.id || e.className);
      });
      assert.deepEqual(cut, [], view);
      assert.ok(await page.$eval("#legend", (e) => e.clientHeight > 0) && (await page.$eval("main", (e) => e.offsetHeight >= 160)), view);
      await page.close();
    }
  },

  async "a large page is packed, and says the same"(browser) {
    record("deep");
    const source = readFileSync(at("deep.html"), "utf8");
    assert.match(source, /<script id="data" type="application\/gzip;base64">/);
    const page = await open(browser, at("deep.html"));
    assert.deepEqual(await pageFunctions(page), functionsOf(foldedLines(run(sfb, "report", "--folded-ns", at("deep.sfbr")))));
    assert.equal(await page.evaluate(() => sfbPage.graphs.main.rows), 3001);
    // Stacks are of the same functions for 1,160 frames: it opens behind them, and leads back.
    assert.match(await text(page, "above"), /^↑ 115\d outer rows$/);
    await page.click("#above");
    await page.waitForFunction(() => sfbPage.graphs.main.element.scrollTop === 0 && document.getElementById("above").hidden);
    await page.evaluate(() => (sfbPage.graphs.main.element.scrollTop = 1e9));
    await settle(page);
    assert.ok(await page.evaluate(() => sfbPage.graphs.main.drawn.frames > 20), "the last rows are drawn");
    assert.deepEqual(page.complaints, []);
    await page.close();
  },

  async "the policy refuses what is not the page's own"(browser) {
    writeFileSync(at("injected.html"), readFileSync(at("old.html"), "utf8").replace("</body>", "<script>globalThis.hacked = 4</script><img src=\"http://127.0.0.1:9/x\"></body>"));
    const page = await open(browser, at("injected.html"));
    assert.equal(await page.evaluate(() => typeof globalThis.hacked), "undefined");
    assert.equal(await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => "sent", () => "refused")), "refused");
    assert.ok(page.complaints.length >= 2 && page.complaints.every((c) => /Content Security Policy|request: http:\/\/127\.0\.0\.1:9\/x/.test(c)), String(page.complaints));
    await page.close();
  },
};

let failed = 0;

async function judge(name, test) {
  const begin = performance.now();
  try {
    await test();
    console.log(`ok ${name} (${Math.round(performance.now() - begin)} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}

const browser = await launch();
try {
  record("old");
  run(recordings, "new", at("new.sfbr"));
  for (const [name, test] of Object.entries(onOnePage))
    await judge(name, async () => {
      const page = await open(browser, at("old.html"));
      await test(page, browser);
      assert.deepEqual(page.complaints, []);
      await page.close();
    });
  for (const [name, test] of Object.entries(onOthers)) await judge(name, () => test(browser));
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
process.exitCode = failed > 0 ? 1 : 0;
