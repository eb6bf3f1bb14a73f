// Opens pages of 100,000 stacks and of stacks of 3,000 frames, and prints the median of what each step takes until it is drawn, and
// of the processor time of the page's thread: on a busy machine that alone says something.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, processorTime } from "../../tests/page/chromium.mjs";

const [sfb, recordings, runs] = process.argv.slice(2);
const VIEWS = ["callers", "functions", "sandwich", "tree", "time", "flame"];
const folder = mkdtempSync(join(tmpdir(), "sfb-page-"));

/** @returns {Promise<number>} ms of a step of the page, until it is drawn */
function takes(page, step, argument) {
  return page.evaluate(async (source, value) => {
    const run = new Function("value", source);
    const begin = performance.now();
    run(value);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    return performance.now() - begin;
  }, step, argument);
}

/** A frame as deep as there is one, on the widest way down. */
const ZOOM = `
  const { tree } = sfbPage.graphs.main;
  sfbPage.app.zoomTo(tree, globalThis.deepest);`;
const DEEPEST = `
  const { tree } = sfbPage.graphs.main;
  let frame = 0;
  while (tree.childCount(frame) > 0) frame = tree.frames.first[frame];
  globalThis.deepest = frame;`;

/** @returns {Promise<Record<string, [number, number]>>} by step: ms until it is drawn, ms of processor time */
async function measure(browser, file) {
  let used;
  const page = await open(browser, file, { before: async (blank) => (used = await processorTime(blank)) });
  const out = { "first picture": [await page.evaluate(() => sfbPage.firstPicture), await used()] };
  const step = async (name, source, argument) => {
    const before = await used();
    out[name] = [await takes(page, source, argument), (await used()) - before];
  };
  for (const view of VIEWS) await step(`view ${view}`, "sfbPage.setView(value)", view);
  await page.evaluate((source) => new Function(source)(), DEEPEST);
  await step("zoom to the deepest frame", ZOOM);
  await step("zoom back", "sfbPage.home()");
  await step("search", "sfbPage.app.set({ search: value })", "1");
  await page.close();
  return out;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

const browser = await launch();
try {
  for (const kind of ["big", "deep"]) {
    const recording = join(folder, `${kind}.sfbr`);
    const file = join(folder, `${kind}.html`);
    execFileSync(recordings, [kind, recording]);
    execFileSync(sfb, ["report", "--html", file, recording]);
    const all = [];
    for (let i = 0; i < Number(runs); i++) all.push(await measure(browser, file));
    console.log(`${kind}: ${(statSync(file).size / 1e6).toFixed(2)} MB; median of ${runs}`);
    for (const step of Object.keys(all[0])) {
      const [drawn, processor] = [0, 1].map((i) => median(all.map((run) => run[step][i])).toFixed(0).padStart(5));
      console.log(`  ${step.padEnd(26)} ${drawn} ms, processor ${processor} ms`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
