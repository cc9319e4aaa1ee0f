"Short trainings for tests, processes that end in the middle of one, and command lines that train."

import json

import pytest
import torch
from interrupted import Interrupted, stop_at

from cube_nb.cli import main
from cube_nb.learn.loop import get_method, read_config, train

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


def learner_there(method, device, **settings):
    "The same on a device, with settings as Python has them."
    words = [f'{key}={json.dumps(value)}' for key, value in settings.items()]
    return small_learner(method, 'iterations=12', f'device={device}', *words)


def train_until(learner, step, folder):
    "Train in a folder until the process ends in the middle of a step. Returns the path of the checkpoint."
    stop_at(learner, step)
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
    return (status, out, err.count('\n'), line) == (2, '', 1, True) and all(
        words in err for words in expected
    )
