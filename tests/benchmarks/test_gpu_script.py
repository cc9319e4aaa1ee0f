"The script for a borrowed GPU, all of it small on a stand-in, killed and taken up again; and the plan."

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from unittest.mock import Mock

import nbformat
import numpy as np
import pandas as pd
import pytest
import torch

from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import from_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn import loop
from cube_nb.learn.loop import get_method, read_config
from cube_nb.workshop.pipeline import SMALLEST_A100, Job, jobs, notebook_code
from cube_nb.workshop.profiles import Cost, Experiment
from cube_nb.nets import networks
from cube_nb.nets.weights import load_network
from stand_in import stand_in
import gpu
import plan

ROOT = Path(__file__).parents[2]


def visit(output, *more):
    "The command of a dry run, in a process of its own."
    command = [sys.executable, 'benchmarks/gpu.py', '--dry', '--output', str(output), *more]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def rows_of(output):
    "All rows, part by part."
    work = gpu.Work(output, 'cpu', dry=True)
    return {path.stem: gpu.kept(work, path.stem) for path in output.glob('*.jsonl')}


@pytest.mark.slow
def test_a_visit_that_is_killed_goes_on_and_loses_nothing(tmp_path):
    first = visit(tmp_path)
    while first.poll() is None and not rows_of(tmp_path).get('rates'):
        sleep(0.1)
    first.kill()
    first.wait()
    before = rows_of(tmp_path)
    assert before['rates'] and 'rates' not in {row['name'] for row in before['parts']}
    for more in ((), ('--more',)):
        assert 'all parts are over' in visit(tmp_path, *more).communicate()[0]
    rows = rows_of(tmp_path)
    parts = {part.name for group in gpu.FIRST + gpu.MORE for part in group}
    assert {row['name'] for row in rows['parts']} == parts
    for part, found in rows.items():
        assert found[: len(before.get(part, []))] == before.get(part, []), part
        assert len({row['name'] for row in found}) == len(found), part
        assert not [row for row in found if 'failed' in row or row.get('passed') is False], part
    assert [len(rows[name]) for name in ('selftests', 'rates', 'pipeline', 'cube3 beams')] == [8, 12, 4, 9]
    assert len(list(tmp_path.glob('figures/visit/*.svg'))) >= 4
    assert load_network(str(tmp_path / 'cube3-visit.safetensors')).puzzle is get_puzzle('cube3')


def test_half_a_line_is_no_row_and_spoils_none(tmp_path):
    work = gpu.Work(tmp_path, 'cpu', dry=True)
    (tmp_path / 'one.jsonl').write_text('{"name": "a"}\n{"name": "b", "val')
    gpu.keep(work, 'one', {'name': 'c', 'value': np.int64(3)})
    assert [row['name'] for row in gpu.kept(work, 'one')] == ['a', 'c']
    assert gpu.missing(work, 'one', ['a', 'b', 'c']) == ['b']


@pytest.mark.slow
def test_a_part_that_takes_too_long_or_fails_takes_no_other_with_it(tmp_path):
    work = gpu.Work(tmp_path, 'cpu', dry=True, deadline=perf_counter() + 5)
    items = {
        'fails': Mock(side_effect=ValueError('no')),
        'hangs': lambda work: sleep(60),
        'ends': Mock(return_value={}),
    }
    assert not gpu.together(work, 'one', items) and work.left > -5
    said = {row['name']: row.get('failed') for row in gpu.kept(work, 'one')}
    assert said == {'fails': 'ValueError: no', 'ends': None}


@pytest.mark.parametrize('works', ['compiled', 'eager'])
def test_the_first_way_that_works_is_taken(tmp_path, monkeypatch, works):
    monkeypatch.setattr(gpu, 'first_steps', partial(steps, works=works))
    work = gpu.Work(tmp_path, 'cpu', dry=True, deadline=perf_counter() + 60)
    assert gpu.ways(work)
    tried = gpu.kept(work, 'ways')
    assert [row['name'] for row in tried] == [*gpu.WAYS[: gpu.WAYS.index(works) + 1]]
    assert [row['name'] for row in tried if 'failed' not in row] == [works]


def steps(work, name, way, works):
    if way != works:
        raise RuntimeError('no graph')
    return {'loss': 1.0}


def test_steps_are_not_recorded_where_that_does_not_work(monkeypatch):
    device = torch.device('cuda')
    for way, recorded in zip(gpu.WAYS, (True, False, True, False)):
        with gpu.in_way(way):
            assert loop.records(device) == recorded
    assert loop.records(device)


@pytest.mark.slow
def test_operations_of_products_with_a_relu_are_counted(tmp_path, monkeypatch):
    work = gpu.Work(tmp_path, 'standin', dry=True)
    with stand_in():
        learner = gpu.learner_of(work, *gpu.TRAINERS['davi, 3x3x3, paper'])
        counted = gpu.step_operations(learner)
        monkeypatch.setattr(networks, 'linear_relu', lambda *given: torch.addmm(*given).relu_())
        assert counted == gpu.step_operations(learner) > 0


def test_without_papermill_the_pipeline_says_what_to_bring_along(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu, 'find_spec', {'execnb': 1, 'nbformat': 1}.get)
    assert not gpu.pipeline(gpu.Work(tmp_path, 'cpu', dry=True))
    assert 'papermill not importable: see the head of gpu.py' in capsys.readouterr().out
    assert 'pip install --no-index' in gpu.__doc__


@pytest.fixture(scope='module')
def experiments():
    "All experiments of the profile a100."
    return jobs('a100')


@pytest.fixture(scope='module')
def parts(experiments):
    "All parts of the plan."
    return plan.all_parts(experiments)


def test_the_profile_has_room_for_what_the_plan_adds_up(experiments, parts):
    for name, job in experiments.items():
        minutes, on_gpu, most = plan.sums(name, parts)
        assert minutes <= job.cost.minutes, name
        assert on_gpu <= job.cost.gpu_minutes <= job.cost.minutes, name
        assert most <= (job.cost.gpu_mb or plan.LEAST_MB), name


def test_every_training_of_the_profile_is_in_the_plan(experiments, parts):
    planned = {part.experiment for part in parts}
    training = {name for name, job in experiments.items() if 'train(' in notebook_code(job)}
    own_rules = {name for name in training if experiments[name].parameters.get('kept') is True}
    # minutes of a processor, as in the profile cpu
    assert training - own_rules - planned == {'other_puzzles', 'doubt_rotations'}


def test_the_plan_says_on_which_rows_it_rests(parts):
    rows = {*plan.ROWS.index, *plan.SEARCHES.index, 'limits in seconds', plan.NOT_MEASURED}
    assert {row for part in parts for row in f'{part.row}; {part.gpu_row}'.split('; ')} <= rows
    minutes = {row: sum(part.minutes for part in parts if part.row == row) for row in rows}
    assert minutes[plan.NOT_MEASURED] == 0  # what is assumed is of the GPU alone
    paper = measured_on_gpu('trainers').set_index('name').loc[plan.PAPER_ROW]
    assert pytest.approx(312 / paper.peak_tflops) == plan.ARITHMETIC and plan.MEMORY == 2.04 / 4.8
    reached = 1e12 * paper.gflop_a_step / paper.step_ms
    assert pytest.approx(reached * plan.ARITHMETIC, rel=0.01) == plan.WIDE


def test_the_papers_runs_are_half_a_day_of_a_gpu_on_paper(experiments):
    costs = [job.cost for job in experiments.values()]
    assert sum(cost.minutes * cost.threads for cost in costs) / plan.CORES <= 12 * 60
    for cost in costs:
        assert cost.gpu_mb <= SMALLEST_A100 and bool(cost.gpus) == bool(cost.gpu_mb) == bool(cost.gpu_minutes)
    minutes, on_gpu = plan.schedule(experiments)
    assert minutes <= 12 * 60 and on_gpu == pytest.approx(sum(cost.gpu_minutes for cost in costs), rel=0.001)
    assert (on_gpu - plan.held(experiments)) / minutes > 0.6  # the GPU computes in most of it


CONFIGS = ROOT / 'workflow/configs'
PROFILE = ROOT / 'workflow/profiles/a100.yaml'


def test_deepcubea_and_a_network_as_large_from_walks_are_trained_for_the_hours_of_the_source(
    experiments, parts
):
    given = experiments['large_networks'].parameters
    assert given['runs'] == [['davi', 'davi-cube3-source'], ['walks', 'walks-cube3-a100']]
    assert not given['toy']
    source = read_config(get_method('davi').config, CONFIGS / 'davi-cube3-source.yaml')
    assert (source.network.hidden, source.network.blocks, source.max_depth) == ((5000, 1000), 4, 30)
    assert (source.batch_size, source.iterations, source.checkpoint_every) == (10_000, 200_000, 5000)
    (part,) = [part for part in parts if '200,000 steps of davi' in part.what]
    assert 100 < part.minutes < 130  # two hours, as the source had
    paper = read_config(get_method('davi').config, CONFIGS / 'davi-cube3-paper.yaml')
    assert paper.iterations == 1_000_000 and paper.network == source.network
    for text in markdown_of('experiments/large_networks'), PROFILE.read_text():
        assert 'cube_nb train davi --config workflow/configs/davi-cube3-paper.yaml' in text
    shipped = load_network('cube3-walks').config.hidden
    larger = read_config(get_method('walks').config, CONFIGS / 'walks-cube3-a100.yaml')
    assert min(larger.network.hidden) >= 4 * min(shipped) and larger.iterations == source.iterations
    assert max(given['milestones']) < source.iterations  # the last step is measured as well


def test_the_books_configurations_are_run_as_they_are_written(experiments):
    files = CONFIGS.glob('adi-*.yaml')
    of_the_book = {path.stem for path in files if 'Not one of the eight' not in path.read_text()}
    run = set()
    for name in ('adi_cube2', 'adi_cube3'):
        given = experiments[name].parameters
        assert given['as_written']  # no parameter overrides a configuration
        run |= {f'{name.replace("_", "-")}-{target}' for target in given['runs']}
    without_limit = 'adi-cube3-paper-d200'  # of steps, in the book's file: a training outside of the profile
    assert len(of_the_book) == 8 and of_the_book - run == {without_limit}
    assert f'cube_nb train adi --config workflow/configs/{without_limit}.yaml' in PROFILE.read_text()


def test_alphazero_dqn_and_the_searches_have_their_full_size(experiments):
    given = {name: job.parameters for name, job in experiments.items()}
    assert given['alphazero_cube2']['episodes'] >= 2000
    pixels, epsilon = given['dqn_cube3'], given['dqn_epsilon']
    assert pixels['deepest'] == epsilon['deepest'] == 10 and pixels['hidden'] == [1024, 512]
    moves = [pixels['patience'] * pixels['episodes'], epsilon['steps_a_stage'] * epsilon['episodes']]
    assert moves == [200_000, 200_000] and given['league']['cubes'] == 1000
    assert given['solution_lengths']['full_cubes'] == 326 and given['solution_lengths']['turns'] == 15
    assert given['walks_heads']['puzzle'] == 'cube3' and given['walks_heads']['hidden'] == [1024, 512]
    cost = experiments['bwas_cube3'].cost  # shared out to more cores than one
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


def test_a_network_is_one_graph_and_dqn_has_more():
    trainers = measured_on_gpu('trainers').query('graphs > 0').set_index('name')
    graphs = trainers.groupby(trainers.index.str.split(',').str[0]).graphs.unique()
    assert all(graphs[one].tolist() == [1] for one in ('walks', 'alphazero'))
    assert all(graphs[two].tolist() == [2] for two in ('davi', 'adi')) and sorted(graphs['dqn']) == [3, 4]


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
    "Calls of `train`, without folder and not of few steps, when the cells run and not for kept items."
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


def test_no_rule_begins_its_trainings_or_long_measurements_anew(experiments):
    "A network has a folder with its checkpoints, or is one of many, each of which is kept when it is there."
    assert train_calls_at_once('log = train(learner)') and train_calls_at_once('def f(): train(x)\nf()')
    assert not train_calls_at_once('train(learner, budget=Budget(steps=few))')
    assert not train_calls_at_once('def f(x): train(x)\nrun.gather("networks", [1], f)\ntrain(x, folder)')
    for name, job in experiments.items():
        assert not train_calls_at_once(notebook_code(job)), name
        assert job.cost.minutes <= 10 or 'run.gather(' in notebook_code(job), name


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


@pytest.mark.parametrize(('made_up', 'minutes', 'on_gpu'), SCHEDULES.values(), ids=SCHEDULES)
def test_jobs_are_laid_out(made_up, minutes, on_gpu):
    assert plan.schedule(made_up) == pytest.approx((minutes, on_gpu))
