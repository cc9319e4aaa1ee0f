"Every drawing shows every sticker where it is and in its colour."

import re

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgba_array

from cube_nb.cube.drawing import ascii_net, camera, draw_3d, draw_net, draw_strip, silhouette
from cube_nb.cube.geometry import FACES, NORMALS
from cube_nb.cube.puzzle import get_puzzle

PUZZLES = [get_puzzle('cube2'), get_puzzle('cube3')]
CUBE2, CUBE3 = PUZZLES
PALETTE = CUBE3.palette
puzzles = st.sampled_from(PUZZLES)
seeds = st.integers(0, 2**32)
words = st.lists(st.integers(0, 11), max_size=7)
oblique = st.integers(1, 89)
few = settings(max_examples=15, deadline=None)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close('all')


def stickers(ax):
    return next(c for c in ax.collections if c.get_gid() == 'stickers')


def centres(ax):
    return np.array([path.vertices[:-1].mean(0) for path in stickers(ax).get_paths()])


def colours(state):
    return to_rgba_array(np.array(PALETTE)[state])


def test_ascii_of_a_known_state():
    state = CUBE3.apply_word(CUBE3.solved, [2, 0, 3, 1])  # R U R' U'
    rows = ['UUL', 'UUF', 'UUF', 'BLLFFDRRUBRR', 'LLLFFUBRRBBB', 'LLLFFFURRBBB', 'DDR', 'DDD', 'DDD']
    indented = [' ' * 6 * (len(row) == 3) + ' '.join(row) for row in rows]
    assert ascii_net(CUBE3, state) == '\n'.join(indented)


@few
@given(puzzles, seeds)
def test_colours_are_those_of_the_letters(puzzle, seed):
    state = puzzle.random_states(1, seed)[0]
    tiles = re.findall(r'48;2;(\d+);(\d+);(\d+)m ([URFDLB]) \x1b\[0m', ascii_net(puzzle, state, colour=True))
    assert [letter for *_, letter in tiles] == ascii_net(puzzle, state).split()
    assert all('#' + bytes(map(int, rgb)).hex() == PALETTE[FACES.index(letter)] for *rgb, letter in tiles)


@few
@given(puzzles, seeds, oblique, oblique, st.sampled_from([0, 90, 180, 270]), st.sampled_from([1, -1]))
def test_solid_has_the_seen_stickers_in_their_colours_and_places(puzzle, seed, azim, elev, side, sign):
    state, azim, elev = puzzle.random_states(1, seed)[0], azim + side, sign * elev
    ax = draw_3d(puzzle, state, plt.subplots()[1], azim=azim, elev=elev)
    view = camera(azim, elev)
    seen = np.repeat(NORMALS @ view[2] > 0, puzzle.num_facelets // 6)
    assert seen.sum() == puzzle.num_facelets // 2  # three faces from any corner
    assert (stickers(ax).get_facecolors() == colours(state[seen])).all()
    assert np.allclose(centres(ax), puzzle.positions[seen] @ view[:2].T)
    plt.close('all')


@pytest.mark.parametrize(
    'azim, elev, face', [(0, 0, 'F'), (90, 0, 'R'), (180, 0, 'B'), (270, 0, 'L'), (0, 90, 'U'), (0, -90, 'D')]
)
def test_from_straight_ahead_one_sees_one_face_as_in_the_net(azim, elev, face):
    state, f = CUBE3.random_states(1, seed=5)[0], FACES.index(face)
    ax = draw_3d(CUBE3, state, plt.figure().add_subplot(), azim=azim, elev=elev)
    assert (stickers(ax).get_facecolors() == colours(state[9 * f : 9 * f + 9])).all()
    where = centres(ax)
    assert (np.lexsort((where[:, 0], -where[:, 1].round(6))) == np.arange(9)).all()  # its own reading order


@few
@given(st.floats(-360, 360), st.floats(-90, 90))
def test_the_body_holds_all_stickers(azim, elev):
    view = camera(azim, elev)
    directions = np.linspace(0, 2 * np.pi, 48)
    axes = np.stack([np.cos(directions), np.sin(directions)])
    body, stickers = silhouette(CUBE3, view) @ axes, CUBE3.positions @ view[:2].T @ axes
    assert (body.max(0) >= stickers.max(0)).all()


@settings(max_examples=6, deadline=None)
@given(puzzles, seeds, words, st.sampled_from([draw_3d, draw_net]), st.integers(1, 5))
def test_strip_follows_the_moves(puzzle, seed, moves, draw, columns):
    state = puzzle.random_states(1, seed)[0]
    fig, axes = draw_strip(puzzle, state, moves, draw=draw, columns=columns, size=0.5)
    assert [ax.get_title() for ax in axes] == ['start', *(puzzle.move_names[a] for a in moves)]
    assert list(fig.axes) == list(axes)  # no empty ones left over
    shown = puzzle.num_facelets if draw is draw_net else puzzle.num_facelets // 2
    for ax, a in zip(axes, [None, *moves]):
        if a is not None:
            state = puzzle.apply(state[None], a)[0]
        assert (stickers(ax).get_facecolors() == colours(state[:shown])).all()
    plt.close('all')


def test_a_long_strip_goes_on_below():
    "Tensors are states and moves as well."
    moves = torch.zeros(9, dtype=torch.int64)
    fig, axes = draw_strip(CUBE2, torch.tensor(CUBE2.solved), moves, columns=4)
    grid = {(ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start) for ax in axes}
    assert grid == {(r, c) for r in range(3) for c in range(4)} - {(2, 2), (2, 3)}
    fig, (left, right) = plt.subplots(1, 2)
    assert draw_net(CUBE2, CUBE2.solved) is right and draw_3d(CUBE2, CUBE2.solved, left) is left
    with pytest.raises(ValueError, match='expected a move index from 0 to 11'):
        draw_strip(CUBE3, CUBE3.solved, torch.tensor([3, -1]))


NO_STATES = [  # two more are in the chapter
    (CUBE3.solved[None], r'expected one cube3 state, \[54\], got shape \[1, 54\]'),
    (CUBE3.solved - 1.0, 'the colours of cube3 are 0 to 5, got -1.0 to 4.0'),
]


@pytest.mark.parametrize('draw', [ascii_net, draw_net, draw_3d, lambda p, s: draw_strip(p, s, [])])
@pytest.mark.parametrize('state, message', NO_STATES)
def test_what_is_not_a_state(draw, state, message):
    with pytest.raises(ValueError, match=message):
        draw(CUBE3, state)
