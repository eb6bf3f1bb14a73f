"""What linkers and JITs do to linkage tables, whose rows repeat."""
from kinds import AMD64, NotHere, hits, kind


def table(section):
    found = [function for function in section.functions if function.mask]
    if not found:
        raise NotHere("no linkage table")
    return found


@kind("plt-not-repeated", "a linker that writes the entry for a linkage table as an ordinary one",
      "the bit for repeating rows is clear",
      "the rows of the linkage table do not repeat: only the first slot is right", abis=AMD64)
def plt_not_repeated(section, rng):
    function = rng.choice(table(section))
    if len(function.rows) < 2:
        raise NotHere("one row for all")
    function.info &= ~0x10
    function.rep = 0
    return "%#x" % function.start


@kind("plt-slots-of-first-link", "an incremental linker that adds slots behind the ones it described",
      "the function of the linkage table ends some slots early",
      "the last slots of the linkage table have no rows", abis=AMD64)
def plt_short(section, rng):
    function = rng.choice(table(section))
    slots = function.size // 16
    if slots < 3:
        raise NotHere("too few slots")
    function.size -= 16 * rng.randint(1, slots // 2)
    return "%#x" % function.start


@kind("plt-push-of-other-layout", "a linker that mixes lazy and IBT linkage tables",
      "the push in a slot is at 9 instead of 11 or the reverse",
      "the row of the linkage table's slots starts at the wrong byte of a slot", abis=AMD64)
def plt_push(section, rng):
    for function in table(section):
        for row in function.rows:
            if row.start in (9, 11):
                row.start = 20 - row.start
                return "%#x" % function.start
    raise NotHere("no slot pushes")


@kind("plt-rows-in-functions", "a JIT that takes its stubs' type for all code of a block",
      "functions of one share repeat every 16 or 32 bytes", "functions i..j are no linkage table "
      "and have its type: rows repeat though the code does not", abis=AMD64)
def plt_type(section, rng):
    found, said = hits(section, rng, lambda function: function.size > 48 and
                       len([row for row in function.rows if row.start < 16]) > 1)
    for function in found:
        function.info |= 0x10
        function.rep = 16
        function.rows = [row for row in function.rows if row.start < 16]
    return said
