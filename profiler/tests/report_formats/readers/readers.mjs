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
    for (const [, thread] of samples.matchAll(/thread:\[(.*)\]$/gm))
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
// it is started here, and ended.
export async function firefox(folder, file) {
    const script = join(folder, 'node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js');
    const session = `sfb${process.pid}x${++sessions}`; // one that ends takes its files away, when it likes
    const start = () => spawn(process.execPath, [script, '--daemon', resolve(file), '--session', session], { stdio: 'ignore' });
    const end = Date.now() + HANG_MS;
    let server = start();
    try {
        for (let starts = 3; ; ) {
            try {
                const text = run(process.execPath, [script, 'thread', 'functions', '--json', '--session', session],
                    { stdio: ['ignore', 'pipe', 'pipe'] });
                return firefox_table(JSON.parse(text));
            } catch (error) {
                // It is not ours to mend: seen once, on a machine with a load of 8.
                if (server.exitCode !== null && --starts > 0)
                    server = start();
                else if (server.exitCode !== null || Date.now() > end)
                    throw error;
                await new Promise((resolve) => setTimeout(resolve, 250));
            }
        }
    } finally {
        server.kill();
    }
}

function firefox_table(json) {
    const table = empty();
    for (const f of json.functions) {
        table.functions.set(f.name, { self: f.selfSamples, total: f.totalSamples });
        table.total += f.selfSamples;
    }
    return table;
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
