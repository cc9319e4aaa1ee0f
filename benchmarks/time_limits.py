"""Are limits of time kept? Every registered solver on every puzzle, asked for a second in several ways.

    python benchmarks/time_limits.py [--limit 1.0] [--grace 0.5] [--puzzle cube3] [--solver beam] [--every 1]

Each case is a solver, a puzzle, what it asks (nothing known; distances near solved; the puzzle's own network, also
averaged over all views) and options: the defaults, and some that would take much longer than the limit. One of them
needs the small coset table, which is built first, once. Each case is run once with next to no time, which
prepares tables and kernels, and then timed. A case is late when it is back more than `grace` seconds after its limit (for
all states together, or for each, as the solver says). `kernels` counts what Numba compiled after the preparation: it
should be none. `--every 10` runs every tenth case. On a machine that has other work the numbers mean little.
"""

import argparse
from time import perf_counter

import numpy as np
import pandas as pd
from numba.core import event

from cube_nb.cube.puzzle import get_puzzle, puzzle_entry, puzzle_names
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.evaluator import Evaluation, exact_evaluator
from cube_nb.search.core import get_solver, solver_names
from cube_nb.exact.coset import has_cosets
from cube_nb.exact.dual import ends_beams, finisher_for
from cube_nb.solving import default_model, load_evaluator

HUGE = 10**12
VIEWS = 'all views of '
OPTIONS = dict(  # solver -> options of its cases besides the defaults; count: number of states
    greedy=[dict(max_length=10**6), dict(count=30_000)],
    beam=[dict(width=1 << 10), dict(width=1 << 20), dict(width=1 << 12, radius=2), dict(cost='U=2')],
    bwas=[dict(batch_size=1), dict(batch_size=10**6, max_nodes=HUGE), dict(count=300)],
    mcts=[dict(leaves=1), dict(leaves=200_000, max_length=20, max_searches=HUGE), dict(count=300)],
    alphazero=[dict(simulations=10**6), dict(count=1000), dict(simulations=1)],
    anytime=[dict(radius=2), dict(radius=4), dict(cost='U=2'), dict(size='small')],
    ida=[dict(max_nodes=HUGE)],
    kociemba=[dict(count=3)],
    optimal=[dict(size='tiny'), dict(size='tiny', finder_seconds=0.0)],
)
COLUMNS = dict(
    cases=('over', 'size'), seconds=('seconds', 'max'), over=('over', 'max'), kernels=('kernels', 'max')
)


def blind(states):
    "An evaluator that knows nothing."
    return Evaluation(np.zeros(len(states), np.float32))


def what_is_asked(puzzle, solver):
    "Names of evaluators that a solver may ask on a puzzle, '-' for one that asks none."
    if not get_solver(solver).needs:
        return ['-']
    model = default_model(puzzle, solver)
    return ['nothing', 'near', *([model, VIEWS + model] if model else [])]


def evaluator_named(puzzle, name):
    "The evaluator of that name."
    if name == 'near':
        return exact_evaluator(states_near_solved(get_puzzle(puzzle), 4))
    if name in ('-', 'nothing'):
        return {'-': None, 'nothing': blind}[name]
    return load_evaluator(puzzle, name.removeprefix(VIEWS), name.startswith(VIEWS))


def is_for(puzzle, solver, options):
    """Whether a solver takes the options on a puzzle.

    A coset table ends beams of some puzzles only, and turns have costs where it matters how the puzzle is held.
    """
    if 'cost' in options:
        return len(get_puzzle(puzzle).rotations) == 1
    if solver != 'anytime' or 'size' not in options:
        return True
    return has_cosets(get_puzzle(puzzle)) and ends_beams(get_puzzle(puzzle))


def cases(puzzles, solvers):
    "(puzzle, solver, name of an evaluator, options) of each case."
    found = []
    for puzzle in puzzles:
        for solver in solver_names(puzzle):
            for asked in what_is_asked(puzzle, solver):
                every = [
                    options for options in [{}, *OPTIONS.get(solver, [])] if is_for(puzzle, solver, options)
                ]
                found += [(puzzle, solver, asked, options) for options in every]
    return [case for case in found if case[1] in solvers]


def measured(name, solver, asked, options, limit):
    "A row of the table: one case, run."
    puzzle, solve, evaluator = get_puzzle(name), get_solver(solver), evaluator_named(name, asked)
    chosen = {option: value for option, value in options.items() if option != 'count'}
    count = options.get('count', 1)
    states = puzzle.scramble(count, 2 * puzzle_entry(name).scramble_depth, seed=1).states
    limits = [solve.read_options(chosen | dict(time_limit=seconds)) for seconds in (1e-9, limit)]
    finisher = finisher_for(solve, puzzle, limits[1])
    solve.run(puzzle, states[:1], evaluator, limits[0], finisher)
    with event.install_recorder('numba:compile') as compiled:
        start = perf_counter()
        answers = solve.run(puzzle, states, evaluator, limits[1], finisher)
        seconds = perf_counter() - start
    return dict(
        puzzle=name,
        solver=solver,
        asked=asked,
        options=' '.join(f'{option}={value}' for option, value in chosen.items()) or '-',
        states=count,
        solved=sum(answer.solved for answer in answers),
        seconds=round(seconds, 2),
        over=round(seconds - limit * count, 2),
        kernels=len(compiled.buffer) // 2,  # a beginning and an end each
    )


def main(limit, grace, puzzle, solver, every):
    rows = []
    for case in cases([puzzle] if puzzle else puzzle_names(), [solver] if solver else solver_names())[
        ::every
    ]:
        rows.append(measured(*case, limit))
        print(*rows[-1].values(), flush=True)
    table = pd.DataFrame(rows)
    print(table.groupby(['puzzle', 'solver']).agg(**COLUMNS).to_string())
    late = table[table.over > grace]
    worst = f'at most {table.over.max():.2f} s over'
    print(f'{len(table)} cases of {limit:g} s: {len(late)} late by more than {grace:g} s, {worst}')
    if len(late):
        print(late.to_string(index=False))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--limit', type=float, default=1.0, help='seconds')
    parser.add_argument('--grace', type=float, default=0.5, help='seconds')
    parser.add_argument('--puzzle', help='one puzzle; all by default')
    parser.add_argument('--solver', help='one solver; all by default')
    parser.add_argument('--every', type=int, default=1, help='run every n-th case')
    main(**vars(parser.parse_args()))
