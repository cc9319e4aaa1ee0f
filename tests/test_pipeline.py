"The pipeline does what is out of date and nothing else, and says clearly what went wrong."
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_nb.measure import pipeline
from cube_nb.measure.pipeline import (
    Parameter,
    Run,
    check_profile,
    checkout,
    digest,
    imported,
    load_profile,
    merge,
    read_parameters,
    reproduce,
    sources,
)

ROOT = Path(__file__).parent.parent

ONE = """
import pandas as pd, matplotlib.pyplot as plt
from cube_nb.measure.pipeline import Run, load_table
run = Run('one', globals())
run.table(pd.DataFrame(dict(x=range(size))), 'squares')
fig, ax = plt.subplots()
ax.plot(load_table(profile, 'squares').x ** 2)
run.figure(fig, 'squares')
run.artefact('weights.txt').write_text('7')
"""
TWO = """
import pandas as pd
from cube_nb.measure.pipeline import Run, find_artefact, load_table
run = Run('two', globals())
(run.folder / 'checkpoint').touch()
1 / (0 if fail else 1)
run.table(pd.DataFrame(dict(rows=[len(load_table(profile, 'squares'))], weights=[find_artefact(profile, 'one', 'weights.txt').read_text()])), 'report')
"""


def notebook(path, parameters, code):
    cells = [nbformat.v4.new_code_cell(parameters, metadata={'tags': ['parameters']}), nbformat.v4.new_code_cell(code)]
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {'name': 'python3', 'language': 'python', 'display_name': 'python3'}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={'kernelspec': kernel}), path)


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with two experiments: `one` writes a table, a figure and weights, `two` reads them."
    (tmp_path / 'workflow/profiles').mkdir(parents=True)
    for name in ('workflow/Snakefile', 'settings.ini'): shutil.copy(ROOT / name, tmp_path / name)
    notebook(tmp_path / 'nbs/experiments/one.ipynb', "profile: str = 'scratch'\nseed: int = 0\nsize: int = 3", ONE)
    notebook(tmp_path / 'nbs/experiments/two.ipynb', "profile: str = 'scratch'\nseed: int = 0\nfail: bool = False", TWO)
    (tmp_path / 'workflow/experiments.yaml').write_text(
        'one: {tables: [squares], figures: [squares], artefacts: [weights.txt]}\ntwo: {needs: [one], tables: [report]}\n')
    # a kernel started there finds the library where this test found it
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]))
    monkeypatch.chdir(tmp_path)
    profile(tmp_path)
    return tmp_path


def profile(root, size=3, fail='false', name='smoke'):
    (root / f'workflow/profiles/{name}.yaml').write_text(f'seed: 5\nexperiments:\n  one: {{size: {size}}}\n  two: {{fail: {fail}}}\n')


def stamps(root): return {p.relative_to(root).as_posix(): p.stat().st_mtime_ns for d in ('data', 'figures', 'runs') for p in (root / d).rglob('*') if p.is_file() and p.name != '.lock'}


def test_one_way_through(small, capfd):
    profile(small, fail='true')
    with pytest.raises(RuntimeError, match='profile smoke is not complete'): reproduce('smoke')
    shown = capfd.readouterr().err
    assert 'ZeroDivisionError' in shown and 'see runs/smoke/two/notebook.ipynb' in shown
    assert (small / 'runs/smoke/two/notebook.ipynb').exists() and (small / 'runs/smoke/two/checkpoint').exists()
    failed = stamps(small)

    profile(small)
    reproduce('smoke')                              # goes on where it stopped
    out, done = capfd.readouterr().out, stamps(small)
    assert {'data/smoke/squares.csv', 'data/smoke/squares.json', 'figures/smoke/squares.svg', 'figures/smoke/squares.png',
            'runs/smoke/one/weights.txt', 'runs/smoke/one.ipynb', 'data/smoke/report.csv', 'runs/smoke/two.ipynb'} <= set(done)
    assert done['data/smoke/squares.csv'] == failed['data/smoke/squares.csv']
    assert 'figures/smoke/squares.svg' in out and re.search(r'\|\s+3\s+\|\s+7\s+\|', out)   # where things are, and the report
    facts = json.loads((small / 'data/smoke/squares.json').read_text())
    assert (facts['parameters'], facts['profile'], facts['commit']) == ({'seed': 5, 'size': 3}, 'smoke', None)

    os.utime(small / 'nbs/experiments/one.ipynb')   # a touched file is not a changed one
    reproduce('smoke')
    assert stamps(small) == done
    profile(small, size=4)                          # a parameter is: `one` has to run again, and then `two`
    capfd.readouterr()
    reproduce('smoke', dry_run=True)
    assert re.search(r'^one +1\ntwo +1$', capfd.readouterr().out, re.MULTILINE)
    assert stamps(small) == done


@pytest.mark.parametrize('text, message', [
    ('experiments: {one: {sise: 3}}', "smoke.yaml: one has no parameter 'sise': expected one of seed, size"),
    ('experiments: {three: {}}', "smoke.yaml: unknown experiment 'three': expected one of one, two"),
    ('experiments: {one: {size: many}, two: {fail: false}}', "one.size must be int, got 'many'"),
    ('experiments: {one: {profile: cpu}}', "smoke.yaml: one has no parameter 'profile': expected one of seed, size"),
    ('experiments: {one: {size: true}}', 'one.size must be int, got True'),
    ('seed: 1.5', 'seed must be int, got 1.5'),
    ('experiment: {}', "unknown key 'experiment'"),
    ('experiments: [one]', 'experiments must map names to parameters'),
    ('experiments: {one: 3}', 'one must map parameters to values'),
    ('seed: [', 'smoke.yaml is not YAML'),
    ('', 'expected the keys seed and experiments'),
])
def test_a_slip_in_a_profile_is_one_clear_error(small, text, message):
    (small / 'workflow/profiles/smoke.yaml').write_text(text)
    with pytest.raises(ValueError, match='(?s).*') as error: load_profile('smoke')
    assert message in str(error.value) and '\n' not in str(error.value)


def test_another_profile_lists_what_differs(small):
    (small / 'workflow/profiles/cpu.yaml').write_text('experiments: {one: {size: 9}}')
    assert load_profile('cpu') == {'one': {'profile': 'cpu', 'seed': 5, 'size': 9}, 'two': {'profile': 'cpu', 'seed': 5, 'fail': False}}
    (small / 'workflow/profiles/smoke.yaml').write_text('seed: 7')  # what no profile names has its default
    assert load_profile('smoke')['one'] == {'profile': 'smoke', 'seed': 7, 'size': 3}
    with pytest.raises(ValueError, match="unknown profile 'gpu': expected one of cpu, smoke"): reproduce('gpu')
    with pytest.raises(ValueError, match="unknown experiment 'three'"): reproduce('cpu', only='three')


def test_our_profiles_list_only_what_differs(monkeypatch):
    monkeypatch.chdir(ROOT)
    declared = {e.name: read_parameters(ROOT / e.notebook) for e in pipeline.experiments().values()}
    assert pipeline.read_profile('smoke', declared) == {'seed': 0, 'experiments': {}}
    for name in ('cpu', 'a100'):
        for experiment, values in pipeline.read_profile(name, declared)['experiments'].items():
            repeated = [key for key, value in values.items() if value == declared[experiment][key].default]
            assert not repeated, (name, experiment, repeated)


@pytest.mark.parametrize('name', ["it's", '2024', 'a $(touch x) b'])
def test_a_profile_may_have_any_name(small, name):
    profile(small, name=name)
    reproduce(name, only='one')
    assert (small / 'data' / name / 'squares.csv').exists() and not list(small.rglob('x'))


def test_a_parameter_that_papermill_cannot_read_is_an_error(small):
    start = "profile: str = 'scratch'\nseed: int = 0\n"
    for cell, message in [
        ('size: int = 3  # n = 3', 'one.ipynb: papermill cannot read size'),
        ('size: int = 3.5', 'one.ipynb.size must be int, got 3.5'),
        ('size: int = len("abc")', 'expected `name: type = value`'),
    ]:
        notebook(small / 'nbs/experiments/one.ipynb', start + cell, '')
        with pytest.raises(ValueError) as error:
            load_profile('smoke')
        assert message in str(error.value) and '\n' not in str(error.value)


def test_a_notebook_without_types_is_refused(small):
    notebook(small / 'nbs/experiments/one.ipynb', "profile: str = 'scratch'\nseed = 0", '')
    with pytest.raises(ValueError, match='one.ipynb: expected `name: type = value`'): load_profile('smoke')
    notebook(small / 'nbs/experiments/one.ipynb', 'seed: int = 0', '')
    with pytest.raises(ValueError, match='must declare profile and seed'): load_profile('smoke')
    (small / 'nbs/experiments/one.ipynb').unlink()
    with pytest.raises(ValueError, match='one: there is no notebook nbs/experiments/one.ipynb'): load_profile('smoke')


def test_outside_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match='needs a checkout of cube_nb'): reproduce()


def test_without_the_development_environment(small, monkeypatch):
    monkeypatch.setattr(pipeline, 'find_spec', lambda name: None)
    with pytest.raises(ValueError, match='needs snakemake and papermill, of the development environment'): reproduce()


def test_a_second_run_at_the_same_time_is_refused(small):
    import fcntl
    (small / 'runs').mkdir()
    with open(small / 'runs/.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match='another reproduce is running'): reproduce()


def test_what_a_killed_run_leaves_running_holds_the_lock(small):
    import fcntl
    profile(small)
    code = '''import sys; from cube_nb.measure import pipeline
pipeline.snakemake_command = lambda *_: [sys.executable, '-c', 'print("begun", flush=True); input()']
pipeline.reproduce()'''
    with subprocess.Popen([sys.executable, '-c', code], cwd=small, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, 'PYTHONPATH': str(ROOT)}) as run:
        assert run.stdout.readline() == 'begun\n'
        run.kill(), run.wait()
        with pytest.raises(ValueError, match='another reproduce is running'): reproduce()
        run.stdin.write('go on\n'), run.stdin.close()
        assert run.stdout.read() == ''              # until it has ended
    with open(small / 'runs/.lock', 'w') as lock: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_sources_hold_every_module_that_is_loaded(monkeypatch):
    monkeypatch.chdir(ROOT)
    code = 'import sys, cube_nb.depth.bfs; print(*(m.__file__ for n, m in sys.modules.items() if n.startswith("cube_nb.") and not hasattr(m, "__path__")))'
    loaded = {Path(p).relative_to(ROOT) for p in subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout.split()}
    assert Path('cube_nb/cube/puzzle.py') in loaded <= set(sources(Path('nbs/experiments/depth_populations.ipynb')))


def test_a_change_of_code_changes_the_digest(small):
    one = pipeline.experiments()['one']
    before = digest(one, {})
    notebook(small / 'nbs/experiments/one.ipynb', "profile: str = 'scratch'\nseed: int = 0\nsize: int = 3", ONE + '\n')
    assert digest(one, {}) != before
    before = digest(one, {})  # a default does not count: the value that is used is a parameter
    notebook(small / 'nbs/experiments/one.ipynb', "profile: str = 'scratch'\nseed: int = 0\nsize: int = 4", ONE + '\n')
    assert digest(one, {}) == before != digest(one, {'size': 4})
    (small / 'cube_nb').mkdir()
    (small / 'cube_nb/a.py').write_text('from .b import c')
    (small / 'cube_nb/b.py').write_text('c = 1')
    assert {p.name for p in imported('import cube_nb.a', small, small) | imported('from .b import c', small / 'cube_nb', small)} == {'a.py', 'b.py'}


values = st.fixed_dictionaries({}, optional={'size': st.integers(), 'rate': st.floats(allow_nan=False), 'on': st.booleans(), 'name': st.text()})
KNOWN = {'e': {k: Parameter(t, None) for k, t in dict(profile='str', size='int', rate='float', on='bool', name='str').items()}}


@given(values, values, st.integers())
def test_merging_is_the_union_with_the_later_value(base, over, seed):
    smoke = check_profile({'seed': seed, 'experiments': {'e': base}}, KNOWN, 'smoke')
    cpu = check_profile({'experiments': {'e': over}}, KNOWN, 'cpu')
    assert merge(smoke, cpu) == {'seed': seed, 'experiments': {'e': {**base, **over}}}


@given(st.sampled_from(['size', 'rate', 'on', 'name']), st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text(), st.none(), st.lists(st.integers())))
def test_a_value_of_another_type_is_refused(key, value):
    fits = {'size': type(value) is int, 'rate': type(value) in (int, float), 'on': type(value) is bool, 'name': type(value) is str}[key]
    profile = {'experiments': {'e': {key: value}}}
    if fits:
        accepted = check_profile(profile, KNOWN, 'x')['experiments']['e'][key]
        assert (accepted, type(accepted)) == (value, type(value))
    else:
        with pytest.raises(ValueError, match=f'e.{key} must be'):
            check_profile(profile, KNOWN, 'x')


def test_results_that_were_not_announced_are_refused(small):
    import pandas as pd
    run = Run('one', dict(profile='scratch', seed=0, size=1, unrelated=2))
    assert (run.profile, run.parameters) == ('scratch', dict(seed=0, size=1))
    for write in (lambda: run.table(pd.DataFrame(), 'cubes'), lambda: run.artefact('w.pt'), lambda: run.figure(None, 'cubes')):
        with pytest.raises(ValueError, match='does not name'): write()
    with pytest.raises(ValueError, match=r'the namespace has no size \(expected profile, seed, size\)'):
        Run('one', dict(profile='scratch', seed=0, sise=1))
    with pytest.raises(ValueError, match='one.size must be int, got 1.5'):
        Run('one', dict(profile='scratch', seed=0, size=1.5))
    assert checkout() == small.resolve()
