"Cubes: pieces compose, random states are uniform, every kind of impossible one is refused with its reason."

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.cubies import CORNERS, complete_face, to_cubies
from cube_nb.cube.geometry import FACES
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string, to_string
from cube_nb.cube.puzzle import ImpossibleState, Puzzle, get_puzzle

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')
puzzles = st.sampled_from([cube2, cube3])
words = st.lists(st.integers(0, 11), max_size=30)
few = settings(max_examples=50, deadline=None)


@few
@given(puzzles, words, words)
def test_pieces_compose_like_words(puzzle, first, second):
    "What sits at place i after both words is what the first word left where the second takes it from."
    states = [puzzle.apply_word(puzzle.solved, word) for word in (first, second, first + second)]
    a, b, both = zip(*(x.astype(int) for x in to_cubies(puzzle, np.stack(states))))
    for k, turns in ((0, 3), (2, 2)):  # corners, edges: permutation and orientation
        assert (both[k] == a[k][b[k]]).all()
        assert (both[k + 1] == (a[k + 1][b[k]] + b[k + 1]) % turns).all()
    identity = puzzle.sticker_identity(states[0])
    assert (identity[0] == puzzle.word_permutation(first)).all() and identity.dtype == np.int16


@pytest.mark.parametrize('puzzle, edges', [(cube2, 0), (cube3, 12)])
def test_shapes_and_types(puzzle, edges):
    states = puzzle.random_states(7, seed=1)
    cubies = to_cubies(puzzle, states)
    assert [x.shape for x in cubies] == [(7, 8), (7, 8), (7, edges), (7, edges)]
    assert states.dtype == np.uint8 and {x.dtype for x in cubies} == {np.dtype(np.int8)}
    assert (puzzle.check(states) == states).all()
    assert from_string(puzzle, to_string(puzzle, states)[3]).shape == (1, puzzle.num_facelets)
    for empty in (puzzle.check(states[:0]), from_string(puzzle, []), puzzle.random_states(0)):
        assert empty.shape == (0, puzzle.num_facelets)


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

MIXED = "R U2 F' L D B2 R' U F2 D'"
TWISTED = 'a corner is twisted: the corner orientations add up to'
MIRRORED = 'they run anticlockwise, as on no piece'
SWAPPED = 'two pieces are exchanged (odd permutation)'


def text_of(puzzle, word=''):
    return to_string(puzzle, puzzle.apply_word(puzzle.solved, parse(puzzle, word)))[0]


def letters_of(states):
    return ''.join(FACES[c] for c in states)


def cycled(text, *cycles):
    "The letters at these positions moved along by one, cycle after cycle."
    letters = list(text)
    for at in cycles:
        moved = [letters[i] for i in at]
        for j, letter in zip((*at[1:], at[0]), moved):
            letters[j] = letter
    return ''.join(letters)


def replaced(text, i, letter):
    return text[:i] + letter + text[i + 1 :]


def badly_written(puzzle, text):
    "Wrong lengths, letters and counts."
    size, each = puzzle.num_facelets, puzzle.num_facelets // 6
    for wrong in ('', 'U', text[:-1], text + 'U', text * 2, ' ' + text, text + '\n'):
        yield wrong, f'expected {size} letters, got {len(wrong)}'
    for i, letter in zip((0, 1, 5, 9, 13, size - 1, size - 2), 'Xu? 0W\u00dc'):
        where = f'position {i + 1} (facelet {FACES[i // each]}{i % each + 1})'
        yield replaced(text, i, letter), f'unknown letter {letter!r} at {where}: expected one of URFDLB'
    for c, letter in enumerate(FACES):  # one sticker of another colour, and a cube of one colour
        yield replaced(text, text.index(letter), FACES[c - 1]), f'{letter} is on {each - 1}'
        yield letter * size, 'wrong sticker counts: '


def badly_built(puzzle, text):
    "Corners and edges turned in place or exchanged, corners mirrored."
    for name, place in zip(CORNERS, puzzle.pieces[0]):
        yield cycled(text, place), f'{TWISTED} 1 modulo 3'
        yield cycled(text, place[::-1]), f'{TWISTED} 2 modulo 3'
        yield cycled(text, place[1:]), f' {name} (facelets '
        yield cycled(text, place[1:]), MIRRORED
    if puzzle is cube3:
        for place in puzzle.pieces[1]:
            yield cycled(text, place), 'an edge is flipped'
        for kind in puzzle.pieces:
            for one, other in itertools.pairwise(kind):
                yield cycled(text, *zip(one, other)), SWAPPED


def turned_over():
    "Any whole turn of the cube moves the centres."
    for word, m in itertools.product(('', "R U F'"), (1, 5, 11, 17, 23)):
        yield letters_of(cube3.apply_word(cube3.solved, parse(cube3, word))[cube3.symmetries[m]])
        yield letters_of(cube3.solved[cube3.symmetries[24 + m]])


def twice_put_in(puzzle):
    "Pieces put in twice, with the colours still counting right."
    corner = dict(zip(CORNERS, puzzle.pieces[0]))
    for gone, twice in (('URF DLF', 'UFL DFR'), ('ULB DRB', 'UBR DBL')):
        state = puzzle.solved.copy()
        for a, b in zip(gone.split(), twice.split()):
            state[corner[a]] = puzzle.solved[corner[b]]
        yield letters_of(state), 'occurs 2 times, at places'
        yield letters_of(state), f'missing: {gone}'


def impossible_strings():
    "(puzzle, facelet string, words that the error must hold)"
    for puzzle in (cube2, cube3):
        cases = [*badly_written(puzzle, text_of(puzzle, MIXED)), *twice_put_in(puzzle)]
        cases += [row for word in ('', MIXED) for row in badly_built(puzzle, text_of(puzzle, word))]
        yield from ((puzzle, *row) for row in cases)
    for text in turned_over():
        yield cube3, text, 'hold the cube so that every centre is on its own face'


def test_impossible_strings():
    cases = list(impossible_strings())
    for puzzle, text, reason in cases:
        with pytest.raises(ImpossibleState) as caught:
            from_string(puzzle, text)
        assert reason in str(caught.value), (text, reason, str(caught.value))
        assert '\n' not in str(caught.value)
    assert len({(puzzle.name, text) for puzzle, text, _ in cases}) >= 150


# puzzle, stickers of a solved cube moved along in a cycle, and the whole error
BY_HAND = """
cube3 R2 F8: the edge UF occurs 2 times, at places UR UF; missing: UR DF
cube3 F2 L8: the edge UL occurs 2 times, at places UF UL; missing: UF DL
cube3 U6 D4: the edge UL occurs 2 times, at places UL DL; missing: UR DL
cube3 U8 R6: the edge UB occurs 2 times, at places UB BR; missing: UF BR
cube3 F6 L4: the edge FR (facelets F6 R4) has the colours L, R: such a piece does not exist
cube3 F2 U8 R2: the edge UR (facelets U6 R2) has the colours U, U: such a piece does not exist
cube3 R3 B9: the corner UBR (facelets U3 B1 R3) has the colours U, B, B: such a piece does not exist
cube3 F1 R9: the corner UFL (facelets U7 F1 L3) has the colours U, R, L: such a piece does not exist
cube3 U9 D3: the corner URF (facelets U9 R1 F3) has the colours D, R, F: they run anticlockwise, as on no piece
cube3 F3 B3: the corner URF (facelets U9 R1 F3) has the colours U, R, B: they run anticlockwise, as on no piece
cube3 U9 R1 F3: a corner is twisted: the corner orientations add up to 1 modulo 3, expected 0
cube3 U9 F3 R1: a corner is twisted: the corner orientations add up to 2 modulo 3, expected 0
cube3 U8 F2: an edge is flipped: the edge orientations add up to 1 modulo 2, expected 0
cube3 R2 F2: two pieces are exchanged (odd permutation): that of the corners is even and that of the edges \
odd, expected both alike
cube3 U5 R5: the centres of U, R, F, D, L, B are R, U, F, D, L, B: hold the cube so that every centre is on its \
own face
cube2 U4 F1: the corner URF (facelets U4 R1 F2) has the colours F, R, F: such a piece does not exist
cube2 U1 D1: the corner ULB (facelets U1 L1 B2) has the colours D, L, B: they run anticlockwise, as on no piece
cube2 U4 F2 R1: a corner is twisted: the corner orientations add up to 2 modulo 3, expected 0
""".strip().splitlines()


def damaged(puzzle, names):
    "The text of a solved cube with the named stickers moved along in a cycle."
    size = puzzle.num_facelets // 6
    return cycled(text_of(puzzle), [FACES.index(s[0]) * size + int(s[1:]) - 1 for s in names.split()])


def array_of(text):
    return np.array([FACES.index(letter) for letter in text])


@pytest.mark.parametrize('line', BY_HAND)
def test_errors_by_hand(line):
    what, message = line.split(': ', 1)
    name, cycle = what.split(' ', 1)
    with pytest.raises(ImpossibleState) as caught:
        from_string(get_puzzle(name), damaged(get_puzzle(name), cycle))
    assert str(caught.value) == message


def test_the_first_bad_row_is_named():
    good = array_of(text_of(cube3, 'R U'))
    reasons = {
        'R2 F2': 'two pieces are exchanged',
        'U8 F2': 'an edge is flipped',
        'R2 F8': 'the edge UF occurs 2',
    }
    for order in itertools.permutations(reasons):
        states = np.array([good, good, *(array_of(damaged(cube3, cycle)) for cycle in order)])
        assert cube3.is_possible(states).tolist() == [True, True, False, False, False]
        for bad, place in ((states, 'state 2: '), (states[2], '')):
            with pytest.raises(ImpossibleState, match=f'^{place}{reasons[order[0]]}'):
                cube3.check(bad)
    with pytest.raises(ImpossibleState, match='^state 1: expected 54 letters, got 3'):
        from_string(cube3, [letters_of(good), 'URF'])


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


@few
@given(puzzles, st.integers(0, 10**6), st.integers(0, 60), st.integers(0, 5))
def test_one_sticker_changed_is_always_noticed(puzzle, seed, where, colour):
    state = puzzle.random_states(1, seed)[0]
    where %= puzzle.num_facelets
    changed = np.where(np.arange(puzzle.num_facelets) == where, colour, state)
    assert puzzle.is_possible(changed)[0] == (state[where] == colour)


# --- the sixth face -------------------------------------------------------------------------------


def without(state, face):
    return np.where(np.arange(54) // 9 == FACES.index(face), 255, state)


INCOMPLETE = [  # the cycle that breaks it, the face that is left out, and the reason
    ('U9 R1 F3', 'D', 'a corner is twisted'),
    ('U8 F2', 'D', 'an edge is flipped'),
    ('R2 F2', 'D', 'two pieces are exchanged'),
    ('R2 F8', 'L', 'the edge UF occurs 2 times'),
    ('R1 F3', 'D', 'run anticlockwise'),
    ('U5 R5', 'F', 'the centres of'),
    ('R1 B9', 'U', 'the corner URF (facelets R1 F3) shows the colours B, F: no corner does'),
    ('R2 D5', 'U', 'the centres of'),
]


def test_what_cannot_be_completed():
    solved = cube3.solved
    four = np.where(np.isin(np.arange(54), [10, 19, 37, 46]), 3, solved)  # four D stickers beside U
    cases = [(without(array_of(damaged(cube3, c)), face), face, reason) for c, face, reason in INCOMPLETE]
    cases += [(solved, face, 'unknown face') for face in ('X', 'UR', '', 'u')]
    for state, face, reason in (
        *cases,
        (four, 'U', 'the stickers around face U are not those of the edges'),
        (without(solved, 'U'), 'D', 'facelet 0 (U1) has colour 255'),
        (np.stack([solved] * 2), 'U', 'expected one state, got 2'),
    ):
        with pytest.raises(ValueError) as caught:
            complete_face(cube3, state, face)
        assert reason in str(caught.value)
        assert isinstance(caught.value, ImpossibleState) or 'unknown face' in reason
