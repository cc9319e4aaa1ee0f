"Threads, forks, places that cannot be written: the library where most of the machine belongs to others."

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import cube_nb
from cube_nb.threads import parts_of

PACKAGE = Path(cube_nb.__file__).parent


def run(code, folder=None, **environment):
    "A process of Python that runs some code, two threads wide; (status, output, errors)."
    more = dict(NUMBA_NUM_THREADS='2', OMP_NUM_THREADS='2') | environment
    kept = {name: value for name, value in (os.environ | more).items() if value is not None}
    done = subprocess.run(
        [sys.executable, '-c', code], env=kept, cwd=folder, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


FORK = """
import multiprocessing as mp
import cube_nb
from cube_nb import solve

words = ['R U', 'F2 L', "B' D R"]
if __name__ == '__main__':
    before = [str(solve(word, 'cube2', solver='beam', width=5000)) for word in words]
    from cube_nb.cube.puzzle import get_puzzle
    assert get_puzzle('cube2').scramble(20_000, 20).states.any()  # shared out to threads
    def again(word):
        assert get_puzzle('cube2').scramble(20_000, 20).states.any()
        return str(solve(word, 'cube2', solver='beam', width=5000))
    with mp.get_context('fork').Pool(2) as pool:
        print(pool.map(again, words) == before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, 'fork'), reason='there is no fork')
def test_a_pool_of_forked_processes_solves_as_its_parent_did():
    assert run(FORK) == (0, 'True\n', '')


THREADS = """
from threading import Thread
from cube_nb.cube.puzzle import get_puzzle
puzzle = get_puzzle('cube3')
expected = puzzle.scramble(20_000, 20).states.sum()
sums = []
def work():
    for _ in range(20):
        sums.append(puzzle.scramble(20_000, 20).states.sum())
threads = [Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(sums), set(sums) == {expected})
"""


@pytest.mark.slow
@pytest.mark.parametrize('layer', [None, 'workqueue'])
def test_kernels_are_called_by_many_threads_at_once(layer):
    "With `workqueue`, as where there is no OpenMP, Numba ends the process of two threads in its own loops."
    assert run(THREADS, NUMBA_THREADING_LAYER=layer) == (0, '80 True\n', '')


@pytest.mark.parametrize('first, stop, count', [(0, 10, 3), (5, 5, 2), (7, 9, 2), (0, 1000, 7)])
def test_rows_are_shared_out_without_a_gap(first, stop, count):
    parts = parts_of(first, stop, count)
    assert [row for part in parts for row in range(*part)] == list(range(first, stop))


IDLE = """
import torch
import cube_nb
from cube_nb.threads import make_idle_teams, sleep_while_waiting
torch.set_num_threads(2)
cube_nb.solve('R U', 'cube2', solver='beam', width=10)
print(make_idle_teams() > 0)
"""


@pytest.mark.skipif(sys.platform != 'linux', reason='a rule of the library of GNU')
@pytest.mark.slow
def test_where_torch_came_first_a_search_makes_its_threads_sleep():
    processors = len(os.sched_getaffinity(0))
    assert run(IDLE, OMP_WAIT_POLICY=None)[1] == f'{processors >= 2}\n'
    assert run(IDLE, OMP_WAIT_POLICY='PASSIVE')[1] == 'False\n'


@pytest.fixture
def read_only(tmp_path):
    "A copy of the package whose compiled code cannot be kept beside it, and no home: files stand in the way."
    copytree(PACKAGE, tmp_path / 'cube_nb', ignore=ignore_patterns('__pycache__', 'shipped'))
    for room in (tmp_path / 'cube_nb').rglob('*.py'):
        room.parent.joinpath('__pycache__').touch()
    (tmp_path / 'home').touch()
    return tmp_path


PLACES = """
import warnings
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter('always')
    from cube_nb.cube.puzzle import get_puzzle
    get_puzzle('cube2').scramble(10, 5)
    import numba
print([str(each.message) for each in found if 'CUBE_NB_CACHE' in str(each.message)] != [], numba.config.CACHE_DIR)
"""


@pytest.mark.slow
@pytest.mark.parametrize('named', [None, 'named'])
def test_compiled_code_is_temporary_where_nothing_can_be_written_and_no_cache_is_named(named, read_only):
    places = dict(HOME=str(read_only / 'home'), PYTHONPATH=str(read_only), PYTHONDONTWRITEBYTECODE='1')
    places |= dict(XDG_CACHE_HOME=None, NUMBA_CACHE_DIR=None, CUBE_NB_CACHE=named and str(read_only / named))
    status, out, err = run(PLACES, read_only, **places)
    assert (status, err) == (0, '')
    warned, folder = out.split()
    assert warned == str(not named) and Path(folder).name == 'compiled'
    if named:
        assert Path(folder).parent == read_only / named and list(Path(folder).rglob('*.nbi'))
    else:
        assert not Path(folder).exists(), 'it is tidied up'
