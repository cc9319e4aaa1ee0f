"The tables of DeepCubeA, the book and the article: nothing is called equal that was not measured, and the printed numbers are whole."

import pandas as pd
import pytest

from cube_nb.measure.profiles import checkout
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
