/*
 * The folders of the tree, in their order: each knows only folders above it. docs/ARCHITECTURE.md has the same table, with
 * what lives in each.
 *
 *     the library      bytes -> fields -> rule -> frames -> bytes
 *                      base | sframe, eh_frame | cbf | machine, walk | process | capture | crash
 *     shared by both   util, symbols
 *     the profiler     format, protocol | agent | collector | linked | report
 *     the toolchain    synth, dump | check | diff
 *     the command      contrib | cli
 *
 * Of the library a folder is named as it is included: below src.
 */
#ifndef POLICY_LAYERS_TABLE_H
#define POLICY_LAYERS_TABLE_H

#include <stddef.h>

enum { KNOWN_MAX = 16, SYSTEM_MAX = 9 };

struct layer {
    const char *folder;
    const char *knows[KNOWN_MAX];   /* folders above it */
    const char *headers[KNOWN_MAX]; /* beginnings of the names of public ones */
    const char *system[SYSTEM_MAX]; /* <...>; none listed: all */
};

#define PURE_NAMES                                                                                 \
    "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h", "stdatomic.h"
#define PURE                                                                                       \
    {                                                                                              \
        PURE_NAMES                                                                                 \
    }
#define PURE_AND_ERRNO                                                                             \
    {                                                                                              \
        PURE_NAMES, "errno.h"                                                                      \
    }
#define ANY_SYSTEM                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }
#define CORE "base", "sframe", "eh_frame", "cbf", "unwind/machine", "unwind/walk"

#define COMMANDS_KNOW "util", "symbols", "contrib/lws", "cli"

static const struct layer layers[] = {
    { "base",
      { NULL },
      { "sfb/api.h", "sfb/abi.h", "sfb/status.h", "sfb/frame.h", "sfb/memory.h" },
      PURE },
    { "sframe", { "base" }, { "sfb/abi.h", "sfb/status.h", "sfb/rule.h", "sfb/section.h" }, PURE },
    { "eh_frame",
      { "base" },
      { "sfb/abi.h", "sfb/status.h", "sfb/rule.h", "sfb/eh_frame.h" },
      PURE },
    { "cbf", { "base" }, { "sfb/status.h", "sfb/frame.h", "sfb/cbf.h", "sfb/image_map.h" }, PURE },
    { "unwind/machine", { "base" }, { "sfb/" }, ANY_SYSTEM },
    /* Nothing of a process: what it may read is given to it. */
    { "unwind/walk",
      { "base", "sframe", "eh_frame", "unwind/machine" },
      { "sfb/" },
      PURE_AND_ERRNO },
    /* Interpreters that say where their frames are. */
    { "unwind/runtime",
      { "base", "sframe", "eh_frame", "unwind/machine", "unwind/walk" },
      { "sfb/" },
      PURE },
    { "unwind/process",
      { "base", "sframe", "eh_frame", "unwind/machine", "unwind/walk" },
      { "sfb/" },
      ANY_SYSTEM },
    { "unwind/capture",
      { CORE, "unwind/runtime", "unwind/process" },
      { "sfb/", "sframe_backtrace.h" },
      ANY_SYSTEM },
    { "crash",
      { CORE, "unwind/process", "unwind/capture" },
      { "sfb/", "sframe_backtrace.h", "sframe_backtrace_crash.h", "sframe_backtrace_record.h" },
      ANY_SYSTEM },
    { "util", { NULL }, { NULL }, ANY_SYSTEM },
    { "symbols", { "base", "sframe", "eh_frame", "util" }, { "sfb/" }, ANY_SYSTEM },
    { "remote",
      { "base", "cbf", "unwind/machine", "unwind/walk", "unwind/runtime", "util", "symbols" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/format", { "base", "cbf", "util" }, { "sfb/" }, ANY_SYSTEM },
    /* The memory that agents and the collector share. */
    { "profiler/protocol", { "base", "util" }, { "sfb/" }, ANY_SYSTEM },
    { "profiler/agent",
      { "base", "unwind/machine", "unwind/process", "util", "profiler/protocol" },
      { "sfb/recording.h", "sfb/abi.h", "sframe_backtrace" },
      ANY_SYSTEM },
    /* The functions of Python in a stack, for the CPU agent's handler and for the heap agent's hooks. */
    { "profiler/agent/python",
      { "base", "unwind/runtime", "unwind/process", "unwind/capture", "profiler/protocol",
        "profiler/agent" },
      { "sfb/memory.h" },
      ANY_SYSTEM },
    { "profiler/agent/cpu",
      { "base", "unwind/machine", "unwind/runtime", "unwind/process", "unwind/capture", "util",
        "profiler/protocol", "profiler/agent", "profiler/agent/python" },
      { "sfb/recording.h", "sfb/abi.h", "sfb/memory.h", "sframe_backtrace" },
      ANY_SYSTEM },
    /* The live table of the heap agent, whose hooks call it. It names stacks as they do. */
    { "profiler/agent/live",
      { "base", "unwind/capture", "unwind/process", "util", "profiler/protocol", "profiler/agent" },
      { "sfb/", "sframe_backtrace" },
      ANY_SYSTEM },
    /* It names stacks by the capture's own means: a hook has no time for more. */
    { "profiler/agent/heap",
      { "unwind/machine", "unwind/process", "unwind/capture", "util", "profiler/protocol",
        "profiler/agent", "profiler/agent/python", "profiler/agent/live" },
      { "sfb/recording.h", "sfb/context.h", "sframe_backtrace" },
      ANY_SYSTEM },
    /* Of agents it knows the protocol alone. */
    { "profiler/collector/rings",
      { "base", "unwind/runtime", "util", "profiler/format", "profiler/protocol" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/collector/heap",
      { "base", "util", "profiler/format", "profiler/protocol", "profiler/collector/rings" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/collector/processes",
      { "base", "util", "profiler/format", "profiler/protocol", "profiler/collector/rings" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/collector/session",
      { "base", "util", "profiler/format", "profiler/protocol", "profiler/collector/rings",
        "profiler/collector/heap", "profiler/collector/processes" },
      { "sfb/" },
      ANY_SYSTEM },
    /* Records of perf events, and copied stacks. */
    { "profiler/collector/outside",
      { "base", "unwind/machine", "util", "symbols", "remote", "profiler/format",
        "profiler/collector/rings", "profiler/collector/processes" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/collector/live", { "base", "util", "profiler/protocol" }, { "sfb/" }, ANY_SYSTEM },
    /* Recording from inside a program: agent and rings in one process. */
    { "profiler/linked",
      { "base", "profiler/protocol", "profiler/agent", "profiler/agent/cpu",
        "profiler/collector/rings" },
      { "sfb/", "sframe_backtrace" },
      ANY_SYSTEM },
    { "profiler/report/model",
      { "base", "cbf", "util", "symbols", "profiler/format" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/report/text",
      { "base", "util", "symbols", "profiler/report/model" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/report/formats",
      { "base", "util", "profiler/format", "symbols", "profiler/report/model",
        "profiler/report/text" },
      { "sfb/" },
      ANY_SYSTEM },
    { "profiler/report/page",
      { "base", "util", "symbols", "profiler/report/model", "profiler/report/text",
        "profiler/report/formats" },
      { "sfb/" },
      ANY_SYSTEM },
    { "toolchain/synth", { "util", "symbols" }, { "sfb/" }, ANY_SYSTEM },
    { "toolchain/dump", { "util", "symbols" }, { "sfb/" }, ANY_SYSTEM },
    { "toolchain/check", { "util", "symbols", "toolchain/synth" }, { "sfb/" }, ANY_SYSTEM },
    { "toolchain/diff", { "util", "symbols", "toolchain/check" }, { "sfb/" }, ANY_SYSTEM },
    { "contrib/lws", { "util" }, { "sfb/" }, ANY_SYSTEM },
    { "contrib/apitrace", { "util", "profiler/report/model" }, { "sfb/" }, ANY_SYSTEM },
    /* One thin file a subcommand. Its folders are the subcommands' names. */
    { "cli",
      { "util", "symbols", "contrib/lws", "crash", "profiler/protocol" },
      { "sfb/" },
      ANY_SYSTEM },
    { "cli/record",
      { COMMANDS_KNOW, "profiler/protocol", "profiler/collector/rings", "profiler/collector/heap",
        "profiler/collector/processes", "profiler/collector/session", "profiler/collector/outside",
        "profiler/report/model" },
      { "sfb/" },
      ANY_SYSTEM },
    { "cli/report",
      { COMMANDS_KNOW, "contrib/apitrace", "profiler/collector/live", "profiler/collector/outside",
        "profiler/report/model", "profiler/report/text", "profiler/report/formats",
        "profiler/report/page" },
      { "sfb/" },
      ANY_SYSTEM },
    { "cli/merge",
      { COMMANDS_KNOW, "cli/report", "profiler/report/model", "profiler/report/text" },
      { "sfb/" },
      ANY_SYSTEM },
    { "cli/stack", { COMMANDS_KNOW, "crash", "profiler/report/formats" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/ctl",
      { COMMANDS_KNOW, "profiler/protocol", "profiler/collector/live",
        "profiler/collector/processes" },
      { "sfb/" },
      ANY_SYSTEM },
    { "cli/symbolize", { COMMANDS_KNOW, "crash" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/collect", { COMMANDS_KNOW, "profiler/report/text" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/check", { COMMANDS_KNOW, "toolchain/check" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/diff", { COMMANDS_KNOW, "toolchain/check", "toolchain/diff" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/synth", { COMMANDS_KNOW, "toolchain/synth" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/dump", { COMMANDS_KNOW, "toolchain/dump" }, { "sfb/" }, ANY_SYSTEM },
    { "cli/decode", { COMMANDS_KNOW }, { "sfb/" }, ANY_SYSTEM },
    { "cli/encode", { COMMANDS_KNOW }, { "sfb/" }, ANY_SYSTEM },
};

enum { LAYERS = sizeof layers / sizeof *layers };

/* Those that have no files yet. */
static const char *const to_come[] = { "unwind/runtime" };

#endif
