"""
Every solver and every trainer, held against what they did before rooms, names and settings were put in order.

200 states a puzzle: the moves, the nodes and the bound of each solver. 200 steps of each method of learning: the losses.
`python tests/test_unchanged.py` compares and lists what was changed on purpose, old beside new; `--write` records anew.

What is asked is arithmetic without rounding (`Misplaced`), so solutions are equal on any processor. Losses are equal bit
by bit on the kind of processor that recorded them, elsewhere they agree to `OTHER`.
"""

import argparse
import json
import sys
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pandas as pd
import pytest
import torch
from test_golden import SMALL_PATTERNS, machine

from cube_nb.cube.notation import format_word
from cube_nb.cube.puzzle import Puzzle, get_puzzle, puzzle_names
from cube_nb.depth.evaluator import Evaluation
from cube_nb.learn.loop import get_method, method_names
from cube_nb.search.core import NOTHING, get_solver, solver_names

pytestmark = pytest.mark.usefixtures('one_thread')
GOLDEN = Path(__file__).parent / 'golden'
SOLUTIONS, LOSSES = GOLDEN / 'solutions.csv.gz', GOLDEN / 'losses.json'
STATES, DEPTHS, STEPS = 200, 10, 200
LONG = 1e6  # seconds, never reached
OTHER = 1e-3
OPTIONS = dict(
    greedy=dict(max_length=20),
    beam=dict(width=50, radius=3),
    bwas=dict(batch_size=20, max_nodes=1500),
    mcts=dict(max_searches=60, leaves=2),
    alphazero=dict(simulations=12, max_moves=12),
    anytime=dict(radius=3, time_limit=LONG, max_nodes=1500),
    ida=dict(max_nodes=20_000, time_limit=LONG, patterns=SMALL_PATTERNS),
    optimal=dict(size='tiny', time_limit=LONG),
    kociemba={},
)


class Misplaced:
    "Values and advantages without rounding: an eighth of a move for each facelet that is out of place."

    def __init__(self, puzzle: Puzzle):
        self.puzzle = puzzle

    def values(self, states: np.ndarray) -> np.ndarray:  # float32[B]
        "Moves, of states uint8[B, S]."
        wrong = states[:, None] != self.puzzle.goals
        return wrong.sum(2).min(1).astype(np.float32) / 8

    def __call__(self, states: np.ndarray) -> Evaluation:
        "Of states uint8[B, S]."
        children = self.puzzle.neighbours(states)
        advantages = self.values(children.reshape(-1, self.puzzle.num_facelets))
        return Evaluation(self.values(states), advantages.reshape(len(states), -1))


NEW = {
    ('cube4', 'anytime'),
    ('cube4', 'optimal'),
}  # they ended in an error: windows of pieces that look alike


TIMED = {
    ('cube3-htm', 'optimal')
}  # far states, whose first search counts seconds: its nodes are never the same


def solver_cases() -> list[tuple[str, str]]:
    "(puzzle, solver) of all that can be run here and could be run then."
    return [
        (puzzle, solver)
        for puzzle in puzzle_names()
        for solver in solver_names(puzzle)
        if get_solver(solver).is_installed() and (puzzle, solver) not in NEW
    ]


def solved(puzzle: str, solver: str) -> pd.DataFrame:  # columns word, generated, expanded, lower_bound
    "What a solver makes of 200 states."
    cube = get_puzzle(puzzle)
    states = cube.scramble(STATES, np.arange(STATES) % DEPTHS, seed=21).states
    evaluator = None if get_solver(solver).needs == NOTHING else Misplaced(cube)
    answers = get_solver(solver)(cube, states, evaluator, **OPTIONS[solver])
    words = [format_word(cube, answer.moves) if answer.solved else 'none' for answer in answers]
    rows = [(answer.generated, answer.expanded, answer.lower_bound) for answer in answers]
    table = pd.DataFrame(rows, columns=['generated', 'expanded', 'lower_bound'])
    table.insert(0, 'word', words)
    return comparable(table, puzzle, solver)


def comparable(table: pd.DataFrame, puzzle: str, solver: str) -> pd.DataFrame:
    "The table without the nodes that depend on the machine."
    return table.drop(columns=['generated', 'expanded']) if (puzzle, solver) in TIMED else table


def first_losses(method: str) -> list[float]:
    "The losses of 200 steps of a small run on the 2x2x2."
    found = get_method(method)
    small = found.small_config('cube2').model_dump() | dict(iterations=STEPS, device='cpu', seed=5)
    learner = found.learner(found.config.model_validate(small))
    losses = []
    for _ in range(STEPS):
        done = learner.take_step()
        learner.after_step(done)
        losses.append(float(done.losses['loss']))
    return losses


@cache
def recorded() -> pd.DataFrame:
    "The solutions that were recorded."
    return pd.read_csv(SOLUTIONS, keep_default_na=False)


def recorded_rows(puzzle: str, solver: str) -> pd.DataFrame:
    "The recorded solutions of one solver."
    rows = recorded().query('puzzle == @puzzle and solver == @solver')
    return rows.drop(columns=['puzzle', 'solver']).reset_index(drop=True)


# (solver, column) -> how the column follows from what was recorded, of what was changed on purpose
CHANGED = {
    (solver, 'expanded'): lambda puzzle, rows: (rows.generated - 1) // len(puzzle.generators)  # not searches
    for solver in ('mcts', 'alphazero')
} | {
    (solver, 'generated'): lambda puzzle, rows: rows.generated - 1  # the start is no child
    for solver in ('greedy', 'bwas', 'mcts', 'alphazero')
}


def expected_rows(puzzle: str, solver: str) -> pd.DataFrame:
    "The solutions that are expected today."
    rows = recorded_rows(puzzle, solver)
    for (name, column), change in CHANGED.items():
        if name == solver:
            rows[column] = change(get_puzzle(puzzle), rows)
    return comparable(rows, puzzle, solver)


@pytest.mark.parametrize('puzzle, solver', solver_cases())
def test_solutions_are_those_recorded(puzzle, solver):
    pd.testing.assert_frame_equal(solved(puzzle, solver), expected_rows(puzzle, solver))


def expected_losses(method: str, known: dict) -> list[float]:
    """The losses that are expected today.

    Those of DQN changed on purpose: an environment knows a state again when the puzzle was turned over as a whole.
    """
    return known.get(f'{method} today', known[method])


@pytest.mark.parametrize('method', method_names())
def test_losses_are_those_recorded(method):
    known = json.loads(LOSSES.read_text())
    tolerance = 0 if known['machine'] == machine() else OTHER
    assert first_losses(method) == pytest.approx(expected_losses(method, known), rel=tolerance, abs=0)


def write():
    "Record everything."
    parts = [solved(*case).assign(puzzle=case[0], solver=case[1]) for case in solver_cases()]
    compression = dict(method='gzip', mtime=0)
    pd.concat(parts).to_csv(SOLUTIONS, index=False, compression=compression)
    losses = {method: first_losses(method) for method in method_names()}
    LOSSES.write_text(json.dumps(dict(machine=machine()) | losses))


def report() -> bool:
    "Print what was changed on purpose, old beside new, and what differs beside; whether nothing does."
    same = True
    for puzzle, solver in solver_cases():
        found = solved(puzzle, solver)
        old = comparable(recorded_rows(puzzle, solver), puzzle, solver)
        same &= found.equals(expected_rows(puzzle, solver))
        for column in found.columns[(found != old).any()]:
            why = 'on purpose' if (solver, column) in CHANGED else 'NOT MEANT'
            rows = np.flatnonzero(found[column] != old[column])
            first = f'{old[column][rows[0]]} -> {found[column][rows[0]]}'
            print(f'{puzzle} {solver} {column}: {len(rows)} of {len(found)} rows ({why}), such as {first}')
    known = json.loads(LOSSES.read_text())
    for method in method_names():
        today = expected_losses(method, known)
        same &= bool(np.allclose(first_losses(method), today, rtol=OTHER, atol=0))
        if today != known[method]:
            print(f'{method}: losses (on purpose), such as {known[method][-1]:.4g} -> {today[-1]:.4g}')
    print('as recorded, but for what is meant' if same else 'DIFFERENT')
    return same


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--write', action='store_true', help='record the results of this library instead')
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    if parser.parse_args().write:
        write()
    else:
        sys.exit(not report())
