"""How long the trainings of the profile a100 take on paper, from their operations and from what the host does.

    python benchmarks/plan.py

Operations are those of the matrix products of a step: three times a forward pass of the batch for the network in
training, and one for each state that an older network is asked about (all children; in DQN the next states, twice
where it is double). A GPU is taken to do `SHARE` of an A100's bfloat16 peak with the widths of the papers and half of
that with narrower layers. The host needs what was measured on one core of a processor for a tiny network, times
`LAUNCH` for starting kernels instead of computing, and its share of the walks. A step takes the longer of the two.
Nothing here was measured on a GPU: `benchmarks/gpu.py` does that. The minutes in workflow/profiles/a100.yaml are
those printed here, with what follows a training added in proportion to the profile cpu.
"""

from typing import NamedTuple

from cube_nb.config import read_yaml
from cube_nb.measure.profiles import checkout, load_profile
from cube_nb.nets.networks import Network, NetworkConfig, multiplications

PEAK = 312e12  # operations a second of an A100 in bfloat16, dense (NVIDIA A100 datasheet)
SHARE = 0.4
LAUNCH = 3
HOST_MS = {
    'walks': 0.7,
    'davi': 1.1,
    'adi': 1.6,
    'dqn': 3.1,
    'alphazero': 0.8,
}  # a step of a tiny network, one core
WALK_MS = {20: 5, 200: 28}  # 10,000 walks of so many moves at most, one core
THREADS = 8


class Training(NamedTuple):
    "The trainings of one kind in an experiment."

    experiment: str
    method: str
    network: dict  # of its configuration
    networks: int  # how many
    steps: int
    batch_size: int
    asked: int  # states that an older network is asked about, for each state of the batch
    longest: int = 20  # moves of a walk


def wide(hidden: list) -> bool:
    "Whether the layers are those of a paper."
    return max(hidden) >= 4096


def step_ms(
    training: Training,
) -> tuple[float, float, float]:  # GFLOP, milliseconds of the GPU and of the host
    "What one step takes."
    products = multiplications(Network(NetworkConfig(**training.network)).eval())
    operations = 2 * products * training.batch_size * (3 + training.asked)
    share = SHARE if wide(training.network['hidden']) else SHARE / 2
    walks = 0 if training.method in ('dqn', 'alphazero') else WALK_MS[200 if training.longest > 50 else 20]
    host = LAUNCH * HOST_MS[training.method] + walks * training.batch_size / 10_000 / THREADS
    return operations / 1e9, 1e3 * operations / (share * PEAK), host


def configured(experiment: str, name: str, asked: int) -> Training:
    "A training that has a file of its own."
    values = read_yaml(checkout() / f'workflow/configs/{name}.yaml')
    method = name.partition('-')[0]
    longest = values['max_depth']
    return Training(
        experiment, method, values['network'], 1, values['iterations'], values['batch_size'], asked, longest
    )


def cube2(given: dict, **more) -> dict:
    "A network for the 2x2x2."
    return {'puzzle': 'cube2', 'hidden': given['hidden'], **more}


def trainings(given: dict) -> list[Training]:
    "All trainings of a profile whose parameters are given."
    adi = {
        'head_hidden': 512,
        'normalise': 'none',
        'activation': 'elu',
        'heads': ('value', 'policy'),
        'blocks': 0,
    }
    book = adi | {'encoding': 'piece_one_hot', 'canonical': False}
    value = given['davi_cube2']
    doubts = given['davi_doubts']
    rows = given['adi_ablation']
    heads = given['walks_heads']
    found = [
        configured('large_networks', name, 12 * (method == 'davi'))
        for method, name in given['large_networks']['runs']
    ]
    found += [configured('adi_cube2', f'adi-cube2-{name}', 6) for name in given['adi_cube2']['runs']]
    found += [configured('adi_cube3', f'adi-cube3-{name}', 12) for name in given['adi_cube3']['runs']]
    davi = cube2(value, blocks=value['blocks'])
    found.append(Training('davi_cube2', 'davi', davi, 1, value['iterations'], value['batch_size'], 6))
    kinds = 6 * doubts['seeds']
    davi = cube2(doubts, blocks=doubts['blocks'])
    found.append(Training('davi_doubts', 'davi', davi, kinds, doubts['iterations'], doubts['batch_size'], 6))
    broken = 7 * doubts['seeds']
    davi = davi | {'puzzle': 'cube3'}
    found.append(
        Training(
            'davi_doubts', 'davi', davi, broken, doubts['plateau_iterations'], doubts['plateau_batch'], 12
        )
    )
    small = book | {'puzzle': 'cube2', 'hidden': rows['hidden'], 'head_hidden': rows['head_hidden']}
    found.append(
        Training('adi_ablation', 'adi', small, 11 * rows['seeds'], rows['iterations'], rows['batch_size'], 6)
    )
    network = {'puzzle': heads['puzzle'], 'hidden': heads['hidden'], 'blocks': heads['blocks']}
    found.append(
        Training(
            'walks_heads', 'walks', network, 8 * heads['seeds'], heads['iterations'], heads['batch_size'], 0
        )
    )
    return found


def main() -> None:
    "Print a line for each training, and the sum of each experiment."
    totals = {}
    print(
        f'{"experiment":16} {"networks":>8} {"steps":>9} {"GFLOP":>8} {"GPU ms":>7} {"host ms":>7} {"minutes":>8} {"GPU":>7}'
    )
    for training in trainings(load_profile('a100')):
        operations, on_gpu, host = step_ms(training)
        steps = training.networks * training.steps
        minutes = steps * max(on_gpu, host) / 6e4
        totals.setdefault(training.experiment, []).append((minutes, steps * on_gpu / 6e4))
        print(
            f'{training.experiment:16} {training.networks:8} {training.steps:9,} {operations:8,.1f} {on_gpu:7.2f} '
            f'{host:7.2f} {minutes:8.1f} {steps * on_gpu / 6e4:7.1f}'
        )
    for name, parts in totals.items():
        minutes, on_gpu = map(sum, zip(*parts))
        print(f'{name:16} {minutes:50.0f} minutes, {on_gpu:.0f} of the GPU')


if __name__ == '__main__':
    main()
