"Monte Carlo tree search: the same choices as a plain version, sound statistics, and solutions that solve."

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from evaluators import wrong_evaluator
from plain_mcts import PlainTree

from cube_nb.cube.keys import canonical
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import bfs
from cube_nb.depth.evaluator import Evaluation, exact_evaluator
from cube_nb.search.greedy import greedy
from cube_nb.search.mcts import BOOK_SEARCH, MctsOptions, MctsRun, SearchTrees, TreeRules, mcts


CHOICES = dict(
    exploration=[0.0, 0.5, 3.0, 40.0], virtual_loss=[0.0, 0.25, 1.0, 8.0], backup=['max', 'mean'],
    unvisited=['parent', 'zero'], move_cost=[0.0, 0.5], mask=[False, True], max_length=[1, 7, 30],
    extra_visits=[0.0, 1.0], first_move=['score', 'random'],
)  # fmt: skip
rules = st.builds(TreeRules, **{name: st.sampled_from(values) for name, values in CHOICES.items()})
puzzles = st.sampled_from(puzzle_names()).map(get_puzzle)


def statistics(trees, b):
    "What the arrays hold of one puzzle, in the plain version's form: state -> (children, N, W, P, V)."
    table, tree = {}, trees.tree
    for row in np.arange(1, trees.row_count):  # those of nodes
        if trees.nodes.owners(tree[row]['node']) != b:
            continue
        state, *children = trees.nodes.states([tree[row]['node'], *tree[row]['child']])
        lists = [tree[row][name].tolist() for name in 'NWP']
        table[state.tobytes()] = ([child.tobytes() for child in children], *lists, float(tree[row]['V']))
    return table


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(puzzles, rules, st.booleans(), st.integers(1, 20), st.integers(0, 99))
def test_same_tree_as_the_plain_version(puzzle, rules, policy, depth, seed):
    "The same moves on every path, and at the end the same nodes with equal N, W, P and V."
    states = puzzle.scramble(2, depth, seed).states
    evaluator = wrong_evaluator(puzzle, policy)
    trees = SearchTrees(puzzle, states, evaluator, rules)
    plain = [PlainTree(puzzle, state, evaluator, rules) for state in states]
    for _ in range(30):
        paths = trees.step(np.arange(2))
        for b, tree in enumerate(plain):
            path, end = tree.step()
            assert [a for _, a in path] == paths.taken(b, 0)[1].tolist()
            assert trees.nodes.states(paths.ends[b])[0].tobytes() == end
    for b, tree in enumerate(plain):
        expected = {key: (n.children, n.N, n.W, n.P, n.value) for key, n in tree.nodes.items()}
        assert statistics(trees, b) == expected and (tree.goal is None) == (trees.goal[b] < 0)
        assert tree.root == canonical(puzzle, states[b : b + 1])[0].tobytes()


def test_the_search_of_the_book_is_that_of_a_plain_loop():
    "On its puzzle, with the same draws: as many searches, and a walk as long."
    puzzle, options = get_puzzle('cube2-fixed'), MctsOptions(**BOOK_SEARCH)
    states, evaluator = puzzle.scramble(6, 4, seed=1).states, wrong_evaluator(puzzle)
    run = MctsRun(puzzle, states, evaluator, options)
    assert all(answer.solved for answer in run.solve())
    for state, searches, walked in zip(states, run.searches, run.walked):
        tree, count = PlainTree(puzzle, state, evaluator, options), 0
        while tree.goal is None:
            (path, _), count = tree.step(), count + 1
        assert (count, len(path) + 1) == (searches, walked)


@settings(max_examples=25, deadline=None)
@given(puzzles, rules, st.integers(1, 6), st.integers(1, 20), st.integers(0, 99))
def test_counts_and_rows_are_sound(puzzle, rules, leaves, depth, seed):
    "A row for each expanded node and for no other, priors that add up to one, and the children of its state."
    trees = SearchTrees(puzzle, puzzle.scramble(3, depth, seed).states, wrong_evaluator(puzzle), rules)
    for k in range(12):
        paths = trees.step(np.arange(3), leaves)
        assert not trees.tree['in_flight'].any()
        visits = trees.tree['N'][trees.root_rows].sum(1)
        unsolved = ~trees.nodes.solved[trees.root]
        assert (visits >= k * leaves)[unsolved].all()  # the first round ends at the roots
        assert (paths.lengths <= rules.max_length).all()
    rows = np.arange(1, trees.row_count)
    nodes, children = trees.tree['node'][rows], trees.tree['child'][rows]
    owners = trees.nodes.owners(nodes)
    assert (trees.expanded == np.bincount(owners, minlength=3)).all()
    assert (trees.generated() == trees.expanded * len(puzzle.generators)).all()
    np.testing.assert_array_equal(trees.nodes.row_of[nodes], rows)
    np.testing.assert_allclose(trees.tree['P'][rows].sum(1), 1, rtol=1e-5)
    assert len(np.unique(nodes)) == len(rows) and not trees.nodes.solved[nodes].any()
    expected = puzzle.neighbours(trees.nodes.states(nodes), puzzle.generators)
    expected = canonical(puzzle, expected.reshape(-1, puzzle.num_facelets))
    np.testing.assert_array_equal(expected, trees.nodes.states(children.ravel()))
    np.testing.assert_array_equal(trees.nodes.owners(children), owners[:, None].repeat(children.shape[1], 1))


def summary(answers):
    return [(a.solved, a.moves, a.generated, a.expanded) for a in answers]


@settings(max_examples=25, deadline=None)
@given(puzzles, st.integers(1, 5), st.sampled_from(['bfs', 'naive']), st.integers(0, 99))
def test_together_as_alone(puzzle, leaves, path, seed):
    options = MctsOptions(leaves=leaves, path=path, max_searches=60, max_length=50)
    states = puzzle.scramble(5, np.arange(5), seed).states
    states = np.concatenate([states, states[:2]])
    evaluator = wrong_evaluator(puzzle)
    together = summary(mcts(puzzle, states, evaluator, options))
    assert together == [summary(mcts(puzzle, s[None], evaluator, options))[0] for s in states]
    assert together[5:] == together[:2]


def test_counts_of_known_trees():
    "None for a solved puzzle, the start for one turn; for U U also the state after U, the first move, a turn from solved."
    table = bfs(get_puzzle('cube3'), 3)
    puzzle, exact = table.puzzle, exact_evaluator(table)
    for moves, expanded in (([], 0), ([0], 1), ([0, 0], 2)):
        run = MctsRun(puzzle, puzzle.apply_word(puzzle.solved, moves)[None], exact, MctsOptions(leaves=1))
        (answer,) = run.solve()
        assert answer.solved and len(answer) == len(moves)
        assert (answer.expanded, answer.generated) == (expanded, 12 * expanded)
        assert run.searches[0] == expanded


def test_limits_are_kept():
    puzzle = get_puzzle('cube3')
    states, evaluator = puzzle.scramble(3, 30).states, wrong_evaluator(puzzle)
    run = MctsRun(puzzle, states, evaluator, MctsOptions(max_searches=50, leaves=8))
    assert not any(a.solved or a.expanded > 50 for a in run.solve()) and run.searches.tolist() == [50] * 3
    for answer in mcts(puzzle, states, evaluator, MctsOptions(max_nodes=500, leaves=8)):
        assert 500 <= answer.generated < 500 + 8 * 12 and not answer.solved


def test_policy_alone_and_infinite_values():
    puzzle = get_puzzle('cube3')
    states = puzzle.scramble(4, 3, seed=2).states
    table = bfs(puzzle, 5)

    def policy_to_solved(s):
        after = table.distance(puzzle.neighbours(s).reshape(-1, 54)).reshape(-1, 12)
        return Evaluation(None, np.where(after < table.distance(s)[:, None], 0, 9).astype(np.float32))

    def nowhere(s):
        return Evaluation(np.full(len(s), np.inf, np.float32))

    for answer in mcts(puzzle, states, policy_to_solved):
        assert answer.solved and answer.expanded < 100
    assert [len(a) for a in greedy(puzzle, states, policy_to_solved)] == table.distance(states).tolist()
    assert all(a.solved for a in mcts(puzzle, states, nowhere))
