"Cubes: conversions round-trip, possible ones pass, every kind of impossible one is refused with its reason."

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.cubies import CORNERS, EDGES, complete_face, stickers_of_cubies, to_cubies

from cube_nb.cube.pieces import from_string, to_string
from cube_nb.cube.puzzle import ImpossibleState
from cube_nb.cube.notation import invert, parse
from cube_nb.cube.geometry import FACES
from cube_nb.cube.puzzle import Puzzle, get_puzzle

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')
puzzles = st.sampled_from([cube2, cube3])
words = st.lists(st.integers(0, 11), max_size=30)
few = settings(max_examples=50, deadline=None)


# --- conversions ----------------------------------------------------------------------------------


@few
@given(puzzles, st.lists(words, min_size=1, max_size=5))
def test_conversions_round_trip(puzzle, batch):
    states = np.stack([puzzle.apply_word(puzzle.solved, word) for word in batch])
    assert (from_string(puzzle, to_string(puzzle, states)) == states).all()
    assert (puzzle.solved[stickers_of_cubies(puzzle, to_cubies(puzzle, states))] == states).all()
    assert (puzzle.check(states) == states).all() and puzzle.is_possible(states).all()


@few
@given(puzzles, words)
def test_inverse_and_identity(puzzle, word):
    state = puzzle.apply_word(puzzle.solved, word)
    identity = puzzle.sticker_identity(state)
    assert (identity[0] == puzzle.word_permutation(word)).all() and identity.dtype == np.int16
    assert (puzzle.solved[identity[0]] == state).all()
    assert (puzzle.inverse(state)[0] == puzzle.apply_word(puzzle.solved, invert(puzzle, word))).all()


@few
@given(puzzles, words, words)
def test_pieces_compose_like_words(puzzle, first, second):
    "What sits at place i after both words is what the first word left where the second takes it from."
    a, b, both = (
        to_cubies(puzzle, puzzle.apply_word(puzzle.solved, w)) for w in (first, second, first + second)
    )
    assert (both.corner_permutation[0] == a.corner_permutation[0][b.corner_permutation[0]]).all()
    assert (
        both.corner_orientation[0]
        == (a.corner_orientation[0][b.corner_permutation[0]] + b.corner_orientation[0]) % 3
    ).all()
    assert (both.edge_permutation[0] == a.edge_permutation[0][b.edge_permutation[0]]).all()
    assert (
        both.edge_orientation[0] == (a.edge_orientation[0][b.edge_permutation[0]] + b.edge_orientation[0]) % 2
    ).all()


def test_shapes_and_types():
    for puzzle, edges in ((cube2, 0), (cube3, 12)):
        states = puzzle.random_states(7, seed=1)
        cubies = to_cubies(puzzle, states)
        assert [x.shape for x in cubies] == [(7, 8), (7, 8), (7, edges), (7, edges)] and all(
            x.dtype == np.int8 for x in cubies
        )
        assert states.dtype == np.uint8
        assert all(len(text) == puzzle.num_facelets for text in to_string(puzzle, states))
        assert from_string(puzzle, to_string(puzzle, states)[3]).shape == (1, puzzle.num_facelets)
        for empty in (
            puzzle.check(states[:0]),
            from_string(puzzle, []),
            puzzle.random_states(0),
        ):
            assert empty.shape == (0, puzzle.num_facelets)


def test_names_are_read_clockwise_off_the_cube():
    for puzzle in (cube2, cube3):
        size = puzzle.num_facelets // 6
        for names, places in zip((CORNERS, EDGES), puzzle.pieces):
            for name, place in zip(names, places):
                assert ''.join(FACES[i // size] for i in place) == name


# --- random states --------------------------------------------------------------------------------


@pytest.mark.parametrize('puzzle', [cube2, cube3], ids=lambda p: p.name)
def test_random_states(puzzle):
    states = puzzle.random_states(5000, seed=5)
    assert puzzle.is_possible(states).all()
    assert (puzzle.random_states(10, seed=5) == states[:10]).all() and (
        puzzle.random_states(10, seed=6) != states[:10]
    ).any()
    assert len(np.unique(states, axis=0)) == 5000
    with pytest.raises(ValueError, match='count must not be negative, got -3'):
        puzzle.random_states(-3)


def test_random_states_use_every_pair_of_corners_alike():
    "Uniform also in pairs: the corners at places 0 and 7, 56 ordered pairs, and both parities of the edges."
    cubies = to_cubies(cube3, cube3.random_states(56_000, seed=8))
    pairs = np.bincount(cubies.corner_permutation[:, 0] * 8 + cubies.corner_permutation[:, 7], minlength=64)
    pairs = pairs[pairs > 0]
    assert len(pairs) == 56 and abs(pairs - 1000).max() < 5 * 1000**0.5
    i, j = np.triu_indices(12, 1)
    odd = (cubies.edge_permutation[:, i] > cubies.edge_permutation[:, j]).sum(1) % 2
    assert abs(odd.mean() - 0.5) < 5 * 0.5 / 56_000**0.5


# --- impossible cubes -----------------------------------------------------------------------------


def text_of(puzzle, word=''):
    return to_string(puzzle, puzzle.apply_word(puzzle.solved, parse(puzzle, word)))[0]


def cycled(text, at):
    "The letters at these positions moved along by one."
    letters = list(text)
    for i, j in zip(at, (*at[1:], at[0])):
        letters[j] = text[i]
    return ''.join(letters)


def replaced(text, i, letter):
    return text[:i] + letter + text[i + 1 :]


def impossible_strings():
    "(puzzle, facelet string, words that the error must hold)"
    corners, edges = cube3.pieces
    scrambled = {puzzle: text_of(puzzle, "R U2 F' L D B2 R' U F2 D'") for puzzle in (cube2, cube3)}
    for puzzle, text in scrambled.items():
        size = puzzle.num_facelets
        for wrong in ('', 'U', text[:-1], text + 'U', text * 2, ' ' + text, text + '\n'):
            yield puzzle, wrong, f'expected {size} letters, got {len(wrong)}'
        for i, letter in (
            (0, 'X'),
            (1, 'u'),
            (5, '?'),
            (9, ' '),
            (13, '0'),
            (size - 1, 'W'),
            (size - 2, '\u00dc'),
        ):
            face = f'{FACES[i // (size // 6)]}{i % (size // 6) + 1}'
            yield (
                puzzle,
                replaced(text, i, letter),
                f'unknown letter {letter!r} at position {i + 1} (facelet {face}): expected one of URFDLB',
            )
        for c, letter in enumerate(FACES):  # one sticker of another colour, and a cube of one colour
            i, other = text.index(letter), FACES[c - 1]
            yield puzzle, replaced(text, i, other), f'{letter} is on {size // 6 - 1}'
            yield puzzle, letter * size, 'wrong sticker counts: '
    for i, word in itertools.product((0, 1), ('', "R U F'")):  # any whole turn of the cube moves the centres
        for m in (1, 5, 11, 17, 23):
            state = cube3.apply_word(cube3.solved, parse(cube3, word))[cube3.symmetries[m]]
            if i:
                state = cube3.solved[cube3.symmetries[24 + m]]
            yield (
                cube3,
                ''.join(FACES[c] for c in state),
                'hold the cube so that every centre is on its own face',
            )
    for word in ('', "R U2 F' L D B2 R' U F2 D'"):
        text3, text2 = text_of(cube3, word), text_of(cube2, word)
        for name, place in zip(CORNERS, corners):
            yield (
                cube3,
                cycled(text3, place),
                'a corner is twisted: the corner orientations add up to 1 modulo 3',
            )
            yield (
                cube3,
                cycled(text3, place[::-1]),
                'a corner is twisted: the corner orientations add up to 2 modulo 3',
            )
            yield cube3, cycled(text3, place[1:]), f' {name} (facelets '
            yield cube3, cycled(text3, place[1:]), 'they run anticlockwise, as on no piece'
        for place in cube2.pieces[0]:
            yield (
                cube2,
                cycled(text2, place),
                'a corner is twisted: the corner orientations add up to 1 modulo 3',
            )
            yield cube2, cycled(text2, place[1:]), 'they run anticlockwise, as on no piece'
        for place in edges:
            yield cube3, cycled(text3, place), 'an edge is flipped'
        for a, b in itertools.pairwise(edges):  # two edges, or two corners, exchanged
            yield (
                cube3,
                cycled(cycled(text3, (a[0], b[0])), (a[1], b[1])),
                'two pieces are exchanged (odd permutation)',
            )
        for a, b in itertools.pairwise(corners):
            swapped = text3
            for k in range(3):
                swapped = cycled(swapped, (a[k], b[k]))
            yield cube3, swapped, 'two pieces are exchanged (odd permutation)'
    for puzzle in (cube2, cube3):  # pieces put in twice, with the colours still counting right
        corner = dict(zip(CORNERS, puzzle.pieces[0]))
        for gone, twice in (('URF DLF', 'UFL DFR'), ('ULB DRB', 'UBR DBL')):
            state = puzzle.solved.copy()
            for a, b in zip(gone.split(), twice.split()):
                state[corner[a]] = puzzle.solved[corner[b]]
            yield puzzle, ''.join(FACES[c] for c in state), 'occurs 2 times, at places'
            yield puzzle, ''.join(FACES[c] for c in state), f'missing: {gone}'


BY_HAND = [  # stickers of a solved cube moved along in a cycle, and the whole error
    (cube3, 'R2 F8', 'the edge UF occurs 2 times, at places UR UF; missing: UR DF'),
    (cube3, 'F2 L8', 'the edge UL occurs 2 times, at places UF UL; missing: UF DL'),
    (cube3, 'U6 D4', 'the edge UL occurs 2 times, at places UL DL; missing: UR DL'),
    (cube3, 'U8 R6', 'the edge UB occurs 2 times, at places UB BR; missing: UF BR'),
    (cube3, 'F6 L4', 'the edge FR (facelets F6 R4) has the colours L, R: such a piece does not exist'),
    (cube3, 'F2 U8 R2', 'the edge UR (facelets U6 R2) has the colours U, U: such a piece does not exist'),
    (
        cube3,
        'R3 B9',
        'the corner UBR (facelets U3 B1 R3) has the colours U, B, B: such a piece does not exist',
    ),
    (
        cube3,
        'F1 R9',
        'the corner UFL (facelets U7 F1 L3) has the colours U, R, L: such a piece does not exist',
    ),
    (
        cube3,
        'U9 D3',
        'the corner URF (facelets U9 R1 F3) has the colours D, R, F: they run anticlockwise, as on no piece',
    ),
    (
        cube3,
        'F3 B3',
        'the corner URF (facelets U9 R1 F3) has the colours U, R, B: they run anticlockwise, as on no piece',
    ),
    (cube3, 'U9 R1 F3', 'a corner is twisted: the corner orientations add up to 1 modulo 3, expected 0'),
    (cube3, 'U9 F3 R1', 'a corner is twisted: the corner orientations add up to 2 modulo 3, expected 0'),
    (cube3, 'U8 F2', 'an edge is flipped: the edge orientations add up to 1 modulo 2, expected 0'),
    (
        cube3,
        'R2 F2',
        'two pieces are exchanged (odd permutation): that of the corners is even and that of the edges odd, expected both alike',
    ),
    (
        cube3,
        'U5 R5',
        'the centres of U, R, F, D, L, B are R, U, F, D, L, B: hold the cube so that every centre is on its own face',
    ),
    (
        cube2,
        'U4 F1',
        'the corner URF (facelets U4 R1 F2) has the colours F, R, F: such a piece does not exist',
    ),
    (
        cube2,
        'U1 D1',
        'the corner ULB (facelets U1 L1 B2) has the colours D, L, B: they run anticlockwise, as on no piece',
    ),
    (cube2, 'U4 F2 R1', 'a corner is twisted: the corner orientations add up to 2 modulo 3, expected 0'),
]


def spots(puzzle, names):
    return [FACES.index(s[0]) * (puzzle.num_facelets // 6) + int(s[1:]) - 1 for s in names.split()]


@pytest.mark.parametrize(
    'puzzle, cycle, message', BY_HAND, ids=[f'{row[0].name} {row[1]}' for row in BY_HAND]
)
def test_errors_by_hand(puzzle, cycle, message):
    with pytest.raises(ImpossibleState) as caught:
        from_string(puzzle, cycled(text_of(puzzle), spots(puzzle, cycle)))
    assert str(caught.value) == message


def test_impossible_strings():
    cases = list(impossible_strings())
    for puzzle, text, reason in cases:
        with pytest.raises(ImpossibleState) as caught:
            from_string(puzzle, text)
        assert reason in str(caught.value), (text, reason, str(caught.value))
        assert '\n' not in str(caught.value)
    assert len({(puzzle.name, text) for puzzle, text, _ in cases}) >= 150


def test_the_first_bad_row_is_named():
    good, bad = (
        text_of(cube3, 'R U'),
        [cycled(text_of(cube3), spots(cube3, cycle)) for cycle in ('R2 F2', 'U8 F2', 'R2 F8')],
    )
    for order in itertools.permutations(range(3)):
        rows = [good, good, *(bad[k] for k in order)]
        states = np.array([[FACES.index(letter) for letter in row] for row in rows])
        assert cube3.is_possible(states).tolist() == [True, True, False, False, False]
        reason = ('two pieces are exchanged', 'an edge is flipped', 'the edge UF occurs 2 times')[order[0]]
        with pytest.raises(ImpossibleState, match=f'^state 2: {reason}'):
            cube3.check(states)
        with pytest.raises(ImpossibleState, match=f'^{reason}'):
            cube3.check(states[2])
    with pytest.raises(ImpossibleState, match='^state 1: expected 54 letters, got 3'):
        from_string(cube3, [good, 'URF'])


@pytest.mark.parametrize(
    'states, reason',
    [
        (cube2.solved, 'expected 54 facelets a state, got an array of shape (1, 24)'),
        (np.zeros((2, 3, 54), int), 'expected 54 facelets'),
        ([], 'expected 54 facelets'),
        (3, 'expected 54 facelets'),
        (cube3.solved.astype(float), 'expected colours as whole numbers, got float64'),
        (cube3.solved + 1, 'facelet 45 (B1) has colour 6: expected 0 to 5'),
        (cube3.solved.astype(int) - 1, 'facelet 0 (U1) has colour -1'),
        (np.where(np.arange(54) == 20, 255, cube3.solved), 'facelet 20 (F3) has colour 255'),
        (np.zeros(54, int), 'U is on 54'),
    ],
)
def test_bad_arrays(states, reason):
    for f in (Puzzle.check, to_cubies, Puzzle.sticker_identity, Puzzle.inverse, Puzzle.is_possible):
        if f is Puzzle.is_possible and 'expected 54' not in reason and 'whole' not in reason:
            assert not f(cube3, states).any()
            continue
        with pytest.raises(ImpossibleState) as caught:
            f(cube3, states)
        assert reason in str(caught.value)


@pytest.mark.parametrize(
    'field, values, reason',
    [
        ('corner_orientation', [[1, 0, 0, 0, 0, 0, 0, 0]], 'a corner is twisted'),
        ('edge_orientation', [[1] + [0] * 11], 'an edge is flipped'),
        ('edge_permutation', [[1, 0, *range(2, 12)]], 'two pieces are exchanged'),
        ('corner_permutation', [[0, 0, *range(2, 8)]], 'wrong sticker counts'),
    ],
)
def test_bad_cubies(field, values, reason):
    cubies = to_cubies(cube3, cube3.solved)._replace(**{field: np.array(values)})
    with pytest.raises(ImpossibleState) as caught:
        cube3.check(cube3.solved[stickers_of_cubies(cube3, cubies)])
    assert reason in str(caught.value)


def test_cube2_in_every_orientation():
    states = cube2.random_states(50, seed=4)
    for r in cube2.rotations:
        assert cube2.is_possible(states[:, r]).all()
    for m in range(24, 48):
        assert not cube2.is_possible(states[:, cube2.symmetries[m]]).any()
        assert cube2.is_possible(cube2.symmetric(states, m)).all()


@few
@given(st.sampled_from([cube2, cube3]), st.integers(0, 10**6), st.integers(0, 60), st.integers(0, 5))
def test_one_sticker_changed_is_always_noticed(puzzle, seed, where, colour):
    state = puzzle.random_states(1, seed)[0]
    where %= puzzle.num_facelets
    changed = np.where(np.arange(puzzle.num_facelets) == where, colour, state)
    assert puzzle.is_possible(changed)[0] == (state[where] == colour)


# --- the sixth face -------------------------------------------------------------------------------


def without(puzzle, state, face):
    size = puzzle.num_facelets // 6
    return np.where(np.arange(puzzle.num_facelets) // size == FACES.index(face), 255, state)


@few
@given(st.sampled_from([cube2, cube3]), st.integers(0, 10**6), st.sampled_from(FACES))
def test_completions(puzzle, seed, face):
    state = puzzle.random_states(1, seed)[0]
    found = complete_face(puzzle, without(puzzle, state, face), face)
    assert (found == state).all(1).sum() == 1 and puzzle.is_possible(found).all() and found.dtype == np.uint8
    assert (without(puzzle, found, face) == without(puzzle, state, face)).all() and len(
        np.unique(found, axis=0)
    ) == len(found)
    assert len(found) == 1 or puzzle is cube3


def test_completions_are_all_of_them():
    "Against brute force: every way to put four edges and their flips into the face, with the corners as they are."
    states = cube3.random_states(400, seed=11)
    counts = np.array([len(complete_face(cube3, state, 'U')) for state in states])
    edges, top = cube3.pieces[1], range(4)  # places UR UF UL UB
    for state in [*states[counts > 1][:5], *states[:5]]:
        cubies, trials = to_cubies(cube3, state), []
        held = cubies.edge_permutation[0, :4]
        for order, flips in itertools.product(
            itertools.permutations(held), itertools.product((0, 1), repeat=4)
        ):
            trial = state.copy()
            for place, piece, flip in zip(top, order, flips):
                trial[edges[place]] = cube3.solved[np.roll(edges[piece], flip)]
            trials.append(trial)
        trials = np.array(trials)
        agree = (without(cube3, trials, 'U') == without(cube3, state, 'U')).all(1)
        expected = trials[agree & cube3.is_possible(trials)]
        assert (np.unique(complete_face(cube3, state, 'U'), axis=0) == np.unique(expected, axis=0)).all()
    assert set(counts) >= {1, 2, 3}


def test_what_cannot_be_completed():
    def broken(cycle):
        text = cycled(text_of(cube3), spots(cube3, cycle))
        return np.array([FACES.index(letter) for letter in text])

    for cycle, face, reason in (
        ('U9 R1 F3', 'D', 'a corner is twisted'),
        ('U8 F2', 'D', 'an edge is flipped'),
        ('R2 F2', 'D', 'two pieces are exchanged'),
        ('R2 F8', 'L', 'the edge UF occurs 2 times'),
        ('R1 F3', 'D', 'run anticlockwise'),
        ('U5 R5', 'F', 'the centres of'),
        ('R1 B9', 'U', 'the corner URF (facelets R1 F3) shows the colours B, F: no corner does'),
        ('R2 D5', 'U', 'the centres of'),
    ):
        with pytest.raises(ImpossibleState) as caught:
            complete_face(cube3, without(cube3, broken(cycle), face), face)
        assert reason in str(caught.value), (cycle, str(caught.value))
    opposite = np.where(np.isin(np.arange(54), [10, 19, 37, 46]), 3, cube3.solved)  # four D stickers beside U
    with pytest.raises(ImpossibleState, match='the stickers around face U are not those of the edges'):
        complete_face(cube3, opposite, 'U')
    with pytest.raises(ImpossibleState, match=r'facelet 0 \(U1\) has colour 255'):
        complete_face(cube3, without(cube3, cube3.solved, 'U'), 'D')
    with pytest.raises(ImpossibleState, match='expected one state, got 2'):
        complete_face(cube3, np.stack([cube3.solved] * 2), 'U')
    for face in ('X', 'UR', '', 'u'):
        with pytest.raises(ValueError, match='unknown face'):
            complete_face(cube3, cube3.solved, face)
