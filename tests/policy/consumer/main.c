/* Captures its own stack: from main() at least the frame of main() itself. */
#include <sframe_backtrace.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    unsigned char buffer[512];
    struct sframe_backtrace_info info = { .size = sizeof info };
    void *frames[16];
    ssize_t size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);
    int count = sframe_backtrace(frames, 16);
    uintptr_t here = (uintptr_t)main;

    if (size < 3 || info.frames < 1) {
        printf("capture: %s\n", sfb_status_str(size < 0 ? (enum sfb_status) - size : info.end));
        return 1;
    }
    if (count < 1 || (uintptr_t)frames[0] <= here || (uintptr_t)frames[0] > here + 4096) {
        printf("the first frame is not main()\n");
        return 1;
    }
    printf("%u frames, %s\n", info.frames, sfb_status_str(info.end));
    return 0;
}
