"""
Commands in processes that are killed with SIGKILL. They are forked from a server in which no kernel and no thread
has run; it has imported the library, and what is imported at first use, which would take each ten seconds.
"""

import multiprocessing
import os
import sys
import time
from itertools import cycle
from pathlib import Path

import pandas as pd

from cube_nb.learn.loop import get_method, method_names, weights_checksum
from cube_nb.nets.weights import load_network

SERVER = multiprocessing.get_context('forkserver')
SERVER.set_forkserver_preload(
    ['cube_nb.cli', 'cube_nb.solving', 'cube_nb.training', 'cube_nb.measure.evaluate', 'cube_nb.learn.dqn']
    + ['torch._dynamo', 'torch.utils.tensorboard', 'scipy.linalg', 'scipy.stats', 'numba.typed']
)


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


# ---- what is the same after kills and full disks as without them ----
def stamp(file):
    "What changes when a file is written. None while there is none: it may vanish at any moment."
    try:
        now = file.stat()
    except FileNotFoundError:
        return None
    return now.st_mtime_ns, now.st_size


def run_with_kills(words, file, kills, rng):
    "Run a command to its end after kills at any moment, or when `file` was written. How often it was at work."
    out = file.with_name('out')
    killed = 0
    for _ in range(kills):
        before = stamp(file)
        running = Command(words, out)
        if rng.random() < 2 / 3:
            wait_until(lambda: stamp(file) != before or not running.process.is_alive())
        running.process.join(rng.uniform(0, 0.2))
        killed += running.kill()
    status, said = Command(words, out).wait()
    assert status == 0, said
    return killed


def until_killed(run, kills):
    "Repeat `run(number, kills left) -> (kills, whether all is as it should be)`. Returns (kills, runs that were not)."
    done = lost = number = 0
    while done < kills:
        killed, good = run(number, min(3, kills - done))
        done += killed
        lost += not good
        number += 1
    return done, lost


def train_words(method, folder):
    "A small training: 100 steps, a checkpoint after each 20."
    folder.mkdir(exist_ok=True)
    config = folder / 'config.yaml'
    config.write_text(get_method(method).small_config('cube2').model_dump_json(), encoding='utf-8')
    return ['train', method, '--config', config, '--quiet', '--output', folder]


def what_was_trained(method, folder):
    "The weights and the log of a training, without times."
    log = pd.read_csv(folder / 'log.csv')
    timed = [column for column in log if 'second' in column]
    weights = weights_checksum(load_network(folder / f'cube2-{method}.safetensors'))
    return weights, log.drop(columns=timed).to_csv()


def killed_trainings(folder, kills, rng, methods=None):
    "(kills, trainings that did not end with the same weights and log), of some methods in turn; of all by default."
    methods = cycle(methods or method_names())
    whole = {}

    def run(number, kills):
        method = next(methods)
        if method not in whole:
            assert Command(train_words(method, folder / method), folder / 'out').wait()[0] == 0
            whole[method] = what_was_trained(method, folder / method)
        own = folder / str(number)
        killed = run_with_kills(train_words(method, own), own / 'checkpoint.pt', kills, rng)
        return killed, what_was_trained(method, own) == whole[method]

    return until_killed(run, kills)


EVALUATE = ['evaluate', '--puzzle', 'cube2', '--solver', 'greedy', '--model', 'cube2-davi', '--count', '2']


def evaluate_words(file):
    "An evaluation of twenty depths."
    return [*EVALUATE, '--depths', '1:20', '--output', file]


def what_was_evaluated(file):
    "The rows of an evaluation, without times."
    return pd.read_csv(file, dtype=str).drop(columns=['seconds', 'check']).to_csv()


def unbroken(folder):
    "The rows of an evaluation that nothing broke."
    assert Command(evaluate_words(folder / 'whole.csv'), folder / 'out').wait()[0] == 0
    return what_was_evaluated(folder / 'whole.csv')


def killed_evaluations(folder, kills, rng):
    "(kills, evaluations with other rows than an unbroken one)."
    whole = unbroken(folder)

    def run(number, kills):
        file = folder / f'{number}.csv'
        return run_with_kills(evaluate_words(file), file, kills, rng), what_was_evaluated(file) == whole

    return until_killed(run, kills)


def full_disks(folder, count, rng):
    "(runs without room, those that did not say so in one line, or did not end as if nothing had been afterwards)."
    whole, lost = unbroken(folder), 0
    for number in range(count):
        file = folder / f'{number}.csv'
        room = rng.randrange(1500, (folder / 'whole.csv').stat().st_size - 200)  # what it says has room
        status, said = Command(evaluate_words(file), folder / 'out', limit=room).wait()
        clear = (status, said.splitlines()[-1]) == (1, f'cube_nb: {file}: File too large')
        kept = file.read_bytes()
        again, said = Command(evaluate_words(file), folder / 'out').wait()
        good = clear and (again, 'was cut off' in said) == (0, False) and file.read_bytes().startswith(kept)
        lost += not (good and kept.endswith(b'\n') and what_was_evaluated(file) == whole)
    return count, lost
