"""The most memory that a training by value iteration takes, each configuration in a fresh process.

    python benchmarks/memory.py [--config davi-cube3-NAME ...] [--steps 50] [--output data/measured/memory.csv]

A row for each configuration: the most memory of the process over so many steps (ru_maxrss), and of it what the library
itself takes, measured before the first step. Weights, gradients, moments, the target network and the batch with its
children are all there after the first two steps; more steps add nothing but what the allocator keeps. So where a step
is long, fewer are taken. Rows that the file has are kept, and only missing ones are measured.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from kept_rows import fill, new_parser, show

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = {'davi-cube3-scratch': 50, 'davi-cube3-growth': 50, 'davi-cube3': 5, 'davi-cube3-paper': 2}  # steps
COLUMNS = ['config', 'parameters', 'batch_size', 'steps', 'library_mb', 'peak_mb']
ONE = """
import json, sys
from resource import RUSAGE_SELF, getrusage
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Budget, read_config, train

path, steps = sys.argv[1], int(sys.argv[2])
library = getrusage(RUSAGE_SELF).ru_maxrss / 1024
learner = DaviLearner(read_config(DaviConfig, path, ['device=cpu']))
train(learner, progress=False, budget=Budget(steps=steps))
weights = sum(each.numel() for each in learner.network.parameters())
batch = learner.config.batch_size
most = getrusage(RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(dict(parameters=weights, batch_size=batch, steps=steps, library_mb=library, peak_mb=most)))
"""


def measured(config: str, steps: int | None = None) -> dict:
    "One configuration in a process of its own."
    path = ROOT / f'workflow/configs/{config}.yaml'
    command = [sys.executable, '-c', ONE, str(path), str(steps or CONFIGS[config])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {key: round(value) for key, value in json.loads(done.stdout.splitlines()[-1]).items()}


def main():
    "All configurations, one after the other."
    parser = new_parser(__doc__, 'memory.csv')
    parser.add_argument('--config', action='append', choices=CONFIGS, help='by default all')
    parser.add_argument('--steps', type=int, help='by default 50 of 1,000 states, and fewer of 10,000')
    asked = parser.parse_args()
    cases = [dict(config=config) for config in asked.config or CONFIGS]
    show(fill(asked.output, COLUMNS, cases, partial(measured, steps=asked.steps)))


if __name__ == '__main__':
    main()
