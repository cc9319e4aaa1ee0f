"The tables of DeepCubeA, the book and the article: nothing is called equal that was not measured, and the printed numbers are whole."

import pandas as pd
import pytest

from cube_nb.workshop.profiles import checkout
from cube_nb.measure.sources import MARK, NOT_YET, compare_with_source


@pytest.mark.parametrize('number', ['000', '001', '002'])
def test_every_difference_has_a_reason_and_nothing_unmeasured_is_called_equal(number):
    table = compare_with_source(number)
    assert not table.setting.duplicated().any()
    assert (table.why[table.differs == MARK] != '').all()
    assert (table.differs[table.ours == NOT_YET] == MARK).all()


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
