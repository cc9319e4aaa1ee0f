"The exact walk against brute force and sampling, on tables of a few layers; the chain of any puzzle against the walk."

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from evaluators import table_of

from cube_nb.cube.keys import keys_of
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import bfs
from cube_nb.depth.exact import depth_after, direction_counts, directions, far_distance, neighbour_table
from cube_nb.depth.exact import pair_shares, random_states_at, scramble_depths, shortest_solutions
from cube_nb.depth.exact import shortest_word_counts, stay_shares, uniform_by_parity, walk_distribution
from cube_nb.depth.markov import flows

each = pytest.mark.parametrize('puzzle', [*map(get_puzzle, puzzle_names())], ids=puzzle_names())
both_walks = pytest.mark.parametrize('no_inverse', [False, True])


@cache
def graph_of(name):
    return neighbour_table(table_of(name, 3))


@each
def test_word_counts_add_up_to_the_words_that_reach_a_depth(puzzle):
    table, graph = table_of(puzzle.name, 3), graph_of(puzzle.name)
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
    words = shortest_solutions(table_of(puzzle.name, 3), states, 4)
    for state, word, distance in zip(states, words, far_distance(table_of(puzzle.name, 3), states, 4)):
        assert (word is None) == (distance < 0)
        if word is not None:
            assert len(word) == distance and puzzle.is_solved(puzzle.apply_word(state, word)[None]).all()


@each
@both_walks
def test_walks_count_words(puzzle, no_inverse):
    table = table_of(puzzle.name, 3)
    words = [*product(range(puzzle.num_moves), repeat=3)]
    if no_inverse:
        words = [word for word in words if not puzzle.undoes[list(word[:-1]), list(word[1:])].any()]
    states = np.stack([puzzle.apply_word(puzzle.solved, word) for word in words])
    expected = np.bincount(table.distance(states), minlength=4) / len(words)
    found = depth_after(table, graph_of(puzzle.name), 4, no_inverse)
    assert np.allclose(found[3], [*expected, 0]) and np.allclose(found.sum(1), 1)


@each
@both_walks
def test_sampled_scrambles_follow_the_exact_walk(puzzle, no_inverse):
    expected = depth_after(table_of(puzzle.name, 3), graph_of(puzzle.name), 4, no_inverse)[4]
    expected = expected.clip(0, None)  # rounding may leave -1e-17
    depths = scramble_depths(bfs(puzzle, 2), 4, 20_000, seed=3, no_inverse=no_inverse)
    seen = np.bincount(depths, minlength=5) / 20_000
    assert (abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / 20_000) + 1e-12).all()


@each
def test_directions_average_to_the_chain(puzzle):
    table, total = table_of(puzzle.name, 3), len(puzzle.generators)
    moves = np.stack([directions(table, table.layer(d)).sum(0) for d in range(4)])
    assert (moves.sum(1) == total * table.counts).all()
    assert (moves[1:, 0] == moves[:-1, 2]).all()  # edges down are edges up
    stay = [Fraction(int(s), int(total * n)) for s, n in zip(moves[:, 1], table.counts)]
    assert [f * total for f in flows(table.counts, stay)] == moves[:, 2].tolist()
    assert stay_shares(table, graph_of(puzzle.name)) == stay


@each
def test_pairs_of_moves_are_those_of_each_state(puzzle):
    table, total = table_of(puzzle.name, 3), len(puzzle.generators)
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
    table, deep = bfs(puzzle, 1), table_of(puzzle.name, 3)
    words = shortest_word_counts(table, neighbour_table(table))
    drawn = random_states_at(table, words, 2, 8_000, seed=4)
    assert drawn.shape == (8_000, puzzle.num_facelets) and (deep.distance(drawn) == 2).all()
    numbers = deep.table.find(keys_of(puzzle, drawn)) - deep.ends[1]
    seen = np.bincount(numbers, minlength=deep.counts[2])
    expected = 8_000 / deep.counts[2]
    chi_squared = ((seen - expected) ** 2 / expected).sum()
    assert chi_squared < deep.counts[2] + 5 * np.sqrt(2 * deep.counts[2])  # five deviations
    with pytest.raises(ValueError, match='depth 0 is inside the table'):
        random_states_at(table, words, 0, 1)


def test_half_turns_do_not_alternate():
    with pytest.raises(ValueError, match='do not all change the parity'):
        uniform_by_parity(table_of('cube3-htm', 3))
