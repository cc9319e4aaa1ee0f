"IDA*: it finds a shortest solution, or says that it did not."

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import far_distance
from cube_nb.search.core import get_solver
from cube_nb.exact.ida import iterative_deepening, pattern_bound, pruning_automaton

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')
SMALL = ('URF UFL ULB UBR', 'UR UF UL UB FR')
VIEWS = ((SMALL[0], 0), (SMALL[1], 0), (SMALL[1], 1), (SMALL[1], 30))


@pytest.fixture(scope='module')
def near():
    return bfs(cube3, max_depth=5)


@pytest.fixture(scope='module')
def small():
    return pattern_bound(cube3, VIEWS)


def ida(states, **options):
    "Solve states with the small tables."
    return get_solver('ida')(cube3, states, patterns=VIEWS, **options)


def solves(state, answer):
    return answer.solved and cube3.is_solved(cube3.apply_word(state, answer.moves)[None])[0]


def test_distinct_words_reach_every_state(near):
    "The automaton drops repetition only: its words of each length reach all states of that depth."
    table, past, states = pruning_automaton(cube3), np.zeros(1, int), cube3.solved[None]
    for depth in range(1, 5):
        rows, moves = np.nonzero(table[past] >= 0)
        past, states = table[past[rows], moves], cube3.apply(states[rows], moves)
        assert set(map(bytes, near.layer(depth))) <= set(map(bytes, states))
    assert len(states) == near.counts[4]  # and each of them once


def test_lengths_are_optimal(near):
    states = cube3.scramble(90, np.arange(90) % 10, seed=3).states
    answers = ida(states)
    assert [len(a) for a in answers] == list(far_distance(near, states, most=9))
    assert all(solves(*pair) for pair in zip(states, answers))


@given(st.lists(st.integers(0, 11), max_size=8))
@settings(max_examples=40, deadline=None)
def test_never_longer_than_the_scramble_and_of_its_parity(word):
    state = cube3.apply_word(cube3.solved, word)
    (answer,) = ida(state[None])
    assert solves(state, answer) and len(answer) <= len(word) and (len(word) - len(answer)) % 2 == 0


def test_threads_do_not_change_the_length():
    import numba

    states, before = cube3.scramble(6, 9, seed=4).states, numba.get_num_threads()
    lengths = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            lengths.append([len(a) for a in ida(states)])
    finally:
        numba.set_num_threads(before)
    assert lengths[0] == lengths[1]


def test_limits_end_in_not_solved():
    states = cube3.random_states(2, seed=5)
    for limits in (dict(max_nodes=50_000), dict(time_limit=0.2)):
        for answer in ida(states, **limits):
            assert (
                not answer.solved
                and answer.moves == ()
                and str(answer) == 'not solved'
                and answer.seconds < 2
            )
    for answer in ida(states, max_nodes=50_000):
        assert 0 < answer.expanded < answer.generated < 200_000


def test_rounds_prove_bounds(small):
    state = cube3.scramble(1, 9, seed=6).states[0]
    rounds = list(iterative_deepening(small, state))
    assert [r.complete for r in rounds] == [True] * len(rounds) and [r.moves for r in rounds[:-1]] == [
        None
    ] * (len(rounds) - 1)
    assert (
        list(np.diff([r.length for r in rounds])) == [2] * (len(rounds) - 1)
        and len(rounds[-1].moves) == rounds[-1].length
    )
    stopped = list(iterative_deepening(small, cube3.random_states(1, seed=7)[0], max_nodes=50_000))
    assert not stopped[-1].complete and stopped[-1].length >= stopped[0].length


def test_an_impossible_cube():
    state = cube3.solved.copy()
    state[[7, 19]] = state[[19, 7]]
    with pytest.raises(ValueError):
        ida(state[None])


@pytest.mark.parametrize('patterns', ((), (('UR URF', 0),), (('UR', 48),), (('UR', -1),)))
def test_tables_that_there_are_not(patterns):
    with pytest.raises(ValueError, match='patterns|each once|symmetries below 48'):
        get_solver('ida')(cube3, cube3.goals, patterns=patterns)
