/* No agent can be loaded into it: it is linked with -static. */
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        sleep(2);
    return 5;
}
