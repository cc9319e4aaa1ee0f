"""What should a walk teach? The same walks, network, batch and seconds of the processor, and five labels.

    export PYTHONPATH=.:benchmarks
    python data/measured/labels.py train [--label moves ...] [--seed 0 1 2] [--minutes 20]
    python data/measured/labels.py calibration [--label ...] [--seed ...]
    python data/measured/labels.py beams data/test/cube3_league.csv --count 150 [--width 16384 65536]

`train` makes the networks of the 3x3x3 that are not there yet, below runs/labels; a training that was stopped
goes on from its checkpoint. The others fill a table, a row at once, and a run that was stopped goes on. What
a state of a walk is labelled with:

- `moves`: N, the moves of the walk so far;
- `chain`: E[d | N] by the article's chain of depths;
- `memory`: the same by the chain that knows whether the last move came from below;
- `lowered`: N, but at most one more than the label of a neighbour on the walk, and the least of equal states
  of the batch, until nothing changes;
- `backup`: one move more than the least estimate of the children, by an older network (value iteration).

All see whole walks, and have a value head and a policy head. The policy's label is the way back, but for
`backup`, whose children make one.
"""

import os
from functools import cache, partial
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import torch
from kept_rows import by_group, excess_columns
from measured import Table, run_commands
from scipy.stats import spearmanr

from cube_nb.cube.keys import canonical, is_test_state
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.exact import populations_of
from cube_nb.depth.markov import depth_given_moves, known_memory
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Batch, Budget, keep_network, train
from cube_nb.learn.walks import WalkLearner, WalksConfig, moves_back, walk_ways, without_test_states
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.beam import fingerprints
from cube_nb.search.core import get_solver

PUZZLE = get_puzzle('cube3')
FOLDER = Path('runs/labels')
COMMON = dict(
    network=dict(
        puzzle='cube3', encoding='piece_one_hot', hidden=(512, 256), blocks=1, heads=('value', 'policy')
    ),
    max_depth=22,  # as of the network that ships
    every_state=True,
    batch_size=5000,
    iterations=10**6,  # never reached
    learning_rate=2e-3,
    final_learning_rate=1e-5,
    precision='bfloat16',
    log_every=100,
    checkpoint_every=200,
)


class Memory(WalkLearner):
    "Walks labelled by the chain with memory."

    def __init__(self, config):
        super().__init__(config)
        moves, counts = np.arange(config.max_depth + 2), populations_of(PUZZLE)
        known = depth_given_moves(moves, counts, len(PUZZLE.generators), known_memory('cube3'))
        self.values = torch.from_numpy(known @ np.arange(len(counts))).float().to(self.device)


def lowered(prints, longest):
    "Labels of all states of whole walks, float32[n]: see the head of this script. prints: int64[n]."
    _, place = prints.unique(return_inverse=True)
    after = torch.arange(1, longest + 1, device=prints.device)
    labels = after.repeat(len(prints) // longest)
    while True:
        least = labels.new_full((int(place.max()) + 1,), longest).scatter_reduce(0, place, labels, 'amin')
        rows = least[place].view(-1, longest)
        rows = (rows - after).cummin(1).values + after
        rows = (rows + after).flip(1).cummin(1).values.flip(1) - after
        if (rows.flatten() == labels).all():
            return labels.float()
        labels = rows.flatten()


class Lowered(WalkLearner):
    "Walks labelled by N, lowered."

    def labelled(self, given):
        "States, their labels, and the way back."
        longest = self.config.max_depth
        walks = walk_ways(self.puzzle, given['lengths'], given['seed'], longest)
        states = canonical(self.puzzle, walks.states)
        labels = lowered(fingerprints(self.puzzle, states), longest)
        kept = without_test_states(self.puzzle, walks._replace(depths=labels), self.local_batch_size)
        policy = moves_back(self.puzzle, kept.states, kept.last_moves)
        return Batch(canonical(self.puzzle, kept.states), dict(value=kept.depths, policy=policy))


LEARNERS = {  # label -> learner, its settings
    'moves': (WalkLearner, WalksConfig(**COMMON, label='moves')),
    'chain': (WalkLearner, WalksConfig(**COMMON, label='depth')),
    'memory': (Memory, WalksConfig(**COMMON, label='depth')),
    'lowered': (Lowered, WalksConfig(**COMMON, label='moves')),
    'backup': (DaviLearner, DaviConfig(**COMMON, check_every=100, threshold=0.2)),
}


def network_of(label, seed):
    "Where a network is kept."
    return FOLDER / f'{label}-{seed}' / 'kept.safetensors'


def teach(learner, path, minutes, callbacks=()):
    "Train for some minutes of the processor, or go on, and keep the network; returns the log."
    log = train(learner, path.parent, budget=Budget(seconds=60 * minutes), callbacks=callbacks)
    keep_network(learner, log, path)
    print(path, log.iloc[[0, -1]].to_string(), flush=True)
    return log


def teach_labels(asked):
    "train for some minutes of the processor each, and keep the networks"
    for seed in asked.seed:
        for label in asked.label:
            path = network_of(label, seed)
            if not path.exists():
                kind, config = LEARNERS[label]
                teach(kind(config.model_copy(update=dict(seed=seed))), path, asked.minutes)


@cache
def evaluator_of(path):
    "What asks a network that was kept."
    return network_evaluator(load_network(path))


NEAR = 6  # moves of the table of exact distances


@cache
def ways():
    "Proven shortest ways of the league's cubes and held-out states near solved: uint8[n, S], int64[n] each."
    table, rng = states_near_solved(PUZZLE, NEAR), np.random.default_rng(0)
    layers = [table.layer(depth) for depth in range(1, NEAR + 1)]
    layers = [layer[is_test_state(PUZZLE, layer)] for layer in layers]
    near = [layer[rng.permutation(len(layer))[:1000]] for layer in layers]
    distances = [np.full(len(layer), depth) for depth, layer in enumerate(near, 1)]
    way = []
    for row in pd.read_csv('data/test/cube3_league.csv').itertuples():
        (state,), word = from_string(PUZZLE, row.state), parse(PUZZLE, row.solution)
        way += [PUZZLE.apply_word(state, word[:made]) for made in range(len(word) + 1)]
        distances.append(np.arange(len(word), -1, -1))
    return np.concatenate([*near, np.stack(way)]), np.concatenate(distances), sum(map(len, near))


@cache
def said(path):
    "The estimates of states on ways, and of all but the solved ones whether they are above the next one's."
    values = evaluator_of(path)(ways()[0]).values
    return values, np.append(values[:-1] > values[1:], False)


def calibration(path, distance):
    "What a network says of the states at one distance: columns of the table."
    values, above = said(path)
    _, distances, near = ways()
    here = distances == distance
    on_way = here & (np.arange(len(here)) >= near)
    about = dict(states=here.sum(), mean=values[here].mean(), std=values[here].std())
    order = spearmanr(values[near:], distances[near:]).statistic
    return about | dict(pairs=on_way.sum(), above_next=above[on_way].mean(), order=order)


def calibration_table(axes, network_of):
    "The table of all networks and distances. network_of: function of the axes -> path."

    def prepare(asked):
        "what each network says of states at known distances, and how often it tells the next of a way apart"

        def row_of(distance, **which):
            return calibration(network_of(**which), distance)

        return row_of

    columns = ' '.join(axes) + ' distance states mean std pairs above_next order'
    distances = dict(type=int, default=[*range(1, 25)])
    return Table(columns, axes | {'distance': distances}, prepare)


def played(asked):
    "what a beam of each network finds"
    search = get_solver('beam')

    def row_of(width, cube, label, seed):
        row = asked.cubes.loc[cube]
        evaluator, load, start = evaluator_of(network_of(label, seed)), os.getloadavg()[0], process_time()
        (found,) = search(PUZZLE, from_string(PUZZLE, row.state), evaluator, width=width)
        seconds = process_time() - start
        length = len(found) if found.solved else None
        assert not found.solved or length >= row.optimal_qtm
        known = dict(load=load, optimal=int(row.optimal_qtm), length=length)
        return known | dict(nodes=found.generated, seconds=round(seconds, 3))

    return row_of


def means_of(group):
    "Solved, moves above the shortest, and shortest, with 95 % intervals over the cubes of all seeds."
    return dict(solved=group.length.notna().mean()) | excess_columns(group)


AXES = {'label': dict(choices=LEARNERS, default=[*LEARNERS]), 'seed': dict(type=int, default=[0, 1, 2])}
TABLES = {
    'calibration': calibration_table(AXES, network_of),
    'beams': Table(
        columns='width cube label seed load optimal length nodes seconds',
        axes={'width': dict(type=int, default=[1 << 14, 1 << 16]), 'cube': {}} | AXES,
        prepare=played,
        summary=partial(by_group, keys=['width', 'label'], columns_of=means_of),
    ),
}


def add_training(parts, run, axes, minutes):
    "The command that trains."
    part = parts.add_parser('train', help=run.__doc__)
    part.set_defaults(run=run)
    for axis, given in axes.items():
        part.add_argument(f'--{axis}', nargs='+', **given)
    part.add_argument('--minutes', type=float, default=minutes, help='of the processor, for each network')


if __name__ == '__main__':
    run_commands(__doc__, TABLES, partial(add_training, run=teach_labels, axes=AXES, minutes=20.0))
