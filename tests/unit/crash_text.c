/* The text of crash reports: numbers, foreign names, and descriptors that do not take it. */
#include "crash/text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash/names.h"
#include "support/test.h"

static struct sfb_text text;

static void begin(void)
{
    sfb_text_begin(&text, memfd_create("text", 0), false, false);
}

static const char *written(void)
{
    static char bytes[64 << 10];
    ssize_t size;

    sfb_text_flush(&text);
    size = pread(text.fd, bytes, sizeof bytes - 1, 0);
    cr_assert(size >= 0);
    bytes[size] = '\0';
    close(text.fd);
    return bytes;
}

Test(crash_text, writes_numbers_as_printf_does)
{
    static const uint64_t values[] = {
        0,         1, 9, 10, 15, 16, 0xfff, 0x1000, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1,
        UINT64_MAX
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char want[64];

        begin();
        sfb_text_decimal(&text, (int64_t)values[i]);
        sfb_text_char(&text, ' ');
        sfb_text_hex(&text, values[i]);
        snprintf(want, sizeof want, "%ld 0x%lx", (int64_t)values[i], values[i]);
        cr_expect(eq(str, (char *)(uintptr_t)written(), want));
    }
}

Test(crash_text, writes_bytes_and_escapes_what_others_chose)
{
    static const uint8_t bytes[] = { 0x00, 0x9f, 0xa0, 0xff };
    const char *foreign = "a b\n\\\"\x7f\xc3\xa4";

    begin();
    sfb_text_bytes(&text, bytes, sizeof bytes);
    sfb_text_string(&text, " ");
    for (const char *c = foreign; *c; c++)
        sfb_text_foreign(&text, *c, '"');
    cr_expect(eq(str, (char *)(uintptr_t)written(),
                 (char *)(uintptr_t) "009fa0ff a b\\012\\134\\042\\177\xc3\xa4"));
}

Test(crash_text, is_written_whole_however_long)
{
    char want[3 * SFB_TEXT_SIZE + 2];

    begin();
    for (size_t i = 0; i < sizeof want - 1; i++) {
        want[i] = (char)('a' + i % 26);
        sfb_text_char(&text, want[i]);
    }
    want[sizeof want - 1] = '\0';
    cr_expect(strcmp(written(), want) == 0);
}

Test(crash_text, that_cannot_be_written_is_lost_and_nothing_else)
{
    sigset_t set, pending;
    int ends[2];

    sfb_text_begin(&text, -1, false, false);
    sfb_text_string(&text, "nowhere");
    sfb_text_flush(&text);
    cr_expect(text.failed && text.used == 0);

    /* Nobody reads, and the signal that says so is blocked, as it is in the handler. */
    cr_assert(pipe(ends) == 0);
    close(ends[0]);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sfb_text_begin(&text, ends[1], true, false);
    sfb_text_string(&text, "nobody");
    sfb_text_flush(&text);
    cr_expect(text.failed);
    sigpending(&pending);
    cr_expect(not(sigismember(&pending, SIGPIPE)));
}

Test(crash_text, waits_for_a_reader_no_longer_than_it_says)
{
    static const bool ways[] = { false, true };

    for (size_t i = 0; i < 2; i++) {
        char bytes[4096] = "";
        int ends[2];

        cr_assert(pipe2(ends, O_NONBLOCK) == 0);
        while (write(ends[1], bytes, sizeof bytes) > 0)
            ;
        sfb_text_begin(&text, ends[1], ways[i], false);
        text.waited_ms = SFB_TEXT_WAIT_MS - 100;
        sfb_text_string(&text, "full");
        sfb_text_flush(&text);
        cr_expect(text.failed && text.waited_ms >= SFB_TEXT_WAIT_MS);
    }
}

Test(crash_text, has_names_for_signals_and_reasons)
{
    cr_expect(strcmp(sfb_crash_signal_name(SIGSEGV), "SIGSEGV") == 0);
    cr_expect(strcmp(sfb_crash_signal_name(SIGTERM), "signal") == 0);
    cr_expect(strcmp(sfb_crash_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR") == 0);
    cr_expect(strcmp(sfb_crash_code_name(SIGFPE, SI_TKILL), "SI_TKILL") == 0);
    cr_expect(strcmp(sfb_crash_code_name(SIGFPE, 4711), "?") == 0);
}
