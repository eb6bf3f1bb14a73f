"""The stack that the agent's handler takes in a Python program.

    python_stack.py SFB              records `python_stack.py work` and `python_stack.py guarded`, and judges them
    python_stack.py work             prints the bytes that handlers used, less what the kernel and an empty handler use
    python_stack.py guarded SIZE     works with an alternate stack of that size, a guard page below

Exit: 0 it takes no more than an accepted stack has, 1 not.
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HANDLER = 4096  # as in profiler/agent/cpu/alternate.c
FRAME_MIN = 2048
ROOM = 1 << 16
PAINT = 0xa5
AT_MINSIGSTKSZ = 51
SA_ONSTACK = 0x08000000

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.getauxval.restype = ctypes.c_ulong
libc.getauxval.argtypes = [ctypes.c_ulong]


class Stack(ctypes.Structure):
    _fields_ = [('at', ctypes.c_void_p), ('flags', ctypes.c_int), ('size', ctypes.c_size_t)]


class Action(ctypes.Structure):
    """struct sigaction of glibc and musl, 64 bits."""
    _fields_ = [('handler', ctypes.c_void_p), ('mask', ctypes.c_uint64 * 16), ('flags', ctypes.c_int),
                ('restorer', ctypes.c_void_p)]


def set_stack(at, size):
    assert libc.sigaltstack(ctypes.byref(Stack(at, 0, size)), None) == 0


def used(at):
    """Bytes from the end of the stack to the deepest one that was written."""
    left = ctypes.string_at(at, ROOM)
    return ROOM - next((i for i, byte in enumerate(left) if byte != PAINT), ROOM)


def new_functions(count):
    """Functions that no sample has seen, each with a name and a file of its own, in a chain."""
    names = {}
    for i in range(count):
        call = f'f{i - 1}(n)' if i else 'sum(range(n))'
        exec(compile(f'def f{i}(n): return {call}', f'/{"d" * 900}/{i}.py', 'exec'), names)
    return names[f'f{count - 1}']


def by_key(number):
    return sum(range(20)) - number


def deep(n):
    return deep(n - 1) if n else json.loads(json.dumps(sorted(range(3000), key=by_key)))


def in_c(n):
    """Each level is a run of its own: C between two functions."""
    return max([n], key=lambda k: in_c(k - 1) if k else sum(range(20000)))


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        new_functions(60)(20000)
        deep(300)
        in_c(60)
        try:
            ctypes.CDLL('no-such-library.so')  # the list of modules is renewed in the handler
        except OSError:
            pass


def work():
    at = libc.mmap(None, ROOM, 3, 0x22, -1, 0)
    ctypes.memset(at, PAINT, ROOM)
    set_stack(at, ROOM)
    nothing = Action(ctypes.cast(libc.abs, ctypes.c_void_p).value, (ctypes.c_uint64 * 16)(), SA_ONSTACK, None)
    assert libc.sigaction(signal.SIGUSR1, ctypes.byref(nothing), None) == 0
    assert libc['raise'](signal.SIGUSR1) == 0
    empty = used(at)
    assert 500 < empty < ROOM
    burn(0.6)
    print(used(at) - empty)


def guarded(size):
    """The smallest stack that the agent accepts."""
    page = os.sysconf('SC_PAGE_SIZE')
    at = libc.mmap(None, ROOM, 3, 0x22, -1, 0)
    assert libc.mprotect(at, page, 0) == 0
    set_stack(at + page, size)
    burn(0.6)
    print('survived')


def record(sfb, *words):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sfb, 'record', '-F', '1999', '-o', folder + '/it.sfbr', '--', sys.executable, __file__, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = subprocess.run([sfb, 'report', '--python', folder + '/it.sfbr'], stdout=subprocess.PIPE, text=True).stdout
    return done, text


def judge(sfb):
    good = True
    done, text = record(sfb, 'work')
    taken = int(done.stdout or 0)
    accepted = max(libc.getauxval(AT_MINSIGSTKSZ), FRAME_MIN) + HANDLER
    print(f'{taken} bytes of {HANDLER} in the handler')
    if done.returncode != 0 or not 500 < taken <= HANDLER or 'in_c' not in text or 'deep' not in text:
        print(done.stderr, text)
        good = False
    done, _ = record(sfb, 'guarded', str(accepted))
    print(f'a stack of {accepted} bytes: {done.stdout.strip() or done.returncode}')
    return good and done.stdout == 'survived\n'


if __name__ == '__main__':
    if sys.argv[1] == 'work':
        work()
    elif sys.argv[1] == 'guarded':
        guarded(int(sys.argv[2]))
    else:
        sys.exit(0 if judge(sys.argv[1]) else 1)
