"""Which method learns most on the 3x3x3? Seven methods, the same body, the same seconds of the processor.

    export PYTHONPATH=.:benchmarks OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    SCRIPT=data/measured/methods.py TABLE=data/measured/methods
    python $SCRIPT tries --output ${TABLE}_tries.csv [--method DAVI ...] [--rate 0.0002 0.0005 0.001 0.002]
    python $SCRIPT trained --output ${TABLE}_trained.csv [--method ...] [--seed 0 1] [--minutes 60]
    python $SCRIPT curves --output ${TABLE}_curves.csv [--method ...] [--seed ...]
    python $SCRIPT calibration --output ${TABLE}_calibration.csv [--method ...] [--seed ...]
    python $SCRIPT depths --output ${TABLE}_depths.csv [--method ...] [--seed ...] [--player greedy beam own]

`tries` is the search for settings, the same for each method: each learning rate for `TRY` minutes of the
processor, judged by what a beam solves. `trained` takes the rate that solved most, and keeps the networks
below runs/methods; a training that was stopped goes on from its checkpoint. Two cores that do nothing else
make two trainings of sixty minutes in an hour. A row is written at once, and one that is there is not made
again: a network is needed for its own rows alone, and may be lost when they are made. Name the methods and
the seeds whose networks are there.

The other settings of a method are those of its file in workflow/configs, but for `BODY`, which all have, and
those in `METHODS`. Heads are those that a method teaches, and what sees pictures has three layers of
convolutions below the body, whose first layer is larger for it.
"""

import os
from pathlib import Path

import pandas as pd
from labels import calibration_table, evaluator_of, teach
from measured import Table, run_commands

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.loop import Callback, get_method, keep_network, processor, read_config
from cube_nb.measure.evaluate import depth_scrambles, evaluate

PUZZLE = get_puzzle('cube3')
FOLDER = Path('runs/methods')
TRIES = Path('data/measured/methods_tries.csv')  # the first table
TRY = 6  # minutes of the processor
RATES = [0.0002, 0.0005, 0.001, 0.002]  # from the files of AlphaZero and of random walks, with those between
DEPTHS = range(1, 27)  # moves of a scramble, up to the farthest state
EVEN = DEPTHS[1::2]  # for tries and curves
BODY = {'puzzle': 'cube3', 'hidden': [512, 256], 'blocks': 1, 'head_hidden': 0}
BODY |= {'normalise': 'layer', 'activation': 'relu'}
NODES = 300_000  # of any search of one cube: a beam of 1,024 makes them in 26 moves, which no state exceeds
LARGE = {'checkpoint_every': 2000}  # one has the whole buffer, and takes as long as fifteen steps
# Each scramble is seen once, as in the paper. The book repeats them, for they take long there; here the
# children of a state take as long whether it is new or not.
ADI = {'batch_size': 1000, 'buffer': 0}
GAMES = {  # a round is never cut off, and takes as long as its longest games: half a minute at most
    'network.encoding': 'piece_one_hot',
    'simulations': {1: 100, 7: 200, 11: 400},
    'curriculum': [*range(1, 21)],  # as many moves as a game may have
    'window': 2,  # rounds of 80 games at a length
    'target': 'to_go',
}
METHODS = {  # name -> method, file of its settings, settings that are others here, its own search
    'random walks': ('walks', 'walks-cube3', {}, {'solver': 'beam', 'width': 1024, 'radius': 0}),
    'DAVI': ('davi', 'davi-cube3-scratch', {}, {'solver': 'bwas', 'batch_size': 1000}),
    'ADI, paper': ('adi', 'adi-cube3-paper', ADI, {'solver': 'mcts'}),
    'ADI, zero goal': ('adi', 'adi-cube3-zero-goal', ADI, {'solver': 'mcts'}),
    'AlphaZero': ('alphazero', 'alphazero-cube2', GAMES, {'solver': 'alphazero'}),
    'DQN, pieces': ('dqn', 'dqn-cube3-best', LARGE, {'solver': 'greedy'}),
    'DQN, pictures': ('dqn', 'dqn-cube3-pictures-best', LARGE, {'solver': 'greedy'}),
}
PARTS = 10  # of a training, for its curve


def config_of(method, rate, seed):
    "The settings of a training; the learning rate falls to a hundredth."
    name, file, others, _ = METHODS[method]
    settings = {f'network.{key}': value for key, value in BODY.items()}
    settings |= {'seed': seed, 'iterations': 10**6, 'learning_rate': rate, 'final_learning_rate': rate / 100}
    settings |= {'precision': 'bfloat16', 'log_every': 50, 'checkpoint_every': 100} | others
    assigned = [f'{key}={value}' for key, value in settings.items()]
    return read_config(get_method(name).config, f'workflow/configs/{file}.yaml', assigned)


def learner_of(method, rate, seed):
    "What trains a method, before its first step."
    return get_method(METHODS[method][0]).learner(config_of(method, rate, seed))


def network_of(method, seed, part=PARTS):
    "Where the network of a seed is kept, or of a try (in its place the rate), after some parts of its time."
    name = method.replace(',', '').replace(' ', '-').lower()
    return FOLDER / f'{name}-{seed}' / f'{part}.safetensors'


class KeepParts(Callback):
    "Writes the network at each tenth of the time."

    def __init__(self, method, seed, minutes):
        self.paths = [network_of(method, seed, part) for part in range(1, PARTS)]
        self.seconds = [60 * minutes * part / PARTS for part in range(1, PARTS)]

    def on_row(self, learner, rows):
        "Write the network if the time has come."
        for path, seconds in zip(self.paths, self.seconds):
            if learner.parts['spent'].seconds >= seconds and not path.exists():
                keep_network(learner, pd.DataFrame(rows), path)


def search_of(player, method):
    "The search of a player. None has a table of states near solved, so that the network is what is measured."
    searches = {
        'greedy': {'solver': 'greedy'},
        'beam': {'solver': 'beam', 'width': 1024, 'radius': 0},
        'own': METHODS[method][3],
    }
    return searches[player] | {'max_nodes': NODES}


def played(player, method, evaluator, depth, count, seed):
    "Cubes of one scramble depth, solved by one player: columns of the table."
    states, _ = depth_scrambles(PUZZLE, count, depth, seed)
    rows = evaluate(PUZZLE, states, evaluator, **search_of(player, method))
    means = dict(length=rows.length[rows.solved].mean(), nodes=rows.generated.mean())
    return dict(cubes=count, solved=rows.solved.sum()) | means


def solved_by_beam(path, method, count, seed):
    "The share of scrambles of even depths that a beam of 1,024 solves."
    rows = [played('beam', method, evaluator_of(path), depth, count, seed) for depth in EVEN]
    return sum(row['solved'] for row in rows) / (count * len(rows))


def tries(asked):
    "settings: what each learning rate comes to in a short training"

    def row_of(method, rate):
        path = network_of(method, rate)
        log = teach(learner_of(method, rate, seed=100), path, TRY)
        solved = solved_by_beam(path, method, count=4, seed=100)
        return dict(steps=log.step.iloc[-1], loss=log.loss.iloc[-1], solved=solved)

    return row_of


def rate_of(method):
    "The learning rate that solved most, once all were tried."
    rows = pd.read_csv(TRIES).query('method == @method')
    if missing := {*RATES} - {*rows.rate}:
        raise ValueError(f'{TRIES} has no try of {method} with {missing}')
    return rows.rate[rows.solved.idxmax()]


def trained(asked):
    "train for some minutes of the processor each, and keep the networks; a row once it is done"

    def row_of(method, seed):
        rate, load = rate_of(method), os.getloadavg()[0]
        learner = learner_of(method, rate, seed)
        log = teach(
            learner, network_of(method, seed), asked.minutes, [KeepParts(method, seed, asked.minutes)]
        )
        seconds, states = learner.parts['spent'].seconds, learner.step * learner.config.batch_size
        about = dict(rate=rate, processor=processor(), load=load, steps=learner.step, states=states)
        speed = dict(seconds=round(seconds, 1), states_per_second=round(states / seconds))
        return about | speed | dict(loss=log.loss.iloc[-1])

    return row_of


def curves(asked):
    "what a beam solves after each tenth of the time"

    def row_of(method, seed, part):
        return dict(solved=solved_by_beam(network_of(method, seed, part), method, count=4, seed=101))

    return row_of


def depths(asked):
    "what each network solves at each scramble depth"

    def row_of(player, method, seed, depth):
        evaluator = evaluator_of(network_of(method, seed))
        return played(player, method, evaluator, depth, asked.cubes, seed=102)

    return row_of


def by_player(rows):
    "The share that each seed solved of all depths; `compare_seeds` says what differs."
    shares = rows.assign(share=rows.solved / rows.cubes)
    return shares.pivot_table('share', 'method', ['player', 'seed'], sort=False)


AXES = {'method': dict(choices=METHODS, default=[*METHODS]), 'seed': dict(type=int, default=[0, 1])}
TABLES = {
    'tries': Table(
        columns='method rate steps loss solved',
        axes={'method': AXES['method'], 'rate': dict(type=float, default=RATES)},
        prepare=tries,
    ),
    'trained': Table(
        columns='method seed rate processor load steps states seconds states_per_second loss',
        axes=AXES,
        prepare=trained,
        options={'minutes': dict(type=float, default=60.0, help='of the processor, for each network')},
    ),
    'curves': Table(
        columns='method seed part solved',
        axes=AXES | {'part': dict(type=int, default=[*range(1, PARTS + 1)])},
        prepare=curves,
    ),
    'calibration': calibration_table(AXES, network_of),
    'depths': Table(
        columns='player method seed depth cubes solved length nodes',
        axes={
            'player': dict(default=['greedy', 'beam', 'own']),
            **AXES,
            'depth': dict(type=int, default=[*DEPTHS]),
        },
        prepare=depths,
        summary=by_player,
        options={'cubes': dict(type=int, default=10, help='of each depth')},
    ),
}


if __name__ == '__main__':
    run_commands(__doc__, TABLES)
