"""A strict walk through weather records, for checking generated ones: it refuses whatever a published record would not hold."""
import re

import isd_reader

# offset; n number, c code, with its width; lowest and highest value. "+" is always signed; "!" has no filler, and such a code is a
# quality. Fillers are nines, with a plus in front where a sign is always there.
MANDATORY = [
    ("wind direction", 60, "n3", 1, 360), ("wind direction quality", 63, "c1!", None, None),
    ("wind type", 64, "c1", None, None), ("wind speed", 65, "n4", 0, 900),
    ("wind speed quality", 69, "c1!", None, None), ("ceiling", 70, "n5", 0, 22000),
    ("ceiling quality", 75, "c1!", None, None), ("ceiling determination", 76, "c1", None, None),
    ("cavok", 77, "c1", None, None), ("visibility", 78, "n6", 0, 160000),
    ("visibility quality", 84, "c1!", None, None), ("variability", 85, "c1", None, None),
    ("variability quality", 86, "c1!", None, None), ("temperature", 87, "n5+", -932, 618),
    ("temperature quality", 92, "c1!", None, None), ("dew point", 93, "n5+", -982, 368),
    ("dew point quality", 98, "c1!", None, None), ("pressure", 99, "n5", 8600, 10900),
    ("pressure quality", 104, "c1!", None, None),
]
TYPES = set("""AERO AUST AUTO BOGUS BRAZ COOPD COOPS CRB CRN05 CRN15 FM-12 FM-13 FM-14 FM-15 FM-16 FM-18 GREEN MESOH MESOS
MESOW MEXIC NSRDB PCP15 PCP60 S-S-A SA-AU SAO SAOSP SHEF SMARS SOD SOM SURF SY-AE SY-AU SY-MT SY-SA WBO WNO 99999""".split())
CODES = {64: "ABCHNQRTV9", 76: "ABCDEMRSUVW9", 77: "NY9", 85: "NV9"}
QUALITIES = "012345679ACIMPRU"
SOURCES = "12345678ABCDEFGHIJKLMNO9"
KINDS = ("SYN", "AWY", "MET", "SOD", "SOM", "HPD")
OBSERVED = {"AW5", "AW6"}  # beyond the documented ones
# Values of some sections that must be plausible: section, field's number, lowest, highest
RANGES = [("GA", 2, 0, 15000), ("GD", 3, 0, 15000), ("KA", 2, -932, 618), ("KB", 2, -9000, 6300), ("MA", 0, 8635, 10904),
          ("MA", 2, 4500, 10900), ("MD", 2, 0, 500), ("MD", 4, -800, 800), ("OC", 0, 0, 1100), ("GF", 7, 0, 15000),
          ("AA", 1, 0, 4990), ("AJ", 0, 0, 1200), ("RH", 2, 0, 100), ("GQ", 1, 0, 3600), ("CT", 0, -932, 618)]
CONTROL = re.compile(r"\d{4}[0-9A-Z]\d{5}\d{5}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(.)([+-]\d{5})([+-]\d{6})(.{5})([+-]\d{4})"
                     r"([A-Z0-9]{3,5} {0,2})V0[123][0 ]")


class Mistake(Exception):
    pass


class Field:
    def __init__(self, at, width, number, sign="", filler=None):
        self.at, self.width, self.filler = at, width, filler
        self.quality = width == 1 and not number and filler is None
        digits, short = r"\d{%d}" % width, r"\d{%d}" % (width - 1)
        pattern = {"": digits, "+": "[+-]" + short, "-": "(?:-" + short + "|" + digits + ")"}[sign]
        self.pattern = re.compile(pattern if number else "[A-Z0-9/+ -]{%d}" % width)

    def of(self, body):
        return body[self.at:self.at + self.width]


def field_of(field):
    """Of one that the reader knows."""
    sign = "+" if field.kind.startswith("+") else "-" if field.kind.endswith("-") else ""
    return Field(field.start, field.end - field.start, field.kind.strip("+-") in isd_reader.KINDS, sign,
                 field.filler and field.filler.decode())


class Layout:
    def __init__(self, section):
        self.family, self.width = section.ids[0], section.width
        self.fields = [field_of(field) for field in section.fields]
        self.pattern = re.compile("".join(
            ("(?:%s|%s)" % (field.pattern.pattern, re.escape(field.filler)) if field.filler else field.pattern.pattern)
            for field in self.fields))


def head_field(kind, at):
    number, sign, width = kind[0] == "n", kind[2:].strip("!"), int(kind[1])
    filler = None if kind.endswith("!") else "+" + "9" * (width - 1) if sign else "9" * width
    return Field(at, width, number, sign, filler)


BY_ID = {name: layout for layout, section in ((Layout(section), section) for section in isd_reader.SECTIONS)
         for name in section.ids}
BY_ID.update({odd: BY_ID[odd[:2] + "1"] for odd in OBSERVED})
FAMILIES = {layout.family for layout in BY_ID.values()}
CHECKS = {}
for prefix, number, low, high in RANGES:
    CHECKS.setdefault(prefix, []).append((number, low, high))
HEAD = [(name, head_field(kind, at), low, high) for name, at, kind, low, high in MANDATORY]


def check_head(record):
    control = CONTROL.match(record)
    if not control:
        raise Mistake("the control part")
    year, month, day, hour, minute = map(int, control.groups()[:5])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]:
        raise Mistake("the date")
    if minute > 59 or hour > 24 or (hour == 24 and minute):
        raise Mistake("the time")
    if not 1901 <= year <= 2024:
        raise Mistake("the year")
    source, latitude, longitude, kind, elevation, _ = control.groups()[5:]
    if source not in SOURCES or kind.rstrip() not in TYPES:
        raise Mistake("source or type")
    if latitude != "+99999" and abs(int(latitude)) > 90000 or longitude != "+999999" and abs(int(longitude)) > 180000:
        raise Mistake("the place")
    if elevation != "+9999" and not -400 <= int(elevation) <= 8850:
        raise Mistake("the elevation")
    for name, field, low, high in HEAD:
        value = field.of(record)
        if value == field.filler:
            continue
        if not field.pattern.fullmatch(value) or (low is not None and not low <= int(value) <= high):
            raise Mistake(name)
        if value not in CODES.get(field.at, value) or (field.quality and value not in QUALITIES):
            raise Mistake(name)


def check_section(name, body):
    layout = BY_ID[name]
    if not layout.pattern.fullmatch(body):
        raise Mistake("a field of " + name)
    for number, low, high in CHECKS.get(name[:2], ()):
        field = layout.fields[number]
        value = field.of(body)
        if value != field.filler and not low <= int(value) <= high:
            raise Mistake("a value of " + name)


def walk(record, strict=True):
    """The parts of a record: [(marker, [(identifier, body)...])...]. Published records are walked without `strict`."""
    if strict:
        check_head(record)
    parts, at, end = [], 105, len(record)
    order = ["ADD", "REM", "EQD", "QNN"]
    while at < end:
        marker = record[at:at + 3]
        if marker not in order:
            raise Mistake("a marker out of place at %d" % at)
        order = order[order.index(marker) + 1:]
        entries = []
        parts.append((marker, entries))
        at += 3
        while at < end:
            name = record[at:at + 3]
            if marker == "ADD" and name in BY_ID:
                start, stop = at + 3, at + 3 + BY_ID[name].width
                if strict:
                    check_section(name, record[start:stop])
                    if entries and entries[-1][0] >= name:
                        raise Mistake("sections do not ascend at %d" % at)
            elif marker == "REM" and name in KINDS and record[at + 3:at + 6].isdigit():
                start = at + 6
                stop = start + int(record[at + 3:at + 6])
            elif marker == "EQD" and re.fullmatch("[QPRCDN][0-9][0-9]", name):
                start, stop = at + 3, at + 16
            elif marker == "QNN" and "A" <= name[0] <= "Y":
                name, start, stop = name[0], at + 1, at + 11
            else:
                break
            if stop > end:
                raise Mistake("%s reaches beyond the end" % name)
            entries.append((name, record[start:stop]))
            at = stop
        if not entries:
            raise Mistake("%s with nothing after it" % marker)
    return parts
