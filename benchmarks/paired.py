"""Two checkouts beside each other: the ratio of what each benchmark measures in them.

    python benchmarks/paired.py OLD NEW [--pairs 3] [--only moves,train] [--threads 1] [--output FILE.csv]

Each benchmark is run in the two folders in turn, old, new, old, new, so that a busy moment of the machine
strikes both alike. Every folder runs its own scripts on its own library, once more before, to compile. The
settings make a run last about ten seconds; all of them in three pairs take a quarter of an hour. Moves are
timed by this script, since `moves.py` spends minutes on other libraries.

A ratio above 1 says that the new checkout is faster: it is the ratio of the medians of the rates, and beside
it are the least and the greatest ratio within a pair. `processor seconds` are those of the whole process,
with its start and its reference products, and are compared the other way round.
"""

import argparse
import csv
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

NUMBER = r'([\d,.]+)'
TABLE = '["cube_nb", "table of distances", '


class Benchmark(NamedTuple):
    "A script of the folder `benchmarks`, shortened."

    script: str
    arguments: tuple
    rates: dict  # name -> pattern with a group for the number, or one for a label and one for the number
    fixed_work: bool = (
        True  # whether all runs do the same work, so that their processor seconds can be compared
    )
    inverse: bool = False  # whether the numbers are seconds and not rates


BENCHMARKS = {
    'moves': Benchmark(
        'paired.py', ('--work',), {'states/s': rf'^(\S.*?) +{NUMBER} states/s'}, fixed_work=False
    ),
    'bfs, whole 2x2x2': Benchmark(
        'bfs.py', ('--work', TABLE + '"cube2", null]'), {'seconds': r'"seconds": ([\d.e-]+)'}, inverse=True
    ),
    'bfs, 3x3x3 to depth 7': Benchmark(
        'bfs.py', ('--work', TABLE + '"cube3", 7]'), {'seconds': r'"seconds": ([\d.e-]+)'}, inverse=True
    ),
    'beam': Benchmark('beam.py', ('--width', '8192', '--cubes', '3'), {'nodes/s': rf'{NUMBER} nodes/s'}),
    'mcts': Benchmark(
        'mcts.py',
        ('--cubes', '30', '--searches', '1000', '--plain', '50'),
        {'searches/s': rf'^arrays, +(\d+ leaves).*?: {NUMBER} searches/s'},
    ),
    'selfplay': Benchmark(
        'selfplay.py',
        ('--episodes', '40', '--simulations', '200', '--moves', '3', '--plain', '1'),
        {'simulations/s': rf'^ *(\d+ side by side, \w+): {NUMBER} simulations/s'},
    ),
    'train': Benchmark(
        'train.py',
        (
            '--steps',
            '10',
            '--set',
            'device=cpu',
            '--set',
            'network.hidden=[512,256]',
            '--set',
            'batch_size=1000',
        ),
        {'states/s': rf'{NUMBER} states/s'},
    ),
    'dqn': Benchmark(
        'dqn.py',
        ('--seconds', '1.5'),
        {'a processor second': rf'^(\S.*?\S) +[\d,.]+ a second +{NUMBER}$'},
        fixed_work=False,
    ),
}


def measure(benchmark: Benchmark, folder: Path, threads: int) -> dict:
    "What one run measured: name -> number, greater is faster. Raises `RuntimeError` with its last output."
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = Path(__file__) if benchmark.script == 'paired.py' else folder / 'benchmarks' / benchmark.script
    command = [sys.executable, str(script), *benchmark.arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder, threads), capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout)[-1000:])
    found = {}
    for name, pattern in benchmark.rates.items():
        for match in re.finditer(pattern, done.stdout, re.MULTILINE):
            *label, value = match.groups()
            number = float(value.replace(',', ''))
            found[' '.join([*label, name])] = 1 / number if benchmark.inverse else number
    if not found:
        raise RuntimeError(f'none of the numbers wanted in\n{done.stdout[-1000:]}')
    if benchmark.fixed_work:
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found['processor seconds'] = 1 / used
    return found


def environment(folder: Path, threads: int) -> dict:
    "With the library of a folder, and so many threads that sleep while they wait."
    count = str(threads)
    return os.environ | {
        'PYTHONPATH': str(folder),
        'OMP_NUM_THREADS': count,
        'NUMBA_NUM_THREADS': count,
        'OMP_WAIT_POLICY': 'PASSIVE',
    }


def compare(benchmark: Benchmark, folders: tuple, pairs: int, threads: int) -> list:
    "Rows (what, median of the old, median of the new, ratio, least and greatest ratio of a pair)."
    for folder in folders:
        measure(benchmark, folder, threads)
    runs = [[measure(benchmark, folder, threads) for folder in folders] for _ in range(pairs)]
    rows = []
    for name in runs[0][0]:
        if not all(name in found for pair in runs for found in pair):
            print(f'  not in every run: {name}', flush=True)
            continue
        old, new = ([pair[k][name] for pair in runs] for k in (0, 1))
        each = [b / a for a, b in zip(old, new)]
        rows.append((name, median(old), median(new), median(new) / median(old), min(each), max(each)))
    return rows


def print_row(row: tuple, is_seconds: bool):
    "A line of the table; seconds as seconds."
    name, old, new, *ratios = row
    if is_seconds or name == 'processor seconds':
        old, new = 1 / old, 1 / new
    ratio, least, greatest = ratios
    print(f'  {name:66} {old:14,.2f} {new:14,.2f} {ratio:6.3f}  ({least:.3f} to {greatest:.3f})', flush=True)


def main(folders: tuple, pairs: int, only: list, threads: int, output: str | None) -> bool:
    "Print the table; whether every benchmark ran in both folders."
    failed = False
    table = []
    load = os.getloadavg()[0]
    print(f'{os.cpu_count()} cores, load {load:.1f}, {threads} threads, {pairs} pairs; above 1: faster')
    for name, benchmark in BENCHMARKS.items():
        if only and name.split(',')[0] not in only:
            continue
        print(name, flush=True)
        try:
            rows = compare(benchmark, folders, pairs, threads)
        except RuntimeError as error:
            failed = True
            print(f'  failed: {error}', flush=True)
            continue
        for row in rows:
            print_row(row, benchmark.inverse)
        table.extend((name, *row) for row in rows)
    report_least(table)
    if output:
        with open(output, 'w', newline='') as file:
            writer = csv.writer(file)
            writer.writerow(['benchmark', 'what', 'old', 'new', 'ratio', 'least', 'greatest'])
            writer.writerows(table)
    return not failed


def report_least(table: list):
    "The slowest of all, by ratio."
    if table:
        name, what, _, _, ratio, *_ = min(table, key=lambda row: row[4])
        print(f'{len(table)} figures; the least ratio is {ratio:.3f}: {name}, {what}')


def time_moves(count: int = 200_000, seconds: float = 1.0):
    "Print the states a second of the operations that everything is built on, of the library of this process."
    import numpy as np
    from cube_nb.cube.puzzle import get_puzzle

    for name in ('cube3', 'cube2'):
        puzzle = get_puzzle(name)
        states = puzzle.scramble(count, 20, seed=2).states
        moves = np.random.default_rng(3).integers(0, puzzle.num_moves, count)
        out = np.empty_like(states)
        tasks = {
            'a move for each state': lambda p=puzzle, s=states, m=moves, o=out: p.apply(s, m, o),
            'one move for all': lambda p=puzzle, s=states, o=out: p.apply(s, 3, o),
            'one word for all': lambda p=puzzle, s=states, m=moves: p.apply_word(s, m[:20]),
            'scrambles': lambda p=puzzle: p.scramble(count // 4, 20),
            'neighbours': lambda p=puzzle, s=states: p.neighbours(s[: count // 20]),
            'which are solved': lambda p=puzzle, s=states: p.is_solved(s),
        }
        sizes = {'scrambles': count // 4, 'neighbours': count // 20}
        for task, run in tasks.items():
            run()
            start, calls = perf_counter(), 0
            while perf_counter() - start < seconds:
                run()
                calls += 1
            rate = calls * sizes.get(task, count) / (perf_counter() - start)
            print(f'{name}, {task:30} {rate:,.0f} states/s')


if __name__ == '__main__':
    if sys.argv[1:] == ['--work']:
        sys.exit(time_moves())
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('old', type=Path, help='a checkout')
    parser.add_argument('new', type=Path, help='another')
    parser.add_argument('--pairs', type=int, default=3, help='counted runs in each folder')
    parser.add_argument('--only', default='', help='benchmarks, with commas between them')
    parser.add_argument('--threads', type=int, default=1, help='of Numba and torch')
    parser.add_argument('--output', help='write the rates and ratios to this CSV file')
    args = parser.parse_args()
    folders = args.old.resolve(), args.new.resolve()
    only = [name for name in args.only.split(',') if name]
    unknown = set(only) - {name.split(',')[0] for name in BENCHMARKS}
    if unknown or args.pairs < 1:
        parser.error(f'unknown benchmark {min(unknown)!r}' if unknown else 'expected at least one pair')
    sys.exit(not main(folders, args.pairs, only, args.threads, args.output))
