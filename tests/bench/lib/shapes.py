"""shapes: files of one kind of value each, parsed by the guess, next to DuckDB's readers on one thread."""
import json
import pathlib
import random
import uuid

import figures
import single
from anydata import WORDS
from compare import Outcome, every, interleave, ready
from figures import Failed, Table, Target
from lab import CPUS, SOURCES

HERE = pathlib.Path(__file__)
BLOCK = 5000  # records that differ; a file has them again and again
ACCENTED = "café naïve Straße smörgåsbord żółć Ελλάδα Москва 東京 서울 façade jalapeño øre".split()


def csv(*cells):
    """The first line of CSV with these columns, and what makes the others."""
    def line(chance):
        return ",".join(cell(chance) for cell in cells)
    return ",".join("c%d" % i for i in range(len(cells))), line


def objects(make):
    return None, lambda chance: json.dumps(make(chance), separators=(",", ":"))


def text(chance, words=WORDS, low=3, high=9):
    return " ".join(chance.choices(words, k=chance.randrange(low, high)))


def day(chance):
    return "20%02d-%02d-%02d" % (chance.randrange(100), 1 + chance.randrange(12), 1 + chance.randrange(28))


def whole(chance):
    return str(chance.randrange(-10**6, 10**6))


def decimals(digits):
    return lambda chance: "%.*f" % (digits, chance.uniform(-180, 180))


def boolean(chance):
    return chance.choice(("true", "false"))


def flat(chance):
    return {"id": chance.randrange(10**7), "name": text(chance, high=5), "city": chance.choice(WORDS),
            "paid": chance.random() < 0.5, "amount": chance.randrange(10**6) / 100, "day": day(chance),
            "note": text(chance)}


def nested(chance):
    place = {"city": chance.choice(WORDS), "zip": chance.randrange(10**5)}
    return {"id": chance.randrange(10**7), "who": {"name": text(chance, high=5), "at": place},
            "tags": chance.choices(WORDS, k=3),
            "items": [{"part": chance.choice(WORDS), "pieces": chance.randrange(40)} for _ in range(3)]}


def escaped(chance):
    return {name: '%s\n"%s"\t\\%s' % tuple(text(chance, high=5) for _ in range(3)) for name in "abcd"}


def numeric(chance):
    return {"c%d" % i: chance.uniform(-180, 180) if i % 2 else chance.randrange(-10**6, 10**6) for i in range(10)}


SHAPES = {  # name: the first line of CSV, or None for JSON; and what makes a line
    "whole numbers": csv(*[whole] * 10),
    "doubles of 2 digits": csv(*[decimals(2)] * 10),
    "doubles of 6 digits": csv(*[decimals(6)] * 10),
    "doubles of 17 digits": csv(*[lambda chance: repr(chance.uniform(-180, 180))] * 10),
    "dates": csv(*[day] * 10),
    "running text": csv(*[text] * 5),
    "quotes": csv(*[lambda chance: '"%s, ""%s"" %s"' % tuple(text(chance, high=5) for _ in range(3))] * 5),
    "UTF-8": csv(*[lambda chance: text(chance, ACCENTED)] * 5),
    "200 columns": csv(*[lambda chance: str(chance.randrange(1000))] * 200),
    "booleans": csv(*[boolean] * 10),
    "nulls": csv(*[lambda chance: whole(chance) if chance.random() < 0.2 else ""] * 10),
    "UUIDs": csv(*[lambda chance: str(uuid.UUID(int=chance.getrandbits(128)))] * 5),
    "mixed columns": csv(whole, text, day, decimals(2), boolean, lambda chance: chance.choice(WORDS)),
    "JSON, flat": objects(flat),
    "JSON, nested": objects(nested),
    "JSON, escaped": objects(escaped),
    "JSON, numeric": objects(numeric),
}


def write(path, name, records):
    """The same each time."""
    head, line = SHAPES[name]
    chance = random.Random(name)
    block = [line(chance) + "\n" for _ in range(min(records, BLOCK))]
    with open(path, "w", encoding="utf-8") as out:
        out.write(head + "\n" if head else "")
        for first in range(0, records, BLOCK):
            out.writelines(block[:records - first])


def records_of(name, size):
    """How many records a file of about this size has."""
    line, chance = SHAPES[name][1], random.Random(name)
    return size * 100 // sum(len(line(chance).encode()) + 1 for _ in range(100))


def file_name(name, records):
    return "%s-%d.%s" % ("-".join(name.replace(",", "").split()), records, "csv" if SHAPES[name][0] else "ndjson")


def shapes(lab, options):
    """tools/bench shapes: one shape after the other, each with files of 100 bytes a row that was asked for."""
    table = Table("Shapes: parsed by the guess, next to DuckDB's readers, on one thread",
                  ["", "MB/s of CPU", "DuckDB's", "CPU / DuckDB's", "MB", "n"],
                  ["CPU of the user and the system: of tipple parse --emit none the whole process, of DuckDB the query "
                   "alone, without Python; both guess first, and read from the page cache",
                   "DuckDB counts the values of each column, which makes it read and convert all of them; tipple writes "
                   "each record as BSON"])
    left_out = ready(lab.duckdb)
    ratios, all_runs = {}, []
    for name in SHAPES:
        path, records = made(lab, name, options.rows * 100)
        contenders = {"tipple": lambda: parse(lab, path, records), "DuckDB": lambda: duckdb(lab, path, records)}
        try:
            runs, reasons = interleave(options.rounds, {"tipple": contenders["tipple"]} if left_out else contenders)
        finally:
            size = path.stat().st_size
            path.unlink()
        table.notes += ["%s: %s" % (name, reason) for reason in reasons]
        all_runs += every(runs)
        theirs = runs.get("DuckDB", [])
        ratios[name] = figures.of_pairs(runs["tipple"], theirs, lambda a, b: a.client_cpu / b.client_cpu)
        speeds = [figures.of_runs(each, lambda run: size / run.client_cpu).text(figures.megabytes) if each else ""
                  for each in (runs["tipple"], theirs)]
        ratio = ratios[name].text(figures.times) if theirs else ""
        table.add(name, *speeds, ratio, "%.0f" % (size / 1e6), options.rounds)
    table.on_page(["CPU / DuckDB's"])
    table.notes += [figures.others_note(all_runs)] + (["DuckDB is left out: " + left_out] if left_out else [])
    slowest = single.worst(ratios, max)
    promise = "parse by the guess: no shape takes more CPU than DuckDB's reader (the worst: %s)" % slowest
    return Outcome([table], [] if left_out else [Target(promise, ratios[slowest], figures.times, most=1.0)])


def made(lab, name, size):
    """A file of about this size, and how many records it has."""
    records = records_of(name, size)
    return lab.made(file_name(name, records), lambda part: write(part, name, records), HERE), records


def parse(lab, path, records):
    lab.warm(path)
    run = lab.run([lab.tipple, "parse", "--emit", "none", path], records, cpu=CPUS - 1)
    if "documents %s +" % format(records, ",") not in run.output:
        raise Failed("tipple has not made %d documents: %s" % (records, run.output))
    return run


def duckdb(lab, path, records):
    lab.warm(path)
    run = lab.run([lab.duckdb(), SOURCES / "duckdb_reader.py", path], records, cpu=CPUS - 1)
    said = json.loads(run.output)
    if said["counts"][0] != records or not min(said["counts"]):
        raise Failed("DuckDB has read %s values of %d records" % (said["counts"], records))
    run.client_cpu = said["cpu_seconds"]
    return run
