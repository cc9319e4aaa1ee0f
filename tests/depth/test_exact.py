"The exact walk against brute force and sampling, on tables of a few layers; the chain of any puzzle against the walk."

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice, product

import numpy as np
import pytest

from cube_nb.cube.keys import keys_of
from cube_nb.cube.puzzle import PUZZLES, get_puzzle, puzzle_names, register_puzzle
from cube_nb.depth.bfs import bfs, complete_table
from cube_nb.depth.exact import (
    alternates,
    depth_after,
    depth_distribution,
    direction_counts,
    directions,
    far_distance,
    neighbour_table,
    pair_shares,
    random_states_at,
    scramble_depths,
    shortest_solutions,
    shortest_word_counts,
    shortest_words,
    stay_shares,
    sum_by_depth,
    total_variation,
    unevenness,
    uniform_by_parity,
    walk_distribution,
)
from cube_nb.depth.markov import after_moves, flows, transition_matrix

each = pytest.mark.parametrize('puzzle', [*map(get_puzzle, puzzle_names())], ids=puzzle_names())
both_walks = pytest.mark.parametrize('no_inverse', [False, True])


@cache
def table_of(name):
    return bfs(get_puzzle(name), 3)


@cache
def graph_of(name):
    return neighbour_table(table_of(name))


@each
def test_the_graph_is_symmetric_and_ends_at_the_table(puzzle):
    table, graph = table_of(puzzle.name), graph_of(puzzle.name)
    inner = table.ends[2]
    assert (graph[:inner] >= 0).all() and (graph[inner:] == -1).any()
    back = graph[graph[:inner]]
    assert (back == np.arange(inner)[:, None, None]).any(2).all()


@each
def test_word_counts_add_up_to_the_words_that_reach_a_depth(puzzle):
    table, graph = table_of(puzzle.name), graph_of(puzzle.name)
    counts = shortest_word_counts(table, graph)
    for n, x in zip(range(4), walk_distribution(graph)):
        layer = slice(table.ends[n] - table.counts[n], table.ends[n])
        words = len(puzzle.generators) ** n
        assert np.allclose(x[layer] * words, counts[layer])


@each
def test_far_distance_agrees_with_a_deeper_table(puzzle):
    deep, states = bfs(puzzle, 4), puzzle.scramble(200, 5, seed=1).states
    truth = deep.distance(states)
    assert (far_distance(bfs(puzzle, 1), states, 4) == truth).all()
    assert (far_distance(deep, states, 2) == np.where(truth <= 2, truth, -1)).all()
    assert far_distance(deep, states[:0], 6).shape == (0,)


@each
def test_shortest_solutions_solve_and_are_as_long_as_the_distance(puzzle):
    states = puzzle.scramble(50, np.arange(50) % 6, seed=2).states
    words = shortest_solutions(table_of(puzzle.name), states, 4)
    distances = far_distance(table_of(puzzle.name), states, 4)
    for state, word, distance in zip(states, words, distances):
        assert (word is None) == (distance < 0)
        if word is not None:
            assert len(word) == distance
            assert puzzle.is_solved(puzzle.apply_word(state, word)[None]).all()


@each
@both_walks
def test_walks_count_words(puzzle, no_inverse):
    table = table_of(puzzle.name)
    words = [
        word
        for word in product(range(puzzle.num_moves), repeat=3)
        if not (no_inverse and puzzle.undoes[list(word[:-1]), list(word[1:])].any())
    ]
    states = np.stack([puzzle.apply_word(puzzle.solved, word) for word in words])
    expected = np.bincount(table.distance(states), minlength=4) / len(words)
    found = depth_after(table, graph_of(puzzle.name), 4, no_inverse)
    assert np.allclose(found[3], [*expected, 0]) and np.allclose(found.sum(1), 1)
    with pytest.raises(ValueError, match='a table to depth 3 follows 4 moves, not 5'):
        depth_after(table, graph_of(puzzle.name), 5)


@each
@both_walks
def test_sampled_scrambles_follow_the_exact_walk(puzzle, no_inverse):
    expected = depth_after(table_of(puzzle.name), graph_of(puzzle.name), 4, no_inverse)[4]
    expected = expected.clip(0, None)  # rounding may leave -1e-17
    depths = scramble_depths(bfs(puzzle, 2), 4, 20_000, seed=3, no_inverse=no_inverse)
    seen = np.bincount(depths, minlength=5) / 20_000
    assert (abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-12).all()


@each
def test_directions_average_to_the_chain(puzzle):
    table, total = table_of(puzzle.name), len(puzzle.generators)
    moves = np.stack([directions(table, table.layer(d)).sum(0) for d in range(4)])
    assert (moves.sum(1) == total * table.counts).all()
    assert (moves[1:, 0] == moves[:-1, 2]).all()  # edges down are edges up
    stay = [Fraction(int(s), int(total * n)) for s, n in zip(moves[:, 1], table.counts)]
    assert [f * total for f in flows(table.counts, stay)] == moves[:, 2].tolist()
    assert stay_shares(table, graph_of(puzzle.name)) == stay


@each
def test_pairs_of_moves_are_those_of_each_state(puzzle):
    table, total = table_of(puzzle.name), len(puzzle.generators)
    pairs = pair_shares(table, graph_of(puzzle.name))
    assert np.allclose(pairs, pairs.transpose(0, 2, 1)) and np.allclose(pairs.sum((1, 2)), 1)
    counts = direction_counts(table, graph_of(puzzle.name))
    for d in range(4):
        ways = directions(table, table.layer(d))
        assert (counts[table.ends[d] - table.counts[d] : table.ends[d]] == ways).all()
        expected = np.einsum('bi,bj->ij', ways, ways) - np.diag(ways.sum(0))
        assert np.allclose(pairs[d] * table.counts[d] * total * (total - 1), expected)


@each
def test_random_states_at_a_depth_are_uniform(puzzle):
    table, deep = bfs(puzzle, 1), table_of(puzzle.name)
    words = shortest_word_counts(table, neighbour_table(table))
    drawn = random_states_at(table, words, 2, 20_000, seed=4)
    assert drawn.shape == (20_000, puzzle.num_facelets) and (deep.distance(drawn) == 2).all()
    numbers = deep.table.find(keys_of(puzzle, drawn)) - deep.ends[1]
    seen = np.bincount(numbers, minlength=deep.counts[2])
    expected = 20_000 / deep.counts[2]
    chi_squared = ((seen - expected) ** 2 / expected).sum()
    assert chi_squared < deep.counts[2] + 5 * np.sqrt(2 * deep.counts[2])  # five deviations
    with pytest.raises(ValueError, match='depth 0 is inside the table'):
        random_states_at(table, words, 0, 1)


def test_scrambles_with_half_turns_are_no_deeper_than_the_truth():
    puzzle = get_puzzle('cube3-htm')
    table = bfs(puzzle, 1)
    assert not alternates(puzzle)
    truth = table_of(puzzle.name).distance(puzzle.scramble(2000, 3, seed=1).states)
    assert (scramble_depths(table, 3, 2000, seed=1) == truth).all()
    with pytest.raises(ValueError, match='do not all change the parity'):
        uniform_by_parity(table)


# --- p(d | N) of any puzzle ----------------------------------------------------------------------------------------


@pytest.fixture(params=[3, 6])
def faces(request):
    "A puzzle with a complete table: the 2x2x2 in half turns, turned at one face or at two faces only."
    base, moves = get_puzzle('cube2-htm'), request.param
    name = f'first {moves} moves'
    identity = base.rotations[:1]
    register_puzzle(
        name,
        lambda: replace(
            base,
            name=name,
            moves=base.moves[:moves],
            move_names=base.move_names[:moves],
            rotations=identity,
            symmetries=identity,
        ),
    )
    yield get_puzzle(name)
    del PUZZLES[name]


@both_walks
def test_the_chain_of_counted_moves_is_near_the_exact_walk(faces, no_inverse):
    table = complete_table(faces)
    graph = neighbour_table(table)
    steps = np.arange(30)
    found = depth_distribution(faces, steps, no_inverse)
    exact = depth_after(table, graph, 29, no_inverse)
    assert (found >= 0).all() and np.allclose(found.sum(1), 1)
    assert np.allclose(found[:3], exact[:3])
    assert total_variation(found, exact).max() < 0.12
    assert np.allclose(depth_distribution(faces, 7, no_inverse), found[7])
    if not no_inverse:
        lazy = transition_matrix(table.counts, stay_shares(table, graph))
        assert np.allclose(found, after_moves(lazy, steps))


# --- small things --------------------------------------------------------------------------------------------------


def test_small_things():
    table = table_of('cube2')
    assert total_variation([1, 0], [0, 1]) == 1
    assert total_variation([[0.5, 0.5]], [0.5, 0.5]).tolist() == [0]
    assert sum_by_depth(table, np.ones(len(table))).tolist() == table.counts.tolist()
    assert unevenness(table, np.full(len(table), 0.1)).max() < 1e-6
    x = next(islice(walk_distribution(graph_of('cube2')), 1, None))
    assert np.isclose(x.sum(), 1) and np.isnan(unevenness(table, x)[0])
    assert [len(shortest_words(get_puzzle('cube2'), k)) for k in range(3)] == [1, 6, 27]
    with pytest.raises(ValueError, match='deeper than the table'):
        directions(table, get_puzzle('cube2').scramble(3, 20, seed=1).states)


@pytest.mark.slow
def test_the_skewb_follows_its_chain():
    puzzle = get_puzzle('skewb')
    table = complete_table(puzzle)
    graph = neighbour_table(table)
    for no_inverse, limit in ((False, 0.06), (True, 0.02)):
        found = depth_distribution(puzzle, np.arange(16), no_inverse)
        exact = depth_after(table, graph, 15, no_inverse)
        assert np.allclose(found[:3], exact[:3])
        assert total_variation(found, exact).max() < limit
