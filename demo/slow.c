/*
 * A program that is slow, for the demo: it makes a text and turns it to capital letters. Two of its functions go through
 * the whole text again and again, and one of them matters.
 *
 *     cc -g -O2 demo/slow.c -o slow && sfb record -- ./slow
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 2000 };

static char text[LINES * 32];

static void append(const char *line)
{
    strcat(text, line);
}

static void write_text(void)
{
    char line[32];

    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof line, "line %d of a text\n", i);
        append(line);
    }
}

/* Characters of UTF-8 may have several bytes: those that begin one count. */
static size_t characters(const char *s)
{
    size_t count = 0;

    for (; *s; s++)
        count += (*s & 0xc0) != 0x80;
    return count;
}

static void shout(void)
{
    for (size_t i = 0; i < characters(text); i++)
        text[i] = (char)toupper((unsigned char)text[i]);
}

int main(void)
{
    write_text();
    shout();
    printf("%zu characters\n", characters(text));
    return 0;
}
