"""What assemblers, converters from .eh_frame, and JITs do to rows."""
from kinds import AARCH64, AMD64, hits, kind


def default(function):
    return not function.flexible


@kind("row-at-push", "a JIT that notes a change before it emits the push",
      "rows for a push start at the push, not behind it",
      "rows of functions i..j start an instruction early: at the push and not behind it", abis=AMD64)
def row_at_push(section, rng):
    def grows(function):
        return [(one, two) for one, two in zip(function.rows, function.rows[1:])
                if default(function) and one.words and two.words and one.sp and two.sp
                and two.words[0] == one.words[0] + 8 and two.start > one.start + 1]
    found, said = hits(section, rng, grows)
    for function in found:
        for _, row in grows(function):
            row.start -= 1
    return said


@kind("restore-state-lost", "a converter that ignores DW_CFA_restore_state",
      "the row behind an early return is missing: the epilogue's state goes on",
      "the row after the early return is missing: code behind a ret has the state of the epilogue")
def restore_state_lost(section, rng):
    floor = 8 if section.abi == 3 else 0

    def restores(function):
        rows = function.rows
        return [index for index in range(2, len(rows)) if default(function) and
                rows[index - 1].words and rows[index].words and
                rows[index - 1].sp and rows[index - 1].words[0] == floor and
                (not rows[index].sp or rows[index].words[0] > floor) and
                any(row.key()[1:] == rows[index].key()[1:] for row in rows[:index - 1])]
    found, said = hits(section, rng, restores)
    for function in found:
        gone = set(restores(function))
        function.rows = [row for index, row in enumerate(function.rows) if index not in gone]
    return said


@kind("prologue-only", "a JIT that describes prologues and no epilogues",
      "rows behind the largest frame are missing in one share",
      "functions i..j have no rows for their epilogues: after the pops the frame is said to be whole")
def prologue_only(section, rng):
    def shrinks(function):
        rows = function.rows
        if not default(function) or len(rows) < 3:
            return 0
        peak = max(range(len(rows)), key=lambda index: rows[index].words[0] if rows[index].words
                   and rows[index].sp else -1)
        return peak + 1 if 0 < peak < len(rows) - 1 else 0
    found, said = hits(section, rng, shrinks)
    for function in found:
        del function.rows[shrinks(function):]
    return said


@kind("fp-column-lost", "a converter that thinks the frame pointer is never a general register",
      "the rows of one object lose where the caller's frame pointer is saved",
      "functions i..j save the frame pointer and their rows do not say where", abis=AMD64)
def fp_lost(section, rng):
    found, said = hits(section, rng, lambda function: default(function) and
                       any(len(row.words) == 2 and row.sp for row in function.rows))
    for function in found:
        for row in function.rows:
            if len(row.words) == 2 and row.sp:
                row.set_words(row.words[:1])
    return said


@kind("fp-assumed-at-16", "a converter that expects push rbp to be the first instruction",
      "saved frame pointers of one object are all at CFA-16",
      "the saved frame pointer of functions i..j is at the wrong slot: CFA-16 though pushes precede it",
      abis=AMD64)
def fp_assumed(section, rng):
    def other(row):
        return len(row.words) == 2 and row.words[1] != -16
    found, said = hits(section, rng, lambda function: default(function) and
                       any(other(row) for row in function.rows))
    for function in found:
        for row in function.rows:
            if other(row):
                row.set_words([row.words[0], -16])
    return said


@kind("offset-cut-to-8-bits", "an assembler that chooses the word size by an unsigned compare",
      "CFA offsets of 128 to 255 are in one byte, and so are negative",
      "CFA offsets of 128 to 255 were cut to a signed byte: the CFA lies below the stack pointer")
def offset_cut(section, rng):
    def cut(row):
        return row.words and 128 <= row.words[0] <= 255 and \
            all(-128 <= word <= 127 for word in row.words[1:])
    found, said = hits(section, rng, lambda function: default(function) and
                       any(cut(row) for row in function.rows))
    for function in found:
        for row in function.rows:
            if cut(row):
                row.info &= ~0x60
                row.words[0] -= 256
    return said


@kind("base-register-lost", "an assembler without DW_CFA_def_cfa_register (as gas 2.40 for rbx)",
      "rows whose CFA counts from the frame pointer say the stack pointer",
      "the CFA of functions i..j counts from the frame pointer, and the rows say the stack pointer")
def base_lost(section, rng):
    found, said = hits(section, rng, lambda function: default(function) and
                       any(row.words and not row.sp for row in function.rows))
    for function in found:
        for row in function.rows:
            if row.words:
                row.info |= 1
    return said


@kind("frame-without-return-address", "a JIT that writes its frame size as the CFA offset",
      "CFA offsets from the stack pointer are 8 less in one object",
      "the CFA of functions i..j is 8 too low: the return address is not counted", abis=AMD64)
def no_return_address(section, rng):
    found, said = hits(section, rng, lambda function: default(function) and
                       any(row.words and row.sp for row in function.rows))
    for function in found:
        for row in function.rows:
            if row.words and row.sp:
                row.set_words([row.words[0] - 8] + [word + 8 for word in row.words[1:]])
    return said


@kind("row-starts-as-deltas", "a converter that copies DW_CFA_advance_loc's deltas",
      "row starts count from the row before in one object",
      "row starts of functions i..j count from the row before, not from the function")
def row_deltas(section, rng):
    found, said = hits(section, rng, lambda function: len(function.rows) > 2)
    for function in found:
        starts = [row.start for row in function.rows]
        for row, before in zip(function.rows[1:], starts):
            row.start -= before
    return said


@kind("row-starts-cut-to-8-bits", "an assembler that chooses the row type before relaxation",
      "functions of 256 bytes and more have one-byte row starts, which wrap",
      "functions i..j of 256 bytes and more have one-byte row starts: those past 255 wrapped")
def starts_cut(section, rng):
    found, said = hits(section, rng, lambda function: function.info & 15 == 1 and
                       any(row.start > 255 for row in function.rows))
    for function in found:
        function.info &= ~15
        for row in function.rows:
            row.start &= 255
    return said


@kind("rows-late-after-relaxation", "linker relaxation or BOLT's shorter jumps",
      "rows behind some instruction are some bytes late, sizes stay",
      "the rows of functions i..j are N bytes late behind a shortened instruction")
def rows_late(section, rng):
    late = 4 if section.abi != 3 else 3

    def moves(function):
        return default(function) and any(
            row.start > 0 and row.start + late < function.size and
            row.start + late < (after.start if after else function.size)
            for row, after in zip(function.rows, function.rows[1:] + [None]))
    found, said = hits(section, rng, moves)
    for function in found:
        rows = function.rows
        first = rng.randrange(1, len(rows)) if len(rows) > 1 else 0
        for candidate in range(first, len(rows)):
            if rows[-1].start + late < function.size and rows[candidate].start:
                for row in rows[candidate:]:
                    row.start += late
                break
    return said


@kind("cold-part-as-entry", "a hot/cold splitter that starts each part like a function",
      "cold parts begin with the state of a function's entry",
      "cold parts i..j begin with the entry's state: they are reached with a frame on the stack")
def cold_as_entry(section, rng):
    entry = 8 if section.abi == 3 else 0

    def cold(function):
        first = function.rows[0] if function.rows else None
        return default(function) and first and first.words and first.start == 0 and \
            (not first.sp or first.words[0] != entry)
    found, said = hits(section, rng, cold)
    for function in found:
        row = function.rows[0]
        row.info |= 1
        row.set_words([entry])
    return said


@kind("outermost-for-hard-rows", "a converter that says RA undefined where it gives up",
      "rows with a CFA from the frame pointer or with large frames have no words",
      "rows of functions i..j say that there is no caller, where there is one", versions=(2, 3))
def outermost(section, rng):
    def hard(row):
        return row.words and (not row.sp or row.words[0] > 127)
    found, said = hits(section, rng, lambda function: default(function) and
                       any(hard(row) for row in function.rows))
    for function in found:
        for row in function.rows:
            if hard(row):
                row.info, row.words = 0, []
    return said


@kind("signal-for-all", "a converter that carries the augmentation S over to the next CIE",
      "functions of one share are marked as signal frames",
      "functions i..j are marked as signal frames and are ordinary functions", versions=(3,))
def signal_for_all(section, rng):
    found, said = hits(section, rng, lambda function: not function.info & 0x80)
    for function in found:
        function.info |= 0x80
    return said


@kind("flexible-bit-lost", "a linker of early 2.46 that copies the first info byte only",
      "functions with flexible rows are marked as default",
      "flexible rows are marked as default: they have more words than default rows can have",
      versions=(3,))
def flexible_lost(section, rng):
    found, said = hits(section, rng, lambda function: function.flexible)
    for function in found:
        function.info2 = 0
    return said


@kind("first-row-skipped", "a converter that emits a row only at DW_CFA_advance_loc",
      "the functions of one object have no row for their first bytes",
      "functions i..j have no row at their start: the entry's state is missing")
def first_row_skipped(section, rng):
    found, said = hits(section, rng, lambda function: len(function.rows) > 1 and
                       function.rows[1].start > 0)
    for function in found:
        del function.rows[0]
    return said


@kind("fp-and-ra-exchanged", "an assembler that writes columns in the order of register numbers",
      "the words of return address and frame pointer change places",
      "return address and frame pointer of functions i..j are exchanged", abis=AARCH64)
def exchanged(section, rng):
    found, said = hits(section, rng, lambda function: default(function) and
                       any(len(row.words) == 3 for row in function.rows))
    for function in found:
        for row in function.rows:
            if len(row.words) == 3:
                row.words[1:] = row.words[:0:-1]
    return said


@kind("ra-word-left-out", "a converter written for AMD64, where the return address is fixed",
      "rows have CFA and frame pointer only, and the latter is read as the return address",
      "rows of functions i..j lack the word of the return address: the frame pointer's is read as it",
      abis=AARCH64)
def ra_left_out(section, rng):
    found, said = hits(section, rng, lambda function: default(function) and
                       any(len(row.words) == 3 for row in function.rows))
    for function in found:
        for row in function.rows:
            if len(row.words) == 3:
                row.set_words([row.words[0], row.words[2]])
    return said
