#include "profiler/report/formats/firefox_tables.h"

#include <inttypes.h>
#include <string.h>

#include "profiler/report/formats/json.h"
#include "util/hex_text.h"

/* A column of a table: what a row has. */
static void put_column(const struct report_firefox *f, const char *name, size_t count,
                       void (*put)(const struct report_firefox *, size_t))
{
    fprintf(f->to, ",\n\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            putc(',', f->to);
        put(f, i);
    }
    putc(']', f->to);
}

static void put_null(const struct report_firefox *f, size_t i)
{
    (void)i;
    fputs("null", f->to);
}

static void put_zero(const struct report_firefox *f, size_t i)
{
    (void)i;
    putc('0', f->to);
}

static void put_one(const struct report_firefox *f, size_t i)
{
    (void)i;
    putc('1', f->to);
}

static void put_false(const struct report_firefox *f, size_t i)
{
    (void)i;
    fputs("false", f->to);
}

static void put_number(const struct report_firefox *f, uint32_t number)
{
    if (number == REPORT_NONE)
        fputs("null", f->to);
    else
        fprintf(f->to, "%" PRIu32, number);
}

/* --- Stacks and frames ------------------------------------------------------------------------- */

static void put_stack_frame(const struct report_firefox *f, size_t i)
{
    put_number(f, f->stacks.all.at[i].frame);
}

static void put_stack_prefix(const struct report_firefox *f, size_t i)
{
    put_number(f, f->stacks.all.at[i].caller);
}

/* Where lines are: a frame is a line of the model. */
static void put_frame_function(const struct report_firefox *f, size_t i)
{
    const size_t lines = f->model->lines.count;

    put_number(f, i < lines ? f->model->lines.at[i].function
                            : (uint32_t)(f->model->functions.count + i - lines));
}

static void put_frame_line(const struct report_firefox *f, size_t i)
{
    const uint32_t line = i < f->model->lines.count ? f->model->lines.at[i].line : 0;

    put_number(f, line > 0 ? line : REPORT_NONE);
}

static void put_frame_column(const struct report_firefox *f, size_t i)
{
    const uint32_t column = i < f->model->lines.count ? f->model->lines.at[i].column : 0;

    put_number(f, column > 0 ? column : REPORT_NONE);
}

static enum report_firefox_category category_of(const struct report_firefox *f, size_t i)
{
    const struct report_model *model = f->model;
    uint32_t module;

    if (i >= model->lines.count)
        return FIREFOX_OTHER;
    module = model->functions.at[model->lines.at[i].function].module;
    if (report_text(model, model->modules.at[module].path)[0] == '\0')
        return model->functions.at[model->lines.at[i].function].known ? FIREFOX_MADE
                                                                      : FIREFOX_OTHER;
    return f->program[module] ? FIREFOX_PROGRAM : FIREFOX_LIBRARY;
}

static void put_frame_category(const struct report_firefox *f, size_t i)
{
    fprintf(f->to, "%d", (int)category_of(f, i));
}

/* A location's lines follow each other, innermost first; of two columns, by location and not by line. */
static void put_places(const struct report_firefox *f, const char *name, bool depth)
{
    const struct report_model *model = f->model;
    const char *comma = "";

    fprintf(f->to, ",\n\"%s\":[", name);
    for (size_t i = 0; i < model->locations.count; i++) {
        const struct report_location *l = &model->locations.at[i];

        for (uint32_t k = 0; k < l->count; k++, comma = ",")
            if (depth)
                fprintf(f->to, "%s%" PRIu32, comma, l->count - 1 - k);
            else if (l->kind == REPORT_NATIVE && l->offset <= INT64_MAX)
                fprintf(f->to, "%s%" PRIu64, comma, l->offset);
            else
                fprintf(f->to, "%s-1", comma);
    }
    for (size_t i = 0; i < REPORT_FRAME_MARKS; i++, comma = ",")
        fprintf(f->to, "%s%s", comma, depth ? "0" : "-1");
    putc(']', f->to);
}

static void put_frames(const struct report_firefox *f)
{
    const size_t frames = f->model->lines.count + REPORT_FRAME_MARKS;

    fprintf(f->to, "\"stackTable\":{\"length\":%zu", f->stacks.all.count);
    put_column(f, "frame", f->stacks.all.count, put_stack_frame);
    put_column(f, "prefix", f->stacks.all.count, put_stack_prefix);
    fprintf(f->to, "},\n\"frameTable\":{\"length\":%zu", frames);
    put_places(f, "address", false);
    put_places(f, "inlineDepth", true);
    put_column(f, "category", frames, put_frame_category);
    put_column(f, "subcategory", frames, put_zero);
    put_column(f, "func", frames, put_frame_function);
    put_column(f, "nativeSymbol", frames, put_null);
    put_column(f, "innerWindowID", frames, put_zero);
    put_column(f, "line", frames, put_frame_line);
    put_column(f, "column", frames, put_frame_column);
    fputs("},\n", f->to);
}

/* --- Functions --------------------------------------------------------------------------------- */

static void put_resource(const struct report_firefox *f, size_t i)
{
    if (i < f->model->functions.count)
        put_number(f, f->model->functions.at[i].module);
    else
        fputs("-1", f->to);
}

/* Numbers of texts in the file: a column of each. @return false: no memory */
static bool put_strings_of(struct report_firefox *f, const char *name, size_t count,
                           const char *(*text)(const struct report_model *, uint32_t))
{
    bool good = true;

    fprintf(f->to, ",\n\"%s\":[", name);
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t string = 0;

        good = report_firefox_string(f, text(f->model, i), &string);
        fprintf(f->to, "%s%" PRIu32, i > 0 ? "," : "", string);
    }
    putc(']', f->to);
    return good;
}

/* A source for each function: its file. Equal files are one. */
static bool put_sources(struct report_firefox *f)
{
    const size_t count = f->model->functions.count;
    struct report_strings files = { .room = 0 };
    bool good = true;

    fputs(",\n\"source\":[", f->to);
    for (uint32_t i = 0; good && i < count + REPORT_FRAME_MARKS; i++) {
        const char *file = report_frame_file(f->model, i);
        uint32_t source = REPORT_NONE;

        good = !file[0] || report_strings_add(&files, file, &source);
        if (i > 0)
            putc(',', f->to);
        put_number(f, source);
    }
    fprintf(f->to, "]},\n\"sources\":{\"length\":%zu,\"filename\":[", files.all.count);
    for (size_t i = 0; good && i < files.all.count; i++) {
        uint32_t string = 0;

        good = report_firefox_string(f, files.all.at[i], &string);
        fprintf(f->to, "%s%" PRIu32, i > 0 ? "," : "", string);
    }
    putc(']', f->to);
    put_column(f, "id", files.all.count, put_null);
    put_column(f, "startLine", files.all.count, put_one);
    put_column(f, "startColumn", files.all.count, put_one);
    put_column(f, "sourceMapURL", files.all.count, put_null);
    fputs("},\n", f->to);
    report_strings_free(&files);
    return good;
}

static bool put_functions(struct report_firefox *f)
{
    const size_t functions = f->model->functions.count + REPORT_FRAME_MARKS;
    bool good;

    fprintf(f->to, "\"funcTable\":{\"length\":%zu", functions);
    good = put_strings_of(f, "name", functions, report_frame_name);
    put_column(f, "isJS", functions, put_false);
    put_column(f, "relevantForJS", functions, put_false);
    put_column(f, "resource", functions, put_resource);
    put_column(f, "lineNumber", functions, put_null);
    put_column(f, "columnNumber", functions, put_null);
    return good && put_sources(f);
}

/* --- Modules ----------------------------------------------------------------------------------- */

/* Their debuggers' form of a build-id: its first 16 bytes, as a GUID of Windows, and an age of 0. */
static void put_breakpad_id(FILE *to, const struct report_module *m)
{
    static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

    putc('"', to);
    for (size_t i = 0; i < sizeof order; i++)
        fprintf(to, "%02X", order[i] < m->build_id_size ? m->build_id[order[i]] : 0U);
    fputs("0\"", to);
}

static void put_library(const struct report_firefox *f, const struct report_module *m)
{
    static const char *const names[] = { "name", "debugName" }, *const paths[] = { "path",
                                                                                   "debugPath" };
    char id[2 * sizeof m->build_id + 1];

    sfb_hex_text(id, m->build_id, m->build_id_size);
    fputs("{\"arch\":\"\",\"breakpadId\":", f->to);
    put_breakpad_id(f->to, m);
    for (size_t i = 0; i < 2; i++) {
        fprintf(f->to, ",\"%s\":", names[i]);
        report_json_text(f->to, report_text(f->model, m->name));
        fprintf(f->to, ",\"%s\":", paths[i]);
        report_json_text(f->to, report_text(f->model, m->path));
    }
    fprintf(f->to, ",\"codeId\":\"%s\"}", id);
}

static void put_index(const struct report_firefox *f, size_t i)
{
    fprintf(f->to, "%zu", i);
}

static const char *module_name(const struct report_model *model, uint32_t i)
{
    const char *name = report_text(model, model->modules.at[i].name);

    return name[0] ? name : "[no module]";
}

static bool put_resources(struct report_firefox *f)
{
    const size_t modules = f->model->modules.count;
    bool good;

    fprintf(f->to, "\"resourceTable\":{\"length\":%zu", modules);
    good = put_strings_of(f, "name", modules, module_name);
    put_column(f, "lib", modules, put_index);
    put_column(f, "host", modules, put_null);
    put_column(f, "type", modules, put_one); /* a library */
    fputs("},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
          "\"functionSize\":[]},\n",
          f->to);
    return good;
}

bool report_firefox_put_tables(struct report_firefox *f)
{
    bool good;

    fputs("\"libs\":[", f->to);
    for (size_t i = 0; i < f->model->modules.count; i++) {
        if (i > 0)
            putc(',', f->to);
        put_library(f, &f->model->modules.at[i]);
    }
    fputs("],\n\"shared\":{", f->to);
    put_frames(f);
    good = put_functions(f) && put_resources(f);
    fputs("\"stringArray\":[", f->to);
    for (size_t i = 0; i < f->strings.all.count; i++) {
        fputs(i > 0 ? ",\n" : "\n", f->to);
        report_json_text(f->to, f->strings.all.at[i]);
    }
    fputs("]}", f->to);
    return good;
}
