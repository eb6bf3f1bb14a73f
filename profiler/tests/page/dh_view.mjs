// The DHAT files of sfb report in valgrind's own viewer: dh_view.mjs SFB RECORDINGS VIEWER.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, settle } from "./chromium.mjs";
import { run } from "./figures.mjs";

const [sfb, recordings, viewer] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "sfb-dhat-"));
const browser = await launch();

/** The viewer's text of a recording's file. */
async function shown(kind) {
  const at = (name) => join(folder, `${kind}.${name}`);
  run(recordings, kind, at("sfbr"));
  run(sfb, "report", "--dhat", at("json"), at("sfbr"));
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(pathToFileURL(viewer).href);
  await page.waitForSelector("input[type=file]");
  await (await page.$("input[type=file]")).uploadFile(at("json"));
  await page.waitForFunction(() => document.body.innerText.includes("At t-end"));
  await settle(page);
  const text = await page.evaluate(() => document.body.innerText);
  assert.deepEqual(complaints, []);
  await page.close();
  return text;
}

try {
  for (const kind of ["heap", "sums"]) {
    const text = await shown(kind);
    // The program, then its sites: what recordings.c has.
    for (const line of [
      /Command: \.\/program <b>argument<\/b>\n/,
      /Total: {5}7,700 bytes \(100%.*\) in 20 blocks/,
      /At t-gmax: 6,000 bytes \(100%\) in 15 blocks/,
      /At t-end: {2}4,600 bytes \(100%\) in 16 blocks/,
      /Total: {5}5,000 bytes \(64\.94%.*\) in 5 blocks/,
      /Max: {7}5,000 bytes in 5 blocks/,
      /read/,
      /sort<int>/,
    ])
      assert.match(text, line, `${kind}: ${text}`);
  }
  console.log("ok dh_view shows what was recorded");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
