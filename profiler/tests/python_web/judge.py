"""Requests of a server, and a recording of it beside what its workers know of themselves.

    judge.py load SOCKET COUNT          sends requests, one after another
    judge.py SFB RECORDING FOLDER       compares shares of CPU time by function: within 15 points, for looks are biased
                                        where threads wait for a CPU (OUTSIDE.md)
        --started                       within 5 sigma, and their sums

Exit: 0 all true, 1 not.
"""
import glob
import http.client
import json
import os
import socket
import subprocess
import sys


class OverSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def load(path, requests):
    for count in range(requests):
        connection = OverSocket(path)
        connection.request('GET', f'/orders/{count % 97}')
        answer = connection.getresponse()
        assert answer.status == 200 and json.loads(answer.read())['price'] > 0
        connection.close()


# What a function must have below it, in C.
BELOW = {'find_orders': 'sqlite3', 'packed': 'libz'}


def judge(sfb, recording, folder, is_started):
    own = {}
    workers = glob.glob(os.path.join(folder, '[0-9]*.json'))
    for path in workers:
        with open(path, encoding='utf-8') as file:
            for name, ns in json.load(file).items():
                own[name] = own.get(name, 0) + ns
    rows = subprocess.run([sfb, 'report', '--rows', recording], stdout=subprocess.PIPE, check=True).stdout
    furthest = 0.0
    sums, below, count, pids = dict.fromkeys(own, 0), dict.fromkeys(own, 0), 0, set()
    for row in map(json.loads, rows.splitlines()):
        if row['kind'] not in ('cpu', 'wall') or row['stack'][0].startswith('asleep'):
            continue
        for i, (name, file) in enumerate(zip(row['stack'], row['file'])):
            if name in own and os.path.basename(file.rpartition(':')[0]) == 'shop.py':
                sums[name] += row['value']
                count += row['count']
                pids.add(row['pid'])
                if any(BELOW.get(name, '') in module for module in row['module'][:i]):
                    below[name] += row['value']
                break
    all_own, all_sums, worst = sum(own.values()), sum(sums.values()), 0.0
    for name, ns in own.items():
        share, seen = ns / all_own, sums[name] / max(all_sums, 1)
        sigma = (share * (1 - share) / max(count, 1)) ** 0.5
        worst = max(worst, abs(seen - share) / sigma)
        furthest = max(furthest, abs(seen - share))
        print(f'{name}: {100 * share:.1f} % by itself, {100 * seen:.1f} % recorded'
              + (f', {100 * below[name] / max(sums[name], 1):.1f} % of it in {BELOW[name]}' if name in BELOW else ''))
    print(f'{len(workers)} workers, {len(pids)} of them recorded; {count} samples; {all_own / 1e9:.2f} s by itself, '
          f'{all_sums / 1e9:.2f} s recorded; at most {worst:.1f} sigma, {100 * furthest:.1f} points')
    good = len(own) == 5 and len(pids) == len(workers) and all(below[name] > 0.5 * sums[name] for name in BELOW)
    near = worst < 5 and abs(all_sums - all_own) < 0.1 * all_own if is_started else furthest < 0.15
    return good and near and count > 100


if __name__ == '__main__':
    if sys.argv[1] == 'load':
        load(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(0 if judge(*sys.argv[1:4], '--started' in sys.argv) else 1)
