#include "remote/core_notes.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "remote/core_fault.h"
#include "util/grow.h"

/* struct elf_prstatus, elf_prpsinfo and siginfo_t of 64 bits. */
enum {
    PRSTATUS_SIGNAL = 12,
    PRSTATUS_PID = 32,
    PRSTATUS_TIMES = 48, /* user and system, each seconds and microseconds */
    PRSTATUS_REGISTERS = 112,
    PRPSINFO_PID = 24,
    PRPSINFO_NAME = 40,
    PRPSINFO_NAME_SIZE = 16,
    PRPSINFO_ARGUMENTS = 56,
    PRPSINFO_ARGUMENTS_SIZE = 80,
    SIGINFO_CODE = 8,
    SIGINFO_SENDER = 16,
    SIGINFO_ADDRESS = 16
};

/* Words of NT_PRSTATUS's registers. */
static size_t register_count(const struct remote_core_file *file)
{
    return file->machine == EM_X86_64 ? 27 : 34;
}

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static int32_t int_at(const uint8_t *at)
{
    int32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t cpu_time(const uint8_t *times)
{
    return (word_at(times) + word_at(times + 16)) * 1000000000 +
           (word_at(times + 8) + word_at(times + 24)) * 1000;
}

static bool add_thread(struct remote_core_notes *out, const struct remote_core_bytes *note,
                       size_t registers)
{
    struct remote_core_status *t;
    uint64_t *words;
    int16_t signal;

    if (note->size < PRSTATUS_REGISTERS + registers * sizeof(uint64_t))
        return true; /* it is no NT_PRSTATUS of this machine */
    if (!array_make_room(&out->threads, out->thread_count, &out->thread_room, sizeof *out->threads))
        return false;
    words = malloc(registers * sizeof *words);
    if (!words)
        return false;
    memcpy(words, note->at + PRSTATUS_REGISTERS, registers * sizeof *words);
    memcpy(&signal, note->at + PRSTATUS_SIGNAL, sizeof signal);
    t = &out->threads[out->thread_count++];
    *t = (struct remote_core_status){ .tid = int_at(note->at + PRSTATUS_PID),
                                      .signal = signal,
                                      .cpu_time = cpu_time(note->at + PRSTATUS_TIMES),
                                      .words = words };
    return true;
}

static void keep_first(struct remote_core_bytes *out, const struct remote_core_bytes *note)
{
    if (!out->at)
        *out = *note;
}

/* @return false: no memory */
static bool take(struct remote_core_notes *out, uint32_t type, const struct remote_core_bytes *note,
                 size_t registers)
{
    switch (type) {
    case NT_PRSTATUS: return add_thread(out, note, registers);
    case NT_PRPSINFO: keep_first(&out->process, note); break;
    case NT_SIGINFO: keep_first(&out->signal, note); break;
    case NT_AUXV: keep_first(&out->auxv, note); break;
    case NT_FILE: keep_first(&out->files, note); break;
    default: break;
    }
    return true;
}

static uint64_t padded(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

/* Each: sizes of name and contents, type, name, contents. @return false: no memory */
static bool read_notes(struct remote_core_notes *out, struct sfb_reader r, size_t registers)
{
    while (r.left >= 12) {
        const uint64_t name_size = sfb_reader_u32(&r), size = sfb_reader_u32(&r);
        const uint32_t type = sfb_reader_u32(&r);
        const uint8_t *name = r.pos;
        struct remote_core_bytes note;
        bool is_core;

        sfb_reader_skip(&r, padded(name_size));
        note = (struct remote_core_bytes){ r.pos, size };
        is_core = !r.failed && name_size == 5 && memcmp(name, "CORE", 5) == 0;
        if (r.failed || size > r.left) {
            out->cut = true;
            return true;
        }
        if (is_core && !take(out, type, &note, registers))
            return false;
        sfb_reader_skip(&r, padded(size) < r.left ? padded(size) : r.left);
    }
    return true;
}

bool remote_core_notes_read(struct remote_core_notes *out, const struct remote_core_file *file,
                            struct sfb_remote_fault *fault)
{
    const struct sfb_reader r = { .pos = file->notes, .left = file->notes_size };
    bool good;

    *out = (struct remote_core_notes){ .thread_count = 0 };
    good = read_notes(out, r, register_count(file)) || remote_core_fault(fault, "out of memory");
    if (good && out->thread_count == 0)
        good = remote_core_fault(fault, file->lost > 0 || out->cut
                                            ? "it is cut off before the registers of a thread"
                                            : "it has no thread's registers (NT_PRSTATUS)");
    if (!good)
        remote_core_notes_free(out);
    return good;
}

void remote_core_notes_free(struct remote_core_notes *notes)
{
    for (size_t i = 0; i < notes->thread_count; i++)
        free(notes->threads[i].words);
    free(notes->threads);
    *notes = (struct remote_core_notes){ .thread_count = 0 };
}

uint64_t remote_core_auxv(const struct remote_core_notes *notes, uint64_t type)
{
    for (size_t at = 0; at + 16 <= notes->auxv.size; at += 16)
        if (word_at(notes->auxv.at + at) == type)
            return word_at(notes->auxv.at + at + 8);
    return 0;
}

static void copy_text(char *out, size_t room, const uint8_t *from, size_t size)
{
    size = size < room - 1 ? size : room - 1;
    memcpy(out, from, size);
    out[size] = '\0';
}

static void describe_process(struct sfb_remote_core *out, const struct remote_core_bytes *note)
{
    if (note->size < PRPSINFO_ARGUMENTS + PRPSINFO_ARGUMENTS_SIZE)
        return;
    out->pid = int_at(note->at + PRPSINFO_PID);
    copy_text(out->name, sizeof out->name, note->at + PRPSINFO_NAME, PRPSINFO_NAME_SIZE);
    copy_text(out->arguments, sizeof out->arguments, note->at + PRPSINFO_ARGUMENTS,
              PRPSINFO_ARGUMENTS_SIZE);
    for (size_t i = strlen(out->arguments); i > 0 && out->arguments[i - 1] == ' '; i--)
        out->arguments[i - 1] = '\0';
}

static void describe_signal(struct sfb_remote_core *out, const struct remote_core_bytes *note)
{
    if (note->size < SIGINFO_ADDRESS + 8 || int_at(note->at) != out->signal || out->signal == 0)
        return;
    out->has_code = true;
    out->code = int_at(note->at + SIGINFO_CODE);
    if (out->code <= 0)
        out->sender = int_at(note->at + SIGINFO_SENDER);
    else
        out->address = word_at(note->at + SIGINFO_ADDRESS);
}

void remote_core_notes_describe(struct sfb_remote_core *out, const struct remote_core_notes *notes)
{
    out->pid = notes->threads[0].tid;
    out->signal = notes->threads[0].signal;
    describe_process(out, &notes->process);
    describe_signal(out, &notes->signal);
}
