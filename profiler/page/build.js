// Bundles the page into page.html: one file, whose policy lets it run its own script and use its own style, and nothing
// else. `node build.js --check` says whether page.html is what these sources give.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { buildSync, transformSync } from "esbuild";

const here = new URL(".", import.meta.url);
const read = (name) => readFile(new URL(name, here), "utf8");

function hash(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

async function page() {
  const { outputFiles } = buildSync({
    entryPoints: [new URL("src/main.js", here).pathname],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    write: false,
  });
  const script = outputFiles[0].text.trim();
  const style = transformSync(await read("style.css"), { loader: "css", minify: true }).code.trim();
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its element");
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
  const parts = { policy, style, script };
  return (await read("template.html")).replace(/\/\*(policy|style|script)\*\//g, (_, name) => parts[name]);
}

const made = await page();
const target = new URL("page.html", here);
if (process.argv[2] === "--check") {
  if (made !== (await readFile(target, "utf8"))) {
    console.error("profiler/page/page.html is not what its sources give: run ./dev page");
    process.exitCode = 1;
  }
} else {
  await writeFile(target, made);
}
