"""
Every solver and every trainer, held against what they did before rooms, names and settings were put in order.

200 states a puzzle: the moves, the nodes and the bound of each solver. 200 steps of each method of learning: the losses.
pytest compares, `python tests/test_unchanged.py --write` records anew.

What is asked is arithmetic without rounding (`Misplaced`), so solutions are equal on any processor. Losses are equal bit
by bit on the kind of processor that recorded them, elsewhere they agree to `OTHER`.
"""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from recorded import GOLDEN, OTHER, SMALL_PATTERNS, counted_today, machine, program

from cube_nb.cube.notation import format_word
from cube_nb.cube.puzzle import Puzzle, get_puzzle, puzzle_names
from cube_nb.depth.evaluator import Evaluation
from cube_nb.learn.loop import get_method, method_names
from cube_nb.search.core import NOTHING, get_solver, solver_names

pytestmark = [pytest.mark.usefixtures('one_thread'), pytest.mark.slow]  # two minutes together
SOLUTIONS, LOSSES = GOLDEN / 'solutions.csv.gz', GOLDEN / 'losses.json'
STATES, DEPTHS, STEPS = 200, 10, 200
LONG = 1e6  # seconds, never reached
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
# They ended in an error: windows of pieces that look alike
NEW = ('cube4', 'anytime'), ('cube4', 'optimal')
NEWER = {'meet', 'cube3-stm'}  # solvers and puzzles that came later
# Far states, whose first search counts seconds: its nodes are never the same
TIMED = 'cube3-htm', 'optimal'


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


def solver_cases() -> list[tuple[str, str]]:
    "(puzzle, solver) of all that can be run here and could be run then."
    every = [(puzzle, solver) for puzzle in puzzle_names() for solver in solver_names(puzzle)]
    return [
        case
        for case in every
        if get_solver(case[1]).is_installed() and case not in NEW and NEWER.isdisjoint(case)
    ]


def solved(puzzle: str, solver: str) -> pd.DataFrame:  # columns word, generated, expanded, lower_bound
    "What a solver makes of 200 states."
    cube = get_puzzle(puzzle)
    states = cube.scramble(STATES, np.arange(STATES) % DEPTHS, seed=21).states
    evaluator = None if get_solver(solver).needs == NOTHING else Misplaced(cube)
    answers = get_solver(solver)(cube, states, evaluator, **OPTIONS[solver])
    table = pd.DataFrame([(a.generated, a.expanded, a.lower_bound) for a in answers])
    table.columns = ['generated', 'expanded', 'lower_bound']
    table.insert(0, 'word', [format_word(cube, a.moves) if a.solved else 'none' for a in answers])
    return comparable(table, puzzle, solver)


def comparable(table: pd.DataFrame, puzzle: str, solver: str) -> pd.DataFrame:
    "The table without the nodes that depend on the machine."
    return table.drop(columns=['generated', 'expanded']) if (puzzle, solver) == TIMED else table


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


@pytest.mark.parametrize('puzzle, solver', solver_cases())
def test_solutions_are_those_recorded(puzzle, solver):
    rows = recorded().query('puzzle == @puzzle and solver == @solver').reset_index(drop=True)
    rows['generated'], rows['expanded'] = counted_today(
        get_puzzle(puzzle), solver, rows.generated, rows.expanded
    )
    expected = comparable(rows.drop(columns=['puzzle', 'solver']), puzzle, solver)
    pd.testing.assert_frame_equal(solved(puzzle, solver), expected)


@pytest.mark.parametrize('method', method_names())
def test_losses_are_those_recorded(method):
    "Those of DQN changed on purpose: an environment knows a state again when the puzzle was turned over as a whole."
    known = json.loads(LOSSES.read_text())
    tolerance = 0 if known['machine'] == machine() else OTHER
    expected = known.get(f'{method} today', known[method])
    assert first_losses(method) == pytest.approx(expected, rel=tolerance, abs=0)


def write():
    "Record everything."
    parts = [solved(*case).assign(puzzle=case[0], solver=case[1]) for case in solver_cases()]
    pd.concat(parts).to_csv(SOLUTIONS, index=False, compression=dict(method='gzip', mtime=0))
    losses = {method: first_losses(method) for method in method_names()}
    LOSSES.write_text(json.dumps(dict(machine=machine()) | losses))


if __name__ == '__main__':
    program(write)
