"The script that times the library, beside itself, and its table of cases."

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_case_is_timed_in_two_checkouts_and_one_that_fails_is_named(tmp_path):
    few = ['--only', 'neighbours, cube2', '--runs', '3', '--seconds', '0.05']
    command = [sys.executable, 'benchmarks/speed.py', *few, '--output', str(tmp_path / 'a.csv'), '--beside']
    subprocess.run([*command, str(ROOT)], cwd=ROOT, check=True, capture_output=True)
    (row,) = pd.read_csv(tmp_path / 'a.csv').to_dict('records')
    assert row['unit'] == 'states' and row['a_second_least'] <= row['a_second'] <= row['a_second_most']
    assert 0.1 < row['ratio_least'] <= row['ratio'] <= row['ratio_most'] < 10
    (tmp_path / 'cube_nb').mkdir()
    (tmp_path / 'cube_nb/__init__.py').touch()  # an older one, without puzzles
    subprocess.run([*command, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (row,) = pd.read_csv(tmp_path / 'a.csv').to_dict('records')
    assert row['failed'].startswith(f'{tmp_path}: ModuleNotFoundError')
