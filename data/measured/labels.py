"""What should a walk teach? The same walks, network, batch and seconds of the processor, and seven labels.

    export PYTHONPATH=.:benchmarks OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python data/measured/labels.py train --seed 0 [--label moves ...] [--minutes 20]
    python data/measured/labels.py trained --seed 0 --output data/measured/labels_trained.csv
    python data/measured/labels.py calibration --seed 0 --output data/measured/labels_calibration.csv
    python data/measured/labels.py beams --seed 0 --output data/measured/labels_beams.csv
        [--set own league] [--width 16384 65536] [--label ...]

With `--puzzle cube2` each of them is of the 2x2x2, where every distance is known (--minutes 1, --set own,
--width 16 64). `train` makes the networks that are not there yet, below runs/labels; a training that was
stopped goes on from its checkpoint. The others fill a table, a row at once, and a run that was stopped goes on. Each
seed can be made on a machine of its own: where the rows of a seed are there, its networks are not needed.
A label is chosen by the cubes `own`, at one width on the 3x3x3 (16384), and the choice is measured by those of
the `league` at both.

One thread for each process, and both variables: with the first alone, Numba gives torch the others back, and
on a machine with other work a second thread spins while it waits: up to fifty times the processor's seconds.

What a state of a walk is labelled with:

- `moves`: N, the moves of the walk so far;
- `chain`: E[d | N] by the article's chain of depths;
- `memory`: the same by the chain that knows whether the last move came from below;
- `lowered`: N, but at most one more than the label of a neighbour on the walk, and the least of equal states
  of the batch, until nothing changes;
- `backup`: one move more than the least estimate of the children, by an older network (value iteration);
- `images`: as by `memory`, with weights tied by the symmetries of the puzzle, so that a state teaches all of its
  48 images (not on the 2x2x2, whose labels have to be named);
- `harvested`: half of the states are those of walks, labelled by their distance where it is known, else as by
  `memory`; half are those of narrow beams by the network in training, labelled by one move more than the
  least of the children that the beam has made.

All see whole walks, and have a value head and a policy head. The policy's label is the way back, but for
`backup`, whose children make one, and for states of beams, whose best child does.
"""

import os
from functools import cache, partial
from itertools import product
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from kept_rows import by_group, excess_columns
from measured import Table, run_commands
from scipy.stats import spearmanr

from cube_nb.cube.keys import canonical, is_test_state
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.pieces import from_string, to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import complete_table, states_near_solved
from cube_nb.depth.exact import populations_of, shortest_solutions
from cube_nb.depth.markov import expected_depth
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Batch, Budget, keep_network, train
from cube_nb.learn.walks import (
    WalkLearner,
    WalksConfig,
    moves_back,
    training_walks,
    walk_ways,
    with_spare,
    without_test_states,
)
from cube_nb.measure.evaluate import bootstrap_interval, compare_seeds, test_states
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network, read_header
from cube_nb.search.beam import fingerprints
from cube_nb.search.core import get_solver

FOLDER = Path('runs/labels')
BODY = dict(encoding='piece_one_hot', blocks=1, heads=('value', 'policy'))
BODIES = {'cube3': BODY | dict(hidden=(512, 256)), 'cube2': BODY | dict(hidden=(128, 64))}
TIED_BODY = dict(hidden=(528, 240))  # groups of 48 units
LONGEST = {'cube3': 22, 'cube2': 14}  # moves of a walk: as of the network that ships, and the diameter
FARTHEST = {'cube3': 26, 'cube2': 14}  # moves from solved, of any state
NEAR = {'cube3': 6, 'cube2': 4}  # moves of the table of exact distances
COMMON = dict(
    every_state=True,
    batch_size=5000,
    iterations=10**6,  # never reached
    learning_rate=2e-3,
    final_learning_rate=1e-5,
    precision='bfloat16',
    log_every=100,
    checkpoint_every=200,
)


class Chain(WalkLearner):
    "Walks labelled by the article's chain."

    def __init__(self, config):
        super().__init__(config)
        moves = np.arange(config.max_depth + 2)
        known = expected_depth(moves, populations_of(self.puzzle), len(self.puzzle.generators))
        self.values = torch.from_numpy(known).float().to(self.device)


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


HARVEST_AFTER, HARVEST_EVERY = 500, 50  # steps; the first estimates would teach nothing
HARVEST = dict(beams=8, width=256)  # some 6,000 states in about a tenth of the seconds
KEPT = 16  # harvests that batches are drawn from


def known_distances(table, states, moves):
    """How far states after so many moves are from solved, int64[n]; -1 where it is not known.

    A move changes the parity of the distance. So a state beyond the table that so many moves have reached is
    as far as that, if they are at most two more than the table's.
    """
    distance = torch.from_numpy(table.distance(states.numpy()))
    return distance.where((distance >= 0) | (moves > len(table.ends) + 1), moves)


class Layer(NamedTuple):
    "States of a beam, and the moves that lead on."

    states: torch.Tensor  # uint8[n, S], canonical
    costs: torch.Tensor  # float32[n], distances where they are known, else estimates
    is_known: torch.Tensor  # bool[n]
    ways: tuple = ()  # int64[m] each: where a move begins, the move, where it ends in the layer after


def next_states(puzzle, states, scores, width, seen):
    "The states after the best moves, once each and none of those seen, their fingerprints, and the moves."
    best = scores.flatten().topk(min(width, scores.numel()), largest=False).indices
    parents, moves = best // scores.shape[1], puzzle.tensor('generators', 'cpu')[best % scores.shape[1]]
    children = canonical(puzzle, puzzle.apply(states[parents], moves))
    prints = fingerprints(puzzle, children)
    new = ~torch.isin(prints, seen)
    prints, places = prints[new].unique(return_inverse=True)
    one_each = torch.zeros_like(prints).scatter_(0, places, new.nonzero()[:, 0])
    return children[one_each], prints, (parents[new], moves[new], places)


def beam_layers(evaluator, state, width, table):
    "The layers of a beam from a state, until it touches the table or is as long as any shortest way."
    puzzle, farthest = table.puzzle, FARTHEST[table.puzzle.name]
    states, layers = canonical(puzzle, state[None]), []
    seen = fingerprints(puzzle, states)
    while len(states):
        values, advantages = evaluator(states)
        distance = torch.from_numpy(table.distance(states.numpy()))
        is_known = distance >= 0
        costs = values.clamp(len(table.ends), farthest).where(~is_known, distance)
        layers.append(Layer(states, costs, is_known))
        if is_known.any() or len(layers) > farthest:
            break
        scores = values[:, None] + advantages[:, puzzle.tensor('generators', 'cpu')]
        states, prints, ways = next_states(puzzle, states, scores, width, seen)
        layers[-1] = layers[-1]._replace(ways=ways)
        seen = torch.cat([seen, prints])
    return layers


def backed_up(layers):
    """Labels and best moves of all layers but the last, float32[n] and int64[n]; infinite without a child.

    A label is one more than the least cost of the children, and a child costs no more than a way to solved
    through it that the beam has found.
    """
    found, after = [], layers[-1]
    length = after.costs.where(after.is_known, torch.inf)  # of the ways found
    for layer in reversed(layers[:-1]):
        parents, moves, places = layer.ways
        nothing = torch.full((len(layer.states),), torch.inf)
        costs = after.costs.minimum(length)[places]
        least = nothing.scatter_reduce(0, parents, costs, 'amin')
        best = costs == least[parents]
        found.append((least + 1, parents.new_zeros(len(nothing)).scatter_(0, parents[best], moves[best])))
        length = nothing.scatter_reduce(0, parents, length[places], 'amin') + 1
        after = layer
    return found[::-1]


class Harvest(NamedTuple):
    "States of beams, none of them a test state, and what they teach."

    states: torch.Tensor  # uint8[n, S], canonical
    labels: torch.Tensor  # float32[n]
    moves: torch.Tensor  # int64[n], to the best child


def near_table(puzzle):
    "The states near solved whose distances are known in training."
    return states_near_solved(puzzle, NEAR[puzzle.name])


def harvest(puzzle, evaluator, beams, width, seed):
    "What beams teach that begin where random walks end."
    parts, table = [], near_table(puzzle)
    for state in training_walks(puzzle, beams, FARTHEST[puzzle.name], seed, power=1).states:
        layers = beam_layers(evaluator, state, width, table)
        parts += [(layer.states, *taught) for layer, taught in zip(layers, backed_up(layers))]
    found = Harvest(*map(torch.cat, zip(*parts)))
    kept = found.labels.isfinite() & ~is_test_state(puzzle, found.states)
    return Harvest(*(part[kept] for part in found))


class Harvested(WalkLearner):
    """Walks labelled by distances where they are known, else as by `memory`, and states of beams.

    Not `chain` beside them: it says up to 0.45 moves more, against labels that begin at known distances.
    What was harvested is in no checkpoint: a training that goes on has walks alone until the next harvest.
    """

    def __init__(self, config):
        super().__init__(config)
        self.harvests, self.harvested = [], None
        self.about = dict(harvested=0, distinct=np.nan, far=np.nan)

    def labelled(self, given):
        "States, their labels, and the moves that they teach."
        longest, seed = self.config.max_depth, given['seed']
        drawn = self.local_batch_size // 2 if self.harvested else 0
        count = self.local_batch_size - drawn
        walks = walk_ways(self.puzzle, given['lengths'][: -(-with_spare(count) // longest)], seed, longest)
        walks = without_test_states(self.puzzle, walks, count)
        states = canonical(self.puzzle, walks.states)
        known = known_distances(near_table(self.puzzle), states, walks.depths)
        labels = known.where(known >= 0, self.values[walks.depths])
        parts = [(states, labels, moves_back(self.puzzle, walks.states, walks.last_moves))]
        if self.harvested:
            generator = torch.Generator().manual_seed(int(seed))
            chosen = torch.randint(len(self.harvested.states), (drawn,), generator=generator)
            parts.append([part[chosen] for part in self.harvested])
        states, labels, moves = map(torch.cat, zip(*parts))
        return Batch(states, dict(value=labels, policy=moves))

    def after_step(self, done):
        "Harvest if it is time, and log how many states there are, the share of different and of far ones."
        if self.step >= HARVEST_AFTER and self.is_due(HARVEST_EVERY):
            evaluator = network_evaluator(self.network, 'cpu', self.dtype)
            newest = harvest(self.puzzle, evaluator, **HARVEST, seed=(self.config.seed << 32) + self.step)
            self.harvests = [*self.harvests, newest][-KEPT:]
            found = self.harvested = Harvest(*map(torch.cat, zip(*self.harvests)))
            distinct = len(fingerprints(self.puzzle, found.states).unique()) / len(found.states)
            far = (found.labels >= 12).float().mean().item()
            self.about = dict(harvested=len(found.states), distinct=distinct, far=far)
        return self.about


LEARNERS = {  # label -> learner, its settings beside those that all have
    'moves': (WalkLearner, WalksConfig, dict(label='moves')),
    'chain': (Chain, WalksConfig, dict(label='depth')),
    'memory': (WalkLearner, WalksConfig, dict(label='depth')),
    'images': (WalkLearner, WalksConfig, dict(label='depth', tied=True)),
    'lowered': (Lowered, WalksConfig, dict(label='moves')),
    # Of these bodies, 20 steps learn a new target to a loss of 0.05 at first, of 0.1 to 0.2 later: it is renewed
    # as soon as it is learnt, and is waited for where it is not. A hundred steps would waste most of them.
    'backup': (DaviLearner, DaviConfig, dict(check_every=20, threshold=0.2)),
    'harvested': (Harvested, WalksConfig, dict(label='depth')),
}


def learner_of(puzzle, label, seed, **others):
    "What trains a network, before its first step. others: settings that are others than here."
    kind, config, own = LEARNERS[label]
    network = BODIES[puzzle] | dict(puzzle=puzzle) | (TIED_BODY if 'tied' in own else {})
    return kind(config(**COMMON | own | dict(network=network, max_depth=LONGEST[puzzle], seed=seed) | others))


COUNT = 150  # cubes of each set that beams solve


def network_of(puzzle, label, seed):
    "Where a network is kept."
    return FOLDER / f'{puzzle}-{label}-{seed}' / 'kept.safetensors'


def teach(learner, path, minutes, callbacks=()):
    "Train for some minutes of the processor, or go on, and keep the network; returns the log."
    log = train(learner, path.parent, budget=Budget(seconds=60 * minutes), callbacks=callbacks)
    keep_network(learner, log, path)
    print(path, log.iloc[[0, -1]].to_string(), flush=True)
    return log


def teach_labels(asked):
    "train for some minutes of the processor each, and keep the networks"
    for which in product(asked.puzzle, asked.label, asked.seed):
        if not network_of(*which).exists():
            teach(learner_of(*which), network_of(*which), asked.minutes)


@cache
def cubes(puzzle, name):
    "Proven cubes: `own` are walks of 26 moves that no test has, or states of the 2x2x2, `league` random states."
    if puzzle == 'cube2':
        table = complete_table(get_puzzle(puzzle))
        states = test_states(table.puzzle, COUNT, seed=20261130)
        words = shortest_solutions(table, states, len(table.ends) - 1)
        solutions = [format_word(table.puzzle, word) for word in words]
        known = dict(state=to_string(table.puzzle, states), optimal_qtm=table.distance(states))
        return pd.DataFrame(known | dict(solution=solutions))
    if name == 'league':
        return pd.read_csv('data/test/cube3_league.csv')
    return pd.read_csv('data/measured/own_cubes.csv')


@cache
def evaluator_of(path):
    "What asks a network that was kept."
    return network_evaluator(load_network(path))


@cache
def ways(puzzle):
    """Held-out states near solved and those on proven ways of the league's cubes: uint8[n, S], int64[n], number.

    Of the 2x2x2 the first are of all distances, and the ways are those of its cubes. The solved state at the
    end of a way is left out: a search knows it, and no training has to.
    """
    table = complete_table(puzzle) if puzzle.name == 'cube2' else near_table(puzzle)
    rng = np.random.default_rng(0)
    layers = [table.layer(depth) for depth in range(1, len(table.ends))]
    layers = [layer[is_test_state(puzzle, layer)] for layer in layers]
    near = [layer[rng.permutation(len(layer))[:1000]] for layer in layers]
    distances = [np.full(len(layer), depth) for depth, layer in enumerate(near, 1)]
    way = []
    for row in cubes(puzzle.name, 'league').itertuples():
        (state,), word = from_string(puzzle, row.state), parse(puzzle, row.solution)
        way += [puzzle.apply_word(state, word[:made]) for made in range(len(word))]
        distances.append(np.arange(len(word), 0, -1))
    return np.concatenate([*near, np.stack(way)]), np.concatenate(distances), sum(map(len, near))


@cache
def said(path):
    "A row for each of these states, and the rank correlation of estimates and distances along the ways."
    states, distances, near = ways(load_network(path).puzzle)
    rows = pd.DataFrame(dict(distance=distances, value=evaluator_of(path)(states).values))
    has_next = rows.distance == rows.distance.shift(-1) + 1
    rows['above_next'] = (rows.value > rows.value.shift(-1)).where(has_next)
    return rows, spearmanr(*rows[near:][['value', 'distance']].to_numpy().T).statistic


def calibration(path, distance):
    "What a network says of the states at one distance: columns of the table."
    rows, order = said(path)
    here = rows[rows.distance == distance]
    pairs = here.above_next.dropna().astype(float)
    about = dict(states=len(here), mean=here.value.mean(), std=here.value.std())
    return about | dict(pairs=len(pairs), above_next=pairs.mean(), order=order)


def calibration_table(axes, network_of):
    "The table of all networks and distances. network_of: function of the axes -> path."

    def prepare(asked):
        "what each network says of states at known distances, and how often it tells the next of a way apart"

        def row_of(distance, **which):
            return calibration(network_of(**which), distance)

        return row_of

    columns = ' '.join(axes) + ' distance states mean std pairs above_next order'
    distances = dict(type=int, default=[*range(1, 23)])  # of the league's cubes; 14 for the 2x2x2
    return Table(columns, axes | {'distance': distances}, prepare)


def trained(asked):
    "what each training came to"

    def row_of(puzzle, label, seed):
        about = read_header(network_of(puzzle, label, seed))['about']
        return {column: about[column] for column in ('states_seen', 'loss', 'seconds')}

    return row_of


SEARCH = {'cube3': {}, 'cube2': {'radius': 0}}  # a table near solved would be half of the 2x2x2


def played(asked):
    "what a beam of each network finds"
    search = get_solver('beam')

    def row_of(set, width, puzzle, label, seed, number):
        row, evaluator = cubes(puzzle, set).loc[number], evaluator_of(network_of(puzzle, label, seed))
        state = from_string(get_puzzle(puzzle), row.state)
        load, start = os.getloadavg()[0], process_time()
        (found,) = search(get_puzzle(puzzle), state, evaluator, width=width, **SEARCH[puzzle])
        seconds = process_time() - start
        length = len(found) if found.solved else None
        assert not found.solved or length >= row.optimal_qtm
        known = dict(load=load, optimal=int(row.optimal_qtm), length=length)
        return known | dict(nodes=found.generated, seconds=round(seconds, 3))

    return row_of


BASE = 'chain'  # the article's


def means_of(group):
    "Solved, moves above the shortest, and shortest, with 95 % intervals over the cubes of all seeds."
    return dict(solved=group.length.notna().mean()) | excess_columns(group)


def against_base(rows):
    "The excess less that of `BASE`, over cubes that both solve: intervals over seeds, and over cubes."
    found, rows = [], rows.assign(excess=rows.length - rows.optimal)
    for (puzzle, name, width), part in rows.groupby(['puzzle', 'set', 'width']):
        excess = part.pivot(index=['seed', 'number'], columns='label', values='excess')
        excess = excess.reindex(columns=[*LEARNERS])
        less = excess.sub(excess[BASE], axis=0).drop(columns=BASE).dropna(axis=1, how='all')
        by_seed, by_cube = (less.groupby(level).mean() for level in ('seed', 'number'))
        about = compare_seeds(by_seed).drop(columns=['p_value', 'told_apart']).rename_axis('label')
        ends = [bootstrap_interval(by_cube[each].dropna()) for each in less]
        about['cubes_low'], about['cubes_high'] = np.reshape(ends, (-1, 2)).T
        found.append(about.reset_index().assign(puzzle=puzzle, set=name, width=width))
    return pd.concat(found)


def summary(rows):
    "A row for each set, width and label."
    keys = ['puzzle', 'set', 'width', 'label']
    return by_group(rows, keys, means_of).merge(against_base(rows), how='left', on=keys)


AXES = {
    'puzzle': dict(choices=BODIES, default=['cube3']),
    'label': dict(choices=LEARNERS, default=[*LEARNERS]),
    'seed': dict(type=int, default=[0, 1, 2]),
}
TABLES = {
    'trained': Table('puzzle label seed states_seen loss seconds', AXES, trained),
    'calibration': calibration_table(AXES, network_of),
    'beams': Table(
        columns='set width puzzle label seed number load optimal length nodes seconds',
        axes={
            'set': dict(choices=['own', 'league'], default=['own', 'league']),
            'width': dict(type=int, default=[1 << 14, 1 << 16]),
            **AXES,
            'number': dict(type=int, default=[*range(COUNT)], help='of the cubes of the set'),
        },
        prepare=played,
        summary=summary,
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
