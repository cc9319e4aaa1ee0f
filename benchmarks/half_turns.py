"""Half turns: random cubes by `anytime` with its own network beside the two-phase solver, in one run.

    python benchmarks/half_turns.py [--cubes 30] [--limit 10] [--seed 0]

Where the package `alphacube` (EfficientCube's networks) is installed and finds its weights, it gets the same cubes, with
its own network for a processor and the width of its beam doubled while there is time. It fetches the weights from a hub
when it is first used, so a machine without them prints why there is no row. The row was written after the package's
published source, and tried with a stand-in of it only.

Lengths are half turns (HTM). With the seconds of the processor beside the limit, a machine that has other work can be
told from a quiet one.
"""

import argparse
import os
from time import perf_counter, process_time

import numpy as np

from cube_nb.cube.notation import format_word, invert, parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.core import Solution, verified
from cube_nb.solving import setup

PUZZLE = get_puzzle('cube3-htm')


def lengths_and_seconds(name, states, limit):
    "(int[B] half turns, seconds of the processor for each cube) of a solver; -1 where nothing was found."
    solver = setup('cube3-htm', name).within(limit)
    solver.run(states[:1])
    busy = process_time()
    answers = [solver.run(state[None])[0] for state in states]
    lengths = np.array([answer.htm if answer.solved else -1 for answer in answers])
    return lengths, (process_time() - busy) / len(states)


def shortest_of_wider_beams(solve, state, scramble, limit):
    """Half turns of the shortest solution of beams of 1024, 2048 and so on, while there is time for the next.

    -1 if none is found. Raises `AssertionError` for a word that does not solve.
    """
    start, last, width, best = perf_counter(), 0.0, 1024, -1
    while perf_counter() - start + 2 * last < limit:
        begun = perf_counter()
        found = solve(scramble=scramble, beam_width=width, allow_wide=False)
        last, width = perf_counter() - begun, 2 * width
        for word in found['solutions'] if found else []:
            answer = verified(state, Solution(PUZZLE, True, tuple(parse(PUZZLE, word))))
            best = answer.htm if best < 0 else min(best, answer.htm)
    return best


def alphacube_lengths_and_seconds(states, limit):
    "The same of `alphacube`. Raises whatever keeps it from being loaded."
    import alphacube

    alphacube.load()
    by_two_phases = setup('cube3-htm', 'kociemba').run(states)
    words = [format_word(PUZZLE, invert(PUZZLE, answer.moves)) for answer in by_two_phases]
    busy = process_time()
    lengths = [shortest_of_wider_beams(alphacube.solve, *asked, limit) for asked in zip(states, words)]
    return np.array(lengths), (process_time() - busy) / len(states)


def rows(states, limit):
    "(name, lengths, seconds) of each solver that there is."
    for name in ('anytime', 'kociemba'):
        yield name, *lengths_and_seconds(name, states, limit)
    try:
        yield 'alphacube', *alphacube_lengths_and_seconds(states, limit)
    except Exception as error:  # no package, no network, no file: whatever it says is the reason
        print(f'alphacube: no row, {type(error).__name__}: {error}')


def main(cubes, limit, seed):
    states = PUZZLE.random_states(cubes, seed)
    for name, lengths, busy in rows(states, limit):
        solved = lengths[lengths >= 0]
        if len(solved) < 2:
            print(f'{name}: {len(solved)} of {cubes} solved, too few for a mean')
            continue
        error = 1.96 * solved.std(ddof=1) / len(solved) ** 0.5
        mean = f'mean {solved.mean():.2f} ± {error:.2f} half turns, longest {solved.max()}'
        print(f'{name}: {len(solved)} of {cubes} solved, {mean}, {busy:.1f} s of the processor a cube')
    print(f'limit {limit} s, load of the machine {os.getloadavg()[0]:.1f}')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cubes', type=int, default=30)
    parser.add_argument('--limit', type=float, default=10.0)
    parser.add_argument('--seed', type=int, default=0)
    main(**vars(parser.parse_args()))
