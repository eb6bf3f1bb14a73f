// The readers. Each gives a table of what it shows of a file.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { empty, run } from './tables.mjs';

// --- pprof -----------------------------------------------------------------------------------------

// Go's, as its package has it. @return undefined: none is installed
export function find_pprof() {
    for (const folder of existsSync('/usr/lib') ? readdirSync('/usr/lib') : []) {
        const tools = `/usr/lib/${folder}/pkg/tool`;
        if (!folder.startsWith('go-') || !existsSync(tools))
            continue;
        for (const machine of readdirSync(tools))
            if (existsSync(`${tools}/${machine}/pprof`))
                return `${tools}/${machine}/pprof`;
    }
}

const all = ['-nodecount=0', '-nodefraction=0', '-edgefraction=0'];
const number = (text) => Number(text.replace(/ns$/, ''));

export function pprof_top(pprof, type, ...files) {
    const unit = type === 'cpu' ? ['-unit=ns'] : [];
    const text = run(pprof, ['-symbolize=none', '-top', `-sample_index=${type}`, ...unit, ...all, ...files],
        { stdio: ['ignore', 'pipe', 'ignore'] });
    const table = empty();
    table.total = number(text.match(/of (-?\d+(?:ns)?) total/)[1]);
    for (const line of text.split('\n')) {
        const match = line.match(/^\s*(-?\d+(?:ns)?)\s+\S+%\s+\S+%\s+(-?\d+(?:ns)?)\s+\S+%\s+(.*)$/);
        if (!match)
            continue;
        const name = match[3].replace(/ \((partial-)?inline\)$/, '');
        const entry = table.functions.get(name) ?? { self: 0, total: 0 };
        entry.self += number(match[1]);
        entry.total += number(match[2]);
        table.functions.set(name, entry);
    }
    return table;
}

// Sums of samples: -raw has one a line, with its numbers, -traces one a paragraph.
export function pprof_raw(pprof, file) {
    const text = run(pprof, ['-symbolize=none', '-raw', file], { stdio: ['ignore', 'pipe', 'ignore'] });
    const samples = text.slice(text.indexOf('Samples:'), text.indexOf('Locations'));
    const sums = [0, 0], threads = new Set();
    for (const [, count, value] of samples.matchAll(/^\s*(\d+)\s+(\d+): /gm)) {
        sums[0] += Number(count);
        sums[1] += Number(value);
    }
    for (const [, thread] of samples.matchAll(/thread:\[([^\]]*)\]/gm))
        threads.add(thread);
    const locations = text.slice(text.indexOf('Locations'), text.indexOf('Mappings'));
    const ids = [...locations.matchAll(/^\s*(\d+): 0x/gm)].map((m) => Number(m[1]));
    return { sums, threads, ids, inlined: /M=\d+ .*\n {10,}\S/.test(locations), mappings: text.slice(text.indexOf('Mappings')) };
}

export function pprof_traces(pprof, file) {
    const text = run(pprof, ['-symbolize=none', '-traces', '-unit=ns', '-sample_index=cpu', file],
        { stdio: ['ignore', 'pipe', 'ignore'] });
    let sum = 0;
    for (const [, value] of text.matchAll(/^\s*(\d+)ns\s{3}\S/gm))
        sum += Number(value);
    return sum;
}

// --- protoc ----------------------------------------------------------------------------------------

// Fields that the schema does not have stand there as numbers. Line.column came to it in 2023.
export function protoc(folder, file) {
    const text = run('protoc', [`--proto_path=${folder}`, '--decode=perftools.profiles.Profile', 'profile.proto'],
        { input: gunzipSync(readFileSync(file)) });
    const has_column = /^\s*int64 column = 3;/m.test(readFileSync(join(folder, 'profile.proto'), 'utf8'));
    const sums = [0, 0];
    let at = 0, unknown = 0, block = '';
    for (const line of text.split('\n')) {
        block = line.match(/^\s*(\w+) \{$/)?.[1] ?? block;
        if (line === 'sample {')
            at = 0;
        const value = line.match(/^ {2}value: (-?\d+)$/);
        if (value)
            sums[at++] += Number(value[1]);
        if (/^\s*\d+[: ]/.test(line) && (has_column || block !== 'line' || !/^\s*3: /.test(line)))
            unknown++;
    }
    return { sums, unknown };
}

let sessions = 0;
const HANG_MS = 600000; // the limit of what is waited for: it only catches hangs

// --- Firefox's profiler ----------------------------------------------------------------------------

// Its command asks a server. `load` would start one, but waits half a second for it, which is too short on a busy machine:
// it is started here, and ended. A question that comes before it listens takes away the file by which it is found; so its log
// says when it may be asked, and one that cannot be found is replaced.
// @param all  every thread, summed up; else the first one
export async function firefox(folder, file, all = false) {
    const script = join(folder, 'node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js');
    const end = Date.now() + HANG_MS;
    let session, server, starts = 0;
    const start = () => {
        server?.kill();
        session = `sfb${process.pid}x${++sessions}`; // one that ends takes its files away, when it likes
        server = spawn(process.execPath, [script, '--daemon', resolve(file), '--session', session], { stdio: 'ignore' });
    };
    const is_ready = () => {
        const log = join(process.env.HOME, '.profiler-cli', `${session}.log`);
        return existsSync(log) && readFileSync(log, 'utf8').includes('Profile loaded successfully');
    };
    const ask = (...args) => JSON.parse(run(process.execPath, [script, 'thread', ...args, '--json', '--session', session],
        { stdio: ['ignore', 'pipe', 'pipe'] }));
    try {
        for (start(); ; ) {
            await new Promise((resolve) => setTimeout(resolve, 100));
            if (Date.now() > end)
                throw new Error("profiler-cli's server says nothing");
            if (server.exitCode === null && !is_ready())
                continue;
            try {
                const table = empty();
                if (!all)
                    return firefox_add(table, ask('functions'));
                for (const { threadHandle } of ask('list').threads)
                    firefox_add(table, ask('functions', '--thread', threadHandle));
                return table;
            } catch (error) {
                if (++starts === 10)
                    throw error;
                start();
            }
        }
    } finally {
        server.kill();
    }
}

function firefox_add(table, json) {
    for (const f of json.functions) {
        const entry = table.functions.get(f.name) ?? { self: 0, total: 0 };
        entry.self += f.selfSamples;
        entry.total += f.totalSamples;
        table.functions.set(f.name, entry);
        table.total += f.selfSamples;
    }
    return table;
}

// --- DevTools --------------------------------------------------------------------------------------

// The model of Chrome's DevTools, as npm has it: a table in ns.
const devtools = '@paulirish/trace_engine/models';

function devtools_table(profile) {
    const table = empty();
    const walk = (node, above) => {
        const entry = table.functions.get(node.functionName) ?? { self: 0, total: 0 };
        entry.self += node.self * 1e6;
        entry.total += above.has(node.functionName) ? 0 : node.total * 1e6;
        table.functions.set(node.functionName, entry);
        const inside = new Set(above).add(node.functionName);
        node.children.forEach((child) => walk(child, inside));
    };
    walk(profile.root, new Set());
    table.total = profile.total * 1e6;
    return table;
}

export async function devtools_cpuprofile(text) {
    const { CPUProfileDataModel } = await import(`${devtools}/cpu_profile/CPUProfileDataModel.js`);
    return devtools_table(new CPUProfileDataModel(JSON.parse(text)));
}

// Threads that its performance panel shows: names, and the ms of each function on the time line.
export async function devtools_trace(text) {
    globalThis.DOMRect ??= class {}; // it runs in a browser elsewhere
    const Trace = await import(`${devtools}/trace/trace.js`);
    const model = Trace.TraceModel.Model.createWithAllHandlers(), trace = JSON.parse(text);
    await model.parse(trace.traceEvents, { metadata: trace.metadata });
    const { data } = model.parsedTrace();
    return Trace.Handlers.Threads.threadsInTrace(data).map(({ pid, tid, name, entries }) => {
        const functions = new Map();
        data.Samples.profilesInProcess.get(pid).get(tid).parsedProfile.forEachFrame(() => {}, (depth, node, id, start, total, self) =>
            functions.set(node.functionName, (functions.get(node.functionName) ?? 0) + self * 1e6));
        return { name, tid, entries: entries.length, functions };
    });
}

// DevTools itself, as Chromium has it: the range of time that its performance panel shows of a file.
export async function devtools_range(file, chromium) {
    const puppeteer = (await import('puppeteer-core')).default;
    const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox'] });
    // Its elements are in shadow trees.
    const within = (find) => `(() => { const walk = (root) => { for (const e of root.querySelectorAll('*')) {
        const found = (${find})(e) ?? (e.shadowRoot && walk(e.shadowRoot)); if (found) return found; } return null; }; return walk(document); })()`;
    const input = within("(e) => e.matches('input[type=file]') ? e : undefined");
    const range = within("(e) => [...e.childNodes].map((n) => n.nodeType === 3 && n.textContent.match(/^Full range \\((.*)\\)$/)?.[1]).find(Boolean)");
    try {
        const page = await browser.newPage();
        await page.goto('devtools://devtools/bundled/devtools_app.html?panel=timeline');
        await page.waitForFunction(input, { timeout: HANG_MS });
        await (await page.evaluateHandle(input)).asElement().uploadFile(resolve(file));
        return await (await page.waitForFunction(range, { timeout: HANG_MS })).jsonValue();
    } finally {
        await browser.close();
    }
}

// --- valgrind --------------------------------------------------------------------------------------

export function callgrind(file, inclusive) {
    const text = run('callgrind_annotate', ['--auto=no', '--threshold=100', `--inclusive=${inclusive ? 'yes' : 'no'}`, file]);
    const functions = new Map();
    for (const [, value, name] of text.matchAll(/^ *([\d,]+) \( *[\d.]+%\) +[\d,]+(?: \( *[\d.]+%\))? +[^:\n]*:(.*) \[[^\]]*\]$/gm))
        functions.set(name, (functions.get(name) ?? 0) + Number(value.replaceAll(',', '')));
    return { functions, total: Number(text.match(/^([\d,]+) \(100.0%\).*PROGRAM TOTALS/m)[1].replaceAll(',', '')) };
}

// --- speedscope ------------------------------------------------------------------------------------

// What the page shows in its sandwich view: a table for each thread, in its own units and digits.
export async function speedscope(folder, file, chromium) {
    const puppeteer = (await import('puppeteer-core')).default;
    const page_path = join(folder, 'node_modules/speedscope/dist/release/index.html');
    const script = resolve(`${file}.js`), base64 = readFileSync(file).toString('base64');
    writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(file)}, ${JSON.stringify(base64)})`);
    const browser = await puppeteer.launch({
        executablePath: chromium,
        args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
    });
    try {
        const page = await browser.newPage(), errors = [];
        page.on('pageerror', (error) => errors.push(error.message));
        await page.goto(`${pathToFileURL(page_path)}#localProfilePath=${script}`);
        await page.waitForFunction(() => document.body.innerText.includes('Sandwich'));
        const text = () => page.evaluate(() => document.body.innerText);
        const shown = async (done) => {
            for (const end = Date.now() + HANG_MS; Date.now() < end;) {
                if (done(await text()))
                    return text();
                await new Promise((resolve) => setTimeout(resolve, 50));
            }
            throw new Error(`speedscope: nothing is shown of ${file}: ${errors} ${await text()}`);
        };
        await page.keyboard.press('3');
        const profiles = [];
        for (let i = 1, count = 1; i <= count; i++) {
            const body = await shown((t) => t.includes('Symbol Name') && (i === 1 || t.includes(`(${i}/${count})`)));
            const [, title, of] = body.match(/Sandwich\n(.*?)(?: \(\d+\/(\d+)\))?\n/);
            count = Number(of ?? 1);
            const functions = new Map(), lines = body.split('\n').map((l) => l.trim());
            const value = /^([\d.]+.*) \([<>]?[\d.]+%\)$/;
            for (let k = lines.indexOf('Total\tSelf\tSymbol Name') + 1; k + 2 < lines.length; k += 3)
                functions.set(lines[k + 2], { total: lines[k].match(value)[1], self: lines[k + 1].match(value)[1] });
            profiles.push({ title, functions });
            await page.keyboard.press('n');
        }
        return { profiles, errors };
    } finally {
        await browser.close();
    }
}

// --- DuckDB ----------------------------------------------------------------------------------------

export async function duckdb(sql) {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    return (await connection.runAndReadAll(sql)).getRows();
}
