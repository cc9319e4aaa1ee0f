"A new puzzle is one file: with it in the room of puzzles, everything knows it by its name."

import pytest
from one_file import output_of

PARTS = ('CORNERS = ', 'def face_outlines(', 'def unfolded(', 'def ivy(', 'register_puzzle(')  # of the puzzle

IMPORTS = """
import numpy as np

from cube_nb.cube.geometry import DOWNS, NET, NORMALS, layer_turns
from cube_nb.cube.pieces import puzzle_from_geometry
from cube_nb.cube.puzzle import register_puzzle
"""

USE = """
import sys

import cube_nb.cube

cube_nb.cube.__path__.append(sys.argv[1])  # as if the file stood there

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


@pytest.mark.slow
def test_a_puzzle_is_one_file(tmp_path):
    printed = output_of('3_add_a_puzzle.ipynb', PARTS, IMPORTS, USE, tmp_path / 'ivy.py')
    assert printed.split() == ['known']
