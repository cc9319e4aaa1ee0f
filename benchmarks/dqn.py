"""A DQN from pictures: pictures, environment steps and training steps a second.

    python benchmarks/dqn.py [--batch 256] [--seconds 3]

Pictures are uint8[3, 92, 76] of scrambled cubes, made for whole batches. An environment step is a move in an episode with its reward, its memory and its new start; with a thinking player the network chooses all moves. A training step
is one of the configurations `dqn-cube3` and `dqn-cube3-best`, with the round that is played before it. The second number of each line is for a second of processor time: what the first would be on one core that has nothing else to do.
"""
import argparse
import os
from pathlib import Path
from time import perf_counter, process_time

import torch

from cube_nb.cube.encoding import picture
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.dqn import DqnLearner, DqnConfig, Stage
from cube_nb.learn.loop import read_config

CONFIGS = Path(__file__).parents[1] / 'workflow/configs'


def tell(what, work, count, seconds):
    "Print how many a second, after one to warm up."
    work()
    start, used, done = perf_counter(), process_time(), 0
    while perf_counter() - start < seconds: work(); done += count
    print(f'{what:52} {done / (perf_counter() - start):12,.1f} a second {done / (process_time() - used):12,.1f}')


def step(learner):
    learner.after_step(learner.take_step())


def main(batch, seconds):
    puzzle = get_puzzle('cube3')
    print(f'{torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}')
    for size in (92, 76), (256, 192):
        states = puzzle.scramble(batch, 10, seed=0).states
        tell(f'pictures of {size[0]} x {size[1]}', lambda: picture(puzzle, states, *size), batch, seconds)
    for name in 'dqn-cube3', 'dqn-cube3-best':
        config = read_config(DqnConfig, CONFIGS / f'{name}.yaml', ['device=cpu', 'warmup=1'])
        for player, epsilon in dict(random=1., thinking=0.).items():
            game = DqnLearner(config.model_copy(update=dict(stages=(Stage(10, 24, 0, 500, epsilon, epsilon),))))
            tell(f'{name}, environment steps of a {player} player', game.play_round, config.episodes, seconds)
        learner = DqnLearner(config)
        tell(f'{name}, training steps of {config.batch_size} transitions', lambda: step(learner), 1, seconds)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--batch', type=int, default=256)
    parser.add_argument('--seconds', type=float, default=3.)
    main(**vars(parser.parse_args()))
