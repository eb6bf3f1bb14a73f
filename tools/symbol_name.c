#include "symbol_name.h"

#include <stdlib.h>
#include <string.h>

/* Of libstdc++: "Itanium C++ ABI", 3.4. C programs have no header for it. */
char *__cxa_demangle(/* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
                     const char *name, char *buffer, size_t *size, int *status);

char *symbol_name(const char *raw, bool demangled)
{
    /* Symbol tables may add a version to a name: "pow@@GLIBC_2.29". */
    char *name = strndup(raw, strcspn(raw, "@")), *readable;

    /* It takes other names for types: "f" would be a float. */
    if (!name || !demangled || strncmp(name, "_Z", 2) != 0)
        return name;
    readable = __cxa_demangle(name, NULL, NULL, NULL);
    if (!readable)
        return name;
    free(name);
    return readable;
}
