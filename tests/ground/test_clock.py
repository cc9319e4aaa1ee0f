"A limit of time is a promise: whatever is asked of a solver, it is back in time, and it can be stopped."

import _thread
import threading
from threading import Thread, Timer
from time import perf_counter, sleep

import pytest
from evaluators import blind

from cube_nb.clock import Clock, TimeIsUp, in_parts, look_at_clock
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import bfs, states_near_solved
from cube_nb.nets.networks import Network, NetworkConfig, network_evaluator
from cube_nb.search.core import NodeOptions, Solver, WARM, Solution, get_solver, solver_names
from cube_nb.exact.patterns import pattern_distances, read_pattern
from cube_nb.search.windows import shorten
from cube_nb.solving import load_evaluator

CUBE3 = get_puzzle('cube3')
SOLVER_NAMES = solver_names('cube3')
EVALUATED = [name for name in SOLVER_NAMES if get_solver(name).needs]
LIMIT = 0.3  # seconds
LENIENT = 1.7  # seconds more, on a machine that has other work


def slow(states):
    "An evaluator that knows nothing, and needs two seconds for ten thousand states, in small parts."
    for part in in_parts(len(states), 500):
        sleep(2e-4 * (part.stop - part.start))
    return blind(states)


def far_states(count):
    "uint8[count, S], nothing of which is solved by an evaluator that knows nothing."
    return CUBE3.scramble(count, 60, seed=1).states


def seconds_of(solver, evaluator, count=1, **options) -> float:
    "How long a solver takes for far states in one limit for all, none of which it solves; its kernels are warm."
    solve = get_solver(solver)
    options = dict(solve.small) | options | dict(time_limit=options['time_limit'] / count)
    solve(CUBE3, far_states(1), evaluator, **options | dict(time_limit=1e-9))
    start = perf_counter()
    answers = solve(CUBE3, far_states(count), evaluator, **options)
    seconds = perf_counter() - start
    assert len(answers) == count and not any(answer.solved for answer in answers)
    return seconds


LARGE = dict(  # a batch of each solver that would take seconds of an evaluator that needs time
    greedy=dict(count=2000), bwas=dict(batch_size=5000), mcts=dict(leaves=20_000, max_length=50),
    alphazero=dict(count=12_000),
)  # fmt: skip
LARGER = dict(  # where the evaluator answers at once it is the solver's own work that has to end
    greedy=dict(count=10_000), beam=dict(width=1 << 19), bwas=dict(batch_size=1_000_000, max_nodes=10**12),
    mcts=dict(leaves=300_000, max_length=10, max_searches=10**12), improve={}, ida={},
    alphazero=dict(simulations=10**9, count=10_000),
)  # fmt: skip
ASKED = [(name, slow, LARGE.get(name, {})) for name in EVALUATED]
ASKED += [(name, blind, options) for name, options in LARGER.items()]
ASKED += [(name, 'all views of a network', dict(cost='F=1.5,B=2')) for name in ('beam', 'improve')]


@pytest.mark.parametrize('solver, evaluator, options', ASKED)
def test_limits_are_kept(solver, evaluator, options):
    if evaluator == 'all views of a network':
        evaluator = load_evaluator('cube3', 'cube3-walks', views=True)
    assert seconds_of(solver, evaluator, time_limit=LIMIT, **options) < LIMIT + LENIENT


@pytest.mark.parametrize('solver', [*EVALUATED, 'ida'])
def test_stopped_from_another_thread(solver):
    "As a player does whose page is closed."
    clock = Clock()
    solve = get_solver(solver)
    options = dict(solve.small) | dict(time_limit=60)
    if solver == 'greedy':  # whose walks end soon where nothing is known
        options['max_length'] = 10**9
    found = []

    def work():
        with clock:
            found.extend(solve(CUBE3, far_states(1), slow, **options))

    worker = Thread(target=work)
    worker.start()
    sleep(0.5)
    clock.stop()
    worker.join(LENIENT)
    assert not worker.is_alive() and not any(answer.solved for answer in found)


def test_ctrl_c_ends_the_kernel_of_ida(ctrl_c):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip('interrupts the main thread')
    solve = get_solver('ida')
    options = dict(solve.small)
    solve(CUBE3, far_states(1), **options, time_limit=0.01)
    start = perf_counter()
    Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        solve(CUBE3, far_states(1), **options, time_limit=60)
    assert perf_counter() - start < 0.3 + LENIENT


@pytest.mark.parametrize('solver', ('beam', 'improve'))
def test_a_table_that_would_take_minutes_is_refused(solver):
    start = perf_counter()
    with pytest.raises(ValueError, match='within 9 moves is too large: expected a radius of at most 7'):
        get_solver(solver)(CUBE3, far_states(1), blind, radius=9, time_limit=1)
    assert perf_counter() - start < LENIENT


def test_building_a_table_is_not_searching():
    "A table that takes longer than the limit is there when the clock starts."
    state = CUBE3.scramble(1, 8, seed=3).states
    states_near_solved.cache_clear()
    (answer,) = get_solver('improve')(CUBE3, state, blind, radius=6, time_limit=LIMIT)
    assert answer.solved and answer.seconds < LIMIT + LENIENT


def test_start_up_happens_once_and_before_the_clock():
    "What a first call does is done on small scrambles; a second limit is another option of the same run."
    calls = []

    def late_riser(puzzle, states, evaluator, options):
        "A solver whose first call takes longer than its limit."
        calls.append(len(states))
        with Clock(options.time_limit) as clock:
            if len(calls) == 1:
                sleep(0.3)
            look_at_clock()
        return [Solution(puzzle, not clock.is_over) for _ in states]

    solve = Solver('late riser', late_riser, NodeOptions, warm_up=dict(max_nodes=10))
    for limit in (dict(time_limit=0.2), dict(time_limit=0.25), {}):
        assert solve(CUBE3, far_states(2), None, **limit)[0].solved
    assert calls == [3, 2, 2, 2]
    WARM.clear()
    solve(CUBE3, far_states(2), None)  # without a limit too: the seconds that it reports are its own
    assert calls == [3, 2, 2, 2, 3, 2]
    WARM.clear()


def stopped():
    "A clock that has run out."
    clock = Clock()
    clock.stop()
    return clock


NETWORK = Network(NetworkConfig(puzzle='cube3', hidden=(8,), blocks=0))
WORK = {
    'table': (bfs, (CUBE3, 3)), 'network': (network_evaluator(NETWORK, 'cpu'), (far_states(1),)),
    'pattern': (pattern_distances, (CUBE3, read_pattern('UR UF UL UB FR'))),
}  # fmt: skip


@pytest.mark.parametrize('work, arguments', WORK.values(), ids=WORK)
def test_long_work_below_the_solvers_can_be_stopped(work, arguments):
    "It looks at the clock, so nothing of it runs under a clock that was stopped."
    found = []
    with stopped():
        found.append(work(*arguments))
    assert not found
    work(*arguments)


def test_a_word_is_improved_as_far_as_there_was_time():
    table = bfs(CUBE3, 4)
    word = (0, 2, 3, 1, 4, 4, 4, 4, 6)
    with stopped():
        assert shorten(table, word) == (6,)  # what cancels is merged in any case
        with pytest.raises(TimeIsUp):
            look_at_clock()
