"The script beside the tables of seven methods on the 3x3x3: one body, one limit, tables made in pieces."

from argparse import Namespace

import pandas as pd
import pytest
import torch

import methods
from cube_nb.nets.networks import Network
from cube_nb.nets.weights import save_network
from cube_nb.search.core import get_solver
from measured import measure


@pytest.fixture
def folder(tmp_path, monkeypatch):
    "Where networks and the tries of every method are, instead of where they are kept."
    monkeypatch.setattr(methods, 'FOLDER', tmp_path)
    monkeypatch.setattr(methods, 'TRIES', tmp_path / 'tries.csv')
    rows = [dict(method=method, rate=rate) for method in methods.METHODS for rate in methods.RATES]
    pd.DataFrame(rows).assign(solved=[0.1, 0.3, 0.3, 0.2] * 7).to_csv(methods.TRIES, index=False)
    return tmp_path


def asked(table, **given):
    "What a command line asks of a table, with what is not given as by default."
    options = {**methods.TABLES[table].axes, **methods.TABLES[table].options}
    return Namespace(**{name: option.get('default') for name, option in options.items()} | given)


def network_of(method):
    "A network of a method before its first step."
    return Network(methods.config_of(method, rate=0.001, seed=0).network)


def test_all_methods_have_the_same_body_on_what_they_see():
    networks = {method: network_of(method) for method in methods.METHODS}
    for network in networks.values():
        first, *others = network.body[-3:].parameters()  # two layers and a block
        assert len(first) == 512 and sum(map(torch.numel, others)) == 265_984
    sizes = {method: sum(map(torch.numel, network.parameters())) for method, network in networks.items()}
    assert sizes.pop('DQN, pictures') == 1_917_868, 'more of a picture comes to the first layer'
    assert all(512_000 < size < 516_000 for size in sizes.values())


def test_no_search_knows_states_near_solved():
    for method in methods.METHODS:
        for player in ('greedy', 'beam', 'own'):
            search = methods.search_of(player, method)
            has_table = 'radius' in get_solver(search['solver']).options.model_fields
            assert search.get('radius') == (0 if has_table else None)
            assert search['max_nodes'] == methods.NODES


def test_the_rate_is_the_best_of_those_that_all_methods_try(folder):
    assert methods.rate_of('DAVI') == methods.RATES[1]
    pd.read_csv(methods.TRIES)[1:].to_csv(methods.TRIES, index=False)
    with pytest.raises(ValueError, match='no try of random walks with {0.0002}'):
        methods.rate_of('random walks')


def test_a_table_goes_on_where_networks_are_lost(folder, capsys):
    path, columns = folder / 'depths.csv', methods.TABLES['depths'].columns.split()
    lost = [['greedy', 'DQN, pieces', 0, depth, 4, 4, 1.0, 12] for depth in (1, 2)]
    pd.DataFrame(lost, columns=columns).to_csv(path, index=False)
    save_network(network_of('DQN, pieces'), methods.network_of('DQN, pieces', seed=1), {})
    words = dict(player=['greedy'], method=['DQN, pieces'], depth=[1, 2], cubes=4, output=path)
    measure(asked('depths', **words, seed=[0, 1]), methods.TABLES['depths'])
    rows = pd.read_csv(path)
    assert rows[:2].to_numpy().tolist() == lost and rows.seed.tolist() == [0, 0, 1, 1]
    assert rows.solved[2] == 4, 'a walk sees what solves'
    shares = ['1.000', f'{rows.solved[2:].mean() / 4:.3f}']
    assert capsys.readouterr().out.split()[-2:] == shares, 'of the lost network too'
    with pytest.raises(ValueError, match='no network'):
        measure(asked('depths', **words, seed=[2]), methods.TABLES['depths'])


def test_a_training_leaves_its_row_and_its_parts_and_is_not_made_again(folder):
    path = folder / 'trained.csv'
    words = dict(method=['random walks'], seed=[3], minutes=0.005, output=path)
    measure(asked('trained', **words), methods.TABLES['trained'])
    (row,) = pd.read_csv(path).to_dict('records')
    assert (row['rate'], row['states']) == (0.0005, row['steps'] * 10_000)
    assert row['states_per_second'] == pytest.approx(row['states'] / row['seconds'], rel=0.2)
    networks = [methods.network_of('random walks', 3, part) for part in range(1, methods.PARTS + 1)]
    assert all(network.exists() for network in networks)
    networks[-1].unlink()
    measure(asked('trained', **words), methods.TABLES['trained'])
    assert len(pd.read_csv(path)) == 1 and not networks[-1].exists()
