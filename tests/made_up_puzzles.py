"Small puzzles that are no cubes, built from geometry alone: a pyraminx without tips, a skewb, and a wheel."

from itertools import combinations

import numpy as np

from cube_nb.cube.geometry import NORMALS, facelet_positions, layer_turns, symmetries_of
from cube_nb.cube.pieces import find_pieces
from cube_nb.cube.puzzle import Puzzle

THIRDS = ('U', "U'", 'L', "L'", 'R', "R'", 'B', "B'")
AXES = np.array([(1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1)]) / np.sqrt(3)


def corner_turner(name, positions, solved, **fields):
    "A puzzle that turns by thirds about the four axes, whatever lies beyond its middle."
    moves = layer_turns(positions, AXES, beyond=0, order=3)
    identity = np.arange(len(positions), dtype=np.int16)[None]
    fields = dict(rotations=identity, symmetries=identity, pieces=find_pieces(positions, moves)) | fields
    return Puzzle(name=name, solved=np.asarray(solved, np.uint8), moves=moves, move_names=THIRDS, **fields)


def pyramid():
    "24 facelets in 4 colours: four corners of three stickers, each a kind of its own, and six edges of two."
    positions, solved = [], []
    for corners in [(0,), (1,), (2,), (3,), *combinations(range(4), 2)]:
        for face in set(range(4)) - set(corners):
            positions.append(2 * AXES[list(corners)].sum(0) - AXES[face])
            solved.append(face)
    return corner_turner('made-up pyramid', np.array(positions), solved, faces='ULRB')


def skewb():
    "30 facelets in 6 colours: 4 + 4 corners of three stickers, 6 centres of one; 12 ways to hold it."
    positions = np.concatenate([facelet_positions(2).clip(-1.5, 1.5), 2.0 * NORMALS])
    moves = layer_turns(positions, AXES, beyond=0, order=3)
    symmetries = symmetries_of(positions, moves)
    solved = np.concatenate([np.arange(6).repeat(4), np.arange(6)])
    return corner_turner('made-up skewb', positions, solved, rotations=symmetries[:12], symmetries=symmetries)


def wheel():
    "Ten facelets in 3 colours: two pieces of five stickers, which one move exchanges."
    step = np.roll(np.arange(10), 5).astype(np.int16)
    solved = np.array([0, 1, 2, 1, 1, 2, 0, 1, 0, 0], np.uint8)
    identity = np.arange(10, dtype=np.int16)[None]
    pieces = (np.arange(10).reshape(2, 5),)
    return Puzzle('made-up wheel', solved, step[None], ('A',), identity, identity, faces='XYZ', pieces=pieces)
