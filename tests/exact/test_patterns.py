"Pattern databases: bounds that are never too large, in files that notice damage."

import numpy as np
import pytest

from cube_nb.cube.cubies import CORNERS, EDGES
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.exact import patterns
from cube_nb.exact.patterns import (
    PatternBound,
    cache_folder,
    move_tables,
    pattern_coordinates,
    pattern_database,
    pattern_distances,
    read_pattern,
)

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')
SMALL = ('URF UFL ULB UBR', 'UR UF UL UB FR')
VIEWS = [(SMALL[0], 0), (SMALL[1], 0), (SMALL[1], 1), (SMALL[1], 30)]


@pytest.fixture(scope='module')
def near():
    return bfs(cube3, max_depth=5)


@pytest.fixture(scope='module')
def small(tmp_path_factory):
    return PatternBound(cube3, VIEWS, tmp_path_factory.mktemp('tables'))


# tables


@pytest.mark.parametrize('names', ['UR', 'DB FL', 'UF BR DL', 'DRB', 'URF DBL'])
def test_tables_are_the_distances_of_the_pieces(names):
    "Against a search over places and turns kept as tuples, which knows no rank and no sum of turns."
    pattern = read_pattern(names)
    steps, sums = move_tables(cube3, pattern)
    distance = pattern_distances(cube3, pattern)
    states, seen, depth = cube3.solved[None], {}, 0
    while len(states):
        fresh = {}
        for key, state in zip(
            zip(*(x.tolist() for x in pattern_coordinates(cube3, pattern, states))), states
        ):
            if key not in seen:
                seen[key], fresh[key] = depth, state
        states, depth = (
            cube3.neighbours(np.array(list(fresh.values()))).reshape(-1, 54) if fresh else [],
            depth + 1,
        )
    assert len(seen) == distance.size and all(distance[key] == d for key, d in seen.items())


def test_bound_is_admissible(near, small):
    for depth in range(6):
        assert (small(near.layer(depth)) <= depth).all()


def test_bound_is_consistent(small):
    states = cube3.random_states(1000, seed=1)
    here, there = (
        small(states)[:, None],
        small(cube3.neighbours(states).reshape(-1, 54)).reshape(1000, 12, -1),
    )
    assert (abs(here - there) <= 1).all() and (here != there).any()


def test_views_are_the_table_under_a_symmetry(small):
    "What the search does: it follows the coordinates of a view by renamed moves."
    states, tables = cube3.random_states(200, seed=2), small.tables
    for v in range(len(VIEWS)):
        first, size, bits, base = (field[v] for field in tables[:4])
        (head,), (turn,) = small.coordinates(states)[:, None, :, v]
        for a in range(12):
            step = tables.steps[first + head, tables.view_moves[v, a]].astype(np.int64)
            moved = step >> bits, tables.sums[base + (step & (1 << bits) - 1) * size + turn]
            assert (np.array(moved) == small.coordinates(cube3.apply(states, a))[:, :, v]).all()


@pytest.mark.parametrize(
    'names, message',
    [
        ('', 'each once'),
        ('UR RU', 'each once'),
        ('UR UR', 'each once'),
        ('UR URF', 'each once'),
        (' '.join(EDGES[:8]), 'at most 7'),
        (' '.join(CORNERS), 'at most 7'),  # no state reaches two of three entries, so building would not end
    ],
)
def test_bad_patterns(names, message):
    with pytest.raises(ValueError, match=message):
        read_pattern(names)


def test_symmetries_that_there_are_not(tmp_path):
    with pytest.raises(ValueError, match='numbers of symmetries below 48'):
        PatternBound(cube3, [('UR', 48)], tmp_path)


def test_a_puzzle_with_several_solved_states(tmp_path):
    with pytest.raises(ValueError, match='one solved state: cube2 has 24'):
        PatternBound(cube2, VIEWS[:1], tmp_path)


# files


def test_the_second_time_it_is_read(tmp_path, monkeypatch):
    built = pattern_database(cube3, 'UR UF', tmp_path)
    monkeypatch.setattr(patterns, 'pattern_distances', None)  # building would fail
    assert (pattern_database(cube3, 'UR UF', tmp_path) == built).all()


@pytest.mark.parametrize(
    'damage',
    [
        lambda b: b[:-1],
        lambda b: b[:-9] + bytes([b[-9] ^ 4]) + b[-8:],
        lambda b: b'',
        lambda b: b[:4],
        lambda b: b.replace(b'sha256', b'sha255'),
    ],
)
def test_damage_is_noticed_and_mended(tmp_path, damage):
    built = pattern_database(cube3, 'UR UF', tmp_path)
    (path,) = tmp_path.glob('*.table')
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(UserWarning, match='built again') as warnings:
        assert (pattern_database(cube3, 'UR UF', tmp_path) == built).all()
    assert len(warnings) == 1 and path.read_bytes() == whole and list(tmp_path.glob('*.table')) == [path]


def test_the_folder_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv('CUBE_NB_CACHE', str(tmp_path / 'here'))
    pattern_database(cube3, 'UR')
    assert cache_folder() == tmp_path / 'here' and len(list((tmp_path / 'here').glob('*.table'))) == 1
    monkeypatch.delenv('CUBE_NB_CACHE')
    assert cache_folder().name == 'cube_nb'
