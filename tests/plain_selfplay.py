"""Self-play as one would first write it, which `cube_nb.search.selfplay.play_games` is tested against: one
episode at a time, each with a tree of its own, one state a call of the evaluator."""

import numpy as np
from plain_mcts import PlainTree


class PlainGame(PlainTree):
    "A tree that is played down."

    def __init__(self, puzzle, state, evaluator, rules):
        super().__init__(puzzle, state, evaluator, rules)
        self.played = []  # the last two (state, move)

    def leads_back(self, key, path):
        return super().leads_back(key, self.played + path)

    def step(self):
        super().step()
        return 1

    def add_noise(self, noise, dirichlet):
        "Mix noise into the priors of the root."
        root = self.nodes[self.root]
        for a, d in enumerate(dirichlet):
            root.P[a] = float(np.float32(np.float32(1 - noise) * np.float32(root.P[a]) + noise * d))

    def root_visits_and_value(self):
        "Visits of the moves that are allowed, and the mean value."
        root = self.nodes[self.root]
        visits = [0 if self.leads_back(child, []) else n for n, child in zip(root.N, root.children)]
        return visits, sum(root.W) / sum(root.N)

    def advance(self, a):
        child = self.nodes[self.root].children[a]
        self.played = [*self.played, (self.root, a)][-2:]
        self.root = child


def draw(visits, temperature, roll):
    "A place in proportion to visits ** (1 / temperature)."
    if temperature == 0:
        return visits.index(max(visits))
    weights = [(n / max(visits)) ** (1 / temperature) for n in visits]
    total = 0.0
    for a, weight in enumerate(weights):
        total += weight
        if total > roll * sum(weights):
            return a


def plain_episode(puzzle, state, evaluator, rules, how, rolls, dirichlet):
    "Positions of one episode as (state, visits, value, move), whether it ends solved, and the number of simulations."
    game = PlainGame(puzzle, state, evaluator, rules)
    positions, searches = [], 0
    if not game.is_goal(game.root):
        game.expand(game.root)
    for t in range(how.max_moves):
        if game.is_goal(game.root):
            break
        if how.noise:
            game.add_noise(how.noise, dirichlet[t])
        for _ in range(how.simulations):
            searches += game.step()
        visits, value = game.root_visits_and_value()
        a = draw(visits, how.temperature, rolls[t])
        positions.append((game.state(game.root), visits, value, a))
        game.advance(a)
    return positions, game.is_goal(game.root), searches
