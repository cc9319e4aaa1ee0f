"Many states in one call, several solutions of one state, and both metrics."

from time import monotonic

import numpy as np
import pytest

from cube_nb.cube.costs import read_costs, word_cost
from cube_nb.cube.notation import length_htm, length_qtm, parse
from cube_nb.cube.puzzle import get_puzzle, puzzle_entry
from cube_nb.depth.bfs import complete_table, states_near_solved
from cube_nb.depth.evaluator import exact_evaluator
from cube_nb.search.core import NOTHING, SOLVERS, Solution, get_solver, register_solver, verified
from cube_nb.solving import ordered_word, setup, solutions, solve


def scrambles(name, count, depth, seed=1):
    return list(get_puzzle(name).scramble(count, depth, seed).states)


@pytest.mark.parametrize(
    'name, solver', [('cube2', None), ('cube2', 'mcts'), ('cube2-htm', None), ('pyraminx', None)]
)
def test_a_list_is_solved_in_its_order(name, solver):
    states = scrambles(name, 12, [0, 1, 3, 5, 8, 9, 10, 11, 4, 7, 9, 2])
    answers = solve(states, name, solver)
    assert len(answers) == len(states) and all(answer.solved for answer in answers)
    for state, answer in zip(states, answers):
        verified(state, answer)
    if solver is None:  # what is near is looked up, also among states that are far
        assert [len(answer) for answer in answers[:4]] == [len(solve(state, name)) for state in states[:4]]


def test_a_list_of_none_and_one_state_as_numbers():
    assert solve([], 'cube2') == [] and solve(get_puzzle('cube2').solved.tolist(), 'cube2').moves == ()
    assert [str(answer) for answer in solve(['R', 'U2', 'F'], 'cube2')] == ["R'", 'U2', "F'"]


def test_more_states_than_fit_together(monkeypatch):
    "In parts of three, the answers are the same and in order."
    import cube_nb.solving

    monkeypatch.setattr(cube_nb.solving, 'MOST_TOGETHER', 3)
    states = scrambles('cube2', 8, 9, seed=3)
    chosen = setup('cube2').within(7)
    assert chosen.together() == 3
    for state, answer in zip(states, chosen.run_all(np.stack(states))):
        assert answer.solved and verified(state, answer)


@pytest.fixture
def idle():
    "A solver that takes many states together and counts no nodes; the numbers of states that it was given."
    given = []

    def idle(puzzle, states, evaluator, options):
        given.append(len(states))
        return [Solution(puzzle, False) for _ in states]

    register_solver('idle', idle, needs=NOTHING, together=True)
    yield given
    del SOLVERS['idle']


def test_a_solver_without_a_limit_of_nodes_searches_side_by_side(idle):
    assert 1 < setup('cube2', 'idle').within(0.1).together() <= 100
    assert setup('cube2', 'idle').together() == 1, 'any time may take any memory'
    assert not any(answer.solved for answer in solve(['R', 'U', 'F'], 'cube2', 'idle', time_limit=0.1))
    assert idle[-1] == 3
    assert not any(answer.solved for answer in solve(['R U F', 'U R', 'F'], 'cube2', 'idle'))


@pytest.mark.parametrize('name, solver', [('cube2', 'bwas'), ('cube2-htm', None), ('pyraminx', 'beam')])
def test_what_a_complete_table_was_asked_for_is_proved(name, solver):
    "Without being asked; a solution that is longer is not called a shortest one."
    states = np.stack(scrambles(name, 5, 11, seed=6))
    distances = complete_table(get_puzzle(name)).distance(states).tolist()
    answers = solve(list(states), name, solver, 'exact', time_limit=60)
    assert [answer.lower_bound for answer in answers] == distances
    assert all(answer.optimal == (len(answer) == distance) for answer, distance in zip(answers, distances))
    assert any(answer.optimal for answer in answers)
    learned = solve(list(states), 'cube2', 'bwas', 'cube2-davi') if name == 'cube2' else []
    assert not any(answer.lower_bound for answer in learned)


@pytest.mark.parametrize('name, count', [('cube2', 5), ('cube2-htm', 5), ('cube3', 3), ('skewb', 2)])
def test_several_solutions(name, count):
    puzzle = get_puzzle(name)
    depth = 8 if name == 'cube3' else puzzle_entry(name).scramble_depth
    for state in scrambles(name, 2, depth, seed=4):
        found = solutions(state, count, name, time_limit=20)
        assert len({ordered_word(puzzle, answer.moves) for answer in found}) == len(found) <= count
        assert [len(answer) for answer in found] == sorted(len(answer) for answer in found)
        for answer in found:
            assert answer.solved and verified(state, answer)
        # eight moves of the 3x3x3 have one short solution, and no detour is as short
        assert len(found) == count or name == 'cube3'


@pytest.mark.slow
def test_several_solutions_of_a_full_scramble_take_no_longer_than_allowed():
    state = scrambles('cube3', 1, 100, seed=5)[0]
    solutions(state, 1, time_limit=2)
    start = monotonic()
    found = solutions(state, 3, time_limit=6)
    assert monotonic() - start < 6 + 4 and len(found) >= 1
    assert all(verified(state, answer) for answer in found)


def test_several_solutions_of_a_solved_puzzle():
    assert [answer.moves for answer in solutions('', 3, 'cube2')] == [()]
    with pytest.raises(ValueError, match='count must be at least 1, got 0'):
        solutions('R', 0)


@pytest.mark.parametrize('name', ['cube2', 'cube3'])
def test_both_metrics(name):
    quarters, halves = get_puzzle(name), get_puzzle(f'{name}-htm')
    for word in ('R2 U2', 'F2 R U2', "L2 D' B2"):
        one, other = solve(word, name, metric='qtm'), solve(word, name, metric='htm')
        assert (one.puzzle, other.puzzle) == (quarters, halves)
        assert one.qtm == len(one) == length_qtm(quarters, parse(quarters, str(other)))
        assert other.htm == len(other) == length_htm(quarters, one.moves) <= one.qtm
    assert str(solve(word, f'{name}-htm', metric='qtm')) == str(solve(word, name))


@pytest.mark.parametrize(
    'name, solver', [('cube2', 'bwas'), ('cube2', 'mcts'), ('cube3', 'beam'), ('pyraminx', 'beam')]
)
def test_any_solver_may_ask_all_views(name, solver):
    "Exact distances are the same in every view, and what a network says of one is solved all the same."
    options = dict(width=50) if solver == 'beam' else {}
    states = scrambles(name, 3, [2, 5, 8])
    options |= dict(model='exact' if puzzle_entry(name).complete else None, time_limit=60)
    plain, seen = (solve(states, name, solver, views=views, **options) for views in (False, True))
    for state, answer in zip(states, seen):
        assert answer.solved and verified(state, answer)
    if options['model']:
        assert [len(answer) for answer in seen] == [len(answer) for answer in plain]


@pytest.mark.parametrize('metric', ['qtm', 'htm'])
def test_the_cheapest_solution_is_chosen(metric):
    puzzle = get_puzzle({'qtm': 'cube3', 'htm': 'cube3-htm'}[metric])
    cost = 'R=2.5,L=2.5'
    costs = read_costs(puzzle, cost)
    evaluator = exact_evaluator(states_near_solved(puzzle, 4))
    for state in puzzle.scramble(4, [1, 2, 3, 4], seed=4).states:
        (plain,) = get_solver('beam')(puzzle, state[None], evaluator, width=100, radius=1)
        (cheap,) = get_solver('beam')(puzzle, state[None], evaluator, width=100, radius=1, cost=cost)
        assert verified(state, cheap).solved
        assert word_cost(puzzle, cheap.moves, costs) <= word_cost(puzzle, plain.moves, costs)


@pytest.mark.slow
def test_costs_are_followed_in_all_views():
    puzzle = get_puzzle('cube3')
    cost = 'F=3,B=3'
    chosen = setup('cube3', cost=cost).within(6)
    found = chosen.distinct_solutions(puzzle.random_states(1, seed=6)[0], 2)
    prices = [word_cost(puzzle, answer.moves, read_costs(puzzle, cost)) for answer in found]
    assert len(found) == 2 and prices == sorted(prices) == [chosen.price(answer) for answer in found]
    with pytest.raises(ValueError, match="solver 'kociemba'.*cost"):
        solve('R U', solver='kociemba', cost=cost)
