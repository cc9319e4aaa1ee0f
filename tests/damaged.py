"Damage to files, for the tests of what must notice it."

import os
import random


def unnoticed(path, load, flips, seed=0):
    """
    The flipped bits, of so many at random places, with which `load(path)` still succeeds. Whatever is refused must
    be refused with one line that names the file. The file is as it was afterwards.
    """
    whole = path.read_bytes()
    rng = random.Random(seed)
    missed = []
    for bit in rng.sample(range(8 * len(whole)), flips):
        write_byte(path, bit // 8, whole[bit // 8] ^ 1 << bit % 8)
        try:
            load(path)
            missed.append(bit)
        except ValueError as error:
            assert str(path) in str(error) and '\n' not in str(error), (bit, error)
        write_byte(path, bit // 8, whole[bit // 8])
    assert path.read_bytes() == whole
    return missed


def write_byte(path, place, value):
    "Change one byte of a file."
    file = os.open(path, os.O_WRONLY)
    os.pwrite(file, bytes([value]), place)
    os.close(file)
