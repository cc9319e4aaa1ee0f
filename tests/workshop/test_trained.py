"Trained networks as results: records and replays."

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from trainings import train_until

from cube_nb.learn import loop
from cube_nb.learn.loop import get_method
from cube_nb.nets.weights import find_weights, load_network, read_header
from cube_nb.workshop import trained
from cube_nb.workshop.profiles import networks
from cube_nb.workshop.results import read_record
from cube_nb.workshop.trained import Verdict, check_network, resolved_config, stale_networks, train_named

pytestmark = pytest.mark.usefixtures('one_thread')  # of training; the threads of other tests are put back
ROOT = Path(__file__).parents[2]


# ---- the networks of this checkout ----
def test_the_configurations_are_what_made_the_networks(monkeypatch):
    monkeypatch.chdir(ROOT)
    for name, network in networks().items():
        weights = ROOT / network.results[0]
        assert read_header(weights)['about']['method'] == network.method
        assert trained.why_network_stale(network)[0] == [], name
        assert find_weights(name).resolve() == weights


# ---- records and replays ----
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
STAGES = """
network: {puzzle: cube2, canonical: false, encoding: one_hot, hidden: [32, 16], blocks: 0, normalise: layer, heads: [moves]}
iterations: 60
checkpoint_every: 30
batch_size: 16
stages: [[1, 4, -1.5, 30, 1.0, 0.2], [2, 6, -2.5, 30, 0.5, 0.1]]
patience: 20
decay_steps: 5
episodes: 10
buffer: 300
warmup: 3
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A checkout with two networks, the second of which starts from the first; their code is in `code`."
    (tmp_path / 'workflow/configs').mkdir(parents=True)
    (tmp_path / 'workflow/Snakefile').touch()
    files = {'networks': LIST, 'configs/tiny': TINY, 'configs/child': CHILD}
    for name, text in files.items():
        (tmp_path / f'workflow/{name}.yaml').write_text(text)
    monkeypatch.chdir(tmp_path)
    code = {'cube_nb.learn.loop.train': 'a', 'cube_nb.learn.loop.Learner': 'b'}
    monkeypatch.setattr(trained, 'training_code', lambda network: dict(code))
    for accuracy in ('beam_accuracy', 'play_accuracy'):
        monkeypatch.setattr(trained, accuracy, lambda network: {'solved': 1.0})
    return code


FINISHED = {}  # path -> content, of the checkout when both are trained


def trained_both():
    "Train both networks, once for all tests."
    if not FINISHED:
        for name in ('tiny', 'child'):
            train_named(name, f'runs/{name}', progress=False)
        FINISHED.update({path: path.read_bytes() for path in Path().rglob('*') if path.is_file()})
    for path, content in FINISHED.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert stale_networks() == {}


def test_a_network_and_the_one_that_starts_from_it(small):
    assert stale_networks() == {name: ['it was never made'] for name in ('tiny', 'child')}
    trained_both()
    record, parent = read_record('networks', 'child'), read_record('networks', 'tiny')
    assert record['inputs'] == {'tiny.safetensors': parent['results']['nets/tiny.safetensors']}
    assert [*map(str, networks()['child'].results)] == [*record['results']]
    assert record['states_seen'] == 5_000 and record['parameters']['start'] == 'nets/tiny.safetensors'
    assert len(json.dumps(read_header('nets/tiny.safetensors')['about'])) < 10_000
    before = Path('data/networks/tiny.json').read_text()
    small['cube_nb.learn.loop.Learner'] = 'c'
    small['cube_nb.learn.loop.train_more'] = small.pop('cube_nb.learn.loop.train')
    changed = ['3 pieces of code differ, such as: cube_nb.learn.loop.Learner changed']
    assert stale_networks() == {'tiny': changed, 'child': changed}
    for name in ('tiny', 'child'):
        assert check_network(name) == Verdict(name, 'equal')
    assert stale_networks() == {'tiny': changed, 'child': changed}  # and it stays reported
    assert Path('data/networks/tiny.json').read_text() == before


def test_what_no_replay_can_mend(small):
    trained_both()
    Path('nets/child.safetensors').write_bytes(Path('nets/tiny.safetensors').read_bytes())
    assert stale_networks()['child'] == ['nets/child.safetensors was edited or is damaged']
    assert check_network('child').words == 'stale'
    Path('figures/networks/tiny.svg').unlink()
    assert check_network('tiny') == Verdict('tiny', 'stale', 'figures/networks/tiny.svg is missing')


def test_another_parent_makes_another_network(small):
    trained_both()
    Path('workflow/configs/tiny.yaml').write_text(TINY + 'seed: 1\n')
    for file in Path('runs/tiny').glob('*.*'):
        file.unlink()
    train_named('tiny', 'runs/tiny', progress=False)
    assert stale_networks() == {'child': ['input tiny.safetensors changed']}
    assert check_network('child').words == 'stale'


@pytest.mark.parametrize('harmless', [True, False])
def test_a_training_resumed_under_other_code_is_replayed(small, harmless, monkeypatch):
    train_until(get_method('davi').learner(resolved_config(networks()['tiny'])), 105, Path('runs/tiny'))
    small['cube_nb.learn.loop.train'] = 'changed'
    if not harmless:
        monkeypatch.setitem(loop.LOSSES, 'mse', torch.nn.functional.l1_loss)
    with nullcontext() if harmless else pytest.raises(RuntimeError, match='tiny is not kept'):
        train_named('tiny', 'runs/tiny', progress=False)
    assert stale_networks().get('tiny') == (None if harmless else ['it was never made'])


def test_the_network_of_a_stage_is_kept(small):
    entry = 'q: {method: dqn, config: q.yaml, folder: nets, keep_stage: 1, hours: 0, mem_mb: 500, threads: 1}'
    Path('workflow/networks.yaml').write_text(entry)
    Path('workflow/configs/q.yaml').write_text(STAGES)
    train_named('q', 'runs/q', progress=False)
    about = read_header('nets/q.safetensors')['about']
    assert about['states_seen'] == 20 * 16 and about['accuracy']['stage_depth'] == 1
    last = torch.load('runs/q/checkpoint.pt', weights_only=True)['network']
    kept = load_network('nets/q.safetensors').state_dict()
    assert any(not torch.equal(kept[name], last[name].bfloat16().float()) for name in kept)
    assert stale_networks() == {}


def test_a_slip_in_the_list_is_one_clear_error(small):
    Path('workflow/networks.yaml').write_text('tiny: {method: davi}')
    with pytest.raises(ValueError, match=r'networks.yaml: tiny: config: expected a value \(got nothing\)$'):
        stale_networks()


def test_how_near_is_near_enough():
    "At the first step, and over the first twenty."
    near = [(1.00019, 0.9881), (1.00021, 1), (1, 1.0121)]
    replays = [{'1': 2.0 * one, '20': 0.5 * twenty} for one, twenty in near]
    verdicts = [trained.judge_replay('tiny', {'1': 2.0, '20': 0.5}, replay).words for replay in replays]
    assert verdicts == ['within tolerance', 'stale', 'stale']
