"Two processes train as one: the same weights in both, gradients averaged, killed and resumed."

import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch
from trainings import differences

from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Step, read_config

missing = pytest.mark.skipif(find_spec('lightning_fabric') is None, reason='without lightning_fabric')
pytestmark = [pytest.mark.slow, missing]
SETTINGS = [
    'network.puzzle=cube2', 'network.hidden=[32, 16]', 'network.blocks=1', 'iterations=40',
    'batch_size=100', 'checkpoint_every=5', 'log_every=10', 'max_depth=8', 'check_every=10', 'threshold=30',
    'growth=true', 'precision=float32', 'device=cpu',
]  # fmt: skip
SCRIPT = """
import os, signal, sys, time
import torch
from cube_nb.learn.davi import DaviConfig, DaviLearner
from cube_nb.learn.loop import Budget, Callback, read_config, train

folder, settings = sys.argv[1], sys.argv[2:]

class Fragile(DaviLearner):
    dies_at = None
    def after_step(self, done):
        if self.rank == 1 and self.step == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().after_step(done)

class Notes(Callback):
    def __init__(self, name):
        self.name = name
    def on_row(self, learner, rows):
        print(learner.rank, file=open(f'{folder}/{self.name}-rows', 'a'))
    on_stage = on_checkpoint = on_row

def run(name, dies_at=None, budget=Budget()):
    learner = Fragile(read_config(DaviConfig, None, settings))
    learner.dies_at = dies_at
    log = train(learner, f'{folder}/{name}', budget=budget, callbacks=[Notes(name)])
    log = log.drop(columns=['seconds', 'states_per_second'])
    state = {part: it.state_dict() for part, it in learner.parts.items()}
    torch.save(dict(log=log.to_numpy().tolist(), **state), f'{folder}/{name}-{learner.rank}.pt')

if os.path.exists(f'{folder}/killed'):
    run('killed')
else:
    run('whole')
    settings.append('final_learning_rate=1e-5')
    run('timed', budget=Budget(seconds=2, clock=lambda: time.monotonic() * (1 + int(os.environ['RANK']))))
    settings.pop()
    run('killed', dies_at=23)
"""


def torchrun(folder):
    "The script in two processes."
    launcher = ['-m', 'torch.distributed.run', '--standalone', '--nproc_per_node=2', '--no-python']
    command = [sys.executable, *launcher, sys.executable, '-c', SCRIPT, folder, *SETTINGS]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    "What both processes ended with, in a run left alone and in one in which a process was killed, started again."
    folder = tmp_path_factory.mktemp('two')
    killed = torchrun(folder)
    assert killed.returncode and 'SIGKILL' in killed.stderr, killed.stderr
    assert (folder / 'whole-1.pt').exists() and not (folder / 'killed-0.pt').exists(), killed.stderr
    resumed = torchrun(folder)
    assert resumed.returncode == 0, resumed.stderr
    return folder


def load(path):
    return torch.load(path, weights_only=True)


def test_processes_agree(folder):
    assert differences(load(folder / 'whole-0.pt'), load(folder / 'whole-1.pt')) == []


def test_killed_and_resumed(folder):
    for rank in 0, 1:
        assert differences(load(folder / f'killed-{rank}.pt'), load(folder / f'whole-{rank}.pt')) == []


@pytest.mark.parametrize('run', ['whole', 'timed'])
def test_only_the_first_writes(folder, run):
    assert len([*(folder / run / 'tensorboard').iterdir()]) == 1
    assert set((folder / f'{run}-rows').read_text().split()) == {'0'}


def test_a_budget_of_seconds_ends_in_all_processes_at_once(folder):
    "Each has a clock of its own, and one of them runs at double speed here."
    one, other = (load(folder / f'timed-{rank}.pt') for rank in (0, 1))
    assert differences(one, other) == [] and one['spent'] == other['spent']
    assert 2 <= one['spent']['seconds'] < 60 and one['schedule']['last_epoch'] > 1
    assert one['optimiser']['param_groups'][0]['lr'] < 1e-3 / 5  # it has fallen with the time


def step_of_both(learner):
    "One step of two processes in one: each share with batch normalisation of its own, all averaged."
    statistics = [b for b in learner.network.buffers() if b.is_floating_point()]
    after, losses = [], []
    before = [b.clone() for b in statistics]
    learner.optimiser.zero_grad()
    for learner.rank in 0, 1:
        for b, old in zip(statistics, before):
            b.copy_(old)
        batch = learner.batch(learner.step)
        loss = (learner.network.train()(batch.states)['value'] - batch.targets['value']).square().mean()
        (loss / 2).backward()
        losses.append(loss.detach())
        after.append([b.clone() for b in statistics])
    for b, one, other in zip(statistics, *after):
        b.copy_((one + other) / 2)
    learner.optimiser.step()
    learner.schedule.step()
    learner.step += 1
    learner.after_step(Step(batch, {}, dict(loss=sum(losses) / 2), {}))


def test_as_one_process_with_all_the_states(folder):
    learner = DaviLearner(read_config(DaviConfig, None, SETTINGS))
    learner.processes = 2
    learner.local_batch_size //= 2
    while learner.step < learner.config.iterations:
        step_of_both(learner)
    whole = load(folder / 'whole-0.pt')
    assert learner.step == 40 and learner.target.renewals == whole['target']['renewals'] > 0
    for name, tensor in learner.network.state_dict().items():
        if tensor.is_floating_point():
            torch.testing.assert_close(whole['network'][name], tensor, rtol=1e-4, atol=1e-5)
