"What the tests share: contracts say at the end how many pairs they covered."

import signal
from collections import Counter

import pytest

PAIRS = Counter()  # contract -> pairs of registered things that it ran over


@pytest.fixture
def ctrl_c():
    "Let SIGINT mean Ctrl-C, here and in processes started here: workers that run tests side by side ignore it."
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_terminal_summary(terminalreporter):
    "Print the number of pairs of each contract that was run."
    for contract, count in PAIRS.items():
        terminalreporter.write_line(f'contract of every puzzle x every {contract}: {count} pairs')
