"Q-learning: targets and ways back against plain versions, stages, giving up early."

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from cube_nb.cube.env import EpisodeRules, start_episodes, step_episodes
from cube_nb.cube.keys import is_test_state
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.dqn import DqnConfig, DqnLearner, EpisodeMoves, Stage, n_step_transitions, play_greedily
from cube_nb.learn.dqn import q_targets, solving_transitions
from cube_nb.learn.loop import Callback, get_method, read_config, train
from cube_nb.nets.networks import Network, NetworkConfig

CONFIGS = Path(__file__).parents[2] / 'workflow/configs'
SMALL = [
    'network={canonical: false, encoding: one_hot, hidden: [32, 16], blocks: 0, normalise: layer, heads: [moves]}',
    'stages=[[1, 4, -1.5, 30, 1.0, 0.2], [2, 6, -2.5, 30, 0.5, 0.1]]', 'patience=20', 'decay_steps=5',
    'episodes=10', 'batch_size=16', 'iterations=40', 'buffer=300', 'warmup=3', 'target_every=7', 'log_every=5',
    'checkpoint_every=5', 'learning_rate=1e-3', 'device=cpu',
]  # fmt: skip
cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')


def learner(*more):
    return DqnLearner(read_config(DqnConfig, None, [*SMALL, *more]))


def plain_return(steps, b, n, says):
    "Of one episode: costs until it ends or n moves are made, and then what is said of the state."
    total = 0
    for step in steps[:n]:
        total += step.costs[b]
        if step.solved[b]:
            return total
        if step.ended[b]:
            break
    return total + 1 + min(says(step.after[b]))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(0, 1000))
def test_returns_and_double_targets_are_those_of_a_plain_version(n, seed):
    rng, steps = np.random.default_rng(seed), []
    price = dict(step_reward=-1, solved_reward=-1, revisit_reward=-2)
    rules = EpisodeRules(puzzle='cube3', scramble_depth=1, max_steps=3, **price)
    episodes = start_episodes(rules, rng, 40)
    for _ in range(n):
        states, actions = episodes.states, rng.integers(12, size=40)
        actions[:10] = cube3.inverse_moves[episodes.scrambles[:10, 0]]
        rewards, solved, cut = step_episodes(rules, episodes, actions)
        steps.append(EpisodeMoves(states, actions, -rewards, episodes.states.copy(), solved, solved | cut))
        over = np.flatnonzero(solved | cut)
        if len(over):
            episodes.restart(over, start_episodes(rules, rng, len(over)))

    def says(state):
        return (state[:12] * np.arange(1, 13) % 7 + state[12:24]).astype(float)

    got = n_step_transitions(steps)
    assert np.array_equal(got.states, steps[0].states) and np.array_equal(got.actions, steps[0].actions)
    online = torch.from_numpy(rng.random((40, 12)))
    said = torch.from_numpy(np.stack([says(s) for s in got.after]))
    y = q_targets(torch.from_numpy(got.costs), torch.from_numpy(got.solved), said, said, 1000)
    assert y.tolist() == [plain_return(steps, b, n, says) - 1 for b in range(40)]
    double = q_targets(torch.from_numpy(got.costs), torch.from_numpy(got.solved), said, online, 9)
    expected = [
        min(9, got.costs[b] + (0 if got.solved[b] else 1 + float(said[b, int(online[b].argmin())]))) - 1
        for b in range(40)
    ]
    assert double.tolist() == expected


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 11), max_size=6), min_size=1, max_size=5), st.integers(1, 4))
def test_the_way_back_is_a_way(words, n):
    "Each transition follows a word back, and its cost is the number of moves to where it stops."
    width = max(1, *map(len, words))
    new = solving_transitions(cube3, np.array([w + [-1] * (width - len(w)) for w in words], np.int8), n)
    expected = []
    for word in words:
        path = [cube3.apply_word(cube3.solved, word[:k]) for k in range(len(word) + 1)]
        for k in range(len(word), 0, -1):
            if np.array_equal(path[k], cube3.solved):
                continue
            places = range(k - 1, max(k - n, 0) - 1, -1)
            solved = [j for j in places if np.array_equal(path[j], cube3.solved)]
            stop = solved[0] if solved else places[-1]
            move = cube3.inverse_moves[word[k - 1]]
            expected.append((path[k].tobytes(), move, k - stop, path[stop].tobytes(), bool(solved)))
    got = [(s.tobytes(), a, c, t.tobytes(), d) for s, a, c, t, d in zip(*new)]
    assert sorted(got) == sorted(expected)


def test_stages_end_when_they_are_mastered_or_patience_is_over():
    slow = learner('stages=[[1, 4, 0, 10, 1.0, 0.2], [2, 6, -99, 10, 0.5, 0.1], [3, 8, 0, 10, 0.5, 0.1]]')
    ended = []

    class Ended(Callback):
        def on_stage(self, learner, number):
            ended.append((number, learner.step, learner.epsilon))

    log = train(slow, progress=False, callbacks=[Ended()])
    assert [stage for stage, *_ in ended] == [0, 1], 'nothing follows the last'
    (_, first, low), (_, second, lower) = ended
    assert first == 20 and second - first < 20, 'patience for what cannot be reached, no longer for what can'
    assert low == pytest.approx(0.2) and lower == pytest.approx(0.1) and second - first >= 5
    assert set(log.depth) == {1, 2, 3} and slow.running.made.shape[1] == 8 and slow.epsilon < 0.5


def test_greedy_episodes_are_given_up_early():
    network = Network(NetworkConfig(canonical=False, hidden=(8,), blocks=0, heads=('moves',)))
    network.requires_grad_(False)
    for p in network.head.parameters():
        p.zero_()
    network.head.bias.copy_(torch.arange(12.0))  # always U
    states = np.stack([cube3.apply_word(cube3.solved, w) for w in ([1], [0], [2], [1, 1])])
    for stop, most in ((True, 4), (False, 9)):
        played = play_greedily(network, states, max_steps=9, stop_early=stop)
        assert played.solved.tolist() == [True, True, False, True]
        assert (played.moves >= 0).sum(1).tolist() == [1, 3, most, 2] and set(played.moves.ravel()) == {-1, 0}
    solved = play_greedily(network, cube3.solved[None])
    assert solved.solved.all() and (solved.moves < 0).all()


@pytest.mark.parametrize('early', [False, True])
def test_the_lost_make_room_for_new_scrambles(early):
    player = learner('stages=[[4, 12, 0, 50, 1, 1]]', f'stop_early={str(early).lower()}')
    for _ in range(10):
        player.play_round()
    made = player.running.made
    undone = (made[:, 1:] >= 0) & (made[:, 1:] == cube3.inverse_moves[made[:, :-1]])
    assert undone.any() != early and (made >= 0).any()


def test_views_of_states_that_are_set_aside_teach_nothing():
    large = ['batch_size=1024', 'buffer=5000', 'warmup=50']
    player = learner('symmetric=true', 'stages=[[4, 12, 0, 50, 1, 1]]', *large)
    batch = player.batch(0)
    aside = torch.from_numpy(is_test_state(cube3, batch.states.numpy()))
    assert aside.any() and torch.equal(batch.record['weights'], (~aside).float())
    assert not is_test_state(cube3, player.replay.states[: len(player.replay)].numpy()).any()


def test_all_views_say_the_same_of_a_state_and_its_images():
    network, states = learner().network, torch.from_numpy(cube3.scramble(30, 3, seed=0).states)
    seen = [cube3.symmetric(states, m).numpy() for m in (0, 1, 30)]
    played = [play_greedily(network, each, 6, torch.float32, views=True) for each in seen]
    assert all(np.array_equal(played[0].solved, other.solved) for other in played)
    assert (play_greedily(network, states.numpy(), 6, torch.float32).moves != played[0].moves).any()


def test_configurations_are_the_networks_they_say():
    faithful = read_config(DqnConfig, CONFIGS / 'dqn-cube3.yaml')
    assert get_method('dqn')[:2] == (DqnLearner, DqnConfig)
    assert [s.depth for s in faithful.stages] == list(range(1, 21))
    row = dict(depth=1, max_steps=6, reward=-1.7, window=500, epsilon=1, final_epsilon=0.1)
    assert faithful.stages[0] == Stage(**row)
    linear = [m for m in Network(faithful.network).modules() if isinstance(m, torch.nn.Linear)]
    assert [(m.in_features, m.out_features) for m in linear] == [(3072, 1024), (1024, 512), (512, 12)]
    switches = 'double', 'prioritised', 'mixed', 'hindsight', 'backward'
    assert not any(getattr(faithful, name) for name in switches) and faithful.n_step == 1
    read_config(DqnConfig, CONFIGS / 'dqn-cube3-best.yaml')
