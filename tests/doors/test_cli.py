"The command line as a user meets it: many kinds of bad input, one line and status 2 each; and a real process for what counts."

import io
import json
import os
import subprocess
import sys

import pytest
from trainings import call, is_clear, words_of

import cube_nb
from cube_nb.cube.drawing import ascii_net
from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import Puzzle, get_puzzle, puzzle_entry, puzzle_names
from cube_nb.learn.loop import get_method, method_names
from cube_nb.nets.weights import read_header
from cube_nb.search.core import get_solver, solver_names
from cube_nb.solving import solutions

TINY = words_of(['network.hidden=[32, 16]', 'network.blocks=0', 'iterations=3', 'batch_size=32'])
SOLVED = ''.join(letter * 9 for letter in 'URFDLB')
FAR = "R U2 F' L D B2 U' R2 F L' D2"
CONFIGS = [  # what is no YAML and what is no number, the chapters of the ground and of the loop refuse
    'batch_size: 0', 'learning_rate: 0', 'network: small', 'network: {puzzle: cube9}', 'device: warp',
    'network: {hidden: wide}', 'network: {encoding: magic}', 'precision: float8', 'just words', 'seed: x',
    'max_depth: 0', 'log_every: 0', 'checkpoint_every: 0', 'threshold: -1', 'network: {heads: []}',
    'network: {heads: [oracle]}', 'network: {heads: [policy]}', 'max_depth: 31', 'label: depth',
    'network: ' + '{network: ' * 1000, 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nseed: *c',
]  # fmt: skip
OPTIONS = {  # words before -> those behind that are wrong
    'solve': f' | --input {__file__} --strip cube.svg | --input . | --depth 1000000000000 | --depth -1',
    'solve R': f"""
        --state {SOLVED} | --model {__file__} | --model cube2-davi | --model exact | --time-limit 0 | --fast |
        --strip no/such/folder.svg | --set views=true | --set puzzle=cube2 | --set size=tiny --cost F=2 |
        --solver kociemba --model cube3-walks | --solver kociemba --puzzle cube2 | --set width=1:30 |
        --time-limit inf | --time-limit nan | --time-limit 3 --set time_limit=3 | --count 0 |
        --count 2 --strip cube.svg | --metric atm | --metric htm --puzzle skewb | --depth 3 |
        --notation western""",
    'info': '--solver magic | --trainer magic',
    'solve R --solver beam': """
        --set width=0 | --set width=1_000_000_000_000 | --set width=010 | --set width=true |
        --set max_nodes=2.5 | --set max_nodes=.inf | --set time_limit=-5 | --set time_limit=.inf""",
    'scramble': '--count -1 | --count x | --count 1000000000000 | --depth 1000000000000',
    'train': ' | davi --set iterations | walks --resume nonsense.pt',
    'evaluate': """
        --max-nodes 0 | --solver magic --puzzle cube2 | --depths 1:1000000000000 | --depths 5:1 |
        --depths 1,1,2 | --output no/such/rows.csv | --plot rate.txt""",
    'reproduce': '--profile nonsense | --only nonsense',
    'replay': 'nonsense',
    'compare': 'data | no-such-run data | HEAD:no-such-folder data',
    '--nonsense': '',
}
WRONG = [f'{start} {words}' for start, rows in OPTIONS.items() for words in rows.split('|')]


def test_bad_configurations(capsys, tmp_path):
    file = tmp_path / 'config.yaml'
    for text in CONFIGS:
        file.write_text(text)
        result = call(capsys, 'train', 'davi', '--config', file, '--output', tmp_path / 'run', '--quiet')
        assert is_clear(result), (text, result)


@pytest.mark.parametrize('words', WRONG, ids=lambda words: ' '.join(words.split())[:40])
def test_bad_options(capsys, words):
    assert is_clear(call(capsys, *words.split()))


def python(code):
    "What a fresh process prints."
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_version_and_completion():
    "Both answer without NumPy."
    code = "import sys; from cube_nb.cli import run_command; run_command(['--version']); print('numpy' in sys.modules)"
    assert python(code).split() == ['cube_nb', cube_nb.__version__, 'False']
    asked = os.environ | dict(_CUBE_NB_COMPLETE='complete_bash', COMP_WORDS='cube_nb so', COMP_CWORD='1')
    result = subprocess.run([sys.executable, '-m', 'cube_nb'], env=asked, capture_output=True, text=True)
    assert result.stdout.split() == ['solve']


@pytest.mark.slow
def test_a_cube_near_solved_needs_no_torch():
    code = "import sys; from cube_nb.cli import main\ntry: main(['solve', 'R', 'U', 'F', '--show'])\nexcept SystemExit as end: print(end.code, 'torch' in sys.modules, 'matplotlib' in sys.modules)"
    out = python(code)
    assert out.startswith("F' U' R'\n") and out.endswith('0 False False\n')


@pytest.mark.parametrize('end, first', [('svg', b'<?xml'), ('png', b'\x89PNG')])
def test_an_episode_as_pictures(capsys, tmp_path, end, first):
    file = tmp_path / f'strip.{end}'
    assert call(capsys, 'solve', '--puzzle', 'cube2', 'R U', '--strip', str(file)) == (0, "U' R'\n", '')
    assert file.read_bytes().startswith(first) and file.stat().st_size > 3000


def test_every_public_name_is_there():
    assert 8 <= len(cube_nb.__all__) <= 15 and set(cube_nb.__all__) == set(cube_nb._MODULES)
    for name in cube_nb.__all__:
        assert callable(getattr(cube_nb, name)), name
    with pytest.raises(AttributeError, match='no attribute .cube9.'):
        _ = cube_nb.cube9


@pytest.mark.parametrize('puzzle', ['cube2-htm', 'pyraminx', 'skewb'])
def test_a_puzzle_that_has_only_registered_itself(capsys, tmp_path, puzzle):
    "Scramble, solve, train, solve with what was trained, and evaluate: nothing but the name is said."
    on = ['--puzzle', puzzle]
    status, word, err = call(capsys, 'scramble', *on, '--seed', '2')
    assert (status, err, len(word.split())) == (0, '', puzzle_entry(puzzle).scramble_depth)
    row = json.loads(call(capsys, 'solve', *on, '--json', '--time-limit', '60', word.strip())[1])
    assert row['solved'] and row['length'] <= len(word.split())
    status, file, err = call(capsys, 'train', 'walks', *on, *TINY, '--quiet', '--output', tmp_path)
    assert status == 0 and file.strip().endswith(f'{puzzle}-walks.safetensors')
    assert read_header(file.strip())['about']['accuracy']['cubes'] == 50
    beam = ['--solver', 'beam', '--model', file.strip(), '--time-limit', '60']
    assert call(capsys, 'solve', *on, *beam, get_puzzle(puzzle).move_names[0])[0] == 0
    status, out, err = call(capsys, 'evaluate', *on, '--depths', '1,3', '--count', '3')
    assert status == 0 and [line.split()[2] for line in out.splitlines()[1:]] == ['1.000', '1.000']


def test_a_run_is_saved_before_it_is_measured(capsys, tmp_path, monkeypatch):
    def no_random_states(self, count, seed=0):
        raise ValueError('this puzzle has none')

    monkeypatch.setattr(Puzzle, 'random_states', no_random_states)
    words = ['train', 'walks', '--puzzle', 'cube2', *TINY, '--quiet', '--output', tmp_path]
    status, file, err = call(capsys, *words)
    assert status == 0 and 'was not measured: this puzzle has none' in err
    assert read_header(file.strip())['about']['accuracy'] is None


def test_the_gap_is_said_and_so_is_a_missing_table(capsys, monkeypatch):
    monkeypatch.setattr('cube_nb.exact.prover.ready_size', lambda puzzle: None)
    words = ['solve', FAR, '--time-limit', '1']
    status, out, err = call(capsys, *words)
    assert status == 0 and 'are needed' in err and 'cube_nb tables --puzzle cube3 --build medium' in err
    status, out, err = call(capsys, *words, '--set', 'size=tiny')  # a quiet machine proves it in a second
    assert status == 0 and ('are needed' in err or 'no solution is shorter' in err) and 'tables' not in err


@pytest.mark.slow
def test_views_and_costs_on_the_command_line(capsys):
    "What is asked for reaches the solver: the record says which network answered, and the dear turn is rarer."
    word = ' '.join(['R', "U'", 'F', 'L', 'B', 'D'] * 4)
    beam = ('solve', word, '--solver', 'beam', '--set', 'width=300', '--time-limit', '60', '--json')
    turns = []
    for asked in ([], ['--cost', 'F=3'], ['--views']):
        code, out, _ = call(capsys, *beam, *asked)
        record = json.loads(out)
        assert code == 0 and record['solved']
        turns.append(sum(token.startswith('F') for token in record['solution'].split()))
        assert record['views'] == (asked == ['--views'])
    assert turns[1] < turns[0]


def test_evaluate_averages_over_the_views(capsys, tmp_path):
    few = ['evaluate', '--puzzle', 'cube2', '--solver', 'greedy', '--depths', '3', '--count', '5']
    assert call(capsys, *few, '--views', '--output', tmp_path / 'rows.csv')[0] == 0
    rows = (tmp_path / 'rows.csv').read_text().splitlines()
    assert len(rows) == 6 and all('views' in row for row in rows[1:])


def test_evaluate_limits_nodes_only_where_they_are_counted(capsys):
    "By default a million for a solver with a network; `kociemba` counts none."
    few = ('evaluate', '--puzzle', 'cube3', '--depths', '3', '--count', '3', '--solver')
    for solver in ('kociemba', 'greedy'):
        code, out, err = call(capsys, *few, solver)
        assert code == 0 and len(out.splitlines()) == 2, err
    assert is_clear(call(capsys, *few, 'kociemba', '--max-nodes', '9'))


def test_evaluate_lets_beams_be_ended_exactly(capsys):
    few = ['evaluate', '--depths', '5', '--count', '2', '--solver', 'improve']
    code, out, err = call(capsys, *few, *words_of(['time_limit=1', 'size=tiny']))
    assert code == 0 and '1.000' in out.splitlines()[1], err


@pytest.mark.parametrize('kind, names, sample', [
    ('solver', solver_names(), 'width: integer >= 1, by default 16384\n'),
    ('trainer', ['davi'], 'network.blocks: integer >= 0 and <= 200, by default '),
])  # fmt: skip
def test_info_says_what_may_be_set(capsys, kind, names, sample):
    "Each option with its default and what it means."
    said = [call(capsys, 'info', f'--{kind}', name) for name in names]
    assert all(status == 0 for status, _, _ in said) and any(f'\n    {sample}' in out for _, out, _ in said)
    for name, (_, out, _) in zip(names, said):
        settings = get_solver(name).options if kind == 'solver' else get_method(name).config
        for option, field in settings.model_fields.items():
            assert option in out and (field.description or '') in out
            assert kind == 'trainer' or field.description


def test_info_and_help_list_what_has_registered_itself(capsys):
    status, out, err = call(capsys, 'info')
    assert status == 0
    assert all(name in out for name in [*puzzle_names(), *solver_names(), *method_names(), 'cube3-walks'])
    assert all(name in call(capsys, 'train', '--help')[1] for name in method_names())


def test_that_there_are_fewer_solutions_is_said(capsys):
    words = ['solve', '--puzzle', 'cube2', '--count', '3', '--time-limit', '60', 'R']
    status, out, err = call(capsys, *words)
    few = err.endswith((' solutions were found\n', 'only 1 solution was found\n'))
    assert (status, len(out.splitlines()) < 3) == (0, few)


def test_small_letters(capsys):
    (found,) = solutions('RUr', 1, notation='lowercase', time_limit=20)
    plain = call(capsys, 'solve', "RUR'")[1]
    assert call(capsys, 'solve', '--notation', 'lowercase', 'RUr')[1] == plain == f'{found}\n'
    assert call(capsys, 'solve', 'RUr')[1] == call(capsys, 'solve', 'R U Rw')[1] != plain


@pytest.mark.parametrize('puzzle, solver', [('cube2', 'alphazero'), ('cube2', 'bwas'), ('cube3', 'beam')])
def test_an_episode_as_text(capsys, puzzle, solver):
    "The name and the net of every state on the way, in their order, no line too long."
    cube, word = get_puzzle(puzzle), "R U F R'"
    status, out, err = call(capsys, 'solve', '--puzzle', puzzle, '--solver', solver, '--show', word)
    solution, *lines = out.removesuffix('\n').split('\n')
    assert (status, err) == (0, '') and max(map(len, lines)) <= 80
    moves, state = parse(cube, solution), cube.apply_word(cube.solved, parse(cube, word))
    nets = [ascii_net(cube, each).split('\n') for each in cube.states_along(state, moves)]
    rows, width = len(nets[0]) + 2, max(map(len, nets[0])) + 4
    for k, (name, net) in enumerate(zip(['start', *(cube.move_names[a] for a in moves)], nets)):
        row, column = divmod(k, 80 // width)
        shown = [line[width * column :][:width].rstrip() for line in lines[rows * row :][:rows]]
        assert shown == ['', name, *net]
    assert cube.is_solved(cube.apply_word(state, moves)[None])[0]


def test_an_episode_of_a_solved_cube(capsys):
    net = ascii_net(get_puzzle('cube3'), get_puzzle('cube3').solved)
    assert call(capsys, 'solve', '--state', SOLVED, '--show')[1].split() == ['start', *net.split()]


@pytest.mark.slow
def test_the_public_face_is_short_and_light():
    "It imports neither NumPy nor torch, `dir` lists what users need, and no module takes the place of a function."
    light = "sorted(dir(cube_nb)) == sorted([*cube_nb.__all__, '__version__']), {'torch', 'numpy'} & {*sys.modules}"
    assert python(f'import sys, cube_nb; print({light})') == 'True set()\n'
    for first in ('import cube_nb.solving', 'from cube_nb.solving import solve', 'from cube_nb import solve'):
        assert python(f"{first}; import cube_nb; print(cube_nb.solve('R U F'))") == "F' U' R'\n"


def test_playing_in_the_terminal(capsys, monkeypatch):
    said = []
    monkeypatch.setattr('cube_nb.cube.kernels.announce_compiling', lambda: said.append('announced'))
    monkeypatch.setattr('sys.stdin', io.StringIO('R U\nnonsense\nundo\nsolve\nquit\nR\n'))
    status, out, err = call(capsys, 'play', '--terminal', '--puzzle', 'pyraminx')
    assert (status, err, out.count('Solved.'), out.count("solution: R'")) == (0, '', 1, 1)
    assert 'token 1' in out and '\x1b' not in out and said == ['announced']
    assert is_clear(call(capsys, 'play', '--puzzle', 'cube2-htm'))


@pytest.mark.parametrize('is_terminal', [True, False])
def test_better_words_are_said_as_they_are_found(capsys, monkeypatch, is_terminal):
    "On standard error, if that is a terminal. What a program reads is the word alone."
    monkeypatch.setattr('sys.stderr.isatty', lambda: is_terminal)
    far = ['solve', FAR, '--time-limit', '2']
    status, out, err = call(capsys, *far)
    assert status == 0 and len(out.splitlines()) == 1 and ('so far: ' in err) == is_terminal
    assert 'so far' not in call(capsys, *far, '--count', '2')[2], 'words of other views are none of this cube'
