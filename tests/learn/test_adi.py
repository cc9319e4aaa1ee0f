"Autodidactic iteration: its switches, its networks. Where its targets end, the chapter says."

from pathlib import Path

import pytest
import torch

from cube_nb.cube.keys import canonical
from cube_nb.learn.adi import AdiLearner, AdiConfig
from cube_nb.learn.loop import read_config, train
from cube_nb.nets.networks import Network, NetworkConfig, take_over_weights, estimate_values
from cube_nb.nets.networks import network_evaluator

SMALL = [
    'network={puzzle: cube2, encoding: piece_one_hot, hidden: [32, 16], blocks: 0, normalise: none}',
    'network.activation=elu', 'network.head_hidden=8', 'network.heads=[value, policy]', 'max_depth=8',
    'iterations=20', 'batch_size=40', 'learning_rate=1e-3', 'log_every=10', 'checkpoint_every=7',
    'device=cpu',
]  # fmt: skip


def adi(*settings):
    "A small learner."
    return AdiLearner(read_config(AdiConfig, None, [*SMALL, *settings]))


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
    assert far.any() and torch.equal(estimate_values(learner.target.network, children)[far], best[far])
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
    assert one / two == pytest.approx(4, rel=0.05) and two / eight == pytest.approx(4, rel=0.05)


def test_a_buffer_is_renewed_and_drawn_by_error():
    learner = adi('buffer=80', 'refresh=2', 'prioritised=true')
    before = learner.buffer.states.clone()
    learner.after_step(learner.take_step())
    assert torch.equal(learner.buffer.states, before) and (learner.buffer.priorities != 1).sum() == 40
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


def test_only_wanted_heads_are_computed():
    network = Network(NETWORK.model_copy(update=dict(head_hidden=8)))
    called = []
    for head, branch in network.branches.items():
        branch.register_forward_hook(lambda *_, head=head: called.append(head))
    network(torch.from_numpy(network.puzzle.scramble(4, 3).states), ('value',))
    assert called == ['value']


@pytest.mark.parametrize('normalise', ['layer', 'none'])
def test_begins_as_a_shallower_network_without_batch_normalisation(normalise):
    kinds = [NETWORK.model_copy(update=dict(normalise=normalise, blocks=blocks)) for blocks in (1, 3)]
    shallow, deep = (Network(kind).eval() for kind in kinds)
    take_over_weights(deep, shallow)
    states = torch.from_numpy(deep.puzzle.scramble(20, 9, seed=0).states)
    assert torch.equal(deep(states)['value'], shallow(states)['value'])
