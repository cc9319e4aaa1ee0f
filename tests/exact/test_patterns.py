"Pattern databases: bounds that are never too large, in the folder of the user."

import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact.ida import SMALL_VIEWS
from cube_nb.exact.patterns import PatternBound, cache_folder, pattern_coordinates, pattern_database
from cube_nb.exact.patterns import pattern_distances, read_pattern

cube3 = get_puzzle('cube3')
VIEWS = [*SMALL_VIEWS, ('UR UF UL UB FR', 30)]


@pytest.mark.parametrize('names', ['UR', 'DB FL', 'UF BR DL', 'DRB', 'URF DBL'])
def test_tables_are_the_distances_of_the_pieces(names):
    "Against a search over places and turns kept as tuples, which knows no rank and no sum of turns."
    pattern = read_pattern(names)
    distance = pattern_distances(cube3, pattern)
    states, seen, depth = cube3.solved[None], {}, 0
    while len(states):
        places = zip(*(x.tolist() for x in pattern_coordinates(cube3, pattern, states)))
        fresh = {key: state for key, state in zip(places, states) if key not in seen}
        seen |= dict.fromkeys(fresh, depth)
        states = cube3.neighbours(np.array([*fresh.values()]).reshape(-1, 54)).reshape(-1, 54)
        depth += 1
    assert len(seen) == distance.size and all(distance[key] == d for key, d in seen.items())


def test_views_are_the_table_under_a_symmetry(tmp_path):
    "What the search does: it follows the coordinates of a view by renamed moves."
    small = PatternBound(cube3, VIEWS, tmp_path)
    states, tables = cube3.random_states(200, seed=2), small.tables
    for v in range(len(VIEWS)):
        first, size, bits, base = (field[v] for field in tables[:4])
        (head,), (turn,) = small.coordinates(states)[:, None, :, v]
        for a in range(12):
            step = tables.steps[first + head, tables.view_moves[v, a]].astype(np.int64)
            moved = step >> bits, tables.sums[base + (step & (1 << bits) - 1) * size + turn]
            assert (np.array(moved) == small.coordinates(cube3.apply(states, a))[:, :, v]).all()


def test_the_folder_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv('CUBE_NB_CACHE', str(tmp_path / 'here'))
    pattern_database(cube3, 'UR')
    assert cache_folder() == tmp_path / 'here' and len(list((tmp_path / 'here').glob('*.table'))) == 1
    monkeypatch.delenv('CUBE_NB_CACHE')
    assert cache_folder().name == 'cube_nb'
