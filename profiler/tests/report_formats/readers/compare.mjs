// What `run` says: each reader beside `sfb report`.
import { existsSync, writeFileSync } from 'node:fs';
import { empty, file, folded, ours, rows, run } from './tables.mjs';
import { callgrind, devtools_cpuprofile, devtools_range, devtools_trace, duckdb, find_pprof, firefox, pprof_raw, pprof_top, pprof_traces, protoc, speedscope } from './readers.mjs';
import { otlp } from './otlp.mjs';
import { begin, end, judge, same, say } from './verdict.mjs';

const [sfb, folder, ...programs] = process.argv.slice(2);
const pprof = find_pprof();
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const TOP = 20;
const THREAD = 'fäden→1';

// Names in folded stacks have `:` for `;`: compared as such everywhere.
const plain = (name) => name.replaceAll(';', ':');

// Of the functions that our table begins with.
function functions(got, want, names) {
    const seen = new Map([...got.functions].map(([name, entry]) => [plain(name), entry]));
    return names.flatMap((name) => {
        const entry = seen.get(name), expected = want.functions.get(name);
        return entry ? [...same(`${name}: self`, entry.self, expected.self), ...same(`${name}: total`, entry.total, expected.total)]
            : [`${name} is missing`];
    });
}

// --- What speedscope shows -----------------------------------------------------------------------------

function shown_time(ns) {
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
        if (ns >= size)
            return (ns / size).toFixed(2) + unit;
    return ns.toFixed(2) + 'ns';
}

const shown_count = (count) => count.toLocaleString('en-US');

function shown(table, show) {
    return { functions: new Map([...table.functions].map(([name, e]) => [name, { self: show(e.self), total: show(e.total) }])) };
}

// --- A program -----------------------------------------------------------------------------------------

function write_all(base, ...recordings) {
    run(sfb, ['report', '--pprof', `${base}.pb.gz`, `--folded=${base}.folded`, `--folded-ns=${base}.folded-ns`,
        '--speedscope', `${base}.speedscope.json`, `--rows=${base}.ndjson`, '--firefox', `${base}.firefox.json`, '--cpuprofile', `${base}.cpuprofile`,
        '--chrome-trace', `${base}.trace.json`, `--perf-script=${base}.perf`, '--callgrind', `${base}.callgrind`,
        '--otlp', `${base}.otlp`, '--label', 'service=checkout,version=1.2', ...recordings]);
    const table = ours(run(sfb, ['report', '--top=0', '--unit', 'ns', ...recordings]));
    const exact = folded(file(`${base}.folded-ns`)), counts = folded(file(`${base}.folded`));
    const names = [...table.functions.keys()].filter((name) => !table.twice.has(name)).slice(0, TOP);
    return { base, table, exact, counts, names: names.map(plain) };
}

// Our table against the sums of our folded stacks: what all the others are compared with.
function judge_ours(program, r) {
    const faults = [...same('functions', r.names.length > 5, true), ...same('total', r.exact.total, r.table.total)];
    const table = new Map([...r.table.functions].map(([name, entry]) => [plain(name), entry]));
    faults.push(...functions(r.exact, { functions: table }, r.names));
    judge(program, 'own sums', `${r.names.length} functions of --top and --folded-ns, ${r.exact.total} ns`, faults);
    const by_rows = rows(file(`${r.base}.ndjson`), 'value'), by_count = rows(file(`${r.base}.ndjson`), 'count');
    judge(program, 'own sums', '--rows, ns and samples', [...same('ns', by_rows.total, r.exact.total),
        ...same('samples', by_count.total, r.counts.total), ...functions(by_rows, r.exact, r.names)]);
    if (r.table.twice.size > 0)
        say(program, 'own sums', `names that two modules have: ${r.table.twice.size}`, 'not compared');
}

function judge_pprof(program, r) {
    const path = `${r.base}.pb.gz`, raw = pprof_raw(pprof, path);
    for (const [type, want] of [['cpu', r.exact], ['samples', r.counts]]) {
        const got = pprof_top(pprof, type, path);
        const names = r.names.filter((name) => want.functions.has(name));
        judge(program, 'pprof -top', `${type}, ${names.length} functions`, [...same('total', got.total, want.total), ...functions(got, want, names)]);
    }
    judge(program, 'pprof -raw', 'sums, ids, threads, build-ids, inlines', [...same('samples', raw.sums[0], r.counts.total),
        ...same('ns', raw.sums[1], r.exact.total), ...same('ids in order', raw.ids.every((id, i) => id === i + 1), true),
        ...same('thread', raw.threads.has(THREAD), true), ...same('inlines', raw.inlined, true),
        ...same('main mapping', new RegExp(`^1: .*/${program} [0-9a-f]{40} \\[FN\\]`, 'm').test(raw.mappings), true)]);
    judge(program, 'pprof -traces', 'sum', same('ns', pprof_traces(pprof, path), r.exact.total));
}

// Names that Go's pprof finds itself: it takes DW_AT_name, which functions in C++ namespaces do not have.
const own_names = { 'c-work': ['down', 'inlines'], 'cc-work': ['strange'], 'rust-work': [] };

function judge_unsymbolised(program, r) {
    run(sfb, ['report', '--symbols=none', '--pprof', 'bare.pb.gz', `${program}-1.sfbr`]);
    const text = run(pprof, ['-top', '-unit=ns', '-nodefraction=0', `./${program}`, 'bare.pb.gz'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const missing = own_names[program].filter((name) => !new RegExp(`%\\s+${name}$`, 'm').test(text));
    judge(program, 'pprof PROGRAM', `--symbols=none: names of ${own_names[program].length} functions, total`, [...missing.map((n) => `${n} is missing`),
        ...same('total', Number(text.match(/of (\d+)ns total/)?.[1]), r.exact.total)]);
}

function judge_diff(program, old, fresh) {
    run(sfb, ['report', '--diff', '--pprof', 'diff.pb.gz', `${program}-1.sfbr`, `${program}-2.sfbr`]);
    const names = fresh.names.filter((name) => old.exact.functions.has(name));
    const want = empty();
    for (const name of names) {
        const a = old.exact.functions.get(name), b = fresh.exact.functions.get(name);
        want.functions.set(name, { self: b.self - a.self, total: b.total - a.total });
    }
    const theirs = pprof_top(pprof, 'cpu', '-diff_base', `${old.base}.pb.gz`, `${fresh.base}.pb.gz`);
    judge(program, 'pprof -diff_base', `${names.length} functions of two files`, functions(theirs, want, names));
    judge(program, 'pprof -top', `${names.length} functions of --diff OLD NEW`, [...functions(pprof_top(pprof, 'cpu', 'diff.pb.gz'), want, names),
        ...same('total', pprof_top(pprof, 'cpu', 'diff.pb.gz').total, theirs.total)]);
}

function judge_protoc(program, r) {
    const { sums, unknown } = protoc(folder, `${r.base}.pb.gz`);
    judge(program, 'protoc --decode', 'sums, no unknown field', [...same('samples', sums[0], r.counts.total),
        ...same('ns', sums[1], r.exact.total), ...same('unknown fields', unknown, 0)]);
}

async function judge_firefox(program, r) {
    const got = await firefox(folder, `${r.base}.folded`), names = r.names.filter((name) => r.counts.functions.has(name));
    judge(program, "Firefox's importer", `--folded: samples, ${names.length} functions`,
        [...same('total', got.total, r.counts.total), ...functions(got, r.counts, names)]);
}

// Figures in ns: the readers have ms in binary fractions.
function rounded(table, factor) {
    const round = ({ self, total }) => ({ self: Math.round(self * factor), total: Math.round(total * factor) });
    return { total: Math.round(table.total * factor), functions: new Map([...table.functions].map(([name, entry]) => [name, round(entry)])) };
}

// A function that is inlined into one of its name is two to this reader, by module: "inlined", and the file.
function in_two_modules(text) {
    const twice = new Set();
    for (const sample of text.split('\n\n')) {
        const modules = new Map();
        for (const [, name, module] of sample.matchAll(/^\t *[0-9a-f]+ (.*) \(([^()]*)\)$/gm)) {
            if ((modules.get(name) ?? module) !== module)
                twice.add(plain(name));
            modules.set(name, module);
        }
    }
    return twice;
}

async function judge_profile(program, r) {
    const got = rounded(await firefox(folder, `${r.base}.firefox.json`, true), 1e6);
    judge(program, "Firefox's profiler", `--firefox: ns, ${r.names.length} functions, all threads`,
        [...same('total', got.total, r.exact.total), ...functions(got, r.exact, r.names)]);
    const twice = in_two_modules(file(`${r.base}.perf`));
    const names = r.names.filter((name) => r.counts.functions.has(name) && !twice.has(name));
    // It puts the module's path behind each name.
    const script = await firefox(folder, `${r.base}.perf`, true), bare = empty();
    bare.total = script.total;
    for (const [name, entry] of script.functions)
        bare.functions.set(name.replace(/ \(in [^)]*\)$/, ''), entry);
    judge(program, "Firefox's importer", `--perf-script: samples, ${names.length} functions`,
        [...same('total', bare.total, r.counts.total), ...functions(bare, r.counts, names.filter((name) => bare.functions.has(name))),
            ...same('functions', names.filter((name) => bare.functions.has(name)).length >= 5, true)]);
}

async function judge_devtools(program, r) {
    const got = rounded(await devtools_cpuprofile(file(`${r.base}.cpuprofile`)), 1);
    judge(program, "DevTools' model", `--cpuprofile: ns, ${r.names.length} functions`,
        [...same('total', got.total, r.exact.total), ...functions(got, r.exact, r.names)]);
    const threads = await devtools_trace(file(`${r.base}.trace.json`)), faults = [];
    for (const { name, functions: shown, entries } of threads) {
        const mine = folded(file(`${r.base}.folded-ns`), name);
        const seen = new Map([...shown].map(([f, ns]) => [plain(f), ns]));
        faults.push(...same(`${name}: events`, entries > 10, true));
        // A pause that is shorter than a tenth of its sample counts.
        for (const [f, { self }] of mine.functions)
            if (self > mine.total / 10 && f !== '[unsampled]')
                faults.push(...same(`${name}: ${f}: within a tenth`, Math.abs((seen.get(f) ?? 0) - self) <= self / 10, true));
    }
    if (chromium) {
        const ms = (text) => Number(text.match(/[\d,.]+/)[0].replaceAll(',', '')) * (/ms$/.test(text) ? 1 : 1000);
        const shown = await devtools_range(`${r.base}.cpuprofile`, chromium), trace = await devtools_range(`${r.base}.trace.json`, chromium);
        judge(program, 'DevTools', `opens both: ${shown} of CPU time, ${trace}`, [...same('CPU time', Math.abs(ms(shown) - r.exact.total / 1e6) < 0.02, true),
            ...same('a range', ms(trace) > 0, true)]);
    }
    judge(program, "DevTools' model", `--chrome-trace: ${threads.length} threads`, [...faults, ...same('threads', threads.length >= 2, true),
        ...same('thread', threads.some(({ name }) => name === THREAD), true)]);
}

function judge_otlp(program, r) {
    const { tables, resources, faults } = otlp(`${folder}/otlp`, `${r.base}.otlp`);
    const names = r.names.filter((name) => r.counts.functions.has(name));
    judge(program, 'protoc --decode', `--otlp 1.11: ns and samples, ${r.names.length} functions, labels`, [...faults,
        ...same('ns', tables.cpu.total, r.exact.total), ...same('samples', tables.samples.total, r.counts.total),
        ...functions(tables.cpu, r.exact, r.names), ...functions(tables.samples, r.counts, names),
        ...same('service', resources[0]['service.name'], 'checkout'), ...same('version', resources[0]['service.version'], '1.2')]);
}

function judge_callgrind(program, r) {
    const path = `${r.base}.callgrind`, self = callgrind(path, false), total = callgrind(path, true);
    const faults = same('total', self.total, r.exact.total);
    for (const name of r.names) {
        const key = [...total.functions.keys()].find((n) => plain(n) === name), want = r.exact.functions.get(name);
        faults.push(...same(`${name}: self`, (self.functions.get(key) ?? 0) + (self.functions.get(`${key}'2`) ?? 0), want.self),
            ...same(`${name}: total`, total.functions.get(key), want.total));
    }
    judge(program, 'callgrind_annotate', `--callgrind: ns, ${r.names.length} functions`, faults);
}

async function judge_speedscope(program, r) {
    const { profiles, errors } = await speedscope(folder, `${r.base}.speedscope.json`, chromium);
    const faults = errors.map((error) => error), text = file(`${r.base}.ndjson`);
    let compared = 0;
    for (const { title, functions: got } of profiles) {
        const mine = text.split('\n').filter((line) => line && (title === 'all threads' || title === (({ thread, tid }) => tid === null ? thread : `${thread} (${tid})`)(JSON.parse(line))));
        const want = rows(mine.join('\n'), 'value'), seen = new Map([...want.functions].map(([n, e]) => [plain(n), e]));
        const names = r.names.filter((name) => seen.has(name)).slice(0, TOP);
        // The page draws the rows that are in its window.
        const drawn = names.filter((name) => [...got.keys()].some((n) => plain(n) === name));
        faults.push(...functions({ functions: got }, shown({ functions: seen }, shown_time), drawn));
        compared += drawn.length;
    }
    faults.push(...same('threads', profiles.length >= 2, true), ...same('functions', compared >= 10, true),
        ...same('thread', profiles.some((p) => p.title.startsWith(THREAD)), true));
    judge(program, 'speedscope', `--speedscope: ${profiles.length} profiles, ${compared} functions`, faults);
    const flat = await speedscope(folder, `${r.base}.folded`, chromium), got = flat.profiles[0].functions;
    const names = r.names.filter((name) => got.has(name));
    judge(program, 'speedscope', `--folded: ${names.length} functions`, [...flat.errors, ...same('functions', names.length >= 5, true),
        ...functions({ functions: got }, shown(r.counts, shown_count), names)]);
}

const sum_of = (table) => new Map(table.map(([name, value]) => [plain(name), Number(value)]));

async function judge_duckdb(program, all, merged) {
    const self = (files) => `SELECT stack[1] f, sum(value) ns FROM '${files}' WHERE kind='cpu' GROUP BY ALL ORDER BY ns DESC`;
    const total = (files) => `SELECT f, sum(value) ns FROM (SELECT unnest(list_distinct(stack)) f, value FROM '${files}') GROUP BY f ORDER BY ns DESC`;
    for (let i = 1; i <= 3; i++)
        writeFileSync(`copy-${program}-${i}.ndjson`, file(`${all[0].base}.ndjson`));
    for (const [what, files, want, times] of [['one recording three times: 3 x --top', `copy-${program}-*.ndjson`, all[0], 3],
        ['three recordings: sfb report A B C', `${program}-?.ndjson`, merged, 1]]) {
        const selfs = sum_of(await duckdb(self(files))), totals = sum_of(await duckdb(total(files)));
        const faults = same('total', [...selfs.values()].reduce((a, b) => a + b), times * want.exact.total);
        for (const name of want.names) {
            faults.push(...same(`${name}: self`, selfs.get(name) ?? 0, times * want.exact.functions.get(name).self),
                ...same(`${name}: total`, totals.get(name), times * want.exact.functions.get(name).total));
        }
        judge(program, 'DuckDB', `${what}, ${want.names.length} functions`, faults);
    }
}

// A reader that ends by itself is a fault of its own: the others are asked all the same.
async function attempt(program, reader, judge_it) {
    try {
        await judge_it();
    } catch (error) {
        judge(program, reader, 'all', [`it failed: ${error.message.trim().split('\n').at(-1)}`]);
    }
}

async function judge_program(program) {
    const all = [1, 2, 3].map((i) => write_all(`${program}-${i}`, `${program}-${i}.sfbr`));
    const merged = write_all(`merged-${program}`, ...[1, 2, 3].map((i) => `${program}-${i}.sfbr`));
    all.forEach((r) => judge_ours(program, r));
    judge_ours(program, merged);
    if (pprof) {
        [all[0], merged].forEach((r) => judge_pprof(program, r));
        judge_unsymbolised(program, all[0]);
        judge_diff(program, all[0], all[1]);
    } else {
        say(program, 'pprof', 'all', 'skipped: no prebuilt pprof of Go is installed');
    }
    if (existsSync(`${folder}/profile.proto`))
        judge_protoc(program, all[0]);
    else
        say(program, 'protoc --decode', 'all', 'skipped: no profile.proto');
    await attempt(program, "Firefox's importer", () => judge_firefox(program, all[0]));
    await attempt(program, "Firefox's profiler-cli", () => judge_profile(program, all[0]));
    await attempt(program, "DevTools' model", () => judge_devtools(program, all[0]));
    if (existsSync(`${folder}/otlp`))
        [all[0], merged].forEach((r) => judge_otlp(program, r));
    else
        say(program, 'protoc --decode', '--otlp', 'skipped: no opentelemetry-proto of sid');
    if (existsSync('/usr/bin/callgrind_annotate'))
        judge_callgrind(program, all[0]);
    else
        say(program, 'callgrind_annotate', 'all', 'skipped: valgrind is not installed');
    if (chromium)
        await attempt(program, 'speedscope', () => judge_speedscope(program, all[0]));
    else
        say(program, 'speedscope', 'all', 'skipped: no chromium');
    await judge_duckdb(program, all, merged);
}

begin();
for (const program of programs)
    await judge_program(program);
end();
