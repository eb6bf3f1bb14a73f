/* Prints what is in a recording, for those who work on who writes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record_tool/contents.h"

int main(int argc, char **argv)
{
    struct contents *c;
    const char *wrong = argc == 2 ? contents_read(&c, argv[1]) : "usage: print FILE";
    uint64_t cpu = 0;

    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    printf("%s %s; %s\n", sfb_recording_engine_str(c->engine), c->engine_text, c->reason);
    for (uint32_t i = 0; i < c->process_count; i++) {
        const struct contents_process *p = &c->process[i];

        cpu += p->cpu;
        printf("process %u of %u pid %u how %u end %u status %u: cpu %.6f samples %" PRIu64
               " weight %.6f unsampled %.6f %s\n",
               p->id, p->parent, p->pid, p->how, p->end, p->status, (double)p->cpu / 1e9,
               p->samples, (double)p->weight / 1e9, (double)p->unsampled / 1e9, p->program);
    }
    printf("samples %" PRIu64 " complete %" PRIu64 " stacks %" PRIu64 " modules %" PRIu64
           " threads %" PRIu64 " files %" PRIu64 "\n",
           c->samples, c->complete, c->stacks, c->modules, c->threads, c->files);
    printf("weight %.6f + rests %.6f + unsampled %.6f = %.6f, cpu %.6f\n", (double)c->weight / 1e9,
           (double)c->rests / 1e9, (double)c->unsampled / 1e9,
           (double)(c->weight + c->rests + c->unsampled) / 1e9, (double)cpu / 1e9);
    for (unsigned i = 0; i < 5; i++)
        if (c->engines[i] > 0)
            printf("%s: %" PRIu64 " samples\n", sfb_recording_engine_str(i), c->engines[i]);
    for (unsigned i = 0; i < SFB_LOSS_COUNT; i++)
        if (c->lost[i] > 0)
            printf("%s: %" PRIu64 "\n", sfb_recording_loss_str(i), c->lost[i]);
    printf("%s", c->texts);
    printf("finished %d torn %" PRIu64 " bad %" PRIu64 " skipped %" PRIu64 "\n",
           c->health.finished, c->health.torn, c->health.bad_blocks, c->health.skipped);
    free(c);
    return 0;
}
