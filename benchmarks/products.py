"What the other benchmarks hold a network against: the operations of its matrix products, and the best rate of a large one."

from time import perf_counter

import torch

from cube_nb.nets.networks import SumOfRows


def seconds(device, function):
    "How long a call takes, with all that it started on the device."
    synchronise(device)
    start = perf_counter()
    function()
    synchronise(device)
    return perf_counter() - start


def synchronise(device):
    if device.type == 'cuda':
        torch.cuda.synchronize(device)


def peak(device=torch.device('cpu'), dtype=torch.bfloat16, runs=10, size=None):
    "Operations a second of a large matrix product, the best of a few."
    size = size or (8192 if device.type == 'cuda' else 4096)
    a = torch.randn(size, size, device=device).to(dtype)
    return 2 * size**3 / min(seconds(device, lambda: a @ a) for _ in range(runs))


def operations(network):
    "Multiplications and additions of a folded network for one state, its first layer as the sum of rows that it is."
    rows = network.encode_states(
        network.puzzle.tensor('solved', str(next(network.parameters()).device))[None]
    ).shape[1]
    return sum(
        rows * m.weight.shape[1] if isinstance(m, SumOfRows) else 2 * m.weight.numel()
        for m in network.modules()
        if isinstance(m, (SumOfRows, torch.nn.Linear))
    )
