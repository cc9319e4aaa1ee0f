"The pipeline does what is out of date and nothing else, loses nothing when killed, and says clearly what went wrong."

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from filelock import FileLock
from papermill.exceptions import PapermillExecutionError
from reproductions import VICTIMS, kill
from hypothesis import given
from hypothesis import strategies as st

from cube_nb.files import checkout
from cube_nb.workshop import pipeline
from cube_nb.workshop.pipeline import make_plan, reproduce, stale, verify
from cube_nb.workshop.profiles import check_profile, experiments, lay_over, load_profile
from cube_nb.workshop.profiles import parameters_class, read_parameters, read_profile
from cube_nb.workshop.results import checksum, load_table, read_record

ROOT = Path(__file__).parents[2]
ONE = """
import pandas as pd, matplotlib.pyplot as plt
from cube_nb.workshop.results import Run, load_table
run = Run('one', globals())
run.table(pd.DataFrame(dict(x=range(size))), 'squares')
print(size, 'squares')
fig, ax = plt.subplots()
ax.plot(load_table(profile, 'squares').x ** 2)
run.figure(fig, 'squares')
run.artefact('weights.txt').write_text('7')
"""
THREE = """
import os
import pandas as pd
from cube_nb.workshop.results import Run
run = Run('three', globals())
def third(x):
    pass
    with open('runs/asked.txt', 'a') as file: file.write(f'{x} {os.getpid()}\\n')
    return pd.DataFrame({'third': [x / 3]})
run.table(run.gather('thirds', range(7), third), 'third')
"""
TWO = """
import pandas as pd
from cube_nb.workshop.results import Run, find_artefact, load_table
run = Run('two', globals())
(run.folder / 'checkpoint').touch()
1 / (0 if fail else 1)
run.table(pd.DataFrame(dict(rows=[len(load_table(profile, 'squares'))], weights=[find_artefact(profile, 'one', 'weights.txt').read_text()])), 'report')
"""
CELLS = {'one': 'size: int = 3', 'two': 'fail: bool = False'}  # what the parameters cells declare besides


def experiment(root, name, code, declared=None):
    "Write the notebook of an experiment."
    declared = CELLS.get(name, '') if declared is None else declared
    first = f"profile: str = 'scratch'\nseed: int = 0\n{declared}"
    parameters = nbformat.v4.new_code_cell(first, metadata={'tags': ['parameters']})
    kernel = {'name': 'python3', 'language': 'python', 'display_name': 'python3'}
    cells = dict(cells=[parameters, nbformat.v4.new_code_cell(code)], metadata={'kernelspec': kernel})
    nbformat.write(nbformat.v4.new_notebook(**cells), root / f'nbs/experiments/{name}.ipynb')


def profile(root, size=3, fail='false', name='smoke', costs='{}'):
    "Write a profile."
    values = f'seed: 5\nexperiments: {{one: {{size: {size}}}, two: {{fail: {fail}}}}}\ncosts: {costs}\n'
    (root / f'workflow/profiles/{name}.yaml').write_text(values)


def add_three(root, entry='{}', code=THREE):
    "A third experiment, which gathers rows."
    experiment(root, 'three', code)
    with open(root / 'workflow/experiments.yaml', 'a') as file:
        file.write(f'three: {entry}\n')


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with two experiments: `one` writes a table, a figure and weights, `two` reads them."
    for folder in ('workflow/profiles', 'nbs/experiments'):
        (tmp_path / folder).mkdir(parents=True)
    for name in ('workflow/Snakefile', 'settings.ini'):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / 'workflow/networks.yaml').write_text('{}')
    (tmp_path / 'cube_nb').symlink_to(ROOT / 'cube_nb')
    experiment(tmp_path, 'one', ONE)
    experiment(tmp_path, 'two', TWO)
    entries = 'one: {artefacts: [weights.txt]}\ntwo: {needs: [one]}\n'
    (tmp_path / 'workflow/experiments.yaml').write_text(entries)
    # a kernel started there finds the library where this test found it
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]))
    monkeypatch.chdir(tmp_path)
    profile(tmp_path)
    return tmp_path


def run_here(path, output, parameters, **rest):
    "Instead of papermill: the cells in this process."
    try:
        exec(nbformat.read(path, nbformat.NO_CONVERT).cells[1].source, dict(parameters))
    except Exception as error:
        raise PapermillExecutionError(0, 1, '', type(error).__name__, str(error), [repr(error)]) from None
    nbformat.write(nbformat.v4.new_notebook(), output)


def follow_here(plan, command, here):
    "Instead of Snakemake: the jobs of a plan one after the other; what needs a failed one is left out."
    flags = checkout() / 'runs/plan.json'
    flags.parent.mkdir(exist_ok=True)
    flags.write_text(json.dumps(plan._asdict()))
    os.environ[pipeline.PLAN] = str(flags)
    lost = set()
    for name, job in pipeline.jobs(plan.profile).items():
        shares = [f'{k}/{job.cost.parts}' for k in range(job.cost.parts)] if job.cost.parts > 1 else []
        if name not in plan.why or lost & set(job.experiment.needs):
            continue
        try:
            for part in (*shares, ''):
                pipeline.execute(name, part)
        except SystemExit:
            lost.add(name)
    return not lost


@pytest.fixture
def quick(monkeypatch):
    "The pipeline without its two programs, for tests of what is run and what is kept."
    for key in ('CUBE_NB_STAGE', 'CUBE_NB_PART', pipeline.PLAN):
        monkeypatch.setenv(key, os.environ.get(key, ''))
    monkeypatch.setattr(papermill, 'execute_notebook', run_here)
    monkeypatch.setattr(pipeline, 'run_snakemake', follow_here)


def results(root, name='smoke'):
    "What the tables and figures say."
    paths = [path for folder in ('data', 'figures') for path in (root / folder / name).rglob('*')]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths if path.suffix != '.json'}


def started(root, name='smoke'):
    "When each experiment ran last."
    return {path.stem: path.read_bytes() for path in (root / 'data' / name).glob('*.json')}


PUBLISHED = {'data/smoke/squares.csv', 'data/smoke/report.csv'}
PUBLISHED |= {'figures/smoke/squares.svg', 'figures/smoke/squares.png'}


@pytest.mark.slow
def test_one_way_through(small, capfd):
    profile(small, fail='true')
    with pytest.raises(RuntimeError, match='profile smoke is not complete.*: two'):
        reproduce('smoke')
    shown = capfd.readouterr().err
    assert 'ZeroDivisionError' in shown and 'see runs/smoke/two/notebook.ipynb' in shown
    assert (small / 'runs/smoke/two/notebook.ipynb').exists()
    assert (small / 'runs/smoke/two/work/checkpoint').exists()
    assert not (small / 'data/smoke/report.csv').exists()
    failed = started(small)
    profile(small)
    reproduce('smoke')  # goes on where it stopped
    done = started(small)
    assert set(done) == {'one', 'two'} and failed == {'one': done['one']}
    assert set(results(small)) == PUBLISHED and (small / 'runs/smoke/two.ipynb').exists()
    record = read_record('smoke', 'one')
    assert record['parameters'] == {'seed': 5, 'size': 3}
    assert (record['seed'], record['commit'], record['device']) == (5, None, 'cpu')
    assert set(record['results']) == PUBLISHED - {'data/smoke/report.csv'} | {'runs/smoke/one/weights.txt'}
    assert list(record['said'].values()) == [[{'text/plain': '3 squares\n'}]]
    assert set(read_record('smoke', 'two')['inputs']) == set(record['results'])
    for path in filter(Path.is_file, small.rglob('*')):
        os.utime(path)
    shutil.rmtree(small / '.snakemake', ignore_errors=True)
    assert not stale('smoke')  # neither time stamps nor Snakemake's memory count
    reproduce('smoke')
    assert started(small) == done
    profile(small, size=4)  # a parameter does: `one` has to run again, and then `two`
    assert stale('smoke') == {'one': ['parameter size: 3 -> 4']}
    capfd.readouterr()
    reproduce('smoke', dry_run=True)
    shown = capfd.readouterr()
    assert re.search(r'^one .* parameter size: 3 -> 4$', shown.out, re.MULTILINE)
    assert re.search('^two .* if what it needs comes out otherwise$', shown.out, re.MULTILINE)
    assert '2 experiments to run' in shown.err and started(small) == done


def test_a_comment_changes_nothing_and_code_does(small, quick):
    reproduce('smoke')
    experiment(small, 'one', '# squares\n' + ONE.replace('size)', 'size  )'), 'size: int = 3  # of it')
    assert not stale('smoke')
    experiment(small, 'one', ONE, 'size: int = 4')  # nor does a default that the profile sets
    assert not stale('smoke')
    experiment(small, 'one', ONE.replace('** 2', '** 3'))
    assert stale('smoke') == {'one': ['notebook.<module> changed']}


def test_an_edited_table_is_named_and_made_again(small, quick, capfd):
    reproduce('smoke')
    before, path = results(small), small / 'data/smoke/squares.csv'
    words = 'data/smoke/squares.csv was edited or is damaged'
    for damaged in (b'x\n0\n1\n3\n', path.read_bytes()[:3], b''):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f'{words}: make reproduce PROFILE=smoke ONLY=one'):
            load_table('smoke', 'squares')
        assert stale('smoke') == {'one': [words]}
        capfd.readouterr()
        reproduce('smoke')
        assert results(small) == before
        assert 'two: up to date' in capfd.readouterr().err  # it came out the same
    (small / 'data/smoke/one.json').write_text('{"results')  # a record cut short is no record
    with pytest.raises(ValueError, match='no record of what made it'):
        load_table('smoke', 'squares')
    reproduce('smoke')
    assert results(small) == before and not stale('smoke')


def test_what_is_edited_while_it_runs_makes_the_result_stale(small, quick):
    edit = "\nfrom pathlib import Path\nfile = Path('nbs/experiments/one.ipynb')\n"
    experiment(small, 'one', ONE + edit + "file.write_text(file.read_text().replace('** 2', '** 3'))")
    with pytest.raises(RuntimeError, match='not complete.*: one$'):
        reproduce('smoke')
    assert stale('smoke') == {'one': ['notebook.<module> changed']}


@pytest.mark.slow
def test_a_fork_runs_no_other_code_than_is_recorded(small, capfd):
    (small / 'cube_nb').unlink()
    shutil.copytree(ROOT / 'cube_nb', small / 'cube_nb')
    said = []
    with pipeline.forks(dict(os.environ)) as variables:
        for change in ('', '# a comment\n', 'MORE = 1\n'):
            with open(small / 'cube_nb/cube/keys.py', 'a') as module:
                module.write(change)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(variables[pipeline.FORKS])
                connection.sendall(b'one \n')
                assert not connection.recv(4)
            said.append(capfd.readouterr().err)
    assert ['no plan to follow' in each for each in said] == [True, True, False]
    assert 'the code was changed after this run began: start it again' in said[2]


def test_weights_that_git_does_not_keep_are_made_again_only_when_needed(small, quick):
    reproduce('smoke')
    shutil.rmtree(small / 'runs')
    assert not stale('smoke')
    experiment(small, 'two', TWO + '\nmore = 2')
    needed = 'runs/smoke/one/weights.txt is needed again'
    assert make_plan('smoke').why == {'one': [needed], 'two': ['notebook.<module> changed']}
    reproduce('smoke')
    assert not stale('smoke') and (small / 'runs/smoke/one/weights.txt').exists()
    records = [small / f'data/smoke/{name}.json' for name in ('one', 'two')]
    before = [path.stat().st_mtime_ns for path in records]
    reproduce('smoke', only='one')  # one experiment is made anew
    assert [path.stat().st_mtime_ns != time for path, time in zip(records, before)] == [True, False]


def test_what_fails_stops_only_what_needs_it(small, quick):
    add_three(small)
    experiment(small, 'one', 'no_such_name')
    with pytest.raises(RuntimeError, match='not complete.*: one, two$'):
        reproduce('smoke')
    assert set(started(small)) == {'three'}


GIT = ('git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--all', '--message', 'run')


def commit(root):
    "Commit everything but what git ignores."
    (root / '.gitignore').write_text('/runs\n/.snakemake\n')
    for command in (['git', 'init', '--quiet'], ['git', 'add', '.'], GIT):
        subprocess.run(command, cwd=root, check=True, capture_output=True)


def test_committed_results_are_made_again_elsewhere_and_compared(small, quick, capfd):
    add_three(small, code=THREE.replace("'third')", "'third', exact=['*'])"))
    reproduce('smoke')
    commit(small)
    before = results(small)
    found = verify('smoke', whole=True)
    assert len(found.numbers) == 7 and not found.missing and not found.numbers.moved.any()
    assert 'to be made again: one, two, three' in capfd.readouterr().err
    assert results(small) == before and checkout() == small.resolve()
    (small / 'data/smoke/third.csv').write_text('third\n' + '0.5\n' * 7)
    record = json.loads((small / 'data/smoke/three.json').read_text())
    record['results'] = {'data/smoke/third.csv': checksum(small / 'data/smoke/third.csv')}
    (small / 'data/smoke/three.json').write_text(json.dumps(record))
    experiment(small, 'one', ONE.replace('** 2', '** 3'))  # stale, and `two` reads its weights
    commit(small)
    assert verify('smoke', seed=1).numbers.moved.sum() == 7
    shown = capfd.readouterr().err
    assert '2 of 3 results cannot be checked: they do not follow from the code' in shown
    assert 'to be made again: three' in shown
    experiment(small, 'three', THREE + 'more = 3')
    commit(small)
    with pytest.raises(RuntimeError, match='3 of 3 results cannot be checked'):
        verify('smoke')


def test_a_committed_result_that_cannot_be_made_again_is_no_equal_one(small, quick, monkeypatch):
    add_three(small)
    experiment(small, 'three', THREE + "import os\nassert 'BROKEN' not in os.environ")
    reproduce('smoke')
    commit(small)
    monkeypatch.setenv('BROKEN', '1')
    with pytest.raises(RuntimeError, match='smoke is not complete'):
        verify('smoke', whole=True)
    with pytest.raises(RuntimeError, match='smoke is not complete'):
        reproduce('smoke', only='three')


def test_items_are_shared_out_and_gathered_once(small, quick):
    add_three(small)
    profile(small, costs='{three: {parts: 3}}')
    reproduce('smoke', only='three')
    assert list(load_table('smoke', 'third').third) == [0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2]
    asked = (small / 'runs/asked.txt').read_text().split()[::2]
    assert sorted(asked) == list('0123456')  # each item by one process


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing(small):
    "One kill in this short form; KILLS=10 in the environment for more. `make faults` does it to real experiments."
    seed = random.SystemRandom().randrange(1000)
    rng, count = random.Random(seed), int(os.environ.get('KILLS', 1))
    print(f'seed {seed}, {count} kills')
    add_three(small, '{needs: [one]}', THREE.replace('pass', 'import time; time.sleep(0.2)'))
    profile(small, costs='{three: {parts: 2}}')
    reproduce('smoke')
    whole = results(small)
    asked = (small / 'runs/asked.txt').read_text().split()
    assert sorted(asked[::2]) == list('0123456') and len(set(asked[1::2])) == 2  # once each, by two processes
    command = [sys.executable, '-c', 'from cube_nb.workshop.pipeline import reproduce; reproduce("smoke")']
    for number in range(count):
        for folder in ('data/smoke', 'figures/smoke', 'runs'):
            shutil.rmtree(small / folder)
        victim = rng.choice(VICTIMS)
        kill(command, rng.uniform(1, 12), victim)
        done = subprocess.run(command, cwd=small, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert results(small) == whole and not stale('smoke'), (seed, number, victim)


def test_a_slip_in_a_profile_is_one_clear_error(small):
    slips = {'seed: 1.5': r'seed: expected a whole number \(got 1.5\)'}
    slips['costs: {one: {threads: 0}}'] = r'costs.one.threads: expected at least 1 \(got 0\)'
    for text, words in slips.items():
        (small / 'workflow/profiles/smoke.yaml').write_text(text)
        with pytest.raises(ValueError, match=f'smoke.yaml: {words}$'):
            load_profile('smoke')


def test_an_experiment_without_its_notebook_is_one_clear_error(small):
    (small / 'nbs/experiments/one.ipynb').unlink()
    with pytest.raises(ValueError, match='one: there is no notebook nbs/experiments/one.ipynb'):
        load_profile('smoke')


def test_our_profiles_list_only_what_differs(monkeypatch):
    monkeypatch.chdir(ROOT)
    declared = {e.name: read_parameters(ROOT / e.notebook) for e in experiments().values()}
    assert read_profile('smoke', declared)['experiments'] == {}
    for name in ('cpu', 'a100'):
        for experiment, values in read_profile(name, declared)['experiments'].items():
            defaults = declared[experiment]().model_dump()
            repeated = [key for key, value in values.items() if value == defaults[key]]
            assert not repeated, (name, experiment, repeated)


@pytest.mark.slow
@pytest.mark.parametrize('name', ["it's", '2024', 'a $(touch x) b'])
def test_a_profile_may_have_any_name(small, request, name):
    if 'touch' not in name:
        request.getfixturevalue('quick')
    profile(small, name=name)
    reproduce(name, only='one')
    assert (small / 'data' / name / 'squares.csv').exists() and not list(small.rglob('x'))  # no part is run


def test_where_it_cannot_run(small, monkeypatch):
    "While another one runs, without the development environment, and outside of a checkout."
    (small / 'runs/smoke/.locks').mkdir(parents=True)
    busy = r'another process is at work: reproduce \(smoke\)'
    with FileLock(small / 'runs/smoke/.locks/reproduce'), pytest.raises(ValueError, match=busy):
        reproduce()
    monkeypatch.setattr(pipeline, 'find_spec', lambda name: None)
    with pytest.raises(ValueError, match='needs snakemake and papermill, of the development environment'):
        reproduce()
    monkeypatch.chdir(small.parent)
    with pytest.raises(ValueError, match='needs a checkout of cube_nb'):
        reproduce()


OPTIONS = dict(size=st.integers(), rate=st.floats(allow_nan=False), on=st.booleans(), name=st.text())
values = st.fixed_dictionaries({}, optional=OPTIONS)
DEFAULTS = dict(seed=('int', 0), size=('int', 1), rate=('float', 1.5), on=('bool', True), name=('str', 'n'))
KNOWN = {'e': parameters_class('e', DEFAULTS)}


@given(values, values, st.integers(-(2**53), 2**53))
def test_profiles_are_laid_over_defaults_and_each_other(base, over, seed):
    smoke = check_profile({'seed': seed, 'experiments': {'e': base}}, KNOWN, 'smoke')
    cpu = check_profile({'experiments': {'e': over}}, KNOWN, 'cpu')
    defaults = {key: default for key, (_, default) in DEFAULTS.items()}
    assert lay_over([smoke, cpu], KNOWN) == {'e': {**defaults, 'seed': seed, **base, **over}}
    assert lay_over([cpu], KNOWN)['e']['seed'] == 0
    own = check_profile({'seed': 1, 'experiments': {'e': {'seed': seed}}}, KNOWN, 'own')
    assert lay_over([smoke, own], KNOWN)['e']['seed'] == seed


@given(st.sampled_from([*OPTIONS]), st.one_of(*OPTIONS.values(), st.none(), st.lists(st.integers())))
def test_a_value_of_another_type_is_refused(key, value):
    profile = {'experiments': {'e': {key: value}}}
    if type(value) in dict(size=[int], rate=[int, float], on=[bool], name=[str])[key]:
        accepted = check_profile(profile, KNOWN, 'x')['experiments']['e'][key]
        assert (accepted, type(accepted)) == (value, type(value))
    else:
        with pytest.raises(ValueError, match=f'x: experiments.e.{key}: expected '):
            check_profile(profile, KNOWN, 'x')


def test_no_kept_result_is_from_uncommitted_code():
    for folder in ('cpu', 'a100', 'networks'):
        for path in (ROOT / 'data' / folder).glob('*.json'):
            record = json.loads(path.read_text())
            if 'results' in record:  # those of before had a file for each table
                assert record['commit'] and not record['dirty'], path
