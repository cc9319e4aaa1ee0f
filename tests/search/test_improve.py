"Beams, rounds and deadlines of the search whose gap closes."

import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs, complete_table
from cube_nb.depth.evaluator import Evaluation
from cube_nb.depth.exact import shortest_solutions
from cube_nb.solving import load_evaluator
from cube_nb.search.improve import ImproveOptions, Improvement, NearProver
from cube_nb.search.improve import improvements
from cube_nb.search.core import get_solver

CUBE2, CUBE3 = get_puzzle('cube2'), get_puzzle('cube3')
improve = get_solver('improve')


def misplaced(states):
    return Evaluation((states != CUBE3.solved).mean(1).astype(np.float32) * 20)


@pytest.mark.slow
def test_solutions_get_shorter_and_the_last_one_says_it_again(monkeypatch):
    monkeypatch.setattr('cube_nb.search.improve.FIRST_WIDTH', 2)  # too narrow to be shortest at first
    table, rng = complete_table(CUBE2), np.random.default_rng(0)

    def noisy(states):
        return Evaluation((table.distance(states) + rng.normal(0, 3, len(states))).astype(np.float32))

    several = 0
    for state in CUBE2.scramble(3, 20, seed=3).states:
        # Long for a busy machine: a beam of two with such estimates needs several rounds to its first solution
        found = list(improvements(CUBE2, state, noisy, ImproveOptions(time_limit=2.0, radius=2)))
        lengths, needed = [len(s) for s in found], [s.lower_bound for s in found]
        assert found[-1].solved and lengths == sorted(lengths, reverse=True) and needed == sorted(needed)
        assert needed[-1] <= table.distance(state[None])[0] <= lengths[-1]
        assert lengths[-1] == lengths[-2] and found[-1].generated >= found[0].generated
        several += len({*lengths}) > 1
    assert several


def test_there_is_an_answer_however_short_the_limit_is(monkeypatch):
    monkeypatch.setattr('cube_nb.search.improve.FIRST_SECONDS', 10)  # the machine has other work
    evaluator = load_evaluator('cube3', 'cube3-walks')
    answers = improve(CUBE3, CUBE3.random_states(5, seed=8), evaluator, time_limit=0.001)
    assert all(answer.solved for answer in answers)
    # some tenths of a second on a quiet machine
    assert max(answer.generated for answer in answers) < 2_000_000


def test_a_first_round_without_an_answer_ends(monkeypatch):
    monkeypatch.setattr('cube_nb.search.improve.FIRST_SECONDS', 0.3)
    (answer,) = improve(CUBE3, CUBE3.random_states(1, seed=9), misplaced, time_limit=0.01)
    assert not answer.solved and 0.2 < answer.seconds < 2


def test_half_turns_are_solved_shortest():
    puzzle = get_puzzle('cube3-htm')
    states = puzzle.scramble(6, [0, 1, 2, 4, 5, 6], seed=3).states
    answers = improve(puzzle, states, misplaced, time_limit=20.0, radius=3)
    found = bfs(puzzle, 3)
    assert [len(a) for a in answers] == [len(word) for word in shortest_solutions(found, states, 6)]


@pytest.mark.parametrize('name', ['cube2', 'pyraminx', 'skewb'])
def test_no_claim_is_wrong_wherever_it_is_cut_off(name):
    "Bounds hold and proven solutions are shortest, after a random number of steps; 2,000 states each."
    puzzle = get_puzzle(name)
    whole, small = complete_table(puzzle), bfs(puzzle, 3)
    states = puzzle.random_states(2000, seed=1)
    rng, proven = np.random.default_rng(0), 0
    for state, distance in zip(states, whole.distance(states)):
        search = Improvement(puzzle, state, None, ImproveOptions(radius=3), NearProver(small))
        for _ in zip(range(rng.integers(4)), search.steps()):
            pass
        answer = search.answer()
        assert answer.lower_bound <= distance and (not answer.solved or len(answer) >= distance)
        assert not answer.optimal or len(answer) == distance
        proven += answer.optimal
    assert proven


def test_a_limit_of_time_holds_inside_a_round():
    (answer,) = improve(CUBE3, CUBE3.random_states(1, seed=3), None, time_limit=0.5)
    assert not answer.solved and answer.lower_bound >= 7 and answer.seconds < 0.7
