"""An ELF64 file: finds .sframe and puts another one in its place."""
import struct

PT_LOAD, PT_GNU_SFRAME = 1, 0x6474e554
NOBITS = 8
ABIS = {(62, "<"): 3, (183, "<"): 2, (183, ">"): 1, (22, ">"): 4}


class Unfit(Exception):
    """The file is not one that a fault can be put in."""


class Image:
    def __init__(self, data):
        self.data = bytearray(data)
        if data[:5] != b"\x7fELF\x02":
            raise Unfit("not an ELF64 file")
        order = self.order = "<" if data[5] == 1 else ">"
        self.machine, = struct.unpack_from(order + "H", data, 18)
        self.abi = ABIS.get((self.machine, order))
        self.phoff, self.shoff = struct.unpack_from(order + "QQ", data, 32)
        self.phnum, _, self.shnum, names = struct.unpack_from(order + "HHHH", data, 56)
        strings = self.section_at(names)[4]
        self.sections = {}
        for index in range(self.shnum):
            header = self.section_at(index)
            name = strings + header[0]
            self.sections[bytes(data[name:data.index(b"\0", name)]).decode()] = index
        if ".sframe" not in self.sections:
            raise Unfit("no .sframe")

    def section_at(self, index):
        return struct.unpack_from(self.order + "IIQQQQIIQQ", self.data, self.shoff + 64 * index)

    def section(self, name):
        return self.section_at(self.sections[name])

    def segment(self, index):
        return struct.unpack_from(self.order + "IIQQQQQQ", self.data, self.phoff + 56 * index)

    def bytes_of(self, name):
        header = self.section(name)
        return bytes(self.data[header[4]:header[4] + header[5]])

    def ranges(self, prefix):
        """[(first, end)] of the sections whose name begins so."""
        headers = [self.section(name) for name in self.sections if name.startswith(prefix)]
        return [(header[3], header[3] + header[5]) for header in headers]

    def sframe(self):
        """(bytes, address)."""
        return self.bytes_of(".sframe"), self.section(".sframe")[3]

    def segment_sframe(self):
        """(bytes, address) as the loader shows them."""
        for index in range(self.phnum):
            kind, _, offset, address, _, size, _, _ = self.segment(index)
            if kind == PT_GNU_SFRAME:
                return bytes(self.data[offset:offset + size]), address
        return None

    def executable(self, address):
        for index in range(self.phnum):
            kind, flags, _, start, _, _, size, _ = self.segment(index)
            if kind == PT_LOAD and flags & 1 and start <= address < start + size:
                return True
        return False

    def put(self, value, offset, letter="Q"):
        struct.pack_into(self.order + letter, self.data, offset, value)

    def set_section_size(self, size):
        self.put(size, self.shoff + 64 * self.sections[".sframe"] + 32)

    def replace_sframe(self, new):
        """Sets the bytes; in front of what the file holds behind them room is made."""
        _, _, _, _, offset, size, _, _, _, _ = self.section(".sframe")
        grown = len(new) - size
        if grown <= 0:
            self.data[offset:offset + len(new)] = new
            self.data[offset + len(new):offset + size] = bytes(-grown)
        else:
            self._insert(offset + size, (grown + 63) & ~63)
            self.data[offset:offset + len(new)] = new
        self.set_section_size(len(new))
        for index in range(self.phnum):
            at = self.phoff + 56 * index
            kind, _, start, _, _, length, memory, _ = self.segment(index)
            own = kind == PT_GNU_SFRAME and start == offset
            ends_here = kind == PT_LOAD and start <= offset and start + length == offset + size
            if own or ends_here:
                self.put(length + grown, at + 32)
                self.put(memory + grown, at + 40)
            elif grown > 0 and kind == PT_LOAD and start <= offset < start + length:
                raise Unfit("no room behind .sframe")

    def _insert(self, position, count):
        for index in range(self.phnum):
            kind, _, start, _, _, length, _, _ = self.segment(index)
            if kind == PT_LOAD and start + length > position:
                raise Unfit("no room behind .sframe")
        self.data[position:position] = bytes(count)
        if self.shoff >= position:
            self.shoff += count
            self.put(self.shoff, 40)
        for index in range(self.shnum):
            if self.section_at(index)[4] >= position:
                self.put(self.section_at(index)[4] + count, self.shoff + 64 * index + 24)
