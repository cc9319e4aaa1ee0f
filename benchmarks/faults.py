"""Whatever can go wrong for a file or an input: bad input, flipped bits, SIGKILL, full disks. Counts what comes of it.

    python benchmarks/faults.py [--only words] [--share 0.1] [--seed N] [--workers 2]

Each suite is a function of a seed and a count that returns a row of the table that is printed at the end. Inputs are
accepted or refused in one line; flipped bits are noticed; after a kill or on a full disk the next run ends as if nothing
had been. All else is a fault: tracebacks, answers that take more than 5 s, results that an independent oracle denies,
rows, weights or tables that differ from those of an unbroken run. The first faults of each suite are shown, and the
status is 1.
"""

import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from hypothesis import HealthCheck, Phase, given, seed, settings
from kept_rows import new_parser

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'tests'))
from bad_input import FAULTS, KINDS, verdict, warm_up  # noqa: E402 (modules of the tests)
from damaged import flipped_checkpoint, flipped_weights  # noqa: E402
from killed import full_disks, killed_evaluations, killed_trainings  # noqa: E402
from reproductions import killed_reproductions  # noqa: E402

QUIET = settings(
    deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
BATCH = 1000  # inputs of one run of Hypothesis, which slows down when it remembers many
SHOWN = 3  # faults of a suite that are shown
COLUMNS = ('tried', 'accepted', 'refused', 'tracebacks', 'hangs', 'wrong', 'lost')


def row(**counts):
    "A row of the table, with zeros for what was not counted."
    return {column: counts.get(column, 0) for column in COLUMNS}


def try_inputs(name, first_seed, count):
    "A row for one kind of input: how many were tried, and what came of them."
    kind = KINDS[name]
    verdicts = Counter()
    faults = []

    def try_one(value):
        found = verdict(kind, value)
        verdicts[found.word] += 1
        if found.word in FAULTS and len(faults) < SHOWN:
            faults.append(f'{found.word}: {found.why[:200]!r} of {str(value)[:200]!r}')

    warm_up()
    number = first_seed
    while verdicts.total() < count:
        some = settings(QUIET, max_examples=min(BATCH, count - verdicts.total()))
        seed(number)(some(given(kind.inputs)(try_one)))()
        number += 1
    for fault in faults:
        print(f'{name}: {fault}', flush=True)
    counted = {word: verdicts[word] for word in ('accepted', 'refused', 'wrong')}
    return row(tried=verdicts.total(), tracebacks=verdicts['traceback'], hangs=verdicts['hang'], **counted)


def try_flips(flip, first_seed, count):
    "A row for flipped bits of a file: those that nothing notices are wrong."
    with TemporaryDirectory() as folder:
        missed = flip(Path(folder), count, first_seed)
    return row(tried=count, refused=count - len(missed), wrong=len(missed))


def try_kills(kill, first_seed, count):
    "A row for processes that were killed, or had no room: accepted where the next run ended as if nothing had been."
    with TemporaryDirectory() as folder:
        tried, lost = kill(Path(folder), count, random.Random(first_seed))
    return row(tried=tried, accepted=tried - lost, lost=lost)


INPUTS = {
    **{'words': 30_000, 'stickers': 12_000, 'files of scrambles': 5_000, '--set of solvers': 12_000},
    **{'--set of trainings': 8_000, 'configurations': 8_000, 'JSON as YAML': 8_000, 'profiles': 5_000},
    **{'headers of weights': 5_000, 'rows of evaluations': 4_000, 'messages of the player': 5_000},
    **{'command lines': 2_000, '--depths': 3_000},
}
SUITES = {  # name -> (function, count of the long form); the longest first
    'killed reproductions': (partial(try_kills, killed_reproductions), 15),
    'killed trainings': (partial(try_kills, killed_trainings), 30),
    'killed evaluations': (partial(try_kills, killed_evaluations), 20),
    'full disks': (partial(try_kills, full_disks), 20),
    'flipped bits of weights': (partial(try_flips, flipped_weights), 5_000),
    'flipped bits of checkpoints': (partial(try_flips, flipped_checkpoint), 5_000),
    **{name: (partial(try_inputs, name), count) for name, count in INPUTS.items()},
}


def timed(name, first_seed, share):
    "The row of a suite, with its name and its seconds."
    suite, count = SUITES[name]
    start = time.perf_counter()
    counts = suite(first_seed, max(round(count * share), 1))
    return {'suite': name, **counts, 'seconds': round(time.perf_counter() - start)}


def main():
    "Run the suites and print their rows."
    parser = new_parser(__doc__)
    parser.add_argument('--only', choices=SUITES, help='one suite')
    parser.add_argument('--share', type=float, default=1.0, help='of the counts of the long form')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument('--workers', type=int, default=2, help='processes, for a suite each')
    options = parser.parse_args()
    print(f'seed {options.seed}', flush=True)
    names = [options.only] if options.only else list(SUITES)
    start = time.perf_counter()
    with ProcessPoolExecutor(options.workers, get_context('spawn')) as pool:
        rows = pool.map(partial(timed, first_seed=options.seed, share=options.share), names)
        table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    faults = table[['tracebacks', 'hangs', 'wrong', 'lost']].sum().sum()
    is_kill = table.suite.str.startswith('killed')
    kills, inputs = table[is_kill], table[~is_kill]
    tried = f'{kills.accepted.sum()} of {kills.tried.sum()} kills survived; {inputs.tried.sum():,} inputs and damages tried'
    lost = f'{table.lost.sum()} lost, {table.hangs.sum()} hangs'
    print(f'{tried}; {lost}; {faults} faults in {time.perf_counter() - start:.0f} s')
    sys.exit(int(faults > 0))


if __name__ == '__main__':
    main()
