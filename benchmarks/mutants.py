"""Plant small bugs in the library, one at a time, and see whether its chapters and tests notice.

    python benchmarks/mutants.py [--count 150] [--seed N] [--workers 2]

cosmic-ray (benchmarks/mutants.toml) makes the changes, in modules of copies of what is committed, and counts. What a tester
of mutants cannot do is here: the change is carried into the notebook, so that the chapter runs with it; then the chapter is
run, then the tests of its room; and a function is drawn before one of its changes, so that long ones do not get them all.
Killed by Ctrl-C or worse, the same command with the same seed goes on. What survives is printed, to be killed by a test or
named as equivalent.
"""

import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from kept_rows import new_parser

ROOT = Path(__file__).parents[1]
TOOL = ROOT / 'runs' / 'cosmic-ray'  # an environment of its own
CONFIG, SESSION = 'benchmarks/mutants.toml', 'session.sqlite'
GUARDS = {  # room -> what guards it besides the folder of tests that has its name
    'nets': ['ground/test_kept.py', 'learn', 'test_contracts.py', 'workshop/test_trained.py'],
    'depth': ['search/test_windows.py'],
    'search': ['exact', 'ground/test_clock.py', 'test_contracts.py'],
    'exact': ['search', 'test_contracts.py'],
    'learn': ['ground/test_kept.py', 'test_contracts.py'],
    'measure': ['workshop/test_compare.py', 'ground/test_kept.py', 'doors/test_cli.py'],
    'workshop': [],
    'cube': ['test_contracts.py'],
}
LONGEST = 400  # seconds of a chapter: none needs a tenth of it, so one that hangs is noticed long before the tests are over
# another change of the same function comes after all functions had their turn
SAMPLE = """
DELETE FROM work_items WHERE job_id IN (SELECT job_id FROM work_results) OR job_id NOT IN (
  SELECT job_id FROM (SELECT job_id, row_number() OVER (PARTITION BY module_path, definition_name ORDER BY job_id) AS turn
    FROM mutation_specs WHERE definition_name IS NOT NULL AND job_id NOT IN (SELECT job_id FROM work_results))
  ORDER BY turn, job_id LIMIT ?)
"""


def tool(name, *arguments, cwd):
    "Run a command of cosmic-ray in a copy."
    subprocess.run([TOOL / 'bin' / name, *arguments], cwd=cwd, check=True)


def shuffled(session, seed):
    "Give the changes of a session names that are drawn at random, by a seed."
    rng = random.Random(seed)
    order = 'module_path, operator_name, occurrence, operator_args'
    for (name,) in session.execute(f'SELECT job_id FROM mutation_specs ORDER BY {order}').fetchall():
        new = f'{rng.getrandbits(128):032x}'
        for table in ('mutation_specs', 'work_items', 'work_results'):
            session.execute(f'UPDATE {table} SET job_id = ? WHERE job_id = ?', (new, name))


def prepare(copy, count, seed):
    "A checkout of what is committed here, with a session of so many changes in it."
    if (copy / SESSION).exists():
        return
    subprocess.run(['git', 'clone', '-q', ROOT, copy], check=True)
    tool('cosmic-ray', 'init', CONFIG, 'new.sqlite', cwd=copy)
    tool('cr-filter-operators', 'new.sqlite', CONFIG, cwd=copy)
    tool('cosmic-ray', 'baseline', CONFIG, cwd=copy)  # the command for tests runs at all
    with sqlite3.connect(copy / 'new.sqlite') as session:
        shuffled(session, seed)
        session.execute(SAMPLE, (count,))
        session.execute('DELETE FROM mutation_specs WHERE job_id NOT IN (SELECT job_id FROM work_items)')
        session.execute('DELETE FROM work_results')
    (copy / 'new.sqlite').rename(copy / SESSION)


def fails(command, environment, timeout=None):
    "Whether a command ends with an error, or not in time."
    try:
        return subprocess.run(command, env=environment, timeout=timeout).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def test():
    "Called in a copy with one changed module: fails where its chapter or a test does. What fails otherwise survives."
    diff = ['git', 'diff', '--name-only', '--', 'cube_nb']
    module = Path(subprocess.run(diff, check=True, capture_output=True, text=True).stdout.split()[0])
    notebook = (module.parent / re.search(r'File to edit: (\S+)\.$', module.read_text(), re.M)[1]).resolve()
    room = module.parts[1]
    names = ['test_noticed.py', 'test_golden.py', room, *GUARDS[room]]  # the first notice most, and soon
    chapter = ['nbdev_test', '--path', str(notebook), '--n_workers', '0', '--do_print']
    tests = ['python', '-m', 'pytest', '-qx', '-p', 'no:cacheprovider', *(f'tests/{name}' for name in names)]
    environment = dict(os.environ, PYTHONPATH='.', OMP_WAIT_POLICY='PASSIVE', TQDM_DISABLE='1')
    environment |= dict(OMP_NUM_THREADS='1', NUMBA_NUM_THREADS='1')
    with tempfile.TemporaryDirectory() as cache:
        if 'njit' in module.read_text():  # a kernel is not compiled again when one that it calls changes
            environment['NUMBA_CACHE_DIR'] = cache
        subprocess.run(['nbdev_update', '--fname', str(module)], env=environment, check=True)
        if not subprocess.run([*diff[:-1], 'nbs'], check=True, capture_output=True).stdout:
            raise RuntimeError('the change did not come into the notebook')
        noticed = fails(chapter, environment, LONGEST) or fails(tests, environment)
    subprocess.run(['git', 'checkout', '-q', 'nbs'], check=True)
    return noticed


def main():
    "Try changes, and print what survives."
    parser = new_parser(__doc__)
    parser.add_argument('--count', type=int, default=150)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1000))
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--test', action='store_true', help='what cosmic-ray calls in a copy')
    options = parser.parse_args()
    if options.test:
        try:
            return test()
        except Exception as error:
            print('NOT TRIED:', error)
            return 0
    if not TOOL.exists():
        subprocess.run([sys.executable, '-m', 'venv', TOOL], check=True)
        subprocess.run([TOOL / 'bin' / 'pip', 'install', '-q', 'cosmic-ray==8.7.0'], check=True)
    print(f'seed {options.seed}', flush=True)
    copies = [ROOT / 'runs' / f'mutants-{options.seed}-{worker}' for worker in range(options.workers)]
    for worker, copy in enumerate(copies):
        prepare(copy, options.count // options.workers, options.seed + worker)
    command = [TOOL / 'bin' / 'cosmic-ray', 'exec', CONFIG, SESSION]
    for run in [subprocess.Popen(command, cwd=copy) for copy in copies]:
        run.wait()
    for copy in copies:
        tool('cr-report', '--surviving-only', '--show-diff', SESSION, cwd=copy)


if __name__ == '__main__':
    sys.exit(main())
