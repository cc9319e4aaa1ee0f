"First losses, checksums, processors. How a training goes on elsewhere, the chapter on the loop says."

from pathlib import Path

import pytest
import torch
from trainings import TINY, call, is_clear, learner_of, words_of

from cube_nb.files import seal
from cube_nb.learn import loop
from cube_nb.learn.loop import train, weights_checksum
from cube_nb.nets.networks import Network, NetworkConfig

SMALL = [*TINY, 'checkpoint_every=30']


def test_what_is_no_checkpoint_is_not_put_into_the_folder(tmp_path, capsys):
    (tmp_path / 'x').write_bytes(b'no pickle' + seal(b'no pickle'))
    words = ['train', 'walks', *words_of(SMALL), '--output', tmp_path / 'run', '--resume', tmp_path / 'x']
    assert is_clear(call(capsys, *words), 'is not a checkpoint')
    assert not (tmp_path / 'run/checkpoint.pt').exists()


def test_noting_losses_changes_no_weights_and_no_random_numbers():
    noted, plain = (learner_of('walks', SMALL) for _ in range(2))
    state = torch.get_rng_state()
    log = train(noted, progress=False)
    assert torch.equal(torch.get_rng_state(), state)
    losses = []
    for _ in range(60):
        done = plain.take_step()
        plain.after_step(done)
        losses.append(float(done.losses['loss']))
    assert weights_checksum(noted.network) == weights_checksum(plain.network)
    assert loop.describe(noted, log)['first_losses'] == losses[: loop.FIRST_STEPS]


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
