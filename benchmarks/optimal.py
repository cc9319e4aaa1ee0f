"""How long do optimal solutions take, and what does the learned search bring?

    python benchmarks/optimal.py CUBES.csv [--output data/optimal.csv] [--size medium] [--finder-seconds 3]
        [--time-limit 600] [--count 10] [--variant learned --variant alone --variant ida]

The file of cubes has the columns `scramble` and `optimal_qtm`. A variant is `learned` (the solver `optimal`: a learned
search, then proof), `alone` (the same without the learned search) or `ida` (pattern databases). Each cube and variant
is a row of the output, written at once: a run that was stopped goes on where it was. A row says how many moves
the learned search found at first and in which time, how many were proved, whether the last solution is the exact
search's, nodes generated, look-ups in the coset table (none are counted for `ida`), seconds of the proofs and in
all, and the machine's load when it began. A length that differs from the file's is an error. At the end there is
a summary. Tables are built or opened, and kernels compiled, before the first cube.
"""

import argparse
import os
from pathlib import Path

import pandas as pd
from kept_rows import add_row, read_rows
from numba import get_num_threads

from cube_nb.clock import Clock
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.core import Solution, get_solver, verified
from cube_nb.exact.coset import default_size
from cube_nb.exact.dual import coset_bound
from cube_nb.exact.optimal import learned_solution, prove_by_cosets
from cube_nb.solving import default_model, load_evaluator

VARIANTS = ('learned', 'alone', 'ida')


def by_cosets(puzzle, state, evaluator, lower, options):
    "A row of the learned search, if there is an evaluator, and of the rounds that prove."
    clock = Clock(options.time_limit)
    found = Solution(puzzle, False)
    if evaluator is not None:
        found = learned_solution(puzzle, state, evaluator, options.finder_seconds, lower)
    finder_seconds = clock.seconds
    done = []
    best = verified(state, prove_by_cosets(found, state, lower, clock, evaluator, done=done))
    proving = sum(each.seconds for each in done)
    return dict(
        learned=len(found) if found.solved else None,
        finder_seconds=round(finder_seconds, 3),
        length=len(best) if best.solved else None,
        lower_bound=best.lower_bound,
        found_by_proof=any(each.moves is not None for each in done),
        nodes=best.generated,
        lookups=sum(each.lookups for each in done),
        proof_seconds=round(proving, 3),
        seconds=round(clock.seconds, 3),
        solution=str(best),
    )


def by_ida(puzzle, state, options):
    "A row of IDA*."
    (answer,) = get_solver('ida')(puzzle, state[None], time_limit=options.time_limit)
    length = len(answer) if answer.solved else None
    return dict(
        length=length,
        lower_bound=answer.lower_bound,
        nodes=answer.generated,
        seconds=round(answer.seconds, 3),
        solution=format_word(puzzle, answer.moves) if answer.solved else '',
    )


def rows_of(cubes, options):
    "The rows that are not in the output yet, one after another."
    puzzle = get_puzzle('cube3')
    size = options.size or default_size(puzzle)
    lower = coset_bound(puzzle, size)
    evaluator = load_evaluator('cube3', default_model('cube3', 'optimal'))
    warm = puzzle.scramble(1, 13, seed=0).states
    get_solver('optimal')(puzzle, warm, evaluator, size=size, time_limit=60.0)
    there = read_rows(options.output, COLUMNS)
    seen = set(zip(there.cube, there.variant, there['size']))
    for cube, row in cubes.iterrows():
        state = puzzle.apply_word(puzzle.solved, parse(puzzle, row.scramble))
        for variant in options.variant or VARIANTS[:2]:
            if (cube, variant, size) in seen:
                continue
            about = dict(
                cube=cube, variant=variant, size=size, threads=get_num_threads(), load=os.getloadavg()[0]
            )
            if variant == 'ida':
                found = by_ida(puzzle, state, options)
            else:
                found = by_cosets(puzzle, state, evaluator if variant == 'learned' else None, lower, options)
            if found['length'] == found['lower_bound'] != row.optimal_qtm:
                raise AssertionError(
                    f'cube {cube}: {found["length"]} moves were proved, not {row.optimal_qtm}'
                )
            yield about | dict(optimal=row.optimal_qtm) | found


COLUMNS = [
    *('cube', 'variant', 'size', 'threads', 'load', 'optimal', 'learned', 'finder_seconds', 'length'),
    *('lower_bound', 'found_by_proof', 'nodes', 'lookups', 'proof_seconds', 'seconds', 'solution'),
]


def summary(table):
    "What there is to say about each variant with each table."
    table = table.assign(
        proved=table.length == table.lower_bound,
        learned_optimal=(table.learned == table.optimal).where(table.learned.notna()),
        learned_in_the_end=(table.found_by_proof == 0).where(table.learned.notna()),
        rate=table.lookups / table.proof_seconds / 1e6 / table.threads,
    )
    groups = table.groupby(['variant', 'size'])
    return pd.DataFrame(
        dict(
            cubes=groups.size(),
            proved=groups.proved.sum(),
            mean_seconds=groups.seconds.mean(),
            median_seconds=groups.seconds.median(),
            learned_optimal=groups.learned_optimal.mean(),
            learned_in_the_end=groups.learned_in_the_end.mean(),
            mean_nodes=groups.nodes.mean(),
            mean_lookups=groups.lookups.mean(),
            million_lookups_a_second_and_core=groups.rate.median(),
        )
    ).T


def main():
    "Run what is missing, and print the summary."
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('cubes', type=Path)
    parser.add_argument('--output', type=Path, default=Path('optimal.csv'))
    parser.add_argument('--size', help='of the coset table; by default what the solver takes')
    parser.add_argument('--finder-seconds', type=float, default=3.0)
    parser.add_argument('--time-limit', type=float, default=600.0)
    parser.add_argument('--count', type=int, help='cubes, from the first; by default all')
    parser.add_argument('--variant', action='append', choices=VARIANTS)
    options = parser.parse_args()
    for row in rows_of(pd.read_csv(options.cubes)[: options.count], options):
        add_row(options.output, COLUMNS, row)
        said = {
            name: row.get(name) for name in ('cube', 'variant', 'learned', 'length', 'lower_bound', 'seconds')
        }
        print(*(f'{name} {value}' for name, value in said.items()), sep=', ', flush=True)
    print(summary(pd.read_csv(options.output)).to_string(float_format='{:.3f}'.format))


if __name__ == '__main__':
    main()
