"""
Results that must not change when code moves.

For fixed seeds: the same weights after 100 steps, the same solutions and nodes, the same scrambles, keys and
encodings as golden/golden.json has them; golden/cases.yaml says what is trained and searched. pytest compares,
`python tests/test_golden.py --write` records anew, for a change of results that is meant.

Words, counts and checksums of integers must be equal. Floats must agree to `SAME` on the processor and the
version of torch that wrote the file. Elsewhere sums are rounded in another order, and they must agree to
`OTHER`: with the vector instructions of older processors the largest relative deviation was 1e-5, and no word
or count changed.

Before a batch normalisation a bias has no effect. Its gradient is rounding noise, from which Adam makes full
steps. Elsewhere the weights of such networks (the cases `batch`) are therefore not compared, and what they
say only to `NOISY` (measured: 0.055). All other cases have layer normalisation or none.
"""

import hashlib
import json
import math
from functools import cache, partial

import numba
import numpy as np
import pytest
import torch
import yaml
from recorded import GOLDEN, OTHER, SMALL_PATTERNS, counted_today, machine, program

from cube_nb.cube.encoding import encode
from cube_nb.cube.keys import canonical, is_test_state, keys_of, pack, unpack
from cube_nb.cube.notation import format_word
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.depth.evaluator import exact_evaluator
from cube_nb.depth.exact import far_distance, scramble_depths, shortest_solutions
from cube_nb.depth.markov import POPULATIONS, depth_given_moves, repair_populations
from cube_nb.learn.loop import get_method, method_names, read_config, train
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.core import get_solver, solver_names
from cube_nb.search.windows import improve

pytestmark = pytest.mark.usefixtures('one_thread')
FILE = GOLDEN / 'golden.json'
ASKED = yaml.safe_load((GOLDEN / 'cases.yaml').read_text())
SAME = 1e-6
NOISY = 0.2
VALUES = dict(cube2='cube2-davi', cube3='cube3-walks')  # puzzle -> network
TIMES = ('seconds', 'states_per_second', 'simulations_per_second')  # columns of a log that no two runs share


def registered() -> dict:
    "All methods and solvers by name."
    return dict(methods=method_names(), solvers=solver_names())


@cache
def shipped(name: str):
    "A shipped network as an evaluator in float32 on the CPU."
    return network_evaluator(load_network(name), 'cpu', torch.float32)


@cache
def near_solved(puzzle: str, depth: int):
    "The table of distances of all states within `depth` moves of solved."
    return bfs(get_puzzle(puzzle), depth)


# ---- training ----


def training_cases() -> dict:
    "(puzzle, method, case) -> settings."
    asked = ASKED['training']
    both = [(m, case, items) for m, cases in asked['cases'].items() for case, items in cases.items()]
    cases = [(puzzle, *row) for puzzle in VALUES for row in both] + asked['more']
    return {
        (puzzle, method, case): (
            *asked['every'],
            *(setting for item in items for setting in asked['lists'].get(item, [item])),
            f'network.puzzle={puzzle}',
        )
        for puzzle, method, case, items in cases
    }


def golden_training(puzzle: str, method: str, case: str) -> dict:
    "Weights, what the log says last, and what the network says of a few states."
    torch.set_num_threads(1)
    found = get_method(method)
    learner = found.learner(read_config(found.config, None, list(training_cases()[puzzle, method, case])))
    last = train(learner, None, progress=False).iloc[-1].drop(list(TIMES), errors='ignore')
    states = get_puzzle(puzzle).scramble(16, np.arange(16), seed=3).states
    said = network_evaluator(learner.network, 'cpu', torch.float32)(states)
    return dict(
        weights={name: of_floats(tensor.numpy()) for name, tensor in learner.network.state_dict().items()},
        log={name: None if np.isnan(value) else float(value) for name, value in last.items()},
        said=[None if part is None else of_floats(np.asarray(part)) for part in said],
    )


def of_floats(array: np.ndarray) -> dict:
    "Shape, sum, L2 norm and three entries of an array."
    flat = np.asarray(array, np.float64).ravel()
    entries = flat[[len(flat) * k // 7 for k in (1, 3, 6)]].tolist()
    norm = math.sqrt(math.fsum(flat**2))
    return dict(shape=list(np.shape(array)), sum=math.fsum(flat), norm=norm, entries=entries)


# ---- searching ----


def search_cases() -> dict:
    "(puzzle, solver, case) -> (evaluator's name, options)."
    cases = {}
    for puzzle, network in VALUES.items():
        for solver, variants in ASKED['searches'].items():
            for case, options in variants.items():
                cases[puzzle, solver, case] = 'exact' if case == 'near' else network, options
    for solver in ('greedy', 'bwas', 'mcts', 'alphazero', 'beam'):
        options = ASKED['searches'][solver]['far']
        cases['cube2', solver, 'outcome'] = 'cube2-alphazero', options
        cases['cube3', solver, 'davi'] = 'cube3-davi', options
    for solver, variants in ASKED['classical'].items():
        for case, options in variants.items():
            cases['cube3', solver, case] = None, options
    return cases


def states_to_solve(puzzle, case: str) -> np.ndarray:
    "uint8[B, S]: near solved 0 to 5 moves, else 1 to 12 moves and three of 30."
    if case == 'near':
        return puzzle.scramble(18, np.arange(18) % 6, seed=11).states
    return puzzle.scramble(15, [*range(1, 13), 30, 30, 30], seed=12).states


def golden_search(puzzle: str, solver: str, case: str) -> list:
    "For each state the word, or None, and the nodes generated and expanded."
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    name, options = search_cases()[puzzle, solver, case]
    if solver == 'ida':
        options = options | dict(patterns=SMALL_PATTERNS)
    evaluator = name and (exact_evaluator(near_solved(puzzle, 5)) if name == 'exact' else shipped(name))
    cube = get_puzzle(puzzle)
    states = states_to_solve(cube, case)
    rows = []
    for state, answer in zip(states, get_solver(solver)(cube, states, evaluator, **options)):
        assert not answer.solved or cube.is_solved(cube.apply_word(state, answer.moves)[None])[0]
        word = format_word(cube, answer.moves) if answer.solved else None
        rows.append(dict(word=word, generated=int(answer.generated), expanded=int(answer.expanded)))
    return rows


# ---- the puzzles ----


def of_integers(array) -> str:
    "A checksum of the shape and the entries of an array of integers or truth values, whatever its type."
    array = np.ascontiguousarray(np.asarray(array), dtype=np.int64)
    return f'{list(array.shape)} {hashlib.sha256(array.tobytes()).hexdigest()[:24]}'


def sample(puzzle) -> np.ndarray:
    "uint8[200, S], scrambles of 0 to 30 moves."
    return puzzle.scramble(200, np.arange(200) % 31, seed=5).states


def golden_scrambles(puzzle) -> dict:
    "Moves and states of scrambles for some seeds, the first words in letters."
    found = {}
    for seed in (0, 1, 2**40 + 3):
        scrambles = puzzle.scramble(300, np.arange(300) % 31, seed)
        found[str(seed)] = dict(
            words=[format_word(puzzle, [a for a in row if a >= 0]) for row in scrambles.moves[:20].tolist()],
            moves=of_integers(scrambles.moves),
            states=of_integers(scrambles.states),
        )
    return found


STRUCTURE = 'solved moves rotations symmetries colour_maps positions goals undoes generators successors symmetric_moves'


def golden_structure(puzzle) -> dict:
    "The arrays that define a puzzle and what is derived of them."
    arrays = {name: of_integers(getattr(puzzle, name)) for name in STRUCTURE.split()}
    return dict(arrays, move_names=list(puzzle.move_names[:12]))


def golden_operations(puzzle) -> dict:
    "Moves, neighbours, words and symmetric views of a sample, as arrays and as tensors."
    states = sample(puzzle)
    moves = np.arange(len(states)) % puzzle.num_moves
    found = {}
    for kind, batch in dict(arrays=states, tensors=torch.from_numpy(states)).items():
        found[kind] = dict(
            apply=of_integers(puzzle.apply(batch, moves)),
            neighbours=of_integers(puzzle.neighbours(batch)),
            generators=of_integers(puzzle.neighbours(batch, puzzle.generators)),
            word=of_integers(puzzle.apply_word(batch, [0, 3, 5, 10])),
            is_solved=of_integers(puzzle.is_solved(batch)),
            symmetric=[of_integers(puzzle.symmetric(batch, m)) for m in range(len(puzzle.symmetries))],
        )
    return found


def golden_keys(puzzle) -> dict:
    "Keys, canonical orientations and what is set aside for tests."
    states = puzzle.random_states(2000, seed=9)
    keys = pack(puzzle, states)
    assert (unpack(puzzle, keys) == states).all()
    return dict(
        random_states=[of_integers(puzzle.random_states(300, seed)) for seed in (0, 1, 2**40 + 3)],
        pack=of_integers(keys),
        keys_of=of_integers(keys_of(puzzle, states)),
        canonical=of_integers(canonical(puzzle, states)),
        canonical_tensors=of_integers(canonical(puzzle, torch.from_numpy(states))),
        held_out=of_integers(is_test_state(puzzle, states)),
        held_out_count=int(is_test_state(puzzle, states).sum()),
        facelets=to_string(puzzle, states[:5]),
    )


def golden_inverses(puzzle) -> dict:
    "The inverse of states of a puzzle that is held in one way."
    return {} if len(puzzle.rotations) > 1 else dict(inverse=of_integers(puzzle.inverse(sample(puzzle))))


def golden_encodings(puzzle) -> dict:
    "What networks see."
    states, found = sample(puzzle)[:50], {}
    for name in ('one_hot', 'piece_one_hot', 'picture'):
        found[name] = of_integers(encode(name, puzzle, states))
        found[name + '_tensors'] = of_integers(encode(name, puzzle, torch.from_numpy(states)))
    return found


def golden_distances(puzzle) -> dict:
    "Breadth-first counts, layers in order of arrival, distances beyond a table and shortest words."
    table, smaller = near_solved(puzzle.name, 5), near_solved(puzzle.name, 4)
    states = puzzle.scramble(60, np.arange(60) % 9, seed=4).states
    words = shortest_solutions(smaller, states, 7)
    return dict(
        counts=[int(n) for n in table.counts],
        layers=[of_integers(table.layer(depth)) for depth in range(6)],
        distance=of_integers(table.distance(states)),
        far_distance=of_integers(far_distance(smaller, states, 8)),
        shortest=[None if word is None else format_word(puzzle, word) for word in words],
        scramble_depths=of_integers(scramble_depths(smaller, 8, 100, seed=6)),
        scramble_depths_with_inverses=of_integers(scramble_depths(smaller, 8, 100, 6, False)),
    )


def golden_windows(puzzle) -> dict:
    "Words of few faces, which have many detours, without them."
    table = near_solved(puzzle.name, 4)
    words = np.random.default_rng(13).integers(0, 5, (12, 25)).tolist()
    return {
        str(size): [format_word(puzzle, improve(table, word, size)) for word in words] for size in (4, 7, 9)
    }


def golden_markov(puzzle) -> dict:
    "p(d | N) for walks of 0 to 30 moves, the whole table and some rows."
    counts, degree = POPULATIONS[puzzle.name], len(puzzle.generators)
    if puzzle.name == 'cube3':
        counts = repair_populations(counts)
    found = {}
    for name, faces in (('free', None), ('no_inverse', degree)):
        rows = depth_given_moves(np.arange(31), counts, faces)
        found[name] = dict(all=of_floats(rows), rows={str(n): rows[n].tolist() for n in (1, 7, 13, 20, 30)})
    return found


FLOOR = dict(
    scrambles=golden_scrambles,
    structure=golden_structure,
    operations=golden_operations,
    keys=golden_keys,
    inverses=golden_inverses,
    encodings=golden_encodings,
    distances=golden_distances,
    windows=golden_windows,
    markov=golden_markov,
)


# ---- comparing ----


def everything() -> dict:
    "Name of a part -> function that computes it anew."
    parts = {
        f'{cube} {name}': partial(part, get_puzzle(cube)) for cube in VALUES for name, part in FLOOR.items()
    }
    parts |= {' '.join(['train', *case]): partial(golden_training, *case) for case in training_cases()}
    return parts | {' '.join(['solve', *case]): partial(golden_search, *case) for case in search_cases()}


@cache
def recorded() -> dict:
    "What golden.json says."
    return json.loads(FILE.read_text())


def differences(where: str, wanted, found, tolerance: float):
    "A line for each value that differs, in two trees of dictionaries, lists and values, of every key recorded."
    pairs = []
    if isinstance(wanted, dict) and isinstance(found, dict):
        if 'norm' in wanted and wanted.get('shape') == found.get('shape'):
            pairs = numbers(wanted, found)
        else:
            for key, value in wanted.items():
                yield from differences(f'{where}.{key}', value, found.get(key, 'missing'), tolerance)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for k, (one, other) in enumerate(zip(wanted, found)):
            yield from differences(f'{where}[{k}]', one, other, tolerance)
    elif isinstance(wanted, float) and isinstance(found, float):
        pairs = [(wanted, found, max(abs(wanted), 1e-3))]
    elif wanted != found:
        yield f'{where}: expected {wanted}, got {found}'
    for one, other, scale in pairs:
        if not abs(one - other) / scale <= tolerance:
            yield f'{where}: expected {one}, got {other}'


def numbers(wanted: dict, found: dict):
    "(wanted, found, scale) of an array's numbers: sum and entries are measured by its norm, an entry also by itself."
    scale = max(wanted['norm'], 1e-3)
    typical = scale / max(1, np.prod(wanted['shape'])) ** 0.5
    yield wanted['norm'], found['norm'], scale
    yield wanted['sum'], found['sum'], scale
    for one, other in zip(wanted['entries'], found['entries']):
        yield one, other, max(typical, abs(one))


def test_everything_registered_is_recorded():
    today, then = registered(), recorded()['registered']
    assert set(then['methods']) <= set(today['methods']) and set(then['solvers']) <= set(today['solvers'])
    assert {case[1] for case in training_cases()} == set(then['methods'])
    assert {case[1] for case in search_cases()} == set(then['solvers'])
    assert set(everything()) == set(recorded()['parts'])


@pytest.mark.parametrize('name', everything())
def test_same_as_recorded(name):
    wanted, found = recorded()['parts'][name], json.loads(json.dumps(everything()[name]()))
    tolerance = SAME if recorded()['machine'] == machine() else OTHER
    if name.startswith('solve '):
        _, puzzle, solver, _ = name.split()
        counts = [
            counted_today(get_puzzle(puzzle), solver, row['generated'], row['expanded']) for row in wanted
        ]
        wanted = [row | dict(generated=g, expanded=e) for row, (g, e) in zip(wanted, counts)]
    if tolerance == OTHER and name.startswith('train') and name.endswith('batch'):
        tolerance = NOISY
        wanted = {key: value for key, value in wanted.items() if key != 'weights'}
    differ = list(differences(name, wanted, found, tolerance))
    assert not differ, '\n'.join(differ[:20])


def write():
    "Record everything."
    rows = ',\n'.join(f'{json.dumps(name)}: {json.dumps(part())}' for name, part in everything().items())
    head = f'"machine": {json.dumps(machine())},\n"registered": {json.dumps(registered())}'
    FILE.write_text(f'{{{head},\n"parts": {{\n{rows}\n}}}}\n')


if __name__ == '__main__':
    program(write)
