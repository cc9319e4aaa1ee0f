"The script for a borrowed GPU, all of it at tiny sizes on the processor, without what makes notebooks, and the plan."

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.loop import get_method, read_config
from cube_nb.workshop.pipeline import SMALLEST_A100, Job, jobs, notebook_code
from cube_nb.workshop.profiles import Cost, Experiment
from cube_nb.nets.weights import load_network
import gpu
import plan

ROOT = Path(__file__).parents[2]


WITHOUT = ('nbdev', 'papermill', 'snakemake', 'nbformat', 'nbclient', 'execnb', 'jupytext', 'IPython')
PIECES = ('trainers', 'searches', 'network', 'lengths')
START = f"""
import sys
sys.modules.update(dict.fromkeys({WITHOUT}))  # an import of these fails
sys.path.insert(0, 'benchmarks')
import gpu
for piece in {PIECES}:
    gpu.main(gpu.read_arguments([piece, *sys.argv[1:]]))
"""


def options(output):
    "Tiny sizes on the processor."
    return ['--tiny', '--device', 'cpu', '--output', str(output)]


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    "What all pieces have left, done in a process that has nothing that makes notebooks."
    output = tmp_path_factory.mktemp('gpu')
    command = [sys.executable, '-c', START, *options(output)]
    environment = os.environ | {'PYTHONPATH': str(ROOT)}
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    return output


@pytest.fixture
def output(whole, tmp_path):
    "A copy of it."
    return shutil.copytree(whole, tmp_path / 'gpu')


def rows_of(output, piece):
    "The rows that a piece of the script has left."
    rows = [json.loads(line) for line in (output / 'gpu.jsonl').read_text().splitlines()]
    return [row for row in rows if row['piece'] == piece]


def again(output, piece):
    "The rows of a piece after it is done once more, in this process."
    gpu.main(gpu.read_arguments([piece, *options(output)]))
    return rows_of(output, piece)


@pytest.mark.slow
@pytest.mark.parametrize('piece', ['trainers', 'searches'])
def test_every_training_and_search_is_measured(whole, piece):
    "Every row has its numbers, and no item failed."
    rows = rows_of(whole, piece)
    assert len(rows) >= 7 and not [row for row in rows if 'failed' in row]
    rates = [value for row in rows for key, value in row.items() if key.endswith('per_second')]
    assert len(rates) >= len(rows) - 1 and min(rates) > 0


@pytest.mark.slow
def test_searches_are_measured_once(output, capsys):
    rows = rows_of(output, 'searches')
    assert again(output, 'searches') == rows
    assert capsys.readouterr().out.count('measured before') == len(rows)


@pytest.mark.slow
def test_the_large_network_goes_on_from_what_it_left(output):
    rows = again(output, 'network')
    assert [row['start'] for row in rows] == ['cube3-walks-large.safetensors', 'cube3-walks-gpu.safetensors']
    assert (output / 'cube3-walks-gpu.safetensors').exists()


@pytest.mark.slow
def test_every_network_has_its_beams_once(output):
    before = (output / 'lengths.csv').read_text()
    gpu.main(gpu.read_arguments(['lengths', *options(output)]))
    assert (output / 'lengths.csv').read_text() == before
    beams = pd.read_csv(output / 'lengths.csv')
    assert not beams.duplicated(['network', 'width', 'cube']).any() and len(beams) == 3 * 2 * 2
    assert {'cube3-walks', 'cube3-walks-gpu'} < set(beams.network) and beams.nodes.min() > 0


@pytest.fixture(scope='module')
def experiments():
    "All experiments of the profile a100."
    return jobs('a100')


def test_the_profile_has_room_for_what_the_plan_adds_up(experiments):
    parts = plan.all_parts(experiments)
    for name, job in experiments.items():
        minutes, on_gpu, most = plan.sums(name, parts)
        assert minutes <= job.cost.minutes, name
        assert on_gpu <= job.cost.gpu_minutes <= job.cost.minutes, name
        assert most <= (job.cost.gpu_mb or plan.LEAST_MB), name


def test_every_training_of_the_profile_is_in_the_plan(experiments):
    planned = {part.experiment for part in plan.all_parts(experiments)}
    training = {name for name, job in experiments.items() if trains(notebook_code(job))}
    own_rules = {name for name in training if experiments[name].parameters.get('kept') is True}
    assert training - own_rules - planned == {
        'other_puzzles'
    }  # minutes of a processor, as in the profile cpu


def trains(code):
    "Whether a notebook trains networks."
    return 'train(' in code


def test_the_papers_runs_are_a_day_of_a_gpu_on_paper(experiments):
    costs = [job.cost for job in experiments.values()]
    assert sum(cost.minutes * cost.threads for cost in costs) / plan.CORES <= 24 * 60
    for cost in costs:
        assert cost.gpu_mb <= SMALLEST_A100 and bool(cost.gpus) == bool(cost.gpu_mb) == bool(cost.gpu_minutes)
    minutes, on_gpu = plan.schedule(experiments)
    assert minutes <= 24 * 60
    assert on_gpu == pytest.approx(sum(cost.gpu_minutes for cost in costs), rel=0.001)
    assert (on_gpu - plan.held(experiments)) / minutes > 0.6  # the GPU computes in most of it


CONFIGS = ROOT / 'workflow/configs'


def test_deepcubea_and_a_network_as_large_from_walks_are_trained_whole(experiments):
    given = experiments['large_networks'].parameters
    assert given['runs'] == [['davi', 'davi-cube3-source'], ['walks', 'walks-cube3-a100']]
    assert not given['toy']
    paper = read_config(get_method('davi').config, CONFIGS / 'davi-cube3-source.yaml')
    assert (paper.network.hidden, paper.network.blocks, paper.max_depth) == ((5000, 1000), 4, 30)
    assert (paper.batch_size, paper.iterations, paper.checkpoint_every) == (10_000, 1_000_000, 5000)
    whole, *_ = [part for part in plan.all_parts(experiments) if '1,000,000 steps of davi' in part.what]
    assert min(given['milestones']) == 200_000
    assert 100 < whole.minutes * 200_000 / paper.iterations < 130  # two hours, as the source had
    shipped = load_network('cube3-walks').config.hidden
    larger = read_config(get_method('walks').config, CONFIGS / 'walks-cube3-a100.yaml')
    assert min(larger.network.hidden) >= 4 * min(shipped) and larger.iterations in given['milestones']


def test_the_books_eight_configurations_are_run_as_they_are_written(experiments):
    of_the_book = {
        path.stem for path in CONFIGS.glob('adi-*.yaml') if 'Not one of the eight' not in path.read_text()
    }
    run = set()
    for name in ('adi_cube2', 'adi_cube3'):
        given = experiments[name].parameters
        assert given['as_written']  # no parameter overrides a configuration
        run |= {f'{name.replace("_", "-")}-{target}' for target in given['runs']}
    assert len(of_the_book) == 8 and of_the_book <= run


def test_alphazero_dqn_and_the_searches_have_their_full_size(experiments):
    given = {name: job.parameters for name, job in experiments.items()}
    published = given['alphazero_published']
    assert published['rounds'] * published['episodes'] == 100 * 80
    assert given['alphazero_cube2']['episodes'] >= 2000
    pixels, epsilon = given['dqn_cube3'], given['dqn_epsilon']
    assert pixels['deepest'] == epsilon['deepest'] == 10 and pixels['hidden'] == [1024, 512]
    assert (
        pixels['patience'] * pixels['episodes'] == epsilon['steps_a_stage'] * epsilon['episodes'] == 200_000
    )
    assert given['league']['cubes'] == 1000
    assert given['solution_lengths']['full_cubes'] == 326 and given['solution_lengths']['turns'] == 15
    assert given['walks_heads']['puzzle'] == 'cube3' and given['walks_heads']['hidden'] == [1024, 512]


def test_weighted_a_star_is_shared_out_to_more_cores_than_one(experiments):
    cost = experiments['bwas_cube3'].cost
    assert cost.parts * cost.threads <= plan.CORES and cost.parts * plan.ASTAR >= 1.5e6


def test_products_are_in_bfloat16_where_a_gpu_trains(experiments):
    for name, job in experiments.items():
        if job.cost.gpus and 'precision' in job.parameters:
            assert job.parameters['precision'] == 'bfloat16', name
        if job.cost.gpus:
            assert "'float32'" not in notebook_code(job), name
    for path in CONFIGS.glob('*.yaml'):
        as_published = path.stem == 'alphazero-cube2-published'  # to the letter
        assert ('precision: float32' in path.read_text()) == as_published, path


def markdown_of(page):
    "All text of a notebook."
    cells = nbformat.read(ROOT / f'nbs/{page}.ipynb', as_version=4).cells
    return '\n'.join(cell.source for cell in cells if cell.cell_type == 'markdown')


@pytest.mark.skipif((ROOT / 'data/a100').exists(), reason='the profile has been run')
@pytest.mark.parametrize('page', ['experiments/large_networks', 'install'])
def test_pages_say_what_was_never_verified_on_a_gpu(page):
    assert 'unverified' in markdown_of(page)


def measured_on_gpu(table):
    "A table of what a GPU did once."
    return pd.read_csv(ROOT / f'data/measured/gpu_{table}.csv')


def test_the_aims_of_the_page_stand_beside_what_was_measured():
    trainers = measured_on_gpu('trainers').query('graphs > 0').set_index('name')
    searches = measured_on_gpu('searches').set_index('name').nodes_per_second / 1e6
    beams = measured_on_gpu('beams').query('network == "cube3-walks" and width == 2**20')
    paper = trainers.loc['davi, 3x3x3, paper']
    rates = searches.loc['weighted A*'], *searches.filter(like='processes')
    graphs = trainers.groupby(trainers.index.str.split(',').str[0]).graphs.unique()
    said = {
        '40% of the bfloat16': f'{paper.share_of_peak:.0%} of its own peak, {paper.step_ms:.1f} ms a step',
        '1.5 million nodes': '{:.1f} million in one process, {:.1f} in four, {:.1f} in eight'.format(*rates),
        '5 million nodes': f'{beams.nodes.sum() / beams.seconds.sum() / 1e6:.0f} million at width 2^20',
        'the whole profile in a day': 'unverified',
        'networks of the papers': 'unverified',
    }
    lines = markdown_of('experiments/large_networks').splitlines()
    cells = [line.replace(' %', '%').split('|')[1:-1] for line in lines if line.startswith('| ')]
    for aim, expected in said.items():
        assert [on_gpu.strip() for name, _, on_gpu in cells if name.strip().startswith(aim)] == [expected]
    assert all(graphs[one].tolist() == [1] for one in ('walks', 'alphazero'))
    assert all(graphs[two].tolist() == [2] for two in ('davi', 'adi'))
    assert sorted(graphs['dqn']) == [3, 4]


def test_beams_of_the_gpu_solve_the_cubes_of_the_league():
    puzzle = get_puzzle('cube3')
    league = pd.read_csv(ROOT / 'data/test/cube3_league.csv')
    states = from_string(puzzle, league.state.tolist())
    rows = measured_on_gpu('beams')
    assert (rows.groupby(['network', 'width']).size() == 150).all() and len(rows) == 9 * 150
    for row in rows.itertuples():
        word = parse(puzzle, row.solution)
        assert len(word) == row.length >= row.optimal == league.optimal_qtm[row.cube]
        assert puzzle.is_solved(puzzle.apply_word(states[row.cube], word)[None]).all()


def train_calls_at_once(code):
    "Calls of `train` without a folder, and not of a few steps only, that are made when the cells run, not for items that are kept."
    tree = ast.parse(code)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    seen, found = set(), []
    while waiting:
        for call in [node for node in ast.walk(waiting.pop()) if isinstance(node, ast.Call)]:
            name = getattr(call.func, 'id', None)
            if name in functions and name not in seen:
                seen.add(name)
                waiting.append(functions[name])
            words = {word.arg: ast.unparse(word.value) for word in call.keywords}
            is_short = words.get('budget', '').startswith('Budget(steps=')
            if name == 'train' and not (is_short or 'folder' in words or call.args[1:]):
                found.append(ast.unparse(call))
    return found


def test_no_rule_begins_its_trainings_anew(experiments):
    "A network has a folder with its checkpoints, or is one of many, each of which is kept when it is there."
    assert train_calls_at_once('log = train(learner)') and train_calls_at_once('def f(): train(x)\nf()')
    assert not train_calls_at_once('train(learner, budget=Budget(steps=few))')
    assert not train_calls_at_once('def f(x): train(x)\nrun.gather("networks", [1], f)\ntrain(x, folder)')
    for name, job in experiments.items():
        assert not train_calls_at_once(notebook_code(job)), name


def test_rules_that_take_long_keep_what_they_have_measured(experiments):
    for name, job in experiments.items():
        if job.cost.minutes > 10:
            assert 'run.gather(' in notebook_code(job), name


def made_up_job(minutes, gpu_minutes, threads=1, parts=1, needs=()):
    "A job that takes so long."
    cost = Cost(minutes=minutes, gpu_minutes=gpu_minutes, threads=threads, parts=parts)
    return Job(Experiment(name='one', needs=needs), 'a100', {}, cost, [])


SCHEDULES = {  # name -> jobs, minutes in all, minutes of the GPU
    'side by side': ({'a': made_up_job(10, 0), 'b': made_up_job(6, 5)}, 10, 5),
    'both want the GPU': ({'a': made_up_job(10, 10), 'b': made_up_job(10, 10)}, 20, 20),
    'half of the time': ({'a': made_up_job(10, 5), 'b': made_up_job(10, 5)}, 10, 10),
    'no cores left': ({'a': made_up_job(10, 1, threads=9), 'b': made_up_job(5, 1, threads=8)}, 15, 2),
    'one after the other': ({'a': made_up_job(10, 1), 'b': made_up_job(5, 1, needs=('a',))}, 15, 2),
    'shared out': ({'a': made_up_job(80, 8, threads=4, parts=8)}, 20, 8),
}


@pytest.mark.parametrize('name', SCHEDULES)
def test_jobs_are_laid_out(name):
    made_up, minutes, on_gpu = SCHEDULES[name]
    assert plan.schedule(made_up) == pytest.approx((minutes, on_gpu))
