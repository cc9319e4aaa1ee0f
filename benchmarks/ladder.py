"""What would make the solutions of the anytime search shorter? One change at a time, the same seconds.

    python benchmarks/ladder.py CUBES.csv [--output ladder.csv] [--only plain --only int8] [--seconds 10] [--count 150]
        [--network taught=FILE.safetensors]

The file of cubes has the columns `scramble` and `optimal_qtm`. Each cube is given to every variant before the next cube
comes, so that a moment in which the machine is busy strikes all of them. The variants are those of `VARIANTS`, and one for
each other network. None of them is part of the library: what does not win has no place there. A row is written at once, and
a run that was stopped goes on where it was. At the end there is a summary: means, and differences to `plain` cube by cube.
"""

from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from unittest.mock import patch

import numpy as np
import torch
from kept_rows import by_group, excess_columns, fill, mean_columns, new_parser, show
from lengths import search_of

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.evaluator import Evaluation, evaluate_view
from cube_nb.nets import networks as nets
from cube_nb.nets.networks import for_inference
from cube_nb.nets.weights import load_network
from cube_nb.search import anytime, beam
from cube_nb.exact.dual import beam_finisher, coset_bound
from cube_nb.solving import default_model, load_evaluator

SIZE = 'medium'  # of the coset table
NETWORK, LARGER = default_model('cube3', 'anytime'), 'data/weights/cube3-walks-large.safetensors'
COLUMNS = ['cube', 'variant', 'limit', 'load', 'optimal', 'length', 'seconds', 'nodes', 'solution']
PUZZLE = get_puzzle('cube3')


BEAM_PASS, NEXT_LAYER, SCORE_CHILDREN = beam.beam_pass, beam.next_layer, beam.score_children  # the library's


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
        with patch.object(anytime, 'beam_pass', self.beam_pass), patch.object(beam, name, function):
            yield


@contextmanager
def plain(network=NETWORK):
    "The search of the library, with its network or another."
    yield load_evaluator('cube3', network)


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
    "The places of parents with a child whose score is close to the last that is kept; none where all are kept."
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
    "A copy for evaluation whose products are those of whole numbers of eight bits; inputs are scaled batch by batch."
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


VARIANTS = {each.__name__: each for each in (plain, two_networks, close_views, wide_first, int8, bounds)}


def means_of(group, by_plain):
    "Mean excess and share of shortest solutions of a variant, and what it gains cube by cube; 95 % intervals."
    gain = group.set_index(['limit', 'cube']).length.rsub(by_plain).dropna()
    return dict(load=group.load.mean()) | excess_columns(group) | mean_columns('gain', gain)


def main():
    "Run what is missing, and print the summary."
    parser = new_parser(__doc__, 'ladder.csv', cubes=True)
    parser.add_argument('--only', action='append', choices=VARIANTS, help='by default all')
    parser.add_argument('--network', action='append', default=[], metavar='NAME=FILE', help='one more')
    parser.add_argument('--seconds', type=float, default=10.0, help='the limit')
    options = parser.parse_args()
    variants = {name: VARIANTS[name] for name in options.only or VARIANTS}
    for text in options.network:
        name, _, path = text.partition('=')
        variants[name] = partial(plain, path)
    cubes = options.cubes[: options.count]
    finisher = beam_finisher(PUZZLE, SIZE)

    def row_of(cube, variant, limit):
        "One search."
        with variants[variant]() as evaluator:
            return search_of(cubes.loc[cube], evaluator, finisher, limit)

    for variant in variants:
        row_of(cubes.index[0], variant, 10.0)  # kernels are compiled
    order = product(cubes.index, variants)
    cases = [dict(cube=cube, variant=variant, limit=options.seconds) for cube, variant in order]
    table = fill(options.output, COLUMNS, cases, row_of)
    by_plain = table[table.variant == 'plain'].set_index(['limit', 'cube']).length
    show(by_group(table, ['limit', 'variant'], partial(means_of, by_plain=by_plain)))


if __name__ == '__main__':
    main()
