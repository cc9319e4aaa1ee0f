"The environments keep to Gymnasium's rules and to those of the cube."

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.pieces import to_string
from cube_nb.cube.drawing import ascii_net
from cube_nb.cube.encoding import ENCODINGS, encode, encoded_shape
from cube_nb.cube.env import FRAME, CubeEnv, CubeVectorEnv, EpisodeRules, unsolved_scrambles
from cube_nb.cube.notation import invert
from cube_nb.cube.puzzle import get_puzzle

NAMES = ['cube2', 'cube3']
IDS = {'cube2': 'cube_nb/Cube2-v0', 'cube3': 'cube_nb/Cube3-v0'}
ENCODED = ['facelets', *ENCODINGS]

names, seeds = st.sampled_from(NAMES), st.integers(0, 2**32)
words = st.lists(st.integers(0, 11), max_size=12)
few = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize('encoding', ENCODED)
@pytest.mark.parametrize('name', NAMES)
def test_gymnasium_finds_nothing_to_warn_of(name, encoding):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        env = gym.make(IDS[name], encoding=encoding)
        check_env(env.unwrapped)
    shape = (
        (get_puzzle(name).num_facelets,)
        if encoding == 'facelets'
        else encoded_shape(encoding, get_puzzle(name))
    )
    assert env.observation_space.shape == shape and env.action_space.n == 12


@few
@given(names, seeds, st.lists(st.integers(0, 11), max_size=20))
def test_mask_follows_the_last_two_moves(name, seed, actions):
    puzzle, env = get_puzzle(name), CubeEnv(puzzle=name, max_steps=100)
    mask = env.reset(seed=seed)[1]['action_mask']
    assert mask.dtype == np.int8 and mask.all(), 'at the start any move may be the right one'
    made = []
    for action in actions:
        *_, over, _, info = env.step(action)
        made.append(action)
        expected = {a for a in range(12) if not puzzle.undoes[action, a]} - (
            {action} if made[-2:] == [action] * 2 else set()
        )
        assert set(np.flatnonzero(info['action_mask'])) == expected
        assert env.action_space.sample(mask=info['action_mask']) in expected
        if over:
            break


@few
@given(names, words, st.sampled_from(ENCODED))
def test_an_episode_follows_the_puzzle(name, word, encoding):
    puzzle, env = get_puzzle(name), CubeEnv(puzzle=name, encoding=encoding, step_reward=-1, solved_reward=5)

    def see(state):
        return state if encoding == 'facelets' else encode(encoding, puzzle, state[None])[0]

    state = puzzle.apply_word(puzzle.solved, word)
    observation, info = env.reset(options={'scramble': word})
    assert (observation == see(state)).all() and info['scramble_depth'] == len(word) and info['steps'] == 0
    assert info['scramble'][: len(word)].tolist() == word and (info['scramble'][len(word) :] == -1).all()
    for k, action in enumerate(invert(puzzle, word), 1):
        state = puzzle.apply_word(state, [action])
        observation, reward, terminated, truncated, info = env.step(action)
        solved = bool(puzzle.is_solved(state[None])[0])
        assert (observation == see(state)).all() and info['steps'] == k
        assert (terminated, truncated, info['solved'], reward) == (solved, False, solved, 5 if solved else -1)
        if solved:
            break
    assert not word or solved


@pytest.mark.parametrize('name, reward', [('cube2', -2), ('cube3', 0)])
def test_a_state_is_known_again_when_the_puzzle_was_turned_over(name, reward):
    "After R, L' leads back to the same 2x2x2, turned over as a whole; the centres of a 3x3x3 tell the two apart."
    env = CubeEnv(puzzle=name, revisit_reward=-2)
    env.reset(options={'scramble': 'R U F'})
    here = get_puzzle(name).apply_word(get_puzzle(name).solved, [2, 0, 4])
    assert env.step(2)[1] == 0
    there, rewarded, *_ = env.step(9)
    assert rewarded == reward
    assert (there != here).any(), 'as held it is another state'


def test_where_episodes_begin_is_known_again_in_any_orientation():
    puzzle, count = get_puzzle('cube2'), 24
    envs = CubeVectorEnv(count, puzzle='cube2', revisit_reward=-2)
    start = puzzle.scramble(1, 5, seed=3).states[0]
    for a, b in np.argwhere(puzzle.undoes):
        envs.reset(options={'state': start[puzzle.rotations]})
        assert (envs.step(np.full(count, a))[1] == 0).all(), (a, b)
        assert (envs.step(np.full(count, b))[1] == -2).all(), (a, b)


@few
@given(names, seeds, st.sampled_from(['depth', 'scramble', 'state', 'text']))
def test_a_batch_is_many_single_cubes(name, seed, given):
    "The same starts and the same actions give the same of everything, until the first episode ends."
    puzzle, count, rng = get_puzzle(name), 6, np.random.default_rng(seed)
    s = puzzle.scramble(count, rng.integers(1, 5, count), seed)
    starts = {'depth': 0, 'scramble': s.moves, 'state': s.states, 'text': to_string(puzzle, s.states)}[given]
    option = 'state' if given == 'text' else given
    batch, singles = (
        CubeVectorEnv(count, puzzle=name, max_steps=5),
        [CubeEnv(puzzle=name, max_steps=5) for _ in range(count)],
    )
    observations, infos = batch.reset(options={option: starts})
    running = {}
    for b, env in enumerate(singles):
        observation, info = env.reset(options={option: starts if given == 'depth' else starts[b]})
        assert (observation == observations[b]).all() and all(
            np.array_equal(info[k], infos[k][b]) for k in infos
        )
        running[b] = env
    for actions in rng.integers(0, 12, (5, count)):
        *batched, infos = batch.step(actions)
        for b, env in list(running.items()):
            *outcome, info = env.step(actions[b])
            assert all(np.array_equal(x, y[b]) for x, y in zip(outcome, batched, strict=True))
            assert all(np.array_equal(info[k], infos[k][b]) for k in infos)
            if outcome[2] or outcome[3]:
                del running[b]
    assert not running, 'five steps are the limit'


@pytest.mark.parametrize('name', NAMES)
def test_an_episode_that_is_over_begins_anew_in_the_next_step(name):
    puzzle, count = get_puzzle(name), 50
    envs = gym.make_vec(IDS[name], num_envs=count, scramble_depth=(3, 9), max_steps=2)
    assert envs.metadata['autoreset_mode'] is AutoresetMode.NEXT_STEP
    envs.reset(seed=3, options={'scramble': ['R U F'] * (count - 1) + ["R U' R U' R U' R U' R U' R"]})
    ended = puzzle.apply_word(puzzle.solved, [2, 0, 4, 8, 1])
    envs.step(np.full(count, 8))
    observations, rewards, terminated, truncated, infos = envs.step(np.full(count, 1))
    assert (
        truncated.all()
        and not terminated.any()
        and (infos['steps'] == 2).all()
        and (observations[:-1] == ended).all()
    )
    observations, rewards, terminated, truncated, infos = envs.step(np.zeros(count, int))
    assert (
        not (truncated | terminated | rewards.any() | infos['solved']).any()
        and (infos['steps'] == 0).all()
        and infos['action_mask'].all()
    )
    assert (
        set(infos['scramble_depth']) <= set(range(3, 10))
        and len(np.unique(observations, axis=0)) > count // 2
    )
    for state, moves, depth in zip(observations, infos['scramble'], infos['scramble_depth']):
        assert (puzzle.apply_word(puzzle.solved, moves[:depth]) == state).all() and (
            moves[depth:] == -1
        ).all()
    assert (envs.step(np.zeros(count, int))[0] == puzzle.apply(observations, 0)).all(), (
        'and goes on from there'
    )


@pytest.mark.parametrize('make', [lambda: CubeEnv(puzzle='cube3'), lambda: CubeVectorEnv(7, puzzle='cube3')])
def test_a_seed_fixes_everything(make):
    def play(env, seed):
        env.action_space.seed(seed)
        return [
            env.reset(seed=seed)[0],
            *(env.step(env.action_space.sample())[0] for _ in range(5)),
            env.reset()[0],
        ]

    one, same, other = play(make(), 5), play(make(), 5), play(make(), 6)
    assert all((a == b).all() for a, b in zip(one, same)) and any((a != b).any() for a, b in zip(one, other))


def test_observations_and_infos_belong_to_the_user():
    envs = CubeVectorEnv(4, puzzle='cube2', scramble_depth=5)
    observations, infos = envs.reset(seed=1)
    before = observations.copy()
    for mine in (observations, *infos.values()):
        mine[...] = 0
    assert (envs.step([0, 1, 2, 3])[0] == get_puzzle('cube2').apply(before, [0, 1, 2, 3])).all()


@few
@given(names, seeds)
def test_no_episode_starts_solved(name, seed):
    puzzle, rng = get_puzzle(name), np.random.default_rng(seed)
    depths = rng.integers(0, 7, 2000)
    s = unsolved_scrambles(puzzle, depths, rng)
    assert (puzzle.is_solved(s.states) == (depths == 0)).all() and (s.depths == depths).all()
    assert ((s.moves >= 0).sum(1) == depths).all() and not puzzle.undoes[s.moves[:, 0], s.moves[:, 1]][
        depths > 1
    ].any()
    replayed = CubeVectorEnv(2000, puzzle=name).reset(options={'scramble': s.moves})[0]
    assert (replayed == s.states).all()


@pytest.mark.parametrize('name', NAMES)
def test_render(name):
    puzzle, envs = get_puzzle(name), CubeVectorEnv(2, render_mode='rgb_array', puzzle=name)
    envs.reset(options={'state': puzzle.solved})
    assert [frame.shape for frame in envs.render()] == [(*FRAME, 3)] * 2 and envs.render()[
        0
    ].dtype == np.uint8
    env = CubeEnv(render_mode='ansi', puzzle=name)
    env.reset(options={'scramble': 'R'})
    assert env.render() == ascii_net(puzzle, puzzle.apply_word(puzzle.solved, [2]), colour=True)


@pytest.mark.parametrize(
    'bad, message',
    [
        (dict(puzzle='cube9'), 'unknown puzzle'),
        (dict(encoding='onehot'), 'unknown encoding'),
        (dict(max_steps=0), 'max_steps'),
        (dict(max_steps='9'), 'max_steps'),
        (dict(scramble_depth=-1), 'scramble depth'),
        (dict(scramble_depth=(5, 2)), 'scramble depth'),
        (dict(scramble_depth=(1, 2, 3)), 'scramble depth'),
        (dict(scramble_depth=2.5), 'scramble depth'),
        (dict(scramble_depth='9'), 'scramble depth'),
        (dict(render_mode='human'), 'render_mode'),
        (dict(scrambledepth=3), 'scrambledepth'),
    ],
)
def test_bad_parameters(bad, message):
    for make in (CubeEnv, CubeVectorEnv):
        with pytest.raises(ValueError, match=message):
            make(**bad)
    if 'render_mode' not in bad:
        with pytest.raises(ValueError, match=message):
            EpisodeRules(**bad)


@pytest.mark.parametrize(
    'bad, message',
    [
        ({'sramble': 'R'}, 'at most one of depth, scramble, state, got sramble'),
        ({'depth': 3, 'scramble': 'R'}, 'at most one of'),
        ({'depth': -1}, 'scramble depth'),
        ({'depth': None}, 'scramble depth'),
        ({'depth': [2, 'x']}, 'scramble depth'),
        ({'scramble': 'R Q'}, "'Q'"),
        ({'scramble': [0, 12]}, 'from 0 to 11'),
        ({'scramble': [0, -2]}, 'from 0 to 11'),
        ({'scramble': 3}, 'expected a word'),
        ({'scramble': [[0.5]]}, 'expected a word'),
        ({'scramble': None}, 'expected a word'),
        ({'scramble': ['R'] * 3}, 'expected one start'),
        ({'state': [0] * 54}, 'expected 9'),
        ({'state': [0] * 24}, '54 facelets'),
        ({'state': 'URFDLB' * 9}, 'U5|centre|corner'),
        ({'state': 'X' * 54}, 'X'),
        ({'state': None}, '54 facelets|whole numbers'),
    ],
)
def test_bad_options(bad, message):
    for env in (CubeEnv(puzzle='cube3'), CubeVectorEnv(2, puzzle='cube3')):
        with pytest.raises(ValueError, match=message):
            env.reset(options=bad)


def test_bad_actions():
    env, envs = CubeEnv(puzzle='cube3'), CubeVectorEnv(2, puzzle='cube3')
    for unready in (lambda: env.step(0), lambda: envs.step([0, 0]), env.render, envs.render):
        with pytest.raises(ResetNeeded):
            unready()
    env.reset(), envs.reset()
    for action in (12, -1, 1.0, None, 'R', [1]):
        with pytest.raises(ValueError, match='from 0 to 11'):
            env.step(action)
    for actions in ([0], [0, 12], [0, -1], [0.0, 1.0], 3, None):
        with pytest.raises(ValueError, match='from 0 to 11'):
            envs.step(actions)
    with pytest.raises(ValueError, match='render_mode'):
        env.render()
    env.reset(options={'scramble': 'R'})
    assert env.step(3)[2]
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_cube2_is_solved_however_it_is_held():
    env = CubeEnv(puzzle='cube2')
    env.reset(options={'scramble': 'R'})
    assert env.step(9)[2], "L' after R turns the whole cube"
