"""What a GPU does with this library, in pieces of at most ten minutes, each of which keeps its numbers.

    python benchmarks/gpu.py trainers [--output runs/gpu] [--minutes 8]
    python benchmarks/gpu.py searches
    python benchmarks/gpu.py network
    python benchmarks/gpu.py lengths

`trainers`: the step of each method at the size of its paper: states a second, the share of the peak of a large
matrix product, milliseconds that the host needs, waits for the device, graphs, memory. Operations are those of
the matrix products of one step, forward and backward, of all networks that it asks.
`searches`: nodes a second of each search, with the shipped network and the larger one, alone and as several
processes that share the device.
`network`: trains the large network of the beam from committed weights, as long as the minutes allow, with a
learning rate that falls to its end in that time. Called again, it goes on from what it left in the output.
`lengths`: beams with each of the networks on the first cubes of the league, whose shortest solutions are proven.
A row of OUTPUT/lengths.csv is one cube.

Each other row is added to OUTPUT/gpu.jsonl as soon as it is there. What is in the file is not measured again, and what
there is no time for is named. It needs what the library needs and nothing that makes notebooks; `--tiny` runs all
of it in seconds on a processor.
"""

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter, strftime
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from kept_rows import add_row, excess_columns
from kept_rows import read_rows as read_kept

from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.loop import Budget, Learner, TrainingFailed, describe, get_method, read_config, train
from cube_nb.nets.networks import network_evaluator, pick_device
from cube_nb.nets.weights import load_network, save_network
from cube_nb.search.core import get_solver
from cube_nb.search.selfplay import SelfPlay, alphazero_rules, play_games

ROOT = Path(__file__).parents[1]
SMALL = 'cube3-walks'
LARGE = str(ROOT / 'data/weights/cube3-walks-large.safetensors')


class Work(NamedTuple):
    "Where numbers go, and until when there is time."

    device: torch.device
    output: Path
    deadline: float  # of `perf_counter`
    tiny: bool

    @property
    def rows_path(self) -> Path:
        "The file of all rows."
        return self.output / 'gpu.jsonl'


# --- what is kept -------------------------------------------------------------------------------------------


def machine(device: torch.device) -> dict:
    "What was computed on."
    cuda = device.type == 'cuda'
    name = torch.cuda.get_device_name(device) if cuda else f'{torch.get_num_threads()} threads'
    return {'device': name, 'torch': torch.__version__, 'when': strftime('%Y-%m-%d %H:%M')}


def read_rows(work: Work) -> list[dict]:
    "The rows that are there."
    if not work.rows_path.exists():
        return []
    return [json.loads(line) for line in work.rows_path.read_text().splitlines()]


def keep(work: Work, row: dict) -> None:
    "Add a row to the file, and show it."
    with work.rows_path.open('a') as file:
        file.write(json.dumps(row | machine(work.device)) + '\n')
    shown = {key: f'{value:,.4g}' if isinstance(value, float) else value for key, value in row.items()}
    print('; '.join(f'{key} {value}' for key, value in shown.items()), flush=True)


def measure(work: Work, piece: str, items: dict[str, Callable]) -> None:
    "Measure what is not there yet, as long as there is time. What fails is a row that says why."
    there = {(row['piece'], row['name']) for row in read_rows(work)}
    for name, item in items.items():
        if (piece, name) in there:
            print(f'{name}: measured before', flush=True)
        elif perf_counter() > work.deadline:
            print(f'{name}: no time left', flush=True)
        else:
            keep(work, {'piece': piece, 'name': name} | outcome(work, item))


def outcome(work: Work, item: Callable) -> dict:
    "What an item says, with the memory that it took."
    if work.device.type == 'cuda':
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(work.device)
    try:
        row = item(work)
    except (RuntimeError, ValueError, TypeError, torch.OutOfMemoryError) as error:
        row = {'failed': f'{type(error).__name__}: {error}'.splitlines()[0][:300]}
    if work.device.type == 'cuda':
        row['gpu_mb'] = torch.cuda.max_memory_allocated(work.device) // 2**20
    return row


# --- trainers -----------------------------------------------------------------------------------------------

TRAINERS = {  # name -> method, its configuration, what differs from it
    'davi, 3x3x3, paper': ('davi', 'davi-cube3-paper'),
    'davi, 2x2x2, paper': ('davi', 'davi-cube3-paper', 'network.puzzle=cube2'),
    'adi, 2x2x2, K = 200, book': ('adi', 'adi-cube2-zero-goal'),
    'adi, 3x3x3, buffer, book': ('adi', 'adi-cube3-zero-goal'),
    'walks, large': ('walks', 'walks-cube3-gpu'),
    'walks, as large as the paper': ('walks', 'walks-cube3-a100'),
    'dqn, pieces': ('dqn', 'dqn-cube3-best', 'network.hidden=[4096, 1024]', 'batch_size=10000'),
    'dqn, pictures': ('dqn', 'dqn-cube3-pictures'),
    'alphazero, learning': ('alphazero', 'alphazero-cube2', 'simulations={1: 20}', 'max_moves=5'),
}
TINY = dict(batch_size=16, iterations=50, buffer=500, refresh=5, episodes=8, updates=30, checkpoint_every=25)
TINY |= dict(warmup=4, start='null')


def config_of(work: Work, method: str, name: str, *changes: str):
    "A configuration with changes, on the device."
    path = ROOT / f'workflow/configs/{name}.yaml'
    return read_config(get_method(method).config, path, [f'device={work.device}', *changes])


def learner_of(work: Work, method: str, name: str, *changes: str) -> Learner:
    "A training at the size of its paper."
    if work.tiny:
        known = get_method(method).config.model_fields
        changes += tuple(f'{key}={value}' for key, value in TINY.items() if key in known)
        changes += ('network.hidden=[16]', 'network.blocks=0')
    config = config_of(work, method, name, *changes)
    if config.start and '/' in config.start:
        config = config.model_copy(update={'start': str(ROOT / config.start)})
    return get_method(method).learner(config)


def synchronise(device: torch.device) -> None:
    "Wait for all that was started on the device."
    if device.type == 'cuda':
        torch.cuda.synchronize(device)


def timed(device: torch.device, function: Callable) -> tuple[float, object]:
    "How long a call takes, with all that it started on the device, and what it returns."
    synchronise(device)
    start = perf_counter()
    answer = function()
    synchronise(device)
    return perf_counter() - start, answer


def seconds(device: torch.device, function: Callable) -> float:
    "How long a call takes, with all that it started on the device."
    return timed(device, function)[0]


def peak(device: torch.device, dtype: torch.dtype, size: int) -> float:
    "Operations a second of a large matrix product, the best of ten."
    a = torch.randn(size, size, device=device).to(dtype)
    return 2 * size**3 / min(seconds(device, lambda: a @ a) for _ in range(10))


def take_steps(learner: Learner, count: int) -> None:
    "Steps of a training, all of each."
    for _ in range(count):
        learner.after_step(learner.take_step())


def step_operations(learner: Learner) -> int:
    "Multiplications and additions of the matrix products of one step, counted without compiling."
    from torch.utils.flop_counter import FlopCounterMode  # slow to import

    with torch.compiler.set_stance('force_eager'), FlopCounterMode(display=False) as counter:
        take_steps(learner, 1)
    return counter.get_total_flops()


def waits_of(device: torch.device, function: Callable) -> int:
    "How often the host waits for the device while a function runs; -1 where there is none."
    if device.type != 'cuda':
        function()
        return -1
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        torch.cuda.set_sync_debug_mode('warn')
        function()
        torch.cuda.set_sync_debug_mode('default')
    return sum('synchroniz' in str(warning.message) for warning in said)


def host_seconds(device: torch.device, function: Callable) -> float:
    "How long a call takes until it has started all that it asks of the device."
    synchronise(device)
    start = perf_counter()
    function()
    spent = perf_counter() - start
    synchronise(device)
    return spent


def trainer(name: str) -> Callable:
    "What measures a training."

    def item(work: Work) -> dict:
        from torch._dynamo.utils import counters  # slow to import

        torch.compiler.reset()  # graphs of other trainings count towards a limit
        counters.clear()
        learner = learner_of(work, *TRAINERS[name])
        compiling = seconds(work.device, lambda: take_steps(learner, 3))
        each = seconds(work.device, lambda: take_steps(learner, 2)) / 2
        count = 2 if work.tiny else int(np.clip(6 / each, 3, 300))
        each = seconds(work.device, lambda: take_steps(learner, count)) / count
        graphs = counters['stats']['unique_graphs']
        operations = step_operations(learner)
        sizes = dict(cuda=8192, cpu=256 if work.tiny else 4096)
        top = peak(work.device, learner.dtype, sizes[work.device.type])
        return {
            'states_per_second': learner.config.batch_size / each,
            'step_ms': 1e3 * each,
            'host_ms': 1e3 * host_seconds(work.device, lambda: take_steps(learner, 1)),
            'gflop_a_step': operations / 1e9,
            'share_of_peak': operations / each / top,
            'peak_tflops': top / 1e12,
            'waits_a_step': waits_of(work.device, lambda: take_steps(learner, 1)),
            'graphs': graphs,
            'first_steps_s': compiling,
            'steps': count,
        }

    return item


# --- searches -----------------------------------------------------------------------------------------------


def searched(model: str, solver: str, cubes: int, **options) -> Callable:
    "What measures a search of full scrambles of the network's puzzle, after a short one."

    def item(work: Work) -> dict:
        network = load_network(model)
        evaluator = network_evaluator(network, str(work.device))
        solve = get_solver(solver)
        states = network.puzzle.scramble(cubes, 100, seed=0).states
        solve(network.puzzle, network.puzzle.scramble(1, 3, seed=1).states, evaluator, **options)
        spent, found = timed(work.device, lambda: solve(network.puzzle, states, evaluator, **options))
        nodes = sum(answer.generated for answer in found)
        solved = [len(answer.moves) for answer in found if answer.solved]
        return {
            'nodes_per_second': nodes / spent,
            'seconds_a_cube': spent / cubes,
            'solved': len(solved) / cubes,
            'mean_length': float(np.mean(solved)) if solved else None,
        }

    return item


def many_processes(count: int, name: str) -> Callable:
    "What measures so many processes at once, each of which does the search of that name."

    def item(work: Work) -> dict:
        command = [sys.executable, __file__, 'one', '--name', name, '--device', str(work.device)]
        command += ['--output', str(work.output)] + ['--tiny'] * work.tiny
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        said = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            raise RuntimeError('a process failed')
        rates = [json.loads(text.splitlines()[-1])['nodes_per_second'] for text in said]
        return {'nodes_per_second': sum(rates), 'processes': count}

    return item


def games_played(games: int, simulations: int) -> Callable:
    "What measures self-play on the 2x2x2, so many games side by side."

    def item(work: Work) -> dict:
        network = load_network('cube2-alphazero')
        evaluator = network_evaluator(network, str(work.device))
        states = network.puzzle.scramble(games, 12, seed=0).states
        settings = SelfPlay(simulations=simulations, max_moves=2)
        rules = alphazero_rules(1.5)
        play_games(network.puzzle, states[:4], evaluator, rules, SelfPlay(simulations=2, max_moves=1))
        play = partial(play_games, network.puzzle, states, evaluator, rules, settings)
        spent, played = timed(work.device, play)
        return {'simulations_per_second': played.searches / spent, 'games': games}

    return item


def agreement(work: Work) -> dict:
    "How far the estimates of the device are from those of the processor in float32."
    states = get_puzzle('cube3').scramble(64 if work.tiny else 2000, 30, seed=0).states
    network = load_network(SMALL)
    here = network_evaluator(network, 'cpu', torch.float32)(states).values
    rows = {}
    for dtype in (torch.float32, torch.bfloat16):
        there = network_evaluator(network, str(work.device), dtype)(states).values
        rows[f'largest_difference_{dtype}'.replace('torch.', '')] = float(np.abs(there - here).max())
    return rows


def searches(tiny: bool) -> dict[str, Callable]:
    "What is measured of searches."
    few = 1 if tiny else 3
    nodes = 30_000 if tiny else 10_000_000
    batch = 1000 if tiny else 10_000
    items = {'agreement': agreement}
    for width in (64,) if tiny else (2**14, 2**16, 2**18):
        items[f'beam, small network, width {width}'] = searched(SMALL, 'beam', few, width=width)
    width = 64 if tiny else 2**16
    items[f'beam, large network, width {width}'] = searched(LARGE, 'beam', few, width=width)
    items['weighted A*'] = searched(SMALL, 'bwas', few, batch_size=batch, max_nodes=nodes, weight=0.6)
    items['mcts'] = searched('cube2-davi', 'mcts', 4 if tiny else 1000, max_searches=20 if tiny else 300)
    for games in (8,) if tiny else (80, 2000):
        items[f'self-play, {games} games'] = games_played(games, 4 if tiny else 50)
    for count in (2,) if tiny else (4, 8):
        items[f'weighted A*, {count} processes'] = many_processes(count, 'weighted A*')
    return items


# --- the large network --------------------------------------------------------------------------------------


def newest_weights(work: Work) -> str:
    "What an earlier piece left, or else what is committed."
    own = work.output / 'cube3-walks-gpu.safetensors'
    return str(own) if own.exists() else LARGE


def train_large(work: Work, learning_rate: float) -> None:
    "Train until the deadline, and keep the weights beside the rows."
    changes = [f'start={json.dumps(newest_weights(work))}', 'log_every=500']
    changes += [f'learning_rate={learning_rate}', f'final_learning_rate={learning_rate / 100}']
    changes += [f'seed={int(perf_counter() * 1000) % 2**31}']  # other walks in each piece
    if work.tiny:
        changes += ['batch_size=64', 'network.hidden=[2048, 512]']
    config = config_of(work, 'walks', 'walks-cube3-gpu', *changes)
    learner = get_method('walks').learner(config)
    began = perf_counter()
    left = max(0.0, work.deadline - began)
    log = train(
        learner, progress=False, budget=Budget(seconds=0.5 if work.tiny else left, clock=perf_counter)
    )
    spent = perf_counter() - began
    about = describe(learner, log)
    save_network(learner.network, work.output / 'cube3-walks-gpu.safetensors', about)
    states = learner.step * config.batch_size
    row = dict(piece='network', name='walks, large', start=Path(config.start).name, steps=learner.step)
    keep(work, row | dict(states=states, states_per_second=states / spent, loss=about.get('loss')))


# --- lengths of solutions ------------------------------------------------------------------------------------

LENGTHS = ['device', 'cube', 'network', 'width', 'optimal', 'length', 'seconds', 'nodes', 'solution']


def networks_there(work: Work) -> dict[str, str]:
    "The networks of the beam, by name: what `network` has left in the output is one of them."
    own = work.output / 'cube3-walks-gpu.safetensors'
    return {SMALL: SMALL, 'cube3-walks-large': LARGE} | ({own.stem: str(own)} if own.exists() else {})


def measure_lengths(work: Work, count: int) -> None:
    "Beams on the first cubes of the league, a row of OUTPUT/lengths.csv for each: the narrow ones first."
    path = work.output / 'lengths.csv'
    there = read_kept(path, LENGTHS)
    seen = set(zip(there.network, there.width, there.cube))
    cubes = pd.read_csv(ROOT / 'data/test/cube3_league.csv').head(2 if work.tiny else count)
    widths = (64, 128) if work.tiny else (2**16, 2**18, 2**20, 2**22)
    networks = {name: load_network(model) for name, model in networks_there(work).items()}
    evaluators = {name: network_evaluator(network, str(work.device)) for name, network in networks.items()}
    for width, network in product(widths, evaluators):
        left = [cube for cube in cubes.index if (network, width, cube) not in seen]
        for row in beams_of(work, cubes.loc[left], evaluators[network], width):
            add_row(path, LENGTHS, row | {'network': network})
    rows = read_kept(path, LENGTHS)
    by = ['width', 'network']
    means = rows.groupby(by)[['length', 'seconds', 'nodes']].mean()
    excess = pd.DataFrame({key: excess_columns(part) for key, part in rows.groupby(by)}).T.rename_axis(by)
    print(means.join(excess).assign(cubes=rows.groupby(by).size()).to_string(), flush=True)


def beams_of(work: Work, cubes: pd.DataFrame, evaluator: Callable, width: int) -> Iterator[dict]:
    "A row for each cube, without the name of the network, as long as there is time."
    solve, puzzle = get_solver('beam'), get_puzzle('cube3')
    if len(cubes):
        solve(puzzle, puzzle.scramble(1, 100, seed=0).states, evaluator, width=width)  # compiles
    for cube, row in cubes.iterrows():
        if perf_counter() > work.deadline:
            return
        (found,) = solve(puzzle, from_string(puzzle, [row.state]), evaluator, width=width)
        about = dict(device=machine(work.device)['device'], cube=cube, width=width, optimal=row.optimal_qtm)
        length = len(found) if found.solved else None
        yield about | dict(length=length, seconds=found.seconds, nodes=found.generated, solution=found)


# --- the command --------------------------------------------------------------------------------------------


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    "The command line, or what stands for it."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('piece', choices=['trainers', 'searches', 'network', 'lengths', 'one'])
    parser.add_argument('--output', type=Path, default=Path('runs/gpu'), help='folder of rows and weights')
    parser.add_argument('--minutes', type=float, default=8, help='after which nothing more is begun')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--learning-rate', type=float, default=1e-3, help='of `network`, at its start')
    parser.add_argument('--cubes', type=int, default=150, help='of `lengths`, from the first')
    parser.add_argument('--name', help='of `one`: the search whose rate is printed')
    parser.add_argument('--tiny', action='store_true', help='sizes for a test on a processor')
    return parser.parse_args(words)


def main(asked: argparse.Namespace) -> None:
    "Do one piece."
    asked.output.mkdir(parents=True, exist_ok=True)
    deadline = perf_counter() + 60 * asked.minutes
    work = Work(pick_device(asked.device), asked.output, deadline, asked.tiny)
    if asked.piece == 'trainers':
        measure(work, 'trainers', {name: trainer(name) for name in TRAINERS})
    elif asked.piece == 'searches':
        measure(work, 'searches', searches(work.tiny))
    elif asked.piece == 'lengths':
        measure_lengths(work, asked.cubes)
    elif asked.piece == 'one':
        print(json.dumps(searches(work.tiny)[asked.name](work)))
    else:
        train_large(work, asked.learning_rate)


if __name__ == '__main__':
    try:
        main(read_arguments())
    except (TrainingFailed, ValueError) as error:
        sys.exit(str(error))
