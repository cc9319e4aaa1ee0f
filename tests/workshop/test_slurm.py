"""Experiments run as jobs of SLURM.

The jobs are real where Debian's packages slurmctld, slurmd, slurm-client and munge are installed: a cluster
of one node is started in a temporary folder. Without them only dry runs are tested.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from one_node import cluster  # noqa: F401  a fixture
from test_pipeline import ONE, experiment, profile, small  # noqa: F401  a fixture

from cube_nb.workshop.pipeline import reproduce, stale
from cube_nb.workshop.results import read_record

ROOT = Path(__file__).parents[2]
HAS_PLUGIN = find_spec('snakemake_executor_plugin_slurm') is not None
REASON = 'snakemake-executor-plugin-slurm is not installed (it needs Python 3.11)'
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not HAS_PLUGIN, reason=REASON)]


def copy_settings(folder, *more):
    "Our settings for SLURM, in a small checkout."
    file = 'workflow/slurm/config.yaml'
    (folder / file).parent.mkdir()
    (folder / file).write_text('\n'.join([(ROOT / file).read_text(), *more]))


def test_a_dry_run_of_the_pipeline(small, capfd):  # noqa: F811
    copy_settings(small)
    profile(small, costs='{one: {minutes: 7, mem_mb: 1234, threads: 2, gpus: 1}}')
    reproduce('smoke', dry_run=True, executor='slurm')
    said = ''.join(capfd.readouterr())
    one, two = said.index('rule one:'), said.index('rule two:')
    assert one < two and 'threads: 2' in said[one:two]
    assert 'mem_mb=1234' in said[one:two] and 'runtime=31' in said[one:two] and 'gpu=1' in said[one:two]
    assert not (small / 'data').exists()


ASKED = """
import os, subprocess
job = ['--jobs', os.environ['SLURM_JOB_ID']]
print(subprocess.run(['squeue', '--noheader', *job, '--format', '%C %m %l'], capture_output=True, text=True).stdout)
"""


# a name that a shell would take apart, and one that it would run
@pytest.mark.parametrize('name', ["it's two words", 'a $(touch x) b'])
def test_experiments_run_as_jobs(cluster, small, monkeypatch, name):  # noqa: F811
    copy_settings(small, 'slurm-status-command: squeue', 'slurm-init-seconds-before-status-checks: 5')
    for key, value in cluster.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]))
    profile(small, name=name, costs='{one: {minutes: 1, mem_mb: 500, threads: 2}}')
    experiment(small, 'one', ONE + ASKED)
    reproduce(name, executor='slurm')
    assert (small / 'data' / name / 'report.csv').read_text() == 'rows,weights\n3,7\n'
    # CPUs, memory and time, as the profile says
    assert '2 500M 13:00' in str(read_record(name, 'one')['said'])
    assert not stale(name) and not list(small.rglob('x'))  # no part of a name was run
