#include "unwind/runtime/cpython_code.h"

#include <string.h>

#include "base/memory.h"

bool sfb_cpython_code(struct sfb_cpython_code *out, const struct sfb_cpython *c,
                      struct sfb_memory *memory, uint64_t code)
{
    const struct sfb_cpython_layout *l = c->layout;
    uint64_t type, lines;

    if ((code & 7) != 0 || !sfb_memory_read(memory, code + (l->code_first_line & ~7u), &lines))
        return false;
    out->first_line = (uint32_t)(lines >> 8 * (l->code_first_line & 7u));
    return sfb_memory_read(memory, code + SFB_CPYTHON_OBJECT_TYPE, &type) &&
           type == c->place.code_type &&
           sfb_memory_read(memory, code + l->code_qualified_name, &out->name) &&
           sfb_memory_read(memory, code + l->code_file, &out->file) &&
           sfb_memory_read(memory, code + l->code_lines, &out->lines);
}

/* --- Strings -------------------------------------------------------------------------------------- */

/* @return bytes written, 1 to 4; 0: no room */
static size_t put_character(char *out, size_t room, uint32_t c)
{
    const uint32_t value = c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
    const size_t size = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

    if (size > room)
        return 0;
    for (size_t i = size; i-- > 1;)
        out[i] = (char)(0x80 | (value >> 6 * (size - 1 - i) & 0x3f));
    out[0] = (char)(size == 1 ? value : first[size] | value >> 6 * (size - 1));
    return size;
}

size_t sfb_cpython_text(char *out, size_t room, const struct sfb_cpython *c,
                        struct sfb_memory *memory, uint64_t string)
{
    uint8_t part[64];
    uint64_t length, state, at, width;
    size_t used = 0;

    out[0] = '\0';
    if ((string & 7) != 0 || string == 0 ||
        !sfb_memory_read(memory, string + SFB_CPYTHON_OBJECT_SIZE, &length) ||
        !sfb_memory_read(memory, string + SFB_CPYTHON_STRING_STATE, &state))
        return 0;
    width = state >> SFB_CPYTHON_STRING_KIND_SHIFT & 7;
    if (!(state & SFB_CPYTHON_STRING_COMPACT) || (width != 1 && width != 2 && width != 4))
        return 0;
    at = string +
         (state & SFB_CPYTHON_STRING_ASCII ? c->layout->string_ascii : c->layout->string_other);
    while (length > 0) {
        const uint64_t count = length < sizeof part / width ? length : sizeof part / width;

        if (!sfb_memory_copy(memory, at, part, count * width))
            break;
        for (uint64_t i = 0; i < count; i++) {
            uint32_t character = 0;
            size_t size;

            memcpy(&character, part + i * width, width); /* little endian: x86-64, AArch64 */
            size = put_character(out + used, room - 1 - used, character);
            if (size == 0) {
                out[used] = '\0';
                return used;
            }
            used += size;
        }
        at += count * width;
        length -= count;
    }
    out[used] = '\0';
    return used;
}

/* --- Lines ---------------------------------------------------------------------------------------- */

size_t sfb_cpython_lines(uint8_t *out, size_t room, struct sfb_memory *memory, uint64_t lines)
{
    uint64_t size;

    if ((lines & 7) != 0 || lines == 0 ||
        !sfb_memory_read(memory, lines + SFB_CPYTHON_OBJECT_SIZE, &size) || size > INT32_MAX)
        return 0;
    if (size > room)
        return size;
    return sfb_memory_copy(memory, lines + SFB_CPYTHON_BYTES, out, size) ? size : 0;
}

/* A number of six bits a byte, the lowest ones first; 0x40: more follows. */
static bool take_number(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
    unsigned shift = 0;
    uint8_t byte;

    *out = 0;
    do {
        if (*at == end || shift > 30)
            return false;
        byte = *(*at)++;
        *out |= (uint32_t)(byte & 0x3f) << shift;
        shift += 6;
    } while (byte & 0x40);
    return true;
}

/* The lowest bit is the sign. */
static bool take_signed(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
    uint32_t number;

    if (!take_number(at, end, &number))
        return false;
    *out = number & 1 ? 0u - (number >> 1) : number >> 1;
    return true;
}

enum { NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15, UNIT = 2 };

/* Takes an entry's rest. @return false: malformed */
static bool take_entry(const uint8_t **at, const uint8_t *end, unsigned kind, uint32_t *line)
{
    uint32_t step = 0, skipped;
    size_t columns = 0;

    if (kind < 10) {
        columns = 1;
    } else if (kind < NO_COLUMNS) {
        step = kind - 10;
        columns = 2;
    } else if (kind != NO_LOCATION && !take_signed(at, end, &step)) {
        return false;
    }
    if (kind == LONG)
        for (unsigned i = 0; i < 3; i++)
            if (!take_number(at, end, &skipped))
                return false;
    if ((size_t)(end - *at) < columns)
        return false;
    *at += columns;
    *line += step;
    return true;
}

uint32_t sfb_cpython_line(const uint8_t *table, size_t size, uint32_t first_line,
                          uint32_t instruction)
{
    const uint8_t *at = table, *const end = table + size;
    uint32_t line = first_line;
    uint64_t reached = 0;

    if (instruction == SFB_CPYTHON_BEFORE)
        return first_line;
    while (at < end) {
        const uint8_t head = *at++;
        const unsigned kind = head >> 3 & 15;

        if (!(head & 0x80) || !take_entry(&at, end, kind, &line))
            return 0;
        reached += (uint64_t)UNIT * ((head & 7u) + 1u);
        if (instruction < reached)
            return kind == NO_LOCATION || line > INT32_MAX ? 0 : line;
    }
    return 0;
}
