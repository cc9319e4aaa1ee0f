"A new solver is one file: with it in the room of searching, everything knows it by its name."

import pytest
from one_file import output_of

PARTS = (
    'def make_turns(',
    'class WalkersOptions(',
    'def walkers(',
    'walk = register_solver(',
)  # of the solver

IMPORTS = """
import numpy as np
from pydantic import Field

from cube_nb.clock import Clock, look_at_clock
from cube_nb.config import Number, Whole
from cube_nb.search.core import VALUE, NodeOptions, Solution, checked_solution, register_solver
"""

USE = """
import sys

import cube_nb.search

cube_nb.search.__path__.append(sys.argv[1])  # as if the file stood there

import cube_nb
from cube_nb.cli import app

assert {'walkers', 'beam', 'optimal'} <= {*cube_nb.solver_names('cube3')}
for puzzle in ('cube2', 'pyraminx'):
    state = cube_nb.get_puzzle(puzzle).scramble(1, 4, seed=1).states[0]
    solution = cube_nb.solve(state, puzzle=puzzle, solver='walkers', model='exact', number=20)
    assert solution.solved and len(solution) <= 4
app(['info', '--solver', 'walkers'], standalone_mode=False)
app(['evaluate', '--puzzle', 'cube2', '--solver', 'walkers', '--depths', '2', '--count', '2'])
"""


@pytest.mark.slow
def test_a_solver_is_one_file(tmp_path):
    printed = output_of('4_write_a_solver.ipynb', PARTS, IMPORTS, USE, tmp_path / 'walkers.py')
    assert 'walkers for each state' in printed and '1.000' in printed
