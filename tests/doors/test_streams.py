"Streams that are closed, full or in ASCII, Ctrl-C, and Python without assertions."

import os
import subprocess
import sys
from time import monotonic

import numpy as np
import pytest

from cube_nb.cli import Task, best_so_far
from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.core import Solution

SOLVE = 'solve --puzzle cube2 --solver beam --set width=10'


def shell(line, **environment):
    "(status, output, errors) of a command line of cube_nb, as a shell runs it."
    command = f'exec "{sys.executable}" {line}'
    more = os.environ | environment
    done = subprocess.run(['sh', '-c', command], env=more, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize('pipe', ['2>&-', '>&-', '<&-', '<&- 2>&-', '>&- 2>&-', '2>/dev/full', '>/dev/full'])
def test_an_answer_goes_where_it_can(pipe):
    status, out, err = shell(f'-m cube_nb {SOLVE} "R U" {pipe}')
    assert status == (pipe == '>/dev/full') and 'Traceback' not in out + err
    place = {'>&-': err, '>&- 2>&-': None, '>/dev/full': None}.get(pipe, out)
    assert place is None or place.endswith("U' R'\n")
    assert status == 0 or 'No space left' in err


@pytest.mark.slow
def test_a_closed_input_is_one_line_of_error():
    status, out, err = shell(f'-m cube_nb {SOLVE.replace("solve", "solve --input -")} <&-')
    assert (status, out) == (2, '') and err.startswith('cube_nb: ') and err.count('\n') == 1


PLAIN = dict(LC_ALL='C', PYTHONCOERCECLOCALE='0', PYTHONUTF8='0')


# Two commands in one process: with another -O torch is compiled anew
TWICE = 'import sys; from cube_nb import cli; cli.open_streams(); '
TWICE += 'print([cli.run_command([*sys.argv[1:-2], word]) for word in sys.argv[-2:]])'


@pytest.mark.slow
@pytest.mark.parametrize('how, environment', [('-O', {}), ('-OO', {}), ('', PLAIN)])
def test_it_works_without_assertions_and_in_the_locale_c(how, environment):
    status, out, err = shell(f'{how} -c "{TWICE}" {SOLVE} "R U" "R é"', **environment)
    assert (status, out) == (0, "U' R'\n[0, 2]\n")
    assert 'token 2' in err and 'Traceback' not in err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == 'win32', reason='Ctrl-C is no signal there')
def test_ctrl_c_prints_the_best_so_far():
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored by what started the tests
from cube_nb import cli
before = cli.note_better
def interrupted(best, aloud, found):
    before(best, aloud, found)
    os.kill(os.getpid(), signal.SIGINT)
cli.note_better = interrupted
cli.main(['solve', "R U2 F' L D B2 U'", '--solver', 'improve', '--time-limit', '300'])
"""
    began = monotonic()
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=280)
    assert monotonic() - began < 280
    cube3 = get_puzzle('cube3')
    word = parse(cube3, "R U2 F' L D B2 U'") + parse(cube3, done.stdout.strip())
    assert cube3.is_solved(cube3.apply_word(cube3.solved, word)[None])[0]
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, 'cube_nb: interrupted')


@pytest.mark.slow
@pytest.mark.parametrize('module', ['typer', 'cube_nb.solving'])
@pytest.mark.skipif(sys.platform == 'win32', reason='Ctrl-C is no signal there')
def test_ctrl_c_while_modules_are_imported_is_one_line(module):
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Slow:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Slow())
sys.argv = ['cube_nb', 'scramble']
from cube_nb.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (130, '', 'cube_nb: interrupted\n')


def test_what_solves_another_view_is_not_the_best_so_far():
    cube2 = get_puzzle('cube2')
    state = cube2.apply_word(cube2.solved, parse(cube2, 'R U'))
    found = [Solution(cube2, True, tuple(parse(cube2, word))) for word in ("R'", "U' R'", "U2 U R'")]
    ((task, best),) = best_so_far(Task(state), found)
    assert str(best) == "U' R'" and np.array_equal(task.facelets, state)
    assert list(best_so_far(task, found[:1])) == []
