"A training process that is killed without warning and started again ends with the weights of one that was not; older checkpoints still count."
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file

from cube_nb.learn.davi import DaviLearner, DaviConfig
from cube_nb.learn.loop import read_config, train
from cube_nb.nets.weights import load_network

SETTINGS = ['network.puzzle=cube2', 'network.hidden=[32, 16]', 'network.blocks=1', 'iterations=400', 'batch_size=100', 'checkpoint_every=25', 'log_every=10', 'max_depth=8', 'device=cpu']
METHODS = {'walks': [], 'davi': ['check_every=10', 'threshold=0.5', 'growth=true', 'loss=relative', 'depth_power=0.5']}


def start(method, folder):
    words = [w for setting in SETTINGS + METHODS[method] for w in ('--set', setting)]
    return subprocess.Popen([sys.executable, '-c', 'from cube_nb.cli import main; main()', 'train', method, *words, '--output', str(folder), '--quiet'],
                            env={**os.environ, 'OMP_NUM_THREADS': '1', 'NUMBA_NUM_THREADS': '1'}, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize('method', METHODS)
def test_killed_and_resumed(method, tmp_path):
    whole, killed = tmp_path / 'whole', tmp_path / 'killed'
    assert start(method, whole).wait() == 0
    process, deadline = start(method, killed), time.monotonic() + 120
    while not (killed / 'checkpoint.pt').exists() and process.poll() is None and time.monotonic() < deadline: time.sleep(.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and not (killed / f'cube2-{method}.safetensors').exists()
    assert start(method, killed).wait() == 0
    one, other = (load_file(folder / f'cube2-{method}.safetensors') for folder in (whole, killed))
    assert one.keys() == other.keys() and all(one[key].equal(other[key]) for key in one)


def short(*settings): return read_config(DaviConfig, None, [*SETTINGS, 'iterations=20', 'batch_size=20', *settings])


def test_checkpoint_without_younger_options(tmp_path):
    train(DaviLearner(short('check_every=10')), tmp_path, progress=False)
    saved = torch.load(tmp_path / 'checkpoint.pt', weights_only=True)
    config = json.loads(saved['config'])
    for option in 'loss', 'growth', 'depth_power': del config[option]
    torch.save(saved | dict(config=json.dumps(config)), tmp_path / 'checkpoint.pt')
    assert list(train(DaviLearner(short('check_every=10')), tmp_path, progress=False).step) == [10, 20]
    with pytest.raises(ValueError, match='another configuration'): train(DaviLearner(short('check_every=10', 'loss=huber')), tmp_path, progress=False)


def test_growth_stops_at_the_longest_walk():
    learner = DaviLearner(short('check_every=1', 'threshold=1000', 'growth=true', 'max_depth=4'))
    longest = []
    for step in range(6):
        longest.append(int(learner.walks(step)[1].max()))
        learner.after_step(learner.take_step())
    assert longest == [1, 2, 3, 4, 4, 4]


def test_goes_on_from_a_network_with_fewer_blocks():
    shipped = load_network('cube2-davi')
    learner = DaviLearner(short('start=cube2-davi', 'network.hidden=[512, 256]', 'network.blocks=3'))
    states = torch.from_numpy(learner.puzzle.scramble(50, 9, seed=0).states)
    assert torch.equal(learner.network.eval()(states)['value'], shipped(states)['value'])
    learner.take_step()
    assert not torch.equal(learner.network.eval()(states)['value'], shipped(states)['value'])
    with pytest.raises(ValueError, match='fewer blocks'): DaviLearner(short('start=cube2-davi'))


@pytest.mark.parametrize('setting', ['loss=mae', 'depth_power=nan', 'depth_power=.nan', 'depth_power=9', 'growth=maybe'])
def test_bad_settings(setting):
    with pytest.raises(ValueError, match=setting.split('=')[0]) as caught: short(setting)
    assert not isinstance(caught.value, ValidationError)
