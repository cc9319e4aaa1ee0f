"What holds for Monte Carlo tree search: the same choices as a plain version, sound statistics, and solutions that solve."
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_mcts import PlainTree

from cube_nb.cube.keys import canonical, keys_of, unpack
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.evaluator import Evaluation
from cube_nb.depth.evaluator import exact_evaluator
from cube_nb.search.greedy import greedy
from cube_nb.search.mcts import TreeRules, SearchTrees, mcts

KAPPA = .45  # `temperature` of both cubes

PUZZLES = 'cube2', 'cube3'
near = lru_cache(bfs)


def scatter(puzzle, states):
    "uint64[B], a fixed function of the canonical state."
    keys = keys_of(puzzle, states).astype(np.uint64)
    return (keys * np.uint64(0x9E3779B97F4A7C15)).sum(1) * np.uint64(0xD1342543DE82EF95)


def judge(puzzle, policy=True, worst=8.):
    "An evaluator that is wrong, but the same whenever it is asked."
    def evaluate(states):
        h = scatter(puzzle, states)
        values = (worst * (h >> np.uint64(40)).astype(np.float32) / 2**24).astype(np.float32)
        digits = (h[:, None] >> np.arange(12, dtype=np.uint64)[None] * np.uint64(5)) % np.uint64(32)
        logits = digits / 10
        steps = KAPPA * np.log(np.exp(logits).sum(1, keepdims=True)) - KAPPA * logits
        return Evaluation(values, steps.astype(np.float32) if policy else None)
    return evaluate


rules = st.builds(TreeRules, exploration=st.sampled_from([0., .5, 3., 40.]), virtual_loss=st.sampled_from([0., .25, 1., 8.]), backup=st.sampled_from(['max', 'mean']),
                  unvisited=st.sampled_from(['parent', 'zero']), move_cost=st.sampled_from([0., .5]), mask=st.booleans(), max_length=st.sampled_from([1, 7, 30]))
puzzles = st.sampled_from(PUZZLES).map(get_puzzle)


def statistics(search, b):
    "What the arrays hold of one puzzle, in the plain version's form."
    table = {}
    for row in range(1, search.rows):
        *key, owner = search.table.keys[search.node_of[row]]
        if owner != b: continue
        states = unpack(search.puzzle, search.table.keys[[search.node_of[row], *search.child[row]], :-1])
        table[states[0].tobytes()] = ([s.tobytes() for s in states[1:]], search.N[row].tolist(), search.W[row].tolist(), search.P[row].tolist(), float(search.V[row]))
    return table


@settings(max_examples=30, deadline=None)
@given(puzzles, rules, st.booleans(), st.integers(1, 20), st.integers(0, 99))
def test_same_tree_as_the_plain_version(puzzle, rules, policy, depth, seed):
    states, evaluator = puzzle.scramble(2, depth, seed).states, judge(puzzle, policy)
    search, plain = SearchTrees(puzzle, states, evaluator, rules), [PlainTree(puzzle, state, evaluator, rules) for state in states]
    for _ in range(30):
        down = search.step(np.arange(2))
        for b, tree in enumerate(plain):
            path, end = tree.step()
            assert [a for _, a in path] == down.moves[b, 0, :down.lengths[b, 0]].tolist()
            assert unpack(puzzle, search.table.keys[down.ends[b], :-1])[0].tobytes() == end
    for b, tree in enumerate(plain):
        assert statistics(search, b) == {key: (n.children, n.N, n.W, n.P, n.value) for key, n in tree.nodes.items()}
        assert (tree.goal is None) == (search.goal[b] < 0) and tree.root == canonical(puzzle, states[b:b + 1])[0].tobytes()


@settings(max_examples=25, deadline=None)
@given(puzzles, rules, st.integers(1, 6), st.integers(1, 20), st.integers(0, 99))
def test_statistics_are_sound(puzzle, rules, leaves, depth, seed):
    search = SearchTrees(puzzle, puzzle.scramble(3, depth, seed).states, judge(puzzle), rules)
    for k in range(1, 13):
        down = search.step(np.arange(3), leaves)
        assert not search.flight.any() and (search.at_roots('N').sum(1) >= (k - 1) * leaves)[~search.solved[search.root]].all()  # the first round ends at the roots
        assert (down.lengths <= rules.max_length).all()
    rows = np.arange(1, search.rows)
    nodes = search.node_of[rows]
    np.testing.assert_array_equal(search.row_of[nodes], rows)
    np.testing.assert_allclose(search.P[rows].sum(1), 1, rtol=1e-5)
    assert len(np.unique(nodes)) == len(rows) and not search.solved[nodes].any()
    children = puzzle.neighbours(unpack(puzzle, search.table.keys[nodes, :-1]), puzzle.generators)
    np.testing.assert_array_equal(canonical(puzzle, children.reshape(-1, puzzle.num_facelets)), unpack(puzzle, search.table.keys[search.child[rows].ravel(), :-1]))
    np.testing.assert_array_equal(search.table.keys[search.child[rows], -1], search.table.keys[nodes, -1][:, None].repeat(search.child.shape[1], 1))
    assert (search.generated() == 1 + np.bincount(search.table.keys[nodes, -1], minlength=3) * len(puzzle.generators)).all()


@settings(max_examples=25, deadline=None)
@given(puzzles, st.integers(1, 5), st.sampled_from(['bfs', 'naive']), st.integers(0, 99))
def test_together_as_alone(puzzle, leaves, path, seed):
    options = dict(leaves=leaves, path=path, max_searches=60, max_length=50)
    states = puzzle.scramble(5, np.arange(5), seed).states
    states = np.concatenate([states, states[:2]])
    told = lambda answers: [(a.solved, a.moves, a.generated, a.expanded) for a in answers]
    together = told(mcts(puzzle, states, judge(puzzle), **options))
    assert together == [told(mcts(puzzle, s[None], judge(puzzle), **options))[0] for s in states]
    assert together[5:] == together[:2]


@settings(max_examples=20, deadline=None)
@given(puzzles, rules, st.integers(1, 5), st.integers(0, 99))
def test_breadth_first_is_never_longer(puzzle, rules, leaves, seed):
    states = puzzle.scramble(4, 3, seed).states
    options = vars(rules) | dict(leaves=leaves, max_searches=200)
    for short, long in zip(*(mcts(puzzle, states, judge(puzzle), path=path, **options) for path in ('bfs', 'naive'))):
        assert short.solved == long.solved and short.expanded == long.expanded and len(short) <= len(long)


@pytest.mark.parametrize('name', PUZZLES)
def test_masked_walks_make_no_detours_of_three_moves(name):
    puzzle = get_puzzle(name)
    search, table = SearchTrees(puzzle, puzzle.scramble(5, 20).states, judge(puzzle), TreeRules(exploration=.1)), bfs(puzzle, 3)
    for _ in range(100):
        down = search.step(np.arange(5), 3)
        for rows, length, end in zip(down.rows.reshape(15, -1), down.lengths.ravel(), down.ends.ravel()):
            way = [*search.node_of[rows[:length]], end]
            assert all(way[i] != way[i + 2] for i in range(length - 1)) and all(way[i + 3] not in search.child[rows[i]] for i in range(length - 2))


def test_walks_without_virtual_loss_go_round_and_end():
    puzzle = get_puzzle('cube3')
    search = SearchTrees(puzzle, puzzle.scramble(1, 8).states, judge(puzzle), TreeRules(exploration=0, virtual_loss=0, mask=False, max_length=25))
    lengths = [search.step(np.arange(1)).lengths[0, 0] for _ in range(60)]
    assert max(lengths) == 25 and not search.flight.any()


@pytest.mark.parametrize('name', PUZZLES)
def test_exact_values_lead_straight(name):
    table = near(get_puzzle(name), 6)
    states = table.puzzle.scramble(40, np.arange(40) % 6, seed=3).states
    exact = exact_evaluator(table)
    for answers in (greedy(table.puzzle, states, exact), mcts(table.puzzle, states, exact, exploration=.1, leaves=1)): assert [len(a) for a in answers] == table.distance(states).tolist()
    for options in (dict(backup='mean'), dict(move_cost=1), dict(leaves=20), dict(mask=False)): assert all(a.solved for a in mcts(table.puzzle, states, exact, **options))


@pytest.mark.parametrize('wrong, words', [
    (dict(exploration=-1), 'exploration: expected at least 0'), (dict(exploration=float('nan')), 'exploration: expected at least 0'), (dict(virtual_loss=-.1), 'virtual_loss: expected at least 0'),
    (dict(move_cost=-1), 'move_cost: expected at least 0'), (dict(max_length=0), 'max_length: expected at least 1'), (dict(leaves=0), 'leaves: expected at least 1'),
    (dict(max_searches=0), 'max_searches: expected at least 1'), (dict(max_nodes=0), 'max_nodes: expected at least 1'), (dict(path='short'), "path: expected one of bfs, naive, got 'short'"),
    (dict(backup='sum'), "backup: expected one of max, mean, got 'sum'"), (dict(unvisited=0), 'unvisited: expected one of parent, zero, got 0')])
def test_options_that_make_no_sense(wrong, words):
    puzzle = get_puzzle('cube2')
    with pytest.raises(ValueError, match=words): mcts(puzzle, puzzle.goals[:1], judge(puzzle), **wrong)


def test_limits_are_kept():
    puzzle = get_puzzle('cube3')
    states = puzzle.scramble(3, 30).states
    assert [a.expanded for a in mcts(puzzle, states, judge(puzzle), max_searches=50, leaves=8)] == [50] * 3
    for answer in mcts(puzzle, states, judge(puzzle), max_nodes=500, leaves=8): assert 500 < answer.generated <= 500 + 8 * 12 and not answer.solved
    assert not any(a.solved for a in mcts(puzzle, states, judge(puzzle), time_limit=1e-9))


def test_policy_alone_and_infinite_values():
    puzzle = get_puzzle('cube3')
    states, table = puzzle.scramble(4, 3, seed=2).states, near(puzzle, 5)
    to_solved = lambda s: Evaluation(None, np.where(table.distance(puzzle.neighbours(s).reshape(-1, 54)).reshape(-1, 12) < table.distance(s)[:, None], 0, 9).astype(np.float32))
    for answer in mcts(puzzle, states, to_solved): assert answer.solved and answer.expanded < 100
    assert [len(a) for a in greedy(puzzle, states, to_solved)] == table.distance(states).tolist()
    nowhere = lambda s: Evaluation(np.full(len(s), np.inf, np.float32))
    assert all(a.solved for a in mcts(puzzle, states, nowhere))


def test_greedy_stops_where_it_has_been_and_at_limits():
    puzzle = get_puzzle('cube3')
    states = puzzle.scramble(6, 30).states
    stuck = greedy(puzzle, states, judge(puzzle))
    assert not any(a.solved for a in stuck) and all(0 < a.expanded < 100 for a in stuck)
    assert [a.expanded for a in greedy(puzzle, states, judge(puzzle), max_length=2)] == [2] * 6
    for wrong in (dict(max_length=0), dict(max_nodes=0)):
        with pytest.raises(ValueError, match='max_length and max_nodes of at least 1'): greedy(puzzle, states, judge(puzzle), **wrong)
