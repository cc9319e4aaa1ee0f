"""What do coset tables of the 3x3x3 cost, and how much do they know?

    python benchmarks/tables.py [--output data/tables.csv] [--size small --size medium --size large] [--states 1000]

Each table is built from nothing in a folder of its own, which is removed afterwards. A row says how many bytes it has,
the seconds of its building with so many threads, the machine's load when it began, and the mean of the bounds of random
states: the largest of the six, lifted by parity (`first_length` of chapter exact.ida). The kernels are compiled before the
first table. A row is written at once: a run that was stopped goes on with the next table.
"""

import os
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from kept_rows import fill, new_parser, show
from numba import get_num_threads

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact.coset import SIZES, CosetBound, coset_table, table_path
from cube_nb.exact.ida import first_length

PUZZLE = get_puzzle('cube3')
COLUMNS = ['size', 'bytes', 'threads', 'load', 'seconds', 'states', 'bound', 'bound_std']


def row_of(size, states):
    "Build a table, time it, and ask it about states."
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        start = perf_counter()
        coset_table(PUZZLE, size, folder)
        seconds = perf_counter() - start
        in_bytes = table_path(PUZZLE, size, folder).stat().st_size
        lower = CosetBound(PUZZLE, size, folder)
        bounds = np.array([first_length(lower, state) for state in states])
        del lower
    about = dict(bytes=in_bytes, threads=get_num_threads(), load=load, seconds=seconds)
    return about | dict(states=len(states), bound=bounds.mean(), bound_std=bounds.std())


def main():
    "Build what is missing."
    parser = new_parser(__doc__, 'tables.csv')
    parser.add_argument('--size', action='append', choices=[*SIZES], help='by default the three for use')
    parser.add_argument('--states', type=int, default=1000, help='random states to bound')
    options = parser.parse_args()
    states = PUZZLE.random_states(options.states, seed=20261124)
    row_of('tiny', states[:1])
    cases = [dict(size=size) for size in options.size or ['small', 'medium', 'large']]
    show(fill(options.output, COLUMNS, cases, partial(row_of, states=states)))


if __name__ == '__main__':
    main()
