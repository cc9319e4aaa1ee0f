"IDA* finds a shortest solution, or says that it did not; Kociemba's two phases find one quickly."

import sys

import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import far_distance
from cube_nb.search.core import get_solver
from cube_nb.exact.ida import SMALL_VIEWS, iterative_deepening, pattern_bound

cube3 = get_puzzle('cube3')
VIEWS = (*SMALL_VIEWS, ('UR UF UL UB FR', 30))


def ida(states, **options):
    "Solve states with the small tables."
    return get_solver('ida')(cube3, states, patterns=VIEWS, **options)


def solves(state, answer):
    return answer.solved and cube3.is_solved(cube3.apply_word(state, answer.moves)[None])[0]


def test_lengths_are_optimal():
    states = cube3.scramble(90, np.arange(90) % 10, seed=3).states
    answers = ida(states)
    assert [len(a) for a in answers] == list(far_distance(bfs(cube3, 5), states, most=9))
    assert all(answer.optimal and solves(state, answer) for state, answer in zip(states, answers))


def test_threads_do_not_change_the_length(request):
    states = cube3.scramble(6, 9, seed=4).states
    lengths = [len(answer) for answer in ida(states)]
    request.getfixturevalue('one_thread')
    assert lengths == [len(answer) for answer in ida(states)]


@pytest.mark.parametrize('limits', [dict(max_nodes=50_000), dict(time_limit=0.2)])
def test_limits_end_in_not_solved(limits):
    for answer in ida(cube3.random_states(2, seed=5), **limits):
        assert not answer.solved and answer.moves == () and answer.seconds < 2 and answer.lower_bound > 0
        assert 0 < answer.expanded < answer.generated
        assert answer.generated < 200_000 or 'time_limit' in limits


def test_rounds_prove_bounds():
    small = pattern_bound(cube3, VIEWS)
    rounds = list(iterative_deepening(small, cube3.scramble(1, 9, seed=6).states[0]))
    assert all(each.complete for each in rounds) and not any(each.moves for each in rounds[:-1])
    lengths = [each.length for each in rounds]
    assert (np.diff(lengths) == 2).all() and len(rounds[-1].moves) == lengths[-1]
    *_, stopped = iterative_deepening(small, cube3.random_states(1, seed=7)[0], max_nodes=50_000)
    assert not stopped.complete and stopped.length >= 8


def test_rounds_rise_by_one_where_a_half_turn_is_one_move():
    puzzle = get_puzzle('cube3-htm')
    lower, states = pattern_bound(puzzle, SMALL_VIEWS[:2]), puzzle.scramble(8, 6, seed=3).states
    solutions = [[*iterative_deepening(lower, state)][-1].moves for state in states]
    assert [len(moves) for moves in solutions] == list(far_distance(bfs(puzzle, 4), states, most=7))


@pytest.mark.parametrize('patterns', ((), (('UR URF', 0),), (('UR', 48),), (('UR', -1),)))
def test_tables_that_there_are_not(patterns):
    with pytest.raises(ValueError, match='patterns|each once|symmetries below 48'):
        get_solver('ida')(cube3, cube3.goals, patterns=patterns)


# --- two phases ---
def test_a_limit_of_kociemba():
    assert not get_solver('kociemba')(cube3, cube3.random_states(1, seed=9), None, time_limit=1e-9)[0].solved


def test_kociemba_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, 'kociemba', None)
    with pytest.raises(ValueError, match=r'cube_nb\[classical\]'):
        get_solver('kociemba')(cube3, cube3.solved[None], None)


@pytest.mark.parametrize('solver', ['kociemba', 'ida'])
def test_an_impossible_cube(solver):
    state = cube3.solved.copy()
    state[[7, 19]] = state[[19, 7]]
    with pytest.raises(ValueError):
        get_solver(solver)(cube3, state[None], None, **get_solver(solver).small)
