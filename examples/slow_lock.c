/* Four threads work, and each stores what it has under one lock: sfb record --wall shows that they wait for it. */
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stored;

static void store(int job)
{
    pthread_mutex_lock(&lock);
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL); /* it writes a file, say */
    stored += job;
    pthread_mutex_unlock(&lock);
}

static void *work(void *none)
{
    for (int job = 0; job < 25; job++)
        store(job);
    return none;
}

int main(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return stored == 4 * 300 ? 0 : 1;
}
