/*
 * The vDSO of this process. The kernel maps the same one in every process since boot: a crash
 * report with its build-id is of one of them.
 */
#ifndef SYMBOLS_OWN_VDSO_H
#define SYMBOLS_OWN_VDSO_H

#include <stddef.h>

/* @return its image, mapped for ever; NULL: no vDSO */
void *object_own_vdso(size_t *size);

#endif
