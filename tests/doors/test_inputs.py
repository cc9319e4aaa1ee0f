"What people bring: each kind of input with what it stands for, or with the line that refuses it."

import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
import torch
from trainings import call

from cube_nb.cube.drawing import ascii_net
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.cube.stickers import are_stickers, find_layout, read_stickers
from cube_nb.inputs import batches
from cube_nb.search.core import Solution
from cube_nb.solving import Spelling, random_state_words, read_state, read_states
from cube_nb.solving import scramble, scrambles, solutions, solve

CUBE2, CUBE3 = get_puzzle('cube2'), get_puzzle('cube3')
STATE = CUBE3.apply_word(CUBE3.solved, parse(CUBE3, "R U2 F' L D B2 U' R2 F"))
TEXT = to_string(CUBE3, STATE)[0]
NET = ascii_net(CUBE3, STATE)
FACES = [TEXT[at : at + 9] for at in range(0, 54, 9)]
DIGITS = str.maketrans('URFDLB', '123456')
WORDS = ['R U', "F'", '[R, U]']
ROWS = np.stack([read_state(CUBE3, word) for word in WORDS])
BY_NAME = dict(zip(['up', 'Right', 'FRONT', 'bottom', 'left', 'back'], FACES))
ONE = {  # what it is called -> a value that is this one cube
    'text': TEXT, 'net': NET, 'tuple of letters': tuple(TEXT), 'array of letters': np.array(list(TEXT)),
    'series of letters': pd.Series(list(TEXT)), 'letters face by face': np.array(list(TEXT)).reshape(6, 3, 3),
    'row': STATE, 'list': STATE.tolist(), 'face by face': STATE.reshape(6, 9),
    'square faces': STATE.reshape(6, 3, 3), 'series': pd.Series(STATE), 'tensor': torch.tensor(STATE),
    'tensor face by face': torch.tensor(STATE.astype(np.int64)).reshape(6, 9),
    'faces by letter': dict(zip('URFDLB', FACES)), 'faces in another order': dict(zip('BLDFRU', FACES[::-1])),
    'quoted': f'"{TEXT}"', 'with notes': f"1. '{TEXT}' // mine", 'a net under a note': '# mine\n' + NET,
    'a net with dots': NET.replace(' ', '.'), 'dots between the faces': '.'.join(FACES),
    'digits': TEXT.translate(DIGITS), 'commas': ', '.join(map(str, STATE)),
    'mixed case': ''.join(letter.lower() if k % 3 else letter for k, letter in enumerate(TEXT)),
    'full width': ''.join(chr(ord(letter) + 0xFEE0) for letter in TEXT),
    'marks without width': '\ufeff' + '\u200b'.join(TEXT),
}  # fmt: skip
MANY = {  # a value that is the cubes of these three words
    'series': pd.Series(WORDS, index=[5, 3, 1]), 'objects': np.array(WORDS, object),
    'generator': (word for word in WORDS), 'tokens': [['R', 'U'], ["F'"], ['R', 'U', "R'", "U'"]],
    'mixed': ['R U', ROWS[1], ROWS[2].reshape(6, 9)], 'rows': ROWS, 'rows of faces': ROWS.reshape(3, 6, 3, 3),
}  # fmt: skip
WRONG = {  # what Python may be given -> words of the one line that refuses it
    'a letter lost': (TEXT[1:], 'expected 54 stickers (URFDLB, 9 of each face, face by face), got 53'),
    'a letter doubled': (TEXT[:20] + TEXT[19:], 'got 55'),
    'a letter lost in a list': (list(TEXT)[1:], 'got 53'),
    'a digit lost': (TEXT.translate(DIGITS)[1:], 'got 53'),
    'a colour doubled': (TEXT.translate(str.maketrans('URFDLB', 'wrgyob')) + 'w', 'got 55'),
    'another cube': (to_string(CUBE2, CUBE2.solved)[0], 'got 24'),
    'a sticker lost in a face': (dict(zip('URFDLB', [*FACES[:5], FACES[5][1:]])), 'face B has 8'),
    'a letter too many in a face': ('-'.join([*FACES[:5], FACES[5] + 'U']), 'got 55: face B has 10'),
    'a face twice': ({**BY_NAME, 'u': FACES[0]}, 'expected each of the faces'),
    'another shape': (STATE[:48].reshape(6, 8), 'got an array of shape (6, 8)'),
    'truth': (STATE > 2, 'expected colours as whole numbers, got bool'),
    'gradients': (torch.ones(54, requires_grad=True), 'whole numbers, got a tensor of torch.float32'),
    'bfloat16': (torch.ones(54, dtype=torch.bfloat16), 'whole numbers, got a tensor of torch.bfloat16'),
    'no device': (torch.ones(54, dtype=torch.uint8, device='meta'), 'a tensor with values, got one on meta'),
    'a number': (54, 'got int'), 'a table': (pd.DataFrame({'word': ['R']}), 'got DataFrame'),
    'a zero-dimensional array': (np.array('R'), 'without a dimension'),
    'a bad word': (['R', 'U', 'R Q'], "state 3: token 2, 'Q' at column 3"),
    'lists in lists': (json.loads('[' * 40 + '"R"' + ']' * 40), 'lists in lists, at most 16 deep'),
    'one letter all over': ('U' * 53, 'got 53'),
    'colours out of range': (np.full(54, 300), 'facelet 0 (U1) has colour 300'),
}  # fmt: skip


@pytest.mark.parametrize('name', ONE)
def test_one_cube(name):
    assert (read_state(CUBE3, ONE[name]) == STATE).all()


@pytest.mark.parametrize('name', MANY)
def test_many_cubes(name):
    states, many = read_states(CUBE3, MANY[name], Spelling())
    assert many and (states == ROWS).all()


@pytest.mark.parametrize('name', WRONG)
def test_what_is_refused(name):
    value, words = WRONG[name]
    with pytest.raises(ValueError) as caught:
        solve(value, time_limit=1)
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_words_stay_words():
    words = ["RUR'U'" * 9, 'R2U2' * 12, "R U F' " * 18, '(R U)27', 'RU' * 20, 'R U ' * 27, '0 ' * 54]
    assert not any(are_stickers(CUBE3, word) for word in words)


def in_order(text, order):
    "Stickers with the faces in another order."
    each = len(text) // 6
    return ''.join(text['URFDLB'.index(face) * each :][:each] for face in order)


@pytest.mark.parametrize('order', ['ULFRBD', 'FBLRUD', 'UFRBLD', 'BDFLRU', 'ULFRDB'])
def test_faces_in_the_one_order_that_is_possible(order):
    for names in ('URFDLB', 'WRGYOB', '123456'):
        text = in_order(TEXT, order).translate(str.maketrans('URFDLB', names))
        with pytest.warns(UserWarning, match=f'read in the order {order}, not URFDLB'):
            assert (read_state(CUBE3, text) == STATE).all()
        assert (read_state(CUBE3, text, faces=order.lower()) == STATE).all()


def test_rows_of_the_net_in_one_line():
    with pytest.warns(UserWarning, match='net, row by row'):
        assert (read_state(CUBE3, ''.join(NET.split())) == STATE).all()


@pytest.mark.parametrize(
    'word', ["U D' R L' F B' U D'", 'R', "U R2 F B R B2 R U2 L B2 R U' D' R2 F R' L B2 U2 F2"]
)
def test_patterns_that_are_possible_in_several_orders(word):
    state = read_state(CUBE3, word)
    (letters,) = to_string(CUBE3, state)
    digits = letters.translate(DIGITS)
    with pytest.raises(ValueError, match=r'different cubes in \d+ orders .*URFDLB.*\(--faces\)'):
        read_state(CUBE3, digits)
    assert (read_state(CUBE3, digits, faces='URFDLB') == state).all()
    assert (read_state(CUBE3, letters) == state).all(), 'letters of the faces say their order'


def test_what_is_wrong_is_said_of_the_likeliest_order():
    wrong = in_order(TEXT, 'ULFRBD')
    wrong = wrong[:1] + ('D' if wrong[1] != 'D' else 'F') + wrong[2:]
    assert find_layout(CUBE3, wrong).name == 'ULFRBD'
    with pytest.warns(UserWarning, match='ULFRBD'), pytest.raises(ValueError, match='is on 10') as caught:
        read_stickers(CUBE3, wrong)
    assert 1 in caught.value.facelets


def test_a_small_cube_in_another_order_is_refused_or_named():
    for text in to_string(CUBE2, CUBE2.random_states(20, seed=1)):
        with pytest.raises(ValueError, match='are named as faces'):
            read_state(CUBE2, in_order(text, 'ULFRBD'))
        read_state(CUBE2, in_order(text, 'ULFRBD'), faces='ULFRBD')


SESSION = dict(
    session1=[[[0, 9870], "R U2 F'", '', 1], [[-1, 1]]], session2=[[[0, 1], 'F B', '', 2]], properties={}
)
TIMER = "Generated By csTimer\nsolves: 2\nTime List:\n1. 12.34   R U2 F'   @2024-01-01\n2. (9.87)   F B\n"
FILES = {  # name -> (content, column, the values, how many are skipped)
    'words.txt': ("R U2 F'\n\n  F B  \n", None, ["R U2 F'", 'F B'], 0),
    'notes.txt': ("# mine\nR U2 F' // first\n1. F B\n", None, ["R U2 F' // first", '1. F B'], 1),
    'indices.txt': ('2,0,5\n0 1\n', None, ['2,0,5', '0 1'], 0),
    'brackets.txt': ('[R, U]\n[F: D], R\n'.replace(', R\n', '\n'), None, ['[R, U]', '[F: D]'], 0),
    'table.csv': ("id,Scramble,time\n1,R U2 F',9\n2,,9\n3,\"F B\",9\n", None, ["R U2 F'", 'F B'], 1),
    'table.tsv': ("Alg\tname\nR U2 F'\ta\nF B\tb\n", None, ["R U2 F'", 'F B'], 0),
    'times.csv': ("No.;Time;Comment;Scramble;Date;P.1\n1;9.87;;R U2 F';x;9\n", None, ["R U2 F'"], 0),
    'column.csv': ("a,b\nx,R U2 F'\ny,F B\n", 'b', ["R U2 F'", 'F B'], 0),
    'number.csv': ("x,R U2 F'\ny,F B\n", '2', ["R U2 F'", 'F B'], 0),
    'one.csv': ("scramble\nR U2 F'\nF B\n", None, ["R U2 F'", 'F B'], 0),
    'old.csv': ("scramble,time\rR U2 F',9\rF B,9\r", None, ["R U2 F'", 'F B'], 0),
    'long.csv': ('scramble\n' + 'R' * 200_000, None, ['R' * 200_000], 0),
    'faces.csv': ('face,stickers\n' + '\n'.join(map(','.join, BY_NAME.items())), None, [FACES], 0),
    'list.json': (json.dumps(["R U2 F'", 'F B']), None, ["R U2 F'", 'F B'], 0),
    'field.json': (json.dumps(dict(scrambles=["R U2 F'", 'F B'])), None, ["R U2 F'", 'F B'], 0),
    'tokens.json': (json.dumps([['R', "U'"], ['F']]), None, ["R U'", 'F'], 0),
    'rows.json': (json.dumps([dict(scramble='F B'), dict(x=1)]), None, ['F B'], 1),
    'lines.jsonl': ('"R"\n{"scramble": null, "state": "U"}\n[0, 1]\n', None, ['R', 'U', [0, 1]], 0),
    'bad.jsonl': ('{"scramble": "R"}\n{bad\n{"scramble": "U"}\n', None, ['R', '{bad', 'U'], 0),
    'cube.json': (json.dumps(STATE.tolist()), None, [STATE.tolist()], 0),
    'square.json': (json.dumps(STATE.reshape(6, 3, 3).tolist()), None, [STATE.reshape(6, 3, 3).tolist()], 0),
    'faces.json': (json.dumps(BY_NAME), None, [BY_NAME], 0),
    'named.json': (json.dumps([dict(a='F B')]), 'a', ['F B'], 0),
    'session.json': (json.dumps(SESSION), None, ["R U2 F'", 'F B'], 1),
    'timer.txt': (TIMER, None, ["R U2 F'", 'F B'], 3),
    'net.txt': (NET, None, [NET], 0),
    'nets.txt': (f'# two\n{NET}\nR\n{NET}\n\nU', None, [NET, 'R', NET, 'U'], 1),
    'faces.txt': ('\n\n'.join(FACES), None, ['\n\n'.join(FACES)], 0),
    'empty.txt': ('\n \n', None, [], 0),
}  # fmt: skip


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16', 'utf-16-le'])
def test_files(tmp_path, name, encoding):
    content, column, values, skipped = FILES[name]
    file = tmp_path / name
    file.write_text(content, encoding=encoding)
    (batch,) = batches(CUBE3, str(file), column)
    assert [item.value for item in batch.items] == values and batch.skipped.total() == skipped
    assert all(item.place.startswith(str(file)) for item in batch.items)


REFUSED = [
    (b'\xff\xfe\x00', 'expected a text in UTF-8 or UTF-16'),
    (b'R U \x80', 'expected a text in UTF-8 or UTF-16'), (b'R U \x00 F', 'expected a text'),
    (b'a,b\n1,2\n', "line 1: token 1, 'a'"), (b'R U\nF Q\n', 'line 2: token 2'),
    (b'scramble,x\nR,1\nR Q,2\n', 'row 3: token 2'), (b'{"scramble": 5}', 'got int'),
    (b'{"scramble": "R"}\n{bad', 'line 2: token 1'), (b'[["R", "U"], 5]', 'file: state 2: '),
    (b'[' * 3000, 'line 1: token 51'), (TEXT[1:].encode(), 'got 53'),
    ('\n'.join(NET.split('\n')[:8]).encode(), 'got 51'),
]  # fmt: skip


@pytest.mark.parametrize('content, words', REFUSED)
def test_files_that_are_refused(capsys, tmp_path, content, words):
    file = tmp_path / 'file'
    file.write_bytes(content)
    status, out, err = call(capsys, 'solve', '--input', str(file))
    assert (status, out, err.count('\n')) == (2, '', err.count(' read') + 1) and words in err


def test_what_was_read_and_skipped_is_said(capsys, tmp_path):
    file = tmp_path / 'table.csv'
    file.write_text(FILES['table.csv'][0])
    status, out, err = call(capsys, 'solve', '--puzzle', 'cube2', '--input', str(file))
    assert (status, err) == (0, f'{file}: 2 read, 1 skipped (1 without a cube)\n')
    assert len(out.splitlines()) == 2
    file.write_text('')
    assert call(capsys, 'solve', '--input', str(file)) == (0, '', f'{file}: 0 read\n')


def test_bad_lines_are_skipped_in_their_place(capsys, tmp_path):
    file = tmp_path / 'words.txt'
    file.write_text('R U\nR Q\nF\n')
    status, out, err = call(capsys, 'solve', '--puzzle', 'cube2', '--json', '--skip-bad', '--input', file)
    first, second, third = map(json.loads, out.splitlines())
    assert status == 1 and (first['scramble'], third['scramble']) == ('R U', 'F')
    assert second == {'error': err.removeprefix('cube_nb: ').strip()} and "line 2: token 2, 'Q'" in err


SOLVE = [sys.executable, '-m', 'cube_nb', 'solve']


@pytest.mark.slow
def test_each_line_is_answered_when_it_comes():
    "One process serves another program: the answer comes before the next line is written."
    command = [*SOLVE, '--puzzle', 'cube2', '--skip-bad', '--json', '--input', '-']
    pipes = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, text=True) as run:
        guard = threading.Timer(240, run.kill)
        guard.start()
        for line, key in [("R U'", 'solution'), ('Q', 'error'), ('[R, U]', 'solution')]:
            run.stdin.write(line + '\n')
            run.stdin.flush()
            assert key in json.loads(run.stdout.readline())
        run.stdin.close()
        assert 'line 2: token 1' in run.stderr.read()
        guard.cancel()
    assert run.returncode == 1


@pytest.mark.slow
def test_a_net_over_standard_input_is_one_cube():
    command = [*SOLVE, '--solver', 'kociemba', '--input', '-']
    run = subprocess.run(command, input=NET, capture_output=True, text=True)
    assert len(run.stdout.splitlines()) == 1 and run.returncode == 0, run.stderr


@pytest.mark.parametrize('wrong, words', [
    (lambda: solve('R', puzzle=['cube3']), 'expected the name of a puzzle'),
    (lambda: solve('R', puzzle=CUBE3), 'expected the name of a puzzle'),
    (lambda: solve('R', solver=3), 'expected the name of a solver'),
    (lambda: solve('R', model=3), 'model: expected the name or file of a network, got 3'),
    (lambda: solve('R', metric=3), 'has no metric 3'),
    (lambda: solve('R', views='x'), 'views: expected true or false'),
    (lambda: solve('R', goal=['R']), "goal: expected a text, got ['R']"),
    (lambda: solve('R', moves=('R', 'U')), "moves: expected a text, got ('R', 'U')"),
    (lambda: solve('R', notation=3), 'expected a word and a notation as texts'),
    (lambda: solve('R', notation=['lowercase']), 'expected a word and a notation as texts'),
    (lambda: solve(TEXT, faces=6), 'faces: expected each of the letters URFDLB once, got 6'),
    (lambda: solve('R', faces='URFDLB'), 'expected 54 stickers'),
    (lambda: solutions('R', '3'), "count: expected a whole number, got '3'"),
    (lambda: solutions('R', 2, time_limit=None), 'time_limit must be a number'),
    (lambda: scramble(seed='a'), "seed: expected a whole number, got 'a'"),
    (lambda: scrambles('cube2', 'a'), "count: expected a whole number, got 'a'"),
    (lambda: random_state_words('cube2', 1.5), 'count: expected a whole number, got 1.5'),
    (lambda: random_state_words('cube2', 1, 'a'), "seed: expected a whole number, got 'a'"),
    (lambda: scramble(depth=2.5), 'depth: expected a whole number, got 2.5'),
])  # fmt: skip
def test_wrong_types_are_one_error(wrong, words):
    with pytest.raises(ValueError) as caught:
        wrong()
    assert words in str(caught.value) and '\n' not in str(caught.value)


def test_a_solution_is_true_if_the_cube_is_solved():
    assert solve('', 'cube2') and not len(solve('', 'cube2')) and not Solution(CUBE3, False)


@pytest.mark.parametrize('puzzle', ['cube2', 'cube3-htm', 'skewb'])
def test_equal_solutions_are_equal_after_a_pickle(puzzle):
    solution = Solution(get_puzzle(puzzle), True, (0, 2), 5, 3, 0.5, 2)
    again = pickle.loads(pickle.dumps(solution))
    assert again == solution and again.puzzle is solution.puzzle and hash(again) == hash(solution)
