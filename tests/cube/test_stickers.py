"Stickers as people type them: any letters, orientation and layout are read; what is wrong is named where it is."

import re

import numpy as np
import pytest
from solid import Solid, random_words

from cube_nb.cube.geometry import FACES
from cube_nb.cube.pieces import facelet_names, to_string
from cube_nb.cube.puzzle import ImpossibleState, get_puzzle
from cube_nb.cube.stickers import are_stickers, marked_net, net_order, read_stickers
from cube_nb.solving import read_state

ALPHABET = np.array(list('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'))
LAYOUTS = ('row', 'faces', 'dashes', 'lines', 'rows', 'blanks', 'net')


def laid_out(puzzle, symbols, layout):
    "A row of symbols, face by face, as somebody may type it."
    each = puzzle.num_facelets // 6
    faces = re.findall('.' * each, symbols)
    rows = re.findall('.' * int(each**0.5), symbols)
    sizes, order = net_order(puzzle)
    net = iter(symbols[i] for i in order)
    return {
        'row': f'  {symbols}\n',
        'faces': ' '.join(faces),
        'dashes': '-'.join(faces),
        'lines': '\n'.join(faces) + '\n\n',
        'rows': '\n'.join(rows),
        'blanks': ' '.join(symbols),
        'net': '\n'.join('\t' + ' '.join(next(net) for _ in range(size)) for size in sizes),
    }[layout]


def typed(n, count, seed):
    "Cubes scrambled and turned over, as they look in the hand in six random letters: (what lies there, symbols)."
    rng = np.random.default_rng(seed)
    for word in random_words(n, count, 30, seed):
        solid = Solid().do(word)
        names = dict(zip(FACES, rng.permutation(ALPHABET)[:6]))
        yield solid, ''.join(names[colour] for face in FACES for colour in solid.face(face, n))


def is_renamed(one, other):
    "Whether two rows of symbols are the same but for the names."
    return len(one) == len(other) and len(set(zip(one, other))) == len(set(one)) == len(set(other))


def read_or_ask(puzzle, text):
    "What is read; a cube near solved may be another one in another order of the faces, and then the order is given."
    try:
        return read_state(puzzle, text)
    except ImpossibleState as error:
        assert re.search(r'different cubes in \d+ orders of the faces: .*URFDLB', str(error))
        return read_state(puzzle, text, faces='URFDLB')


def test_three_hundred_are_read_right():
    cube3, cube2 = get_puzzle('cube3'), get_puzzle('cube2')
    for k, (solid, symbols) in enumerate(typed(3, 175, seed=1)):
        text = laid_out(cube3, symbols, LAYOUTS[k % len(LAYOUTS)])
        assert are_stickers(cube3, text)
        assert to_string(cube3, read_or_ask(cube3, text))[0] == solid.text(3), text
    for k, (_, symbols) in enumerate(typed(2, 125, seed=2)):
        text = laid_out(cube2, symbols, LAYOUTS[k % len(LAYOUTS)])
        assert are_stickers(cube2, text)
        state = read_state(cube2, text)
        assert cube2.is_possible(state[None])[0] and is_renamed(to_string(cube2, state)[0], symbols), text


def test_five_faces():
    "The face that is left out is found, or it is said that more than one would do."
    cube3, read = get_puzzle('cube3'), 0
    for k, (solid, symbols) in enumerate(typed(3, 60, seed=3)):
        at = 9 * (k % 6)
        texts = [symbols[:at] + symbols[at + 9 :], symbols[:at] + '?' * 9 + symbols[at + 9 :]]
        try:
            states = [read_state(cube3, text) for text in texts]
        except ImpossibleState as error:
            assert 'states show these stickers' in str(error)
        else:
            read += 1
            assert [to_string(cube3, state)[0] for state in states] == [solid.text(3)] * 2
    assert read > 45


def piece_at(puzzle, facelet):
    "The facelets of the piece that a facelet belongs to; none for a centre."
    return next((row.tolist() for kind in puzzle.pieces for row in kind if facelet in row), [])


def refusal(puzzle, symbols, layout='row'):
    with pytest.raises(ImpossibleState) as caught:
        read_stickers(puzzle, laid_out(puzzle, symbols, layout))
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400
    return caught.value


def with_symbols(symbols, at, new):
    symbols = list(symbols)
    for i, symbol in zip(at, new):
        symbols[i] = symbol
    return ''.join(symbols)


@pytest.mark.parametrize('n, count', [(3, 60), (2, 30)])
def test_one_wrong_colour_is_named_with_its_piece(n, count):
    puzzle, rng = get_puzzle(f'cube{n}'), np.random.default_rng(n)
    for k, (_, symbols) in enumerate(typed(n, count, seed=4)):
        at = int(rng.choice(np.flatnonzero((puzzle.moves != np.arange(puzzle.num_facelets)).any(0))))
        other = str(rng.choice(sorted(set(symbols) - {symbols[at]})))
        wrong = with_symbols(symbols, [at], other)
        error = refusal(puzzle, wrong, LAYOUTS[k % len(LAYOUTS)])
        name = ''.join(
            FACES[f // n**2] for f in next(row for kind in puzzle.pieces for row in kind if at in row)
        )
        assert at in error.facelets and name in str(error) and other in str(error), (error, at)
        assert f'{other} is on {n * n + 1}' in str(error) and f'{symbols[at]} is on {n * n - 1}' in str(error)
        lines = marked_net(puzzle, error).splitlines()
        assert sum(line.count('[') for line in lines) == len(error.facelets)


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('n', [3, 2])
def test_a_mistake_is_no_word(n, layout):
    "Where a word is expected too, an error speaks of stickers in every layout: of the piece, or of the place."
    puzzle, rng = get_puzzle(f'cube{n}'), np.random.default_rng(n)
    turned = np.flatnonzero((puzzle.moves != np.arange(puzzle.num_facelets)).any(0))
    for _, symbols in typed(n, 15, seed=8):
        at = int(rng.choice(turned))
        for other in (
            sorted(set(symbols) - {symbols[at]})[0],
            sorted(set('ABCDEFGHIJ') - set(symbols))[0],
            '*',
        ):
            with pytest.raises(ImpossibleState) as caught:
                read_state(puzzle, laid_out(puzzle, with_symbols(symbols, [at], other), layout))
            assert at in caught.value.facelets and 'token' not in str(caught.value)


def test_two_wrong_colours():
    "Two stickers exchanged: the error is at the pieces of one of them, or they make a twist, a flip or an exchange."
    puzzle, rng = get_puzzle('cube3'), np.random.default_rng(5)
    for _, symbols in typed(3, 40, seed=5):
        free = np.setdiff1d(np.arange(54), np.arange(4, 54, 9))
        i, j = next(
            (i, j)
            for i, j in (rng.choice(free, 2, replace=False) for _ in range(99))
            if symbols[i] != symbols[j]
        )
        error = refusal(puzzle, with_symbols(symbols, (i, j), (symbols[j], symbols[i])))
        near = set(piece_at(puzzle, i)) | set(piece_at(puzzle, j))
        assert near & set(error.facelets) or re.search('twisted|flipped|exchanged', str(error)), error


@pytest.mark.parametrize(
    'kind, words',
    [('twist', 'a corner is twisted'), ('flip', 'an edge is flipped'), ('swap', 'two pieces are exchanged')],
)
def test_pieces_put_in_wrongly(kind, words):
    puzzle = get_puzzle('cube3')
    corner, (one, other) = puzzle.pieces[0][3], puzzle.pieces[1][[2, 7]]
    places, sources = {
        'twist': (corner, np.roll(corner, 1)),
        'flip': (one, one[::-1]),
        'swap': ([*one, *other], [*other, *one]),
    }[kind]
    for _, symbols in typed(3, 10, seed=6):
        wrong = with_symbols(symbols, places, [symbols[i] for i in sources])
        with pytest.raises(ImpossibleState, match=f'{words}|different cubes in'):
            read_stickers(puzzle, wrong)
        with pytest.raises(ImpossibleState, match=words):
            read_stickers(puzzle, wrong, 'URFDLB')


def test_wrong_lengths_and_symbols():
    puzzle, rng = get_puzzle('cube3'), np.random.default_rng(7)
    for k, (_, symbols) in enumerate(typed(3, 40, seed=7)):
        at, free = int(rng.integers(54)), sorted(set('ABCDEFGHIJ') - set(symbols))[0]
        faces = re.findall('.{9}', symbols)
        faces[at // 9] = faces[at // 9][: 8 if k % 2 else 9] + ('' if k % 2 else 'A')
        with pytest.raises(
            ImpossibleState,
            match=f'got {53 if k % 2 else 55}: face {FACES[at // 9]} has {8 if k % 2 else 10}',
        ):
            read_stickers(puzzle, '-'.join(faces))
        error = refusal(puzzle, with_symbols(symbols, [at], free))
        assert f'{free} stands only at {facelet_names(puzzle, [at])}' in str(error) and error.facelets == (
            at,
        )
        error = refusal(puzzle, with_symbols(symbols, [at], '*'))
        assert f"'*' at position {at + 1} (facelet {facelet_names(puzzle, [at])})" in str(error)
    error = refusal(puzzle, with_symbols(symbols, [13], symbols[4]))
    assert f'the centres of U and R both have the colour {symbols[4]}' in str(error) and error.facelets == (
        4,
        13,
    )


def test_faces_read_backwards():
    "Each face copied from right to left: the first piece that this breaks is named."
    puzzle = get_puzzle('cube3')
    for symbols in to_string(puzzle, puzzle.random_states(10, seed=8)):
        rows = re.findall('...', symbols)
        error = refusal(puzzle, ''.join(row[::-1] for row in rows))
        said = 'the (corner|edge) [A-Z]{2,3} (.*has the colours|occurs 2 times|.*shows the colours)'
        assert re.search(said, str(error)) and error.facelets


@pytest.mark.parametrize('name', ['pyraminx', 'skewb', 'cube4', 'cube3-htm'])
def test_other_puzzles_are_read_too(name):
    puzzle = get_puzzle(name)
    for state, text in zip(*(lambda s: (s, to_string(puzzle, s)))(puzzle.scramble(3, 20, seed=9).states)):
        assert (read_state(puzzle, text) == state).all()
        assert is_renamed(to_string(puzzle, read_stickers(puzzle, text.lower()))[0], text)
