/* Records its own stack, and reads the recording back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sfb/recording.h>
#include <sframe_backtrace.h>

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum sfb_status record(int fd)
{
    struct sfb_recording_start start = { .monotonic = now(CLOCK_MONOTONIC),
                                         .realtime = now(CLOCK_REALTIME),
                                         .command = "consumer",
                                         .command_size = sizeof "consumer" };
    struct sfb_recording_process process = { .id = 1, .program = "consumer" };
    struct sfb_recording_thread thread = { .id = 1, .process = 1, .name = "main" };
    struct sfb_recording_sample sample = { .thread = 1, .time = start.monotonic, .end = SFB_END };
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *writer;
    unsigned char stack[512];
    ssize_t size = sframe_backtrace_cbf(stack, sizeof stack, NULL, NULL);
    enum sfb_status status;

    options.packer = &sfb_recording_zstd;
    status = sfb_recording_writer_open(&writer, fd, &start, &options);
    if (status != SFB_OK)
        return status;
    sfb_recording_put_process(writer, &process);
    sfb_recording_put_thread(writer, &thread);
    if (size > 0)
        sfb_recording_put_stack(writer, &sample.stack, 1, stack, (size_t)size);
    sample.weight = now(CLOCK_THREAD_CPUTIME_ID);
    sfb_recording_put_sample(writer, &sample);
    return sfb_recording_writer_close(writer, now(CLOCK_MONOTONIC), "the program ended");
}

static int show(const char *path)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    struct sfb_recording_health health;
    struct sfb_error error;
    int samples = 0;

    if (sfb_recording_reader_open(&reader, path, &error) != SFB_OK) {
        printf("%s: %s at %llu: %s\n", path, error.field, (unsigned long long)error.offset,
               error.status == SFB_NO_RESOURCE ? strerror(errno) : sfb_status_str(error.status));
        return 1;
    }
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind == SFB_EVENT_STACK)
            printf("stack %u: %zu bytes of CBF\n", event.of.stack.id, event.of.stack.size);
        if (event.kind == SFB_EVENT_SAMPLE) {
            printf("sample of stack %u: %llu ns\n", event.of.sample.stack,
                   (unsigned long long)event.of.sample.weight);
            samples += event.of.sample.stack == 1;
        }
    }
    sfb_recording_reader_health(reader, &health);
    sfb_recording_reader_close(reader);
    return !health.finished || health.lost_records > 0 || samples != 1;
}

int main(int count, char **words)
{
    const char *path = count > 1 ? words[1] : "consumer.sfbr";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    enum sfb_status status = fd < 0 ? SFB_NO_RESOURCE : record(fd);

    if (status != SFB_OK) {
        printf("%s: %s\n", path, sfb_status_str(status));
        return 1;
    }
    close(fd);
    return show(path);
}
