"Words: properties that hold for every word, texts as people write them, and what is refused, which names its place."

import dataclasses
import random
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.notation import MOST_NESTED, MOST_TURNS, MalformedWord, Reader
from cube_nb.cube.notation import format_word, invert, length_htm, length_qtm, orders, parse, simplify
from cube_nb.cube.puzzle import get_puzzle

puzzles = st.sampled_from(['cube2', 'cube3']).map(get_puzzle)
words = st.lists(st.integers(0, 11), max_size=40)
few = settings(max_examples=60, deadline=None)
cube3 = get_puzzle('cube3')


# --- properties -----------------------------------------------------------------------------------
def naive_simplify(word):
    "An independent oracle: net turns of each face within runs on one axis, by name, until nothing changes."
    while True:
        runs = []  # [axis, {face: amount}]
        for a in word:
            face, axis = a // 2, a // 2 % 3
            if not runs or runs[-1][0] != axis:
                runs.append((axis, {}))
            runs[-1][1][face] = (runs[-1][1].get(face, 0) + (1, 3)[a % 2]) % 4
        turns = [turn for _, net in runs for turn in sorted(net.items())]
        shorter = [a for f, k in turns for a in ([], [2 * f], [2 * f] * 2, [2 * f + 1])[k]]
        if shorter == word:
            return word
        word = shorter


@few
@given(puzzles, words)
def test_simplify_against_an_oracle(puzzle, word):
    short = simplify(puzzle, word)
    assert naive_simplify(short) == naive_simplify(word) and len(short) == len(naive_simplify(word))


@few
@given(st.sampled_from(['cube2', 'cube3']), words)
def test_half_turns_as_moves(name, word):
    "A word of quarter turns means the same on both puzzles; simplified, it has its length in that metric."
    quarters, halves = get_puzzle(name), get_puzzle(f'{name}-htm')
    same = parse(halves, format_word(quarters, word))
    assert (halves.word_permutation(same) == quarters.word_permutation(word)).all()
    short, shorter = simplify(quarters, word), simplify(halves, same)
    assert (halves.word_permutation(shorter) == quarters.word_permutation(word)).all()
    assert len(shorter) == length_htm(halves, shorter) == length_htm(quarters, short)
    assert length_qtm(halves, shorter) == length_qtm(quarters, short) == len(short)


def toy(solved, moves, names):
    "A puzzle of which nothing is known about cubes."
    given = dict(solved=np.array(solved, np.uint8), moves=np.array(moves, np.int16), move_names=names)
    return dataclasses.replace(cube3, name='toy', whole_turns={}, other_turns={}, **given)


def test_another_puzzle():
    "Turns of order 3 and 5 that share a sticker, one named by two letters."
    turns = [[1, 2, 0, 3, 4, 5, 6], [2, 0, 1, 3, 4, 5, 6], [0, 1, 3, 4, 5, 6, 2], [0, 1, 6, 2, 3, 4, 5]]
    puzzle = toy(range(7), turns, ('RX', "RX'", 'R', "R'"))
    assert parse(puzzle, "RXR2RX'R'") == [0, 2, 2, 1, 3]
    assert parse(puzzle, 'RX rx r', 'lowercase') == [0, 1, 3]
    assert format_word(puzzle, [0, 0, 3], 'singmaster') == "RX2 R'"
    simpler = {(0, 0): [1], (2,) * 3: [3, 3], (2,) * 5: [], (0, 2, 1): [0, 2, 1]}
    assert {word: simplify(puzzle, word) for word in simpler} == simpler
    with pytest.raises(MalformedWord, match="token 2, 'U'"):
        parse(puzzle, 'R U')


def test_orders_may_exceed_the_number_of_facelets():
    "Cycles of 2, 3 and 5 stickers: 30 repeats, on 10 facelets."
    move = [1, 0, 3, 4, 2, 6, 7, 8, 9, 5]
    puzzle = toy(range(10), [move, np.argsort(move)], ('A', "A'"))
    assert orders(puzzle).tolist() == [30, 30]
    assert simplify(puzzle, [0] * 16) == [1] * 14 and simplify(puzzle, [0] * 31) == [0]


@pytest.mark.parametrize('moves', [[-1], [0, 12], [3, -1, -1], [99]])
@pytest.mark.parametrize('f', [format_word, invert, simplify, length_qtm, length_htm])
def test_bad_indices_are_refused(f, moves):
    with pytest.raises(ValueError, match=r'move \d of the word is -?\d+: expected a move index from 0 to 11'):
        f(cube3, moves)


def test_rows_of_a_scramble_are_words():
    row = cube3.scramble(1, 20, seed=3).moves[0]
    assert parse(cube3, format_word(cube3, row)) == row.tolist() == invert(cube3, invert(cube3, row))
    assert invert(cube3, row[:0]) == [] == simplify(cube3, row[:0]) and length_htm(cube3, row[:0]) == 0


# --- words as people write them -------------------------------------------------------------------
PRIMES = '\u2018\u2019\u2032\u02bc\u0060\u00b4\uff07\u201b\u02b9'
ON_CUBE3 = [  # text, the same in capitals, primes and 2 alone
    *[(f'R{prime} U2{prime} x{prime}', "R' U2 x'") for prime in PRIMES],
    ("U3 R'2 U3' F\u00b2 D\u00b3", "U' R2 U F2 D'"), ("y3 F y'3 R'3", 'L R'), ('U1 R3F1 (3f)', "U R' F"),
    ('Ri U2i Fi2', "R' U2 F2"), ("X R X'", 'R'), ("U Y2 R Y2' Z'z", 'U L'), ('XRx3', 'R'),
    ("(R U R' U')6", "R U R' U' " * 6), ("(R U R' U') * 2", "R U R' U' " * 2),
    ("(R U R' U')^2", "R U R' U' " * 2), ("(R U R' U')\u00d72", "R U R' U' " * 2), ("(R U)2'", "U' R' U' R'"),
    ("(R U)\u20192", "U' R' U' R'"), ('((R U)2 F)2', 'R U R U F R U R U F'), ('(U D) R', 'U D R'),
    ('[R U: [F, D]]2', "R U F D F' D' U' R' R U F D F' D' U' R'"), ("[[R: U], D]'", "D R U R' D' R U' R'"),
    ("[r U': M2]", "Rw U' M2 U Rw'"), ('[R,U][F:D]', "R U R' U' F D F'"), ("R U # R' U'\nF // D", 'R U F'),
    ('# nothing but a comment', ''), ("R U' . F . . D", "R U' F D"), ("1. R U'", "R U'"),
    ("23) R U'", "R U'"), ("#1 R U' # one", "R U'"), ("12: R U'", "R U'"), ('R U F (21f*)', 'R U F'),
    ('R U F (3 moves)  // found', 'R U F'), ('R U F  # 3 moves (HTM), 3 quarter turns (QTM)', 'R U F'),
    ("7. R U F2' (3h) # three", 'R U F2'), ('"R U\'"', "R U'"), ('\u201eR U\u201c', 'R U'),
    ('\xabR U\xbb', 'R U'), ("\ufeff1. 'R U' // quoted", 'R U'),
    ("\ufeffR\u200b U\u200d\u2019\u2060 F\u00ad2", "R U' F2"),
    ('\uff32\uff35\uff12\u3000\uff26\uff07', "R U2 F'"), ('\uff08\uff32\uff35\uff09\uff12', 'R U R U'),
    ('\uff3b\uff32\uff0c\uff35\uff3d', "R U R' U'"), ("R\tU\nF\r\nD\u00a0L\u2009B", 'R U F D L B'),
    ('2, 0, 0, 3 # by number', "R U2 R'"), ('1. 2 0 0 3', "R U2 R'"), ('"2,0,0,3"', "R U2 R'"),
]  # fmt: skip
ON_CUBE4 = [
    ('2R Rw 2Rw r', 'R R R 2R 2R 2R 2R'), ("3Rw x'", 'L'), ('3Fw2 z2', 'B2'), ('2-3Rw', "2R 2L'"),
    ("2-3Uw'", "2U' 2D"), ("2R'2 u3", "2R2 U' 2U'"), ("X 3Uw'", "x y' D'"),
    ("[2R: (b D)2']", "2R D' B' 2B' D' B' 2B' 2R'"),
]  # fmt: skip
ON_PYRAMINX = [  # tips, as they are printed for competitions: small letters that do nothing
    ("U' L' U' L' B R' U R' u l' r b'", "U' L' U' L' B R' U R'"), ("UL'u2l\u2019r", "U L'"),
]  # fmt: skip
AS_WRITTEN = {'cube3': ON_CUBE3, 'cube4': ON_CUBE4, 'pyraminx': ON_PYRAMINX}


def same(puzzle, text, plain):
    "Whether two texts do the same to the solved puzzle."
    states = [puzzle.apply_word(puzzle.solved, parse(puzzle, word)) for word in (text, plain)]
    return (states[0] == states[1]).all()


@pytest.mark.parametrize('name, text, plain', [(n, *row) for n in AS_WRITTEN for row in AS_WRITTEN[n]])
def test_words_as_they_are_written(name, text, plain):
    assert same(get_puzzle(name), text, plain)
    if name == 'cube3' and not re.search('[0-9][ ,]+[0-9]', text):  # numbers stand for other moves there
        assert same(get_puzzle('cube3-htm'), text, plain)


# --- what is refused ------------------------------------------------------------------------------

# puzzle, notation, what the message expects, and texts, two spaces apart, of which « » mark the bad token
REFUSED = """
cube2 cube3 | | expected one of
«x''»  «xw'»  R«x4»  «m»  R «s» U  «e2»  R «Rv2»  R R«W»  R«Uw_»  «3»Rw  «2»R  «U4»  R «U4» F  «U0»  «U22»
«U2''»  «U-1»  «U+»  R «A» U  «ohm»  «'»  «'» R  R «,» U  «R;»U  R U«)»  (R U) «2»  «2»(R U)  R «x6»  «R"» U  «!»
«,»  «R_»  «\u0420» U  «R\\n»  «--no»  «1» 6 R  R «1»  «1»,x  «0x1»  «1e1»
cube3 | | expected one of
R U («21f») F  «1».R  1. «2». R  «'»R U  «"»R" "U"  [«R;» U]  «{»R U}  R «/» U  R «'»
cube2 cube3 | | then nothing
(R U«]»  (R U«)x2»  (R U«)0»  (R U«)2'2»
cube2 cube3 | | a comma or a colon
[R U«]»
cube2 cube3 | | expected
(«)»  [R,«]»  [«,»R]  [R, U«,» F]  [R: U«:» F]
cube3 | | at most 10000 turns
(R«)99999»  ((R)99«)999»
cube2 cube3 | | a move index
«12»  1,«12»  1 6 «99»  «-1»  1,«-6»  1«,»,6  «,»1  1«,»  1«,» ,6  2,0,«(3)»  «[1»,2]  «1'»  «\u0661»  «1\u20146»
«1.5»  «01»  «1;6»  «1_0»
cube3 | lowercase | expected one of
«R'» r  r «R'»  «r'»  «r2»  «R2» r  u «F'»  R u «F2»  r«R3»  r «m»  «r,»u  R r «3»  f «x»  R«M»  R«w»
cube4 | | may belong to either turn
«R2»R  U «R2»Rw
cube4 | | expected one of
«4»Rw  «2-4»Rw
pyraminx | | expected one of
«U3»  U «x»
skewb | | expected one of
«x3»
"""


def marked(table):
    "(puzzle, notation, expected, text, column, token) of each text of the table above."
    for line in table.strip().splitlines():
        if '|' in line:
            names, notation, expected = map(str.strip, line.split('|'))
            continue
        for text in line.split('  '):
            before, token, after = re.split('[«»]', text)
            for name in names.split():
                yield name, notation or None, expected, before + token + after, len(before) + 1, token


@pytest.mark.parametrize('name, notation, expected, text, column, token', [*marked(REFUSED)])
def test_what_is_refused_names_its_place(name, notation, expected, text, column, token):
    with pytest.raises(MalformedWord, match=re.escape(expected)) as caught:
        parse(get_puzzle(name), text, notation)
    message = str(caught.value)
    assert re.match(rf'token \d+, {re.escape(repr(token))} at column {column}: expected ', message)
    assert '\n' not in message and len(message) < 250


UNMARKED = {  # text -> the beginning of the message
    '(' * 51 + 'R' + ')' * 51: f"token 51, '(' at column 51: expected at most {MOST_NESTED} brackets",
    '\u200bR\u2032\u2032': 'token 1, "R\'\'" at column 2: expected one of',
    '\u200b\u200bR U\u200b4': "token 2, 'U4' at column 5: expected one of",
    '9' * 5000: f'token 1, {"9" * 20!r} at column 1: expected a move index',
    **dict.fromkeys(['(R U', '[R, U', '[R', '[R:', '((R)2'], 'at the end of the word: expected '),
}


@pytest.mark.parametrize('text', UNMARKED)
def test_places_that_no_mark_can_show(text):
    with pytest.raises(MalformedWord, match='^' + re.escape(UNMARKED[text])):
        parse(cube3, text)


PIECES = ["R", "U", "F'", "x", "y2", "M", "Rw", "(", ")", "[", "]", ",", ":", "2", "'", "3", " ", "\n", ".", "//", "#", "6",
          "i", "\u2019", "\u00b2", "*", "^", "R2", "(R U)", "[R, U]", ")2", ")9999", "X", "1. ", "(2f)", '"', "\u200b",
          "\uff32", "12", "?", "-", "w", "r", "0", "\x00", "\u0661", "S", "2R", "3Rw", "\U0001f600", "\ufeff"]  # fmt: skip


@pytest.mark.parametrize('count', [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_any_text_is_read_or_refused(count):
    "No traceback, and none takes a second."
    rng = random.Random(count)
    puzzles = [get_puzzle(name) for name in ('cube3', 'cube2', 'cube4', 'cube3-htm', 'pyraminx')]
    seconds, read = [], 0
    for k in range(count):
        puzzle, text = puzzles[k % 5], ''.join(rng.choices(PIECES, k=rng.randint(0, 40)))
        began = time.thread_time()
        try:
            word = parse(puzzle, text)
        except MalformedWord as error:
            assert re.match(r'(token \d+, .+ at column \d+|at the end of the word): expected ', str(error))
        else:
            read += 1
            assert same(puzzle, format_word(puzzle, word, 'singmaster'), text)
        seconds.append(time.thread_time() - began)
    assert read and max(seconds) < 1


def test_the_longest_that_brackets_may_stand_for_is_quick():
    began = time.thread_time()
    assert len(Reader(cube3, "((R U y)33)99'").word()) == 99 * 99
    assert MOST_TURNS > 99 * 99 and time.thread_time() - began < 1
