"The scripts that make the tables of `data/measured`, and the one that stands beside them."

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import dqn_stages
import labels
import measured

ROOT = Path(__file__).parents[2]
TABLES = measured.TABLES | {f'labels_{name}': table for name, table in labels.TABLES.items()}
TABLES |= {'dqn_stages': dqn_stages.TABLES['solved'], 'dqn_stages_trained': dqn_stages.TABLES['trained']}


def committed(name):
    "A table of `data/measured`."
    return pd.read_csv(ROOT / f'data/measured/{name}.csv')


@pytest.mark.parametrize('name', TABLES)
def test_committed_tables_are_those_of_their_script(name):
    table, rows = TABLES[name], committed(name)
    assert [*rows] == table.columns.split() and not rows.duplicated([*table.axes]).any()


def run(script, *words):
    "What a script prints."
    env = os.environ | {'PYTHONPATH': f'{ROOT}{os.pathsep}{ROOT / "benchmarks"}'}
    command = [sys.executable, str(ROOT / script), *words]
    return subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_rows_that_are_there_are_not_measured_again(tmp_path):
    path = tmp_path / 'tables.csv'
    words = ['tables', '--size', 'tiny', '--states', '5', '--output', str(path)]
    first, second = [(run('benchmarks/measured.py', *words), path.read_text()) for _ in range(2)]
    assert first == second and second[1].count('\n') == 2


@pytest.mark.slow
def test_solutions_and_proofs_are_measured(tmp_path):
    cubes = tmp_path / 'cubes.csv'
    cubes.write_text('scramble,optimal_qtm\nR U F,3\nL D,2\n')
    few = ['improve', str(cubes), '--size', 'none', 'tiny', '--network', 'none', '--limit', '9']
    assert 'most_seconds' in run('benchmarks/measured.py', *few, '--output', str(tmp_path / 'improve.csv'))
    rows = pd.read_csv(tmp_path / 'improve.csv')
    assert rows.length.tolist() == rows.lower_bound.tolist() == [3, 2, 3, 2]


@pytest.mark.slow
def test_the_memory_of_a_training_is_that_of_its_process(monkeypatch):
    monkeypatch.setitem(measured.STEPS, 'davi-cube3-scratch', 2)
    row = measured.training('davi-cube3-scratch')
    known = committed('memory').set_index('config').loc['davi-cube3-scratch']
    assert (row['parameters'], row['batch_size'], row['steps']) == (known.parameters, known.batch_size, 2)
    assert 0.5 < row['library_mb'] / known.library_mb < 2 and row['library_mb'] < row['peak_mb']


@pytest.mark.slow
def test_what_was_tried_once_can_still_be_asked():
    variants = run('data/measured/ladder.py', 'ladder', '--help')
    assert all(variant in variants for variant in committed('ladder').variant.unique())
