"""What tools do that move code after the link, or fold, patch, and rebase it."""
from kinds import NotHere, by_start, hits, kind, share, where


@kind("stale-tail", "a build step that keeps the .sframe of the build before",
      "from some function to the last all starts are off by a constant",
      "from function i on all functions lie N bytes off: the code grew or shrank there")
def stale_tail(section, rng):
    first, _ = share(section, rng, tail=True)
    off = rng.choice((-48, -16, 16, 32, 64))
    for function in section.functions[first:]:
        function.start += off
    by_start(section)
    return "from function %d on, by %d" % (first, off)


@kind("reordered-functions", "BOLT or a symbol ordering file after .sframe was made",
      "functions of one run lie in another order than the code",
      "functions i..j are in the order of before a reordering: starts and sizes do not fit the code")
def reordered(section, rng):
    first, last = share(section, rng)
    functions = section.functions[first:last]
    if len(functions) < 3:
        raise NotHere("too few functions")
    at, end = functions[0].start, functions[-1].end
    order = list(functions)
    while order == functions:
        rng.shuffle(order)
    align = 16 if all(function.start % 16 == 0 for function in functions) else 1
    for function in order:
        at = -(-at // align) * align
        function.start = at
        at = function.end
    if at > end + 16:
        raise NotHere("the code overlaps")
    section.functions[first:last] = order
    return where(section, first, last)


@kind("rebased", "prelink or objcopy --change-section-address on code and not on .sframe",
      "all starts are off by some pages",
      "all functions lie N off: the section was not relocated with the code")
def rebased(section, rng):
    off = rng.choice((-0x2000, -0x1000, 0x1000, 0x10000))
    for function in section.functions:
        function.start += off
    return "all, by %#x" % off


@kind("twin-of-folded", "identical code folding that keeps the entry of the folded twin",
      "a second function at the same start, with rows of another",
      "two functions at the same start contradict each other")
def twin(section, rng):
    functions = section.functions
    picks = [index for index, function in enumerate(functions)
             if not function.mask and len(function.rows) > 1]
    if len(picks) < 4:
        raise NotHere("too few functions")
    hit = []
    for index in sorted(rng.sample(picks, min(len(picks) // 2, rng.randint(1, 3))), reverse=True):
        function = functions[index]
        others = [functions[other] for other in picks
                  if functions[other].key() != function.key()
                  and functions[other].info & 15 == function.info & 15
                  and functions[other].rows[-1].start < function.size]
        if not others:
            continue
        other = rng.choice(others).copy()
        other.start, other.size = function.start, function.size
        functions.insert(index + 1, other)
        hit.append(function.start)
    if not hit:
        raise NotHere("no two functions are that alike")
    return ", ".join("%#x" % start for start in hit)


@kind("patch-overlay", "a live patch that adds the new code's function over the old one",
      "a function begins in the middle of another one, with the rows of a third",
      "function i begins within function i-1: they overlap")
def overlay(section, rng):
    functions = section.functions
    picks = [index for index, function in enumerate(functions)
             if not function.mask and function.size > 64]
    small = [function for function in functions if not function.mask and 16 <= function.size]
    if not picks or not small:
        raise NotHere("no function is large enough")
    index = rng.choice(picks)
    old = functions[index]
    new = rng.choice([function for function in small if function.size < old.size] or small[:1]).copy()
    new.start = old.start + rng.choice((5, 8, 16, old.size // 2))
    functions.insert(index + 1, new)
    return "%#x, over %#x" % (new.start, old.start)


@kind("neighbour-swallowed", "a linker that takes sizes from the next entry after it dropped one",
      "a function reaches over the one behind it, whose entry is missing",
      "function i is larger than its code: it covers the function behind it, which has no entry")
def swallowed(section, rng):
    functions = section.functions
    picks = [index for index in range(len(functions) - 1)
             if not functions[index].mask and not functions[index + 1].mask
             and functions[index + 1].start - functions[index].end < 32]
    if len(picks) < 2:
        raise NotHere("no functions are that close")
    hit = []
    for index in sorted(rng.sample(picks, min(len(picks) // 2, rng.randint(1, 4))), reverse=True):
        if index + 1 >= len(functions):
            continue
        functions[index].size = functions[index + 1].end - functions[index].start
        del functions[index + 1]
        hit.append(functions[index].start)
    return ", ".join("%#x" % start for start in hit)


@kind("sizes-before-split", "a hot/cold splitter that leaves the size of the whole function",
      "hot parts are as large as before the split and overlap what follows",
      "functions i..j are larger than their code and overlap the next")
def before_split(section, rng):
    first, last = share(section, rng)
    functions = section.functions
    for index in range(first, min(last, len(functions) - 1)):
        functions[index].size += rng.randint(functions[index + 1].size // 2,
                                             functions[index + 1].size + 32)
    return where(section, first, last)


@kind("prefix-nops", "-fpatchable-function-entry with nops before the label",
      "functions start at the nops, and rows count from there as if from the label",
      "functions i..j start N bytes before their code: all rows are N bytes early")
def prefix_nops(section, rng):
    functions = section.functions
    gaps = {id(two): two.start - one.end for one, two in zip(functions, functions[1:])}

    def room(function):
        return gaps.get(id(function), 0) >= 2
    found, said = hits(section, rng, room)
    for function in found:
        nops = min(gaps[id(function)], 8)
        function.start -= nops
        function.size += nops
    return said


@kind("entry-nops-added", "a tool that puts endbr64 or bti before code described already",
      "functions are larger by an instruction and rows behind the entry are 4 bytes early",
      "rows of functions i..j are 4 bytes early: code was put in before them")
def entry_nops(section, rng):
    def fits(function):
        return len(function.rows) > 1 and function.rows[1].start > 4 and not function.flexible
    found, said = hits(section, rng, fits)
    for function in found:
        for row in function.rows[1:]:
            row.start -= 4
        function.size -= 4
    return said
