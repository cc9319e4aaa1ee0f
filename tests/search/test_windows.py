"What holds for words whose windows were solved again."

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from evaluators import table_of

from cube_nb.cube.keys import keys_of
from cube_nb.cube.notation import parse, simplify
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.exact import alternates
from cube_nb.search.windows import checked_window, shorten, states_solved_by

PUZZLES = 'cube2', 'cube2-htm', 'cube3', 'cube3-htm'


def words_of(table):
    return st.lists(st.integers(0, table.puzzle.num_moves - 1), max_size=30)


tables = st.sampled_from(PUZZLES).map(lambda name: table_of(name, 4))
tables_and_words = tables.flatmap(lambda table: st.tuples(st.just(table), words_of(table)))


def end(puzzle, word):
    "Where a word leads, the same for all orientations that count as one."
    return keys_of(puzzle, puzzle.apply_word(puzzle.solved, [int(a) for a in word])[None]).tolist()


def shortenable(table, stretch):
    "Whether at most three moves, fewer than there are, do the same up to a rotation of the whole."
    state = table.puzzle.apply_word(table.puzzle.solved, stretch)
    return 0 <= table.distance(state[None])[0] < min(len(stretch), 4)


@settings(max_examples=150, deadline=None)
@given(tables_and_words, st.integers(2, 8))
def test_same_end_never_longer_and_no_short_window_can_be_shortened(drawn, window):
    table, word = drawn
    better = shorten(table, word, window)
    assert isinstance(better, tuple) and all(type(a) is int for a in better) and len(better) <= len(word)
    if alternates(table.puzzle):
        assert (len(word) - len(better)) % 2 == 0
    assert end(table.puzzle, better) == end(table.puzzle, word)
    assert shorten(table, better, window) == better, 'a second time changes nothing'
    for i in range(len(better) if window >= 5 else 0):
        for j in range(i + 1, min(i + 5, len(better)) + 1):
            assert not shortenable(table, better[i:j])


LOOP = "U R L U2 R' L' U R L U2 R' L'"  # turns the upper centre by half, and nothing else


@pytest.mark.parametrize('tail, fewer', (('', 2), ('2R', 0), ('2U R', 0), ("R 2R 2L' L' F", 4)))
def test_pieces_of_one_look_are_not_exchanged(tail, fewer):
    "On the 4x4x4 a word for the look of a window need not do the same: it stays, but at the end of a word."
    puzzle = get_puzzle('cube4')
    table = table_of('cube4', 4)
    loop = parse(puzzle, LOOP)
    assert puzzle.is_solved(puzzle.apply_word(puzzle.solved, loop)[None])[0]
    word = (*loop[:8], *simplify(puzzle, parse(puzzle, tail)))
    (state,) = states_solved_by(puzzle, np.array([word]))
    better = shorten(table, word, 8)
    assert len(word) - len(better) == fewer and puzzle.is_solved(puzzle.apply_word(state, better)[None])[0]


@pytest.mark.parametrize('name, largest', (('cube2', 10), ('cube3', 10), ('cube2-htm', 9), ('cube3-htm', 9)))
def test_the_largest_window_follows_from_the_table(name, largest):
    table = table_of(name, 4)
    assert checked_window(table, None) == 8 and checked_window(table, largest) == largest
    with pytest.raises(ValueError, match=f'allows windows of 2 to {largest} moves, got {largest + 1}'):
        checked_window(table, largest + 1)
