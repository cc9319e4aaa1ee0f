"Encodings and keys, on NumPy arrays and torch tensors, for both cubes and for puzzles that are none."

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube import encoding
from cube_nb.cube.cubies import to_cubies
from cube_nb.cube.encoding import (
    BODY,
    ENCODINGS,
    PALETTE,
    encode,
    encoded_shape,
    one_hot,
    picture,
    piece_one_hot,
    pixel_map,
    planes,
)
from cube_nb.cube.geometry import DOWNS, NORMALS
from cube_nb.cube.keys import (
    KeyTable,
    _canonical_device,
    _pack_device,
    canonical,
    is_test_state,
    key_words,
    keys_of,
    pack,
    unpack,
)
from cube_nb.cube.puzzle import Puzzle, get_puzzle
from made_up_puzzles import pyramid, skewb, wheel

PUZZLES = [get_puzzle('cube2'), get_puzzle('cube3')]
PIECES = {'cube2': 8, 'cube3': 20}
RGB = np.array([list(bytes.fromhex(c[1:])) for c in (*PALETTE, BODY)], np.uint8)

puzzles = st.sampled_from(PUZZLES)
seeds = st.integers(0, 2**32)
few = settings(max_examples=25, deadline=None)


@few
@given(puzzles, seeds, st.integers(0, 40))
def test_one_hot_decodes_back(puzzle, seed, count):
    states = puzzle.random_states(count, seed)
    rows = one_hot(puzzle, states)
    assert rows.dtype == np.uint8 and rows.shape == (count, puzzle.num_facelets * 6)
    assert (rows.sum(1) == puzzle.num_facelets).all()
    assert (rows.reshape(count, puzzle.num_facelets, 6).argmax(2) == states).all()


@few
@given(puzzles, seeds, st.integers(1, 40))
def test_one_hot_is_facelet_major(puzzle, seed, count):
    states = puzzle.random_states(count, seed)
    b, i = np.indices(states.shape)
    assert (one_hot(puzzle, states)[b, i * 6 + states] == 1).all()


@few
@given(puzzles, seeds, st.integers(0, 40))
def test_each_piece_is_in_one_place_and_no_two_share_it(puzzle, seed, count):
    rows = piece_one_hot(puzzle, puzzle.random_states(count, seed))
    assert rows.dtype == np.uint8 and rows.shape == (count, PIECES[puzzle.name] * 24)
    rows = rows.reshape(count, PIECES[puzzle.name], 24)
    assert (rows.sum(2) == 1).all()
    assert (
        rows[:, :8].reshape(count, 8, 8, 3).sum((1, 3)).max(initial=1) == 1
    )  # one corner at each corner place
    assert rows[:, 8:].reshape(count, PIECES[puzzle.name] - 8, 12, 2).sum((1, 3)).max(initial=1) == 1


@few
@given(puzzles, seeds)
def test_piece_one_hot_agrees_with_cubies(puzzle, seed):
    states = puzzle.random_states(20, seed)
    corners, twists, edges, flips = (x.astype(int) for x in to_cubies(puzzle, states))
    expected = np.zeros((20, PIECES[puzzle.name], 24), np.uint8)
    for b in range(20):
        for i, (p, o) in enumerate(zip(corners[b], twists[b])):
            expected[b, p, 3 * i + o] = 1
        for i, (p, o) in enumerate(zip(edges[b], flips[b])):
            expected[b, 8 + p, 2 * i + o] = 1
    assert (piece_one_hot(puzzle, states) == expected.reshape(20, -1)).all()


@pytest.mark.parametrize('puzzle', PUZZLES, ids=lambda p: p.name)
@pytest.mark.parametrize('name', ['one_hot', 'piece_one_hot'])
def test_different_states_look_different(puzzle, name):
    states = np.unique(puzzle.random_states(20_000, seed=1), axis=0)
    near = puzzle.neighbours(states[:200]).reshape(-1, puzzle.num_facelets)  # states that differ by little
    states = np.unique(np.concatenate([states, near]), axis=0)
    assert len(np.unique(encode(name, puzzle, states), axis=0)) == len(states)


@few
@given(puzzles, st.sampled_from(sorted(ENCODINGS)), seeds, st.integers(0, 9))
def test_torch_agrees_with_numpy(puzzle, name, seed, count):
    states = puzzle.random_states(count, seed)
    expected = encode(name, puzzle, states)
    seen = encode(name, puzzle, torch.from_numpy(states))
    assert isinstance(expected, np.ndarray) and seen.dtype == torch.uint8
    assert (seen.numpy() == expected).all()
    assert expected.shape == seen.shape == (count, *encoded_shape(name, puzzle))


@few
@given(puzzles, seeds, st.integers(0, 9))
def test_what_another_device_runs_agrees(puzzle, seed, count):
    states = puzzle.random_states(count, seed)
    batch = torch.from_numpy(states)
    for f, device, build, sizes in (
        (one_hot, encoding._rows_of_identity, encoding._identity, (puzzle.num_colours,)),
        (encoding.piece_places, encoding._places_on_device, encoding._piece_tables, ()),
        (picture, encoding._paint_device, encoding._picture_tables, (92, 76)),
        (planes, encoding._paint_device, encoding._plane_tables, ()),
    ):
        assert (
            device(puzzle, batch, *encoding.tables_for(puzzle, batch, build, *sizes)).numpy()
            == f(puzzle, states)
        ).all()


@few
@given(puzzles, seeds)
def test_input_is_left_alone_and_may_be_strided(puzzle, seed):
    states = puzzle.random_states(6, seed)
    kept, wide = states.copy(), np.repeat(states, 2, axis=0)
    for name in ENCODINGS:
        assert (encode(name, puzzle, wide[::2]) == encode(name, puzzle, states)).all()
    assert (states == kept).all()


@pytest.mark.parametrize(
    'name, cube3, cube2',
    [
        ('one_hot', (54 * 6,), (24 * 6,)),
        ('piece_one_hot', (20 * 24,), (8 * 24,)),
        ('picture', (3, 92, 76), (3, 92, 76)),
        ('planes', (6, 9, 12), (6, 6, 8)),
    ],
)
def test_shapes(name, cube3, cube2):
    assert (encoded_shape(name, get_puzzle('cube3')), encoded_shape(name, get_puzzle('cube2'))) == (
        cube3,
        cube2,
    )


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
    assert (
        not (pixels[[0, -1]] < puzzle.num_facelets).any()
        and not (pixels[:, [0, -1]] < puzzle.num_facelets).any()
    )


def test_unknown_name():
    for call in (
        lambda: encode('pictures', PUZZLES[0], PUZZLES[0].solved[None]),
        lambda: encoded_shape('pictures', PUZZLES[0]),
    ):
        with pytest.raises(
            ValueError,
            match="unknown encoding 'pictures': expected one of one_hot, piece_one_hot, picture, planes",
        ):
            call()


@pytest.mark.parametrize('name', sorted(ENCODINGS))
@pytest.mark.parametrize(
    'make', [lambda s: s[0], lambda s: s[:, :24], lambda s: torch.from_numpy(s)[None], lambda s: s[:, :0]]
)
def test_what_is_not_a_batch_of_states(name, make):
    with pytest.raises(ValueError, match=r'expected a batch of cube3 states, \[B, 54\], got shape'):
        encode(name, PUZZLES[1], make(np.tile(PUZZLES[1].solved, (2, 1))))


@pytest.mark.parametrize('height, width', [(0, 0), (17, 100), (100, 17), (-92, 76)])
def test_a_picture_too_small(height, width):
    with pytest.raises(ValueError, match='at least 18 pixels high and wide'):
        picture(PUZZLES[1], PUZZLES[1].solved[None], height, width)


OTHERS = [pyramid(), skewb(), wheel()]


def naive_places(puzzle, state):
    "Where the first sticker of each piece is, counted within its kind: by colours read clockwise."
    found = []
    for kind in puzzle.pieces:
        for piece in kind:
            colours, width = puzzle.solved[piece].tolist(), len(piece)
            found += [
                i * width + turn
                for i, place in enumerate(kind)
                for turn in range(width)
                if np.roll(state[place], -turn).tolist() == colours
            ]
    return found


@pytest.mark.parametrize('puzzle', OTHERS + PUZZLES, ids=lambda p: p.name)
def test_pieces_of_any_puzzle(puzzle):
    states = puzzle.scramble(300, np.arange(300) % 30, seed=1).states
    places, batch = encoding.piece_places(puzzle, states), torch.from_numpy(states)
    assert places.tolist() == [naive_places(puzzle, state) for state in states]
    pieces, base = sum(map(len, puzzle.pieces)), encoding.num_places(puzzle)
    assert base == max(kind.size for kind in puzzle.pieces)
    tables = encoding.tables_for(puzzle, batch, encoding._piece_tables)
    assert (encoding._places_on_device(puzzle, batch, *tables).numpy() == places).all()
    for name, width in (
        ('piece_one_hot', pieces * base),
        ('one_hot', puzzle.num_facelets * puzzle.num_colours),
    ):
        rows, (digits, b) = encode(name, puzzle, states), encoding.digits(name, puzzle, states)
        assert rows.shape == (300, width) == (300, *encoded_shape(name, puzzle)) and rows.dtype == np.uint8
        assert (rows.reshape(300, -1, b).sum(2) == 1).all() and (
            rows.reshape(300, -1, b).argmax(2) == digits
        ).all()
        assert (encode(name, puzzle, batch).numpy() == rows).all()
        assert len(np.unique(rows, axis=0)) == len(np.unique(states, axis=0))


def test_kinds_of_different_sizes():
    assert [kind.shape for kind in OTHERS[0].pieces] == [(1, 3)] * 4 + [(6, 2)]
    assert sorted(kind.shape for kind in OTHERS[1].pieces) == [(1, 3)] * 4 + [(4, 3), (6, 1)]
    assert [encoded_shape('piece_one_hot', p) for p in OTHERS] == [(10 * 12,), (14 * 12,), (2 * 10,)]


@pytest.mark.parametrize('puzzle', OTHERS, ids=lambda p: p.name)
def test_a_picture_is_of_a_cube(puzzle):
    for call in (
        lambda: picture(puzzle, puzzle.solved[None]),
        lambda: encoded_shape('picture', puzzle),
        lambda: pixel_map(puzzle, 92, 76),
    ):
        with pytest.raises(ValueError, match=f'{puzzle.name} is not a cube: '):
            call()


def test_a_puzzle_of_the_right_size_is_no_cube_either():
    moved = replace(PUZZLES[0], name='moved', outlines=PUZZLES[0].outlines + 0.1)
    with pytest.raises(ValueError, match='moved is not a cube: its stickers are in other places'):
        picture(moved, moved.solved[None])
    assert (
        picture(replace(moved, outlines=None), moved.solved[None]) == picture(PUZZLES[0], moved.solved[None])
    ).all()


def test_pieces_that_cannot_be_told_apart():
    for puzzle, reason in (
        (replace(OTHERS[1], name='dull', solved=OTHERS[1].solved // 2), 'dull has pieces that look the same'),
        (replace(OTHERS[0], name='mute', pieces=()), 'mute does not say which facelets make up a piece'),
    ):
        states = puzzle.scramble(5, 9).states
        for call in (
            encoding.piece_places,
            piece_one_hot,
            lambda p, s: encode('piece_one_hot', p, s),
            lambda p, s: encoding.digits('piece_one_hot', p, s),
        ):
            with pytest.raises(ValueError, match=reason):
                call(puzzle, states)
        assert one_hot(puzzle, states).sum() == states.size


def test_half_turn_puzzles_look_like_their_cubes():
    for puzzle in PUZZLES:
        states = puzzle.random_states(50, seed=3)
        for name in ENCODINGS:
            assert (
                encode(name, get_puzzle(f'{puzzle.name}-htm'), states) == encode(name, puzzle, states)
            ).all()


# --- keys of the same puzzles ---------------------------------------------------------------------


@pytest.mark.parametrize('puzzle', OTHERS + PUZZLES, ids=lambda p: p.name)
def test_keys_of_any_puzzle(puzzle):
    states = puzzle.scramble(500, np.arange(500) % 30, seed=2).states
    keys, batch = pack(puzzle, states), torch.from_numpy(states)
    assert (
        keys.shape == (500, key_words(puzzle))
        and (keys >= 0).all()
        and (unpack(puzzle, keys) == states).all()
    )
    assert len(np.unique(keys, axis=0)) == len(np.unique(states, axis=0))
    least = [min(state[r].tolist() for r in puzzle.rotations) for state in states]
    assert canonical(puzzle, states).tolist() == canonical(puzzle, batch).tolist() == least
    held = states[:, puzzle.rotations[-1]]
    assert (keys_of(puzzle, held) == keys_of(puzzle, states)).all() and (
        is_test_state(puzzle, held) == is_test_state(puzzle, states)
    ).all()
    assert (_pack_device(puzzle, batch).numpy() == keys).all() and _canonical_device(
        puzzle, batch
    ).tolist() == least


def test_keys_of_many_words():
    "A puzzle of 200 facelets in 200 colours: 25 words of 8 digits, of which the last decides."
    turn = np.roll(np.arange(200), 1).astype(np.int16)
    ring = Puzzle(
        'ring',
        np.arange(200, dtype=np.uint8),
        np.stack([turn, np.argsort(turn)]).astype(np.int16),
        ('A', "A'"),
        np.arange(200, dtype=np.int16)[None],
        np.arange(200, dtype=np.int16)[None],
    )
    states = np.repeat(ring.solved[None], 3, axis=0)
    states[1, -1], states[2, -2] = 0, 0
    keys, table = pack(ring, states), KeyTable(key_words(ring), capacity=1)
    assert keys.shape == (3, 25) and (unpack(ring, keys) == states).all()
    assert table.add(keys)[1].all() and table.find(keys[::-1]).tolist() == [2, 1, 0]


def test_centres_that_only_rotations_move_are_in_the_key():
    "The 3x3x3 with any way of holding it counted as the same: its centres are what tells the ways apart."
    held = replace(PUZZLES[1], name='held', rotations=PUZZLES[1].symmetries[:24])
    states = held.scramble(200, 20, seed=1).states
    turned = states[:, held.rotations[7]]
    assert (unpack(held, pack(held, turned)) == turned).all() and (
        keys_of(held, turned) == keys_of(held, states)
    ).all()
    assert (_canonical_device(held, torch.from_numpy(turned)).numpy() == canonical(held, states)).all()


def test_a_missing_piece_is_a_row_of_zeros():
    cube3 = PUZZLES[1]
    state = cube3.solved.copy()
    state[8], state[9] = 0, 0  # a corner that is white twice
    rows = piece_one_hot(cube3, state[None]).reshape(20, 24)
    assert rows.sum() == 19 and rows[0].sum() == 0
