"For tests: an evaluator that knows nothing, one that is wrong, and tables of what is near solved."

from functools import cache

import numpy as np

from cube_nb.cube.keys import keys_of
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import DistanceTable, bfs
from cube_nb.depth.evaluator import Evaluation, log_policy_to_advantages


def blind(states):
    "An evaluator that knows nothing."
    return Evaluation(np.zeros(len(states), np.float32))


def wrong_evaluator(puzzle, policy=True, worst=8.0, told_apart=keys_of):
    "An evaluator that is wrong, but the same whenever it is asked; `told_apart` says which states are equal."
    shifts = (5 * np.arange(len(puzzle.moves)) % 60).astype(np.uint64)

    def evaluate(states):
        h = (told_apart(puzzle, states).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).sum(1)
        h *= np.uint64(0xD1342543DE82EF95)
        values = (worst * (h >> np.uint64(40)).astype(np.float32) / 2**24).astype(np.float32)
        if not policy:
            return Evaluation(values)
        logits = ((h[:, None] >> shifts) % np.uint64(32)) / 10
        log_policy = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        return Evaluation(values, log_policy_to_advantages(log_policy, puzzle.temperature).astype(np.float32))

    return evaluate


@cache
def table_of(puzzle: str, depth: int) -> DistanceTable:
    "The distances of all states within `depth` moves of solved, searched for and never read from a file."
    return bfs(get_puzzle(puzzle), depth)
