"""Breadth-first search: cube_nb beside cayleypy, on this machine, in seconds and peak memory.

    python benchmarks/bfs.py [--depth 7] [--runs 3] [--output FILE.csv]

Two tasks: the whole 2x2x2 (3,674,160 states) and the 3x3x3 to a depth, in quarter turns. Each run is a process of its own, which
warms up on depth 2 first (compilers, allocators), so that its peak memory is that of one search; what it holds after the
warm-up is subtracted. Libraries take turns, so that a busy moment of the machine strikes them alike, and the best of the runs counts.

What is left at the end is not the same. cube_nb keeps every state in a table that answers "how deep is this state?".
cayleypy keeps two layers of hashes while it counts; with `return_all_hashes` it keeps a hash of every state, which is
nearest to ours, and both are measured. On the 2x2x2 cayleypy holds one corner still (its `fixed_QTM`), so it need not ask, as
we do, which of 24 orientations a state is held in. It runs in its default form, with states packed in 64-bit words, which is both
quicker and smaller than its facelets. Its `bfs_numpy` takes neither puzzle, for it wants states of a single word.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from importlib.metadata import version
from time import perf_counter

TASKS = {'2x2x2, whole': ('cube2', None), '3x3x3, to depth {depth}': ('cube3', 'depth')}
COLUMNS = ['task', 'library', 'form', 'states', 'seconds', 'states a second', 'peak MiB']


def ours(puzzle):
    from cube_nb.cube.puzzle import get_puzzle
    from cube_nb.depth.bfs import bfs

    return lambda depth: bfs(get_puzzle(puzzle), depth).counts.tolist()


def theirs(puzzle, **options):
    from cayleypy import CayleyGraph, Puzzles

    definition = (
        Puzzles.rubik_cube(2, metric='fixed_QTM')
        if puzzle == 'cube2'
        else Puzzles.rubik_cube(3, metric='QTM')
    )
    graph = CayleyGraph(definition, device='cpu')
    return lambda depth: (
        graph.bfs(**options, **({} if depth is None else {'max_diameter': depth})).layer_sizes
    )


FORMS = {
    ('cube_nb', 'table of distances'): ours,
    ('cayleypy', 'counts alone'): theirs,
    ('cayleypy', 'all hashes'): lambda puzzle: theirs(puzzle, return_all_hashes=True),
}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(library, form, puzzle, depth):
    "One search in this process, as a line of JSON."
    search = FORMS[library, form](puzzle)
    search(2)
    before, start = peak(), perf_counter()
    layers = search(depth)
    print(json.dumps(dict(layers=layers, seconds=perf_counter() - start, memory=peak() - before)))


def measure(*words):
    done = subprocess.run(
        [sys.executable, __file__, '--work', json.dumps(words)], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f'{words} failed:\n{done.stderr}')
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--depth', type=int, default=7, help='of the search on the 3x3x3')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--output', help='write the table to this CSV file')
    parser.add_argument('--work', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        return work(*json.loads(arguments.work))
    import pandas as pd

    rows = []
    for task, (puzzle, depth) in TASKS.items():
        depth = depth and arguments.depth
        runs = [{key: measure(*key, puzzle, depth) for key in FORMS} for _ in range(arguments.runs)]
        layers = {tuple(result['layers']) for run in runs for result in run.values()}
        assert len(layers) == 1, f'the libraries disagree on the counts: {layers}'
        for key in FORMS:
            seconds, states = min(run[key]['seconds'] for run in runs), sum(runs[0][key]['layers'])
            rows.append(
                [
                    task.format(depth=depth),
                    *key,
                    states,
                    round(seconds, 2),
                    round(states / seconds),
                    round(min(run[key]['memory'] for run in runs)),
                ]
            )
    table = pd.DataFrame(rows, columns=COLUMNS)
    print(
        f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; cayleypy {version("cayleypy")}; best of {arguments.runs} runs\n'
    )
    print(table.to_markdown(index=False, intfmt=',', floatfmt='.2f'))
    if arguments.output:
        table.to_csv(arguments.output, index=False)


if __name__ == '__main__':
    main()
