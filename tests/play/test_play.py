"The cube to play with: the messages that Python answers, and the page in a real browser that has no network."

import hashlib
import json
import re
import signal
import socket
import struct
import sys
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import numpy as np
import psutil
import pytest
from browser import SIZES, TOO_SMALL, UNNAMED, INSIDE, at_both_sizes, browsing, serving, with_browser
from killed import wait_until
from playing import CANCELLED, answered, has_ended, playing, post, posted, wait_for_stage, worker_of

from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.play.messages import SEARCHES, Asker, answer
from cube_nb.play.page import PageServer
from cube_nb.play.puzzles import STATIC, solver_form
from cube_nb.search.core import get_solver
from cube_nb.solving import offers

ROOT = Path(__file__).parents[2]
SOLVE = dict(ask='solve', puzzle='cube3', word='R U', solver='beam', model='cube3-walks', time_limit=5)
READ, SCRAMBLE = dict(ask='read', puzzle='cube3', word='R'), dict(ask='scramble', puzzle='cube3', length=5)
FAR = ' '.join(answer(SCRAMBLE | dict(length=100, seed=1))['moves'])
LONG = SOLVE | dict(word=FAR, solver='improve', time_limit=120)  # looks for shorter solutions all the time


@pytest.mark.parametrize('solver, model', [('improve', 'cube3-walks'), ('kociemba', None)])
def test_scramble_and_solve(solver, model):
    "The chapter has the 2x2x2."
    cube = get_puzzle('cube3')
    word = ' '.join(answer(SCRAMBLE)['moves'])
    solved = answer(SOLVE | dict(word=word, solver=solver, model=model, time_limit=20))
    told = {'moves', 'solver', 'model', 'seconds', 'generated', 'qtm', 'htm', 'lower_bound', 'optimal'}
    assert set(solved) == told and solved['lower_bound'] <= solved['qtm']
    both = parse(cube, word) + parse(cube, ' '.join(solved['moves']))
    assert cube.is_solved(cube.apply_word(cube.solved, both)[None])[0]


def test_a_word_is_never_taken_for_stickers():
    assert answer(SOLVE | dict(word='U' * 54))['moves'] == ['U2']


def test_stickers_are_entered_painted_and_named():
    cube = get_puzzle('cube3')
    state = cube.apply_word(cube.solved, parse(cube, "R U2 F' L B D"))
    stickers = net_after("R U2 F' L B D")
    colours = stickers.translate(str.maketrans('URFDLB', 'wrgyob'))
    assert answer(READ | dict(word=colours)) == dict(stickers=stickers)
    entered = answer(dict(ask='enter', puzzle='cube3', stickers=stickers))['moves']
    assert (cube.apply_word(cube.solved, parse(cube, ' '.join(entered))) == state).all()
    paint = dict(ask='paint', puzzle='cube3')
    for unready in '?' * 54, stickers[:8] + '?' * 46:
        assert answer(paint | dict(stickers=unready)) == dict(ready=False)
    flipped = list(net_after(''))
    flipped[7], flipped[19] = flipped[19], flipped[7]
    wrong = answer(paint | dict(stickers=''.join(flipped)))
    assert not wrong['ready'] and 'flipped' in wrong['wrong']
    mirrored = list('?' * 54)
    mirrored[8], mirrored[9], mirrored[20] = 'UFR'
    assert sorted(answer(paint | dict(stickers=''.join(mirrored)))['facelets']) == [8, 9, 20]


def test_wrong_stickers_are_named_with_their_places():
    solved = net_after('')
    wrong = answer(READ | dict(word=solved[:8] + 'R' + solved[9:]))
    assert 'URF' in wrong['error'] and wrong['facelets'] == [8, 9, 20]
    alike = dict(ask='enter', puzzle='cube3', stickers='U' * 54)
    assert answer(alike)['facelets'] == [4, 13], 'the centres of U and R'
    assert 'facelets' not in answer(READ | dict(word='R Q'))
    assert 'facelets' not in answer(dict(ask='enter', puzzle='cube3', stickers='U'))


def test_what_can_be_run_is_offered():
    about = json.loads(json.dumps(answer(dict(ask='about'), Asker('cube2'))))
    assert about['puzzle'] == 'cube2' and about['seconds'] > 0
    for name, offered in about['puzzles'].items():
        models = {model for models in offered['solvers'].values() for model in models}
        assert offered['moves'] == [*get_puzzle(name).move_names]
        assert offered['model'] in offered['solvers'][offered['solver']]
        assert all(model == 'exact' or model.startswith(name) for model in models)


def test_what_is_not_installed_is_not_offered(monkeypatch):
    import cube_nb.search.core as core

    assert 'kociemba' in offers('cube3')
    found = core.find_spec
    monkeypatch.setattr(core, 'find_spec', lambda name: None if name == 'kociemba' else found(name))
    assert 'kociemba' not in offers('cube3') and 'beam' in offers('cube3')
    assert 'kociemba' not in answer(dict(ask='about'))['puzzles']['cube3']['solvers']


SHORT = ('paint', 'U'), ('enter', '1' * 54)
WRONG = {  # words of the error -> messages
    'asks one of about, read': [None],
    'asks one of': [[], {}, dict(ask=['read']), dict(ask='_wrong')],
    "token 2, 'Q'": [SOLVE | dict(word='R Q'), READ | dict(word='R Q')],
    'word: ': [READ | dict(word=3), READ | dict(word='R' * 200_000)],
    'unknown puzzle': [READ | dict(puzzle='cube9')],
    "no setting 'colour'": [READ | dict(colour=1), SOLVE | dict(options=dict(colour=1))],
    'puzzle: ': [dict(ask='read')], 'first': [dict(ask='about', first='cube2')],
    'length: ': [SCRAMBLE | dict(length=length) for length in (-1, 1e9, '5', None)],
    'unknown solver': [SOLVE | dict(solver='magic')], 'is for cube2': [SOLVE | dict(model='cube2-davi')],
    'no network': [SOLVE | dict(model='missing')], 'asks no network': [SOLVE | dict(solver='kociemba')],
    'is for cube3': [SOLVE | dict(puzzle='cube2', solver='ida', model=None)],
    'time_limit: ': [SOLVE | dict(time_limit=seconds) for seconds in (0, None, float('nan'), float('inf'))],
    'width: expected': [SOLVE | dict(options=dict(width=width)) for width in (0, 2.5, '9', None, [1])],
    'options: expected names and values': [SOLVE | dict(options=['width'])],
    'not solved: bwas': [SOLVE | dict(solver='bwas', word='R U F L D B R U F L D B', time_limit=1e-6)],
    'search: ': [
        dict(ask='cancel'), *[SOLVE | dict(search=name) for name in (7, '', 'x' * 201)],
        *[dict(ask='cancel', search=name) for name in (None, ['mine'])],
    ],
    'expected 54': [dict(ask=ask, puzzle='cube3', stickers=text) for ask, text in SHORT],
    'U': [dict(ask='enter', puzzle='cube3', stickers='U' * 54)],
    "no search 'mine'": [dict(ask='progress', search='mine'), dict(ask='cancel', search='mine')],
    "no setting 'puzzle'": [dict(ask='cancel', search='mine', puzzle='cube3')],
}  # fmt: skip
WRONG_MESSAGES = [(message, words) for words, messages in WRONG.items() for message in messages]


@pytest.mark.parametrize('message, words', WRONG_MESSAGES, ids=lambda value: str(value)[:60])
def test_what_is_wrong_is_one_line(message, words):
    wrong = answer(message)
    assert set(wrong) - {'facelets'} == {'error'} and words in wrong['error']
    assert '\n' not in wrong['error'] and len(wrong['error']) < 300


@pytest.mark.slow
def test_the_widget_answers_while_it_solves(monkeypatch):
    pytest.importorskip('anywidget')
    from cube_nb.play.widget import player  # slow to import

    # a busy machine is no reason to end the process
    monkeypatch.setattr('cube_nb.play.searching.PATIENCE', 30)
    sent, widget = [], player('cube3')
    widget.send = sent.append
    progress = dict(ask='progress', search='mine')
    widget._handle_custom_msg(dict(number=1, message=LONG | dict(search='mine')), [])
    wait_until(lambda: answer(progress).get('stage') == 'Solving')
    process = SEARCHES.worker.process
    widget._handle_custom_msg(dict(number=2, message=SCRAMBLE), [])
    assert [m['number'] for m in sent] == [2] and sent[0]['answer']['moves']
    widget._handle_custom_msg(dict(number=3, message=dict(ask='cancel', search='mine')), [])
    wait_until(lambda: len(sent) == 3)
    assert [m['answer'] for m in sent[1:]] == [dict(cancelled='mine'), dict(error='the search was cancelled')]
    wait_until(lambda: not SEARCHES.line)
    assert process.poll() is None, 'stopped by its clock: networks and tables are still loaded'


def test_without_anywidget_only_the_widget_is_missing(monkeypatch):
    from cube_nb.play.widget import player

    monkeypatch.setitem(sys.modules, 'anywidget', None)
    with pytest.raises(ValueError, match=r'pip install "cube_nb\[play\]"'):
        player()
    PageServer().server_close()


@pytest.mark.slow
def test_a_search_stands_in_nobodys_way(ctrl_c):
    with playing() as (server, port):
        assert psutil.Process(server.pid).children() == [], 'nothing is started before it is needed'
        first = posted(port, LONG | dict(search='first'))
        wait_for_stage(port, 'first', 'Solving')
        begin = monotonic()
        assert post(port, SCRAMBLE)['moves'] and post(port, READ) == dict(moves=['R'])
        assert monotonic() - begin < 10
        second = posted(port, SOLVE | dict(search='second'))  # has to wait, and is told so
        wait_for_stage(port, 'second', 'Waiting for another search')
        third = posted(port, SOLVE | dict(search='third'))
        wait_for_stage(port, 'third', 'Waiting for another search')
        assert post(port, dict(ask='cancel', search='third')) == dict(cancelled='third')
        assert answered(third) == CANCELLED
        first.close()  # the page leaves: nobody has cancelled its search
        assert answered(second)['moves']
        # does not wait for the megabyte it asks for
        with socket.create_connection(('127.0.0.1', port)) as hasty:
            hasty.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            hasty.sendall(b'GET /play.js HTTP/1.0\r\n\r\n')
            hasty.recv(100)
        stuck = posted(port, LONG | dict(search='stuck'))
        wait_for_stage(port, 'stuck', 'Solving')
        worker = worker_of(server)
        worker.suspend()  # it does not look at its clock any more
        assert post(port, dict(ask='cancel', search='stuck')) == dict(cancelled='stuck')
        assert answered(stuck) == CANCELLED and has_ended(worker)
        last = posted(port, LONG | dict(search='last'))
        wait_for_stage(port, 'last', 'Solving')
        worker = worker_of(server)
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=20) == ('\n', '') and server.returncode == 0
        wait_until(lambda: has_ended(worker), 20)
        last.close()


@pytest.mark.slow
def test_a_search_does_not_outlive_a_server_that_is_killed():
    with playing() as (server, port):
        asking = posted(port, LONG | dict(search='mine'))
        wait_for_stage(port, 'mine', 'Solving')
        worker = worker_of(server)
        server.kill()
        wait_until(lambda: has_ended(worker), 20)
        asking.close()


def test_the_server_answers_its_own_page_only():
    with serving(PageServer()) as server:

        def post(path='/ask', body='{"ask": "read", "puzzle": "cube3", "word": "R"}', **headers):
            connection = HTTPConnection('127.0.0.1', server.server_port)
            connection.request('POST', path, body, {'Content-Type': 'application/json', **headers})
            reply = connection.getresponse()
            return reply.status, reply.read()

        assert post() == (200, b'{"moves": ["R"]}') and json.loads(post(body='{')[1]).keys() == {'error'}
        wrong = {'Content-Type': 'text/plain'}, {'Content-Length': '2000000'}
        for bad in (dict(Host='evil.example'), dict(path='/other'), *wrong):
            assert post(**bad)[0] == 403
        for path, status in (('/', 200), ('/play.js', 200), ('/LICENSES.txt', 200), ('/../play.py', 404)):
            connection = HTTPConnection('127.0.0.1', server.server_port)
            connection.request('GET', path)
            assert connection.getresponse().status == status


def test_the_bundle_is_built_from_these_sources():
    names = 'play.js', 'play.css', 'build.mjs', 'package-lock.json'
    sources = ''.join((ROOT / 'widget' / name).read_text(encoding='utf-8') for name in names)
    made = re.search(r'sources (\w+)', (STATIC / 'play.js').open(encoding='utf-8').readline())[1]
    assert made == hashlib.sha256(sources.encode()).hexdigest(), 'run `npm ci && npm run build` in widget/'
    licences = (STATIC / 'LICENSES.txt').read_text(encoding='utf-8')
    assert 'Mozilla Public License Version 2.0' in licences and 'three.js authors' in licences


def scramble_and_solve(browser, length, **choice):
    "What a person does; asserts what the person sees. Returns the pictures before and after."
    browser.ask('scramble', length=length)
    assert not browser.solved() and 0 < len(browser.value('word').split()) <= length
    before = browser.picture()
    browser.ask('solve', **choice)
    assert browser.moves() and ' · ' in browser.run('part("caption").textContent'), browser.note()
    browser.wait(lambda: browser.note() == 'Solved')
    assert browser.solved()
    return before, browser.picture()


LOOK_LONG = 'void (part("seconds").value = 120, part("solver").value = "improve", part("solver").onchange(), part("main").click())'
MARKED = '[...root.querySelectorAll("[data-wrong=true]")].map(cell => +cell.value).sort((a, b) => a - b)'


@contextmanager
def opened(width=1280, height=900, puzzle='cube3', dark=False):
    with (
        serving(PageServer(puzzle)) as server,
        browsing(f'http://127.0.0.1:{server.server_port}/') as browser,
    ):
        browser.open(browser.address, width, height, dark)
        yield server, browser


@at_both_sizes
def test_in_a_real_browser(size):
    with opened(*SIZES[size]) as (server, browser):
        assert browser.solved()
        before, after = scramble_and_solve(browser, 5, solver='beam', seconds=10)
        assert min(map(len, (before, after))) > 10_000 and before != after
        browser.press('R', "U'", 'F')  # on from solved, by hand, faster than they are drawn
        assert browser.moves() == "RU'F" and not browser.solved() and browser.value('word') == ''
        browser.click('undo')
        browser.press('F', 'L')
        browser.solve(solver='kociemba')
        assert browser.solved() and browser.value('word') == "R U' F L"
        browser.ask('scramble', length=40)
        browser.ask('solve', solver='bwas', seconds=0.1)
        assert browser.note().startswith('not solved: bwas') and not browser.solved()
        browser.run(LOOK_LONG)
        browser.wait(lambda: 'best so far: ' in browser.note(), 120)
        assert browser.run('part("main").textContent') == 'Cancel'
        assert browser.run('part("word").matches(":disabled")')
        browser.click('main')
        browser.wait(lambda: browser.note() == 'the search was cancelled')
        assert browser.run('part("main").textContent') == 'Solve'
        assert not browser.run('part("word").matches(":disabled")')
        browser.click('reset')
        browser.ask('solve', solver='beam')
        assert browser.solved() and browser.note() == 'Solved: nothing to do'
        browser.choose('cube2')
        scramble_and_solve(browser, 4)
        assert browser.run('[...part("model").options].map(o => o.value)')[0] == 'cube2-davi'
        browser.pick('solver', 'alphazero')
        models = browser.run('[...part("model").options].map(o => o.value)')
        published = [f'cube2-alphazero-published{seed}' for seed in ('', '-1', '-2')]
        assert (models[0], models[-1]) == ('cube2-alphazero', 'exact') and sorted(models[1:-1]) == published
        browser.choose('cube3')
        browser.ask('scramble', length=40)
        browser.run(LOOK_LONG)
        browser.wait(lambda: [search.stage for search in server.searches.line] == ['Solving'])
        browser.tell('Page.navigate', url='about:blank')
        browser.wait(lambda: not server.searches.line)


@at_both_sizes
def test_what_is_typed_is_never_thrown_away(size):
    with opened(*SIZES[size]) as (_, browser):
        browser.ask('start', word='R U2 Q')
        assert "token 3, 'Q'" in browser.note() and browser.value('word') == 'R U2 Q' and browser.solved()
        assert browser.run('part("note").className') == 'note error'
        marked = browser.run('[part("word").selectionStart, part("word").selectionEnd]')
        assert marked == [5, 6] and browser.run('part("word").getAttribute("aria-invalid")') == 'true'
        browser.press('F')
        assert browser.value('word') == 'R U2 Q'
        browser.ask('solve', solver='kociemba')
        assert "token 3, 'Q'" in browser.note() and browser.moves() == 'F', 'Solve reads it first'
        browser.type('word', "R U2 M' x")
        browser.solve(solver='kociemba')
        assert browser.value('word') == "R U2 M' x" and browser.solved()
        stickers = net_after("R U2 F' L")
        browser.type('word', stickers)
        browser.run('void part("start").requestSubmit()')
        browser.wait(lambda: browser.state() == 'ready' and not browser.solved(), 90)
        assert browser.net() == stickers and browser.value('word') == stickers
        browser.type('word', stickers[:-1] + 'U')
        browser.ask('start')
        assert 'U' in browser.note() and browser.value('word') == stickers[:-1] + 'U'
        assert browser.net() == stickers
        marked = browser.run(MARKED)
        assert 53 in marked, 'the sticker that is wrong, on the net'
        box = browser.run('(r => [r.width, r.height])(part("net").getBoundingClientRect())')
        assert min(box) > 200, 'the net is there to be seen'
        assert browser.run(INSIDE)
        browser.type('word', stickers)
        browser.ask('start')
        assert browser.run(MARKED) == [] and browser.net() == stickers
        for seconds in 0, 3601:
            browser.ask('solve', seconds=seconds)
            assert browser.note() == 'Seconds: a number from 0.1 to 3,600, please'
            assert browser.run('part("seconds").getAttribute("aria-invalid")') == 'true'
        browser.ask('scramble', length=1001)
        assert browser.note() == 'Length: a number from 0 to 1,000, please'


@at_both_sizes
def test_it_fits_on_the_screen(size):
    width, height = SIZES[size]
    with opened(width, height) as (_, browser):
        browser.ask('start', word="R U2 F' L D B' R2 U")
        browser.solve(solver='kociemba')
        assert browser.run(INSIDE)
        assert browser.run(f'({UNNAMED})()') == [], 'everything to press has a name for screen readers'
        if size == 'tall':
            assert browser.run(f'({TOO_SMALL})(44)') == []
            browser.click('more')
            assert browser.run(INSIDE) and browser.run(f'({TOO_SMALL})(44)') == []
            browser.click('more')
            browser.ask('start', word='R U2 Q F')
            assert "token 3, 'Q'" in browser.note()
            assert browser.run(INSIDE), 'a long error takes from the cube'
            browser.click('paint')
            assert browser.run(INSIDE) and browser.run(f'({TOO_SMALL})(44)') == []
        else:
            widths = browser.run('["solver", "model"].map(name => part(name).getBoundingClientRect().width)')
            assert min(widths) >= 150, 'names of solvers and networks can be read'
            assert browser.run('part("scene").getBoundingClientRect().height') >= 500


@with_browser
@pytest.mark.parametrize('puzzle', ['cube2', 'pyraminx', 'skewb'])
def test_the_other_puzzles_fit_on_a_telephone(puzzle):
    with opened(*SIZES['tall']) as (_, browser):
        browser.choose(puzzle)
        browser.ask('scramble')
        browser.solve()
        assert browser.run(f'({UNNAMED})()') == []
        for _ in 'without the options', 'with them':
            browser.wait(lambda: browser.run(INSIDE))
            assert browser.run(f'({TOO_SMALL})(44)') == []
            browser.click('more')


SHADES = """["card", "note", "word", "main"].map(name => {
  const style = getComputedStyle(name === "card" ? root.querySelector(".play") : part(name))
  return [style.color, style.backgroundColor]
})"""


def brightness(colour):
    "The relative luminance of a colour of CSS, from 0 to 1 (WCAG 2)."
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in colour]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(ink, paper):
    "How far two colours are apart, from 1 to 21 (WCAG 2)."
    dark, light = sorted(map(brightness, (ink, paper)))
    return (light + 0.05) / (dark + 0.05)


@with_browser
@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
def test_ink_and_paper_follow_the_system(dark):
    with opened(*SIZES['wide'], dark=dark) as (_, browser):
        browser.ask('start', word='R Q')
        shades = [[rgb(colour) for colour in pair] for pair in browser.run(SHADES)]
        (ink, paper), (error, _), field, button = shades
        assert (brightness(paper) < 0.05) == dark and (brightness(ink) > 0.5) == dark
        for front, back in ((ink, paper), (error, paper), field, button):
            assert contrast(front, back) >= 4.5, 'enough to be read (WCAG 2, level AA)'
        around = rgb(browser.run('getComputedStyle(document.documentElement).backgroundColor'))
        assert (brightness(around) < 0.05) == dark


def rgb(colour):
    "Three numbers of a computed colour."
    return [int(part) for part in re.findall(r'\d+', colour)[:3]]


@at_both_sizes
def test_ones_own_cube_is_painted(size):
    with opened(*SIZES[size]) as (_, browser):
        browser.click('paint')
        browser.wait(lambda: browser.note().endswith('48 stickers left'))
        for f, letter in (8, 'U'), (9, 'F'), (20, 'R'):
            browser.paint(f, letter)
        browser.wait(lambda: 'on no piece' in browser.note())
        assert browser.run(MARKED) == [8, 9, 20] and browser.run('part("use").disabled')
        assert browser.run('part("net").querySelector("[data-wrong=true]").ariaLabel') == 'U9: U, wrong'
        browser.paint_whole(net_after("R U2 F' L D"))
        browser.solve(solver='kociemba')


@at_both_sizes
def test_a_reload_keeps_painted_stickers_and_undo_what_was_typed(size):
    stickers = net_after("R U2 F'", 'cube2')
    with opened(*SIZES[size], puzzle='cube2') as (_, browser):
        browser.type('word', 'R Q')
        browser.paint_whole(stickers)
        word = browser.value('word')
        browser.reload(*SIZES[size])
        browser.wait(lambda: browser.net() == stickers)
        assert browser.value('word') == word not in ('', 'R Q')
        browser.open(browser.address)
        browser.type('word', 'R Q')
        browser.paint_whole(stickers)
        browser.click('undo')
        assert browser.value('word') == 'R Q' and browser.solved()


@at_both_sizes
def test_keys_drag_undo_and_whole_turns(size):
    with opened(*SIZES[size]) as (_, browser):
        for key, shift in ('u', False), ('R', True), ('2', False), ('x', False), ('m', True):
            browser.key(key, shift)
        assert browser.moves() == "UR2xM'"
        for left in ('UR2x', 'UR2', 'U'):
            browser.key('Backspace')
            assert browser.moves()[: len(left)] == left
            done = browser.run('root.querySelectorAll(".word .done").length')
            assert done == left.count('x') + left.count('R') + 1
        browser.click('reset')
        x, y = browser.middle('part("scene")')
        scale = browser.run('part("scene").getBoundingClientRect().height') / 560  # of the cube on the screen
        browser.drag(x - 100 * scale, y + 140 * scale, 90 * scale, 22 * scale)
        browser.wait(lambda: browser.moves())
        assert browser.moves() == 'D', 'the lowest layer of the front, to the right'
        browser.click('undo')
        browser.drag(x - 60 * scale, y + 60 * scale, -3 * scale, -90 * scale)
        browser.wait(lambda: browser.moves() not in ('', 'D'))
        assert browser.moves() == "M'", 'a column of the front, upwards'
        browser.click('reset')
        browser.press('x', 'U')
        cube = get_puzzle('cube3')
        seen = cube.solved[cube.whole_turns['x']][cube.moves[0]]
        assert browser.net() == ''.join(cube.faces[c] for c in seen)


@at_both_sizes
def test_a_reload_keeps_scramble_and_solution(size):
    with opened(*SIZES[size]) as (_, browser):
        browser.ask('start', word="R U2 F' L")
        browser.solve(solver='kociemba')
        moves = browser.moves()
        browser.reload(*SIZES[size])
        browser.wait(lambda: browser.moves() == moves)
        assert browser.value('word') == "R U2 F' L" and browser.solved()
        browser.open(browser.address + '?bad#puzzle=cube3&word=Q')
        browser.wait(lambda: 'the address cannot be read' in browser.note())


@at_both_sizes
def test_what_is_typed_comes_back_with_undo(size):
    with opened(*SIZES[size]) as (_, browser):
        browser.ask('start', word='F L')
        scrambled = partial(browser.ask, 'scramble', length=5)
        for action in scrambled, partial(browser.click, 'reset'), partial(browser.ask, 'start'):
            browser.type('word', "R U2 M'")
            action()
            browser.wait(lambda: browser.state() == 'ready')
            browser.click('undo')
            assert browser.value('word') == "R U2 M'" and browser.net() == net_after('F L')
        browser.type('word', 'R Q')
        browser.ask('start')
        assert "token 2, 'Q'" in browser.note()
        browser.press('D')
        browser.click('undo')
        assert browser.value('word') == 'R Q' and browser.net() == net_after('F L'), 'undo of a turn keeps it'
        browser.choose('cube2')
        assert browser.value('word') == 'R Q', 'it may be meant for this puzzle'
        browser.click('undo')
        assert browser.value('word') == 'R Q' and browser.net() == net_after('F L')
        browser.click('reset')
        assert browser.value('word') == ''
        browser.click('undo')
        assert browser.value('word') == 'R Q' and browser.net() == net_after('F L')


def net_after(word, puzzle='cube3'):
    "The letters of the net after a word."
    cube = get_puzzle(puzzle)
    return to_string(cube, cube.apply_word(cube.solved, parse(cube, word)))[0]


@at_both_sizes
def test_the_options_of_the_solver_are_a_form(size):
    with opened(*SIZES[size]) as (_, browser):
        for solver in ('mcts', 'beam'):
            browser.pick('solver', solver)
            browser.click('adjust')
            fields = solver_form(solver)
            names = browser.run('[...part("form").elements].map(field => field.name).filter(Boolean)')
            assert names == [*fields]
            said = browser.run('part("fields").innerText')
            for name, field in fields.items():
                assert field['about'] in said and name.replace('_', ' ') in said
            assert browser.run(f'({UNNAMED})()') == []
            if solver == 'mcts':
                browser.click('drop')
        field = 'part("form").elements.width'
        assert int(browser.run(f'{field}.value')) == get_solver('beam').options().width
        browser.key('u')
        assert browser.moves() == '', 'what is typed into the form turns nothing'
        for value, is_open in (0, True), (2.5, True), (1, False):
            browser.run(f'void ({field}.value = {value}, part("take").click())')
            assert browser.run('part("settings").open') == is_open, 'a number that it cannot be is not taken'
        assert browser.run('part("adjust").textContent') == 'Settings (1)'
        browser.ask('scramble', length=40)
        browser.ask('solve')
        assert browser.note().startswith('not solved: beam'), 'one state wide'
        browser.pick('solver', 'kociemba')
        assert browser.run('part("adjust").hidden')
        assert browser.run('part("views").disabled'), 'it asks no network'
        browser.pick('solver', 'beam')
        browser.click('adjust')
        browser.run('void (part("usual").click(), part("take").click())')
        browser.ask('start', word="R U2 F' L")
        browser.ask('solve', views=48)
        assert browser.moves() and 'cube3-walks (views)' in browser.run('part("caption").textContent')


@with_browser
def test_all_can_be_done_by_keys_and_is_said_aloud():
    stickers = net_after("R U2 F' L D")
    with opened() as (_, browser):
        said = 'part("said").textContent.replaceAll("\\u00a0", "")'
        browser.run('void part("scene").focus()')
        browser.key('r', shift=True)
        assert browser.run(said) == 'R prime' and browser.run('part("scene").tabIndex') == 0
        browser.click('undo')
        browser.click('paint')
        browser.wait(lambda: browser.note().endswith('48 stickers left'))
        cell = 'part("net").querySelector("[tabindex=\\"0\\"]")'
        browser.run(f'void {cell}.focus()')
        for key, there in ('Down', '3'), ('Right', '5'), ('Right', '5'), ('Down', '8'), ('Down', '20'):
            browser.key(f'Arrow{key}')
            assert browser.run('root.activeElement.value') == there, 'over centres, which are fixed, and gaps'
        browser.run('void part("net").querySelector(".cell").focus()')
        for f, letter in enumerate(stickers):
            if f % 9 != 4:
                browser.key(letter.lower())
        browser.wait(lambda: not browser.run('part("use").disabled'))
        assert 'whole puzzle' in browser.run(said)
        browser.click('use')
        browser.wait(lambda: browser.state() == 'ready' and browser.net() == stickers, 90)
        browser.ask('solve', solver='kociemba')
        assert browser.run(f'{said}.startsWith(part("caption").textContent)'), 'the answer, not the waiting'
        browser.wait(lambda: browser.run(said) == 'Solved')


if __name__ == '__main__':  # the picture of the chapter
    from io import BytesIO

    from PIL import Image

    with opened() as (_, browser):
        browser.ask('start', word=' '.join(answer(SCRAMBLE | dict(length=40, seed=1))['moves']))
        browser.ask('solve', solver='improve', seconds=7)
        browser.wait(lambda: browser.run('root.querySelectorAll(".word .done").length') >= 6)
        browser.run('void part("transport").querySelector("[data-go=play]").click()')
        Image.open(BytesIO(browser.picture())).convert('RGB').quantize(64).save(sys.argv[1], optimize=True)
