"The script that compares what a random walk should teach."

from types import SimpleNamespace

import pandas as pd
import torch

import labels
from cube_nb.cube.keys import canonical, is_test_state
from cube_nb.cube.notation import parse
from cube_nb.cube.pieces import to_string
from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import states_near_solved
from cube_nb.depth.evaluator import Evaluation
from cube_nb.learn.loop import Budget, train
from cube_nb.search.beam import fingerprints
from measured import measure

PUZZLE = get_puzzle('cube3')


def test_a_label_is_at_most_one_more_than_a_neighbours_and_equal_for_equal_states():
    walks = torch.tensor([9, 8, 7, 9, 6, 5, 9, 4])  # two of four moves that meet in state 9
    assert labels.lowered(walks, 4).tolist() == [1, 2, 2, 1, 1, 2, 1, 2]


def test_parity_makes_walks_exact_two_moves_beyond_the_table():
    moves = torch.arange(1, 7).repeat_interleave(200)
    states = torch.from_numpy(PUZZLE.scramble(1200, moves.numpy(), seed=1).states)
    known = labels.known_distances(states_near_solved(PUZZLE, 2), states, moves)
    truth = torch.from_numpy(states_near_solved(PUZZLE, 4).distance(states.numpy()))
    assert (known[moves <= 4] == truth[moves <= 4]).all()
    far = known[moves > 4]
    assert ((far == truth[moves > 4]) | (far < 0)).all() and (far < 0).any()


def layer(costs, known, *ways):
    "A layer of a beam without its states. ways: (from, move, to)."
    count, known = len(costs), torch.tensor(known, dtype=torch.bool)
    return labels.Layer(torch.zeros(count, 54), torch.tensor(costs), known, torch.tensor(ways).view(-1, 3).T)


def test_a_way_that_a_beam_has_found_bounds_its_labels():
    layers = [
        layer([15.0], [0], (0, 1, 0), (0, 3, 1), (0, 5, 2)),
        layer([9.0, 8.0, 10.0], [0, 0, 0], (1, 2, 1), (2, 4, 0), (2, 6, 1)),
        layer([3.0, 12.0], [1, 0]),
    ]
    (first, move), (second, moves) = labels.backed_up(layers)
    assert first.tolist() == [5] and move.tolist() == [5]  # by the way through the third state: 1 + (1 + 3)
    assert second.tolist() == [torch.inf, 13, 4] and moves[1:].tolist() == [2, 4]


def costs_of(states):
    "Estimates that only depend on the state, from 7 to 14 moves; the policy knows nothing."
    states = canonical(PUZZLE, torch.as_tensor(states))
    values = 7 + fingerprints(PUZZLE, states).remainder(8).float()
    return Evaluation(values, torch.zeros(len(states), PUZZLE.num_moves))


def test_labels_of_a_beam_are_those_of_its_best_moves():
    state = torch.from_numpy(PUZZLE.scramble(1, 24, seed=2).states[0])
    layers = labels.beam_layers(costs_of, state, 32, states_near_solved(PUZZLE, 3))
    assert len(layers) == labels.FARTHEST['cube3'] + 1 and not layers[-1].is_known.any()
    for each, (values, moves) in zip(layers, labels.backed_up(layers)):
        kept = values.isfinite()
        states = each.states[kept]
        assert kept.any()
        assert (values[kept] == 1 + costs_of(PUZZLE.apply(states, moves[kept])).values).all()
        children = PUZZLE.neighbours(states, PUZZLE.generators).flatten(0, 1)
        least = costs_of(children).values.view(len(states), -1).amin(1)
        assert (values[kept] >= 1 + least).all()


def test_harvested_states_are_many_and_none_is_a_test_state(monkeypatch):
    monkeypatch.setattr(labels, 'HARVEST_AFTER', 0)
    monkeypatch.setattr(labels, 'HARVEST_EVERY', 1)
    monkeypatch.setattr(labels, 'HARVEST', {'beams': 4, 'width': 16})
    monkeypatch.setitem(labels.BODIES, 'cube3', labels.BODY | {'hidden': (16, 16), 'blocks': 0})
    learner = labels.learner_of('cube3', 'harvested', 0, batch_size=100, log_every=1)
    log = train(learner, progress=False, budget=Budget(steps=3))
    assert log.harvested.is_monotonic_increasing and (log.distinct > 0.99).all()
    found = learner.harvested
    assert not is_test_state(PUZZLE, found.states).any() and len(found.labels) > 300
    assert found.labels.min() > 1 and found.labels.max() <= labels.FARTHEST['cube3'] + 1
    batch = learner.batch(3)
    assert len(batch.states) == 100 and len(batch.targets['value']) == len(batch.targets['policy']) == 100
    ends = fingerprints(PUZZLE, batch.states[50:])
    assert torch.isin(ends, fingerprints(PUZZLE, found.states)).all()


def test_rows_of_a_seed_whose_networks_are_lost_are_kept(tmp_path, monkeypatch, capsys):
    word = parse(PUZZLE, "R U F' L")
    about = {'state': to_string(PUZZLE, PUZZLE.apply_word(PUZZLE.solved, word))[0], 'optimal_qtm': 4}
    monkeypatch.setattr(labels, 'cubes', lambda puzzle, name: pd.DataFrame([about]))
    there = []

    def evaluator_of(path):
        there.remove(path)
        return costs_of

    monkeypatch.setattr(labels, 'evaluator_of', evaluator_of)
    asked = {
        'set': ['own', 'league'],
        'width': [16],
        'puzzle': ['cube3'],
        'label': ['moves', 'chain'],
        'number': [0],
    }
    output = tmp_path / 'beams.csv'
    for seed in (0, 1):
        before = output.read_text() if seed else ''
        there += 2 * [labels.network_of('cube3', label, seed) for label in asked['label']]  # in each set
        measure(SimpleNamespace(**asked, seed=[seed], output=output), labels.TABLES['beams'])
        assert output.read_text().startswith(before) and not there
    rows = pd.read_csv(output)
    assert len(rows) == 8 and (rows.length == 4).all() and 'p_holm' in capsys.readouterr().out


def test_cubes_of_both_sets_are_proven():
    own, league = labels.cubes('cube3', 'own'), labels.cubes('cube3', 'league')
    assert len(own) == labels.COUNT and own.optimal_qtm.between(1, 26).all()
    assert not own.state.isin(league.state).any()
