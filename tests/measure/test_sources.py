"The published configurations say what the tables of the sources say, number by number."

import re
from pathlib import Path

import pytest

from cube_nb.learn.adi import AdiConfig
from cube_nb.learn.alphazero import AlphaZeroConfig, setting_at_length
from cube_nb.learn.dqn import DqnConfig
from cube_nb.learn.loop import read_config
from cube_nb.measure.sources import read_source

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / 'workflow/configs'


def said(number):
    "What a source says: setting -> text."
    return read_source(ROOT / f'data/sources/{number}.csv').set_index('setting').source.to_dict()


def test_published_stages_are_those_of_the_table():
    source = said('004')
    config = read_config(DqnConfig, CONFIGS / 'dqn-cube3-published.yaml')
    assert len(config.stages) == sum(setting.startswith('TRAIN_PARA') for setting in source) == 10
    for stage in config.stages:
        text = source[f'TRAIN_PARA, stage {stage.depth}: steps, reward, window, epsilon']
        steps, reward, window, epsilon = text.split(', ')
        first, last = epsilon.split(' to ')
        row = (stage.max_steps, stage.reward, stage.window, stage.epsilon, stage.final_epsilon)
        assert row == (int(steps), float(reward), int(window), float(first), float(last))
    assert config.patience * config.episodes == float(source['EPOCH_LIMIT'].split()[0])
    assert config.decay_steps * config.episodes == float(source['EPSILON_DECAY_LAST_FRAME'].split()[0])
    assert not config.clamp and not config.settled and not config.pessimistic and config.n_step == 1


def test_published_self_play_is_that_of_the_table():
    source = said('003')
    config = read_config(AlphaZeroConfig, CONFIGS / 'alphazero-cube2-published.yaml')
    assert ', '.join(map(str, config.curriculum)) == source['curriculum']
    assert ', '.join(map(str, config.network.hidden)) == source['layers']
    numbers = {
        'EPISODES_PER_ITER, games a round': config.episodes,
        'BATCH_SIZE': config.batch_size,
        'BUFFER_MAXLEN': config.buffer,
        'MIN_BUFFER_SIZE': config.warmup,
        'TRAIN_SAMPLE_SIZE': config.sample,
        'EPOCHS, passes': config.epochs,
        'moves of a game in training': config.max_moves,
        'learning rate': config.learning_rate,
        'SOLVE_THRESHOLD': config.threshold,
        'window of the curriculum': config.window,
        'NUM_ITERS, rounds': config.rounds,
    }
    assert config.precision == source['numbers'] == 'float32'
    for setting, number in numbers.items():
        assert float(source[setting].split()[0].rstrip(',')) == number, setting
    simulations = [setting_at_length(config.simulations, length) for length in (1, 3, 4, 7, 8, 16)]
    assert simulations == [300, 300, 600, 600, 800, 800]
    temperatures = [setting_at_length(config.temperature, length) for length in (5, 6, 9, 10, 11, 12)]
    assert temperatures == [1.0, 0.7, 0.7, 0.4, 0.4, 0.2]
    rules = config.tree_rules()
    assert (rules.unvisited, rules.move_cost, rules.merge, rules.orientations) == ('draw', 0, False, True)
    assert (config.noise, config.reuse, config.price, config.least, config.policy_weight) == (
        0,
        False,
        0.03,
        0.4,
        1.2,
    )


OF_THE_BOOK = read_source(ROOT / 'data/sources/001.csv').query(
    'setting.str.startswith("Repository: cube3x3")'
)


@pytest.mark.parametrize(
    'row', list(OF_THE_BOOK.itertuples()), ids=lambda row: row.setting.split()[1].rstrip(',')
)
def test_configurations_of_the_book_are_those_of_the_table(row):
    "Six of its eight; the rate falls by so much over so many batches."
    file = re.search(r'adi-[\w-]+\.yaml', row.why).group()
    config = read_config(AdiConfig, CONFIGS / file)
    said = row.ours.replace(',', '')
    rate = float(said.split()[0])
    batches = int(re.search(r'(\d+) batches', said).group(1))
    assert config.learning_rate == rate and config.iterations == batches
    assert config.max_depth == int(re.search(r'depth (\d+)', said).group(1))
    assert config.weights == ('none' if 'no weights' in said else 'depth')
    assert bool(config.buffer) == ('buffer' in said)
    fall = re.search(r'x ([\d.]+) (?:over )?every (\d+)', said)
    assert (fall is None) == ('constant' in said)
    last = rate * float(fall.group(1)) ** (batches / int(fall.group(2))) if fall else rate
    assert config.final_learning_rate == pytest.approx(last, rel=0.05)


def test_there_are_six_configurations_of_the_book():
    assert len(OF_THE_BOOK) == 6
