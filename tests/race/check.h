/* What programs of this folder share: they are plain ones, for the thread sanitizer does not go with Criterion's forks. */
#ifndef RACE_CHECK_H
#define RACE_CHECK_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static inline void begin_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    CHECK(pthread_create(thread, NULL, run, argument) == 0, "no thread");
}

#endif
