/* A folder of a test's own, in which it works and of which nothing is left. */
#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

/* Makes a folder in /tmp and goes there. */
void folder_enter(void);

/* Removes it with all that is in it. */
void folder_remove(void);

/* Its path. */
const char *folder_path(void);

/* Writes a file in it. */
void folder_write(const char *name, const char *text);

#endif
