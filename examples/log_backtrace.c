/*
 * Logs a backtrace as text: `~c#` and base64, in a line of any log. `sfb symbolize` finds it there. A log has no modules:
 * the program keeps them beside it.
 */
#include <sframe_backtrace.h>
#include <stdio.h>
#include <string.h>

enum { STACK_SIZE = 384 }; /* a multiple of three, as base64 takes them */

static void log_base64(FILE *log, const uint8_t *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        const unsigned bits = (unsigned)(bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2]);

        fputc(letters[bits >> 18], log);
        fputc(letters[bits >> 12 & 63], log);
        fputc(i + 1 < size ? letters[bits >> 6 & 63] : '=', log);
        fputc(i + 2 < size ? letters[bits & 63] : '=', log);
    }
}

static void log_backtrace(FILE *log, const char *message)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    uint8_t stack[STACK_SIZE];
    ssize_t size;

    options.skip = 1; /* log_backtrace() itself */
    size = sframe_backtrace_cbf(stack, sizeof stack, &options, NULL);
    if (size < 0)
        return;
    memset(stack + size, 0, sizeof stack - (size_t)size);
    fprintf(log, "%s ~c#", message);
    log_base64(log, stack, (size_t)size);
    fputc('\n', log);
}

static void keep_modules(const char *path)
{
    static uint8_t map[65536];
    ssize_t size = sframe_backtrace_image_map(map, sizeof map, NULL);
    FILE *out = fopen(path, "w");

    if (out && size > 0)
        fwrite(map, 1, (size_t)size, out);
    if (out)
        fclose(out);
}

static void grow(void)
{
    log_backtrace(stdout, "12:00:02 the heap grew");
}

int main(void)
{
    keep_modules("app.map");
    grow();
    puts("12:00:03 ready");
}
