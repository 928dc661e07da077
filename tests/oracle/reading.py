"""What the slow readers have in common: the lines of a file, the calendar, and canonical extended JSON."""
import collections
from json.encoder import encode_basestring

Line = collections.namedtuple("Line", "number offset text end")  # end: the bytes that end it


def lines_of(data):
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while at < len(data):
        number += 1
        stop = data.find(b"\n", at)
        following = len(data) if stop < 0 else stop + 1
        text = data[at:following]
        bare = text[:-1] if text.endswith(b"\n") else text
        bare = bare[:-1] if bare.endswith(b"\r") else bare
        yield Line(number, at, bare, text[len(bare):])
        at = following


def days(year, month, day):
    """Days since 1970-01-01, or None when there is no such day."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not 1 <= month <= 12 or not 1 <= day <= lengths[month - 1]:
        return None
    before = year - 1  # whole years since 0001-01-01; Python rounds down, so year 0 comes out right
    count = before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[:month - 1]) + day - 1
    return count - 719162


def date(ms):
    return {"$date": {"$numberLong": str(ms)}}


def whole(number):
    return {"$numberInt" if -2**31 <= number < 2**31 else "$numberLong": str(number)}


def to_json(document):
    """As the C library of BSON spells it."""
    return show(document) if document else "{ }"


def show(value):
    if isinstance(value, dict):
        return "{ %s }" % ", ".join(['"%s" : %s' % (key, show(inner)) for key, inner in value.items()])
    if isinstance(value, list):
        return "[ %s ]" % ", ".join([show(inner) for inner in value])
    if isinstance(value, bool):
        return "true" if value else "false"
    return encode_basestring(value)
