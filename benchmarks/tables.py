"""What do coset tables of the 3x3x3 cost, and how much do they know?

    python benchmarks/tables.py [--output data/tables.csv] [--size small --size medium --size large] [--states 1000]

Each table is built from nothing in a folder of its own, which is removed afterwards. A row says how many bytes it has,
the seconds of its building with so many threads, the machine's load when it began, and the mean of the bounds of random
states: the largest of the six, lifted by parity (`first_length` of chapter exact.ida). The kernels are compiled before the
first table. A row is written at once: a run that was stopped goes on with the next table.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from kept_rows import add_row, read_rows
from numba import get_num_threads

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact.coset import SIZES, CosetBound, coset_table, table_path
from cube_nb.exact.ida import first_length

COLUMNS = ['size', 'bytes', 'threads', 'load', 'seconds', 'states', 'bound', 'bound_std']


def row_of(puzzle, size, states):
    "Build a table, time it, and ask it about states."
    load = os.getloadavg()[0]
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        start = perf_counter()
        coset_table(puzzle, size, folder)
        seconds = perf_counter() - start
        in_bytes = table_path(puzzle, size, folder).stat().st_size
        lower = CosetBound(puzzle, size, folder)
        bounds = np.array([first_length(lower, state) for state in states])
        del lower
    values = (size, in_bytes, get_num_threads(), load, seconds, len(states), bounds.mean(), bounds.std())
    return dict(zip(COLUMNS, values))


def main():
    "Build what is missing."
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--output', type=Path, default=Path('tables.csv'))
    parser.add_argument('--size', action='append', choices=[*SIZES], help='by default the three for use')
    parser.add_argument('--states', type=int, default=1000, help='random states to bound')
    options = parser.parse_args()
    puzzle = get_puzzle('cube3')
    states = puzzle.random_states(options.states, seed=20261124)
    row_of(puzzle, 'tiny', states[:1])
    there = set(read_rows(options.output, COLUMNS)['size'])
    for size in options.size or ['small', 'medium', 'large']:
        if size in there:
            continue
        row = row_of(puzzle, size, states)
        add_row(options.output, COLUMNS, row)
        print(row, flush=True)


if __name__ == '__main__':
    main()
