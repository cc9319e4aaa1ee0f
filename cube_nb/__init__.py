"""Learned and exact solvers of Rubik's cube and other permutation puzzles, as a book of notebooks that runs.

    import cube_nb
    print(cube_nb.solve("R U2 F'"))

The names below are imported when they are first asked for, so `import cube_nb` takes no time and needs no torch.
This file is written by hand; all modules are exported from notebooks.
"""

__version__ = "0.1.0"

from importlib import import_module as _import_module

TYPE_CHECKING = False  # not from typing: the less is imported here, the sooner Ctrl-C is one line
if TYPE_CHECKING:  # what type checkers and editors read; `_MODULES` says the same to `__getattr__`
    from cube_nb.cube.drawing import draw_strip
    from cube_nb.cube.puzzle import Puzzle, get_puzzle, puzzle_names
    from cube_nb.measure.evaluate import evaluate
    from cube_nb.play.widget import player
    from cube_nb.solving import Solution, load_evaluator, read_state, scramble, solve, solver_names
    from cube_nb.training import train

__all__ = [
    'Puzzle',
    'Solution',
    'draw_strip',
    'evaluate',
    'get_puzzle',
    'load_evaluator',
    'player',
    'puzzle_names',
    'read_state',
    'scramble',
    'solve',
    'solver_names',
    'train',
]

_MODULES = {  # name -> the module of this package that it comes from
    'Puzzle': 'cube.puzzle',
    'Solution': 'solving',
    'draw_strip': 'cube.drawing',
    'evaluate': 'measure.evaluate',
    'get_puzzle': 'cube.puzzle',
    'load_evaluator': 'solving',
    'player': 'play.widget',
    'puzzle_names': 'cube.puzzle',
    'read_state': 'solving',
    'scramble': 'solving',
    'solve': 'solving',
    'solver_names': 'solving',
    'train': 'training',
}


def __getattr__(name):
    "A public name, imported now."
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from cube_nb.config import naming_extra

    with naming_extra():
        value = getattr(_import_module(f'{__name__}.{_MODULES[name]}'), name)
    globals()[name] = value  # the next time it is simply there
    return value


def __dir__():
    "The public names: `dir(cube_nb)` is short."
    return [*__all__, '__version__']
