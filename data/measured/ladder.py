"""What would make the solutions of the anytime search shorter? One change at a time, the same seconds.

    export PYTHONPATH=.:benchmarks
    python data/measured/ladder.py label [--minutes 60] [--size large] [--seed 0]
    python data/measured/ladder.py train walks|larger|exact [--minutes 60]
    python data/measured/ladder.py ladder data/test/cube3_qtm_optimal.csv --count 100 [--variant plain int8]
        [--limit 2]

The last command made ladder.csv. Each cube is given to every variant before the next cube comes, so that a
moment in which the machine is busy strikes all of them. The variants are those of `VARIANTS`: none of them is
part of the library, for what does not win has no place there. A row is written at once, and a run that was
stopped goes on where it was. At the end there is a summary: means, and differences to `plain` cube by cube.

Three variants are networks that `train` made, each with one teacher. All go on from the network that ships,
with the same learning rates and the same seconds of the processor: from random walks as before (`walks`:
longer training), from random walks labelled by the larger network (`larger`: distillation), and from random
walks with a tenth of states at proven distances (`exact`). `label` makes these: random walks of 12 to 18
quarter turns, each with a proven shortest solution, and of each all states along it that are more than seven
moves away. None of them is a test state. A training that was stopped goes on from its checkpoint; the labels
so far are kept after every thousand walks.
"""

from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
import torch
from kept_rows import by_group, excess_columns, mean_columns
from measured import PUZZLE, CountingProver, Table, run_commands, search_of
from safetensors.numpy import load_file, save_file
from tqdm.auto import tqdm

from cube_nb.cube.keys import canonical, is_test_state
from cube_nb.depth.evaluator import Evaluation, advantages_to_policy, evaluate_view
from cube_nb.exact.dual import coset_bound
from cube_nb.exact.prover import coset_prover
from cube_nb.learn.loop import Budget, describe, read_config, train
from cube_nb.learn.walks import WalkLearner, WalksConfig
from cube_nb.nets import networks as nets
from cube_nb.nets.networks import for_inference
from cube_nb.nets.weights import load_network, save_network
from cube_nb.search import beam, improve
from cube_nb.search.core import get_solver
from cube_nb.solving import default_model, load_evaluator

SIZE = 'medium'  # of the coset table
NETWORK, LARGER = default_model('cube3', 'improve'), 'data/weights/cube3-walks-large.safetensors'
TAUGHT, LABELS = Path('runs/taught'), Path('runs/taught/exact-labels.safetensors')

BEAM_PASS, NEXT_LAYER, SCORE_CHILDREN = beam.beam_pass, beam.next_layer, beam.score_children  # the library's

# --- searches that differ in one thing ----------------------------------------------------------------------


class Watched:
    "Where the beam is that is being searched."

    width = 0
    longest = None  # moves of a solution that would be a gain; None: any solution is
    layers = 0  # after the first

    def beam_pass(self, puzzle, state, evaluator, width, table, limits, finisher, costs):
        "A pass that says where it is."
        self.width, self.layers = width, 0
        self.longest = None if finisher is None else limits.length
        return BEAM_PASS(puzzle, state, evaluator, width, table, limits, finisher, costs)

    @contextmanager
    def instead(self, name, function):
        "A function of the beam replaced."
        with patch.object(improve, 'beam_pass', self.beam_pass), patch.object(beam, name, function):
            yield


@contextmanager
def plain(network=NETWORK):
    "The search of the library, with its network or another."
    yield load_evaluator('cube3', str(network))


def mean_of(evaluators):
    "The mean of what several say."

    def evaluate(states):
        said = [evaluator(states) for evaluator in evaluators]
        parts = [None if parts[0] is None else sum(parts) / len(parts) for parts in zip(*said)]
        return Evaluation(*parts)

    evaluate.device = evaluators[0].device
    return evaluate


@contextmanager
def two_networks():
    "The mean of two networks, the shipped one and the larger one."
    yield mean_of([load_evaluator('cube3', name) for name in (NETWORK, LARGER)])


CLOSE = 0.1  # share of the scores on either side of the worst that is kept


def parents_at_the_edge(scores, width):
    "The places of parents with a child whose score is close to the last one kept; none where all are kept."
    flat = scores.flatten()
    if flat.numel() <= width:
        return torch.empty(0, dtype=torch.int64)
    low, high = (max(1, min(flat.numel(), round(width * (1 + side * CLOSE)))) for side in (-1, 1))
    least, most = flat.kthvalue(low).values, flat.kthvalue(high).values
    return ((scores >= least) & (scores <= most)).any(1).nonzero()[:, 0]


@contextmanager
def close_views():
    "A second view, under another symmetry, of the states whose children are close to the edge of the beam."
    now = Watched()
    evaluator = load_evaluator('cube3', NETWORK)
    symmetry = len(PUZZLE.symmetries) - 1

    def score_children(puzzle, layer, evaluator, costs=None):
        scores = SCORE_CHILDREN(puzzle, layer, evaluator, costs)
        places = parents_at_the_edge(scores, now.width)
        if len(places):
            seen = evaluate_view(puzzle, evaluator, symmetry, layer.states[places].numpy())
            advantages = torch.as_tensor(seen.advantages)[:, puzzle.tensor('generators', 'cpu')]
            again = layer.scores[places][:, None] + advantages
            scores[places] = (scores[places] + again) / 2
        return scores

    with now.instead('score_children', score_children):
        yield evaluator


FIRST_LAYERS, WIDER = 6, 4  # of so many moves, so many times as wide


@contextmanager
def wide_first():
    "First layers that are wider than the others, from either end."
    now = Watched()

    def next_layer(puzzle, layer, scores, width, seen, near=None):
        now.layers += 1
        wider = width * WIDER if now.layers <= FIRST_LAYERS else width
        return NEXT_LAYER(puzzle, layer, scores, wider, seen, near)

    with now.instead('next_layer', next_layer):
        yield load_evaluator('cube3', NETWORK)


def in_whole_numbers(network, dtype):
    "A copy for evaluation whose products are of whole numbers of eight bits; inputs are scaled by batch."
    network = for_inference(network, torch.float32)
    torch.backends.quantized.engine = 'x86'
    network.body = torch.ao.quantization.quantize_dynamic(network.body, {torch.nn.Linear}, torch.qint8)
    return network


@cache
def int8_evaluator():
    "The shipped network in whole numbers."
    with patch.object(nets, 'for_inference', in_whole_numbers):
        return nets.network_evaluator(load_network(NETWORK))


@contextmanager
def int8():
    "Products of whole numbers of eight bits."
    yield int8_evaluator()


@contextmanager
def bounds():
    "States left out of a layer that the table shows to be too far for a gain."
    now = Watched()
    lower = coset_bound(PUZZLE, SIZE)

    def next_layer(puzzle, layer, scores, width, seen, near=None):
        found = NEXT_LAYER(puzzle, layer, scores, width, seen, near)
        now.layers += 1
        if now.longest is None or not len(found.states):
            return found
        left = now.longest - now.layers
        if left > lower.tables.base + 3:  # more than an entry can say
            return found
        keep = torch.from_numpy(np.flatnonzero(lower(found.states.numpy()).max(1) <= left))
        parts = [part[keep] for part in found[:5]]
        return beam.BeamLayer(*parts, found.touches)

    with now.instead('next_layer', next_layer):
        yield load_evaluator('cube3', NETWORK)


# --- teachers -----------------------------------------------------------------------------------------------

CONFIG = 'workflow/configs/walks-cube3.yaml'
CHANGES = [f'start={NETWORK}', 'seed=3', 'cycles=1', 'learning_rate=0.0005', 'final_learning_rate=0.00001']
LENGTHS = range(12, 19)  # of the walks
KEPT_AFTER = 1000  # walks: half a minute, and each writing takes them all
FARTHEST_NEAR = 7  # moves: what is nearer needs no label
EXACT_SHARE = 10  # one state of so many has a proven distance


def states_behind(walk, symmetry, size):
    "States of a proven shortest solution: uint8[n, S], distances int[n], and the move of each on its way."
    state = PUZZLE.symmetric(PUZZLE.apply_word(PUZZLE.solved, walk)[None], symmetry)[0]
    network, prover = load_evaluator('cube3', NETWORK), coset_prover(PUZZLE, size)
    (proven,) = get_solver('improve')(PUZZLE, state[None], network, prover, time_limit=np.inf)
    assert proven.optimal
    states = [PUZZLE.apply_word(state, proven.moves[:i]) for i in range(len(proven))]
    distances = np.arange(len(proven), 0, -1)
    far = distances > FARTHEST_NEAR
    return np.array(states)[far], distances[far], np.array(proven.moves)[far]


def label(asked):
    "prove random walks while there is time, and write what is known of the states on their ways"
    rng = np.random.default_rng(asked.seed)
    found = []
    began = process_time()
    with tqdm(total=round(60 * asked.minutes), unit='s') as bar:
        while process_time() - began < 60 * asked.minutes:
            length = int(rng.choice(LENGTHS))
            walk = PUZZLE.scramble(1, length, seed=int(rng.integers(2**32))).moves[0, :length]
            found.append(states_behind(walk, int(rng.integers(len(PUZZLE.symmetries))), asked.size))
            bar.n = min(bar.total, round(process_time() - began))
            bar.set_postfix_str(f'{len(found):,} walks')
            if not len(found) % KEPT_AFTER:
                write_labels(found)
    write_labels(found)


def write_labels(found):
    "All labels so far, without test states."
    states, distances, moves = (np.concatenate(parts) for parts in zip(*found))
    kept = ~is_test_state(PUZZLE, states)
    LABELS.parent.mkdir(parents=True, exist_ok=True)
    part = LABELS.with_name(LABELS.name + '.partial')
    save_file(dict(states=states[kept], distances=distances[kept], moves=moves[kept]), part)
    part.replace(LABELS)


class Distilled(WalkLearner):
    "Random walks with the labels of a larger network."

    def batch(self, step):
        "What the larger network says."
        found = super().batch(step)
        said = load_evaluator('cube3', LARGER)(found.states.numpy())
        policy = advantages_to_policy(said.advantages, self.puzzle.temperature)
        targets = dict(value=torch.from_numpy(said.values), policy=torch.from_numpy(policy))
        return found._replace(targets=found.targets | targets)


class Exact(WalkLearner):
    "Random walks, with some states at proven distances among them."

    def batch(self, step):
        "A tenth of the batch is exchanged."
        found = super().batch(step)
        rng = np.random.default_rng((self.config.seed, step))
        number = len(found.states) // EXACT_SHARE
        chosen = rng.integers(len(self.exact['states']), size=number)
        symmetry = int(rng.integers(len(self.puzzle.symmetries)))
        states = self.puzzle.symmetric(self.exact['states'][chosen], symmetry)
        found.states[:number] = torch.from_numpy(canonical(self.puzzle, states))
        moves = self.puzzle.symmetric_moves[symmetry][self.exact['moves'][chosen]]
        found.targets['policy'][:number] = torch.from_numpy(moves)
        found.targets['value'][:number] = torch.from_numpy(self.exact['distances'][chosen]).float()
        return found


LEARNERS = dict(walks=WalkLearner, larger=Distilled, exact=Exact)


def network_of(teacher):
    "Where the network of a teacher is kept."
    return TAUGHT / teacher / f'{teacher}.safetensors'


def teach(asked):
    "train for some minutes of the processor, and keep the network"
    learner = LEARNERS[asked.teacher](read_config(WalksConfig, CONFIG, CHANGES))
    if asked.teacher == 'exact':
        learner.exact = load_file(LABELS)
    log = train(learner, TAUGHT / asked.teacher, budget=Budget(seconds=60 * asked.minutes))
    print(log.iloc[[0, -1]].to_string())
    print(save_network(learner.network, network_of(asked.teacher), describe(learner, log)))


# --- the commands -------------------------------------------------------------------------------------------

VARIANTS = {each.__name__: each for each in (plain, two_networks, close_views, wide_first, int8, bounds)}
VARIANTS |= {teacher: partial(plain, network_of(teacher)) for teacher in LEARNERS}


def searches(asked):
    "searches that differ in one thing, in turn"
    prover = CountingProver(coset_bound(PUZZLE, SIZE))

    def row_of(cube, variant, limit):
        "One search."
        with VARIANTS[variant]() as evaluator:
            found = search_of(PUZZLE, asked.cubes.loc[cube], evaluator, prover, limit)
        columns = {name: found[name] for name in ('load', 'optimal', 'length', 'nodes', 'solution')}
        return columns | dict(seconds=found['found_seconds'])

    for variant in asked.variant:
        row_of(asked.cube[0], variant, 10.0)  # kernels are compiled
    return row_of


def means_of(group, by_plain):
    "Mean excess and share of shortest solutions of a variant, and its gain cube by cube; 95 % intervals."
    gain = group.set_index(['limit', 'cube']).length.rsub(by_plain).dropna()
    return dict(load=group.load.mean()) | excess_columns(group) | mean_columns('gain', gain)


def summary(table):
    "Means, and differences to `plain`."
    by_plain = table[table.variant == 'plain'].set_index(['limit', 'cube']).length
    return by_group(table, ['limit', 'variant'], partial(means_of, by_plain=by_plain))


LADDER = Table(
    columns='cube variant limit load optimal length seconds nodes solution',
    axes={
        'cube': {},
        'variant': dict(choices=VARIANTS, default=[*VARIANTS]),
        'limit': dict(type=float, default=[2.0], help='seconds'),
    },
    prepare=searches,
    summary=summary,
)


def add_teaching(parts):
    "The commands that label and train."
    for name, function in (('label', label), ('train', teach)):
        part = parts.add_parser(name, help=function.__doc__)
        part.set_defaults(run=function)
        part.add_argument('--minutes', type=float, default=60.0, help='of the processor')
        if name == 'train':
            part.add_argument('teacher', choices=LEARNERS)
        else:
            part.add_argument('--size', default='large', help='of the coset table')
            part.add_argument('--seed', type=int, default=0)


if __name__ == '__main__':
    run_commands(__doc__, {'ladder': LADDER}, add_teaching)
