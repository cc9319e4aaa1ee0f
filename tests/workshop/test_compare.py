"Two runs: what moved is named, what did not is not, and chance alone hardly ever is."

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cube_nb.cli import main
from cube_nb.workshop import compare as comparing
from cube_nb.workshop import profiles
from cube_nb.workshop.profiles import experiments
from cube_nb.measure.evaluate import mean_columns, share_columns
from cube_nb.workshop.compare import (
    beside_lines,
    closing,
    compare,
    compare_tables,
    describe,
    headline_line,
    key_columns,
    our_exact,
    our_headlines,
    read_run,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def solved_table(seed=0, cubes=100):
    "Shares and mean lengths of made-up searches."
    rng = np.random.default_rng(seed)
    rows = []
    for weight in (0.2, 0.6):
        for width in (1, 10, 100):
            solved = share_columns('solved', rng.random(cubes) < 0.7)
            length = mean_columns('length', pd.Series(rng.normal(20, 2, cubes)))
            name = {'evaluator': 'network', 'weight': weight, 'N': width, 'cubes': cubes}
            rows.append({**name, **solved, **length, 'median_seconds': rng.random(), 'nodes': 100.0})
    return pd.DataFrame(rows)


def moved(a, b, exact=()):
    numbers = compare_tables(a, b, {*exact}).numbers
    return [f'{n.table} {n.column}' for n in numbers[numbers.moved].itertuples()]


def write(folder, **tables):
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f'{name}.csv', index=False)
    return folder


def git(folder, *words):
    name = ('-c', 'user.name=a', '-c', 'user.email=a@b')
    subprocess.run(['git', '-C', str(folder), *name, *words], check=True, capture_output=True)


def test_the_same_folder_twice(tmp_path):
    counts = pd.DataFrame(dict(depth=range(3), states=[1, 12, 114]))
    folder = write(tmp_path / 'run', solved=solved_table(), depth_populations=counts)
    found = compare(str(folder), str(folder))
    assert not found.numbers.moved.any() and not found.missing and not found.by_position
    text = describe(found)
    assert 'numbers with intervals: 12, moved beyond chance: 0' in text
    assert 'exact numbers: 6, changed: 0' in text
    assert 'not compared (times, no interval, no partner): 18' in text  # times, nodes and cubes


def test_published_runs_equal_themselves():
    found = compare('data/cpu', 'data/cpu')
    assert len(found.numbers) > 500 and not found.numbers.moved.any() and not found.missing


@pytest.mark.parametrize('column, width', [('length', 'length_error'), ('solved', None)])
def test_a_number_shifted_by_three_intervals_is_named(column, width):
    a, b = solved_table(), solved_table()
    whole = 2 * a[width][3] if width else a.solved_high[3] - a.solved_low[3]
    for shifted in [name for name in b if name in (column, f'{column}_low', f'{column}_high')]:
        b.loc[3, shifted] -= 3 * whole
    found = compare_tables({'t': a}, {'t': b}, set()).numbers
    named = found[found.moved]
    assert named[['row', 'column']].values.tolist() == [['evaluator network, N 1, weight 0.6', column]]


def test_rows_in_another_order_are_the_same_rows():
    a = solved_table()
    assert key_columns(a) == ['evaluator', 'N', 'weight']
    assert moved({'t': a}, {'t': a.iloc[::-1]}) == []


def test_rows_without_names_go_by_position():
    a = solved_table().drop(columns=['weight', 'N'])
    found = compare_tables({'t': a}, {'t': a}, set())
    assert found.by_position == ['t'] and 'rows taken by their position: t' in describe(found)


def test_an_exact_number_changed_in_the_seventh_digit_is_named():
    a = pd.DataFrame(dict(depth=[13, 14], states=[90280, 3674160], p=[0.1234567, 0.5]))
    assert moved({'t': a}, {'t': a.assign(states=[90280, 3674161])}, ['t']) == ['t states']
    assert moved({'t': a}, {'t': a.assign(p=[0.1234568, 0.5])}, ['t']) == ['t p']
    assert moved({'t': a}, {'t': a.assign(p=[0.1234568, 0.5])}, ['t.states']) == []
    assert moved({'t': a}, {'t': a.assign(p=[np.nan, 0.5])}, ['t']) == ['t p']
    last_digits = a.assign(p=a.p * (1 + 1e-13) + 1e-16)
    assert moved({'t': a}, {'t': last_digits}, ['t']) == []


def test_times_are_never_compared():
    a = solved_table()
    b = a.assign(median_seconds=1000.0)
    seconds = pd.DataFrame(dict(depth=[1], seconds=[1.0], states_per_second=[5.0]))
    slower = pd.DataFrame(dict(depth=[1], seconds=[9.0], states_per_second=[1.0]))
    assert moved({'t': a, 's': seconds}, {'t': b, 's': slower}, ['s']) == []


def test_missing_tables_and_rows_are_named():
    a = {'t': solved_table(), 'u': solved_table()}
    b = {'t': solved_table().drop(index=2), 'v': solved_table()}
    missing = compare_tables(a, b, set()).missing
    assert missing[:2] == ['table u: only in A', 'table v: only in B']
    assert missing[2].startswith('t: numbers only in A: 2, such as evaluator network, N 100, weight 0.2')


def test_means_without_spread_are_not_compared():
    a = pd.DataFrame(dict(depth=[1, 2], cubes=[2, 2], length=[4.0, 5.0], length_error=[0.0, 0.0]))
    b = a.assign(length=[4.0, 7.0])
    assert len(compare_tables({'t': a}, {'t': b}, set()).numbers) == 1
    assert moved({'t': a}, {'t': b}) == []


def test_four_cubes_are_no_evidence():
    a = pd.DataFrame(dict(search=range(300), cubes=4, length=20.0, length_error=0.5))
    assert moved({'t': a}, {'t': a.assign(length=22.0)}) == []
    assert len(moved({'t': a.assign(cubes=400)}, {'t': a.assign(cubes=400, length=22.0)})) == 300


def wilson_columns(rng, shares, trials):
    "Shares that were drawn, with Wilson's intervals."
    z = 1.959963984540054
    seen = rng.binomial(trials, shares)
    centre = (seen + z * z / 2) / (trials + z * z)
    half = z * np.sqrt(seen * (trials - seen) / trials + z * z / 4) / (trials + z * z)
    ends = dict(solved_low=centre - half, solved_high=centre + half)
    return pd.DataFrame(dict(search=range(len(shares)), cubes=trials, solved=seen / trials, **ends))


def test_chance_alone_is_named_in_one_comparison_of_a_hundred():
    rng = np.random.default_rng(1)
    shares = rng.uniform(0, 1, 300)
    alarms = 0
    for _ in range(200):
        a, b = ({'t': wilson_columns(rng, shares, 1000)} for _ in range(2))
        alarms += bool(moved(a, b))
    assert alarms <= 8  # two are expected
    worse = np.where(np.arange(300) == 7, shares / 2, shares)
    shares[7] = 0.8
    worse[7] = 0.6
    a, b = {'t': wilson_columns(rng, shares, 1000)}, {'t': wilson_columns(rng, worse, 1000)}
    assert 't solved' in moved(a, b)


def experiment(folder, name, code):
    "An experiment notebook with one cell."
    cell = {'cell_type': 'code', 'metadata': {}, 'source': code}
    path = folder / 'nbs/experiments' / f'{name}.ipynb'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({'cells': [cell]}))


def test_a_run_of_a_commit(tmp_path, monkeypatch):
    (tmp_path / 'workflow').mkdir()
    (tmp_path / 'workflow/Snakefile').touch()
    (tmp_path / 'workflow/experiments.yaml').write_text('one: {exact: [t]}')
    experiment(tmp_path, 'one', "run.table(rows, 't')")
    monkeypatch.chdir(tmp_path)
    git(tmp_path, 'init')
    table = pd.DataFrame(dict(depth=[0, 1], states=[1, 12]))
    write(tmp_path / 'data/cpu', t=table)
    write(tmp_path / 'data/smoke', t=table)
    git(tmp_path, 'add', '.')
    git(tmp_path, 'commit', '-m', 'first')
    write(tmp_path / 'data/cpu', t=table.assign(states=[1, 13]))

    def named(*runs):
        return compare(*runs).numbers.query('moved').b.tolist()

    assert named('HEAD', 'data/cpu') == named('HEAD:data/smoke', 'data/cpu') == [13]
    assert named('HEAD', 'HEAD:data/smoke') == []
    assert compare('HEAD', 'data/cpu', 'smoke').numbers.moved.sum() == 1
    with pytest.raises(SystemExit) as stop:
        main(['compare', 'HEAD', 'data/cpu'])
    assert stop.value.code == 1
    for run in ('nothing', 'HEAD:data/a100', '--help', '-x'):
        with pytest.raises(ValueError, match='git knows no such commit, or it has no such folder'):
            compare(run, 'data/cpu')


def test_what_is_exact_must_exist(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="t has no column 'x': expected one of"):
        compare_tables({'t': solved_table()}, {'t': solved_table()}, {'t.x'})
    (tmp_path / 'workflow').mkdir()
    (tmp_path / 'workflow/Snakefile').touch()
    (tmp_path / 'workflow/experiments.yaml').write_text('one: {exact: [u.x]}')
    experiment(tmp_path, 'one', "run.table(rows, 't')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="one.exact names another table 'u': expected one of t"):
        our_exact()


@pytest.mark.parametrize(
    'entry, message',
    [
        ({'table': 'nothing', 'column': 'x'}, "a: unknown table 'nothing': expected one of"),
        ({'table': 'league'}, 'headlines.yaml: a: column: expected a value (got nothing)'),
        (
            {'table': 'league', 'column': 'x', 'rows': {}},
            "a has no setting 'rows': expected one of name, table",
        ),
        ({'table': 'league', 'column': 3}, 'a: column: expected text (got 3)'),
        ('league', "headlines.yaml: a: expected names and values (got 'league')"),
    ],
)
def test_a_slip_in_the_headlines_is_one_clear_error(entry, message, monkeypatch):
    read = profiles.read_yaml

    def read_here(path):
        return {'a': entry} if path.name == 'headlines.yaml' else read(path)

    monkeypatch.setattr(profiles, 'read_yaml', read_here)
    with pytest.raises(ValueError, match='headlines.yaml') as error:
        our_headlines()
    assert message in str(error.value) and '\n' not in str(error.value)


def smoke_like(folder):
    "Tables that have everything that headlines and exact columns ask for."
    tables = {}
    for headline in our_headlines():
        share = share_columns(headline.column, [True] * 70 + [False] * 30)
        tables[headline.table] = pd.DataFrame([{**dict(headline.row), 'cubes': 100, **share}])
    for name, _, column in (exact.partition('.') for exact in sorted(our_exact())):
        table = tables.get(name, pd.DataFrame({'number': [1.0]}))
        tables[name] = table if column in ('', *table) else table.assign(**{column: 0.5})
    both = tables['other_puzzles_summary']
    tables['other_puzzles_summary'] = pd.concat([both, both.assign(puzzle='pyraminx')])
    return write(folder, **tables)


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with a smoke run and no reference, that is not in git."
    monkeypatch.setattr(comparing, 'checkout', lambda: tmp_path)
    (tmp_path / 'workflow').symlink_to(ROOT / 'workflow')
    smoke_like(tmp_path / 'data/smoke')
    return tmp_path


def test_a_run_beside_its_reference(small):
    assert beside_lines('smoke') == [
        'compared with nothing: HEAD:data/smoke: git knows no such commit, or it has no such folder'
    ]
    shutil.copytree(small / 'data/smoke', small / 'data/reference/smoke')
    first, intervals, exact, _ = beside_lines('smoke')
    assert first == 'beside data/reference/smoke:'
    assert intervals.endswith('moved beyond chance: 0') and exact.endswith('changed: 0')

    folder = small / 'data/smoke'
    league = pd.read_csv(folder / 'league_summary.csv')
    league[['mean_length', 'mean_length_low', 'mean_length_high']] -= 0.6
    counts = pd.read_csv(folder / 'depth_populations.csv').assign(cumulative=0.7000001)
    write(folder, league_summary=league, depth_populations=counts)
    (folder / 'walks_heads.csv').unlink()
    found = compare(str(small / 'data/reference/smoke'), str(folder))
    moved = found.numbers[found.numbers.moved]
    assert set(moved.table) == {'league_summary', 'depth_populations'}
    assert found.missing == ['table walks_heads: only in A']
    assert beside_lines('smoke')[1].endswith('moved beyond chance: 1')
    assert 'table walks_heads: only in A' in closing('smoke')


def test_a_committed_run_is_its_own_reference():
    assert beside_lines('cpu')[0] == 'beside HEAD:data/cpu:'


def test_a_half_written_table_is_named(tmp_path):
    write(tmp_path, t=solved_table())
    (tmp_path / 'u.csv').write_text('a,b\n1,2\n1,2,3\n')
    with pytest.raises(ValueError, match='u.csv is not a table'):
        read_run(str(tmp_path))


def test_the_reference_that_is_kept():
    kept = read_run('data/reference/smoke')
    assert {exact.partition('.')[0] for exact in our_exact()} <= set(kept)
    assert {table for experiment in experiments().values() for table in experiment.tables} == set(kept)


def test_headlines_fit_every_profile_that_is_there():
    "A headline whose table is there has a row in it, for the committed runs of all profiles."
    for folder in [path for path in (ROOT / 'data').glob('*') if path.name in ('smoke', 'cpu', 'a100')]:
        lines = [headline_line(each, read_run(str(folder)), our_exact()) for each in our_headlines()]
        assert len(lines) >= 10 and not any('missing' in line for line in lines), folder


@pytest.mark.parametrize('profile', ['cpu', 'nothing', 'smoke'])
def test_the_end_of_a_run_fits_one_screen(profile, request):
    if profile == 'smoke':
        request.getfixturevalue('small')
    text = closing(profile)
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    assert all(headline.name in text for headline in our_headlines())
    assert f'runs/{profile}/report.ipynb' in text
    assert ('MISSING' in text) == (profile != 'cpu')
