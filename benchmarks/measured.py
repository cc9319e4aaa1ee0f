"""The tables of `data/measured` that a processor makes in hours: `TABLES` says what each of them measures.

    python benchmarks/measured.py tables [--size small medium large] [--states 1000]
    python benchmarks/measured.py optimal CUBES.csv [--variant learned alone ida] [--size medium large]
        [--finder-seconds 3] [--time-limit 600]
    python benchmarks/measured.py lengths CUBES.csv [--size none medium] [--limit 2 10 30] [--network NAME]
    python benchmarks/measured.py memory [--config davi-cube3-NAME ...]

With `--output FILE.csv` the table has another name. A file of cubes has the columns `scramble` and
`optimal_qtm`; with `--count 10` only its first cubes are taken. A row is written at once: a run that was
stopped goes on. Kernels are compiled, and coset tables built or opened, before the first row that needs it.
At the end there is a summary, with 95 % intervals; `load` is that of the machine when a row began.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
from kept_rows import by_group, excess_columns, fill, mean_columns, new_parser, show
from numba import get_num_threads

from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact import optimal
from cube_nb.exact.coset import SIZES, CosetBound, coset_table, table_path
from cube_nb.exact.dual import beam_finisher, coset_bound, iterations
from cube_nb.exact.ida import first_length
from cube_nb.search.anytime import AnytimeOptions, anytime, improvements
from cube_nb.search.core import get_solver
from cube_nb.solving import default_model, load_evaluator

ROOT = Path(__file__).resolve().parents[1]
PUZZLE = get_puzzle('cube3')


class Table(NamedTuple):
    "A table of measurements."

    columns: str  # all of them, in order
    axes: dict  # columns that say which row it is, the slowest first -> arguments of their options
    prepare: Callable  # of the command line; returns a function of the axes that returns the other columns
    summary: Callable | None = None  # function of the table that returns what is shown; by default all of it
    options: dict = {}  # other option -> its arguments


def add_table(parts, name: str, table: Table):
    "The command that makes a table, one more of the parts of a command line."
    part = parts.add_parser(name, help=table.prepare.__doc__)
    part.set_defaults(run=partial(measure, table=table))
    part.add_argument('--output', type=Path, default=Path(f'{name}.csv'))
    for axis, given in table.axes.items():
        if axis == 'cube':
            part.add_argument('cubes', type=pd.read_csv)
            part.add_argument('--count', type=int, help='cubes, from the first; by default all')
        else:
            part.add_argument(f'--{axis}', nargs='+', **given)
    for option, given in table.options.items():
        part.add_argument(f'--{option}', **given)


def measure(asked, table: Table):
    "Measure the rows that are missing, and show what they come to."
    if 'cube' in table.axes:
        asked.cube = asked.cubes.index[: asked.count]
    cases = [dict(zip(table.axes, row)) for row in product(*(getattr(asked, axis) for axis in table.axes))]
    rows = fill(asked.output, table.columns.split(), cases, table.prepare(asked))
    show(table.summary(rows) if table.summary else rows)


def state_of(cube):
    "The state of a row of the file of cubes."
    return PUZZLE.apply_word(PUZZLE.solved, parse(PUZZLE, cube.scramble))


def built(size, states):
    "Build a table from nothing, time it, and ask it about states; the bounds are lifted by parity."
    about = dict(threads=get_num_threads(), load=os.getloadavg()[0])
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        start = perf_counter()
        coset_table(PUZZLE, size, folder)
        about |= dict(seconds=perf_counter() - start, bytes=table_path(PUZZLE, size, folder).stat().st_size)
        lower = CosetBound(PUZZLE, size, folder)
        bounds = np.array([first_length(lower, state) for state in states])
        del lower
    return about | dict(states=len(states), bound=bounds.mean(), bound_std=bounds.std())


def tables_built(asked):
    "what coset tables of the 3x3x3 cost, and how much they know"
    states = PUZZLE.random_states(asked.states, seed=20261124)
    built('tiny', states[:1])
    return partial(built, states=states)


@contextmanager
def recorded():
    "The rounds of the proofs inside, as they are made."
    done = []

    def recording(*given):
        for each in iterations(*given):
            done.append(each)
            yield each

    with patch.object(optimal, 'iterations', recording):
        yield done


def by_cosets(state, size, asked, evaluator):
    "A row of the learned search, if there is an evaluator, and of the rounds that prove."
    began = perf_counter()
    lower = coset_bound(PUZZLE, size)
    found = optimal.learned_solution(PUZZLE, state, evaluator, asked.finder_seconds, lower)
    finder_seconds = perf_counter() - began
    with recorded() as done:
        best = optimal.prove(found, state, asked.time_limit - finder_seconds, evaluator, size)
    return best, dict(
        learned=len(found) if found.solved else None,
        finder_seconds=round(finder_seconds, 3),
        found_by_proof=any(each.moves is not None for each in done),
        lookups=sum(each.lookups for each in done),
        proof_seconds=round(sum(each.seconds for each in done), 3),
        seconds=round(perf_counter() - began, 3),
    )


def by_ida(state, size, asked):
    "A row of IDA* with pattern databases, which has no such table and counts no look-ups."
    (answer,) = get_solver('ida')(PUZZLE, state[None], time_limit=asked.time_limit)
    return answer, dict(seconds=round(answer.seconds, 3))


def proofs(asked):
    "how long optimal solutions take: the solver `optimal`, the same without the learned search, and IDA*"
    evaluator = load_evaluator('cube3', default_model('cube3', 'optimal'))
    warm = PUZZLE.scramble(1, 13, seed=0).states
    for size in asked.size:
        get_solver('optimal')(PUZZLE, warm, evaluator, size=size, time_limit=60.0)
    ways = {
        name: partial(by_cosets, evaluator=each) for name, each in (('learned', evaluator), ('alone', None))
    }
    ways['ida'] = by_ida

    def row_of(cube, variant, size):
        "One proof. Raises `AssertionError` for a proven length that is not the file's."
        about = dict(
            threads=get_num_threads(), load=os.getloadavg()[0], optimal=asked.cubes.optimal_qtm[cube]
        )
        best, found = ways[variant](state_of(asked.cubes.loc[cube]), size, asked)
        length = len(best) if best.solved else None
        if length == best.lower_bound != about['optimal']:
            raise AssertionError(f'cube {cube}: {length} moves were proved, not {about["optimal"]}')
        found |= dict(length=length, lower_bound=best.lower_bound, nodes=best.generated)
        found['solution'] = str(best) if best.solved else ''
        print(*(f'{name} {value}' for name, value in found.items()), sep=', ', flush=True)
        return about | found

    return row_of


def summary_of_proofs(table):
    "What there is to say about each variant with each table."
    table = table.assign(
        proved=table.length == table.lower_bound,
        learned_optimal=(table.learned == table.optimal).where(table.learned.notna()),
        learned_in_the_end=(table.found_by_proof == 0).where(table.learned.notna()),
        rate=table.lookups / table.proof_seconds / 1e6 / table.threads,
    )
    means = {f'mean_{name}': (name, 'mean') for name in ('seconds', 'nodes', 'lookups')}
    means |= {name: (name, 'mean') for name in ('learned_optimal', 'learned_in_the_end')}
    medians = dict(median_seconds=('seconds', 'median'), million_lookups_a_second_and_core=('rate', 'median'))
    groups = table.groupby(['variant', 'size'])
    return groups.agg(cubes=('cube', 'size'), proved=('proved', 'sum'), **means, **medians).T


def shortest_in_time(state, evaluator, finisher, limit, optimum):
    "The best solution within a limit in seconds, when it was found; the search is stopped at the optimum."
    began = perf_counter()
    best, seconds = None, np.nan
    for found in improvements(PUZZLE, state, evaluator, AnytimeOptions(time_limit=limit), finisher):
        if best is None or len(found) < len(best):
            best, seconds = found, perf_counter() - began
        if best.solved and len(best) <= optimum:
            break
    return best, seconds


def search_of(cube, evaluator, finisher, limit):
    "The columns of one search. Raises `AssertionError` for a length that cannot be."
    about = dict(load=os.getloadavg()[0], optimal=cube.optimal_qtm)
    found, seconds = shortest_in_time(state_of(cube), evaluator, finisher, limit, cube.optimal_qtm)
    length = len(found) if found.solved else None
    if found.solved and length < cube.optimal_qtm:
        raise AssertionError(f'cube {cube.name}: {found} is shorter than {cube.optimal_qtm}')
    return about | dict(length=length, seconds=seconds, nodes=found.generated, solution=found)


def searches(asked):
    "how short the solutions of the anytime search are after so many seconds; its beams end in a coset table"

    @cache
    def prepared(network, size):
        "An evaluator and what ends the beams, with everything compiled."
        evaluator = load_evaluator('cube3', network)
        finisher = None if size == 'none' else beam_finisher(PUZZLE, size)
        warm = PUZZLE.scramble(2, 40, seed=0).states
        anytime(PUZZLE, warm, evaluator, AnytimeOptions(time_limit=3.0), finisher)
        return evaluator, finisher

    def row_of(cube, network, size, limit):
        return search_of(asked.cubes.loc[cube], *prepared(network, size), limit)

    return row_of


def means_of_searches(group):
    "Mean length and excess and the share of shortest solutions, each with its 95 % interval."
    means = mean_columns('length', group.length) | excess_columns(group)
    return dict(load=group.load.mean()) | means | dict(most_seconds=group.seconds.max())


# Weights, gradients, moments, the target network and the batch with its children are there after two steps;
# more steps add nothing but what the allocator keeps. So fewer are taken where a step is long. The most
# memory is that of the process alone: `ru_maxrss` would count what the process that started it has taken.
STEPS = {'davi-cube3-scratch': 50, 'davi-cube3-growth': 50, 'davi-cube3': 5, 'davi-cube3-paper': 2}
TRAINING = r"""
import json, re, sys
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Budget, read_config, train

def most_mb():
    return round(int(re.search(r'VmHWM:\s+(\d+)', open('/proc/self/status').read())[1]) / 1024)

library, (path, steps) = most_mb(), sys.argv[1:]
learner = DaviLearner(read_config(DaviConfig, path, ['device=cpu']))
train(learner, progress=False, budget=Budget(steps=int(steps)))
weights, batch = sum(each.numel() for each in learner.network.parameters()), learner.config.batch_size
row = dict(parameters=weights, batch_size=batch, steps=int(steps), library_mb=library, peak_mb=most_mb())
print(json.dumps(row))
"""


def training(config):
    "One configuration in a process of its own; what the library takes is measured before the first step."
    path = ROOT / f'workflow/configs/{config}.yaml'
    command = [sys.executable, '-c', TRAINING, str(path), str(STEPS[config])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def trainings(asked):
    "the most memory that a training by value iteration takes, each configuration in a fresh process"
    return training


TABLES = {
    'tables': Table(
        columns='size bytes threads load seconds states bound bound_std',
        axes={'size': dict(choices=SIZES, default=['small', 'medium', 'large'])},
        prepare=tables_built,
        options={'states': dict(type=int, default=1000, help='random states to bound')},
    ),
    'optimal': Table(
        columns='cube variant size threads load optimal learned finder_seconds length lower_bound '
        'found_by_proof nodes lookups proof_seconds seconds solution',
        axes={
            'cube': {},
            'variant': dict(choices=['learned', 'alone', 'ida'], default=['learned', 'alone']),
            'size': dict(choices=SIZES, default=['medium'], help='of the coset table'),
        },
        prepare=proofs,
        summary=summary_of_proofs,
        options={
            'finder-seconds': dict(type=float, default=3.0, help='of the learned search'),
            'time-limit': dict(type=float, default=600.0, help='seconds for a cube'),
        },
    ),
    'lengths': Table(
        columns='cube network size limit load optimal length seconds nodes solution',
        axes={
            'network': dict(default=[default_model('cube3', 'anytime')]),
            'size': dict(choices=[*SIZES, 'none'], default=['medium'], help='of the coset table'),
            'limit': dict(type=float, default=[2.0, 10.0, 30.0], help='seconds'),
            'cube': {},
        },
        prepare=searches,
        summary=partial(by_group, keys=['network', 'size', 'limit'], columns_of=means_of_searches),
    ),
    'memory': Table(
        columns='config parameters batch_size steps library_mb peak_mb',
        axes={'config': dict(choices=STEPS, default=[*STEPS])},
        prepare=trainings,
    ),
}


def main():
    "Make the table that the command line names."
    parser = new_parser(__doc__)
    parts = parser.add_subparsers(required=True)
    for name, table in TABLES.items():
        add_table(parts, name, table)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == '__main__':
    main()
