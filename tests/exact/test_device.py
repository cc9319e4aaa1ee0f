"Proofs on a device: the same nodes as the search of the host, on the stand-in for a GPU too."

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from stand_in import counted, stand_in

from cube_nb.clock import Clock
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact.coset import piece_codes
from cube_nb.exact.device import BlockSearch, DeviceBounds, prove_together, search_together
from cube_nb.exact.dual import Search, coset_bound, iterations
from cube_nb.search.core import Solution

WAITS = 1 + 6 * 2  # of the host for a block: for its children, and for each of six views


@pytest.fixture(scope='module', params=['cube3', 'cube3-htm'])
def lower(request):
    return coset_bound(get_puzzle(request.param), 'tiny')


@pytest.mark.parametrize('room', [7, 100, 10_000])
def test_nodes_are_those_of_the_host(lower, room):
    lengths = np.array([7, 8, 9, 9] * 5) - 2 * (lower.puzzle.num_moves > 12)  # half turns have more children
    roots = piece_codes(lower.puzzle, lower.puzzle.scramble(20, 40, seed=3).states)
    bounds = DeviceBounds(lower, torch.device('cpu'))
    for root, length, mine in zip(roots, lengths, search_together(bounds, roots, lengths, Clock(), room)):
        host = Search(lower, root[None], np.zeros(1, np.int64), int(length)).run(Clock())
        assert (mine.complete, mine.moves) == (True, None) == (host.complete, host.moves)
        assert (mine.generated, mine.expanded, mine.lookups) == (host.generated, host.expanded, host.lookups)


def shortest(lower, state):
    "The length of a shortest solution by the search of the host."
    *_, last = iterations(lower, state, np.inf, Clock())
    return last.length


@pytest.mark.parametrize('on', ['cpu', pytest.param('stand-in', marks=pytest.mark.slow)])
def test_cubes_are_proven_as_on_the_host(lower, on):
    count = 20 if on == 'cpu' else 10
    halves = lower.puzzle.num_moves > 12
    if on != 'cpu' and halves:
        pytest.skip('the stand-in takes half a minute for each metric')
    depths = np.resize([3, 5, 6, 7, 8] if halves else [4, 7, 9, 10, 11], count)
    states = lower.puzzle.scramble(count, depths, seed=5).states
    with nullcontext('cpu') if on == 'cpu' else stand_in() as name:
        bounds = DeviceBounds(lower, torch.device(name))
        unknown = [Solution(lower.puzzle, False)] * count
        proven = prove_together(lower, bounds, states, unknown, Clock(), 100 if on == 'cpu' else 500)
    assert all(each.optimal for each in proven)
    assert [len(each) for each in proven] == [shortest(lower, state) for state in states]


def test_a_block_is_little_work_for_the_host():
    lower = coset_bound(get_puzzle('cube3'), 'tiny')
    roots = piece_codes(lower.puzzle, lower.puzzle.scramble(3, 40, seed=3).states)
    with stand_in() as name:
        search = BlockSearch(DeviceBounds(lower, torch.device(name)), roots, np.array([11, 11, 12]), 1000)
        for _ in range(3):
            search.step()
        with counted() as counts:
            search.step()
        assert search.stack.levels and counts.waits <= WAITS, counts.places


def test_a_search_that_is_stopped_says_so():
    lower = coset_bound(get_puzzle('cube3'), 'tiny')
    states = lower.puzzle.scramble(2, 40, seed=3).states
    bounds = DeviceBounds(lower, torch.device('cpu'))
    results = search_together(bounds, piece_codes(lower.puzzle, states), np.array([12, 12]), Clock(0), 10)
    assert not any(each.complete or each.moves for each in results)
    proven = prove_together(lower, bounds, states, [Solution(lower.puzzle, False)] * 2, Clock(0.5), 10)
    assert not any(each.solved or each.optimal or each.lower_bound <= 5 for each in proven)
