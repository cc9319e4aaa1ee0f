"One contract for every registered solver that asks an evaluator, on every registered puzzle."

import numpy as np
import pytest
from evaluators import blind

from cube_nb.cube.puzzle import Puzzle, get_puzzle, puzzle_names
from cube_nb.depth.bfs import bfs, is_complete
from cube_nb.depth.exact import alternates
from cube_nb.depth.evaluator import Evaluation, exact_evaluator
from cube_nb.search.core import SOLVERS, get_solver, solver_names
from cube_nb.exact.ida import SMALL_VIEWS

solver_names()
NO_WAY_BACK = ('greedy', 'alphazero')  # which take no move back when their estimates were wrong
FEWER = {'alphazero': dict(simulations=100)}  # a tenth of the default: near states need no more


@pytest.fixture(scope='module', params=sorted(puzzle_names()))
def near(request):
    "A puzzle and its exact distances near solved."
    return bfs(get_puzzle(request.param), max_depth=5)


@pytest.fixture(params=sorted(name for name in SOLVERS if SOLVERS[name].needs))
def solver(request):
    return get_solver(request.param)


def solves(puzzle, state, answer):
    "Whether the moves of an answer solve the state."
    return puzzle.is_solved(puzzle.apply_word(state, answer.moves)[None])[0]


def assert_lengths(near, solver, answers, distances, wasted):
    """Shortest solutions; of a solver that does not promise them, where parity leaves no room for a wasted move.
    Elsewhere it may waste some, and now and then find nothing."""
    lengths = np.array([len(answer) for answer in answers])
    if solver.shortest or (alternates(near.puzzle) and near.puzzle.name != 'cube2-fixed'):  # one now and then
        assert lengths.tolist() == list(distances)
        return
    solved = np.array([answer.solved for answer in answers])
    excess = (lengths - distances)[solved]
    assert (excess >= 0).all()
    assert len(answers) < 20 or (solved.mean() > 0.9 and excess.mean() <= wasted)


@pytest.mark.parametrize('held, wasted', [('as it is', 0.5), ('in every way', 1)])
def test_exact_estimates_give_shortest_solutions(near, solver, held, wasted):
    states = near.puzzle.scramble(30, np.arange(30) % 5, seed=4).states
    if held == 'in every way':
        states = states[4][near.puzzle.rotations]
    answers = solver(near.puzzle, states, exact_evaluator(near), **FEWER.get(solver.name, {}))
    assert_lengths(near, solver, answers, near.distance(states), wasted)
    for state, answer in zip(states, answers):
        assert solves(near.puzzle, state, answer) or not (answer.solved or solver.shortest)


def test_poor_estimates_are_slow_but_not_wrong(near, solver):
    rng = np.random.default_rng(0)

    def guess(states):
        return Evaluation(rng.uniform(-1, 3, len(states)).astype(np.float32))

    depth = min(3, int(np.log(10_000) / np.log(len(near.puzzle.generators))))  # with so many states at most
    states = near.puzzle.scramble(5, depth, seed=6).states
    for state, answer in zip(states, solver(near.puzzle, states, guess, **FEWER.get(solver.name, {}))):
        assert answer.solved or solver in map(get_solver, NO_WAY_BACK)
        assert not answer.solved or solves(near.puzzle, state, answer)


@pytest.mark.parametrize(
    'limits', (dict(max_nodes=100), dict(time_limit=1e-9), dict(max_moves=1, simulations=10))
)
def test_limits_end_in_not_solved(near, solver, limits):
    states = near.puzzle.scramble(20, 25, seed=2).states
    states = states[near.distance(states) < 0][:3]  # beyond the table: more than five moves from solved
    known = solver.options.model_fields
    if not limits.keys() <= known.keys() or (solver is get_solver('meet') and is_complete(near.puzzle)):
        pytest.skip('the solver has no such limit, or a table that answers at once')
    if solver is get_solver('improve') and 'time_limit' in limits:
        pytest.skip('it has a second for a first answer, whatever the limit (tests/search/test_improve.py)')
    if 'radius' in known:  # a small table, which does not solve by itself
        limits = dict(limits, radius=2)
    for answer in solver(near.puzzle, states, blind, **limits):
        assert not answer.solved and answer.moves == () and str(answer) == 'not solved'


def test_no_states_no_answers(near, solver):
    assert solver(near.puzzle, near.puzzle.goals[:0], exact_evaluator(near)) == []


# A toy that is no cube: moves of order three, five colours, no symmetries, no pieces, one orientation.
TRIANGLES = Puzzle(
    'triangles',
    solved=np.arange(5, dtype=np.uint8),
    moves=np.array([[1, 2, 0, 3, 4], [2, 0, 1, 3, 4], [0, 1, 3, 4, 2], [0, 1, 4, 2, 3]], np.int16),
    move_names=('L', "L'", 'R', "R'"),
    rotations=np.arange(5, dtype=np.int16)[None],
    symmetries=np.arange(5, dtype=np.int16)[None],
)
ON_TRIANGLES = [
    ('greedy', {}), ('bwas', dict(batch_size=3)), ('beam', dict(width=4)), ('beam', dict(width=4, radius=1)),
    ('improve', dict(time_limit=1)), ('improve', dict(time_limit=1, radius=1)),
]  # fmt: skip


@pytest.mark.parametrize('name, options', ON_TRIANGLES)
def test_shortest_on_every_state_of_a_puzzle_with_moves_of_order_three(name, options):
    table = bfs(TRIANGLES)
    assert table.complete and len(table) == 60
    states = np.concatenate([table.layer(depth) for depth in range(len(table.ends))])
    answers = get_solver(name)(TRIANGLES, states, exact_evaluator(table), **options)
    assert [len(a) for a in answers] == table.distance(states).tolist()


COUNTED = [  # the second move of two is in the table of `improve`
    ('greedy', {}, 1), ('bwas', dict(batch_size=1), 1), ('beam', dict(radius=0), 1),
    ('improve', dict(radius=1), 2), ('ida', dict(patterns=SMALL_VIEWS), 1),
]  # fmt: skip


@pytest.mark.parametrize('name, options, depth', COUNTED)
def test_nodes_counted_by_hand(name, options, depth):
    "One node is expanded, the start: its children are what is generated, and one of them is known."
    puzzle = get_puzzle('cube3')
    near = bfs(puzzle, depth)
    for answer in get_solver(name)(puzzle, near.layer(depth)[:5], exact_evaluator(near), **options):
        assert (answer.expanded, answer.generated) == (1, len(puzzle.generators)) and len(answer) == depth
