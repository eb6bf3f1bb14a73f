#include "profiler/report/page/html_page.h"

/* cmake/bytes.cmake makes the file, of profiler/page/page.html. Bytes above 0x7f: it is UTF-8. */
const unsigned char html_page[] = {
#include "profiler/report/page/html_page.inc"
};
