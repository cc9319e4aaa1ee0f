"""Throw bad input at everything that reads, and count what comes of it.

    python benchmarks/faults.py [--only words] [--share 0.1] [--seed N]

Each suite is a function of a seed and a count that returns a row of the table that is printed at the end. Inputs are
accepted or refused in one line; tracebacks, answers that take more than 5 s, and results that an independent oracle
denies are faults: the first of each suite are shown, and the status is 1.
"""

import argparse
import random
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parents[1] / 'tests'))
from bad_input import FAULTS, KINDS, verdict, warm_up  # noqa: E402 (a module of the tests)

BATCH = 1000  # inputs of one run of Hypothesis, which slows down when it remembers many
SHOWN = 3  # faults of a suite that are shown


def try_inputs(kind, first_seed, count):
    "A row for one kind of input: how many were tried, and what came of them."
    verdicts = Counter()
    faults = []

    def try_one(value):
        found = verdict(kind, value)
        verdicts[found.word] += 1
        if found.word in FAULTS and len(faults) < SHOWN:
            faults.append(f'{found.word}: {found.why[:200]!r} of {str(value)[:200]!r}')

    number = first_seed
    while verdicts.total() < count:
        some = settings(
            max_examples=min(BATCH, count - verdicts.total()),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        seed(number)(some(given(kind.inputs)(try_one)))()
        number += 1
    for fault in faults:
        print(f'  {fault}', flush=True)
    return dict(
        tried=verdicts.total(),
        accepted=verdicts['accepted'],
        refused=verdicts['refused'],
        tracebacks=verdicts['traceback'],
        hangs=verdicts['hang'],
        wrong='' if kind.is_right is None else verdicts['wrong'],
    )


COUNTS = {
    'words': 30_000,
    'stickers': 12_000,
    'files of scrambles': 5_000,
    '--set of solvers': 15_000,
    '--set of trainings': 10_000,
    'configurations': 10_000,
    'JSON as YAML': 8_000,
    'profiles': 5_000,
    'headers of weights': 5_000,
    'command lines': 2_000,
    '--depths': 3_000,
}
SUITES = {name: (partial(try_inputs, kind), COUNTS[name]) for name, kind in KINDS.items()}  # name -> (function, count)


def main():
    "Run the suites and print their rows."
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', choices=SUITES, help='one suite')
    parser.add_argument('--share', type=float, default=1.0, help='of the counts of the long form')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f'seed {options.seed}', flush=True)
    warm_up()
    rows = []
    for name, (suite, count) in SUITES.items():
        if options.only in (None, name):
            print(name, flush=True)
            start = time.perf_counter()
            row = suite(options.seed, max(round(count * options.share), 1))
            rows.append({'kind': name, **row, 'seconds': round(time.perf_counter() - start, 1)})
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    counted = table[['tracebacks', 'hangs', 'wrong']].replace('', 0).sum().sum()
    print(f'{table.tried.sum():,} inputs tried, {counted} faults')
    sys.exit(counted > 0)


main()
