"A new trainer is one file: with it in the room of learning, everything knows it by its name."

import pytest
from one_file import output_of

PARTS = ('def bounded_targets(', 'class BoundedConfig(', 'class BoundedLearner(')  # of the trainer

IMPORTS = """
from functools import partial

import torch
from pydantic import Field

from cube_nb.config import Whole
from cube_nb.learn.davi import bellman_backup, child_costs
from cube_nb.learn.loop import Batch, register_method
from cube_nb.learn.parts import TargetNetwork
from cube_nb.learn.walks import ScrambleConfig, ScrambleLearner
from cube_nb.nets.networks import estimate_values
"""

USE = """
import sys

import cube_nb.learn

cube_nb.learn.__path__.append(sys.argv[1])  # as if the file stood there

from cube_nb.cli import app
from cube_nb.learn.loop import method_names
from cube_nb.nets.weights import read_header
from cube_nb.training import train

assert {'bounded', 'walks', 'davi'} <= {*method_names()}
settings = ['network.hidden=[64, 32]', 'network.blocks=0', 'max_depth=6', 'batch_size=100', 'iterations=20']
file = train('bounded', 'pyraminx', overrides=[*settings, 'renew_every=5'], folder='run', progress=False)
about = read_header(file)['about']
assert (about['method'], about['config']['renew_every']) == ('bounded', 5)
app(['info', '--trainer', 'bounded'])
"""


@pytest.mark.slow
def test_a_trainer_is_one_file(tmp_path):
    printed = output_of('5_write_a_trainer.ipynb', PARTS, IMPORTS, USE, tmp_path / 'bounded.py')
    assert 'steps between copies of the network' in printed
