"""What the queries of the suite mot should answer, computed from the files alone, the slow and plain way.

Each function is a query of that name (- for _); its keywords are the parameters with the suite's defaults.
"""
import calendar
import datetime
import math

import mot_reader

NORMAL, DECIDED = ("NT", "N"), ("P", "PRS", "F")
BANDS = [(1000, "below 1000 cc"), (1200, "1000 to 1199 cc"), (1600, "1200 to 1599 cc"), (2000, "1600 to 1999 cc"),
         (2500, "2000 to 2499 cc"), (3500, "2500 to 3499 cc"), (math.inf, "3500 cc and more")]


# -------------------------------------------------------------------------------------------------------- rows

def plain(value):
    """An int, a date as (year, month, day), or text."""
    if not isinstance(value, dict):
        return value
    if "$date" in value:
        days = int(value["$date"]["$numberLong"]) // 86400000
        rounds, days = divmod(days, 146097)  # the calendar repeats after 400 years; Python's own has no year 0
        day = datetime.date(1970, 1, 1) + datetime.timedelta(days)
        return day.year + 400 * rounds, day.month, day.day
    return int(next(iter(value.values())))


def read(paths):
    """The rows that become documents, by their one-letter keys."""
    rows = []
    for path in paths:
        with open(path, "rb") as file:
            for record in mot_reader.Reader("mot", file.read()).records():
                if record.kind == "document":
                    rows.append({key: plain(value) for key, value in record.document})
    return rows


def is_day(value):
    return isinstance(value, tuple)


def known(value, filler):
    """A number that is no filler."""
    return isinstance(value, int) and 0 < value < filler


def miles_of(row):
    return row["m"] if known(row.get("m"), 999999) else None


def in_order(text):
    """The order of BSON: what is missing comes first, texts by their bytes."""
    return (text is not None, (text or "").encode())


# ------------------------------------------------------------------------------------------------------ queries

def band_of(size):
    """From 1 to 7; of what is no number as a server orders it: what is missing comes before all numbers, texts after."""
    if size is None:
        return 1
    return 7 if not isinstance(size, int) else 1 + sum(size > bound for bound in (1000, 1200, 1600, 2000, 2500, 3500))


def greenness(rows, diesels=("DI", "D"), diesel=1.5):
    sums = {}
    for row in rows:
        band = band_of(row.get("e")) * (diesel if row.get("f") in diesels else 1)
        count, miles = sums.get(band, (0, 0))
        sums[band] = count + 1, miles + (row["m"] if isinstance(row.get("m"), int) else 0)
    return [{"_id": band, "count": sums[band][0], "miles": sums[band][1]} for band in sorted(sums)]


def engine_size(rows, diesels=("DI", "D"), diesel=1.5):
    sums = {}
    for row in rows:
        band = "not known"
        if known(row.get("e"), 99999):
            size = row["e"] * (diesel if row.get("f") in diesels else 1)
            band = next(name for bound, name in BANDS if size < bound)
        tests, miles = sums.get(band, (0, 0))
        sums[band] = tests + 1, miles + (miles_of(row) or 0)
    order = [name for _, name in BANDS] + ["not known"]
    return [{"band": band, "tests": sums[band][0], "miles": sums[band][1]} for band in order if band in sums]


def summary(rows, name, key_of, passed):
    """Tests, pass rate and mean miles of first attempts by a key; where it is Ellipsis the row does not count."""
    groups = {}
    for row in rows:
        if row.get("y") in NORMAL and row.get("r") in DECIDED and key_of(row) is not ...:
            groups.setdefault(key_of(row), []).append(row)
    found = []
    for key, members in groups.items():
        miles = [miles_of(row) for row in members if miles_of(row) is not None]
        found.append({name: key, "tests": len(members),
                      "passRate": sum(row["r"] in passed for row in members) / len(members),
                      "meanMiles": sum(miles) / len(miles) if miles else None})
    return found


def by_make(rows, passed=("P",), top=20):
    found = summary(rows, "make", lambda row: row.get("k"), passed)
    return sorted(found, key=lambda group: (-group["tests"], in_order(group["make"])))[:top]


def by_year(rows, passed=("P",)):
    found = summary(rows, "year", lambda row: row["d"][0] if is_day(row.get("d")) else ..., passed)
    return sorted(found, key=lambda group: group["year"])


def first_used(row):
    """When the vehicle was first used, if that is known."""
    day = row.get("i")
    return day if is_day(day) and day >= (1900, 1, 1) and day != (1971, 1, 1) else None


def by_first_use(rows, passed=("P",)):
    found = summary(rows, "year", lambda row: first_used(row)[0] if first_used(row) else ..., passed)
    return sorted(found, key=lambda group: group["year"])


def age_of(row):
    """Birthdays had: a vehicle of a 29 February has them on 1 March."""
    used, tested = first_used(row), row.get("d")
    if not used or not is_day(tested) or tested < used:
        return ...
    age = 0
    while True:
        year = used[0] + age + 1
        birthday = (year, 3, 1) if used[1:] == (2, 29) and not calendar.isleap(year) else (year, *used[1:])
        if birthday > tested:
            return age
        age += 1


def by_age(rows, passed=("P",)):
    return sorted(summary(rows, "age", age_of, passed), key=lambda group: group["age"])


def mileage_percentiles(rows, makes=("FORD", "VAUXHALL", "VOLKSWAGEN", "BMW", "TOYOTA", "HONDA"),
                        percentiles=(5, 25, 50, 75, 95)):
    """Nearest rank: the value at place ceil(p/100 of n), counted from 1, of the values in their order."""
    found = []
    for make in sorted(makes, key=str.encode):
        miles = sorted(miles_of(row) for row in rows if row.get("k") == make and miles_of(row) is not None)
        if miles:
            found.append({"make": make, "tests": len(miles), "miles": {
                "p%g" % p: miles[max(0, math.ceil(p * len(miles) / 100) - 1)] for p in percentiles}})
    return found


QUERIES = {function.__name__.replace("_", "-"): function
           for function in (greenness, engine_size, by_make, by_year, by_first_use, by_age, mileage_percentiles)}
