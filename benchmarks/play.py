"""Measure what `cube_nb play` promises to two people who play at once, with a real server and real signals.

    python benchmarks/play.py [--seconds 30] [--scrambles 50]

One client has a long search. Meanwhile another scrambles and reads words; then the search is cancelled, its page leaves,
its process hangs, the server gets a Ctrl-C, the server is killed. Each time is printed beside what was promised, in
seconds; the status is 1 if a promise is broken.
"""

import argparse
import signal
import sys
from pathlib import Path
from time import perf_counter, sleep

sys.path.insert(0, str(Path(__file__).parents[1] / 'tests'))
from killed import wait_until  # noqa: E402 (modules of the tests)
from playing import (  # noqa: E402
    CANCELLED,
    answered,
    has_ended,
    playing,
    post,
    posted,
    wait_for_stage,
    worker_of,
)

SHORT = dict(ask='solve', puzzle='cube3', word='R U', solver='beam', model='cube3-walks', time_limit=5)
PATIENCE = 120  # seconds until something counts as hanging


def seconds_of(action):
    "What an action took, and what it returned."
    begin = perf_counter()
    result = action()
    return perf_counter() - begin, result


def searching(server, port, seconds):
    "A long search that is under way: the connection of who waits for it, and the process that searches."
    word = post(port, dict(ask='scramble', puzzle='cube3', length=100, seed=1))['moves']
    long = dict(solver='anytime', word=' '.join(word), time_limit=seconds, search='long')
    connection = posted(port, SHORT | long)
    wait_for_stage(port, 'long', 'Solving')
    sleep(1)  # into the search itself
    return connection, worker_of(server)


def cancel(port, connection):
    "Cancel the long search. Raises `AssertionError` if its answer is another."
    assert post(port, dict(ask='cancel', search='long')) == dict(cancelled='long')
    assert answered(connection) == CANCELLED


def solve_short(port):
    "Have something solved that is solved at once."
    assert post(port, SHORT)['moves'], 'not solved'


def measure(seconds=30, scrambles=50):
    "Rows of what was done, the seconds that it took, and the seconds that were promised (None: nothing was)."
    rows = []
    scramble = dict(ask='scramble', puzzle='cube3', length=30)
    read = dict(ask='read', puzzle='cube3', word="R U2 F'")
    with playing() as (server, port):
        rows.append(
            ('first answer, with the start of the process', seconds_of(lambda: solve_short(port))[0], None)
        )
        connection, worker = searching(server, port, seconds)
        for message in (scramble, read):
            took = [seconds_of(lambda message=message: post(port, message))[0] for _ in range(scrambles)]
            rows.append((f'{message["ask"]} while another searches, slowest of {scrambles}', max(took), 0.3))
        rows.append(('cancel, until its page is told', seconds_of(lambda: cancel(port, connection))[0], 1.0))

        connection, worker = searching(server, port, seconds)
        cancel(port, connection)
        rows.append(('cancel, until another is solved', seconds_of(lambda: solve_short(port))[0], 1.0))

        connection, worker = searching(server, port, seconds)
        connection.close()
        rows.append(('a page leaves, until another is solved', seconds_of(lambda: solve_short(port))[0], 1.0))

        connection, worker = searching(server, port, seconds)
        worker.suspend()
        rows.append(('cancel a search that hangs', seconds_of(lambda: cancel(port, connection))[0], 1.0))
        wait_until(lambda: has_ended(worker))

        connection, worker = searching(server, port, seconds)
        server.send_signal(signal.SIGINT)
        rows.append(('Ctrl-C, until the server has ended', seconds_of(lambda: server.wait(PATIENCE))[0], 2.0))
        rows.append(('and its search', seconds_of(lambda: wait_until(lambda: has_ended(worker)))[0], 2.0))
    with playing() as (server, port):
        connection, worker = searching(server, port, seconds)
        server.kill()
        took = seconds_of(lambda: wait_until(lambda: has_ended(worker)))[0]
        rows.append(('server killed, until its search has ended', took, 2.0))
    return rows


def main():
    "Measure, print, and exit with 1 if a promise is broken."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=30, help='of the long search')
    parser.add_argument('--scrambles', type=int, default=50)
    options = parser.parse_args()
    broken = False
    for what, took, promised in measure(options.seconds, options.scrambles):
        broken |= promised is not None and took > promised
        print(f'{what:<55} {took:7.3f}', '' if promised is None else f'promised {promised:g}')
    sys.exit(broken)


if __name__ == '__main__':
    main()
