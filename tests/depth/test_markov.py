"The chain of depths: invariants for any counts of a walk on a graph, the printed numbers, the repair, and bad input by name."

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cube_nb.depth.markov import APPROXIMATE, POPULATIONS, SAMPLE, STATES, check_populations
from cube_nb.depth.markov import flows, jump_probabilities, repair_populations, transition_matrix

CUBE2, CUBE3 = POPULATIONS['cube2'], POPULATIONS['cube3']
few = settings(max_examples=60, deadline=None)
flow_lists = st.lists(st.integers(1, 10**6), min_size=1, max_size=25)


def counts_of(flow):
    "The populations whose flows are given: D(d) = F(d) + F(d - 1)."
    return [a + b for a, b in zip([*flow, 0], [0, *flow])]


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
@given(flow_lists, st.integers(1, 1000))
def test_an_imbalance_of_parities_is_named(flow, extra):
    counts = counts_of(flow)
    counts[-1] += extra
    even_minus_odd = sum(counts[::2]) - sum(counts[1::2])
    with pytest.raises(ValueError, match=re.escape(f'differ by {even_minus_odd} (even minus odd)')):
        check_populations(counts)


@few
@given(flow_lists, st.floats(0, 0.9))
def test_staying_slows_the_chain(flow, stay):
    counts = counts_of(flow)
    lazy = transition_matrix(counts, [Fraction(stay)] * len(counts))
    assert np.allclose(lazy, stay * np.eye(len(counts)) + (1 - stay) * transition_matrix(counts))


def test_published_counts_are_those_of_the_data_folder():
    listed = pd.read_csv('data/published/depth_populations.csv', dtype=str)
    for puzzle, counts in POPULATIONS.items():
        assert tuple(map(int, listed[listed.puzzle == puzzle].states)) == counts
    assert {*listed[listed.exact == 'False'].depth.astype(int)} == {*APPROXIMATE}
    assert pd.read_csv('data/published/optimal_lengths.csv').set_index('length').cubes.to_dict() == SAMPLE


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

    published, target = CUBE3[22], 0.4 * (STATES['cube3'] // 2 - sum(CUBE3[:20:2]) - CUBE3[26])
    assert abs(at_22(1) - published) < abs(at_22(20) - published)
    assert abs(at_22(20) - target) < abs(at_22(1) - target)


def test_bad_input_is_one_clear_error():
    with pytest.raises(ValueError, match='a sample has depths 0 to 26'):
        repair_populations(CUBE3, sample={27: 1})
    with pytest.raises(ValueError, match='at least two positive counts'):
        check_populations([1])
    with pytest.raises(ValueError, match='shorter'):
        jump_probabilities(CUBE2, stay=[0, 0])
