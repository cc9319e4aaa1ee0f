"""The tables of `data/measured` that a processor makes in hours: `TABLES` says what each of them measures.

    python benchmarks/measured.py tables [--size small medium large] [--states 1000]
    python benchmarks/measured.py improve CUBES.csv [--size none medium large] [--limit 2 10 600]
        [--network NAME none] [--puzzle cube3 cube3-htm]
    python benchmarks/measured.py words [--code numba c native]
    python benchmarks/measured.py gains [--size none medium] [--puzzle cube3 cube3-htm]
    python benchmarks/measured.py memory [--config davi-cube3-NAME ...]

With `--output FILE.csv` the table has another name. A file of cubes has the columns `scramble` and
`optimal_qtm`; with `--count 10` only its first cubes are taken. A row is written at once: a run that was
stopped goes on. Kernels are compiled, and coset tables built or opened, before the first row that needs it.
At the end there is a summary, with 95 % intervals; `load` is that of the machine when a row began.
"""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd
from kept_rows import by_group, excess_columns, fill, mean_columns, new_parser, show
from numba import get_num_threads, njit

from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact.coset import (
    SIZES,
    CosetBound,
    _after,
    _position,
    _words,
    coset_table,
    piece_codes,
    table_path,
)
from cube_nb.exact.dual import coset_bound
from cube_nb.exact.ida import first_length
from cube_nb.exact.prover import CosetProver, prover_for
from cube_nb.search.core import get_solver
from cube_nb.search.improve import Improvement, ImproveOptions, improvements
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


def run_commands(about: str, tables: dict, more: Callable | None = None):
    "Do what the command line names: fill one of the tables, or what `more` adds to the parts of the command line."
    parser = new_parser(about)
    parts = parser.add_subparsers(required=True)
    for name, table in tables.items():
        add_table(parts, name, table)
    if more:
        more(parts)
    asked = parser.parse_args()
    asked.run(asked)


def measure(asked, table: Table):
    "Measure the rows that are missing, and show what they come to."
    if 'cube' in table.axes:
        asked.cube = asked.cubes.index[: asked.count]
    cases = [dict(zip(table.axes, row)) for row in product(*(getattr(asked, axis) for axis in table.axes))]
    rows = fill(asked.output, table.columns.split(), cases, table.prepare(asked))
    show(table.summary(rows) if table.summary else rows)


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


@njit
def find_words(tables, words, views, moves, after, position):
    "The inner loop of the exact search: words after moves, and where their entries are; all uint64[n]."
    for i in range(len(words)):
        after[i] = _after(tables.steps, words[i], views[i], moves[i])
        position[i] = _position(tables, after[i])


C_FLAGS = {'c': '-O2', 'native': '-O3 -march=native'}
ROUNDS = 9  # of which the fastest counts


def compiled(code, folder, tables):
    "The same loop, in C if that is asked for."
    if code == 'numba':
        return partial(find_words, tables)
    library = Path(folder) / 'words.so'
    source = Path(__file__).with_name('words.c')
    subprocess.run(['cc', *C_FLAGS[code].split(), '-shared', '-fPIC', '-o', library, source], check=True)
    loop = ctypes.CDLL(str(library)).find_words
    steps = (ctypes.c_void_p * len(tables.steps))(*(each.ctypes.data for each in tables.steps))

    def run(*arrays):
        given = (ctypes.c_void_p(each.ctypes.data) for each in arrays)
        moves, n = ctypes.c_uint64(PUZZLE.num_moves), ctypes.c_size_t(len(arrays[0]))
        loop(ctypes.byref(steps), moves, n, *given)

    return run


def inner_loops(asked):
    "nanoseconds for a word and its position, by Numba and by two builds of the same loop in C"
    tables = coset_bound(PUZZLE, 'medium').tables
    words = _words(tables, piece_codes(PUZZLE, PUZZLE.random_states(20_000, seed=20261129))).ravel()
    views = np.tile(np.array([0, 1, 2], np.uint64), len(words) // 3)
    moves = np.random.default_rng(0).integers(PUZZLE.num_moves, size=len(words), dtype=np.uint64)
    right = np.zeros((2, len(words)), np.uint64)
    find_words(tables, words, views, moves, *right)

    def row_of(code):
        load, found, seconds = os.getloadavg()[0], np.zeros_like(right), []
        with TemporaryDirectory() as folder:
            loop = compiled(code, folder, tables)
            for _ in range(ROUNDS):
                start = perf_counter()
                loop(words, views, moves, *found)
                seconds.append(perf_counter() - start)
        if (found != right).any():
            raise AssertionError(f'{code} finds other words')
        return dict(load=load, words=len(words), nanoseconds=min(seconds) / len(words) * 1e9)

    return row_of


class CountingProver(CosetProver):
    "Counts the look-ups of the rounds, and their seconds."

    lookups, seconds = 0, 0.0

    def search(self, *given, **named):
        done = super().search(*given, **named)
        self.lookups += done.lookups
        self.seconds += done.seconds
        return done


def search_of(puzzle, cube, evaluator, prover, limit):
    "The columns of one search. Raises `AssertionError` for a length that cannot be."
    about = dict(threads=get_num_threads(), load=os.getloadavg()[0])
    state = puzzle.apply_word(puzzle.solved, parse(puzzle, cube.scramble))
    if prover is not None:
        prover.lookups, prover.seconds = 0, 0.0
    first, found_at, length = np.nan, np.nan, np.inf
    for found in improvements(puzzle, state, evaluator, ImproveOptions(time_limit=limit), prover):
        if found.solved and len(found) < length:
            found_at, length = found.seconds, len(found)
            first = found_at if np.isnan(first) else first
    optimal = cube.optimal_qtm if puzzle == PUZZLE else len(found) if found.optimal else None
    if optimal is not None and (found.lower_bound > optimal or length < optimal):
        raise AssertionError(f'cube {cube.name}: {found} and {found.lower_bound} moves, not {optimal}')
    return about | dict(
        optimal=optimal,
        length=len(found) if found.solved else None,
        lower_bound=found.lower_bound,
        first_seconds=round(first, 3),
        found_seconds=round(found_at, 3),
        seconds=round(found.seconds, 3),
        nodes=found.generated,
        lookups=None if prover is None else prover.lookups,
        round_seconds=None if prover is None else round(prover.seconds, 3),
        solution=str(found) if found.solved else '',
    )


def searches(asked):
    "what the search finds and proves in so many seconds, with a coset table or without"

    @cache
    def prepared(name, network, size):
        "An evaluator and what excludes lengths, with everything compiled."
        puzzle = get_puzzle(name)
        evaluator = None if network == 'none' else load_evaluator(name, network)
        prover = None if size == 'none' else CountingProver(coset_bound(puzzle, size))
        warm = puzzle.scramble(2, 40, seed=0).states
        get_solver('improve')(puzzle, warm, evaluator, prover, time_limit=3.0)
        return puzzle, evaluator, prover

    def row_of(cube, puzzle, network, size, limit):
        network = default_model(puzzle, 'improve') if network == 'default' else network
        about, evaluator, prover = prepared(puzzle, network, size)
        found = search_of(about, asked.cubes.loc[cube], evaluator, prover, limit)
        print(*(f'{name} {value}' for name, value in found.items()), sep=', ', flush=True)
        return found

    return row_of


def means_of_searches(group):
    "Lengths, excess, shares of shortest and of proven solutions with 95 % intervals, and seconds."
    proven = (group.length == group.lower_bound).astype(float)
    means = mean_columns('length', group.length) | excess_columns(group) | mean_columns('proven', proven)
    rate = group.lookups / group.round_seconds / 1e6 / group.threads
    seconds = dict(median_seconds=group.seconds.median(), most_seconds=group.seconds.max())
    seconds |= mean_columns('seconds', group.seconds)
    return dict(load=group.load.mean()) | means | seconds | dict(million_lookups=rate.median())


def gains(asked):
    "which beams find a shorter solution, by the gap before them: cubes of its own, twelve seconds each"

    def row_of(puzzle, size, state):
        about = get_puzzle(puzzle)
        evaluator, prover = load_evaluator(puzzle, default_model(puzzle, 'improve')), prover_for(about, size)
        start = about.random_states(state + 1, seed=190001)[state]
        search = Improvement(about, start, evaluator, ImproveOptions(time_limit=12.0), prover)
        load, told, before = os.getloadavg()[0], [], None
        for _ in search.steps():
            if before and search.beams > before[2]:
                told.append((*before[:2], len(search.best)))
            before = search.best and (len(search.best), search.least, search.beams)
        columns = [' '.join(map(str, column)) for column in zip(*told)] or ['', '', '']
        return dict(load=load) | dict(zip(('best', 'least', 'found'), columns))

    return row_of


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
    'improve': Table(
        columns='cube puzzle network size limit threads load optimal length lower_bound first_seconds '
        'found_seconds seconds nodes lookups round_seconds solution',
        axes={
            'puzzle': dict(default=['cube3'], help='or cube3-htm'),
            'network': dict(default=['default'], help='that guides the beams; none: no beams'),
            'size': dict(choices=[*SIZES, 'none'], default=['medium'], help='of the coset table'),
            'limit': dict(type=float, default=[2.0, 10.0, 600.0], help='seconds'),
            'cube': {},
        },
        prepare=searches,
        summary=partial(by_group, keys=['puzzle', 'network', 'size', 'limit'], columns_of=means_of_searches),
    ),
    'words': Table(
        columns='code load words nanoseconds',
        axes={'code': dict(choices=['numba', *C_FLAGS], default=['numba', *C_FLAGS])},
        prepare=inner_loops,
    ),
    'gains': Table(
        columns='puzzle size state load best least found',
        axes={
            'puzzle': dict(default=['cube3', 'cube3-htm']),
            'size': dict(choices=[*SIZES, 'none'], default=['medium']),
            'state': dict(type=int, default=[*range(40)], help='of the random states'),
        },
        prepare=gains,
    ),
    'memory': Table(
        columns='config parameters batch_size steps library_mb peak_mb',
        axes={'config': dict(choices=STEPS, default=[*STEPS])},
        prepare=trainings,
    ),
}


if __name__ == '__main__':
    run_commands(__doc__, TABLES)
