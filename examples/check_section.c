/*
 * Checks an .sframe section: each function and each row has to be readable, and each row has to give a rule. The section
 * is a file of its own. Its header is unstable and its functions are in the static library only.
 */
#include <sfb/section.h>
#include <stdio.h>

static uint8_t bytes[1 << 20];

/* @return SFB_OK, or why the first bad row or function is refused; error has its offset */
static enum sfb_status check(const struct sfb_section *section, uint32_t *rows,
                             struct sfb_error *error)
{
    for (uint32_t i = 0; i < section->fde_count; i++) {
        enum sfb_status status;
        struct sfb_fde fde;

        if ((status = sfb_fde_read(section, i, &fde, error)) != SFB_OK)
            return status;
        for (uint32_t k = 0, at = fde.fre_offset; k < fde.fre_count; k++) {
            struct sfb_rule rule;
            struct sfb_fre row;

            if ((status = sfb_fre_read(section, &fde, at, &row, error)) != SFB_OK ||
                (status = sfb_fre_rule(section, &fde, &row, &rule, error)) != SFB_OK)
                return status;
            at = row.position + row.size;
            ++*rows;
        }
    }
    return SFB_OK;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    struct sfb_section section;
    struct sfb_error error;
    uint32_t rows = 0;
    enum sfb_status status = sfb_section_open(&section, bytes, size, 0, &error);

    if (status == SFB_OK)
        status = check(&section, &rows, &error);
    if (status != SFB_OK) {
        printf("%s: %s\n", argc == 2 ? argv[1] : "no file", sfb_status_str(status));
        return 1;
    }
    printf("%s: no fault in %s rows\n", argv[1], rows > 0 ? "its" : "no");
    return 0;
}
