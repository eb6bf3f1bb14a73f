// How fast the page is where there is much: 100,000 stacks, and stacks of 3,000 frames. speed.mjs SFB RECORDINGS.
//
// Judged is the processor time that the page's own thread takes for a picture while a hand drags and scrolls: 50 ms at
// most. The time from one picture to the next one depends on what else the machine does: it is printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, processorTime, settle } from "./chromium.mjs";

const [sfb, recordings] = process.argv.slice(2);
const LIMIT_MS = 50;
const folder = mkdtempSync(join(tmpdir(), "sfb-page-"));

/** Between pictures, in ms, while run() is under way. */
async function pictures(page, run) {
  await page.evaluate(() => {
    globalThis.between = [];
    let last = performance.now();
    const note = (now) => {
      if (globalThis.between === null) return;
      globalThis.between.push(now - last);
      last = now;
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  await run();
  return page.evaluate(() => {
    const { between } = globalThis;
    globalThis.between = null;
    return between.slice(1).sort((a, b) => a - b);
  });
}

function part(sorted, of) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))];
}

async function drag(page, from, to, steps) {
  await page.mouse.move(...from);
  await page.mouse.down();
  for (let i = 1; i <= steps; i++)
    await page.mouse.move(from[0] + ((to[0] - from[0]) * i) / steps, from[1] + ((to[1] - from[1]) * i) / steps);
  await page.mouse.up();
}

async function use(page) {
  await page.evaluate(() => sfbPage.graphs.main.zoomBy(0.2, 0.3));
  await drag(page, [1000, 500], [300, 450], 40);
  await drag(page, [300, 400], [1200, 700], 40);
  for (let i = 0; i < 40; i++) await page.mouse.wheel({ deltaY: i < 25 ? 150 : -120 });
}

/** @returns {Promise<number>} ms of what the page does, until it is drawn */
async function takes(page, what) {
  return page.evaluate(async (source) => {
    const begin = performance.now();
    new Function(source)();
    const done = performance.now();
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return [done - begin, performance.now() - begin].map((ms) => Math.round(ms));
  }, what);
}

async function measure(browser, kind) {
  const recording = join(folder, `${kind}.sfbr`);
  const html = join(folder, `${kind}.html`);
  execFileSync(recordings, [kind, recording]);
  execFileSync(sfb, ["report", "--html", html, recording]);
  let used;
  const page = await open(browser, html, { before: async (opened) => (used = await processorTime(opened)) });
  const work = await used();
  const [first, nodes, stacks] = await page.evaluate(() => [
    sfbPage.firstPicture,
    sfbPage.profile.nodes.place.length,
    new Set(sfbPage.profile.rows.node).size,
  ]);
  const rows = [["first picture", Math.round(first)], ["first picture, processor time", Math.round(work)]];
  const before = await used();
  const between = await pictures(page, () => use(page));
  const each = ((await used()) - before) / between.length;
  rows.push(["a picture, processor time", Math.round(each)]);
  rows.push([`dragging and scrolling, ${between.length} pictures, 95 % within`, Math.round(part(between, 0.95))], ["the slowest", Math.round(between.at(-1))]);
  const drawn = await page.evaluate(() => sfbPage.graphs.main.times.slice().sort((a, b) => a - b));
  rows.push([`drawing a picture, 95 % within`, Math.round(part(drawn, 0.95))]);
  const steps = {
    "zoom": "sfbPage.app.zoomTo(sfbPage.graphs.main.tree, sfbPage.graphs.main.tree.find(sfbPage.graphs.main.tree.path(sfbPage.graphs.main.tree.at(4, sfbPage.graphs.main.tree.frames.width[0] / 3))))",
    "search": "sfbPage.app.set({ search: '_1[0-9]*5', regex: true })",
    "inverted": "sfbPage.app.set({ search: '', regex: false }); sfbPage.setView('callers')",
    "table": "sfbPage.setView('functions')",
    "a range of time": "sfbPage.setView('flame'); sfbPage.app.set({ from: 100, to: 400 })",
  };
  for (const [name, source] of Object.entries(steps)) rows.push([name, (await takes(page, source))[1]]);
  process.stdout.write(`${kind}: ${stacks} stacks, ${nodes} nodes\n${rows.map(([name, ms]) => `  ${name}: ${ms} ms\n`).join("")}`);
  assert.deepEqual(page.complaints, []);
  await settle(page);
  await page.close();
  return { work, each, stacks };
}

/**
 * A fixed piece of work of the kind that a first picture is: text is parsed, collected and sorted. What it takes is the measure of
 * the machine, which is half as fast from one day to the next.
 * @returns {Promise<number>} the least processor time of three runs, in ms
 */
async function yardstick(browser) {
  const page = await browser.newPage();
  const used = await processorTime(page);
  const runs = [];
  for (let run = 0; run < 3; run++) {
    const before = await used();
    await page.evaluate(() => {
      const parsed = JSON.parse(JSON.stringify(Array.from({ length: 300000 }, (_, i) => ({ name: `f${(i * 7919) % 300000}`, at: i }))));
      const places = new Map(parsed.map(({ name, at }) => [name, at]));
      parsed.sort((a, b) => (a.name < b.name ? -1 : 1));
      return parsed.reduce((sum, { name }) => sum + places.get(name), 0);
    });
    runs.push((await used()) - before);
  }
  await page.close();
  return Math.min(...runs);
}

const browser = await launch();
try {
  const yard = await yardstick(browser);
  process.stdout.write(`yardstick: ${Math.round(yard)} ms\n`);
  const big = await measure(browser, "big");
  const deep = await measure(browser, "deep");
  assert.ok(big.stacks >= 90000, `${big.stacks} stacks`);
  for (const { work, each } of [big, deep]) {
    assert.ok(each < LIMIT_MS, `a picture takes ${each} ms of processor time`);
    // It was 0.5 to 0.6 of it on one machine, where it took 265 ms, and 1.0 to 1.4 on another, with 780 to 1,040 ms; twice that is allowed.
    assert.ok(work < 2.8 * yard, `the first picture takes ${work} ms of processor time, the yardstick ${yard}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
