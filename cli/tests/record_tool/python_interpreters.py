"""Subinterpreters: which functions a recording has of them, and that none is in a wrong place.

    python_interpreters.py SFB     records `python_interpreters.py work` and judges it
    python_interpreters.py work    the program: it runs code in the main interpreter, in a subinterpreter, and in one
                                   in a thread. Each piece measures its own CPU time

What is left out stands as C below the function that called the subinterpreter. Exit: 0 all true, 1 not.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None

CODE = '''
import time
def inner_spin(end):
    while time.thread_time() < end:
        sum(range(200))
def in_sub():
    inner_spin(time.thread_time() + 0.3)
in_sub()
'''
spent = {}


def measured(function):
    def wrapper():
        begin = time.thread_time_ns()
        function()
        spent[function.__name__] = time.thread_time_ns() - begin
    return wrapper


@measured
def outer():
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        sum(range(200))


def run(interpreter):
    (interpreters.exec if hasattr(interpreters, 'exec') else interpreters.run_string)(interpreter, CODE)


@measured
def same_thread():
    interpreter = interpreters.create()
    run(interpreter)
    interpreters.destroy(interpreter)


interpreter = None


@measured
def other_thread():
    run(interpreter)


def work():
    global interpreter
    outer()
    same_thread()
    interpreter = interpreters.create()
    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    interpreters.destroy(interpreter)
    outer()
    print(json.dumps(spent))


def main():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.run([sys.argv[1], 'record', '-o', recording, '--', sys.executable, __file__, 'work'],
                                 stdout=subprocess.PIPE, check=True)
        rows = subprocess.run([sys.argv[1], 'report', '--python', '--rows', recording], stdout=subprocess.PIPE, check=True).stdout
    own = json.loads(program.stdout.splitlines()[-1])
    own['outer'] *= 2
    sums, total, samples, wrong, inner = dict.fromkeys(own, 0), 0, 0, 0, 0
    for row in map(json.loads, rows.splitlines()):
        stack = [name for name, module in zip(row['stack'], row['module']) if module == '[python]']
        total += row['value']
        samples += row['count']
        callers = [name for name in stack if name in own]
        for name in callers:
            sums[name] += row['value']
        if 'in_sub' in stack or 'inner_spin' in stack:
            inner += row['value']
            at = stack.index('in_sub') if 'in_sub' in stack else -1
            if stack[:at] not in ([], ['inner_spin']) or stack[at + 1:at + 3] != ['<module>', 'run'] or 'outer' in callers:
                print(f'wrong: {stack}')
                wrong += 1
        wrong += len(callers) > 1
    worst = 0.0
    for name, ns in own.items():
        share = ns / total
        sigma = total * (share * (1 - share) / samples) ** 0.5
        worst = max(worst, abs(sums[name] - ns) / sigma)
        print(f'{name}: {ns / 1e6:.1f} ms by itself, {sums[name] / 1e6:.1f} ms recorded')
    print(f'{samples} samples, {inner / 1e6:.1f} ms with functions of a subinterpreter, {wrong} wrong; at most {worst:.2f} sigma')
    return 0 if wrong == 0 and worst < 5 and samples > 300 else 1


if __name__ == '__main__':
    if interpreters is None:
        print('skipped: this Python has no module of subinterpreters')
        sys.exit(77)
    sys.exit(work() if sys.argv[1:] == ['work'] else main())
