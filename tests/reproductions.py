"`cube_nb reproduce`, killed with SIGKILL at random moments, with damage to what is there: does the next run mend it?"

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil

from cube_nb.workshop.pipeline import jobs, needs_of, reasons

ROOT = Path(__file__).parents[1]
TIMES = re.compile(r'seconds|per_second|minutes|times_as')
VICTIMS = ('runner', 'notebook', 'both')
SILENT = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_server(process):
    "Whether a process runs notebooks. One that has ended since it was listed does not."
    try:
        return 'import serve' in ' '.join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def kill(command, after, victim):
    "Start a run and kill the runner, the notebooks or both after some seconds. Returns how many were killed."
    with subprocess.Popen(command, **SILENT) as run:
        time.sleep(after)
        if run.poll() is not None:
            return 0
        family = psutil.Process(run.pid).children(recursive=True)
        servers = list(filter(is_server, family))
        kernels = servers[1:]  # forks of the first
        chosen = {'runner': [run], 'notebook': kernels, 'both': [run, *kernels]}[victim]
        for process in chosen:
            process.kill()
        return len(chosen)


def damage(rng):
    "Do something to the results that the next run must notice, or must not mind. Returns what."
    kind = rng.choice(['edit a table', 'cut a table', 'remove .snakemake', 'touch every file', 'nothing'])
    found = sorted(Path('data/smoke').glob('*.csv'))
    if kind.endswith('table') and found:
        path = rng.choice(found)
        content = path.read_bytes()
        half = content[: len(content) // 2]
        path.write_bytes(content.replace(b'1', b'2', 1) if kind == 'edit a table' else half)
        return f'{kind}: {path.name}'
    if kind == 'remove .snakemake':
        shutil.rmtree('.snakemake', ignore_errors=True)
    if kind == 'touch every file':
        for path in filter(Path.is_file, Path().rglob('*')):
            if '.git' not in path.parts:
                os.utime(path)
    return kind


def tables(names):
    "The tables of some experiments, without columns of times."
    known, found = jobs('smoke'), {}
    for table in [table for name in names for table in known[name].experiment.tables]:
        frame = pd.read_csv(f'data/smoke/{table}.csv')
        found[table] = frame[[column for column in frame if not TIMES.search(column)]]
    return found


def killed_reproductions(folder, count, rng, only='alphazero_ablation'):
    "(kills, runs that were not mended), in a clone: it has its own data/smoke, which is removed before each run."
    clone, home, lost = folder / 'clone', os.getcwd(), 0
    subprocess.run(['git', 'clone', '-q', str(ROOT), str(clone)], check=True)
    command = ['env', f'PYTHONPATH={clone}', sys.executable, '-m', 'cube_nb', 'reproduce', '--only', only]
    os.chdir(clone)
    try:
        names = needs_of([only], {name: job.experiment.needs for name, job in jobs('smoke').items()})
        start = time.perf_counter()
        subprocess.run(command, check=True, **SILENT)
        seconds, unbroken = time.perf_counter() - start, tables(names)
        for number in range(count):
            for part in ('data/smoke', 'figures/smoke', 'runs/smoke'):
                shutil.rmtree(part, ignore_errors=True)
            victim, after = rng.choice(VICTIMS), rng.uniform(1, seconds)
            killed, done = kill(command, after, victim), damage(rng)
            status = subprocess.run(command, check=False, **SILENT).returncode
            good = status == 0 and not any(reasons(jobs('smoke')[name]) for name in names)
            good = good and all(table.equals(unbroken[name]) for name, table in tables(names).items())
            lost += not good
            outcome = 'same tables' if good else 'NOT MENDED'
            print(f'{number}: {victim} ({killed}) after {after:.0f} s; {done}: {outcome}', flush=True)
    finally:
        os.chdir(home)
    return count, lost
