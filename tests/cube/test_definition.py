"Puzzles from definition files: what is read, what is refused, what is found, and the four files that we keep."

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sympy.combinatorics import Permutation, PermutationGroup

import cube_nb
from cube_nb.cube.cubies import to_cubies
from cube_nb.cube.definition import Definition, StabiliserChain, group_of, num_states
from cube_nb.cube.definition import puzzle_from_definition, read_definition, twins_are_free
from cube_nb.cube.notation import parse
from cube_nb.cube.puzzle import ImpossibleState, get_puzzle, puzzle_entry
from cube_nb.depth.bfs import bfs, complete_table, near_radius

PUZZLES = Path(__file__).parents[2] / 'data' / 'puzzles'
KNOWN = {  # file -> states; the sources stand in the files
    'floppy.json': 192,  # Jaap Scherphuis, twistypuzzles.com, 6 May 2009: 4! 2^4 / 2
    'dino.tws': 19_958_400, 'hungarian_rings.gap': 301_625_696_863_690_399_200,
    'kilominx.def': 23_563_902_142_421_896_679_424_000,
}  # fmt: skip


def known_puzzle(name):
    return get_puzzle(str(PUZZLES / name))


# --- the four files -----------------------------------------------------------------------------------------
@pytest.mark.parametrize('name', KNOWN)
def test_a_puzzle_from_a_file_is_as_any_other(name):
    "Its contract is that of every puzzle (test_contracts.py)."
    puzzle = known_puzzle(name)
    assert num_states(puzzle) == KNOWN[name] and get_puzzle(name) is puzzle and puzzle.name == name
    assert (puzzle.symmetric_moves >= 0).all()


@pytest.fixture
def five_corners(tmp_path):
    "A Dino cube of which five corners turn: ten edges move, in 10!/2 ways. The table of all eight takes a minute."
    path = tmp_path / 'five_corners.tws'
    path.write_text((PUZZLES / 'dino.tws').read_text(encoding='utf-8').partition('Move DLF')[0])
    return get_puzzle(str(path)), 1_814_400


@pytest.mark.parametrize('name', ['floppy.json', pytest.param('five_corners', marks=pytest.mark.slow)])
def test_random_states_are_solved_shortest(name, request):
    small = name in KNOWN
    puzzle, size = (known_puzzle(name), KNOWN[name]) if small else request.getfixturevalue(name)
    table = complete_table(puzzle)
    assert len(table) == num_states(puzzle) == size
    states = puzzle.random_states(1000 if small else 250, seed=7)
    answers = cube_nb.solve(list(states), puzzle=puzzle.name, time_limit=60)
    for state, answer, distance in zip(states, answers, table.distance(states)):
        assert answer.solved and answer.optimal and len(answer) == distance
        assert puzzle.is_solved(puzzle.apply_word(state, answer.moves)[None])[0]
    assert small or table.distance(states).max() > near_radius(puzzle)  # some need the table of all states


@pytest.mark.parametrize('name', ['hungarian_rings.gap', 'kilominx.def'])
def test_the_large_ones_are_solved_near_solved_without_a_network(name):
    for state in known_puzzle(name).scramble(3, [1, 2, 3], seed=2).states:
        answer = cube_nb.solve(state, puzzle=name)
        assert answer.solved and len(answer) <= 3


# --- the formats --------------------------------------------------------------------------------------------
CUBE3 = get_puzzle('cube3')
TURNS = {  # the quarter turns of the 3x3x3 as pieces: name -> (corners, twists, edges, flips), by place
    name: [row[0].tolist() for row in to_cubies(CUBE3, CUBE3.solved[move])]
    for name, move in zip(CUBE3.move_names[::2], CUBE3.moves[::2])
}


def as_tws(command, first):
    "A definition for twsearch: `Move` has the turn of each piece, `MoveTransformation` that at each place."
    lines = ['Name Cube', 'Set CORNER 8 3', 'Set EDGE 12 2', 'Solved' if first else 'StartState', 'End']
    for name, rows in TURNS.items():
        lines += [f'{command} {name}']
        for kind, pieces, turns in (('CORNER', *rows[:2]), ('EDGE', *rows[2:])):
            if command == 'Move':
                turns = np.array(turns)[np.argsort(pieces)]
            lines += [kind, *(' '.join(map(str, row)) for row in (np.array(pieces) + first, turns))]
        lines += ['End']
    return '\n'.join(lines)


def as_kpuzzle(ways, start, moves, turns):
    kinds = {'CORNERS': {'numPieces': 8, ways: 3}, 'EDGES': {'numPieces': 12, ways: 2}}
    places = ('CORNERS', 0), ('EDGES', 2)
    made = {}
    for name, rows in TURNS.items():
        made[name] = {kind: {'permutation': rows[k], turns: rows[k + 1]} for kind, k in places}
    return json.dumps({'orbits': kinds, start: {}, moves: made})


def as_table(first):
    moves = dict(zip(CUBE3.move_names, (CUBE3.moves + first).tolist()))
    return json.dumps({'moves': moves, 'solved': CUBE3.solved.tolist()})


def as_gap():
    lines = []
    for name, move in zip(CUBE3.move_names[::2], CUBE3.moves[::2]):
        cycles = Permutation([0, *(np.argsort(move) + 1).tolist()]).cyclic_form  # places count from 1
        lines.append(f'{name} := {"".join(str(tuple(cycle)) for cycle in cycles)};')
    return '\n'.join([*lines, 'cube := Group(U, R, F, D, L, B);'])


FORMATS = {
    'move.tws': as_tws('Move', 1), 'transformation.ksolve': as_tws('MoveTransformation', 0),
    'new.json': as_kpuzzle('numOrientations', 'defaultPattern', 'moves', 'orientationDelta'),
    'old.json': as_kpuzzle('orientations', 'startPieces', 'turns', 'orientation'), 'table.json': as_table(0),
    'from_one.json': as_table(1), 'cycles.gap': as_gap(),
}  # fmt: skip


@pytest.mark.parametrize('name', FORMATS)
def test_each_format_says_the_same_of_the_3x3x3(name, tmp_path):
    (tmp_path / name).write_text(FORMATS[name], encoding='utf-8')
    puzzle = puzzle_from_definition(name, read_definition(tmp_path / name))
    assert num_states(puzzle) == 43_252_003_274_489_856_000
    assert puzzle.num_moves == 12 and set(puzzle.move_names) == set(CUBE3.move_names)
    assert bfs(puzzle, 3).counts.tolist() == bfs(CUBE3, 3).counts.tolist()
    word = "R U2 F' L D B'"
    state, ours = (one.apply_word(one.solved, parse(one, word)) for one in (puzzle, CUBE3))
    assert puzzle.is_possible(state[None])[0]
    assert name not in ('table.json', 'from_one.json') or (state == ours).all()


def test_identical_pieces_and_turns_that_nobody_sees(tmp_path):
    lines = ['Set A 4 2', 'Solved', 'A', '1 1 2 2', '? ? ? ?', 'End']
    lines += ['Move T', 'A', '2 3 4 1', '1 0 0 0', 'End', 'Move S', 'A', '2 1 3 4', 'End']
    (tmp_path / 'twins.tws').write_text('\n'.join(lines))
    assert len(bfs(puzzle_from_definition('twins', read_definition(tmp_path / 'twins.tws')))) == 6


SET = 'Set A 3 2\nSolved\nA\n1 2 3\nEnd\n'
ORBIT = '{"orbits": {"A": {"numPieces": %d, "orientations": 1}}, '
REFUSED = [  # name of the file, text, what the error says
    ('x.tws', '', 'there is no move'),
    ('x.tws', SET + 'Move R\nA\n1 2\nEnd', "line 8: expected numbers of A, or End, got '1 2'"),
    ('x.tws', SET + 'Move R\nB\n1 2 3\nEnd', 'line 7: expected the name of a set'),
    ('x.tws', SET + 'Move R\nA\n2 3 1\n0 0 2\nEnd', 'a turn of 2, expected less than 2'),
    ('x.tws', SET + 'Block A 1 2', "line 6: 'Block A 1 2' is not known here"),
    ('x.json', '{', 'Expecting property name'), ('x.json', '[]', 'expected names and values'),
    ('x.json', '{}', 'expected moves or generators or allowed_moves'),
    ('x.json', '{"moves": {"R": [1, 0], "U": [1, 2, 0]}}', "move 'U': expected 2 numbers, got 3"),
    ('x.json', '{"moves": {"R": [1, 0]}, "solved": [0, 1, 2]}', 'has 2 places, and the solved state 3'),
    ('x.json', '{"moves": {"R": "ab"}}', 'expected a list of whole numbers'),
    ('x.json', '{"moves": {"R 2": [1, 0]}}', "'R 2' cannot be the name of a move"),
    ('x.json', '{"moves": 7}', 'expected names and values, got 7'), ('x.json', '[' * 100_000, 'x.json: '),
    ('x.json', '{"moves": [[1, 0]], "move_names": [3]}', 'expected the names of the moves, got [3]'),
    ('x.json', '{"moves": [[1, 0], [1, 0]], "move_names": ["R", "R"]}', '2 moves have 1 names'),
    ('x.json', '{"moves": {"R": [1, 0]}, "solved": [[0], [1]]}', 'expected solved as a list of labels'),
    ('x.json', '{"orbits": [{"name": "A"}, {"name": "A"}]}', "orbits with different names, got ['A', 'A']"),
    ('x.tws', 'Set A 1000000000 1', 'line 1: there are 1000000000 stickers, expected at most 500'),
    ('x.tws', SET + 2 * 'Move R\nA\n2 3 1\nEnd\n', "line 10: move 'R' is there twice"),
    ('x.gap', 'R := (1,1000000000);', 'there are 1000000000 stickers'),
    ('x.json', ORBIT % 2 + '"moves": {"R": {"B": {}}}}', "there is no orbit 'B'"),
    ('x.gap', 'R := (0,1);', 'places count from 1'),
    ('x.gap', 'g := Group(R, U);', "'R' is no generator that was defined"),
]  # fmt: skip


@pytest.mark.parametrize('name, text, reason', REFUSED)
def test_what_is_no_puzzle_is_refused_with_a_reason(name, text, reason, tmp_path):
    file = tmp_path / name
    file.write_text(text, encoding='utf-8')
    with pytest.raises(ValueError) as refused:
        get_puzzle(str(file))
    assert reason in str(refused.value)
    assert str(refused.value).startswith(str(file)) and '\n' not in str(refused.value)


def test_two_files_of_one_name_are_not_mixed_up(tmp_path):
    shutil.copy(PUZZLES / 'floppy.json', tmp_path / 'floppy.json')
    assert get_puzzle(str(tmp_path / 'floppy.json')) is known_puzzle('floppy.json')
    (tmp_path / 'floppy.json').write_text('{"moves": {"R": [1, 2, 0]}}')
    with pytest.raises(ValueError, match='another puzzle was read from a file floppy.json'):
        get_puzzle(str(tmp_path / 'floppy.json'))
    with pytest.raises(ValueError, match='nowhere.tws: cannot be read'):
        get_puzzle('nowhere.tws')


# --- what is found ------------------------------------------------------------------------------------------
@pytest.mark.parametrize('seed', range(20))
def test_the_order_of_random_groups_is_that_of_sympy(seed):
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
    reached = bfs(puzzle)
    assert len(reached) <= group_of(puzzle).order()
    if twins_are_free(puzzle):
        assert num_states(puzzle) == len(reached)
    for depth in range(len(reached.ends)):
        assert puzzle.is_possible(reached.layer(depth)).all()


def with_places(name, places, sources):
    "The solved state of a known puzzle with what was in other places."
    state = known_puzzle(name).solved.copy()
    state[places] = state[sources]
    return state


def test_what_can_be_and_what_cannot():
    "All orders of the balls of the rings are possible; one more red ball, or a corner that is twisted, is not."
    rings, kilominx = known_puzzle('hungarian_rings.gap'), known_puzzle('kilominx.def')
    assert rings.is_possible(with_places(rings.name, [8, 25], [25, 8])[None])[0]
    with pytest.raises(ImpossibleState, match='wrong sticker counts'):
        rings.check(with_places(rings.name, [8, 25], [9, 8]))
    with pytest.raises(ImpossibleState, match='one is twisted, or two are exchanged'):
        kilominx.check(with_places(kilominx.name, [0, 1, 2], [2, 0, 1]))


def test_the_entry_says_how_it_is_solved():
    floppy, kilominx = (puzzle_entry(str(PUZZLES / name)) for name in ('floppy.json', 'kilominx.def'))
    assert floppy.complete and not kilominx.complete
    assert 5 <= floppy.scramble_depth <= 10 < kilominx.scramble_depth < 40
