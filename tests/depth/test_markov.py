"The chain of depths: invariants for any counts of a walk on a graph, the printed numbers, the repair, and bad input by name."

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube_nb.depth.markov import (
    APPROXIMATE,
    POPULATIONS,
    SAMPLE,
    STATES,
    check_populations,
    depth_given_moves,
    direction_pairs,
    flows,
    growth_factor,
    jump_probabilities,
    memory_matrix,
    posterior_populations,
    repair_populations,
    transition_matrix,
)

CUBE2, CUBE3 = POPULATIONS['cube2'], POPULATIONS['cube3']
BY_HAND = repair_populations(CUBE3, 'published')
few = settings(max_examples=60, deadline=None)
flow_lists = st.lists(st.integers(1, 10**6), min_size=1, max_size=25)


def counts_of(flow):
    "The populations whose flows are given: D(d) = F(d) + F(d - 1)."
    return [a + b for a, b in zip([*flow, 0], [0, *flow])]


# --- what holds for any counts -------------------------------------------------------------------------------------


@few
@given(flow_lists)
def test_flows_are_recovered_and_counts_are_stationary(flow):
    counts = counts_of(flow)
    assert flows(counts) == [*flow, 0]
    p, q = jump_probabilities(counts)
    assert np.allclose(p + q, 1) and (p[0], q[-1]) == (1, 1)
    matrix, D = transition_matrix(counts), np.array(counts, float)
    assert np.allclose(matrix.sum(1), 1) and np.allclose(D @ matrix, D, rtol=1e-9)
    assert np.allclose(D[:-1] * p[:-1], D[1:] * q[1:])


@few
@given(flow_lists, st.data())
def test_the_first_broken_inequality_is_named(flow, data):
    counts, d = counts_of(flow), data.draw(st.integers(1, len(flow)))
    counts[d] = data.draw(st.integers(1, flow[d - 1]))  # no more than come from below
    counts.append(1)
    with pytest.raises(ValueError, match=f'tower of inequalities at depth {d}: '):
        transition_matrix(counts)


@few
@given(flow_lists, st.integers(1, 1000))
def test_an_imbalance_of_parities_is_named(flow, extra):
    counts = counts_of(flow)
    counts[-1] += extra
    even_minus_odd = sum(counts[::2]) - sum(counts[1::2])
    with pytest.raises(ValueError, match=re.escape(f'differ by {even_minus_odd} (even minus odd)')):
        check_populations(counts)


@few
@given(flow_lists, st.integers(0, 60))
def test_parity_is_never_forgotten_and_nothing_is_lost(flow, moves):
    found = depth_given_moves(moves, counts_of(flow))
    assert found.shape == (len(flow) + 1,) and np.isclose(found.sum(), 1) and (found >= 0).all()
    assert (found[1 - moves % 2 :: 2] == 0).all() and (found[moves + 1 :] == 0).all()


@few
@given(flow_lists, st.floats(0, 0.9))
def test_staying_slows_the_chain_and_keeps_it_stationary(flow, stay):
    counts = counts_of([Fraction(f) for f in flow])
    counts = [int(n) for n in counts]
    share = [Fraction(stay)] * len(counts)  # the same for all depths: a lazy walk on the same graph
    lazy, usual = transition_matrix(counts, share), transition_matrix(counts)
    assert np.allclose(lazy, stay * np.eye(len(counts)) + (1 - stay) * usual)


@pytest.mark.parametrize('counts, degree', [(CUBE2, 6), (BY_HAND, 12), (None, 12)])
def test_without_a_move_straight_back_the_counts_stay_stationary(counts, degree):
    counts = counts or repair_populations(CUBE3)
    n, flow = len(counts), np.array([float(f) for f in flows(counts)])
    matrix = memory_matrix(direction_pairs(counts, degree))
    stationary = np.concatenate([[0, *flow[:-1]], np.zeros(n), flow])
    assert (matrix >= 0).all() and np.allclose(stationary @ matrix, stationary, rtol=1e-9)
    late = depth_given_moves([2000, 2001], counts, degree).mean(0)
    assert np.allclose(late, np.array([float(c) for c in counts]) / sum(counts), atol=1e-9)
    assert depth_given_moves(2, counts, degree)[0] == 0 and depth_given_moves(0, counts, degree)[0] == 1
    assert len(depth_given_moves(5, counts, degree)) == n


# --- the 3x3x3 -----------------------------------------------------------------------------------------------------


def test_published_counts_are_those_of_the_data_folder_and_break_the_tower():
    listed = pd.read_csv('data/published/depth_populations.csv', dtype=str)
    for puzzle, counts in POPULATIONS.items():
        assert tuple(map(int, listed[listed.puzzle == puzzle].states)) == counts
    assert {d for d, exact in zip(listed.depth.astype(int), listed.exact) if exact == 'False'} == set(
        APPROXIMATE
    )
    assert sum(CUBE3[::2]) - sum(CUBE3[1::2]) == -692609766246121324
    with pytest.raises(ValueError, match='at depth 22'):
        jump_probabilities(CUBE3)
    lengths = pd.read_csv('data/published/optimal_lengths.csv').set_index('length').cubes.to_dict()
    assert lengths == SAMPLE


def test_the_hand_repair_changes_depth_20_alone():
    assert [d for d in range(27) if BY_HAND[d] != CUBE3[d]] == [20]
    assert sum(BY_HAND) > 1.02 * STATES['cube3']


def test_growth_factor_of_a_geometric_list():
    assert np.allclose(growth_factor([5 * 3**d for d in range(20)]), (3, 5))
    assert round(growth_factor(CUBE3)[0], 3) == 9.326


# --- the better repair ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize('sample', [SAMPLE, {18: 4, 19: 19, 20: 109, 21: 146, 22: 48}, {20: 10, 21: 10}, {}])
def test_the_constrained_repair_obeys_everything_that_is_known(sample):
    fitted = repair_populations(CUBE3, sample=sample)
    assert sum(fitted[::2]) == sum(fitted[1::2]) == STATES['cube3'] // 2
    assert all(fitted[d] == CUBE3[d] for d in range(27) if d not in APPROXIMATE)
    assert all(12 * f >= n for f, n in zip(flows(fitted), fitted[1:]))  # every state has a way down
    assert all(abs(fitted[d] - CUBE3[d]) < unit for d, unit in APPROXIMATE.items())


def test_a_larger_sample_weighs_more():
    def at_22(times):
        return repair_populations(CUBE3, sample={20: 60 * times, 22: 40 * times})[22]

    target = 0.4 * (STATES['cube3'] // 2 - sum(CUBE3[:20:2]) - CUBE3[26])
    assert abs(at_22(1) - CUBE3[22]) < abs(at_22(20) - CUBE3[22]) and abs(at_22(20) - target) < abs(
        at_22(1) - target
    )


def test_drawn_counts_are_seeded_and_consistent():
    first, again, other = (posterior_populations(CUBE3, SAMPLE, 5, seed) for seed in (1, 1, 2))
    assert first == again != other
    for counts in first:
        check_populations(counts)
        assert sum(counts) == STATES['cube3']


@pytest.mark.parametrize(
    'call, words',
    [
        (lambda: repair_populations(CUBE3, 'best'), "unknown method 'best'"),
        (lambda: repair_populations(CUBE2), 'expected the 27 counts of the 3x3x3, got 15'),
        (lambda: repair_populations(CUBE3, sample={27: 1}), 'a sample has depths 0 to 26'),
        (lambda: check_populations([1]), 'at least two positive counts'),
        (lambda: check_populations([1, 2, -1]), 'positive counts'),
        (lambda: depth_given_moves(-1, CUBE2), 'must not be negative, got -1'),
        (lambda: depth_given_moves([3, -2], CUBE2), 'must not be negative, got -2'),
        (lambda: direction_pairs(CUBE2, 3), 'must be at least 1/3'),
        (lambda: jump_probabilities(CUBE2, stay=[0, 0]), 'shorter'),
    ],
)
def test_bad_input_is_one_clear_error(call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()
