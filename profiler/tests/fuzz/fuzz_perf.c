/*
 * Bytes from anywhere as a file of `perf record`: its records, lists and stacks are hostile. Whatever they are, the recording
 * that comes of them is whole.
 */
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/collector/outside/perf_import.h"

static void check_recording(int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    struct sfb_recording_reader *reader;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    enum sfb_status status;

    FUZZ_CHECK(bytes != MAP_FAILED);
    FUZZ_CHECK(sfb_recording_reader_open_bytes(&reader, bytes, (size_t)size, NULL) == SFB_OK);
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK) {
    }
    FUZZ_CHECK(status == SFB_END);
    sfb_recording_reader_health(reader, &health);
    FUZZ_CHECK(health.finished && health.bad_blocks == 0 && health.bad_records == 0 &&
               health.skipped == 0);
    sfb_recording_reader_close(reader);
    munmap(bytes, (size_t)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct perf_import import;

    FUZZ_CHECK(fd >= 0);
    if (perf_import(&import, data, size, "fuzz", fd))
        check_recording(fd);
    else
        FUZZ_CHECK(import.why[0] != '\0');
    close(fd);
    return 0;
}
