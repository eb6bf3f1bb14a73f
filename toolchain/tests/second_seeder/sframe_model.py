"""An .sframe section of version 1, 2 or 3 as functions and rows, and back to bytes.

Written from the specification alone; shares no code with the project.
"""
import struct

SORTED, FRAME_POINTER, PCREL = 1, 2, 4
HEADER = 28
STRIDE = {1: 17, 2: 20, 3: 16}
ATTRIBUTE = 5
ABI_FIXED_RA = {1: 0, 2: 0, 3: -8, 4: 0}
BIG_ENDIAN_ABIS = (1, 4)


class Refused(Exception):
    """A reader that follows the specification cannot go on."""


class Row:
    def __init__(self, start, info, words):
        self.start, self.info, self.words = start, info, words

    def copy(self):
        return Row(self.start, self.info, list(self.words))

    @property
    def sp(self):
        return bool(self.info & 1)

    def set_words(self, words):
        """Takes these words, in the smallest size that holds them as gas chooses it."""
        self.words = list(words)
        top = max([abs(word) for word in words] or [0])
        size = 0 if top <= 127 else 1 if top <= 32767 else 2
        self.info = (self.info & 0x81) | len(words) << 1 | size << 5

    def key(self):
        return self.start, self.info, tuple(self.words)


class Function:
    def __init__(self, start, size, info, rep, info2, rows):
        self.start, self.size, self.info, self.rep, self.info2 = start, size, info, rep, info2
        self.rows = rows
        # What a faulty tool writes instead of the right value.
        self.raw_start = self.raw_offset = self.raw_count = self.raw_rows = None

    def copy(self):
        return Function(self.start, self.size, self.info, self.rep, self.info2,
                        [row.copy() for row in self.rows])

    @property
    def end(self):
        return self.start + self.size

    @property
    def mask(self):
        return bool(self.info & 0x10)

    @property
    def flexible(self):
        return bool(self.info2 & 1)

    def key(self):
        return self.info, self.rep, self.info2, tuple(row.key() for row in self.rows)


class Layout:
    """Where encode() put things: positions from the start of the section."""

    def __init__(self):
        self.fde, self.rows, self.fre_base, self.row_bytes = [], [], 0, {}


def read_row(data, order, position, limit, width):
    letter = "BHI"[width]
    if position + struct.calcsize(letter) + 1 > limit:
        raise Refused("a row ends past the rows")
    start, info = struct.unpack_from(order + letter + "B", data, position)
    count, size = info >> 1 & 15, info >> 5 & 3
    if size == 3:
        raise Refused("a row of an unknown word size")
    if count > 6:
        raise Refused("a row of %d words" % count)
    position += struct.calcsize(order + letter + "B")
    if position + (count << size) > limit:
        raise Refused("a row ends past the rows")
    words = list(struct.unpack_from(order + str(count) + "bhi"[size], data, position))
    return Row(start, info, words), position + (count << size)


def row_bytes(row, order, width):
    size, count = row.info >> 5 & 3, len(row.words)
    mask = (1 << 8 * (1 << width)) - 1
    head = struct.pack(order + "BHI"[width] + "B", row.start & mask, row.info)
    return head + struct.pack(order + str(count) + "bhi"[size], *row.words)


class Section:
    """Right after decode(); kinds change it, encode() writes it."""

    def __init__(self, data, vma):
        self.vma, self.functions, self.override, self.patches = vma, [], {}, []
        self.concat_at, self.tables, self.move_segment = None, [], 0  # tables: [first, end)
        order = "<" if data[:2] == b"\xe2\xde" else ">"
        self.order = order
        (_, self.version, self.flags, self.abi, self.fixed_fp, self.fixed_ra, aux, count, _, length,
         fde_offset, fre_offset) = struct.unpack_from(order + "HBBBbbBIIIII", data)
        self.aux = data[HEADER:HEADER + aux]
        table, rows = HEADER + aux + fde_offset, HEADER + aux + fre_offset
        for index in range(count):
            self.functions.append(self._function(data, table, rows, rows + length, index))

    @property
    def stride(self):
        return STRIDE[self.version]

    @property
    def from_field(self):
        return bool(self.flags & PCREL) or not self.flags & SORTED

    def _function(self, data, table, rows, limit, index):
        at, order = table + index * self.stride, self.order
        base = self.vma + (at if self.from_field else 0)
        if self.version == 3:
            start, size, offset = struct.unpack_from(order + "qII", data, at)
            count, info, info2, rep = struct.unpack_from(order + "HBBB", data, rows + offset)
            position = rows + offset + ATTRIBUTE
        else:
            start, size, offset, count, info = struct.unpack_from(order + "iIIIB", data, at)
            rep = data[at + 17] if self.version == 2 else 16
            info2, position = 0, rows + offset
        function = Function(base + start, size, info, rep, info2, [])
        for _ in range(count):
            row, position = read_row(data, order, position, limit, info & 15)
            function.rows.append(row)
        return function

    def start_field(self, function, at):
        """The value that a right tool writes at a field."""
        if function.raw_start is not None:
            return function.raw_start(at) if callable(function.raw_start) else function.raw_start
        return function.start - self.vma - (at if self.from_field else 0)

    def encode(self, share=True):
        order, functions = self.order, self.functions
        layout, blobs, table, rows = Layout(), {}, b"", bytearray()
        table_at = HEADER + len(self.aux)
        stored = 0
        for index, function in enumerate(functions):
            at = table_at + index * self.stride
            blob = b"".join(row_bytes(row, order, function.info & 15) for row in function.rows)
            if function.raw_rows is not None:
                blob = function.raw_rows
            count = len(function.rows) if function.raw_count is None else function.raw_count
            if self.version == 3:
                blob = struct.pack(order + "HBBB", count, function.info, function.info2,
                                   function.rep) + blob
            key = (blob, function.info & 15)
            if not share or key not in blobs:
                blobs[key] = len(rows)
                rows += blob
                stored += count
            offset = blobs[key]
            layout.fde.append(at)
            layout.rows.append(offset)
            layout.row_bytes[index] = len(blob)
            function.placed = offset
        for index, function in enumerate(functions):
            offset = layout.rows[index] if function.raw_offset is None \
                else function.raw_offset(layout.rows[index]) & 0xffffffff
            value = self.start_field(function, layout.fde[index])
            if self.version == 3:
                value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
                table += struct.pack(order + "qII", value, function.size, offset)
                continue
            value = (value + (1 << 31)) % (1 << 32) - (1 << 31)
            count = len(function.rows) if function.raw_count is None else function.raw_count
            table += struct.pack(order + "iIIIB", value, function.size, offset, count,
                                 function.info)
            if self.version == 2:
                table += struct.pack(order + "BH", function.rep, 0)
        header = {"version": self.version, "flags": self.flags, "abi": self.abi,
                  "fixed_fp": self.fixed_fp, "fixed_ra": self.fixed_ra, "aux": len(self.aux),
                  "fdes": len(functions), "fres": stored, "fre_len": len(rows), "fde_offset": 0,
                  "fre_offset": len(table)}
        layout.fre_base = table_at + len(table)
        for name, value in self.override.items():
            header[name] = value(header[name], layout) if callable(value) else value
        data = bytearray(struct.pack(
            order + "HBBBbbBIIIII", 0xdee2, header["version"], header["flags"], header["abi"],
            header["fixed_fp"], header["fixed_ra"], header["aux"], header["fdes"], header["fres"],
            header["fre_len"], header["fde_offset"], header["fre_offset"]))
        data += self.aux + table + rows
        for patch in self.patches:
            patch(data, layout)
        return bytes(data)
