"A cube in the hand: little blocks in space that are turned one by one. It knows no permutations, renames no moves."

import re
from itertools import product

import numpy as np

from cube_nb.cube.geometry import FACES

AXES = {'R': (1, 0, 0), 'U': (0, 1, 0), 'F': (0, 0, 1), 'L': (-1, 0, 0), 'D': (0, -1, 0), 'B': (0, 0, -1)}
ROWS = dict(U='RF', R='BD', F='RD', D='RB', L='FD', B='LD')  # a face is read to the right, then down
FACE, WIDE, MIDDLE, ALL = {1}, {0, 1}, {0}, {-1, 0, 1}  # which layers turn, counted along the axis
TURNS = {
    **{face: (face, FACE) for face in AXES}, **{f'{face}w': (face, WIDE) for face in AXES},
    **{face.lower(): (face, WIDE) for face in AXES},
    **dict(M=('L', MIDDLE), E=('D', MIDDLE), S=('F', MIDDLE)),
    **dict(x=('R', ALL), y=('U', ALL), z=('F', ALL)),
}  # fmt: skip


def dot(a, b):
    return sum(i * j for i, j in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def turned(vector, axis):
    "A vector after a quarter turn, clockwise as one sees it who looks against the axis."
    along = dot(vector, axis)
    return tuple(along * i + j for i, j in zip(axis, cross(vector, axis)))


class Solid:
    "26 blocks: where each sticker's block is, which way the sticker looks, and its colour."

    def __init__(self):
        blocks = [block for block in product((-1, 0, 1), repeat=3) if any(block)]
        self.stickers = [(block, AXES[f], f) for block in blocks for f in AXES if dot(block, AXES[f]) == 1]

    def turn(self, face, layers, times):
        axis = AXES[face]
        for _ in range(times):
            for number, (block, looks, colour) in enumerate(self.stickers):
                if dot(block, axis) in layers:
                    self.stickers[number] = turned(block, axis), turned(looks, axis), colour

    def do(self, word):
        for name, suffix in re.findall(r"([A-Za-z]w?)(2'|2|'|)", word):
            self.turn(*TURNS[name], {'': 1, '2': 2, "'": 3, "2'": 2}[suffix])
        return self

    def face(self, face, n):
        "The colours of a face of an n x n x n cube, row by row: of a 2x2x2 we see the corners only."
        seen = {block: colour for block, looks, colour in self.stickers if looks == AXES[face]}
        right, down = (AXES[letter] for letter in ROWS[face])
        span = {2: (-1, 1), 3: (-1, 0, 1)}[n]
        steps = [[i * r + j * d for r, d in zip(right, down)] for j in span for i in span]
        return [seen[tuple(map(sum, zip(AXES[face], step)))] for step in steps]

    def text(self, n):
        "All stickers, each as the letter of the face on which the centre of its colour is."
        faces = {self.face(face, 3)[4]: face for face in FACES}
        return ''.join(faces[colour] for face in FACES for colour in self.face(face, n))

    def stickers_by_place(self):
        return sorted(self.stickers)

    def is_solved(self, n):
        return all(len(set(self.face(face, n))) == 1 for face in FACES)


def random_words(n, count, longest, seed):
    "Words over the whole notation, with and without spaces."
    rng = np.random.default_rng(seed)
    names = list(TURNS) if n == 3 else [*AXES, 'x', 'y', 'z']
    for _ in range(count):
        size = rng.integers(1, longest + 1)
        tokens = [str(rng.choice(names)) + str(rng.choice(['', "'", '2', "2'"])) for _ in range(size)]
        yield str(rng.choice(['', ' ', '  '])).join(tokens)
