"""livequery: `tipple query` on loaded collections, and its answers next to those that were computed from the files.

    class Asked(livequery.Case):
        def test_greenness(self):
            self.fill("mot", "a.txt")
            found = self.answers("mot", "greenness")
            self.same(answers_mot.greenness(answers_mot.read(["a.txt"])), found["greenness"])

The expected answers come from tests/oracle: from the text of the files alone, neither from the server nor from tipple.
"""
import collections
import datetime
import json
import sys

import live
import livetest

sys.path.insert(0, str(live.ROOT / "tests/oracle"))
import answers_isd  # noqa: E402
import answers_mot  # noqa: E402
import answers_obd  # noqa: E402
import answers_ycsb  # noqa: E402
from isd_reader import Date  # noqa: E402
from minimongo import Code  # noqa: E402

NEAR = 1e-9


def said_date(pair):
    """What extended JSON says of a date."""
    if not isinstance(pair, str):
        return Date(int(pair))
    moment = datetime.datetime.fromisoformat(pair.replace("Z", "+00:00"))
    return Date(round((moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc))
                      / datetime.timedelta(milliseconds=1)))


SPECIAL = {"$date": said_date, "$numberLong": int, "$numberInt": int, "$numberDouble": float}


def from_json(pairs):
    if len(pairs) == 1 and pairs[0][0] in SPECIAL:
        return SPECIAL[pairs[0][0]](pairs[0][1])
    return dict(pairs)


def difference(expected, found, where="the answer"):
    """What differs first, as a sentence; None when nothing does. Numbers may differ by rounding, fields by order."""
    numbers = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in (expected, found)]
    if all(numbers):
        near = abs(expected - found) <= NEAR * max(abs(expected), abs(found))
        return None if near else "%s: %r is not %r" % (where, found, expected)
    if type(expected) is not type(found):
        return "%s: %r is not %r" % (where, found, expected)
    if isinstance(expected, dict):
        if set(expected) != set(found):
            return "%s has the fields %s, not %s" % (where, sorted(found), sorted(expected))
        pairs = [("%s.%s" % (where, key), expected[key], found[key]) for key in expected]
    elif isinstance(expected, (list, tuple)):
        if len(expected) != len(found):
            return "%s has %d entries, not %d" % (where, len(found), len(expected))
        pairs = [("%s[%d]" % (where, number), *pair) for number, pair in enumerate(zip(expected, found))]
    else:
        return None if expected == found else "%s: %r is not %r" % (where, found, expected)
    return next((said for name, one, other in pairs for said in [difference(one, other, name)] if said), None)


def without_id(documents):
    return [{key: value for key, value in document.items() if key != "_id"} for document in documents]


def as_text(document):
    return json.dumps(document, sort_keys=True, default=lambda value: ["moment", value.ms])


def study_greenness():
    """The study's pipeline of 2015, line by line as it was published."""
    isover3500 = {"$cond": [{"$gt": ["$e", 3500]}, 7, 6]}
    isover2500 = {"$cond": [{"$gt": ["$e", 2500]}, isover3500, 5]}
    isover2000 = {"$cond": [{"$gt": ["$e", 2000]}, isover2500, 4]}
    isover1600 = {"$cond": [{"$gt": ["$e", 1600]}, isover2000, 3]}
    isover1200 = {"$cond": [{"$gt": ["$e", 1200]}, isover1600, 2]}
    getband = {"$cond": [{"$gt": ["$e", 1000]}, isover1200, 1]}
    isdirty = {"$cond": [{"$eq": ["$f", "D"]}, 1.5, 1]}
    dirtypenalty = {"$multiply": [getband, isdirty]}
    banding = {"$project": {"b": dirtypenalty, "m": 1}}
    group = {"$group": {"_id": "$b", "count": {"$sum": 1}, "miles": {"$sum": "$m"}}}
    sort = {"$sort": {"_id": 1}}
    return [banding, group, sort]


class Case(livetest.Case):
    def same(self, expected, found, where="the answer"):
        said = difference(expected, found, where)
        if said:
            self.fail(said)

    def same_set(self, expected, found, where="the answer"):
        """The same documents, in any order."""
        wanted, there = (collections.Counter(map(as_text, documents)) for documents in (expected, found))
        if wanted != there:
            self.fail("%s: %d documents, not %d; missing %s, too much %s" % (
                where, sum(there.values()), sum(wanted.values()), list(wanted - there)[:2], list(there - wanted)[:2]))

    def fill(self, form, *paths, collection="results", status=(0, 2)):
        """Loads files into a collection of their own; odd ones have rejects."""
        done = self.tipple("load", "--format", form, "--uri", self.uri(collection), "-q", *paths, status=None)
        self.assertIn(done.returncode, status, done.stderr)

    def query(self, suite, *words, collection="results", status=0, once=True, **more):
        """What `tipple query --json` printed, None where it printed nothing. once: one round is enough."""
        words = [*words, "--repeats", 1, "--warmup", 0] if once else words
        done = self.tipple("query", "--suite", suite, "--uri", self.uri(collection), "--json", *words, status=None,
                           **more)
        self.stderr = done.stderr
        self.assertEqual(status, livetest.ending(done.returncode), "the exit status of tipple query %s\n%s\n%s" % (
            " ".join(map(str, words)), done.stderr[-3000:], done.stdout.decode(errors="replace")[-1000:]))
        if not done.stdout:
            return None
        said = json.loads(done.stdout, object_pairs_hook=from_json)
        self.assertEqual(status, said["status"])
        return said

    def answers(self, suite, *words, **more):
        """The answers of the queries, by name and what they were asked with: "station span=day index=with"."""
        said = self.query(suite, *words, **more)
        found = {}
        for entry in said["queries"]:
            self.assertEqual(0, entry["failures"], entry["failure"])
            self.assertTrue(entry["n"] >= 1)
            name = " ".join(filter(None, [entry["name"], entry["with"]]))
            self.assertNotIn(name, found)
            found[name] = entry["result"]
        return found


class Suites(Case):
    """Every query of the built-in suites, on data that are made and data that were published."""

    RELEASES = ("2013", "2016", "2017-first", "2020", "2021", "2023", "2024")
    MOT = ("test_result_2020q4_head.csv", "test_result_2023_head.psv", "test_result_values.csv", "odd/codes.txt",
           "odd/dates.txt", "odd/numbers.txt", "odd/utf8.txt", "odd/2013_null_and_padding.txt")
    ISD = ("725300-94846-1983.gz", "010060-99999-2014.gz", "104270-99999-1928.gz", "710633-99999-2015.gz",
           "quoted-records.gz")

    def fill_mot(self, *words):
        """Rows of all releases; what the files hold."""
        paths = [live.DATA / "mot" / name for name in self.MOT]
        for number, release in enumerate(self.RELEASES):
            paths.append(self.folder / ("mot-%s.txt" % release))
            self.tipple("generate", "mot", "-q", "--rows", 600, "--release", release, "--seed", number, "-o", paths[-1])
        self.fill("mot", *words, *paths)
        return answers_mot.read(paths)

    def fill_isd(self, *words, form="isd"):
        """Reports of a hundred years; what the files hold."""
        paths = [live.DATA / "isd" / name for name in self.ISD] + [self.folder / "isd.txt"]
        self.tipple("generate", "isd", "--rows", 6000, "--stations", 30, "-q", "-o", paths[-1])
        paths.append(self.write("odd-isd.txt", self.hot_and_cold(paths[-1].read_bytes().splitlines())))
        self.fill(form, *words, *paths)
        return answers_isd.read(paths)

    @staticmethod
    def hot_and_cold(records):
        """Records hotter and colder than any: wrong, doubtful, not quite checked, no number at all; equal ones that
        passed, of which the last or the first counts. The temperature stands in the columns 87 to 92."""
        cases = [b"+09003", b"+08509", b"+08000", b"+A9991", b"-09002", b"-08507", b"-08004", b"-A9995",
                 b"+05801", b"+05805", b"-07505", b"-07501", b"+05805", b"-07505"]
        step = len(records) // len(cases)
        return b"".join(record[:87] + case + record[93:] + b"\n"
                        for case, record in zip(cases, records[step // 2::step]))

    def check_mot(self, *words):
        rows = self.fill_mot(*words)
        found = self.answers("mot")
        expected = {name: function(rows) for name, function in answers_mot.QUERIES.items()}
        self.assertEqual(set(expected), set(found))
        for name in expected:
            self.same(expected[name], found[name], name)
        self.check_letter()
        # the same questions with other parameters
        params = {"diesels": ["PE"], "diesel": 3.5, "passed": ["P", "PRS"], "top": 3, "makes": ["BMW", "FORD", "none"],
                  "percentiles": [99.5, 0, 1, 100]}
        found = self.answers("mot", *(word for name, value in params.items()
                                      for word in ("--param", "%s=%s" % (name, json.dumps(value)))))
        passed = {"passed": params["passed"]}
        self.same(answers_mot.greenness(rows, ["PE"], 3.5), found["greenness"], "greenness")
        self.same(answers_mot.engine_size(rows, ["PE"], 3.5), found["engine-size"], "engine-size")
        self.same(answers_mot.by_make(rows, top=3, **passed), found["by-make"], "by-make")
        self.same(answers_mot.by_year(rows, **passed), found["by-year"], "by-year")
        self.same(answers_mot.by_first_use(rows, **passed), found["by-first-use"], "by-first-use")
        self.same(answers_mot.by_age(rows, **passed), found["by-age"], "by-age")
        self.same(answers_mot.mileage_percentiles(rows, params["makes"], sorted(params["percentiles"])),
                  found["mileage-percentiles"], "mileage-percentiles")

    def check_letter(self):
        """greenness next to the study's own pipeline, which another client sends to the same collection"""
        known = list(self.client.aggregate(self.database, "results", study_greenness()))
        self.same(known, self.answers("mot", "greenness", "--param", "diesels=[D]")["greenness"], "greenness")

    def check_isd(self, *words):
        """The scans, with the suite's parameters and others."""
        reports = self.fill_isd(*words)
        found = self.answers("isd", "scan")
        expected = {name: function(reports) for name, function in answers_isd.QUERIES.items()}
        self.assertEqual(set(expected), set(found))
        for name in expected:
            self.same(expected[name], found[name], name)
        self.assertTrue(found["snow"] and len(found["snow-by-station"]) > 3 and len(found["clouds"]) > 10)
        some = {"checked": ("1",), "plausible": ("1", "9")}
        found = self.answers("isd", "scan", "--param", 'checked=["1"]', "--param", 'plausible=["1", "9"]', "--param",
                             "station=u104270", "--param", "box=7.5", "--param", "top=2")
        self.same(answers_isd.extremes(reports, some["checked"]), found["extremes"], "extremes")
        self.same(answers_isd.swing(reports, some["checked"], 2), found["swing"], "swing")
        self.same(answers_isd.snow(reports, "u104270", some["plausible"]), found["snow"], "snow")
        self.same(answers_isd.snow_by_station(reports, some["plausible"]), found["snow-by-station"], "snow-by-station")
        self.same(answers_isd.clouds(reports, 7.5, some["plausible"]), found["clouds"], "clouds")
        self.check_spans(reports)
        self.check_draws(reports)

    def check_isd_study(self):
        """The scans, asked of the documents of the study: missing values are filled there, and names are others."""
        reports = self.fill_isd(form="isd-study")
        found = self.answers("isd", "scan")
        self.assertNotIn("warning", self.stderr)
        for name, function in answers_isd.QUERIES.items():
            self.same(function(reports), found[name], name)
        found = self.answers("isd", "scan", "--param", 'plausible=["1", "5", "9"]', "--param", "station=u104270")
        self.same(answers_isd.snow(reports, "u104270", ("1", "5", "9")), found["snow"], "snow")
        self.same(answers_isd.clouds_over_time(reports, 10, ("1", "5", "9")), found["clouds-over-time"], "clouds-over-time")
        found = self.answers("isd", "region", "--setup")
        for span in ("day", "month"):
            wanted = [(one["st"], one["ts"].ms) for one in answers_isd.region(reports, span)]
            there = [(one["st"], one["ts"].ms) for one in found["region span=%s index=with" % span]]
            self.assertEqual(sorted(wanted), sorted(there))

    def check_spans(self, reports):
        """One station, a region, all stations, over each span of time; with and without index."""
        said = self.query("isd", "span", status=1)
        self.assertIsNone(said)
        self.assertRegex(self.stderr, r"needs the index ts_1_st_1 on \S+, which is not")
        places = [("u725300", "1983-07-04T18:00:00Z", [-88, 42], 0.08),
                  ("u010060", "2014-02-28T23:00:00Z", [15.5, 78.1], 0.3)]
        for st, moment, centre, radius in places:
            found = self.query("isd", "span", "--setup", "--param", "station=%s" % st, "--param",
                               'at={$date: "%s"}' % moment, "--param", "centre=%s" % centre, "--param",
                               "radius=%s" % radius)["queries"]
            at = said_date(moment)
            self.assertEqual(24, len(found))
            for entry in found:
                self.assertEqual(0, entry["failures"], entry["failure"])
                span = next(span for span in answers_isd.SPANS if "span=%s " % span in entry["with"])
                more = {"station": (st,), "region": (centre, radius), "all-stations": ()}[entry["name"]]
                wanted = answers_isd.BY_SPAN[entry["name"]](reports, span, *more, at=at)
                where = "%s %s" % (entry["name"], entry["with"])
                self.assertTrue(wanted, where)
                there = without_id(entry["result"])
                if entry["result_complete"]:
                    self.same_set(wanted, there, where)
                else:  # 4 MB of them are kept
                    self.assertTrue(len(there) < len(wanted), where)
                    self.assertTrue(set(map(as_text, there)) <= set(map(as_text, wanted)), where)
        self.query("isd", "station", "--param", 'station="none"')  # nothing found is an answer, too

    def check_draws(self, reports):
        """Stations by how many reports they have: what is drawn is one of theirs, and there."""
        for name in answers_isd.CLASSES:
            stations = answers_isd.stations_of(reports, name)
            for span in answers_isd.SPANS:
                done = self.tipple("query", "--suite", "isd", "--uri", self.uri(), "station-latency", "--explain",
                                   "--param", "class=%s" % name, "--param", "span=%s" % span)
                asked = json.loads(done.stdout.split(b"filter")[1].split(b"\n")[0], object_pairs_hook=from_json)
                self.assertIn(asked["st"], stations)
                moment = asked["$expr"]["$and"][0]["$gte"][1]["$dateTrunc"]["date"]
                self.assertTrue(any(report.get("st") == asked["st"] and report["ts"] == moment for report in reports))
        said = self.query("isd", "latency", "--count", 20, "--clients", 2)
        self.assertEqual(13, len(said["queries"]))
        for entry in said["queries"]:
            self.assertEqual((0, 40), (entry["failures"], entry["n"]))
            self.assertTrue(entry["docs_per_ms"] > 0)  # each finds something

    OBD = ("map-reduce", "map-reduce-js", "list", "accumulators", "whole", "group", "accumulator")

    def check_obd(self, *words):
        """The same figures in many ways, also where there are fewer documents than asked for: the first ones lie in the
        order of _id in a clustered collection."""
        path = self.folder / "obd.csv"
        self.tipple("generate", "obd", "--rows", 12000, "-q", "-o", path)  # ten blocks: _id has another order
        self.fill("obd", *words, path, status=(0,))
        values, found = answers_obd.read(path), self.answers("obd")
        self.assertEqual(7 * len(answers_obd.COUNTS) - 1, len(found))
        for asked in found:
            count = int(asked.partition("n=")[2])
            self.same([answers_obd.figures(values, count)], found[asked], asked)
        self.assertEqual({"%s n=%d" % (name, count) for name in self.OBD for count in answers_obd.COUNTS},
                         set(found) | {"accumulator n=1000000"})
        found = self.answers("obd", "client", "--param", "n=777")
        self.assertEqual({name + " n=777" for name in ("list", "accumulators", "whole")}, set(found))
        for name in found:
            self.same([answers_obd.figures(values, 777)], found[name], name)

    def check_obd_stored(self):
        """Functions that someone stored; nothing is stored by tipple."""
        path = self.write("few.csv", self.tipple("generate", "obd", "--rows", 50, "-q").stdout)
        self.fill("obd", path, collection="stored", status=(0,))
        self.query("obd-stored", collection="stored", status=4)
        self.assertIn("mapit is not defined", self.stderr)
        self.client.insert(self.database, "system.js", [
            {"_id": "mapit", "value": Code("function() { var x = this.engineRevolutionsPerMinute;"
                                           " emit(0, {sum: x, min: x, max: x, count: 1}); }")},
            {"_id": "reduceit", "value": Code("function(key, v) { for (var i = 1; i < v.length; i++) {"
                                              " v[0].sum += v[i].sum; v[0].count += v[i].count;"
                                              " v[0].min = Math.min(v[0].min, v[i].min);"
                                              " v[0].max = Math.max(v[0].max, v[i].max); } return v[0]; }")}])
        values, found = answers_obd.read(path), self.answers("obd-stored", collection="stored")
        self.assertEqual(2 * len(answers_obd.COUNTS), len(found))
        for asked in found:
            self.same([answers_obd.figures(values, int(asked.partition("n=")[2]))], found[asked], asked)

    def check_obd_spread(self):
        """Through a router nothing is first: all documents."""
        path = self.folder / "obd.csv"
        self.tipple("generate", "obd", "--rows", 12000, "-q", "-o", path)
        self.fill("obd", path, status=(0,))
        found = self.answers("obd", "list", "accumulators", "whole", "group", "accumulator", "--param", "n=1000000")
        self.assertEqual(5, len(found))
        for asked in found:
            self.same([answers_obd.figures(answers_obd.read(path), 12000)], found[asked], asked)

    def check_ycsb(self, *words):
        path = self.folder / "ycsb.json"
        self.tipple("generate", "ycsb", "--rows", 6000, "--text-bytes", 20, "-q", "-o", path)
        self.fill("ycsb", *words, path, status=(0,))
        self.query("ycsb", status=1)
        self.assertRegex(self.stderr, r"needs the index fieldInt0_1 on \S+, which is not")
        rows, found = answers_ycsb.read([path]), self.answers("ycsb", "--setup", "--count", 3, "--clients", 1)
        self.assertEqual(14, len(found))
        for value in answers_ycsb.FIND:
            asked = "find value=%d" % value
            self.same_set(answers_ycsb.find(rows, value), found[asked], asked)
        for value in answers_ycsb.TOP_FIVE:
            asked = "top-five value=%d" % value
            self.same(answers_ycsb.top_five(rows, value), found[asked], asked)
        self.same_set(answers_ycsb.span(rows), found["range"], "range")
        found = self.answers("ycsb", "find", "range", "--clients", 1, "--param", "value=[7]", "--param", "from=2", "--param", "to=3")
        self.same_set(answers_ycsb.find(rows, 7), found["find value=7"], "find 7")
        self.same_set(answers_ycsb.span(rows, 2, 3), found["range"], "range from 2 to 3")
        # what is drawn is there
        said = self.query("ycsb", "random", "--count", 50, "--clients", "1,3", "--param", "below=100")
        self.assertEqual([(name, clients, 50 * clients) for name in ("one-by-value", "one-by-frequency", "by-id")
                          for clients in (1, 3)],
                         [(entry["name"], entry["clients"], entry["n"]) for entry in said["queries"]])
        for entry in said["queries"]:
            self.assertTrue(entry["docs_per_ms"] > 0 and entry["ops_per_second"] > 0, entry)
