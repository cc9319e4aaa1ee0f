"""How soon `anytime` has a first answer, whatever its limit of time is: random cubes one after the other, kernels warm.

    python benchmarks/first_answer.py [--cubes 1000] [--limit 10] [--puzzle cube3] [--seed 0]

Wall time counts, and beside it the seconds of the processor: on a machine that has other work they say what a quiet one would need.
"""

import argparse
import os
from time import perf_counter, process_time

import numpy as np

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.anytime import AnytimeOptions, anytime, improvements
from cube_nb.solving import setup


def first_answer(puzzle, state, evaluator, limit):
    "(solved, moves, seconds, seconds of the processor) of the first answer to one state."
    wall, busy = perf_counter(), process_time()
    first = next(iter(improvements(puzzle, state, evaluator, AnytimeOptions(time_limit=limit))))
    return first.solved, len(first), perf_counter() - wall, process_time() - busy


def first_answers(puzzle, states, evaluator, limit):
    "float[B, 4], see `first_answer`, once everything is warm."
    anytime(puzzle, states[:1], evaluator, AnytimeOptions(time_limit=1.0))
    return np.array([first_answer(puzzle, state, evaluator, limit) for state in states])


def main(cubes, limit, puzzle, seed):
    evaluator = setup(puzzle, 'anytime').evaluator()
    puzzle = get_puzzle(puzzle)
    solved, moves, wall, busy = first_answers(puzzle, puzzle.random_states(cubes, seed), evaluator, limit).T
    print(
        f'{puzzle.name}, limit {limit} s: {solved.sum():.0f} of {cubes} answered, {(solved * (wall < 1)).sum():.0f} in under 1 s'
    )
    for name, seconds in dict(wall=wall, processor=busy).items():
        marks = np.percentile(seconds, [50, 99, 100])
        print(f'{name}: median {marks[0]:.2f} s, 99 % {marks[1]:.2f} s, longest {marks[2]:.2f} s')
    print(
        f'first answers of {moves[solved == 1].mean():.1f} moves; load of the machine {os.getloadavg()[0]:.1f}'
    )


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cubes', type=int, default=1000)
    parser.add_argument('--limit', type=float, default=10.0)
    parser.add_argument('--puzzle', default='cube3')
    parser.add_argument('--seed', type=int, default=0)
    main(**vars(parser.parse_args()))
