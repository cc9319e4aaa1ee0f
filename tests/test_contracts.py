"Every puzzle with every solver and with every method of learning: what registers itself is under contract."

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
import torch
from conftest import PAIRS
from evaluators import blind

from cube_nb.cube.keys import keys_of, unpack
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import is_complete, states_near_solved
from cube_nb.depth.evaluator import exact_evaluator
from cube_nb.learn.loop import get_method, method_names, train
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network, save_network
from cube_nb.search.core import get_solver, solver_names

NEAR = 4  # moves from solved
DEFINED = sorted((Path(__file__).parents[1] / 'data/puzzles').iterdir())  # files of definitions
LIMIT, SLACK = 0.4, 3.0  # seconds; the second on a machine that has other work
SOLVER_PAIRS = [(puzzle, solver) for puzzle in puzzle_names() for solver in solver_names(puzzle)]
METHOD_PAIRS = [(puzzle, method) for puzzle in puzzle_names() for method in method_names()]


@pytest.fixture(params=[*puzzle_names(), *map(str, DEFINED)], ids=lambda name: Path(name).name)
def puzzle(request):
    return get_puzzle(request.param)


# --- every puzzle -------------------------------------------------------------------------------------------
def test_moves_are_permutations_with_inverses(puzzle):
    facelets = np.arange(puzzle.num_facelets)
    assert (np.sort(puzzle.moves, axis=1) == facelets).all()
    for move, inverse in zip(puzzle.moves, puzzle.inverse_moves):
        assert (move[puzzle.moves[inverse]] == facelets).all()
    assert len(set(puzzle.move_names)) == puzzle.num_moves == len(puzzle.moves)


def test_goals_are_solved_and_symmetries_keep_them(puzzle):
    assert puzzle.is_solved(puzzle.goals).all()
    for symmetry, names in zip(puzzle.symmetries, puzzle.colour_maps):
        assert (names[puzzle.solved[symmetry]] == puzzle.solved).all()


def test_scrambles_are_possible_and_keys_lose_nothing(puzzle):
    scramble = puzzle.scramble(50, np.arange(50), seed=1)
    assert puzzle.is_possible(scramble.states).all()
    keys = keys_of(puzzle, scramble.states)
    assert (keys_of(puzzle, unpack(puzzle, keys)) == keys).all()


def test_words_are_written_and_read(puzzle):
    for word in puzzle.scramble(20, 9, seed=2).moves.tolist():
        assert parse(puzzle, format_word(puzzle, word)) == word


def test_random_states_are_possible(puzzle):
    states = puzzle.random_states(20, seed=3)
    assert puzzle.is_possible(states).all() and (states == puzzle.random_states(20, seed=3)).all()
    assert len(np.unique(states, axis=0)) > 1


def test_inverses_of_states_undo_their_words(puzzle):
    if not puzzle.has_inverse:
        pytest.skip('several orientations count as solved, or pieces look the same')
    scramble = puzzle.scramble(20, 12, seed=4)
    words = puzzle.inverse_moves[scramble.moves[:, ::-1].astype(int)]
    expected = [puzzle.apply_word(puzzle.solved, word) for word in words]
    assert (puzzle.inverse(scramble.states) == np.stack(expected)).all()


# --- every puzzle x every solver ----------------------------------------------------------------------------
@pytest.mark.parametrize('name, solver', SOLVER_PAIRS)
def test_solver_contract(name, solver):
    "Near states are solved; what is solved needs nothing; a limit that cannot be met is no solution, not an error."
    PAIRS['solver'] += 1
    puzzle = get_puzzle(name)
    solve = get_solver(solver)
    near = states_near_solved(puzzle, NEAR)
    evaluator = exact_evaluator(near) if solve.needs else None
    scramble = puzzle.scramble(3 * NEAR, np.arange(3 * NEAR) % NEAR + 1, seed=5)
    answers = solve(puzzle, scramble.states, evaluator, **solve.small)
    assert len(answers) == len(scramble.states)
    for state, answer in zip(scramble.states, answers):
        assert answer.solved and answer.puzzle is puzzle
        assert puzzle.is_solved(puzzle.apply_word(state, answer.moves)[None])[0]
        read = parse(puzzle, str(answer))  # a half turn is read as it is written, without a prime
        assert len(read) == len(answer)
        assert (puzzle.word_permutation(read) == puzzle.word_permutation(answer.moves)).all()
        # a node has a child for each move at most, and only what was expanded has any
        assert answer.expanded <= answer.generated <= puzzle.num_moves * answer.expanded
    for answer in solve(puzzle, puzzle.goals[:2], evaluator, **solve.small):
        assert answer.solved and answer.moves == () and answer.generated == answer.expanded == 0


@pytest.mark.parametrize('solver', solver_names())
def test_a_limit_is_for_each_state(solver):
    "Four far states may take four limits, and the seconds of all are no more than passed."
    able = [get_puzzle(name) for name, known in SOLVER_PAIRS if known == solver]
    puzzle = next(puzzle for puzzle in able if not is_complete(puzzle))
    solve = get_solver(solver)

    evaluator = blind if solve.needs else None
    states = puzzle.random_states(4, seed=7)
    solve(puzzle, states[:1], evaluator, **solve.small, time_limit=1e-9)  # tables and kernels
    start = perf_counter()
    answers = solve(puzzle, states, evaluator, **solve.small, time_limit=LIMIT)
    wall = perf_counter() - start
    seconds = [answer.seconds for answer in answers]
    assert len(answers) == 4 and wall < 4 * LIMIT + SLACK
    assert min(seconds) > 0 and sum(seconds) <= wall


# --- every puzzle x every method of learning ----------------------------------------------------------------
@pytest.mark.parametrize('name, method', METHOD_PAIRS)
def test_trainer_contract(name, method, tmp_path):
    "Training ends, the network is saved and loaded, and solves what is one move away. tests/learn/test_resume.py goes on."
    PAIRS['trainer'] += 1
    method = get_method(method)
    config = method.small_config(name).model_copy(update={'iterations': 25})  # a round of self-play
    learner = method.learner(config)
    log = train(learner, progress=False)
    assert np.isfinite(log.loss).all() and learner.step == config.iterations
    path = tmp_path / 'network.safetensors'
    save_network(learner.network, path, {'method': 'a test'}, torch.float32)
    puzzle = get_puzzle(name)
    states = puzzle.scramble(20, 6, seed=6).states
    before = network_evaluator(learner.network, 'cpu', torch.float32)
    after = network_evaluator(load_network(path), 'cpu', torch.float32)
    np.testing.assert_equal([*after(states)], [*before(states)])
    children = puzzle.neighbours(puzzle.solved[None])[0]
    assert all(answer.solved for answer in get_solver('bwas')(puzzle, children, after, max_nodes=2000))
