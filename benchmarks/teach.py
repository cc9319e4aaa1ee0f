"""Does better teaching make the shipped 3x3x3 network a better guide? Equal seconds of the processor, one teacher each.

    python benchmarks/teach.py label --minutes 60 [--output exact.safetensors] [--seed 0]
    python benchmarks/teach.py train walks|larger|exact --minutes 60 [--labels exact.safetensors] [--folder runs/taught]

All go on from the network that ships, with the same learning rates and the same number of seconds: from random walks as
before (`walks`: longer training), from random walks labelled by the larger network (`larger`: distillation), and from
random walks with a tenth of states at proven distances (`exact`). `label` makes these: random walks of 12 to 18
quarter turns, each with a proven shortest solution, and of each all states along it that are more than seven moves away. None
of them is a test state. `benchmarks/ladder.py` then measures the networks: `--network exact=FILE`.
A training that was stopped goes on from its checkpoint; the labels so far are kept after every thousand walks.
"""

from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import torch
from kept_rows import new_parser
from cube_nb.cube.keys import canonical, is_test_state
from cube_nb.cube.notation import invert, simplify
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.evaluator import advantages_to_policy
from cube_nb.learn.loop import Budget, describe, read_config, train
from cube_nb.learn.walks import WalkLearner, WalksConfig
from cube_nb.nets.weights import save_network
from cube_nb.search.core import Solution
from cube_nb.exact.optimal import prove
from cube_nb.solving import default_model, load_evaluator
from safetensors.numpy import load_file, save_file
from tqdm.auto import tqdm

PUZZLE = get_puzzle('cube3')
NETWORK, LARGER = default_model('cube3', 'anytime'), 'data/weights/cube3-walks-large.safetensors'
CONFIG = 'workflow/configs/walks-cube3.yaml'
CHANGES = [f'start={NETWORK}', 'seed=3', 'cycles=1', 'learning_rate=0.0005', 'final_learning_rate=0.00001']
LENGTHS = range(12, 19)  # of the walks
KEPT_AFTER = 1000  # walks: half a minute, and each writing takes them all
FARTHEST_NEAR = 7  # moves: what is nearer needs no label
EXACT_SHARE = 10  # one state of so many has a proven distance


def states_behind(walk, symmetry, size):
    "States of a proven shortest solution: uint8[n, S], distances int[n], and the move of each on its way."
    state = PUZZLE.symmetric(PUZZLE.apply_word(PUZZLE.solved, walk)[None], symmetry)[0]
    back = PUZZLE.symmetric_moves[symmetry][simplify(PUZZLE, invert(PUZZLE, walk))]
    found = replace(Solution(PUZZLE, True, tuple(int(a) for a in back)), lower_bound=0)
    proven = prove(found, state, size=size)
    assert proven.optimal
    states = [PUZZLE.apply_word(state, proven.moves[:i]) for i in range(len(proven))]
    distances = np.arange(len(proven), 0, -1)
    far = distances > FARTHEST_NEAR
    return np.array(states)[far], distances[far], np.array(proven.moves)[far]


def label(minutes, size, seed, output):
    "Prove random walks while there is time, and write what is known of the states on their ways."
    rng = np.random.default_rng(seed)
    found = []
    began = process_time()
    with tqdm(total=round(60 * minutes), unit='s') as bar:
        while process_time() - began < 60 * minutes:
            length = int(rng.choice(LENGTHS))
            walk = PUZZLE.scramble(1, length, seed=int(rng.integers(2**32))).moves[0, :length]
            found.append(states_behind(walk, int(rng.integers(len(PUZZLE.symmetries))), size))
            bar.n = min(bar.total, round(process_time() - began))
            bar.set_postfix_str(f'{len(found):,} walks')
            if not len(found) % KEPT_AFTER:
                write_labels(found, output)
    write_labels(found, output)


def write_labels(found, output):
    "All labels so far, without test states."
    states, distances, moves = (np.concatenate(parts) for parts in zip(*found))
    kept = ~is_test_state(PUZZLE, states)
    labels = dict(states=states[kept], distances=distances[kept], moves=moves[kept])
    partial = output.with_name(output.name + '.partial')
    save_file(labels, partial)
    partial.replace(output)


class Distilled(WalkLearner):
    "Random walks with the labels of a larger network."

    def batch(self, step):
        "What the larger network says."
        found = super().batch(step)
        said = load_evaluator('cube3', LARGER)(found.states.numpy())
        policy = advantages_to_policy(said.advantages, self.puzzle.temperature)
        targets = dict(value=torch.from_numpy(said.values), policy=torch.from_numpy(policy))
        return found._replace(targets=found.targets | targets)


class Exact(WalkLearner):
    "Random walks, with some states at proven distances among them."

    def batch(self, step):
        "A tenth of the batch is exchanged."
        found = super().batch(step)
        rng = np.random.default_rng((self.config.seed, step))
        number = len(found.states) // EXACT_SHARE
        chosen = rng.integers(len(self.exact['states']), size=number)
        symmetry = int(rng.integers(len(self.puzzle.symmetries)))
        states = self.puzzle.symmetric(self.exact['states'][chosen], symmetry)
        found.states[:number] = torch.from_numpy(canonical(self.puzzle, states))
        moves = self.puzzle.symmetric_moves[symmetry][self.exact['moves'][chosen]]
        found.targets['policy'][:number] = torch.from_numpy(moves)
        found.targets['value'][:number] = torch.from_numpy(self.exact['distances'][chosen]).float()
        return found


LEARNERS = dict(walks=WalkLearner, larger=Distilled, exact=Exact)


def teach(teacher, minutes, labels, folder):
    "Train for some minutes of the processor, and keep the network."
    learner = LEARNERS[teacher](read_config(WalksConfig, CONFIG, CHANGES))
    if teacher == 'exact':
        learner.exact = load_file(labels)
    folder = Path(folder, teacher)
    log = train(learner, folder, budget=Budget(seconds=60 * minutes))
    print(log.iloc[[0, -1]].to_string())
    print(save_network(learner.network, folder / f'{teacher}.safetensors', describe(learner, log)))


def main():
    parser = new_parser(__doc__)
    parts = parser.add_subparsers(dest='part', required=True)
    one, other = parts.add_parser('label'), parts.add_parser('train')
    for each in (one, other):
        each.add_argument('--minutes', type=float, default=60.0, help='of the processor')
    one.add_argument('--size', default='large', help='of the coset table')
    one.add_argument('--seed', type=int, default=0)
    one.add_argument('--output', type=Path, default=Path('exact.safetensors'))
    other.add_argument('teacher', choices=LEARNERS)
    other.add_argument('--labels', type=Path, default=Path('exact.safetensors'))
    other.add_argument('--folder', type=Path, default=Path('runs/taught'))
    asked = parser.parse_args()
    if asked.part == 'label':
        label(asked.minutes, asked.size, asked.seed, asked.output)
    else:
        teach(asked.teacher, asked.minutes, asked.labels, asked.folder)


if __name__ == '__main__':
    main()
