"Exact distances: a contract for every registered puzzle, on tables of a few layers, and the counts that are known."

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from evaluators import table_of

from cube_nb.cube.keys import keys_of
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import alternates
from cube_nb.depth.markov import STATES

DEPTH = 4
ALL = [*map(get_puzzle, puzzle_names())]
few = settings(max_examples=40, deadline=None)


@pytest.fixture(scope='module', params=puzzle_names())
def table(request):
    return table_of(request.param, DEPTH)


def test_layers_are_disjoint_and_each_touches_the_one_before(table):
    puzzle = table.puzzle
    keys = np.concatenate([keys_of(puzzle, table.layer(d)) for d in range(DEPTH + 1)])
    assert len(np.unique(keys, axis=0)) == len(keys) == len(table) == table.counts.sum() == table.ends[-1]
    for d in range(1, DEPTH + 1):
        children = puzzle.neighbours(table.layer(d)[:500]).reshape(-1, puzzle.num_facelets)
        there = table.distance(children).reshape(-1, puzzle.num_moves)
        there[there < 0] = DEPTH + 1
        assert (there.min(1) == d - 1).all() and (there <= d + 1).all()


def test_a_table_is_the_beginning_of_a_deeper_one(table):
    shallow, states = bfs(table.puzzle, 2, chunk=7), table.layer(3)[:50]
    assert shallow.counts.tolist() == table.counts[:3].tolist() and not shallow.complete
    assert (shallow.distance(states) == -1).all() and (table.distance(states) == 3).all()


@few
@given(st.sampled_from(ALL), st.integers(0, DEPTH), st.integers(0, 2**32), st.data())
def test_distance_is_at_most_the_number_of_moves_and_the_same_for_symmetric_states(puzzle, moves, seed, data):
    table, states = table_of(puzzle.name, DEPTH), puzzle.scramble(20, moves, seed).states
    distance = table.distance(states)
    assert (distance >= 0).all() and (distance <= moves).all()
    if alternates(puzzle):
        assert (distance % 2 == moves % 2).all()
    symmetry = data.draw(st.integers(0, len(puzzle.symmetries) - 1))
    assert (table.distance(puzzle.symmetric(states, symmetry)) == distance).all()


def test_the_published_half_turn_counts_add_up_within_their_rounding():
    listed = pd.read_csv('data/published/half_turn_populations.csv', dtype={'states': str})
    counts = [int(n) for n in listed.states]
    assert counts[: DEPTH + 1] == table_of('cube3-htm', DEPTH).counts.tolist()
    assert list(listed.depth) == [*range(21)]
    assert abs(sum(counts) - STATES['cube3']) <= listed.unit.astype(float).sum() / 2


def test_depth_zero_and_bad_depth():
    solved = get_puzzle('cube3').solved[None]
    only = bfs(get_puzzle('cube3'), 0)
    assert len(only) == 1 and (only.layer(0) == solved).all() and only.distance(solved).tolist() == [0]
    assert only.distance(solved[:0]).shape == (0,)
    with pytest.raises(ValueError, match='max_depth must not be negative, got -1'):
        bfs(get_puzzle('cube3'), -1)
