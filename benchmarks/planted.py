"""Plant changes in a copy of the checkout, one at a time, and ask what is stale: exactly the right results must be.

    python benchmarks/planted.py [--share 0.1] [--seed N]

100 changes change a result, 100 change none; nothing is computed, only asked. In the copy every result has a record of
today, so at first nothing is stale.

Which results are the right ones is not taken from the analysis that is tested. `DOORS` was written by hand: who comes to
a piece of the library comes through one of these doors, that is, imports that name in its notebook, or looks up that name
when it runs. What was looked up is in the records of the committed runs, so it was seen and not derived; of a network it
is its method and its puzzle. For files and parameters, `workflow/*.yaml` is read as it is.
"""

import ast
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml
from kept_rows import new_parser

from cube_nb.workshop import pipeline, trained
from cube_nb.workshop.profiles import experiments, networks
from cube_nb.workshop.reach import CONCLUDES
from cube_nb.workshop.results import checksum

ROOT = Path(__file__).resolve().parents[1]
COUNT = 100  # of each kind

ADI, DAVI = 'AdiLearner method:adi', 'DaviLearner method:davi'
DQN, WALKS = 'DqnLearner method:dqn', 'WalkLearner method:walks'
TAUGHT = 'AlphaZeroLearner method:alphazero'
GAMES = f'{TAUGHT} SelfPlay solver:alphazero'
TREES = f'{GAMES} MctsRun solver:mcts'
SAMPLED = f'repair_populations known_populations {WALKS}'
REPAIRED = f'{SAMPLED} depth_given_moves expected_depth'
CHAIN = f'{REPAIRED} transition_matrix after_moves jump_probabilities'
COUNTED = f'depth_after walk_distribution neighbour_table sum_by_depth {WALKS}'
CUBES = 'puzzle:cube2 puzzle:cube3 puzzle:cube2-htm puzzle:cube3-htm'
PUZZLES = f'{CUBES} puzzle:cube4 puzzle:pyraminx puzzle:skewb'
NETWORKS = 'train load_network network_evaluator'

DOORS = {  # pieces of the library -> the doors through which they are come to
    'depth.markov.growth_factor depth.markov.posterior_populations': 'growth_factor posterior_populations',
    'depth.markov.expected_depth': 'expected_depth',
    'depth.markov._repair_by_hand depth.markov._misfit': SAMPLED,
    'depth.markov.memory_matrix': REPAIRED,
    'depth.markov.check_populations depth.markov._leaving depth.markov.flows': CHAIN,
    'depth.exact._step depth.exact.walk_distribution': 'depth_after walk_distribution',
    'depth.exact.unevenness depth.exact.scramble_depths': 'unevenness scramble_depths',
    'depth.exact.total_variation': 'total_variation',
    'depth.exact.sum_by_depth': COUNTED,
    'depth.exact.shortest_word_counts': 'shortest_word_counts',
    'depth.evaluator.exact_evaluator': 'exact_evaluator',
    'search.beam.next_layer search.beam.BeamOptions search.beam.nearest_known': 'solver:beam',
    'search.beam.trace_back search.beam.CHUNK depth.exact.shortest_solutions': 'solver:beam',
    'search.bwas._pop search.bwas._relax search.bwas.BwasOptions search.bwas.PART': 'solver:bwas',
    'search.greedy.best_children search.greedy.GreedyOptions': 'solver:greedy',
    'search.improve.next_width search.improve.window_size search.improve.GROWTH': 'solver:improve',
    'search.mcts.MctsOptions': 'MctsRun solver:mcts',
    'search.mcts.puct_score search.mcts.q_value search.mcts.backup_path': TREES,
    'search.selfplay.choose_moves search.selfplay.GameOptions': GAMES,
    'search.selfplay.AlphaZeroOptions search.selfplay.game_solution': 'solver:alphazero',
    'exact.ida._depth_first exact.ida.words_automaton exact.patterns._rank exact.ida.SMALL_VIEWS': 'solver:ida',
    'exact.two_phase.kociemba': 'solver:kociemba',
    'learn.adi.adi_targets learn.adi.ERROR_DECAY learn.adi.AdiConfig learn.adi.DepthErrors': ADI,
    'learn.davi.bellman_backup learn.davi.child_costs learn.davi.DaviConfig': DAVI,
    'learn.dqn.q_targets learn.dqn.n_step_transitions learn.dqn.DqnLearner.epsilon': DQN,
    'learn.dqn.greedy_actions learn.dqn.play_greedily': 'play_greedily',
    'learn.alphazero.game_outcome learn.alphazero.AlphaZeroLearner.loss': TAUGHT,
    'learn.walks.depth_labels learn.walks.value_labels learn.walks.moves_back': WALKS,
    'learn.walks.walk_lengths learn.walks.ScrambleLearner.given': f'{ADI} {DAVI} {WALKS}',  # a parent class
    'learn.replay.error_priorities learn.replay.MIN_ERROR': f'{ADI} {DQN}',
    'learn.parts.TargetNetwork.after_step': f'{ADI} {DAVI} {DQN}',
    'learn.loop.KeepBest': 'KeepBest',
    'learn.loop.SMALL_RUN': 'method:adi method:alphazero method:davi method:dqn method:walks',
    'learn.loop.decay_schedule learn.loop.Learner.take_step': 'train',
    'learn.loop.TrainConfig': 'train AdiConfig AlphaZeroConfig DaviConfig DqnConfig WalksConfig',
    'nets.networks.convolutional_layers nets.networks.Residual': NETWORKS,
    'nets.networks.patient_chunk_size': 'network_evaluator beam_accuracy method:alphazero',
    'cube.encoding._identity cube.encoding._pieces_by_code cube.encoding.pixel_map': NETWORKS,
    'cube.cubies.cube_with_moves cube.cubies.random_cubes': CUBES,
    'cube.cubies.puzzle:cube2-htm': 'puzzle:cube2-htm',
    'cube.cubies.puzzle:cube3-htm': 'puzzle:cube3-htm',
    'cube.pyraminx.pyraminx cube.pyraminx.FLAT cube.pyraminx.puzzle:pyraminx': 'puzzle:pyraminx',
    'cube.skewb.AXES cube.skewb.skewb cube.skewb.puzzle:skewb': 'puzzle:skewb',
    'cube.geometry.clockwise cube.geometry.permutation cube.geometry.layer_turns': PUZZLES,
    'cube.drawing.draw_strip cube.drawing.camera': 'draw_strip',
    'measure.evaluate.beam_accuracy': 'beam_accuracy',
    'measure.evaluate.summarise': 'summarise beam_accuracy',
    'measure.evaluate.summary_row': 'summarise summary_row beam_accuracy',
    'measure.evaluate.ratio_columns': 'ratio_columns',
    'measure.figures.calibration': 'calibration',
    'measure.figures.plot_cost': 'plot_cost',
    'measure.figures.whole_ticks': 'whole_ticks plot_training',
}


class Plant(NamedTuple):
    "A change to plant."

    kind: str
    path: str  # of the file, relative to the root
    text: str  # of the file with the change
    right: set  # names of the results that must be stale


# --- Facts that are not derived by the analysis -------------------------------------------------------------


def read(path):
    "The text of a file, whose path is relative to the root."
    return (ROOT / path).read_text(encoding='utf-8')


def imported(code):
    "The names that a notebook imports from the library."
    froms = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in froms if node.module.startswith('cube_nb') for alias in node.names}


def looked_up(name):
    "What an experiment looked up by name when it ran last; nothing, where it never did."
    path = f'data/cpu/{name}.json'
    return json.loads(read(path))['looked_up'] if (ROOT / path).exists() else []


def facts():
    "For each result the doors that it takes: what it imports, and what it looked up when it ran."
    found = {}
    for name in experiments():
        cells = json.loads(read(f'nbs/experiments/{name}.ipynb'))['cells']
        code = '\n'.join(''.join(cell['source']) for cell in cells if cell['cell_type'] == 'code')
        found[name] = imported(code) | {*looked_up(name)}
    for name, network in networks().items():
        config = yaml.safe_load(read(f'workflow/configs/{network.config}'))
        puzzle = config['network'].get('puzzle', 'cube3')
        found[name] = {'train', f'method:{network.method}', f'puzzle:{puzzle}'}
    return found


def readers(path):
    "The experiments whose entry says that they read a file."
    entries = yaml.safe_load(read('workflow/experiments.yaml'))
    reads = {name: (entry or {}).get('reads', []) for name, entry in entries.items()}
    return {name for name, patterns in reads.items() if any(fnmatch(path, pattern) for pattern in patterns)}


# --- Changes that change a result ---------------------------------------------------------------------------

PAIRS = 'Add Sub, Sub Add, Mult Add, Div Mult, FloorDiv Mult, Mod Add, Pow Mult, MatMult Mult, BitAnd BitOr, BitOr BitAnd'
PAIRS += ', Lt LtE, LtE Lt, Gt GtE, GtE Gt, Eq NotEq, NotEq Eq'
OPERATORS = {getattr(ast, one): getattr(ast, other) for one, other in map(str.split, PAIRS.split(', '))}


def in_annotations(node):
    "The nodes in annotations, which do nothing in a function."
    notes = [getattr(part, field, None) for part in ast.walk(node) for field in ('annotation', 'returns')]
    return {inner for note in notes if note is not None for inner in ast.walk(note)}


def changes(node):  # yields (kind, the node that is changed, its field, what it is then)
    "All changes of an operator, a constant or a default inside of a statement."
    skipped = in_annotations(node)
    defaults = {each for part in ast.walk(node) if isinstance(part, ast.arguments) for each in part.defaults}
    for part in ast.walk(node):
        match part:
            case _ if part in skipped:
                pass
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float()):
                yield 'default' if part in defaults else 'constant', part, 'value', 2 * part.value + 1
            case ast.BinOp(op=sign) if type(sign) in OPERATORS:
                yield 'operator', part, 'op', OPERATORS[type(sign)]()
            case ast.Compare(ops=[sign]) if type(sign) in OPERATORS:
                yield 'operator', part, 'ops', [OPERATORS[type(sign)]()]


def changed(rng, tree, statements):
    "Make one change in some statements of a tree. Returns its kind, and the text of the whole."
    kind, part, field, value = rng.choice([change for each in statements for change in changes(each)])
    setattr(part, field, value)
    return kind, ast.unparse(tree)


def statements_of(tree, name):
    "The statements that make a piece of a module: a definition, a method that is added, a constant, a registration."
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(decorator_list=[ast.Name('patch') | ast.Call(ast.Name('patch')), *_]):
                own = f'{ast.unparse(statement.args.args[0].annotation)}.{statement.name}'
            case ast.FunctionDef() | ast.ClassDef():
                own = statement.name
            case ast.Assign(targets=[ast.Name(id=own)]) | ast.AnnAssign(target=ast.Name(id=own)):
                pass
            case ast.Expr(value=ast.Call(func=ast.Name(id=function), args=[ast.Constant(value=first), *_])):
                own = f'{function.removeprefix("register_")}:{first}'
            case _:
                continue
        if own == name:
            yield statement


def results_behind(doors, known):
    "The results that take one of these doors."
    return {result for result, taken in known.items() if taken & {*doors.split()}}


def in_library(rng, known):
    "A change in each of the pieces of `DOORS`."
    pieces = [(piece, doors) for names, doors in DOORS.items() for piece in names.split()]
    rng.shuffle(pieces)
    for piece, doors in pieces:
        room, module, name = piece.split('.', 2)
        path = f'cube_nb/{room}/{module}.py'
        tree = ast.parse(read(path))
        kind, text = changed(rng, tree, [*statements_of(tree, name)])
        yield Plant(f'{kind} in {piece}', path, text, results_behind(doors, known))


def by_hand(known):
    "Four changes that were thought out: a constant, a default, a row of a move table, the step of the optimiser."
    for path, old, new, doors in [
        ('depth/markov', 'SAMPLE = {16: 1,', 'SAMPLE = {16: 2,', f'SAMPLE {SAMPLED}'),
        ('search/beam', 'width: Whole = Field(1 << 14,', 'width: Whole = Field(1 << 13,', 'solver:beam'),
        ('cube/cubies', "'Rw': 'x L'", "'Rw': 'x R'", CUBES),
        ('learn/loop', 'lr=config.learning_rate,', 'lr=2 * config.learning_rate,', 'train'),
    ]:
        path = f'cube_nb/{path}.py'
        text, right = read(path), results_behind(doors, known)
        assert text.count(old) == 1, (path, old)
        yield Plant(f'by hand, {old!r} -> {new!r}', path, text.replace(old, new), right)


def cells_of(path):
    "A notebook without outputs, and those of its cells that may be changed."
    notebook = json.loads(read(path))
    cells = [cell for cell in notebook['cells'] if cell['cell_type'] == 'code']
    for cell in cells:
        cell['source'], cell['outputs'] = ''.join(cell['source']), []
    plain = [cell for cell in cells if not cell['metadata'].get('tags')]
    return notebook, [
        cell for cell in plain if f'@{CONCLUDES}' not in cell['source']
    ]  # which changes no result


def in_notebooks(rng):
    "Changes of a constant or an operator in a cell of an experiment."
    for name in rng.sample([*experiments()], 12):
        path = f'nbs/experiments/{name}.ipynb'
        notebook, cells = cells_of(path)
        trees = {number: ast.parse(cell['source']) for number, cell in enumerate(cells)}
        number = rng.choice([number for number, tree in trees.items() if [*changes(tree)]])
        kind, cells[number]['source'] = changed(rng, trees[number], trees[number].body)
        yield Plant(f'{kind} in {name}.ipynb', path, json.dumps(notebook), {name})


def in_workflow(rng):
    "Changes of a parameter in a profile, and of a file that is read."
    path = 'workflow/profiles/cpu.yaml'
    profile = yaml.safe_load(read(path))
    given = profile['experiments']
    whole = [(name, key) for name in given for key, value in given[name].items() if type(value) is int]
    for name, key in rng.sample(whole, 8):
        other = {**given, name: {**given[name], key: given[name][key] + 1}}
        text = yaml.safe_dump({**profile, 'experiments': other})
        yield Plant(f'parameter {key} of {name}', path, text, {name})
    for name, network in rng.sample([*networks().items()], 4):
        path = f'workflow/configs/{network.config}'
        text = yaml.safe_dump({**yaml.safe_load(read(path)), 'seed': 12345})
        right = readers(path) | {each for each, other in networks().items() if other.config == network.config}
        yield Plant(f'parameter seed of {name}', path, text, right)
    for path in sorted((ROOT / 'data').glob('[pmts][ueo]*/*.csv')):  # published, measured, test, sources
        own = path.relative_to(ROOT).as_posix()
        if readers(own):
            yield Plant(f'file {own}', own, read(own) + '\n', readers(own))


# --- Changes that change none -------------------------------------------------------------------------------


def with_comments(text, rng):
    return re.sub('^(?=def |class |@)', '# A comment that says 1 + 1.\n', text, flags=re.MULTILINE)


def with_docstring(text, rng):
    tree = ast.parse(text)
    told = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and ast.get_docstring(node)]
    rng.choice(told).body[0].value.value = 'Said in other words.'
    return ast.unparse(tree)


def with_layout(text, rng):
    return ast.unparse(ast.parse(text))


def is_plain(node):
    "Whether a node is a function without decorators, whose annotations do nothing."
    return isinstance(node, ast.FunctionDef) and not node.decorator_list


def with_annotations(text, rng):
    tree = ast.parse(text)
    node = rng.choice([node for node in tree.body if is_plain(node)])
    for argument in [node, *node.args.args]:
        setattr(argument, 'returns' if argument is node else 'annotation', ast.Constant('Anything'))
    return ast.unparse(tree)


def with_other_order(text, rng):
    "Two functions that follow each other change places."
    tree = ast.parse(text)
    pairs = [place for place, two in enumerate(pairwise(tree.body)) if all(map(is_plain, two))]
    place = rng.choice(pairs)
    tree.body[place : place + 2] = reversed(tree.body[place : place + 2])
    return ast.unparse(tree)


def with_unused(text, rng):
    return f'{text}\n\ndef nobody_calls_this(beam, bfs=3):\n    return beam + bfs + {rng.random()}\n'


DISGUISES = with_comments, with_docstring, with_layout, with_annotations, with_other_order, with_unused


def harmless(rng):
    "Changes that change no result, in modules and in notebooks, and an experiment that is new: it alone is stale."
    found = {}  # text of a file -> the change, each once
    modules = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / 'cube_nb').rglob('[a-z]*.py'))]
    while len(found) < COUNT - 1:
        disguised = DISGUISES[len(found) % len(DISGUISES)]
        try:
            if len(found) % 4:
                path = rng.choice(modules)
                text = disguised(read(path), rng)
            else:
                path = f'nbs/experiments/{rng.choice([*experiments()])}.ipynb'
                notebook, cells = cells_of(path)
                cell = rng.choice(cells)
                cell['source'] = disguised(cell['source'], rng)
                text = json.dumps(notebook)
        except IndexError:  # nothing of the kind is there
            continue
        found[text] = Plant(f'{path} {disguised.__name__}', path, text, set())
    path = 'workflow/experiments.yaml'
    return [*found.values(), Plant('another experiment', path, f'{read(path)}\nnew_one:\n', {'new_one'})]


NEW = """
import pandas as pd
from cube_nb.workshop.results import Run
run = Run('new_one', globals())
run.table(pd.DataFrame({'x': [1]}), 'new_one')
"""


# --- Asking -------------------------------------------------------------------------------------------------


def copy_checkout(folder):
    "What decides which results are stale: library, experiments, workflow and the files that are read."
    left_out = shutil.ignore_patterns('__pycache__', 'cpu', 'a100', 'reference', 'smoke')
    for name in ('cube_nb', 'nbs/experiments', 'workflow', 'data'):
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    cells = [("profile: str = 'scratch'\nseed: int = 0", ['parameters']), (NEW, [])]
    made = [dict(cell_type='code', metadata={'tags': tags}, source=code) for code, tags in cells]
    (folder / 'nbs/experiments/new_one.ipynb').write_text(json.dumps({'cells': made}))


def write_record(path, record):
    "A record with the checksums of its results; those that are not there are empty files."
    for result in map(Path, record['results']):
        result.parent.mkdir(parents=True, exist_ok=True)
        result.touch()
    record['results'] = {result: checksum(Path(result)) for result in record['results']}
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(record))


def write_records():
    "A record of today for every result of the checkout in the working directory."
    for name, job in pipeline.jobs('cpu').items():
        found = looked_up(name)
        write_record(f'data/cpu/{name}.json', {**pipeline.origin(job, found), 'looked_up': found})
    for name, network in networks().items():
        write_record(f'data/networks/{name}.json', trained.origin(network))


def wrong_with(plant):
    "What is wrong with the answer to a change; empty if it is right."
    path = Path(plant.path)
    before = path.read_bytes()
    path.write_text(plant.text, encoding='utf-8')
    try:
        found = {*pipeline.stale('cpu'), *trained.stale_networks()}
    finally:
        path.write_bytes(before)
    wrong = {'missed': plant.right - found, 'needless': found - plant.right}
    return '; '.join(f'{word}: {", ".join(sorted(names))}' for word, names in wrong.items() if names)


def drawn(rng, plants, share):
    "A share of a hundred changes, each group of them in its part; what was thought out by hand is always there."
    first, *others = map(list, plants)
    rest = [plant for group in others for plant in group]
    return first + rng.sample(rest, max(0, min(round(share * COUNT) - len(first), len(rest))))


def main(share, seed):
    "Plant the changes, print what is wrong, and return how many answers were wrong."
    rng = random.Random(seed)
    os.chdir(ROOT)
    known = facts()
    changing = [by_hand(known), in_library(rng, known), in_notebooks(rng), in_workflow(rng)]
    planted = {'change a result': drawn(rng, changing, share)}
    planted['change none'] = drawn(rng, [[], harmless(rng)], share)
    wrong = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy_checkout(Path(folder))
        os.chdir(folder)
        # the library of the copy trains
        trained.getfile = {trained.train: f'{folder}/cube_nb/learn/loop.py'}.get
        write_records()
        assert not pipeline.stale('cpu') and not trained.stale_networks()
        for sort, plants in planted.items():
            for plant in plants:
                if words := wrong_with(plant):
                    wrong[sort] += 1
                    print(f'WRONG {plant.kind}: {words}', flush=True)
            print(f'{len(plants)} changes that {sort}: {wrong[sort]} wrong answers', flush=True)
        os.chdir(ROOT)
    return sum(wrong.values())


if __name__ == '__main__':
    parser = new_parser(__doc__)
    parser.add_argument('--share', type=float, default=1.0, help='of the 200 changes')
    parser.add_argument('--seed', type=int, default=0)
    asked = parser.parse_args()
    sys.exit(min(main(asked.share, asked.seed), 1))
