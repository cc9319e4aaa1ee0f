"Kociemba's two phases, as the package answers."

import sys

import numpy as np
import pytest

from cube_nb.cube.notation import length_htm
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.core import get_solver

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')


def solves(state, answer):
    return answer.solved and cube3.is_solved(cube3.apply_word(state, answer.moves)[None])[0]


def test_kociembas_words_solve():
    states = np.concatenate(
        [cube3.scramble(30, np.arange(30), seed=8).states, cube3.random_states(30, seed=9)]
    )
    answers = get_solver('kociemba')(cube3, states, None)
    assert all(solves(*pair) for pair in zip(states, answers))
    assert max(length_htm(cube3, a.moves) for a in answers) <= 24 < max(len(a) for a in answers)
    assert not get_solver('kociemba')(cube3, states[-1:], None, time_limit=1e-9)[0].solved


def test_kociemba_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, 'kociemba', None)
    with pytest.raises(ValueError, match=r'cube_nb\[classical\]'):
        get_solver('kociemba')(cube3, cube3.solved[None], None)


def test_an_impossible_cube():
    state = cube3.solved.copy()
    state[[7, 19]] = state[[19, 7]]
    with pytest.raises(ValueError):
        get_solver('kociemba')(cube3, state[None], None)
