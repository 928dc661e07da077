#!/usr/bin/env python3
"""Generated weather records against an independent reader of what published ones hold, and against the shares of
sections, fillers and quality codes in published files of stations of the same kinds."""
import collections
import datetime
import glob
import gzip
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import isd_rows_check as check  # noqa: E402

TIPPLE, DATA = os.environ["TIPPLE"], os.path.join(os.environ["TIPPLE_ROOT"], "tests/data/isd")
RECORDS, STATIONS = (130000 if os.environ.get("TIPPLE_NIGHTLY") == "1" else 60000), 100

# A published file, and the ids of the stations that are made like it.
LIKE = {
    "722540-13904-2014": ("720000", "749999"), "875530-99999-2024": ("800000", "899999"),
    "010060-99999-2014": ("010010", "024099"), "024130-99999-2016": ("024100", "029999"),
    "710633-99999-2015": ("710000", "719999"), "725300-94846-1983": ("750000", "759999"),
    "035480-99999-1943": ("030000", "039999"), "104270-99999-1928": ("170000", "179999"),
    "1901": ("180000", "189999"),
}
failures = []


def expect(holds, said):
    if not holds:
        failures.append(said)


def generate(*arguments):
    return subprocess.run([TIPPLE, "generate", "isd", *arguments], check=True, stdout=subprocess.PIPE).stdout


def moment(record):
    day = datetime.date(int(record[15:19]), int(record[19:21]), int(record[21:23]))
    return (day.toordinal() * 24 + int(record[23:25])) * 60 + int(record[25:27])


# ---- shares ----

class Shares:
    """Of the records of one type: how many have a section, a filler, a quality code."""

    def __init__(self):
        self.records = 0
        self.sections = collections.Counter()
        self.fields = collections.defaultdict(collections.Counter)

    def add_field(self, name, field, body):
        value = field.of(body)
        if field.quality:
            self.fields[name][value] += 1
        elif field.filler:
            self.fields[name]["missing" if value == field.filler else "there"] += 1

    def add(self, record, parts):
        self.records += 1
        for name, field, _, _ in check.HEAD:
            self.add_field(name, field, record)
        for marker, entries in parts:
            self.sections[marker] += 1
            for name, body in entries:
                if marker == "REM":
                    self.sections[name] += 1
                if marker != "ADD":
                    continue
                self.sections[name] += 1
                for number, field in enumerate(check.BY_ID[name].fields):
                    self.add_field("%s field %d" % (name, number), field, body)


def shares_of(records):
    shares = collections.defaultdict(Shares)
    for record, parts in records:
        shares[record[41:46]].add(record, parts)
    return shares


def compare(file, kind, real, made):
    expect(made.records > 0, "%s: no %s records" % (file, kind))
    if not made.records:
        return
    for name in sorted(set(real.sections) | set(made.sections)):
        a, b = real.sections[name] / real.records, made.sections[name] / made.records
        expect(abs(a - b) <= 0.08 + 0.35 * a, "%s %s: %s in %.3f, here in %.3f" % (file, kind, name, a, b))
    for name, values in real.fields.items():
        seen, mine = sum(values.values()), sum(made.fields[name].values())
        if seen < 100 or mine < 100:
            continue
        for value in set(values) | set(made.fields[name]):
            a, b = values[value] / seen, made.fields[name][value] / mine
            expect(abs(a - b) <= 0.25, "%s %s: %s is %s in %.3f, here in %.3f" % (file, kind, name, value, a, b))


def compare_with_published(made):
    for path in sorted(glob.glob(os.path.join(DATA, "*.gz"))):
        file = os.path.basename(path)[:-3]
        if file not in LIKE:
            continue
        first, last = LIKE[file]
        with gzip.open(path, "rt", encoding="ascii", newline="\n") as lines:
            real = shares_of((line[:-1], check.walk(line[:-1], strict=False)) for line in lines)
        mine = shares_of((record, parts) for record, parts in made if first <= record[4:10] <= last)
        for kind, shares in real.items():
            if shares.records >= 150:
                compare(file, kind, shares, mine[kind])


# ---- one large file ----

def read_all(text):
    made, wrong = [], []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            made.append((line, check.walk(line)))
            if int(line[:4]) != len(line) - 105:
                wrong.append(line)
        except check.Mistake as mistake:
            failures.append("record %d: %s\n  %s" % (number, mistake, line))
            if len(failures) > 20:
                break
    expect(len(wrong) == RECORDS // 100000, "%d wrong counts" % len(wrong))  # one in very many
    return made


def check_order(made):
    """Odd records apart, a station has one place, its records follow each other and never go back in time."""
    stations, places, last, before = {}, collections.defaultdict(collections.Counter), None, None
    sizes = collections.Counter()
    for record, _ in made:
        station, now = record[4:15], moment(record)
        if station.startswith("999999") and not record[41:46] == "CRN05":
            continue
        if station != last:
            expect(station not in stations, "station %s comes back" % station)
            stations[station] = True
            last, before = station, None
        expect(before is None or before <= now, "station %s goes back in time: %s" % (station, record[:60]))
        before = now
        sizes[station] += 1
        places[station][record[28:41] + record[46:51]] += 1
    expect(len(stations) == STATIONS, "%d stations" % len(stations))
    for station, count in places.items():
        usual = count.most_common(1)[0][1]
        expect(usual >= sizes[station] - 3, "station %s moves: %s" % (station, count))
    expect(max(sizes.values()) - min(sizes.values()) < 20, "stations have from %d to %d records"
           % (min(sizes.values()), max(sizes.values())))


def check_variety(made):
    count = collections.Counter()
    for record, parts in made:
        seen = {check.BY_ID[name].family for marker, entries in parts if marker == "ADD" for name, _ in entries}
        count.update(seen)
        names = {name for marker, entries in parts for name, _ in entries}
        count.update(names & check.OBSERVED)
        count["hour 24"] += record[23:27] == "2400"
        count["no ids"] += record[4:15] == "99999999999"
        count["wban alone"] += record[4:10] == "999999" and record[10:15] != "99999"
        count["no sections"] += not parts
        count["no place"] += record[28:41] == "+99999+999999"
        count["negative"] += record[87] == "-"
        count["zero"] += record[87:92] in ("+0000", "-0000")
        count["calm"] += record[64] == "C"
        count["variable"] += record[64] == "V"
        count["two remarks"] += any(marker == "REM" and len(entries) > 1 for marker, entries in parts)
        count["blank at the end"] += record.endswith(" ")
        count["old"] += record[15:19] < "1970"
        count["letter"] += record[4].isalpha()
    wanted = check.FAMILIES | check.OBSERVED | {
        "hour 24", "no ids", "wban alone", "no sections", "no place", "negative", "zero", "calm", "variable", "two remarks",
        "blank at the end", "old", "letter"}
    missing = sorted(name for name in wanted if not count[name])
    expect(len(missing) <= (0 if RECORDS > 100000 else 2), "none of %s" % missing)  # the rarest need very many
    old = count["old"] / len(made)
    expect(0.02 < old < 0.12, "%.3f of the records are from before 1970" % old)
    modern = [len(record) for record, _ in made if record[15:19] >= "1996"]
    mean = sum(modern) / len(modern)
    expect(260 < mean < 330, "modern records have %.0f characters" % mean)


# ---- ways to ask ----

def check_ways(folder):
    many = generate("--rows", "13000", "--stations", "13000").decode().split("\n")[:-1]
    expect(len({record[4:15] for record in many}) == 13000, "13000 stations have not as many ids")
    generate("--rows", "20000", "--stations", "3", "--seed", "9", "--directory", folder)
    expect(len(os.listdir(folder)) >= 3, "only %d files" % len(os.listdir(folder)))
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), newline="\n") as file:
            lines = file.read().split("\n")[:-1]
        usaf, wban, year = name.split("-")
        own = sum(line[4:19] == usaf + wban + year for line in lines)
        expect(own >= len(lines) - 10, "%s holds records of others" % name)


def main():
    text = generate("--rows", str(RECORDS), "--stations", str(STATIONS), "--seed", "3")
    expect(max(text) < 127 and min(text) in (10, 32), "there is something else than printable ASCII")
    made = read_all(text.decode("ascii"))
    expect(len(made) == RECORDS, "%d records" % len(made))
    if not failures:
        check_order(made)
        check_variety(made)
        compare_with_published(made)
    with tempfile.TemporaryDirectory() as folder:
        check_ways(folder)
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


sys.exit(main())
