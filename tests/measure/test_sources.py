"""The published configurations say what the tables of the sources say, number by number; nothing is called equal that
was not measured, and the printed numbers are whole."""

import itertools
import math
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from cube_nb.learn.adi import AdiConfig
from cube_nb.learn.alphazero import AlphaZeroConfig
from cube_nb.learn.davi import DaviConfig
from cube_nb.learn.dqn import DqnConfig
from cube_nb.learn.loop import read_config
from cube_nb.measure.sources import NOT_YET, agrees, compare_with_source, read_source
from cube_nb.workshop.profiles import experiments

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
    assert not (config.clamp or config.settled or config.pessimistic) and config.n_step == 1


def test_published_self_play_is_that_of_the_table():
    source = said('003')
    config = read_config(AlphaZeroConfig, CONFIGS / 'alphazero-cube2-published.yaml')
    assert ', '.join(map(str, config.curriculum)) == source['curriculum']
    assert ', '.join(map(str, config.network.hidden)) == source['layers']
    numbers = {
        'EPISODES_PER_ITER, games a round': config.episodes, 'BATCH_SIZE': config.batch_size,
        'BUFFER_MAXLEN': config.buffer, 'MIN_BUFFER_SIZE': config.warmup, 'TRAIN_SAMPLE_SIZE': config.sample,
        'EPOCHS, passes': config.epochs, 'moves of a game in training': config.max_moves,
        'learning rate': config.learning_rate, 'SOLVE_THRESHOLD': config.threshold,
        'window of the curriculum': config.window, 'NUM_ITERS, rounds': config.rounds,
    }  # fmt: skip
    assert config.precision == source['numbers'] == 'float32'
    for setting, number in numbers.items():
        assert float(source[setting].split()[0].rstrip(',')) == number, setting
    rules = config.tree_rules()
    assert (rules.unvisited, rules.move_cost, rules.merge, rules.orientations) == ('draw', 0, False, True)
    others = (config.noise, config.reuse, config.price, config.least, config.policy_weight)
    assert others == (0, False, 0.03, 0.4, 1.2)


BOOK = read_source(ROOT / 'data/sources/001.csv')
OF_THE_BOOK = BOOK[BOOK.setting.str.startswith('Repository: cube3x3')]


@pytest.mark.parametrize('row', [*OF_THE_BOOK.itertuples()], ids=[*OF_THE_BOOK.setting])
def test_configurations_of_the_book_are_those_of_the_table(row):
    "Six of its eight; the rate falls by so much over so many batches."
    config = read_config(AdiConfig, CONFIGS / re.search(r'adi-[\w-]+\.yaml', row.why).group())
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


def test_what_the_profile_trains_of_the_eight_is_what_the_table_says():
    "That it trains all but this one of them, benchmarks/test_gpu_script.py says."
    why = BOOK.set_index('setting').why['Repository: all eight run as written at a stated share']
    assert 'seven of them whole in profile a100' in why and 'adi-cube3-paper-d200 by a command' in why


def test_lengths_of_the_book_are_those_of_its_result_files():
    "Means over all solved cubes: the table has them by depth."
    files = pd.read_csv(ROOT / 'data/published/book_third_edition.csv')
    rows = compare_with_source('001').set_index('setting').source
    figures = {'cube2': '2x2x2: Figure 21.10', 'cube3': '3x3x3: Figure 21.12'}
    ratios = {'cube2': 'lengths by its files', 'cube3': 'naive over breadth-first'}
    for (puzzle, target), depths in files.groupby(['puzzle', 'target']):
        name = {'paper': 'paper targets', 'zero-goal': 'zero goal'}[target]
        sums = depths[['mean_naive_length', 'mean_bfs_length']].mul(depths.solved, axis=0).sum()
        naive, bfs = sums / depths.solved.sum()
        assert rows[f'{figures[puzzle]}: {ratios[puzzle]}, {name}'] == f'{naive / bfs:.4g}'
        if puzzle == 'cube2':
            assert rows[f'{figures[puzzle]}: naive lengths, {name}'] == f'{naive:.4g}'
            assert rows[f'{figures[puzzle]}: breadth-first lengths, {name}'] == f'{bfs:.4g}'


@pytest.mark.parametrize('number', ['000', '001', '002', '003', '004'])
def test_what_is_called_same_is_the_same_or_within_its_interval(number):
    "And numbers that are said to disagree are apart; every row has its line in the text, and what it looks up."
    table = compare_with_source(number)
    assert (table[['source', 'ours']] != NOT_YET).all(axis=None)
    for row in table.itertuples():
        assert row.verdict != 'same' or agrees(row.source, row.ours), row.setting
        assert row.verdict != 'disagrees' or not agrees(row.source, row.ours), row.setting
    assert table.line.str.fullmatch(r'none( \(repository\))?|\d+(-\d+)?(, \d+(-\d+)?)*').all()


@pytest.mark.parametrize('number, page', [*enumerate(('note', 'chapter', 'article', 'selfplay', 'pictures'))])
def test_the_page_of_a_source_needs_what_its_statements_look_up(number, page):
    rows = read_source(ROOT / f'data/sources/00{number}.csv')
    asked = {tuple(text.split('|')[:2]) for text in [*rows.source, *rows.ours] if text.startswith('=')}
    known = experiments()
    needed = {table for name in known[f'report_{page}'].needs for table in known[name].tables}
    assert {table for profile, table in asked if profile == '=cpu'} <= needed
    others = {f'data/{profile[1:]}/{table}.csv' for profile, table in asked if profile != '=cpu'}
    assert others <= {*known[f'report_{page}'].reads}


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


@pytest.mark.parametrize('name', ['scratch', 'growth'])
def test_the_trainings_from_nothing_have_the_settings_of_the_source(name):
    config = read_config(DaviConfig, ROOT / f'workflow/configs/davi-cube3-{name}.yaml')
    assert (config.max_depth, config.threshold, config.start, config.loss) == (30, 0.20, None, 'mse')
    assert config.growth == (name == 'growth')


def test_both_trainings_of_the_book_on_the_2x2x2_share_their_settings_and_the_variant_is_not_counted():
    def settings(name):
        path = ROOT / f'workflow/configs/adi-cube2-{name}.yaml'
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
    memory = pd.read_csv(ROOT / 'data/measured/memory.csv').set_index('config')
    assert (memory.peak_mb > memory.library_mb).all()
    assert {'davi-cube3-scratch', 'davi-cube3-growth', 'davi-cube3', 'davi-cube3-paper'} == {*memory.index}
