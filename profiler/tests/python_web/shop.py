"""A small shop: flask, a database of sqlite3, json, zlib. Each request does known work, and counts its CPU time by function.

CPU time by itself goes to FOLDER/PID.json when a worker ends: the truth beside a recording.
"""
import atexit
import json
import os
import sqlite3
import time
import zlib

import flask

app = flask.Flask(__name__)
folder = os.environ['SHOP']
spent = {}


def measured(function):
    def wrapper(*arguments):
        begin = time.thread_time_ns()
        try:
            return function(*arguments)
        finally:
            spent[function.__name__] = spent.get(function.__name__, 0) + time.thread_time_ns() - begin
    return wrapper


@measured
def find_orders(customer):
    with sqlite3.connect(os.path.join(folder, 'shop.db')) as database:
        return database.execute('SELECT id, total FROM orders WHERE note LIKE ? ORDER BY total DESC LIMIT 200',
                                (f'%{customer}%',)).fetchall()


@measured
def as_text(orders):
    return json.dumps([{'id': number, 'total': total, 'lines': list(range(number % 20))} for number, total in orders])


@measured
def parsed(text):
    return len(json.loads(text))


@measured
def packed(text):
    return zlib.compress(text.encode(), 9)


@measured
def price(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


@app.route('/orders/<int:customer>')
def orders(customer):
    text = as_text(find_orders(customer))
    parsed(text)
    return {'bytes': len(packed(text)), 'price': price(20000)}


def fill():
    with sqlite3.connect(os.path.join(folder, 'shop.db')) as database:
        database.execute('CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER, note TEXT)')
        database.executemany('INSERT INTO orders (total, note) VALUES (?, ?)',
                             ((i * 7919 % 1000, f'order {i} of customer {i % 97}') for i in range(5000)))


def keep():
    if spent:
        with open(os.path.join(folder, f'{os.getpid()}.json'), 'w', encoding='utf-8') as out:
            json.dump(spent, out)


# gunicorn loads the application in each worker, which ends by sys.exit().
atexit.register(keep)
if __name__ == '__main__':
    fill()
