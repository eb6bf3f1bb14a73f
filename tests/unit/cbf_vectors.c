/* The test vectors of tests/vectors, all of them in both directions: see README.md there. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "sfb/cbf.h"
#include "support/cbf_frames.h"
#include "support/test.h"

#define VECTORS   SFB_SOURCE_DIR "/tests/vectors/"
#define TRUNCATED "truncated" /* how a vector says `trunc`, behind its frames */

static json_t *vectors(void)
{
    json_error_t error;
    json_t *file = json_load_file(VECTORS "cbf.json", 0, &error);

    cr_assert(file != NULL, "%s", error.text);
    return file;
}

static const char *text_of(const json_t *vector, const char *key)
{
    return json_string_value(json_object_get(vector, key));
}

static enum sfb_status status_of(const char *name)
{
    static const struct {
        const char *name;
        enum sfb_status status;
    } names[] = {
        { "empty", SFB_CBF_EMPTY },
        { "version", SFB_CBF_VERSION },
        { "size", SFB_CBF_SIZE },
        { "reserved-opcode", SFB_CBF_RESERVED_OPCODE },
        { "truncated-operand", SFB_CBF_TRUNCATED_OPERAND },
        { "too-wide", SFB_CBF_TOO_WIDE },
        { "relative-first", SFB_CBF_RELATIVE_FIRST },
        { "omit-zero", SFB_CBF_OMIT_ZERO },
        { "rep-first", SFB_CBF_REP_FIRST },
        { "rep-zero", SFB_CBF_REP_ZERO },
        { "rep-limit", SFB_CBF_REP_LIMIT },
        { "frame-limit", SFB_CBF_FRAME_LIMIT },
        { "no-end", SFB_CBF_NO_END },
        { "trailing-data", SFB_CBF_TRAILING_DATA },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].status;
    cr_fatal("a vector names the unknown error %s", name);
}

/* "ra 0x1010" or "omit 5" */
static struct cbf_frame frame_of(const char *text)
{
    static const char *const kinds[] = { "pc ", "ra ", "async ", "omit " };

    for (unsigned i = 0; i < 4; i++)
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
            return (struct cbf_frame){ (enum sfb_frame_kind)i,
                                       strtoull(text + strlen(kinds[i]), NULL, 0) };
    cr_fatal("a vector has the unknown frame %s", text);
}

/* A list of texts, or of pairs of text and count; gives the frames, and whether `trunc` follows. */
static struct cbf_frame *frames_of(const json_t *list, size_t *count, bool *truncated)
{
    struct cbf_frame *frames = NULL;
    size_t index;
    json_t *entry;

    *count = 0;
    *truncated = false;
    json_array_foreach((json_t *)(uintptr_t)list, index, entry)
    {
        json_t *name = json_is_array(entry) ? json_array_get(entry, 0) : entry;
        size_t times =
            json_is_array(entry) ? (size_t)json_integer_value(json_array_get(entry, 1)) : 1;

        if (strcmp(json_string_value(name), TRUNCATED) == 0) {
            *truncated = true;
            continue;
        }
        frames = realloc(frames, (*count + times) * sizeof *frames);
        cr_assert(frames != NULL);
        while (times-- > 0)
            frames[(*count)++] = frame_of(json_string_value(name));
    }
    return frames;
}

/* Reads one vector and compares frames, or fault and offset. */
static void expect_answer(const json_t *vector, const json_t *want, uint32_t flags)
{
    const char *name = text_of(vector, "name"), *error = text_of(want, "error");
    const json_t *list = json_object_get(want, "frames");
    uint8_t data[64];
    size_t size = cbf_bytes(data, sizeof data, text_of(vector, "hex")), count, max;
    bool truncated, equal;
    struct cbf_frame *frames, *got;
    struct cbf_reading r;

    frames =
        frames_of(list != NULL ? list : json_object_get(want, "frames_rle"), &count, &truncated);
    max = count + 1;
    got = malloc(max * sizeof *got);
    cr_assert(got != NULL);
    r = cbf_decode(data, size, flags, got, max);
    if (error != NULL) {
        cr_expect(eq(int, r.status, status_of(error)), "%s", name);
        cr_expect(
            eq(u64, r.error.offset, (uint64_t)json_integer_value(json_object_get(want, "offset"))),
            "%s", name);
    } else {
        cr_expect(eq(int, r.status, SFB_END), "%s", name);
        cr_expect(eq(sz, r.count, count), "%s", name);
        cr_expect(eq(int, r.truncated, truncated), "%s", name);
        cr_expect(eq(i64, 16ll << data[0], json_integer_value(json_object_get(want, "bits"))));
        equal = r.count == count;
        for (size_t i = 0; equal && i < count; i++)
            equal = cbf_frame_equal(frames[i], got[i]);
        cr_expect(equal, "%s", name);
    }
    free(frames);
    free(got);
}

static void expect_answers(const char *key, uint32_t flags)
{
    json_t *file = vectors(), *vector;
    size_t index, seen = 0;

    json_array_foreach(json_object_get(file, "vectors"), index, vector)
    {
        const json_t *want = json_object_get(vector, key);

        if (want == NULL)
            continue;
        expect_answer(vector, want, flags);
        expect_answer(vector, want, flags | SFB_CBF_EXPAND);
        seen++;
    }
    cr_expect(eq(sz, seen, 78));
    json_decref(file);
}

Test(cbf_vectors, are_read_strictly)
{
    expect_answers("strict", 0);
}

Test(cbf_vectors, are_read_as_swift_writes_them)
{
    expect_answers("swift_data", SFB_CBF_SWIFT);
}

Test(cbf_vectors, are_written_byte_for_byte)
{
    json_t *file = vectors(), *vector;
    size_t index, seen = 0;

    json_array_foreach(json_object_get(file, "vectors"), index, vector)
    {
        const json_t *list = json_object_get(vector, "encode");
        const char *name = text_of(vector, "name");
        unsigned bits = (unsigned)json_integer_value(json_object_get(vector, "bits"));
        struct cbf_frame *frames, back[300];
        uint8_t buffer[64];
        char hex[129];
        struct cbf_reading r;
        size_t count, size;
        bool truncated;

        if (list == NULL)
            continue;
        frames = frames_of(json_is_object(list) ? json_object_get(list, "rle") : list, &count,
                           &truncated);
        size = cbf_encode(buffer, sizeof buffer, bits, frames, count, truncated);
        cbf_hex(hex, sizeof hex, buffer, size);
        cr_expect(eq(int, strcmp(hex, text_of(vector, "optimal_hex")), 0), "%s: %s", name, hex);

        r = cbf_decode(buffer, size, SFB_CBF_REQUIRE_END, back, 300);
        cr_expect(eq(int, r.status, SFB_END), "%s", name);
        cr_expect(eq(sz, r.count, count), "%s", name);
        for (size_t i = 0; i < count && i < r.count; i++)
            cr_expect(cbf_frame_equal(frames[i], back[i]), "%s", name);

        size = cbf_bytes(buffer, sizeof buffer, text_of(vector, "swift_hex"));
        r = cbf_decode(buffer, size, SFB_CBF_SWIFT, back, 300);
        cr_expect(eq(int, r.status, SFB_END), "%s", name);
        cr_expect(eq(sz, r.count, count), "%s", name);
        free(frames);
        seen++;
    }
    cr_expect(eq(sz, seen, 20));
    json_decref(file);
}

struct totals {
    size_t stacks, frames, bytes;
};

/* One line: addresses in hexadecimal, the innermost first, which is a pc. */
static void add_stack(struct totals *t, const char *line)
{
    static struct cbf_frame frames[1024], back[1024];
    static uint8_t buffer[8192];
    struct cbf_reading r;
    size_t count = 0, size;
    char *end;
    bool equal;

    for (;; line = end) {
        uint64_t address = strtoull(line, &end, 16);

        if (end == line)
            break;
        cr_assert(lt(sz, count, 1024));
        frames[count] = (struct cbf_frame){ count == 0 ? SFB_FRAME_PC : SFB_FRAME_RA, address };
        count++;
    }
    size = cbf_encode(buffer, sizeof buffer, 64, frames, count, false);
    r = cbf_decode(buffer, size, SFB_CBF_REQUIRE_END, back, 1024);
    equal = r.status == SFB_END && r.count == count;
    for (size_t i = 0; equal && i < count; i++)
        equal = cbf_frame_equal(frames[i], back[i]);
    if (!equal)
        cr_fatal("stack %zu is not read as it was written", t->stacks);
    t->stacks++;
    t->frames += count;
    t->bytes += size;
}

static void expect_totals(const char *file, struct totals want)
{
    char command[4096];
    struct totals got = { 0, 0, 0 };
    char *line = NULL;
    size_t capacity = 0;
    FILE *in;

    snprintf(command, sizeof command, "xz -dc '%sstacks/%s'", VECTORS, file);
    in = popen(command, "r");
    cr_assert(in != NULL);
    while (getline(&line, &capacity, in) > 0)
        add_stack(&got, line);
    cr_assert(eq(int, pclose(in), 0), "%s", command);
    free(line);
    cr_expect(eq(sz, got.stacks, want.stacks), "%s", file);
    cr_expect(eq(sz, got.frames, want.frames), "%s", file);
    cr_expect(eq(sz, got.bytes, want.bytes), "%s", file);
}

Test(cbf_vectors, real_stacks_take_the_least_bytes)
{
    expect_totals("git.txt.xz", (struct totals){ 1017, 19034, 78082 });
    expect_totals("sqlite.txt.xz", (struct totals){ 1524, 20850, 97307 });
}
