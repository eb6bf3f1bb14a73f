"""Samples by what their thread had of the GIL, beside what the program knows of itself.

    python_gil.py SFB           CPU time, by the agent: each piece of work measures its own
    python_gil.py --looks SFB   the same of a program that runs already, from outside
    python_gil.py --wall SFB    who waits for the GIL, who holds it meanwhile, and who sleeps with it
    python_gil.py --stack SFB   `sfb stack` of a program that hangs with the GIL
    python_gil.py work | wait | hang   the programs

Exit: 0 all true, 1 not.
"""
import faulthandler
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zlib

spent = {}
# Large, and made before any piece begins: what is new in memory faults with the GIL held, and each call ends with a wait for
# it, which takes CPU time. It is packed into little for the same reason.
block = b''


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


@measured
def computes(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        spin(500)


@measured
def sorts(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sorted(range(20000, 0, -1))


@measured
def hashes(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        hashlib.sha256(block).digest()


@measured
def packs(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        zlib.compress(block)


HELD, RELEASED = ('computes', 'sorts'), ('hashes', 'packs')


def work():
    """Pieces that hold it and pieces that do not: at the same time, and with others that wait for it."""
    global block
    block = os.urandom(1000) * 16000
    print('begins', flush=True)
    for seconds in (0.25, 0.25):
        threads = [threading.Thread(target=globals()[name], args=(seconds,)) for name in HELD + RELEASED]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(json.dumps(spent))


# --- Waits

waited, over = [], False


def keeps():
    while not over:
        spin(500)


def wants():
    """After each sleep it waits for the GIL: about as long as the interval of switches."""
    for _ in range(8):
        begin = time.monotonic_ns()
        time.sleep(0.02)
        waited.append(time.monotonic_ns() - begin - 20000000)


def rests():
    time.sleep(0.5)


def blocks(pipe):
    """A function of C that sleeps and does not release it: the pipe is full."""
    faulthandler.dump_traceback(file=pipe)


def full_pipe():
    """@return a pipe's end in which a write sleeps, and the process that reads the other one later"""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    try:
        while True:
            os.write(writes, b'x' * 4096)
    except BlockingIOError:
        os.set_blocking(writes, True)
    return writes, subprocess.Popen(['sh', '-c', 'sleep 0.4; cat >/dev/null'], stdin=reads)


def wait():
    global over
    sys.setswitchinterval(0.1)
    threads = [threading.Thread(target=keeps, name='keeps'), threading.Thread(target=wants, name='wants')]
    for thread in threads:
        thread.start()
    threads[1].join()
    over = True
    threads[0].join()
    rests()
    pipe, reader = full_pipe()
    begin = time.monotonic_ns()
    blocks(pipe)
    slept = time.monotonic_ns() - begin
    os.close(pipe)
    reader.wait()
    print(json.dumps({'wants': sum(waited), 'blocks': slept}))


def hang():
    """Sleeps with the GIL, which a thread waits for, until its output is read."""
    begun = threading.Event()
    threading.Thread(target=starves, args=(begun,), daemon=True).start()
    begun.wait()
    os.set_blocking(1, False)
    try:
        while True:
            os.write(1, b'x' * 4096)
    except BlockingIOError:
        os.set_blocking(1, True)
    blocks(1)


def starves(begun):
    begun.set()
    keeps()


# --- The judge

def rows_of(sfb, recording, *options):
    rows = subprocess.run([sfb, 'report', '--python', '--rows', *options, recording], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in rows.stdout.splitlines()]


def rows_if_any(sfb, recording, option):
    """Without a sample of that state the report ends with status 2, and says so."""
    try:
        return rows_of(sfb, recording, option)
    except subprocess.CalledProcessError as error:
        if error.returncode != 2:
            raise
        return []


def sum_of(rows, name, innermost=''):
    return sum(row['value'] for row in rows if name in row['stack'] and row['stack'][0].startswith(innermost))


def judge_cpu(sfb, recording, own):
    """@param own CPU time of pieces of work; empty: shares alone are judged"""
    everything = rows_of(sfb, recording)
    total, samples = sum(row['value'] for row in everything), sum(row['count'] for row in everything)
    good = samples > 20
    waited = rows_if_any(sfb, recording, '--gil=waited')
    for wanted, names in (('held', HELD), ('released', RELEASED)):
        rows = rows_of(sfb, recording, f'--gil={wanted}')
        # Each sample of the piece has the state, but those that came while it took the GIL or gave it back: to wait for it
        # takes CPU time as well, a tenth of it where a wake-up is slow. Looks are few.
        seen, waits, whole = (sum(sum_of(of, name) for name in names) for of in (rows, waited, everything))
        good = good and seen + waits > (0.9 if own else 0.6) * whole > 0 and seen > (0.75 if own else 0.6) * whole
        for name in names:
            seen, waits, whole = (sum_of(of, name) for of in (rows, waited, everything))
            print(f'{name}: {wanted} in {seen / 1e6:.1f} of {whole / 1e6:.1f} ms, {waits / 1e6:.1f} ms of waits', end='')
            if name in own:
                share = own[name] / total
                z = (whole - own[name]) / (total * (share * (1 - share) / samples) ** 0.5)
                print(f'; {own[name] / 1e6:.1f} ms by itself, {z:+.2f} sigma', end='')
                good = good and abs(z) < 4.5
            print()
    return good


def judge_together(sfb, recording, folder):
    """Beside a program without Python, and merged with it."""
    other, merged = os.path.join(folder, 'other.sfbr'), os.path.join(folder, 'merged.sfbr')
    subprocess.run([sfb, 'record', '-q', '-o', other, '--', 'sh', '-c', 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'], check=True)
    subprocess.run([sfb, 'merge', '-o', merged, other, recording], check=True, stderr=subprocess.DEVNULL)
    refused = subprocess.run([sfb, 'report', '--gil', other], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sums = [sum(row['value'] for row in rows_of(sfb, *files, '--gil')) for files in ((recording,), (merged,), (other, recording))]
    print(f'held in {sums[0]} ns, merged {sums[1]}, beside another {sums[2]}; {refused.stderr.strip()}')
    return sums[0] == sums[1] == sums[2] > 0 and refused.returncode != 0 and 'GIL is known' in refused.stderr


def main_of_work():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.run([sys.argv[1], 'record', '-q', '-o', recording, '--', sys.executable, __file__, 'work'],
                                 stdout=subprocess.PIPE, check=True)
        good = judge_cpu(sys.argv[1], recording, json.loads(program.stdout.splitlines()[-1]))
        return good and judge_together(sys.argv[1], recording, folder)


def main_of_looks():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.Popen([sys.executable, __file__, 'work'], stdout=subprocess.PIPE)
        program.stdout.readline()
        subprocess.run([sys.argv[2], 'record', '-q', '--engine', 'looks', '-o', recording, '--pid', str(program.pid)], check=True)
        program.communicate()
        return judge_cpu(sys.argv[2], recording, {})


def judge_waits(sfb, recording, own):
    held, waits, released = (rows_of(sfb, recording, '--gil=' + state) for state in ('held', 'waited', 'released'))
    wanted, blocked = sum_of(waits, 'wants', 'waiting for the GIL'), sum_of(held, 'blocks', 'asleep')
    print(f"wants() waited {own['wants'] / 1e6:.1f} ms by itself, {wanted / 1e6:.1f} ms recorded; "
          f"blocks() slept {own['blocks'] / 1e6:.1f} ms, {blocked / 1e6:.1f} ms of it with the GIL")
    # A look comes late if the machine is busy, and a thread that was woken up is no longer asleep.
    good = 0.5 * own['wants'] < wanted < 1.02 * own['wants'] and 0.5 * own['blocks'] < blocked < 1.02 * own['blocks']
    wrong = [row for row in waits if 'wants' not in row['stack'] and 'keeps' in row['stack'] and row['value'] > own['wants'] / 4]
    wrong += [row for row in held if 'rests' in row['stack']]
    rested = sum_of(released, 'rests', 'asleep')
    print(f'rests() slept {rested / 1e6:.1f} ms without it; {len(wrong)} wrong')
    locks = subprocess.run([sfb, 'report', '--python', '--by', 'lock', recording], stdout=subprocess.PIPE, check=True, text=True).stdout
    gil = locks.partition('  the GIL\n')[2]
    print(gil)
    held_by_keeps = 'had by' in gil and 'keeps  python_gil.py' in gil.partition('had by')[2]
    return good and not wrong and 250e6 < rested < 510e6 and held_by_keeps


def main_of_wall():
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        program = subprocess.run([sys.argv[2], 'record', '-q', '--wall', '-o', recording, '--', sys.executable, __file__, 'wait'],
                                 stdout=subprocess.PIPE, check=True)
        return judge_waits(sys.argv[2], recording, json.loads(program.stdout.splitlines()[-1]))


def main_of_stack():
    """Asks until both threads are there: the program is on its way."""
    program = subprocess.Popen([sys.executable, __file__, 'hang'], stdout=subprocess.PIPE)
    told, tries = {}, 0
    while told != {'blocks': 'held', 'keeps': 'waited'} and tries < 500:
        tries += 1
        said = json.loads(subprocess.run([sys.argv[2], 'stack', '--json', str(program.pid)], stdout=subprocess.PIPE).stdout)
        told = {}
        for thread in said['threads']:
            names = [f['name'] for frame in thread['frames'] for f in frame.get('python', [])]
            told.update({name: thread.get('gil') for name in ('blocks', 'keeps') if name in names})
    # The thread that waits wakes up each 5 ms, and may run at a look.
    wanted, text, tries = (', holds the GIL, CPU', ', waits for the GIL, CPU'), '', 0
    while not all(words in text for words in wanted) and tries < 500:
        tries += 1
        text = subprocess.run([sys.argv[2], 'stack', '--python', str(program.pid)], stdout=subprocess.PIPE, text=True).stdout
    program.stdout.read()
    program.wait()
    print(told, text)
    return told == {'blocks': 'held', 'keeps': 'waited'} and all(words in text for words in wanted)


if __name__ == '__main__':
    mains = {'work': work, 'wait': wait, 'hang': hang, '--stack': main_of_stack, '--looks': main_of_looks, '--wall': main_of_wall}
    found = mains.get(sys.argv[1], main_of_work)()
    sys.exit(0 if found is None or found else 1)
