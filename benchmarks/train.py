"""Deep approximate value iteration on the 3x3x3: training states a second, how near the processor's peak, and the network's share of the time.

    python benchmarks/train.py [--steps 20] [--set network.hidden=[5000,1000] --set batch_size=10000 ...]

Steps of training on the device and in the precision of the configuration, after three to warm up. For one state the target network sees every child and the network in training
the state itself, forward and backward; operations are counted as they are used (`step_operations`): the target's first layer as a sum of rows, that of training as the product it is.
Peak is the best rate of a large matrix product in the same precision, on the same threads or the same GPU. Of three steps more, torch's profiler says how much of the time
the device (the processor where there is no GPU) worked on what is no network: walks, children, goal tests, encodings. On a GPU this leaves out the walks, which the processor makes.
"""

import argparse
from contextlib import ExitStack
from unittest.mock import patch

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

from cube_nb.cube.puzzle import Puzzle
from cube_nb.learn.davi import DaviLearner, DaviConfig
from cube_nb.learn.loop import read_config
from cube_nb.nets.networks import Network
from products import operations, peak, seconds, synchronise


def step_operations(learner):
    "Multiplications and additions for one training state: (target network on all children, forward and backward of the network in training)."
    first, *others = [
        2 * m.weight.numel() for m in learner.network.modules() if isinstance(m, torch.nn.Linear)
    ]
    return operations(learner.target.network) * len(learner.puzzle.generators), 2 * first + 3 * sum(
        others
    )  # the first layer passes no gradient on


def marked(function):
    def call(*args):
        with record_function('no network'):
            return function(*args)

    return call


def profiled(learner, steps):
    "Seconds a step of all work on the device (the processor where there is no GPU), and of that which is no network."
    cuda = learner.device.type == 'cuda'
    parts = [
        (DaviLearner, 'walks'),
        (Puzzle, 'neighbours'),
        (Puzzle, 'is_solved'),
        (Network, 'encode_states'),
    ]
    with ExitStack() as stack:
        for owner, name in parts:
            stack.enter_context(patch.object(owner, name, marked(getattr(owner, name))))
        record = stack.enter_context(
            profile(
                activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] if cuda else [ProfilerActivity.CPU]
            )
        )
        with record_function('all'):
            for _ in range(steps):
                step(learner)
            synchronise(learner.device)
    ran, launched = (
        [e for e in record.key_averages() if e.device_type == kind]
        for kind in (DeviceType.CUDA, DeviceType.CPU)
    )
    times = {e.key: e.device_time_total if cuda else e.cpu_time_total for e in launched}
    everything = (
        sum(e.self_device_time_total for e in ran if not e.is_user_annotation) if cuda else times['all']
    )
    return everything / 1e6 / steps, times['no network'] / 1e6 / steps


def step(learner):
    learner.after_step(learner.take_step())


def main(steps, settings):
    learner = DaviLearner(read_config(DaviConfig, None, settings))
    for _ in range(3):
        step(learner)
    each = seconds(learner.device, lambda: [step(learner) for _ in range(steps)]) / steps
    states, (target, training) = learner.config.batch_size / each, step_operations(learner)
    rate, top = (target + training) * states, peak(learner.device, learner.dtype)
    everything, other = profiled(learner, steps=3)
    name = (
        torch.cuda.get_device_name(learner.device)
        if learner.device.type == 'cuda'
        else f'{torch.get_num_threads()} threads'
    )
    print(
        f'{name}, {str(learner.dtype).removeprefix("torch.")}, hidden {list(learner.config.network.hidden)}, {learner.config.network.blocks} blocks, batch {learner.config.batch_size:,}: {states:,.0f} states/s, {each * 1e3:,.1f} ms a step'
    )
    print(
        f'{(target + training) / 1e6:,.2f} million operations a state, {target / (target + training):.0%} of them in the target network'
    )
    print(f'{rate / 1e9:,.0f} GFLOP/s of {top / 1e9:,.0f} in a large product: {rate / top:.0%} of the peak')
    print(
        f'profile: network {everything - other:.4f} s of {everything:.4f} s a step ({1 - other / everything:.0%})'
    )


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--steps', type=int, default=20)
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        dest='settings',
        metavar='KEY=VALUE',
        help='of the configuration, e.g. network.blocks=2; may be repeated',
    )
    main(**vars(parser.parse_args()))
