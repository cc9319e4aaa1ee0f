"""How short are the solutions of the anytime search after so many seconds?

    python benchmarks/lengths.py CUBES.csv [--output data/lengths.csv] [--seconds 2 --seconds 10 --seconds 30]
        [--size medium --size none] [--network cube3-walks] [--count 150]

The file of cubes has the columns `scramble` and `optimal_qtm`. Each cube, limit and size of the coset table that ends
the beams (`none`: no exact search) is a row of the output, written at once: a run that was stopped goes on where it
was. A search is stopped when it has as few moves as the file says, because it cannot become better; its row says after
how many seconds that was. At the end there is a summary, with 95 % intervals. Kernels are compiled, and tables built or
opened, before the first cube.
"""

import os
from functools import cache
from itertools import product
from time import perf_counter

import numpy as np
from kept_rows import by_group, excess_columns, fill, mean_columns, new_parser, show

from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.anytime import AnytimeOptions, anytime, improvements
from cube_nb.exact.coset import SIZES
from cube_nb.exact.dual import beam_finisher
from cube_nb.solving import default_model, load_evaluator

PUZZLE = get_puzzle('cube3')
NONE = 'none'  # no exact search at the end
COLUMNS = ['cube', 'network', 'size', 'limit', 'load', 'optimal', 'length', 'seconds', 'nodes', 'solution']


def shortest_in_time(state, evaluator, finisher, limit, optimal):
    "The best solution within a limit in seconds, and when it was found."
    began = perf_counter()
    best, seconds = None, np.nan
    for found in improvements(PUZZLE, state, evaluator, AnytimeOptions(time_limit=limit), finisher):
        if best is None or len(found) < len(best):
            best, seconds = found, perf_counter() - began
        if best.solved and len(best) <= optimal:
            break
    return best, seconds


def search_of(cube, evaluator, finisher, limit):
    "The columns of one search. Raises `AssertionError` for a length that cannot be."
    load = os.getloadavg()[0]
    state = PUZZLE.apply_word(PUZZLE.solved, parse(PUZZLE, cube.scramble))
    found, seconds = shortest_in_time(state, evaluator, finisher, limit, cube.optimal_qtm)
    length = len(found) if found.solved else None
    if found.solved and length < cube.optimal_qtm:
        raise AssertionError(f'cube {cube.name}: {found} is shorter than {cube.optimal_qtm}')
    about = dict(load=load, optimal=cube.optimal_qtm, length=length, seconds=seconds)
    return about | dict(nodes=found.generated, solution=found)


def means_of(group):
    "Mean length and excess and the share of shortest solutions, each with its 95 % interval."
    means = mean_columns('length', group.length) | excess_columns(group)
    return dict(load=group.load.mean()) | means | dict(most_seconds=group.seconds.max())


def main():
    "Run what is missing, and print the summary."
    parser = new_parser(__doc__, 'lengths.csv', cubes=True)
    parser.add_argument('--seconds', action='append', type=float, help='limits; by default 2, 10 and 30')
    parser.add_argument('--size', action='append', choices=[*SIZES, NONE], help='by default medium')
    parser.add_argument('--network', default=default_model('cube3', 'anytime'))
    options = parser.parse_args()
    cubes = options.cubes[: options.count]
    evaluator = load_evaluator('cube3', options.network)

    @cache
    def prepared(size):
        "What ends the beams, with everything compiled."
        finisher = None if size == NONE else beam_finisher(PUZZLE, size)
        warm = PUZZLE.scramble(2, 40, seed=0).states
        anytime(PUZZLE, warm, evaluator, AnytimeOptions(time_limit=3.0), finisher)
        return finisher

    def row_of(cube, network, size, limit):
        return search_of(cubes.loc[cube], evaluator, prepared(size), limit)

    order = product(options.size or ['medium'], options.seconds or [2.0, 10.0, 30.0], cubes.index)
    cases = [dict(cube=cube, network=options.network, size=size, limit=limit) for size, limit, cube in order]
    table = fill(options.output, COLUMNS, cases, row_of)
    show(by_group(table, ['network', 'size', 'limit'], means_of))


if __name__ == '__main__':
    main()
