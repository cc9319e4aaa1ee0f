"Puzzles from definition files: what is read, what is refused, what is found, and the four files that we keep."

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import cube_nb
from cube_nb.cube.cubies import to_cubies
from cube_nb.cube.definition import (
    Definition,
    StabiliserChain,
    group_of,
    num_states,
    puzzle_from_definition,
    read_definition,
    twins_are_free,
)
from cube_nb.cube.notation import format_word, parse
from cube_nb.cube.puzzle import ImpossibleState, get_puzzle, puzzle_entry
from cube_nb.depth.bfs import bfs, complete_table
from cube_nb.training import make_learner

PUZZLES = Path(__file__).parents[2] / 'data' / 'puzzles'
KNOWN = {  # file -> states; the sources stand in the files
    'floppy.json': 192,  # Jaap Scherphuis, twistypuzzles.com, 6 May 2009: 4! 2^4 / 2
    'dino.tws': 19_958_400,
    'hungarian_rings.gap': 301_625_696_863_690_399_200,
    'kilominx.def': 23_563_902_142_421_896_679_424_000,
}
FLOPPY_DEPTHS = [1, 4, 10, 24, 53, 64, 31, 4, 1]  # Jaap Scherphuis, the same


def known_puzzle(name):
    return get_puzzle(str(PUZZLES / name))


# --- the four files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize('name', KNOWN)
def test_states_are_counted_as_known(name):
    assert num_states(known_puzzle(name)) == KNOWN[name]


@pytest.mark.parametrize('name', KNOWN)
def test_a_puzzle_from_a_file_is_as_any_other(name):
    puzzle = known_puzzle(name)
    assert get_puzzle(name) is puzzle and puzzle.name == name
    scramble = puzzle.scramble(20, np.arange(20), seed=1)
    assert puzzle.is_possible(scramble.states).all() and puzzle.is_possible(puzzle.random_states(20, 1)).all()
    for word in scramble.moves.tolist():
        word = [a for a in word if a >= 0]
        assert parse(puzzle, format_word(puzzle, word)) == word
    for symmetry, names in zip(puzzle.symmetries, puzzle.colour_maps):
        assert (names[puzzle.solved[symmetry]] == puzzle.solved).all()
    assert (puzzle.symmetric_moves >= 0).all()
    for move, inverse in zip(puzzle.moves, puzzle.moves[puzzle.inverse_moves]):
        assert (move[inverse] == np.arange(puzzle.num_facelets)).all()


def solved_shortest(name):
    puzzle = known_puzzle(name)
    states = puzzle.random_states(1000, seed=7)
    answers = cube_nb.solve(list(states), puzzle=name, time_limit=60)
    distances = complete_table(puzzle).distance(states)
    for state, answer, distance in zip(states, answers, distances):
        assert answer.solved and answer.optimal and len(answer) == distance
        assert puzzle.is_solved(puzzle.apply_word(state, answer.moves)[None])[0]


def test_1000_floppy_cubes_are_solved_shortest():
    assert complete_table(known_puzzle('floppy.json')).counts.tolist() == FLOPPY_DEPTHS
    solved_shortest('floppy.json')


@pytest.mark.slow
def test_1000_dino_cubes_are_solved_shortest():
    assert len(complete_table(known_puzzle('dino.tws'))) == KNOWN['dino.tws']
    solved_shortest('dino.tws')


@pytest.mark.parametrize('name', ['hungarian_rings.gap', 'kilominx.def'])
def test_the_large_ones_are_solved_near_solved_without_a_network(name):
    puzzle = known_puzzle(name)
    for state in puzzle.scramble(3, [1, 2, 3], seed=2).states:
        answer = cube_nb.solve(state, puzzle=name)
        assert answer.solved and len(answer) <= 3


def test_a_network_learns_a_puzzle_from_a_file():
    settings = ['network.hidden=[32]', 'network.blocks=0', 'max_depth=5', 'batch_size=50', 'iterations=2']
    learner = make_learner('walks', str(PUZZLES / 'kilominx.def'), overrides=settings)
    assert learner.puzzle is known_puzzle('kilominx.def')


# --- the formats --------------------------------------------------------------------------------------------


def pieces_of_moves():
    "The quarter turns of the 3x3x3 as pieces: name -> (corners, twists, edges, flips), by place."
    puzzle = get_puzzle('cube3')
    for name, move in zip(puzzle.move_names, puzzle.moves):
        if not name.endswith("'"):
            yield name, [row[0].tolist() for row in to_cubies(puzzle, puzzle.solved[move])]


def as_tws(command, first):
    "A definition for twsearch: `Move` has the turn of each piece, `MoveTransformation` that at each place."
    lines = ['Name Cube', 'Set CORNER 8 3', 'Set EDGE 12 2', 'Solved' if first else 'StartState', 'End']
    for name, rows in pieces_of_moves():
        lines += [f'{command} {name}']
        for kind, pieces, turns in (('CORNER', *rows[:2]), ('EDGE', *rows[2:])):
            if command == 'Move':
                turns = [turns[pieces.index(piece)] for piece in range(len(pieces))]
            lines += [kind, ' '.join(str(piece + first) for piece in pieces), ' '.join(map(str, turns))]
        lines += ['End']
    return '\n'.join(lines)


def as_kpuzzle(names=('numOrientations', 'defaultPattern', 'moves', 'orientationDelta')):
    ways, start, moves, turns = names
    kinds = {'CORNERS': {'numPieces': 8, ways: 3}, 'EDGES': {'numPieces': 12, ways: 2}}
    made = {
        name: {
            'CORNERS': {'permutation': rows[0], turns: rows[1]},
            'EDGES': {'permutation': rows[2], turns: rows[3]},
        }
        for name, rows in pieces_of_moves()
    }
    return json.dumps({'orbits': kinds, start: {}, moves: made})


def as_table(first=0):
    puzzle = get_puzzle('cube3')
    moves = dict(zip(puzzle.move_names, (puzzle.moves + first).tolist()))
    return json.dumps({'moves': moves, 'solved': puzzle.solved.tolist()})


def as_gap():
    puzzle = get_puzzle('cube3')
    lines = []
    for name, move in zip(puzzle.move_names[::2], puzzle.moves[::2]):
        goes = np.argsort(move)
        cycles, left = '', set(np.flatnonzero(goes != np.arange(54)).tolist())
        while left:
            cycle = [min(left)]
            while goes[cycle[-1]] != cycle[0]:
                cycle.append(int(goes[cycle[-1]]))
            left -= set(cycle)
            cycles += '(' + ','.join(str(place + 1) for place in cycle) + ')'
        lines.append(f'{name} := {cycles};')
    return '\n'.join([*lines, 'cube := Group(U, R, F, D, L, B);'])


FORMATS = {
    'move.tws': as_tws('Move', 1),
    'transformation.ksolve': as_tws('MoveTransformation', 0),
    'new.json': as_kpuzzle(),
    'old.json': as_kpuzzle(('orientations', 'startPieces', 'turns', 'orientation')),
    'table.json': as_table(),
    'from_one.json': as_table(1),
    'cycles.gap': as_gap(),
}


@pytest.mark.parametrize('name', FORMATS)
def test_each_format_says_the_same_of_the_3x3x3(name, tmp_path):
    (tmp_path / name).write_text(FORMATS[name], encoding='utf-8')
    puzzle = puzzle_from_definition(name, read_definition(tmp_path / name))
    assert num_states(puzzle) == 43_252_003_274_489_856_000
    assert puzzle.num_moves == 12 and set(puzzle.move_names) == set(get_puzzle('cube3').move_names)
    assert bfs(puzzle, 3).counts.tolist() == bfs(get_puzzle('cube3'), 3).counts.tolist()
    word = parse(get_puzzle('cube3'), "R U2 F' L D B'")
    ours = get_puzzle('cube3').apply_word(get_puzzle('cube3').solved, word)
    state = puzzle.apply_word(puzzle.solved, parse(puzzle, "R U2 F' L D B'"))
    if name in ('table.json', 'from_one.json'):
        assert (state == ours).all()
    assert puzzle.is_possible(state[None])[0]


def test_identical_pieces_and_turns_that_nobody_sees(tmp_path):
    lines = ['Set A 4 2', 'Solved', 'A', '1 1 2 2', '? ? ? ?', 'End']
    lines += ['Move T', 'A', '2 3 4 1', '1 0 0 0', 'End', 'Move S', 'A', '2 1 3 4', 'End']
    (tmp_path / 'twins.tws').write_text('\n'.join(lines))
    assert len(bfs(puzzle_from_definition('twins', read_definition(tmp_path / 'twins.tws')))) == 6


SET = 'Set A 3 2\nSolved\nA\n1 2 3\nEnd\n'
REFUSED = {  # (name of the file, text) -> what the error says
    ('x.tws', ''): 'there is no move',
    ('x.tws', SET + 'Move R\nA\n1 2 2\nEnd'): 'line 6: [1, 2, 2] is no permutation: 2 is there twice',
    ('x.tws', SET + 'Move R\nA\n1 2\nEnd'): "line 8: expected numbers of A, or End, got '1 2'",
    ('x.tws', SET + 'Move R\nB\n1 2 3\nEnd'): 'line 7: expected the name of a set',
    ('x.tws', SET + 'Move R\nA\n2 3 1\n0 0 2\nEnd'): 'a turn of 2, expected less than 2',
    ('x.tws', SET + 'Move R\nA\n2 3 1\n'): 'expected End',
    ('x.tws', SET + 'Move R\nA\n1 2 3\nEnd'): "move 'R' moves nothing",
    ('x.tws', SET + 'Block A 1 2'): "line 6: 'Block A 1 2' is not known here",
    ('x.tws', 'Set A x 2'): "line 1: expected a whole number, got 'x'",
    ('x.json', '{'): 'Expecting property name',
    ('x.json', '[]'): 'expected names and values',
    ('x.json', '{}'): 'expected moves or generators or allowed_moves',
    ('x.json', '{"moves": {"R": [0, 2, 2]}}'): "move 'R': [0, 2, 2] is no permutation: 2 is there twice",
    ('x.json', '{"moves": {"R": [1, 0], "U": [1, 2, 0]}}'): "move 'U': expected 2 numbers, got 3",
    (
        'x.json',
        '{"moves": {"R": [1, 0]}, "solved": [0, 1, 2]}',
    ): "move 'R' has 2 places, and the solved state 3",
    ('x.json', '{"moves": {"R": "ab"}}'): 'expected a list of whole numbers',
    ('x.json', '{"moves": {"R 2": [1, 0]}}'): "'R 2' cannot be the name of a move",
    ('x.json', '{"moves": 7}'): 'expected names and values, got 7',
    ('x.json', '[' * 100_000): 'x.json: ',
    ('x.json', '{"moves": [[1, 0]], "move_names": [3]}'): 'expected the names of the moves, got [3]',
    ('x.json', '{"moves": [[1, 0], [1, 0]], "move_names": ["R", "R"]}'): '2 moves have 1 names',
    ('x.json', '{"moves": {"R": [1, 0]}, "solved": [[0], [1]]}'): 'expected solved as a list of labels',
    ('x.json', '{"orbits": [{"name": "A"}, {"name": "A"}]}'): "orbits with different names, got ['A', 'A']",
    ('x.json', '{"orbits": {"A": {"numPieces": 1000000000, "orientations": 1}}}'): '1000000000 stickers',
    ('x.tws', 'Set A 1000000000 1'): 'line 1: there are 1000000000 stickers, expected at most 500',
    ('x.tws', SET + 2 * 'Move R\nA\n2 3 1\nEnd\n'): "line 10: move 'R' is there twice",
    ('x.gap', 'R := (1,1000000000);'): 'there are 1000000000 stickers',
    (
        'x.json',
        '{"orbits": {"A": {"numPieces": 0, "orientations": 1}}, "moves": {}}',
    ): 'expected positive whole numbers',
    (
        'x.json',
        '{"orbits": {"A": {"numPieces": 2, "orientations": 1}}, "moves": {"R": {"B": {}}}}',
    ): "there is no orbit 'B'",
    ('x.gap', 'R := (1,2)(2,3);'): '2 is there twice',
    ('x.gap', 'R := (1,a);'): 'expected cycles',
    ('x.gap', 'R := (0,1);'): 'places count from 1',
    ('x.gap', 'g := Group(R, U);'): "'R' is no generator that was defined",
}


@pytest.mark.parametrize('name, text', REFUSED)
def test_what_is_no_puzzle_is_refused_with_a_reason(name, text, tmp_path):
    file = tmp_path / name
    file.write_text(text, encoding='utf-8')
    with pytest.raises(ValueError) as refused:
        get_puzzle(str(file))
    assert REFUSED[name, text] in str(refused.value)
    assert str(refused.value).startswith(str(file)) and '\n' not in str(refused.value)


def test_a_file_that_is_not_there():
    with pytest.raises(ValueError, match='nowhere.tws: cannot be read'):
        get_puzzle('nowhere.tws')


def test_two_files_of_one_name_are_not_mixed_up(tmp_path):
    shutil.copy(PUZZLES / 'floppy.json', tmp_path / 'floppy.json')
    assert get_puzzle(str(tmp_path / 'floppy.json')) is known_puzzle('floppy.json')
    (tmp_path / 'floppy.json').write_text('{"moves": {"R": [1, 2, 0]}}')
    with pytest.raises(ValueError, match='another puzzle was read from a file floppy.json'):
        get_puzzle(str(tmp_path / 'floppy.json'))


# --- what is found ------------------------------------------------------------------------------------------


@pytest.mark.parametrize('seed', range(20))
def test_the_order_of_random_groups_is_that_of_sympy(seed):
    from sympy.combinatorics import Permutation, PermutationGroup

    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 12))
    moves = np.array([rng.permutation(size) for _ in range(rng.integers(1, 3))], np.int16)
    moved = np.flatnonzero((moves != np.arange(size)).any(axis=0))
    if not len(moved):
        pytest.skip('no move moves anything')
    expected = PermutationGroup([Permutation(move.tolist()) for move in moves]).order()
    assert StabiliserChain(moves, int(moved[0])).order() == expected


@pytest.mark.parametrize('seed', range(20))
def test_states_of_random_puzzles_are_counted_as_they_are_visited(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 8))
    moves = {f'm{i}': rng.permutation(size).tolist() for i in range(2)}
    moves = {name: move for name, move in moves.items() if move != sorted(move)}
    puzzle = puzzle_from_definition(f'random {seed}', Definition(rng.integers(0, 4, size).tolist(), moves))
    visited = len(bfs(puzzle))
    assert visited <= group_of(puzzle).order()
    if twins_are_free(puzzle):
        assert num_states(puzzle) == visited
    reached = bfs(puzzle)
    for depth in range(len(reached.ends)):
        assert puzzle.is_possible(reached.layer(depth)).all()


def test_two_balls_that_change_places_make_another_state_of_the_rings():
    "All orders of the balls are possible, so one more red ball is what is refused."
    rings = known_puzzle('hungarian_rings.gap')
    state = rings.solved.copy()
    state[[8, 25]] = state[[25, 8]]
    assert rings.is_possible(state[None])[0]
    state[8] = state[9]
    with pytest.raises(ImpossibleState, match='wrong sticker counts'):
        rings.check(state)


def test_a_twisted_corner_of_the_kilominx_is_refused():
    kilominx = known_puzzle('kilominx.def')
    state = kilominx.solved.copy()
    state[:3] = np.roll(state[:3], 1)
    with pytest.raises(ImpossibleState, match='one is twisted, or two are exchanged'):
        kilominx.check(state)


def test_the_entry_says_how_it_is_solved():
    floppy, kilominx = (puzzle_entry(str(PUZZLES / name)) for name in ('floppy.json', 'kilominx.def'))
    assert floppy.complete and not kilominx.complete
    assert 5 <= floppy.scramble_depth <= 10 < kilominx.scramble_depth < 40
