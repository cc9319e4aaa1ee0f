"Pattern databases: bounds that are never too large, in files that notice damage."

import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle
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


def test_symmetries_that_there_are_not(tmp_path):
    with pytest.raises(ValueError, match='numbers of symmetries below 48'):
        PatternBound(cube3, [('UR', 48)], tmp_path)


# files


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
