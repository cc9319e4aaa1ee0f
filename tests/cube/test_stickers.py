"Stickers as people type them: any letters, orientation and layout are read; what is wrong is named where it is."

import re

import numpy as np
import pytest
from solid import Solid, random_words

from cube_nb.cube.geometry import FACES
from cube_nb.cube.pieces import to_string
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
        'row': f'  {symbols}\n', 'faces': ' '.join(faces), 'dashes': '-'.join(faces),
        'lines': '\n'.join(faces) + '\n\n', 'rows': '\n'.join(rows), 'blanks': ' '.join(symbols),
        'net': '\n'.join('\t' + ' '.join(next(net) for _ in range(size)) for size in sizes),
    }[layout]  # fmt: skip


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


@pytest.mark.parametrize('n, count', [(3, 175), (2, 125)])
def test_three_hundred_are_read_right(n, count):
    puzzle = get_puzzle(f'cube{n}')
    for k, (solid, symbols) in enumerate(typed(n, count, seed=n)):
        text = laid_out(puzzle, symbols, LAYOUTS[k % len(LAYOUTS)])
        assert are_stickers(puzzle, text)
        state = read_or_ask(puzzle, text)
        read = to_string(puzzle, state)[0]
        assert puzzle.is_possible(state[None])[0]
        assert read == solid.text(3) if n == 3 else is_renamed(read, symbols), text


def piece_at(puzzle, facelet):
    "The facelets of the piece that a facelet belongs to; none for a centre."
    return next((row.tolist() for kind in puzzle.pieces for row in kind if facelet in row), [])


def refusal(puzzle, symbols, layout='row'):
    with pytest.raises(ImpossibleState) as caught:
        read_stickers(puzzle, laid_out(puzzle, symbols, layout))
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400
    return caught.value


def with_symbols(symbols, at, new):
    symbols = np.array(list(symbols))
    symbols[list(at)] = list(new)
    return ''.join(symbols)


def turned_facelets(puzzle):
    return np.flatnonzero((puzzle.moves != np.arange(puzzle.num_facelets)).any(0))


@pytest.mark.parametrize('n, count', [(3, 60), (2, 30)])
def test_one_wrong_colour_is_named_with_its_piece(n, count):
    puzzle, rng = get_puzzle(f'cube{n}'), np.random.default_rng(n)
    for k, (_, symbols) in enumerate(typed(n, count, seed=4)):
        at = int(rng.choice(turned_facelets(puzzle)))
        other = str(rng.choice(sorted(set(symbols) - {symbols[at]})))
        error = refusal(puzzle, with_symbols(symbols, [at], other), LAYOUTS[k % len(LAYOUTS)])
        name = ''.join(FACES[f // n**2] for f in piece_at(puzzle, at))
        assert at in error.facelets and name in str(error) and other in str(error), (error, at)
        assert f'{other} is on {n * n + 1}' in str(error) and f'{symbols[at]} is on {n * n - 1}' in str(error)
        assert marked_net(puzzle, error).count('[') == len(error.facelets)


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('n', [3, 2])
def test_a_mistake_is_no_word(n, layout):
    "Where a word is expected too, an error speaks of stickers in every layout: of the piece, or of the place."
    puzzle, rng = get_puzzle(f'cube{n}'), np.random.default_rng(n)
    for _, symbols in typed(n, 15, seed=8):
        at = int(rng.choice(turned_facelets(puzzle)))
        for other in (min(set(symbols) - {symbols[at]}), min(set('ABCDEFGHIJ') - set(symbols)), '*'):
            with pytest.raises(ImpossibleState) as caught:
                read_state(puzzle, laid_out(puzzle, with_symbols(symbols, [at], other), layout))
            assert at in caught.value.facelets and 'token' not in str(caught.value)


def test_two_wrong_colours():
    "Two stickers exchanged: the error is at the pieces of one of them, or they make a twist, a flip or an exchange."
    puzzle, rng = get_puzzle('cube3'), np.random.default_rng(5)
    for _, symbols in typed(3, 40, seed=5):
        pairs = rng.choice(turned_facelets(puzzle), (20, 2))
        i, j = next((i, j) for i, j in pairs if symbols[i] != symbols[j])
        error = refusal(puzzle, with_symbols(symbols, (i, j), (symbols[j], symbols[i])))
        near = set(piece_at(puzzle, i)) | set(piece_at(puzzle, j))
        assert near & set(error.facelets) or re.search('twisted|flipped|exchanged', str(error)), error


def test_faces_read_backwards():
    "Each face copied from right to left: the first piece that this breaks is named."
    puzzle = get_puzzle('cube3')
    for symbols in to_string(puzzle, puzzle.random_states(10, seed=8)):
        error = refusal(puzzle, ''.join(row[::-1] for row in re.findall('...', symbols)))
        said = 'the (corner|edge) [A-Z]{2,3} (.*has the colours|occurs 2 times|.*shows the colours)'
        assert re.search(said, str(error)) and error.facelets


@pytest.mark.parametrize('name', ['pyraminx', 'skewb', 'cube4', 'cube3-htm'])
def test_other_puzzles_are_read_too(name):
    puzzle = get_puzzle(name)
    states = puzzle.scramble(3, 20, seed=9).states
    for state, text in zip(states, to_string(puzzle, states)):
        assert (read_state(puzzle, text) == state).all()
        assert is_renamed(to_string(puzzle, read_stickers(puzzle, text.lower()))[0], text)
