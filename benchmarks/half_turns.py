"""Half turns: random cubes by `anytime` with its own network beside the two-phase solver, in one run.

    python benchmarks/half_turns.py [--cubes 30] [--limit 10] [--seed 0]

Lengths are half turns (HTM). With the seconds of the processor beside the limit, a machine that has other work can be
told from a quiet one.
"""

import argparse
import os
from time import process_time

import numpy as np

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.solving import setup


def lengths_and_seconds(name, states, limit):
    "(int[B] half turns, seconds of the processor for each cube) of a solver; -1 where nothing was found."
    solver = setup('cube3-htm', name).within(limit)
    solver.run(states[:1])
    busy = process_time()
    answers = [solver.run(state[None])[0] for state in states]
    lengths = np.array([answer.htm if answer.solved else -1 for answer in answers])
    return lengths, (process_time() - busy) / len(states)


def main(cubes, limit, seed):
    states = get_puzzle('cube3-htm').random_states(cubes, seed)
    for name in ('anytime', 'kociemba'):
        lengths, busy = lengths_and_seconds(name, states, limit)
        solved = lengths[lengths >= 0]
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
