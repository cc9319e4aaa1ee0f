"One contract for every registered solver that asks an evaluator, on every registered puzzle."
import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle, import_modules, puzzle_names
from cube_nb.depth.bfs import bfs
from cube_nb.depth.evaluator import Evaluation
from cube_nb.search.core import SOLVERS, get_solver
from cube_nb.depth.evaluator import exact_evaluator

import_modules('cube_nb.search')


@pytest.fixture(scope='module', params=sorted(puzzle_names()))
def near(request):
    "A puzzle and its exact distances near solved."
    return bfs(get_puzzle(request.param), max_depth=5)


@pytest.fixture(params=sorted(name for name in SOLVERS if SOLVERS[name].evaluated))
def solver(request): return get_solver(request.param)


def test_solved_states_need_nothing(near, solver):
    for answer in solver(near.puzzle, near.puzzle.goals, exact_evaluator(near)): assert answer.solved and answer.moves == ()


def test_exact_estimates_give_shortest_solutions(near, solver):
    states = near.puzzle.scramble(60, np.arange(60) % 5, seed=4).states
    answers = solver(near.puzzle, states, exact_evaluator(near))
    assert [len(a) for a in answers] == list(near.distance(states))
    for state, answer in zip(states, answers): assert near.puzzle.is_solved(near.puzzle.apply_word(state, answer.moves)[None])[0]


def test_solutions_hold_in_every_orientation(near, solver):
    state = near.puzzle.scramble(1, 4, seed=8).states[0]
    turned = state[near.puzzle.rotations]
    answers = solver(near.puzzle, turned, exact_evaluator(near))
    assert {len(a) for a in answers} == {int(near.distance(state[None])[0])}
    for one, answer in zip(turned, answers): assert near.puzzle.is_solved(near.puzzle.apply_word(one, answer.moves)[None])[0]


def test_poor_estimates_are_slow_but_not_wrong(near, solver):
    rng = np.random.default_rng(0)
    states = near.puzzle.scramble(10, 3, seed=6).states
    answers = solver(near.puzzle, states, lambda s: Evaluation(rng.uniform(-1, 3, len(s)).astype(np.float32)))
    for state, answer in zip(states, answers):
        assert answer.solved or solver in (get_solver('greedy'), get_solver('alphazero'))  # which take no move back when their estimates were wrong
        assert not answer.solved or near.puzzle.is_solved(near.puzzle.apply_word(state, answer.moves)[None])[0]


def test_limits_end_in_not_solved(near, solver):
    states = near.puzzle.scramble(3, 25, seed=2).states
    blind = lambda s: Evaluation(np.zeros(len(s), np.float32))
    for limits in (dict(max_nodes=100), dict(time_limit=1e-9)):
        for answer in solver(near.puzzle, states, blind, **limits): assert not answer.solved and answer.moves == () and str(answer) == 'not solved'


def test_no_states_no_answers(near, solver): assert solver(near.puzzle, near.puzzle.goals[:0], exact_evaluator(near)) == []
