"""Find the true distances of 3x3x3 states, one after another, as long as there is time.

    python benchmarks/distances.py data/test/cube3_league.csv [--size large] [--limit 600] [--stop 7200]
    python benchmarks/distances.py data/test/cube3_walks.csv --walks 10:26 --count 200 --seed 20261122 [...]

A file has the columns `state` (facelets in the order URFDLB), `optimal_qtm` and `solution` (both empty where they are
not known yet), and maybe others. Each distance is written into it as soon as it is proved, so that a run that was stopped
goes on where it was; distances that are there but have no solution are found again and compared. With `--walks`, a file that
is not there yet is made first: so many random walks of each length by either rule, whose word is the column `walk`. The
lengths of a rule are mixed, so that whatever is done is a sample of all of them.
"""

import os
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from kept_rows import new_parser

from cube_nb.cube.notation import format_word
from cube_nb.cube.pieces import from_string, to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.files import write_whole
from cube_nb.exact.prover import prover_for
from cube_nb.search.core import get_solver
from cube_nb.solving import default_model, load_evaluator

PUZZLE = get_puzzle('cube3')
RULES = {'any move': True, 'no move straight back': False}


def random_words(count, length, back, rng):
    "Random walks, int[count, length]; any move, or with `back` false none straight back."
    if back:
        return rng.choice(PUZZLE.generators, (count, length))
    return PUZZLE.scramble(count, length, seed=int(rng.integers(2**32))).moves


def make_walks(lengths, count, seed):
    "Random walks in quarter turns: rule, length, word, state; those of a rule in random order."
    rng = np.random.default_rng(seed)
    tables = []
    for rule, back in RULES.items():
        rows = []
        for length in lengths:
            for word in random_words(count, length, back, rng):
                state = PUZZLE.apply_word(PUZZLE.solved, word)
                rows.append((rule, length, format_word(PUZZLE, word), to_string(PUZZLE, state)[0], None, ''))
        table = pd.DataFrame(rows, columns=['rule', 'length', 'walk', 'state', 'optimal_qtm', 'solution'])
        tables.append(table.sample(frac=1, random_state=seed))
    return pd.concat(tables, ignore_index=True)


def read_table(path):
    "The table, with distances that may be missing."
    table = pd.read_csv(path, dtype={'optimal_qtm': 'Int64', 'solution': str})
    known = table.solution if 'solution' in table else pd.Series(index=table.index, dtype=str)
    return table.assign(solution=known.fillna(''))


def write_table(table, path):
    "Write all of it in one step."
    write_whole(path, table.to_csv(index=False, lineterminator='\n'))


def main():
    "Prove what is missing."
    parser = new_parser(__doc__)
    parser.add_argument('table', type=Path)
    add = parser.add_argument
    add('--size', help='of the coset table; the largest that is there')
    add('--limit', type=float, default=600.0, help='seconds for one state')
    add('--stop', type=float, default=float('inf'), help='seconds after which no other is begun')
    add('--walks', help='FIRST:LAST, lengths of walks to make')
    add('--count', type=int, default=200, help='walks of each length')
    add('--seed', type=int, default=0, help='of the walks')
    options = parser.parse_args()
    if options.walks and not options.table.exists():
        first, last = map(int, options.walks.split(':'))
        write_table(make_walks(range(first, last + 1), options.count, options.seed), options.table)
    table = read_table(options.table)
    prover, improve = prover_for(PUZZLE, options.size), get_solver('improve')
    evaluator = load_evaluator('cube3', default_model('cube3', 'improve'))
    began = perf_counter()
    missing = table[table.solution == '']
    for place in missing.optimal_qtm.notna().sort_values(kind='stable').index:  # the unknown ones first
        if perf_counter() - began > options.stop:
            break
        row = table.loc[place]
        state = from_string(PUZZLE, row.state)[0]
        (answer,) = improve(PUZZLE, state[None], evaluator, prover, time_limit=options.limit)
        said = f'{place}: {len(answer) if answer.solved else answer}, at least {answer.lower_bound}'
        if answer.optimal:
            same = pd.isna(row.optimal_qtm) or row.optimal_qtm == len(answer)
            assert same, (place, row.optimal_qtm, answer)
            table.loc[place, 'optimal_qtm'] = len(answer)
            table.loc[place, 'solution'] = format_word(PUZZLE, answer.moves) or '-'
            write_table(table, options.table)
        print(f'{said} in {answer.seconds:.1f} s, load {os.getloadavg()[0]:.1f}', flush=True)


if __name__ == '__main__':
    main()
