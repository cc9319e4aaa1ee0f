"""Numbers in the text of experiments are those of the committed run: each such sentence is made again from the tables.

Where it is no longer on its page, somebody has to read the page again.
"""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@cache
def table(name, folder='cpu'):
    "A table of the committed run."
    return pd.read_csv(ROOT / f'data/{folder}/{name}.csv')


def words_of(page):
    "The text of a page, its lines joined."
    cells = nbformat.read(ROOT / f'nbs/experiments/{page}.ipynb', as_version=4).cells
    return ' '.join(' '.join(cell.source for cell in cells if cell.cell_type == 'markdown').split())


def percent(share):
    "A share as pages have it."
    return f'{100 * share:.0f} %'


def adi_cube2():
    rows = table('adi_cube2_summary').set_index(['target', 'network'])
    last, best = rows.loc['paper', 'last'], rows.loc['paper', 'best']
    yield f'of step {best.best_step:.0f} of 200'
    yield f'with the beam ({100 * last.solved:.1f} %) than the one with the least loss ({percent(best.solved)})'
    unit = rows.least_loss_a_weight[:, 'best']
    losses = f'{unit["paper"]:.1f} and {unit["zero-goal"]:.1f}'
    yield f'and ours {losses}: {unit["paper"] / 1.11:.1f} and {unit["zero-goal"] / 0.42:.1f} times as much'
    loss = table('adi_cube2_training').query('target == "paper"').set_index('step').loss
    early, late = np.log(loss[110] / loss[50]) / 60, np.log(loss[190] / loss[150]) / 40
    assert 3.25 < early / late < 3.75, 'three and a half times as fast'
    order = rows.rank_correlation[:, 'last']
    yield f'a rank correlation of {order["paper"]:.2f} and {order["zero-goal"]:.2f}'
    assert rows.error.min() > 1.53


def adi_cube3():
    rows = table('adi_cube3')
    solved = rows.pivot(index=['scramble_depth', 'cube'], columns='network', values='solved').astype(bool)
    zero, paper = solved['zero-goal targets'], solved['paper targets']
    yield f'Over the same {len(solved)} cubes zero goal solves {zero.sum()} and the other {paper.sum()}'
    alone = (zero & ~paper).sum()
    yield f'of those that only one of them solves it has {alone} of {(zero != paper).sum()}'
    deepest = rows[rows.solved].groupby('network').scramble_depth.max()
    yield f'had {deepest["zero-goal targets"]} turns with zero goal and {deepest["paper targets"]} with the targets'
    log = table('adi_cube3_training')
    least = log.loc[log.groupby('target').loss.idxmin()].set_index('target').step
    yield f'of step {least["paper"]} of 1,200'
    yield f'the zero-goal one is of step {least["zero-goal"]:,}'


def alphazero_ablation():
    rows = table('alphazero_ablation_summary').set_index('target')
    assert rows.error.idxmin() == 'search'
    yield f'solves {100 * (rows.solved["outcome"] - rows.solved["search"]):.1f} points less'


def alphazero_cube2():
    rows = table('alphazero_cube2_simulations')
    before = rows[rows.run.str.contains('before')]
    assert before.solved.max() == 0
    yield f'solves none of 20 cubes with up to {before.simulations.max()} simulations'


def bwas_cube2():
    rows = table('bwas_cube2_summary').query('evaluator == "network" and N == 1').set_index('weight')
    yield f'more nodes ({rows.mean_generated[0.6]:.0f} to {rows.mean_generated[1.0]:.0f} with $N = 1$)'


def bwas_cube3():
    (row,) = table('bwas_cube3_summary').itertuples()
    optimal = row.optimal * row.solved * row.cubes
    yield f'solves {row.solved * row.cubes:.0f} of {row.cubes} cubes, {optimal:.0f} of them by a shortest way'
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
    rows = table('depth_exact_cube3_gap')
    sampled = rows[rows.source.str.contains('scrambles')]
    over = sampled.total_variation - sampled.if_chain_were_right
    yield f'for every length that was sampled, by {over.min():.2f} to {over.max():.2f}'
    most = table('depth_exact_cube2').groupby('rule').total_variation.max()
    yield f'at most {most["any move"]:.2f} with any move allowed and {most["no move straight back"]:.2f} with none'


def equal_compute():
    rows = table('equal_compute_summary')
    best = rows.loc[rows.groupby(['puzzle', 'player']).optimal.idxmax()].set_index(['puzzle', 'player'])
    methods = {('cube2', 'beam'): 'DAVI', ('pyraminx', 'beam'): 'DQN, pieces'}
    assert {key: best.method[key] for key in methods} == methods
    assert set(best.method[:, 'greedy']) == {'random walks'}
    yield f'with a beam ({percent(best.optimal["cube2", "beam"])} solved by a shortest way)'
    yield f'when the network plays alone ({percent(best.optimal["cube2", "greedy"])})'
    yield f'({percent(best.optimal["pyraminx", "beam"])} with a beam)'
    yield f'random walks again ({percent(best.optimal["pyraminx", "greedy"])})'


def large_networks():
    rows = table('gpu_trainers', 'measured').set_index(['name', 'graphs']).states_per_second
    gain = rows['walks, as large as the paper', 1] / rows['walks, as large as the paper', 0]
    yield f'gained at most {100 * gain - 100:.0f} % there'
    alone = rows['alphazero, learning', 0] / rows['alphazero, learning', 1]
    yield f'AlphaZero was {100 * alone - 100:.0f} % faster without'


def larger_network():
    row = table('larger_network_measured').iloc[0]
    yield f'the larger network is worse by {row.difference:.2f} ± {row.difference_error:.2f} moves'
    seen = table('larger_network_training').states_seen
    yield f'{seen.sum() / 1e6:.0f} million in all: the {seen.max() / 1e6:.0f} million of the smaller one'


def league():
    rows = table('league_summary').set_index('entry').median_seconds
    yield f'a proof takes {rows["optimal, large table"]:.1f} seconds in the median'


def mcts_cube2():
    solved = table('mcts_cube2_totals').set_index(['target', 'network', 'search']).solved
    yield f'({100 * solved["paper", "best", "published"]:.1f} %)'
    yield f'the published search solves {percent(solved["zero-goal", "best", "published"])} where the book'
    yield f'with our rules it is {percent(solved["zero-goal", "best", "ours"])}'
    yield f"paper's targets solves {percent(solved['paper', 'last', 'ours'])} of them"
    longer = table('mcts_cube2_lengths').set_index(['target', 'way']).times_as_long.round(1)
    for target in ('paper', 'zero-goal'):
        yield f'{longer[target, "one leaf, no mask"]} to {longer[target, "one leaf, no mask, W from zero"]}'


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
    steps = rows.index.isin(['policy', 'moves of N', 'moves of E[d|N]'])
    both = rows.index.str.endswith('and policy')
    assert rows[steps].max() == 0
    kinds = {'with a value beside the policy': rows[both], 'those with a value alone': rows[~both & ~steps]}
    for named, found in kinds.items():
        yield f'{named} {100 * found.min():.0f} to {percent(found.max())}'


PAGES = [
    adi_cube2, adi_cube3, alphazero_ablation, alphazero_cube2, bwas_cube2, bwas_cube3, davi_cube3,
    depth_exact, equal_compute, large_networks, larger_network, league, mcts_cube2, solution_lengths,
    true_distances, walks_heads,
]  # fmt: skip


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.__name__)
def test_a_page_says_what_its_committed_run_found(page):
    words = words_of(page.__name__)
    missing = [sentence for sentence in page() if sentence not in words]
    assert not missing, missing
