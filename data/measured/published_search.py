"""The published search on the published puzzle, whole: 20 scrambles of each of 50 depths, 30,000 searches a cube.

    export PYTHONPATH=.:benchmarks
    python data/measured/published_search.py searches --output data/measured/published_search.csv [--guide none]

The puzzle is the 2x2x2 with one solved state, `cube2-fixed`; the search is `BOOK_SEARCH` of
`cube_nb.search.mcts`, and scrambles are those of `depth_scrambles` with seed 0. A guide is a network, or `none`:
a uniform prior and no value. The networks are small ones, of the least loss, trained first by the two
configurations with the sizes of `SMALL`; they are kept below runs/published_search. Rows are written cube by
cube, and a run that was stopped goes on.
"""

from functools import cache, partial
from pathlib import Path

import numpy as np
from kept_rows import by_group, mean_columns
from measured import Table, run_commands

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.evaluator import Evaluation
from cube_nb.learn.adi import AdiConfig, AdiLearner
from cube_nb.learn.loop import KeepBest, read_config, train
from cube_nb.measure.evaluate import depth_scrambles
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.mcts import BOOK_SEARCH, MctsOptions, MctsRun

PUZZLE = get_puzzle('cube2-fixed')
FOLDER = Path('runs/published_search')
CUBES, SEARCHES = 20, 30_000  # at a depth, and of a cube, as in the book
SMALL = {  # as on the page mcts_cube2; trained in a minute
    'network.puzzle': PUZZLE.name, 'network.hidden': [256, 128], 'network.head_hidden': 128,
    'max_depth': 20, 'iterations': 600, 'batch_size': 1000, 'buffer': 10_000, 'refresh': 10, 'log_every': 10,
    'learning_rate': 5e-4, 'final_learning_rate': 2e-5,
}  # fmt: skip


def knows_nothing(states):
    "No value, and all moves alike."
    shape = (len(states), PUZZLE.num_moves)
    return Evaluation(np.zeros(len(states), np.float32), np.zeros(shape, np.float32))


@cache
def evaluator_of(guide):
    "What a search asks; a network is trained if it is not there."
    if guide == 'none':
        knows_nothing.device = 'cpu'
        return knows_nothing
    best = FOLDER / f'{guide}.safetensors'
    if not best.exists():
        settings = [f'{key}={value}' for key, value in SMALL.items()]
        config = read_config(AdiConfig, f'workflow/configs/adi-cube2-{guide}.yaml', settings)
        train(AdiLearner(config), FOLDER / guide, callbacks=[KeepBest(best)])
    return network_evaluator(load_network(best))


@cache
def solved_at(guide, depth):
    "All cubes of one depth by one guide: solution and searches of each, and the length of the walk that found it."
    states, _ = depth_scrambles(PUZZLE, CUBES, depth, seed=0)
    search = MctsRun(PUZZLE, states, evaluator_of(guide), MctsOptions(max_searches=SEARCHES, **BOOK_SEARCH))
    return search.solve(), search.searches, search.walked


def searches(asked):
    "what the published search solves"

    def row_of(guide, depth, number):
        found, searches, walked = (column[number] for column in solved_at(guide, depth))
        lengths = dict(length=len(found), naive=int(walked)) if found.solved else {}
        return dict(solved=found.solved, searches=int(searches)) | lengths

    return row_of


def means_of(group):
    "Share solved, and searches of solved cubes."
    return mean_columns('solved', group.solved) | mean_columns('searches', group.searches[group.solved])


TABLES = {
    'searches': Table(
        columns='guide depth number solved searches length naive',
        axes={
            'guide': dict(default=['none', 'paper', 'zero-goal']),
            'depth': dict(type=int, default=[*range(1, 51)]),
            'number': dict(type=int, default=[*range(CUBES)]),
        },
        prepare=searches,
        summary=partial(by_group, keys=['guide'], columns_of=means_of),
    )
}


if __name__ == '__main__':
    run_commands(__doc__, TABLES)
