/*
 * Where the files of a module are found, and which are not taken: symbols/debug_file.h, with files
 * that gcc, objcopy and dwz make.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"
#include "symbols/debug_file.h"
#include "symbols/guard.h"

#define CC      SFB_TOOL_PREFIX "gcc -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=sha1 "
#define OBJCOPY SFB_TOOL_PREFIX "objcopy "

/*
 * lib.so with its debug information as lib.full, without as lib.bare, and that alone as lib.debug;
 * other.debug is that of another build.
 */
#define MAKE                                                                                       \
    "printf 'int f(int x) { return x + 1; }\\n' >a.c && printf 'int g(int x) { return x; }\\n' "   \
    ">b.c && " CC "a.c -o lib.full && " CC "b.c -o other.full && " OBJCOPY                         \
    "--only-keep-debug lib.full lib.debug && " OBJCOPY "--only-keep-debug other.full other.debug " \
    "&& " OBJCOPY "-g lib.full lib.bare && cp lib.bare lib.so && mkdir place"

static bool made;

static void make_files(void)
{
    struct run run;

    folder_enter();
    run = run_line(MAKE);
    made = run.status == 0;
    run_free(&run);
}

TestSuite(debug_files, .init = make_files, .fini = folder_remove);

/* A link of any bytes: %s is what printf(1) gets. */
#define ADD_LINK(bytes)                                                                            \
    "printf '" bytes "' >link && " OBJCOPY "--add-section .gnu_debuglink=link lib.bare lib.so"
#define GOOD_LINK OBJCOPY "--add-gnu-debuglink=lib.debug lib.bare lib.so"

static const struct place {
    const char *name;
    const char *line; /* lays the files out; $ID is the build-id, $A its first byte, $B the rest */
    const char *used; /* ends the path of the debug file that is used; NULL: none */
    const char *said; /* stands in the trail */
    bool symbol_path; /* ./place is one */
    bool any_build;   /* the build-id of the module is not known */
} places[] = {
    { "the file has it", "mv lib.full lib.so", NULL, "file ./lib.so: used", false, false },
    { "beside the file", GOOD_LINK, "/lib.debug", "debug ./lib.debug: used", false, false },
    { "in .debug", GOOD_LINK " && mkdir .debug && mv lib.debug .debug", "/.debug/lib.debug",
      "debug ./lib.debug: not there", false, false },
    { "damaged", GOOD_LINK " && printf x >>lib.debug", NULL,
      "debug ./lib.debug: not used (its CRC-32 is 0x", false, false },
    { "of another build", GOOD_LINK " && cp other.debug lib.debug", NULL,
      "debug ./lib.debug: not used, another build (its build-id is ", false, false },
    { "a link to another folder", ADD_LINK("../lib.debug\\0\\0\\0\\0abcd"), NULL,
      "debug ../lib.debug: not used (what .gnu_debuglink has is not the name of a file)", false,
      false },
    { "a link to all", ADD_LINK("/lib.debug\\0\\0abcd"), NULL, "debug /lib.debug: not used (what",
      false, false },
    { "a link without a name", ADD_LINK("\\0\\0\\0\\0abcd"), NULL, "debug : not used (what", false,
      false },
    { "a link without an end", ADD_LINK("lib.debuglib.debug"), NULL,
      "debug ./lib.so: not used (its .gnu_debuglink cannot be read)", false, false },
    { "a link of 100,000 letters", ADD_LINK("%0100000d\\0\\0\\0\\0abcd"), NULL,
      "not used (what .gnu_debuglink has is not", false, false },
    { "a FIFO", GOOD_LINK " && rm lib.debug && mkfifo lib.debug", NULL,
      "debug ./lib.debug: not opened (a FIFO, not a regular file)", false, false },
    { "a folder", GOOD_LINK " && rm lib.debug && mkdir lib.debug", NULL,
      "debug ./lib.debug: not opened (a directory, not a regular file)", false, false },
    { "no debug information in it", GOOD_LINK " && cp lib.bare lib.debug", NULL,
      "debug ./lib.debug: not used, no debug information", false, false },
    { "no ELF file", GOOD_LINK " && cp a.c lib.debug", NULL,
      "debug ./lib.debug: not used (not an ELF file)", false, false },
    { "by build-id", "mkdir -p place/.build-id/$A && mv lib.debug place/.build-id/$A/$B.debug",
      "place/.build-id/", "debug /usr/lib/debug/.build-id/", true, false },
    { "in a package that was unpacked",
      "mkdir -p place/x/debug/.build-id/$A && mv lib.debug place/x/debug/.build-id/$A/$B.debug",
      "place/x/debug/.build-id/", ": used", true, false },
    { "in a plain tree, by the link's name",
      GOOD_LINK " && mkdir -p place/x/y && mv lib.debug place/x/y", "place/x/y/lib.debug", ": used",
      true, false },
    { "in a plain tree, by the file's name", "mkdir -p place/x && mv lib.full place/x/lib.so",
      "place/x/lib.so", ": used", true, false },
    { "in a plain tree, with .debug", "mkdir -p place/x && mv lib.debug place/x/lib.so.debug",
      "place/x/lib.so.debug", ": used", true, false },
    { "one of two of its name",
      "mkdir -p place/1 place/2 && cp other.debug place/1/lib.so.debug && mv lib.debug "
      "place/2/lib.so.debug",
      "place/2/lib.so.debug", "place/1/lib.so.debug: not used, another build", true, false },
    { "behind a link", "ln -s ../lib.debug place/lib.so.debug", "place/lib.so.debug", ": used",
      true, false },
    { "a FIFO in a tree", "mkfifo place/lib.so.debug", NULL, "file ./lib.so: used", true, false },
    { "without the file", "rm lib.so && mv lib.debug place/lib.so.debug", "place/lib.so.debug",
      "file ./lib.so: not there (No such file or directory)", true, false },
    { "with the file elsewhere", "cp other.full lib.so && mv lib.full place/lib.so", NULL,
      "file ./lib.so: not used, another build", true, false },
    { "any build, and the place first", "cp other.full lib.so && mv lib.full place/lib.so", NULL,
      "file ./place/lib.so: used", true, true },
    { "any build, and two places",
      "mkdir place/1 place/2 && cp lib.full place/1/lib.so && cp other.full place/2/lib.so && mv "
      "lib.full lib.so",
      NULL, "file ./place: not asked (2 files are called 'lib.so', and no build-id tells which)",
      true, true },
    { "no build-id at all, and the link",
      OBJCOPY "-R .note.gnu.build-id lib.full && " OBJCOPY
              "--only-keep-debug lib.full lib.debug && " OBJCOPY
              "-g lib.full lib.bare && " GOOD_LINK,
      "/lib.debug", ": used", false, true },
    { "a section that cannot be unpacked",
      OBJCOPY "--compress-debug-sections=zlib lib.full lib.so && O=$(" SFB_TOOL_PREFIX
              "readelf -SW "
              "lib.so | sed -n 's/.*debug_info *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) .*/\\1/p') && "
              "printf xxxxxxxx | dd of=lib.so bs=1 seek=$((0x$O + 30)) conv=notrunc",
      NULL, "debug ./lib.so: not used (its debug information cannot be read)", false, false },
    { "a section of another packer",
      OBJCOPY "--compress-debug-sections=zlib lib.full lib.so && O=$(" SFB_TOOL_PREFIX
              "readelf -SW "
              "lib.so | sed -n 's/.*debug_info *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\) .*/\\1/p') && "
              "printf '\\002' | dd of=lib.so bs=1 seek=$((0x$O)) conv=notrunc",
      NULL, "debug ./lib.so: not used (its debug information is packed by zstd", false, false },
    { "no build-id and no link", OBJCOPY "-R .note.gnu.build-id lib.bare lib.so", NULL,
      "debug everywhere: not asked (the file has no build-id and no .gnu_debuglink)", false, true },
};

static char *describe(const struct object_trail *trail)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    for (size_t i = 0; i < trail->count; i++) {
        const struct object_try *t = &trail->tries[i];

        fprintf(to, "%s %s: %s", object_part_text(t->part), t->place,
                object_verdict_text(t->verdict));
        fprintf(to, t->cause ? " (%s)\n" : "\n", t->cause);
    }
    fclose(to);
    return text;
}

static void find_id(struct object_build_id *id, const char *file)
{
    struct object_trail trail = { .count = 0 };
    const struct object_wanted any = { .part = OBJECT_FILE };
    struct object_opened opened;

    cr_assert(object_candidate_open(&opened, file, &any, &trail));
    cr_assert(object_build_id_of(id, opened.elf));
    object_opened_close(&opened);
    object_trail_free(&trail);
}

static bool ends_with_debug(const char *path, const char *used)
{
    return path && strstr(path, used) != NULL;
}

/* Whether the names of a compilation unit can be read. */
static bool has_names(Dwarf *dwarf)
{
    Dwarf_Die unit;
    Dwarf_CU *cu = NULL;
    Dwarf_Attribute attribute;
    uint8_t type;

    return dwarf && dwarf_get_units(dwarf, NULL, &cu, NULL, &type, &unit, NULL) == 0 &&
           dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute)) != NULL;
}

static void judge(const struct place *p)
{
    struct object_symbol_path *path = object_symbol_path_open("./place");
    const struct object_places where = { &path, p->symbol_path ? 1 : 0, NULL };
    struct object_module module = { .path = "./lib.so" };
    char text[OBJECT_BUILD_ID_TEXT];
    struct object_files files;
    struct run run;
    char *trail;
    bool found;

    find_id(&module.id, "lib.full");
    object_build_id_text(text, &module.id);
    if (p->any_build)
        module.id.size = 0;
    run = run_line("ID=%s A=%.2s B=%s; %s", text, text, text + 2, p->line);
    cr_assert(eq(int, run.status, 0), "%s: %s", p->name, run.err);
    run_free(&run);
    found = object_files_find(&files, &module, &where);
    trail = describe(&files.trail);
    cr_expect(found, "%s:\n%s", p->name, trail);
    cr_expect(eq(int, p->used ? ends_with_debug(files.debug.path, p->used) : !files.debug.elf, 1),
              "%s: debug file %s\n%s", p->name, files.debug.path ? files.debug.path : "none",
              trail);
    cr_expect(ne(ptr, strstr(trail, p->said), NULL), "%s: no '%s' in\n%s", p->name, p->said, trail);
    cr_expect(eq(int, !files.debug.elf || has_names(files.dwarf), 1), "%s:\n%s", p->name, trail);
    free(trail);
    object_files_free(&files);
    object_symbol_path_close(path);
}

Test(debug_files, are_found_or_refused_in_each_place)
{
    if (!made)
        cr_skip_test("no " SFB_TOOL_PREFIX "gcc and objcopy to make files with");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct run run = run_line("mkdir case-%zu && cp -r lib.* other.* a.c place case-%zu", i, i);
        char name[32];

        cr_assert(eq(int, run.status, 0), "%s", run.err);
        run_free(&run);
        snprintf(name, sizeof name, "case-%zu", i);
        cr_assert(eq(int, chdir(name), 0));
        judge(&places[i]);
        cr_assert(eq(int, chdir(".."), 0));
    }
}

/* Debian's libc6-dbg lies where every debugger looks. */
Test(debug_files, of_the_system_are_found_by_build_id)
{
    const struct object_places nowhere = { NULL, 0, NULL };
    struct object_module module = { .path = "libc.so.6" };
    struct object_files files;
    struct run run = run_line("readlink -fn $(" SFB_TOOL_PREFIX "gcc -print-file-name=libc.so.6)");

    if (run.out_size > 0)
        module.path = run.out;
    object_files_find(&files, &module, &nowhere);
    if (!files.debug.elf)
        cr_skip_test("no debug file of libc is here");
    cr_expect(strncmp(files.debug.path, "/usr/lib/debug/.build-id/", 25) == 0, "%s",
              files.debug.path);
    cr_expect(has_names(files.dwarf));
    object_files_free(&files);
    run_free(&run);
}

/* --- what dwz makes --------------------------------------------------------------------------- */

/* The same type in two libraries; their names are in the shared file afterwards. */
#define MAKE_SHARED                                                                                \
    "printf 'struct quite_a_long_name_%%s { int first, second; };\\n' $(seq 20) >s.h && for i in " \
    "1 2; "                                                                                        \
    "do printf '#include \"s.h\"\\nstruct quite_a_long_name_1 v; int f%%d(int x) { return x + "    \
    "v.first; }\\n' $i >s$i.c && " CC                                                              \
    "-fno-eliminate-unused-debug-types s$i.c -o s$i.so && " OBJCOPY                                \
    "--only-keep-debug s$i.so s$i.debug; done && dwz %s -m shared.debug s1.debug s2.debug "        \
    "&& " OBJCOPY "-g s1.so && " OBJCOPY "--add-gnu-debuglink=s1.debug s1.so"

static const struct place shared_places[] = {
    { "beside", "true", "/shared.debug", ": used", false, false },
    { "of another build", "cp other.debug shared.debug", NULL,
      "shared.debug: not used, another build (its build-id is ", false, false },
    { "gone", "rm shared.debug", NULL, "shared.debug: not there (No such file or directory)", false,
      false },
    { "in a tree", "mkdir -p place/y && mv shared.debug place/y", "place/y/shared.debug", ": used",
      true, false },
    { "a FIFO", "rm shared.debug && mkfifo shared.debug", NULL,
      "shared.debug: not opened (a FIFO, not a regular file)", false, false },
};

static void judge_shared(const struct place *p)
{
    struct object_symbol_path *path = object_symbol_path_open("./place");
    const struct object_places where = { &path, p->symbol_path ? 1 : 0, NULL };
    struct object_module module = { .path = "./s1.so" };
    struct object_files files;
    char *trail;

    cr_assert(object_files_find(&files, &module, &where));
    trail = describe(&files.trail);
    cr_expect(files.debug.elf && files.dwarf, "%s:\n%s", p->name, trail);
    cr_expect(eq(int, p->used ? ends_with_debug(files.alt.path, p->used) : !files.alt.elf, 1),
              "%s: %s\n%s", p->name, files.alt.path ? files.alt.path : "none", trail);
    cr_expect(ne(ptr, strstr(trail, p->said), NULL), "%s: no '%s' in\n%s", p->name, p->said, trail);
    /* The producer is in the shared file: libdw does not go and find one by itself. */
    cr_expect(eq(int, has_names(files.dwarf), p->used != NULL), "%s", p->name);
    free(trail);
    object_files_free(&files);
    object_symbol_path_close(path);
}

Test(debug_files, that_dwz_shares_are_found_or_refused)
{
    static const char *const options[] = { "", "-r" };

    for (size_t o = 0; o < 2; o++)
        for (size_t i = 0; i < sizeof shared_places / sizeof *shared_places; i++) {
            struct run run;

            if (!made || system("command -v dwz >/dev/null") != 0)
                cr_skip_test("no dwz, or no " SFB_TOOL_PREFIX "gcc to make files with");
            run = run_line("rm -rf case && mkdir -p case/place && cp other.debug case && cd case "
                           "&& " MAKE_SHARED " && %s",
                           options[o], shared_places[i].line);
            cr_assert(eq(int, run.status, 0), "%s", run.err);
            run_free(&run);
            cr_assert(eq(int, chdir("case"), 0));
            judge_shared(&shared_places[i]);
            cr_assert(eq(int, chdir(".."), 0));
        }
}

/* 70 KiB say that they are 70 MiB: libelf would allocate them, and look then. */
Test(debug_files, that_unpack_to_too_much_are_refused_by_name)
{
    static const struct {
        const char *option;
        int status; /* of grep: whether the line is named */
        const char *says;
    } cases[] = {
        { "", 1, "not used: its section .debug_str of " },
        { "--max-unpacked 60M", 1, "unpacks to 73400" },
        { "--max-unpacked 80M", 0, "" },
        { "--max-unpacked 80X", 1, "'80X' is no size" },
    };

    if (!made)
        cr_skip_test("no " SFB_TOOL_PREFIX "gcc and objcopy to make files with");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line(
            "test -s str || { " OBJCOPY
            "--dump-section .debug_str=str lib.full && head -c 73400320 "
            "/dev/zero >>str && " OBJCOPY "--update-section .debug_str=str lib.full && " OBJCOPY
            "--compress-debug-sections=zlib lib.full; } || exit 9; '%s' symbolize %s --object "
            "lib.full 0x$(" SFB_TOOL_PREFIX "nm lib.full | sed -n 's/ T f$//p') | grep a.c:1",
            SFB_TOOL, cases[i].option);

        cr_expect(eq(int, run.status, cases[i].status), "%s: %s", cases[i].option, run.err);
        cr_expect(ne(ptr, strstr(run.err, cases[i].says), NULL), "%s: %s", cases[i].option,
                  run.err);
        run_free(&run);
    }
}
