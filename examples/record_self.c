/* Records its own CPU profile, without `sfb record`. */
#include <fcntl.h>
#include <sframe_backtrace_record.h>

static void work(void)
{
    for (volatile int i = 0; i < 500000000; i++)
        ;
}

int main(void)
{
    struct sframe_backtrace_record_options options = SFRAME_BACKTRACE_RECORD_OPTIONS_INIT;

    options.fd = open("profile.sfbr", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (sframe_backtrace_record_start(&options) != SFB_OK)
        return 1;
    work();
    return sframe_backtrace_record_stop() != SFB_OK;
}
