"What the tests share: contracts say at the end how many pairs they covered."

from collections import Counter

PAIRS = Counter()  # contract -> pairs of registered things that it ran over


def pytest_terminal_summary(terminalreporter):
    "Print the number of pairs of each contract that was run."
    for contract, count in PAIRS.items():
        terminalreporter.write_line(f'contract of every puzzle x every {contract}: {count} pairs')
