"Properties of the encodings, on NumPy arrays and torch tensors, for both cubes."
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube import encoding
from cube_nb.cube.cubies import to_cubies
from cube_nb.cube.encoding import BODY, ENCODINGS, PALETTE, encode, encoded_shape, one_hot, picture, piece_one_hot, pixel_map
from cube_nb.cube.geometry import DOWNS, NORMALS
from cube_nb.cube.puzzle import get_puzzle

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
    assert rows[:, :8].reshape(count, 8, 8, 3).sum((1, 3)).max(initial=1) == 1   # one corner at each corner place
    assert rows[:, 8:].reshape(count, PIECES[puzzle.name] - 8, 12, 2).sum((1, 3)).max(initial=1) == 1


@few
@given(puzzles, seeds)
def test_piece_one_hot_agrees_with_cubies(puzzle, seed):
    states = puzzle.random_states(20, seed)
    corners, twists, edges, flips = (x.astype(int) for x in to_cubies(puzzle, states))
    expected = np.zeros((20, PIECES[puzzle.name], 24), np.uint8)
    for b in range(20):
        for i, (p, o) in enumerate(zip(corners[b], twists[b])): expected[b, p, 3 * i + o] = 1
        for i, (p, o) in enumerate(zip(edges[b], flips[b])): expected[b, 8 + p, 2 * i + o] = 1
    assert (piece_one_hot(puzzle, states) == expected.reshape(20, -1)).all()


@pytest.mark.parametrize('puzzle', PUZZLES, ids=lambda p: p.name)
@pytest.mark.parametrize('name', ['one_hot', 'piece_one_hot'])
def test_different_states_look_different(puzzle, name):
    states = np.unique(puzzle.random_states(20_000, seed=1), axis=0)
    near = puzzle.neighbours(states[:200]).reshape(-1, puzzle.num_facelets)      # states that differ by little
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
            (picture, encoding._paint_device, encoding._picture_tables, (92, 76))):
        assert (device(puzzle, batch, *encoding.tables_for(puzzle, batch, build, *sizes)).numpy() == f(puzzle, states)).all()


@few
@given(puzzles, seeds)
def test_input_is_left_alone_and_may_be_strided(puzzle, seed):
    states = puzzle.random_states(6, seed)
    kept, wide = states.copy(), np.repeat(states, 2, axis=0)
    for name in ENCODINGS: assert (encode(name, puzzle, wide[::2]) == encode(name, puzzle, states)).all()
    assert (states == kept).all()


@pytest.mark.parametrize('name, cube3, cube2', [('one_hot', (54 * 6,), (24 * 6,)), ('piece_one_hot', (20 * 24,), (8 * 24,)),
                                                ('picture', (3, 92, 76), (3, 92, 76))])
def test_shapes(name, cube3, cube2):
    assert (encoded_shape(name, get_puzzle('cube3')), encoded_shape(name, get_puzzle('cube2'))) == (cube3, cube2)


@few
@given(puzzles, seeds, st.integers(40, 300), st.integers(40, 300))
def test_sticker_centres_have_the_palette_colour(puzzle, seed, height, width):
    states = puzzle.random_states(3, seed)
    pictures, pixels = picture(puzzle, states, height, width), pixel_map(puzzle, height, width)
    assert pictures.shape == (3, 3, height, width) and pictures.dtype == np.uint8
    shown = puzzle.num_facelets // 6 * 5                                         # B is left out
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
    assert len({tuple((np.ptp(w, axis=0) + 1)) + (len(w),) for w in where}) == 1  # all of one size ...
    high, wide = np.ptp(where[0], axis=0) + 1
    assert high == wide and len(where[0]) == high * wide                         # ... and squares
    centre = np.array([w.mean(0) for w in where])
    for face in range(5):
        own = slice(face * n * n, (face + 1) * n * n)
        steps = puzzle.positions[own]
        assert np.corrcoef(centre[own, 0], steps @ DOWNS[face])[0, 1] > .999
        assert np.corrcoef(centre[own, 1], steps @ np.cross(NORMALS[face], DOWNS[face]))[0, 1] > .999
    u, r, f, d, l = centre.reshape(5, n * n, 2).mean(1)
    assert u[0] < f[0] < d[0] and l[1] < f[1] < r[1]
    assert np.allclose([u[1], d[1]], f[1]) and np.allclose([l[0], r[0]], f[0])
    assert not (pixels[[0, -1]] < puzzle.num_facelets).any() and not (pixels[:, [0, -1]] < puzzle.num_facelets).any()


def test_unknown_name():
    for call in (lambda: encode('pictures', PUZZLES[0], PUZZLES[0].solved[None]), lambda: encoded_shape('pictures', PUZZLES[0])):
        with pytest.raises(ValueError, match="unknown encoding 'pictures': expected one of one_hot, piece_one_hot, picture"): call()


@pytest.mark.parametrize('name', sorted(ENCODINGS))
@pytest.mark.parametrize('make', [lambda s: s[0], lambda s: s[:, :24], lambda s: torch.from_numpy(s)[None], lambda s: s[:, :0]])
def test_what_is_not_a_batch_of_states(name, make):
    with pytest.raises(ValueError, match=r'expected a batch of cube3 states, \[B, 54\], got shape'):
        encode(name, PUZZLES[1], make(np.tile(PUZZLES[1].solved, (2, 1))))


@pytest.mark.parametrize('height, width', [(0, 0), (17, 100), (100, 17), (-92, 76)])
def test_a_picture_too_small(height, width):
    with pytest.raises(ValueError, match='at least 18 pixels high and wide'):
        picture(PUZZLES[1], PUZZLES[1].solved[None], height, width)


def test_a_missing_piece_is_a_row_of_zeros():
    cube3 = PUZZLES[1]
    state = cube3.solved.copy()
    state[8], state[9] = 0, 0                                                    # a corner that is white twice
    rows = piece_one_hot(cube3, state[None]).reshape(20, 24)
    assert rows.sum() == 19 and rows[0].sum() == 0
