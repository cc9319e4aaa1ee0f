"""The solver in the page, in a real browser, from a subfolder of a static host.

`PYTHONPATH=tests python tests/play/test_browser_solver.py 20` solves as many random cubes and prints how.
"""

import importlib.util
import json
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
import torch
from browser import CHROMIUM, SIZES, TOO_SMALL, UNNAMED, browsing, hosted

from cube_nb.cube.encoding import piece_places
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network

ROOT = Path(__file__).parents[2]
PAGE = ROOT / '_solve'
CUBE = get_puzzle('cube3')
unseen = CHROMIUM is None or not (PAGE / 'index.html').exists()


def with_page(test):
    "A test that needs a browser, and the page for it."
    skipped = pytest.mark.skipif(unseen, reason='no chromium, or no page: make solve-page')
    return pytest.mark.slow(skipped(test))


def exporter():
    "The script that writes what the page needs of the library."
    pytest.importorskip('onnx')
    spec = importlib.util.spec_from_file_location('export', ROOT / 'web' / 'export.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_graph_says_what_the_network_says():
    from onnx.reference import ReferenceEvaluator

    network = load_network('cube3-walks')
    states = CUBE.random_states(200, 1)
    values, advantages = network_evaluator(network, dtype=torch.float32)(states)
    expected = values[:, None] + advantages
    graph = exporter().onnx_network(network)
    places = piece_places(CUBE, states).astype(np.int32)
    (scores,) = ReferenceEvaluator(graph).run(None, dict(places=places))
    assert np.abs(scores - expected).max() < 0.01, 'in half precision'
    assert graph.ByteSize() < 2_200_000


def test_only_what_the_page_can_ask_is_exported():
    export = exporter()
    for name in 'cube2-davi', 'cube2-alphazero':
        with pytest.raises(ValueError, match='expected a network with'):
            export.onnx_network(load_network(name))
    assert export.about(get_puzzle('cube3-htm'), 'cube3-htm-walks')['puzzles']['cube3-htm']['step'] == 1


@contextmanager
def opened(width=1280, height=900):
    "A browser that shows the page, which lies in a folder of a folder, and the server."
    with hosted(PAGE, 'book/solve') as (address, server), browsing(address) as browser:
        browser.open(address, width, height)
        yield browser, server


def random_word(seed):
    "A word to a random cube."
    return format_word(CUBE, CUBE.scramble(1, 100, seed).moves[0])


def solve_random_cube(browser, seed, seconds=7):
    "Solve one as a person would, and check the answer here too. Returns (quarter turns, seconds)."
    word = random_word(seed)
    browser.ask('start', word=word)
    began = monotonic()
    browser.ask('solve', seconds=seconds)
    waited = monotonic() - began
    tokens = browser.run('[...part("moves").children].map(move => move.textContent)')
    moves = parse(CUBE, ' '.join(tokens))
    assert tokens, browser.note()
    assert CUBE.is_solved(CUBE.apply_word(CUBE.solved, parse(CUBE, word) + moves)[None])[0]
    return len(moves), waited


@with_page
def test_random_cubes_are_solved():
    with opened() as (browser, _):  # on a busy machine they take longer than the seconds they are given
        assert all(0 < solve_random_cube(browser, seed)[0] <= 30 for seed in range(3))
        browser.wait(lambda: browser.note() == 'Solved')
        assert browser.solved() and 'beam with cube3-walks' in browser.run('part("caption").textContent')


def evaluate(browser, code):
    "The value of an expression in the page, in which `answer` asks what the player asks."
    answers = 'new (await import("./answers.js")).Answers(await (await fetch("puzzle.json")).json())'
    names = f'const answers = {answers}, answer = message => answers.answer(message)'
    return browser.run(f'await (async () => {{ {names}; return {code} }})()')


def ask(browser, **message):
    return evaluate(browser, f'answer({json.dumps(dict(puzzle="cube3") | message)})')


@with_page
def test_words_and_stickers_mean_what_they_mean_in_python():
    words = ["R U2 F'", "RU2F'", "M' x Rw2 yU", "r E2 S' z2 Lw' b", "x y' z2 R", 'R’ U2’', '']
    with opened() as (browser, _):
        for word in words:
            state = CUBE.apply_word(CUBE.solved, parse(CUBE, word))
            facelets = evaluate(
                browser,
                f'answer({json.dumps(dict(ask="read", puzzle="cube3", word=word))}).then(({{ moves }}) => '
                '{ const p = answers.told.puzzles.cube3; return moves.reduce((now, token) => p.tokens[token].map(f => now[f]), p.solved) })',
            )
            held = to_string(CUBE, np.array(facelets))[0]
            home = held.translate(str.maketrans(''.join(held[f] for f in range(4, 54, 9)), CUBE.faces))
            assert home == to_string(CUBE, state)[0], word
        assert "token 3, 'Q' at column 6" in ask(browser, ask='read', word='R U2 Q')['error']
        (stickers,) = to_string(CUBE, CUBE.random_states(1, 5)[0])
        other = stickers.translate(str.maketrans('URFDLB', 'wrgyob'))
        assert ask(browser, ask='read', word=other) == dict(stickers=stickers)
        paint = partial(ask, browser, ask='paint')
        assert paint(stickers=stickers) == dict(ready=True)
        assert paint(stickers=stickers[:20] + '?' * 34) == dict(ready=False)
        for first, second, words in ((7, 19, 'one edge'), (8, 9, 'on no piece'), (0, 10, 'on no piece')):
            wrong = list(to_string(CUBE, CUBE.solved)[0])
            wrong[first], wrong[second] = wrong[second], wrong[first]
            assert words in paint(stickers=''.join(wrong))['wrong']
        wrong = list(to_string(CUBE, CUBE.solved)[0])
        for one, other in ((7, 5), (19, 10)):  # the edges UF and UR
            wrong[one], wrong[other] = wrong[other], wrong[one]
        assert 'two pieces are exchanged' in paint(stickers=''.join(wrong))['wrong']


@with_page
@pytest.mark.parametrize('size', SIZES)
def test_a_painted_cube_is_solved(size):
    (stickers,) = to_string(CUBE, CUBE.apply_word(CUBE.solved, parse(CUBE, "R U2 F' L D")))
    with opened(*SIZES[size]) as (browser, _):
        if size == 'tall':
            assert browser.run(f'({TOO_SMALL})(44)') == []
        assert browser.run(f'({UNNAMED})()') == []
        browser.paint_whole(stickers)
        browser.solve()
        assert len(parse(CUBE, browser.moves())) == 6, 'of this one, a shortest solution is known at once'


@with_page
def test_a_search_is_cancelled():
    with opened() as (browser, _):
        browser.ask('start', word=random_word(1))
        browser.run('void (part("seconds").value = 120, part("main").click())')
        browser.wait(lambda: 'best so far: ' in browser.note(), 120)
        browser.click('main')
        browser.wait(lambda: browser.note() == 'the search was cancelled')
        browser.ask('solve', seconds=2)
        assert browser.moves()


@with_page
def test_it_works_without_a_connection():
    with opened() as (browser, server):
        kept = 'navigator.serviceWorker.ready.then(() => caches.keys()).then(names => names.length)'
        browser.wait(lambda: browser.run(f'await {kept}'), 120)
        browser.wait(lambda: browser.run('navigator.serviceWorker.controller !== null'))
        server.shutdown()
        server.server_close()
        browser.open(browser.address + '?again#puzzle=cube3&word=R+U')
        browser.solve()


if __name__ == '__main__':
    with opened() as (browser, _):
        rows = np.array([solve_random_cube(browser, seed) for seed in range(int(sys.argv[1]))])
    mean, waits = rows[:, 0].mean(), rows[:, 1]
    print(f'{len(rows)} solved, mean {mean:.2f} quarter turns')
    print(f'{waits.mean():.2f} s, longest {waits.max():.2f} s')
    assert waits.max() < 10
