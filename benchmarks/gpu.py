"""A quarter of an hour on a GPU: one command of eight minutes, and one of four for what is left.

    python benchmarks/gpu.py [--output runs/gpu] [--minutes 8]
    python benchmarks/gpu.py --more
    python benchmarks/gpu.py --dry [--more]     # everything small on a stand-in for a GPU, in two minutes

The plan is printed first. Parts run in the order of worth, each in a process of its own that is stopped when its time
is over, so that none can take the others with it. What was measured is a line of OUTPUT/PART.jsonl at once (and of
OUTPUT/PART.csv when the part ends): killed at any moment and called again, it goes on with what is missing. Time that a
part leaves is given to the next ones.

It needs what the library needs (torch with CUDA, numba). Without tensorboard the training of a network that was
killed begins anew; the part `pipeline` needs papermill and its like. Where no package index can be reached, bring them
along: `pip download --dest wheels --requirement requirements-dev.txt` here, and there
`pip install --no-index --find-links wheels papermill execnb nbformat matplotlib seaborn tensorboard`.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, strftime
from typing import NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import torch
from kept_rows import by_group, excess_columns, mean_columns, new_parser, show
from numba import get_num_threads, set_num_threads
from plan import TARGETS
from plan import rates as on_paper

from cube_nb.clock import Clock
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.exact import device as blocks
from cube_nb.exact.coset import coset_table, piece_codes
from cube_nb.exact.dual import Search, coset_bound
from cube_nb.learn import loop
from cube_nb.learn.loop import Budget, Learner, get_method, keep_network, method_names, read_config, train
from cube_nb.learn.walks import walk_ends, walk_lengths, walk_ways
from cube_nb.measure.evaluate import NARROW_BEAM
from cube_nb.nets.networks import network_evaluator
from cube_nb.nets.weights import load_network
from cube_nb.search.core import get_solver
from cube_nb.search.selfplay import SelfPlay, alphazero_rules, play_games
from cube_nb.workshop.pipeline import IMPORTED_ONCE, jobs, run_job
from cube_nb.workshop.profiles import load_profile
from cube_nb.workshop.reach import reach
from cube_nb.workshop.results import read_record

ROOT = Path(__file__).resolve().parents[1]
PUZZLE = get_puzzle('cube3')
GRACE = 5  # seconds that a part may be late


class Work(NamedTuple):
    "Where numbers go, and until when a part has time."

    output: Path
    device: str
    dry: bool
    deadline: float = 0.0  # of `perf_counter`, which is the same in all processes
    seconds: float = 0.0  # that are meant for the part

    @property
    def left(self) -> float:
        "Seconds."
        return self.deadline - perf_counter()

    @property
    def size(self) -> str:
        "Of the coset table: a few MB, or 2.5 GB."
        return 'tiny' if self.dry else 'large'


# --- what is kept -------------------------------------------------------------------------------------------


def kept(work: Work, part: str) -> list[dict]:
    "The rows of a part; half a line, of a process that was killed, is none."
    path, rows = work.output / f'{part}.jsonl', []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def keep(work: Work, part: str, row: dict) -> None:
    "Add a row, and show it."
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else work.device
    about = {'device': device, 'torch': torch.__version__, 'when': strftime('%Y-%m-%d %H:%M:%S')}
    line = json.dumps(row | about, default=np.generic.item).encode()
    with (work.output / f'{part}.jsonl').open('ab+') as file:
        file.seek(max(0, file.tell() - 1))
        after_half_a_line = file.read(1) not in (b'', b'\n')
        file.write(b'\n' * after_half_a_line + line + b'\n')
    shown = {key: f'{value:,.4g}' if isinstance(value, float) else value for key, value in row.items()}
    print(f'{part}:', *(f'{key} {value};' for key, value in shown.items()), flush=True)


def missing(work: Work, part: str, names: list) -> list:
    "The names that have no row yet, or only one that says why it failed."
    there = {row['name'] for row in kept(work, part) if 'failed' not in row}
    return [name for name in names if name not in there]


def item(work: Work, part: str, name: str, function: Callable) -> None:
    "One row, with the seconds and the memory that it took. What fails is a row that says why."
    began, used = perf_counter(), sum(os.times()[:4])
    try:
        row = function(work)
    except (Exception, SystemExit) as error:
        row = {'failed': f'{type(error).__name__}: {error}'.splitlines()[0][:300]}
    if torch.cuda.is_initialized():
        row['gpu_mb'] = torch.cuda.max_memory_allocated() // 2**20
    spent = {'seconds': round(perf_counter() - began, 3)}
    spent['core_seconds'] = round(sum(os.times()[:4]) - used, 2)
    keep(work, part, {'name': name} | spent | row)


def measure(work: Work, part: str, items: dict[str, Callable]) -> bool:  # whether all of them are there
    "Measure what is not there yet one after the other, as long as there is time."
    for name in missing(work, part, items):
        if work.left > 0:
            item(work, part, name, items[name])
    return not missing(work, part, items)


# --- processes ----------------------------------------------------------------------------------------------


def child(work: Work, function: Callable, *given) -> None:
    "What a process does; it ends when the one that started it is killed."
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    os.environ.setdefault('TORCHINDUCTOR_COMPILE_THREADS', '2')  # twenty processes compile at once
    working = [row['name'] for row in kept(work, 'ways') if 'failed' not in row]
    with ExitStack() as stack:
        if work.device == 'standin':
            sys.path.append(str(ROOT / 'tests'))
            stack.enter_context(import_module('stand_in').stand_in())
        stack.enter_context(in_way([*working, *WAYS][0]))
        function(work, *given)


def start(work: Work, function: Callable, *given):  # a process
    "Do something in a fork, which has all modules and no CUDA yet."
    process = get_context('fork').Process(target=child, args=(work, function, *given))
    process.start()
    return process


def finish(process, seconds: float) -> None:
    "Wait so long, and no longer."
    process.join(max(seconds, 0))
    if process.is_alive():
        process.kill()
    process.join()


def together(work: Work, part: str, items: dict[str, Callable]) -> bool:  # whether all of them are there
    "Measure what is not there yet, each in a process of its own and all at once."
    running = [start(work, item, part, name, items[name]) for name in missing(work, part, items)]
    for process in running:
        finish(process, work.left)
    return not missing(work, part, items)


# --- ways: compiled, in a graph, or not ---------------------------------------------------------------------

WAYS = ('compiled, in a graph', 'compiled', 'in a graph', 'eager')  # the first that works is taken


@contextmanager
def in_way(way: str):
    "A context in which steps are compiled and recorded as a way says."
    with ExitStack() as stack:
        if 'graph' not in way:
            stack.enter_context(patch.object(loop, 'records', return_value=False))
        if 'compiled' not in way:
            stack.enter_context(torch.compiler.set_stance('force_eager'))
        yield


def first_steps(work: Work, name: str, way: str = WAYS[0]) -> dict:
    "A few steps of a training, which compile and record; what torch compiles it keeps on disk."
    with in_way(way):
        losses = take_steps(learner_of(work, *TRAINERS[name]), 6)
    assert np.isfinite(losses).all(), losses
    return {'loss': losses[-1]}


def ways(work: Work) -> bool:
    "Which way works; a process in which a graph failed is of no use any more."
    trials = {way: partial(first_steps, name='walks, 4 M parameters', way=way) for way in WAYS}
    return any(together(work, 'ways', {way: trial}) for way, trial in trials.items())


def compiling(work: Work) -> bool:
    "While nothing is timed, compile what will be."
    items = {name: partial(first_steps, name=name) for name in TRAINERS}
    return work.dry or together(work, 'compiling', items)


# --- self-tests: small, against the host's answers ------------------------------------------------------------


def same_walks(work: Work) -> dict:
    "Walks, bit by bit."
    depths = torch.from_numpy(walk_lengths(1000 if work.dry else 20_000, 22, 0, 1))
    equal = []
    for make, lengths in ((walk_ends, depths), (walk_ways, torch.full_like(depths[:500], 22))):
        seed = torch.full((), 1, device=work.device)
        here, there = make(PUZZLE, lengths, 1, 22), make(PUZZLE, lengths.to(work.device), seed, 22)
        equal += [torch.equal(a, b.cpu()) for a, b in zip(here, there)]
    return {'passed': all(equal), 'walks': len(depths)}


def same_losses(work: Work, method: str) -> dict:
    "Six steps in float32, of which the last ones are recorded. Players of a device draw their own numbers: here, too."
    losses = []
    for device in ('cpu', work.device):
        config = get_method(method).small_config('cube2').model_copy(update={'device': device})
        with patch('cube_nb.learn.dqn.plays_there', return_value=True):
            losses.append(np.array(take_steps(get_method(method).learner(config), 6)))
    apart = np.abs(losses[1] / losses[0] - 1)
    return {'passed': bool(apart[0] < 1e-3 and apart.max() < 0.05), 'first': apart[0], 'most': apart.max()}


def same_beams(work: Work) -> dict:
    "Solutions of scrambles, and how far estimates are from each other."
    network, states = load_network('cube3-walks'), PUZZLE.scramble(4 if work.dry else 20, 11, seed=3).states
    asked = [network_evaluator(network, device, torch.float32) for device in ('cpu', work.device)]
    solve = partial(get_solver('beam'), PUZZLE, states, width=100 if work.dry else 1000)
    here, there = map(solve, asked)
    values = [each(states).values for each in (*asked, network_evaluator(network, work.device))]
    float32, bfloat16 = (float(np.abs(each - values[0]).max()) for each in values[1:])
    same = np.mean([a.moves == b.moves for a, b in zip(here, there)])
    lengths = all(b.solved and len(a) == len(b) for a, b in zip(here, there))
    return {'passed': lengths and float32 < 1e-3, 'same': same, 'float32': float32, 'bfloat16': bfloat16}


def same_proofs(work: Work) -> dict:
    "Nodes and look-ups of whole searches."
    lower = coset_bound(PUZZLE, 'tiny')
    roots = piece_codes(PUZZLE, PUZZLE.scramble(20, 40, seed=3).states)
    lengths = np.resize([7, 8, 9, 9], len(roots))
    bounds, equal = blocks.DeviceBounds(lower, torch.device(work.device)), []
    for root, length, mine in zip(roots, lengths, blocks.search_together(bounds, roots, lengths, Clock())):
        host = Search(lower, root[None], np.zeros(1, np.int64), int(length)).run(Clock())
        equal.append(mine._replace(seconds=0) == host._replace(seconds=0))
    return {'passed': all(equal), 'searches': len(equal)}


def selftests(work: Work) -> bool:
    "All of them at once."
    items = {'walks': same_walks, 'beams': same_beams, 'proofs': same_proofs}
    items |= {f'losses, {name}': partial(same_losses, method=name) for name in method_names()}
    return together(work, 'selftests', items)


# --- the pipeline -------------------------------------------------------------------------------------------

SMALLEST = {'hidden': [16], 'blocks': 0, 'batch_size': 16, 'seeds': 1}
EXPERIMENTS = {  # value iteration, walks, Q-learning, self-play; and what makes them still smaller in a dry run
    'davi_cube2': {'iterations': 40, 'calibration_states': 50},
    'walks_heads': {'iterations': 10, 'cubes': 2, 'widths': [12], 'layers': 3},
    'dqn_epsilon': {'steps_a_stage': 10, 'cubes': 10, 'max_steps': 5},
    'alphazero_ablation': {'iterations': 4, 'updates': 4, 'episodes': 4, 'simulations': 4, 'max_moves': 3}
    | {'cubes': 4, 'probes': 20},
}


def experiment(work: Work, name: str) -> dict:
    "Run a notebook of the profile `visit`; its tables, figures and record are moved to the output."
    os.chdir(ROOT)
    job = jobs('visit')[name]
    if work.dry:
        given = load_profile('smoke')[name]
        smallest = {key: value for key, value in SMALLEST.items() if key in given}
        job = job._replace(parameters=given | smallest | EXPERIMENTS[name] | {'profile': 'visit'})
    with patch.dict(NARROW_BEAM, {'max_nodes': 2000} if work.dry else {}):  # which a beginner uses up
        run_job(job, '')
    record = read_record('visit', name)
    files = [path for folder in ('data', 'figures') for path in (ROOT / folder / 'visit').glob(f'{name}*')]
    for path in files:
        target = work.output / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
    passed = work.dry or record['device'] != 'cpu'
    return {'passed': passed, 'on': record['device'], 'files': len(files), 'seconds': record['seconds']}


def pipeline(work: Work) -> bool:
    "The notebooks at once, each in a process, as the pipeline starts them."
    absent = [name for name in ('papermill', 'execnb', 'nbformat') if find_spec(name) is None]
    if absent:
        print(f'pipeline: not run, {", ".join(absent)} not importable: see the head of {Path(__file__).name}')
        return False
    for module in IMPORTED_ONCE.split():  # here, and not in each of the processes; as is the library's code
        import_module(module)
    reach('', (), ROOT)
    return together(work, 'pipeline', {name: partial(experiment, name=name) for name in EXPERIMENTS})


# --- rates of trainers --------------------------------------------------------------------------------------

TRAINERS = {  # name, as in `TARGETS` and in data/measured -> method, its configuration, what differs from it
    'walks, 1.03 M parameters': ('walks', 'walks-cube3', 'batch_size=20000'),
    'walks, 4 M parameters': ('walks', 'walks-cube3-gpu'),
    'davi, 3x3x3, paper': ('davi', 'davi-cube3-paper'),
    'dqn, pieces': ('dqn', 'dqn-cube3-best', 'network.hidden=[4096, 1024]', 'batch_size=10000'),
    'dqn, pictures': ('dqn', 'dqn-cube3-pictures'),
    'walks, as large as the paper': ('walks', 'walks-cube3-a100'),
    'alphazero, learning': ('alphazero', 'alphazero-cube2', 'simulations={1: 20}', 'max_moves=5'),
    'adi, 2x2x2, K = 200, book': ('adi', 'adi-cube2-zero-goal'),
    'adi, 3x3x3, buffer, book': ('adi', 'adi-cube3-zero-goal'),
    'davi, 2x2x2, paper': ('davi', 'davi-cube3-paper', 'network.puzzle=cube2'),
}
DRY = dict(batch_size=16, buffer=500, refresh=5, episodes=8, updates=30, warmup=4, checkpoint_every=5)
DRY |= {'start': 'null', 'network.hidden': [16], 'network.blocks': 0}
TIMED = 3  # seconds of each


def learner_of(work: Work, method: str, name: str, *changes: str) -> Learner:
    "A training at the size of its paper."
    kind = get_method(method).config
    if work.dry:
        known = [key for key in DRY if key.split('.')[0] in kind.model_fields]
        changes += tuple(f'{key}={DRY[key]}' for key in known)
    config = read_config(kind, ROOT / f'workflow/configs/{name}.yaml', [f'device={work.device}', *changes])
    if config.start and '/' in config.start:
        config = config.model_copy(update={'start': str(ROOT / config.start)})
    return get_method(method).learner(config)


def take_steps(learner: Learner, count: int) -> list[float]:
    "Whole steps of a training, and their losses, for which the host waits."
    losses = []
    for _ in range(count):
        done = learner.take_step()
        learner.after_step(done)
        losses.append(done.losses['loss'])
    return torch.stack(losses).tolist()


def seconds(function: Callable, *given) -> float:
    "How long a call takes that waits for the device."
    began = perf_counter()
    function(*given)
    return perf_counter() - began


def peak(work: Work, dtype: torch.dtype) -> float:
    "Operations a second of large matrix products, the best of three times ten."
    size = 64 if work.dry else 8192
    a = torch.randn(size, size).to(work.device, dtype)

    def ten() -> None:
        for _ in range(10):
            b = a @ a
        float(b[0, 0])

    return 20 * size**3 / min(seconds(ten) for _ in range(3))


def product_operations(bias: tuple, a: tuple, b: tuple, **others) -> int:
    "Of a product with a bias and a ReLU, whose shapes are given: torch does not count them."
    return 2 * a[0] * a[1] * b[1]


def step_operations(learner: Learner) -> int:
    "Multiplications and additions of the matrix products of one step, counted without a graph."
    from torch.utils.flop_counter import FlopCounterMode  # slow to import

    others = {torch.ops.aten._addmm_activation: product_operations}
    counting = FlopCounterMode(display=False, custom_mapping=others)
    with torch.compiler.set_stance('force_eager'), counting as counter:
        learner.learn(learner.batch(learner.step))
    return counter.get_total_flops()


def before(table: str, name: str, column: str) -> dict:
    "What an earlier visit measured, and on what."
    rows = pd.read_csv(ROOT / f'data/measured/gpu_{table}.csv').query('name == @name')
    return {'before': rows[column].iloc[0], 'before_on': rows.device.iloc[0]} if len(rows) else {}


def trainer(work: Work, name: str) -> dict:
    "What measures a training, beside the aim, the plan and the visit before."
    learner = learner_of(work, *TRAINERS[name])
    row = {'first_steps_s': seconds(take_steps, learner, 6)}
    count = 2 if work.dry else int(np.clip(TIMED / seconds(take_steps, learner, 2) * 2, 3, 1000))
    each = seconds(take_steps, learner, count) / count
    operations, top = step_operations(learner), peak(work, learner.dtype)
    row |= {'states_per_second': learner.config.batch_size / each, 'share_of_peak': operations / each / top}
    if name in TARGETS:
        training, least, unit = TARGETS[name]
        row |= {'aim': f'{least:,} {unit}', 'on_paper': on_paper(training)[0]}
    row |= before('trainers', name, 'states_per_second') | {'step_ms': 1e3 * each, 'steps': count}
    return row | {'gflop_a_step': operations / 1e9, 'peak_tflops': top / 1e12}


def games_played(work: Work, name: str, games: int) -> dict:
    "Self-play on the 2x2x2, so many games side by side."
    network = load_network('cube2-alphazero')
    evaluator, rules = network_evaluator(network, work.device), alphazero_rules(1.5)
    states = network.puzzle.scramble(games, 12, seed=0).states
    play_games(network.puzzle, states[:4], evaluator, rules, SelfPlay(simulations=2, max_moves=1))
    settings, began = SelfPlay(simulations=2 if work.dry else 50, max_moves=2), perf_counter()
    searches = play_games(network.puzzle, states, evaluator, rules, settings).searches
    rate = {'simulations_per_second': searches / (perf_counter() - began)}
    return rate | before('searches', name, 'simulations_per_second')


def rates(work: Work) -> bool:
    "Trainers one after the other, then self-play."
    items = {name: partial(trainer, name=name) for name in TRAINERS}
    for games in (80, 2000):
        name = f'self-play, {games} games'
        items[name] = partial(games_played, name=name, games=games)
    return measure(work, 'rates', items)


# --- a network, and the table meanwhile ---------------------------------------------------------------------


def weights_of(work: Work, puzzle: str) -> Path:
    "The network of this visit; else, of the 3x3x3, the larger one that is kept."
    path = work.output / f'{puzzle}-visit.safetensors'
    return path if path.exists() or puzzle != 'cube3' else ROOT / 'data/weights/cube3-walks-large.safetensors'


def train_network(work: Work, puzzle: str) -> bool:
    "Train for the seconds of the part, in which the learning rate falls to its end. What was killed goes on."
    folder, path = work.output / 'checkpoints' / puzzle, work.output / f'{puzzle}-visit.safetensors'
    learner = learner_of(work, 'walks', f'walks-{puzzle}-gpu')
    budget = Budget(seconds=2 if work.dry else 0.95 * work.seconds - 5, clock=perf_counter)
    log = train(learner, folder if find_spec('tensorboard') else None, progress=False, budget=budget)
    keep_network(learner, log, path)
    states, spent = learner.step * learner.config.batch_size, float(log.seconds.iloc[-1])
    row = {'name': path.stem, 'steps': learner.step, 'states': states, 'loss': float(log.loss.iloc[-1])}
    keep(work, puzzle, row | {'seconds': spent, 'states_per_second': states / spent})
    shutil.rmtree(folder, ignore_errors=True)  # three times as large as the network
    return True


def table(work: Work) -> bool:
    "Build the table of the proofs on the host's cores, all but two; what was killed goes on."
    set_num_threads(max(1, get_num_threads() - 2))
    coset_table(PUZZLE, work.size)
    return True


# --- beams --------------------------------------------------------------------------------------------------


def league(work: Work, count: int = 150) -> pd.DataFrame:  # columns cube, state, optimal
    "The first cubes of the league; in a dry run a few of them, late on their shortest ways."
    rows = pd.read_csv(ROOT / 'data/test/cube3_league.csv').head(6 if work.dry else count)
    states, left = list(from_string(PUZZLE, rows.state.tolist())), rows.optimal_qtm
    if work.dry:
        states = [PUZZLE.apply_word(a, parse(PUZZLE, word)[:-9]) for a, word in zip(states, rows.solution)]
        left = left.clip(upper=9)
    return pd.DataFrame({'cube': rows.index, 'state': states, 'optimal': left})


def random_cubes4(work: Work) -> pd.DataFrame:  # as `league`; nobody knows how far they are
    "Random cubes of the 4x4x4, which may be held in any way."
    states = get_puzzle('cube4').scramble(*(6, 3) if work.dry else (50, 200), seed=0).states
    return pd.DataFrame({'cube': range(len(states)), 'state': list(states), 'optimal': np.nan})


def beam_of(work: Work, puzzle, network: str, evaluator: Callable, row: NamedTuple, width: int) -> dict:
    "One cube."
    (found,) = get_solver('beam')(puzzle, row.state[None], evaluator, width=width)
    length = len(found) if found.solved else None
    about = {'network': network, 'width': width, 'cube': row.cube, 'optimal': row.optimal, 'length': length}
    return about | {'seconds': found.seconds, 'nodes': found.generated, 'solution': str(found)}


def beams(work: Work, puzzle: str, cubes_of: Callable, widths: dict[int, int], beside: str) -> bool:
    "So many cubes of each width, each a row; the narrow ones first. Then what they come to."
    part, path, cubes = f'{puzzle} beams', weights_of(work, puzzle), cubes_of(work)
    network, whole = load_network(str(path)), True
    evaluator = network_evaluator(network, work.device)
    given = {'puzzle': network.puzzle, 'network': path.stem, 'evaluator': evaluator}
    for width, count in ({64: 6, 128: 3} if work.dry else widths).items():
        rows = {f'{path.stem}, {width}, {row.cube}': row for row in cubes.head(count).itertuples()}
        if work.left > 0 and missing(work, part, rows):  # compile, and take the memory
            beam_of(work, row=rows[min(rows)], width=width, **given)
        items = {name: partial(beam_of, row=row, width=width, **given) for name, row in rows.items()}
        whole &= measure(work, part, items)
    if rows := [row for row in kept(work, part) if 'width' in row]:
        show(by_group(pd.DataFrame(rows), ['network', 'width'], beam_means))
        print(beside, flush=True)
    return whole


def beam_means(group: pd.DataFrame) -> dict:
    "Seconds, solved, lengths, excess and share of shortest solutions, with 95 % intervals."
    means = mean_columns('solved', group.length.notna()) | mean_columns('length', group.length)
    return {'seconds': group.seconds.mean()} | means | excess_columns(group)


# --- proofs -------------------------------------------------------------------------------------------------

TOGETHER = 16  # cubes


def proven(work: Work, evaluator: Callable, bounds: blocks.DeviceBounds, cubes: pd.DataFrame) -> dict:
    "Several cubes at once: seconds, nodes and look-ups are means of them."
    lower, states, began = coset_bound(PUZZLE, work.size), np.stack(cubes.state), perf_counter()
    found = get_solver('beam')(PUZZLE, states, evaluator, width=64 if work.dry else 2**16)
    middle, room = perf_counter(), 5000 if work.dry else blocks.ROOM
    searches, search = [], blocks.search_together

    def recording(*given):
        searches.extend(results := search(*given))
        return results

    with patch.object(blocks, 'search_together', recording):
        solved = blocks.prove_together(lower, bounds, states, found, Clock(work.left), room)
    over, lengths = perf_counter(), [len(each) for each in solved if each.optimal]
    if len(lengths) < len(cubes):
        raise TimeoutError(f'{len(lengths)} of {len(cubes)} cubes were proven in time')
    row = {'passed': lengths == cubes.optimal.tolist(), 'cubes': len(cubes), 'lengths': lengths}
    nodes, lookups = (sum(getattr(each, name) for each in searches) for name in ('generated', 'lookups'))
    row |= {'seconds_a_cube': (over - began) / len(cubes), 'of_beams': (middle - began) / len(cubes)}
    row |= {'nodes_a_cube': nodes / len(cubes), 'lookups_a_cube': lookups / len(cubes)}
    return row | {'lookups_per_second': lookups / (over - middle)}


def proofs(work: Work) -> bool:
    "As many of the 326 cubes as there is time for."
    bounds = blocks.DeviceBounds(coset_bound(PUZZLE, work.size), torch.device(work.device))
    evaluator = network_evaluator(load_network(str(weights_of(work, 'cube3'))), work.device)
    cubes, prove = league(work, 326), partial(proven, evaluator=evaluator, bounds=bounds)
    groups = [cubes[first : first + TOGETHER] for first in range(0, len(cubes), TOGETHER)]
    items = {f'cubes from {group.cube.iloc[0]}': partial(prove, cubes=group) for group in groups}
    return measure(work, 'proofs', items)


# --- the command --------------------------------------------------------------------------------------------


class Part(NamedTuple):
    "A part of the visit."

    name: str
    seconds: float
    function: Callable  # of the work; says whether all of it is there


SAID3 = """published at 2^18, one network: 72 % optimal with 4 M parameters, 81 % with 14.7 M;
aims: 70 % in 0.3 s at 2^18, 80 % in 1 s at 2^20"""
SAID4 = 'published: 65.0 moves, 94 % solved, orientation fixed; here a solved cube may be held in any'
WIDTHS = {2**14: 150, 2**16: 150, 2**18: 150, 2**20: 150, 2**22: 20}  # width -> cubes
LEAGUE = partial(beams, puzzle='cube3', cubes_of=league, widths=WIDTHS, beside=SAID3)
LARGER = partial(beams, puzzle='cube4', cubes_of=random_cubes4, widths={2**18: 50, 2**20: 50}, beside=SAID4)
FIRST = (  # the parts of a group run at once
    (Part('ways', 45, ways),),
    (Part('selftests', 70, selftests), Part('pipeline', 70, pipeline), Part('compiling', 70, compiling)),
    (Part('rates', 50, rates),),
    (Part('cube3', 195, partial(train_network, puzzle='cube3')), Part('table', 195, table)),
    (Part('cube3 beams', 75, LEAGUE),),
    (Part('proofs', 45, proofs),),
)
MORE = (  # what was cut off, and the 4x4x4
    *[(Part('rates', 20, rates),), (Part('cube3 beams', 40, LEAGUE),), (Part('proofs', 20, proofs),)],
    (Part('cube4', 90, partial(train_network, puzzle='cube4')),),
    (Part('cube4 beams', 70, LARGER),),
)


def run_part(work: Work, part: Part) -> None:
    "In a process of its own: a part, its table, and that it is over if it is whole."
    began, whole = perf_counter(), part.function(work)
    pd.DataFrame(kept(work, part.name)).to_csv(work.output / f'{part.name}.csv', index=False)
    spent = {'seconds': round(perf_counter() - began, 1), 'core_seconds': round(sum(os.times()[:4]), 1)}
    if whole:  # seconds of the cores, of all its processes, say what a busy machine's clock does not
        keep(work, 'parts', {'name': part.name} | spent)


def read_arguments():
    "The command line."
    parser = new_parser(__doc__)
    parser.add_argument('--output', type=Path, help='folder; by default runs/gpu, or runs/gpu-dry')
    parser.add_argument('--minutes', type=float, help='of all parts; by default 8, or 4 with --more')
    parser.add_argument('--device', help='by default cuda, or the stand-in in a dry run')
    parser.add_argument('--more', action='store_true', help='what was cut off, and the 4x4x4')
    parser.add_argument('--dry', action='store_true', help='everything small, without a GPU')
    return parser.parse_args()


def main(asked) -> None:
    "Print the plan, and run what is missing of it."
    output = asked.output or ROOT / 'runs' / ('gpu-dry' if asked.dry else 'gpu')
    work = Work(output, asked.device or ('standin' if asked.dry else 'cuda'), asked.dry)
    output.mkdir(parents=True, exist_ok=True)
    groups, minutes = (MORE, 4) if asked.more else (FIRST, 8)
    left = [[part for part in group if missing(work, 'parts', [part.name])] for group in groups]
    plan = {', '.join(part.name for part in group): group for group in left if group}
    share = asked.minutes / minutes if asked.minutes else 5 if asked.dry else 1  # a processor may be busy
    for names, group in plan.items():
        print(f'{share * group[0].seconds:5.0f} s  {names}', flush=True)
    if work.dry:  # what fifteen processes would each import for as long as they then work
        import_module('torch._inductor.compile_fx')
    end = perf_counter()
    for names, group in plan.items():
        end += share * group[0].seconds
        print(f'--- {names}: {end - perf_counter():.0f} s', flush=True)
        mine = work._replace(deadline=end, seconds=share * group[0].seconds)
        for process in [start(mine, run_part, part) for part in group]:
            finish(process, mine.left + GRACE)
        tried = kept(work, 'ways')
        if tried and all('failed' in row for row in tried) and tried[-1]['name'] == WAYS[-1]:
            sys.exit(f'{work.device} takes no step: see {output}/ways.jsonl')
    rows = [(path.stem, row) for path in output.glob('*.jsonl') for row in kept(work, path.stem)]
    print('not as on the host:', [(part, row['name']) for part, row in rows if row.get('passed') is False])
    over = missing(work, 'parts', [part.name for group in groups for part in group])
    print(f'cut off: {", ".join(over)}' if over else 'all parts are over')


if __name__ == '__main__':
    main(read_arguments())
