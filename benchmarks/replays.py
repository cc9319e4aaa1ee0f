"""
How far a replay of a training's first steps is from the original, for changes that do no harm and for some that do.

    python benchmarks/replays.py cube2-davi cube3-walks

makes the first steps of each network with each change, one process after another, and writes
data/networks/replays.csv. The tolerances of cube_nb.workshop.trained are chosen from it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import torch

from cube_nb.learn import davi
from cube_nb.learn.loop import decay_schedule, get_method
from cube_nb.workshop.trained import beginning, first_losses, networks, resolved_config

FILE = Path(__file__).parents[1] / 'data/networks/replays.csv'
ENVIRONMENTS = {  # changes of the processor
    'one thread': {'REPLAY_THREADS': '1'},
    'no bfloat16 instructions': {'ONEDNN_MAX_CPU_ISA': 'AVX512_CORE'},
}
SETTINGS = {  # changes of the settings, as functions of them
    'learning rate + 5 %': lambda config: {'learning_rate': 1.05 * config.learning_rate},
    'another seed': lambda config: {'seed': config.seed + 1},
    'another loss': lambda config: {'loss': 'mse' if config.loss == 'huber' else 'huber'},
    'K + 1': lambda config: {'max_depth': config.max_depth + 1},
    'K - 1': lambda config: {'max_depth': config.max_depth - 1},
}
HARMLESS = ('none', 'Adam not fused', *ENVIRONMENTS)


def not_fused(learner):
    "Adam, one tensor after the other."
    parameters = learner.network.parameters()
    learner.optimiser = torch.optim.Adam(parameters, lr=learner.config.learning_rate, fused=False)
    learner.schedule = decay_schedule(learner.config, learner.optimiser)


def scaled(heads):
    "The losses of some heads weigh 10 % more."

    def change(learner):
        loss = learner.loss

        def changed(outputs, batch):
            return {head: part * (1.1 if head in heads else 1) for head, part in loss(outputs, batch).items()}

        learner.loss = changed

    return change


def further(learner):
    "All costs-to-go are one move more."
    batch = learner.batch

    def changed(step):
        made = batch(step)
        for head in {'value', 'moves'} & {*made.targets}:
            made.targets[head] = made.targets[head] + 1
        return made

    learner.batch = changed


def no_zero_at_goal(learner):
    "Solved children cost what the network says."

    def child_costs(puzzle, states, values):
        costs = values(puzzle.neighbours(states, puzzle.generators).flatten(0, 1))
        return costs.float().clamp(min=0).view(len(states), -1)

    davi.child_costs = child_costs


LEARNERS = {  # changes of the code
    'Adam not fused': not_fused,
    'loss of values + 10 %': scaled(('value', 'moves')),
    'loss of policy + 10 %': scaled(('policy',)),
    'targets + 1': further,
    'goal not held at zero': no_zero_at_goal,
}


def applies(change, config):
    "Whether a change means something for a training."
    if change.startswith('K'):
        return hasattr(config, 'max_depth')
    if change == 'goal not held at zero':
        return isinstance(config, davi.DaviConfig)
    return change != 'loss of policy + 10 %' or 'policy' in config.network.heads


def replay(name, change):
    "The beginning of a training with a change."
    torch.set_num_threads(int(os.environ.get('REPLAY_THREADS', '2')))
    network = networks()[name]
    config = resolved_config(network).model_copy(update={'device': 'cpu'})
    if change in SETTINGS:
        config = config.model_copy(update=SETTINGS[change](config))
    learner = get_method(network.method).learner(config)
    if change in LEARNERS:
        LEARNERS[change](learner)
    return beginning(first_losses(learner))


def replay_elsewhere(name, change):
    "The same in a process of its own."
    words = [sys.executable, __file__, '--one', name, change]
    environment = os.environ | ENVIRONMENTS.get(change, {})
    done = subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def rows(name):
    "One row for each change and mark."
    config = resolved_config(networks()[name])
    changes = [change for change in ('none', *ENVIRONMENTS, *LEARNERS, *SETTINGS) if applies(change, config)]
    recorded = replay_elsewhere(name, 'none')
    for change in changes:
        again = replay_elsewhere(name, change)
        for mark, loss in recorded.items():
            about = dict(network=name, change=change, harmless=change in HARMLESS)
            yield about | dict(step=int(mark), loss=abs(again[mark] / loss - 1))
        print(name, change, file=sys.stderr, flush=True)


if __name__ == '__main__':
    if sys.argv[1] == '--one':
        print(json.dumps(replay(*sys.argv[2:])))
    else:
        found = [row for name in sys.argv[1:] for row in rows(name)]
        pd.DataFrame(found).to_csv(FILE, index=False, float_format='%.4g', lineterminator='\n')
