"""What somebody waits for at the command line: help, the first solve of a full scramble, and batches of the 2x2x2.

    python benchmarks/commands.py [--batch 100] [--limit 7] [--repeats 3] [--skip-cold]

Each command is a process of its own, timed from its start to its end; a solve also to the first answer, which is when the bar
on a terminal shows the length of a solution. Cold has neither compiled kernels nor tables on disk; warm has those that the
cold one left. A batch is a file of random scrambles, given
to three solvers by `--input`; each has solved one before, so that its kernels and tables are on disk. On a machine that has
other work the numbers mean little.
"""

import argparse
import os
import subprocess
import sys
import termios
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from cube_nb.solving import scramble

BATCHES = dict(bwas=3, mcts=6, alphazero=20)  # solver -> seconds that 100 cubes may take
FIRST = dict(cold=12, warm=2.5)  # seconds to the first answer
COMMAND = [sys.executable, '-m', 'cube_nb']


def timed(words, **environment):
    "Run a command: (seconds to the end, lines of the answer)."
    begin = perf_counter()
    done = subprocess.run([*COMMAND, *words], stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    lines = done.stdout.splitlines()
    return perf_counter() - begin, [line.strip() for line in lines if line.strip()]


def help_seconds(repeats, **folders):
    "The least of some."
    return min(timed(['--help'], **folders)[0] for _ in range(repeats))


def shown_after(terminal, begin):
    "Seconds until the bar shows the length of a solution; nan if the terminal is closed before."
    shown = b''
    while b'best ' not in shown:
        try:
            shown += os.read(terminal, 1000)
        except OSError:
            return float('nan')
    return perf_counter() - begin


def first_solve(limit, seed, **folders):
    "Seconds from the command to the first answer to a full scramble and to the last, and whether that is one."
    words = [*COMMAND, 'solve', '--time-limit', str(limit), scramble(seed=seed)]
    terminal, inside = os.openpty()
    termios.tcsetwinsize(inside, (24, 80))
    begin = perf_counter()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=inside, text=True, env=os.environ | folders
    ) as process:
        os.close(inside)
        first = shown_after(terminal, begin)
        answer = process.stdout.read().strip()
    os.close(terminal)
    return first, perf_counter() - begin, answer not in ('', 'not solved')


def solve_line(kind, limit, seed, **folders):
    "What is printed of one solve."
    first, seconds, solved = first_solve(limit, seed, **folders)
    told = f'first answer after {first:.1f} s (promised: {FIRST[kind]} s), end after {seconds:.1f} s'
    return f'solve, {kind}, limit {limit:g} s: {told}, solved: {solved}'


def batch(solver, count, limit, folder, **folders):
    "Seconds for a file of cubes, and how many were solved."
    one, many = Path(folder, 'one.txt'), Path(folder, 'many.txt')
    one.write_text(scramble('cube2', seed=0) + '\n')
    many.write_text(''.join(scramble('cube2', seed=seed) + '\n' for seed in range(1, count + 1)))
    words = ['solve', '--puzzle', 'cube2', '--solver', solver, '--time-limit', str(limit), '--input']
    timed([*words, str(one)], **folders)
    seconds, lines = timed([*words, str(many)], **folders)
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
            print(solve_line('cold', asked.limit, 0, **folders), flush=True)
        print(f'--help: {help_seconds(asked.repeats, **folders):.2f} s (promised: 0.3 s)', flush=True)
        for seed in range(1, asked.repeats + 1):
            print(solve_line('warm', 1, seed, **folders), flush=True)
        for solver, promised in BATCHES.items():
            seconds, solved = batch(solver, asked.batch, asked.limit, folder, **folders)
            told = f'{seconds:.1f} s (promised for 100: {promised} s)'
            print(f'{solved} of {asked.batch} 2x2x2 by {solver}: {told}', flush=True)


if __name__ == '__main__':
    main()
