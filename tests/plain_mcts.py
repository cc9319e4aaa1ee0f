"""Monte Carlo tree search as one would first write it: one tree at a time, dictionaries and lists, one state a call of the evaluator.

The reference that `cube_nb.search.mcts` is tested against and timed against.
"""
from math import sqrt

import numpy as np

from cube_nb.cube.keys import canonical

KAPPA = .45  # `temperature` of both cubes


class PlainNode:
    "A state that has been expanded; lists have a place for each generator."
    def __init__(self, children, value, priors):
        self.children, self.value, self.P = children, value, priors
        self.N, self.W, self.L = ([0] * len(children) for _ in range(3))


class PlainTree:
    "The tree of one puzzle. Statistics are rounded to float32, as the arrays are, so that equal choices stay equal."

    def __init__(self, puzzle, state, evaluator, rules):
        self.puzzle, self.evaluator, self.rules, self.nodes = puzzle, evaluator, rules, {}
        self.root = canonical(puzzle, state[None])[0].tobytes()
        self.goal = self.root if self.is_goal(self.root) else None

    def state(self, key): return np.frombuffer(key, np.uint8).copy()

    def is_goal(self, key): return bool(self.puzzle.is_solved(self.state(key)[None])[0])

    def leads_back(self, key, path):
        last, before = path[-1][0] if path else None, self.nodes[path[-2][0]].children if len(path) > 1 else []
        return key == last or key in before

    def choose(self, node, path):
        r, total = self.rules, sum(node.N)
        start = node.value if r.unvisited == 'parent' else 0.
        allowed = [a for a, child in enumerate(node.children) if not (r.mask and self.leads_back(child, path))]

        def score(a):
            Q = start if not node.N[a] else node.W[a] / node.N[a] if r.backup == 'mean' else node.W[a]
            return Q - node.L[a] + r.exploration * node.P[a] * sqrt(1 + total) / (1 + node.N[a])
        return max(allowed or range(len(node.children)), key=score)

    def simulate(self):
        "Walk from the root to where the tree ends."
        here, path = self.root, []
        while here in self.nodes and len(path) < self.rules.max_length:
            node = self.nodes[here]
            a = self.choose(node, path)
            node.L[a] += self.rules.virtual_loss
            path.append((here, a))
            here = node.children[a]
        return path, here

    def expand(self, key):
        "Make the children and ask the evaluator, of one state."
        state = self.state(key)[None]
        moves = self.puzzle.generators
        children = [child.tobytes() for child in canonical(self.puzzle, self.puzzle.neighbours(state, moves)[0])]
        for child in children:
            if self.goal is None and self.is_goal(child): self.goal = child
        values, steps = self.evaluator(state)
        priors = np.full(len(moves), 1 / len(moves), np.float32)
        if steps is not None:
            likes = np.exp((steps[0, moves].min() - steps[0, moves].astype(float)) / KAPPA)
            priors = (likes / likes.sum()).astype(np.float32)
        self.nodes[key] = PlainNode(children, -float(values[0]), priors.tolist())

    def backward(self, path, end):
        value = 0. if self.is_goal(end) else self.nodes[end].value
        for t, (key, a) in enumerate(path):
            node, v = self.nodes[key], value - self.rules.move_cost * (len(path) - t)
            if self.rules.backup == 'mean': node.W[a] += v
            elif self.rules.unvisited == 'zero' or node.N[a]: node.W[a] = max(node.W[a], v)
            else: node.W[a] = v
            node.W[a] = float(np.float32(node.W[a]))
            node.N[a] += 1
            node.L[a] -= self.rules.virtual_loss

    def step(self):
        path, end = self.simulate()
        if end not in self.nodes and not self.is_goal(end): self.expand(end)
        self.backward(path, end)
        return path, end
