"A training that is cut short goes on exactly: every trainer, with all that it remembers between two steps."

import pytest
from trainings import AS_PUBLISHED, TIMED, differences, small_learner, train_until

from cube_nb.learn.loop import method_names, read_checkpoint, train

# A row is the mean since the one before it, or since a checkpoint
SHORT = ['iterations=30', 'batch_size=32', 'log_every=4', 'checkpoint_every=8']
SELF_PLAY = ['episodes=10', 'simulations={1: 8}', 'max_moves=5', 'updates=4', 'buffer=60']
SELF_PLAY += ['checkpoint_every=4']
CURRICULUM = [*SELF_PLAY, 'curriculum=[1, 2, 3]', 'window=2']
YARDSTICK = [*CURRICULUM, 'target=search', 'yardstick=4', 'temperature={1: 0.5}']
PASSES = [*CURRICULUM, *AS_PUBLISHED, 'epochs=4', 'sample=16', 'batch_size=16']
FEW = ['buffer=300', 'warmup=3', 'episodes=10', 'target_every=7']
STAGES = ['stages=[[1, 4, -1.5, 30, 1.0, 0.2], [2, 6, -2.5, 30, 0.5, 0.1]]', 'patience=12', 'decay_steps=5']
PRIORITIES = ['prioritised=true', 'double=true', 'mixed=true', 'symmetric=true', 'stop_early=true']
TIED = ['tied=true', 'network={puzzle: cube3, hidden: [96, 48], blocks: 1}']
PICTURES = ['network.encoding=picture', 'network.convolutions=[[4, 8, 4]]', 'batch_size=16', 'episodes=8']
FEWER = {'alphazero': ['simulations={1: 3}', 'max_moves=3']}  # on a device
CASES = {  # name -> method, settings; what else than weights it remembers is named
    **{name: (name, []) for name in method_names()},
    'davi, curriculum': ('davi', ['growth=true', 'check_every=7', 'threshold=5']),
    'adi, errors by depth': ('adi', ['weights=adaptive', 'target_every=3', 'decay=exponential']),
    'adi, replay': ('adi', ['buffer=100', 'refresh=3', 'prioritised=true', 'entropy=0.01']),
    'alphazero': ('alphazero', SELF_PLAY), 'alphazero, curriculum': ('alphazero', CURRICULUM),
    'alphazero, yardstick': ('alphazero', YARDSTICK), 'alphazero, as published': ('alphazero', PASSES),
    'dqn, stages': ('dqn', [*FEW, *STAGES, 'n_step=3', 'hindsight=true']), 'walks, tied': ('walks', TIED),
    'dqn, priorities': ('dqn', [*FEW, *STAGES, *PRIORITIES]), 'dqn, pictures': ('dqn', [*FEW, *PICTURES]),
}  # fmt: skip


def state_of(learner):
    "All that a learner remembers but the time."
    return {name: part.state_dict() for name, part in learner.parts.items() if name != 'spent'}


def goes_on_exactly(name, folder, *more):
    "Cut short in two thirds of a training, and take it up: at most the steps since the last checkpoint are done again."
    method, settings = CASES[name]
    whole, short, resumed = (small_learner(method, *SHORT, *settings, *more) for _ in range(3))
    log = train(whole, progress=False)
    config = whole.config
    cut = config.iterations * 2 // 3
    step = read_checkpoint(short, train_until(short, cut, folder))['step']
    assert 0 < cut - step <= max(config.checkpoint_every, config.log_every)
    rest = train(resumed, folder, progress=False)
    assert differences(state_of(resumed), state_of(whole)) == []
    assert rest.drop(columns=TIMED, errors='ignore').equals(log.drop(columns=TIMED, errors='ignore'))


@pytest.mark.parametrize('name', CASES)
def test_a_training_cut_short_goes_on_exactly(name, tmp_path):
    goes_on_exactly(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['davi', 'adi, replay', 'alphazero', 'dqn, stages'])
def test_on_a_device_too(name, tmp_path, device):
    goes_on_exactly(name, tmp_path, f'device={device}', 'iterations=15', *FEWER.get(name, []))
