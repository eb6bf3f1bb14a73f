/*
 * The vDSO of this process. It is the kernel's, and so that of every process of this machine since
 * it was started: a crash report that has its build-id is of one of them.
 */
#ifndef OBJECT_OWN_VDSO_H
#define OBJECT_OWN_VDSO_H

#include <stddef.h>

/* @return its image, which stays where it is; NULL: there is none */
void *object_own_vdso(size_t *size);

#endif
