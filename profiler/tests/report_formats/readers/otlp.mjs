// OTLP profiles, as `protoc --decode` with OpenTelemetry's own schema shows them.
import { readFileSync } from 'node:fs';
import { empty, run } from './tables.mjs';

const request = 'opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest';
const schema = 'opentelemetry/proto/collector/profiles/v1development/profiles_service.proto';

// The text format: `name: value` and `name {`, a line each. Every field is a list.
function parse(text) {
    const root = {}, open = [root];
    let unknown = 0;
    for (const line of text.split('\n')) {
        const [, name, kind, value] = line.match(/^\s*(\w+)(:? [{]?|: )(.*)$/) ?? [];
        if (/^\s*\}$/.test(line)) {
            open.pop();
        } else if (name) {
            const group = kind.includes('{'), entry = group ? {} : value.startsWith('"') ? value.slice(1, -1) : Number(value);
            unknown += /^\d+$/.test(name);
            (open.at(-1)[name] ??= []).push(entry);
            if (group)
                open.push(entry);
        }
    }
    return { root, unknown };
}

// Escapes of the text format: \n, \", \342.
function unescaped(text) {
    const bytes = text.replace(/\\(?:([0-7]{3})|(.))/g, (_, octal, char) => octal ? String.fromCharCode(parseInt(octal, 8)) : { n: '\n', t: '\t', r: '\r' }[char] ?? char);
    return Buffer.from(bytes, 'latin1').toString();
}

// @return tables of samples and of ns, what each resource is, and faults of the dictionary
export function otlp(proto, path) {
    const text = run('protoc', [`--proto_path=${proto}`, `--decode=${request}`, schema], { input: readFileSync(path) });
    const { root, unknown } = parse(text), [d] = root.dictionary, faults = unknown ? [`${unknown} unknown fields`] : [];
    const strings = d.string_table.map(unescaped), name = (i) => strings[i?.[0] ?? 0];
    for (const table of ['mapping_table', 'location_table', 'function_table', 'link_table', 'attribute_table', 'stack_table'])
        if (Object.keys(d[table][0]).length > 0)
            faults.push(`${table}[0] is no zero value`);
    if (strings[0] !== '' || new Set(strings).size !== strings.length)
        faults.push('string_table');
    const names = d.stack_table.map((stack) => (stack.location_indices ?? []).flatMap((l) => (d.location_table[l].lines ?? [])
        .map(({ function_index: [f] }) => name(d.function_table[f].name_strindex))));
    const tables = {}, resources = [];
    for (const { resource: [{ attributes }], scope_profiles: [{ profiles }] } of root.resource_profiles ?? []) {
        resources.push(Object.fromEntries(attributes.map(({ key: [key], value: [v] }) => [key, v.string_value ? unescaped(v.string_value[0]) : v.int_value[0]])));
        for (const { sample_type: [type], samples } of profiles) {
            const table = tables[name(type.type_strindex)] ??= empty();
            for (const { stack_index: [stack], values: [value], attribute_indices: of } of samples ?? []) {
                table.total += value;
                for (const f of new Set(names[stack])) {
                    const entry = table.functions.get(f) ?? { self: 0, total: 0 };
                    entry.total += value;
                    entry.self += f === names[stack][0] ? value : 0;
                    table.functions.set(f, entry);
                }
                if (of?.some((a) => a >= d.attribute_table.length))
                    faults.push('attribute_indices');
            }
        }
    }
    return { tables, resources, faults };
}
