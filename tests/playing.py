"A `cube_nb play` in a process of its own, and what a page says to it."

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import psutil
from killed import wait_until

ROOT = Path(__file__).parents[1]
CANCELLED = dict(error='the search was cancelled')


def posted(port, message):
    "A connection on which an answer is awaited."
    connection = HTTPConnection('127.0.0.1', port, timeout=120)
    connection.request('POST', '/ask', json.dumps(message), {'Content-Type': 'application/json'})
    return connection


def answered(connection):
    "The answer that arrives on a connection."
    return json.loads(connection.getresponse().read())


def post(port, message):
    "The answer to a message."
    return answered(posted(port, message))


def wait_for_stage(port, search, stage):
    "Until a search says that it has come so far."
    wait_until(lambda: post(port, dict(ask='progress', search=search)).get('stage') == stage)


def worker_of(server):
    "The process that searches for a server."
    (worker,) = psutil.Process(server.pid).children()
    return worker


def has_ended(process):
    "Whether a process runs no more; nobody may have asked yet how it ended."
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def playing():
    "A server: the process, and its port."
    command = [sys.executable, '-c', 'from cube_nb.cli import main; main()', 'play', '--no-browser']
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen(command, cwd=ROOT, **pipes) as server:
        try:
            yield server, int(re.search(r':(\d+)/', server.stdout.readline())[1])
        finally:
            server.kill()
