"A training process that is killed without warning and started again ends with the weights of one that was not."
import os
import signal
import subprocess
import sys
import time

import pytest
from safetensors.torch import load_file

SETTINGS = ['network.puzzle=cube2', 'network.hidden=[32, 16]', 'network.blocks=1', 'iterations=400', 'batch_size=100', 'checkpoint_every=25', 'log_every=10', 'max_depth=8', 'device=cpu']
METHODS = {'walks': [], 'davi': ['check_every=30', 'threshold=0.5']}


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
