/* Headers, good and lying, in both byte orders. */
#include "sfb/section.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/guarded.h"
#include "support/section_bytes.h"
#include "support/test.h"

static const struct row rows[] = {
    { 0, ROW_INFO(1, 0, ROW_SP), { 8 } },
    { 4, ROW_INFO(1, 0, ROW_SP), { 16 } },
};
static const struct function functions[] = {
    { -0x1000, 32, 0, 2, rows },
    { -0x0f00, 16, 0, 2, rows },
    { 0x0200, 64, 0, 1, rows },
};

static struct layout good(const struct abi_case *c)
{
    return (struct layout){ .abi = c->abi,
                            .flags = SFB_SECTION_FDE_SORTED,
                            .fixed_ra = c->fixed_ra,
                            .function_count = 3,
                            .functions = functions };
}

Test(section_open, describes_the_tables)
{
    for (size_t i = 0; i < 3; i++) {
        struct layout l = good(&abi_cases[i]);
        struct sfb_section s;
        struct bytes b;

        l.flags = SFB_SECTION_FDE_SORTED | SFB_SECTION_FRAME_POINTER;
        l.fixed_fp = -16;
        l.aux_size = 5;
        l.fde_gap = 3;
        l.fre_gap = 7;
        b = section_bytes(&l);
        cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, 0x1234, NULL), SFB_OK));
        cr_expect(eq(ptr, (void *)(uintptr_t)s.data, b.at));
        cr_expect(eq(u64, s.address, 0x1234));
        cr_expect(eq(sz, s.size, b.n));
        cr_expect(eq(u32, s.fde_count, 3));
        cr_expect(eq(u32, s.fre_count, 5));
        cr_expect(eq(u32, s.fre_size, 15));
        cr_expect(eq(u32, s.fde_offset, 28 + 5 + 3));
        cr_expect(eq(u32, s.fre_offset, 28 + 5 + 3 + 51 + 7));
        cr_expect(eq(u8, s.version, 1));
        cr_expect(eq(u8, s.flags, 3));
        cr_expect(eq(u8, s.abi, (uint8_t)abi_cases[i].abi));
        cr_expect(eq(u8, s.aux_size, 5));
        cr_expect(eq(i8, s.fixed_fp, -16));
        cr_expect(eq(i8, s.fixed_ra, abi_cases[i].fixed_ra));
        cr_expect(eq(int, s.swap,
                     (s.abi == SFB_ABI_AARCH64_BE) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)));
    }
}

Test(section_open, ignores_what_follows_the_tables)
{
    struct layout l = good(&abi_cases[2]);
    struct bytes b = section_bytes(&l);
    struct sfb_section s;

    cr_assert(eq(int, sfb_section_open(&s, b.at, b.n + 62, 0, NULL), SFB_OK));
    cr_expect(eq(sz, s.size, b.n));
}

Test(section_open, takes_a_section_without_functions)
{
    for (size_t i = 0; i < 3; i++) {
        struct layout l = { .abi = abi_cases[i].abi, .fixed_ra = abi_cases[i].fixed_ra };
        struct bytes b = section_bytes(&l);
        struct sfb_section s;

        cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, 0, NULL), SFB_OK));
        cr_expect(eq(sz, s.size, 28));
    }
}

Test(section_open, refuses_every_proper_prefix)
{
    struct guarded g = guarded_new(1024);

    for (size_t i = 0; i < 3; i++) {
        struct layout l = good(&abi_cases[i]);
        struct bytes b;

        l.aux_size = 2;
        b = section_bytes(&l);
        for (size_t n = 0; n < b.n; n++) {
            struct sfb_error e = { SFB_OK, NULL, 0 };
            struct sfb_section s;

            cr_expect(
                eq(int, sfb_section_open(&s, guarded_copy(&g, b.at, n), n, 0, &e), SFB_TRUNCATED),
                "%zu", n);
            cr_expect(eq(int, e.status, SFB_TRUNCATED));
            cr_expect(ne(ptr, (void *)(uintptr_t)e.field, NULL));
            cr_expect(lt(u64, e.offset, 28));
        }
    }
    guarded_free(&g);
}

/* One field of a good section set to a lie; abi 0 is all of them. */
static const struct {
    const char *name;
    enum sfb_abi abi;
    size_t at, width;
    uint32_t value;
    enum sfb_status want;
    const char *field;
} lies[] = {
    { "magic", 0, AT_MAGIC, 2, 0xdee3, SFB_BAD_MAGIC, "sfp_magic" },
    { "no magic", 0, AT_MAGIC, 2, 0, SFB_BAD_MAGIC, "sfp_magic" },
    { "version 0", 0, AT_VERSION, 1, 0, SFB_BAD_VERSION, "sfp_version" },
    { "version 4", 0, AT_VERSION, 1, 4, SFB_BAD_VERSION, "sfp_version" },
    { "version 255", 0, AT_VERSION, 1, 255, SFB_BAD_VERSION, "sfp_version" },
    { "flag of version 2", 0, AT_FLAGS, 1, 0x5, SFB_BAD_HEADER, "sfp_flags" },
    { "flag of nobody", 0, AT_FLAGS, 1, 0x81, SFB_BAD_HEADER, "sfp_flags" },
    { "abi 0", 0, AT_ABI, 1, 0, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "abi s390x", 0, AT_ABI, 1, 4, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "big abi, little data", SFB_ABI_AARCH64_LE, AT_ABI, 1, 1, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "big abi, AMD64 data", SFB_ABI_AMD64_LE, AT_ABI, 1, 1, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "little abi, big data", SFB_ABI_AARCH64_BE, AT_ABI, 1, 2, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "AMD64, big data", SFB_ABI_AARCH64_BE, AT_ABI, 1, 3, SFB_BAD_HEADER, "sfh_abi_arch" },
    { "AMD64 tracks RA", SFB_ABI_AMD64_LE, AT_FIXED_RA, 1, 0, SFB_BAD_HEADER,
      "sfh_cfa_fixed_ra_offset" },
    { "aux", 0, AT_AUX, 1, 255, SFB_TRUNCATED, "sfh_auxhdr_len" },
    { "one fde more", 0, AT_NUM_FDES, 4, 4, SFB_TRUNCATED, "sfh_num_fdes" },
    { "fdes * 17 wraps to 16", 0, AT_NUM_FDES, 4, 0x0f0f0f10, SFB_TRUNCATED, "sfh_num_fdes" },
    { "fdes at the most", 0, AT_NUM_FDES, 4, UINT32_MAX, SFB_TRUNCATED, "sfh_num_fdes" },
    { "fre_len one more", 0, AT_FRE_LEN, 4, 16, SFB_TRUNCATED, "sfh_fre_len" },
    { "fre_len at the most", 0, AT_FRE_LEN, 4, UINT32_MAX, SFB_TRUNCATED, "sfh_fre_len" },
    { "fdeoff into the rows", 0, AT_FDEOFF, 4, 1, SFB_BAD_HEADER, "sfh_freoff" },
    { "fdeoff to the end", 0, AT_FDEOFF, 4, 66, SFB_TRUNCATED, "sfh_num_fdes" },
    { "fdeoff behind the end", 0, AT_FDEOFF, 4, 67, SFB_TRUNCATED, "sfh_fdeoff" },
    { "fdeoff wraps", 0, AT_FDEOFF, 4, UINT32_MAX - 27, SFB_TRUNCATED, "sfh_fdeoff" },
    { "freoff into the entries", 0, AT_FREOFF, 4, 50, SFB_BAD_HEADER, "sfh_freoff" },
    { "freoff 0", 0, AT_FREOFF, 4, 0, SFB_BAD_HEADER, "sfh_freoff" },
    { "freoff one more", 0, AT_FREOFF, 4, 52, SFB_TRUNCATED, "sfh_fre_len" },
    { "freoff behind the end", 0, AT_FREOFF, 4, 67, SFB_TRUNCATED, "sfh_freoff" },
    { "freoff wraps", 0, AT_FREOFF, 4, UINT32_MAX - 27, SFB_TRUNCATED, "sfh_freoff" },
};

Test(section_open, refuses_each_lie)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (size_t k = 0; k < 3; k++) {
            struct layout l = good(&abi_cases[k]);
            struct bytes b = section_bytes(&l);
            struct sfb_error e = { SFB_OK, "", 0 };
            struct sfb_section s, untouched;

            if (lies[i].abi != 0 && lies[i].abi != abi_cases[k].abi)
                continue;
            memset(&s, 0x55, sizeof s);
            memset(&untouched, 0x55, sizeof untouched);
            bytes_set(&b, lies[i].at, lies[i].width, lies[i].value);
            cr_expect(eq(int, sfb_section_open(&s, b.at, b.n, 0, &e), lies[i].want), "%s, abi %d",
                      lies[i].name, abi_cases[k].abi);
            cr_expect(eq(int, e.status, lies[i].want), "%s", lies[i].name);
            cr_expect(eq(int, strcmp(e.field, lies[i].field), 0), "%s: %s", lies[i].name, e.field);
            cr_expect(eq(int, memcmp(&s, &untouched, sizeof s), 0), "%s", lies[i].name);
            cr_expect(eq(int, sfb_section_open(&s, b.at, b.n, 0, NULL), lies[i].want));
        }
}

Test(section_open, names_the_byte_of_the_field)
{
    struct layout l = good(&abi_cases[2]);
    struct bytes b = section_bytes(&l);
    struct sfb_section s;
    struct sfb_error e;

    bytes_set(&b, AT_FREOFF, 4, 0);
    sfb_section_open(&s, b.at, b.n, 0, &e);
    cr_expect(eq(u64, e.offset, AT_FREOFF));
    sfb_section_open(&s, b.at, 13, 0, &e);
    cr_expect(eq(int, strcmp(e.field, "sfh_num_fres"), 0));
    cr_expect(eq(u64, e.offset, AT_NUM_FRES));
    sfb_section_open(&s, b.at, 0, 0, &e);
    cr_expect(eq(int, strcmp(e.field, "sfp_magic"), 0));
    cr_expect(eq(u64, e.offset, 0));
}

Test(section_open, leaves_the_error_alone_when_it_succeeds)
{
    struct layout l = good(&abi_cases[0]);
    struct bytes b = section_bytes(&l);
    struct sfb_error e = { SFB_BAD_ELF, "mine", 77 };
    struct sfb_section s;

    cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, 0, &e), SFB_OK));
    cr_expect(eq(int, e.status, SFB_BAD_ELF));
    cr_expect(eq(int, strcmp(e.field, "mine"), 0));
    cr_expect(eq(u64, e.offset, 77));
}

Test(section_open, refuses_null)
{
    struct sfb_section s;
    struct sfb_error e;

    cr_expect(eq(int, sfb_section_open(&s, NULL, 100, 0, &e), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, strcmp(e.field, "data"), 0));
    cr_expect(eq(int, sfb_section_open(NULL, "x", 1, 0, NULL), SFB_BAD_ARGUMENT));
}

/* Every flag of every version, and what it says of function starts. */
Test(section_open, judges_every_flag)
{
    static const uint8_t known[] = { 0x03, 0x07, 0x05 };

    for (uint8_t version = 1; version <= 3; version++)
        for (size_t i = 0; i < 3; i++)
            for (unsigned flags = 0; flags < 256; flags++) {
                struct layout l = good(&abi_cases[i]);
                const bool is_good = (flags & ~(unsigned)known[version - 1]) == 0;
                const bool relative = (flags & 4) != 0 || (version < 3 && (flags & 1) == 0);
                struct sfb_error e = { SFB_OK, "", 0 };
                struct sfb_section s;
                struct bytes b;

                l.version = version;
                l.flags = (uint8_t)flags;
                b = section_bytes(&l);
                cr_expect(eq(int, sfb_section_open(&s, b.at, b.n, 0, &e),
                             is_good ? SFB_OK : SFB_BAD_HEADER));
                if (is_good) {
                    cr_expect(eq(u8, s.version, version));
                    cr_expect(eq(u8, s.flags, (uint8_t)flags));
                    cr_expect(eq(int, s.field_relative, relative), "%u, %#x", version, flags);
                } else {
                    cr_expect(eq(int, strcmp(e.field, "sfp_flags"), 0));
                }
            }
}

/* Entries are 17, 20 and 16 bytes: one more than there are is one too many in each version. */
Test(section_open, counts_entries_by_version)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct layout l = good(&forms[i].abi);
        struct sfb_section s;
        struct bytes b;

        l.version = forms[i].version;
        l.flags = forms[i].flags;
        b = section_bytes(&l);
        cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, 0, NULL), SFB_OK));
        cr_expect(eq(sz, s.size, b.n));
        cr_expect(eq(sz, s.fre_offset, fde_at(&l, 3)));
        bytes_set(&b, AT_NUM_FDES, 4, 4);
        cr_expect(ne(int, sfb_section_open(&s, b.at, b.n, 0, NULL), SFB_OK));
    }
}

/* Three sections, of three versions, one behind the other, each where 8 divides its offset. */
static struct bytes three_in_one(const struct abi_case *c, size_t starts[3])
{
    struct bytes all = { .n = 0 };

    for (uint8_t k = 0; k < 3; k++) {
        struct layout l = good(c);
        struct bytes b;

        l.version = (uint8_t)(3 - k);
        l.aux_size = k;
        l.flags |= k == 0 ? FIELD_RELATIVE : 0;
        b = section_bytes(&l);
        all.n = (all.n + 7) & ~(size_t)7;
        starts[k] = all.n;
        memcpy(all.at + all.n, b.at, b.n);
        all.n += b.n;
    }
    return all;
}

Test(section_next, gives_one_section_after_the_other)
{
    for (size_t i = 0; i < 3; i++) {
        size_t starts[3];
        struct bytes b = three_in_one(&abi_cases[i], starts);
        struct sfb_error e = { SFB_OK, "", 0 };
        struct sfb_section s;

        cr_assert(eq(int, sfb_section_open(&s, b.at, b.n, 0x1000, NULL), SFB_OK));
        for (size_t k = 0; k < 3; k++) {
            cr_expect(eq(ptr, (void *)(uintptr_t)s.data, b.at + starts[k]));
            cr_expect(eq(u64, s.address, 0x1000 + starts[k]));
            cr_expect(eq(u8, s.version, (uint8_t)(3 - k)));
            cr_expect(eq(int, sfb_section_next(&s, &s, &e), k < 2 ? SFB_OK : SFB_NO_SECTION));
        }
    }
}

Test(section_next, is_not_led_on_by_zeros_or_remains)
{
    size_t starts[3];
    struct bytes b = three_in_one(&abi_cases[2], starts), cut;
    struct guarded g = guarded_new(2048);

    for (size_t n = starts[1]; n < starts[2]; n++) {
        struct sfb_error e = { SFB_OK, "", 0 };
        struct sfb_section s;

        cut = b;
        cr_assert(eq(int, sfb_section_open(&s, guarded_copy(&g, cut.at, n), n, 0, NULL), SFB_OK));
        if (n < starts[1] + 4) {
            cr_expect(eq(sz, s.rest, 0), "%zu", n);
            cr_expect(eq(int, sfb_section_next(&s, &s, &e), SFB_NO_SECTION));
        } else if (sfb_section_next(&s, &s, &e) != SFB_OK) {
            cr_expect(eq(int, e.status, SFB_TRUNCATED));
            cr_expect(ge(u64, e.offset, starts[1]));
        }
    }
    for (size_t at = starts[1]; at < starts[1] + 2; at++) {
        struct sfb_section s;

        cut = b;
        cut.at[at] ^= 1;
        cr_assert(eq(int, sfb_section_open(&s, cut.at, cut.n, 0, NULL), SFB_OK));
        cr_expect(eq(sz, s.rest, 0));
    }
    guarded_free(&g);
}

/* Offsets of the view are 32 bits wide; the file's own are relative, so that a sum can be wider. */
Test(section_open, refuses_tables_beyond_4_gib)
{
    const size_t size = (size_t)5 << 30;
    struct layout l = { .abi = SFB_ABI_AMD64_LE, .fixed_ra = -8 };
    struct bytes b = section_bytes(&l);
    uint8_t *big = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct sfb_section s;
    struct sfb_error e;

    cr_assert(ne(ptr, big, MAP_FAILED));
    cr_assert(eq(int, mprotect(big, 4096, PROT_READ | PROT_WRITE), 0));
    bytes_set(&b, AT_FREOFF, 4, UINT32_MAX);
    memcpy(big, b.at, b.n);
    cr_expect(eq(int, sfb_section_open(&s, big, size, 0, &e), SFB_BAD_HEADER));
    cr_expect(eq(int, strcmp(e.field, "sfh_freoff"), 0));
    bytes_set(&b, AT_FREOFF, 4, UINT32_MAX - 28);
    memcpy(big, b.at, b.n);
    cr_expect(eq(int, sfb_section_open(&s, big, size, 0, &e), SFB_OK));
    munmap(big, size);
}
