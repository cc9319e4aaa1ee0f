"""Kinds of input that people and programs get wrong, each with what reads it and, where there is one, an oracle.

`verdict` says what came of one input: it is accepted, or refused in one line; all else is a fault. The tests try a few
of each kind (doors/test_bad_input.py), `make faults` tries 100,000 (benchmarks/faults.py).
"""

import contextlib
import io
import json
import math
import re
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from hypothesis import strategies as st
from safetensors.torch import save_file

from cube_nb.cli import read_depths, read_task, run_command
from cube_nb.config import read_yaml_text, read_yaml_value
from cube_nb.cube.notation import format_word, notations, parse, readable_tokens
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.exact import shortest_solutions
from cube_nb.inputs import batches
from cube_nb.learn.loop import get_method, method_names, read_config
from cube_nb.measure.evaluate import depth_scrambles, identify_run, scramble_rows, tabulate
from cube_nb.workshop.profiles import check_profile, parameters_class
from cube_nb.nets.networks import Network, NetworkConfig
from cube_nb.nets.weights import _file_content, read_header, save_network
from cube_nb.play.messages import Asker, checked_message
from cube_nb.play.page import read_message
from cube_nb.search.core import Solution, get_solver, solver_names
from cube_nb.solving import read_state

LONGEST_ANSWER = 5.0  # seconds of this process, whatever else the machine does; what takes longer hangs
FAULTS = 'traceback', 'hang', 'wrong'


class Kind(NamedTuple):
    "One kind of input."

    inputs: st.SearchStrategy
    read: Callable[[Any], Any]  # input -> result; raises `ValueError`, one line, for what is refused
    is_right: Callable[[Any, Any], bool] | None = None  # (input, result or `REFUSED`): what an oracle says


REFUSED = object()  # in place of a result


class Hang(BaseException):
    "An answer took too long."


def _give_up(signal_number, frame):
    raise Hang


class Verdict(NamedTuple):
    "What came of an input."

    word: str  # 'accepted', 'refused' or one of `FAULTS`
    why: str = ''  # of a refusal or a fault


def verdict(kind: Kind, value) -> Verdict:
    "What comes of an input."
    before = signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_ANSWER)
    try:
        result = kind.read(value)
        found = Verdict('accepted')
    except ValueError as error:
        result = REFUSED
        found = Verdict('refused' if len(str(error).splitlines()) == 1 else 'traceback', str(error))
    except Hang:
        return Verdict('hang')
    except Exception as error:  # whatever it is, a user would see it as a traceback
        return Verdict('traceback', repr(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if kind.is_right is not None and not kind.is_right(value, result):
        return Verdict('wrong', repr(result))
    return found


FOLDER = Path(mkdtemp(prefix='bad-input-'))


def in_file(content: str | bytes, name: str) -> Path:
    "The content as a file."
    path = FOLDER / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode('utf-8', 'surrogatepass'))
    return path


@st.composite
def damaged(draw, contents):
    "A text or bytes with a part of it replaced by something else."
    content = draw(contents)
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(start + 5, len(content))))
    other = draw(st.text(max_size=4) if isinstance(content, str) else st.binary(max_size=4))
    return content[:start] + other + content[end:]


def damaged_file(made):
    "The text or bytes that a function makes, damaged; made when they are first drawn."
    return st.deferred(lambda: damaged(st.just(made())))


def beginning(made):
    "The same, broken off somewhere."
    return st.deferred(lambda: st.integers(0, len(made())).map(lambda size: made()[:size]))


# ---- words ----
PUZZLES = st.sampled_from(puzzle_names()).map(get_puzzle)
LETTERS = "URFDLBurfdlbwMESxyz'2\u2019 ,0123456789"


def tokens(puzzle):
    "Tokens of all notations of a puzzle."
    readable = {token for notation in notations(puzzle) for token in readable_tokens(puzzle, notation)}
    return st.sampled_from(sorted(readable))


def texts_of_words(puzzle):
    "Words, nearly words, and anything."
    words = st.builds(str.join, st.sampled_from([' ', '', ',']), st.lists(tokens(puzzle), max_size=20))
    return st.one_of(words, damaged(words), st.text(LETTERS, max_size=30), st.text(max_size=20))


class Written(NamedTuple):
    "A word of the 3x3x3 as people write it, and its turns in capitals, primes and 2."

    text: str
    turns: list[str]


def undone(turns):
    "The turns that undo these."
    return [turn[0] + {"'": '', '': "'", '2': "2'", "2'": '2'}[turn[1:]] for turn in reversed(turns)]


SPELLINGS = [  # (how it is written, the turn in capitals, primes and 2)
    ('', ''), ("3'", ''), ("'3", ''), ("'", "'"), ('i', "'"), ('3', "'"), ('\u2019', "'"), ('\u2032', "'"),
    ('2', '2'), ('\xb2', '2'), ("2'", "2'"), ("'2", "2'"), ('2i', "2'"),
]  # fmt: skip
SPELLED = st.sampled_from([Written(f + text, [f + turn]) for f in 'URFDLB' for text, turn in SPELLINGS])
FORMS = [  # what is written of two words, and what it means
    ('{} {}', lambda a, b: a + b), ('({} {})3', lambda a, b: (a + b) * 3),
    ("({} {})'", lambda a, b: undone(a + b)), ('[{}, {}]', lambda a, b: a + b + undone(a) + undone(b)),
    ('[{}: {}]', lambda a, b: a + b + undone(a)),
]  # fmt: skip
NOTES = ['{}', ' {}  ', '1. {}', '{} // a note', '{} # 3 moves', '{} (21f)', '"{}"', "'{}'"]


def combined(form, a, b):
    "Two words in one form."
    return Written(form[0].format(a.text, b.text), form[1](a.turns, b.turns))


WRITTEN = st.builds(
    lambda word, note: (get_puzzle('cube3'), note.format(word.text), word.turns),
    st.recursive(SPELLED, lambda one: st.builds(combined, st.sampled_from(FORMS), one, one), max_leaves=8),
    st.sampled_from(NOTES),
)


PLAIN = re.compile(r"[URFDLB2'\s]*[URFDLB][URFDLB2'\s]*")
QUOTED = re.compile(r"\s*'(.*\S.*)'\s*")
TURN = re.compile(r"([URFDLB])(2'|'2|2|'|)")


def moves_by_hand(text):
    "The moves of a word of the 3x3x3 in plain letters, by another reading; `REFUSED` for another word."
    quoted = QUOTED.fullmatch(text)
    chunks = (quoted[1] if quoted else text).split()
    if not all(re.fullmatch(f'({TURN.pattern})+', chunk) for chunk in chunks):
        return REFUSED
    names = get_puzzle('cube3').move_names
    found = [(face + "'" * ("'" in turn), 1 + ('2' in turn)) for face, turn in TURN.findall(''.join(chunks))]
    return [names.index(name) for name, count in found for _ in range(count)]


def is_word_right(value, moves):
    "Whether moves are written and read again as they are, and another reading agrees where there is one."
    puzzle, text, turns = value
    if turns is not None:
        return moves == moves_by_hand(' '.join(turns))
    if moves is not REFUSED and parse(puzzle, format_word(puzzle, moves)) != moves:
        return False
    return puzzle.name != 'cube3' or not PLAIN.fullmatch(text) or moves_by_hand(text) == moves


# ---- stickers ----
CORNERS = [(8, 9, 20), (6, 18, 38), (0, 36, 47), (2, 45, 11),
           (29, 26, 15), (27, 44, 24), (33, 53, 42), (35, 17, 51)]  # fmt: skip
EDGES = [(5, 10), (7, 19), (3, 37), (1, 46), (32, 16), (28, 25),
         (30, 43), (34, 52), (23, 12), (21, 41), (50, 39), (48, 14)]  # fmt: skip


@st.composite
def rebuilt_cubes(draw):
    "(3x3x3, stickers with corners twisted, edges flipped and pieces exchanged, whether the three laws allow them)."
    cube = get_puzzle('cube3')
    stickers = list(to_string(cube, cube.scramble(1, 20, draw(st.integers(0, 10_000))).states)[0])
    faults = draw(st.lists(st.sampled_from(['twist', 'flip', 'swap corners', 'swap edges']), max_size=3))
    for fault in faults:
        pieces = CORNERS if fault in ('twist', 'swap corners') else EDGES
        one, other = (pieces[k] for k in draw(st.permutations(range(len(pieces))))[:2])
        places, sources = (one + other, other + one) if 'swap' in fault else (one, one[1:] + one[:1])
        for place, letter in zip(places, [stickers[source] for source in sources]):
            stickers[place] = letter
    swaps = faults.count('swap corners') + faults.count('swap edges')
    return cube, ''.join(stickers), faults.count('twist') % 3 == faults.count('flip') % 2 == swaps % 2 == 0


def read_stickers(value):
    "The state of stickers."
    puzzle, text, _ = value
    return read_task(puzzle, '--state', text).facelets


def are_stickers_right(value, state):
    "Whether a state has the stickers that it was read from, and a cube is refused if and only if it is impossible."
    puzzle, text, possible = value
    if possible is not None and possible != (state is not REFUSED):
        return False
    if state is REFUSED or len(text.strip()) != puzzle.num_facelets:  # one face may be left out
        return True
    shown = to_string(puzzle, state[None])[0]
    return len(set(zip(shown, text.strip()))) == len(set(shown))  # the same but for the names of the colours


def texts_of_stickers(puzzle):
    "Stickers, nearly stickers, and anything of their letters."
    solved = to_string(puzzle, puzzle.solved[None])[0]
    shuffled = st.permutations(list(solved)).map(''.join)
    letters = st.text(puzzle.faces, min_size=len(solved), max_size=len(solved))
    return st.one_of(shuffled, letters, damaged(st.just(solved)), st.text(puzzle.faces, max_size=60))


# ---- values of options ----
ODD_VALUES = [
    '1:30', '010', '0x1F', '0b1', '.inf', '-.inf', '.nan', 'inf', 'nan', 'Infinity', '1e400', '-1', '0', '1e12', '2.5',
    '1000000000000', '9' * 30, '9' * 5000, 'true', 'yes', 'null', '~', '', '[]', '[1', '{}', '{a: 1}', '*a', '&a 1',
    '!!python/object/apply:os.system [ls]', '!!binary aGk=', '2001-01-01', "'1'", '"\\UFFFFFFFF"', '"\\ud800"', '[' * 900, '{a: ' * 500,
    '- ' * 500, '<<', '{<<: 1}', '{1: 2}', '{[a]: 1}', '{a: 1, a: 2}', '? a', '1_000', '_1', '1__0', '+5', '.5', '5.', '1e3', '1E-3',
    '\u0661', '\x00', '\x1b[2J', 'x' * 60_000, '[' + '1, ' * 16_000 + '1]', '&a [*a]', '&a {b: *a}', '--- 1', '--- 1\n--- 2', '%YAML 9.9', '#', '|', '>',
]  # fmt: skip
NUMBERS = st.one_of(st.integers().map(str), st.floats().map(str), st.floats(1e-6, 1e6).map('{:.3g}'.format))
VALUES = st.one_of(st.sampled_from(ODD_VALUES), NUMBERS, damaged(NUMBERS), st.text(max_size=12))


@cache
def all_options():
    "(solver, option) of all solvers."
    return [(name, option) for name in solver_names() for option in get_solver(name).options.model_fields]


def read_option(value):
    "The value of an option of a solver, as `--set` has it."
    (solver, option), text = value
    return getattr(get_solver(solver).read_options({option: read_yaml_text(text, '--set')}), option)


def as_number(text):
    "What Python takes a text for, without what YAML may have around it; `None` if it is no number."
    with contextlib.suppress(ValueError):
        return float(text.partition(' #')[0].removeprefix('--- '))
    return None


def is_option_right(value, result):
    "Whether a number is the one that Python reads."
    (solver, option), text = value
    if result is REFUSED or isinstance(result, bool) or not isinstance(result, (int, float)):
        return True
    return as_number(text) == result and math.isfinite(result)


# ---- configurations ----
KEYS = ('network', 'iterations', 'batch_size', 'learning_rate', 'seed', 'max_depth', 'stages', 'simulations', 'temperature',
        'network.hidden', 'network.convolutions', 'network.heads', 'network.puzzle', 'device', 'loss', 'buffer', 'no_such_key', '1', '',
        'a.b.c', '.' * 60, 'network.' * 500 + 'x')  # fmt: skip
METHODS = st.sampled_from(method_names())


@cache
def real_configurations():
    "The texts of the configurations that are kept with the library."
    folder = Path(__file__).parents[1] / 'workflow/configs'
    return [path.read_text(encoding='utf-8') for path in sorted(folder.glob('*.yaml'))]


LINES = st.tuples(st.sampled_from(KEYS), VALUES).map(': '.join)
YAML_LETTERS = '-:?[]{},&*#!|>\'"%@` \n\tab01.~<'
TEXTS = st.one_of(
    st.lists(LINES, max_size=4).map('\n'.join),
    st.deferred(lambda: damaged(st.sampled_from(real_configurations()))),
    st.text(YAML_LETTERS, max_size=40),
    VALUES,
    st.binary(max_size=20),
)


def read_configuration(value):
    "A configuration from a file, or from the words of a command line."
    method, given = value
    asked = (None, given) if isinstance(given, list) else (in_file(given, 'config.yaml'),)
    return read_config(get_method(method).config, *asked)


def are_settings_right(value, settings):
    "Whether all numbers among the settings are finite: JSON knows no others."
    with contextlib.suppress(ValueError):
        return settings is REFUSED or bool(json.dumps(settings.model_dump(), allow_nan=False))
    return False


WORDS = st.text('abcdefghijklmnopqrstuvwxyz_ -:#[]{},é', max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(1e-90, 1e90), WORDS)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


# ---- profiles ----
PARAMETERS = dict(seed=('int', 0), cubes=('int', 10), weight=('float', 0.6), exact=('bool', True))
DECLARED = dict(solve=parameters_class('solve', PARAMETERS | dict(widths=('list', [1, 2]))))
PROFILE = 'seed: 1\nexperiments:\n  solve: {cubes: 100, weight: 0.6, widths: [1, 2]}\ncosts:\n  solve: {minutes: 2, threads: 1}\n'
PROFILE_KEYS = st.sampled_from(['cubes', 'weight', 'exact', 'widths', 'seed', 'profile', 'no', '1'])
PROFILE_LINES = st.tuples(PROFILE_KEYS, VALUES).map(': '.join)
SOLVE_LINES = PROFILE_LINES.map('experiments: {{solve: {{{}}}}}'.format)
PROFILES = st.one_of(damaged(st.just(PROFILE)), SOLVE_LINES, PROFILE_LINES, TEXTS)


def read_profile_text(content):
    "A checked profile."
    return check_profile(read_yaml_value(in_file(content, 'profile.yaml')), DECLARED, 'profile.yaml')


# ---- weights ----
@cache
def small_weights() -> bytes:
    "A file of weights."
    network = Network(NetworkConfig(puzzle='cube2', hidden=(8, 8), blocks=0))
    about = dict(method='none', parameters=3, states_seen=0)
    return save_network(network, FOLDER / 'small.safetensors', about).read_bytes()


@cache
def small_header() -> bytes:
    "The beginning of it, which says what it is."
    return small_weights()[: 8 + int.from_bytes(small_weights()[:8], 'little')]


NETWORK_KEYS = st.sampled_from([*NetworkConfig.model_fields, 'no_such_key'])
SIZES = st.lists(st.integers(-1, 10**12), max_size=4)
NETWORKS = JSON | st.dictionaries(NETWORK_KEYS, JSON | SIZES, max_size=3)
HEADERS = JSON | st.fixed_dictionaries({'network': NETWORKS}, optional={'about': JSON})


def read_weights(value):
    "What a file of weights says of itself: bytes are the whole file, a text is its header, all else its header with a checksum."
    path = FOLDER / 'damaged.safetensors'
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif isinstance(value, str):
        save_file({}, path, metadata={'cube_nb': value})
    else:
        path.write_bytes(_file_content({}, value))
    return read_header(path)


def is_header_right(value, header):
    "Whether what is accepted is a description and what is known of it, and bytes are those that were written."
    if header is REFUSED:
        return True
    described = isinstance(header['network'], NetworkConfig) and isinstance(header['about'], dict)
    return described and (not isinstance(value, bytes) or value == small_weights())


FILES_OF_WEIGHTS = st.one_of(
    st.fixed_dictionaries({'format': st.just(1), 'network': NETWORKS, 'about': JSON}),
    st.dictionaries(st.sampled_from(['format', 'network', 'about']), NETWORKS, max_size=3),
    HEADERS.map(json.dumps),
    st.text(max_size=20),
    st.sampled_from(['[' * 100_000, '9' * 5000]),
    damaged_file(small_header).map(lambda header: header + small_weights()[len(small_header()) :]),
    beginning(small_weights),
    st.binary(max_size=100),
)


# ---- files of scrambles, command lines ----
def read_scrambles(value):
    "The tasks of a file."
    puzzle, content, _ = value
    (batch,) = batches(puzzle, str(in_file(content, 'scrambles.txt')))
    return [read_task(puzzle, *item) for item in batch.items]


# ---- rows of an evaluation ----
CUBE2 = get_puzzle('cube2')
ASKED = dict(model='cube2-davi', weights='f00d')
RUN = identify_run(CUBE2, 'bwas', dict(weight=0.6), seed=1, count=2, asked=ASKED)


@cache
def true_rows() -> list:
    "The rows of three depths: a table each."
    table = states_near_solved(CUBE2, 3)
    tables = []
    for depth in (1, 2, 9):
        states, words = depth_scrambles(CUBE2, 2, depth, seed=1)
        words_back = shortest_solutions(table, states, 3)
        answers = [Solution(CUBE2, back is not None, tuple(back or ()), 7, 3, 0.25) for back in words_back]
        tables.append(scramble_rows(tabulate(CUBE2, answers), depth, words))
    return tables


@cache
def small_rows() -> str:
    "The file of these rows."
    return RUN.header + ''.join(map(RUN.as_text, true_rows()))


@st.composite
def rearranged(draw):
    "The lines of the file in another order, some left out, some twice."
    lines = small_rows().splitlines(keepends=True)
    return ''.join(draw(st.lists(st.sampled_from(lines), max_size=8)))


FILES_OF_ROWS = st.one_of(
    damaged_file(small_rows),
    damaged(damaged_file(small_rows)),
    beginning(small_rows),
    st.deferred(rearranged),
    st.text(max_size=40),
    st.binary(max_size=40),
)


def read_rows(value):
    "The tables in a file of rows."
    with contextlib.redirect_stderr(io.StringIO()):
        return RUN.resume(in_file(value, 'rows.csv'))


def are_rows_right(value, tables):
    "Whether whatever is taken up was written so, and no row is there twice."
    if tables is REFUSED:
        return True
    known = {rows.scramble_depth[0]: rows for rows in true_rows()}
    depths = [rows.scramble_depth[0] for rows in tables]
    once = len(set(depths)) == len(depths)
    return once and all(rows.equals(known[depth]) for depth, rows in zip(depths, tables))


# ---- messages of the player ----
class NoSearches(NamedTuple):
    "In place of the process that searches: what comes to it is good."

    @staticmethod
    def run(question, search):
        return dict(moves=[])

    @staticmethod
    def named(name):
        raise ValueError(f'there is no search {name!r}')


FIELD_NAMES = 'puzzle', 'word', 'length', 'seed', 'solver', 'model', 'time_limit', 'search', 'ask', 'x'
FIELDS = st.dictionaries(st.sampled_from(FIELD_NAMES), JSON, max_size=3)
GOOD_MESSAGES = st.sampled_from([
    dict(ask='about'), dict(ask='read', puzzle='cube3', word='R U'), dict(ask='scramble', puzzle='cube2', length=3),
    dict(ask='solve', puzzle='cube3', word='R U', solver='beam', model='cube3-walks', time_limit=5.0, search=None),
    dict(ask='solve', puzzle='cube2', word='R U', solver='bwas', model='cube2-davi', time_limit=5), dict(ask='progress', search='a'),
    dict(ask='cancel', search='a'),
])  # fmt: skip
TOO_LONG = b'{"ask": "scramble", "puzzle": "cube3", "length": 1e400}'
MESSAGES = st.one_of(
    st.tuples(GOOD_MESSAGES, FIELDS).map(lambda parts: json.dumps(parts[0] | parts[1]).encode()),
    damaged(GOOD_MESSAGES.map(json.dumps)).map(lambda text: text.encode('utf-8', 'surrogatepass')),
    JSON.map(json.dumps).map(str.encode),
    st.sampled_from([b'[' * 100_000, b'{"a":' * 50_000, b'9' * 5000, b'NaN', TOO_LONG]),
    st.binary(max_size=20),
)


def ask_player(text):
    "The answer of the player."
    return checked_message(read_message(text)).answer(Asker(searches=NoSearches()))


def is_answer_right(text, answer):
    "Whether it is JSON, and not more moves than were asked for: equal turns are written as one."
    if answer is REFUSED:
        return True
    message, is_json = json.loads(text), bool(json.dumps(answer, allow_nan=False))
    return is_json and (message['ask'] != 'scramble' or len(answer['moves']) <= message['length'])


LARGE = st.sampled_from(['1000000000000', '1' + '0' * 30, '9' * 5000])
COUNTS = st.one_of(st.integers(-2, 30).map(str), LARGE, VALUES)
OPTIONS = st.one_of(
    st.tuples(st.sampled_from(['--depth', '--count', '--seed']), COUNTS),
    st.tuples(st.just('--puzzle'), st.sampled_from(puzzle_names()) | st.text(max_size=5)),
    st.tuples(VALUES),
)
ARGUMENTS = st.lists(OPTIONS, max_size=3).map(lambda options: ['scramble', *sum(options, ())])


def run_line(words):
    "What a command prints. Raises `ValueError` for a refusal in one line, `AssertionError` for anything else."
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_command(words)
    if status == 0:
        assert not err.getvalue()
        return out.getvalue()
    assert status in (1, 2) and err.getvalue().startswith('cube_nb: ') and not out.getvalue()
    raise ValueError(err.getvalue())


FEW_COUNTS = st.lists(COUNTS, max_size=3)
DEPTHS = st.one_of(FEW_COUNTS.map(','.join), FEW_COUNTS.map(':'.join), VALUES)


def are_depths_right(text, depths):
    "Whether depths are as many as they should be, and each a small number."
    return depths is REFUSED or len(depths) == len(set(depths)) > 0 and set(depths) <= {*range(1001)}


def texts_of_files(puzzle):
    "Lines of words, and anything."
    return st.lists(texts_of_words(puzzle), max_size=3).map('\n'.join) | st.binary(max_size=20)


def with_puzzle(texts):
    "(puzzle, text, nothing that an oracle knows of it), from a function of the puzzle."
    return PUZZLES.flatmap(lambda puzzle: st.tuples(st.just(puzzle), texts(puzzle), st.none()))


KINDS = {
    'words': Kind(st.one_of(WRITTEN, with_puzzle(texts_of_words)), lambda value: parse(*value[:2]), is_word_right),
    'stickers': Kind(st.one_of(rebuilt_cubes(), with_puzzle(texts_of_stickers)), read_stickers, are_stickers_right),
    'files of scrambles': Kind(with_puzzle(texts_of_files), read_scrambles),
    '--set of solvers': Kind(st.deferred(lambda: st.tuples(st.sampled_from(all_options()), VALUES)), read_option, is_option_right),
    '--set of trainings': Kind(st.tuples(METHODS, st.lists(LINES.map(lambda line: line.replace(': ', '=', 1)), max_size=3)), read_configuration, are_settings_right),
    'configurations': Kind(st.tuples(METHODS, TEXTS), read_configuration, are_settings_right),
    'JSON as YAML': Kind(JSON, lambda value: read_yaml_text(json.dumps(value, ensure_ascii=False), 'json'), lambda value, result: result == value),
    'profiles': Kind(PROFILES, read_profile_text),
    'headers of weights': Kind(FILES_OF_WEIGHTS, read_weights, is_header_right),
    'rows of evaluations': Kind(FILES_OF_ROWS, read_rows, are_rows_right),
    'messages of the player': Kind(MESSAGES, ask_player, is_answer_right),
    'command lines': Kind(ARGUMENTS, run_line),
    '--depths': Kind(DEPTHS, read_depths, are_depths_right),
}  # fmt: skip


def warm_up() -> None:
    "Load and compile what the first input of a kind would wait for."
    for name in puzzle_names():
        get_puzzle(name).scramble(1, 5)
        with contextlib.suppress(ValueError):
            read_state(get_puzzle(name), 'U')
    all_options()
    small_header()
    small_rows()
    ask_player(b'{"ask": "about"}')
    with contextlib.suppress(ValueError, AssertionError):
        run_line(['scramble'])
