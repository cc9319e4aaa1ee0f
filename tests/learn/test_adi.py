"Autodidactic iteration: its targets against exact distances, its switches, its networks."

from pathlib import Path

import numpy as np
import pytest
import torch

from cube_nb.cube.keys import canonical
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs
from cube_nb.learn.adi import AdiLearner, AdiConfig, adi_targets
from cube_nb.learn.loop import read_config, train
from cube_nb.nets.networks import (
    Network,
    NetworkConfig,
    take_over_weights,
    estimate_values,
    for_inference,
    network_evaluator,
)
from cube_nb.nets.weights import load_network, save_network

SMALL = [
    'network.puzzle=cube2', 'network.encoding=piece_one_hot', 'network.hidden=[32, 16]', 'network.blocks=0',
    'network.normalise=none', 'network.activation=elu', 'network.head_hidden=8',
    'network.heads=[value, policy]', 'max_depth=8', 'iterations=20', 'batch_size=40', 'learning_rate=1e-3',
    'log_every=10', 'checkpoint_every=7', 'device=cpu',
]  # fmt: skip
RULES = {
    ('paper', 1): None,
    ('zero_goal', 1): 2,
    ('zero_goal', -1): 0,
}  # how far below the quarter turns the costs end; None: anywhere


def adi(*settings):
    "A small learner."
    return AdiLearner(read_config(AdiConfig, None, [*SMALL, *settings]))


@pytest.fixture(scope='module', params=['cube2', 'cube3'])
def near(request):
    "Exact distances within four moves."
    return bfs(get_puzzle(request.param), 4)


def costs(near, below, shift=0.0):
    "Exact distances, less a number but for solved states."

    def values(states):
        distance = torch.from_numpy(near.distance(states.numpy())).float()
        return torch.where(distance < 0, 99.0, distance - below * (distance > 0)) + shift

    return values


def inside(near):
    "States within three moves, 200 walks of each length."
    return torch.from_numpy(np.concatenate([near.puzzle.scramble(200, d, seed=d).states for d in range(4)]))


@pytest.mark.parametrize('rule', RULES)
def test_fixed_points(near, rule):
    puzzle = near.puzzle
    states = inside(near)
    below = RULES[rule]
    for shift in (0.0, 7.0) if below is None else (0.0,):
        values = costs(near, 2 if below is None else below, shift)
        if below is None:
            values = with_goal_at(puzzle, shift, values)
        cost, move = adi_targets(puzzle, states, values, *rule)
        assert torch.equal(cost, values(states))
        away = near.distance(states.numpy())
        nearer = near.distance(puzzle.apply(states, move).numpy())
        assert (nearer == away - 1)[away > 0].all()


def with_goal_at(puzzle, cost, values):
    "The same values, but for solved states."

    def changed(states):
        return torch.where(puzzle.is_solved(states), cost, values(states))

    return changed


@pytest.mark.parametrize('sees', [True, False])
def test_the_policy_is_of_the_state_as_the_network_sees_it(sees):
    "And the evaluator of either network speaks of canonical orientation."
    learner = adi(f'network.canonical={sees}')
    puzzle = learner.puzzle
    states, targets, _ = learner.batch(3)
    turned = torch.from_numpy(puzzle.scramble(40, 5, seed=1).states)
    assert torch.equal(canonical(puzzle, states), states) == sees
    children = puzzle.apply(states, targets['policy'])
    everywhere = puzzle.neighbours(states, puzzle.generators).flatten(0, 1)
    best = estimate_values(learner.target.network, everywhere).view(40, -1).amin(1)
    far = ~(puzzle.is_solved(states) | puzzle.is_solved(children))
    assert far.any()
    assert torch.equal(estimate_values(learner.target.network, children)[far], best[far])
    evaluate = network_evaluator(learner.network, 'cpu')
    for one, other in zip(evaluate(turned), evaluate(canonical(puzzle, turned))):
        assert torch.equal(one, other)


def test_weights():
    depths = torch.tensor([1, 2, 8])
    assert torch.equal(adi().state_weights(depths), 1 / depths)
    assert torch.equal(adi('weights=none').state_weights(depths), torch.ones(3))
    learner = adi('weights=adaptive')
    for _ in range(300):
        learner.errors.update(depths, torch.tensor([1.0, 4.0, 16.0]))
    one, two, eight = learner.state_weights(depths)
    assert one / two == pytest.approx(4, rel=0.05)
    assert two / eight == pytest.approx(4, rel=0.05)


def test_a_buffer_is_renewed_and_drawn_by_error():
    learner = adi('buffer=80', 'refresh=2', 'prioritised=true')
    before = learner.buffer.states.clone()
    learner.after_step(learner.take_step())
    assert torch.equal(learner.buffer.states, before)
    assert (learner.buffer.priorities != 1).sum() == 40
    learner.after_step(learner.take_step())
    kept = (learner.buffer.states == before).all(1)
    assert kept[40:].all() and not kept[:40].all()
    learner.buffer.priorities[:] = 1e-6
    learner.buffer.priorities[::2] = 1
    assert (learner.buffer.draw_distinct(40, seed=1) % 2 == 0).all()


def test_entropy_bonus_keeps_a_policy_open():
    closed, opened = (adi(f'entropy={bonus}', 'iterations=30') for bonus in (0, 1))
    ends = [train(learner, progress=False).policy_entropy.iloc[-1] for learner in (closed, opened)]
    assert ends[1] > ends[0]


CONFIGS = sorted((Path(__file__).parents[2] / 'workflow/configs').glob('adi-*.yaml'))


def test_a_configuration_for_each_run():
    configs = [read_config(AdiConfig, path) for path in CONFIGS]
    kinds = {(config.network.puzzle, config.target, config.weights) for config in configs}
    assert len(kinds) == 8  # every combination
    different = {config.model_dump_json() for config in configs}
    assert len(CONFIGS) == len(different) == 12  # eight published, and four more
    for path in CONFIGS:
        assert f'--config workflow/configs/{path.name} --output runs/{path.stem}\n' in path.read_text()


NETWORK = NetworkConfig(puzzle='cube2', hidden=(32, 16), blocks=1, heads=('value', 'policy'))


KINDS = [
    dict(normalise='none', activation='elu', head_hidden=8),
    dict(normalise='layer'),
    dict(normalise='none', activation='elu'),
    dict(head_hidden=8),
]


@pytest.mark.parametrize('encoding', ['one_hot', 'piece_one_hot', 'picture'])
@pytest.mark.parametrize('kind', KINDS, ids=str)
def test_networks_of_every_kind(kind, encoding, tmp_path):
    torch.manual_seed(0)
    network = Network(NETWORK.model_copy(update=dict(encoding=encoding, **kind)))
    states = torch.from_numpy(network.puzzle.scramble(20, 9, seed=0).states)
    network(states)
    network.eval()
    outputs = network(states)
    assert torch.equal(network(states, ('value',))['value'], outputs['value'])
    assert [*network(states, ('policy',))] == ['policy']
    again = load_network(save_network(network, tmp_path / 'n.safetensors', {}, dtype=torch.float32))
    for other in again, for_inference(network):
        says = other(states)
        assert all(torch.allclose(says[head], outputs[head], atol=1e-5) for head in outputs)
    half = for_inference(network, torch.bfloat16)(states)
    assert half['value'].dtype == torch.float32
    assert torch.allclose(half['value'], outputs['value'], rtol=0.02, atol=0.05)


def test_only_wanted_heads_are_computed():
    network = Network(NETWORK.model_copy(update=dict(head_hidden=8)))
    called = []
    for head, branch in network.branches.items():
        branch.register_forward_hook(lambda *_, head=head: called.append(head))
    network(torch.from_numpy(network.puzzle.scramble(4, 3).states), ('value',))
    assert called == ['value']


@pytest.mark.parametrize('normalise', ['layer', 'none'])
def test_begins_as_a_shallower_network_without_batch_normalisation(normalise):
    shallow, deep = (
        Network(NETWORK.model_copy(update=dict(normalise=normalise, blocks=blocks))).eval()
        for blocks in (1, 3)
    )
    take_over_weights(deep, shallow)
    states = torch.from_numpy(deep.puzzle.scramble(20, 9, seed=0).states)
    assert torch.equal(deep(states)['value'], shallow(states)['value'])
