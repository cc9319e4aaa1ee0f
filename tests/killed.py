"""
Commands in processes that are killed with SIGKILL. They are forked from a server that has imported the library, so that
each starts at once; no kernel and no thread has run in it.
"""

import multiprocessing
import os
import sys
import time
from pathlib import Path

SERVER = multiprocessing.get_context('forkserver')
SERVER.set_forkserver_preload(['cube_nb.cli', 'cube_nb.solving', 'cube_nb.training', 'cube_nb.measure.evaluate'])


def run_command(words, out, limit):
    "Run a command line with its output in a file."
    os.environ.update(OMP_NUM_THREADS='1', NUMBA_NUM_THREADS='1')
    with open(out, 'w', encoding='utf-8') as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    from cube_nb import cli

    status = cli.run_command([str(word) for word in words])
    sys.stdout.flush()
    os._exit(status)


class Command:
    "A command line at work in a process of its own."

    def __init__(self, words, out, limit=None):
        "`out`: file for all that it prints; `limit`: bytes that a file may have, in the place of a full disk."
        self.out = Path(out)
        self.process = SERVER.Process(target=run_command, args=(words, out, limit))
        self.process.start()

    def kill(self):
        "Kill it, and say whether it was still at work."
        self.process.kill()
        self.process.join()
        return self.process.exitcode == -9

    def wait(self, seconds=300):
        "Its status and what it printed."
        self.process.join(seconds)
        assert self.process.exitcode is not None, f'still at work after {seconds} s'
        return self.process.exitcode, self.out.read_text(encoding='utf-8')


def wait_until(condition, seconds=300):
    "Until something is true. Fails the test if it takes too long."
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f'not true after {seconds} s'
        time.sleep(0.002)
