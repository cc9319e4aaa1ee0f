"Optimal solutions: as short as every other way to know says, and honest about what was not proved."

import numpy as np
import pytest

from cube_nb.cli import proof_line
from cube_nb.clock import Clock
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import complete_table, states_near_solved
from cube_nb.depth.exact import shortest_solutions
from cube_nb.workshop.results import load_table
from cube_nb.search.core import Solution
from cube_nb.search.improve import ImproveOptions, improvements
from cube_nb.exact.coset import CosetBound
from cube_nb.exact.dual import coset_bound, distinct_starts, iterations, search_length
from cube_nb.exact.ida import starts_of
from cube_nb.exact.prover import CosetProver, missing_table, prover_for, table_lines
from cube_nb.solving import load_evaluator

CUBE3 = get_puzzle('cube3')


@pytest.fixture(scope='module')
def tiny():
    return coset_bound(CUBE3, 'tiny')


def test_half_turns_agree_with_a_search_without_a_coset_table():
    "Forty cubes, near ones and those that are met half way by breadth-first search."
    puzzle = get_puzzle('cube3-htm')
    states = puzzle.scramble(40, [1, 2, 3, 4, 7, 8, 9, 10] * 5, seed=11).states
    words = shortest_solutions(states_near_solved(puzzle, 5), states, 10)
    assert max(map(len, words)) == 10
    lower = CosetBound(puzzle, 'tiny')
    for state, word in zip(states, words):
        *_, last = iterations(lower, state, np.inf, Clock())
        assert len(last.moves) == len(word)
        assert puzzle.is_solved(puzzle.apply_word(state, last.moves)[None])[0]


def test_the_answer_does_not_depend_on_the_threads(tiny, request):
    state = CUBE3.scramble(1, 13, seed=7).states[0]
    found = {search_length(tiny, state, 13, Clock()).moves for _ in range(3)}
    request.getfixturevalue('one_thread')
    assert {search_length(tiny, state, 13, Clock()).moves} == found != {None}


@pytest.mark.slow
def test_the_table_is_the_one_that_is_named_or_the_largest_that_is_there(monkeypatch, tmp_path):
    monkeypatch.setenv('CUBE_NB_CACHE', str(tmp_path))
    assert prover_for(CUBE3) is None and 'tables --puzzle cube3 --build medium' in missing_table(CUBE3)
    assert [line.endswith('not built') for line in table_lines(CUBE3)] == [True] * 4
    CosetBound(CUBE3, 'tiny')
    assert prover_for(CUBE3).lower.size == 'tiny' and missing_table(CUBE3) is None
    assert prover_for(get_puzzle('skewb')).most == complete_table(get_puzzle('skewb')).ends.size - 1


def test_starts_that_symmetries_join_miss_nothing(tiny):
    "Checks on all faces look the same under 24 turns; they take twelve quarter turns."
    state = CUBE3.apply_word(CUBE3.solved, parse(CUBE3, 'R2 L2 U2 D2 F2 B2'))
    assert distinct_starts(CUBE3, state, starts_of(CUBE3, 3).words).sum() < 100
    *_, last = iterations(tiny, state, np.inf, Clock())
    assert len(last.moves) == 12 and CUBE3.is_solved(CUBE3.apply_word(state, last.moves)[None])[0]


def test_beams_and_rounds_meet(tiny):
    "The lower bound never passes a known distance; what is proved is as short."
    evaluator = load_evaluator('cube3', 'cube3-walks')
    states = CUBE3.scramble(6, [9, 10, 11, 12, 13, 13], seed=4).states
    for state, depth in zip(states, (9, 10, 11, 12, 13, 13)):
        *_, answer = improvements(CUBE3, state, evaluator, ImproveOptions(time_limit=60), CosetProver(tiny))
        assert answer.optimal and len(answer) <= depth and (depth - len(answer)) % 2 == 0


def test_what_is_said_of_a_proof():
    assert proof_line(Solution(CUBE3, True, (1,), lower_bound=1)) == '1 moves, and no solution is shorter'
    assert proof_line(Solution(CUBE3, True, (0,) * 21, lower_bound=19)) == '21 moves, at least 19 are needed'


@pytest.mark.parametrize('name, count', [('cube3_league', 1000), ('cube3_walks', 3400)])
def test_kept_shortest_solutions_solve_what_they_stand_beside(name, count):
    "Each has as many quarter turns as the distance says; that none is shorter is what the proof was for."
    table = load_table('test', name).dropna(subset='solution')
    assert len(table) >= count
    for state, row in zip(from_string(CUBE3, table.state.tolist()), table.itertuples()):
        moves = parse(CUBE3, '' if row.solution == '-' else row.solution)
        assert len(moves) == row.optimal_qtm and CUBE3.is_solved(CUBE3.apply_word(state, moves)[None])[0]


def test_kept_walks_lead_to_their_states_and_bound_their_distances():
    table = load_table('test', 'cube3_walks')
    ends = [CUBE3.apply_word(CUBE3.solved, parse(CUBE3, walk)) for walk in table.walk]
    assert (from_string(CUBE3, table.state.tolist()) == ends).all()
    known = table.dropna(subset='optimal_qtm')
    assert (known.optimal_qtm <= known.length).all() and (known.optimal_qtm % 2 == known.length % 2).all()
