"""Beam search of the 3x3x3 with the shipped network: nodes a second, where the time goes, and how near the processor's peak the network is.

    python benchmarks/beam.py [--width 65536] [--cubes 3] [--model cube3-walks]

One pass from each of a few random cubes, after one to warm up. `network` is the time inside the evaluator; the rest is selecting, making and comparing states and
asking the table of near states. Peak is the best rate of a large bfloat16 matrix product on the same threads; the network's rate counts the products of its layers as
they are used, the first layer as the sum of rows that it is.
"""

import argparse
import resource
from time import perf_counter

import numpy as np
import torch

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.nets.networks import for_inference, network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.core import get_solver
from products import operations, peak


class Timed:
    "An evaluator that notes how long it takes."

    def __init__(self, evaluator):
        self.evaluator, self.device, self.seconds, self.states = evaluator, evaluator.device, 0.0, 0

    def __call__(self, states):
        start = perf_counter()
        answer = self.evaluator(states)
        self.seconds, self.states = self.seconds + perf_counter() - start, self.states + len(states)
        return answer


def main(width, cubes, model):
    puzzle, network = get_puzzle('cube3'), load_network(model)
    timed = Timed(network_evaluator(network, 'cpu'))
    states = puzzle.scramble(cubes + 1, 100, seed=0).states
    beam = get_solver('beam')
    beam(puzzle, states[:1], timed, width=width)
    timed.seconds = timed.states = 0
    start = perf_counter()
    answers = beam(puzzle, states[1:], timed, width=width)
    seconds = perf_counter() - start
    rate, top = operations(for_inference(network)) * timed.states / timed.seconds, peak()
    print(
        f'{torch.get_num_threads()} threads, width {width:,}, {cubes} cubes, mean length {np.mean([len(a) for a in answers]):.2f}'
    )
    print(
        f'{sum(a.generated for a in answers) / seconds:,.0f} nodes/s, {timed.states / seconds:,.0f} states evaluated a second, {seconds / cubes:.2f} s a cube'
    )
    print(
        f'network: {timed.seconds / seconds:.0%} of the time, {rate / 1e9:,.0f} GFLOP/s of {top / 1e9:,.0f} in a large product ({rate / top:.0%})'
    )
    print(f'peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--width', type=int, default=1 << 16)
    parser.add_argument('--cubes', type=int, default=3)
    parser.add_argument('--model', default='cube3-walks')
    main(**vars(parser.parse_args()))
