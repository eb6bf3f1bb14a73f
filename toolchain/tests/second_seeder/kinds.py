"""The table of kinds, and what all of them pick their victims with."""


class NotHere(Exception):
    """The file has nothing that this fault could hit."""


class Kind:
    def __init__(self, name, tool, what, cause, versions, abis, seed):
        self.name, self.tool, self.what, self.cause = name, tool, what, cause
        self.versions, self.abis, self.seed = versions, abis, seed


KINDS = {}
AMD64, AARCH64 = (3,), (1, 2)


def kind(name, tool, what, cause, versions=(1, 2, 3), abis=(1, 2, 3)):
    """Adds a kind; its function changes a section and says what it hit."""
    def add(seed):
        KINDS[name] = Kind(name, tool, what, cause, versions, abis, seed)
        return seed
    return add


def share(section, rng, fits=None, tail=False):
    """(first, last + 1) of one object's functions: a run, with one at least that fits.

    Linkage tables and their first entry are no object's: they stay out. With tail, the run is not the first one.
    """
    functions = section.functions
    masks = [function.mask for function in functions] + [False]
    plain = [index for index, function in enumerate(functions)
             if not masks[index] and not masks[index + 1]
             and not any(first <= function.start < end for first, end in section.tables)]
    if len(plain) < 4:
        raise NotHere("too few functions")
    good = [index for index in plain[1 if tail else 0:]
            if fits is None or fits(functions[index])]
    if not good:
        raise NotHere("no function is of this sort")
    length = rng.randint(2, max(3, min(60, len(plain) // 6)))
    anchor = rng.choice(good)
    first = max(1 if tail else 0, anchor - rng.randrange(length))
    last = min(len(functions), max(first + length, anchor + 1))
    while first not in plain:
        first += 1
    for index in range(first, last):
        if functions[index].mask:
            last = index
            break
    if anchor not in range(first, last):
        raise NotHere("a linkage table is in between")
    return first, last


def hits(section, rng, fits):
    """(functions of one object's share that fit, words that say where)."""
    first, last = share(section, rng, fits)
    found = [function for function in section.functions[first:last]
             if fits(function) and not function.mask]
    return found, where(section, first, last)


def where(section, first, last):
    functions = section.functions
    return "functions %d to %d, at %#x to %#x" % (first, last - 1, functions[first].start,
                                                  functions[last - 1].end)


def by_start(section):
    """As a linker that sorts after it has relocated."""
    table_at = 28 + len(section.aux)

    def start(pair):
        index, function = pair
        if function.raw_start is None:
            return function.start, index
        at = table_at + index * section.stride
        value = function.raw_start(at) if callable(function.raw_start) else function.raw_start
        return value + section.vma + (at if section.from_field else 0), index
    section.functions = [function for _, function in sorted(enumerate(section.functions), key=start)]
