"""Where a thread of CPython wakes another one up, in functions of C: by the program's own clock a thread waits for writes to a pipe.

    python_wakers.py SFB   the test
    python_wakers.py work  the program

Exit: 0 true, 1 not, 77 wake-ups may not be recorded here.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

TIMES, EACH = 20, 0.03


def work():
    """Prints the time, in ns, that a thread waited for what another one wrote."""
    reads, writes = os.pipe()
    waited = []

    def takes():
        for _ in range(TIMES):
            begin = time.monotonic_ns()
            os.read(reads, 1)
            waited.append(time.monotonic_ns() - begin)

    thread = threading.Thread(target=takes)
    time.sleep(0.5)  # the recorder finds the program
    thread.start()
    for _ in range(TIMES):
        time.sleep(EACH)
        os.write(writes, b'x')
    thread.join()
    print(sum(waited))


def judge(sfb, folder):
    recording = os.path.join(folder, 'r.sfbr')
    program = subprocess.run([sfb, 'record', '--wall', '-o', recording, '--', sys.executable, __file__, 'work'],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if program.returncode != 0 or 'and wakers' not in program.stderr:
        print('skipped: wake-ups may not be recorded here:', program.stderr)
        return 77
    own = int(program.stdout.splitlines()[-1]) / 1e9
    report = subprocess.run([sfb, 'report', '--no-pager', '--by', 'waker', recording], stdout=subprocess.PIPE, text=True, check=True).stdout
    seen = sum(float(s) for s in re.findall(r'^ +([0-9.]+) s ended by it in\n +\S*write ', report, re.M))
    print(f'waited {own:.3f} s for a write by itself, {seen:.3f} s ended by one in the recording')
    if abs(seen - own) > 0.1 * own:
        print(report)
        return 1
    return 0


if __name__ == '__main__':
    if sys.argv[1] == 'work':
        work()
        sys.exit(0)
    with tempfile.TemporaryDirectory() as place:
        sys.exit(judge(sys.argv[1], place))
