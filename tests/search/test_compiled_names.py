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
    return records[row].N.sum()
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
    for moves in (['6'], ['12'], ['12', '6'], ['6', '12']):
        command = [sys.executable, program, *moves]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert run.stdout.split() == [{'6': '30', '12': '60'}[each] for each in moves], run.stderr
