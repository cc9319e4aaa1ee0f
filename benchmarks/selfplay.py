"""Self-play on the 2x2x2: simulations a second, with all cubes side by side and one episode at a time, and how much of
it is the network.

    python benchmarks/selfplay.py [--episodes 80] [--length 11] [--simulations 100] [--moves 4] [--plain 2] [--model NAME]

The plain version of the tests plays one episode after another and asks for one state at a time. The arrays play all
episodes at once. Both by the same rules, from scrambles that are too long to be solved in so few moves, after a run to
warm up. The network is the one of the configuration, with random weights unless a model is named. Training plays in
bfloat16; the plain version is given float32, which is faster for one state at a time. `network` is the time inside the
evaluator.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import torch

from beam import Timed
from mcts import rate
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.alphazero import AlphaZeroConfig
from cube_nb.nets.networks import Network, network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.selfplay import SelfPlay, alphazero_rules, play_games

sys.path.append(str(Path(__file__).parents[1] / 'tests'))
from plain_selfplay import plain_episode


def rules():
    "Those of training."
    return alphazero_rules(AlphaZeroConfig().exploration)


def plain(puzzle, states, timed, simulations, moves):
    "Simulations done by the plain version."
    return sum(plain_episode(puzzle, state, timed, rules(), simulations, moves)[2] for state in states)


def arrays(puzzle, states, timed, simulations, moves):
    "Simulations done in arrays."
    settings = SelfPlay(simulations=simulations, max_moves=moves)
    return play_games(puzzle, states, timed, rules(), settings).searches


def main(episodes, length, simulations, moves, plain_episodes, model):
    torch.manual_seed(0)
    network = load_network(model) if model else Network(AlphaZeroConfig().network)
    puzzle = get_puzzle('cube2')
    exact = Timed(network_evaluator(network, 'cpu', torch.float32))
    timed = Timed(network_evaluator(network, 'cpu', torch.bfloat16))
    states = puzzle.scramble(episodes, length, seed=0).states
    for run, evaluator in product((arrays, plain), (exact, timed)):
        run(puzzle, states[:2], evaluator, 5, 2)
    print(
        f'{torch.get_num_threads()} threads, scrambles of {length} turns, '
        f'{simulations:,} simulations before each of {moves} moves'
    )
    base, share = rate(exact, plain, puzzle, states[:plain_episodes], exact, simulations, moves)
    print(f'one episode at a time, float32: {base:,.0f} simulations/s, network {share:.0%} of the time')
    for count, (name, evaluator) in product((1, 10, episodes), dict(float32=exact, bfloat16=timed).items()):
        speed, share = rate(evaluator, arrays, puzzle, states[:count], evaluator, simulations, moves)
        print(
            f'{count:3} side by side, {name}: {speed:,.0f} simulations/s, '
            f'{speed / base:.1f} times as many, network {share:.0%}'
        )


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--episodes', type=int, default=80)
    parser.add_argument('--length', type=int, default=11)
    parser.add_argument('--simulations', type=int, default=100)
    parser.add_argument('--moves', type=int, default=4)
    parser.add_argument('--plain', dest='plain_episodes', type=int, default=2)
    parser.add_argument('--model')
    main(**vars(parser.parse_args()))
