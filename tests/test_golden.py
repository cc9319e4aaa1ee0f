"""Results that must not change when code moves.

golden/cases.yaml says what is trained and searched, golden/golden.json what came of it: weights after 100 steps, solutions and
nodes, scrambles, keys, encodings, and defaults of settings and functions. golden/solutions.csv.gz has what each solver makes
of 200 states of each puzzle. pytest compares; `python tests/test_golden.py --write` records anew, for a change that is meant.

Words, counts and checksums of integers must be equal; floats to `SAME` where torch and processor are those that wrote the file,
else to `OTHER`: sums are rounded in another order (1e-5 was the most, and no word or count changed). The 200 states are judged
without rounding (`Misplaced`). Before a batch normalisation a bias has no effect; its gradient is rounding noise, from which
Adam makes full steps. Elsewhere the weights of such networks (the cases `batch`) are therefore not compared, and what they say
only to `NOISY` (measured: 0.055).
"""

import hashlib
import inspect
import json
import math
import pkgutil
import platform
import sys
from functools import cache, partial
from importlib import import_module
from pathlib import Path

import annotated_types
import numba
import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from evaluators import table_of
from trainings import TIMED

import cube_nb
from cube_nb.cube.encoding import encode
from cube_nb.cube.keys import canonical, is_test_state, keys_of, pack, unpack
from cube_nb.cube.notation import format_word
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.depth.evaluator import Evaluation, exact_evaluator
from cube_nb.depth.exact import far_distance, scramble_depths, shortest_solutions
from cube_nb.depth.markov import POPULATIONS, depth_given_moves, repair_populations
from cube_nb.learn.loop import get_method, read_config, train
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.core import get_solver, solver_names
from cube_nb.search.improve import Improvement
from cube_nb.search.windows import shorten

pytestmark = pytest.mark.usefixtures('one_thread')
GOLDEN = Path(__file__).parent / 'golden'
ASKED = yaml.safe_load((GOLDEN / 'cases.yaml').read_text())
KEPT = json.loads((GOLDEN / 'golden.json').read_text())
SAME, OTHER, NOISY = 1e-6, 1e-3, 0.2  # relative
VALUES = dict(cube2='cube2-davi', cube3='cube3-walks')  # puzzle -> network
SEEDS = 0, 1, 2**40 + 3
CORNERS, EDGES = 'URF UFL ULB UBR', 'UR UF UL UB FR'
SMALL_PATTERNS = ((CORNERS, 0), (EDGES, 0), (EDGES, 1), (EDGES, 30))  # of `ida`: four corners and five edges


@cache
def shipped(name: str):
    "A shipped network as an evaluator in float32 on the CPU."
    return network_evaluator(load_network(name), 'cpu', torch.float32)


# ---- training ----
def training_cases() -> dict:
    "(puzzle, method, case) -> settings."
    asked = ASKED['training']
    both = [(m, case, items) for m, cases in asked['cases'].items() for case, items in cases.items()]
    found = {}
    for puzzle, method, case, items in [(p, *row) for p in VALUES for row in both] + asked['more']:
        settings = [setting for item in items for setting in asked['lists'].get(item, [item])]
        found[puzzle, method, case] = [*asked['every'], *settings, f'network.puzzle={puzzle}']
    return found


def golden_training(puzzle: str, method: str, case: str) -> dict:
    "Weights, what the log says last, and what the network says of a few states."
    found = get_method(method)
    learner = found.learner(read_config(found.config, None, training_cases()[puzzle, method, case]))
    last = train(learner, None, progress=False).iloc[-1].drop(TIMED, errors='ignore')
    log = {name: None if np.isnan(value) else float(value) for name, value in last.items()}
    states = get_puzzle(puzzle).scramble(16, np.arange(16), seed=3).states
    said = network_evaluator(learner.network, 'cpu', torch.float32)(states)
    return dict(weights=dict(learner.network.state_dict()), log=log, said=[*said])


# ---- searching ----
def search_cases() -> dict:
    "(puzzle, solver, case) -> (evaluator's name, options)."
    asked = ASKED['searches']
    cases = {
        (puzzle, solver, case): ('exact' if case == 'near' else network, options)
        for puzzle, network in VALUES.items()
        for solver, variants in asked.items()
        for case, options in variants.items()
    }
    for solver in ('greedy', 'bwas', 'mcts', 'alphazero', 'beam'):
        cases['cube2', solver, 'outcome'] = 'cube2-alphazero', asked[solver]['far']
        cases['cube3', solver, 'davi'] = 'cube3-davi', asked[solver]['far']
    for solver, variants in ASKED['classical'].items():
        cases |= {('cube3', solver, case): (None, options) for case, options in variants.items()}
    return cases


def states_to_solve(puzzle, case: str) -> np.ndarray:
    "uint8[B, S]: near solved 0 to 5 moves, else 1 to 12 moves and three of 30."
    if case == 'near':
        return puzzle.scramble(18, np.arange(18) % 6, seed=11).states
    return puzzle.scramble(15, [*range(1, 13), 30, 30, 30], seed=12).states


def golden_search(puzzle: str, solver: str, case: str) -> list:
    "For each state the word, or None, and the nodes generated and expanded."
    name, options = search_cases()[puzzle, solver, case]
    if solver == 'ida':
        options = options | dict(patterns=SMALL_PATTERNS)
    evaluator = name and (exact_evaluator(table_of(puzzle, 5)) if name == 'exact' else shipped(name))
    cube = get_puzzle(puzzle)
    rows = []
    for answer in get_solver(solver)(cube, states_to_solve(cube, case), evaluator, **options):
        word = format_word(cube, answer.moves) if answer.solved else None
        rows.append(dict(word=word, generated=int(answer.generated), expanded=int(answer.expanded)))
    return rows


# ---- the puzzles ----
def sample(puzzle) -> np.ndarray:
    "uint8[200, S], scrambles of 0 to 30 moves."
    return puzzle.scramble(200, np.arange(200) % 31, seed=5).states


def both_kinds(function, states: np.ndarray) -> tuple:
    "What a function makes of an array and of a tensor."
    return function(states), function(torch.from_numpy(states))


def golden_scrambles(puzzle) -> dict:
    "Moves and states of scrambles for some seeds, the first words in letters."
    found = {}
    for seed in SEEDS:
        scrambles = puzzle.scramble(300, np.arange(300) % 31, seed)
        words = [format_word(puzzle, [a for a in row if a >= 0]) for row in scrambles.moves[:20].tolist()]
        found[str(seed)] = dict(words=words, moves=scrambles.moves, states=scrambles.states)
    return found


STRUCTURE = 'solved moves rotations symmetries colour_maps positions goals undoes generators successors symmetric_moves'


def golden_structure(puzzle) -> dict:
    "The arrays that define a puzzle and what is derived of them."
    arrays = {name: as_integers(getattr(puzzle, name)) for name in STRUCTURE.split()}
    return arrays | dict(move_names=[*puzzle.move_names[:12]])


def golden_operations(puzzle) -> dict:
    "Moves, neighbours, words and symmetric views of a sample, as arrays and as tensors."

    def operations(batch):
        return dict(
            apply=puzzle.apply(batch, np.arange(len(batch)) % puzzle.num_moves),
            neighbours=puzzle.neighbours(batch), generators=puzzle.neighbours(batch, puzzle.generators),
            word=puzzle.apply_word(batch, [0, 3, 5, 10]), is_solved=puzzle.is_solved(batch),
            symmetric=[puzzle.symmetric(batch, m) for m in range(len(puzzle.symmetries))],
        )  # fmt: skip

    return dict(zip(('arrays', 'tensors'), both_kinds(operations, sample(puzzle))))


def golden_keys(puzzle) -> dict:
    "Keys, canonical orientations and what is set aside for tests."
    states = puzzle.random_states(2000, seed=9)
    keys = pack(puzzle, states)
    assert (unpack(puzzle, keys) == states).all()
    found = dict(random_states=[puzzle.random_states(300, seed) for seed in SEEDS], pack=keys)
    turned = both_kinds(partial(canonical, puzzle), states)
    found |= dict(zip(('canonical', 'canonical_tensors'), turned), keys_of=keys_of(puzzle, states))
    held_out = is_test_state(puzzle, states)
    found |= dict(held_out=held_out, held_out_count=int(held_out.sum()))
    return dict(found, facelets=to_string(puzzle, states[:5]))


def golden_inverses(puzzle) -> dict:
    "The inverse of states of a puzzle that is held in one way."
    return {} if len(puzzle.rotations) > 1 else dict(inverse=puzzle.inverse(sample(puzzle)))


def golden_encodings(puzzle) -> dict:
    "What networks see."
    found = {}
    for name in ('one_hot', 'piece_one_hot', 'picture'):
        seen = both_kinds(partial(encode, name, puzzle), sample(puzzle)[:50])
        found |= dict(zip((name, f'{name}_tensors'), map(as_integers, seen)))
    return found


def golden_distances(puzzle) -> dict:
    "Breadth-first counts, layers in order of arrival, distances beyond a table and shortest words."
    table, smaller = table_of(puzzle.name, 5), table_of(puzzle.name, 4)
    states = puzzle.scramble(60, np.arange(60) % 9, seed=4).states
    words = shortest_solutions(smaller, states, 7)
    return dict(
        counts=[int(n) for n in table.counts], layers=[table.layer(depth) for depth in range(6)],
        distance=table.distance(states), far_distance=as_integers(far_distance(smaller, states, 8)),
        shortest=[None if word is None else format_word(puzzle, word) for word in words],
        scramble_depths=as_integers(scramble_depths(smaller, 8, 100, seed=6)),
        scramble_depths_with_inverses=as_integers(scramble_depths(smaller, 8, 100, 6, False)),
    )  # fmt: skip


def golden_windows(puzzle) -> dict:
    "Words of few faces, which have many detours, without them."
    table = table_of(puzzle.name, 4)
    words = np.random.default_rng(13).integers(0, 5, (12, 25)).tolist()
    sizes = 4, 7, 9
    return {str(n): [format_word(puzzle, shorten(table, word, n)) for word in words] for n in sizes}


def golden_markov(puzzle) -> dict:
    "p(d | N) for walks of 0 to 30 moves, the whole table and some rows."
    counts = POPULATIONS[puzzle.name]
    counts = repair_populations(counts) if puzzle.name == 'cube3' else counts
    found = {}
    for name, faces in (('free', None), ('no_inverse', len(puzzle.generators))):
        rows = depth_given_moves(np.arange(31), counts, faces)
        found[name] = dict(all=rows, rows={str(n): rows[n].tolist() for n in (1, 7, 13, 20, 30)})
    return found


FLOOR = [golden_scrambles, golden_structure, golden_operations, golden_keys, golden_inverses]
FLOOR += [golden_encodings, golden_distances, golden_windows, golden_markov]


def golden_defaults() -> dict:
    "Default and bounds of every setting, and the plain defaults of the functions that are exported."
    found, functions, plain = {}, {}, (int, float, str, tuple, type(None))
    for info in pkgutil.walk_packages(cube_nb.__path__, 'cube_nb.'):
        module, room = import_module(info.name), info.name.removeprefix('cube_nb.')
        for name, each in ((name, getattr(module, name)) for name in getattr(module, '__all__', ())):
            parts = getattr(each, '__dict__', {}).items()
            functions |= {f'{room}.{name}': each} | {f'{room}.{name}.{key}': part for key, part in parts}
            for key, field in getattr(each, 'model_fields', {}).items():
                bounds = [one for one in field.metadata if isinstance(one, annotated_types.BaseMetadata)]
                found[f'{room}.{name}.{key}'] = f'{field.default!r} {bounds}'
    for name, each in functions.items():
        for given in inspect.signature(each).parameters.values() if inspect.isfunction(each) else ():
            if isinstance(given.default, plain):
                found[f'{name}({given.name})'] = repr(given.default)
    return found


# ---- what is recorded of it ----
def everything() -> dict:
    "Name of a part -> function that computes it anew."
    parts = {'defaults': golden_defaults}
    for cube in VALUES:
        for part in FLOOR:
            parts[f'{cube} {part.__name__.removeprefix("golden_")}'] = partial(part, get_puzzle(cube))
    parts |= {' '.join(['train', *case]): partial(golden_training, *case) for case in training_cases()}
    return parts | {' '.join(['solve', *case]): partial(golden_search, *case) for case in search_cases()}


def as_integers(array) -> np.ndarray:
    "Integers that may be kept as floats."
    return np.asarray(array).astype(np.int64)


def in_short(tree):
    "Of an array of integers a checksum, of one of floats the shape, sum, L2 norm and three entries."
    if isinstance(tree, dict):
        return {name: in_short(part) for name, part in tree.items()}
    if isinstance(tree, list):
        return [in_short(part) for part in tree]
    if not isinstance(tree, np.ndarray | torch.Tensor):
        return tree
    array = np.asarray(tree)
    if array.dtype.kind != 'f':
        array = np.ascontiguousarray(array, dtype=np.int64)
        return f'{list(array.shape)} {hashlib.sha256(array.tobytes()).hexdigest()[:24]}'
    flat = array.astype(np.float64).ravel()
    entries = flat[[len(flat) * k // 7 for k in (1, 3, 6)]].tolist()
    norm = math.sqrt(math.fsum(flat**2))
    return dict(shape=[*array.shape], sum=math.fsum(flat), norm=norm, entries=entries)


def leaves(tree, name: str = '', least: float = 1e-3):
    "(name, (value, least scale of its deviation)): for a sum the norm, for an entry what is typical there."
    if not isinstance(tree, dict | list):
        yield name, (tree, least)
        return
    scales = {}
    if isinstance(tree, dict) and 'norm' in tree:
        norm = max(tree['norm'], 1e-3)
        scales = dict(norm=norm, sum=norm, entries=norm / max(1, np.prod(tree['shape'])) ** 0.5)
    if isinstance(tree, list):
        tree = dict(enumerate(tree), length=len(tree))
    for key, part in tree.items():
        yield from leaves(part, f'{name}.{key}', scales.get(key, least))


def is_same(wanted, found, least: float, tolerance: float) -> bool:
    "Whether two values are equal, or floats close to each other."
    if isinstance(wanted, float) and isinstance(found, float):
        return abs(wanted - found) <= tolerance * max(abs(wanted), least)
    return wanted == found


def machine() -> dict:
    "What decides how floats are rounded."
    info = Path('/proc/cpuinfo')
    lines = info.read_text().splitlines() if info.exists() else []
    parts = [[part.strip() for part in line.split(':', 1)] for line in reversed(lines) if ':' in line]
    cpu = {name: value for name, value in parts if name in ('model name', 'cpu family', 'model', 'stepping')}
    cpu |= dict(machine=platform.machine(), capability=torch.backends.cpu.get_cpu_capability())
    return cpu | dict(torch=torch.__version__, numpy=np.__version__)


def test_everything_is_recorded():
    "And what was recorded is still there."
    assert set(everything()) == set(KEPT['parts'])


@pytest.mark.parametrize('name', everything())
def test_same_as_recorded(name):
    wanted = dict(leaves(KEPT['parts'][name]))
    found = {key: value for key, (value, _) in leaves(in_short(everything()[name]()))}
    tolerance = SAME if KEPT['machine'] == machine() else OTHER
    if tolerance == OTHER and name.startswith('train') and name.endswith('batch'):
        tolerance = NOISY
        wanted = {key: value for key, value in wanted.items() if not key.startswith('.weights')}
    differ = [
        f'{key}: expected {value}, got {found.get(key, "nothing")}'
        for key, (value, least) in wanted.items()
        if not (key in found and is_same(value, found[key], least, tolerance))
    ]
    assert not differ, '\n'.join(differ[:20])


# ---- every solver and every puzzle ----
STATES, DEPTHS = 200, 10
COMPARED = {'cube4': 50}  # puzzle -> states that pytest solves, if not all
LONG = 1e6  # seconds, never reached
OPTIONS = dict(
    greedy=dict(max_length=20), beam=dict(width=50, radius=3), bwas=dict(batch_size=20, max_nodes=1500),
    mcts=dict(max_searches=60, leaves=2), alphazero=dict(simulations=12, max_moves=12),
    improve=dict(radius=3, time_limit=LONG, max_nodes=1500),
    ida=dict(max_nodes=20_000, time_limit=LONG, patterns=SMALL_PATTERNS),
)  # fmt: skip


@pytest.fixture(autouse=True)
def beams_first(monkeypatch):
    "What is next depends on seconds; here a beam is, wherever there may be one."
    monkeypatch.setattr(Improvement, 'is_worth', lambda self, width: True)


class Misplaced:
    "Values and advantages without rounding: an eighth of a move for each facelet that is out of place."

    def __init__(self, puzzle):
        self.puzzle = puzzle

    def values(self, states: np.ndarray) -> np.ndarray:  # float32[B]
        "Moves, of states uint8[B, S]."
        wrong = states[:, None] != self.puzzle.goals
        return wrong.sum(2).min(1).astype(np.float32) / 8

    def __call__(self, states: np.ndarray) -> Evaluation:
        "Of states uint8[B, S]."
        children = self.puzzle.neighbours(states)
        advantages = self.values(children.reshape(-1, self.puzzle.num_facelets))
        return Evaluation(self.values(states), advantages.reshape(len(states), -1))


def solved(puzzle: str, solver: str, count: int = STATES) -> pd.DataFrame:
    "What a solver makes of states: columns word, generated, expanded, lower_bound, without what is timed."
    cube, solve = get_puzzle(puzzle), get_solver(solver)
    states = cube.scramble(STATES, np.arange(STATES) % DEPTHS, seed=21).states[:count]
    answers = solve(cube, states, Misplaced(cube) if solve.needs else None, **OPTIONS.get(solver, {}))
    words = [format_word(cube, answer.moves) if answer.solved else 'none' for answer in answers]
    columns = ['generated', 'expanded', 'lower_bound']
    return pd.DataFrame({'word': words} | {one: [getattr(a, one) for a in answers] for one in columns})


RECORDED = pd.read_csv(GOLDEN / 'solutions.csv.gz', keep_default_na=False)
SOLUTIONS = {case: rows.reset_index(drop=True) for case, rows in RECORDED.groupby(['puzzle', 'solver'])}


@pytest.mark.slow  # a minute together
@pytest.mark.parametrize('puzzle, solver', SOLUTIONS)
def test_solutions_are_those_recorded(puzzle, solver):
    if not get_solver(solver).is_installed():
        pytest.skip('not installed')
    count = COMPARED.get(puzzle, STATES)
    wanted = SOLUTIONS[puzzle, solver].drop(columns=['puzzle', 'solver']).head(count)
    pd.testing.assert_frame_equal(solved(puzzle, solver, count), wanted)


def write():
    "Record everything."
    parts = everything().items()
    rows = ',\n'.join(f'{json.dumps(name)}: {json.dumps(in_short(part()))}' for name, part in parts)
    (GOLDEN / 'golden.json').write_text(f'{{"machine": {json.dumps(machine())},\n"parts": {{\n{rows}\n}}}}\n')
    cases = [(puzzle, solver) for puzzle in puzzle_names() for solver in solver_names(puzzle)]
    parts = [solved(*case).assign(puzzle=case[0], solver=case[1]) for case in cases]
    compression = dict(method='gzip', mtime=0)
    pd.concat(parts).to_csv(GOLDEN / 'solutions.csv.gz', index=False, compression=compression)


if __name__ == '__main__':
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    sys.exit(write() if sys.argv[1:] == ['--write'] else __doc__)
