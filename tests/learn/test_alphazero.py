"Self-play: the same games as a plain version, sound targets, a curriculum."

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given, settings, strategies as st
from evaluators import wrong_evaluator
from plain_published import held_game
from plain_selfplay import plain_episode
from trainings import AS_PUBLISHED

from cube_nb.cube.keys import canonical, is_test_state, pack
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.learn.alphazero import AlphaZeroConfig, AlphaZeroLearner, outcome_targets, visit_distribution
from cube_nb.learn.loop import read_config, train, write_checkpoint
from cube_nb.nets.networks import Network, to_evaluation
from cube_nb.search.selfplay import PUBLISHED_RULES, SelfPlay, alphazero_rules, choose_moves, play_games
from cube_nb.depth.evaluator import exact_evaluator

CONFIG = Path(__file__).parents[2] / 'workflow/configs/alphazero-cube2.yaml'
SMALL = [
    'network={puzzle: cube2, hidden: [32, 16], blocks: 0, normalise: layer, heads: [outcome, policy]}',
    'curriculum=[1, 2, 3]', 'window=2', 'episodes=10', 'simulations={1: 8}', 'max_moves=5', 'updates=4',
    'iterations=20', 'batch_size=16', 'learning_rate=1e-3', 'log_every=4', 'checkpoint_every=4', 'buffer=60',
    'device=cpu',
]  # fmt: skip
cube2 = get_puzzle('cube2')


def learner(*settings):
    return AlphaZeroLearner(read_config(AlphaZeroConfig, None, [*SMALL, *settings]))


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(['cube2', 'cube3']).map(get_puzzle), st.sampled_from([0.05, 0.5, 1.5]),
    st.sampled_from([0, 0.2, 1.0]), st.sampled_from([0, 0.25]), st.integers(1, 30), st.integers(0, 6),
    st.integers(0, 99),
)  # fmt: skip
def test_same_games_as_the_plain_version(puzzle, exploration, temperature, noise, simulations, depth, seed):
    cubes, most = 4, 6
    states, evaluator = puzzle.scramble(cubes, depth, seed).states, wrong_evaluator(puzzle, worst=60)
    rules = alphazero_rules(exploration)
    how = SelfPlay(simulations=simulations, max_moves=most, temperature=temperature, noise=noise)
    games = play_games(puzzle, states, evaluator, rules, how, seed)
    rng = np.random.default_rng(seed)
    rolls = rng.random((most, cubes))
    dirichlet = rng.dirichlet(np.ones(len(puzzle.generators)), (most, cubes) if noise else 0)
    total = 0
    for b, state in enumerate(states):
        chance = rolls[:, b], dirichlet[:, b] if noise else None
        positions, solved, searches = plain_episode(puzzle, state, evaluator, rules, how, *chance)
        mine, total = np.flatnonzero(games.episode == b), total + searches
        assert solved == games.solved[b] and len(positions) == len(mine) == games.steps[b]
        assert list(games.move[mine]) == list(range(len(mine)))
        for k, (position, visits, value, a) in zip(mine, positions):
            assert np.array_equal(position, games.states[k]) and visits == list(games.visits[k])
            assert a == games.actions[k] and value == pytest.approx(games.values[k], rel=1e-5)
    assert total == games.searches


@pytest.mark.parametrize('name', ['cube2', 'cube3'])
def test_published_rules_play_as_published(name):
    "The settings PUBLISHED_RULES make the games of a program written from its description."
    puzzle = get_puzzle(name)
    states = puzzle.scramble(6, [0, 1, 2, 3, 8, 20], seed=4).states
    rules = alphazero_rules(1.5, 0, **PUBLISHED_RULES)
    how = SelfPlay(simulations=70, max_moves=6, reuse=False)
    evaluator = wrong_evaluator(puzzle, worst=60, told_apart=pack)
    evaluator.orientation_matters = True
    games = play_games(puzzle, states, evaluator, rules, how)
    assert games.searches == 70 * games.steps.sum()
    for b, state in enumerate(states):
        made, solved = held_game(puzzle, state, evaluator, rules.exploration, 70, 6)
        mine = np.flatnonzero(games.episode == b)
        assert solved == games.solved[b] and len(made) == games.steps[b] == len(mine)
        for k, (position, visits, a) in zip(mine, made):
            assert np.array_equal(position, games.states[k])
            assert (visits, a) == (list(games.visits[k]), games.actions[k])


def test_temperature_zero_is_the_limit():
    visits = np.random.default_rng(0).integers(0, 30, (200, 6)) + 1
    rolls = np.random.default_rng(1).random(200)
    alone = (np.sort(visits)[:, -1] - np.sort(visits)[:, -2]) > 0
    assert np.array_equal(choose_moves(visits, 0.001, rolls)[alone], choose_moves(visits, 0, rolls)[alone])
    assert np.array_equal(choose_moves(np.eye(6, dtype=int), 1.0, rolls[:6]), np.arange(6))


def test_targets():
    table = bfs(cube2, 8)
    states = cube2.scramble(30, np.arange(30) % 5 + 1, seed=2).states
    how = SelfPlay(simulations=30, max_moves=6)
    games = play_games(cube2, states, exact_evaluator(table), alphazero_rules(0.05), how)
    to_go, expected = outcome_targets(games, 'to_go'), outcome_targets(games, 'search')
    assert visit_distribution(games.visits).dtype == to_go.dtype == np.float32
    assert (np.abs(expected) <= 1).all() and np.abs(expected - to_go).max() < 0.2
    hopeless = outcome_targets(games._replace(solved=~games.solved), 'to_go', 0.03, 0.4)
    assert games.solved.all() and (hopeless == -1).all()


def test_curriculum():
    plan = AlphaZeroConfig().curriculum

    def lengths(rates):
        one = learner(f'curriculum={list(plan)}', 'window=8')
        played = []
        for rate in rates:
            played.append(one.curriculum.stage)
            one.curriculum.add([[rate]], 8)
            one.curriculum.go_on(one)
        return played

    assert lengths([1] * 80 + [0.9] * 20) == [length for length in plan[:-1] for _ in range(8)] + [15] * 28
    assert set(lengths([72 / 80] * 30)) == {plan[0]}  # above, not at, 0.9


def test_rounds_end_the_training_and_each_has_a_row(tmp_path):
    "Also while the buffer fills, where a round has fewer steps; those before it is warm have none."
    filling = ['epochs=2', 'sample=60', 'warmup=20', 'curriculum=[3]', 'rounds=6', 'iterations=1000']
    one = learner(*AS_PUBLISHED, *filling)
    log = train(one, tmp_path, progress=False)
    assert one.rounds.played == 6 and one.step == one.rounds.steps_due < 1000
    assert log['round'].is_unique and log['round'].iloc[-1] == 5 and len(log) >= 4
    steps = np.diff([0, *log.step])
    assert set(steps) <= {2 * number for number in range(1, 5)} and steps[0] < steps[-1] == 8
    assert len(train(learner(*AS_PUBLISHED, *filling), tmp_path, progress=False)) == len(log)  # none is added


@pytest.mark.parametrize('more', [[], AS_PUBLISHED])
def test_the_player_plays_what_the_network_was_taught(more, monkeypatch):
    "It is asked about states as the batches show them, and its advantages are of the same moves."
    one, asked = learner(*more, 'precision=float32'), []

    def listening(puzzle, states, evaluator, *rest):
        asked.append((states, evaluator(states)))
        return play_games(puzzle, states, evaluator, *rest)

    monkeypatch.setattr('cube_nb.learn.alphazero.play_games', listening)
    one.play()
    ((states, says),) = asked
    with torch.inference_mode():
        expected = to_evaluation(one.network.eval()(torch.from_numpy(states)), cube2.temperature)
    np.testing.assert_allclose(says.advantages, expected.advantages, atol=1e-4)
    np.testing.assert_allclose(says.values, expected.values, atol=1e-4)
    assert (canonical(cube2, states) != states).any() or not more  # held in all ways, as published


def test_a_checkpoint_without_its_memory_is_refused(tmp_path):
    train(learner('iterations=4'), tmp_path, progress=False)
    saved = torch.load(tmp_path / 'checkpoint.pt', weights_only=True)
    del saved['replay']
    write_checkpoint(tmp_path / 'checkpoint.pt', saved)
    with pytest.raises(KeyError, match='replay'):
        train(learner('iterations=4'), tmp_path, progress=False)


def test_no_test_states():
    one = learner('curriculum=[8]', 'episodes=100', 'buffer=2000')
    assert not is_test_state(cube2, one.scrambles(8, (0, 1))).any() and len(one.scrambles(8, (0, 1))) == 100
    one.play_round()
    kept = one.replay.states[: len(one.replay)].numpy()
    assert len(kept) > 400 and not is_test_state(cube2, kept).any()
    assert np.array_equal(kept, canonical(cube2, kept))


def test_every_number_is_in_the_file():
    "And the file says what the defaults say, field by field."
    others = {'start', 'tied', 'loss', 'decay', 'cycles', 'seed', 'device'}
    assert set(yaml.safe_load(CONFIG.read_text())) >= set(AlphaZeroConfig.model_fields) - others
    assert read_config(AlphaZeroConfig, CONFIG) == AlphaZeroConfig()
    assert f'--config workflow/configs/{CONFIG.name} --output' in CONFIG.read_text()
    network = Network(AlphaZeroConfig().network)
    assert [part[0].in_features for part in network.body] == [144, 512, 1024, 512]
    assert [part[0].out_features for part in network.body] == [512, 1024, 512, 128]
    assert network.sizes == [1, 12]
