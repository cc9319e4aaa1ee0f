"Whatever is read, comes a result of it or a refusal in one line: a few of each kind here, 100,000 in `make faults`."

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from bad_input import FAULTS, KINDS, verdict, warm_up
from hypothesis import HealthCheck, given, settings
from pydantic import Field
from trainings import call

from cube_nb.config import Whole, naming_memory, read_yaml_text
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.learn.loop import get_method, read_config
from cube_nb.learn.replay import ReplayBuffer
from cube_nb.search.core import IN_MEMORY, NOTHING, SOLVERS, SolverOptions, register_solver
from cube_nb.solving import setup


@pytest.fixture(scope='module')
def warm():
    warm_up()


@pytest.mark.parametrize('name', KINDS)
def test_a_result_or_a_refusal_in_one_line(warm, name):
    kind = KINDS[name]

    @settings(max_examples=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(kind.inputs)
    def run(value):
        found = verdict(kind, value)
        assert found.word not in FAULTS, found

    run()


def test_running_out_of_memory_names_what_to_lower():
    with pytest.raises(MemoryError, match='not enough memory: lower a, b'), naming_memory(['a', 'b']):
        torch.ones(10**15)


class HungryOptions(SolverOptions):
    "Of a solver that fills the memory."

    width: Whole = Field(1, ge=1, description='numbers', json_schema_extra=IN_MEMORY)
    window: Whole = 1


def hungry(puzzle, states, evaluator, options):
    "As many numbers as are asked for, for each state."
    return [np.ones(options.width) for _ in states]


def test_a_solver_that_runs_out_of_memory_names_its_options():
    register_solver('hungry', hungry, HungryOptions, needs=NOTHING, warm_up=dict(width=1))
    state = get_puzzle('cube2').scramble(1, 8).states
    try:
        assert len(setup('cube2', 'hungry').run(state)) == 1
        with pytest.raises(MemoryError, match='^there is not enough memory: lower width$'):
            setup('cube2', 'hungry', width=10**15).run(state)
    finally:
        del SOLVERS['hungry']


@pytest.mark.parametrize(
    'options, names',
    [
        (['mcts', '--set', 'max_searches=1_000_000', '--set', 'leaves=1_000_000', '--set', 'max_length=1_000_000'], 'leaves or max_length'),
        (['alphazero', '--set', 'max_moves=1_000_000_000_000'], 'max_moves'),
    ],
    ids=['mcts', 'alphazero'],
)  # fmt: skip
def test_needs_of_memory_that_are_known_are_refused_beforehand(capsys, options, names):
    status, out, err = call(capsys, 'solve', '--puzzle', 'cube2', "R U F R' U' F'  R U", '--solver', *options)
    assert (status, out, err.count('\n')) == (2, '', 1) and err.endswith(f'are free: lower {names}\n')


def test_a_replay_buffer_that_does_not_fit():
    with pytest.raises(ValueError, match='are free: lower buffer'):
        ReplayBuffer(10**12, {'states': ((54,), torch.uint8)})


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_failure_to_speak_of():
    "As in `cube_nb scramble --count 5000 | head -1`: more than fits into the pipe."
    command = [sys.executable, *['-m', 'cube_nb', 'scramble', '--count', '5000']]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert len(run.stdout.readline().split()) == 20
        run.stdout.close()
        assert run.stderr.read() == b''
    assert run.returncode == 1


def with_texts_as_keys(value):
    "The same with all keys as texts, as JSON has them."
    if isinstance(value, dict):
        return {str(key): with_texts_as_keys(inner) for key, inner in value.items()}
    return [with_texts_as_keys(inner) for inner in value] if isinstance(value, list) else value


def test_what_is_kept_with_the_library_is_read_as_ever():
    files = sorted(Path('workflow').rglob('*.yaml'))
    assert len(files) > 10
    for path in files:
        text = path.read_text(encoding='utf-8')
        assert read_yaml_text(text, path.name) == with_texts_as_keys(yaml.safe_load(text)), path
    for path in Path('workflow/configs').glob('*.yaml'):
        method = path.name.partition('-')[0]
        assert isinstance(read_config(get_method(method).config, path), get_method(method).config)
