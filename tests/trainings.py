"Short trainings for tests, processes that end in the middle of one, and command lines that train."

import json

import pytest
import torch

from cube_nb.cli import main
from cube_nb.learn.loop import get_method, read_config, train

TINY = [  # a training of seconds
    'network.puzzle=cube2', 'network.hidden=[32, 16]', 'network.blocks=0', 'iterations=60', 'batch_size=64',
    'device=cpu',
]  # fmt: skip
TIMED = ['seconds', 'states_per_second', 'simulations_per_second']  # columns of a log that are never the same


def learner_of(method, settings):
    "A learner with settings as on a command line."
    found = get_method(method)
    return found.learner(read_config(found.config, None, settings))


def small_learner(method, *settings):
    "A method's short run on the 2x2x2, on the processor, with some settings changed."
    small = get_method(method).small_config('cube2').model_dump(mode='json', exclude_unset=True)
    given = [f'{key}={json.dumps(value)}' for key, value in small.items()]
    return learner_of(method, [*given, 'device=cpu', *settings])


GROWTH = {'growth': True, 'check_every': 2, 'threshold': 100}
BOTH = {'network.heads': ('value', 'policy')}
HEADS = {'network.heads': ('value', 'distribution', 'policy', 'moves'), 'network.head_hidden': 16}
REPLAY = {'buffer': 500, 'prioritised': True, 'weights': 'adaptive', 'entropy': 0.1, 'refresh': 2}
STAGES = {'stages': ((1, 4, -9, 5, 1, 0.1), (2, 6, 0, 100, 0.5, 0.1)), 'decay_steps': 2}
SWITCHES = ['double', 'prioritised', 'symmetric', 'hindsight', 'pessimistic', 'mixed', 'stop_early']
SWITCHES = dict.fromkeys(SWITCHES, True) | {'n_step': 3, 'loss': 'huber', 'network.heads': ('moves', 'mean')}
SWITCHES |= {'warmup': 3}
GAMES = {'simulations': {1: 3}, 'max_moves': 2}
PICTURES = {'network.encoding': 'picture', 'network.convolutions': ((4, 8, 4),)}
PICTURES |= {'batch_size': 16, 'episodes': 8, 'warmup': 3}
# Self-play by the rules of the published program
AS_PUBLISHED = ['network.canonical=false', 'held=true', 'mask_by=faces', 'merge=false', 'reuse=false']
AS_PUBLISHED += ['unvisited=draw', 'price_in_tree=false', 'noise=0']
TRAININGS = {  # name -> method, settings, copies and waits of a step at most
    'walks': ('walks', {}, (2, 0)), 'walks, all heads': ('walks', HEADS, (3, 0)),
    'walks, all states': ('walks', {'every_state': True}, (2, 0)),
    'walks on pieces': ('walks', {'network.canonical': False, **BOTH}, (2, 0)), 'davi': ('davi', {}, (1, 0)),
    'davi, all states': ('davi', {'every_state': True, **BOTH}, (1, 0)),
    'davi with a policy': ('davi', {**GROWTH, **BOTH}, (1, 0)),
    'davi on pieces': ('davi', {'network.encoding': 'piece_one_hot', 'network.canonical': False}, (1, 0)),
    'adi': ('adi', {}, (2, 0)), 'adi with all switches': ('adi', REPLAY, (3, 1)),
    'alphazero': ('alphazero', GAMES, (3, 0)),
    'alphazero with a yardstick': ('alphazero', {**GAMES, 'yardstick': 3, 'target': 'search'}, (3, 0)),
    'dqn': ('dqn', STAGES, (0, 0)), 'dqn with all switches': ('dqn', SWITCHES, (0, 0)),
    'dqn with pictures': ('dqn', PICTURES, (0, 0)),
}  # fmt: skip


def learner_on(name, device, precision='float32', **more):
    "One of these on a device, a short training on the 2x2x2."
    method, settings, _ = TRAININGS[name]
    words = [f'{key}={json.dumps(value)}' for key, value in (settings | more).items()]
    return small_learner(method, 'iterations=12', f'device={device}', f'precision={precision}', *words)


class Interrupted(Exception):
    "Stands for the end of a process."


def train_until(learner, step, folder):
    "Train in a folder until the process ends in the middle of a step. Returns the path of the checkpoint."
    after_step = learner.after_step

    def stop(done):
        if learner.step == step:
            raise Interrupted
        return after_step(done)

    learner.after_step = stop
    with pytest.raises(Interrupted):
        train(learner, folder, progress=False)
    return folder / 'checkpoint.pt'


def differences(one, other, name=''):
    "Names of what is not equal, but for times, in two trees of dictionaries, lists and tensors. No number equals none."
    if isinstance(one, (list, tuple)):
        one, other = dict(enumerate(one)), dict(enumerate(other))
    if isinstance(one, dict) and one.keys() == other.keys():
        keys = [key for key in one if key not in TIMED]
        return [found for key in keys for found in differences(one[key], other[key], f'{name}.{key}')]
    if isinstance(one, torch.Tensor):
        return [] if one.equal(other) else [name]
    return [] if one == other or one != one and other != other else [name]


def words_of(settings):
    "Settings as words of a command line."
    return [word for setting in settings for word in ('--set', setting)]


def call(capsys, *words):
    "A command line in this process: its status, and what it printed."
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err.replace('preparing kernels, once: about 10 s\n', '')


def is_clear(result, *expected):
    "Whether a command ended with status 2 and one line, which says certain things."
    status, out, err = result
    line = err.startswith('cube_nb: ') and len(err) > 20 and 'Traceback' not in err
    return (status, out, err.count('\n'), line) == (2, '', 1, True) and all(word in err for word in expected)
