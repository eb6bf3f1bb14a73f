// What `run` says of heaps: each reader beside `sfb report --folded --value`. heap.mjs SFB FOLDER PROGRAM...
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { empty, file, folded, rows, run } from './tables.mjs';
import { find_pprof } from './readers.mjs';
import { begin, end, judge, same, say } from './verdict.mjs';

const [sfb, folder, ...programs] = process.argv.slice(2);
const pprof = find_pprof();
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const viewer = '/usr/libexec/valgrind/dh_view.html';
const VALUES = ['allocated', 'live', 'peak', 'temporary'];
const TYPES = ['alloc', 'inuse', 'peak', 'temporary'].flatMap((which) => [`${which}_objects`, `${which}_space`]);
const TOP = 20;

const silent = { stdio: ['ignore', 'pipe', 'ignore'] };

function functions(got, want, names) {
    return names.flatMap((name) => {
        const entry = got.functions.get(name), expected = want.functions.get(name);
        return entry ? [...same(`${name}: self`, entry.self, expected.self), ...same(`${name}: total`, entry.total, expected.total)]
            : [`${name} is missing`];
    });
}

// Those that have most, and a name.
function top_names(table) {
    return [...table.functions].filter(([name]) => !name.startsWith('[')).sort((a, b) => b[1].total - a[1].total)
        .slice(0, TOP).map(([name]) => name);
}

function has(program) {
    try {
        run('sh', ['-c', `command -v ${program}`]);
        return true;
    } catch {
        return false;
    }
}

// Our own folded stacks, of each of the eight values.
function write_all(program) {
    const recording = `${program}.sfbr`, tables = [];
    run(sfb, ['report', '--pprof', `${program}.pb.gz`, '--dhat', `${program}.json`, '--heaptrack', `${program}.txt`,
        '--gperftools', `${program}.heap`, recording], silent);
    for (const value of VALUES)
        for (const blocks of [['--blocks'], []]) {
            const path = `${program}.folded`;
            run(sfb, ['report', `--folded=${path}`, '--value', value, ...blocks, recording], silent);
            tables.push(file(path) ? folded(file(path)) : empty());
        }
    return tables;
}

function judge_rows(program, tables) {
    VALUES.forEach((value, i) => {
        run(sfb, ['report', `--rows=${program}.ndjson`, '--value', value, `${program}.sfbr`], silent);
        const text = file(`${program}.ndjson`), sums = text ? rows(text, 'value') : empty();
        judge(program, 'own sums', `--rows --value ${value}`, [...same('bytes', sums.total, tables[2 * i + 1].total),
            ...functions(sums, tables[2 * i + 1], top_names(tables[2 * i + 1]))]);
    });
}

// --- Readers ---------------------------------------------------------------------------------------

const number = (text) => Number(text.replace(/B$/, ''));

function go_top(type, path) {
    const text = run(pprof, ['-symbolize=none', '-top', `-sample_index=${type}`, '-unit=B', '-nodecount=0', '-nodefraction=0',
        '-edgefraction=0', path], silent), table = empty();
    table.total = number(text.match(/of (-?\d+B?) total/)?.[1] ?? '0');
    for (const line of text.split('\n')) {
        const match = line.match(/^\s*(\d+B?)\s+\S+%\s+\S+%\s+(\d+B?)\s+\S+%\s+(.*)$/);
        if (!match)
            continue;
        const name = match[3].replace(/ \((partial-)?inline\)$/, ''), entry = table.functions.get(name) ?? { self: 0, total: 0 };
        entry.self += number(match[1]);
        entry.total += number(match[2]);
        table.functions.set(name, entry);
    }
    return table;
}

function judge_go(program, tables) {
    TYPES.forEach((type, i) => {
        const want = tables[i], names = top_names(want), got = go_top(type, `${program}.pb.gz`);
        judge(program, 'go tool pprof', `${type}, ${names.length} functions`, [...same('total', got.total, want.total),
            ...functions(got, want, names)]);
    });
    const raw = run(pprof, ['-symbolize=none', '-raw', `${program}.pb.gz`], silent);
    judge(program, 'go tool pprof', 'period, default', [...same('period', /^PeriodType: space bytes\nPeriod: 1$/m.test(raw), true),
        ...same('default', /inuse_space\/bytes\[dflt\]/.test(raw), true)]);
}

// Its stacks end at main; functions have their files behind them. Inlined functions stand there the other way round, so that
// its leaf is none: totals are compared.
function heaptrack_table(path, cost) {
    run('heaptrack_print', ['-f', path, '-p', '0', '-a', '0', '-T', '0', '-t', '0', '--disable-builtin-suppressions',
        '--flamegraph-cost-type', cost, '-F', 'flames'], silent);
    const lines = file('flames').split('\n').map((line) => line.match(/^(.*); (\d+)$/)).filter((match) => match && match[2] !== '0');
    const text = lines.map(([, stack, value]) => `x;${stack.split(';').map((f) => f.replace(/ \([^() ]+\)$/, '')).join(';')} ${value}`);
    return text.length ? folded(text.join('\n')) : empty();
}

const HEAPTRACK = [['allocations', 0], ['temporary', 6], ['leaked', 3], ['peak', 5]];

function judge_heaptrack(program, tables) {
    for (const [cost, type] of HEAPTRACK) {
        const got = heaptrack_table(`${program}.txt`, cost), want = tables[type];
        const names = top_names(want).filter((name) => got.functions.has(name));
        judge(program, 'heaptrack_print', `${cost}, ${names.length} functions`, [...same('total', got.total, want.total),
            ...same('functions', names.length > 0 || want.total === 0, true),
            ...names.flatMap((name) => same(name, got.functions.get(name).total, want.functions.get(name).total))]);
    }
}

// The program again, under heaptrack itself: what its own functions allocated and kept. The peak is of one more process
// state: heaptrack brings the C++ library into C programs.
function judge_heaptrack_itself(program, tables) {
    run('heaptrack', ['-o', `${program}.own`, `./${program}`], silent);
    const path = [`${program}.own.zst`, `${program}.own.gz`].find(existsSync);
    for (const [cost, type] of HEAPTRACK.slice(0, 3)) {
        const got = heaptrack_table(path, cost), want = tables[type], wanted = new Set(own_functions[program]);
        const names = [...want.functions.keys()].filter((name) => wanted.has(name.replace(/\(.*/, '')));
        const entry = (name) => got.functions.get(name) ?? got.functions.get(name.replace(/\(.*/, ''));
        judge(program, 'heaptrack', `a run of its own: ${cost}, ${names.length} functions`, [
            ...same('functions', names.length > 0, true), ...names.flatMap((name) =>
                same(name, entry(name)?.total ?? 0, want.functions.get(name).total))]);
    }
}

const own_functions = {
    'c-heap': ['keep', 'copy_of', 'churn', 'grow', 'reach_the_peak'],
    'cc-heap': ['add_names', 'add_tables', 'measure', 'lose', 'main'],
};

function gperftools_table(reader, program, option) {
    const text = run(reader, ['--text', '--show_bytes', '--nodefraction=0', '--edgefraction=0', option, `./${program}`,
        `${program}.heap`], silent), table = empty();
    table.total = Number(text.match(/^Total: (\d+) B/m)?.[1]);
    for (const [, self, total, name] of text.matchAll(/^\s*(\d+)\s+\S+%\s+\S+%\s+(\d+)\s+\S+%\s+(.*)$/gm))
        table.functions.set(name, { self: Number(self), total: Number(total) });
    return table;
}

function judge_gperftools(reader, program, tables) {
    for (const [option, type] of [['--inuse_space', 3], ['--alloc_space', 1]]) {
        const got = gperftools_table(reader, program, option), want = tables[type];
        // It makes names of C++ shorter.
        const short = { functions: new Map([...want.functions].map(([name, e]) => [name.replace(/\(.*/, ''), e])) };
        const names = own_functions[program].filter((name) => short.functions.has(name) && got.functions.has(name));
        judge(program, reader, `${option}, ${names.length} functions`, [...same('total', got.total, want.total),
            ...same('functions', names.length > 0, true), ...functions(got, short, names)]);
    }
}

async function judge_dhat(program, tables) {
    const puppeteer = (await import('puppeteer-core')).default;
    const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    try {
        const page = await browser.newPage(), errors = [];
        page.on('pageerror', (error) => errors.push(error.message));
        await page.goto(pathToFileURL(viewer).href);
        await (await page.waitForSelector('input[type=file]')).uploadFile(resolve(`${program}.json`));
        await page.waitForFunction(() => document.body.innerText.includes('At t-end'));
        const text = await page.evaluate(() => document.body.innerText);
        const shown = (what) => text.match(new RegExp(`${what}:\\s+([\\d,]+) bytes.* in ([\\d,]+) blocks`))?.slice(1)
            .map((n) => Number(n.replaceAll(',', '')));
        const want = (type) => [tables[type + 1].total, tables[type].total];
        judge(program, 'dh_view', 'total, t-gmax, t-end', [...errors, ...same('total', String(shown('Total')), String(want(0))),
            ...same('t-gmax', String(shown('At t-gmax')), String(want(4))), ...same('t-end', String(shown('At t-end')), String(want(2)))]);
    } finally {
        await browser.close();
    }
}

// --- All of it -------------------------------------------------------------------------------------

begin();
for (const program of programs) {
    const tables = write_all(program);
    const when = (there, reader, test) => (there ? test() : say(program, reader, 'all', 'skipped: not installed'));
    judge_rows(program, tables);
    when(pprof, 'go tool pprof', () => judge_go(program, tables));
    when(has('heaptrack_print'), 'heaptrack_print', () => judge_heaptrack(program, tables));
    when(has('heaptrack'), 'heaptrack', () => judge_heaptrack_itself(program, tables));
    for (const reader of ['google-pprof', 'jeprof'])
        when(has(reader), reader, () => judge_gperftools(reader, program, tables));
    await when(chromium && existsSync(viewer), 'dh_view', () => judge_dhat(program, tables));
}
end();
