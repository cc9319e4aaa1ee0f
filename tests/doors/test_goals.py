"Goals: from state to state, a part of the puzzle, some moves alone, slices as moves, and what is refused."

import json
import re

import numpy as np
import pytest
from trainings import call

import cube_nb
from cube_nb.cube.definition import group_of
from cube_nb.cube.goals import make_goal, named_goals, showing_only, towards
from cube_nb.cube.notation import format_word, invert, parse
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs, complete_table
from cube_nb.play.puzzles import STATIC

CROSS_HTM = [1, 15, 158, 1394, 9809, 46381, 97254, 34966, 102]  # known to people who solve by hand


def after(puzzle, word):
    return puzzle.apply_word(puzzle.solved, word)


def random_words(puzzle, count, length, seed):
    return puzzle.scramble(count, length, seed).moves.astype(int).tolist()


@pytest.mark.parametrize('name', ['cube3', 'cube3-htm', 'cube2', 'pyraminx', 'skewb'])
def test_from_state_to_state_is_the_quotient(name):
    puzzle = get_puzzle(name)
    for start, end in zip(random_words(puzzle, 100, 15, 1), random_words(puzzle, 100, 12, 2)):
        goal = make_goal(puzzle, format_word(puzzle, end))
        (renamed,) = towards(goal, after(puzzle, start)[None])
        quotient = after(puzzle, invert(puzzle, end) + start)
        assert goal.puzzle == name and (renamed == quotient).all()


def test_100_pairs_are_solved_as_their_quotient():
    puzzle = get_puzzle('pyraminx')
    table = complete_table(puzzle)
    for start, end in zip(random_words(puzzle, 100, 15, 3), random_words(puzzle, 100, 15, 4)):
        answer = cube_nb.solve(after(puzzle, start), puzzle='pyraminx', goal=format_word(puzzle, end))
        assert (puzzle.apply_word(after(puzzle, start), answer.moves) == after(puzzle, end)).all()
        quotient = after(puzzle, invert(puzzle, end) + start)
        assert answer.optimal and len(answer) == table.distance(quotient[None])[0]


def test_all_crosses_are_counted_with_their_distances():
    htm = get_puzzle('cube3-htm')
    assert bfs(showing_only(htm, named_goals(htm)['cross'])).counts.tolist() == CROSS_HTM


def test_a_cross_is_solved_shortest():
    puzzle = get_puzzle('cube3-htm')
    pattern = named_goals(puzzle)['cross']
    states = list(puzzle.random_states(20, seed=5))
    for state, answer in zip(states, cube_nb.solve(states, metric='htm', goal='cross')):
        end = puzzle.apply_word(state, answer.moves)
        assert answer.optimal and len(answer) <= 8 and (end[pattern < 255] == pattern[pattern < 255]).all()


@pytest.mark.slow
@pytest.mark.parametrize('goal', ['f2l', 'oll'])
def test_a_large_part_is_solved_by_general_search(goal):
    puzzle = get_puzzle('cube3')
    pattern = named_goals(puzzle)[goal]
    for state in [after(puzzle, parse(puzzle, 'R U F')), puzzle.random_states(1, seed=6)[0]]:
        answer = cube_nb.solve(state, goal=goal, time_limit=4)
        end = puzzle.apply_word(state, answer.moves)
        assert answer.solved and (end[pattern < 255] == pattern[pattern < 255]).all()


@pytest.mark.parametrize('word, end, hidden, length', [
    ('R', "R2 L2 U D'", (), 5), ("R2 L2 U2 D2 F2 B2 R U'", 'R2 L2 U2 D2 F2 B2', (0, 2, 6, 8), 2),
])  # fmt: skip
def test_stickers_and_a_part_of_them_are_a_goal(word, end, hidden, length):
    puzzle = get_puzzle('cube3')
    wanted, start = (after(puzzle, parse(puzzle, each)) for each in (end, word))
    shown = np.array([i % 9 not in hidden for i in range(54)])
    text = ''.join(puzzle.faces[c] if show else '?' for c, show in zip(wanted, shown))
    answer = cube_nb.solve(word, goal=text, time_limit=4)
    assert answer.solved and len(answer) == length
    assert (puzzle.apply_word(start, answer.moves)[shown] == wanted[shown]).all()


@pytest.mark.parametrize('metric, longest', [('qtm', 26), ('htm', 20)])
def test_r_and_u_alone(metric, longest):
    name = {'qtm': 'cube3', 'htm': 'cube3-htm'}[metric]
    puzzle = get_puzzle(make_goal(get_puzzle(name), moves='R,U').puzzle)
    assert group_of(puzzle).order() == 73_483_200
    states = puzzle.random_states(3, seed=7)
    for state, answer in zip(states, cube_nb.solve(list(states), metric=metric, moves='R,U', time_limit=60)):
        assert answer.solved and answer.optimal and len(answer) <= longest
        assert set(str(answer)) <= set("RU2' ")
        moves = parse(get_puzzle(name), str(answer))
        assert get_puzzle(name).is_solved(get_puzzle(name).apply_word(state, moves)[None])[0]


def test_a_half_turn_may_be_a_move_of_its_own():
    puzzle = get_puzzle(make_goal(get_puzzle('cube3'), moves='R,U,F2').puzzle)
    assert puzzle.move_names == ('R', "R'", 'U', "U'", 'F2')
    answer = cube_nb.solve('F2 R', moves='R,U,F2', time_limit=10)
    assert str(answer) == "R' F2" and len(answer) == 2


def test_slices_are_moves():
    answer = cube_nb.solve("M' U2 M U2", metric='stm', time_limit=4)
    assert answer.solved and len(answer) == 4


TWISTED = 'UUUUUUUUFURRRRRRRRFFRFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBB?'  # the corner URF
REFUSED = {  # word and option of `solve` -> what the error says
    ('F', 'moves', 'R,U'): 'do not lead there: they make 73,483,200 of 43,252,003,274,489,856,000 states',
    ('R', 'moves', ''): 'expected some of', ('R', 'moves', 'x'): "'x' is no move of cube3",
    ('R', 'goal', 'R Q'): 'token 2', ('R', 'goal', '???'): 'goal: expected 54 stickers, got 3',
    ('R', 'goal', TWISTED): 'a piece is twisted, or two are exchanged',
    ('R', 'goal', 20 * '?' + 'B' + 33 * '?'): 'show more stickers',
}  # fmt: skip


@pytest.mark.parametrize('word, option, value', REFUSED)
def test_what_is_no_goal_is_refused(word, option, value):
    with pytest.raises(ValueError, match=re.escape(REFUSED[word, option, value])):
        cube_nb.solve(word, **{option: value})


def test_in_a_shell(capsys):
    "What the address of an animation takes is what the library that plays it writes into such addresses."

    def printed(*words):
        return call(capsys, 'solve', *words)[1].splitlines()

    word, link = printed('R U', '--goal', 'L D', '--link', '--time-limit', '1')
    assert word == "U' R' L D"
    assert link == 'https://alpha.twizzle.net/edit/?puzzle=3x3x3&setup-alg=R+U&alg=U%27+R%27+L+D'
    script = (STATIC / 'play.js').read_text(encoding='utf-8')
    for key in ('puzzle', 'setup-alg', 'setup-anchor', 'alg'):
        assert f'"{key}"' in script or f'`{key}`' in script
    (line,) = printed('R U F2 D', '--goal', 'cross', '--metric', 'htm', '--json')
    found = json.loads(line)
    assert found['optimal'] and found['length'] == found['lower_bound'] == 3
    assert (found['puzzle'], found['scramble']) == ('cube3-htm', 'R U F2 D')
