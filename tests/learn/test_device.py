"""Trainings and searches on a device that is not the processor, without one (`stand_in.py`): the same results,
no tensors of host and device mixed, and no more copies and waits than the bounds here say."""

import ast
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from stand_in import MixedDevices, as_compiled, counted, stand_in
from trainings import TRAININGS, learner_on

from cube_nb.cli import insist_on, run_command
from cube_nb.cube import kernels, keys
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.evaluator import Evaluation
from cube_nb.learn import dqn, loop
from cube_nb.learn.dqn import play_greedily
from cube_nb.learn.loop import TrainingLog, get_method, method_names, read_config
from cube_nb.workshop.pipeline import jobs, notebook_code
from cube_nb.workshop.profiles import load_profile
from cube_nb.nets import networks
from cube_nb.nets.networks import Network, NetworkConfig, SumOfRows, chosen_rows, network_evaluator
from cube_nb.nets.networks import for_inference, pick_device
from cube_nb.nets.weights import load_network, save_network
from cube_nb.search import beam
from cube_nb.search.beam import BeamLimits, beam_pass, length_limit, slot_bytes
from cube_nb.search.core import Solution, get_solver, solver_names, verified

import plan

pytestmark = pytest.mark.slow


# --- the stand-in itself ------------------------------------------------------------------------------------
def test_the_stand_in_keeps_the_rules_of_a_device(device):
    there = torch.arange(4.0).to(device)
    assert there.device.type == device and (there + 1).device.type == device
    assert there.cpu().tolist() == there.tolist() == [0, 1, 2, 3]
    assert (there * torch.tensor(2.0)).sum() == 12  # a number of the host is no tensor of the host
    with pytest.raises(MixedDevices):
        there + torch.arange(4.0)
    with pytest.raises(MixedDevices):
        torch.cat([there, torch.arange(4.0)])
    with pytest.raises(TypeError):
        there.numpy()


COUNTED = {  # what is asked of a tensor float[4] of the device -> copies, waits
    'sum': (lambda there: there.sum(), (0, 0)), 'number': (lambda there: there.sum().item(), (1, 1)),
    'truth': (lambda there: bool(there.sum() > 1), (1, 1)), 'list': (lambda there: there.tolist(), (1, 1)),
    'to the host': (lambda there: there.cpu(), (1, 1)),
    'from the host': (lambda there: torch.arange(4.0).to(there.device), (1, 1)),
    'from pinned memory':
        (lambda there: torch.arange(4.0).pin_memory().to(there.device, non_blocking=True), (1, 0)),
    'from an array': (lambda there: torch.as_tensor(np.ones(2), device=there.device), (1, 1)),
    'from a list': (lambda there: torch.tensor([1.0, 2.0], device=there.device), (1, 1)),
    'made there': (lambda there: torch.arange(4.0, device=there.device), (0, 0)),
    'places': (lambda there: there[torch.arange(2, device=there.device)], (0, 0)),
    'places of the host': (lambda there: there[torch.arange(2)], (1, 1)),
    'places in an array': (lambda there: there[np.arange(2)], (1, 1)),
    'mask': (lambda there: there[there > 1], (1, 1)),
    'where': (lambda there: torch.where(there > 1, there, 0), (0, 0)),
    'write where': (lambda there: there.masked_fill_(there > 1, 0), (0, 0)),
    'write to a mask': (lambda there: there.index_put_((there > 1,), there.sum()), (1, 1)),
    'nonzero': (lambda there: there.nonzero(), (1, 1)), 'unique': (lambda there: there.unique(), (1, 1)),
    'histogram': (lambda there: there.long().bincount(), (1, 1)),
}  # fmt: skip


@pytest.mark.parametrize('inference', [False, True])
@pytest.mark.parametrize('name', COUNTED)
def test_the_stand_in_counts(device, name, inference):
    ask, expected = COUNTED[name]
    there = torch.arange(4.0).to(device)
    with counted() as counts, torch.inference_mode(inference):
        ask(there)
    assert (counts.copies, counts.waits) == expected, counts.places


# --- trainings ----------------------------------------------------------------------------------------------

# Method -> graphs, if not one: of the older network too; with Q-learning also of both in evaluation, and of the
# one that plays for any number of states
GRAPHS = {'davi': 2, 'adi': 2, 'dqn': 5}


def test_every_method_is_run():
    assert {method for method, *_ in TRAININGS.values()} == set(method_names())


def take_steps(learner, steps=4):
    return [learner.after_step(learner.take_step()) for _ in range(steps)]


@pytest.mark.parametrize('name', TRAININGS)
def test_steps_are_those_of_the_processor(name, monkeypatch):
    "Q-learning plays otherwise on a device: the same there as if the processor were one."
    monkeypatch.setattr(dqn, 'plays_there', lambda device: True)
    with stand_in() as device:
        there = learner_on(name, device)
        take_steps(there)
        weights = {key: tensor.cpu() for key, tensor in there.network.state_dict().items()}
        assert all(tensor.device.type == device for tensor in there.network.state_dict().values())
    here = learner_on(name, 'cpu')
    take_steps(here)
    for key, tensor in here.network.state_dict().items():
        torch.testing.assert_close(weights[key], tensor, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize('precision', ['float32', 'bfloat16'])
@pytest.mark.parametrize('name', TRAININGS)
def test_a_step_copies_and_waits_no_more_than_so_often(device, name, precision):
    learner = learner_on(name, device, precision)
    take_steps(learner, 2)
    with counted() as counts:
        take_steps(learner, 1)
    most = TRAININGS[name][-1]
    assert counts.copies <= most[0] and counts.waits <= most[1], f'{counts}: {counts.places}'


def test_a_row_of_the_log_and_a_look_at_the_weights_wait_once_or_twice(device):
    learner = learner_on('davi with a policy', device, log_every=2)
    log = TrainingLog(learner, [], None)
    log.add(learner.take_step())
    done = learner.take_step()
    with counted() as counts:
        log.add(done)
        log.write_row({})
        learner.check_weights()
    assert len(log.rows) == 1
    assert counts.waits <= 3, counts.places


CONFIGS = Path(__file__).parents[2] / 'workflow/configs'
FEW = {  # of all but the network
    'buffer': 200, 'episodes': 4, 'warmup': 2, 'updates': 4, 'simulations': '{1: 2}', 'max_moves': 2,
    'yardstick': 0, 'sample': 16, 'epochs': 1, 'checkpoint_every': 4, 'batch_size': 8,
}  # fmt: skip


@pytest.mark.parametrize('name', sorted(path.stem for path in CONFIGS.glob('*.yaml')))
def test_all_configurations_take_a_step(device, name, monkeypatch):
    "Narrower, with few states: copies, waits and kernels, which the plan of the profile a100 counts, are the same."
    for module in (kernels, keys, dqn):
        monkeypatch.setattr(module, 'compiled', as_compiled)
    kind = name.partition('-')[0]
    method = get_method(kind)
    path = CONFIGS / f'{name}.yaml'
    names = set(FEW) & set(method.config.model_fields)
    if kind == 'adi' and 'buffer:' not in path.read_text():
        names.remove('buffer')
    changes = [f'{key}={FEW[key]}' for key in sorted(names)]
    config = read_config(method.config, path, [f'device={device}', *changes])
    hidden = tuple(width // 16 for width in config.network.hidden)
    narrow = config.network.model_copy(update={'hidden': hidden})
    learner = method.learner(config if config.start else config.model_copy(update={'network': narrow}))
    assert learner.dtype == (torch.float32 if name == 'alphazero-cube2-published' else torch.bfloat16)
    take_steps(learner, 2)
    with counted() as counts:
        take_steps(learner, 1)
    copies, waits = {'davi': (1, 0), 'walks': (3, 0), 'adi': (2, 0), 'dqn': (0, 0), 'alphazero': (3, 0)}[kind]
    assert counts.copies <= copies and counts.waits <= waits, counts.places
    if 'cube4' not in name:  # of which the profile has nothing
        assert counts.operations <= plan.KERNELS[kind]


@pytest.fixture
def graphs(monkeypatch):
    "The graphs that are made of networks in training, which are compiled on the processor too."
    made = []

    def note(graph, inputs):
        made.append(graph)
        return graph.forward

    torch._dynamo.reset()
    monkeypatch.setattr(torch, 'compile', partial(torch.compile, backend=note))
    monkeypatch.setattr(loop, 'compiles', lambda device: True)
    yield made
    torch._dynamo.reset()


@pytest.mark.parametrize('name', TRAININGS)
def test_a_step_has_one_graph_for_each_network(graphs, name):
    "None is made anew when an older network is replaced by another."
    more = {'davi': {'check_every': 1, 'threshold': 1000}, 'dqn': {'target_every': 1}}
    take_steps(learner_on(name, 'cpu', **more.get(TRAININGS[name][0], {})), 12)
    assert 1 <= len(graphs) <= GRAPHS.get(TRAININGS[name][0], 1)


def test_adi_asks_its_newest_self_without_a_copy_at_each_step(device):
    learner = learner_on('adi', device)
    asked = learner.target.network
    addresses = [tensor.data_on_host.data_ptr() for tensor in asked.parameters()]
    take_steps(learner)
    assert learner.target.network is asked
    assert [tensor.data_on_host.data_ptr() for tensor in asked.parameters()] == addresses


def test_thousands_of_games_are_two_batches_of_the_device(device, monkeypatch):
    "As many as one training of the profile a100 has in flight."
    games = load_profile('a100')['alphazero_cube2']['episodes']
    short = {'simulations': {1: 3}, 'max_moves': 1, 'curriculum': (8,), 'yardstick': 0}
    learner = learner_on('alphazero', device, episodes=games, **short)
    learner.play()  # copies tables to the device
    sizes = []
    forward = Network.forward

    def noted(network, states, heads=None):
        sizes.append(len(states))
        return forward(network, states, heads)

    monkeypatch.setattr(Network, 'forward', noted)
    with counted() as counts:
        played = learner.play()
    assert games >= 2000 and played.searches == 3 * games
    # of each half the roots, then a leaf of each tree
    assert len(sizes) == 2 * (1 + 3) and min(sizes) > 0.45 * games
    assert counts.waits <= 3 * len(sizes), counts.places


# --- searches -----------------------------------------------------------------------------------------------
OPTIONS = {  # solver -> options of a short search
    'beam': {'width': 64, 'radius': 2}, 'bwas': {'max_nodes': 20_000}, 'mcts': {'max_searches': 100},
    'alphazero': {'simulations': 20, 'max_moves': 8}, 'improve': {'max_nodes': 20_000, 'radius': 2},
}  # fmt: skip
EVALUATED = [name for name in solver_names('cube2') if get_solver(name).needs]


@pytest.mark.parametrize('solver', EVALUATED)
@pytest.mark.parametrize('model', ['cube2-davi', 'cube2-alphazero'])
def test_searches_find_what_they_find_on_the_processor(device, solver, model):
    network = load_network(model)
    states = network.puzzle.scramble(3, [3, 5, 8], seed=3).states
    answers = []
    for name in ('cpu', device):
        evaluator = network_evaluator(network, name, torch.float32)
        answers.append(get_solver(solver)(network.puzzle, states, evaluator, **OPTIONS.get(solver, {})))
    assert [str(answer) for answer in answers[0]] == [str(answer) for answer in answers[1]]
    assert any(answer.solved for answer in answers[0])


@pytest.mark.parametrize('views', [False, True])
def test_greedy_play_is_where_the_network_is(device, views, monkeypatch):
    network = learner_on('dqn', 'cpu').network
    states = network.puzzle.scramble(8, 2, seed=0).states
    here = play_greedily(network, states, 3, torch.float32, views=views)
    asked, ask = [], dqn.q_values

    def noted(network, states):
        asked.append(states.device.type)
        return ask(network, states)

    monkeypatch.setattr(dqn, 'q_values', noted)
    there = play_greedily(network.to(device), states, 3, torch.float32, views=views)
    assert set(asked) == {device}
    assert (here.moves == there.moves).all() and (here.solved == there.solved).all()


def test_an_evaluator_of_arrays_copies_in_and_out(device):
    network = Network(NetworkConfig(puzzle='cube3', hidden=(16,), blocks=0, heads=('value', 'policy')))
    evaluator = network_evaluator(network, device)
    states = network.puzzle.scramble(40, 20, seed=0).states
    evaluator(states)
    with counted() as counts:
        evaluator(states)
    assert counts.copies <= 3 and counts.waits <= 3, counts.places


def five_layers(puzzle, evaluator):
    "Copies, waits and kernels of five layers of a beam."
    state = puzzle.scramble(1, 100, seed=0).states[0]
    table = states_near_solved(puzzle, 1)
    found = []
    for layers in (2, 3, 8):  # the first copies tables to the device
        with counted() as counts:
            beam_pass(puzzle, state, evaluator, 50, table, BeamLimits(layers + len(table.ends)))
        found.append(np.array([counts.copies, counts.waits, counts.operations]))
    return found[2] - found[1]


@pytest.mark.parametrize('heads', [('value',), ('moves',)])
@pytest.mark.parametrize('name', ['cube3', 'cube3-htm', 'cube4'])
def test_a_layer_of_a_beam_copies_and_waits_no_more_than_so_often(device, heads, name):
    torch.manual_seed(0)
    network = Network(NetworkConfig(puzzle=name, hidden=(16,), blocks=0, heads=heads))
    copies, waits, _ = five_layers(network.puzzle, network_evaluator(network, device))
    assert copies <= 5 and waits <= 5


@pytest.mark.parametrize('heads', [('value', 'policy'), ('value',)])
def test_a_layer_of_a_beam_has_no_more_kernels_than_the_plan_counts(device, heads):
    "With the layers of the shipped network."
    shape = load_network('cube3-walks').config
    network = Network(shape.model_copy(update={'hidden': (16, 8), 'heads': heads}))
    *_, kernels = five_layers(network.puzzle, network_evaluator(network, device))
    asked_of_children = 40  # more, where the network is asked about children and not about their parents
    assert kernels / 5 <= plan.LAYER_KERNELS + (asked_of_children if 'policy' not in heads else 0)


def sums_of_stickers(puzzle, device, has_advantages):
    "An evaluator that says as much of states as costs no memory."

    def evaluate(states):
        values = states.float().sum(1)
        advantages = values[:, None].expand(-1, puzzle.num_moves) if has_advantages else None
        return Evaluation(values, advantages)

    evaluate.device = torch.empty(0, device=device).device
    return evaluate


@pytest.mark.parametrize('has_advantages', [True, False])
@pytest.mark.parametrize('name', ['cube3', 'cube3-htm', 'cube4', 'pyraminx'])
def test_a_beam_takes_the_memory_that_it_is_said_to_take(device, name, has_advantages, monkeypatch):
    monkeypatch.setattr(keys, 'ORIENTED', 64)  # parts of a fixed size
    monkeypatch.setattr(beam, 'CHUNK', 16)  # its children take less than the narrow beam
    puzzle = get_puzzle(name)
    evaluator = sums_of_stickers(puzzle, device, has_advantages)
    state = puzzle.scramble(1, 100, seed=0).states[0]
    table = states_near_solved(puzzle, 1)
    layers = 7
    limits = BeamLimits(layers - 1 + len(table.ends))
    beam_pass(puzzle, state, evaluator, 10, table, limits)  # copies tables to the device
    most = []
    for width in (500, 1500):
        with counted() as counts:
            beam_pass(puzzle, state, evaluator, width, table, limits)
        most.append(counts.most_held)
        assert counts.held == 0  # nothing is left
    said = slot_bytes(puzzle) - 5 * (length_limit(puzzle) - layers)
    assert 0.7 * said < (most[1] - most[0]) / 1000 <= said


def test_both_sides_of_the_league_have_the_device(device, monkeypatch):
    "The search of another library is asked where ours is."
    asked = []

    class Graph:
        def __init__(self, moves, device):
            asked.append(device)

        def beam_search(self, start_state, **options):
            asked.append(start_state.device.type)
            return SimpleNamespace(path_found=False, path=None)

    definition = SimpleNamespace(create=lambda moves, central_state: moves)
    fake = SimpleNamespace(CayleyGraph=Graph, CayleyGraphDef=definition, Predictor=lambda *given: given)
    monkeypatch.setitem(sys.modules, 'cayleypy', fake)
    code = ast.parse(notebook_code(jobs('a100')['league']))
    functions = {node.name: node for node in code.body if isinstance(node, ast.FunctionDef)}
    search = functions['cayleypy_beam']
    names = {'np': np, 'torch': torch, 'perf_counter': perf_counter, 'Solution': Solution}
    names |= {'verified': verified, 'predict': None}
    exec(compile(ast.Module([functions['beam_answer'], search], []), 'league', 'exec'), names)
    puzzle = get_puzzle('cube3')
    options = SimpleNamespace(width=4)
    names['cayleypy_beam'](puzzle, puzzle.goals, sums_of_stickers(puzzle, device, True), options)
    assert asked == [device, device]


# --- networks -----------------------------------------------------------------------------------------------
def test_weights_of_the_device_are_kept_in_a_file(device, tmp_path):
    network = Network(NetworkConfig(hidden=(16,), blocks=1))
    states = network.puzzle.scramble(50, 20, seed=0).states
    expected = network_evaluator(network, 'cpu', torch.float32)(states).values
    path = save_network(network.to(device), tmp_path / 'there.safetensors', {}, torch.float32)
    kept = network_evaluator(load_network(path), 'cpu', torch.float32)(states).values
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize('encoding', ['one_hot', 'piece_one_hot'])
@pytest.mark.parametrize('dtype', [torch.float32, torch.bfloat16])
def test_the_first_layer_is_the_same_as_a_product_and_as_a_sum_of_rows(device, encoding, dtype):
    network = Network(NetworkConfig(encoding=encoding, hidden=(16,), blocks=0))
    states = network.puzzle.scramble(50, 20, seed=0).states
    here, there = [network_evaluator(network, name, dtype)(states).values for name in ('cpu', device)]
    tolerance = 1e-5 if dtype == torch.float32 else 0.02
    np.testing.assert_allclose(there, here, atol=tolerance)


def test_on_a_device_the_first_layer_reads_no_rows_in_bfloat16(device, monkeypatch):
    torch.manual_seed(0)
    layer = SumOfRows(torch.nn.Linear(12, 4), 6).to(torch.bfloat16)
    rows = chosen_rows(torch.tensor([[2, 0], [6, 5]]), 6)
    expected = layer(rows)
    monkeypatch.delattr(torch.nn.functional, 'embedding_bag')
    torch.testing.assert_close(layer.to(device)(rows.to(device)).cpu(), expected)


@pytest.mark.parametrize('normalise', ['batch', 'none'])
def test_on_a_device_a_product_and_its_relu_are_one_kernel(device, normalise):
    network = Network(NetworkConfig(puzzle='cube2', hidden=(16, 8), blocks=1, normalise=normalise))
    states = network.puzzle.scramble(50, 9, seed=0).states
    frozen = for_inference(network, torch.bfloat16)
    expected = frozen.body(frozen.encode_states(torch.from_numpy(states))).float()
    x = frozen.to(device).encode_states(torch.from_numpy(states).to(device))
    with counted() as seen:
        found = frozen.body(x)
    torch.testing.assert_close(found.cpu().float(), expected, atol=0.02, rtol=0.02)
    ones, products, sums = 3, 4, 2  # zeros, whole numbers and the ones among them; of the block: sum and ReLU
    assert seen.operations == ones + products + sums


def test_a_missing_gpu_is_said_once(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, 'is_available', lambda: False)
    networks.warn_no_gpu.cache_clear()
    monkeypatch.setattr(networks, 'gpu_expected', lambda: False)
    pick_device('auto')
    assert not capsys.readouterr().err
    monkeypatch.setattr(networks, 'gpu_expected', lambda: True)
    pick_device('auto')
    pick_device('auto')
    assert capsys.readouterr().err.count('There should be a GPU here') == 1
    networks.warn_no_gpu.cache_clear()


@pytest.mark.parametrize('line', ['train walks', 'solve R', 'evaluate', 'reproduce --profile a100 --dry-run'])
def test_whoever_insists_on_a_gpu_gets_one_or_an_error(line, monkeypatch, capsys):
    monkeypatch.setenv(networks.DEVICE, '')
    assert run_command([*line.split(), '--device', 'cuda:99']) == 2
    assert "device 'cuda:99' is not available here" in capsys.readouterr().err


def test_a_device_that_is_asked_for_reaches_networks_for_which_none_is_named(device, monkeypatch):
    monkeypatch.setenv(networks.DEVICE, '')
    assert insist_on(device) == device
    assert pick_device().type == device and learner_on('walks', 'auto').device.type == device
    assert network_evaluator(load_network('cube2-davi')).device.type == device


def test_a_processor_slow_in_bfloat16_is_asked_in_float32(monkeypatch):
    states = get_puzzle('cube2').scramble(20, 9, seed=0).states
    network = load_network('cube2-davi')
    single = network_evaluator(network, 'cpu', torch.float32)(states).values
    half = network_evaluator(network, 'cpu', torch.bfloat16)(states).values
    assert (single != half).any()
    for slow, expected in (True, single), (False, half):
        seconds = {torch.float32: 1, torch.bfloat16: 50 if slow else 2}
        monkeypatch.setattr(networks, 'product_seconds', seconds.get)
        networks.processor_dtype.cache_clear()
        np.testing.assert_array_equal(network_evaluator(network, 'cpu')(states).values, expected)
    networks.processor_dtype.cache_clear()


def test_greedy_play_on_a_processor_slow_in_bfloat16_is_in_float32(monkeypatch):
    asked = []
    monkeypatch.setattr(networks, 'product_seconds', {torch.float32: 1, torch.bfloat16: 50}.get)
    monkeypatch.setattr(dqn, 'for_inference', lambda network, dtype: asked.append(dtype) or network.eval())
    networks.processor_dtype.cache_clear()
    network = learner_on('dqn', 'cpu').network
    play_greedily(network, network.puzzle.scramble(3, 1, seed=0).states, 2)
    networks.processor_dtype.cache_clear()
    assert asked == [torch.float32]
