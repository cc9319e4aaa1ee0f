"""Packaging for pip, read from settings.ini: the one place where names, versions and requirements are kept."""
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

config = ConfigParser(delimiters=['='])
config.read(Path(__file__).parent / 'settings.ini', encoding='utf-8')
settings = config['DEFAULT']
extras = {name: settings[f'{name}_requirements'].split() for name in 'learn plots play classical distributed'.split()}
develop = (Path(__file__).parent / 'requirements-dev.in').read_text(encoding='utf-8').splitlines()

setup(
    name=settings['lib_name'],
    version=settings['version'],
    description=settings['description'],
    long_description=(Path(__file__).parent / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author=settings['author'],
    author_email=settings['author_email'],
    license='Apache-2.0',
    url=settings['lib_url'],
    project_urls=dict(line.split() for line in settings['project_urls'].strip().splitlines()),
    keywords=settings['keywords'],
    classifiers=settings['classifiers'].strip().splitlines(),
    packages=find_packages(include=['cube_nb', 'cube_nb.*']),
    package_data={'cube_nb': ['py.typed', 'nets/shipped/*.safetensors', 'play/static/*']},
    python_requires='>=' + settings['min_python'],
    install_requires=settings['requirements'].split(),
    extras_require={
        **extras,
        'all': sorted({requirement for group in extras.values() for requirement in group}),
        'dev': [line for line in develop if line and not line.startswith('#')],
    },
    entry_points={'console_scripts': settings['console_scripts'].split()},
)
