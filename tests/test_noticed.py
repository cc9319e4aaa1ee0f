"Bugs that were once planted, by hand or by benchmarks/mutants.py, and that nothing noticed: a test for each."

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from evaluators import blind

from cube_nb.cube.drawing import sticker
from cube_nb.cube.keys import canonical, keys_of
from cube_nb.cube.pieces import piece_kind
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.evaluator import advantages_to_policy
from cube_nb.learn.davi import DaviLearner, bellman_backup, child_costs
from cube_nb.learn.dqn import DqnLearner
from cube_nb.learn.loop import get_method, train
from cube_nb.measure.evaluate import depth_scrambles, summarise
from cube_nb.workshop.profiles import check_profile, parameters_class
from cube_nb.workshop.results import Run
from cube_nb.search import beam
from cube_nb.exact.patterns import PatternBound

CUBE2 = get_puzzle('cube2')


@pytest.mark.parametrize('name', ['cube2', 'cube3', 'pyraminx', 'skewb'])
def test_the_goal_costs_nothing_among_the_children(name):
    "Whatever the older network says of it."
    puzzle = get_puzzle(name)
    near = puzzle.neighbours(puzzle.solved[None], puzzle.generators)[0]
    states = torch.from_numpy(np.stack([puzzle.solved, *near]))
    costs = child_costs(puzzle, states, lambda states: torch.full((len(states),), 5.0))
    targets = bellman_backup(puzzle, states, costs)
    assert targets.tolist() == [0, *[1] * len(near)]


def test_the_goal_costs_nothing_in_the_batches_of_a_learner():
    learner = DaviLearner(get_method('davi').small_config('cube2').model_copy(update={'max_depth': 1}))
    with torch.no_grad():
        for parameter in learner.target.network.parameters():
            parameter.zero_()
        learner.target.network.head.bias.fill_(5)
    batch = learner.batch(0)
    solved = CUBE2.is_solved(batch.states)
    assert batch.targets['value'].tolist() == torch.where(solved, 0, 1).tolist() and not solved.all()


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution():
    "Half the width of a 95 % interval is 1.96 standard errors."
    lengths = [10, 12, 14, 16]
    effort = dict(generated=1, expanded=1, seconds=1.0)
    row = summarise(pd.DataFrame(dict(solved=True, length=lengths, distance=9, **effort))).iloc[0]
    assert row.mean_length == 13
    assert row.mean_length_error == pytest.approx(1.96 * np.sqrt((9 + 1 + 1 + 9) / 3 / 4))
    assert row.excess_error == pytest.approx(row.mean_length_error)


def test_moves_back_cost_more():
    "A move back to a state of the episode costs what the configuration says."
    config = get_method('dqn').small_config('cube2').model_copy(update={'revisit_reward': -3.5})
    learner = DqnLearner(config)
    learner.begin_stage()
    before = [{state.tobytes()} for state in canonical(CUBE2, learner.running.episodes.states)]
    costs = {True: set(), False: set()}
    for _ in range(60):
        learner.play_round()
        played = learner.running.recent[-1]
        for k, key in enumerate(state.tobytes() for state in canonical(CUBE2, played.after)):
            costs[key in before[k]].add(played.costs[k])
            before[k].add(key)
            if played.ended[k]:
                before[k] = {canonical(CUBE2, learner.running.episodes.states[k, None]).tobytes()}
    assert costs == {True: {3.5}, False: {1.0}}


def test_a_player_asks_the_network_as_it_is_after_training():
    "In training mode, batch normalisation would mix the states of a batch, and learn from them."
    config = get_method('dqn').small_config('cube2')
    network = config.network.model_copy(update={'normalise': 'batch'})
    learner = DqnLearner(config.model_copy(update={'network': network}))
    states = torch.from_numpy(CUBE2.neighbours(CUBE2.solved[None], CUBE2.generators)[0])
    learner.network.train()
    together = learner.current_q_values(states)
    alone = torch.cat([learner.current_q_values(state[None]) for state in states])
    assert torch.allclose(together, alone, atol=1e-5)


def test_a_beam_does_not_go_back(monkeypatch):
    "A layer has no state of the two layers before it."
    state = CUBE2.scramble(1, 30, seed=1).states[0]
    states = [state[None]]
    next_layer = beam.next_layer

    def noted(*arguments):
        layer = next_layer(*arguments)
        states.append(layer.states.numpy())
        return layer

    monkeypatch.setattr(beam, 'next_layer', noted)
    beam.beam_pass(CUBE2, state, blind, 300, states_near_solved(CUBE2, 1), beam.BeamLimits(8))
    keys = [{*map(tuple, keys_of(CUBE2, each).tolist())} for each in states]
    assert len(keys) > 5 and [*map(len, keys)] == [*map(len, states)]
    for layer, before, above in zip(keys[1:], keys, [set(), *keys]):
        assert not layer & before and not layer & above


def test_a_sticker_is_the_same_everywhere():
    "Wherever it lies; and it is straight between its round corners."
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    here = sticker(square)
    assert np.allclose(sticker(square + [3, -4]), here + [3, -4])
    assert np.allclose([here.min(), here.max()], [0.07, 0.93])
    bottom = here[np.isclose(here[:, 1], here[:, 1].min())][:, 0]
    assert np.ptp(bottom) == pytest.approx(0.86 * (1 - 2 * 0.23))


def test_bounds_of_a_puzzle_with_two_solved_states_are_refused():
    two = replace(CUBE2, rotations=CUBE2.rotations[:2])
    assert len(two.goals) == 2
    with pytest.raises(ValueError, match='expected a puzzle with one solved state: cube2 has 2'):
        PatternBound(two, [])


def test_the_bar_of_a_training_shows_loss_and_speed(capsys, monkeypatch):
    monkeypatch.delenv('TQDM_DISABLE', raising=False)
    found = get_method('walks')
    log = train(found.learner(found.small_config('cube2')), progress=True)
    shown = capsys.readouterr().err
    assert f'loss={log.loss.iloc[-1]:.4f}' in shown and 'states_per_s=' in shown


def test_the_scrambles_of_a_depth_do_not_change():
    "Else rows that an earlier version kept could not be gone on with."
    cube3 = get_puzzle('cube3')
    assert depth_scrambles(cube3, 2, 4, seed=1)[1] == ["U' R' U' R", "D' U L' R'"]
    assert depth_scrambles(cube3, 2, 4, seed=2)[1] == ["B L' D' R", "B U F' R"]


def test_advantages_that_are_far_apart_make_a_policy():
    "As of a network that failed or of an exact table with a wide scale: no overflow."
    policy = advantages_to_policy(np.array([[0.0, 5e4, 5e4], [5e4, 0.0, 0.0]], np.float32), temperature=1.0)
    assert np.allclose(policy, [[1, 0, 0], [0, 0.5, 0.5]])


def test_a_section_of_a_profile_that_is_left_empty():
    "It is nothing, and not None."
    found = check_profile({'seed': 1, 'experiments': None}, {}, 'p.yaml')
    assert found == dict(seed=1, experiments={}, costs={})
    declared = {'one': parameters_class('one', {'size': ('int', 3)})}
    assert check_profile({'experiments': {'one': None}}, declared, 'p.yaml')['experiments'] == {}


@pytest.mark.parametrize('dirty, said', [(False, ''), (True, ' with uncommitted changes')])
def test_a_run_says_what_it_is(dirty, said):
    named = SimpleNamespace(name='one')
    run = SimpleNamespace(experiment=named, profile='cpu', parameters=dict(seed=1), state=dict(dirty=dirty))
    assert Run.__repr__(run) == "Run(one, profile cpu, {'seed': 1})" + said


@pytest.mark.parametrize('name, other', [('cube3', 'edge'), ('skewb', 'centre')])
def test_pieces_are_called_by_their_stickers(name, other):
    puzzle = get_puzzle(name)
    assert {piece_kind(puzzle, k) for k in range(len(puzzle.pieces))} == {'corner', other}
