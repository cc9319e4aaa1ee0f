"""
Contracts over the registries: every puzzle with every solver, and every puzzle with every method of learning.

No puzzle, solver or method is named here. What registers itself is under contract from then on.
"""

import numpy as np
import pytest
import torch
from conftest import PAIRS
from interrupted import Interrupted, stop_at

from cube_nb.cube.keys import keys_of, unpack
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.evaluator import exact_evaluator
from cube_nb.learn.loop import get_method, method_names, train
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network, save_network
from cube_nb.search.core import get_solver, solver_names

NEAR = 4  # moves from solved
SOLVER_PAIRS = [(puzzle, solver) for puzzle in puzzle_names() for solver in solver_names(puzzle)]
METHOD_PAIRS = [(puzzle, method) for puzzle in puzzle_names() for method in method_names()]


@pytest.fixture(params=puzzle_names())
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
    assert puzzle.is_possible(states).all()
    assert (states == puzzle.random_states(20, seed=3)).all()
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
    evaluator = exact_evaluator(near) if solve.evaluated else None
    options = solve.small()
    scramble = puzzle.scramble(3 * NEAR, np.arange(3 * NEAR) % NEAR + 1, seed=5)
    answers = solve(puzzle, scramble.states, evaluator, **options)
    assert len(answers) == len(scramble.states)
    for state, answer in zip(scramble.states, answers):
        assert answer.solved and answer.puzzle is puzzle
        assert puzzle.is_solved(puzzle.apply_word(state, answer.moves)[None])[0]
        assert parse(puzzle, str(answer)) == list(answer.moves)
    for answer in solve(puzzle, puzzle.goals[:2], evaluator, **options):
        assert answer.solved and answer.moves == ()


# --- every puzzle x every method of learning ----------------------------------------------------------------


@pytest.mark.parametrize('name, method', METHOD_PAIRS)
def test_trainer_contract(name, method, tmp_path):
    "Training ends, resumes to the same weights, saves and loads, and the network solves what is one move away."
    PAIRS['trainer'] += 1
    method = get_method(method)
    config = method.small_config(name)
    whole = method.learner(config)
    log = train(whole, tmp_path / 'whole', progress=False)
    assert np.isfinite(log.loss).all() and whole.step == config.iterations

    broken = method.learner(config)
    stop_at(broken, config.iterations * 2 // 3)
    with pytest.raises(Interrupted):
        train(broken, tmp_path / 'broken', progress=False)
    resumed = method.learner(config)
    train(resumed, tmp_path / 'broken', progress=False)
    for (key, one), other in zip(whole.network.state_dict().items(), resumed.network.state_dict().values()):
        assert torch.equal(one, other), f'{key} differs after an interruption'

    path = save_network(whole.network, tmp_path / 'network.safetensors', {'method': 'a test'}, torch.float32)
    network = load_network(path)
    states = network.puzzle.scramble(20, 6, seed=6).states
    evaluator = network_evaluator(network, 'cpu', torch.float32)
    again = network_evaluator(whole.network, 'cpu', torch.float32)
    for one, other in zip(evaluator(states), again(states)):
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other)

    children = network.puzzle.neighbours(network.puzzle.solved[None])[0]
    assert all(
        answer.solved for answer in get_solver('bwas')(network.puzzle, children, evaluator, max_nodes=2000)
    )
