/* What the library keeps: nothing of it may grow with the code that is walked. */
#include "situations/situation.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

static int look(struct dl_phdr_info *module, size_t size, void *user)
{
    double writable = 0;
    double thread = 0;

    (void)size, (void)user;
    if (strstr(module->dlpi_name, "libsframe-backtrace") == NULL) {
        return 0;
    }
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) != 0) {
            writable += (double)p->p_memsz;
        } else if (p->p_type == PT_TLS) {
            thread = (double)p->p_memsz;
        }
    }
    record("memory", "KiB", "writable data, a process", writable / 1024);
    record("memory", "KiB", "thread-local data, a thread", thread / 1024);
    return 1;
}

/* @return KiB of private writable memory, stacks included */
static double mapped(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmData: %lf", &kib) == 1) { /* NOLINT(cert-err34-c): the kernel's */
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

int situation_memory(const struct effort *effort)
{
    static const enum peer_id walkers[] = { PEER_CBF, PEER_ADDRESSES, PEER_UNW_BACKTRACE,
                                            PEER_GLIBC };

    (void)effort;
    dl_iterate_phdr(look, NULL);
    /* Every function of four sets, with and without .sframe: 4,096 return addresses. */
    for (size_t w = 0; w < sizeof walkers / sizeof *walkers; w++) {
        const struct peer *peer = &peers[walkers[w]];
        char row[128];
        double before = mapped();

        for (enum chain_set s = CHAIN_FP; s <= CHAIN_NOFP_BARE && peer_works(peer, s); s++) {
            run_chain(peer, s, CHAIN_FUNCTIONS, 1);
        }
        snprintf(row, sizeof row, "mapped by %s", peer->name);
        record("memory", "KiB", row, mapped() - before);
    }
    return 0;
}
