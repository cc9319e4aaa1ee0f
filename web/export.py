"""What the page needs of the library: the network as ONNX, and the puzzle as JSON. `python web/export.py FOLDER`

The page knows no puzzle: moves, pieces and names all come from here. It can search any puzzle whose pieces can be told
apart, with a network that sees pieces and says both a value and a policy.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from cube_nb.cube.encoding import num_places
from cube_nb.cube.notation import (
    Word,
    smallest_turns,
    spoken_names,
    spoken_tokens,
    token_pattern,
    word_tokens,
)
from cube_nb.cube.pieces import group_chain, piece_kind
from cube_nb.cube.puzzle import Puzzle, get_puzzle
from cube_nb.nets.networks import Network, Residual, for_inference
from cube_nb.nets.weights import load_network
from cube_nb.play.messages import answer
from cube_nb.play.puzzles import about_puzzle
from cube_nb.search.improve import Improvement, ImproveOptions

MODEL = 'cube3-walks'  # the shipped network that the page asks
SOLVER = 'beam'  # what the page calls its search
OPSET = 17  # of ONNX, old enough for any runtime of the last years
IR_VERSION = 8


class Graph:
    "An ONNX graph that grows by one operation at a time; values in it go by name."

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype  # in which matrices are kept; all is computed in float32
        self.nodes: list = []
        self.constants: list = []

    def add(
        self, operation: str, *inputs: str, outputs: int = 1, **attributes
    ):  # name, or names of the outputs
        "An operation on values."
        names = [f'{operation}{len(self.nodes)}_{k}' for k in range(outputs)]
        self.nodes.append(helper.make_node(operation, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array: np.ndarray) -> str:
        "A constant as it is."
        name = f'constant{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def matrix(self, weight: torch.Tensor) -> str:
        "A matrix of weights, kept in `dtype`; the runtime makes float32 of it once, when it loads the graph."
        kept = self.constant(weight.detach().to(self.dtype).numpy())
        return kept if self.dtype == torch.float32 else self.add('Cast', kept, to=TensorProto.FLOAT)

    def linear(self, x: str, layer: torch.nn.Linear) -> str:
        "A linear layer."
        return self.add('Gemm', x, self.matrix(layer.weight.T), self.constant(layer.bias.detach().numpy()))

    def sum_of_rows(self, places: str, layer) -> str:  # layer: `cube_nb.nets.networks.SumOfRows`
        "The first layer: a row of weights for each piece and place, and their sum."
        first = np.arange(len(layer.weight) // (layer.base + 1), dtype=np.int32) * (layer.base + 1)
        rows = self.add('Add', places, self.constant(first))
        chosen = self.add('Gather', self.matrix(layer.weight), rows, axis=0)
        total = self.add('ReduceSum', chosen, self.constant(np.array([1])), keepdims=0)
        return self.add('Add', total, self.constant(layer.bias.detach().numpy()))

    def residual(self, x: str, block: Residual) -> str:
        "A residual block."
        first, second = block.layers
        hidden = self.add('Relu', self.linear(x, first[0]))
        return self.add('Relu', self.add('Add', x, self.linear(hidden, second[0])))

    def scores(self, heads: str, sizes: list, temperature: float) -> str:
        "Value and policy as a score for each move: value - temperature * log policy."
        value, policy = self.add('Split', heads, self.constant(np.array(sizes)), outputs=2, axis=1)
        log_policy = self.add('LogSoftmax', policy, axis=1)
        return self.add('Sub', value, self.add('Mul', log_policy, self.constant(np.float32(temperature))))


def check_exportable(network: Network) -> None:
    "Raises `ValueError` for a network that the page cannot ask."
    config = network.config
    expected = dict(encoding='piece_one_hot', activation='relu', head_hidden=0, heads=('value', 'policy'))
    for name, value in expected.items():
        if getattr(config, name) != value:
            raise ValueError(f'expected a network with {name} {value!r}, got {getattr(config, name)!r}')
    if not network.puzzle.has_inverse:
        raise ValueError(f'expected a puzzle with one solved state, got {network.puzzle.name}')


def onnx_network(
    network: Network,
    dtype: torch.dtype = torch.float16,  # in which the matrices are kept
) -> onnx.ModelProto:  # from places int32[B, P] to scores float32[B, A]
    "The network as a graph: the score of each move is the cost-to-go after it, as the beam takes it."
    check_exportable(network)
    folded = for_inference(network)
    puzzle, graph = network.puzzle, Graph(dtype)
    first, *layers = folded.body
    x = graph.add('Relu', graph.sum_of_rows('places', first[0]))
    for layer in layers:
        is_block = isinstance(layer, Residual)
        x = graph.residual(x, layer) if is_block else graph.add('Relu', graph.linear(x, layer[0]))
    graph.scores(graph.linear(x, folded.head), network.sizes, puzzle.temperature)
    graph.nodes[-1].output[0] = 'scores'
    pieces = sum(len(kind) for kind in puzzle.pieces)
    given = helper.make_tensor_value_info('places', TensorProto.INT32, ['states', pieces])
    told = helper.make_tensor_value_info('scores', TensorProto.FLOAT, ['states', puzzle.num_moves])
    whole = helper.make_graph(graph.nodes, puzzle.name, [given], [told], graph.constants)
    versions = dict(opset_imports=[helper.make_opsetid('', OPSET)], ir_version=IR_VERSION)
    model = helper.make_model(whole, producer_name='cube_nb', **versions)
    onnx.checker.check_model(model, full_check=True)
    return model


def permutation(puzzle: Puzzle, word: Word) -> list[int]:
    "Which facelet's sticker each facelet shows after a word that may turn the whole puzzle."
    return puzzle.symmetries[word.orientation][puzzle.word_permutation(word.moves)].tolist()


def doubled(puzzle: Puzzle, move: int) -> str | None:  # None if it is written as two
    "What twice the same move is called."
    tokens = word_tokens(puzzle, [move, move], 'singmaster')
    return tokens[0] if len(tokens) == 1 else None


def words_of(puzzle: Puzzle) -> dict:
    "How words are read and written."
    tokens = {token: permutation(puzzle, word) for token, word in spoken_tokens(puzzle).items()}
    return dict(
        tokens=tokens,
        token=token_pattern(puzzle, 'singmaster').pattern,
        names=spoken_names(puzzle),
        doubled=[doubled(puzzle, a) for a in range(puzzle.num_moves)],
        smallest_turns=smallest_turns(puzzle).tolist(),
    )


def pieces_of(puzzle: Puzzle) -> dict:
    "Which stickers are a piece, and which permutations of them turning can reach."
    links = [(link.facelet, link.choices.tolist()) for link in group_chain(puzzle)]
    return dict(
        pieces=[kind.tolist() for kind in puzzle.pieces],
        kinds=[piece_kind(puzzle, kind) for kind in range(len(puzzle.pieces))],
        chain=[dict(facelet=int(facelet), choices=choices) for facelet, choices in links],
    )


def lengths_of(puzzle: Puzzle) -> dict:
    "The longest solution that is looked for, and by how much a shorter one is shorter, at least."
    search = Improvement(puzzle, puzzle.solved, None, ImproveOptions(radius=1))
    longest = search.longest
    search.best = (0,) * longest  # a solution of as many moves
    return dict(longest=longest, step=longest - search.longest)


def search_of(puzzle: Puzzle) -> dict:
    "What the search asks of a puzzle."
    return dict(
        permutations=puzzle.moves.tolist(),
        inverses=puzzle.inverse_moves.tolist(),
        symmetries=puzzle.symmetries.tolist(),
        symmetric_moves=puzzle.symmetric_moves.tolist(),
        places=num_places(puzzle),
        horizon=puzzle.horizon,
        **lengths_of(puzzle),
    )


def about(puzzle: Puzzle, model: str) -> dict:
    "All that the page is told: what the player asks for, and what answers it."
    offered = dict(solvers={SOLVER: [model]}, solver=SOLVER, model=model, views=1)
    shown = about_puzzle(puzzle.name) | offered
    shown |= words_of(puzzle) | pieces_of(puzzle) | search_of(puzzle)
    own = dict(puzzle=puzzle.name, puzzles={puzzle.name: shown}, forms={})  # its search has no options
    return answer(dict(ask='about')) | own


def export(folder: Path, model: str = MODEL) -> None:
    "Write the network and the puzzle into a folder."
    network = load_network(model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'network.onnx').write_bytes(onnx_network(network).SerializeToString())
    told = json.dumps(about(get_puzzle(network.puzzle.name), model), separators=(',', ':'))
    (folder / 'puzzle.json').write_text(told)


if __name__ == '__main__':
    export(Path(sys.argv[1]))
