"""published: the figures of docs/studies/published.json as texts and as numbers, and the tables of a page of docs."""
import json
import os
import pathlib
import re

ROOT = pathlib.Path(os.environ.get("TIPPLE_ROOT") or pathlib.Path(__file__).resolve().parents[2])
TABLES = json.loads((ROOT / "docs/studies/published.json").read_text())
UNITS = {"": 1, "$": 1, "h": 3600, "min": 60, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "MB/s": 1e6, "Gb/s": 1e9,
         "billion": 1e9}


def text(table, row, column):
    return TABLES[table]["rows"][row][column]


def number(words):
    """'48:47', '10.33 h', '1,057 GB' in seconds, bytes or as it is."""
    minutes = re.fullmatch(r"(\d+):(\d\d)", words)
    if minutes:
        return 60 * int(minutes[1]) + int(minutes[2])
    figure, _, unit = words.partition(" ")
    return float(figure.replace(",", "")) * UNITS[unit]


def tables(page):
    """Each table of a page: its head, and its rows of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.M):
        head, _, *rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in block.splitlines()]
        yield head, rows
