"Cubes: pieces compose, every kind of impossible one is refused with its reason."

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.cubies import complete_face, to_cubies
from cube_nb.cube.geometry import FACES
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import ImpossibleState, Puzzle, get_puzzle
from cube_nb.depth.bfs import bfs

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
        assert (both[k] == a[k][b[k]]).all() and (both[k + 1] == (a[k + 1][b[k]] + b[k + 1]) % turns).all()
    identity = puzzle.sticker_identity(states[0])
    assert (identity[0] == puzzle.word_permutation(first)).all() and identity.dtype == np.int16


def test_the_fixed_2x2x2_is_the_corners_of_a_3x3x3():
    "As many of them within each number of turns, by the states of the 3x3x3; the 2x2x2 needs no more turns."
    fixed, corners = bfs(get_puzzle('cube2-fixed'), 4), np.isin(np.arange(54) % 9, [0, 2, 6, 8])
    states = [bfs(cube3, 4).layer(depth)[:, corners] for depth in range(5)]
    seen = [len(np.unique(np.concatenate(states[: depth + 1]), axis=0)) for depth in range(5)]
    assert np.cumsum(fixed.counts).tolist() == seen and fixed.counts.tolist() == [1, 12, 114, 924, 6539]
    assert bfs(cube2, 4).distance(fixed.layer(4)).min() == 0  # -1: more turns


# --- impossible cubes -----------------------------------------------------------------------------
BY_HAND = """
cube3 R2 F8: the edge UF occurs 2 times, at places UR UF; missing: UR DF
cube3 U6 D4: the edge UL occurs 2 times, at places UL DL; missing: UR DL
cube3 F2 U8 R2: the edge UR (facelets U6 R2) has the colours U, U: such a piece does not exist
cube3 R3 B9: the corner UBR (facelets U3 B1 R3) has the colours U, B, B: such a piece does not exist
cube3 U9 D3: the corner URF (facelets U9 R1 F3) has the colours D, R, F: they run anticlockwise, as on no piece
cube3 U9 R1 F3: a corner is twisted: the corner orientations add up to 1 modulo 3, expected 0
cube3 U8 F2: an edge is flipped: the edge orientations add up to 1 modulo 2, expected 0
cube3 R2 F2: two pieces are exchanged (odd permutation): that of the corners is even and that of the edges \
odd, expected both alike
cube3 U5 R5: the centres of U, R, F, D, L, B are R, U, F, D, L, B: hold the cube so that every centre is on its \
own face
cube2 U4 F1: the corner URF (facelets U4 R1 F2) has the colours F, R, F: such a piece does not exist
cube2 U4 F2 R1: a corner is twisted: the corner orientations add up to 2 modulo 3, expected 0
""".strip().splitlines()


def damaged(puzzle, names):
    "A solved cube with the named stickers moved along in a cycle."
    state, size = puzzle.solved.copy(), puzzle.num_facelets // 6
    cycle = [FACES.index(name[0]) * size + int(name[1:]) - 1 for name in names.split()]
    state[np.roll(cycle, -1)] = state[cycle]
    return state


@pytest.mark.parametrize('line', BY_HAND)
def test_errors_by_hand(line):
    what, message = line.split(': ', 1)
    name, cycle = what.split(' ', 1)
    state = damaged(get_puzzle(name), cycle)
    assert not get_puzzle(name).is_possible(state).any()
    with pytest.raises(ImpossibleState) as caught:
        from_string(get_puzzle(name), ''.join(FACES[c] for c in state))
    assert str(caught.value) == message


BAD = [
    *[(states, 'expected 54 facelets') for states in (np.zeros((2, 3, 54), int), [], 3)],
    (cube3.solved.astype(float), 'expected colours as whole numbers, got float64'),
    (cube3.solved.astype(int) - 1, 'facelet 0 (U1) has colour -1'),
]  # fmt: skip


@pytest.mark.parametrize('states, reason', BAD)
@pytest.mark.parametrize('f', [Puzzle.check, to_cubies, Puzzle.sticker_identity, Puzzle.inverse])
def test_bad_arrays(f, states, reason):
    with pytest.raises(ImpossibleState, match=re.escape(reason)):
        f(cube3, states)


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
    ('U8 F2', 'D', 'an edge is flipped'), ('R2 F2', 'D', 'two pieces are exchanged'),
    ('R2 F8', 'L', 'the edge UF occurs 2 times'), ('U5 R5', 'F', 'the centres of'),
    ('R1 B9', 'U', 'the corner URF (facelets R1 F3) shows the colours B, F: no corner does'),
    ('R2 D5', 'U', 'the centres of'),
]  # fmt: skip


def test_what_cannot_be_completed():
    solved = cube3.solved
    four = np.where(np.isin(np.arange(54), [10, 19, 37, 46]), 3, solved)  # four D stickers beside U
    cases = [(without(damaged(cube3, c), face), face, reason) for c, face, reason in INCOMPLETE]
    cases += [(four, 'U', 'the stickers around face U are not those of the edges')]
    cases += [(np.stack([solved] * 2), 'U', 'expected one state, got 2')]
    for state, face, reason in cases:
        with pytest.raises(ImpossibleState, match=re.escape(reason)):
            complete_face(cube3, state, face)
    for face in ('X', '', 'u'):
        with pytest.raises(ValueError, match='unknown face'):
            complete_face(cube3, solved, face)
