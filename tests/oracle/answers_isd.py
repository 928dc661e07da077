"""What the queries of the suite isd should answer, computed from the files alone, the slow and plain way.

Each function is a query of that name (- for _); its keywords are the parameters with the suite's defaults. Moments
are isd_reader's Date, in milliseconds.
"""
import calendar
import datetime
import gzip
import math

import isd_reader
from isd_reader import Date

DAY = 86400000
CHECKED, PLAUSIBLE = ("1", "5"), ("0", "1", "4", "5", "9")
SPANS = ("point", "day", "month", "year")
CLASSES = ("few", "middle", "many")

# Falling snow, now or in the hour before. WMO table 4677 (an observer's present weather): 22 and 26 are of the hour
# before; 68 and 69 rain and snow; 70 to 75 flakes; 77 grains; 78 crystals; 83 to 86 showers with snow. Table 4680 (an
# automatic station's): 24 is of the hour before; 67 and 68 rain and snow; 70 to 73; 77; 78; 85 to 87 showers. METAR as
# two digits: 03 is SN, 04 is SG.
SNOW = [("presentWeatherManual", "condition", "conditionQuality",
         set("22 26 68 69 70 71 72 73 74 75 77 78 83 84 85 86".split())),
        ("presentWeatherAutomated", "condition", "conditionQuality",
         set("24 67 68 70 71 72 73 77 78 85 86 87".split())),
        ("presentWeatherCoded", "precipitation", "weatherQuality", {"03", "04"})]


# ----------------------------------------------------------------------------------------------------- reports

def read(paths):
    """The documents of the records."""
    reports = []
    for path in paths:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
            reports += [record.document for record in isd_reader.records(file.read()) if record.kind == "document"]
    return reports


def day_of(moment):
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=moment.ms // DAY)


def start_of(day):
    return Date(calendar.timegm(day.timetuple()) * 1000)


def around(moment, span):
    """The moment alone, or the day, month or year that it is in: the first moment, and the first one after it."""
    if span == "point":
        return moment, Date(moment.ms + 1)
    if span == "day":
        first = Date(moment.ms // DAY * DAY)
        return first, Date(first.ms + DAY)
    day = day_of(moment)
    if span == "month":
        return start_of(day.replace(day=1)), start_of((day.replace(day=28) + datetime.timedelta(4)).replace(day=1))
    return start_of(day.replace(month=1, day=1)), start_of(datetime.date(day.year + 1, 1, 1))


def temperature(report, checked):
    """In degrees, if station and time are known and it passed the checks."""
    air = report.get("airTemperature", {})
    good = "st" in report and "ts" in report and isinstance(air.get("value"), float) and air.get("quality") in checked
    return air["value"] if good else None


def warm_and_cold(reports, checked):
    """(degrees, report) of each that counts."""
    measured = ((temperature(report, checked), report) for report in reports)
    return [(degrees, report) for degrees, report in measured if degrees is not None]


# ----------------------------------------------------------------------------------------------------- queries

def extremes(reports, checked=CHECKED):
    found = [{"celsius": degrees, "ts": report["ts"], "st": report["st"]}
             for degrees, report in warm_and_cold(reports, checked)]
    found.sort(key=lambda one: (one["celsius"], one["ts"].ms, one["st"].encode()))
    return [{"hottest": found[-1], "coldest": found[0]}] if found else []


def swing(reports, checked=CHECKED, top=20):
    days = {}
    for degrees, report in warm_and_cold(reports, checked):
        days.setdefault((report["st"], report["ts"].ms // DAY), []).append(degrees)
    most = {}
    for (st, day), degrees in days.items():
        low, high = min(degrees), max(degrees)
        most[st] = max(most.get(st, (-1.0,)), (high - low, day * DAY, low, high))
    order = sorted(most, key=lambda st: (-most[st][0], st.encode()))[:top]
    return [{"st": st, "day": Date(most[st][1]), "low": most[st][2], "high": most[st][3], "swing": most[st][0]}
            for st in order]


def snows(report, plausible):
    for family, code, quality, codes in SNOW:
        for entry in report.get(family, []):
            if entry.get(code) in codes and entry.get(quality) in plausible:
                return True
    return any(isinstance(entry.get("depth"), int) and entry["depth"] > 0 and entry.get("depthQuality") in plausible
               for entry in report.get("snowAccumulation", []))


def snow_by_station(reports, plausible=PLAUSIBLE):
    found = {}
    for report in reports:
        if "st" in report and "ts" in report and snows(report, plausible):
            found.setdefault(report["st"], []).append(report["ts"])
    return [{"st": st, "reports": len(found[st]), "first": min(found[st]), "last": max(found[st])}
            for st in sorted(found, key=str.encode)]


def snow(reports, station="u725300", plausible=PLAUSIBLE):
    return [one for one in snow_by_station(reports, plausible) if one["st"] == station]


def clouds(reports, box=10, plausible=PLAUSIBLE):
    boxes = {}
    for report in reports:
        cover = report.get("skyCover", {})
        if "position" not in report or not isinstance(cover, dict) or cover.get("coverageQuality") not in plausible:
            continue
        if cover.get("totalCoverage") in ("00", "01", "02", "03", "04", "05", "06", "07", "08"):
            west, south = (math.floor(degrees / box) for degrees in report["position"]["coordinates"])
            boxes.setdefault((south, west), []).append(int(cover["totalCoverage"]))
    return [{"south": south * box, "west": west * box, "reports": len(eighths), "eighths": sum(eighths) / len(eighths)}
            for (south, west), eighths in sorted(boxes.items())]


def clouds_over_time(reports, box=10, plausible=PLAUSIBLE):
    hours = {}
    for report in reports:
        if "ts" in report:
            hours.setdefault(report["ts"].ms // 3600000, []).append(report)
    shares, seen = [], []
    for some in hours.values():
        boxes = clouds(some, box, plausible)
        if boxes:
            areas = [math.cos(math.radians(one["south"] + box / 2)) for one in boxes]
            shares.append(sum(one["eighths"] / 8 * area for one, area in zip(boxes, areas)) / sum(areas))
            seen.append(len(boxes))
    if not shares:
        return []
    mean = math.fsum(shares) / len(shares)
    return [{"hours": len(shares), "boxes": sum(seen) / len(seen), "mean": mean,
             "deviation": math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))}]


AT = Date(calendar.timegm((1983, 7, 4, 18, 0, 0)) * 1000)


def within(reports, at, span):
    first, end = around(at, span)
    return [report for report in reports if "ts" in report and first <= report["ts"] < end]


def temperatures(reports):
    return [{key: report[key] for key in ("st", "ts", "airTemperature") if key in report} for report in reports]


def station(reports, span, station="u725300", at=AT):
    return [report for report in within(reports, at, span) if report.get("st") == station]


def distance(one, other):
    """Of two places, in radians; each is its longitude and latitude in degrees."""
    (lon, lat), (lon2, lat2) = (map(math.radians, place) for place in (one, other))
    part = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    return 2 * math.asin(math.sqrt(part))


def region(reports, span, centre=(-88, 42), radius=0.08, at=AT):
    inside = []
    for report in within(reports, at, span):
        if "position" in report:
            apart = distance(centre, report["position"]["coordinates"])
            assert abs(apart - radius) > 1e-9, "a station on the edge of the region: choose another radius"
            if apart < radius:
                inside.append(report)
    return temperatures(inside)


def all_stations(reports, span, at=AT):
    return temperatures(within(reports, at, span))


def stations_of(reports, which):
    """The third of the stations with fewest reports, the third between, or the third with most."""
    count = {}
    for report in reports:
        if "st" in report and "ts" in report:
            count[report["st"]] = count.get(report["st"], 0) + 1
    order = sorted(count, key=lambda st: (count[st], st.encode()))
    return [st for place, st in enumerate(order) if place * 3 // len(order) == CLASSES.index(which)]


QUERIES = {function.__name__.replace("_", "-"): function
           for function in (extremes, swing, snow, snow_by_station, clouds, clouds_over_time)}
BY_SPAN = {"station": station, "region": region, "all-stations": all_stations}  # in no order
