"""Threads that stand at a known line, whose frames by `sfb stack` must be those of sys._current_frames().

    python_truth.py SFB [OPTION...]

faulthandler is asked as well, by a signal: its first 100 functions of each thread have to be the same.

The program is its own oracle: it asks the interpreter and then sfb, while all other threads wait for locks. Prints what
differs, and a last line with counts. Exit: 0 equal, 1 different, 77 nothing could be compared.
"""
import asyncio
import faulthandler
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import types

try:
    import ctypes
except ImportError:
    ctypes = None

started = []


def wait():
    """Ends only with the process. The oracle waits until the thread is at this line."""
    gate = threading.Lock()
    gate.acquire()
    started.append(threading.get_native_id())
    gate.acquire()  # WAITS


def call(function):
    return function()


def plain():
    wait()


def recursion(depth=300):
    if depth > 0:
        recursion(depth - 1)
    else:
        wait()


def generators():
    def inner():
        yield 1
        wait()

    def outer():
        yield from inner()

    for _ in outer():
        pass


def generator_expression():
    sum(wait() for _ in range(2))


def thrown_into():
    def inner():
        try:
            yield 1
        except ValueError:
            wait()

    def outer():
        yield from inner()

    g = outer()
    next(g)
    g.throw(ValueError())


async def fetch(depth):
    if depth > 0:
        return await fetch(depth - 1)
    await asyncio.sleep(0)
    wait()


def coroutines():
    async def main():
        await asyncio.gather(fetch(3), asyncio.sleep(0))

    asyncio.run(main())


def async_generators():
    async def numbers():
        yield 1
        wait()

    async def main():
        async for _ in numbers():
            pass

    asyncio.run(main())


class Shop:
    """Methods of many kinds."""

    def __init__(self):
        sorted([2, 1], key=self.price)

    def price(self, item):
        return self[item]

    def __getitem__(self, item):
        return self.tax + item

    @property
    def tax(self):
        return self.rate()

    @classmethod
    def rate(cls):
        return cls.country()

    @staticmethod
    def country():
        return functools.reduce(lambda a, b: wait(), [1, 2])


def c_callbacks():
    json.loads('[1]', parse_int=lambda text: re.sub('b', lambda m: call(wait), text + 'b'))


def comprehensions():
    return [{k: wait() for k in range(1)} for _ in range(1)]


def class_body():
    class Meta(type):
        def __prepare__(name, bases):
            return {'wait': wait}

    class Body(metaclass=Meta):
        wait()


def executed():
    text = 'def made(f):\n\n    return (f,\n      f())[0]\nmade(wait)\n'
    exec(compile(text, '<made at run time>', 'exec'), {'wait': wait})


def evaluated():
    eval('call(lambda: wait())')


def named_files():
    names = ['/tmp/a b\n\x1b[31m.py', 'ü.py', '', '\udcff.py']

    def nest(left):
        if not left:
            return wait()
        code = compile('def f(g):\n  g()\n', left[0], 'exec')
        space = {}
        exec(code, space)
        return space['f'](lambda: nest(left[1:]))

    nest(names)


def größe():
    def 函数():
        def 𐎠𐎼():
            def Ωмега(): wait()
            Ωмега()
        𐎠𐎼()
    函数()


def long_lines():
    text = 'def far(f):\n' + '\n' * 5000 + '    x = (' + ' ' * 3000 + 'f(),\n' + '\n' * 40 + 'f())\nfar(wait)\n'
    exec(compile(text, 'far.py', 'exec'), {'wait': wait})


def back_and_forth():
    # The call's line lies before the line of its argument.
    call(
        functools.partial(
            call,
            lambda:
                wait()))


def finalizer():
    class Ended:
        def __del__(self):
            wait()

    def lose():
        Ended()

    lose()


def handler():
    try:
        raise ValueError
    except ValueError:
        try:
            {}['missing']
        except KeyError:
            wait()
        finally:
            pass


def context_managers():
    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, *args):
            wait()

    with Manager(), Manager():
        pass


def importing():
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == 'waits_when_imported':
                wait()

    sys.meta_path.insert(0, Finder)
    try:
        import waits_when_imported
    except ImportError:
        pass


def through_ctypes():
    kind = ctypes.CFUNCTYPE(ctypes.c_int)
    kind(lambda: wait() or 0)()


def traced():
    def trace(frame, event, argument):
        if event == 'call' and frame.f_code.co_name == 'target':
            wait()

    def target():
        pass

    sys.settrace(trace)
    target()


def cells_and_stars(*stars, key=1, **more):
    a = b = c = 0

    def inner(*args, **kwargs):
        nonlocal a, b
        a = b = c
        return wait(*args, **kwargs)

    inner()


def replaced_code():
    def first():
        pass

    def second():
        wait()

    first.__code__ = second.__code__
    first()


def dynamic_module():
    module = types.ModuleType('dynamic')
    exec('class A:\n class B:\n  def m(self, f):\n   return f()\n', module.__dict__)
    module.A.B().m(wait)


KINDS = [plain, recursion, generators, generator_expression, thrown_into, coroutines, async_generators, Shop, c_callbacks,
         comprehensions, class_body, executed, evaluated, named_files, größe, long_lines, back_and_forth, finalizer, handler,
         context_managers, importing, through_ctypes, traced, cells_and_stars, replaced_code, dynamic_module]


def interpreters_frames(thread):
    """The true ones, innermost first."""
    frame = sys._current_frames().get(thread.ident)
    found = []
    while frame:
        code = frame.f_code
        found.append((code.co_qualname, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return found


def shown(text):
    """As UTF-8 has it, and as sfb escapes it."""
    return re.sub('[\x00-\x1f\x7f]', lambda m: f'\\{ord(m.group()):03o}', re.sub('[\ud800-\udfff]', '\ufffd', text))


def runner(kind):
    try:
        kind()
    except ImportError as error:
        print(f'{kind.__name__}: {error}', flush=True)


def running(frames):
    """Without the tasks that await: they are behind a task's functions, up to the event loop. python_async.py judges them."""
    kept, awaits = [], False
    for frame in frames:
        awaits = (awaits or frame.get('name') == '[await]') and frame.get('name') != 'Handle._run'
        if not awaits:
            kept.append(frame)
    return kept


def compare(name, truth, thread):
    """@return how many frames differ"""
    frames = running([f for c in thread['frames'] for f in c.get('python', [])])
    found = [(f.get('name'), f.get('file'), f.get('line', 0)) for f in frames]
    wanted = [(shown(n), shown(f), line) for n, f, line in truth]
    different = sum(a != b for a, b in zip(found, wanted)) + abs(len(found) - len(wanted))
    if thread['python_unplaced']:
        print(f'{name}: {thread["python_unplaced"]} frames without a C frame')
        different += thread['python_unplaced']
    for c in thread['frames']:
        functions = [f.get('name') for f in c['functions']]
        if c.get('python') and not any(n is None or '_PyEval_EvalFrameDefault' in n for n in functions):
            print(f'{name}: Python functions at {functions}')
            different += 1
    if different:
        print(f'{name}: found  {found}\n{name}: wanted {wanted}')
    return different


def faulthandlers_frames():
    """The stacks of all threads, as faulthandler writes them in a handler: ident -> (function, file, line), at most 100."""
    with tempfile.TemporaryFile() as file:
        faulthandler.register(signal.SIGUSR1, file=file, all_threads=True)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)  # its handler has ended when this returns
        file.seek(0)
        text = file.read().decode()
    found, ident = {}, None
    for line in text.splitlines():
        head = re.match(r'(?:Current thread|Thread) 0x([0-9a-f]+)', line)
        frame = re.match(r'  File "(.*)", line (\d+) in (.*)$', line)
        if head:
            ident = int(head[1], 16)
        elif frame and ident is not None:
            found.setdefault(ident, []).append((frame[3], frame[1], int(frame[2])))
    return found


def as_faulthandler(text):
    """It has ASCII alone."""
    forms = ((0x7f, '{}'), (0x100, '\\x{:02x}'), (0x10000, '\\u{:04x}'), (0x110000, '\\U{:08x}'))
    return ''.join(next(f.format(c if f == '{}' else ord(c)) for most, f in forms if ord(c) < most) for c in text)


def compare_faulthandler(threads, truth, found):
    """@return frames that differ, and frames that were compared"""
    different = compared = 0
    for thread in threads:
        theirs = found.get(thread.ident, [])
        ours = [(n.rpartition('.')[2], f, line) for n, f, line in truth[thread.native_id]]
        for (name, file, line), (n, f, at) in zip(theirs, ours):
            # It cuts a text off behind 500 characters; control characters and halves of pairs it writes in other words than sfb.
            if len(f) > 500 or len(n) > 500 or '\\' in f + n or '\ufffd' in f + n:
                continue
            compared += 1
            if (name, file, line) != (as_faulthandler(n), as_faulthandler(f), at):
                print(f'{thread.name}: faulthandler has {(name, file, line)}, not {(n, f, at)}')
                different += 1
        different += len(theirs) < min(len(ours), 100)
    return different, compared


def stands(thread, waits_at):
    frames = interpreters_frames(thread)
    return bool(frames) and frames[0][1] == __file__ and frames[0][2] in waits_at


def judge(command, threads):
    truth = {t.native_id: interpreters_frames(t) for t in threads}
    output = subprocess.run(command + ['--json', str(os.getpid())], stdout=subprocess.PIPE)
    if output.returncode != 0:
        return 1
    report = json.loads(output.stdout.decode('utf-8', 'replace'))
    names = {t.native_id: t.name for t in threads}
    found = {t['tid']: t for t in report['threads']}
    different = sum(compare(names[tid], frames, found[tid]) for tid, frames in truth.items())
    count = sum(len(f) for f in truth.values())
    shown = {tid: [(f['name'], f['file'], f.get('line', 0)) for f in running([f for c in found[tid]['frames'] for f in c.get('python', [])])]
             for tid in truth}
    others, compared = compare_faulthandler(threads, shown, faulthandlers_frames())
    print(f'{report.get("interpreter")}: {len(truth)} threads, {count} frames, {different} different; of {compared} of faulthandler {others}',
          flush=True)
    different += others + (compared < 100)
    return 1 if different or not report.get('interpreter') else 0


def main():
    source = open(__file__, encoding='utf-8').read().splitlines()
    waits_at = {i for i, line in enumerate(source, 1) if line.endswith('# WAITS')}
    threading.stack_size(16 << 20)
    sys.setrecursionlimit(100000)
    threads = [threading.Thread(target=runner, args=(k,), name=k.__name__, daemon=True) for k in KINDS
               if ctypes or k is not through_ctypes]
    for thread in threads:
        thread.start()

    def oracle():
        status = 1
        try:
            alive = threads + [threading.main_thread()]
            while not all(stands(t, waits_at) for t in alive):
                alive = [t for t in threads if t.is_alive()] + [threading.main_thread()]
                threading.Event().wait(0.01)
            status = judge(sys.argv[1:], alive)
        finally:
            os._exit(status)

    asks = threading.Thread(target=oracle, name='oracle')
    last = threading.Lock()
    last.acquire()
    asks.start()
    last.acquire()  # WAITS


main()
