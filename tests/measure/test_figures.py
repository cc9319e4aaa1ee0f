"The look of the figures: one theme, one palette, whole numbers on axes of depths, a text for each figure."

import ast
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cube_nb.workshop import profiles

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(p for p in (ROOT / 'nbs').rglob('*.ipynb') if '.ipynb_checkpoints' not in p.parts)
# where the colours of stickers and of plastic are drawn, and where the palette is made
STICKERS = '01_geometry 03_puzzle 08_cubies 09_encoding 10_drawing 13_pyraminx 17_goals'
STICKERS += ' 3_add_a_puzzle 02_figures'
STEPS = re.compile(r'\b(depth|distance|turns|moves|length)\b')
NOT_COUNTED = re.compile(  # many of them, or no number of moves
    'random turns|random moves|cost of|deviation|exploration|estimate|a second|while learning|mean'
)
WHOLE = ('whole_ticks', 'xticks', 'imshow', 'set_xticks', 'boxplot')


@cache
def code_cells(path):
    "The code cells of a notebook."
    return [code for _, code in profiles.code_cells(path)]


def calls(code, name='.*'):
    "The calls of functions in a cell."
    found = [] if re.search('^[%!]', code, re.MULTILINE) else ast.walk(ast.parse(code))
    found = [node for node in found if isinstance(node, ast.Call)]
    return [call for call in found if re.fullmatch(name, ast.unparse(call.func), re.DOTALL)]


def texts(node):
    "The text in an expression, also in the pieces of an f-string."
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return ' '.join(found)


def x_labels(code):
    "What is written below the axes that a cell draws."
    found = [word.value for call in calls(code) for word in call.keywords if word.arg == 'xlabel']
    found += [call.args[0] for call in calls(code, '.*xlabel') if call.args]
    return [texts(node) for node in found]


def draws(path):
    "Whether a notebook draws with matplotlib outside of what it exports."
    shown = [code for code in code_cells(path) if not re.search(r'^#\| *export', code, re.MULTILINE)]
    return any('plt.' in code or 'run.figure(' in code for code in shown)


@pytest.fixture(scope='module')
def drawing():
    return [path for path in NOTEBOOKS if draws(path)]


@pytest.fixture(scope='module')
def figures():
    "The chapter's module, which is slow to import."
    from cube_nb.measure import figures

    return figures


def test_every_notebook_that_draws_uses_the_theme(drawing):
    assert drawing
    for path in drawing:
        assert any(calls(code, 'use_theme') for code in code_cells(path)), path


def test_colours_are_of_the_palette():
    for path in NOTEBOOKS:
        code = '\n'.join(code_cells(path))
        assert 'tab:' not in code and 'frameon' not in code.replace('legend.frameon', ''), path
        if path.stem not in STICKERS.split():
            assert not re.findall(r"""['"]#[0-9a-fA-F]{3,8}['"]""", code), path


def test_axes_of_depths_have_whole_numbers(drawing):
    for path in drawing:
        for code in code_cells(path):
            for label in x_labels(code):
                counted = STEPS.search(label) and not NOT_COUNTED.search(label)
                assert not counted or any(word in code for word in WHOLE), (path, label)


def test_methods_have_names_and_colours_of_the_palette(figures):
    palette = {*figures.PALETTE, *map(figures.darker, figures.PALETTE), 'black'}
    assert {*figures.METHOD_COLOURS.values()} <= palette
    assert set(figures.ALIASES.values()) <= set(figures.METHOD_COLOURS)
    for name in ('DAVI, 3 seeds', 'walks of a network', 'ADI of the book', 'DQN, pieces', 'optimal (IDA*)'):
        assert figures.method_colour(name) == figures.METHOD_COLOURS[re.split('[ ,]', name)[0]]
    for name in ('', 'radius', 'beams'):
        with pytest.raises(ValueError, match='names no method: expected one of CayleyPy'):
            figures.method_colour(name)


def test_every_figure_of_an_experiment_has_a_text():
    for name, experiment in profiles.experiments().items():
        code = '\n'.join(code_cells(ROOT / 'nbs/experiments' / f'{name}.ipynb'))
        written = {call.args[1].value: call for call in calls(code, r'run\.figure')}
        assert set(written) == set(experiment.figures)
        for figure, call in written.items():
            assert len(call.args) == 3 and len(ast.literal_eval(call.args[2])) > 40, figure


@pytest.fixture
def theme(figures):
    with figures.plt.rc_context():
        figures.use_theme()
        yield figures
        figures.plt.close('all')


def covered(ax):
    "How many points of the lines lie under the legend."
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    points = [ax.transData.transform(line.get_xydata()) for line in ax.lines]
    return sum(box.contains(*point) for point in np.concatenate(points))


@pytest.mark.parametrize('depth', [2, 3, 14, 50])
def test_the_shared_plots(theme, depth):
    steps = np.arange(1, depth + 1)
    rates = pd.DataFrame(dict(scramble_depth=steps, solved=1 / steps, solved_low=0.0, solved_high=1.0))
    rates = pd.concat([rates.assign(solver=f'solver {k}') for k in range(8)])
    truth = np.repeat(steps, 5)
    log = pd.DataFrame(dict(step=steps, loss=1 / steps, target_updates=steps // 2))
    solved = theme.plot_solve_rate(rates, 'solver').axes[0]
    judged = theme.plot_calibration(theme.calibration(truth, truth)).axes[0]
    loss, updates = theme.plot_training(log, 0.5).axes
    for axis in solved.xaxis, judged.xaxis, judged.yaxis, updates.yaxis:
        assert not np.any(axis.get_ticklocs() % 1)
    assert not covered(solved) and not covered(loss)


def test_colours_of_the_labels_can_be_said(theme):
    rows = pd.DataFrame(dict(scramble_depth=[1, 2], solved=1.0, solved_low=0.9, solved_high=1.0, name='a'))
    ax = theme.plot_solve_rate(rows, 'name', {'a': theme.BLUE}).axes[0]
    assert ax.lines[0].get_color() == theme.BLUE
