#include "profiler/protocol/beacon_hold.h"

#include <errno.h>

bool sfb_beacon_hold(struct sfb_shared_beacon *beacon)
{
    pthread_mutexattr_t kind;
    int cause = pthread_mutexattr_init(&kind);

    if (cause == 0)
        cause = pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    if (cause == 0)
        cause = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    if (cause == 0)
        cause = pthread_mutex_init(&beacon->owner.lock, &kind);
    if (cause == 0)
        cause = pthread_mutex_lock(&beacon->owner.lock);
    errno = cause;
    return cause == 0;
}

void sfb_beacon_put_out(struct sfb_shared_beacon *beacon)
{
    pthread_mutex_unlock(&beacon->owner.lock);
}
