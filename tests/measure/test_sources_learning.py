"The tables of DeepCubeA, the book and the article: nothing is called equal that was not measured, and the printed numbers are whole."

import itertools
import math
from collections import Counter

import pandas as pd
import pytest

from cube_nb.workshop.profiles import checkout
from cube_nb.measure.sources import NOT_YET, agrees, compare_with_source


@pytest.mark.parametrize('number', ['000', '001', '002', '003', '004'])
def test_what_is_called_same_is_the_same_or_within_its_interval(number):
    table = compare_with_source(number)
    assert not table.setting.duplicated().any()
    same = table.verdict == 'same'
    false = [row.setting for row in table[same].itertuples() if not agrees(row.source, row.ours)]
    assert not false
    assert (table.ours[same] != NOT_YET).all()


@pytest.mark.parametrize('number', ['000', '001', '002', '003', '004'])
def test_numbers_that_disagree_are_apart(number):
    table = compare_with_source(number).query('verdict == "disagrees"')
    false = [row.setting for row in table.itertuples() if agrees(row.source, row.ours)]
    assert not false


@pytest.mark.parametrize('number', ['000', '001', '002', '003', '004'])
def test_every_row_has_its_line_in_the_text(number):
    lines = compare_with_source(number).line
    assert lines.str.fullmatch(r'none( \(repository\))?|\d+(-\d+)?(, \d+(-\d+)?)*').all()


def test_the_share_of_states_whose_sixth_face_follows_is_that_of_the_table():
    edges = list(itertools.combinations('URFDLB', 2))
    edges = [edge for edge in edges if set(edge) not in ({'U', 'D'}, {'R', 'L'}, {'F', 'B'})]
    permutations = list(itertools.permutations(range(4)))
    parity = [sum(a > b for a, b in itertools.combinations(order, 2)) % 2 for order in permutations]
    flips = list(itertools.product((0, 1), repeat=4))
    alone = 0
    for four in itertools.combinations(edges, 4):
        seen = Counter(
            (tuple(four[place][flip] for place, flip in zip(order, flipped)), odd, sum(flipped) % 2)
            for (order, odd), flipped in itertools.product(zip(permutations, parity), flips)
        )
        alone += sum(count == 1 for count in seen.values())
    share = alone / (math.comb(12, 4) * len(permutations) * len(flips))
    row = compare_with_source('004', 'the sixth face').iloc[0]
    assert f'{share:.3%}'.replace('%', ' %') in row.ours


def test_all_printed_probabilities_are_there():
    printed = pd.read_csv(checkout() / 'data/published/jump_probabilities.csv')
    assert printed.groupby('direction').depth.agg(['min', 'max', 'size']).values.tolist() == [
        [1, 26, 26],
        [0, 25, 26],
    ]
    both = printed.pivot(index='depth', columns='direction', values='printed').dropna()
    assert both.sum(axis=1).sub(1).abs().max() < 2e-6


@pytest.mark.parametrize('name', ['scratch', 'growth'])
def test_the_trainings_from_nothing_have_the_settings_of_the_source(name):
    from cube_nb.learn.davi import DaviConfig
    from cube_nb.learn.loop import read_config

    config = read_config(DaviConfig, checkout() / f'workflow/configs/davi-cube3-{name}.yaml')
    assert (config.max_depth, config.threshold, config.start, config.loss) == (30, 0.20, None, 'mse')
    assert config.growth == (name == 'growth')


def test_both_trainings_of_the_book_on_the_2x2x2_share_their_settings_and_the_variant_is_not_counted():
    from cube_nb.learn.adi import AdiConfig
    from cube_nb.learn.loop import read_config

    def settings(name):
        path = checkout() / f'workflow/configs/adi-cube2-{name}.yaml'
        config = read_config(AdiConfig, path)
        counted = 'Not one of the eight' not in path.read_text()
        return (config.learning_rate, config.final_learning_rate, config.iterations, config.decay), counted

    (paper, _), (zero_goal, counted) = settings('paper'), settings('zero-goal')
    assert zero_goal == paper and counted
    assert paper[1] == pytest.approx(1e-5 * 0.95 ** (paper[2] / 1000), rel=0.05)
    variant, counted = settings('zero-goal-second-edition')
    assert variant[1] == pytest.approx(1e-5 * 0.95 ** (variant[2] / 100), rel=0.05) and not counted


def test_a_looked_up_number_has_the_digits_that_the_source_prints():
    rows = compare_with_source('002')
    printed = rows[rows.setting.str.fullmatch(r'Probabilities: [pq]_\d+')]
    assert len(printed) == 52 and (printed.ours != NOT_YET).all()
    assert (printed.source.astype(float) / printed.ours.astype(float)).sub(1).abs().max() < 1e-6


def test_memory_was_measured_for_all_trainings_by_value_iteration_that_the_table_names():
    memory = pd.read_csv(checkout() / 'data/measured/memory.csv').set_index('config')
    assert (memory.peak_mb > memory.library_mb).all()
    assert {'davi-cube3-scratch', 'davi-cube3-growth', 'davi-cube3', 'davi-cube3-paper'} == {*memory.index}
