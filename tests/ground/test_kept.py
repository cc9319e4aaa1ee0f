"""What is kept: rows, weights and checkpoints. Nothing is lost, doubled, mixed or believed that is damaged, whatever is
killed, cut, flipped or full."""

import random
from pathlib import Path

import pytest
import torch
from damaged import flipped_checkpoint, flipped_weights, unnoticed
from killed import EVALUATE, Command, full_disks, killed_evaluations, killed_trainings, wait_until
from trainings import TINY, call, is_clear, learner_of, train_until, words_of

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.exact import shortest_solutions
from cube_nb.learn.loop import TrainingFailed, checkpoint_before, get_method, lock_folder, method_names
from cube_nb.learn.loop import read_checkpoint, train, weights_checksum
from cube_nb.learn.walks import WalkLearner
from cube_nb.measure.evaluate import Scrambles, evaluate_depths
from cube_nb.nets.weights import find_weights, load_network, save_network
from cube_nb.search.core import NOTHING, SOLVERS, Solution, Solver

SETTINGS = [*TINY, 'checkpoint_every=10']


def learner(*more):
    return learner_of('walks', [*SETTINGS, *more])


# --- Every damaged byte is noticed
@pytest.mark.parametrize('flipped', [flipped_weights, flipped_checkpoint])
def test_every_flipped_bit_is_noticed(flipped, tmp_path):
    assert flipped(tmp_path, 100) == []


# --- Checkpoints
@pytest.fixture(scope='module')
def whole():
    "The weights of an unbroken training."
    one = learner()
    train(one, progress=False)
    return weights_checksum(one.network)


@pytest.mark.parametrize(
    'said, length', [('was cut off', -1000), ('is empty', 0), ('there is no such file', None)]
)
def test_the_checkpoint_before_a_damaged_one_is_taken_up(said, length, whole, tmp_path, capsys):
    "One that was cut, or is not there; of a flipped bit the chapter on the loop speaks."
    path = train_until(learner(), 45, tmp_path)
    steps = [read_checkpoint(learner(), file)['step'] for file in (path, checkpoint_before(path))]
    assert steps == [40, 30]
    content = path.read_bytes()
    path.unlink()
    if length is not None:
        path.write_bytes(content[:length])
    again = learner()
    train(again, tmp_path, progress=False)
    err = capsys.readouterr().err
    assert f'{path}' in err and said in err and err.endswith('going on from the checkpoint before it\n')
    assert weights_checksum(again.network) == whole


# --- One trainer a folder
@pytest.mark.slow
def test_a_second_trainer_is_told(tmp_path, capsys):
    settings = [*words_of(SETTINGS), '--set', 'iterations=1000000']
    words = ['train', 'walks', *settings, '--quiet', '--output', tmp_path / 'run']
    first = Command(words, tmp_path / 'out')
    wait_until((tmp_path / 'run/checkpoint.pt').exists)
    assert is_clear(call(capsys, *words), 'another process is at work: a training in') and first.kill()
    with lock_folder(learner(), tmp_path / 'run'):
        pass  # the lock went with its process


@pytest.mark.slow
def test_a_full_disk_is_one_clear_line(tmp_path):
    words = ['train', 'walks', *words_of(SETTINGS), '--set', 'network.hidden=[256, 64]', '--quiet']
    status, said = Command([*words, '--output', tmp_path / 'run'], tmp_path / 'out', limit=50_000).wait()
    assert (status, said) == (1, f'cube_nb: {tmp_path}/run/checkpoint.pt: File too large\n')
    assert not [*(tmp_path / 'run').glob('*.*t')]  # neither a checkpoint, nor a part of one, nor weights


# --- A loss that is no number
def overflow_at(learner, step):
    "Let the weights of a learner be infinite from a step on."
    take_step = learner.take_step

    def overflow():
        if learner.step == step:
            with torch.no_grad():
                next(learner.network.parameters()).fill_(torch.inf)
        return take_step()

    learner.take_step = overflow


@pytest.mark.parametrize('method', method_names())
def test_a_training_that_fails_stops(method, tmp_path):
    found = get_method(method)
    one = found.learner(found.small_config('cube2').model_copy(update={'checkpoint_every': 1}))
    overflow_at(one, 3)
    with pytest.raises(TrainingFailed, match='training has stopped'):
        train(one, tmp_path, progress=False)
    path = tmp_path / 'checkpoint.pt'
    for file in filter(Path.exists, (path, checkpoint_before(path))):
        assert all(tensor.isfinite().all() for tensor in read_checkpoint(one, file)['network'].values())


def test_a_training_that_fails_writes_no_weights(tmp_path, capsys, monkeypatch):
    loss = WalkLearner.loss

    def fails(self, outputs, batch):
        parts = loss(self, outputs, batch)
        return {head: part * torch.nan if self.step >= 23 else part for head, part in parts.items()}

    monkeypatch.setattr(WalkLearner, 'loss', fails)
    words = ['train', 'walks', *words_of(SETTINGS), '--quiet', '--output', tmp_path]
    assert call(capsys, *words) == (1, '', 'cube_nb: training has stopped: the loss of step 24 is nan\n')
    assert not [*tmp_path.glob('*.safetensors')] and not (tmp_path / 'log.csv').exists()
    assert read_checkpoint(learner(), tmp_path / 'checkpoint.pt')['step'] == 20
    monkeypatch.undo()
    assert call(capsys, *words)[0] == 0  # it goes on after the last good step


# --- Rows
CUBE2 = get_puzzle('cube2')
RADIUS = 4


def look_up(puzzle, states, evaluator, options):
    "A solver that looks up what is near, and finds nothing else."
    found = shortest_solutions(states_near_solved(puzzle, RADIUS), states, RADIUS)
    return [Solution(puzzle, moves is not None, tuple(moves or ()), 7, 3, 0.25) for moves in found]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    "A function that evaluates the solver above into a file, and the file."
    monkeypatch.setitem(SOLVERS, 'look up', Solver('look up', look_up, needs=NOTHING))
    file = tmp_path / 'rows.csv'
    return file, lambda: evaluate_depths(CUBE2, None, Scrambles(range(1, 7), 4, seed=1), file, 'look up')


def test_a_file_that_was_cut_anywhere_is_mended(rows, capsys):
    file, evaluate = rows
    unbroken = evaluate()
    content = file.read_bytes()
    assert len(unbroken) == 24 and 0 < unbroken.solved.sum() < 24
    header = content.index(b'\n') + 1
    ends = [k for k, byte in enumerate(content, 1) if byte == 10]
    whole_depths = {0, header, *ends[4::4]}
    capsys.readouterr()
    for length in random.Random(0).sample(range(len(content)), 20) + [*whole_depths]:
        file.write_bytes(content[:length])
        assert evaluate().equals(unbroken) and file.read_bytes() == content
        said = capsys.readouterr().err.replace('\r', '\n')
        assert ('was cut off' in said) == (length not in whole_depths), length


def test_flipped_rows_are_refused_or_run_again(rows):
    "A flipped bit is refused; where it looks like a kill in the middle of a line, the depth is run again."
    file, evaluate = rows
    believed, whole = evaluate(), file.read_bytes()
    for bit in unnoticed(file, lambda path: evaluate(), 50):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        assert evaluate().equals(believed)
    file.write_bytes(whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    'attempts, more', [(killed_evaluations, ()), (killed_trainings, (['davi'],)), (full_disks, ())]
)
def test_nothing_is_lost_or_doubled_by_kills_and_full_disks(attempts, more, tmp_path):
    assert attempts(tmp_path, 3, random.Random(2), *more) == (3, 0)


@pytest.mark.slow
def test_a_second_evaluation_into_one_file_is_refused(tmp_path, capsys):
    file = tmp_path / 'rows.csv'
    words = [*EVALUATE, '--depths', '1:1000', '--output', file]
    first = Command(words, tmp_path / 'out')
    wait_until(file.exists)
    assert is_clear(call(capsys, *words), 'another process is at work: an evaluation into') and first.kill()
    status, out, err = call(capsys, *EVALUATE, '--depths', '1', '--output', file)
    assert status == 0, err  # the lock went with its process


def test_rows_say_which_weights_were_asked(tmp_path, capsys):
    "A better story in the header is the same network; other weights under the same name are not."
    model = tmp_path / 'mine.safetensors'
    model.write_bytes(find_weights('cube2-davi').read_bytes())
    words = ['evaluate', '--puzzle', 'cube2', '--solver', 'greedy', '--count', '2', '--depths', '1:2']
    words += ['--model', model, '--output', tmp_path / 'rows.csv']
    assert call(capsys, *words)[0] == 0
    network = load_network(model)
    save_network(network, model, network.about | {'seconds': 1})
    assert call(capsys, *words)[0] == 0
    with torch.no_grad():
        next(network.parameters()).mul_(1.5)
    save_network(network, model, {})
    assert is_clear(call(capsys, *words), 'rows of another run, with weights')
