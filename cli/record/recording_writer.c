#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/record/parts.h"
#include "symbols/object.h"

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What this command is built for. */
static uint32_t own_abi(void)
{
    uint8_t start[sizeof(Elf64_Ehdr)];
    struct object_fault fault;
    GElf_Ehdr header;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read(fd, start, sizeof start) == (ssize_t)sizeof start &&
                object_header_read(&header, &fault, start, sizeof start);

    if (fd >= 0)
        close(fd);
    return good ? object_header_abi(&header) : 0;
}

/* @return bytes written; the words are separated by zeros */
static size_t join(char *out, size_t room, char **arguments)
{
    size_t size = 0;

    for (; *arguments; arguments++) {
        const size_t word = strlen(*arguments) + 1;

        if (word > room - size)
            break;
        memcpy(out + size, *arguments, word);
        size += word;
    }
    return size;
}

bool record_writer_open(struct sfb_recording_writer **out, const struct record_file *file,
                        const struct record_request *request, uint32_t engine, const char *text)
{
    static char command[1 << 16];
    char host[6 * sizeof((struct utsname *)NULL)->sysname];
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct utsname name;
    struct timespec tick;
    enum sfb_status status;

    uname(&name);
    snprintf(host, sizeof host, "%s %s %s %s %s", name.sysname, name.nodename, name.release,
             name.version, name.machine);
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    const struct sfb_recording_start start = {
        .monotonic = clock_ns(CLOCK_MONOTONIC),
        .realtime = clock_ns(CLOCK_REALTIME),
        .tick_ns = (uint64_t)tick.tv_nsec,
        .rate_hz = request->rate_hz,
        .engine = engine,
        .recorder_pid = (uint32_t)getpid(),
        .abi = own_abi(),
        .engine_text = text,
        .version = SFB_VERSION,
        .host = host,
        .command = command,
        .command_size = join(command, sizeof command, request->arguments),
        .labels = request->labels.text,
        .labels_size = request->labels.size,
    };
    options.packer = &sfb_recording_zstd;
    options.max_size = request->max_size;
    status = sfb_recording_writer_open(out, file->fd, &start, &options);
    if (status == SFB_OK)
        return true;
    *out = NULL;
    tool_complain(TOOL_FAILED, "record: %s: %s", file->name,
                  errno == EFBIG ? "--max-size is too small for anything" : strerror(errno));
    return false;
}
