"Compiled functions for two types of record, kept by two processes and loaded by a third (chapter search.mcts)."

import os
import subprocess
import sys

import pytest

KERNEL = """
import sys

import numpy as np
from numba import njit

import cube_nb.search.mcts  # puts the fields of records into names


@njit
def visits(records, row):
    if row > 3:  # a function that calls itself is not inlined, so it is found by its name
        return visits(records, row - 1)
    found = 0
    for move in range(len(records[row].N)):
        found += records[row].N[move]
    return found


@njit(cache=True)
def total(records):
    found = 0
    for row in range(len(records)):
        found += visits(records, row)
    return found


for moves in map(int, sys.argv[1:]):
    print(total(np.ones(5, [('before', np.int32, moves), ('N', np.int32, moves)])))
"""


@pytest.mark.slow
def test_two_types_of_record_are_not_mixed_up(tmp_path):
    program = tmp_path / 'kernel.py'
    program.write_text(KERNEL)
    environment = os.environ | dict(NUMBA_CACHE_DIR=str(tmp_path / 'cache'))

    def totals(*moves):
        run = subprocess.run(
            [sys.executable, program, *moves], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout.split()

    assert totals('6') == ['30']
    assert totals('12') == ['60']
    assert totals('12', '6') == ['60', '30']
    assert totals('6', '12') == ['30', '60']
