"The environments keep to Gymnasium's rules and to those of the cube."

import warnings
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st

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
    puzzle = get_puzzle(name)
    shape = (puzzle.num_facelets,) if encoding == 'facelets' else encoded_shape(encoding, puzzle)
    assert env.observation_space.shape == shape and env.action_space.n == 12


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


def test_where_episodes_begin_is_known_again_in_any_orientation():
    puzzle, count = get_puzzle('cube2'), 24
    envs = CubeVectorEnv(count, puzzle='cube2', revisit_reward=-2)
    start = puzzle.scramble(1, 5, seed=3).states[0]
    for a, b in np.argwhere(puzzle.undoes):
        envs.reset(options={'state': start[puzzle.rotations]})
        assert (envs.step(np.full(count, a))[1] == 0).all(), (a, b)
        assert (envs.step(np.full(count, b))[1] == -2).all(), (a, b)


@pytest.mark.parametrize('name', NAMES)
def test_an_episode_that_is_over_begins_anew_in_the_next_step(name):
    puzzle, count = get_puzzle(name), 50
    envs = gym.make_vec(IDS[name], num_envs=count, scramble_depth=(3, 9), max_steps=2)
    assert envs.metadata['autoreset_mode'] is AutoresetMode.NEXT_STEP
    envs.reset(seed=3, options={'scramble': ['R U F'] * count})
    envs.step(np.full(count, 8))
    ended, _, terminated, truncated, infos = envs.step(np.full(count, 1))
    assert truncated.all() and not terminated.any() and (infos['steps'] == 2).all()
    assert (ended == puzzle.apply_word(puzzle.solved, [2, 0, 4, 8, 1])).all()
    states, rewards, terminated, truncated, infos = envs.step(np.zeros(count, int))
    assert not (truncated | terminated | rewards.any() | infos['solved'] | infos['steps'].any()).any()
    assert infos['action_mask'].all() and set(infos['scramble_depth']) <= set(range(3, 10))
    assert len(np.unique(states, axis=0)) > count // 2
    for state, moves, depth in zip(states, infos['scramble'], infos['scramble_depth']):
        assert (puzzle.apply_word(puzzle.solved, moves[:depth]) == state).all()
        assert (moves[depth:] == -1).all()
    assert (envs.step(np.zeros(count, int))[0] == puzzle.apply(states, 0)).all(), 'and goes on from there'


@pytest.mark.parametrize('make', [CubeEnv, partial(CubeVectorEnv, 7)])
def test_a_seed_fixes_everything(make):
    def play(seed):
        env = make(puzzle='cube3')
        env.action_space.seed(seed)
        first = env.reset(seed=seed)[0]
        return np.array([first, *(env.step(env.action_space.sample())[0] for _ in range(5)), env.reset()[0]])

    assert (play(5) == play(5)).all() and (play(5) != play(6)).any()


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
    assert ((s.moves >= 0).sum(1) == depths).all()
    assert not puzzle.undoes[s.moves[:, 0], s.moves[:, 1]][depths > 1].any()
    assert (CubeVectorEnv(2000, puzzle=name).reset(options={'scramble': s.moves})[0] == s.states).all()


@pytest.mark.parametrize('name', NAMES)
def test_render(name):
    puzzle, envs = get_puzzle(name), CubeVectorEnv(2, render_mode='rgb_array', puzzle=name)
    envs.reset(options={'state': puzzle.solved})
    assert np.shape(envs.render()) == (2, *FRAME, 3) and envs.render()[0].dtype == np.uint8
    env = CubeEnv(render_mode='ansi', puzzle=name)
    env.reset(options={'scramble': 'R'})
    assert env.render() == ascii_net(puzzle, puzzle.apply_word(puzzle.solved, [2]), colour=True)
    assert env.step(9)[2] == (name == 'cube2'), "L' after R turns the whole 2x2x2"


BAD_RULES = [  # what the message names, and a value
    ('max_steps', dict(max_steps='9')), ('scrambledepth', dict(scrambledepth=3)),
    ('render_mode', dict(render_mode='human')),
    *[('scramble depth', dict(scramble_depth=bad)) for bad in (-1, (1, 2, 3), 2.5, '9')],
]  # fmt: skip
BAD_OPTIONS = [
    ('at most one of', dict(depth=3, scramble='R')), ('from 0 to 11', dict(scramble=[0, -2])),
    ('expected a word', dict(scramble=None)), ('expected 9', dict(state=[0] * 54)),
    ('54 facelets|whole numbers', dict(state=None)), ('U5|centre|corner', dict(state='URFDLB' * 9)),
    ('X', dict(state='X' * 54)), *[('scramble depth', dict(depth=bad)) for bad in (-1, None, [2, 'x'])],
]  # fmt: skip


@pytest.mark.parametrize('message, bad', BAD_RULES)
@pytest.mark.parametrize('make', [CubeEnv, CubeVectorEnv, EpisodeRules])
def test_bad_parameters(make, message, bad):
    if make is not EpisodeRules or 'render_mode' not in bad:
        with pytest.raises(ValueError, match=message):
            make(**bad)


@pytest.mark.parametrize('message, bad', BAD_OPTIONS)
@pytest.mark.parametrize('make', [CubeEnv, partial(CubeVectorEnv, 2)])
def test_bad_options(make, message, bad):
    with pytest.raises(ValueError, match=message):
        make(puzzle='cube3').reset(options=bad)


def test_there_is_no_picture_before_a_reset_nor_without_a_mode():
    env, envs = CubeEnv(puzzle='cube3'), CubeVectorEnv(2, puzzle='cube3')
    for unready in (env.render, envs.render):
        with pytest.raises(ResetNeeded):
            unready()
    env.reset()
    with pytest.raises(ValueError, match='render_mode'):
        env.render()
