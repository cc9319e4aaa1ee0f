"""The hours and the memory of the profile a100 on paper, from what an H200 and its host were measured to do.

    python benchmarks/plan.py

Rates are rows of `data/measured`; the last column names them, or says `not measured`. Matrix products are
scaled to an A100 by `ARITHMETIC`, what memory bounds by `MEMORY`; the host takes as long as there. A training
step has a forward pass for each state that an older network is asked about and three for each of the batch,
all wide layers at the share of the peak of `PAPER_ROW`: in the rows of ADI and of walks the host took longer
than the step. The host is a bound from above: it made walks and started kernels, and now a step is one graph.
In games trees grow, then the network is called. Limits of searches count whole; nodes are those of the
profile cpu. `The rest` is not measured, but in proportion to the profile cpu. At the end the jobs are laid
out as Snakemake starts them. `tests/benchmarks/test_gpu_script.py` holds the profile to these numbers.
"""

from functools import partial
from typing import NamedTuple

import yaml

from cube_nb.workshop.pipeline import SMALLEST_A100, Job, jobs, urgency
from cube_nb.workshop.profiles import Cost, checkout
from cube_nb.workshop.results import load_table
from cube_nb.nets.networks import Network, NetworkConfig, multiplications

ROWS = load_table('measured', 'gpu_trainers').sort_values('steps', ascending=False, kind='stable')
ROWS = ROWS.drop_duplicates('name').set_index('name')  # those with few steps were still being compiled
SEARCHES = load_table('measured', 'gpu_searches').set_index('name')
WIDEST = load_table('measured', 'gpu_beams').query('network == "cube3-walks" and width == 2**20')
NOT_MEASURED = 'not measured'
PAPER_ROW = 'davi, 3x3x3, paper'
MEASURED_PEAK = 1e12 * ROWS.peak_tflops[PAPER_ROW]  # operations a second of a large bfloat16 product
ARITHMETIC = 312e12 / MEASURED_PEAK  # an A100 by its datasheet (dense bfloat16), of that
MEMORY = 2.04 / 4.8  # TB/s of an A100 with 80 GB and of an H200 (datasheets)
WIDE = ARITHMETIC * MEASURED_PEAK * ROWS.share_of_peak[PAPER_ROW]  # operations a second, widths of the papers
NARROW = WIDE / 2  # of other widths: not measured
TRAINERS = {'walks': 'walks, as large as the paper', 'davi': PAPER_ROW, 'adi': 'adi, 3x3x3, buffer, book'}
TRAINERS |= {'dqn': 'dqn, pieces', 'dqn of pictures': 'dqn, pictures'}
# Of a step at most, by the stand-in; what is compiled is one
KERNELS = dict(walks=265, davi=290, adi=280, dqn=520, alphazero=130)
GRAPH_US, KERNEL_US = 1.5, 5  # from one kernel of a graph to the next, and without a graph: not measured
COMPILED, PART_KERNELS = 32, 8  # moves of all walks that two compiled functions make; kernels, at most
WALKING = 'walks', 'davi', 'adi'  # their states and labels are made in the step
CORES = 16

SIMULATIONS = 150_000  # a second, trees of the 2x2x2 on one core without the network, for any number of games
HELD = 0.5  # of that, where the trees tell orientations apart: twice as many moves
GAMES_ROW = 'self-play, 80 games'
CALL_MS = 8e4 * (1 / SEARCHES.simulations_per_second[GAMES_ROW] - 1 / SIMULATIONS)  # of the host, a network's
CALL_GPU_MS = 40 * KERNEL_US / 1e3  # of 40 kernels
GAME_MOVES = 12.3  # mean of the games of cube2-alphazero (data/cpu/alphazero_cube2_budget.csv)

BEAM = MEMORY * WIDEST.nodes.sum() / WIDEST.seconds.sum()  # nodes a second: bound by sorting
BEAM_ROW = 'beam, small network, width 16384'
LAYERS = SEARCHES.mean_length[BEAM_ROW]
LAYER_S = SEARCHES.seconds_a_cube[BEAM_ROW] / LAYERS  # of the host, which starts the kernels
LAYER_KERNELS = 100  # of a layer of the beam with the shipped network, by the stand-in
BEAM_NODES = 145  # for each place of the width, until a cube is solved (data/cpu/league_summary.csv)
ASTAR = SEARCHES.nodes_per_second['weighted A*']  # of one process; eight do 7.4 times as much: host's work
LEAVES = 8  # of a tree of MCTS, in a call
LEAST_MB = 1000  # of a process that uses a GPU


class Part(NamedTuple):
    "A part of an experiment, on paper."

    experiment: str
    what: str
    minutes: float  # with the threads of the experiment
    on_gpu: float  # of them, minutes in which the GPU computes
    row: str  # what the minutes rest on
    gpu_row: str = NOT_MEASURED  # and those of the GPU
    gpu_mb: float = LEAST_MB


# --- trainings ----------------------------------------------------------------------------------------------


class Training(NamedTuple):
    "The trainings of one kind in an experiment."

    experiment: str
    method: str
    network: dict  # of its configuration
    networks: int  # how many
    steps: int
    batch_size: int
    asked: float  # states that an older network is asked about, for each state of the batch
    longest: int = 20  # moves of a walk

    @property
    def gaps_ms(self) -> float:
        "The least that the GPU needs for the kernels of a step."
        walks = PART_KERNELS * -(-self.longest // COMPILED) if self.method in WALKING else 0
        return (KERNELS[self.method] + walks) * GRAPH_US / 1e3


def built(training: Training) -> Network:
    "The network of a training."
    return Network(NetworkConfig(**training.network)).eval()


def operations_of(training: Training) -> float:
    "What the matrix products of a step need."
    return 2 * multiplications(built(training)) * training.batch_size * (3 + training.asked)


def step_ms(training: Training) -> tuple[float, str]:
    "What the GPU needs for a step, and the row that it rests on."
    is_wide = max(training.network['hidden']) >= 4096
    products = 1e3 * operations_of(training) / (WIDE if is_wide else NARROW)
    return max(products, training.gaps_ms), PAPER_ROW if is_wide else NOT_MEASURED


def training_mb(training: Training) -> float:
    """Memory of the GPU: weights, gradients and two moments in float32, a copy in bfloat16, an older network;
    four bfloat16 tensors for each unit of each layer; a chunk of states that the older one is asked about.
    """
    network = built(training)
    weights = sum(parameter.numel() for parameter in network.parameters())
    units = sum(m.out_features for m in network.modules() if hasattr(m, 'out_features'))
    inputs = getattr(network.body[0][0], 'in_features', 3 * 60 * 80)  # or a picture of five faces
    batch = training.batch_size * (4 * 2 * units + (4 + 2) * inputs)
    chunk = min(training.batch_size * training.asked, 2**17)
    widest = 2 * 3 * max(training.network['hidden']) + 2 * inputs
    return LEAST_MB + (22 * weights + batch + chunk * widest) / 1e6


def trained(training: Training) -> Part:
    "All trainings of one kind."
    kind = training.method + ' of pictures' * ('convolutions' in training.network)
    host, host_row = ROWS.loc[TRAINERS[kind], ['host_ms', 'step_ms']].min(), TRAINERS[kind]
    on_gpu, gpu_row = step_ms(training)
    minutes = training.networks * training.steps / 6e4
    what = f'{training.networks} x {training.steps:,} steps of {kind}'
    rows = host_row if host > on_gpu else gpu_row, gpu_row, training_mb(training)
    return Part(training.experiment, what, minutes * max(host, on_gpu), minutes * on_gpu, *rows)


def configuration(name: str) -> dict:
    "The settings in a file."
    return yaml.safe_load((checkout() / f'workflow/configs/{name}.yaml').read_text())


def from_files(given: dict) -> list[Training]:
    "Trainings that experiments take from files as they are."
    large = given['large_networks']['runs']
    named = [('large_networks', name, 12 * (method == 'davi')) for method, name in large]
    for experiment, asked in ('adi_cube2', 6), ('adi_cube3', 12):
        puzzle = experiment.removeprefix('adi_')
        named += [(experiment, f'adi-{puzzle}-{name}', asked) for name in given[experiment]['runs']]
    found = []
    for experiment, name, asked in named:
        values = configuration(name)
        sizes = values['iterations'], values['batch_size'], asked, values['max_depth']
        found.append(Training(experiment, name.partition('-')[0], values['network'], 1, *sizes))
    return found


def taught_by_walks(given: dict) -> list[Training]:
    "Those of davi_cube2, the doubts, adi_ablation and walks_heads."
    paper, doubts, rows, heads = map(given.get, ('davi_cube2', 'doubt_scale', 'adi_ablation', 'walks_heads'))
    loss, single = given['doubt_loss'], given['doubt_batches']
    small = {'hidden': doubts['hidden'], 'blocks': doubts['blocks']}
    network = {'puzzle': 'cube2', 'hidden': paper['hidden'], 'blocks': paper['blocks']}
    steps, seeds = (doubts['iterations'], doubts['batch_size']), doubts['seeds']
    long = loss['plateau_iterations'], loss['plateau_batch']
    alone = {'hidden': single['hidden'], 'blocks': single['blocks'], 'puzzle': 'cube2'}
    book = {'puzzle': 'cube2', 'encoding': 'piece_one_hot', 'canonical': False, 'heads': ('value', 'policy')}
    book |= {'hidden': rows['hidden'], 'head_hidden': rows['head_hidden'], 'blocks': 0}
    shapes = {key: heads[key] for key in ('puzzle', 'hidden', 'blocks')}
    sizes = heads['iterations'], heads['batch_size']
    return [
        Training('davi_cube2', 'davi', network, 1, paper['iterations'], paper['batch_size'], 6),
        Training('doubt_scale', 'davi', {'puzzle': 'cube2'} | small, 4 * seeds, *steps, 6),
        Training('doubt_loss', 'davi', {'puzzle': 'cube2'} | small, 2 * seeds, *steps, 6),
        Training('doubt_loss', 'davi', {'puzzle': 'cube3'} | small, 10 * seeds, *long, 12),
        Training('doubt_batches', 'davi', alone, 1, single['iterations'], single['batch_size'], 6),
        Training('adi_ablation', 'adi', book, 11 * rows['seeds'], rows['iterations'], rows['batch_size'], 6),
        Training('walks_heads', 'walks', shapes, 8 * heads['seeds'], *sizes, 0),
    ]


PICTURE = {'encoding': 'picture', 'convolutions': ((32, 8, 4), (64, 4, 2), (64, 3, 1))}


def q_learning(given: dict) -> list[Training]:
    "Those with DQN: an older network is asked about the next states, and the newest which moves to make."
    plain = {'puzzle': 'cube3', 'canonical': False, 'heads': ('moves',), 'blocks': 0}
    cube, rows, epsilon = given['dqn_cube3'], given['dqn_ablation'], given['dqn_epsilon']
    pixels = plain | PICTURE | {'hidden': cube['hidden']}
    pieces = plain | {'encoding': 'piece_one_hot', 'hidden': cube['best_hidden']}
    one_hot = plain | {'hidden': rows['hidden']}
    seen = plain | PICTURE | {'hidden': epsilon['hidden']}
    steps = epsilon['deepest'] * epsilon['steps_a_stage']
    seeds, slow_seeds = rows['seeds'], rows['picture_seeds']
    size = rows['iterations'], rows['batch_size'], 2
    best = cube['best_iterations'], cube['best_batch_size'], 1.25
    return [
        Training('dqn_cube3', 'dqn', pixels, 1, cube['iterations'], cube['batch_size'], 1.25),
        Training('dqn_cube3', 'dqn', pieces, 1, *best),
        Training('dqn_ablation', 'dqn', one_hot, 14 * seeds, *size),
        Training('dqn_ablation', 'dqn', one_hot | PICTURE, seeds + 2 * slow_seeds, *size),
        Training('dqn_epsilon', 'dqn', seen, 3 * epsilon['seeds'], steps, epsilon['batch_size'], 1.25),
    ]


def trainings(given: dict) -> list[Training]:
    "All trainings of a profile whose parameters are given, but for what their games take."
    return from_files(given) + taught_by_walks(given) + q_learning(given)


# --- rates on one H100 --------------------------------------------------------------------------------------

# Products are as fast as on the H200, the same chip
H100_BYTES = 2.3e12  # a second, 70 % of the datasheet's 3.35e12: not measured
PRODUCTS = 0.7  # of that peak, products of these widths: not measured
GRAPH_MS = 0.3  # of the host: the start of a graph and what follows it: not measured
LENGTHS_MS = 0.15  # of the host for 10,000 lengths of walks, one core
# Of a unit in training, for a state: normalisation and activation, both ways. Not measured: what Inductor
# fuses on a processor moves 24, and 6 more are read twice where a batch is larger than the cache
UNIT_BYTES = 40
END_BYTES = 6  # of a unit at the end of a block of a network that is asked; other layers are products alone
WALKS = {'puzzle': 'cube3', 'encoding': 'piece_one_hot', 'blocks': 2, 'heads': ('value', 'policy')}
PAPER = {'puzzle': 'cube3', 'hidden': [5000, 1000], 'blocks': 4}
SHIPPED, LARGER = (WALKS | {'hidden': hidden} for hidden in ([1024, 256], [2048, 640]))
TARGETS = {  # what, as in `gpu.TRAINERS` -> training, the least of it that is wanted, and the unit
    'walks, 1.03 M parameters': (Training('', 'walks', SHIPPED, 1, 1, 20_000, 0, 22), 8e6, 'states a second'),
    'walks, 4 M parameters': (Training('', 'walks', LARGER, 1, 1, 20_000, 0, 22), 5e6, 'states a second'),
    'davi, 3x3x3, paper': (Training('', 'davi', PAPER, 1, 1, 10_000, 12, 30), 0.5, 'of the peak'),
}


def rates(training: Training) -> tuple[float, float]:  # states a second, share of the peak
    "Of one H100: products, what is read and written between them, and the gaps, one after the other."
    network = built(training)
    operations, host = operations_of(training), GRAPH_MS + LENGTHS_MS * training.batch_size / 10_000
    units = sum(layer.out_features for layer in network.modules() if hasattr(layer, 'out_features'))
    ends = training.network['blocks'] * training.network['hidden'][-1]
    moved = training.batch_size * (UNIT_BYTES * units + END_BYTES * ends * training.asked)
    on_gpu = 1e3 * operations / (PRODUCTS * MEASURED_PEAK) + 1e3 * moved / H100_BYTES + training.gaps_ms
    step = max(on_gpu, host) / 1e3
    return training.batch_size / step, operations / step / MEASURED_PEAK


# --- games --------------------------------------------------------------------------------------------------


def played(  # networks, rounds, games side by side; moves and simulations before each, at most
    name: str,
    networks: int,
    rounds: int,
    games: int,
    longest: int,
    simulations: int,
    hidden: list,
) -> Part:
    "The games of one experiment; unsolved ones last to the end, so that some go on until then."
    calls = networks * rounds * longest * simulations
    leaves = games * min(1, GAME_MOVES / longest)  # of a call
    trees_ms = 1e3 * leaves / SIMULATIONS
    config = NetworkConfig(puzzle='cube2', hidden=hidden, blocks=0, heads=('outcome', 'policy'))
    on_gpu = max(2e3 * multiplications(Network(config).eval()) * leaves / NARROW, CALL_GPU_MS)
    minutes = calls * (trees_ms + max(CALL_MS, on_gpu)) / 6e4
    what = f'{networks} x {rounds} rounds of {games} games'
    return Part(name, what, minutes, calls * on_gpu / 6e4, GAMES_ROW)


def in_halves(games: int) -> tuple[float, float]:  # simulations a second
    "As measured, when all games waited for each call, and at most in halves, which share the host."
    measured = SEARCHES.simulations_per_second[f'self-play, {games} games']
    trees_ms = 1e3 * games / measured - CALL_MS
    return measured, 1e3 * games / max(trees_ms, trees_ms / 2 + CALL_MS)


def games(given: dict) -> list[Part]:
    "All self-play of a profile; alphazero_published measures kept networks."
    cube, rows = given['alphazero_cube2'], given['alphazero_ablation']
    rounds = cube['iterations'] // cube['updates']
    size = cube['episodes'], cube['max_moves'], max(cube['simulations'])[1], cube['hidden']
    plays = [played('alphazero_cube2', 1, rounds, *size)]
    rounds = rows['iterations'] // rows['updates']
    size = rows['episodes'], rows['max_moves'], rows['simulations'], rows['hidden']
    plays.append(played('alphazero_ablation', 3 * rows['seeds'], rounds, *size))
    return plays


# --- searches -----------------------------------------------------------------------------------------------


def beam_seconds(widths: list, cubes: int, layers: float = LAYERS) -> float:
    "Of beams of these widths: what the host needs for the layers, or what they sort."
    return cubes * sum(max(layers * LAYER_S, width * BEAM_NODES / BEAM) for width in widths)


def timed(values: dict) -> float:
    "Searches with a limit in seconds, and beams."
    limits = sum(limit * cubes for limit, cubes in values['seconds'])
    return limits + beam_seconds(values['widths'], values['cubes'])


def league_seconds(values: dict) -> float:
    "Of all matches."
    nodes, cubes = values['bwas']
    width, others = values['others']
    return timed(values) + cubes * nodes / ASTAR + beam_seconds([5 * width], others)


def lengths_seconds(values: dict) -> float:
    "Of all solvers; MCTS takes all its searches on full scrambles, and few on short ones."
    cubes = values['cubes'] + values['full_cubes']
    trees = values['max_searches'] * values['full_cubes'] * (CALL_MS / 1e3 / LEAVES + 1 / SIMULATIONS)
    return values['seconds'] * cubes + trees + beam_seconds([values['width']], cubes)


def trees_seconds(values: dict) -> float:
    "Of all networks, half of whose cubes take all searches: `LEAVES` in a call, and one by one for the ways."
    own, most, ways = len(values['runs']), values['max_searches'], values['path_searches']
    rounds = (own + 1) * most / LEAVES + own * 2 * ways
    searches = (own + 1) * values['cubes'] * most + own * 2 * values['path_cubes'] * ways
    return len(values['depths']) / 2 * (rounds * CALL_MS / 1e3 + searches / (HELD * SIMULATIONS))


def large_seconds(values: dict) -> float:
    "Of the kept networks, each with a beam over all children and with weighted A*: both ask about all nodes."
    cubes = values['cubes'] * len(values['runs']) * (len(values['milestones']) + 1)
    network = Network(NetworkConfig(hidden=[5000, 1000], blocks=4)).eval()
    nodes = BEAM_NODES * values['width'] + values['max_nodes']
    products = 2 * multiplications(network) * nodes / WIDE
    return beam_seconds([values['width']], cubes) + cubes * (products + values['max_nodes'] / ASTAR)


def searched(given: dict) -> list[Part]:
    "What of searches follows from parameters."
    heads, equal = given['walks_heads'], given['equal_compute']
    beams = beam_seconds(heads['widths'], heads['cubes'], heads['layers'])  # most go to the end
    on_layers = LAYER_KERNELS * KERNEL_US / 1e6 / LAYER_S
    limits = 'limits in seconds'
    found = {  # seconds, the share of them that the GPU is taken, and the rows
        'league': (league_seconds(given['league']), 1, f'{limits}; weighted A*; {BEAM_ROW}'),
        'larger_network': (2 * timed(given['larger_network']), 1, f'{limits}; {BEAM_ROW}'),
        'solution_lengths': (lengths_seconds(given['solution_lengths']), 1, f'{limits}; {GAMES_ROW}'),
        'adi_cube3': (trees_seconds(given['adi_cube3']), CALL_GPU_MS / CALL_MS, GAMES_ROW),
        'walks_heads': (8 * heads['seeds'] * beams, on_layers, BEAM_ROW),
        'large_networks': (large_seconds(given['large_networks']), 0.4, f'weighted A*; {PAPER_ROW}'),
        'equal_compute': (13 * equal['seeds'] * equal['seconds'], 0, limits),  # of the processor
    }
    parts = []
    for name, (seconds, share, row) in found.items():
        rows = row, row if share == 1 else NOT_MEASURED, LEAST_MB if share else 0
        parts.append(Part(name, 'searches', seconds / 60, share * seconds / 60, *rows))
    return parts


# --- all of it ----------------------------------------------------------------------------------------------


def all_parts(by_name: dict[str, Job]) -> list[Part]:
    "What of the experiments of a profile follows from their parameters."
    given = {name: job.parameters for name, job in by_name.items()}
    learnt = list(map(trained, trainings(given)))
    return learnt + games(given) + searched(given)


class Running(NamedTuple):
    "A job under way."

    name: str  # of the experiment
    cost: Cost
    left: float  # minutes, if it had the machine for itself

    @property
    def use(self) -> float:
        "The share of its time in which the GPU computes."
        return self.cost.gpu_minutes / self.cost.minutes


def speeds(running: list[Running]) -> list[float]:
    "How fast each job goes on, of its own speed: they share the GPU where they want more than there is."
    slower, most = 1.0, 100.0
    wanted = sum(job.use for job in running)
    while wanted > 1 and most - slower > 1e-6:
        middle = (slower + most) / 2
        taken = sum(job.use / (1 - job.use + job.use * middle) for job in running)
        slower, most = (middle, most) if taken > 1 else (slower, middle)
    return [1 / (1 - job.use + job.use * slower) for job in running]


def fits(cost: Cost, running: list[Running]) -> bool:
    "Whether there are cores and memory of the GPU for one job more."
    threads = sum(job.cost.threads for job in running) + min(cost.threads, CORES)
    return threads <= CORES and sum(job.cost.gpu_mb for job in running) + cost.gpu_mb <= SMALLEST_A100


def begin(order: list[str], by_name: dict[str, Job], todo: dict, left: dict, running: list[Running]) -> None:
    "Start every share of a job that is ready and fits, the most urgent first."
    for name in order:
        job = by_name[name]
        ready = not any(left[need] for need in job.experiment.needs)
        while ready and todo[name] and fits(job.cost, running):
            todo[name] -= 1
            running.append(Running(name, job.cost, job.cost.minutes / job.cost.parts))


def schedule(by_name: dict[str, Job]) -> tuple[float, float]:  # minutes in all, and those of the GPU
    "Lay the jobs out as Snakemake starts them."
    order = sorted(by_name, key=partial(urgency, by_name=by_name), reverse=True)
    todo = {name: job.cost.parts for name, job in by_name.items()}  # shares that have not begun
    left = dict(todo)  # shares that have not ended
    running, now, on_gpu = [], 0.0, 0.0
    while any(left.values()):
        begin(order, by_name, todo, left, running)
        rates = speeds(running)
        step = min(job.left / rate for job, rate in zip(running, rates))
        now += step
        on_gpu += step * sum(job.use * rate for job, rate in zip(running, rates))
        running = [job._replace(left=job.left - step * rate) for job, rate in zip(running, rates)]
        for job in running:
            left[job.name] -= job.left < 1e-6
        running = [job for job in running if job.left >= 1e-6]
    return now, on_gpu


def held(by_name: dict[str, Job]) -> float:
    "The minutes in which a job has the machine for itself, so that the GPU counts as taken."
    return sum(job.cost.gpu_minutes for job in by_name.values() if job.cost.threads >= CORES)


def sums(name: str, parts: list[Part]) -> tuple[float, float, float]:
    "Minutes of an experiment, those of the GPU, and the most of its memory, as far as they follow."
    own = [part for part in parts if part.experiment == name]
    most = max((part.gpu_mb for part in own), default=0)
    return sum(part.minutes for part in own), sum(part.on_gpu for part in own), most


def main() -> None:
    "Print a line for each part, then the sum of each experiment beside the profile's, then the whole."
    by_name = jobs('a100')
    parts = all_parts(by_name)
    for part in parts:
        takes = f'{part.minutes:6.1f} minutes, {part.on_gpu:6.1f} of the GPU, {part.gpu_mb:6,.0f} MB'
        rows = part.row if part.gpu_row == part.row else f'{part.row}; GPU {part.gpu_row}'
        print(f'{part.experiment:19} {part.what:37} {takes} | {rows}')
    print()
    for name, job in by_name.items():
        (minutes, on_gpu, most), cost = sums(name, parts), job.cost
        on_host = f'{minutes:6.1f} + the rest {cost.minutes - minutes:5.1f} = {cost.minutes:5.1f} minutes'
        gpu = f'{on_gpu:6.1f} of {cost.gpu_minutes:5.1f} of the GPU'
        print(f'{name:20} {on_host}; {gpu}, {most:6,.0f} of {cost.gpu_mb:6,} MB')
    print(f'\nof an H200 an A100 is {ARITHMETIC:.2f} in products, {MEMORY:.3f} in memory')
    rests = sum(part.on_gpu for part in parts if part.gpu_row != NOT_MEASURED)
    print(f'{rests:.0f} minutes of the GPU rest on measured rows\n')
    for what, (training, least, unit) in TARGETS.items():
        per_second, share = rates(training)
        paper = f'{per_second / 1e6:5.1f} million states a second, {share:4.0%}'
        print(f'{what:32} {paper}; at least {least:,} {unit}')
    for games in (80, 2000):
        before, after = in_halves(games)
        print(
            f'self-play, {games} games: {before:,.0f} a second, in halves at most {after / before:.2f} times'
        )
    minutes, on_gpu = schedule(by_name)
    print(
        f'{minutes / 60:.1f} hours on {CORES} cores and a GPU, taken in {on_gpu / minutes:.0%} of them, '
        f'which computes in {(on_gpu - held(by_name)) / minutes:.0%} or more'
    )


if __name__ == '__main__':
    main()
