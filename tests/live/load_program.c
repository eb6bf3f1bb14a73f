/* Its exit status is the number of libraries named libload<i>.so that it began with. */
#include <link.h>
#include <string.h>

static int count(struct dl_phdr_info *info, size_t size, void *user)
{
    int *libraries = user;

    (void)size;
    *libraries += info->dlpi_name && strstr(info->dlpi_name, "/libload") != NULL;
    return 0;
}

int main(void)
{
    int libraries = 0;

    dl_iterate_phdr(count, &libraries);
    return libraries;
}
