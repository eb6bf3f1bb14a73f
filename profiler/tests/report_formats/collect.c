/*
 * A recording on another machine: `sfb collect` puts the files of its modules into a tar file, and `sfb report
 * --symbol-path` says the same with what comes out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/tests/report/made.h"
#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

#define CC      SFB_TOOL_PREFIX "gcc -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=sha1 "
#define OBJCOPY SFB_TOOL_PREFIX "objcopy "

static bool made;

/* here/: three libraries, of which the second and the third have their debug information in a file apart. */
#define MAKE                                                                                       \
    "mkdir here && cd here && for i in 1 2 3; do printf 'static inline int in%%d(int x) { return " \
    "x * %%d; }\\nint f%%d(int x) { return in%%d(x) + 1; }\\n' $i $i $i $i >s$i.c && " CC          \
    "s$i.c -o s$i.so || exit 1; done && for i in 2 3; do " OBJCOPY                                 \
    "--only-keep-debug s$i.so s$i.debug && " OBJCOPY "-g s$i.so && " OBJCOPY                       \
    "--add-gnu-debuglink=s$i.debug s$i.so || exit 1; done"

static void make_files(void)
{
    struct run run;

    folder_enter();
    run = run_line(MAKE);
    made = run.status == 0;
    run_free(&run);
}

TestSuite(report_collect, .init = make_files, .fini = folder_remove);

#define NEEDS_FILES                                                                                \
    do {                                                                                           \
        if (!made)                                                                                 \
            cr_skip_test("no " SFB_TOOL_PREFIX "gcc and objcopy to make files with");              \
    } while (0)

static struct run expect_run(int status, const char *line)
{
    struct run run = run_line("export TZ=UTC; SFB='%s'; %s", SFB_TOOL, line);

    cr_assert(eq(int, run.status, status), "%s: status %d:\n%s%s", line, run.status, run.out,
              run.err);
    return run;
}

static void expect_done(const char *line)
{
    struct run run = expect_run(0, line);

    run_free(&run);
}

/* --- The recording ----------------------------------------------------------------------------- */

/* Of a library: where its function is, and its build-id. */
static void look(unsigned number, uint64_t *address, uint8_t id[20])
{
    struct run run =
        run_line(SFB_TOOL_PREFIX "nm here/s%u.so | sed -n 's/ T f%u$//p' && readelf -n "
                                 "here/s%u.so | sed -n 's/.*Build ID: //p'",
                 number, number, number);
    char *text = run.out;

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    *address = strtoull(text, &text, 16);
    for (size_t i = 0; i < 20; i++) {
        char digits[3] = { 0 };

        text += strspn(text, "\n");
        memcpy(digits, text, 2);
        id[i] = (uint8_t)strtoul(digits, NULL, 16);
        text += 2;
    }
    run_free(&run);
}

static void put_module(uint32_t process, uint64_t time, unsigned number, uint64_t base)
{
    uint8_t map[512], id[20];
    char path[4096];
    uint64_t address;
    struct sfb_image_map_encoder encoder;
    struct sfb_image image = { .base = base,
                               .end_of_text = base + 0x3000,
                               .path = path,
                               .build_id = id,
                               .build_id_size = 20 };
    struct sfb_recording_modules modules = { process, time, map, 0 };

    snprintf(path, sizeof path, "%s/here/s%u.so", folder_path(), number);
    image.path_size = strlen(path);
    look(number, &address, id);
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    modules.size = sfb_image_map_encoder_end(&encoder);
    cr_assert(eq(int, sfb_recording_put_modules(made_writer, &modules), SFB_OK));
}

static void put_sample(uint32_t process, uint32_t thread, uint64_t time, uint64_t pc)
{
    uint8_t cbf[64];
    struct sfb_cbf_encoder encoder;
    uint32_t id;

    cr_assert(eq(int, sfb_cbf_encoder_init(&encoder, cbf, sizeof cbf, 64), SFB_OK));
    cr_assert(eq(int, sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, pc), SFB_OK));
    cr_assert(eq(int,
                 sfb_recording_put_stack(made_writer, &id, process, cbf,
                                         sfb_cbf_encoder_end(&encoder, false)),
                 SFB_OK));
    made_sample(thread, id, time, 1000000, SFB_END);
}

/* Process 1 has the first library, and later the second at its place; process 2 has the third. */
static void write_recording(void)
{
    uint64_t addresses[4];
    uint8_t id[20];
    struct run run;

    for (unsigned i = 1; i <= 3; i++)
        look(i, &addresses[i], id);
    made_begin();
    made_process(2);
    made_thread(2, 2, "other");
    put_module(1, 1000000000, 1, 0x100000);
    put_module(1, 2000000000, 2, 0x100000);
    put_module(2, 1000000000, 3, 0x700000);
    put_sample(1, 1, 1500000000, 0x100000 + addresses[1]);
    put_sample(1, 1, 2500000000, 0x100000 + addresses[2]);
    put_sample(2, 2, 2500000000, 0x700000 + addresses[3]);
    made_end("the program ended");
    run = run_line("mv %s r.sfbr", made_path);
    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
}

/* --- Tests ------------------------------------------------------------------------------------- */

Test(report_collect, gives_the_same_report_where_the_files_are_not)
{
    struct run run;

    NEEDS_FILES;
    write_recording();
    expect_done("mkdir a b; for o in '' --tree --threads '--by line'; do $SFB report $o r.sfbr || "
                "exit 1; done >a/text "
                "2>a/err && $SFB report --pprof a/p --rows=a/n r.sfbr");
    run = expect_run(0, "cat a/text; cat a/err >&2");
    for (int i = 1; i <= 3; i++) {
        char want[32];

        snprintf(want, sizeof want, " f%d (s%d.so)", i, i);
        cr_expect(ne(ptr, strstr(run.out, want), NULL), "%s in\n%s", want, run.out);
        snprintf(want, sizeof want, "s%d.c:", i);
        cr_expect(ne(ptr, strstr(run.out, want), NULL), "%s in\n%s", want, run.out);
    }
    run_expect_text("errors", run.err, "");
    run_free(&run);
    expect_done("$SFB collect -o files.tar r.sfbr && $SFB collect -o - <r.sfbr | tar -t | sort "
                ">names && tar -tf "
                "files.tar | sort | cmp - names");
    expect_done("mv here gone && mkdir there && tar -xf files.tar -C there && cmp r.sfbr "
                "there/recording.sfbr");
    run = expect_run(0, "$SFB report r.sfbr");
    cr_expect(ne(ptr, strstr(run.err, "/here/s1.so: No such file"), NULL), "%s", run.err);
    run_free(&run);
    expect_done("P=there; for o in '' --tree --threads '--by line'; do $SFB report $o "
                "--symbol-path $P $P/recording.sfbr || exit "
                "1; done >b/text 2>b/err && $SFB report --pprof b/p --rows=b/n --symbol-path $P "
                "$P/recording.sfbr");
    run = run_line("for f in text err p n; do cmp a/$f b/$f; done");
    run_expect_text("another machine", run.out, "");
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
}

Test(report_collect, says_what_is_missing)
{
    struct run run;

    NEEDS_FILES;
    write_recording();
    run = expect_run(
        1, "rm here/s3.so; $SFB collect -o files.tar r.sfbr; S=$?; tar -tf files.tar; exit $S");
    cr_expect(ne(ptr, strstr(run.err, "/here/s3.so: No such file"), NULL), "%s", run.err);
    cr_expect(ne(ptr, strstr(run.out, "/here/s2.so"), NULL), "%s", run.out);
    run_free(&run);
    run = expect_run(1, "head -c 100 r.sfbr >cut; printf damage | dd of=r.sfbr bs=1 seek=200 "
                        "conv=notrunc 2>/dev/null; $SFB "
                        "collect -o files.tar r.sfbr");
    cr_expect(ne(ptr, strstr(run.err, "damaged"), NULL), "%s", run.err);
    run_free(&run);
    run = expect_run(1, "echo what >text; $SFB collect -o files.tar text");
    cr_expect(ne(ptr, strstr(run.err, "text: no recording, and no crash report is in it"), NULL),
              "%s", run.err);
    run_free(&run);
}

/* An image map has build-ids, and is taken for one by its first byte. */
Test(report_collect, takes_an_image_map)
{
    uint8_t map[512], id[20];
    char path[4096];
    uint64_t address;
    struct sfb_image_map_encoder encoder;
    struct sfb_image image = {
        .base = 0x100000, .end_of_text = 0x103000, .path = path, .build_id = id, .build_id_size = 20
    };
    struct run run;
    FILE *to;

    NEEDS_FILES;
    look(2, &address, id);
    snprintf(path, sizeof path, "%s/here/s2.so", folder_path());
    image.path_size = strlen(path);
    cr_assert(eq(int, sfb_image_map_encoder_init(&encoder, map, sizeof map, 64, "Linux", NULL, 0),
                 SFB_OK));
    cr_assert(eq(int, sfb_image_map_encoder_put(&encoder, &image), SFB_OK));
    to = fopen("map", "wb");
    cr_assert(to != NULL);
    fwrite(map, 1, sfb_image_map_encoder_end(&encoder), to);
    fclose(to);
    run = expect_run(
        0,
        "$SFB collect -o files.tar --maps map && tar -xOf files.tar manifest && mkdir there && tar "
        "-xf "
        "files.tar -C there && cmp map there/maps && cmp here/s2.debug there/.build-id/*/*.debug");
    cr_expect(ne(ptr, strstr(run.out, "/here/s2.so"), NULL), "%s", run.out);
    run_free(&run);
}
