"""The heap of a Python program by its functions, beside tracemalloc.

    python_heap.py SFB             large blocks, which Python takes from malloc(): every one
    python_heap.py --sampled SFB   the same as an estimate
    python_heap.py --objects SFB   small objects, too
    python_heap.py --forked SFB    of children of fork()
    python_heap.py work | fork | objects
                                   the program
    python_heap.py traced          the program, and what tracemalloc has of its lines

Bytes that live at the end, of each line of the program, are compared: it does the same in both runs. Exit: 0 all equal,
1 not.
"""
import gc
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import tracemalloc

SMALL = 512  # bytes: up to here a block is of pymalloc
RATE = 32768  # of an estimate
CHILDREN = 3
kept = []


def big(size):
    kept.append(bytes(size))


class Größe:
    def fill(self, count):
        for size in range(count):
            kept.append(bytearray(2000 + size))


def generated(count):
    for size in range(count):
        yield bytes(3000 + size)


def fall(depth):
    if depth > 0:
        fall(depth - 1)
    else:
        kept.append(bytes(50_000))


def by_key(size):
    kept.append(bytes(size))
    return -size


def grows():
    many = bytearray()
    for _ in range(100):
        many.extend(b'0123456789' * 50)
    kept.append(many)


def made_by_exec():
    for i in range(20):
        space = {'kept': kept}
        exec(compile(f'def made_{i}():\n    kept.append(bytes({4000 + i}))\n', f'<made {i}>', 'exec'), space)
        space[f'made_{i}']()


def in_thread():
    for _ in range(30):
        big(7000)


def passes_on():
    for _ in range(1000):
        bytes(9000)


class Point:
    __slots__ = ('x', 'y', 'next')

    def __init__(self, x):
        self.x = x


def points(count):
    for i in range(count):
        kept.append(Point(f'point {i}'))


def rows(count):
    for i in range(count):
        kept.append({f'row {i}, column {k}' for k in range(20)})


def grows_small():
    many = bytearray()
    for _ in range(100):
        many.extend(b'0123')
    kept.append(many)


def passes_small():
    for i in range(5000):
        str(i) + ' is passed on'


def begin_alike():
    """What ran before decides when garbage is collected, and which freed objects Python keeps to use them again."""
    gc.disable()
    for i in range(3000):
        kept.append(([], {}, float(i)) + (None,) * (i % 20))
        kept.append((None,) * (i % 20))


def small_objects():
    """None is used again from a free list: tracemalloc names its last user, a recording the function that allocated it."""
    points(2000)
    rows(100)
    grows_small()
    passes_small()
    Größe().fill(50)
    kept.extend(generated(40))
    fall(300)
    grows()


def work():
    for _ in range(10):
        big(100_000)
    Größe().fill(50)
    kept.extend(generated(40))
    fall(300)
    sorted(range(1000, 1020), key=by_key)
    grows()
    made_by_exec()
    passes_on()
    second = threading.Thread(target=in_thread)
    second.start()
    second.join()


def fork():
    for _ in range(CHILDREN):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        os.waitpid(child, 0)


def is_of_work(path, line):
    return path.startswith('<made ') or path == __file__ and line < is_of_work.__code__.co_firstlineno


def traced(program, least):
    """Runs it. @return {line: [bytes, variance of an estimate]} as tracemalloc has it"""
    begin_alike()
    tracemalloc.start(1)
    program()
    lines = {}
    for trace in tracemalloc.take_snapshot().traces:
        where = trace.traceback[0]
        if is_of_work(where.filename, where.lineno) and trace.size > least:
            sampled = 1 - math.exp(-(trace.size + 1) / RATE)
            line = lines.setdefault(f'{where.filename}:{where.lineno}', [0, 0])
            line[0] += trace.size
            line[1] += trace.size ** 2 * (1 - sampled) / sampled
    return lines


# --- The judge

# The functions of lines with these texts.
TEXTS = {'kept.append(bytes(size))': {'big', 'by_key'}, 'bytearray(2000': {'Größe.fill'}, 'yield bytes(3000': {'generated'},
         'bytes(50_000)': {'fall'}, 'many.extend(': {'grows', 'grows_small'}, 'exec(compile(': {'made_by_exec'}}


def is_right(name, where, source):
    file, _, line = where.rpartition(':')
    if file != __file__:
        return name == {'1': '<module>', '2': 'made_' + file[6:-1]}.get(line)
    text = source[int(line) - 1]
    return all(name in names for known, names in TEXTS.items() if known in text)


def recorded(sfb, recording):
    """@return {line: bytes}, and how many functions are wrong"""
    command = [sfb, 'report', '--python', '--value', 'live', '--rows', recording]
    lines, wrong = {}, 0
    source = open(__file__, encoding='utf-8').read().splitlines()
    for row in map(json.loads, subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()):
        frames = [(name, file) for name, file, module in zip(row['stack'], row['file'], row['module'])
                  if module == '[python]']
        # Before work() tracemalloc has not begun.
        if not any(name in ('work', 'in_thread', 'small_objects') for name, _ in frames) or not frames:
            continue
        name, where = frames[0]
        path, _, line = where.rpartition(':')
        if not is_of_work(path, int(line)):
            continue
        lines[where] = lines.get(where, 0) + row['value']
        if not is_right(name, where, source):
            print(f'wrong: {where} is of {name}')
            wrong += 1
    return lines, wrong


def judge(by_trace, by_record, is_sampled):
    wrong, worst = 0, 0.0
    for line in sorted(by_trace.keys() | by_record.keys()):
        size, variance = by_trace.get(line, [0, 0])
        difference = by_record.get(line, 0) - size
        sigma = abs(difference) / max(variance, 1) ** 0.5
        worst = max(worst, sigma if is_sampled else 0)
        # Of few blocks an estimate is skewed.
        if difference != 0 and (not is_sampled or sigma > 7):
            print(f'{line}: {size} bytes by tracemalloc, {difference} more recorded')
            wrong += 1
    total = sum(line[0] for line in by_trace.values())
    print(f'{len(by_trace)} lines, {total} bytes by tracemalloc, {sum(by_record.values())} recorded, {wrong} lines wrong'
          + (f', at most {worst:.2f} sigma' if is_sampled else ''))
    return wrong == 0 and len(by_trace) >= 9


def main():
    mode = sys.argv[1] if sys.argv[1].startswith('--') else ''
    sfb = sys.argv[-1]
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        options = {'--sampled': ['--heap-rate', str(RATE)], '--objects': ['--heap', '--python-objects']}.get(mode, ['--heap'])
        subprocess.run([sfb, 'record', *options, '-o', recording, '--', sys.executable, __file__,
                        {'--forked': 'fork', '--objects': 'objects'}.get(mode, 'work')], check=True)
        by_record, wrong = recorded(sfb, recording)
    by_trace = json.loads(subprocess.run([sys.executable, __file__, 'traced'] + ['--objects'] * (mode == '--objects'), stdout=subprocess.PIPE, check=True).stdout)
    if mode == '--forked':
        by_trace = {line: [CHILDREN * size, 0] for line, (size, _) in by_trace.items()}
    return 0 if judge(by_trace, by_record, mode == '--sampled') and wrong == 0 else 1


if __name__ == '__main__':
    if sys.argv[1:] == ['traced']:
        print(json.dumps(traced(work, SMALL)))
    elif sys.argv[1:] == ['traced', '--objects']:
        print(json.dumps(traced(small_objects, 0)))
    elif sys.argv[1:] in (['work'], ['fork'], ['objects']):
        begin_alike()
        {'work': work, 'fork': fork, 'objects': small_objects}[sys.argv[1]]()
        os._exit(0)
    else:
        sys.exit(main())
