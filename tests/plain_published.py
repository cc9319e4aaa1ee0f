"""One game by the rules of a published program, as one would write it from its description: nodes of a tree, each with
its own mask and statistics, a new tree for each move, states as they are held.

The reference that the rules of `cube_nb.search.selfplay.PUBLISHED_RULES` are tested against. Values are minus moves to
solved, as in the library, so that roundings agree.
"""

from math import sqrt

import numpy as np

DRAW = -1 / 0.03  # an outcome of 0, in moves


class HeldNode:
    "A state in one tree; `turned` is the last face and how often in a row it was turned."

    def __init__(self, state, prior=0.0, last=None, turned=(None, 0)):
        self.state = state
        self.prior = prior
        self.last = last
        self.turned = turned
        self.children = {}
        self.N = 0
        self.W = np.float32(0)

    def mask(self):
        "The twelve moves, without the inverse of the last and without a face that was turned twice in a row."
        face, count = self.turned
        back = None if self.last is None else self.last ^ 1
        return [a for a in range(12) if a != back and not (count >= 2 and a // 2 == face)]

    def after(self, a):
        "What a child knows of the last moves."
        face, count = self.turned
        return a, (a // 2, count + 1 if a // 2 == face else 1)

    def score(self, child, exploration):
        Q = child.W / child.N if child.N else DRAW
        total = sum(other.N for other in self.children.values())
        return Q + exploration * child.prior * sqrt(total + 1e-8) / (1 + child.N)

    def expand(self, puzzle, evaluator):
        "Make the children that the mask allows; the value."
        values, advantages = evaluator(self.state[None])
        weights = np.exp((advantages[0].min() - advantages[0].astype(float)) / puzzle.temperature)
        priors = (weights / weights.sum()).astype(np.float32)
        for a in self.mask():
            child = puzzle.apply(self.state[None], a)[0]
            self.children[a] = HeldNode(child, float(priors[a]), *self.after(a))
        return -np.float32(values[0])


def simulate(puzzle, root, evaluator, exploration):
    "Select, expand and evaluate, back up."
    node, path = root, []
    while node.children:
        a = max(node.children, key=lambda a: node.score(node.children[a], exploration))
        node = node.children[a]
        path.append(node)
    value = np.float32(0) if puzzle.is_solved(node.state[None])[0] else node.expand(puzzle, evaluator)
    for visited in path:
        visited.N += 1
        visited.W += value


def held_game(puzzle, state, evaluator, exploration, simulations, max_moves):
    "(state, visits, move) for each move of a game in which the most visited move is made, and whether it was solved."
    made, here = [], HeldNode(state)
    while len(made) < max_moves and not puzzle.is_solved(here.state[None])[0]:
        root = HeldNode(here.state, last=here.last, turned=here.turned)
        root.expand(puzzle, evaluator)
        for _ in range(simulations):
            simulate(puzzle, root, evaluator, exploration)
        visits = [root.children[a].N if a in root.children else 0 for a in range(12)]
        a = visits.index(max(visits))
        made.append((root.state, visits, a))
        here = root.children[a]
    return made, bool(puzzle.is_solved(here.state[None])[0])
