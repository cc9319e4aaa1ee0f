"""How fast the library is, case by case: `CASES` is the table of what is timed.

    python benchmarks/speed.py [--only TEXT ...] [--runs 5] [--seconds 1] [--threads 1] [--output FILE.csv]
    python benchmarks/speed.py --beside FOLDER [...]

A case is prepared and done once, untimed, which compiles what there is to compile; then it is timed so many
runs, each of at least some seconds. A row has the median of units a second with the least and the greatest,
and the median of units for a second of the processor, which says more on a machine that has other work.
`--only` takes the cases whose name has the text.

With `--beside` each run is done in both checkouts in turn, the other one first, so that a busy moment
strikes both. The cases are those of this script, also for the library of an older checkout that has no such
script; a case that it cannot do is named. A ratio above 1 says that this checkout is faster: the median of
the runs' ratios, with the least and the greatest, and the same for seconds of the processor. The status is
1 if a case fails here.
"""

import json
import os
import subprocess
import sys
from functools import partial
from itertools import count, cycle
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from kept_rows import new_parser

ROOT = Path(__file__).resolve().parents[1]
PIPES = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)  # line by line

# Each function prepares a case and returns what is timed, which returns how many units it has done. The library
# is imported inside: another checkout may lack what only one case needs.


def repeated(count, function, *arguments):
    "A call that does so many units."

    def run():
        function(*arguments)
        return count

    return run


def scrambled(puzzle, count, length=100, seed=0):
    "(puzzle, uint8[count, S]) at random."
    from cube_nb.cube.puzzle import get_puzzle

    puzzle = get_puzzle(puzzle)
    return puzzle, puzzle.scramble(count, length, seed=seed).states


def shipped(model, dtype=None):
    "What asks a network that ships with the library."
    from cube_nb.nets.networks import network_evaluator
    from cube_nb.nets.weights import load_network

    return network_evaluator(load_network(model), 'cpu', *([dtype] if dtype else []))


def moves(name, task, count=100_000):
    "The operations that everything is built on."
    puzzle, states = scrambled(name, count, 20)
    each = np.random.default_rng(3).integers(0, puzzle.num_moves, count)
    few = count // 20
    tasks = {
        'a move for each state': (count, puzzle.apply, states, each, np.empty_like(states)),
        'one move for all': (count, puzzle.apply, states, 3, np.empty_like(states)),
        'one word for all': (count, puzzle.apply_word, states, each[:20]),
        'scrambles': (few, puzzle.scramble, few, 20),
        'neighbours': (few, puzzle.neighbours, states[:few]),
        'which are solved': (count, puzzle.is_solved, states),
    }
    return repeated(*tasks[task])


def cayleypy_graph(name, **options):
    "A cube of cayleypy; the 2x2x2 has one corner that is never turned."
    from cayleypy import CayleyGraph, Puzzles

    side, metric = dict(cube2=(2, 'fixed_QTM'), cube3=(3, 'QTM'))[name]
    return CayleyGraph(Puzzles.rubik_cube(side, metric=metric), device='cpu', **options)


def moves_of_cayleypy(width, count=100_000):
    "One move for all: facelets as ours, or packed in words of 64 bits; in chunks that stay in the caches."
    import torch

    graph = cayleypy_graph('cube3', bit_encoding_width=width)
    states = graph.encode_states(graph.central_state.repeat(count, 1))
    chunks = list(zip(states.split(16_384), torch.zeros_like(states).split(16_384)))

    def all_chunks():
        for before, after in chunks:
            graph.apply_generator_batched(3, before, after)

    return repeated(count, all_chunks)


def breadth_first(name, depth=None):
    "The states to a depth, all by default."
    from cube_nb.cube.puzzle import get_puzzle
    from cube_nb.depth.bfs import bfs

    return lambda: int(bfs(get_puzzle(name), depth).counts.sum())


def bfs_of_cayleypy(name, **limit):
    "The same with a hash of every state at the end, which is nearest to our table of distances."
    graph = cayleypy_graph(name)
    return lambda: sum(graph.bfs(return_all_hashes=True, **limit).layer_sizes)


def network(count=8192):
    "Estimates of the shipped network."
    return repeated(count, shipped('cube3-walks'), scrambled('cube3', count)[1])


def searched(solver, cubes, units=None, **options):
    "A search with the shipped network: nodes, or so many units in each cube."
    from cube_nb.search.core import get_solver

    puzzle, states = scrambled('cube3', cubes)
    evaluator, solve = shipped('cube3-walks'), get_solver(solver)

    def run():
        answers = solve(puzzle, states, evaluator, **options)
        return units * cubes if units else sum(answer.generated for answer in answers)

    return run


def first_answers(cubes=50, limit=10.0):
    "The first answer of the default search, whatever its limit is: a random cube a call."
    from cube_nb.search.improve import ImproveOptions, improvements

    puzzle, states = scrambled('cube3', cubes)
    evaluator, left = shipped('cube3-walks'), cycle(states)
    options = ImproveOptions(time_limit=limit)
    return lambda: int(next(improvements(puzzle, next(left), evaluator, options)).solved)


FROM_PYTHON = """
import sys
import torch
from cube_nb import scramble, solve

solve(scramble(seed=0), time_limit=1)
for line in sys.stdin:
    answer = solve(scramble(seed=int(line)), time_limit=2)
    print(answer.generated * answer.solved, flush=True)
"""


def from_python(busy=False, **environment):
    "Nodes of a search of two seconds with two threads where torch was imported first; 0 for a cube not solved."
    threads = dict(OMP_NUM_THREADS='2', NUMBA_NUM_THREADS='2')
    known = {name: value for name, value in os.environ.items() if name != 'OMP_WAIT_POLICY'}
    child = subprocess.Popen([sys.executable, '-c', FROM_PYTHON], env=known | threads | environment, **PIPES)
    seeds = count(1)

    def run():
        other = subprocess.Popen([sys.executable, '-c', 'while True: pass']) if busy else None
        print(next(seeds), file=child.stdin)
        nodes = int(child.stdout.readline())
        if other is not None:
            other.kill()
            other.wait()
        return nodes

    return run


def games(count, precision='float32', simulations=100, longest=3):
    "Self-play on the 2x2x2, from scrambles that are too long to be solved in so few moves."
    import torch
    from cube_nb.search.selfplay import SelfPlay, alphazero_rules, play_games

    puzzle, states = scrambled('cube2', count, 11)
    evaluator, rules = shipped('cube2-alphazero', getattr(torch, precision)), alphazero_rules(1.5)
    settings = SelfPlay(simulations=simulations, max_moves=longest)
    return lambda: play_games(puzzle, states, evaluator, rules, settings).searches


def learner_of(method):
    "A training on the processor."
    from cube_nb.learn.loop import get_method, read_config

    entry = get_method(method)
    return entry.learner(read_config(entry.config, None, ['device=cpu', *TRAININGS[method]]))


def training(method):
    "States of the steps of a training, with what they need besides: walks, games, children."
    learner = learner_of(method)

    def run():
        learner.after_step(learner.take_step())
        return learner.config.batch_size

    return run


def played(epsilon):
    "Moves in episodes of a DQN from pictures: all are random (epsilon 1) or the network's (0)."
    learner = learner_of('dqn')
    names = dict(depth=10, max_steps=24, reward=0, window=500, epsilon=epsilon, final_epsilon=epsilon)
    stage = type(learner.config.stages[0])(**names)
    learner = type(learner)(learner.config.model_copy(update=dict(stages=(stage,))))
    return repeated(learner.config.episodes, learner.play_round)


def pictures(count=256):
    "Pictures of scrambled cubes, uint8[3, 92, 76]."
    from cube_nb.cube.encoding import picture

    return repeated(count, picture, *scrambled('cube3', count, 10), 92, 76)


def command(*words):
    "A process from its start to its end."
    call = partial(subprocess.run, check=True, capture_output=True)
    return repeated(1, call, [sys.executable, *words])


TASKS = ['a move for each state', 'one move for all', 'one word for all']
TASKS += ['scrambles', 'neighbours', 'which are solved']
SMALL = ('network.hidden=[512,256]', 'batch_size=1000')
TRAININGS = {  # method -> what differs from its own configuration
    'davi': (*SMALL, 'network.blocks=0'),
    'adi': (*SMALL, 'network.heads=[value,policy]'),
    'walks': (*SMALL, 'network.blocks=0'),
    'dqn': ('warmup=1',),
    'alphazero': ('simulations={1: 20}', 'max_moves=5'),
}
SOLVE = ('-m', 'cube_nb', 'solve', '--time-limit', '3', "R U F' D2 L B R' U2 F L' D B2 U R F2")
CASES = {  # name -> (what prepares it, units)
    **{f'{task}, cube3': (partial(moves, 'cube3', task), 'states') for task in TASKS},
    **{f'{task}, cube2': (partial(moves, 'cube2', task), 'states') for task in TASKS},
    'one move for all, cayleypy, facelets': (partial(moves_of_cayleypy, None), 'states'),
    'one move for all, cayleypy, packed': (partial(moves_of_cayleypy, 'auto'), 'states'),
    'bfs, the whole cube2': (partial(breadth_first, 'cube2'), 'states'),
    'bfs, cube3 to depth 6': (partial(breadth_first, 'cube3', 6), 'states'),
    'bfs, the whole cube2, cayleypy': (partial(bfs_of_cayleypy, 'cube2'), 'states'),
    'bfs, cube3 to depth 6, cayleypy': (partial(bfs_of_cayleypy, 'cube3', max_diameter=6), 'states'),
    'network, cube3-walks': (network, 'states'),
    'beam, width 8192': (partial(searched, 'beam', 1, width=8192), 'nodes'),
    'weighted A*': (partial(searched, 'bwas', 1, batch_size=1000, max_nodes=200_000), 'nodes'),
    'mcts, 1 leaf': (partial(searched, 'mcts', 30, 200, leaves=1, max_searches=200), 'searches'),
    'mcts, 8 leaves': (partial(searched, 'mcts', 30, 400, leaves=8, max_searches=400), 'searches'),
    'improve, first answer': (first_answers, 'cubes'),
    'from Python, alone': (from_python, 'nodes'),
    'from Python, alone, passive': (partial(from_python, OMP_WAIT_POLICY='PASSIVE'), 'nodes'),
    'from Python, beside a busy process': (partial(from_python, True), 'nodes'),
    'from Python, beside a busy process, passive': (partial(from_python, True, OMP_WAIT_POLICY='PASSIVE'), 'nodes'),
    'self-play, 1 game': (partial(games, 1), 'simulations'),
    'self-play, 40 games': (partial(games, 40), 'simulations'),
    'self-play, 40 games, bfloat16': (partial(games, 40, 'bfloat16'), 'simulations'),
    **{f'training, {method}': (partial(training, method), 'states') for method in TRAININGS},
    'dqn, moves of a random player': (partial(played, 1.0), 'moves'),
    'dqn, moves of a thinking player': (partial(played, 0.0), 'moves'),
    'dqn, pictures': (pictures, 'pictures'),
    'cube_nb --help': (partial(command, '-m', 'cube_nb', '--help'), 'times'),
    'cube_nb solve': (partial(command, *SOLVE), 'times'),
}  # fmt: skip


def busy():
    "Seconds of the processor so far, of this process and those that it waited for."
    return process_time() + sum(os.times()[2:4])


def rates(run, seconds):
    "Units a second, and units for a second of the processor, of calls that last so long together."
    begun, used, done = perf_counter(), busy(), 0
    while not done or perf_counter() - begun < seconds:
        done += run()
    return done / (perf_counter() - begun), done / max(busy() - used, 1e-3)


def work(seconds):
    "Answer the names of cases on standard input, each with its rates; a case is prepared when it is new."
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # what the library prints is no answer
    # An editable installation would lend what a checkout lacks
    sys.meta_path[:] = [finder for finder in sys.meta_path if 'Editable' not in str(finder)]
    last, run = None, None
    for line in sys.stdin:
        name = line.strip()
        try:
            if name != last:
                last, run = None, None  # frees what the case before has taken
                run = CASES[name][0]()
                run()
                last = name
            print(json.dumps(rates(run, seconds)), file=answers, flush=True)
        except Exception as error:  # whatever another checkout has instead
            print(json.dumps(f'{type(error).__name__}: {error}'.splitlines()[0]), file=answers, flush=True)


def worker(folder, options):
    "A process that times cases with the library of a checkout."
    environment = os.environ | {'PYTHONPATH': str(folder), 'OMP_WAIT_POLICY': 'PASSIVE'}
    environment |= dict.fromkeys(('OMP_NUM_THREADS', 'NUMBA_NUM_THREADS'), str(options.threads))
    words = [sys.executable, __file__, '--work', '--seconds', str(options.seconds)]
    return subprocess.Popen(words, cwd=folder, env=environment, **PIPES)


def asked(process, name):
    "One run of a case, or why there is none."
    process.stdin.write(name + '\n')
    return json.loads(process.stdout.readline() or '"the process ended"')


def middle(name, values):
    "The median of some numbers, with the least and the greatest."
    return {name: np.median(values), f'{name}_least': min(values), f'{name}_most': max(values)}


def row_of(name, workers, runs):
    "A row of the table; `failed` says in which checkout a case cannot be done, and why."
    found = [[] for _ in workers]
    for _ in range(runs):
        for answers, (folder, process) in zip(found, workers):
            answer = asked(process, name)
            if isinstance(answer, str):
                return dict(case=name, failed=f'{folder}: {answer}')
            answers.append(answer)
    *others, here = map(np.array, found)
    row = dict(case=name, unit=CASES[name][1]) | middle('a_second', here[:, 0])
    row |= dict(a_processor_second=np.median(here[:, 1]))
    for other in others:
        row |= dict(beside=np.median(other[:, 0])) | middle('ratio', here[:, 0] / other[:, 0])
        row |= middle('processor_ratio', here[:, 1] / other[:, 1])
    return row


def read_arguments():
    "The command line."
    parser = new_parser(__doc__)
    add = parser.add_argument
    add('--only', action='append', default=[], metavar='TEXT', help='cases with it in their names')
    add('--runs', type=int, default=5)
    add('--seconds', type=float, default=1.0, help='of a run, at least')
    add('--threads', type=int, default=1, help='of Numba and torch')
    add('--output', type=Path, help='write the table to this CSV file')
    add('--beside', type=Path, metavar='FOLDER', help='another checkout')
    add('--work', action='store_true', help='be what times the cases of standard input')
    options = parser.parse_args()
    options.cases = [name for name in CASES if any(text in name for text in options.only or [''])]
    if not options.cases or options.runs < 1:
        parser.error('expected at least one run, and a text of --only from ' + '; '.join(CASES))
    return options


def main(options):
    "Time the cases, print the table, and return the status."
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.threads} threads', flush=True)
    folders = [options.beside.resolve(), ROOT] if options.beside else [ROOT]
    workers = [(folder, worker(folder, options)) for folder in folders]
    rows = []
    for name in options.cases:
        rows.append(row_of(name, workers, options.runs))
        row = rows[-1].items()
        said = [f'{key} {value:,.4g}' if isinstance(value, float) else value for key, value in row]
        print(*said, sep=', ', flush=True)
    for _, process in workers:
        process.communicate()
    table = pd.DataFrame(rows)
    if options.output:
        table.to_csv(options.output, index=False)
    if 'ratio' in table:
        worst = table.loc[table.ratio.idxmin()]
        print(f'the least ratio is {worst.ratio:.3f}: {worst.case}')
    return any(str(row.get('failed', '')).startswith(f'{ROOT}:') for row in rows)


if __name__ == '__main__':
    options = read_arguments()
    sys.exit(work(options.seconds) if options.work else main(options))
