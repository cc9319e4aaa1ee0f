"Trained networks as results: fingerprints, checkpoints that move, digests and certificates."

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from interrupted import Interrupted, stop_at

from cube_nb.cli import main
from cube_nb.files import seal
from cube_nb.learn import loop
from cube_nb.learn.loop import (
    fingerprint,
    get_method,
    read_config,
    replay_start,
    sketch_weights,
    train,
    weights_checksum,
)
from cube_nb.measure import trained
from cube_nb.workshop.trained import (
    Verdict,
    certify,
    deviations,
    networks,
    resolved_config,
    stale_networks,
    train_named,
)
from cube_nb.nets.networks import Network, NetworkConfig
from cube_nb.nets.weights import find_weights, load_network, read_header

ROOT = Path(__file__).parent.parent
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


@pytest.fixture(autouse=True)
def threads_are_put_back():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


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
    assert saved['fingerprints'] == whole.fingerprints
    assert read_header(out.strip())['about']['fingerprints'] == whole.fingerprints

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
# Fingerprints
def test_a_sketch_is_the_same_on_every_machine():
    weights = np.arange(1.0, 11)
    sketch = sketch_weights(weights)
    places = {10: -2, 20: 3, 87: -9, 92: -5, 101: 1, 104: -8, 108: -6, 112: 3, 121: 10}  # 4 and 7 meet in one
    assert {int(k): sketch[k] for k in np.flatnonzero(sketch)} == places
    assert np.array_equal(sketch_weights(-2 * weights), -2 * sketch)


def test_fingerprints_change_no_weights_and_no_random_numbers():
    noted, plain = (learner_of('walks', METHODS['walks']) for _ in range(2))
    state = torch.get_rng_state()
    replay_start(noted)
    assert torch.equal(torch.get_rng_state(), state)
    for _ in range(60):
        plain.after_step(plain.take_step())
    assert weights_checksum(noted.network) == weights_checksum(plain.network)
    ((_, steps),) = noted.fingerprints.items()
    assert [*steps] == ['0', '1', '20']


def test_a_checksum_covers_running_statistics():
    network = Network(NetworkConfig(puzzle='cube2', hidden=(16,), blocks=0))
    before = fingerprint(network)
    next(network.buffers()).add_(1)
    after = fingerprint(network)
    assert before['sha256'] != after['sha256'] and before['sketch'] == after['sketch']


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


# ------------------------------------------------------------------------------------------------------------
# The networks of this checkout
def test_the_configurations_are_what_made_the_networks(monkeypatch):
    monkeypatch.chdir(ROOT)
    for name, network in networks().items():
        about = read_header(ROOT / network.weights)['about']
        assert about['method'] == network.method
        assert trained.other_settings(network, about) == [], name
        assert find_weights(name).resolve() == ROOT / network.weights


# ------------------------------------------------------------------------------------------------------------
# Digests and certificates
LIST = """
tiny: {method: davi, config: tiny.yaml, folder: nets, hours: 0, mem_mb: 500, threads: 1}
child: {method: walks, config: child.yaml, folder: nets, hours: 0, mem_mb: 500, threads: 1}
"""
TINY = """
network: {puzzle: cube2, hidden: [64, 32], blocks: 1, heads: [value, policy]}
iterations: 120
batch_size: 200
max_depth: 8
check_every: 20
threshold: 0.3
log_every: 10
checkpoint_every: 10
"""
CHILD = """
network: {puzzle: cube2, hidden: [64, 32], blocks: 1, heads: [value, policy]}
start: nets/tiny.safetensors
iterations: 100
batch_size: 50
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with two networks, the second of which starts from the first; their code is in `code`."
    (tmp_path / 'workflow/configs').mkdir(parents=True)
    (tmp_path / 'workflow/Snakefile').touch()
    (tmp_path / 'workflow/networks.yaml').write_text(LIST)
    (tmp_path / 'workflow/configs/tiny.yaml').write_text(TINY)
    (tmp_path / 'workflow/configs/child.yaml').write_text(CHILD)
    monkeypatch.chdir(tmp_path)
    code = {'cube_nb.learn.loop.train': 'a', 'cube_nb.learn.loop.Learner': 'b'}
    monkeypatch.setattr(trained, 'training_code', lambda network: dict(code))
    monkeypatch.setattr(trained, 'measure', lambda network: {'solved': 1.0})
    return code


FINISHED = {}  # path -> content, of the checkout when both are trained


def trained_both():
    "Train both networks, once for all tests."
    if not FINISHED:
        for name in ('tiny', 'child'):
            assert train_named(name, f'runs/{name}', progress=False) == Verdict(name, 'trained')
        FINISHED.update({path: path.read_bytes() for path in Path().rglob('*') if path.is_file()})
    for path, content in FINISHED.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert stale_networks() == {}


def test_a_network_and_the_one_that_starts_from_it(small, capsys):
    assert stale_networks() == {name: [f'nets/{name}.safetensors is missing'] for name in ('tiny', 'child')}
    trained_both()
    record = json.loads(Path('data/networks/child.json').read_text())
    about = {name: read_header(f'nets/{name}.safetensors')['about'] for name in ('tiny', 'child')}
    assert record['parent'] == about['child']['parent'] == {'name': 'tiny', 'digest': about['tiny']['digest']}
    assert record['digest'] == about['child']['digest'] == trained.network_digest('child')
    assert [*record['results']] == [
        'data/networks/child.csv',
        'figures/networks/child.svg',
        'figures/networks/child.png',
    ]
    assert record['states_seen'] == 5_000 and record['config']['start'] == 'nets/tiny.safetensors'
    assert len(json.dumps(read_header('nets/tiny.safetensors')['about'])) < 10_000
    assert call(capsys, 'certify') == (0, '', '')  # nothing to do

    small['cube_nb.learn.loop.Learner'] = 'c'
    small['cube_nb.learn.loop.train_more'] = small.pop('cube_nb.learn.loop.train')
    changed = [
        'code cube_nb.learn.loop.Learner has changed',
        'code cube_nb.learn.loop.train is gone',
        'code cube_nb.learn.loop.train_more is new',
    ]
    assert stale_networks() == {'tiny': changed, 'child': changed}
    before = {name: weights_checksum(load_network(f'nets/{name}.safetensors')) for name in ('tiny', 'child')}
    status, out, err = call(capsys, 'certify')
    assert (status, out) == (0, 'tiny: bit for bit\nchild: bit for bit\n') and 'replay' in err
    assert stale_networks() == {}
    for name, checksum in before.items():
        assert weights_checksum(load_network(f'nets/{name}.safetensors')) == checksum
    assert json.loads(Path('data/networks/tiny.json').read_text())['digest_by'] == 'bit for bit'


def test_what_no_replay_can_mend(small):
    trained_both()
    settings = Path('workflow/configs/child.yaml')
    settings.write_text(CHILD + 'learning_rate: 0.002\n')
    assert stale_networks() == {'child': ['setting learning_rate has changed']}
    assert certify('child') == Verdict('child', 'stale', 'setting learning_rate has changed')
    settings.write_text(CHILD)
    assert stale_networks() == {}

    Path('nets/child.safetensors').write_bytes(Path('nets/tiny.safetensors').read_bytes())
    assert stale_networks()['child'][0] == 'nets/child.safetensors is not as it was written'
    assert certify('child').words == 'stale'
    Path('figures/networks/tiny.svg').unlink()
    assert certify('tiny') == Verdict('tiny', 'stale', 'figures/networks/tiny.svg is missing')


def test_another_parent_makes_another_network(small):
    trained_both()
    settings = Path('workflow/configs/tiny.yaml')
    settings.write_text(TINY + 'seed: 1\n')
    for file in Path('runs/tiny').glob('*.*'):
        file.unlink()
    train_named('tiny', 'runs/tiny', progress=False)
    assert [*stale_networks()] == ['child']
    verdict = certify('child')
    assert verdict.words == 'stale' and verdict.why.startswith('start ')


def test_killed_between_header_and_record(small):
    trained_both()
    before = Path('data/networks/tiny.json').read_text()
    small['new'] = 'd'
    assert certify('tiny').words == 'bit for bit'
    Path('data/networks/tiny.json').write_text(before)
    assert 'nets/tiny.safetensors is not as it was written' in stale_networks()['tiny']
    assert certify('tiny').words == 'bit for bit'
    assert 'tiny' not in stale_networks()


def test_a_changed_loss_is_found_and_another_instruction_set_is_not(small, monkeypatch, capsys):
    trained_both()
    small['new'] = 'd'
    weighted = loop._weighted_cross_entropy
    with monkeypatch.context() as patches:
        patches.setattr(loop, '_weighted_cross_entropy', lambda *given: 1.1 * weighted(*given))
        assert certify('tiny').words == 'stale'
    code = (
        'from cube_nb.measure import trained\n'
        'trained.training_code = lambda network: {"other": "code"}\n'
        'print(trained.certify("tiny").words)'
    )
    environment = os.environ | {
        'PYTHONPATH': str(ROOT),
        'ONEDNN_MAX_CPU_ISA': 'AVX512_CORE',
        'ATEN_CPU_CAPABILITY': 'avx2',
    }
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in ('within tolerance', 'bit for bit')


@pytest.mark.parametrize('harmless', [True, False])
def test_a_training_resumed_under_other_code_is_replayed(small, harmless, monkeypatch):
    config = resolved_config(networks()['tiny'])
    trained.note_digest(Path('runs/tiny'), trained.network_digest('tiny'))
    train_until(get_method('davi').learner(config), 105, Path('runs/tiny'))
    small['cube_nb.learn.loop.train'] = 'changed'
    if not harmless:
        monkeypatch.setitem(loop.LOSSES, 'mse', torch.nn.functional.l1_loss)
    verdict = train_named('tiny', 'runs/tiny', progress=False)
    assert verdict.words == ('bit for bit' if harmless else 'stale')
    if harmless:
        assert 'tiny' not in stale_networks()
    else:
        assert stale_networks()['tiny'] == ['nets/tiny.safetensors carries no digest']
        assert certify('tiny').words == 'stale'


def test_the_network_of_a_stage_is_kept(small):
    Path('workflow/networks.yaml').write_text(
        'q: {method: dqn, config: q.yaml, folder: nets, keep_stage: 1, hours: 0, mem_mb: 500, threads: 1}'
    )
    settings = [setting.split('=') for setting in METHODS['dqn'] if not setting.startswith('network.')]
    lines = [f'{name}: {value}' for name, value in settings]
    network = '{puzzle: cube2, canonical: false, encoding: one_hot, hidden: [32, 16], blocks: 0, normalise: layer, heads: [moves]}'
    Path('workflow/configs/q.yaml').write_text('\n'.join([f'network: {network}', *lines]))
    assert train_named('q', 'runs/q', progress=False) == Verdict('q', 'trained')
    about = read_header('nets/q.safetensors')['about']
    assert about['states_seen'] == 20 * 16 and about['accuracy']['stage_depth'] == 1
    last = torch.load('runs/q/checkpoint.pt', weights_only=True)['network']
    kept = load_network('nets/q.safetensors').state_dict()
    assert any(not torch.equal(kept[name], last[name].bfloat16().float()) for name in kept)
    assert stale_networks() == {}


@pytest.mark.parametrize(
    'text, words',
    [
        ('tiny: {method: davi}', 'workflow/networks.yaml: tiny.config: Field required'),
        (LIST.replace('hours: 0', 'hours: many'), 'tiny.hours'),
        (LIST.replace('threads', 'cores'), 'tiny.threads: Field required'),
        ('tiny: [1]', 'workflow/networks.yaml: expected'),
        ('[tiny]', 'workflow/networks.yaml: expected'),
    ],
)
def test_a_slip_in_the_list_is_one_clear_error(small, text, words):
    Path('workflow/networks.yaml').write_text(text)
    with pytest.raises(ValueError) as error:
        stale_networks()
    assert words in str(error.value) and '\n' not in str(error.value)


def test_an_old_file_without_fingerprints_is_stale(small):
    trained_both()
    trained.renew_about('nets/tiny.safetensors', {'fingerprints': {}, 'digest': None})
    assert certify('tiny') == Verdict('tiny', 'stale', 'nets/tiny.safetensors carries no fingerprints')


def test_fingerprints_of_two_machines_are_held_against_one(small):
    "A training that moved to another machine between two fingerprints."
    trained_both()
    fingerprints = read_header('nets/tiny.safetensors')['about']['fingerprints']
    ((kind, steps),) = fingerprints.items()
    moved = {'elsewhere': {'100': steps['100']}, kind: {step: steps[step] for step in ('0', '1', '20')}}
    assert trained.compare('tiny', moved, fingerprints).words == 'within tolerance'
    assert trained.compare('tiny', {'elsewhere': steps}, fingerprints).words == 'within tolerance'
    assert trained.compare('tiny', {kind: {'0': steps['0']}}, fingerprints).words == 'stale'
    assert all(each.found == 0 for each in deviations(steps, steps))
