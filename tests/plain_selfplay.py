"""Self-play as one would first write it: one episode at a time, each with a tree of its own, one state a call of the evaluator.

The reference that `cube_nb.search.selfplay.play` is tested against and timed against.
"""
import numpy as np
from plain_mcts import PlainTree


class PlainGame(PlainTree):
    "A tree that is played down."
    def __init__(self, puzzle, state, evaluator, rules):
        super().__init__(puzzle, state, evaluator, rules)
        self.past = []

    def leads_back(self, key, path): return super().leads_back(key, self.past + path)

    def step(self):
        super().step()
        return 1

    def mix(self, noise, dirichlet):
        root = self.nodes[self.root]
        root.P = [float(np.float32(np.float32(1 - noise) * np.float32(p) + noise * d)) for p, d in zip(root.P, dirichlet)]

    def opinion(self):
        "Visits of the moves worth making, and the mean value."
        root = self.nodes[self.root]
        visits = [0 if self.leads_back(child, []) else n for n, child in zip(root.N, root.children)]
        return visits, sum(root.W) / sum(root.N)

    def advance(self, a):
        child = self.nodes[self.root].children[a]
        self.past = [*self.past, (self.root, a)][-2:]
        self.root = child


def draw(visits, temperature, roll):
    "A place in proportion to visits ** (1 / temperature)."
    if temperature == 0: return visits.index(max(visits))
    weights, total = [(n / max(visits)) ** (1 / temperature) for n in visits], 0.
    for a, weight in enumerate(weights):
        total += weight
        if total > roll * sum(weights): return a


def plain_episode(puzzle, state, evaluator, rules, simulations, max_moves, temperature=0, noise=0, rolls=None, dirichlet=None):
    "Positions of one episode as (state, visits, value, move), whether it ends solved, and the number of simulations."
    game, positions, searches = PlainGame(puzzle, state, evaluator, rules), [], 0
    if not game.is_goal(game.root): game.expand(game.root)
    for t in range(max_moves):
        if game.is_goal(game.root): break
        if noise: game.mix(noise, dirichlet[t])
        for _ in range(simulations): searches += game.step()
        visits, value = game.opinion()
        a = draw(visits, temperature, None if rolls is None else rolls[t])
        positions.append((game.state(game.root), visits, value, a))
        game.advance(a)
    return positions, game.is_goal(game.root), searches
