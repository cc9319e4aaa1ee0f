"What the tests share. At the end stands how many pairs each contract covered, and what no browser has seen."

import signal
from collections import Counter

import numba
import pytest
import torch

from cube_nb.cube.puzzle import puzzle_names

PAIRS = Counter()  # contract -> pairs of registered things that it ran over
LONGEST = {'test_gpu_script', 'test_pipeline', 'test_tutorials', 'test_distributed'}
WIDE = {'test_contracts', 'test_evaluators'}  # each puzzle with each solver and trainer: minutes
OTHERS = {*puzzle_names()} - {'cube2', 'cube3', 'pyraminx'}


def is_wide(item):
    "Whether a contract is asked of a puzzle that is left to the slow tests."
    asked = getattr(item, 'callspec', None)
    return item.path.stem in WIDE and asked and any(name in asked.params.values() for name in OTHERS)


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    "The tests that take longest come first: at the end one worker would be left alone with them."
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    for item in filter(is_wide, items):
        item.add_marker('slow')


@pytest.fixture
def ctrl_c():
    "Let SIGINT mean Ctrl-C, here and in processes started here: workers that run tests side by side ignore it."
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def one_thread():
    "Sums in one order; the threads of other tests are put back."
    threads, workers = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    numba.set_num_threads(workers)


def pytest_terminal_summary(terminalreporter):
    "Print the number of pairs of each contract that was run, and whether tests wanted a browser."
    skipped = terminalreporter.getreports('skipped')
    if count := sum('no chromium' in str(report.longrepr) for report in skipped):
        said = f'NO BROWSER SEEN: {count} tests of pages were skipped, no chromium or no page'
        terminalreporter.write_line(said)
    for contract, count in PAIRS.items():
        terminalreporter.write_line(f'contract of every puzzle x every {contract}: {count} pairs')
