#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/ctl/ctl.h"
#include "cli/heap_overruns.h"
#include "cli/tool_reporter.h"
#include "profiler/collector/live/heap_recording.h"
#include "profiler/collector/live/live_map.h"
#include "profiler/collector/live/live_marks.h"
#include "profiler/protocol/live_write.h"
#include "util/counted.h"

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* --- what is said beside it ------------------------------------------------------------------------- */

static void say_limits(const struct live_map *m, const struct sfb_live_tails *tails)
{
    const struct sfb_live *h = &m->view.head;
    const struct sfb_live_counts *c = &h->counts;

    if (h->level_most > 0)
        tool_complain(TOOL_DONE,
                      "the table was full: %s left out of samples; amounts are estimates. A larger "
                      "SFB_HEAP_LIVE helps",
                      counted(c->unsampled, "blocks were").text);
    if (c->no_slot > 0)
        tool_complain(TOOL_DONE, "%s had no place", counted(c->no_slot, "blocks").text);
    if (c->no_stack > 0)
        tool_complain(TOOL_DONE,
                      "the table of stacks was full: %s recorded without a stack. A larger "
                      "SFB_HEAP_LIVE helps",
                      counted(c->no_stack, "blocks were").text);
    if (c->no_list > 0)
        tool_complain(TOOL_DONE, "%s of modules did not fit: some frames have no names",
                      counted(c->no_list, "lists").text);
    if (m->sum.changed > 0)
        tool_complain(TOOL_DONE, "left out: %s that changed during the read",
                      counted(m->sum.changed, "slots").text);
    if (c->overruns > 0)
        tool_complain(TOOL_DONE, "%s overrun and then freed",
                      counted(c->overruns, "blocks were").text);
    if (h->headers > 0)
        tool_complain(TOOL_DONE,
                      "%s freed with a size that an overrun of the block before had overwritten",
                      counted(h->headers, "blocks were").text);
    if (c->foreign + c->unidentified > 0)
        tool_complain(TOOL_DONE,
                      "%s freed that the table did not know, %lu more were such or overrun",
                      counted(c->foreign, "blocks were").text, (unsigned long)c->unidentified);
    if (h->flags & SFB_LIVE_BYPASSED)
        tool_complain(TOOL_DONE,
                      "some calls of malloc() or free() bypass the agent (RTLD_DEEPBIND, "
                      "__libc_malloc()): %s left out, and overruns cannot be detected",
                      counted(h->unseen + (tails ? tails->unseen : 0), "blocks were").text);
    if (tails && tails->gone)
        tool_complain(TOOL_DONE, "the process ended meanwhile: no more tails could be looked at");
    if (tails && !(h->flags & SFB_LIVE_BYPASSED))
        tool_complain(TOOL_DONE, "%s looked at: %lu overwritten, %lu could not be read",
                      counted(tails->checked, "tails").text, (unsigned long)tails->overruns,
                      (unsigned long)(tails->unreadable + tails->unknown));
}

static enum tool_exit judge(const struct live_map *m, const struct sfb_live_tails *tails)
{
    if (m->sum.bad > 0)
        return tool_complain(TOOL_BAD_DATA, "the map was overwritten: contradictions in %s",
                             counted(m->sum.bad, "slots").text);
    return tails && tails->overruns > 0 ? TOOL_BAD_DATA : TOOL_DONE;
}

/* --- lines ------------------------------------------------------------------------------------------ */

static bool put(void *user, const char *lines, size_t size)
{
    return fwrite(lines, 1, size, user) == size;
}

static enum tool_exit write_lines(const struct live_map *m, const struct sfb_live_tails *tails)
{
    struct sfb_live_write *write = malloc(sizeof *write);
    struct sfb_live_visitor visitor;

    if (!write)
        return tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    sfb_live_write_begin(write, put, stdout, &visitor);
    if (sfb_live_visit(&m->view, &m->sum, tails, clock_ns(CLOCK_MONOTONIC),
                       clock_ns(CLOCK_REALTIME), &visitor))
        sfb_live_write_flush(write);
    free(write); /* what cannot be written is said at the end */
    return TOOL_DONE;
}

/* --- a recording ------------------------------------------------------------------------------------ */

/* A file that is to be overwritten is written beside, and takes its place when it is whole. */
struct output {
    const char *path;
    char beside[4096]; /* "": it is new */
    int fd;
};

static bool open_output(struct output *out, const char *path, bool force)
{
    struct stat file;

    *out = (struct output){ .path = path };
    out->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out->fd < 0 && errno == EEXIST && force && stat(path, &file) == 0 &&
        S_ISREG(file.st_mode) &&
        snprintf(out->beside, sizeof out->beside, "%s.new-%ld", path, (long)getpid()) <
            (int)sizeof out->beside)
        out->fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out->fd < 0 && errno == EEXIST)
        tool_complain(TOOL_USAGE, "ctl: %s exists; -f overwrites it", path);
    else if (out->fd < 0)
        tool_complain(TOOL_USAGE, "ctl: %s: %s", path, strerror(errno));
    return out->fd >= 0;
}

/* @return false: see errno; then no file is left of it */
static bool close_output(struct output *out, bool good)
{
    int cause;

    good = close(out->fd) == 0 && good;
    if (good && out->beside[0])
        good = rename(out->beside, out->path) == 0;
    if (good)
        return true;
    cause = errno;
    unlink(out->beside[0] ? out->beside : out->path);
    errno = cause;
    return false;
}

static enum tool_exit write_recording(const struct ctl_look *look, const struct live_map *m,
                                      const struct sfb_live_tails *tails)
{
    struct object_places places = { 0 };
    struct symbols *symbols = symbols_open(&places, &tool_complaints);
    struct output output = { .fd = -1 };
    struct sfb_live_visitor writer, visitor;
    struct heap_recording recording;
    struct heap_overruns overruns;
    enum sfb_status status;

    if (!symbols || !open_output(&output, look->output, look->force)) {
        symbols_close(symbols);
        return TOOL_USAGE;
    }
    heap_recording_begin(&recording, output.fd, &writer);
    heap_overruns_begin(&overruns, symbols, OBJECT_NAME_FULL, &writer, &visitor);
    sfb_live_visit(&m->view, &m->sum, tails, clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME),
                   &visitor);
    errno = 0;
    status = heap_recording_end(&recording);
    heap_overruns_end(&overruns);
    symbols_close(symbols);
    if (!close_output(&output, status == SFB_OK && overruns.exit_status != TOOL_USAGE))
        return tool_complain(TOOL_USAGE, "ctl: %s: %s", look->output,
                             errno ? strerror(errno) : sfb_status_str(status));
    printf("%s: %s, %s\n", look->output, counted(sfb_live_count(m->sum.all.blocks), "blocks").text,
           counted(sfb_live_count(m->sum.all.bytes), "bytes").text);
    return overruns.exit_status;
}

/* --- all of it -------------------------------------------------------------------------------------- */

static enum tool_exit write_dump(const struct ctl_request *r, const struct ctl_look *look,
                                 struct live_map *map)
{
    const bool checks = r->check_tails || map->view.head.flags & SFB_LIVE_BYPASSED;
    struct sfb_live_tails *tails = NULL;
    enum tool_exit exit_status;

    if (r->check_tails && map->state != LIVE_MAP_RUNNING)
        tool_complain(TOOL_DONE, "the process is %s: no tails can be looked at",
                      map->state == LIVE_MAP_HELD ? "not here" : "gone");
    else if (checks && map->state == LIVE_MAP_RUNNING && (tails = malloc(sizeof *tails)) != NULL)
        live_map_check_tails(map, tails);
    exit_status = look->output ? write_recording(look, map, tails) : write_lines(map, tails);
    say_limits(map, tails);
    exit_status = tool_worse(exit_status, judge(map, tails));
    free(tails);
    return exit_status;
}

/* @return whether the marks that are wanted are there; else after a complaint */
static bool choose_eras(const struct ctl_request *r, struct live_map *map)
{
    const char *unknown;

    if (live_marks_between(&map->head, r->since, r->until, &map->eras, &unknown))
        return true;
    tool_complain(TOOL_USAGE, "%s: no mark is called '%s': sfb ctl %s marks", r->target, unknown,
                  r->target);
    return false;
}

enum tool_exit ctl_dump_once(const struct ctl_request *r, struct ctl_look *look)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct live_map map;
    const char *cause;

    look->bytes = 0;
    if (!ctl_open_target(&map, r->target))
        return TOOL_USAGE;
    if (!choose_eras(r, &map)) {
        live_map_close(&map);
        return TOOL_USAGE;
    }
    cause = live_map_read(&map);
    if (cause)
        exit_status = tool_complain(TOOL_BAD_DATA, "%s: %s", r->target, cause);
    else
        look->bytes = sfb_live_count(map.sum.all.bytes);
    if (!cause && (look->above == 0 || look->bytes > look->above))
        exit_status = write_dump(r, look, &map);
    live_map_close(&map);
    return exit_status;
}

enum tool_exit ctl_dump(const struct ctl_request *r)
{
    struct ctl_look look = { .output = r->output, .force = r->force };

    return ctl_dump_once(r, &look);
}
