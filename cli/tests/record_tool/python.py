"""A recording of a Python program beside what the program knows of itself.

    python.py SFB [OPTION...]    records `python.py work` and judges it
    python.py --looks SFB        the same of a program that runs already, from outside: no shares, for it began before
    python.py --waits SFB        where a program sleeps
    python.py --events SFB       perf events do not have its functions, which is said
    python.py work | rest        the program

Every call in work has a line of its own, so each two neighbours of a stack are known: the caller's line calls that
function. And each piece of work measures its own CPU time. Exit: 0 all true, 1 not.
"""
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

spent = {}


def measured(function):
    def wrapper(seconds):
        begin = time.thread_time_ns()
        function(seconds)
        spent[function.__name__] = spent.get(function.__name__, 0) + time.thread_time_ns() - begin
    return wrapper


def spin(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def squares(n):
    for i in range(n):
        yield i * i


def pairs(n):
    yield from squares(n)


def is_over(end):
    return time.thread_time() >= end


@measured
def numbers(seconds):
    end = time.thread_time() + seconds
    while not is_over(end):
        spin(500)


@measured
def generators(seconds):
    end = time.thread_time() + seconds
    while not is_over(end):
        for _ in pairs(300):
            pass


class Größe:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    @property
    def negative(self):
        return -self.value


def by_negative(thing):
    return thing.negative


@measured
def sorting(seconds):
    end = time.thread_time() + seconds
    things = [Größe(i * 7919 % 101) for i in range(100)]
    while not is_over(end):
        things.sort()
        things.sort(key=by_negative)


@measured
def in_c(seconds):
    end = time.thread_time() + seconds
    text = json.dumps([{'key': [i, str(i)]} for i in range(500)])
    while not is_over(end):
        json.loads(text)


def fall(depth, seconds):
    if depth > 0:
        fall(depth - 1, seconds)
    else:
        bottom(seconds)


@measured
def bottom(seconds):
    end = time.thread_time() + seconds
    while not is_over(end):
        spin(200)


def thread():
    in_thread(0.2)


@measured
def in_thread(seconds):
    end = time.thread_time() + seconds
    while not is_over(end):
        spin(500)


def work():
    print('begins', flush=True)
    second = threading.Thread(target=thread)
    second.start()
    numbers(0.4)
    generators(0.4)
    sorting(0.4)
    in_c(0.4)
    fall(700, 0.4)
    second.join()
    print(json.dumps(spent))


def rests(seconds):
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return time.monotonic_ns() - begin


# --- The judge

# What a line calls beyond the names in it.
HIDDEN = {'sort': {'__lt__'}, 'negative': {'negative'}, 'function': {'numbers', 'generators', 'sorting', 'in_c', 'bottom',
                                                                    'in_thread'}}
DECORATED = {'numbers', 'generators', 'sorting', 'in_c', 'bottom', 'in_thread'}


def lines_of_functions(tree):
    """name -> its range of lines, and (name, line) -> names that the line may call"""
    ranges, calls = {}, {}

    def visit(node, name, outer):
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ListComp)):
                inner = getattr(child, 'name', '<listcomp>' if isinstance(child, ast.ListComp) else '<lambda>')
                # A call begins at the line of the first decorator.
                first = min([child.lineno] + [d.lineno for d in getattr(child, 'decorator_list', [])])
                ranges.setdefault(inner, []).append((first, child.end_lineno))
                if not isinstance(child, ast.FunctionDef):
                    calls.setdefault((name, child.lineno), set()).add(inner)
            if isinstance(child, (ast.Name, ast.Attribute)):
                called = child.id if isinstance(child, ast.Name) else child.attr
                names = HIDDEN.get(called, set()) | ({'wrapper'} if called in DECORATED else {called})
                if called == 'Größe':
                    names = {'__init__', 'Größe'}
                # From 3.12 on a comprehension is a part of its function.
                for function in {name, outer}:
                    calls.setdefault((function, child.lineno), set()).update(names)
            visit(child, inner, name if inner == '<listcomp>' else inner)

    visit(tree, '<module>', '<module>')
    return ranges, calls


def judge_stack(stack, ranges, calls):
    """@return frames judged, wrong ones. stack: innermost first, (name, line) or None for others' functions"""
    judged = wrong = 0
    for i, frame in enumerate(stack):
        if not frame:
            continue
        name, line = frame
        last = name.split('.')[-1]
        judged += 1
        good = last == '<module>' or any(a <= line <= b for a, b in ranges.get(last, []))
        callee = stack[i - 1] if i > 0 else None
        if good and callee:
            called = callee[0].split('.')[-1]
            good = called in calls.get((last, line), set())
        if not good:
            print(f'wrong: {frame} calls {callee}')
            wrong += 1
    return judged, wrong


def judge(rows, own, source):
    """@param own CPU time of pieces of work; empty: not judged. @return whether all is true"""
    ranges, calls = lines_of_functions(ast.parse(source))
    sums, total, samples, with_python, judged, wrong = {}, 0, 0, 0, 0, 0
    for row in rows:
        stack = []
        for name, file, module in zip(row['stack'], row['file'], row['module']):
            path, _, line = file.rpartition(':')
            if module == '[python]' and name != '[omitted]':
                stack.append((name, int(line)) if path == __file__ else None)
        a, b = judge_stack(stack, ranges, calls)
        judged += a * row['count']
        wrong += b * row['count']
        total += row['value']
        samples += row['count']
        with_python += row['count'] if stack else 0
        for name in {f[0] for f in stack if f} & own.keys():
            sums[name] = sums.get(name, 0) + row['value']
    worst = 0.0
    for name, ns in own.items():
        share = ns / total
        sigma = total * (share * (1 - share) / samples) ** 0.5
        z = (sums.get(name, 0) - ns) / sigma
        worst = max(worst, abs(z))
        print(f'{name}: {ns / 1e6:.1f} ms by itself, {sums.get(name, 0) / 1e6:.1f} ms recorded, {z:+.2f} sigma')
    print(f'{samples} samples, {with_python} with Python functions: {judged} functions with their lines judged, {wrong} wrong; '
          f'at most {worst:.2f} sigma')
    # Of a hundred thousand runs one has a figure beyond 4.5 sigma by chance.
    enough = samples > 500 and with_python > 0.95 * samples if own else with_python > 0
    return wrong == 0 and worst < 4.5 and judged > samples and enough


def report(sfb, recording):
    rows = subprocess.run([sfb, 'report', '--python', '--rows', recording], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in rows.stdout.splitlines()]


def main_of_looks():
    """@return whether all is true"""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.Popen([sys.executable, __file__, 'work'], stdout=subprocess.PIPE)
        program.stdout.readline()
        # It ends with the program.
        subprocess.run([sys.argv[2], 'record', '--engine', 'looks', '-o', recording, '--pid', str(program.pid)], check=True)
        program.communicate()
        return judge(report(sys.argv[2], recording), {}, open(__file__, encoding='utf-8').read())


def main_of_waits():
    """@return whether rests() has the time that it slept; a look comes late if the machine is busy"""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.run([sys.argv[2], 'record', '--wall', '-o', recording, '--', sys.executable, __file__, 'rest'],
                                 stdout=subprocess.PIPE, check=True)
        slept = int(program.stdout)
        seen = sum(row['value'] for row in report(sys.argv[2], recording)
                   if row['stack'][0].startswith('asleep') and 'rests' in row['stack'])
        print(f'rests() slept {slept / 1e6:.1f} ms by itself, {seen / 1e6:.1f} ms recorded')
        return slept / 2 < seen < slept * 1.01


def main_of_events():
    """@return whether the lines at the end name another engine; where events are refused it is in use already"""
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.Popen([sys.executable, __file__, 'work'], stdout=subprocess.PIPE)
        program.stdout.readline()
        command = [sys.argv[2], 'record', '-o', os.path.join(folder, 'r.sfbr'), '--pid', str(program.pid)]
        said = subprocess.run(command, stderr=subprocess.PIPE, check=True, text=True).stderr
        program.communicate()
        print(said, end='')
        own = '.'.join(str(n) for n in sys.version_info[:3])
        return ('by looks' in said) != (f'functions of CPython {own} are shown as C: --engine looks' in said)


def main():
    mains = {'--looks': main_of_looks, '--waits': main_of_waits, '--events': main_of_events}
    if sys.argv[1] in mains:
        return 0 if mains[sys.argv[1]]() else 1
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        command = [sys.argv[1], 'record', '-o', recording] + sys.argv[2:] + ['--', sys.executable, __file__, 'work']
        program = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        # The first samples are of Python's start, before it has an interpreter: they are not the work.
        source = open(__file__, encoding='utf-8').read()
        own = json.loads(program.stdout.splitlines()[-1])
        return 0 if judge(report(sys.argv[1], recording), own, source) else 1


if __name__ == '__main__':
    if sys.argv[1:] == ['rest']:
        print(rests(0.6))
    else:
        sys.exit(work() if sys.argv[1:] == ['work'] else main())
