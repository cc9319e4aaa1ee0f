"Trainings that stop and go on elsewhere, first losses, and what a checkpoint is."

from pathlib import Path

import pytest
import torch
from interrupted import Interrupted, stop_at

from cube_nb.cli import main
from cube_nb.files import seal
from cube_nb.learn import loop
from cube_nb.learn.loop import get_method, read_config, train, weights_checksum
from cube_nb.nets.networks import Network, NetworkConfig
from cube_nb.nets.weights import read_header

SMALL = [
    'network.puzzle=cube2',
    'network.hidden=[32,16]',
    'network.blocks=0',
    'iterations=60',
    'checkpoint_every=30',
]
METHODS = {
    'walks': [*SMALL, 'batch_size=64'],
    'davi': [*SMALL, 'batch_size=64', 'check_every=7', 'threshold=5'],
    'dqn': [
        *SMALL,
        'batch_size=16',
        'network.canonical=false',
        'network.encoding=one_hot',
        'network.heads=[moves]',
        'network.normalise=layer',
        'stages=[[1,4,-1.5,30,1.0,0.2],[2,6,-2.5,30,0.5,0.1]]',
        'patience=20',
        'decay_steps=5',
        'episodes=10',
        'buffer=300',
        'warmup=3',
    ],
}


def call(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main([*words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def learner_of(method, settings):
    found = get_method(method)
    return found.learner(read_config(found.config, None, settings))


def train_until(learner, step, folder):
    "Train in a folder, and die after a step."
    stop_at(learner, step)
    with pytest.raises(Interrupted):
        train(learner, folder, progress=False)


# ------------------------------------------------------------------------------------------------------------
# Checkpoints that move
@pytest.mark.parametrize('method', METHODS)
def test_a_training_goes_on_elsewhere_exactly(method, tmp_path, capsys):
    settings = METHODS[method]
    whole = learner_of(method, settings)
    train(whole, progress=False)
    train_until(learner_of(method, settings), 41, tmp_path / 'here')
    exported = (tmp_path / 'here/checkpoint.pt').rename(tmp_path / 'exported')
    words = [word for setting in settings for word in ('--set', setting)]
    words = [
        'train',
        method,
        *words,
        '--quiet',
        '--output',
        str(tmp_path / 'there'),
        '--resume',
        str(exported),
    ]
    status, out, err = call(capsys, *words)
    assert status == 0, err
    saved = torch.load(tmp_path / 'there/checkpoint.pt', weights_only=True)
    assert saved['step'] == 60
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, saved['network'][name]), name
    losses = [float(loss) for loss in whole.first_losses]
    assert saved['first_losses'] == read_header(out.strip())['about']['first_losses'] == losses

    status, out, err = call(capsys, *words)  # once more: it is further by now
    assert (status, out, err.count('\n')) == (2, '', 1) and 'is at step 60 already' in err


@pytest.mark.parametrize(
    'content, words',
    [
        (None, 'there is no such file'),
        (b'', 'is empty'),
        (b'\x80\x04K\x01.', 'has no checksum'),
        (b'\x80\x04K\x01.' + seal(b'\x80\x04K\x01.'), 'is not a checkpoint'),
    ],
)
def test_what_is_no_checkpoint_is_one_clear_error(content, words, tmp_path, capsys):
    if content is not None:
        (tmp_path / 'x').write_bytes(content)
    settings = [word for setting in SMALL for word in ('--set', setting)]
    output = ['--output', str(tmp_path / 'run'), '--resume', str(tmp_path / 'x')]
    status, out, err = call(capsys, 'train', 'walks', *settings, *output)
    assert (status, out, err.count('\n')) == (2, '', 1) and words in err
    assert not (tmp_path / 'run/checkpoint.pt').exists()


def test_a_checkpoint_of_another_method_or_setting_is_refused(tmp_path, capsys):
    train_until(learner_of('walks', METHODS['walks']), 31, tmp_path / 'here')
    for method, more in (('davi', []), ('walks', ['seed=1'])):
        words = [word for setting in [*METHODS['walks'], *more] for word in ('--set', setting)]
        output = ['--output', str(tmp_path / 'there'), '--resume', str(tmp_path / 'here/checkpoint.pt')]
        status, out, err = call(capsys, 'train', method, *words, *output)
        assert (status, out, err.count('\n')) == (2, '', 1) and 'another configuration' in err
    assert not (tmp_path / 'there/checkpoint.pt').exists()


# ------------------------------------------------------------------------------------------------------------
# First losses
def test_noting_losses_changes_no_weights_and_no_random_numbers():
    noted, plain = (learner_of('walks', METHODS['walks']) for _ in range(2))
    state = torch.get_rng_state()
    train(noted, progress=False)
    assert torch.equal(torch.get_rng_state(), state)
    losses = []
    for _ in range(60):
        done = plain.take_step()
        plain.after_step(done)
        losses.append(float(done.losses['loss']))
    assert weights_checksum(noted.network) == weights_checksum(plain.network)
    assert [float(loss) for loss in noted.first_losses] == losses[: loop.FIRST_STEPS]


def test_a_checksum_covers_running_statistics():
    network = Network(NetworkConfig(puzzle='cube2', hidden=(16,), blocks=0))
    before = weights_checksum(network)
    next(network.buffers()).add_(1)
    assert before != weights_checksum(network)


@pytest.mark.parametrize(
    'info, words',
    [
        ('vendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2 avx512f avx512_bf16\n', 'AuthenticAMD avx512_bf16'),
        ('vendor_id\t: GenuineIntel\nflags\t\t: avx512f amx_bf16 avx512_bf16\n', 'GenuineIntel amx_bf16'),
        ('vendor_id\t: GenuineIntel\nflags\t\t: avx2 avx512f\n', 'GenuineIntel avx512'),
        ('vendor_id\t: GenuineIntel\nflags\t\t: sse2 avx2\n', 'GenuineIntel avx2'),
        ('vendor_id\t: GenuineIntel\nflags\t\t: sse2\n', 'GenuineIntel other'),
    ],
)
def test_kinds_of_processors(info, words, monkeypatch):
    monkeypatch.setattr(Path, 'exists', lambda self: True)
    monkeypatch.setattr(Path, 'read_text', lambda self: info)
    assert loop.processor() == words
