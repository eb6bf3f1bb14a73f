/* Names of Python functions as a user types them. */
#ifndef PROFILER_REPORT_TEXT_FIND_PYTHON_H
#define PROFILER_REPORT_TEXT_FIND_PYTHON_H

#include <stdbool.h>

/*
 * Tells whether a text means a function: "app.py:handler", "json.loads", "Shop.cart", "cart".
 *
 * @param name  qualified: "Shop.cart"
 * @param file  as Python has it: "/srv/app.py", "/usr/lib/python3.11/json/__init__.py", "<string>"
 */
bool report_python_is_meant(const char *text, const char *name, const char *file);

#endif
