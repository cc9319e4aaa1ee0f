"""What the network of each published stage of Q-learning solves by favourite moves: the kept trainings, once more.

    export PYTHONPATH=.:benchmarks OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python data/measured/dqn_stages.py trained --output data/measured/dqn_stages_trained.csv [--seed 0 1 2]
    python data/measured/dqn_stages.py solved --output data/measured/dqn_stages.csv [--seed ...]

The list of networks keeps the last network of a training. Here the same trainings are made again, two core-hours
each, and the network of each stage is written below runs/dqn_stages. A training that was stopped goes on from its
checkpoint. `same` says whether the log is that of the kept training, number by number: so it is on the same kind
of processor. `solved` plays favourite moves from the different states among some scrambles.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from measured import Table, run_commands

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.dqn import KeepStage, play_greedily
from cube_nb.learn.loop import get_method, processor, train
from cube_nb.nets.weights import load_network
from cube_nb.workshop.trained import networks, resolved_config

PUZZLE = get_puzzle('cube3')
FOLDER = Path('runs/dqn_stages')
KEPT = ['cube3-dqn-published', 'cube3-dqn-published-1', 'cube3-dqn-published-2']  # a seed each
STAGES = range(1, 11)
NUMBERS = ['step', 'loss', 'stage', 'reward', 'solved']  # of the log, that a training decides


def network_file(seed, stage):
    "Where the network of a seed is when a stage, called by its scramble depth, has ended."
    return FOLDER / str(seed) / f'{stage}.safetensors'


def trained(asked):
    "train once more, and keep the network of each stage"

    def row_of(seed):
        network = networks([KEPT[seed]])[KEPT[seed]]
        learner = get_method(network.method).learner(resolved_config(network))
        keep = [KeepStage(stage, network_file(seed, stage)) for stage in STAGES]
        log = train(learner, FOLDER / str(seed), callbacks=keep)
        keep[-1].on_stage(learner, learner.curriculum.number)
        kept = pd.read_csv(f'data/networks/{KEPT[seed]}.csv')
        same = len(log) == len(kept) and np.allclose(log[NUMBERS], kept[NUMBERS], equal_nan=True)
        seconds = round(log.seconds.iloc[-1], 1)
        return dict(processor=processor(), steps=learner.step, seconds=seconds, same=same)

    return row_of


@cache
def network_of(seed, stage):
    "The network of a seed as it was when a stage ended."
    return load_network(network_file(seed, stage))


def solved(asked):
    "what the network of each stage solves at each scramble depth"

    def row_of(seed, stage, depth):
        scrambles = PUZZLE.scramble(asked.scrambles, depth, seed=(2 << 16) + depth).states
        states = np.unique(scrambles, axis=0)
        hits = play_greedily(network_of(seed, stage), states, max_steps=30).solved
        return dict(cubes=len(states), solved=hits.mean())

    return row_of


def by_stage(rows):
    "Means over the seeds, a row for each stage and a column for each scramble depth."
    return rows.pivot_table('solved', 'stage', 'depth')


SEED = dict(type=int, default=[*range(len(KEPT))])
TABLES = {
    'trained': Table('seed processor steps seconds same', {'seed': SEED}, trained),
    'solved': Table(
        columns='seed stage depth cubes solved',
        axes={
            'seed': SEED,
            'stage': dict(type=int, default=[*STAGES]),
            'depth': dict(type=int, default=[*STAGES]),
        },
        prepare=solved,
        summary=by_stage,
        options={'scrambles': dict(type=int, default=1000, help='of each depth')},
    ),
}


if __name__ == '__main__':
    run_commands(__doc__, TABLES)
