/* Links an agent, HEAP or of CPU time, and uses it. */
#include <sframe_backtrace_record.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
#if HEAP
    enum sfb_status status = sframe_backtrace_heap_start(NULL);

    free(malloc(100));
    if (status == SFB_OK)
        status = sframe_backtrace_heap_stop();
#else
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;
    FILE *file = tmpfile();
    enum sfb_status status = SFB_NO_RESOURCE;

    if (file) {
        options.fd = fileno(file);
        status = sframe_backtrace_record_start(&options);
    }
    if (status == SFB_OK)
        status = sframe_backtrace_record_stop();
    if (file)
        fclose(file);
#endif
    if (status != SFB_OK)
        printf("status %d\n", (int)status);
    return status != SFB_OK;
}
