"Coset tables: bounds that agree with each other and with the distance; files that survive kills."

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tqdm import tqdm

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.exact import coset
from cube_nb.exact.device import DeviceBounds, pairs_of
from cube_nb.exact.coset import Built, CosetBound, build_step, coset_table, cosets_of, table_path, table_shape

CUBE3 = get_puzzle('cube3')


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('tables')


@pytest.fixture(scope='module')
def tiny(folder):
    return CosetBound(CUBE3, 'tiny', folder)


def test_one_move_changes_a_bound_by_one(tiny):
    "As far as two bits can say: a value that is known exactly is one more than that of some child."
    base = tiny.tables.base
    states = CUBE3.random_states(1000, seed=2)
    here = np.maximum(tiny(states)[:, :3], base)
    there = tiny(CUBE3.neighbours(states).reshape(-1, 54)).reshape(len(states), 12, 6)[..., :3]
    there = np.maximum(there, base)
    assert abs(there - here[:, None]).max() == 1
    exact = (here > base) & (here < base + 3)
    assert exact.any() and (there.min(1)[exact] == here[exact] - 1).all()


def test_bounds_are_the_same_from_all_sides(tiny):
    states = np.concatenate([CUBE3.random_states(100, seed=3), CUBE3.scramble(100, 8, seed=3).states])
    bounds = tiny(states)
    assert (np.roll(bounds, 3, axis=1) == tiny(CUBE3.inverse(states))).all()
    for symmetry in range(len(CUBE3.symmetries)):
        seen = tiny(CUBE3.symmetric(states, symmetry))
        assert (np.sort(seen[:, :3]) == np.sort(bounds[:, :3])).all()
        assert (np.sort(seen[:, 3:]) == np.sort(bounds[:, 3:])).all()


@pytest.mark.parametrize('puzzle, size', [('cube3', 'tiny'), ('cube3', 'small'), ('cube3-htm', 'tiny')])
def test_the_first_layers_are_exact(puzzle, size, folder, monkeypatch):
    "The distance of a coset is that of the nearest state in it."
    puzzle = get_puzzle(puzzle)
    depth = 4 if puzzle.name == 'cube3' else 3
    cosets = cosets_of(puzzle, size)
    table = np.empty(table_shape(cosets), np.uint8)
    built = Built()
    with tqdm(disable=True) as bar:
        while len(built.known) <= depth:
            built = build_step(table, cosets, built, bar)
    monkeypatch.setattr(coset, 'coset_table', lambda *args: coset.Table(table.ravel(), 0))
    lower = CosetBound(puzzle, size, folder)
    near = states_near_solved(puzzle, depth)
    states = np.concatenate([near.layer(d) for d in range(depth + 1)])
    distance = np.repeat(np.arange(depth + 1), near.counts)
    positions = positions_of(lower, states)
    nearest = np.full(4 * table.size, 99)
    np.minimum.at(nearest, positions, distance)
    marks = table.ravel()[positions >> 2] >> 2 * (positions & 3) & 3
    assert (marks == nearest[positions] % 3).all() and built.known[-1] >= len(np.unique(positions))


def positions_of(lower, states):
    "int64[B]: where states are in the table, in the first view."
    bounds = DeviceBounds(lower, torch.device('cpu'))
    sums = bounds.sums(torch.from_numpy(pairs_of(coset.piece_codes(lower.puzzle, states))))
    return bounds.positions(sums[:, 0], torch.zeros(len(states), dtype=torch.int64)).numpy()


KILLED = """
import os, signal, sys
from pathlib import Path
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact import coset
steps = []
def killed(*args):
    steps.append(real(*args))
    if len(steps) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)  # the layer is in the file, the note is not
    return steps[-1]
real, coset.build_step = coset.build_step, killed
coset.coset_table(get_puzzle('cube3'), 'tiny', Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_killed_build_goes_on(tiny, tmp_path, monkeypatch):
    path = table_path(CUBE3, 'tiny', tmp_path)
    for step in (7, 3):  # of all steps, then of those that are left
        done = subprocess.run([sys.executable, '-c', KILLED, str(tmp_path), str(step)], capture_output=True)
        assert done.returncode < 0, done.stderr.decode()
        assert path.with_suffix('.partial').exists() and not path.exists()
    steps = []
    monkeypatch.setattr(coset, 'build_step', lambda *args: steps.append(build_step(*args)) or steps[-1])
    table = coset_table(CUBE3, 'tiny', tmp_path)
    assert (table.entries == tiny.tables.entries).all() and table.base == tiny.tables.base
    whole = len(steps[-1].known) + 1  # a step for each layer, and one for the base
    assert len(steps) == whole - 6 - 2  # the layer that was not noted is done again
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.with_suffix('.lock').name, path.name]


def test_a_note_that_says_too_much_is_not_believed(tiny, tmp_path):
    "After a power cut, the note may be on the disk and the layer not."
    path = table_path(CUBE3, 'tiny', tmp_path)
    cosets = cosets_of(CUBE3, 'tiny')
    content = np.full(np.prod(table_shape(cosets)) + 1 + coset.SEAL_LENGTH, 255, np.uint8)
    path.with_suffix('.partial').write_bytes(content)
    path.with_suffix('.built').write_text('[[1, 8, 60], -1]')
    assert (coset_table(CUBE3, 'tiny', tmp_path).entries == tiny.tables.entries).all()


def test_a_full_disk_is_said_before_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(coset, 'disk_usage', lambda folder: SimpleNamespace(free=100_000))
    with pytest.raises(OSError, match='No space left on device.*cube3-coset-tiny'):
        coset_table(CUBE3, 'tiny', tmp_path)
