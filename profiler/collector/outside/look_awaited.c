#include "profiler/collector/outside/look_awaited.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/collector/outside/look_socket.h"
#include "profiler/collector/outside/outside.h"

/* Beyond these, sockets and files are called by their kind alone, and futexes are not known. */
enum { DESCRIPTORS_MOST = 16384, FUTEXES_MOST = 65536, NAME = 512 };

/* A set of select() with more than an fd_set has room for is not read: the kernel reads no more of it than the table of descriptors has. */
enum { SELECT_MOST = 1024, SET_BITS = 64 };

/* --- Descriptors ---------------------------------------------------------------------------------------- */

struct awaited_name {
    uint32_t kind; /* enum sfb_recording_awaited_kind */
    char text[NAME];
};

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "anon_inode:[eventfd]", "anon_inode:inotify": the word in it. */
static void name_of_anonymous(struct awaited_name *out, const char *link)
{
    static const struct {
        const char *word, *name;
        uint32_t kind;
    } known[] = { { "eventfd", "eventfd", SFB_AWAITED_EVENTFD },
                  { "timerfd", "timerfd", SFB_AWAITED_TIMERFD },
                  { "eventpoll", "epoll", SFB_AWAITED_EPOLL } };
    const char *word = strchr(link, ':') + 1;

    word += *word == '[';
    out->kind = SFB_AWAITED_OTHER;
    snprintf(out->text, sizeof out->text, "%.*s", (int)strcspn(word, "]"), word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(out->text, known[i].word) == 0) {
            out->kind = known[i].kind;
            snprintf(out->text, sizeof out->text, "%s", known[i].name);
        }
}

/* @param most  nothing is asked that is of this descriptor alone */
static void name_of_descriptor(struct awaited_name *out, const struct look_process *p,
                               int descriptor, const char *link, bool most)
{
    if (has_prefix(link, "anon_inode:")) {
        name_of_anonymous(out, link);
    } else if (has_prefix(link, "socket:[")) {
        out->kind = SFB_AWAITED_SOCKET;
        if (most || !look_socket_name(out->text, sizeof out->text, p->pid, descriptor,
                                      strtoull(link + strlen("socket:["), NULL, 10)))
            snprintf(out->text, sizeof out->text, "socket");
    } else if (has_prefix(link, "pipe:[")) {
        out->kind = SFB_AWAITED_PIPE;
        snprintf(out->text, sizeof out->text, "%s", most ? "pipe" : link);
    } else {
        out->kind = SFB_AWAITED_FILE;
        snprintf(out->text, sizeof out->text, "%s", most ? "file" : link);
    }
}

/* @return its id, if the same was behind the descriptor before; 0: it was not */
static uint32_t *find_known(struct look_awaited *a, uint32_t process, int descriptor,
                            const char *link)
{
    char key[NAME + 64];
    uint32_t number;

    snprintf(key, sizeof key, "%u %d %s", (unsigned)process, descriptor, link);
    if (!report_strings_add(&a->keys, key, &number))
        return NULL;
    return number < a->ids.count ? &a->ids.at[number] : REPORT_NEXT(a->ids);
}

/* A socket that is not connected may be, later. */
static bool may_change(const struct awaited_name *name)
{
    return name->kind == SFB_AWAITED_SOCKET && strstr(name->text, "not connected") != NULL;
}

/* @param link  written, NAME bytes. @return false: nothing is open there, or that may not be read */
static bool read_link(char *link, const struct look_process *p, pid_t tid, int descriptor)
{
    char path[64];
    ssize_t size;

    snprintf(path, sizeof path, "%d/fd/%d", (int)tid, descriptor);
    size = readlinkat(p->tasks, path, link, NAME - 1);
    link[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static bool find_descriptor(struct looks *l, const struct look_process *p, pid_t tid,
                            int descriptor, uint32_t *id)
{
    const uint32_t process = outside_id_of(l->outside, (uint32_t)p->pid);
    struct look_awaited *a = &l->awaited;
    struct awaited_name name;
    char link[NAME];
    uint32_t *known = NULL;

    if (!read_link(link, p, tid, descriptor))
        return true;
    if (a->ids.count < DESCRIPTORS_MOST) {
        known = find_known(a, process, descriptor, link);
        if (!known)
            return false;
        *id = *known;
        if (*id != 0)
            return true;
    }
    name_of_descriptor(&name, p, descriptor, link, !known);
    if (!outside_put_awaited(
            l->outside, (uint32_t)p->pid,
            &(struct sfb_recording_awaited){ .kind = name.kind, .name = name.text }, id))
        return false;
    if (known && !may_change(&name))
        *known = *id;
    return true;
}

static bool put_several(struct looks *l, const struct look_process *p, uint64_t count, uint32_t *id)
{
    char text[64];

    snprintf(text, sizeof text, "%llu descriptors", (unsigned long long)count);
    return outside_put_awaited(
        l->outside, (uint32_t)p->pid,
        &(struct sfb_recording_awaited){ .kind = SFB_AWAITED_OTHER, .name = text }, id);
}

/* poll() and ppoll(): the one descriptor, or how many there are. */
static bool find_polled(struct looks *l, const struct look_process *p, pid_t tid, uint32_t *id)
{
    const struct remote_task_call *call = &l->look.call;
    const uint64_t count = call->argument[1];
    struct pollfd one;

    if (count == 1 &&
        remote_memory_read(p->memory.pid, call->argument[0], &one, sizeof one) == sizeof one)
        return one.fd < 0 || find_descriptor(l, p, tid, one.fd, id);
    return count <= 1 || put_several(l, p, count, id);
}

/*
 * The descriptors in any of the three sets of select(), which the kernel has copied: it writes them at the call's end.
 *
 * @param all  written: their bits, SELECT_MOST of them
 * @return how many there are; 0: none, or they cannot be read
 */
static unsigned read_sets(uint64_t *all, const struct remote_task_call *call, pid_t pid)
{
    const int limit = (int)call->argument[0];
    const size_t words = limit > 0 ? ((size_t)limit + SET_BITS - 1) / SET_BITS : 0;
    uint64_t set[SELECT_MOST / SET_BITS];
    unsigned count = 0;

    if (limit <= 0 || limit > SELECT_MOST)
        return 0;
    memset(all, 0, words * sizeof *all);
    for (unsigned i = 1; i <= 3; i++) {
        const uint64_t address = call->argument[i];

        if (address == 0)
            continue;
        if (remote_memory_read(pid, address, set, words * sizeof *set) != words * sizeof *set)
            return 0;
        for (size_t k = 0; k < words; k++)
            all[k] |= set[k];
    }
    if (limit % SET_BITS != 0)
        all[words - 1] &= ((uint64_t)1 << (limit % SET_BITS)) - 1;
    for (size_t k = 0; k < words; k++)
        count += (unsigned)__builtin_popcountll(all[k]);
    return count;
}

/* select() and pselect6(): as find_polled(). */
static bool find_selected(struct looks *l, const struct look_process *p, pid_t tid, uint32_t *id)
{
    uint64_t all[SELECT_MOST / SET_BITS];
    const unsigned count = read_sets(all, &l->look.call, p->memory.pid);
    size_t word = 0;

    if (count == 0)
        return true;
    if (count > 1)
        return put_several(l, p, count, id);
    while (all[word] == 0)
        word++;
    return find_descriptor(l, p, tid, (int)(word * SET_BITS) + __builtin_ctzll(all[word]), id);
}

/* --- Futexes -------------------------------------------------------------------------------------------- */

/* Also one that was not listed yet. */
static bool has_thread(struct look_process *p, pid_t tid)
{
    char name[16];

    snprintf(name, sizeof name, "%d", (int)tid);
    return tid > 0 && (look_thread_of(p, tid) || faccessat(p->tasks, name, F_OK, 0) == 0);
}

/*
 * pthread_join() waits on the word with the number of the thread, which the kernel clears: such a futex is shared. The thread may be of
 * another PID namespace: then its number proves nothing.
 */
static bool is_join(const struct remote_task_call *call, struct look_process *p)
{
    const int operation = (int)call->argument[1];

    return !(operation & FUTEX_PRIVATE_FLAG) &&
           ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT ||
            (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) &&
           has_thread(p, (pid_t)call->argument[2]);
}

static bool find_futex(struct looks *l, struct look_process *p, uint32_t *id)
{
    const uint64_t address = l->look.call.argument[0];
    const uint32_t process = outside_id_of(l->outside, (uint32_t)p->pid);
    struct sfb_recording_awaited event = { .kind = SFB_AWAITED_FUTEX,
                                           .address = address,
                                           .name = "" };
    struct look_awaited *a = &l->awaited;
    const struct look_mapping *mapping;
    bool found;

    if (l->look.python.gil == SFB_GIL_WAITED) {
        event.address = 0;
        event.name = "the GIL";
        return outside_put_awaited(l->outside, (uint32_t)p->pid, &event, id);
    }
    if (is_join(&l->look.call, p)) {
        event = (struct sfb_recording_awaited){ .kind = SFB_AWAITED_OTHER,
                                                .name = "the end of a thread" };
        return outside_put_awaited(l->outside, (uint32_t)p->pid, &event, id);
    }
    if (report_index_has(&a->futexes, process, address, id) || a->futexes.count >= FUTEXES_MOST)
        return true;
    mapping = look_mappings_find(&p->mappings, p->memory.pid, address);
    if (!mapping) /* it is new: the next look finds it */
        return true;
    event.start = mapping->module;
    event.name = mapping->name;
    return outside_put_awaited(l->outside, (uint32_t)p->pid, &event, id) &&
           (*id == 0 || report_index_find(&a->futexes, process, address, *id, id, &found));
}

bool look_awaited_find(struct looks *l, struct look_process *p, pid_t tid, uint32_t *id)
{
    const struct remote_task_call *call = &l->look.call;

    *id = 0;
    if (!call->in_call || outside_id_of(l->outside, (uint32_t)p->pid) == 0)
        return true;
    if (call->number == SYS_futex)
        return find_futex(l, p, id);
    if (sfb_remote_call_takes_descriptor(call->number))
        return find_descriptor(l, p, tid, (int)call->argument[0], id);
#ifdef SYS_poll
    if (call->number == SYS_poll)
        return find_polled(l, p, tid, id);
#endif
#ifdef SYS_select
    if (call->number == SYS_select)
        return find_selected(l, p, tid, id);
#endif
    if (call->number == SYS_pselect6)
        return find_selected(l, p, tid, id);
    return call->number != SYS_ppoll || find_polled(l, p, tid, id);
}

void look_awaited_free(struct look_awaited *a)
{
    report_index_free(&a->futexes);
    report_strings_free(&a->keys);
    free(a->ids.at);
}
