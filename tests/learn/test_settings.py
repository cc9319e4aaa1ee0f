"Training runs: older checkpoints still count, and settings are what they say."

import json
from functools import partialmethod

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from trainings import small_learner

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn import walks
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Budget, Callback, TrainConfig, get_method, method_names, read_config, train
from cube_nb.learn.loop import write_checkpoint
from cube_nb.learn.walks import WalkLearner, WalksConfig
from cube_nb.nets.weights import load_network

SETTINGS = [
    'network.puzzle=cube2', 'network.hidden=[32, 16]', 'network.blocks=1', 'iterations=400',
    'batch_size=100', 'checkpoint_every=25', 'log_every=10', 'max_depth=8', 'device=cpu',
]  # fmt: skip


def short(*settings):
    "A configuration of 20 steps."
    return read_config(DaviConfig, None, [*SETTINGS, 'iterations=20', 'batch_size=20', *settings])


def test_checkpoint_without_younger_options(tmp_path):
    train(DaviLearner(short('check_every=10')), tmp_path, progress=False)
    saved = torch.load(tmp_path / 'checkpoint.pt', weights_only=True)
    config = json.loads(saved['config'])
    for option in 'loss', 'growth', 'depth_power':
        del config[option]
    for option in 'normalise', 'activation', 'head_hidden':
        del config['network'][option]
    write_checkpoint(tmp_path / 'checkpoint.pt', saved | dict(config=json.dumps(config)))
    assert list(train(DaviLearner(short('check_every=10')), tmp_path, progress=False).step) == [10, 20]
    other = DaviLearner(short('check_every=10', 'loss=huber'))
    with pytest.raises(ValueError, match='another configuration'):
        train(other, tmp_path, progress=False)


def test_growth_stops_at_the_longest_walk():
    learner = DaviLearner(short('check_every=1', 'threshold=1000', 'growth=true', 'max_depth=4'))
    longest = []
    for step in range(6):
        longest.append(int(learner.walks(step).depths.max()))
        learner.after_step(learner.take_step())
    assert longest == [1, 2, 3, 4, 4, 4]


def test_goes_on_from_a_network_with_fewer_blocks():
    shipped = load_network('cube2-davi')
    learner = DaviLearner(short('start=cube2-davi', 'network.hidden=[512, 256]', 'network.blocks=3'))
    states = torch.from_numpy(learner.puzzle.scramble(50, 9, seed=0).states)
    assert torch.equal(learner.network.eval()(states)['value'], shipped(states)['value'])
    learner.take_step()
    assert not torch.equal(learner.network.eval()(states)['value'], shipped(states)['value'])
    with pytest.raises(ValueError, match='fewer blocks'):
        DaviLearner(short('start=cube2-davi'))


BAD_SETTINGS = {  # of the short run of a method -> what is said
    'davi loss=mae': 'loss', 'davi depth_power=nan': 'depth_power', 'davi depth_power=.nan': 'depth_power',
    'davi depth_power=9': 'depth_power', 'davi growth=maybe': 'growth', 'dqn stages=[]': 'stages',
    'adi network.heads=[value]': 'value, policy', 'adi loss=huber': "loss: expected 'mse'",
    'adi target=none': 'target', 'adi weights=1': 'weights', 'adi entropy=-1': 'entropy',
    'alphazero simulations={2: 5}': 'length 1', 'alphazero target=luck': 'target', 'dqn n_step=0': 'n_step',
    'alphazero noise=2': 'noise', 'alphazero curriculum=[]': 'curriculum',
}  # fmt: skip


@pytest.mark.parametrize('words', BAD_SETTINGS)
def test_bad_settings(words):
    method, _, setting = words.partition(' ')
    with pytest.raises(ValueError, match=BAD_SETTINGS[words]) as caught:
        small_learner(method, setting)
    assert not isinstance(caught.value, ValidationError)


def test_a_batch_is_full_even_where_most_walks_end_in_test_states(monkeypatch):
    "Near the goal of a small puzzle more than a sixteenth of the walks may end in states that are set aside."
    puzzle = get_puzzle('cube2')
    monkeypatch.setattr(walks, 'is_test_state', lambda puzzle, states: np.arange(len(states)) % 4 > 0)
    some = walks.training_walks(puzzle, 200, max_depth=3, seed=0)
    assert [len(part) for part in some] == [200, 200, 200]
    before = puzzle.apply(some.states, puzzle.inverse_moves[some.last_moves])
    assert puzzle.is_solved(before)[some.depths == 1].all()


def test_walks_may_be_longer_than_the_horizon_where_no_distribution_is_taught():
    long = [*SETTINGS[:-2], 'max_depth=100', 'device=cpu', 'iterations=2', 'batch_size=20']
    learner = WalkLearner(read_config(WalksConfig, None, long))
    assert len(train(learner, progress=False)) == 1 and learner.walks(0).depths.max() > learner.puzzle.horizon
    with pytest.raises(ValueError, match='at most 30 moves'):
        WalkLearner(read_config(WalksConfig, None, [*long, 'network.heads=[value, distribution]']))


class Notes(Callback):
    "What happened, in order."

    def __init__(self):
        self.events = []

    def note(self, learner, what, event):
        self.events.append((event, what if event == 'stage' else learner.step))

    on_step = partialmethod(note, event='step')
    on_row = partialmethod(note, event='row')
    on_stage = partialmethod(note, event='stage')
    on_checkpoint = partialmethod(note, event='checkpoint')


def test_callbacks_follow_a_training(tmp_path):
    growing = ['check_every=2', 'threshold=1000', 'growth=true', 'max_depth=3', 'log_every=3', 'iterations=6']
    notes = Notes()
    train(DaviLearner(short(*growing, 'checkpoint_every=4')), tmp_path, progress=False, callbacks=[notes])
    others = [event for event in notes.events if event[0] != 'step']
    assert [event for event in notes.events if event not in others] == [('step', n) for n in range(1, 7)]
    expected = [('stage', 0), ('row', 3), ('stage', 1), ('checkpoint', 4), ('row', 6), ('checkpoint', 6)]
    assert others == expected and notes.events.index(('stage', 0)) < notes.events.index(('step', 2))


def test_a_budget_of_steps_is_for_all_pieces_together(tmp_path):
    logs = [
        train(DaviLearner(short('log_every=1')), tmp_path, progress=False, budget=Budget(steps=steps))
        for steps in (5, 5, 8)
    ]
    assert [list(log.step) for log in logs] == [[*range(1, n + 1)] for n in (5, 5, 8)]
    assert list(logs[-1].loss) == list(train(DaviLearner(short('log_every=1')), progress=False).loss[:8])


def depth_above(kind):
    "Classes between the settings of a method and those of every training."
    above = [base for base in kind.__bases__ if issubclass(base, TrainConfig)]
    return 1 + max(map(depth_above, above)) if above else 0


@pytest.mark.parametrize('method', method_names())
def test_settings_of_methods_are_not_derived_more_than_twice(method):
    assert 1 <= depth_above(get_method(method).config) <= 2


@pytest.mark.parametrize('puzzle', ['pyraminx', pytest.param('cube2-htm', marks=pytest.mark.slow)])
def test_expected_depths_of_puzzles_that_can_be_counted(puzzle):
    "After few moves the expected depth is their number; after many it stays below the largest."
    depths = walks.value_labels(get_puzzle(puzzle), 12, 'depth')
    assert depths[:2].tolist() == [0, 1] and (depths.diff()[:5] > 0).all() and depths.max() <= 11
