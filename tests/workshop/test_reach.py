"Comments make nothing out of date, a changed constant exactly what reaches it; what runs is in the reach."

import ast
import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from planted import DISGUISES

from cube_nb.workshop.profiles import code_cells
from cube_nb.workshop.reach import PLUMBING, differences, digest, make_library, plain
from cube_nb.workshop.reach import reach, read_source, syntax_tree, written

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / 'cube_nb').rglob('*.py'))
EXPERIMENTS = sorted((ROOT / 'nbs/experiments').glob('*.ipynb'))

# ---- meaning, of pieces of code with a bar between them ----
SAME = [
    'x = 1 | x = (1)  # one | x: int = 1 | x = 1\npass\n"text"\n... | %time\nx = 1\n!ls',
    "x = \"ab\" | x = u'a' 'b'",
    'def f(a, b=2): return a | def f(a: int, b: "B" = 2) -> "C":\n    "Doc."\n    return a',
    'def f():\n    x = 1 | def f():\n    y: int\n    x: float = 1',
    'class C:\n    def f(self): return 1 | class C:\n    "Doc."\n    def f(self) -> int: return 1',
    'async def f(*a, b, **c): pass | async def f(*a: int, b: int, **c: int) -> None: ...',
    'if a:\n    f() | if a:\n    %time\n    f()',
]
ALL_DIFFERENT = [
    'x = 1 | x = 2 | x = 1.0 | x = True | x = "1" | x = b"1" | x = None | x = "None" | x = [a, b]',
    'x = a + b | x = b + a | x = a - b | x = f"{a}" | x = f"{a!r}" | x = {**a, b: c} | x = {b: c, **a}',
    'def f(a, *, b=1, c): pass | def f(a, *, b, c=1): pass | def f(a=1): return a | def f(a=2): return a',
    'def f(): return | def f(): return "text" | def f(): return 1 | async def f(): return 1',
    '@a\ndef f(): return 1 | @b\ndef f(): return 1 | class C(A): pass | class C(B): pass',
    'class C:\n    x: int = 1 | class C:\n    x: float = 1 | class C:\n    x: int | class C:\n    y: int',
    'class C:\n    if a:\n        x: int | class C:\n    if a:\n        x: float',
    'f(a, b=c) | f(a, c=b) | import a | import b | x = [a, b] | x = [[a], b]',
]


def meaning(code):
    "12 hexadecimal digits of what some code does."
    return digest(plain(syntax_tree(code).body))


@pytest.mark.parametrize('texts', SAME + ALL_DIFFERENT)
def test_meaning(texts):
    meanings = [meaning(code) for code in texts.split(' | ')]
    assert len(set(meanings)) == (1 if texts in SAME else len(meanings))


def test_meanings_are_the_same_in_every_version_of_python():
    "A field that a newer Python adds and leaves empty changes nothing; the digests here were made with 3.11."
    code = 'class C(B):\n    x: int = f"{a!r:>{w}}"\n    '
    code += 'def f(self, *, a=-1.5): return lambda: {**a, "é": 1j}'
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            node._fields = (*node._fields, 'new_in_some_version')
            node.new_in_some_version = []
        if isinstance(node, ast.JoinedStr):
            node.values.append(ast.Constant(''))  # as 3.12 does
    assert written(plain(tree.body)) == written(plain(ast.parse(code).body))
    assert meaning(code) == '692784e6f7f2'


@pytest.mark.parametrize('path', MODULES, ids=lambda path: path.stem)
def test_comments_docstrings_annotations_and_layout_do_not_count(path):
    text = path.read_text(encoding='utf-8')
    digests = {name: unit.digest for name, unit in read_source('m', 'p', text).units.items()}
    for disguise in DISGUISES:
        with suppress(IndexError, ValueError):  # nothing of the kind is there
            units = read_source('m', 'p', disguise(text, random.Random(0))).units
            assert digests.items() <= {name: unit.digest for name, unit in units.items()}.items()


# ---- reach, on a small library ----
def house(tmp_path, **modules):
    "A library `cube_nb` of these modules; `a__b` is the module `a.b`."
    for name, text in {'__init__': '', **modules}.items():
        path = tmp_path.joinpath('cube_nb', *(['__init__'] if name == '__init__' else name.split('__')))
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / '__init__.py').touch()
        path.with_suffix('.py').write_text(text)
    return tmp_path


def reached(root, code, looked_up=()):
    units = reach(code, looked_up, root)
    return {name.removeprefix('cube_nb.') for name in units if not name.startswith('notebook.')}


WAYS = [
    'from cube_nb.a.b import f\nf() | from cube_nb.a.b import f as g\ng() | from cube_nb.a.b import *\nf()',
    'import cube_nb.a.b\ncube_nb.a.b.f() | import cube_nb.a.b as m\nm.f() | from cube_nb.a import b\nb.f()',
    'import cube_nb.a as m\nm.b.f() | def g():\n    from cube_nb.a.b import f\n    f()\ng()',
    'from cube_nb import f\nf() | from cube_nb.a import b\nuse(b)',
    'from cube_nb.a.c import f\nf() | from cube_nb.a.c import late\nlate()',
    'from cube_nb.a.c import through\nthrough() | import cube_nb\ncube_nb.f()',
]
ROOMS = {
    '__init__': "_MODULES = {'f': 'a.b'}\ndef __getattr__(name): return import_module(_MODULES[name])",
    'a__b': 'K = 1\nK += 1\ndef f(x=K): return x\ndef g(): return 3',
    'a__c': 'from .b import f\ndef late():\n    from ..a import b as d\n    return d.f()\n'
    'from . import b as e\ndef through(): return [e.f() for _ in range(3)]',
}


@pytest.mark.parametrize('code', ' | '.join(WAYS).split(' | '))
def test_ways_to_a_function(tmp_path, code):
    names = reached(house(tmp_path, **ROOMS), code)
    assert {'a.b.f', 'a.b.K'} <= names
    assert ('a.b.g' in names) == ('use(b)' in code)  # a module that is handed on: all of it
    assert ('__getattr__' in names) == ('cube_nb.f' in code or 'cube_nb import f' in code)


METHODS = """
class Base: pass
class Heir(Base): pass
class Other: pass
class Net(nn.Module): pass
class Deep(Net): pass
@patch
def run(self: Base): return steps
@patch(as_prop=True)
def size(self: Base): return 1
@patch
def __len__(self: Base): return 2
@patch
def step(self: Heir): return 3
@basics.patch
def shown(self: 'Other'): return 4
@patch
def forward(self: Deep): return 5
@patch(cls_method=True)
def make(cls: Heir): return 6
@patch
def _repr_svg_(self: Other): return 7
steps = 3
"""
REGISTERED = """
def register_game(name, build): ...
def chess(): return BOARD
BOARD = 8
register_game('chess', chess)
register_game('go', lambda: 19)
@register_player('fast', depth=DEPTH)
def fast(): return 1
DEPTH = 2
"""
NUMPY = 'import numpy as np\nnp.{}\n{}def limit(): ...\ndef f(): ...'
REST = NUMPY.format('seterr(all="raise")', 'if True:\n    A = limit()\n')
FIELDS = 'class A:\n    b: "B"\n    c: list["C"]\nclass B: ...\nclass C: ...\nclass D: ...'
LOCAL = 'def beam(): ...\ndef f(beam): return beam\ndef g():\n    global beam\n    beam = 1'
PLUMBED = {
    '__init__': 'def __getattr__(name): ...', 'files': 'def write(): ...',
    'workshop__results': 'class Run: ...',
    'm': 'from .files import write\nfrom .workshop.results import Run\ndef f(): write(Run)',
}  # fmt: skip
CIRCLE = {'m': 'from .b import x', 'b': 'from .m import x'}
REACHED = [  # a module, or some; what a notebook imports and does; what it reaches of `m`
    (METHODS, 'Base', 'Base', 'Base Base.__len__'),
    (METHODS, 'Base', 'x.run()', ''),
    (METHODS, 'Base', 'Base().run()', 'Base Base.__len__ Base.run steps'),
    (METHODS, 'Base', 'getattr(Base(), "run")()', 'Base Base.__len__ Base.run steps'),
    (METHODS, 'Heir', 'Heir.make().step().size', 'Heir Base Base.__len__ Heir.step Heir.make Base.size'),
    (METHODS, 'Other', 'Other().shown()', 'Other Other.shown Other._repr_svg_'),
    (METHODS, 'Other', 'Other().hidden()', 'Other Other._repr_svg_'),
    (METHODS, 'Deep', 'Deep()(1)', 'Deep Net Deep.forward'),
    (REGISTERED, '', '', ''),
    (REGISTERED, '', ['game:chess'], 'game:chess register_game chess BOARD'),
    (REGISTERED, '', ['player:fast', 'player:unknown'], 'fast DEPTH'),
    (REGISTERED, '', None, 'game:chess register_game chess BOARD game:go fast DEPTH'),
    (REGISTERED, 'fast', 'fast()', 'fast DEPTH'),
    (REST, 'f', 'f', 'f <module> limit'),  # the rest of a module comes with any piece
    (REST, 'A', 'A', '<module> limit'),
    (NUMPY.format('config["x"] = limit()', ''), 'f', 'f', 'f <module> limit'),  # done to an import
    (FIELDS, 'A', 'A', 'A B C'),  # named in a text
    # plumbing leads nowhere, not even to what the package does for a name it has not
    (PLUMBED, 'f', 'f()', 'f'),
    (LOCAL, 'f', 'f', 'f'),  # a local name is no reference
    (LOCAL, 'g', 'g', 'g beam'),
    (CIRCLE, 'x', 'x', ''),
]


@pytest.mark.parametrize('modules, name, does, expected', REACHED)
def test_what_is_reached(tmp_path, modules, name, does, expected):
    root = house(tmp_path, **(modules if isinstance(modules, dict) else {'m': modules}))
    code, looked_up = (f'from cube_nb.m import {name}\n{does}', ()) if name else ('', does)
    assert reached(root, code, looked_up) == {f'm.{each}' for each in expected.split()}


def test_methods_are_added_by_patch_alone():
    "Other ways are not seen."
    for path in MODULES:
        assert 'patch_to' not in path.read_text(encoding='utf-8'), path


def test_an_import_from_outside_counts_where_it_is_used(tmp_path):
    code = 'from cube_nb.m import f\nf()'
    text = 'from math import {} as whole\ndef f(): return whole(2)\ndef g(): ...'
    one, other = (reach(code, (), house(tmp_path / x, m=text.format(x))) for x in ('floor', 'ceil'))
    assert differences(one, other) == ['cube_nb.m.f changed']


def test_functions_of_a_notebook_are_pieces_of_their_own(tmp_path):
    root = house(tmp_path, m='def f(): ...\ndef g(): ...')
    code = 'from cube_nb.m import f, g\ndef one(): return f()\ndef two(): return g()\nx = one()'
    units = reach(code, (), root)
    assert set(units) == {'notebook.<module>', 'notebook.one', 'cube_nb.m.f'}
    assert units == reach(code.replace('return g()', 'return g() + 1'), (), root)
    assert differences(units, reach(code.replace('f()', 'f() + 1'), (), root)) == ['notebook.one changed']


def test_what_is_no_python_is_one_clear_error(tmp_path):
    with pytest.raises(ValueError, match='^cube_nb.m is not Python: invalid syntax, line 1$'):
        reach('', (), house(tmp_path, m='x = '))


# ---- reach of the experiments ----
@pytest.mark.slow
def test_planted_changes_make_the_right_results_stale():
    "A share of the changes; all of them: python benchmarks/planted.py."
    command = [sys.executable, str(ROOT / 'benchmarks/planted.py'), '--share', '0.06', '--seed', '1']
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {'PYTHONPATH': str(ROOT)})
    assert done.returncode == 0 and done.stdout.count(': 0 wrong answers') == 2, done.stdout + done.stderr


def test_all_experiments_are_read_quickly():
    make_library.cache_clear()
    read_source.cache_clear()
    start = process_time()
    for path in EXPERIMENTS:
        assert reach('\n'.join(code for _, code in code_cells(path)), None, ROOT)
    assert process_time() - start < 6  # about three seconds on an idle machine


# ---- what really runs ----
START = """
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.measure.evaluate import Scrambles, evaluate, evaluate_depths, summarise, test_states
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
puzzle = get_puzzle('cube2')
states = puzzle.scramble(2, 4, seed=1).states
evaluator = network_evaluator(load_network('cube2-davi'), 'cpu')
"""
TRAIN = """
from cube_nb.learn.loop import describe, get_method, train
method = get_method('{}')
settings = method.small_config('cube2').model_dump() | {{'iterations': 3, 'log_every': 1}} | {}
learner = method.learner(method.config(**settings))
log = train(learner, progress=False)
describe(learner, log)
"""
GAMES = dict(updates=2, checkpoint_every=2, episodes=4, batch_size=8, simulations={1: 3}, yardstick=3)
SEARCH = START + 'summarise(evaluate(puzzle, states, evaluator, {}))'
RUNS = {
    'bwas': SEARCH.format("'bwas', max_nodes=5000"),
    'bwas by default': SEARCH.format('max_nodes=5000'),
    'beam': SEARCH.format("'beam', width=8, radius=2"),
    'greedy': SEARCH.format("'greedy'"),
    'improve': SEARCH.format("'improve', time_limit=0.5"),
    **{name: TRAIN.format(name, {}) for name in ('walks', 'davi', 'adi', 'dqn')},
    'alphazero': TRAIN.format('alphazero', GAMES),
    'mcts': f"{START}evaluate_depths(puzzle, evaluator, Scrambles([1, 3], 2), solver='mcts', max_searches=50)",
    'games': START
    + "network = load_network('cube2-alphazero')\n"
    + "evaluate(puzzle, states, network_evaluator(network), 'alphazero', simulations=4, max_moves=6)",
    'a learner by its class': """
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import train
from cube_nb.nets.networks import NetworkConfig
network = NetworkConfig(puzzle='pyraminx', encoding='one_hot', hidden=(8,), blocks=0)
train(DaviLearner(DaviConfig(network=network, iterations=2, batch_size=8, precision='float32')), progress=False)
""",
    'figures': START
    + """
import pandas as pd
from cube_nb.cube.drawing import draw_3d, draw_net, draw_strip
from cube_nb.cube.notation import format_word, parse, simplify
from cube_nb.measure.figures import calibration, plot_calibration, plot_solve_rate, plot_training
word = parse(puzzle, "R U R'")
draw_strip(puzzle, puzzle.solved, word)
format_word(puzzle, simplify(puzzle, word))
plot_calibration(calibration([1, 2, 2], [1, 2, 3]))
plot_training(pd.DataFrame({'step': [1, 2], 'loss': [2.0, 1.0]}))
""",
    'depth': """
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import depth_after, neighbour_table, scramble_depths, shortest_solutions
from cube_nb.depth.markov import POPULATIONS, expected_depth, jump_probabilities, repair_populations
puzzle = get_puzzle('cube2-htm')
table = bfs(puzzle, 3)
table.frame()
neighbour_table(table)
scramble_depths(table, 4, 10)
counts = repair_populations(POPULATIONS['cube3'])
jump_probabilities(counts)
expected_depth(5, counts)
""",
    'one call': "import cube_nb\ncube_nb.solve('R U', 'cube2')\ncube_nb.scramble('skewb', 5)",
    'environment': """
from cube_nb.cube.env import CubeEnv, CubeVectorEnv
import numpy as np
env = CubeEnv(puzzle='cube2', scramble_depth=(1, 3))
env.reset(seed=0)
env.step(0)
many = CubeVectorEnv(2, puzzle='pyraminx')
many.reset(seed=0)
many.step(np.array([0, 1]))
""",
}


@pytest.fixture(scope='module')
def profiled():
    "What each of `RUNS` really called and looked up."
    environment = {**os.environ, 'PYTHONPATH': str(ROOT), 'MPLBACKEND': 'agg', 'TQDM_DISABLE': '1'}
    command = [sys.executable, str(ROOT / 'tests/profiled.py')]
    given = dict(input=json.dumps(RUNS), text=True, env=environment, cwd=ROOT)
    done = subprocess.run(command, capture_output=True, **given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize('name', RUNS)
def test_what_runs_is_reached(profiled, name):
    "Every function that was called, in any of the modules that compute, is in the reach of the code."
    run = profiled[name]
    units = reach(RUNS[name], run['looked_up'], ROOT)
    called = set(run['called']) | {call for call, statement in run['imported'] if statement in units}
    called = {call for call in called if not call.startswith(PLUMBING)}
    assert len(called) > 10 and not sorted(called - set(units))
    assert set(units) <= set(reach(RUNS[name], None, ROOT))
