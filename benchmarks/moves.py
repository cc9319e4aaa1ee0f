"""Moves and scrambles a second: cube_nb beside pycuber, magiccube and cayleypy, on this machine.

    python benchmarks/moves.py [--count 1000000] [--runs 5] [--threads N] [--output FILE.csv]

Four tasks on the 3x3x3: a different move for each state, one move for all, one word of 20 moves for all, scrambles of
20 moves. First every library is checked against cube_nb (the same moves on the same states, walks that are real); then
all are timed in turn, round after round, so that a busy moment of the machine strikes them alike. On a machine with
other work, `--threads 1` and the ratio of the best runs say most: threads that wait for each other suffer from it more.
Libraries that hold one cube in one object run on fewer states, and cayleypy's walks on fewer too; rates are compared.

cayleypy gets the fastest form found for it. It has two representations, `bit_encoding_width=None` (a tensor of the
facelets; we give it uint8, as ours) and the default, which packs a cube in three 64-bit words. Words are small and
quick to permute, but say nothing about a facelet until they are decoded, so they stand in rows of their own. It has no
call for a different move for each state; we do what its own `random_walks` does inside, one masked call a generator.
Calls are made on chunks of a size that was tried out before (`fastest`), as large batches leave the caches.
"""

import argparse
import os
from importlib.metadata import version
from statistics import median
from time import perf_counter

import magiccube
import numba
import numpy as np
import pandas as pd
import pycuber
import torch
from cayleypy import CayleyGraph, Puzzles
from magiccube.cube_move import CubeMove

from cube_nb.cube.geometry import FACES

from cube_nb.cube.puzzle import get_puzzle

DEPTH = 20
EACH, ONE, WORD, SCRAMBLE = TASKS = (
    'a move for each state',
    'one move for all',
    'one word for all',
    'scrambles',
)
CUBE = get_puzzle('cube3')
CHUNKS = 16_384, 65_536, 262_144  # states a call of cayleypy, besides all at once
SMALL, WALKS = 2000, 50_000  # cubes as objects; random walks of cayleypy
WIDTHS = 2000, 10_000, 50_000  # walks a call of cayleypy

# ---- cayleypy: the same cube with the faces in another order and the moves under other names

DEFINITION = Puzzles.rubik_cube(3, metric='QTM')
GRAPHS = {
    'packed words': CayleyGraph(DEFINITION, device='cpu'),
    'facelets': CayleyGraph(DEFINITION, device='cpu', bit_encoding_width=None),
}
ORDER = np.concatenate(
    [np.arange(9) + 9 * FACES.index(face) for face in 'UFRBLD']
)  # ORDER[theirs] = our facelet


def our_move():
    "For each generator of cayleypy the move of ours that it is."
    index = {tuple(np.argsort(ORDER)[move[ORDER]]): a for a, move in enumerate(CUBE.moves)}
    return np.array([index[tuple(generator)] for generator in DEFINITION.generators])


def represent(graph, states):
    "Our states as cayleypy holds them: packed from int64 (narrower integers overflow in its encoder), or uint8 facelets."
    theirs = torch.from_numpy(states[:, ORDER])
    return graph.encode_states(theirs.long()) if graph.string_encoder else graph.encode_states(theirs)


def one_generator(graph, states, generator, chunk):
    "A generator on all states, a chunk at a time."
    after = torch.zeros_like(states)  # packed words are or-ed into it
    for start in range(0, len(states), chunk):
        graph.apply_generator_batched(generator, states[start : start + chunk], after[start : start + chunk])
    return after


def each_generator(graph, states, generators, chunk):
    "A generator for each state, a chunk at a time: one masked call a generator, as in cayleypy's `random_walks`."
    after = torch.empty_like(states)
    for start in range(0, len(states), chunk):
        part, which = states[start : start + chunk], generators[start : start + chunk]
        for g in range(DEFINITION.n_generators):
            mask = which == g
            before = part[mask]
            moved = torch.zeros_like(before)
            graph.apply_generator_batched(g, before, moved)
            after[start : start + chunk][mask] = moved
    return after


def word(graph, states, generators, chunk):
    "The same generators on all states, a chunk at a time."
    after = torch.empty_like(states)
    for start in range(0, len(states), chunk):
        part = states[start : start + chunk]
        for g in generators:
            part = one_generator(graph, part, g, chunk)
        after[start : start + chunk] = part
    return after


def walks(graph, count, chunk):
    "Random walks, the states after the last step."
    return torch.cat(
        [graph.random_walks(width=chunk, length=DEPTH + 1)[0][-chunk:] for _ in range(0, count, chunk)]
    )


# ---- do they agree?


def pycuber_facelets(cube):
    faces = [[square.colour for row in cube.get_face(face) for square in row] for face in FACES]
    return np.array([[face[4] for face in faces].index(colour) for face in faces for colour in face])


def magiccube_facelets(cube):
    return np.array([FACES.index(face) for face in cube.get_kociemba_facelet_positions()])


def check(count=1000):
    "Every library makes the same of the same words; cayleypy's walks go from neighbour to neighbour."
    states, words, _ = CUBE.scramble(count, DEPTH, seed=1)
    for state, moves in zip(states[:50], words):
        names = ' '.join(CUBE.move_names[a] for a in moves)
        magic = magiccube.Cube(3, hist=False)
        magic.rotate(names)
        assert (pycuber_facelets(pycuber.Cube()(names)) == state).all()
        assert (magiccube_facelets(magic) == state).all()
    generators = torch.from_numpy(words[:, 0].astype(np.int64))
    for graph in GRAPHS.values():
        inside = represent(graph, states)
        for after, moves in (
            (each_generator(graph, inside, generators, 300), our_move()[generators]),
            (one_generator(graph, inside, 3, 300), our_move()[3]),
        ):
            assert (graph.decode_states(after).numpy() == CUBE.apply(states, moves)[:, ORDER]).all()
        after = graph.decode_states(word(graph, inside, words[0], 300)).numpy()
        assert (after == CUBE.apply_word(states, our_move()[words[0]])[:, ORDER]).all()
        steps = graph.random_walks(width=count, length=DEPTH + 1)[0].reshape(DEPTH + 1, count, -1).numpy()
        steps = CUBE.solved[ORDER[::9]][
            steps[..., np.argsort(ORDER)]
        ]  # their colours are numbered in their order of faces
        assert (steps[0] == CUBE.solved).all()
        for before, after in zip(steps, steps[1:]):
            assert (CUBE.neighbours(before) == after[:, None]).all(-1).any(-1).all()
    for moves, state in zip(words, states):
        assert (CUBE.apply_word(CUBE.solved, moves) == state).all()


# ---- the contestants: (task, library, how, count, threads, function)


def seconds(function):
    start = perf_counter()
    function()
    return perf_counter() - start


def fastest(function, *args, sizes):
    "The call with the chunk size that was quickest when tried, and that size."
    timed = {}
    for size in sizes:
        function(*args, size)
        timed[size] = min(seconds(lambda: function(*args, size)) for _ in range(2))
    best = min(timed, key=timed.get)
    return lambda: function(*args, best), best


def contestants(count):
    states = CUBE.scramble(count, DEPTH, seed=2).states
    moves = np.random.default_rng(3).integers(0, CUBE.num_moves, count)
    turns = moves[:DEPTH]
    cores = {
        'pycuber': 1,
        'magiccube': 1,
        'cube_nb': numba.get_num_threads(),
        'cayleypy': torch.get_num_threads(),
    }
    rows = []

    def add(task, library, how, n, function):
        rows.append((task, library, how, n, cores[library], function))

    out = np.empty_like(states)
    add(EACH, 'cube_nb', 'apply', count, lambda: CUBE.apply(states, moves, out))
    add(ONE, 'cube_nb', 'apply', count, lambda: CUBE.apply(states, 3, out))
    add(WORD, 'cube_nb', 'apply_word', count, lambda: CUBE.apply_word(states, turns))
    add(SCRAMBLE, 'cube_nb', 'scramble: states and moves', count, lambda: CUBE.scramble(count, DEPTH))

    names = [CUBE.move_names[a] for a in moves[:SMALL]]
    cubes, steps = [pycuber.Cube() for _ in range(SMALL)], [pycuber.Step(name) for name in names]

    def each(cubes, method, arguments):
        for cube, argument in zip(cubes, arguments):
            getattr(cube, method)(argument)

    few = SMALL // DEPTH
    add(EACH, 'pycuber', 'perform_step', SMALL, lambda: each(cubes, 'perform_step', steps))
    add(ONE, 'pycuber', 'perform_step', SMALL, lambda: each(cubes, 'perform_step', [steps[0]] * SMALL))
    add(
        WORD,
        'pycuber',
        'perform_algo',
        few,
        lambda: each(cubes[:few], 'perform_algo', [pycuber.Formula(steps[:DEPTH])] * few),
    )
    add(
        SCRAMBLE,
        'pycuber',
        'Cube()(Formula().random(20))',
        few,
        lambda: [pycuber.Cube()(pycuber.Formula().random(DEPTH)) for _ in range(few)],
    )

    magic, turned = (
        [magiccube.Cube(3, hist=False) for _ in range(SMALL)],
        [[CubeMove.create(name)] for name in names],
    )
    add(EACH, 'magiccube', 'rotate', SMALL, lambda: each(magic, 'rotate', turned))
    add(ONE, 'magiccube', 'rotate', SMALL, lambda: each(magic, 'rotate', [turned[0]] * SMALL))
    add(
        WORD, 'magiccube', 'rotate', few, lambda: each(magic[:few], 'rotate', [sum(turned[:DEPTH], [])] * few)
    )
    add(
        SCRAMBLE,
        'magiccube',
        'Cube(3).scramble(20)',
        few,
        lambda: [magiccube.Cube(3, hist=False).scramble(DEPTH) for _ in range(few)],
    )

    generators = torch.from_numpy(np.argsort(our_move())[moves])
    sizes = *CHUNKS, count
    for name, graph in GRAPHS.items():
        inside = represent(graph, states)
        for task, function, argument, n in (
            (EACH, each_generator, generators, count),
            (ONE, one_generator, 3, count),
            (WORD, word, generators[:DEPTH].tolist(), min(count, max(CHUNKS))),
        ):
            run, size = fastest(function, graph, inside[:n], argument, sizes=sizes)
            add(task, 'cayleypy', f'{name}, chunks of {min(size, n):,}', n, run)
        run, size = fastest(walks, graph, WALKS, sizes=WIDTHS)
        add(SCRAMBLE, 'cayleypy', f'random_walks, {name}, width {size:,}', WALKS, run)
    return sorted(rows, key=lambda row: TASKS.index(row[0]))


def benchmark(rows, runs):
    "`runs` rounds over all; rates a second. An untimed call goes before each timed one: the first after a pause pays for cold memory."

    def rate(count, function):
        function()
        return count / seconds(function)

    rates = np.array([[rate(row[3], row[5]) for row in rows] for _ in range(runs)]).T
    table = pd.DataFrame([row[:5] for row in rows], columns=['task', 'library', 'how', 'count', 'threads'])
    table['median'], table['min'], table['max'] = [median(r) for r in rates], rates.min(1), rates.max(1)
    for column, name in ('median', 'ratio'), ('max', 'ratio of best'):
        ours = table[table.library == 'cube_nb'].set_index('task')[column]
        table[name] = table.task.map(ours) / table[column]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=1_000_000, help='states in a batch')
    parser.add_argument('--runs', type=int, default=5, help='timed runs of each')
    parser.add_argument(
        '--threads', type=int, default=os.cpu_count(), help='threads of cube_nb and of cayleypy'
    )
    parser.add_argument('--output', help='write the table as CSV too')
    args = parser.parse_args()
    if args.count < SMALL or args.runs < 1:
        parser.error(f'--count must be at least {SMALL}, --runs at least 1')
    if not 1 <= args.threads <= numba.config.NUMBA_NUM_THREADS:
        parser.error(f'--threads must be from 1 to {numba.config.NUMBA_NUM_THREADS}')
    numba.set_num_threads(args.threads)
    torch.set_num_threads(args.threads)
    print(
        f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before;',
        ', '.join(
            f'{name} {version(name)}' for name in ('numba', 'torch', 'pycuber', 'magiccube', 'cayleypy')
        ),
        flush=True,
    )
    check()
    table = benchmark(contestants(args.count), args.runs)
    print(
        f'every library agrees with cube_nb; states (or scrambles) a second over {args.runs} runs; ratio: cube_nb to the library'
    )
    whole, times = '{:,.0f}'.format, '{:,.1f}x'.format
    print(
        table.to_string(
            index=False,
            formatters={
                'count': whole,
                'median': whole,
                'min': whole,
                'max': whole,
                'ratio': times,
                'ratio of best': times,
            },
        )
    )
    if args.output:
        table.to_csv(args.output, index=False)


if __name__ == '__main__':
    main()
