"A new puzzle or solver is one file: with it in its room, everything knows it by its name."

import pytest
from one_file import output_of

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

assert {'walkers', 'beam', 'optimal'} <= {*cube_nb.solver_names('cube3')}
for puzzle in ('cube2', 'pyraminx'):
    state = cube_nb.get_puzzle(puzzle).scramble(1, 4, seed=1).states[0]
    solution = cube_nb.solve(state, puzzle=puzzle, solver='walkers', model='exact', number=20)
    assert solution.solved and len(solution) <= 4
app(['info', '--solver', 'walkers'], standalone_mode=False)
app(['evaluate', '--puzzle', 'cube2', '--solver', 'walkers', '--depths', '2', '--count', '2'])
"""
NEW = {  # file -> room, tutorial, how the cells begin that make it, what they need, what uses it, what that prints
    'ivy.py': (
        'cube',
        '3_add_a_puzzle.ipynb',
        ('CORNERS = ', 'def face_outlines(', 'def unfolded(', 'def ivy(', 'register_puzzle('),
        """
import numpy as np
from cube_nb.cube.geometry import DOWNS, NET, NORMALS, layer_turns
from cube_nb.cube.pieces import puzzle_from_geometry
from cube_nb.cube.puzzle import register_puzzle
""",
        PUZZLE,
        ('known',),
    ),
    'walkers.py': (
        'search',
        '4_write_a_solver.ipynb',
        ('def make_turns(', 'class WalkersOptions(', 'def walkers(', 'walk = register_solver('),
        """
import numpy as np
from pydantic import Field
from cube_nb.clock import Clock, look_at_clock
from cube_nb.config import Number, Whole
from cube_nb.search.core import VALUE, NodeOptions, Solution, checked_solution, register_solver
""",
        SOLVER,
        ('walkers for each state', '1.000'),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize('file', NEW)
def test_what_is_new_is_one_file(file, tmp_path):
    room, tutorial, parts, imports, use, says = NEW[file]
    there = f'import sys, cube_nb.{room}\ncube_nb.{room}.__path__.append(sys.argv[1])  # as if the file stood there\n'
    printed = output_of(tutorial, parts, imports, there + use, tmp_path / file)
    assert all(part in printed for part in says)
