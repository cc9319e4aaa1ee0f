"""Tables of benchmarks that take hours: each row is written at once, and a run that was stopped goes on where it was."""

import pandas as pd


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
