// The table of what was compared: a line each.
let failures = 0;

export function say(program, reader, what, result) {
    console.log(`| ${program} | ${reader} | ${what} | ${result} |`);
}

export function judge(program, reader, what, faults) {
    say(program, reader, what, faults.length ? `DIFFERS: ${faults.slice(0, 3).join('; ')}` : 'equal');
    failures += faults.length > 0;
}

export function same(what, got, want) {
    return Object.is(got, want) ? [] : [`${what}: ${got}, not ${want}`];
}

export function begin() {
    console.log('| program | reader | what | result |\n|---|---|---|---|');
}

export function end() {
    if (failures)
        console.log(`${failures} of them differ`);
    process.exitCode = failures ? 1 : 0;
}
