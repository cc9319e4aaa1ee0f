"""Monte Carlo tree search as one would first write it, which `cube_nb.search.mcts` is tested against: one tree
at a time, dictionaries and lists, one state a call of the evaluator."""

from math import sqrt

import numpy as np

from cube_nb.cube.keys import canonical, keys_of
from cube_nb.search.mcts import draw_of, drawn_score, mix64


class PlainNode:
    "A state that has been expanded; lists have a place for each generator."

    def __init__(self, children, value, priors):
        self.children, self.value, self.P = children, value, priors
        self.N, self.W, self.L = ([0] * len(children) for _ in range(3))  # L: virtual loss


class PlainTree:
    "The tree of one puzzle. Statistics are rounded to float32, as the arrays are, so that equal choices stay equal."

    def __init__(self, puzzle, state, evaluator, rules):
        self.puzzle, self.evaluator, self.rules, self.nodes = puzzle, evaluator, rules, {}
        self.root = canonical(puzzle, state[None])[0].tobytes()
        self.goal = self.root if self.is_goal(self.root) else None

    def state(self, key):
        return np.frombuffer(key, np.uint8).copy()

    def is_goal(self, key):
        return bool(self.puzzle.is_solved(self.state(key)[None])[0])

    def leads_back(self, key, path):
        "Whether a state is the one before the last move, or was one move away from the one before that."
        last = path[-1][0] if path else None
        before = self.nodes[path[-2][0]].children if len(path) > 1 else []
        return key == last or key in before

    def score(self, node, a, total):
        "Q - L + U of a move; `total`: all visits of the node."
        visits = node.N[a]
        Q = node.value if self.rules.unvisited == 'parent' else 0.0
        if visits:
            Q = node.W[a] / visits if self.rules.backup == 'mean' else node.W[a]
        root = sqrt(self.rules.extra_visits + total)
        return Q - node.L[a] + self.rules.exploration * node.P[a] * root / (1 + visits)

    def drawn(self, a, made):
        "The random number of a move at a state without visits, `made` moves from the root."
        stream = mix64.py_func(np.array([len(self.nodes)], np.uint64))
        for word in keys_of(self.puzzle, self.state(self.root)[None])[0]:
            stream = mix64.py_func(stream + np.uint64(word))
        return drawn_score(np.uint64(draw_of(stream[0], 0, made)), a)

    def choose(self, node, path):
        "The move of greatest score that does not lead back; any, if all do."
        moves = range(len(node.children))
        allowed = [a for a in moves if not (self.rules.mask and self.leads_back(node.children[a], path))]
        total = sum(node.N)
        if self.rules.first_move == 'random' and not total:
            return max(allowed or moves, key=lambda a: self.drawn(a, len(path)))
        return max(allowed or moves, key=lambda a: self.score(node, a, total))

    def select(self):
        "Walk from the root to where the tree ends."
        here, path = self.root, []
        while here in self.nodes and len(path) < self.rules.max_length:
            node = self.nodes[here]
            a = self.choose(node, path)
            node.L[a] += self.rules.virtual_loss
            path.append((here, a))
            here = node.children[a]
        return path, here

    def priors(self, advantages):
        "The policy behind the advantages of a state, uniform if there are none."
        moves = self.puzzle.generators
        advantages = np.zeros(len(moves)) if advantages is None else advantages[0, moves]
        weights = np.exp((advantages.min() - advantages.astype(float)) / self.puzzle.temperature)
        return (weights / weights.sum()).astype(np.float32).tolist()

    def expand(self, key):
        "Make the children and ask the evaluator, of one state."
        state = self.state(key)[None]
        children = canonical(self.puzzle, self.puzzle.neighbours(state, self.puzzle.generators)[0])
        keys = [child.tobytes() for child in children]
        self.goal = self.goal or next(filter(self.is_goal, keys), None)
        values, advantages = self.evaluator(state)
        self.nodes[key] = PlainNode(keys, -float(values[0]), self.priors(advantages))

    def backup(self, path, end):
        "Remember the value of the end at each move of the path."
        value = 0.0 if self.is_goal(end) else self.nodes[end].value
        for t, (key, a) in enumerate(path):
            node = self.nodes[key]
            v = value - self.rules.move_cost * (len(path) - t)
            best = max(node.W[a], v) if self.rules.unvisited == 'zero' or node.N[a] else v
            node.W[a] = float(np.float32(node.W[a] + v if self.rules.backup == 'mean' else best))
            node.N[a] += 1
            node.L[a] -= self.rules.virtual_loss

    def step(self):
        path, end = self.select()
        if end not in self.nodes and not self.is_goal(end):
            self.expand(end)
        self.backup(path, end)
        return path, end
