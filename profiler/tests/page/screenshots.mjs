// Pictures of the page, to be looked at: nine recordings at three widths, light and dark, and speedscope's of the same where npm's
// package is there. screenshots.mjs SFB RECORDINGS FOLDER [KIND...].
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open, settle } from "./chromium.mjs";

if (process.argv.length < 5) throw new Error("screenshots.mjs SFB RECORDINGS FOLDER [KIND...]");
const [sfb, recordings, folder] = process.argv.slice(2, 5).map((path) => resolve(path));
const wanted = process.argv.slice(5);
mkdirSync(folder, { recursive: true });
const at = (name) => join(folder, name);
const run = (program, ...args) => execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], maxBuffer: 1 << 30 });
const record = (name, ...command) => run(sfb, "record", "--force", "-o", at(`${name}.sfbr`), ...command);

const SIZES = [["phone", 360, 740], ["half", 900, 600], ["wide", 1440, 900]];

const THREADS = `#include <pthread.h>
#include <stdlib.h>
static volatile unsigned sink;
static void burn(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
static void even(unsigned n) { burn(n); }
static void odd(unsigned n) { burn(n / 2); even(n / 2); }
static void *work(void *p) { unsigned k = (unsigned)(size_t)p; for (int i = 0; i < 20; i++) (k % 2 ? odd : even)(400000 * (1 + k % 5)); return NULL; }
int main(void) { pthread_t t[50]; for (size_t i = 0; i < 50; i++) pthread_create(&t[i], NULL, work, (void *)i); for (size_t i = 0; i < 50; i++) pthread_join(t[i], NULL); }
`;
const CXX = `#include <map>
#include <regex>
#include <string>
std::map<std::string, int> count;
int main(int argc, char **argv) { std::regex word(argv[argc - 1]); for (int i = 0; i < 100; i++) if (std::regex_match(std::to_string(i), word)) count[std::to_string(i)]++; return (int)count.size(); }
`;
const PYTHON = `import json
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def parse(text): return [json.loads(text) for _ in range(20000)]
fib(25); parse('{"a": [1, 2, 3], "b": "c"}')
`;

/** How each is made: its recording, and what --html is of. */
const KINDS = {
  clang() {
    writeFileSync(at("a.cc"), CXX);
    record("clang", "--", "clang++", "-O2", "-c", "a.cc", "-o", "a.o");
  },
  make() {
    for (let i = 0; i < 6; i++) writeFileSync(at(`unit${i}.c`), `#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint unit${i}(int x) { return printf("%d", x); }\n`);
    writeFileSync(at("Makefile"), `all: ${Array.from({ length: 6 }, (_, i) => `unit${i}.o`).join(" ")}\n%.o: %.c\n\tcc -O2 -g -c $< -o $@\n`);
    record("make", "--", "make", "-B", "-j4");
  },
  python() {
    writeFileSync(at("work.py"), PYTHON);
    record("python", "--", "python3", "work.py");
  },
  heap() {
    writeFileSync(at("work.py"), PYTHON);
    record("heap", "--heap", "--", "python3", "work.py");
  },
  diff() {
    run(recordings, "old", at("old.sfbr"));
    run(recordings, "new", at("new.sfbr"));
    return ["--diff", at("old.sfbr"), at("new.sfbr")];
  },
  threads() {
    writeFileSync(at("threads.c"), THREADS);
    run("cc", "-O1", "-g", "-pthread", "threads.c", "-o", "threads");
    record("threads", "--", "./threads");
  },
  one: () => run(recordings, "one", at("one.sfbr")),
  nothing: () => record("nothing", "--engine", "timer", "--", "true"),
  damage() {
    KINDS.python();
    const bytes = readFileSync(at("python.sfbr"));
    bytes.fill(0xa5, bytes.length >> 1, (bytes.length >> 1) + 200);
    writeFileSync(at("damage.sfbr"), bytes);
  },
};
/** Views of one kind beside the first. */
const VIEWS = { clang: ["callers", "functions", "tree", "time", "code", "sandwich"], make: ["tree", "functions"], threads: ["time"], diff: ["functions"], heap: ["functions"] };
const EXTRA = { make: "roots=1&tracks=1", threads: "tracks=1", python: "search=json" };

function report(of, ...output) {
  try {
    run(sfb, "report", ...output, ...of);
  } catch (error) {
    if (error.status !== 1) throw error; // 1: something of the recording is missing
  }
}

async function picture(page, name) {
  await settle(page);
  await page.screenshot({ path: at(`${name}.png`) });
  console.log(`${name}.png`);
}

async function ofPage(browser, kind) {
  for (const [size, width, height] of SIZES)
    for (const dark of [false, true]) {
      const page = await open(browser, at(`${kind}.html`), { width, height, dark });
      await picture(page, `${kind}-${size}-${dark ? "dark" : "light"}`);
      await page.close();
    }
  const hashes = [...(VIEWS[kind] ?? []).map((view) => [view, `view=${view}`]), ...(EXTRA[kind] ? [["chosen", EXTRA[kind]]] : [])];
  for (const [name, hash] of hashes)
    for (const [size, width, height] of SIZES) {
      const page = await open(browser, at(`${kind}.html`), { width, height, hash });
      if (name === "sandwich") await page.evaluate(() => sfbPage.setView("flame")).then(() => page.evaluate(() => sfbPage.setView("sandwich")));
      await picture(page, `${kind}-${name}-${size}`);
      await page.close();
    }
}

/** speedscope as npm has it: npm install --no-save speedscope, in profiler/page. @returns {string} its page; "": not there */
function speedscope() {
  try {
    return createRequire(new URL("../../page/package.json", import.meta.url)).resolve("speedscope/dist/release/index.html");
  } catch {
    return "";
  }
}

async function ofSpeedscope(browser, kind, of) {
  const index = speedscope();
  if (!index || kind === "diff") return;
  report(of, "--speedscope", at(`${kind}.speedscope.json`));
  const text = readFileSync(at(`${kind}.speedscope.json`)).toString("base64");
  writeFileSync(at(`${kind}.speedscope.js`), `speedscope.loadFileFromBase64(${JSON.stringify(kind)}, ${JSON.stringify(text)})`);
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${pathToFileURL(index).href}#localProfilePath=${at(`${kind}.speedscope.js`)}`);
  await page.waitForFunction(() => document.querySelector("canvas") !== null, { timeout: 60000 });
  await picture(page, `${kind}-speedscope`);
  await page.close();
}

const browser = await launch();
try {
  for (const kind of wanted.length > 0 ? wanted : Object.keys(KINDS)) {
    const made = KINDS[kind]();
    const files = made?.[0] === "--diff" ? made : [at(`${kind}.sfbr`)];
    report(files, "--html", at(`${kind}.html`));
    await ofPage(browser, kind);
    await ofSpeedscope(browser, kind, files).catch((error) => console.log(`${kind}-speedscope: ${error.message.split("\n")[0]}`));
  }
} finally {
  await browser.close();
}
