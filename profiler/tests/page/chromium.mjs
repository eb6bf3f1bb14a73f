// Chromium without a window, and a page from disk whose every request and complaint is noted.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../page/package.json", import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);

export function launch() {
  return puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/**
 * @param {(page: object) => Promise<void>} [options.before] what comes before the file is opened
 * @returns {Promise<import("puppeteer-core").Page & {complaints: string[]}>} complaints: what was logged, thrown or
 *   asked of anything but the file itself
 */
export async function open(browser, file, { hash = "", width = 1400, height = 860, dark = false, before = async () => {} } = {}) {
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
  await before(page);
  await page.goto(hash ? `${address}#${hash}` : address);
  await page.waitForFunction("globalThis.sfbPage?.firstPicture !== undefined");
  return page;
}

/** @returns {Promise<() => Promise<number>>} ms of processor time that the page's own thread has had since */
export async function processorTime(page) {
  const session = await page.createCDPSession();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => 1000 * (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
}

/** What was done is drawn. */
export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
