"What is built for a package index: what must be in it, what must not, and what it says of itself."

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import HeaderParser
from pathlib import Path

import pytest

from cube_nb.config import read_yaml

ROOT = Path(__file__).parents[2]
BUILD = 'from setuptools import build_meta; build_meta.build_sdist("dist"); build_meta.build_wheel("dist")'


def tracked(folder='.'):
    "The files that git knows, relative to the root."
    listed = subprocess.run(['git', 'ls-files', folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split('\n')[:-1]


@pytest.fixture(scope='module')
def built(tmp_path_factory):
    "A copy of the checkout in which wheel and sdist were built, without a network."
    if shutil.which('git') is None or not (ROOT / '.git').exists():
        pytest.skip('what belongs into a package is what git knows')
    copy = tmp_path_factory.mktemp('package')
    for name in tracked():
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    done = subprocess.run([sys.executable, '-c', BUILD], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return copy / 'dist'


@pytest.fixture(scope='module')
def wheel(built):
    "The wheel, opened."
    (file,) = built.glob('*.whl')
    with zipfile.ZipFile(file) as archive:
        yield archive


@pytest.fixture(scope='module')
def settings():
    "What the package says of itself."
    parser = ConfigParser(delimiters=['='])
    parser.read(ROOT / 'settings.ini', encoding='utf-8')
    return parser['DEFAULT']


def text_of(wheel, end):
    "The text of the one file whose name ends so."
    (name,) = [name for name in wheel.namelist() if name.endswith(end)]
    return wheel.read(name).decode()


def test_the_wheel_holds_the_library_and_little_else(wheel):
    library = {name for name in tracked('cube_nb') if (ROOT / name).exists()}
    assert {name for name in wheel.namelist() if '.dist-info/' not in name} == library
    carried = {'py.typed', 'play/static/play.js', 'nets/shipped/cube3-walks.safetensors'}
    assert {f'cube_nb/{name}' for name in carried} <= library and Path(wheel.filename).stat().st_size < 12e6
    assert text_of(wheel, '/LICENSE')
    assert 'cube_nb = cube_nb.__main__:main' in text_of(wheel, 'entry_points.txt')


def test_the_sdist_can_be_built_from_and_holds_no_results(built):
    (file,) = built.glob('*.tar.gz')
    with tarfile.open(file) as archive:
        names = {name.partition('/')[2] for name in archive.getnames()}
    needed = {'setup.py', 'settings.ini', 'pyproject.toml', 'requirements-dev.in', 'README.md', 'LICENSE'}
    assert needed | {'CITATION.cff', 'CHANGELOG.md', 'cube_nb/__init__.py'} <= names
    assert not [name for name in names if re.match(r'(tests|nbs|data|figures|runs|benchmarks|widget)/', name)]


def test_what_the_package_index_will_show(wheel, settings):
    metadata = HeaderParser().parsestr(text_of(wheel, '.dist-info/METADATA'))
    assert metadata['Name'] == 'cube_nb' and metadata['Version'] == settings['version']
    assert metadata['Description-Content-Type'] == 'text/markdown'
    urls = dict(line.split(', ') for line in metadata.get_all('Project-URL'))
    assert {'Documentation', 'Source', 'Issues', 'Changelog'} <= set(urls)
    assert all(url.startswith('https://') and '%' not in url for url in urls.values())
    assert 'Programming Language :: Python :: 3.13' in metadata.get_all('Classifier')
    assert {'learn', 'plots', 'play', 'all', 'dev'} <= set(metadata.get_all('Provides-Extra'))


def test_pictures_and_links_of_the_readme_are_shown_anywhere():
    "A package index shows the README without the repository around it."
    links = re.findall(r'\]\(([^)]+)\)', (ROOT / 'README.md').read_text(encoding='utf-8'))
    assert links and all(link.startswith(('https://', '#')) for link in links)


def test_the_citation_is_a_citation(settings):
    "The required keys of the format, and the same version, licence and addresses as the package."
    citation = read_yaml(ROOT / 'CITATION.cff')
    assert {'cff-version', 'message', 'title', 'authors', 'references'} <= set(citation)
    assert citation['cff-version'] == '1.2.0' and citation['license'] == 'Apache-2.0'
    assert citation['version'] == settings['version'] and citation['repository-code'] == settings['git_url']
    for reference in citation['references']:
        assert {'type', 'title', 'authors'} <= set(reference)
        assert all('name' in author or 'family-names' in author for author in reference['authors'])
