"""Reads MOT result and item files the slow and plain way, and makes documents of them. An independent judge: written
from what is known of the published files and from the rules of docs/mot-files.md, sharing nothing with the C code."""
import collections
import re

from reading import date, days, lines_of, whole

INT, CODE, TEXT, DATE, DATETIME = "int", "code", "text", "date", "datetime"
Field = collections.namedtuple("Field", "name key type headers optional", defaults=(False,))

RESULT_FIELDS = [
    Field("testId", "t", INT, ("test_id", "TESTID")),
    Field("vehicleId", "v", INT, ("vehicle_id", "VEHICLEID")),
    Field("testDate", "d", DATE, ("test_date", "TESTDATE")),
    Field("testClass", "c", CODE, ("test_class_id", "TESTCLASSID")),
    Field("testType", "y", CODE, ("test_type", "TESTTYPE")),
    Field("testResult", "r", CODE, ("test_result", "TESTRESULT")),
    Field("mileage", "m", INT, ("test_mileage", "TESTMILEAGE")),
    Field("postcodeArea", "s", CODE, ("postcode_area", "POSTCODEREGION")),
    Field("make", "k", TEXT, ("make", "MAKE")),
    Field("model", "o", TEXT, ("model", "MODEL")),
    Field("colour", "u", TEXT, ("colour", "COLOUR")),
    Field("fuelType", "f", CODE, ("fuel_type", "FUELTYPE")),
    Field("engineCc", "e", INT, ("cylinder_capacity", "CYLCPCTY")),
    Field("firstUseDate", "i", DATE, ("first_use_date", "FIRSTUSEDATE")),
    Field("completedDate", "w", DATETIME, ("completed_date",), True),
]
ITEM_FIELDS = [
    Field("testId", "t", INT, ("test_id", "TESTID")),
    Field("rfrId", "n", INT, ("rfr_id", "RFRID")),
    Field("rfrType", "y", CODE, ("rfr_type_code", "RFRTYPE")),
    Field("locationId", "l", INT, ("location_id", "mot_test_rfr_location_type_id"), True),
    Field("lateral", "la", CODE, ("LATLOCATIONID",), True),
    Field("longitudinal", "lo", CODE, ("LONGLOCATIONID",), True),
    Field("vertical", "ve", CODE, ("VERTLOCATIONID",), True),
    Field("dangerousMark", "x", CODE, ("dangerous_mark", "DMARK"), True),
    Field("completedDate", "w", DATETIME, ("completed_date",), True),
]


class Format:
    """layouts: what stands in which column where no header says it, the usual one first. surplus: the column that
    takes what is too much."""

    def __init__(self, fields, layouts, surplus):
        self.fields, self.surplus = fields, surplus
        by_name = {field.name: field for field in fields}
        self.layouts = [[by_name[name] for name in layout] for layout in layouts]


RESULTS = [field.name for field in RESULT_FIELDS]
FORMATS = {
    "mot": Format(RESULT_FIELDS, [RESULTS[:14], RESULTS], 9),
    "mot-long": Format([field._replace(key=field.name) for field in RESULT_FIELDS], [RESULTS[:14], RESULTS], 9),
    "mot-item": Format(ITEM_FIELDS, [
        ["testId", "rfrId", "rfrType", "locationId", "dangerousMark"],
        ["testId", "rfrId", "rfrType", "lateral", "longitudinal", "vertical", "dangerousMark"],
        ["testId", "rfrId", "rfrType", "locationId", "dangerousMark", "completedDate"],
        ["testId", "rfrId", "rfrType", "locationId"]], None),
}
DELIMITERS = [b"|", b",", b"\t"]
HEADER = re.compile(rb'(?:(?:test_id|TESTID)|"(?:test_id|TESTID)")(?:([|,\t])|$)')


class WrongFile(Exception):
    """A header that does not fit."""


# ------------------------------------------------------------------------------------------------------- fields

def close_quote(line, start, delimiter, backslash):
    """Reads the quoted field at start: its value and the place after it, or None when it is not properly closed."""
    value, at = bytearray(), start + 1
    while at < len(line):
        two = line[at:at + 2]
        if backslash and two == b'\\"':
            value += b'"'
            at += 2
        elif line[at:at + 1] != b'"':
            value += line[at:at + 1]
            at += 1
        elif len(two) == 1 or two[1:] == delimiter:
            return bytes(value), at + 1
        elif two == b'""':
            value += b'"'
            at += 2
        else:
            return None
    return None


def split(line, delimiter):
    """The fields of a line: (value, start, end)."""
    if b'"' not in line:
        fields, at = [], 0
        for value in line.split(delimiter):
            fields.append((value, at, at + len(value)))
            at += len(value) + 1
        return fields
    fields, at = [], 0
    while True:
        closed = None
        if line[at:at + 1] == b'"':
            closed = close_quote(line, at, delimiter, True) or close_quote(line, at, delimiter, False)
        if closed:
            value, end = closed
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            value = line[at:end]
        fields.append((value, at, end))
        if end >= len(line):
            return fields
        at = end + 1


def to_text(value):
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


# ------------------------------------------------------------------------------------------------------- values

WHOLE = re.compile(rb" *([+-]?)(\d+) *")
DAY = re.compile(rb"(\d{4})-(\d\d)-(\d\d)")
MOMENT = re.compile(rb"(\d{4})-(\d\d)-(\d\d)(?:(T)(\d\d):(\d\d):(\d\d)(?:\.(\d{3}))?(Z?)|( )(\d\d):(\d\d):(\d\d)(?:\.(\d{3}))?)?")


def read_day(value):
    match = DAY.fullmatch(value)
    number = days(*map(int, match.groups())) if match else None
    return None if number is None else number * 86400000


def read_moment(value):
    match = MOMENT.fullmatch(value)
    if not match:
        return None
    number = days(*map(int, match.group(1, 2, 3)))
    hour, minute, second, part = match.group(5, 6, 7, 8) if match.group(4) else match.group(11, 12, 13, 14)
    hour, minute, second, part = int(hour or 0), int(minute or 0), int(second or 0), int(part or 0)
    if number is None or hour > 23 or minute > 59 or second > 59:
        return None
    return (((number * 24 + hour) * 60 + minute) * 60 + second) * 1000 + part


def read_whole(value):
    match = WHOLE.fullmatch(value)
    if not match:
        return None
    number = int(match.group(2)) * (-1 if match.group(1) == b"-" else 1)
    if (match.group(1) == b"-" and not number) or not -2**63 <= number < 2**63:
        return None
    return number


def read_value(field, value):
    """The value as canonical extended JSON, or None if there is none."""
    if field.type == CODE:
        value = value.strip(b" ")
    if value == b"" or (value == b"NULL" and field.type != TEXT):
        return None
    if field.type == INT:
        number = read_whole(value)
        if number is not None:
            return whole(number)
    elif field.type in (DATE, DATETIME):
        ms = read_day(value) if field.type == DATE else read_moment(value)
        if ms is not None:
            return date(ms)
    return to_text(value)


# ------------------------------------------------------------------------------------------------------- a file

Record = collections.namedtuple("Record", "line kind document")  # document of (key, value), of kind "document"


class Reader:
    def __init__(self, format_name, data):
        self.format = FORMATS[format_name]
        self.lines = list(lines_of(data))
        self.find_columns()

    def find_columns(self):
        first = next((line.text for line in self.lines if line.text), None)
        self.delimiter, self.columns = DELIMITERS[0], list(self.format.layouts[0])
        if first is None:
            return
        header = HEADER.match(first)
        if header:
            self.delimiter = header.group(1) or DELIMITERS[0]
            self.read_header(first)
        else:
            self.guess()

    def read_header(self, line):
        self.columns = []
        for value, _, _ in split(line, self.delimiter):
            name = value.strip(b" ").lower().decode("latin-1")
            found = [field for field in self.format.fields if name in (header.lower() for header in field.headers)]
            if found and found[0] in self.columns:
                raise WrongFile("the column %s stands twice" % name)
            self.columns.append(found[0] if found else None)
        for field in self.format.fields:
            if not field.optional and field not in self.columns:
                raise WrongFile("there is no column %s" % field.headers[0])

    def guess(self):
        """The delimiter and the layout that most of the first rows have; rows with too much fit a little."""
        best = 0
        rows = [line.text for line in self.lines if line.text][:50]
        for delimiter in DELIMITERS:
            counts = [len(split(row, delimiter)) for row in rows]
            for layout in self.format.layouts:
                fitting = sum(count == len(layout) for count in counts)
                more = sum(count > len(layout) for count in counts) if self.format.surplus is not None else 0
                score = fitting + more / 1000
                if score > best:
                    best, self.delimiter, self.columns = score, delimiter, list(layout)

    def kind_of_header(self, text):
        """Of a line that begins like a header: only one that names the columns of this file, in their order, is one."""
        names = [value.strip(b" ").lower().decode("latin-1")
                 for value, _, _ in split(text, HEADER.match(text).group(1) or self.delimiter)]
        named = [next((field for field in self.format.fields if name in (header.lower() for header in field.headers)), None)
                 for name in names]
        if named == self.columns:
            return "header"
        if sum(field is not None for field in named) > 1:
            raise WrongFile("another header in the middle")
        return "reject"

    def records(self):
        for line in self.lines:
            if not line.text:
                yield Record(line, "blank", None)
            elif HEADER.match(line.text):
                yield Record(line, self.kind_of_header(line.text), None)
            else:
                values = self.values(line.text)
                yield Record(line, "document" if values else "reject", values and self.document(values))

    def values(self, text):
        """The columns' values, or None when they are too few, or too many and nothing takes the surplus."""
        fields, wanted = split(text, self.delimiter), len(self.columns)
        if len(fields) > wanted and self.format.surplus is not None:
            left = self.surplus_column()
            right = wanted - left - 1
            kept = fields[:left], fields[left:len(fields) - right], fields[len(fields) - right:]
            middle = text[kept[1][0][1]:kept[1][-1][2]]
            fields = kept[0] + [(middle, None, None)] + kept[2]
        return [value for value, _, _ in fields] if len(fields) == wanted else None

    def surplus_column(self):
        return self.columns.index(self.format.fields[self.format.surplus])

    def document(self, values):
        found = {field: value for field, value in zip(self.columns, values) if field}
        pairs = []
        for field in self.format.fields:
            value = read_value(field, found[field]) if field in found else None
            if value is not None:
                pairs.append((field.key, value))
        return pairs

    def usual(self, text):
        """Was this row written the usual way: no needless quotes, no padding, nothing to re-encode, and one habit of
        quoting in it? Then it must come back byte for byte."""
        fields, wanted = split(text, self.delimiter), len(self.columns)
        quoted = [text[start:start + 1] == b'"' for _, start, _ in fields]
        if text.endswith(b"\r") or (any(quoted) and len(fields) != wanted):
            return False
        escapes = set()
        for (value, start, end), in_quotes in zip(fields, quoted):
            raw = text[start:end]
            if in_quotes:
                if raw == value or (self.delimiter not in value and b'"' not in value) or b"\\" in value:
                    return False  # not closed; needless; a backslash that could be taken two ways
                escapes |= {b"\\" if b"\\" in raw else b'"'} if b'"' in value else set()
            elif b'"' in raw and any(quoted):
                return False
        if len(escapes) > 1:
            return False
        values = self.values(text)
        return values is not None and all(
            self.usual_value(field, value) for field, value in zip(self.columns, values))

    @staticmethod
    def usual_value(field, value):
        if field is None:
            return value == b""
        try:
            value.decode("utf-8")
        except UnicodeDecodeError:
            return False
        if field.type == CODE:
            return value == value.strip(b" ")
        if field.type == INT:
            number = read_whole(value)
            return number is None or value == str(number).encode()
        return True
