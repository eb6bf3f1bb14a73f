/* The stack that a capture in a handler needs: an alternate one is painted and looked at. */
#include "situations/situation.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 128 << 10, PAINT = 0xcd, DEPTH = 32 };

static uint8_t *alternate;
static struct batch *asked;
static uintptr_t handler_frame;

static void on_trap(int number, siginfo_t *info, void *context)
{
    struct chain chain = { .batch = asked };

    (void)number, (void)info;
    handler_frame = (uintptr_t)__builtin_frame_address(0);
    leaf_start_from(asked, asked->takes_context ? context : NULL);
    asked->inner(&chain);
}

static int install(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t stack = { .ss_size = SIZE };

    alternate = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alternate == MAP_FAILED) {
        return -1;
    }
    stack.ss_sp = alternate;
    sigaltstack(&stack, NULL);
    return sigaction(SIGTRAP, &action, NULL);
}

/* @return bytes below the handler's frame that one capture touched */
static size_t touched(const struct peer *peer, enum chain_set set)
{
    size_t untouched = 0;

    memset(alternate, PAINT, SIZE);
    peer_batch(&situation_batch, peer, DEPTH, 0, 1);
    situation_batch.inner = peer->once;
    asked = &situation_batch;
    chain_enter(chain_whole(set), leaf_trap, &situation_batch);
    while (untouched < SIZE && alternate[untouched] == PAINT) {
        untouched++;
    }
    return handler_frame - (uintptr_t)(alternate + untouched);
}

/* In a process of its own: no other peer was first to visit these frames. */
static int measure(const struct peer *peer, enum chain_set set, const char *tables)
{
    int status = -1;
    pid_t id;

    fflush(stdout);
    id = fork();
    if (id == 0) {
        char column[64];

        for (int i = 1; i <= 2; i++) {
            snprintf(column, sizeof column, "%s %s", tables, i == 1 ? "1" : "2");
            record("stack", column, peer->name, (double)touched(peer, set));
        }
        fflush(stdout);
        _exit(situation_batch.result > 0 ? 0 : 1);
    }
    waitpid(id, &status, 0);
    return status == 0 ? 0 : -1;
}

int situation_stack(const struct effort *effort)
{
    (void)effort;
    if (install() != 0) {
        return -1;
    }
    for (unsigned p = 0; p < PEER_NOTHING; p++) {
        if (peers[p].needs_fp || p == PEER_UNW_UNCACHED || !peer_works(&peers[p], CHAIN_NOFP)) {
            continue;
        }
        if (measure(&peers[p], CHAIN_NOFP, "sframe") != 0 ||
            measure(&peers[p], CHAIN_NOFP_BARE, "eh_frame") != 0) {
            return -1;
        }
    }
    return 0;
}
