"The classical solvers: tables that never say too much, searches that find the optimum or say that they did not."
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.cube.cubies import EDGES, random_states
from cube_nb.cube.notation import length_htm
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import far_distance
from cube_nb.search import classical
from cube_nb.search.classical import (PatternBound, automaton, cache_folder, coordinates, deepening, pattern_database, pattern_distances,
                                      read_pattern, step_tables)
from cube_nb.search.core import SOLVERS, get_solver

cube2, cube3 = get_puzzle('cube2'), get_puzzle('cube3')
SMALL = ('URF UFL ULB UBR', 'UR UF UL UB FR')
VIEWS = [(SMALL[0], 0), (SMALL[1], 0), (SMALL[1], 1), (SMALL[1], 30)]


@pytest.fixture(scope='module')
def near(): return bfs(cube3, max_depth=5)


@pytest.fixture(scope='module')
def folder(tmp_path_factory): return tmp_path_factory.mktemp('tables')


@pytest.fixture(scope='module')
def small(folder): return PatternBound(cube3, VIEWS, folder)


def solves(state, answer): return answer.solved and cube3.is_solved(cube3.apply_word(state, answer.moves)[None])[0]


# tables

@pytest.mark.parametrize('names', ['UR', 'DB FL', 'UF BR DL', 'DRB', 'URF DBL'])
def test_tables_are_the_distances_of_the_pieces(names):
    "Against a search over places and turns kept as tuples, which knows no rank and no sum of turns."
    pattern = read_pattern(names)
    steps, sums = step_tables(cube3, pattern)
    distance = pattern_distances(cube3, pattern)
    states, seen, depth = cube3.solved[None], {}, 0
    while len(states):
        fresh = {}
        for key, state in zip(zip(*(x.tolist() for x in coordinates(cube3, pattern, states))), states):
            if key not in seen: seen[key], fresh[key] = depth, state
        states, depth = cube3.neighbours(np.array(list(fresh.values()))).reshape(-1, 54) if fresh else [], depth + 1
    assert len(seen) == distance.size and all(distance[key] == d for key, d in seen.items())


def test_bound_is_admissible(near, small):
    for depth in range(6): assert (small(near.layer(depth)) <= depth).all()


def test_bound_is_consistent(small):
    states = random_states(cube3, 1000, seed=1)
    here, there = small(states)[:, None], small(cube3.neighbours(states).reshape(-1, 54)).reshape(1000, 12, -1)
    assert (abs(here - there) <= 1).all() and (here != there).any()


def test_views_are_the_table_under_a_symmetry(small):
    "What the search does: it follows the coordinates of a view by renamed moves."
    states, tables = random_states(cube3, 200, seed=2), small.tables
    for v in range(len(VIEWS)):
        first, size, bits, base, _ = tables.views[v]
        (head,), (turn,) = small.coordinates(states)[:, None, :, v]
        for a in range(12):
            step = tables.steps[first + head, tables.turns[v, a]].astype(np.int64)
            moved = step >> bits, tables.sums[base + (step & (1 << bits) - 1) * size + turn]
            assert (np.array(moved) == small.coordinates(cube3.apply(states, a))[:, :, v]).all()


@pytest.mark.parametrize('names, message', [('', 'each once'), ('UR RU', 'each once'), ('UR UR', 'each once'), ('UR URF', 'each once'),
                                            (' '.join(EDGES[:8]), 'at most 7')])
def test_bad_patterns(names, message):
    with pytest.raises(ValueError, match=message): read_pattern(names)


# files

def test_the_second_time_it_is_read(tmp_path, monkeypatch):
    built = pattern_database(cube3, 'UR UF', tmp_path)
    monkeypatch.setattr(classical, 'pattern_distances', None)   # building would fail
    assert (pattern_database(cube3, 'UR UF', tmp_path) == built).all()


@pytest.mark.parametrize('damage', [lambda b: b[:-1], lambda b: b[:-9] + bytes([b[-9] ^ 4]) + b[-8:], lambda b: b'', lambda b: b[:4],
                                    lambda b: b.replace(b'sha256', b'sha255')])
def test_damage_is_noticed_and_mended(tmp_path, damage):
    built = pattern_database(cube3, 'UR UF', tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.warns(UserWarning, match='damaged') as warnings: assert (pattern_database(cube3, 'UR UF', tmp_path) == built).all()
    assert len(warnings) == 1 and path.read_bytes() == whole and list(tmp_path.iterdir()) == [path]


def test_the_folder_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv('CUBE_NB_CACHE', str(tmp_path / 'here'))
    pattern_database(cube3, 'UR')
    assert cache_folder() == tmp_path / 'here' and len(list((tmp_path / 'here').iterdir())) == 1
    monkeypatch.delenv('CUBE_NB_CACHE')
    assert cache_folder().name == 'cube_nb'


# search

def test_kept_words_reach_every_state(near):
    "The automaton drops repetition only: its words of each length reach all states of that depth."
    table, past, states = automaton(cube3), np.zeros(1, int), cube3.solved[None]
    for depth in range(1, 5):
        rows, moves = np.nonzero(table[past] >= 0)
        past, states = table[past[rows], moves], cube3.apply(states[rows], moves)
        assert set(map(bytes, near.layer(depth))) <= set(map(bytes, states))
    assert len(states) == near.counts[4]   # and each of them once


def test_lengths_are_optimal(near, small):
    states = cube3.scramble(90, np.arange(90) % 10, seed=3).states
    answers = get_solver('ida')(cube3, states, None, lower=small)
    assert [len(a) for a in answers] == list(far_distance(near, states, most=9))
    assert all(solves(*pair) for pair in zip(states, answers))


@given(st.lists(st.integers(0, 11), max_size=8))
@settings(max_examples=40, deadline=None)
def test_never_longer_than_the_scramble_and_of_its_parity(small, word):
    state = cube3.apply_word(cube3.solved, word)
    (answer,) = get_solver('ida')(cube3, state[None], lower=small)
    assert solves(state, answer) and len(answer) <= len(word) and (len(word) - len(answer)) % 2 == 0


def test_threads_do_not_change_the_length(small):
    import numba
    states, before = cube3.scramble(6, 9, seed=4).states, numba.get_num_threads()
    lengths = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            lengths.append([len(a) for a in get_solver('ida')(cube3, states, lower=small)])
    finally: numba.set_num_threads(before)
    assert lengths[0] == lengths[1]


def test_limits_end_in_not_solved(small):
    states = random_states(cube3, 2, seed=5)
    for limits in (dict(max_nodes=50_000), dict(time_limit=.2)):
        for answer in get_solver('ida')(cube3, states, lower=small, **limits):
            assert not answer.solved and answer.moves == () and str(answer) == 'not solved' and answer.seconds < 2
    for answer in get_solver('ida')(cube3, states, lower=small, max_nodes=50_000): assert 0 < answer.expanded < answer.generated < 200_000


def test_rounds_prove_bounds(small):
    state = cube3.scramble(1, 9, seed=6).states[0]
    rounds = list(deepening(small, state))
    assert [r.complete for r in rounds] == [True] * len(rounds) and [r.moves for r in rounds[:-1]] == [None] * (len(rounds) - 1)
    assert list(np.diff([r.bound for r in rounds])) == [2] * (len(rounds) - 1) and len(rounds[-1].moves) == rounds[-1].bound
    stopped = list(deepening(small, random_states(cube3, 1, seed=7)[0], max_nodes=50_000))
    assert not stopped[-1].complete and stopped[-1].bound >= stopped[0].bound


def test_solved_and_none(small):
    for solver, options in (('ida', dict(lower=small)), ('kociemba', {})):
        (answer,) = get_solver(solver)(cube3, cube3.solved[None], None, **options)
        assert answer.solved and answer.moves == ()
        assert get_solver(solver)(cube3, cube3.solved[None][:0], None, **options) == []


def test_kociembas_words_solve():
    states = np.concatenate([cube3.scramble(30, np.arange(30), seed=8).states, random_states(cube3, 30, seed=9)])
    answers = get_solver('kociemba')(cube3, states, None)
    assert all(solves(*pair) for pair in zip(states, answers))
    assert max(length_htm(cube3, a.moves) for a in answers) <= 24 < max(len(a) for a in answers)
    assert not get_solver('kociemba')(cube3, states[-1:], None, time_limit=1e-9)[0].solved


def test_kociemba_missing(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, 'kociemba', None)
    with pytest.raises(ValueError, match='pip install kociemba'): get_solver('kociemba')(cube3, cube3.solved[None], None)


@pytest.mark.parametrize('solver', ['ida', 'kociemba'])
def test_another_puzzle(solver):
    with pytest.raises(ValueError, match=f"'{solver}' is for cube3, got cube2"): get_solver(solver)(cube2, cube2.goals, None)
    assert not SOLVERS[solver].evaluated


def test_an_impossible_cube(small):
    state = cube3.solved.copy()
    state[[7, 19]] = state[[19, 7]]
    for solver, options in (('ida', dict(lower=small)), ('kociemba', {})):
        with pytest.raises(ValueError): get_solver(solver)(cube3, state[None], None, **options)
