"""How much a bare installation adds: an empty environment, torch, then this checkout without extras.

    python benchmarks/install_size.py [--torch torch==2.13.0] [--keep FOLDER]

Packages come from where pip finds them. Sizes are those of the files on disk, after both installations; what torch needs
itself counts as torch. Promised are at most 350 MB (1e6 bytes) beside it.
"""

import argparse
import subprocess
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PROMISED = 350  # MB


def megabytes(folder):
    "Of all files below a folder, by package: {name of the entry: MB}."
    sizes = {}
    for entry in folder.iterdir():
        files = [entry] if entry.is_file() else [path for path in entry.rglob('*') if path.is_file()]
        sizes[entry.name] = sum(path.stat().st_size for path in files) / 1e6
    return sizes


def measured(folder, torch):
    "Sizes with torch alone, and with the package."
    venv.create(folder, with_pip=True)
    packages = next(folder.glob('lib/python*/site-packages'))
    sizes = []
    for wanted in (torch, str(ROOT)):
        subprocess.run([folder / 'bin/python', '-m', 'pip', 'install', '--quiet', wanted], check=True)
        sizes.append(megabytes(packages))
    return sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--torch', default='torch')
    parser.add_argument('--keep', type=Path, help='make the environment here and leave it')
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        alone, both = measured(asked.keep or Path(folder), asked.torch)
    added = {name: size - alone.get(name, 0) for name, size in both.items()}
    for name, size in sorted(added.items(), key=lambda item: -item[1])[:8]:
        print(f'{size:8.1f} MB  {name}')
    total = sum(added.values())
    print(
        f'{total:.0f} MB beside torch with its own needs ({sum(alone.values()):.0f} MB); promised: {PROMISED} MB'
    )
    return total > PROMISED


if __name__ == '__main__':
    raise SystemExit(main())
