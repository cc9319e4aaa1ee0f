"A new puzzle, solver or trainer is one file: with it in its room, everything knows it by its name."

import subprocess
import sys
from pathlib import Path

import pytest

from cube_nb.workshop.profiles import code_cells

TUTORIALS = Path(__file__).parents[2] / 'nbs/tutorials'
PUZZLE = """
import gymnasium
import cube_nb
import cube_nb.cube.env
from cube_nb.depth.bfs import complete_table
assert 'ivy' in cube_nb.puzzle_names()
puzzle = cube_nb.get_puzzle('ivy')
table = complete_table(puzzle)
state = puzzle.scramble(1, 8, seed=1).states[0]
solution = cube_nb.solve(state, puzzle='ivy')
assert len(solution) == table.distance(state[None])[0] > 0
assert puzzle.is_solved(puzzle.apply_word(state, solution.moves)[None])[0]
assert gymnasium.make('cube_nb/Ivy-v0').reset(seed=0)[0].shape == (18,)
print('known')
"""
SOLVER = """
import cube_nb
from cube_nb.cli import app
assert {'walkers', 'beam', 'improve'} <= {*cube_nb.solver_names('cube3')}
for puzzle in ('cube2', 'pyraminx'):
    state = cube_nb.get_puzzle(puzzle).scramble(1, 4, seed=1).states[0]
    solution = cube_nb.solve(state, puzzle=puzzle, solver='walkers', model='exact', number=20)
    assert solution.solved and len(solution) <= 4
app(['info', '--solver', 'walkers'], standalone_mode=False)
app(['evaluate', '--puzzle', 'cube2', '--solver', 'walkers', '--depths', '2', '--count', '2'])
"""
TRAINER = """
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
PUZZLE_NEEDS = """
import numpy as np
from cube_nb.cube.geometry import DOWNS, NET, NORMALS, layer_turns
from cube_nb.cube.pieces import puzzle_from_geometry
from cube_nb.cube.puzzle import register_puzzle
"""
SOLVER_NEEDS = """
import numpy as np
from pydantic import Field
from cube_nb.clock import Clock, look_at_clock
from cube_nb.config import Number, Whole
from cube_nb.search.core import VALUE, NodeOptions, Solution, checked_solution, register_solver
"""
TRAINER_NEEDS = """
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
PUZZLE_CELLS = ('CORNERS = ', 'def face_outlines(', 'def unfolded(', 'def ivy(', 'register_puzzle(')
SOLVER_CELLS = ('def make_turns(', 'class WalkersOptions(', 'def walkers(', 'walk = register_solver(')
TRAINER_CELLS = ('def bounded_targets(', 'class BoundedConfig(', 'class BoundedLearner(')
WALKERS = 'walkers for each state'
COPIES = 'steps between copies of the network'
NEW = {  # file -> room, tutorial, how the cells begin that make it, what they need, what uses it, what that prints
    'ivy.py': ('cube', '3_add_a_puzzle', PUZZLE_CELLS, PUZZLE_NEEDS, PUZZLE, ['known']),
    'walkers.py': ('search', '4_write_a_solver', SOLVER_CELLS, SOLVER_NEEDS, SOLVER, [WALKERS, '1.000']),
    'bounded.py': ('learn', '5_write_a_trainer', TRAINER_CELLS, TRAINER_NEEDS, TRAINER, [COPIES]),
}


@pytest.mark.slow
@pytest.mark.parametrize('file', NEW)
def test_what_is_new_is_one_file(file, tmp_path):
    "The cells of a tutorial that make it are the file; a fresh process uses it."
    room, tutorial, parts, imports, use, says = NEW[file]
    made = [code for _, code in code_cells(TUTORIALS / f'{tutorial}.ipynb') if code.startswith(parts)]
    (tmp_path / file).write_text('\n\n\n'.join([imports, *made]), encoding='utf-8')
    there = f'import sys, cube_nb.{room}\ncube_nb.{room}.__path__.append(sys.argv[1])  # as if the file stood there\n'
    command = [sys.executable, '-c', there + use, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert all(part in run.stdout for part in says)
