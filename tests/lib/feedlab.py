#!/usr/bin/env python3
"""feedlab: thirty nights of a shop's feed, whose columns come, go, move and change their type; and the documents that its files make
by a format, computed from docs/format-file.md with the csv module alone.

    for day, files in enumerate(feedlab.nights(300), 1): ...       # what is delivered that night: {name: bytes}
    feedlab.documents(feedlab.fields_of(format_text), files.values())

    tests/lib/feedlab.py FOLDER [--rows 2000] [--day N]            # the nights up to N as a folder, to be tried by hand
"""
import argparse
import calendar
import csv
import datetime
import gzip
import io
import pathlib
import random
import re

DAYS = 30
CHANGING = {"qty": "int", "weight": "number"}  # the columns whose values change their type, and the type to give
BASE = ["order_id", "customer", "ordered_at", "amount", "paid", "zip", "qty"]
CUSTOMERS = ["Ann Smith", "Bob, son of Jon", 'The "Old" Inn', "Öl & Söhne", "Ode"]
SINCE = {"coupon": 5, "channel": 9, "weight": 10, "source": 19, "gift": 22, "memo": 28}  # the day on which each comes


def name_of(day, ending=""):
    return "orders-2026-11-%02d.csv%s" % (day, ending)


def columns_of(day):
    names = list(BASE)
    if day >= 9:
        names.insert(3, "channel" if day < 19 else "source")  # in the middle; then it gets another name
    if day >= 10:
        names.append("weight")
    if 12 <= day < 15:
        names.remove("zip")
    if 22 <= day < 29:
        names.append("gift")
    if day >= 28:
        names.append("memo")
    if 5 <= day < 18 or day >= 26:
        names.append("coupon")
    if day >= 15:
        random.Random(day // 4).shuffle(names)  # the columns move every fourth day
    return names


def value_of(name, day, row, draw):
    if name == "qty":
        if day >= 17 and row % 20 == 3:
            return "few"
        return "%d%s" % (draw.randrange(1, 40), ".5" if day >= 23 and row % 10 == 1 else "")
    if name == "weight":
        return "%d.%02d%s" % (draw.randrange(30), draw.randrange(1, 100), " kg" if day >= 23 and row % 7 == 2 else "")
    return {"order_id": lambda: str(day * 100000 + row), "customer": lambda: draw.choice(CUSTOMERS),
            "ordered_at": lambda: "2026-11-%02d %02d:%02d:%02d" % (day, draw.randrange(24), draw.randrange(60), draw.randrange(60)),
            "amount": lambda: "%d.%02d" % (draw.randrange(900), draw.randrange(1, 100)), "paid": lambda: ("yes", "no")[row % 2],
            "zip": lambda: "%05d" % (row * 677 % 99999), "coupon": lambda: draw.choice(["", "", "SPRING", "X-7"]),
            "channel": lambda: draw.choice(["web", "shop"]), "source": lambda: draw.choice(["web", "app"]),
            "gift": lambda: ("no", "yes")[row % 2], "memo": lambda: ""}[name]()


def text_of(day, rows, seed=1):
    """The whole file of a day."""
    draw, out, names = random.Random(seed * 1000 + day), io.StringIO(), columns_of(day)
    writer = csv.writer(out, lineterminator="\r\n" if day == 16 else "\n")
    writer.writerow(names)
    for row in range(0 if day == 20 else rows + day % 7):
        writer.writerow([value_of(name, day, row, draw) for name in names])
    return out.getvalue().encode()


def after(text, share):
    """Where the first line after that share of a text begins."""
    return text.index(b"\n", int(len(text) * share)) + 1


def nights(rows, seed=1):
    """For each night the files that are delivered: their names and contents. Each stays in the folder."""
    texts = {day: text_of(day, rows, seed) for day in range(1, DAYS + 1)}
    delivered = [{name_of(day): texts[day]} for day in range(1, DAYS + 1)]
    packed = gzip.compress(texts[11], mtime=0)
    delivered[6] = {name_of(7): texts[7][:after(texts[7], 0.6) + 9]}  # cut short within a record, and whole the next night
    delivered[7][name_of(7)] = texts[7]
    delivered[10] = {name_of(11, ".gz"): packed[:len(packed) // 2]}  # half-written, and whole the next night
    delivered[11][name_of(11, ".gz")] = packed
    delivered[12] = {name_of(13): texts[13][:after(texts[13], 0.5)]}  # one that grows
    delivered[20][name_of(13)] = texts[13]
    delivered[23]["again-" + name_of(23)] = texts[23]  # again, under another name: its orders are there twice
    delivered[24][name_of(24)] = texts[24]  # again, the very same file: nothing
    return delivered


# ------------------------------------------------------------------------------------ what docs/format-file.md says

def words_of(text):
    """A YAML scalar, or a list in brackets, as text."""
    text = text.strip()
    if text.startswith("["):
        return [words_of(each) for each in re.findall(r'"(?:\\.|[^"\\])*"|[^,\[\] ]+', text)]
    return text[1:-1].replace('\\"', '"') if text.startswith('"') else text


def fields_of(format_text):
    """The fields of a format file that a guess has written: a dict each, in their order."""
    lines = re.findall(r"^ *- \{(name: .*)\} *$", format_text, re.M)
    return [{key: words_of(value) for key, value in
             re.findall(r'(\w+): *("(?:\\.|[^"\\])*"|\[[^\]]*\]|[^,]*)', line)} for line in lines]


def millis(text):
    for pattern in "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d":
        try:
            return Date(calendar.timegm(datetime.datetime.strptime(text, pattern).timetuple()) * 1000)
        except ValueError:
            pass
    return text


class Date(int):
    pass


def converted(field, text):
    """What a text becomes by its field with `exact: yes`; a text that does not fit stays what it is."""
    kind, whole = field.get("type", "text"), r"-?(0|[1-9]\d*)"
    if kind == "int" and re.fullmatch(whole, text) and text != "-0":
        return int(text)
    if kind == "number" and re.fullmatch(whole + r"(\.\d+)?", text):
        return float(text)
    if kind == "boolean" and text in field["true"] + field["false"]:
        return text in field["true"]
    if kind == "datetime":
        return millis(text)
    assert kind in ("int", "number", "boolean", "text"), field
    return text


def documents(fields, contents):
    """The documents of these files, each as a tuple of (key, type, value), in the order of the fields."""
    for content in contents:
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        rows = csv.reader(io.StringIO(content.decode(), newline=""))
        places = {name: at for at, name in enumerate(next(rows))}
        for row in rows:
            found = []
            for field in fields:
                text = row[places[field["name"]]] if field["name"] in places else ""
                if text not in field.get("nulls", [""]):
                    value = converted(field, text)
                    found.append((field.get("key", field["name"]), type(value).__name__, value))
            yield tuple(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--day", type=int, default=DAYS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for files in nights(options.rows)[:options.day]:
        for name, content in files.items():
            (options.folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
