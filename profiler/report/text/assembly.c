#include "profiler/report/text/assembly.h"

#include <stdlib.h>

#include "profiler/report/text/disassembler.h"
#include "profiler/report/text/weights.h"

/* Of larger functions the rest is left out. */
enum { INSTRUCTIONS_MAX = 8192, BYTES_MAX = 16 * INSTRUCTIONS_MAX };

/* --- Figures ----------------------------------------------------------------------------------- */

uint32_t report_code_function(const struct report_model *model, uint32_t location)
{
    const struct report_location *l = &model->locations.at[location];

    return l->count > 0 ? model->lines.at[l->at + l->count - 1].function : REPORT_NONE;
}

static void count_stack(struct report_place_weights *w, const struct report_model *model,
                        const struct report_weighed *weighed, size_t number, size_t *last)
{
    const struct report_amount weight = report_weighed_sum(weighed);
    const struct report_stack *stack = &model->stacks.at[weighed->stack];

    for (uint32_t i = 0; i < stack->count; i++) {
        const uint32_t location = model->frames.at[stack->at + i];
        uint32_t function;

        if (location >= model->locations.count)
            continue; /* a mark */
        if (last[location] != number + 1)
            report_amount_add(&w->total[location], &weight);
        last[location] = number + 1;
        if (i > 0)
            continue;
        report_amount_add(&w->self[location], &weight);
        function = report_code_function(model, location);
        if (function != REPORT_NONE)
            report_amount_add(&w->of_code[function], &weight);
    }
}

bool report_place_weights_make(struct report_place_weights *out, const struct report_model *model)
{
    const size_t count = model->locations.count + 1;
    size_t *last = calloc(count, sizeof *last); /* stack that was counted last, + 1 */
    struct report_weights weights = { .count = 0 };
    bool good;

    *out = (struct report_place_weights){ .self = calloc(count, sizeof *out->self),
                                          .total = calloc(count, sizeof *out->total),
                                          .of_code = calloc(model->functions.count + 1,
                                                            sizeof *out->of_code) };
    good = last && out->self && out->total && out->of_code && report_weights_make(&weights, model);
    for (size_t i = 0; good && i < weights.count; i++)
        if (weights.at[i].stack != REPORT_NONE)
            count_stack(out, model, &weights.at[i], i, last);
    report_weights_free(&weights);
    free(last);
    return good;
}

void report_place_weights_free(struct report_place_weights *w)
{
    free(w->self);
    free(w->total);
    free(w->of_code);
}

/* --- Code -------------------------------------------------------------------------------------- */

/* Where a function's code is: in the process that its module was seen in first. */
struct code {
    const struct report_module *module;
    const struct report_namer *namer;
    struct report_place place;
    uint64_t start; /* address of the function */
};

/* What is at an address: the line of the innermost function, and where the containing one begins. */
struct answer {
    struct report_assembly *assembly;
    uint32_t file, line;
    uint64_t start;
    bool have_line, failed;
};

static void take_answer(void *user, const struct report_named *named)
{
    struct answer *a = user;

    if (!a->have_line) {
        a->have_line = true;
        a->line = named->line;
        a->failed |= !report_strings_add(&a->assembly->strings, named->file, &a->file);
    }
    a->start = named->start; /* the one that contains them all comes last */
}

/* @return false: its module is not of a file */
static bool find_code(struct code *out, const struct report_model *model, uint32_t function,
                      struct answer *a)
{
    for (uint32_t i = 0; i < model->locations.count; i++) {
        const struct report_location *l = &model->locations.at[i];
        const struct report_module *m = &model->modules.at[l->module];
        const struct report_source *source = &model->sources[m->source];

        if (report_code_function(model, i) != function)
            continue;
        if (l->kind != REPORT_NATIVE || !source->namer.bytes ||
            !source->namer.use(source->namer.user, source->data, m->process, m->list))
            return false;
        *out = (struct code){ .module = m,
                              .namer = &source->namer,
                              .place = { .kind = REPORT_NATIVE,
                                         .path = report_text(model, m->path),
                                         .build_id = m->build_id,
                                         .build_id_size = m->build_id_size,
                                         .start = m->start,
                                         .end = m->end } };
        a->have_line = false;
        out->namer->find(out->namer->user, m->start + l->offset, take_answer, a);
        out->start = a->start;
        return a->start >= m->start && a->start <= m->start + l->offset;
    }
    return false;
}

/* --- Instructions ------------------------------------------------------------------------------ */

static bool add_instruction(struct report_assembly *out, const struct code *code,
                            const struct answer *a, uint64_t address, size_t size, const char *text)
{
    struct report_instruction *next = REPORT_NEXT(out->instructions);

    if (!next || !report_strings_add(&out->strings, text, &next->text))
        return false;
    next->offset = address - code->module->start;
    next->size = (uint32_t)size;
    next->file = a->file;
    next->line = a->line;
    return true;
}

/* Up to where another function begins. */
static bool disassemble(struct report_assembly *out, const struct code *code,
                        struct report_disassembler *d, const uint8_t *bytes, size_t count,
                        struct answer *a)
{
    uint64_t address = code->start;
    char text[192];

    for (size_t at = 0, size; at < count && out->instructions.count < INSTRUCTIONS_MAX;
         at += size, address += size) {
        a->have_line = false;
        code->namer->find(code->namer->user, address, take_answer, a);
        if (a->failed)
            return false;
        if (a->start != code->start)
            break;
        size = report_disassembler_next(d, bytes + at, count - at, address - code->module->start,
                                        text, sizeof text);
        if (size == 0)
            break;
        if (!add_instruction(out, code, a, address, size, text))
            return false;
    }
    return true;
}

/* @return the instruction that has an offset; NULL: none */
static struct report_instruction *instruction_at(const struct report_assembly *a, uint64_t offset)
{
    size_t low = 0, high = a->instructions.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (a->instructions.at[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || offset - a->instructions.at[low - 1].offset >= a->instructions.at[low - 1].size)
        return NULL;
    return &a->instructions.at[low - 1];
}

static void add_figures(struct report_assembly *out, const struct report_model *model,
                        const struct report_place_weights *weights)
{
    for (uint32_t i = 0; i < model->locations.count; i++) {
        struct report_instruction *instruction;

        if (report_code_function(model, i) != out->function)
            continue;
        instruction = instruction_at(out, model->locations.at[i].offset);
        if (!instruction) {
            report_amount_add(&out->elsewhere, &weights->self[i]);
            continue;
        }
        report_amount_add(&instruction->self, &weights->self[i]);
        report_amount_add(&instruction->total, &weights->total[i]);
    }
}

enum report_assembly_end report_assembly_make(struct report_assembly *out,
                                              const struct report_model *model,
                                              const struct report_place_weights *weights,
                                              uint32_t function)
{
    struct answer answer = { .assembly = out };
    struct report_disassembler *disassembler = NULL;
    enum report_assembly_end end = REPORT_ASSEMBLY_DONE;
    uint8_t *bytes = NULL;
    size_t count = 0;
    uint16_t machine;
    struct code code;

    *out = (struct report_assembly){ .function = function };
    if (!find_code(&code, model, function, &answer))
        return answer.failed ? REPORT_ASSEMBLY_NO_MEMORY : REPORT_ASSEMBLY_NO_CODE;
    bytes = malloc(BYTES_MAX);
    if (bytes)
        count = code.namer->bytes(code.namer->user, &code.place, code.start, bytes, BYTES_MAX,
                                  &machine);
    if (bytes && count > 0)
        disassembler = report_disassembler_open(machine);
    if (!bytes)
        end = REPORT_ASSEMBLY_NO_MEMORY;
    else if (count == 0)
        end = REPORT_ASSEMBLY_NO_CODE;
    else if (!disassembler)
        end = REPORT_ASSEMBLY_NO_DISASSEMBLER;
    else if (!disassemble(out, &code, disassembler, bytes, count, &answer))
        end = REPORT_ASSEMBLY_NO_MEMORY;
    report_disassembler_close(disassembler);
    free(bytes);
    if (end == REPORT_ASSEMBLY_DONE)
        add_figures(out, model, weights);
    return end;
}

const char *report_assembly_str(enum report_assembly_end end)
{
    switch (end) {
    case REPORT_ASSEMBLY_DONE: return "done";
    case REPORT_ASSEMBLY_NO_MEMORY: return "no memory";
    case REPORT_ASSEMBLY_NO_CODE:
        return "its module's file is not here, or is of another build: --symbol-path DIR looks "
               "below DIR";
    case REPORT_ASSEMBLY_NO_DISASSEMBLER:
        return "no disassembler for this machine: sfb is built with one where libcapstone-dev is "
               "installed";
    }
    return "unknown";
}

void report_assembly_free(struct report_assembly *a)
{
    report_strings_free(&a->strings);
    free(a->instructions.at);
}
