"""Monte Carlo tree search of the 3x3x3 with the shipped network: searches a second, in arrays and in plain Python, and
how much of it is the network.

    python benchmarks/mcts.py [--cubes 100] [--searches 1000] [--plain 1000] [--model cube3-walks]

The plain version of the tests grows one tree at a time and asks for one state at a time. The arrays grow the trees of
all cubes at once, with one leaf a round, as the plain version does, and with several. Both by the same rules, from
random cubes, after a run to warm up; a tree whose goal was found goes on growing in both. `network` is the time inside
the evaluator.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from beam import Timed
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.mcts import SearchTrees, TreeRules

sys.path.append(str(Path(__file__).parents[1] / 'tests'))
from plain_mcts import PlainTree


def plain(puzzle, states, timed, searches):
    "Searches done by the plain version, as many from each of a few cubes."
    for state in states[:3]:
        tree = PlainTree(puzzle, state, timed, TreeRules())
        for _ in range(searches):
            tree.step()
    return 3 * searches


def arrays(puzzle, states, timed, searches, leaves):
    "Searches done in arrays, as many from each cube."
    trees = SearchTrees(puzzle, states, timed, TreeRules())
    rounds = searches // leaves
    for _ in range(rounds):
        trees.step(np.arange(len(states)), leaves)
    return rounds * leaves * len(states)


def rate(timed, run, *arguments):
    "Searches a second and the share of the network."
    timed.seconds = 0.0
    start = perf_counter()
    searches = run(*arguments)
    seconds = perf_counter() - start
    return searches / seconds, timed.seconds / seconds


def main(cubes, searches, plain_searches, model):
    puzzle = get_puzzle('cube3')
    timed = Timed(network_evaluator(load_network(model), 'cpu'))
    states = puzzle.scramble(cubes, 100, seed=0).states
    arrays(puzzle, states, timed, 10, 2)
    print(
        f'{torch.get_num_threads()} threads, {cubes} cubes, {searches:,} searches each; '
        f'plain Python: 3 cubes, {plain_searches:,} each'
    )
    base, network = rate(timed, plain, puzzle, states, timed, plain_searches)
    print(f'plain Python: {base:,.0f} searches/s, network {network:.0%} of the time')
    for leaves in (1, 2, 4, 8, 16):
        speed, network = rate(timed, arrays, puzzle, states, timed, searches, leaves)
        print(
            f'arrays, {leaves:2} leaves a round: {speed:,.0f} searches/s, '
            f'{speed / base:.1f} times as many, network {network:.0%}'
        )


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cubes', type=int, default=100)
    parser.add_argument('--searches', type=int, default=1000)
    parser.add_argument('--plain', dest='plain_searches', type=int, default=1000)
    parser.add_argument('--model', default='cube3-walks')
    main(**vars(parser.parse_args()))
