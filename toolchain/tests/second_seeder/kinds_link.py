"""What linkers do to one object's share: relocation, merging, order, counts."""
from kinds import NotHere, by_start, kind, share, where
from sframe_model import HEADER


@kind("no-reloc-share", "a linker that skips a relocation type in one object",
      "the starts of one object's functions stay as assembled, 0",
      "the starts of functions i..j were never relocated (the fields hold 0)")
def no_reloc_share(section, rng):
    first, last = share(section, rng)
    said = where(section, first, last)
    for function in section.functions[first:last]:
        function.raw_start = 0
    by_start(section)
    return said


@kind("tombstone-share", "section garbage collection or a COMDAT choice that kept the other copy",
      "the starts of one object's functions resolve to address 0, as discarded sections' do",
      "functions i..j lie at address 0: they are marked as discarded, and their code has no rows")
def tombstone_share(section, rng):
    first, last = share(section, rng)
    said = where(section, first, last)
    for function in section.functions[first:last]:
        function.start = 0
    by_start(section)
    return said


@kind("other-base-share", "a linker that merges objects of two binutils releases",
      "one object's starts are counted from the other place: the section's start or the field",
      "functions i..j count their start from the field though the section says otherwise, or "
      "the reverse: each lies off by the offset of its field")
def other_base_share(section, rng):
    first, last = share(section, rng)
    for index in range(first, last):
        field = HEADER + len(section.aux) + index * section.stride
        section.functions[index].start += field if section.from_field else -field
    said = where(section, first, last)
    by_start(section)
    return said


@kind("starts-one-late", "ld -r of binutils 2.40 to 2.44: relocations at the offsets of the input",
      "each start of one object's share is that of the next function; size and rows stay",
      "sizes and rows of functions i..j belong to the neighbour: starts and the rest of the "
      "entries are one entry apart")
def starts_one_late(section, rng):
    first, last = share(section, rng)
    functions = section.functions[first:last]
    starts = [function.start for function in functions]
    if len(functions) < 3:
        raise NotHere("too few functions")
    functions = functions[1:] + functions[:1]
    for function, start in zip(functions, starts):
        function.start = start
    section.functions[first:last] = functions
    return where(section, first, last)


@kind("row-base-lost", "a merging linker that forgets the output position of one object's rows",
      "the row offsets of one object's functions count from that object's rows",
      "the row offsets of functions i..j were not rebased: they point into other functions' rows")
def row_base_lost(section, rng):
    first, last = share(section, rng, tail=True)
    section.encode()
    base = min(function.placed for function in section.functions[first:last])
    if base == 0:
        raise NotHere("its rows are the first")
    for function in section.functions[first:last]:
        function.raw_offset = lambda right, base=base: right - base
    return where(section, first, last)


@kind("fdes-lost-rows-kept", "a linker that drops one object's functions when sections are folded",
      "the entries of one object are gone, its rows and the header's count of rows stay",
      "rows that no function uses: the entries of their functions are lost")
def fdes_lost(section, rng):
    first, last = share(section, rng)
    said = where(section, first, last)
    lost = section.functions[first:last]
    del section.functions[first:last]

    def keep(data, layout):
        from sframe_model import row_bytes
        import struct
        rows = bytearray()
        for function in lost:
            if section.version == 3:
                rows += struct.pack(section.order + "HBBB", len(function.rows), function.info,
                                    function.info2, function.rep)
            for row in function.rows:
                rows += row_bytes(row, section.order, function.info & 15)
        data += rows
        for at, more in ((12, sum(len(function.rows) for function in lost)), (16, len(rows))):
            old, = struct.unpack_from(section.order + "I", data, at)
            struct.pack_into(section.order + "I", data, at, old + more)
    section.patches.append(keep)
    return said


@kind("count-of-first-link", "an incremental linker that appends entries and keeps the old header",
      "the header counts fewer functions than lie before the rows",
      "the header counts fewer functions than the room before the rows holds")
def count_of_first_link(section, rng):
    lost = rng.randint(1, max(1, len(section.functions) // 10))
    section.override["fdes"] = lambda count, layout: count - lost
    return "the last %d functions" % lost


@kind("row-bytes-of-first-link", "an incremental linker that appends rows and keeps their old length",
      "the header's length of the rows ends before the last objects' rows",
      "rows of functions i.. lie past the end that the header gives for the rows")
def row_bytes_of_first_link(section, rng):
    part = rng.uniform(0.6, 0.97)
    section.override["fre_len"] = lambda length, layout: int(length * part)
    return "the last %d %% of the rows" % round(100 * (1 - part))


@kind("two-blocks-not-merged", "a linker that joins two sorted tables and keeps the SORTED flag",
      "two blocks of functions change places, SORTED stays",
      "the table says that it is sorted and is not, at function i")
def two_blocks(section, rng):
    functions = section.functions
    if len(functions) < 6:
        raise NotHere("too few functions")
    first = rng.randrange(0, len(functions) - 4)
    middle = rng.randrange(first + 1, len(functions) - 2)
    last = rng.randrange(middle + 1, len(functions))
    said = where(section, first, last)
    functions[first:last] = functions[middle:last] + functions[first:middle]
    return said


@kind("sorted-by-field-value", "a linker that sorts by the stored, field-relative value",
      "functions that are less than an entry apart change places, SORTED stays",
      "the table is not sorted at function i: it was sorted by what the fields hold")
def sorted_by_field(section, rng):
    pairs = list(enumerate(section.functions))
    pairs.sort(key=lambda pair: pair[1].start - pair[0] * section.stride)
    changed = [function for _, function in pairs]
    moved = sum(one is not other for one, other in zip(changed, section.functions))
    if not moved:
        raise NotHere("no functions are that close")
    section.functions = changed
    return "%d functions" % moved


@kind("second-header", "lld or mold 1 on sections that ld -r has already merged",
      "a second header follows, whose starts are off by its own place in the section",
      "there are two headers in one section: readers of one header miss the functions behind the "
      "second, whose starts count from a wrong place")
def second_header(section, rng):
    functions = section.functions
    if len(functions) < 6:
        raise NotHere("too few functions")
    middle = rng.randrange(len(functions) // 4, len(functions) * 3 // 4)
    section.concat_at = middle
    return "from function %d on" % middle


@kind("start-high-half-lost", "a linker that applies the 32-bit relocation to version 3's 64-bit field",
      "the upper half of one object's starts is 0 instead of the sign",
      "the starts of functions i..j lie 4 GiB too high: the upper half of the field was not written",
      versions=(3,))
def high_half_lost(section, rng):
    first, last = share(section, rng)
    said = where(section, first, last)
    for function in section.functions[first:last]:
        right = function.start - section.vma
        function.raw_start = lambda at, right=right: (right - at) & 0xffffffff
        if right - HEADER > 0:
            raise NotHere("code lies behind the section")
    by_start(section)
    return said


@kind("size-16-bits", "an assembler that keeps function sizes in 16 bits",
      "sizes of functions of 64 KiB and more are cut to 16 bits",
      "function i is as large as its size modulo 65536: code behind has no rows")
def size_16(section, rng):
    large = [function for function in section.functions
             if function.size > 0xffff and not function.mask]
    if not large:
        raise NotHere("no function is that large")
    for function in large:
        function.size &= 0xffff
        function.rows = [row for row in function.rows if row.start < max(1, function.size)]
    return ", ".join("%#x" % function.start for function in large[:5])


@kind("last-row-uncounted", "an LTO partition writer that counts transitions, not rows",
      "each function of one share counts one row less; the header's total agrees",
      "functions i..j count one row less than they have: the bytes of a row lie unused")
def last_row_uncounted(section, rng):
    first, last = share(section, rng, lambda function: len(function.rows) > 1)
    for function in section.functions[first:last]:
        if len(function.rows) > 1:
            function.raw_count = len(function.rows) - 1
    return where(section, first, last)


@kind("dedup-collision", "a dwz-like tool that shares rows of functions it takes for equal",
      "functions take the rows of another with the same number of rows and the same first ones",
      "function i has the rows of another function (rows are shared that are not equal)")
def dedup_collision(section, rng):
    groups = {}
    for function in section.functions:
        if len(function.rows) > 2 and not function.mask:
            head = tuple(row.key() for row in function.rows[:2])
            groups.setdefault((function.info, function.info2, len(function.rows), head), []
                              ).append(function)
    groups = [group for group in groups.values()
              if len({function.key() for function in group}) > 1]
    if not groups:
        raise NotHere("no two functions are that alike")
    hit = []
    for group in rng.sample(groups, min(len(groups), rng.randint(1, 4))):
        for function in group[1:]:
            if function.key() != group[0].key():
                if group[0].rows[-1].start >= function.size:
                    continue
                function.rows = [row.copy() for row in group[0].rows]
                hit.append(function.start)
    if not hit:
        raise NotHere("no two functions are that alike")
    return ", ".join("%#x" % start for start in hit[:6])
