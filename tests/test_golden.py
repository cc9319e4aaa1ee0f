"""
Results that must not change when code moves.

For fixed seeds: the same weights after 100 steps, the same solutions and nodes, the same scrambles, keys and
encodings as golden/golden.json has them. `python tests/test_golden.py` compares and says what differs.
`--write` records anew, for a change of results that is meant.

Words, counts and checksums of integers must be equal. Floats must agree to `SAME` on the processor and the
version of torch that wrote the file. Elsewhere sums are rounded in another order, and they must agree to
`OTHER`: with the vector instructions of older processors the largest relative deviation was 1e-5, and no word
or count changed.

Before a batch normalisation a bias has no effect. Its gradient is rounding noise, from which Adam makes full
steps. Elsewhere the weights of such networks (the cases `batch`) are therefore not compared, and what they
say only to `NOISY` (measured: 0.055). All other cases have layer normalisation or none.
"""

import argparse
import hashlib
import json
import math
import platform
import sys
from functools import cache, partial
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

# ------------------------------------------------------------------------------------------------------------
# What the library is asked for. When a public name changes, it changes here and nowhere else in this file.
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

# Old name -> new name, of keys of a configuration, options of a solver and columns of a training log.
CONFIG_KEYS = {}
SOLVER_OPTIONS = {}
LOG_COLUMNS = {}
CORNERS, EDGES = 'URF UFL ULB UBR', 'UR UF UL UB FR'
SMALL_PATTERNS = ((CORNERS, 0), (EDGES, 0), (EDGES, 1), (EDGES, 30))  # of `ida`: four corners and five edges


def registered() -> dict:
    "All methods and solvers by name."
    return dict(methods=method_names(), solvers=solver_names())


def trained(method: str, settings: tuple) -> tuple:
    "A network after training with 'key=value' settings, and the log as a data frame."
    renamed = [rename_setting(setting) for setting in settings]
    found = get_method(method)
    learner = found.learner(read_config(found.config, None, renamed))
    return learner.network, train(learner, None, progress=False)


def rename_setting(setting: str) -> str:
    "The setting under today's key."
    key, value = setting.split('=', 1)
    return f'{CONFIG_KEYS.get(key, key)}={value}'


def solutions(solver: str, puzzle, states: np.ndarray, evaluator, options: dict) -> list:
    "What a solver returns for a batch of states, one solution a state."
    options = {SOLVER_OPTIONS.get(name, name): value for name, value in options.items()}
    if solver == 'ida':
        options['patterns'] = SMALL_PATTERNS
    return get_solver(solver)(puzzle, states, evaluator, **options)


@cache
def shipped(name: str):
    "A shipped network as an evaluator in float32 on the CPU."
    return network_evaluator(load_network(name), 'cpu', torch.float32)


@cache
def near_solved(puzzle: str, depth: int):
    "The table of distances of all states within `depth` moves of solved."
    return bfs(get_puzzle(puzzle), depth)


@cache
def exact(puzzle: str):
    "Exact distances near solved as an evaluator, infinite beyond."
    return exact_evaluator(near_solved(puzzle, 5))


def uniform_states(puzzle, count: int, seed: int) -> np.ndarray:
    "uint8[count, S], uniformly random states."
    return puzzle.random_states(count, seed)


def inverse_states(puzzle, states: np.ndarray) -> np.ndarray:
    "uint8[B, S], the inverse of each state."
    return puzzle.inverse(states)


def depth_table(puzzle, no_inverse: bool) -> np.ndarray:
    "float64[31, D + 1], p(d | N) for walks of 0 to 30 moves."
    populations = POPULATIONS[puzzle.name]
    if puzzle.name == 'cube3':
        populations = repair_populations(populations)
    return depth_given_moves(np.arange(31), populations, len(puzzle.generators) if no_inverse else None)


# ------------------------------------------------------------------------------------------------------------
# Training: method -> name of a case -> settings, on top of those of every case.
FILE = Path(__file__).parent / 'golden' / 'golden.json'
SAME = 1e-6
OTHER = 1e-3
NOISY = 0.2
EVERY = ('iterations=100', 'device=cpu', 'precision=float32', 'seed=7', 'log_every=1', 'batch_size=40')
SMALL = (
    'network.hidden=[32, 16]',
    'network.blocks=1',
    'network.normalise=layer',
    'learning_rate=1e-3',
    'max_depth=10',
)
BATCH = 'network.normalise=batch'
ADI = (
    'network={encoding: piece_one_hot, canonical: false, hidden: [32, 16], blocks: 0, normalise: none, '
    'activation: elu, head_hidden: 8, heads: [value, policy]}',
    'max_depth=10',
    'learning_rate=1e-3',
    'final_learning_rate=1e-3',
)
SELF_PLAY = (
    'network.hidden=[32, 16]',
    'network.blocks=0',
    'network.normalise=layer',
    'network.heads=[outcome, policy]',
    'curriculum=[1, 2, 3]',
    'window=2',
    'threshold=0.3',
    'episodes=10',
    'simulations={1: 6, 2: 9}',
    'temperature={1: 1.0, 2: 0.5, 3: 0}',
    'max_moves=5',
    'updates=10',
    'checkpoint_every=10',
    'learning_rate=1e-3',
    'buffer=300',
)
Q_LEARNING = (
    'network={canonical: false, encoding: one_hot, hidden: [32, 16], blocks: 0, normalise: layer, '
    'heads: [moves]}',
    'stages=[[1, 4, -1.5, 30, 1.0, 0.2], [2, 6, -2.5, 30, 0.5, 0.1], [3, 8, -3.5, 30, 0.5, 0.1]]',
    'patience=30',
    'decay_steps=8',
    'episodes=10',
    'buffer=400',
    'warmup=3',
    'target_every=7',
    'learning_rate=1e-3',
)
PICTURES = (
    'network={canonical: false, encoding: picture, convolutions: [[4, 8, 4], [4, 4, 2]], hidden: [16], '
    'blocks: 0, normalise: none, heads: [moves]}'
)
WALKS = dict(
    value=(*SMALL, 'network.heads=[value]'),
    distribution=(*SMALL, 'network.heads=[distribution]'),
    policy=(*SMALL, 'network.heads=[policy]'),
    moves=(*SMALL, 'network.heads=[moves]'),
    all_heads=(*SMALL, 'network.heads=[value, distribution, policy, moves, mean]', 'network.head_hidden=8'),
    label_depth=(*SMALL, 'network.heads=[value, distribution, moves]', 'label=depth'),
    relative=(*SMALL, 'loss=relative', 'decay=exponential', 'cycles=2', 'final_learning_rate=1e-4'),
    huber=(*SMALL, 'loss=huber', 'depth_power=0.5', 'cycles=3', 'final_learning_rate=1e-5'),
    pieces=(*SMALL, 'network.encoding=piece_one_hot', 'network.canonical=false'),
    batch=(*SMALL, BATCH, 'network.heads=[value, policy]'),
)
DAVI = dict(
    value=(*SMALL, 'check_every=10', 'threshold=0.5'),
    policy=(*SMALL, 'check_every=10', 'threshold=0.5', 'network.heads=[value, policy]'),
    batch=(*SMALL, BATCH, 'check_every=10', 'threshold=0.5'),
    growth=(*SMALL, 'check_every=5', 'threshold=0.9', 'growth=true', 'depth_power=0.5', 'loss=relative'),
)
AUTODIDACTIC = dict(
    paper=ADI,
    zero_goal=(*ADI, 'target=zero_goal', 'weights=none', 'goal_reward=-1', 'entropy=0.1', 'target_every=5'),
    adaptive=(*ADI, 'target=zero_goal', 'weights=adaptive', 'goal_reward=-1', 'network.canonical=true'),
    buffer=(*ADI, 'buffer=200', 'refresh=9'),
    prioritised=(*ADI, 'buffer=200', 'refresh=9', 'prioritised=true', 'weights=adaptive', 'depth_power=-0.5'),
)
SWITCHES = (
    'double=true',
    'n_step=3',
    'prioritised=true',
    'mixed=true',
    'hindsight=true',
    'backward=true',
    'symmetric=true',
)
Q_CASES = dict(
    plain=Q_LEARNING,
    switches=(*Q_LEARNING, *SWITCHES),
    double=(*Q_LEARNING, 'double=true', 'stop_early=true', 'pessimistic=true', 'loss=huber'),
    three_steps=(*Q_LEARNING, 'n_step=3', 'hindsight=true', 'revisit_reward=-1'),
    dueling=(
        *Q_LEARNING,
        'network.heads=[moves, mean]',
        'prioritised=true',
        'pessimistic=true',
        'backward=true',
    ),
)
PLAY = dict(
    outcome=(*SELF_PLAY,),
    to_go=(*SELF_PLAY, 'target=to_go', 'noise=0', 'price=0.05', 'least=0.2'),
    search=(*SELF_PLAY, 'target=search', 'concentration=0.3', 'policy_weight=2', 'exploration=3'),
)
CASES = dict(walks=WALKS, davi=DAVI, adi=AUTODIDACTIC, alphazero=PLAY, dqn=Q_CASES)
MORE = {  # cases of one puzzle only
    ('cube2', 'alphazero', 'yardstick'): (*SELF_PLAY, 'yardstick=3'),
    ('cube3', 'dqn', 'pictures'): (*Q_LEARNING[1:], PICTURES, 'batch_size=16', 'episodes=4'),
}
TIMES = ('seconds', 'states_per_second', 'simulations_per_second')  # columns of a log that no two runs share


def training_cases() -> dict:
    "(puzzle, method, case) -> settings."
    cases = {}
    for puzzle in ('cube2', 'cube3'):
        for method, variants in CASES.items():
            cases |= {(puzzle, method, name): settings for name, settings in variants.items()}
    cases |= MORE
    return {case: (*EVERY, *settings, f'network.puzzle={case[0]}') for case, settings in cases.items()}


def golden_training(puzzle: str, method: str, case: str) -> dict:
    "Weights, what the log says last, and what the network says of a few states."
    torch.set_num_threads(1)
    network, log = trained(method, training_cases()[puzzle, method, case])
    states = get_puzzle(puzzle).scramble(16, np.arange(16), seed=3).states
    said = network_evaluator(network, 'cpu', torch.float32)(states)
    last = log.iloc[-1].drop(list(TIMES), errors='ignore')
    return dict(
        weights={name: of_floats(tensor.numpy()) for name, tensor in network.state_dict().items()},
        log={name: number(value) for name, value in last.items()},
        said=[None if part is None else of_floats(np.asarray(part)) for part in said],
    )


def number(value) -> float | None:
    "A float that JSON can hold: None for nan."
    return None if np.isnan(value) else float(value)


def of_floats(array: np.ndarray) -> dict:
    "Shape, sum, L2 norm and three entries of an array."
    flat = np.asarray(array, np.float64).ravel()
    places = [len(flat) * k // 7 for k in (1, 3, 6)]
    return dict(
        shape=list(np.shape(array)),
        sum=math.fsum(flat),
        norm=math.sqrt(math.fsum(flat**2)),
        entries=flat[places].tolist(),
    )


# ------------------------------------------------------------------------------------------------------------
# Searching: solver -> name of a case -> options. Limits count nodes, never seconds: a time limit of `LONG`
# seconds is never reached. With it the widths of `anytime`, which depend on the time left, grow by the same
# factor each round.
LONG = 1e6
VALUES = dict(cube2='cube2-davi', cube3='cube3-walks')
SEARCHES = dict(
    greedy=dict(near={}, far=dict(max_length=40)),
    beam=dict(
        near=dict(radius=2), far=dict(width=200, radius=4), narrow=dict(width=20, radius=3, max_nodes=3000)
    ),
    bwas=dict(
        near=dict(batch_size=10),
        far=dict(batch_size=50, max_nodes=20_000),
        astar=dict(weight=1.0, batch_size=1, max_nodes=2_000),
    ),
    mcts=dict(
        near={},
        far=dict(max_searches=300),
        naive=dict(max_searches=200, path='naive', backup='mean', unvisited='zero', leaves=3, mask=False),
        costs=dict(max_nodes=3000, move_cost=1.0, exploration=10.0, virtual_loss=0.5, max_length=30),
    ),
    alphazero=dict(
        near=dict(simulations=30),
        far=dict(simulations=40, max_moves=25),
        nodes=dict(simulations=60, max_nodes=1500, exploration=0.5),
    ),
    anytime=dict(
        near=dict(radius=3, time_limit=LONG),
        far=dict(radius=4, time_limit=LONG, max_nodes=60_000),
    ),
)
CLASSICAL = dict(
    kociemba=dict(far={}), ida=dict(near=dict(time_limit=LONG), far=dict(max_nodes=20_000, time_limit=LONG))
)


def search_cases() -> dict:
    "(puzzle, solver, case) -> (evaluator's name, options)."
    cases = {}
    for puzzle, network in VALUES.items():
        for solver, variants in SEARCHES.items():
            for case, options in variants.items():
                cases[puzzle, solver, case] = 'exact' if case == 'near' else network, options
    for solver in ('greedy', 'bwas', 'mcts', 'alphazero', 'beam'):
        options = SEARCHES[solver]['far']
        cases['cube2', solver, 'outcome'] = 'cube2-alphazero', options
        cases['cube3', solver, 'davi'] = 'cube3-davi', options
    for solver, variants in CLASSICAL.items():
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
    evaluator = None if name is None else exact(puzzle) if name == 'exact' else shipped(name)
    cube = get_puzzle(puzzle)
    states = states_to_solve(cube, case)
    found = solutions(solver, cube, states, evaluator, options)
    for state, answer in zip(states, found):
        assert not answer.solved or cube.is_solved(cube.apply_word(state, answer.moves)[None])[0]
    return [dict(word=word_of(cube, a), generated=int(a.generated), expanded=int(a.expanded)) for a in found]


def word_of(puzzle, answer) -> str | None:
    "The moves of a solution, None where there is none."
    return format_word(puzzle, answer.moves) if answer.solved else None


# ------------------------------------------------------------------------------------------------------------
# The puzzles: name -> function of a puzzle that gives checksums, words or floats.
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


def golden_structure(puzzle) -> dict:
    "The arrays that define a puzzle and what is derived of them."
    names = (
        'solved',
        'moves',
        'rotations',
        'symmetries',
        'colour_maps',
        'positions',
        'goals',
        'undoes',
        'generators',
        'successors',
        'symmetric_moves',
    )
    arrays = {name: of_integers(getattr(puzzle, name)) for name in names}
    return dict(arrays, move_names=list(puzzle.move_names[:12]))


def golden_operations(puzzle) -> dict:
    "Moves, neighbours, words and symmetric views of a sample, as arrays and as tensors."
    states = sample(puzzle)
    moves = np.arange(len(states)) % puzzle.num_moves
    batches = dict(arrays=states, tensors=torch.from_numpy(states))
    found = {}
    for kind, batch in batches.items():
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
    states = uniform_states(puzzle, 2000, seed=9)
    keys = pack(puzzle, states)
    assert (unpack(puzzle, keys) == states).all()
    return dict(
        random_states=[of_integers(uniform_states(puzzle, 300, seed)) for seed in (0, 1, 2**40 + 3)],
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
    if len(puzzle.rotations) > 1:
        return {}
    return dict(inverse=of_integers(inverse_states(puzzle, sample(puzzle))))


def golden_encodings(puzzle) -> dict:
    "What networks see."
    states, found = sample(puzzle), {}
    for name in ('one_hot', 'piece_one_hot', 'picture'):
        found[name] = of_integers(encode(name, puzzle, states[:50]))
        found[name + '_tensors'] = of_integers(encode(name, puzzle, torch.from_numpy(states[:50])))
    return found


def golden_distances(puzzle) -> dict:
    "Breadth-first counts, layers in order of arrival, distances beyond a table and shortest words."
    table = near_solved(puzzle.name, 5)
    states = puzzle.scramble(60, np.arange(60) % 9, seed=4).states
    words = shortest_solutions(near_solved(puzzle.name, 4), states, 7)
    return dict(
        counts=[int(n) for n in table.counts],
        layers=[of_integers(table.layer(depth)) for depth in range(6)],
        distance=of_integers(table.distance(states)),
        far_distance=of_integers(far_distance(near_solved(puzzle.name, 4), states, 8)),
        shortest=[None if word is None else format_word(puzzle, word) for word in words],
        scramble_depths=of_integers(scramble_depths(near_solved(puzzle.name, 4), 8, 100, seed=6)),
        scramble_depths_with_inverses=of_integers(
            scramble_depths(near_solved(puzzle.name, 4), 8, 100, 6, False)
        ),
    )


def golden_windows(puzzle) -> dict:
    "Words of few faces, which have many detours, without them."
    table = near_solved(puzzle.name, 4)
    words = np.random.default_rng(13).integers(0, 5, (12, 25)).tolist()
    return {
        str(size): [format_word(puzzle, improve(table, word, size)) for word in words] for size in (4, 7, 9)
    }


def golden_markov(puzzle) -> dict:
    "p(d | N), the whole table and some rows."
    found = {}
    for name, no_inverse in (('free', False), ('no_inverse', True)):
        rows = depth_table(puzzle, no_inverse)
        found[name] = dict(all=of_floats(rows), rows={str(n): rows[n].tolist() for n in (1, 7, 13, 20, 30)})
    return found


pytestmark = pytest.mark.usefixtures('one_thread')
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


# ------------------------------------------------------------------------------------------------------------
# Comparing.
def everything() -> dict:
    "Name of a part -> function that computes it anew."
    parts = {
        f'{puzzle} {name}': partial(part, get_puzzle(puzzle))
        for puzzle in VALUES
        for name, part in FLOOR.items()
    }
    parts |= {' '.join(['train', *case]): partial(golden_training, *case) for case in training_cases()}
    parts |= {' '.join(['solve', *case]): partial(golden_search, *case) for case in search_cases()}
    return parts


def machine() -> dict:
    "What decides how floats are rounded."
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        lines = []
    wanted = ('model name', 'cpu family', 'model', 'stepping')
    cpu = {}
    for line in lines:
        name, _, value = line.partition(':')
        if name.strip() in wanted:
            cpu.setdefault(name.strip(), value.strip())
    capability = torch.backends.cpu.get_cpu_capability()
    return dict(
        cpu, machine=platform.machine(), capability=capability, torch=torch.__version__, numpy=np.__version__
    )


class Comparison:
    "Counts values and notes those that differ."

    def __init__(self, tolerance: float):
        self.tolerance = tolerance
        self.count = 0
        self.largest = 0.0  # relative deviation of a float
        self.differences = []

    def check(self, where: str, wanted, found):
        "Compare two trees of dictionaries, lists and values."
        if isinstance(wanted, dict) and isinstance(found, dict):
            self.check_dict(where, wanted, found)
        elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
            for k, (one, other) in enumerate(zip(wanted, found)):
                self.check(f'{where}[{k}]', one, other)
        elif isinstance(wanted, float) and isinstance(found, float):
            self.check_float(where, wanted, found, max(abs(wanted), 1e-3))
        else:
            self.note(where, wanted, found, wanted == found)

    def check_dict(self, where: str, wanted: dict, found: dict):
        "Every key that was recorded; the sum and entries of an array are measured by its norm."
        if 'norm' in wanted and wanted.get('shape') == found.get('shape'):
            scale = max(wanted['norm'], 1e-3)
            typical = scale / max(1, np.prod(wanted['shape'])) ** 0.5
            self.check_float(f'{where}.norm', wanted['norm'], found['norm'], scale)
            self.check_float(f'{where}.sum', wanted['sum'], found['sum'], scale)
            for k, (one, other) in enumerate(zip(wanted['entries'], found['entries'])):
                self.check_float(f'{where}.entries[{k}]', one, other, max(typical, abs(one)))
            return
        for key, value in wanted.items():
            self.check(f'{where}.{key}', value, found.get(key, found.get(LOG_COLUMNS.get(key), 'missing')))

    def check_float(self, where: str, wanted: float, found: float, scale: float):
        deviation = abs(wanted - found) / scale
        self.largest = max(self.largest, deviation)
        self.note(where, wanted, found, deviation <= self.tolerance)

    def note(self, where, wanted, found, agree):
        self.count += 1
        if not agree:
            self.differences.append(f'{where}: expected {wanted}, got {found}')


@cache
def recorded() -> dict:
    "What golden.json says."
    return json.loads(FILE.read_text())


def tolerance() -> float:
    "Of floats, here."
    return SAME if recorded()['machine'] == machine() else OTHER


def counted_today(name: str, rows: list) -> list:
    "Recorded solutions as nodes are counted today: the start is no child, and `expanded` are nodes and no searches."
    _, puzzle, solver, _ = name.split()
    if solver not in ('greedy', 'bwas', 'mcts', 'alphazero'):
        return rows
    rows = [row | dict(generated=row['generated'] - 1) for row in rows]
    if solver in ('greedy', 'bwas'):
        return rows
    moves = len(get_puzzle(puzzle).generators)
    return [row | dict(expanded=row['generated'] // moves) for row in rows]


def compared(name: str) -> Comparison:
    "One part, computed anew and compared."
    comparison = Comparison(tolerance())
    wanted = recorded()['parts'][name]
    if name.startswith('solve '):
        wanted = counted_today(name, wanted)
    if tolerance() == OTHER and name.startswith('train') and name.endswith('batch'):
        comparison.tolerance = NOISY
        wanted = {key: value for key, value in wanted.items() if key != 'weights'}
    comparison.check(name, wanted, json.loads(json.dumps(everything()[name]())))
    return comparison


# ------------------------------------------------------------------------------------------------------------
# As a test.
COUNTS = {}  # part -> values compared


def test_everything_registered_is_recorded():
    today, then = registered(), recorded()['registered']
    assert set(then['methods']) <= set(today['methods']) and set(then['solvers']) <= set(today['solvers'])
    assert {case[1] for case in training_cases()} == set(then['methods'])
    assert {case[1] for case in search_cases()} == set(then['solvers'])
    assert set(everything()) == set(recorded()['parts'])


@pytest.mark.parametrize('name', everything())
def test_same_as_recorded(name):
    comparison = compared(name)
    COUNTS[name] = comparison.count
    assert not comparison.differences, '\n'.join(comparison.differences[:20])


def test_how_much_was_compared(capsys):
    with capsys.disabled():
        total = sum(COUNTS.values())
        print(f'\ngolden results: {total} values of {len(COUNTS)} parts compared to {tolerance():g}')


# ------------------------------------------------------------------------------------------------------------
# As a program.
def write():
    "Record everything."
    parts = {}
    for name, part in everything().items():
        parts[name] = part()
    FILE.parent.mkdir(exist_ok=True)
    rows = ',\n'.join(f'{json.dumps(name)}: {json.dumps(part)}' for name, part in parts.items())
    head = f'"machine": {json.dumps(machine())},\n"registered": {json.dumps(registered())}'
    FILE.write_text(f'{{{head},\n"parts": {{\n{rows}\n}}}}\n')
    print(f'{len(parts)} parts written to {FILE}')


def report() -> bool:
    "Compare everything and print a line for each part that differs; whether all is the same."
    total, largest, different = 0, 0.0, 0
    for name in everything():
        comparison = compared(name)
        total += comparison.count
        largest = max(largest, comparison.largest)
        different += bool(comparison.differences)
        for difference in comparison.differences[:5]:
            print(difference)
    print(f'{total} values compared to {tolerance():g}, largest relative deviation {largest:.3g}')
    print(f'{different} parts differ')
    return different == 0


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='Compare results with golden/golden.json.')
    parser.add_argument('--write', action='store_true', help='record the results of this library instead')
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    if parser.parse_args().write:
        write()
    else:
        sys.exit(not report())
