"What somebody meets who has just installed the library: kernels to be compiled, and packages that are not there."

import json
import os
import subprocess
import sys

import pytest

SCRAMBLE = "R U F' L2 D B' R' U2 F L D' B2 U R2 F' L' D2 B U' R F2 L"
PREPARING = 'preparing kernels, once: about 10 s'
NOT_NEEDED = (
    'scipy', 'pandas', 'matplotlib', 'seaborn', 'tensorboard', 'gymnasium', 'anywidget', 'IPython',
    'kociemba',
)  # fmt: skip
CODE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {missing}:
            raise ModuleNotFoundError(f'No module named {{name!r}}', name=name)
sys.meta_path.insert(0, Missing())
from cube_nb.cli import run_command
results = []
for words in json.load(sys.stdin):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        results.append([run_command(words), out, err])
print(json.dumps([[status, out.getvalue(), err.getvalue()] for status, out, err in results]))
"""
pytestmark = pytest.mark.slow


def cube_nb(*commands, missing=NOT_NEEDED, **environment):
    "(status, standard output, standard error) of each command, run one after another in a process without some packages."
    given = dict(input=json.dumps(commands), env=os.environ | environment)
    code = CODE.format(missing=missing)
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, **given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_first_start_says_that_kernels_are_compiled_and_the_second_does_not(tmp_path):
    folders = dict(NUMBA_CACHE_DIR=str(tmp_path / 'kernels'), CUBE_NB_CACHE=str(tmp_path / 'tables'))
    for told in (f'{PREPARING}\n', ''):
        ((status, out, err),) = cube_nb(['solve', '--time-limit', '2', SCRAMBLE], **folders)
        assert status == 0 and len(out.split()) > 15
        assert err.startswith(told) and (PREPARING in err) == bool(told) and 'are needed' in err
    kernels = sorted(file.name.split('-')[0] for file in tmp_path.rglob('*.nbc'))
    assert len(kernels) == len(set(kernels)) <= 9  # each compiled once; a tenth takes half a second more


SOLVING = [
    'solve --puzzle cube2 --solver mcts --depth 9', 'solve --puzzle cube2 --solver alphazero --depth 5',
    'solve --puzzle skewb --depth 4 --show', 'solve --count 2 --time-limit 2 --depth 8 --json',
    'scramble --puzzle cube2-htm', 'info',
]  # fmt: skip


def test_solving_needs_no_extra():
    for status, out, err in cube_nb(*map(str.split, SOLVING)):
        assert status == 0 and out and 'not installed' not in err


EXTRAS = {
    'evaluate --depths 2 --count 2': 'learn', 'train walks': 'learn', 'solve R --strip strip.svg': 'plots',
    'solve --solver kociemba --depth 20': 'classical',
}  # fmt: skip


def test_what_is_missing_is_named_with_its_extra():
    for extra, (status, _, err) in zip(EXTRAS.values(), cube_nb(*map(str.split, EXTRAS))):
        assert status in (1, 2) and f"pip install 'cube_nb[{extra}]'" in err.splitlines()[-1]
        assert 'Traceback' not in err


def test_a_name_of_the_package_says_it_too():
    code = CODE.format(missing=NOT_NEEDED).split('from cube_nb')[0] + 'import cube_nb; cube_nb.train'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert "pandas is not installed: pip install 'cube_nb[learn]'" in done.stderr
