// Tables of functions: a map from a name to what it took itself and with what it calls, and the sum of all.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export function run(program, args, options = {}) {
    return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 30, ...options });
}

// Adds a stack, from the outside to the leaf. A function counts once, however often it calls itself.
function add(table, frames, weight) {
    table.total += weight;
    for (const name of new Set(frames)) {
        const entry = table.functions.get(name) ?? { self: 0, total: 0 };
        entry.total += weight;
        if (name === frames.at(-1))
            entry.self += weight;
        table.functions.set(name, entry);
    }
}

export function empty() {
    return { functions: new Map(), total: 0 };
}

// Folded stacks, the thread's name left out. `;` stands for itself in names that are compared: it is `:` in there.
export function folded(text, thread) {
    const table = empty();
    for (const line of text.trimEnd().split('\n')) {
        const [, stack, weight] = line.match(/^(.*) (\d+)$/);
        const frames = stack.split(';');
        if (thread === undefined || frames[0] === thread)
            add(table, frames.slice(1), Number(weight));
    }
    return table;
}

export function rows(text, value) {
    const table = empty();
    for (const line of text.trimEnd().split('\n')) {
        const row = JSON.parse(line);
        add(table, row.stack.toReversed(), row[value]);
    }
    return table;
}

// `sfb report --top=0 --unit ns`: self, its share, total, its share, name (module).
export function ours(text) {
    const functions = new Map(), twice = new Set();
    let total = 0;
    for (const line of text.split('\n')) {
        const match = line.match(/^\s*(\d+)\s+\d+\.\d\d\s+(\d+)\s+\d+\.\d\d\s+(.*?)(?: \(([^()]*)\))?$/);
        if (!match)
            continue;
        if (functions.has(match[3]))
            twice.add(match[3]);
        functions.set(match[3], { self: Number(match[1]), total: Number(match[2]) });
        total += Number(match[1]);
    }
    return { functions, twice, total };
}

export function file(path) {
    return readFileSync(path, 'utf8');
}
