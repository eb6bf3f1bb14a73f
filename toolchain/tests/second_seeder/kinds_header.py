"""What tools do to the header, and to the file around the section."""
import struct

from kinds import AMD64, NotHere, hits, kind
from sframe_model import PCREL, row_bytes


@kind("pcrel-flag-toggled", "a tool that rewrites the header for another binutils release",
      "the flag for field-relative starts changes, the starts do not",
      "the flag SFRAME_F_FDE_FUNC_START_PCREL contradicts the starts, which count from the other place",
      versions=(2, 3))
def pcrel_toggled(section, rng):
    section.override["flags"] = section.flags ^ PCREL
    return "all functions"


@kind("abi-of-host", "a cross assembler built with the host's default",
      "the header says the ABI of the build machine, with its fixed RA offset",
      "the ABI of the section is not the machine of the file")
def abi_of_host(section, rng):
    other = {3: 2, 2: 3, 1: 2}[section.abi]
    section.override.update(abi=other, fixed_ra=-8 if other == 3 else 0)
    return "the header"


@kind("fixed-ra-lost", "a JIT or converter written for AArch64",
      "the fixed offset of the return address is 0",
      "the fixed return address offset of AMD64 must be -8", abis=AMD64)
def fixed_ra_lost(section, rng):
    section.override["fixed_ra"] = 0
    return "the header"


@kind("aux-without-bytes", "a producer that announces an auxiliary header and does not write it",
      "the header gives the auxiliary header 4 or 8 bytes; nothing moves",
      "the auxiliary header has a length and no bytes: the tables lie that much before where the "
      "header puts them")
def aux_without_bytes(section, rng):
    size = rng.choice((4, 8))
    section.override["aux"] = size
    section.patches.append(lambda data, layout: data.extend(bytes(size)))
    return "the header, %d bytes" % size


@kind("version-restamped", "a build step that stamps the version that the reader wants",
      "the version byte is another's, the layout is not",
      "the version contradicts the layout: entries have the size of another version")
def version_restamped(section, rng):
    other = {1: 2, 2: 1, 3: 2}[section.version]
    section.override["version"] = other
    return "the header, %d for %d" % (other, section.version)


@kind("rows-other-endian", "a cross linker whose byte swapping forgets one object's rows",
      "16- and 32-bit values in one object's rows have the other byte order",
      "the rows of functions i..j are in the other byte order")
def rows_other_endian(section, rng):
    def fits(function):
        return function.info & 3 or any(row.info & 0x60 for row in function.rows)
    found, said = hits(section, rng, fits)
    other = ">" if section.order == "<" else "<"
    for function in found:
        function.raw_rows = b"".join(row_bytes(row, other, function.info & 15)
                                     for row in function.rows)
    return said


@kind("page-of-zeros", "a packer or a copy of a sparse file that lost a block",
      "4 KiB of rows that start on a page of the file are 0",
      "a page of the section, from offset X, is zeros")
def page_of_zeros(section, rng):
    choice = rng.random()

    def zero(data, layout):
        first = -(section.vma & 4095) % 4096
        pages = [at for at in range(first, len(data) - 4095, 4096) if at >= layout.fre_base]
        if not pages:
            raise NotHere("the rows fill no page")
        at = pages[int(choice * len(pages))]
        data[at:at + 4096] = bytes(4096)
    section.patches.append(zero)
    return "one page"


@kind("section-cut-at-page", "an objcopy-like tool that rounds sizes down",
      "the section ends at a page, its header does not know",
      "the header describes more bytes than the section has")
def section_cut(section, rng):
    def cut(data, layout):
        end = section.vma + len(data)
        size = len(data) - (end & 4095 or 4096)
        if size < layout.fre_base:
            raise NotHere("the section is within a page")
        del data[size:]
    section.patches.append(cut)
    return "the end"


@kind("segment-left-behind", "patchelf-like tools that move the section and not its segment",
      "PT_GNU_SFRAME shows other bytes than the section",
      "PT_GNU_SFRAME does not show the section: what the loader finds is not SFrame")
def segment_left_behind(section, rng):
    section.move_segment = -rng.choice((0x40, 0x100, 0x1000))
    return "the segment, %#x" % section.move_segment


@kind("size-of-last-section", "a linker that writes the size of its last input to the section header",
      "sh_size and the segment are those of a part",
      "the section is smaller than its header says")
def size_of_last(section, rng):
    part = rng.uniform(0.3, 0.8)
    section.patches.append(lambda data, layout: data.__delitem__(slice(int(len(data) * part), None)))
    return "the last %d %%" % round(100 * (1 - part))


@kind("fre-offset-of-other-stride", "a converter between versions that keeps the old offset of the rows",
      "the header puts the rows where they would be with another version's entries",
      "the rows do not lie behind the entries: the offset belongs to another version's entry size",
      versions=(1, 2, 3))
def fre_offset_stride(section, rng):
    stride = {1: 20, 2: 17, 3: 20}[section.version]
    count = len(section.functions)

    def move(data, layout):
        old, = struct.unpack_from(section.order + "I", data, 24)
        struct.pack_into(section.order + "I", data, 24, count * stride)
        if count * stride > old:
            length, = struct.unpack_from(section.order + "I", data, 16)
            length -= count * stride - old
            if length <= 0:
                raise NotHere("more entries than rows")
            struct.pack_into(section.order + "I", data, 16, length)
    section.patches.append(move)
    return "the header"
