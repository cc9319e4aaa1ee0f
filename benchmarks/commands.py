"""What somebody waits for at the command line: help, the first solve of a full scramble, and batches of the 2x2x2.

    python benchmarks/commands.py [--batch 100] [--limit 7] [--repeats 3] [--skip-cold]

Each command is a process of its own, timed from its start to the first line of its answer and to its end. Cold has neither
compiled kernels nor tables on disk; warm has those that the cold one left. A batch is a file of random scrambles, given
to three solvers by `--input`; each has solved one before, so that its kernels and tables are on disk. On a machine that has
other work the numbers mean little.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from cube_nb.solving import scramble

BATCHES = dict(bwas=3, mcts=6, alphazero=20)  # solver -> seconds that 100 cubes may take
FIRST = dict(cold=12, warm=2.5)  # seconds to the first answer


def timed(words, **environment):
    "Run a command: (seconds to the first line, seconds to the end, lines of the answer)."
    command = [sys.executable, '-m', 'cube_nb', *words]
    begin = perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    ) as process:
        lines = [process.stdout.readline()]
        first = perf_counter() - begin
        lines += process.stdout.readlines()
    return first, perf_counter() - begin, [line.strip() for line in lines if line.strip()]


def help_seconds(repeats, **folders):
    "The least of some."
    return min(timed(['--help'], **folders)[1] for _ in range(repeats))


def first_solve(limit, seed, **folders):
    "Seconds from the command to the answer to a full scramble, and whether that is one."
    words = ['solve', '--time-limit', str(limit), scramble(seed=seed)]
    first, _, lines = timed(words, **folders)
    return first, lines[0] != 'not solved'


def batch(solver, count, limit, folder, **folders):
    "Seconds for a file of cubes, and how many were solved."
    one, many = Path(folder, 'one.txt'), Path(folder, 'many.txt')
    one.write_text(scramble('cube2', seed=0) + '\n')
    many.write_text(''.join(scramble('cube2', seed=seed) + '\n' for seed in range(1, count + 1)))
    words = ['solve', '--puzzle', 'cube2', '--solver', solver, '--time-limit', str(limit), '--input']
    timed([*words, str(one)], **folders)
    _, seconds, lines = timed([*words, str(many)], **folders)
    return seconds, len(lines) - lines.count('not solved')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--batch', type=int, default=100, help='2x2x2 cubes')
    parser.add_argument('--limit', type=float, default=7, help='seconds for each cube')
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--skip-cold', action='store_true', help='use the kernels and tables of this machine')
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        folders = dict(NUMBA_CACHE_DIR=f'{folder}/kernels', CUBE_NB_CACHE=f'{folder}/tables')
        if asked.skip_cold:
            folders = {}
        print(f'load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores')
        if not asked.skip_cold:
            seconds, solved = first_solve(asked.limit, 0, **folders)
            told = f'{seconds:.1f} s with a limit of {asked.limit:g} s, solved: {solved}'
            print(f'first solve, cold: {told} (promised: {FIRST["cold"]} s to the first answer)', flush=True)
        print(f'--help: {help_seconds(asked.repeats, **folders):.2f} s (promised: 0.3 s)', flush=True)
        for seed in range(1, asked.repeats + 1):
            seconds, solved = first_solve(1, seed, **folders)
            print(f'solve, warm: {seconds:.2f} s with a limit of 1 s, solved: {solved}', flush=True)
        for solver, promised in BATCHES.items():
            seconds, solved = batch(solver, asked.batch, asked.limit, folder, **folders)
            told = f'{seconds:.1f} s (promised for 100: {promised} s)'
            print(f'{solved} of {asked.batch} 2x2x2 by {solver}: {told}', flush=True)


if __name__ == '__main__':
    main()
