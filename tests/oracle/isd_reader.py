"""Reads records of the Integrated Surface Database the slow and plain way, and makes documents of them. An independent
judge: written from what is known of the archive format and from the rules of docs/isd-files.md, sharing nothing with
the C code or its format file."""
import base64
import collections
import functools
import re

import isd_layouts
from reading import date, days, lines_of, whole

Field = collections.namedtuple("Field", "name start end kind filler")
Section = collections.namedtuple("Section", "ids name fields width")
Reject = collections.namedtuple("Reject", "reason")
Date = collections.namedtuple("Date", "ms")
Record = collections.namedtuple("Record", "line kind document")  # kind: document, reject or blank

FIXED_LENGTH = 105
FIRST_KEYS = """st ts hour24 usaf wban position latitude longitude date time elevation callLetters
    qualityControlProcess dataSource type wind skyCondition visibility airTemperature dewPoint atmosphericPressure
    declaredLength""".split()


# ------------------------------------------------------------------------------------------------------ layouts

def read_fields(words):
    fields, at = [], 0
    for word in words:
        name, width, kind, *filler = word.split(":")
        if filler and filler[0].startswith("+"):
            kind = "+" + kind
        fields.append(Field(name, at, at + int(width), kind, filler[0].encode() if filler else None))
        at += int(width)
    return fields


def read_sections(text):
    sections = []
    for entry in re.sub(r"\n +", " ", text).split("\n"):
        if entry:
            ids, name, *words = entry.split()
            first, last = ids[:3], ids[-3:]
            fields = read_fields(words)
            members = [first[:2] + str(number) for number in range(int(first[2]), int(last[2]) + 1)]
            sections.append(Section(members, name, fields, fields[-1].end))
    return sections


FIXED = read_fields(isd_layouts.FIXED.split())
SECTIONS = read_sections(isd_layouts.SECTIONS)


def identifiers():
    """Every identifier a layout is known for: the listed ones, and the rest of a family whose members are all alike."""
    known = {}
    for section in SECTIONS:
        family = [other for other in SECTIONS if other.ids[0][:2] == section.ids[0][:2]]
        if all(other.fields == section.fields for other in family):
            known.update((section.ids[0][:2] + str(number), section) for number in range(10))
    for section in SECTIONS:
        known.update((identifier, section) for identifier in section.ids)
    return {identifier.encode(): section for identifier, section in known.items()}


SECTION_OF = identifiers()


# ------------------------------------------------------------------------------------------------------- values

SIGNED = re.compile(rb"[+-][0-9]+")
UNSIGNED = re.compile(rb"[0-9]+")
SOMETIMES = re.compile(rb"-?[0-9]+")


def text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def code(raw):
    found = text(raw)
    return found.rstrip(" ") if isinstance(found, str) else raw


def number(raw, pattern, power, times):
    """A number, or None where writing it again would not give the same characters."""
    if not pattern.fullmatch(raw):
        return None
    digits = int(raw)
    if digits == 0 and raw.startswith(b"-"):
        return None if power == 1 else -0.0
    return digits * times if power == 1 else digits / power  # Python rounds once: the double nearest to the decimal


KINDS = {"int": (1, 1), "x10": (1, 10), "/10": (10, 1), "/100": (100, 1), "/1000": (1000, 1)}


@functools.lru_cache(maxsize=1 << 16)
def value(kind, raw):
    if kind == "text":
        return text(raw)
    if kind == "code":
        return code(raw)
    pattern = SIGNED if kind.startswith("+") else SOMETIMES if kind.endswith("-") else UNSIGNED
    found = number(raw, pattern, *KINDS[kind.strip("+-")])
    return text(raw) if found is None else found


def read(fields, part):
    """What is there of the fields, by name."""
    found = {}
    for field in fields:
        raw = part[field.start:field.end]
        if raw != field.filler:
            found[field.name] = value(field.kind, raw)
    return found


def nest(pairs):
    """Dots in names make subdocuments."""
    document = {}
    for name, found in pairs:
        *groups, last = name.split(".")
        inner = document
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[last] = found
    return document


# --------------------------------------------------------------------------------------------------- fixed part

def moment(day, time):
    """Milliseconds since 1970 and whether the hour was 24, or None."""
    if not re.fullmatch(rb"[0-9]{8}", day) or not re.fullmatch(rb"[0-9]{4}", time):
        return None
    number = days(int(day[:4]), int(day[4:6]), int(day[6:]))
    hour, minute = int(time[:2]), int(time[2:])
    if number is None or not (hour <= 23 and minute <= 59 or time == b"2400"):
        return None
    return ((number * 24 + hour) * 60 + minute) * 60000, time == b"2400"


def read_fixed(line):
    found = read(FIXED, line)
    count = found.pop("count")
    if not re.fullmatch(rb"[0-9]{4}", line[:4]):
        found["declaredLength"] = count
    elif int(count) != len(line) - FIXED_LENGTH:
        found["declaredLength"] = int(count)

    prefix, station = ("u", found["usaf"]) if "usaf" in found else ("w", found.get("wban"))
    if isinstance(station, str):
        found["st"] = prefix + station

    when = moment(line[15:23], line[23:27])
    if when:
        found["ts"] = Date(when[0])
        if when[1]:
            found["hour24"] = True
        del found["date"], found["time"]

    latitude, longitude = found.get("latitude"), found.get("longitude")
    if isinstance(latitude, float) and isinstance(longitude, float) and abs(latitude) <= 90 and abs(longitude) <= 180:
        found["position"] = {"type": "Point", "coordinates": [longitude, latitude]}
        del found["latitude"], found["longitude"]

    document = nest(found.items())
    return {key: document[key] for key in FIRST_KEYS if key in document}


# ------------------------------------------------------------------------------------------------ variable part

# What may stand at a place of each part: where its entry ends (perhaps beyond the record), or None.

REMARK = re.compile(rb"[A-Z]{3}([0-9]{3})")
QUALITY = re.compile(rb"[QPRCDN][0-9][0-9]")


def section_end(line, at):
    section = SECTION_OF.get(line[at:at + 3])
    return at + 3 + section.width if section else None


def remark_end(line, at):
    head = REMARK.match(line, at)
    return at + 6 + int(head.group(1)) if head else None


def quality_end(line, at):
    return at + 16 if QUALITY.match(line, at) else None


def original_end(line, at):
    return at + 11 if b"A" <= line[at:at + 1] <= b"Y" else None


PARTS = [(b"ADD", section_end), (b"REM", remark_end), (b"EQD", quality_end), (b"QNN", original_end)]
BEFORE = -1  # no part yet


def step(line, at, part):
    """What stands at this place of this part: (the part from here on, start of the entry, its end), or None."""
    def fits(which, at):
        end = PARTS[which][1](line, at)
        return end if end is not None and end <= len(line) else None

    for later in range(part + 1, len(PARTS)):
        if line.startswith(PARTS[later][0], at):
            end = fits(later, at + 3)
            if end is not None:
                return later, at + 3, end
    end = fits(part, at) if part != BEFORE else None
    return None if end is None else (part, at, end)


def explains(line, at, part, hopeless):
    """Does everything from here to the end explain itself? hopeless: (place, part) known not to."""
    seen = []
    while at < len(line):
        here = (at, part)
        found = None if here in hopeless else step(line, at, part)
        seen.append(here)
        if found is None:
            hopeless.update(seen)
            return False
        part, _, at = found
    return True


def walk(line):
    """The entries of the variable part as (part, start, end), and the gap between them as (start, end) or None."""
    entries, gap = [], None
    at, part = FIXED_LENGTH, BEFORE
    while at < len(line):
        found = step(line, at, part)
        if found:
            entries.append(found)
            part, _, at = found
        else:
            assert gap is None
            hopeless, least = set(), at + 1
            for later in range(part + 1, len(PARTS)):  # a marker opens its part even when nothing follows it
                if line.startswith(PARTS[later][0], at):
                    part, least = later, at + len(PARTS[later][0])
                    break
            places = range(least, len(line))
            stop = next((place for place in places if explains(line, place, part, hopeless)), len(line))
            gap, at = (at, stop), stop
    return entries, gap


def read_sections_of(line, entries):
    """The sections' part of a document, and their identifiers."""
    identifiers, families = [], {}
    for start, end in entries:
        identifier = line[start:start + 3].decode("ascii")
        section = SECTION_OF[line[start:start + 3]]
        several = len(section.ids) > 1
        entry = {} if section.ids == [identifier] else {"id": identifier}
        entry.update(read(section.fields, line[start + 3:end]))
        identifiers.append(identifier)
        families.setdefault((section.name, several), []).append(entry)
    found = {name: members if several or len(members) > 1 else members[0]
             for (name, several), members in families.items()}
    return found, identifiers


def read_remark(entry):
    return {"kind": text(entry[:3]), "text": text(entry[6:])}


def read_quality(entry):
    return {"id": text(entry[:3]), "originalValue": text(entry[3:9]), "reason": text(entry[9:10]),
            "parameter": text(entry[10:16])}


def read_original(entry):
    return {"element": text(entry[:1]), "sourceAndFlags": text(entry[1:5]), "value": text(entry[5:11])}


LISTS = [(1, "remarks", read_remark), (2, "elementQuality", read_quality), (3, "originalObservation", read_original)]


def read_variable(line):
    entries, gap = walk(line)
    found, identifiers = read_sections_of(line, [(start, end) for part, start, end in entries if part == 0])
    for which, name, read_entry in LISTS:
        members = [read_entry(line[start:end]) for part, start, end in entries if part == which]
        if members:
            found[name] = members
    if any(left >= right for left, right in zip(identifiers, identifiers[1:])):
        found["order"] = identifiers
    if gap:
        found["unparsed"] = {"at": gap[0], "text": text(line[gap[0]:gap[1]])}
    return found


# --------------------------------------------------------------------------------------------------- a document

# A character of several bytes, as UTF-8 has them.
WIDE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
                  rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}")


def why_rejected(line, last_unended=False):
    """last_unended: it is the last line of its file and has no line end."""
    if len(line) < FIXED_LENGTH:
        return Reject("fewer than 105 characters")
    if last_unended and re.fullmatch(rb"[0-9]{4}", line[:4]) and len(line) < FIXED_LENGTH + int(line[:4]):
        return Reject("cut short")
    wide = WIDE.search(line)
    if wide and wide.start() < FIXED_LENGTH:
        _, gap = walk(line)
        if gap and gap[0] == FIXED_LENGTH < gap[1]:
            return Reject("columns counted in characters")
    return None


def document(line, last_unended=False):
    """The document of a record: a dict of dict, list, str, int, float, bool, Date and bytes; or a Reject."""
    reject = why_rejected(line, last_unended)
    if reject:
        return reject
    found = read_fixed(line)
    found.update(read_variable(line))
    return found


def ejson(value):
    """The value as canonical extended JSON."""
    if isinstance(value, dict):
        return {key: ejson(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [ejson(inner) for inner in value]
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, float):
        digits = next(text for text in ("%.15g" % value, "%.16g" % value, "%.17g" % value) if float(text) == value)
        return {"$numberDouble": digits if "." in digits or "e" in digits else digits + ".0"}
    if isinstance(value, Date):
        return date(value.ms)
    return {"$binary": {"base64": base64.b64encode(value).decode(), "subType": "00"}}


def records(data):
    for line in lines_of(data):
        if not line.text:
            yield Record(line, "blank", None)
            continue
        found = document(line.text, last_unended=not line.end.endswith(b"\n"))
        yield Record(line, "reject" if isinstance(found, Reject) else "document", found)
