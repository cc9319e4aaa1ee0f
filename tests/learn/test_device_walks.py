"Random walks, labels and whole steps where the network is: the same as on the processor, without waiting."

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in as the_stand_in
import torch
from scipy.stats import chi2
from stand_in import counted, is_view, on_device
from torch.utils._pytree import tree_leaves
from trainings import TRAININGS, learner_on

from cube_nb.cube import kernels, keys
from cube_nb.cube.kernels import mix64_signed
from cube_nb.cube.keys import is_test_state, keys_of
from cube_nb.cube.puzzle import get_puzzle, puzzle_names
from cube_nb.learn import loop
from cube_nb.learn.loop import get_method, load_checkpoint, save_checkpoint, weights_checksum
from cube_nb.learn.walks import first_usable, training_walks, walk_lengths, with_spare


# --- walks --------------------------------------------------------------------------------------------------
SEEDS = [0, (5 << 32) + 12345, 2**63 - 1]


def walks_there(puzzle, device, depths, seed, *sizes):
    "Walks made on a device, as arrays."
    seed = torch.full((), seed, device=device)
    return [part.cpu().numpy() for part in puzzle.walks(torch.from_numpy(depths).to(device), seed, *sizes)]


@pytest.mark.parametrize('name', puzzle_names())
def test_walks_are_those_of_the_processor_bit_by_bit(device, name):
    puzzle = get_puzzle(name)
    depths = np.random.default_rng(1).integers(0, 41, size=100)
    for seed in SEEDS:
        here = puzzle.scramble(100, depths, seed)
        for one, other in zip(here, walks_there(puzzle, device, depths, seed, depths.max()), strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


@pytest.mark.parametrize('name', ['cube2', 'cube3-htm'])
def test_all_states_of_walks_are_those_of_the_processor(device, name):
    puzzle = get_puzzle(name)
    depths = np.full(50, 7)
    here = puzzle.walks(depths, 3, 7, 7)
    for one, other in zip(here, walks_there(puzzle, device, depths, 3, 7, 7), strict=True):
        np.testing.assert_array_equal(one, other)
    along = [puzzle.states_along(puzzle.solved, moves)[1:] for moves in here.moves]
    np.testing.assert_array_equal(here.states, np.concatenate(along))


def test_a_walk_of_no_moves_ends_where_it_begins(device):
    puzzle = get_puzzle('cube3')
    for longest in (0, 2):
        there = walks_there(puzzle, device, np.zeros(3, np.int64), 0, longest)
        np.testing.assert_array_equal(there[0], np.tile(puzzle.solved, (3, 1)))
        assert there[1].shape == (3, longest) and (there[1] == -1).all()


@pytest.mark.parametrize('name', puzzle_names())
def test_the_same_states_are_set_aside(device, name):
    puzzle = get_puzzle(name)
    states = puzzle.scramble(3000, 30, seed=2).states
    there = is_test_state(puzzle, torch.from_numpy(states).to(device))
    assert there.device.type == device
    np.testing.assert_array_equal(there.cpu().numpy(), is_test_state(puzzle, states))
    assert is_test_state(puzzle, states).any()
    assert torch.equal(is_test_state(puzzle, torch.from_numpy(states)), there.cpu())


def test_compiled_parts_make_the_same_walks():
    "As one graph each, without a break."
    puzzle = get_puzzle('cube3')
    here = puzzle.scramble(64, 5, seed=4)
    part = torch.arange(5), torch.full((64,), 12)
    parts = kernels.draw_moves, kernels.trace_back, keys._is_aside
    draw, trace, aside = (torch.compile(each, backend='eager', fullgraph=True) for each in parts)
    stream = mix64_signed(torch.tensor(4) + mix64_signed(torch.arange(1, 65)))
    moves = draw(puzzle.tensor('successors', 'cpu'), stream, *part)
    np.testing.assert_array_equal(moves, here.moves)
    facelets = torch.arange(54).expand(64, -1)
    found = puzzle.tensor('solved', 'cpu')[trace(puzzle.tensor('moves_and_none', 'cpu'), moves, facelets)]
    np.testing.assert_array_equal(found, here.states)
    told = aside(torch.from_numpy(keys_of(puzzle, here.states)))
    np.testing.assert_array_equal(told, is_test_state(puzzle, here.states))


# --- which states, and how often ----------------------------------------------------------------------------
def chance(found, expected):
    "The chance of a distance (chi-squared) this large; expected counts may be zero where none was found."
    assert not found[expected == 0].any()
    found, expected = found[expected > 0], expected[expected > 0]
    return chi2.sf(((found - expected) ** 2 / expected).sum(), len(found) - 1)


@pytest.mark.parametrize('name', ['cube2', 'cube3'])
def test_each_state_after_three_moves_comes_as_often_as_its_walks(device, name):
    "Exactly counted: ends of walks and all states of longer walks alike."
    puzzle = get_puzzle(name)
    moves = range(puzzle.num_moves)
    words = [w for w in product(moves, repeat=3) if not puzzle.undoes[list(w[:-1]), list(w[1:])].any()]
    ends = np.stack([puzzle.apply_word(puzzle.solved, word) for word in words])
    keys, ways = np.unique(keys_of(puzzle, ends), axis=0, return_counts=True)
    numbers = {key.tobytes(): number for number, key in enumerate(keys)}
    count = 20_000
    on_the_way = walks_there(puzzle, device, np.full(count, 4), 1, 4, 4)[0].reshape(count, 4, -1)[:, 2]
    for states in (walks_there(puzzle, device, np.full(count, 3), 0, 3)[0], on_the_way):
        found = np.bincount([numbers[key.tobytes()] for key in keys_of(puzzle, states)], minlength=len(keys))
        assert chance(found, count * ways / ways.sum()) > 1e-4


@pytest.mark.parametrize('name', ['cube2', 'cube3'])
def test_training_states_are_the_first_usable_ones(device, name):
    "Today's rule, in fixed sizes: as many as are wanted, from the start again if there are too few."
    usable = np.random.default_rng(0).random(500) < 0.4
    for count in (100, 300, 1000):
        there = first_usable(torch.from_numpy(usable).to(device), count)
        np.testing.assert_array_equal(there.cpu().numpy(), np.resize(np.flatnonzero(usable), count))
    assert first_usable(torch.zeros(5, dtype=torch.bool), 3).tolist() == [0, 0, 0]
    puzzle = get_puzzle(name)
    walks = training_walks(puzzle, 700, 9, seed=3, power=-1)
    depths = walk_lengths(with_spare(700), 9, -1, 3)
    made = puzzle.scramble(len(depths), depths, 3)
    chosen = np.resize(np.flatnonzero(~is_test_state(puzzle, made.states)), 700)
    np.testing.assert_array_equal(walks.states, made.states[chosen])
    np.testing.assert_array_equal(walks.depths, depths[chosen])
    np.testing.assert_array_equal(walks.last_moves, made.moves[chosen, depths[chosen] - 1])


# --- batches and steps --------------------------------------------------------------------------------------
def test_all_states_of_walks_are_trained_on():
    "Each number of moves as often, and none of them a test state."
    learner = learner_on('walks, all states', 'cpu', batch_size=3000)
    walks = learner.walks(0)
    counts = np.bincount(walks.depths)
    assert len(walks.states) == 3000 and (abs(counts[1:] - 500) < 60).all()
    assert not is_test_state(learner.puzzle, walks.states).any()
    before = learner.puzzle.apply(walks.states, learner.puzzle.inverse_moves[walks.last_moves])
    assert learner.puzzle.is_solved(before)[walks.depths == 1].all()
    assert not torch.equal(walks.states, learner.walks(1).states)


@pytest.mark.parametrize('method, settings, expected', [
    ('walks', {'depth_power': -1}, 'depth_power 0'), ('davi', {'growth': True}, 'every_state false'),
])  # fmt: skip
def test_all_states_of_walks_come_as_they_are(method, settings, expected):
    method = get_method(method)
    with pytest.raises(ValueError, match=expected):
        method.config.model_validate(settings | {'every_state': True})


# --- steps as one graph -------------------------------------------------------------------------------------
class Recording:
    "What a graph of CUDA does, done by the stand-in: the same operations on the same memory, without the host."

    def __init__(self):
        self.done = []  # (operation, arguments, result)
        self.replays = 0

    def replay(self):
        "Do it again; the first time it was done already, which CUDA leaves out while it records."
        self.replays += 1
        if self.replays == 1:
            return
        for operation, args, kwargs, found in self.done:
            again = tree_leaves(run_once(operation, args, kwargs))
            for old, new in zip(tree_leaves(found), again, strict=True):
                if on_device(old) and old is not new and not is_view(operation):
                    old.data_on_host.copy_(new.data_on_host)


run_once = the_stand_in.run


def record(function):
    "Note what a function does on the device. The host may give it nothing and read nothing of it."
    recording = Recording()
    depth = 0

    def noted(operation, args, kwargs):
        nonlocal depth
        depth += 1
        found = run_once(operation, args, kwargs)
        depth -= 1
        if not depth and any(map(on_device, tree_leaves((args, kwargs, found)))):
            recording.done.append((operation, args, kwargs, found))
        return found

    with pytest.MonkeyPatch.context() as patch, counted() as counts:
        patch.setattr(the_stand_in, 'run', noted)
        found = function()
    assert counts.copies == counts.waits == 0, counts.places
    return recording, found


@pytest.fixture
def recorded(device, monkeypatch):
    "A device whose steps are recorded."
    monkeypatch.setattr(loop, 'records', lambda device: device.type != 'cpu')
    monkeypatch.setattr(loop, 'record', record)
    monkeypatch.setattr(loop, 'on_side_stream', lambda function: function())
    return device


def made(learner, steps=8):
    "The losses of some steps, read at the end as the log does, and the weights."
    losses = []
    for _ in range(steps):
        done = learner.take_step()
        learner.after_step(done)
        losses.append(done.losses['loss'])
    return [float(loss) for loss in losses], weights_checksum(learner.network)


@pytest.mark.slow
@pytest.mark.parametrize('name', TRAININGS)
def test_a_recorded_step_is_a_step(recorded, name, monkeypatch):
    "The same losses and weights, to the bit, though states, lengths, learning rate and older network change."
    learner = learner_on(name, recorded)
    losses, weights = made(learner)
    before = 2 if name == 'dqn' else 0  # steps of another stage
    assert learner.graph.graph.replays == 8 - before - loop.WARM_UP
    monkeypatch.setattr(loop, 'record', lambda function: (SimpleNamespace(replay=lambda: None), function()))
    monkeypatch.setattr(loop, 'WARM_UP', 100)
    assert made(learner_on(name, recorded)) == (losses, weights) and len(set(losses)) == 8


@pytest.mark.slow
def test_the_host_starts_a_recorded_step_with_few_operations(recorded):
    learner = learner_on('walks', recorded)
    made(learner, 4)
    learner.graph.graph.replay = lambda: None
    with counted() as counts:
        learner.take_step()
    assert counts.copies == 1 and counts.waits == 0 and counts.operations <= 8, counts.places


@pytest.mark.slow
@pytest.mark.parametrize('name', ['davi', 'adi with all switches', 'dqn', 'dqn with all switches'])
def test_recorded_steps_go_on_from_a_checkpoint(recorded, name, tmp_path):
    _, weights = made(learner_on(name, recorded), 8)
    first = learner_on(name, recorded)
    made(first, 4)
    save_checkpoint(first, tmp_path / 'checkpoint.pt', [])
    again = learner_on(name, recorded)
    made(again, 4)
    load_checkpoint(again, tmp_path / 'checkpoint.pt')
    assert made(again, 4)[1] == weights


@pytest.mark.slow
def test_steps_that_cannot_be_recorded_are_made_one_by_one(recorded, monkeypatch, capsys):
    "That is said once; the log and the weights are the same."
    losses, weights = made(learner_on('davi', recorded))

    def fail(function):
        raise RuntimeError('CUDA error: operation not permitted\nfurther lines')

    monkeypatch.setattr(loop, 'record', fail)
    assert made(learner_on('davi', recorded)) == (losses, weights)
    said = 'the steps of DaviLearner are not recorded as a graph: CUDA error: operation not permitted\n'
    assert capsys.readouterr().err == said


@pytest.mark.slow
def test_batches_of_other_sizes_are_no_part_of_the_graph(recorded, monkeypatch):
    "As the last one of a pass over a sample."
    learner = learner_on('alphazero', recorded, batch_size=30, epochs=2)
    sizes = [len(learner.take_step().batch.states) for _ in range(12)]
    assert sizes[0] == 30 > min(sizes) and learner.graph.graph.replays == sizes.count(30) - loop.WARM_UP
