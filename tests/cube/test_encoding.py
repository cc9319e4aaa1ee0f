"Encodings and keys, on NumPy arrays and torch tensors, for both cubes and for puzzles that are none."

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube import encoding
from cube_nb.cube.encoding import BODY, ENCODINGS, PALETTE, encode, encoded_shape
from cube_nb.cube.encoding import picture, piece_one_hot, pixel_map, planes
from cube_nb.cube.geometry import DOWNS, NORMALS
from cube_nb.cube.keys import KeyTable, _canonical_device, canonical, key_words, keys_of, pack, unpack
from cube_nb.cube.puzzle import Puzzle, get_puzzle

PUZZLES = cube2, cube3 = [get_puzzle('cube2'), get_puzzle('cube3')]
RGB = np.array([list(bytes.fromhex(c[1:])) for c in (*PALETTE, BODY)], np.uint8)
puzzles = st.sampled_from(PUZZLES)
seeds = st.integers(0, 2**32)
few = settings(max_examples=25, deadline=None)


def wheel():
    "Ten facelets in 3 colours: two pieces of five stickers, which one move exchanges."
    step = np.roll(np.arange(10), 5).astype(np.int16)
    solved = np.array([0, 1, 2, 1, 1, 2, 0, 1, 0, 0], np.uint8)
    identity = np.arange(10, dtype=np.int16)[None]
    pieces = (np.arange(10).reshape(2, 5),)
    return Puzzle('made-up wheel', solved, step[None], ('A',), identity, identity, faces='XYZ', pieces=pieces)


OTHERS = [get_puzzle('pyraminx'), get_puzzle('skewb'), wheel()]


@few
@given(puzzles, seeds, st.integers(0, 9), st.sampled_from(sorted(ENCODINGS)))
def test_input_is_left_alone_and_may_be_strided(puzzle, seed, count, name):
    states = puzzle.random_states(count, seed)
    before, batch = states.copy(), torch.from_numpy(states)
    rows, seen = encode(name, puzzle, states), encode(name, puzzle, batch)
    assert seen.dtype == torch.uint8 and (seen.numpy() == rows).all()
    assert (encode(name, puzzle, np.repeat(states, 2, axis=0)[::2]) == rows).all()
    tables = encoding.tables_for(puzzle, batch, encoding._plane_tables)
    assert (encoding._paint_device(puzzle, batch, *tables).numpy() == planes(puzzle, states)).all()
    assert (states == before).all()


@few
@given(puzzles, seeds, st.integers(40, 300), st.integers(40, 300))
def test_sticker_centres_have_the_palette_colour(puzzle, seed, height, width):
    states = puzzle.random_states(3, seed)
    pictures, pixels = picture(puzzle, states, height, width), pixel_map(puzzle, height, width)
    assert pictures.shape == (3, 3, height, width) and pictures.dtype == np.uint8
    shown = puzzle.num_facelets // 6 * 5  # B is left out
    for i in range(shown):
        y, x = np.argwhere(pixels == i).mean(0).astype(int)
        assert (pictures[:, :, y, x] == RGB[states[:, i]]).all()
    assert (pictures[:, :, pixels == puzzle.num_facelets] == RGB[-1][:, None]).all()
    assert set(np.unique(pixels)) == {*range(shown), puzzle.num_facelets}


@pytest.mark.parametrize('puzzle', PUZZLES, ids=lambda p: p.name)
@pytest.mark.parametrize('size', [(92, 76), (256, 192)])
def test_stickers_are_alike_and_where_they_are_in_space(puzzle, size):
    pixels, n = pixel_map(puzzle, *size), int(puzzle.positions.max())
    where = [np.argwhere(pixels == i) for i in range(5 * n * n)]
    assert len({tuple(np.ptp(w, axis=0) + 1) + (len(w),) for w in where}) == 1  # all of one size ...
    high, wide = np.ptp(where[0], axis=0) + 1
    assert high == wide and len(where[0]) == high * wide  # ... and squares
    centre = np.array([w.mean(0) for w in where])
    for face in range(5):
        own = slice(face * n * n, (face + 1) * n * n)
        steps = puzzle.positions[own]
        assert np.corrcoef(centre[own, 0], steps @ DOWNS[face])[0, 1] > 0.999
        assert np.corrcoef(centre[own, 1], steps @ np.cross(NORMALS[face], DOWNS[face]))[0, 1] > 0.999
    u, r, f, d, left = centre.reshape(5, n * n, 2).mean(1)
    assert u[0] < f[0] < d[0] and left[1] < f[1] < r[1]
    assert np.allclose([u[1], d[1]], f[1]) and np.allclose([left[0], r[0]], f[0])
    edges = np.concatenate([*pixels[[0, -1]], *pixels[:, [0, -1]].T])
    assert (edges >= puzzle.num_facelets).all()


@pytest.mark.parametrize('name', sorted(ENCODINGS))
def test_what_is_not_a_batch_of_states(name):
    two = np.stack([cube3.solved] * 2)
    for wrong in (two[0], two[:, :24], torch.from_numpy(two)[None], two[:, :0]):
        with pytest.raises(ValueError, match=r'expected a batch of cube3 states, \[B, 54\], got shape'):
            encode(name, cube3, wrong)


@pytest.mark.parametrize('height, width', [(0, 0), (17, 100), (100, 17), (-92, 76)])
def test_a_picture_too_small(height, width):
    with pytest.raises(ValueError, match='at least 18 pixels high and wide'):
        picture(cube3, cube3.solved[None], height, width)


def test_a_puzzle_without_outlines_is_a_cube_by_its_faces():
    moved = replace(cube2, outlines=cube2.outlines + 0.1)
    with pytest.raises(ValueError, match='its stickers are in other places'):
        encoded_shape('picture', moved)
    solved = cube2.solved[None]
    assert (picture(replace(moved, outlines=None), solved) == picture(cube2, solved)).all()


def naive_places(puzzle, state):
    "Where the first sticker of each piece is, counted within its kind: by colours read clockwise."
    found = []
    for kind in puzzle.pieces:
        seen = [np.roll(state[place], -turn).tolist() for place in kind for turn in range(kind.shape[1])]
        for colours in puzzle.solved[kind].tolist():
            found += [at for at, each in enumerate(seen) if each == colours]
    return found


@pytest.mark.parametrize('puzzle', OTHERS + PUZZLES, ids=lambda p: p.name)
def test_pieces_of_any_puzzle(puzzle):
    states = puzzle.scramble(300, np.arange(300) % 30, seed=1).states
    places, batch = encoding.piece_places(puzzle, states), torch.from_numpy(states)
    assert places.tolist() == [naive_places(puzzle, state) for state in states]
    assert encoding.num_places(puzzle) == max(kind.size for kind in puzzle.pieces)
    tables = encoding.tables_for(puzzle, batch, encoding._piece_tables)
    assert (encoding._places_on_device(puzzle, batch, *tables).numpy() == places).all()
    for name in ('piece_one_hot', 'one_hot'):
        rows, (digits, base) = encode(name, puzzle, states), encoding.digits(name, puzzle, states)
        assert rows.shape == (300, *encoded_shape(name, puzzle)) and rows.dtype == np.uint8
        assert (rows.reshape(300, -1, base) == np.eye(base)[digits]).all()
        assert (encode(name, puzzle, batch).numpy() == rows).all()
        assert len(np.unique(rows, axis=0)) == len(np.unique(states, axis=0)), 'all states look different'


def test_a_missing_piece_is_a_row_of_zeros():
    state = cube3.solved.copy()
    state[8], state[9] = 0, 0  # a corner that is white twice
    rows = piece_one_hot(cube3, state[None]).reshape(20, 24)
    assert rows.sum() == 19 and rows[0].sum() == 0


# --- keys -----------------------------------------------------------------------------------------
def test_keys_of_many_words():
    "A puzzle of 200 facelets in 200 colours: 25 words of 8 digits, of which the last decides."
    turn = np.roll(np.arange(200), 1).astype(np.int16)
    moves = np.stack([turn, np.argsort(turn)]).astype(np.int16)
    held = np.arange(200, dtype=np.int16)[None]
    ring = Puzzle('ring', np.arange(200, dtype=np.uint8), moves, ('A', "A'"), held, held)
    states = np.repeat(ring.solved[None], 3, axis=0)
    states[1, -1], states[2, -2] = 0, 0
    keys, table = pack(ring, states), KeyTable(key_words(ring), capacity=1)
    assert keys.shape == (3, 25) and (unpack(ring, keys) == states).all()
    assert table.add(keys)[1].all() and table.find(keys[::-1]).tolist() == [2, 1, 0]


def test_centres_that_only_rotations_move_are_in_the_key():
    "The 3x3x3 with any way of holding it counted as the same: its centres are what tells the ways apart."
    held = replace(cube3, name='held', rotations=cube3.symmetries[:24])
    states = held.scramble(200, 20, seed=1).states
    turned = states[:, held.rotations[7]]
    assert (unpack(held, pack(held, turned)) == turned).all()
    assert (keys_of(held, turned) == keys_of(held, states)).all()
    assert (_canonical_device(held, torch.from_numpy(turned)).numpy() == canonical(held, states)).all()
