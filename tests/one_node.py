"A SLURM of one node, which is this machine, for tests of jobs on a cluster."

import getpass
import os
import shutil
import socket
import subprocess

import pytest
from killed import wait_until

DAEMONS = ('munged', 'slurmctld', 'slurmd')
CLIENTS = ('sbatch', 'srun', 'squeue', 'sinfo')
SBIN = '/usr/sbin:/sbin'  # where they are, and not always in the path of a user
CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=3000 Gres=gpu:1
PartitionName=main Nodes=ALL Default=YES
"""


def free_port():
    "A TCP port that nothing listens on."
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def configure(folder):
    "Write what the three daemons read. The node says that it has two CPUs and a GPU, whatever it has."
    for name in ('state', 'spool', 'bin'):
        (folder / name).mkdir()
    facts = dict(host=socket.gethostname().split('.')[0], user=getpass.getuser(), folder=folder)
    ports = dict(controller_port=free_port(), node_port=free_port())
    (folder / 'slurm.conf').write_text(CONFIGURATION.format(**facts, **ports))
    (folder / 'gres.conf').write_text('Name=gpu File=/dev/null\n')
    (folder / 'munge.key').write_bytes(os.urandom(128))
    (folder / 'munge.key').chmod(0o400)
    # the plugin starts a job's step without SLURM_CONF, and srun would look in /etc
    srun = folder / 'bin/srun'
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)


def daemon_commands(folder):
    "The command lines of the three daemons, none of which goes to the background."
    files = [f'--{name}-file={folder}/munge.{name}' for name in ('key', 'log', 'pid', 'seed')]
    # munged wants everybody to reach its socket; here one user has to, and with --force it only warns
    munged = ['munged', '--foreground', '--force', f'--socket={folder}/munge.socket', *files]
    return [munged, ['slurmctld', '-D', '-i'], ['slurmd', '-D']]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    "The environment of a SLURM cluster of one node, which is this machine."
    path = f'{os.environ["PATH"]}:{SBIN}'
    missing = [name for name in (*DAEMONS, *CLIENTS) if not shutil.which(name, path=path)]
    if missing:
        pytest.skip(f'SLURM is not installed: there is no {", ".join(missing)}')
    folder = tmp_path_factory.mktemp('slurm')
    folder.chmod(0o755)
    configure(folder)
    environment = {**os.environ, 'SLURM_CONF': f'{folder}/slurm.conf', 'PATH': f'{folder}/bin:{path}'}
    running = []

    def is_ready():
        command = ['sinfo', '--noheader', '--format', '%T']
        answer = subprocess.run(command, env=environment, capture_output=True, text=True)
        return answer.stdout.strip() == 'idle'

    try:
        for command in daemon_commands(folder):
            with open(folder / f'{command[0]}.out', 'w') as log:
                running.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            if command[0] == 'munged':
                wait_until((folder / 'munge.socket').exists, 30)
        wait_until(is_ready, 30)
        yield environment
    finally:
        for daemon in reversed(running):
            daemon.terminate()
            daemon.wait()
