"Scrambles are other ones each time, unless seeded, and random states are uniform."

import numpy as np
import pytest
from scipy.stats import chisquare
from trainings import call

from cube_nb.cube.cubies import cubies_of, is_odd
from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import complete_table
from cube_nb.depth.markov import POPULATIONS
from cube_nb.solving import random_state_words


def test_a_scramble_is_another_one_each_time_unless_seeded(capsys):
    assert call(capsys, 'scramble') != call(capsys, 'scramble')
    assert call(capsys, 'scramble', '--seed', '3') == call(capsys, 'scramble', '--seed', '3')
    status, out, _ = call(capsys, 'scramble', '--count', '7')
    assert status == 0 and len(set(out.splitlines())) == 7
    solve = ['solve', '--puzzle', 'cube2', '--depth', '12', '--solver', 'beam', '--set', 'width=10', '--json']
    assert call(capsys, *solve)[1] != call(capsys, *solve)[1]


@pytest.mark.slow
def test_words_of_random_states_are_short(capsys):
    "That they lead there, the chapter of solving says."
    ask = ['scramble', '--puzzle', 'cube2', '--random-state']
    status, out, _ = call(capsys, *ask, '--count', '5', '--seed', '4')
    assert (status, out.splitlines()) == (0, random_state_words('cube2', 5, seed=4))
    assert max(len(parse(get_puzzle('cube2'), line)) for line in out.splitlines()) <= 20
    assert call(capsys, *ask) != call(capsys, *ask)


@pytest.mark.slow
def test_random_states_of_the_2x2x2_are_as_far_as_all_are():
    cube2 = get_puzzle('cube2')
    count = 50_000
    depths = complete_table(cube2).distance(cube2.random_states(count, seed=5))
    share = np.array(POPULATIONS['cube2'], float) / sum(POPULATIONS['cube2'])
    seen = np.bincount(depths, minlength=len(share))
    few = share * count < 20  # of which too few are expected for the test: taken together
    seen, share = np.append(seen[~few], seen[few].sum()), np.append(share[~few], share[few].sum())
    assert chisquare(seen, share * count).pvalue > 0.001


def test_both_parities_of_the_3x3x3_are_as_frequent():
    cube3 = get_puzzle('cube3')
    count = 20_000
    odd = is_odd(cubies_of(cube3, cube3.random_states(count, seed=6)).corner_permutation).sum()
    assert abs(odd - count / 2) < 4 * np.sqrt(count / 4)
