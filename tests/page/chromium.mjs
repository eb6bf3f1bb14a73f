// Chromium without a window, and a page from disk whose every request and complaint is noted.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../page/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);

export function launch() {
  return puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/**
 * @returns {Promise<import("puppeteer-core").Page & {complaints: string[]}>} complaints: what was logged, thrown or
 *   asked of anything but the file itself
 */
export async function open(browser, file, { hash = "", width = 1400, height = 860, dark = false } = {}) {
  const page = await browser.newPage();
  const address = pathToFileURL(file).href;
  page.complaints = [];
  page.on("console", (message) => page.complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.message}`));
  page.on("request", (request) => request.url().split("#")[0] !== address && page.complaints.push(`request: ${request.url()}`));
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.goto(hash ? `${address}#${hash}` : address);
  await page.waitForFunction("globalThis.sfbPage?.firstPicture !== undefined");
  return page;
}

/** What was done is drawn. */
export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
