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

import os
from contextlib import contextmanager
from itertools import product
from time import perf_counter
from unittest.mock import patch

from kept_rows import fill, new_parser, show
from numba import get_num_threads

from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.search.core import get_solver
from cube_nb.exact import optimal
from cube_nb.exact.coset import default_size
from cube_nb.exact.dual import coset_bound, iterations
from cube_nb.solving import default_model, load_evaluator

PUZZLE = get_puzzle('cube3')
VARIANTS = ('learned', 'alone', 'ida')


@contextmanager
def recorded():
    "The rounds of the proofs inside, as they are made."
    done = []

    def recording(*given):
        for each in iterations(*given):
            done.append(each)
            yield each

    with patch.object(optimal, 'iterations', recording):
        yield done


def by_cosets(state, evaluator, size, options):
    "A row of the learned search, if there is an evaluator, and of the rounds that prove."
    began = perf_counter()
    lower = coset_bound(PUZZLE, size)
    found = optimal.learned_solution(PUZZLE, state, evaluator, options.finder_seconds, lower)
    finder_seconds = perf_counter() - began
    with recorded() as done:
        best = optimal.prove(found, state, options.time_limit - finder_seconds, evaluator, size)
    return dict(
        learned=len(found) if found.solved else None,
        finder_seconds=round(finder_seconds, 3),
        length=len(best) if best.solved else None,
        lower_bound=best.lower_bound,
        found_by_proof=any(each.moves is not None for each in done),
        nodes=best.generated,
        lookups=sum(each.lookups for each in done),
        proof_seconds=round(sum(each.seconds for each in done), 3),
        seconds=round(perf_counter() - began, 3),
        solution=str(best),
    )


def by_ida(state, options):
    "A row of IDA*."
    (answer,) = get_solver('ida')(PUZZLE, state[None], time_limit=options.time_limit)
    return dict(
        length=len(answer) if answer.solved else None,
        lower_bound=answer.lower_bound,
        nodes=answer.generated,
        seconds=round(answer.seconds, 3),
        solution=format_word(PUZZLE, answer.moves) if answer.solved else '',
    )


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
    means = {f'mean_{name}': (name, 'mean') for name in ('seconds', 'nodes', 'lookups')}
    means |= {name: (name, 'mean') for name in ('learned_optimal', 'learned_in_the_end')}
    medians = dict(median_seconds=('seconds', 'median'), million_lookups_a_second_and_core=('rate', 'median'))
    groups = table.groupby(['variant', 'size'])
    return groups.agg(cubes=('cube', 'size'), proved=('proved', 'sum'), **means, **medians).T


def main():
    "Run what is missing, and print the summary."
    parser = new_parser(__doc__, 'optimal.csv', cubes=True)
    parser.add_argument('--size', default=default_size(PUZZLE), help='of the coset table')
    parser.add_argument('--finder-seconds', type=float, default=3.0)
    parser.add_argument('--time-limit', type=float, default=600.0)
    parser.add_argument('--variant', action='append', choices=VARIANTS)
    options = parser.parse_args()
    cubes = options.cubes[: options.count]
    evaluator = load_evaluator('cube3', default_model('cube3', 'optimal'))
    warm = PUZZLE.scramble(1, 13, seed=0).states
    get_solver('optimal')(PUZZLE, warm, evaluator, size=options.size, time_limit=60.0)

    def row_of(cube, variant, size):
        "One proof. Raises `AssertionError` for a proven length that is not the file's."
        about = dict(threads=get_num_threads(), load=os.getloadavg()[0])
        optimum = cubes.optimal_qtm[cube]
        state = PUZZLE.apply_word(PUZZLE.solved, parse(PUZZLE, cubes.scramble[cube]))
        if variant == 'ida':
            found = by_ida(state, options)
        else:
            found = by_cosets(state, evaluator if variant == 'learned' else None, size, options)
        if found['length'] == found['lower_bound'] != optimum:
            raise AssertionError(f'cube {cube}: {found["length"]} moves were proved, not {optimum}')
        said = dict(cube=cube, variant=variant) | found
        print(*(f'{name} {value}' for name, value in said.items()), sep=', ', flush=True)
        return about | dict(optimal=optimum) | found

    order = product(cubes.index, options.variant or VARIANTS[:2])
    cases = [dict(cube=cube, variant=variant, size=options.size) for cube, variant in order]
    show(summary(fill(options.output, COLUMNS, cases, row_of)))


if __name__ == '__main__':
    main()
