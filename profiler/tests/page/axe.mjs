// What axe-core finds in the page that hides it from readers with a screen reader, a keyboard or weak eyes: nothing serious, in any
// view, light and dark. axe.mjs SFB RECORDINGS.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, settle } from "./chromium.mjs";
import { run } from "./figures.mjs";

const [sfb, recordings] = process.argv.slice(2);
const axe = readFileSync(createRequire(new URL("../../page/package.json", import.meta.url)).resolve("axe-core/axe.min.js"), "utf8");
const LOOKED_AT = [
  ["waits", "flame", false], ["waits", "flame", true],
  ["one", "flame", false], ["one", "flame", true], ["one", "functions", true], ["one", "sandwich", false], ["one", "tree", false],
  ["diff", "functions", false], ["diff", "tree", true], ["heap", "flame", true],
];

/** @returns {Promise<string[]>} what is serious or worse */
async function findings(page) {
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations", "passes"] }));
  assert.ok(passes.length > 5, "axe ran");
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join("\n  ")}`);
}

const folder = mkdtempSync(join(tmpdir(), "sfb-axe-"));
const browser = await launch();
let failed = 0;
try {
  for (const kind of ["old", "new", "heap", "waits"]) run(recordings, kind, join(folder, `${kind}.sfbr`));
  run(sfb, "report", "--html", join(folder, "one.html"), join(folder, "old.sfbr"));
  run(sfb, "report", "--html", join(folder, "diff.html"), "--diff", join(folder, "old.sfbr"), join(folder, "new.sfbr"));
  run(sfb, "report", "--html", join(folder, "heap.html"), join(folder, "heap.sfbr"));
  run(sfb, "report", "--html", join(folder, "waits.html"), join(folder, "waits.sfbr"));
  for (const [file, view, dark] of LOOKED_AT) {
    const page = await open(browser, join(folder, `${file}.html`), { hash: `view=${view}&function=fib&search=sort&tracks=1`, dark });
    await page.keyboard.press("a"); // facts
    if (view === "flame") await page.keyboard.press("h"); // threads
    else await page.keyboard.press("ArrowDown");
    await settle(page);
    for (const finding of await findings(page)) {
      failed++;
      console.log(`FAILED ${file} ${view} ${dark ? "dark" : "light"}: ${finding}`);
    }
    await page.close();
  }
  const help = await open(browser, join(folder, "one.html"));
  await help.keyboard.press("?");
  await settle(help);
  for (const finding of await findings(help)) {
    failed++;
    console.log(`FAILED help: ${finding}`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
process.exitCode = failed > 0 ? 1 : 0;
