/* Two threads that wait for each other for ever: `sfb stack` shows on what, and where. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long cents;
};

static struct account ann = { PTHREAD_MUTEX_INITIALIZER, 100 };
static struct account bob = { PTHREAD_MUTEX_INITIALIZER, 100 };
static pthread_barrier_t both_have_one;

static void transfer(struct account *from, struct account *to)
{
    pthread_mutex_lock(&from->lock);
    pthread_barrier_wait(&both_have_one); /* what happens once a year, always */
    pthread_mutex_lock(&to->lock);
    from->cents--;
    to->cents++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *pay_back(void *unused)
{
    transfer(&bob, &ann);
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_barrier_init(&both_have_one, NULL, 2);
    pthread_create(&thread, NULL, pay_back, NULL);
    transfer(&ann, &bob);
    pthread_join(thread, NULL);
    printf("%ld %ld\n", ann.cents, bob.cents);
    return 0;
}
