"""Numbers in the text of experiments are those of the committed run: each such sentence is made again from the tables.

Where it is no longer on its page, somebody has to read the page again.
"""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from cube_nb.measure.evaluate import compare_seeds

ROOT = Path(__file__).parents[2]
NAMES = {path.stem for path in (ROOT / 'nbs/experiments').glob('*.ipynb')}


@cache
def table(name, folder='cpu'):
    return pd.read_csv(ROOT / f'data/{folder}/{name}.csv')


def words_of(page):
    cells = nbformat.read(ROOT / f'nbs/experiments/{page}.ipynb', as_version=4).cells
    return ' '.join(' '.join(cell.source for cell in cells if cell.cell_type == 'markdown').split())


def percent(share):
    "A share as pages have it."
    return f'{100 * share:.0f} %'


def adi_cube2():
    rows = table('adi_cube2_summary').set_index(['target', 'network'])
    yield f'of step {rows.best_step["paper", "best"]:.0f} of 200'
    last, best = rows.solved['paper', 'last'], rows.solved['paper', 'best']
    yield f'with the beam ({100 * last:.1f} %) than the one with the least loss ({percent(best)})'
    unit = rows.least_loss_a_weight[:, 'best']
    losses = f'{unit["paper"]:.1f} and {unit["zero-goal"]:.1f}'
    yield f'and ours {losses}: {unit["paper"] / 1.11:.1f} and {unit["zero-goal"] / 0.42:.1f} times as much'
    loss = table('adi_cube2_training').query('target == "paper"').set_index('step').loss
    early, late = np.log(loss[110] / loss[50]) / 60, np.log(loss[190] / loss[150]) / 40
    assert 3.25 < early / late < 3.75, 'three and a half times as fast'
    yield 'a rank correlation of {paper:.2f} and {zero-goal:.2f}'.format(**rows.rank_correlation[:, 'last'])
    assert rows.error.min() > 1.53


def adi_cube3():
    rows = table('adi_cube3')
    solved = rows.pivot(index=['scramble_depth', 'cube'], columns='network', values='solved').astype(bool)
    zero, paper = solved['zero-goal targets'], solved['paper targets']
    yield f'Over the same {len(solved)} cubes zero goal solves {zero.sum()} and the other {paper.sum()}'
    yield f'of those that only one of them solves it has {(zero & ~paper).sum()} of {(zero != paper).sum()}'
    deepest = rows[rows.solved].groupby('network').scramble_depth.max()
    yield f'had {deepest["zero-goal targets"]} turns with zero goal and {deepest["paper targets"]} with the targets'
    least = table('adi_cube3_training').sort_values('loss').groupby('target').step.first()
    yield f'of step {least["paper"]} of 1,200'
    yield f'the zero-goal one is of step {least["zero-goal"]:,}'


def alphazero_ablation():
    solved = 100 * table('alphazero_ablation_summary').set_index('target').solved
    yield f'solves {solved["outcome"] - solved["search"]:.1f} points less'


def alphazero_cube2():
    before = table('alphazero_cube2_simulations').query('run.str.contains("before")')
    assert before.solved.max() == 0
    yield f'solves none of 20 cubes with up to {before.simulations.max()} simulations'


def bwas_cube2():
    rows = table('bwas_cube2_summary').query('evaluator == "network" and N == 1').set_index('weight')
    yield f'more nodes ({rows.mean_generated[0.6]:.0f} to {rows.mean_generated[1.0]:.0f} with $N = 1$)'


def bwas_cube3():
    (row,) = table('bwas_cube3_summary').itertuples()
    solved = row.solved * row.cubes
    yield f'solves {solved:.0f} of {row.cubes} cubes, {row.optimal * solved:.0f} of them by a shortest way'
    yield f'is {row.excess:.2f} moves above the optimum'


def davi_cube3():
    far = table('davi_cube3_turns').query('turns == 30').set_index('network')
    known = table('davi_cube3_calibration').distance.max()
    yield f'is nearest to the truth ({far["mean"]["cube3-walks"]:.1f} of {far.expected.iloc[0]:.1f} after 30 turns)'
    excess = table('davi_cube3_summary').set_index('network').excess
    assert excess.idxmax() == far['mean'].idxmax() == 'cube3-walks'
    yield f'({excess["cube3-walks"]:.2f} moves above the optimum)'
    bounds = table('davi_cube3_bounds').set_index('run')
    replaced = bounds.replacements
    yield f'with {replaced["scratch"]} and {replaced["growth"]} replacements, far more than the {known} turns'
    yield f'are {bounds.below_both.mean():.0f} too low'


def depth_exact():
    sampled = table('depth_exact_cube3_gap').query('source.str.contains("scrambles")')
    over = sampled.total_variation - sampled.if_chain_were_right
    yield f'for every length that was sampled, by {over.min():.2f} to {over.max():.2f}'
    free, forward = table('depth_exact_cube2').groupby('rule').total_variation.max()
    yield f'at most {free:.2f} with any move allowed and {forward:.2f} with none'


def dqn_ablation():
    gain = table('dqn_ablation_answer').query('row == "pieces" and against == "pictures"').gain.item()
    yield f'published moves, where they cost {100 * gain:.1f} points'
    kept = 100 * table('dqn_ablation_kept').groupby('network').solved.mean()
    yield f'{kept["cube3-dqn-pictures"]:.1f} % and {kept["cube3-dqn-pictures-best"]:.1f} % of the same depths'
    rows = table('dqn_cube3_solved').query('agent == "pictures, kept, published" and scramble_depth < 9')
    yield f'more moves than either and solves {100 * rows.solved.mean():.1f} %'


def dqn_epsilon():
    rows = table('dqn_epsilon_networks')
    rate = 100 * (rows.hits / rows.cubes).groupby([rows.seed, rows.kind]).mean().unstack()
    high, low = compare_seeds(rate[['high', 'low']].sub(rate.annealed, axis=0)).itertuples()
    assert high.told_apart and not low.told_apart
    yield f'costs {-high.difference:.1f} points of {rate.annealed.mean():.1f}'
    yield f'({-high.difference_high:.1f} to {-high.difference_low:.1f}; three seeds, told apart'
    yield f'is {-low.difference:.1f} points behind in the mean'


def equal_compute():
    rows = table('equal_compute_summary')
    best = rows.loc[rows.groupby(['puzzle', 'player']).optimal.idxmax()].set_index(['puzzle', 'player'])
    assert list(best.method) == ['DAVI', 'random walks', 'DQN, pieces', 'random walks']
    beam, alone, pieces, again = map(percent, best.optimal)
    yield f'with a beam ({beam} solved by a shortest way) and random walks when the network plays alone ({alone})'
    yield f'pieces ({pieces} with a beam) and random walks again ({again})'


def large_networks():
    rows = table('gpu_trainers', 'measured').set_index(['name', 'graphs']).states_per_second
    gain = rows['walks, as large as the paper', 1] / rows['walks, as large as the paper', 0]
    yield f'gained at most {100 * gain - 100:.0f} % there'
    yield f'AlphaZero was {100 * rows["alphazero, learning", 0] / rows["alphazero, learning", 1] - 100:.0f} % faster'


def larger_network():
    row = table('larger_network_measured').iloc[0]
    ends = f'{row.difference_low:.2f} to {row.difference_high:.2f}'
    yield f'{row.difference:.2f} moves longer ({ends}; {row.cubes:.0f} cubes): not told apart'
    assert not row.told_apart and not table('larger_network_pairs').told_apart.any()
    seen = table('larger_network_training').states_seen
    yield f'{seen.sum() / 1e6:.0f} million in all: the {seen.max() / 1e6:.0f} million of the smaller one'


def mcts_cube2():
    solved = table('mcts_cube2_totals').set_index(['target', 'network', 'search']).solved
    yield f'({100 * solved["paper", "best", "published"]:.1f} %)'
    yield f'the published search solves {percent(solved["zero-goal", "best", "published"])} where the book'
    yield f'with our rules it is {percent(solved["zero-goal", "best", "ours"])}'
    yield f"paper's targets solves {percent(solved['paper', 'last', 'ours'])} of them"
    for _, longer in table('mcts_cube2_lengths').groupby('target').times_as_long:
        yield '{:.1f} to {:.1f}'.format(*longer.iloc[1:])


def solution_lengths():
    rows = table('solution_lengths_against').set_index('solver').as_short
    assert rows['beam of 1,024'] == rows['anytime, 2 s'] == 1
    yield f'({30 * rows["MCTS"]:.0f} of 30)'


def true_distances():
    rows = table('true_distances_gap').query('rule == "any move"').set_index('moves')
    yield f'the walks are {rows["mean"][20]:.1f} moves away after 20 turns and {rows["mean"][26]:.1f} after 26'
    yield f'for {(rows.total_variation > rows.by_chance).sum()} of {len(rows)} numbers of turns'
    assert (rows.p_value < 0.05).sum() == 5
    off = rows.mean_chain - rows['mean']
    yield f'always too deep, by {off.min():.1f} to {off.max():.1f} moves'


def walks_heads():
    rows = table('walks_heads_summary').set_index('kind').solved
    steps, both = rows.index.str.match('policy|moves'), rows.index.str.endswith('and policy')
    assert rows[steps].max() == 0
    for named, found in {'beside the policy': rows[both], 'with a value alone': rows[~both & ~steps]}.items():
        yield f'{named} {100 * found.min():.0f} to {percent(found.max())}'


PAGES = [page for name, page in globals().copy().items() if name in NAMES]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.__name__)
def test_a_page_says_what_its_committed_run_found(page):
    words = words_of(page.__name__)
    assert not [sentence for sentence in page() if sentence not in words]
