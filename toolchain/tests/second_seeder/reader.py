"""What a reader that follows the specification answers for a pc: the proof of a fault.

Reads bytes, not the model that the faults were made in; shares no code with the project.
"""
import bisect
import functools
import struct

from sframe_model import (ABI_FIXED_RA, ATTRIBUTE, BIG_ENDIAN_ABIS, HEADER, PCREL, SORTED, STRIDE,
                          Refused, read_row)


class Reader:
    """One header and its tables, as glibc and libsframe read it: what lies behind is ignored."""

    def __init__(self, data, vma, machine_abi):
        self.data, self.vma = data, vma
        if len(data) < HEADER:
            raise Refused("no room for a header")
        if data[:2] not in (b"\xe2\xde", b"\xde\xe2"):
            raise Refused("no magic")
        order = self.order = "<" if data[0] == 0xe2 else ">"
        (_, self.version, flags, abi, _, self.fixed_ra, aux, self.count, self.total, length, fde,
         fre) = struct.unpack_from(order + "HBBBbbBIIIII", data)
        if self.version not in STRIDE:
            raise Refused("version %d" % self.version)
        if flags & ~(7 if self.version == 2 else 5 if self.version == 3 else 3):
            raise Refused("unknown flags %#x" % flags)
        if abi != machine_abi or (order == ">") != (abi in BIG_ENDIAN_ABIS):
            raise Refused("ABI %d in a file of ABI %d" % (abi, machine_abi))
        if self.fixed_ra != ABI_FIXED_RA[abi]:
            raise Refused("return address fixed at %d" % self.fixed_ra)
        self.flags, self.abi, self.stride = flags, abi, STRIDE[self.version]
        self.table, self.rows = HEADER + aux + fde, HEADER + aux + fre
        self.limit = self.rows + length
        if self.table + self.count * self.stride > self.rows:
            raise Refused("functions run into rows")
        if self.limit > len(data):
            raise Refused("rows end past the section")
        from_field = flags & PCREL or not flags & SORTED
        self.starts, self.sizes = [], []
        for index in range(self.count):
            at = self.table + index * self.stride
            start, size = struct.unpack_from(order + ("qI" if self.version == 3 else "iI"), data, at)
            self.starts.append(start + vma + (at if from_field else 0))
            self.sizes.append(size)
        self.cache = {}

    def function(self, index):
        """(start, size, type bits, rows) or Refused."""
        if index not in self.cache:
            try:
                self.cache[index] = self._function(index)
            except Refused as refused:
                self.cache[index] = refused
        if isinstance(self.cache[index], Refused):
            raise self.cache[index]
        return self.cache[index]

    def _function(self, index):
        at, order, data = self.table + index * self.stride, self.order, self.data
        info2 = 0
        if self.version == 3:
            offset, = struct.unpack_from(order + "I", data, at + 12)
            position = self.rows + offset + ATTRIBUTE
            if position > self.limit:
                raise Refused("FDE %d: rows past the end" % index)
            count, info, info2, rep = struct.unpack_from(order + "HBBB", data, position - ATTRIBUTE)
        else:
            offset, count, info = struct.unpack_from(order + "IIB", data, at + 8)
            rep = data[at + 17] if self.version == 2 else 16
            position = self.rows + offset
        if info & 15 > 2 or info2 & ~1 or info & (0x40 if self.version == 3 else 0xc0):
            raise Refused("FDE %d: info words %#x %#x" % (index, info, info2))
        if info & 0x10 and not rep:
            raise Refused("FDE %d: repeats after 0 bytes" % index)
        rows, last = [], -1
        if position > self.limit:
            raise Refused("FDE %d: rows past the end" % index)
        for number in range(count):
            row, position = read_row(data, order, position, self.limit, info & 15)
            if row.start < last:
                raise Refused("FDE %d: row %d starts before the one before it" % (index, number))
            self._check(index, number, row, bool(info2))
            rows.append(row)
            last = row.start
        return info, info2, rep, rows

    def _check(self, index, number, row, flexible):
        count = len(row.words)
        if count == 0 and self.version == 1:
            raise Refused("FDE %d: row %d has no words" % (index, number))
        if not flexible and count > (2 if self.fixed_ra else 3):
            raise Refused("FDE %d: row %d has %d words" % (index, number, count))

    def lookup(self, pc):
        """A rule as a tuple, or None."""
        if self.flags & SORTED:
            # Literally: the table may lie about its order, and bisect then goes astray as readers do.
            index = bisect.bisect_right(self.starts, pc) - 1
            while index > 0 and self.sizes[index] == 0:
                index -= 1
            indices = [index] if index >= 0 else []
        else:
            indices = range(self.count)
        for index in indices:
            if not self.starts[index] <= pc < self.starts[index] + self.sizes[index]:
                continue
            info, info2, rep, rows = self.function(index)
            offset = pc - self.starts[index]
            offset = offset % rep if info & 0x10 else offset
            found = None
            for row in rows:
                if row.start > offset:
                    break
                found = row
            if found is None:
                return None
            return (info & 0xa0, info2, found.info & 0x81, tuple(found.words))
        return None

    def orderly(self):
        """Whether a search cannot go astray: each function ends before the next one starts."""
        return bool(self.flags & SORTED) and all(
            start + size <= after
            for start, size, after in zip(self.starts, self.sizes, self.starts[1:]))

    def key(self, index):
        """All that answers in a function depend on."""
        try:
            info, info2, rep, rows = self.function(index)
        except Refused as refused:
            return self.starts[index], self.sizes[index], str(refused)
        return (self.starts[index], self.sizes[index], info, info2, rep,
                tuple(row.key() for row in rows))

    def pcs(self, same=frozenset()):
        """The first and last byte of every function and row, and the bytes beside them."""
        for index in range(self.count):
            if same and self.key(index) in same:
                continue
            start, size = self.starts[index], self.sizes[index]
            yield from (start, start + size - 1, start + size)
            try:
                info, _, rep, rows = self.function(index)
            except Refused:
                continue
            bases = range(0, size, rep) if info & 0x10 else (0,)
            for base in bases:
                for row in rows:
                    if base + row.start < size:
                        yield from (start + base + row.start, start + base + row.start - 1)


def answer(reader, pc):
    try:
        return reader.lookup(pc)
    except Refused as refused:
        return str(refused)


@functools.lru_cache(maxsize=4)
def reader_before(data, vma, machine_abi):
    """Kept: many faults are put into the same file."""
    return Reader(data, vma, machine_abi)


def compare(before, vma, after, after_vma, machine_abi):
    """(pcs that were asked, that are answered otherwise, an example) of two sections."""
    right = reader_before(before, vma, machine_abi)
    try:
        wrong = Reader(after, after_vma, machine_abi)
    except (Refused, struct.error) as refused:
        count = len(set(right.pcs()))
        return count, count, "refused: %s" % refused
    same = frozenset()
    if right.orderly() and wrong.orderly():
        same = frozenset(map(right.key, range(right.count)))
        same &= frozenset(map(wrong.key, range(wrong.count)))
    asked = set(right.pcs(same))
    asked.update(wrong.pcs(same))
    count, example = 0, ""
    for pc in sorted(asked):
        is_right, is_wrong = answer(right, pc), answer(wrong, pc)
        if is_right != is_wrong:
            count += 1
            example = example or "%#x: %s, was %s" % (pc, is_wrong, is_right)
    return len(asked), count, example
