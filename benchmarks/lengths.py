"""How short are the solutions of the anytime search after so many seconds?

    python benchmarks/lengths.py CUBES.csv [--output data/lengths.csv] [--seconds 2 --seconds 10 --seconds 30]
        [--size medium --size none] [--network cube3-walks] [--count 150]

The file of cubes has the columns `scramble` and `optimal_qtm`. Each cube, limit and size of the coset table that ends
the beams (`none`: no exact search) is a row of the output, written at once: a run that was stopped goes on where it
was. A search is stopped when it has as few moves as the file says, because it cannot become better; its row says after
how many seconds that was. At the end there is a summary, with 95 % intervals. Kernels are compiled, and tables built or
opened, before the first cube.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from kept_rows import add_row, read_rows
from tqdm.auto import tqdm

from cube_nb.clock import Clock
from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.measure.evaluate import mean_columns, share_columns
from cube_nb.search.anytime import AnytimeOptions, anytime, improvements
from cube_nb.exact.coset import SIZES
from cube_nb.exact.dual import beam_finisher
from cube_nb.solving import default_model, load_evaluator

NONE = 'none'  # no exact search at the end
COLUMNS = ['cube', 'network', 'size', 'limit', 'load', 'optimal', 'length', 'seconds', 'nodes', 'solution']


def shortest_in_time(puzzle, state, evaluator, finisher, limit, optimal):
    "The best solution within a limit in seconds, and when it was found."
    clock = Clock(limit)
    best, seconds = None, np.nan
    for found in improvements(puzzle, state, evaluator, AnytimeOptions(time_limit=limit), finisher):
        if best is None or len(found) < len(best):
            best, seconds = found, clock.seconds
        if best.solved and len(best) <= optimal:
            break
    return best, seconds


def search_of(puzzle, cube, row, evaluator, finisher, limit):
    "One search: load, optimum, length, seconds, nodes and solution. Raises `AssertionError` for a length that cannot be."
    load = os.getloadavg()[0]
    state = puzzle.apply_word(puzzle.solved, parse(puzzle, row.scramble))
    found, seconds = shortest_in_time(puzzle, state, evaluator, finisher, limit, row.optimal_qtm)
    if len(found) < row.optimal_qtm:
        raise AssertionError(f'cube {cube}: {found} is shorter than {row.optimal_qtm}')
    return load, row.optimal_qtm, len(found), seconds, found.generated, found


def rows_of(cubes, options):
    "The rows that are not in the output yet, one after another."
    puzzle = get_puzzle('cube3')
    network = options.network or default_model('cube3', 'anytime')
    evaluator = load_evaluator('cube3', network)
    there = read_rows(options.output, COLUMNS)
    seen = set(zip(there.cube, there.network, there['size'], there.limit))
    warm = puzzle.scramble(2, 40, seed=0).states
    for size in options.size or ['medium']:
        table = None if size == NONE else size
        finisher = beam_finisher(puzzle, table) if table else None
        anytime(puzzle, warm, evaluator, AnytimeOptions(time_limit=3.0, size=table), finisher)
        for limit in options.seconds or [2.0, 10.0, 30.0]:
            for cube, row in tqdm(list(cubes.iterrows()), desc=f'{size}, {limit:g} s'):
                if (cube, network, size, limit) in seen:
                    continue
                values = search_of(puzzle, cube, row, evaluator, finisher, limit)
                yield dict(zip(COLUMNS, (cube, network, size, limit, *values)))


def excess_columns(group):
    "Mean excess and share of shortest solutions, each with the ends of its 95 % interval."
    excess = group.length - group.optimal
    return mean_columns('excess', excess) | share_columns('optimal', excess == 0)


def summary(table):
    "Mean excess and share of shortest solutions, each with the ends of its 95 % interval."
    rows = []
    for (network, size, limit), group in table.groupby(['network', 'size', 'limit']):
        means = mean_columns('length', group.length) | excess_columns(group)
        about = dict(network=network, size=size, limit=limit, cubes=len(group), load=group.load.mean())
        rows.append(about | means | dict(most_seconds=group.seconds.max()))
    return pd.DataFrame(rows)


def main():
    "Run what is missing, and print the summary."
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('cubes', type=Path)
    parser.add_argument('--output', type=Path, default=Path('lengths.csv'))
    parser.add_argument('--seconds', action='append', type=float, help='limits; by default 2, 10 and 30')
    parser.add_argument('--size', action='append', choices=[*SIZES, NONE], help='by default medium')
    parser.add_argument('--network', help='by default that of the solver')
    parser.add_argument('--count', type=int, help='cubes, from the first; by default all')
    options = parser.parse_args()
    for row in rows_of(pd.read_csv(options.cubes)[: options.count], options):
        add_row(options.output, COLUMNS, row)
    print(summary(pd.read_csv(options.output)).to_string(float_format='{:.3f}'.format))


if __name__ == '__main__':
    main()
