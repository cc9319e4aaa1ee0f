"Words as people write them: a table of texts and the plain words that they stand for; what is refused names its place."

import random
import re
import time

import pytest

from cube_nb.cube.notation import MOST_NESTED, MOST_TURNS, MalformedWord, Reader, format_word, parse
from cube_nb.cube.puzzle import get_puzzle

PRIMES = '\u2018\u2019\u2032\u02bc\u0060\u00b4\uff07\u201b\u02b9'
ON_CUBE3 = [  # text, the same in capitals, primes and 2 alone
    *[(f'R{prime} U2{prime} x{prime}', "R' U2 x'") for prime in PRIMES],
    ("U3 R'2 U3' F\u00b2 D\u00b3", "U' R2 U F2 D'"),
    ("y3 F y'3 R'3", 'L R'),
    ('U1 R3F1 (3f)', "U R' F"),
    ('Ri U2i Fi2', "R' U2 F2"),
    ("X R X'", 'R'),
    ("U Y2 R Y2' Z'z", 'U L'),
    ('XRx3', 'R'),
    ("(R U R' U')6", "R U R' U' " * 6),
    ("(R U R' U') * 2", "R U R' U' " * 2),
    ("(R U R' U')^2", "R U R' U' " * 2),
    ("(R U R' U')\u00d72", "R U R' U' " * 2),
    ("(R U)'", "U' R'"),
    ("(R U)2'", "U' R' U' R'"),
    ("(R U)\u20192", "U' R' U' R'"),
    ('((R U)2 F)2', 'R U R U F R U R U F'),
    ('(U D) R', 'U D R'),
    ('[R, U]', "R U R' U'"),
    ('[R: U]', "R U R'"),
    ('[R U: [F, D]]2', "R U F D F' D' U' R' R U F D F' D' U' R'"),
    ("[[R: U], D]'", "D R U R' D' R U' R'"),
    ("[r U': M2]", "Rw U' M2 U Rw'"),
    ('[R,U][F:D]', "R U R' U' F D F'"),
    ("R U // R' U'", 'R U'),
    ("R U # R' U'\nF // D", 'R U F'),
    ('# nothing but a comment', ''),
    ("R U' . F . . D", "R U' F D"),
    ("1. R U'", "R U'"),
    ("23) R U'", "R U'"),
    ("#1 R U' # one", "R U'"),
    ("12: R U'", "R U'"),
    ('R U F (21f)', 'R U F'),
    ('R U F (21f*)', 'R U F'),
    ('R U F (3 moves)  // found', 'R U F'),
    ('R U F  # 3 moves (HTM), 3 quarter turns (QTM)', 'R U F'),
    ("7. R U F2' (3h) # three", 'R U F2'),
    ('"R U\'"', "R U'"),
    ("'R U''", "R U'"),
    ('\u201cR U\u201d', 'R U'),
    ('\u201eR U\u201c', 'R U'),
    ('\xabR U\xbb', 'R U'),
    ("\ufeff1. 'R U' // quoted", 'R U'),
    ("\ufeffR\u200b U\u200d\u2019\u2060 F\u00ad2", "R U' F2"),
    ('\uff32\uff35\uff12\u3000\uff26\uff07', "R U2 F'"),
    ('\uff08\uff32\uff35\uff09\uff12', 'R U R U'),
    ('\uff3b\uff32\uff0c\uff35\uff3d', "R U R' U'"),
    ("RU2R'F", "R U2 R' F"),
    ("R\tU\nF\r\nD\u00a0L\u2009B", 'R U F D L B'),
    ('2, 0, 0, 3 # by number', "R U2 R'"),
    ('1. 2 0 0 3', "R U2 R'"),
    ('"2,0,0,3"', "R U2 R'"),
    ('', ''),
]  # fmt: skip
ON_CUBE4 = [
    ('2R Rw 2Rw r', 'R R R 2R 2R 2R 2R'),
    ("3Rw x'", 'L'),
    ('3Fw2 z2', 'B2'),
    ('2-3Rw', "2R 2L'"),
    ("2-3Uw'", "2U' 2D"),
    ("2R'2 u3", "2R2 U' 2U'"),
    ("[2R: (b D)2']", "2R D' B' 2B' D' B' 2B' 2R'"),
    ("X 3Uw'", "x y' D'"),
]
REFUSED = [  # puzzle, text, the column that the message names, what it expects
    ('cube4', 'R2R', 1, 'may belong to either turn'),
    ('cube4', 'U R2Rw', 3, 'may belong to either turn'),
    ('cube4', '4Rw', 1, 'expected one of'),
    ('cube4', '2-4Rw', 1, 'expected one of'),
    ('cube3', '2R', 1, 'expected one of'),
    ('cube3', "R\u2032\u2032", 1, 'expected one of'),
    ('cube3', '\u200b\u200bR U\u200b4', 5, 'expected one of'),
    ('cube3', 'R U (21f) F', 6, 'expected one of'),
    ('cube3', '1.R', 1, 'expected one of'),
    ('cube3', '1. 2. R', 4, 'expected one of'),
    ('cube3', "'R U", 1, 'expected one of'),
    ('cube3', '"R" "U"', 1, 'expected one of'),
    ('cube3', '(R U)x2', 5, 'then nothing'),
    ('cube3', '[R U]', 5, 'a comma or a colon'),
    ('cube3', '[R; U]', 2, 'expected one of'),
    ('cube3', '{R U}', 1, 'expected one of'),
    ('cube3', 'R / U', 3, 'expected one of'),
    ('cube3', 'R+ U-', 1, 'expected one of'),
    ('cube3', "R '", 3, 'expected one of'),
    ('cube3', '(R)99999', 3, 'at most 10000 turns'),
    ('cube3', '(' * 99 + 'R' + ')' * 99, MOST_NESTED + 1, f'at most {MOST_NESTED} brackets'),
    ('cube3', '\u0420 U', 1, 'expected one of'),
    ('cube3', '2,0,(3)', 5, 'a move index'),
    ('pyraminx', 'U3', 1, 'expected one of'),
    ('skewb', 'x3', 1, 'expected one of'),
]  # fmt: skip


def same(puzzle, text, plain):
    "Whether two texts do the same to the solved puzzle."
    states = [puzzle.apply_word(puzzle.solved, parse(puzzle, word)) for word in (text, plain)]
    return (states[0] == states[1]).all()


@pytest.mark.parametrize('text, plain', ON_CUBE3)
def test_words_as_they_are_written(text, plain):
    cube3 = get_puzzle('cube3')
    assert same(cube3, text, plain)
    if not re.search('[0-9][ ,]+[0-9]', text):  # numbers stand for other moves there
        assert same(get_puzzle('cube3-htm'), text, plain)


@pytest.mark.parametrize('text, plain', ON_CUBE4)
def test_words_of_layers(text, plain):
    assert same(get_puzzle('cube4'), text, plain)


@pytest.mark.parametrize('name, text, column, expected', REFUSED)
def test_what_is_refused_names_its_place(name, text, column, expected):
    with pytest.raises(MalformedWord, match=re.escape(expected)) as caught:
        parse(get_puzzle(name), text)
    assert f'at column {column}: ' in str(caught.value) and '\n' not in str(caught.value)


def test_brackets_that_are_not_closed():
    for text in ('(R U', '[R, U', '[R', '[R:', '((R)2'):
        with pytest.raises(MalformedWord, match='at the end of the word: expected '):
            parse(get_puzzle('cube3'), text)


@pytest.mark.parametrize('name', ['cube2', 'cube3', 'cube3-htm', 'cube4', 'pyraminx', 'skewb'])
def test_what_is_printed_is_read_by_others(name):
    "Every token is a name, a prime or a 2, none both but on puzzles whose turns are by thirds; we read it back."
    puzzle = get_puzzle(name)
    for word in puzzle.scramble(50, 30, seed=3).moves.tolist():
        text = format_word(puzzle, word, 'singmaster')
        assert "2'" not in text or name in ('pyraminx', 'skewb')
        assert same(puzzle, text, format_word(puzzle, word))


PIECES = ["R", "U", "F'", "x", "y2", "M", "Rw", "(", ")", "[", "]", ",", ":", "2", "'", "3", " ", "\n", ".", "//", "#", "6",
          "i", "\u2019", "\u00b2", "*", "^", "R2", "(R U)", "[R, U]", ")2", ")9999", "X", "1. ", "(2f)", '"', "\u200b",
          "\uff32", "12", "?", "-", "w", "r", "0", "\x00", "\u0661", "S", "2R", "3Rw", "\U0001f600", "\ufeff"]  # fmt: skip


def random_text(rng):
    return ''.join(rng.choices(PIECES, k=rng.randint(0, 40)))


@pytest.mark.parametrize('count', [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_any_text_is_read_or_refused(count):
    "No traceback, and none takes a second."
    rng = random.Random(count)
    puzzles = [get_puzzle(name) for name in ('cube3', 'cube2', 'cube4', 'cube3-htm', 'pyraminx')]
    slowest, read = 0.0, 0
    for k in range(count):
        puzzle, text = puzzles[k % 5], random_text(rng)
        began = time.thread_time()
        try:
            word = parse(puzzle, text)
        except MalformedWord as error:
            assert re.match(r'(token \d+, .+ at column \d+|at the end of the word): expected ', str(error))
        else:
            read += 1
            assert same(puzzle, format_word(puzzle, word, 'singmaster'), text)
        slowest = max(slowest, time.thread_time() - began)
    print(f'{read} of {count} were read, the slowest in {slowest:.3f} s')
    assert read and slowest < 1


def test_the_longest_that_brackets_may_stand_for_is_quick():
    cube3 = get_puzzle('cube3')
    began = time.thread_time()
    assert len(Reader(cube3, "((R U y)33)99'").word()) == 99 * 99
    parse(cube3, "((R U y)33)99'")
    assert MOST_TURNS > 99 * 99 and time.thread_time() - began < 1
