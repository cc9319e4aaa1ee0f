"Optimal solutions: as short as every other way to know says, and honest about what was not proved."

import json

import numpy as np
import pytest

from cube_nb.cli import Task, proof_line, solution_record
from cube_nb.clock import Clock
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import complete_table, states_near_solved
from cube_nb.workshop.results import load_table
from cube_nb.search.core import Solution, get_solver
from cube_nb.exact.coset import CosetBound
from cube_nb.exact.dual import coset_bound, distinct_starts, iterations, search_length
from cube_nb.exact.ida import starts_of
from cube_nb.exact.optimal import prove, prove_half_way
from cube_nb.solving import Setup, setup

CUBE3 = get_puzzle('cube3')
optimal = get_solver('optimal')


@pytest.fixture(scope='module')
def tiny():
    return coset_bound(CUBE3, 'tiny')


def check(state, answer):
    assert answer.solved and answer.optimal and answer.lower_bound == len(answer)
    assert answer.puzzle.is_solved(answer.puzzle.apply_word(state, answer.moves)[None])[0]


@pytest.mark.parametrize('name', ['cube2', 'pyraminx', 'skewb'])
def test_complete_tables_agree(name):
    "The solver answers from the table that says what is true; meeting half way does not use it."
    puzzle = get_puzzle(name)
    states = puzzle.random_states(1000, seed=1)
    distances = complete_table(puzzle).distance(states)
    for state, answer, distance in zip(states, optimal(puzzle, states, None), distances):
        check(state, answer)
        assert len(answer) == distance
    assert prove(answer, state) is answer, 'nothing is left to be done'
    answers = [prove_half_way(Solution(puzzle, False), state, Clock()) for state in states[:40]]
    for state, answer, distance in zip(states, answers, distances):
        assert answer.lower_bound <= distance
        if answer.solved:
            check(state, answer)
            assert len(answer) == distance
    assert sum(answer.solved for answer in answers) > 20


def test_half_turns_are_moves_too():
    puzzle = get_puzzle('cube3-htm')
    near = states_near_solved(puzzle, 4)
    lower = CosetBound(puzzle, 'tiny')
    for depth in range(1, 5):
        for state in near.layer(depth)[:: max(1, near.counts[depth] // 10)]:
            *_, last = iterations(lower, state, np.inf, Clock())
            assert len(last.moves) == depth
            assert puzzle.is_solved(puzzle.apply_word(state, last.moves)[None])[0]


def test_the_answer_does_not_depend_on_the_threads(tiny, request):
    state = CUBE3.scramble(1, 13, seed=7).states[0]
    found = {search_length(tiny, state, 13, Clock()).moves for _ in range(3)}
    request.getfixturevalue('one_thread')
    assert {search_length(tiny, state, 13, Clock()).moves} == found != {None}


def test_starts_that_symmetries_join_miss_nothing(tiny):
    "Checks on all faces look the same under 24 turns; they take twelve quarter turns."
    state = CUBE3.apply_word(CUBE3.solved, parse(CUBE3, 'R2 L2 U2 D2 F2 B2'))
    assert distinct_starts(CUBE3, state, starts_of(CUBE3, 3).words).sum() < 100
    *_, last = iterations(tiny, state, np.inf, Clock())
    check(state, Solution(CUBE3, True, last.moves, lower_bound=12))


PROOFS = [  # options, the table of the proof
    (dict(solver='beam', proof_table='tiny'), 'tiny'), (dict(solver='optimal', size='tiny'), 'tiny'),
    (dict(solver='optimal', size='small', proof_table='tiny'), 'tiny'), (dict(solver='beam'), None),
]  # fmt: skip


@pytest.mark.parametrize('options, expected', PROOFS)
def test_the_table_of_a_proof_is_named_or_that_of_the_solver(options, expected, monkeypatch):
    sizes = []
    monkeypatch.setattr('cube_nb.exact.optimal.prove', lambda *args: sizes.append(args[4]) or args[0])
    setup('cube3', prove=True, **options).proved(CUBE3.solved, Solution(CUBE3, False))
    assert sizes == [expected]


def test_the_record_of_a_solution():
    state = CUBE3.apply_word(CUBE3.solved, [0])
    answer = Solution(CUBE3, True, (1,), lower_bound=1)
    record = solution_record(Task(state), Setup('cube3', 'optimal'), answer)
    assert json.loads(json.dumps(record))['optimal'] is True and record['lower_bound'] == 1
    assert proof_line(answer) == '1 moves, and no solution is shorter'
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
