"Two runs: what moved is named, what did not is not, and chance alone hardly ever is."

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_pipeline import commit

from cube_nb.cli import main
from cube_nb.workshop import compare as comparing
from cube_nb.workshop.profiles import experiments
from cube_nb.measure.evaluate import mean_columns, share_columns
from cube_nb.workshop.compare import beside_lines, closing, compare, compare_tables, our_exact, read_run

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def solved_table(cubes=100):
    "Shares and mean lengths of made-up searches."
    rng = np.random.default_rng(0)
    rows = []
    for weight in (0.2, 0.6):
        for width in (1, 10, 100):
            solved = share_columns('solved', rng.random(cubes) < 0.7)
            length = mean_columns('length', pd.Series(rng.normal(20, 2, cubes)))
            name = {'evaluator': 'network', 'weight': weight, 'N': width, 'cubes': cubes}
            rows.append({**name, **solved, **length, 'median_seconds': rng.random(), 'nodes': 100.0})
    return pd.DataFrame(rows)


def write(folder, **tables):
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f'{name}.csv', index=False)
    return folder


COUNTS = pd.DataFrame(dict(depth=[13, 14], states=[90280, 3674160], p=[0.1234567, 0.5]))
SHORT = pd.DataFrame(dict(depth=[1, 2], cubes=[2, 2], length=[4.0, 5.0], length_error=[0.0, 0.0]))
FEW = pd.DataFrame(dict(search=range(300), cubes=4, length=20.0, length_error=0.5))
MANY = FEW.assign(cubes=400)
MOVED = [  # one table and another, which columns are exact, which columns have moved
    (solved_table(), solved_table().iloc[::-1], [], []),  # rows in another order are the same rows
    (COUNTS, COUNTS.assign(p=[0.1234568, 0.5]), ['t.*'], ['p']),
    (COUNTS, COUNTS.assign(p=[0.1234568, 0.5]), ['t.states'], []),
    (COUNTS, COUNTS.assign(p=[np.nan, 0.5]), ['t.*'], ['p']),
    (COUNTS, COUNTS.assign(p=COUNTS.p * (1 + 1e-13) + 1e-16), ['t.*'], []),  # the last digits
    (SHORT, SHORT.assign(length=[4.0, 7.0]), [], []),  # means without spread are not compared
    (FEW, FEW.assign(length=22.0), [], []),  # four cubes are no evidence
    (MANY, MANY.assign(length=22.0), [], ['length'] * 300),
]


@pytest.mark.parametrize('one, other, exact, expected', MOVED)
def test_what_moved(one, other, exact, expected):
    numbers = compare_tables({'t': one}, {'t': other}, {*exact}).numbers
    assert numbers[numbers.moved].column.tolist() == expected


def test_missing_tables_and_rows_are_named():
    table = solved_table()
    missing = compare_tables({'t': table, 'u': table}, {'t': table.drop(index=2), 'v': table}, set()).missing
    assert missing[:2] == ['table u: only in A', 'table v: only in B']
    assert missing[2].startswith('t: numbers only in A: 2, such as evaluator network, N 100, weight 0.2')


def test_a_run_of_a_commit(tmp_path, monkeypatch):
    for folder in ('workflow', 'nbs/experiments'):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / 'workflow/Snakefile').touch()
    cell = {'cell_type': 'code', 'metadata': {}, 'source': "run.table(rows, 't', exact=columns)"}
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'workflow/experiments.yaml').write_text('one: {}')
    (tmp_path / 'nbs/experiments/one.ipynb').write_text(json.dumps({'cells': [cell]}))
    with pytest.raises(ValueError, match='one.ipynb: expected .* exact columns as a list of texts'):
        our_exact()
    cell['source'] = "run.table(rows, 't', exact=['*'])"
    (tmp_path / 'nbs/experiments/one.ipynb').write_text(json.dumps({'cells': [cell]}))
    assert our_exact() == {'t.*'}
    table = pd.DataFrame(dict(depth=[0, 1], states=[1, 12]))
    for profile in ('cpu', 'smoke'):
        write(tmp_path / 'data' / profile, t=table)
    commit(tmp_path)
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


def smoke_like(folder):
    "Tables that have everything that exact columns ask for, and one with intervals."
    tables = {'league_summary': solved_table()}
    for name, _, column in (exact.partition('.') for exact in sorted(our_exact())):
        table = tables.get(name, pd.DataFrame({'number': [1.0]}))
        tables[name] = table if column in ('*', *table) else table.assign(**{column: 0.5})
    return write(folder, **tables)


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with a smoke run and no reference, that is not in git."
    monkeypatch.setattr(comparing, 'checkout', lambda: tmp_path)
    (tmp_path / 'workflow').symlink_to(ROOT / 'workflow')
    smoke_like(tmp_path / 'data/smoke')
    return tmp_path


def test_a_run_beside_its_reference(small):
    nothing = 'git knows no such commit, or it has no such folder'
    assert beside_lines('smoke') == [f'compared with nothing: HEAD:data/smoke: {nothing}']
    shutil.copytree(small / 'data/smoke', small / 'data/reference/smoke')
    first, intervals, exact, _ = beside_lines('smoke')
    assert first == 'beside data/reference/smoke:'
    assert intervals.endswith('moved beyond chance: 0') and exact.endswith('changed: 0')
    folder = small / 'data/smoke'
    league = pd.read_csv(folder / 'league_summary.csv')
    league.loc[3, 'length'] -= 6 * league.length_error[3]
    counts = pd.read_csv(folder / 'depth_populations.csv').assign(number=1.0000001)
    write(folder, league_summary=league, depth_populations=counts)
    (folder / 'walks_heads.csv').unlink()
    found = compare(str(small / 'data/reference/smoke'), str(folder))
    assert set(found.numbers[found.numbers.moved].table) == {'league_summary', 'depth_populations'}
    assert found.missing == ['table walks_heads: only in A']
    assert beside_lines('smoke')[1].endswith('moved beyond chance: 1')
    assert 'table walks_heads: only in A' in closing('smoke')


def test_the_references_that_are_kept():
    found = compare('data/cpu', 'data/cpu')
    assert len(found.numbers) > 500 and not found.numbers.moved.any() and not found.missing
    assert beside_lines('cpu')[0] == 'beside HEAD:data/cpu:'  # a committed run is its own
    kept = read_run('data/reference/smoke')
    assert {exact.partition('.')[0] for exact in our_exact()} <= set(kept)
    assert {table for experiment in experiments().values() for table in experiment.tables} == set(kept)


@pytest.mark.parametrize('profile', ['cpu', 'nothing', 'smoke'])
def test_the_end_of_a_run_fits_one_screen(profile, request):
    if profile == 'smoke':
        request.getfixturevalue('small')
    shown = closing(profile)
    lines = shown.splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) <= 100 and f'runs/{profile}/report.ipynb' in lines[-1]
