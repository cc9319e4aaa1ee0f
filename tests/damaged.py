"Damage to files, for the tests of what must notice it."

import os
import random

import torch

from cube_nb.learn.loop import get_method, read_checkpoint, train
from cube_nb.nets.networks import Network, NetworkConfig
from cube_nb.nets.weights import load_network, read_header, save_network


def unnoticed(path, load, flips, seed=0):
    "The flipped bits with which `load(path)` still succeeds; the others are refused in a line that names the file."
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


def flipped_weights(folder, flips, seed=0):
    "Flipped bits of a weight file that loading does not notice."
    torch.manual_seed(0)
    network = Network(NetworkConfig(puzzle='cube2', hidden=(32, 16), blocks=0))
    about = {'method': 'none', 'note': 'a "quoted" text'}
    file = save_network(network, folder / 'network.safetensors', about)
    return unnoticed(file, load_network, flips, seed) + unnoticed(file, read_header, flips // 10, seed)


def flipped_checkpoint(folder, flips, seed=0):
    "Flipped bits of a checkpoint that reading it does not notice."
    found = get_method('walks')
    one = found.learner(found.small_config('cube2').model_copy(update={'iterations': 1}))
    train(one, folder, progress=False)
    return unnoticed(folder / 'checkpoint.pt', lambda path: read_checkpoint(one, path), flips, seed)
