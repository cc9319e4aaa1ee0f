"""Tables of benchmarks that take hours: each row is written at once, and a run that was stopped goes on where it was."""

import argparse

import pandas as pd
from tqdm.auto import tqdm


def read_rows(
    path,  # of a CSV file
    columns,  # of the table
):
    "The rows that are there, none of them where there is no file. Raises `ValueError` for another table."
    if not path.exists():
        return pd.DataFrame(columns=columns)
    rows = pd.read_csv(path)
    if list(rows.columns) != list(columns):
        raise ValueError(f'{path} has other columns: move it away, or name another output')
    return rows


def add_row(
    path,  # of a CSV file
    columns,  # of the table
    row,  # column -> value
):
    "Write one more row."
    table = pd.DataFrame([row], columns=columns)
    table.to_csv(path, mode='a', header=not path.exists(), index=False)


def fill(
    path,  # of a CSV file
    columns,  # of the table
    cases,  # dicts of the columns that say which row it is
    row_of,  # function of these columns that returns a dict of the others
):
    "Measure the cases that are not there yet, and return the whole table."
    there = read_rows(path, columns)
    for case in tqdm(cases):
        if not (there[list(case)] == pd.Series(case)).all(axis=1).any():
            add_row(path, columns, case | row_of(**case))
    return read_rows(path, columns)


def new_parser(
    about,  # docstring of the script
):
    "What the command lines of these scripts have in common."
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def mean_columns(
    name,
    values,  # pd.Series of numbers or of whether something holds; those that are missing do not count
):
    "A mean and half the width of its 95 % interval as columns `name` and `name_error`."
    known = values.dropna().astype(float)
    return {name: known.mean(), f'{name}_error': 1.96 * known.sem()}


def excess_columns(
    rows,  # with the columns `length` and `optimal`
):
    "The moves above the shortest solutions, and the share of shortest solutions."
    excess = rows.length - rows.optimal
    return mean_columns('excess', excess) | mean_columns('optimal', (excess == 0).where(excess.notna()))


def by_group(
    rows,  # pd.DataFrame
    keys,  # columns that are equal in a group, in the order of their first rows
    columns_of,  # function of a group that returns a dict
):
    "A row for each group: the keys, how many cubes, and what is said of them."
    groups = rows.groupby(keys, sort=False)
    found = [dict(zip(keys, key)) | {'cubes': len(group)} | columns_of(group) for key, group in groups]
    return pd.DataFrame(found)


def show(
    table,  # pd.DataFrame, a summary
):
    "Print a table."
    print(table.to_string(float_format='{:.3f}'.format))
