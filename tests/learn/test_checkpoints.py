"Trainings that stop and go on elsewhere, first losses, and what a checkpoint is."

from pathlib import Path

import pytest
import torch
from trainings import call, differences, is_clear, learner_of, train_until, words_of

from cube_nb.files import seal
from cube_nb.learn import loop
from cube_nb.learn.loop import train, weights_checksum
from cube_nb.nets.networks import Network, NetworkConfig
from cube_nb.nets.weights import read_header

SMALL = [
    'network.puzzle=cube2', 'network.blocks=0', 'network.hidden=[32,16]', 'iterations=60',
    'checkpoint_every=30', 'batch_size=64',
]  # fmt: skip


def test_a_training_goes_on_elsewhere_exactly(tmp_path, capsys):
    whole = learner_of('walks', SMALL)
    train(whole, progress=False)
    exported = train_until(learner_of('walks', SMALL), 41, tmp_path / 'here').rename(tmp_path / 'exported')
    words = ['train', 'walks', *words_of(SMALL), '--quiet', '--output', tmp_path / 'there']
    words += ['--resume', exported]
    status, out, err = call(capsys, *words)
    assert status == 0, err
    saved = torch.load(tmp_path / 'there/checkpoint.pt', weights_only=True)
    assert saved['step'] == 60 and differences(dict(whole.network.state_dict()), dict(saved['network'])) == []
    losses = [float(loss) for loss in whole.first_losses]
    assert saved['first_losses'] == read_header(out.strip())['about']['first_losses'] == losses
    assert is_clear(call(capsys, *words), 'is at step 60 already'), 'once more: it is further by now'


PICKLE = b'\x80\x04K\x01.'
NO_CHECKPOINTS = {  # what is said -> content
    'there is no such file': None, 'is empty': b'', 'has no checksum': PICKLE,
    'is not a checkpoint': PICKLE + seal(PICKLE),
}  # fmt: skip


@pytest.mark.parametrize('words, content', NO_CHECKPOINTS.items())
def test_what_is_no_checkpoint_is_one_clear_error(words, content, tmp_path, capsys):
    if content is not None:
        (tmp_path / 'x').write_bytes(content)
    output = ['--output', tmp_path / 'run', '--resume', tmp_path / 'x']
    assert is_clear(call(capsys, 'train', 'walks', *words_of(SMALL), *output), words)
    assert not (tmp_path / 'run/checkpoint.pt').exists()


def test_noting_losses_changes_no_weights_and_no_random_numbers():
    noted, plain = (learner_of('walks', SMALL) for _ in range(2))
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


KINDS = {  # what its flags say -> the kind
    'fpu avx2 avx512f avx512_bf16': 'avx512_bf16', 'avx512f amx_bf16 avx512_bf16': 'amx_bf16',
    'avx2 avx512f': 'avx512', 'sse2 avx2': 'avx2', 'sse2': 'other',
}  # fmt: skip


@pytest.mark.parametrize('flags, kind', KINDS.items())
def test_kinds_of_processors(flags, kind, monkeypatch):
    monkeypatch.setattr(Path, 'exists', lambda self: True)
    monkeypatch.setattr(Path, 'read_text', lambda self: f'vendor_id\t: AuthenticAMD\nflags\t\t: {flags}\n')
    assert loop.processor() == f'AuthenticAMD {kind}'
