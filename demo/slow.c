/*
 * A program that is slow, for the demo: it makes a text and turns it to capital letters. Two of its functions look for
 * the end of the text again and again, and one of them matters.
 *
 *     cc -g -O2 demo/slow.c -o slow && sfb record -- ./slow
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 16000 };

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

static void shout(void)
{
    for (size_t i = 0; i < strlen(text); i++)
        text[i] = (char)toupper((unsigned char)text[i]);
}

int main(void)
{
    write_text();
    shout();
    printf("%zu letters\n", strlen(text));
    return 0;
}
