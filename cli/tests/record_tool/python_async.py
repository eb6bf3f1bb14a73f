"""Chains of awaits of asyncio in a recording, beside what the program finds by asyncio itself.

    python_async.py SFB           by the agent
    python_async.py --looks SFB   from outside
    python_async.py --stack SFB   `sfb stack`, of a task that sleeps in C
    python_async.py work | hang   the programs

The program asks asyncio.all_tasks() which task waits for which, and where each stands by cr_await and cr_frame; then it computes in
that state. Every sample of it has to have that chain, with each line, and nothing else. Exit: 0 all true, 1 not.
"""
import asyncio
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time

NEWEST = sys.version_info >= (3, 14)
chains = {}


# --- What asyncio knows

def name_of(frame):
    code = frame.f_code
    return f'{code.co_qualname}:{frame.f_lineno}' if code.co_filename == __file__ else code.co_qualname


def frames_of(coroutine):
    """Outermost first."""
    frames = []
    while coroutine is not None and hasattr(coroutine, 'cr_frame'):
        frames.append(name_of(coroutine.cr_frame))
        coroutine = coroutine.cr_await
    return frames


def running(frame):
    """Innermost first: the coroutines of the task that runs, from a frame's caller on."""
    frames = []
    while (frame := frame.f_back).f_code.co_flags & inspect.CO_COROUTINE:
        frames.append(name_of(frame))
    return frames


def named(task):
    return [f'task {task.get_name()}'] if not task.get_name().startswith('Task-') else []


def awaited_by(task):
    """The one task whose future is the task, or one that the task has told when it ends."""
    futures = {task}
    for callback, _ in task._callbacks or []:
        for cell in getattr(callback, '__closure__', None) or ():
            futures.add(cell.cell_contents) if asyncio.isfuture(cell.cell_contents) else None
        for value in getattr(callback, 'args', ()):
            futures.add(value) if asyncio.isfuture(value) else None
        if NEWEST and hasattr(getattr(callback, '__self__', None), '_parent_task'):
            return callback.__self__._parent_task
    return next((t for t in asyncio.all_tasks() if t._fut_waiter in futures), None)


def chain():
    """Innermost first, from what called Kinds.step() on."""
    task = asyncio.current_task()
    told = running(sys._getframe(2)) + named(task)
    while (task := awaited_by(task)) is not None:
        told += ['[await]'] + frames_of(task.get_coro())[::-1] + named(task)
    return told


# --- Programs

def computes(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))


def sleeps(seconds):
    print('sleeps', flush=True)
    time.sleep(seconds)


class Kinds:
    seconds, ends = 0.25, computes

    async def leaf(self, kind):
        await asyncio.sleep(0)  # those that await this task stand by now
        chains[kind] = chain()
        Kinds.ends(self.seconds)

    async def step(self, kind):
        await self.leaf(kind)

    async def awaits(self, awaitable):
        await awaitable

    async def plain(self):
        await self.step('plain')

    async def by_task(self):
        inner = asyncio.create_task(self.step('by_task'), name='inner')
        middle = asyncio.create_task(self.awaits(inner), name='größer')
        await self.awaits(asyncio.create_task(self.awaits(middle)))

    async def by_gather(self):
        await asyncio.gather(self.step('by_gather'), asyncio.sleep(0))

    async def by_wait_for(self):
        await asyncio.wait_for(self.step('by_wait_for'), 100)

    async def by_generator(self):
        async def numbers():
            yield await asyncio.create_task(self.step('by_generator'), name='inner')

        async for _ in numbers():
            pass

    async def by_group(self):
        async with asyncio.TaskGroup() as group:
            group.create_task(self.step('by_group'), name='grouped')

    async def by_nothing(self):
        task = asyncio.create_task(self.step('by_nothing'), name='alone')
        while not task.done():
            await asyncio.sleep(0)


KINDS = ('plain', 'by_task', 'by_gather', 'by_wait_for', 'by_nothing') + (('by_group',) if NEWEST else ())


async def main():
    for kind in KINDS + ('by_generator',):
        await getattr(Kinds(), kind)()


def work():
    print('begins', flush=True)
    asyncio.run(main())
    print(json.dumps(chains))


def hang():
    Kinds.ends, Kinds.seconds = sleeps, 60
    asyncio.run(Kinds().by_task())


# --- The judge

def own(frames):
    """Names with lines, innermost first: up to the event loop, without it."""
    told = []
    for name, file, module in frames:
        path, _, line = file.rpartition(':')
        if name == 'Handle._run' or name.startswith('_UnixSelectorEventLoop'):
            break
        if module == '[python]' or name == '[await]':
            told.append(f'{name}:{line}' if path == __file__ else name)
    return told


def judge(rows, wanted):
    seen, wrong = dict.fromkeys(KINDS, 0), 0
    for row in rows:
        told = own(zip(row['stack'], row['file'], row['module']))
        if not any(frame.startswith('computes:') for frame in told):
            continue
        at = next((i for i, frame in enumerate(told) if frame.startswith('Kinds.step:')), len(told))
        rest = told[at + 1:]
        of = [kind for kind in KINDS if rest == wanted[kind]]
        for kind in of:
            seen[kind] += row['count']
        if not of and not any('by_generator' in frame for frame in told) and '[omitted]' not in row['stack']:
            print(f"{row['count']} of {told}")
            wrong += row['count']
    print(f'{seen}: {wrong} wrong')
    return wrong == 0 and all(seen.values())


def recorded(sfb, *options):
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'r.sfbr')
        if options:
            program = subprocess.Popen([sys.executable, __file__, 'work'], stdout=subprocess.PIPE)
            program.stdout.readline()
            subprocess.run([sfb, 'record', '-q', *options, '-o', recording, '--pid', str(program.pid)], check=True)
            output = program.communicate()[0]
        else:
            output = subprocess.run([sfb, 'record', '-q', '-o', recording, '--', sys.executable, __file__, 'work'],
                                    stdout=subprocess.PIPE, check=True).stdout
        rows = subprocess.run([sfb, 'report', '--python', '--rows', recording], stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(line) for line in rows.splitlines()], json.loads(output.splitlines()[-1])


def main_of_stack():
    program = subprocess.Popen([sys.executable, __file__, 'hang'], stdout=subprocess.PIPE)
    program.stdout.readline()
    text = ''
    for _ in range(100):  # it is on its way into the call
        text = subprocess.run([sys.argv[2], 'stack', '--python', str(program.pid)], stdout=subprocess.PIPE, text=True).stdout
        if ', asleep' in text:
            break
    program.kill()
    program.wait()
    print(text)
    lines = [line.partition(' ')[2].partition(' (')[0] for line in text.splitlines() if line.startswith('#')]
    wanted = ['sleeps', 'Kinds.leaf', 'Kinds.step', 'task inner in Python', '... awaited by', 'Kinds.awaits', 'task größer in Python',
              '... awaited by', 'Kinds.awaits', '... awaited by', 'Kinds.awaits', 'Kinds.by_task', 'Handle._run']
    return lines[:len(wanted)] == wanted


if __name__ == '__main__':
    if sys.argv[1] in ('work', 'hang'):
        sys.exit({'work': work, 'hang': hang}[sys.argv[1]]())
    if sys.argv[1] == '--stack':
        sys.exit(not main_of_stack())
    sys.exit(not judge(*(recorded(sys.argv[2], '--engine', 'looks') if sys.argv[1] == '--looks' else recorded(sys.argv[1]))))
