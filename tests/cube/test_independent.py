"""Our cube against three implementations that share no code with it.

`kociemba` (the two-phase solver): what it says solves a state must solve it in our model, and its cubie model must see
the same pieces, orientations and faults. `magiccube` turns a cube of piece objects in space. It prints the net that we
use, faces named by our letters, so it is compared facelet by facelet; no other order of a face's stickers agrees. The
third is `Solid` of tests/solid.py.
"""

import kociemba
import magiccube
import numpy as np
import pytest
from kociemba.pykociemba import facecube
from magiccube.cube_base import Face
from solid import Solid, random_words

from cube_nb.cube.cubies import to_cubies
from cube_nb.cube.geometry import FACES
from cube_nb.cube.notation import format_word, parse, simplify
from cube_nb.cube.pieces import from_string, to_string
from cube_nb.cube.puzzle import ImpossibleState, get_puzzle
from cube_nb.solving import solve

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')


def magic_states(n, words):
    faces = [Face[face] for face in FACES]
    solved = list(magiccube.Cube(n, hist=False).get(faces))
    index = {solved[c * n * n]: c for c in range(6)}  # colour c is the one on face c
    for word in words:
        cube = magiccube.Cube(n, hist=False)
        cube.rotate(word)
        yield [index[letter] for letter in cube.get(faces)]


@pytest.mark.parametrize('n, words, length', [(3, 1000, 25), (2, 500, 20)])
def test_magiccube(n, words, length):
    puzzle = get_puzzle(f'cube{n}')
    s = puzzle.scramble(words, length, seed=2024)
    theirs = np.array(list(magic_states(n, (format_word(puzzle, moves) for moves in s.moves))), np.uint8)
    assert (theirs == s.states).all()
    for face in range(6):  # no other order of the stickers of a face would have passed
        a, b = (states.reshape(-1, 6, n, n)[:, face] for states in (theirs, s.states))
        agree = [(np.rot90(x, k, axes=(1, 2)) == b).all() for x in (a, a.swapaxes(1, 2)) for k in range(4)]
        assert agree == [True] + [False] * 7


def test_kociemba_solves_our_cubes():
    states = np.concatenate([cube3.scramble(30, 40, seed=1).states, cube3.random_states(30, seed=2)])
    for state, text in zip(states, to_string(cube3, states)):
        word = parse(cube3, kociemba.solve(text))
        assert cube3.is_solved(cube3.apply_word(state, word)[None])[0] and simplify(cube3, word) == word


def test_cubies_are_kociembas():
    states = np.concatenate([cube3.neighbours(cube3.solved[None])[0], cube3.random_states(300, seed=3)])
    theirs = [facecube.FaceCube(text).toCubieCube() for text in to_string(cube3, states)]
    for values, name in zip(to_cubies(cube3, states), ('cp', 'co', 'ep', 'eo')):
        assert (values == [getattr(cube, name) for cube in theirs]).all()


FAULTS = [  # the stickers that are moved, where to, what kociemba says and what we say
    ([7, 19], [19, 7], -3, 'an edge is flipped'), ([8, 9, 20], [9, 20, 8], -5, 'a corner is twisted'),
    ([5, 10, 7, 19], [7, 19, 5, 10], -6, 'two pieces are exchanged'),
]  # fmt: skip


@pytest.mark.parametrize('source, target, verdict, reason', FAULTS)
def test_reasons_are_kociembas(source, target, verdict, reason):
    "Cubes taken apart by rule: both refuse for the same reason (its numbers: 3 flip, 5 twist, 6 parity)."
    for state in cube3.random_states(20, seed=5):
        broken = state.copy()
        broken[target] = state[source]
        text = ''.join(FACES[c] for c in broken)
        assert facecube.FaceCube(text).toCubieCube().verify() == verdict
        with pytest.raises(ValueError):
            kociemba.solve(text)
        with pytest.raises(ImpossibleState, match=reason):
            from_string(cube3, text)


def test_verdicts_are_kociembas():
    "Any two stickers exchanged: what we accept, it solves; what we refuse, it refuses or answers wrongly."
    # it finds a corner by two of three stickers, and takes some that are mirrored for real
    rng, outcomes = np.random.default_rng(4), {'solved': 0, 'refused': 0, 'answered wrongly': 0}
    free = np.setdiff1d(np.arange(54), np.arange(4, 54, 9))  # not the centres
    for state in cube3.random_states(300, seed=6):
        i, j = rng.choice(free, 2, replace=False)
        state[[i, j]] = state[[j, i]]
        try:
            word = parse(cube3, kociemba.solve(''.join(FACES[c] for c in state)))
        except ValueError:
            outcome = 'refused'
        else:
            solved = cube3.is_solved(cube3.apply_word(state, word)[None])[0]
            outcome = 'solved' if solved else 'answered wrongly'
        assert cube3.is_possible(state)[0] == (outcome == 'solved')
        outcomes[outcome] += 1
    assert min(outcomes.values()) > 0 and outcomes['refused'] > 200


@pytest.mark.parametrize('name', ['cube2', 'cube3', 'cube2-htm', 'cube3-htm'])
def test_the_whole_notation(name):
    "The moves that we read lead to what lies in the hand."
    puzzle, n = get_puzzle(name), int(name[4])
    for word in random_words(n, 500 if name == 'cube3' else 150, 30, seed=2026):
        state = puzzle.apply_word(puzzle.solved, parse(puzzle, word))
        assert to_string(puzzle, state)[0] == Solid().do(word).text(n), word


@pytest.mark.parametrize('name', ['cube2', 'cube3', 'cube2-htm', 'cube3-htm'])
def test_answers_are_for_whoever_holds_the_cube(name):
    "A cube is scrambled and turned over in the hand; the printed answer is then made without turning it back."
    n = int(name[4])
    for word in random_words(n, 60, 3, seed=2027):
        assert Solid().do(word).do(str(solve(word, name, time_limit=20))).is_solved(n), word


def test_the_solid_is_a_cube():
    "What anybody can check with a cube in the hand."
    for word in ("R L' x' M'", "U E' Uw'", "F S Fw'", "Rw L' x'", "x y z'y'", 'r2 R2 M2', "l M' L'"):
        assert Solid().do(word).stickers_by_place() == Solid().stickers_by_place(), word
    assert Solid().do("R U R' U'" * 6).is_solved(3) and not Solid().do("R U R' U'" * 5).is_solved(3)
    assert Solid().do('M2 E2 S2').face('U', 3) == list('UDUDUDUDU')
    assert Solid().do('x').face('U', 3) == ['F'] * 9 and Solid().do('y').face('F', 3) == ['R'] * 9
