"Words: properties that hold for every word, and malformed text that must be refused with its position."

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.geometry import layer_turns
from cube_nb.cube.notation import (
    MalformedWord,
    format_word,
    invert,
    length_htm,
    length_qtm,
    notations,
    orders,
    parse,
    simplify,
)
from cube_nb.cube.puzzle import get_puzzle

NOTATIONS = ('quarter', 'singmaster', 'lowercase', 'index')
puzzles = st.sampled_from(['cube2', 'cube3']).map(get_puzzle)
words = st.lists(st.integers(0, 11), max_size=40)
few = settings(max_examples=60, deadline=None)
cube3 = get_puzzle('cube3')
NO_OTHER_TURNS = dict(whole_turns={}, other_turns={})  # for puzzles that are no cubes


def asked(notation):
    "The notation that must be named to read it: small letters are wide turns otherwise."
    return notation if notation == 'lowercase' else None


@few
@given(puzzles, words, st.sampled_from(NOTATIONS))
def test_written_words_read_back(puzzle, word, notation):
    text = format_word(puzzle, word, notation)
    assert parse(puzzle, text, asked(notation)) == read_back(word, notation)
    assert "2'" not in text


def read_back(word, notation):
    "What is read where a word of quarter turns was written: `U2` for `U' U'`, too."
    again, k = [], 0
    while k < len(word):
        pair = notation == 'singmaster' and word[k : k + 1] == word[k + 1 : k + 2]
        again += [word[k] - word[k] % 2] * 2 if pair else [word[k]]
        k += 2 if pair else 1
    return again


@few
@given(puzzles, words)
def test_spacing_and_apostrophes_do_not_matter(puzzle, word):
    for notation in ('quarter', 'singmaster', 'lowercase'):
        text = format_word(puzzle, word, notation)
        for variant in (
            text.replace(' ', ''),
            text.replace(' ', ' \t\n '),
            f'  {text} ',
            text.replace("'", '\u2019'),
        ):
            assert parse(puzzle, variant, asked(notation)) == read_back(word, notation)
    indices = format_word(puzzle, word, 'index')
    for variant in (indices.replace(',', ' '), indices.replace(',', ' , '), f' {indices} '):
        assert parse(puzzle, variant) == word


def naive_simplify(word):
    "An independent oracle: net turns of each face within runs on one axis, by name, until nothing changes."
    while True:
        runs = []  # [axis, {face: amount}]
        for a in word:
            face, axis = a // 2, a // 2 % 3
            if not runs or runs[-1][0] != axis:
                runs.append((axis, {}))
            runs[-1][1][face] = (runs[-1][1].get(face, 0) + (1, 3)[a % 2]) % 4
        shorter = [
            a
            for _, net in runs
            for face, k in sorted(net.items())
            for a in ([], [2 * face], [2 * face] * 2, [2 * face + 1])[k]
        ]
        if shorter == word:
            return word
        word = shorter


@few
@given(puzzles, words)
def test_simplify_against_an_oracle(puzzle, word):
    short = simplify(puzzle, word)
    assert naive_simplify(short) == naive_simplify(word) and len(short) == len(naive_simplify(word))
    assert (puzzle.word_permutation(short) == puzzle.word_permutation(word)).all()
    assert len(short) <= len(word) and len(short) % 2 == len(word) % 2
    assert simplify(puzzle, short) == short
    assert simplify(puzzle, word + invert(puzzle, word)) == []


def test_another_puzzle():
    "Nothing is known about cubes: turns of order 3 and 5 that share a sticker, one named by two letters."
    turns = np.array(
        [[1, 2, 0, 3, 4, 5, 6], [2, 0, 1, 3, 4, 5, 6], [0, 1, 3, 4, 5, 6, 2], [0, 1, 6, 2, 3, 4, 5]], np.int16
    )
    toy = dataclasses.replace(
        cube3,
        name='toy',
        solved=np.arange(7, dtype=np.uint8),
        moves=turns,
        move_names=('RX', "RX'", 'R', "R'"),
        **NO_OTHER_TURNS,
    )
    assert parse(toy, "RXR2RX'R'") == [0, 2, 2, 1, 3]
    assert parse(toy, 'RX rx r', 'lowercase') == [0, 1, 3]
    assert (
        format_word(toy, [0, 0, 3], 'singmaster') == "RX2 R'"
        and format_word(toy, [1, 3], 'lowercase') == 'rx r'
    )
    assert simplify(toy, [0, 0]) == [1] and simplify(toy, [2] * 3) == [3, 3] and simplify(toy, [2] * 5) == []
    assert simplify(toy, [0, 2, 1]) == [0, 2, 1]
    with pytest.raises(MalformedWord, match="token 2, 'U'"):
        parse(toy, 'R U')


def half_turns(name):
    "The same puzzle without and with half turns as moves."
    return get_puzzle(name), get_puzzle(f'{name}-htm')


@few
@given(st.sampled_from(['cube2', 'cube3']), words)
def test_half_turns_as_moves(name, word):
    "A word of quarter turns means the same on both puzzles; simplified, it has its length in that metric."
    quarters, halves = half_turns(name)
    text = format_word(quarters, word)
    same = parse(halves, text)
    assert format_word(halves, same) == text
    assert (halves.word_permutation(same) == quarters.word_permutation(word)).all()
    short, shorter = simplify(quarters, word), simplify(halves, same)
    assert (halves.word_permutation(shorter) == quarters.word_permutation(word)).all()
    assert len(shorter) == length_htm(halves, shorter) == length_htm(quarters, short)
    assert length_qtm(halves, shorter) == length_qtm(quarters, short) == len(short)
    assert simplify(halves, shorter) == shorter and simplify(halves, same + invert(halves, same)) == []


@few
@given(st.lists(st.integers(0, 17), max_size=40))
def test_words_of_half_turns_read_back(word):
    halves = get_puzzle('cube3-htm')
    for notation in ('quarter', 'singmaster', 'index'):
        assert parse(halves, format_word(halves, word, notation)) == word
    assert parse(halves, "U2 U2' U U'") == [1, 1, 0, 2]
    assert len(simplify(halves, word)) <= len(word) == length_htm(halves, word) <= length_qtm(halves, word)
    if 1 in word:
        with pytest.raises(MalformedWord, match='move [URFDLB]2 has no name in the notation'):
            format_word(halves, word, 'lowercase')


def corner_turner(names):
    "A pyramid of nothing but its corners: each turns by a third, no two share a sticker."
    corners = np.array([(1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1)])
    stickers = np.concatenate([3 * corner - np.diag(corner) for corner in corners])
    turns = layer_turns(stickers, corners, beyond=0, order=3)
    return dataclasses.replace(
        cube3,
        name='corners',
        solved=np.arange(12, dtype=np.uint8) % 3,
        moves=turns,
        move_names=names,
        **NO_OTHER_TURNS,
    )


WIDE = ('R', "R'", 'Rw', "Rw'", '2R', "2R'", 'r', "r'")


def test_names_of_several_letters():
    puzzle = corner_turner(WIDE)
    assert parse(puzzle, "2R Rw' R2 r 2R2' Rw2") == [4, 3, 0, 0, 6, 5, 5, 2, 2]
    assert list(notations(puzzle)) == ['singmaster', 'index']  # small letters are part of names
    for text in ('rw', '3R', 'R3', "2R''", 'x', '12'):
        with pytest.raises(MalformedWord, match='token 1, '):
            parse(puzzle, text)
    with pytest.raises(
        ValueError, match="unknown notation 'lowercase': expected one of quarter, singmaster, index"
    ):
        format_word(puzzle, [0], 'lowercase')


def test_orders_may_exceed_the_number_of_facelets():
    "Cycles of 2, 3 and 5 stickers: 30 repeats, on 10 facelets."
    move = np.array([1, 0, 3, 4, 2, 6, 7, 8, 9, 5], np.int16)
    puzzle = dataclasses.replace(
        cube3,
        name='cycles',
        solved=np.arange(10, dtype=np.uint8),
        moves=np.stack([move, np.argsort(move)]).astype(np.int16),
        move_names=('A', "A'"),
        **NO_OTHER_TURNS,
    )
    assert orders(puzzle).tolist() == [30, 30]
    assert simplify(puzzle, [0] * 16) == [1] * 14 and simplify(puzzle, [0] * 31) == [0]


MALFORMED = [  # text, number of the bad token, the token, its column
    # nearly rotations, slices and wide turns
    ("x''", 1, "x''", 1),
    ("xw'", 1, "xw'", 1),
    ('Rx4', 2, 'x4', 2),
    ('m', 1, 'm', 1),
    ("m'", 1, "m'", 1),
    ('R s U', 2, 's', 3),
    ('e2', 1, 'e2', 1),
    ('Rq', 1, 'Rq', 1),
    ('R Rv2', 2, 'Rv2', 3),
    ('R RW', 3, 'W', 4),
    ('RUw_', 2, 'Uw_', 2),
    ('3Rw', 1, '3', 1),
    ('2R', 1, '2', 1),
    # amounts
    ('U4', 1, 'U4', 1),
    ('R U4 F', 2, 'U4', 3),
    ('U0', 1, 'U0', 1),
    ('U11', 1, 'U11', 1),
    ('U22', 1, 'U22', 1),
    ("U''", 1, "U''", 1),
    ("U2''", 1, "U2''", 1),
    ('U-1', 1, 'U-1', 1),
    ('U+', 1, 'U+', 1),
    # not moves at all
    ('A', 1, 'A', 1),
    ('R A U', 2, 'A', 3),
    ('ohm', 1, 'ohm', 1),
    ('Q2', 1, 'Q2', 1),
    ("'", 1, "'", 1),
    ("' R", 1, "'", 1),
    ('R , U', 2, ',', 3),
    ('R,U', 2, ',', 2),
    ('R;U', 1, 'R;', 1),
    ('R U)', 3, ')', 4),
    # brackets
    ('()', 2, ')', 2),
    ('(R U]', 4, ']', 5),
    ('[R U]', 4, ']', 5),
    ('[R,]', 4, ']', 4),
    ('[,R]', 2, ',', 2),
    ('[R, U, F]', 5, ',', 6),
    ('[R: U: F]', 5, ':', 6),
    ('(R U)x2', 4, ')x2', 5),
    ('(R U)0', 4, ')0', 5),
    ("(R U)2'2", 4, ")2'2", 5),
    ('(R U) 2', 5, '2', 7),
    ('2(R U)', 1, '2', 1),
    ('(R)9999999', 3, ')9999999', 3),
    ('((R)99)999', 5, ')999', 7),
    ('(' * 51 + 'R' + ')' * 51, 51, '(', 51),
    ('R x6', 2, 'x6', 3),
    ('\u200bR\u2032\u2032', 1, "R''", 2),
    ('R" U', 1, 'R"', 1),
    ('\u00dc', 1, '\u00dc', 1),
    ('!', 1, '!', 1),
    (',', 1, ',', 1),
    ('R_', 1, 'R_', 1),
    ('\u0420', 1, '\u0420', 1),
    ('R\\n', 1, 'R\\n', 1),
    ('--no', 1, '--no', 1),
    # indices
    ('12', 1, '12', 1),
    ('1,12', 2, '12', 3),
    ('1 6 99', 3, '99', 5),
    ('-1', 1, '-1', 1),
    ('1,-6', 2, '-6', 3),
    ('1,,6', 2, ',', 2),
    (',1', 1, ',', 1),
    ('1,', 2, ',', 2),
    ('1, ,6', 2, ',', 2),
    ('1.5', 1, '1.5', 1),
    ('1;6', 1, '1;6', 1),
    ('01', 1, '01', 1),
    ('1 6 R', 1, '1', 1),
    ('R 1', 2, '1', 3),
    ('1,x', 1, '1', 1),
    ('+1', 1, '+1', 1),
    ('1_0', 1, '1_0', 1),
    ('0x1', 1, '0x1', 1),
    ('1e1', 1, '1e1', 1),
    ('[1,2]', 1, '[1', 1),
    ("1'", 1, "1'", 1),
    ('\u0661', 1, '\u0661', 1),
    ('9' * 5000, 1, '9' * 20, 1),
    ('1\u20146', 1, '1\u20146', 1),
]


MALFORMED_LOWER_CASE = [  # a small letter is an inverse, and does not mix with primes and half turns
    ("R' r", 1, "R'", 1),
    ("r R'", 2, "R'", 3),
    ("r'", 1, "r'", 1),
    ('r2', 1, 'r2', 1),
    ('R2 r', 1, 'R2', 1),
    ("u F'", 2, "F'", 3),
    ('R u F2', 3, 'F2', 5),
    ('rR3', 2, 'R3', 2),
    ('r m', 2, 'm', 3),
    ('r,u', 1, 'r,', 1),
    ('R r 3', 3, '3', 5),
    ('f x', 2, 'x', 3),
    ('x', 1, 'x', 1),
    ('RM', 2, 'M', 2),
    ('Rw', 2, 'w', 2),
]


@pytest.mark.parametrize(
    'text, number, token, column', MALFORMED, ids=[repr(row[0][:12]) for row in MALFORMED]
)
@pytest.mark.parametrize('name', ['cube2', 'cube3'])
def test_malformed_words(name, text, number, token, column):
    with pytest.raises(MalformedWord) as caught:
        parse(get_puzzle(name), text)
    assert_names_the_token(caught, number, token, column)


@pytest.mark.parametrize('text, number, token, column', MALFORMED_LOWER_CASE)
def test_malformed_words_in_lower_case(text, number, token, column):
    with pytest.raises(MalformedWord) as caught:
        parse(cube3, text, 'lowercase')
    assert_names_the_token(caught, number, token, column)


def assert_names_the_token(caught, number, token, column):
    message = str(caught.value)
    assert message.startswith(f'token {number}, {token!r} at column {column}: expected ')
    assert '\n' not in message and len(message) < 250


@pytest.mark.parametrize(
    'text, notation, wanted',
    [
        (
            'U4',
            None,
            "one of U R F D L B Uw Rw Fw Dw Lw Bw u r f d l b M E S x y z, followed by nothing, ', 2 or 2'",
        ),
        ('12', None, 'a move index from 0 to 11'),
        ("R' r", 'lowercase', "one of U R F D L B or u r f d l b without ' or 2"),
        ('R', 'quarter', "unknown notation 'quarter': expected one of singmaster, lowercase, index"),
    ],
)
def test_errors_say_what_was_expected(text, notation, wanted):
    with pytest.raises(ValueError, match=re.escape(wanted)):
        parse(cube3, text, notation)


@few
@given(st.text(alphabet="URFDLBurfdlbMxw'2\u2019 ,0139-", max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        word = parse(cube3, text)
    except MalformedWord as error:
        assert re.match(r'token \d+, .+ at column \d+: expected ', str(error))
    else:
        for notation in NOTATIONS:
            text = format_word(cube3, word, notation)
            assert parse(cube3, text, asked(notation)) == read_back(word, notation)


@pytest.mark.parametrize('moves', [[-1], [0, 12], [3, -1, -1], [99]])
@pytest.mark.parametrize('f', [format_word, invert, simplify, length_qtm, length_htm])
def test_bad_indices_are_refused(f, moves):
    with pytest.raises(ValueError, match=r'move \d of the word is -?\d+: expected a move index from 0 to 11'):
        f(cube3, moves)


def test_rows_of_a_scramble_are_words():
    "NumPy rows are accepted wherever lists are."
    row = cube3.scramble(1, 20, seed=3).moves[0]
    assert parse(cube3, format_word(cube3, row)) == row.tolist() == invert(cube3, invert(cube3, row))
    assert invert(cube3, row[:0]) == [] == simplify(cube3, row[:0]) and length_htm(cube3, row[:0]) == 0


PRINTED = (  # in the form in which they are printed for competitions: the tips last, as small letters
    "U' L' U' L' B R' U R' u l' r b'",
    "L R' U B' L' R U' B l r'",
    "B U' R L B' U R' L' u' b",
    "R L U' B R' B' L U r",
)


@pytest.mark.parametrize('text', PRINTED)
def test_tips_of_a_pyraminx_are_read_and_do_nothing(text):
    pyraminx = get_puzzle('pyraminx')
    without = ' '.join(token for token in text.split() if token[0].isupper())
    assert without != text
    for spelling in (text, text.replace(' ', ''), text.replace("'", '\u2019')):
        assert parse(pyraminx, spelling) == parse(pyraminx, without)
    assert parse(pyraminx, text.lower().replace('u', 'u2')) == [], 'in any number, and turned back'


def test_small_letters_of_a_pyraminx_are_inverses_where_that_is_asked_for():
    pyraminx = get_puzzle('pyraminx')
    assert parse(pyraminx, 'Ulb', 'lowercase') == parse(pyraminx, "U L' B'")
    with pytest.raises(MalformedWord, match="token 2, 'x'"):
        parse(pyraminx, 'U x')
