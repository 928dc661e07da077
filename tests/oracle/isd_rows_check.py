"""A strict walk through weather records, for checking generated ones: it knows every documented section with its
fields, and refuses whatever a published record would not hold."""
import re

# n number, c code, t text, with its width; "!" has no filler, "+" is always signed, "-" only when negative. Fillers
# are nines, with a plus in front where a sign is always there.
LAYOUTS = """
AA1-4: n2 n4 c1 c1!
AB1: n5 c1 c1!
AC1: c1 c1 c1!
AD1: n5 c1 t4 t4 t4 c1!
AE1: n2 c1! n2 c1! n2 c1! n2 c1!
AG1: c1 n3
AH1-6: n3 n4 c1 t6 c1!
AI1-6: n3 n4 c1 t6 c1!
AJ1: n4 c1 c1! n6 c1 c1!
AK1: n4 c1 t6 c1!
AL1-4: n2 n3 c1 c1!
AM1: n4 c1 t4 t4 t4 c1!
AN1: n3 n4 c1 c1!
AO1-4: n2 n4 c1 c1!
AP1-4: n4 c1 c1!
AT1-8: c2! c2! t4! c1!
AU1-9: c1 c1 c2 c1 c1 c1 c1!
AW1-4: c2 c1!
AX1-6: c2 c1! n2 c1!
AY1-2: c1! c1! n2 c1!
AZ1-2: c1! c1! n2 c1!
CB1-2: n2 n6+ c1 c1!
CF1-3: n4 c1 c1!
CG1-3: n6+ c1 c1!
CH1-2: n2 n5+ c1 c1! n4 c1 c1!
CI1: n5+ c1 c1! n5+ c1 c1! n5 c1 c1! n5 c1 c1!
CN1: n4 c1 c1! n4 c1 c1! n4 c1 c1!
CN2: n5+ c1 c1! n5+ c1 c1! n2 c1 c1!
CN3: n6 c1 c1! n6 c1 c1!
CN4: c1 c1 c1! c4 c1 c1! n3 c1 c1! n3 c1 c1!
CO1: n2 n3+
CO2-9: t3 n5+
CR1: n5 c1 c1!
CT1-3: n5+ c1 c1!
CU1-3: n5+ c1 c1! n4 c1 c1!
CV1-3: n5+ c1 c1! t4 c1 c1! n5+ c1 c1! t4 c1 c1!
CW1: n5 c1 c1! n5 c1 c1!
CX1-3: n6+ c1 c1! n4 c1 c1! n4 c1 c1! n4 c1 c1!
ED1: n2 c1 n4 c1!
GA1-6: c2 c1! n6+ c1! c2 c1!
GD1-6: c1 c2 c1! n6+ c1! c1
GE1: c1 t6 n6+ n6+
GF1: c2 c2 c1! c2 c1! c2 c1! n5 c1! c2 c1! c2 c1!
GG1-6: c2 c1! n5 c1! c2 c1! c2 c1!
GH1: n5 c1 c1! n5 c1 c1! n5 c1 c1! n5 c1 c1!
GJ1: n4 c1!
GK1: n3 c1!
GL1: n5 c1!
GM1: n4 n4 c2 c1 n4 c2 c1 n4 c2 c1 n4 c1
GN1: n4 n4 c1 n4 c1 n4 c1 n4 c1 n3 c1
GO1: n4 n4- c1 n4- c1 n4- c1
GP1: n4 n4 c2 n3 n4 c2 n3 n4 c2 n3
GQ1: n4 n4 c1 n4 c1
GR1: n4 n4 c1 n4 c1
HL1: n3 c1!
IA1: c2 c1!
IA2: n3 n5+ c1!
IB1: n5+ c1 c1! n5+ c1 c1! n5+ c1 c1! n4 c1 c1!
IB2: n5+ c1 c1! n4 c1 c1!
IC1: n2 n4 c1 c1! n3 c1 c1! n4+ c1 c1! n4+ c1 c1!
KA1-4: n3 c1 n5+ c1!
KB1-3: n3 c1 n5+ c1!
KC1-2: c1 c1 n5+ t6 c1!
KD1-2: n3 c1! n4 c1!
KE1: n2 c1! n2 c1! n2 c1! n2 c1!
KF1: n5+ c1
KG1-2: n3 c1 n5+ c1 c1
MA1: n5 c1! n5 c1!
MD1: c1 c1! n3 c1! n4+ c1!
ME1: c1 n4 c1!
MF1: n5 c1 n5 c1
MG1: n5 c1! n5 c1!
MH1: n5 c1! n5 c1!
MK1: n5 t6 c1! n5 t6 c1!
MV1-7: c2 c1!
MW1-7: c2! c1!
OA1-3: c1 n2 n4 c1!
OB1-2: n3 n4 c1 c1 n3 c1 c1 n5 c1 c1 n5 c1 c1
OC1: n4 c1!
OD1-3: c1 n2 n4 c1 n3
OE1-3: c1! n2 n5 n3 t4 c1!
RH1-3: n3 c1 n3 c1 c1
SA1: n4+ c1!
ST1: c1 n5+ c1! n4 c1! c2 c1! n1 c1!
UA1: c1 n2 n3 c1! c2 c1!
UG1: n2 n3 n3 c1!
UG2: n2 n3 n3 c1!
WA1: c1 n3 c1 c1!
WD1: c2 n3 c2 c1 c1 c1 c2 c1 n3 n3 c1!
WG1: c2 n2 c2 c2 c2 c1!
WJ1: n3 n5 c2 c2 n5+ c1 c1
"""

# offset, width, kind as above, lowest and highest value; codes without a filler are qualities
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
FIELD = re.compile(r"([nct])(\d+)(!?)([+-]?)$")


class Mistake(Exception):
    pass


class Field:
    def __init__(self, text, at):
        kind, width, bare, sign = FIELD.match(text).groups()
        self.kind, self.width, self.at, self.sign = kind, int(width), at, sign
        self.quality = bool(bare) and kind == "c" and self.width == 1
        self.filler = None if bare else "+" + "9" * (self.width - 1) if sign == "+" else "9" * self.width
        digits = r"\d{%d}" % self.width
        short = r"\d{%d}" % (self.width - 1)
        pattern = {"": digits, "+": "[+-]" + short, "-": "(?:-" + short + "|" + digits + ")"}[sign]
        self.pattern = re.compile(pattern if kind == "n" else "[A-Z0-9/+ -]{%d}" % self.width)

    def of(self, body):
        return body[self.at:self.at + self.width]


class Layout:
    def __init__(self, family, fields):
        self.family, self.fields, self.width = family, [], 0
        for text in fields.split():
            self.fields.append(Field(text, self.width))
            self.width += self.fields[-1].width
        self.pattern = re.compile("".join(
            ("(?:%s|%s)" % (field.pattern.pattern, re.escape(field.filler)) if field.filler else field.pattern.pattern)
            for field in self.fields))


def read_layouts():
    layouts = {}
    for name, fields in re.findall(r"^(\S+): (.*(?:\n  .*)*)", LAYOUTS, re.M):
        first, last = name[:3], name[:2] + name[-1]
        layout = Layout(name, fields)
        for number in range(int(first[2]), int(last[2]) + 1):
            layouts[first[:2] + str(number)] = layout
    for odd in OBSERVED:
        layouts[odd] = layouts[odd[:2] + "1"]
    return layouts


BY_ID = read_layouts()
FAMILIES = {layout.family for layout in BY_ID.values()}
CHECKS = {}
for prefix, number, low, high in RANGES:
    CHECKS.setdefault(prefix, []).append((number, low, high))
HEAD = [(name, Field(kind, at), low, high) for name, at, kind, low, high in MANDATORY]


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
            raise Mistake("%s with nothing behind it" % marker)
    return parts
