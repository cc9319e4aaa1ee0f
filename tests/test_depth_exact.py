"The exact walk against brute force and sampling, on tables of a few layers."
from itertools import islice, product

import numpy as np
import pytest

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import (alternates, sum_by_depth, depth_after, directions, far_distance, neighbour_table, random_states_at,
                                 scramble_depths, shortest_word_counts, shortest_words, total_variation, unevenness,
                                 uniform_by_parity, walk_distribution)
from cube_nb.depth.markov import flows

PUZZLES = [get_puzzle('cube2'), get_puzzle('cube3'), get_puzzle('cube2-htm'), get_puzzle('cube3-htm')]
TABLES = {puzzle.name: bfs(puzzle, 3) for puzzle in PUZZLES}
GRAPHS = {name: neighbour_table(table) for name, table in TABLES.items()}
each = pytest.mark.parametrize('puzzle', PUZZLES, ids=TABLES)


@each
def test_the_graph_is_symmetric_and_ends_at_the_table(puzzle):
    table, graph = TABLES[puzzle.name], GRAPHS[puzzle.name]
    inner = table.ends[2]
    assert (graph[:inner] >= 0).all() and (graph[inner:] == -1).any()
    back = graph[graph[:inner]]
    assert (back == np.arange(inner)[:, None, None]).any(2).all()


@each
def test_word_counts_add_up_to_the_words_that_reach_a_depth(puzzle):
    table, graph = TABLES[puzzle.name], GRAPHS[puzzle.name]
    counts = shortest_word_counts(table, graph)
    for n, x in zip(range(4), walk_distribution(graph)):
        at, words = slice(table.ends[n] - table.counts[n], table.ends[n]), len(puzzle.generators) ** n
        assert np.allclose(x[at] * words, counts[at])


@each
def test_far_distance_agrees_with_a_deeper_table(puzzle):
    deep, states = bfs(puzzle, 4), puzzle.scramble(200, 5, seed=1).states
    truth = deep.distance(states)
    assert (far_distance(bfs(puzzle, 1), states, 4) == truth).all()
    assert (far_distance(deep, states, 2) == np.where(truth <= 2, truth, -1)).all()
    assert far_distance(deep, states[:0], 6).shape == (0,)


@pytest.mark.parametrize('no_inverse', [False, True])
def test_walks_of_the_3x3x3_count_words(no_inverse):
    puzzle = get_puzzle('cube3')
    table = TABLES['cube3']
    words = [w for w in product(range(12), repeat=3) if not (no_inverse and any(b == a ^ 1 for a, b in zip(w, w[1:])))]
    states = np.stack([puzzle.apply_word(puzzle.solved, w) for w in words])
    expected = np.bincount(table.distance(states), minlength=4) / len(words)
    found = depth_after(table, GRAPHS['cube3'], 4, no_inverse)
    assert np.allclose(found[3], [*expected, 0]) and np.allclose(found.sum(1), 1)
    with pytest.raises(ValueError, match='a table to depth 3 follows 4 moves, not 5'): depth_after(table, GRAPHS['cube3'], 5)


@pytest.mark.parametrize('no_inverse', [False, True])
def test_sampled_scrambles_follow_the_exact_walk(no_inverse):
    expected = depth_after(TABLES['cube3'], GRAPHS['cube3'], 4, no_inverse)[4]
    seen = np.bincount(scramble_depths(bfs(get_puzzle('cube3'), 2), 4, 20_000, seed=3, no_inverse=no_inverse), minlength=5) / 20_000
    assert (abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-12).all()


@each
def test_directions_average_to_the_chain(puzzle):
    table, total = TABLES[puzzle.name], len(puzzle.generators)
    moves = np.stack([directions(table, table.layer(d)).sum(0) for d in range(4)])
    assert (moves.sum(1) == total * table.counts).all() and (moves[1:, 0] == moves[:-1, 2]).all()        # edges down are edges up
    from fractions import Fraction
    flow = flows(table.counts, [Fraction(int(s), int(total * n)) for s, n in zip(moves[:, 1], table.counts)])
    assert [f * total for f in flow] == moves[:, 2].tolist()


@pytest.mark.parametrize('puzzle', PUZZLES[1::2], ids=['cube3', 'cube3-htm'])
def test_random_states_at_a_depth_are_uniform(puzzle):
    table, deep = bfs(puzzle, 1), TABLES[puzzle.name]
    words = shortest_word_counts(table, neighbour_table(table))
    drawn = random_states_at(table, words, 2, 20_000, seed=4)
    assert drawn.shape == (20_000, 54) and (deep.distance(drawn) == 2).all()
    from cube_nb.cube.keys import keys_of
    seen = np.bincount(deep.table.find(keys_of(puzzle, drawn)) - deep.ends[1], minlength=deep.counts[2])
    expected = 20_000 / deep.counts[2]
    assert ((seen - expected) ** 2 / expected).sum() < deep.counts[2] + 5 * np.sqrt(2 * deep.counts[2])   # chi squared, five deviations
    with pytest.raises(ValueError, match='depth 0 is inside the table'): random_states_at(table, words, 0, 1)


def test_scrambles_with_half_turns_are_no_deeper_than_the_truth():
    puzzle = PUZZLES[3]
    table = bfs(puzzle, 1)
    assert not alternates(puzzle)
    assert (scramble_depths(table, 3, 2000, seed=1) == TABLES[puzzle.name].distance(puzzle.scramble(2000, 3, seed=1).states)).all()
    with pytest.raises(ValueError, match='do not all change the parity'): uniform_by_parity(table)


def test_small_things():
    table = TABLES['cube2']
    assert total_variation([1, 0], [0, 1]) == 1 and total_variation([[.5, .5]], [.5, .5]).tolist() == [0]
    assert sum_by_depth(table, np.ones(len(table))).tolist() == table.counts.tolist()
    assert unevenness(table, np.full(len(table), .1)).max() < 1e-6
    x = next(islice(walk_distribution(GRAPHS['cube2']), 1, None))
    assert np.isclose(x.sum(), 1) and np.isnan(unevenness(table, x)[0])
    assert [len(shortest_words(get_puzzle('cube2'), k)) for k in range(3)] == [1, 6, 27]
    with pytest.raises(ValueError, match='deeper than the table'): directions(table, get_puzzle('cube2').scramble(3, 20, seed=1).states)
