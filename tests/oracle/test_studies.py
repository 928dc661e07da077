#!/usr/bin/env python3
"""What studies have published stands in docs/studies/published.json alone. The plan is held to it, and so are the pages
and the suites that print such a figure: each line of the tables in docs/planning.md is computed here again.

A line's inputs are what its study states, or what follows from another line of it, and nothing else; what it does not
state is not given and limits nothing. No line may claim more than the plan gives: it says how far off that is."""
import json
import re
import unittest

from published import ROOT, TABLES, number, tables, text
from running import tipple

YEAR = 8766 * 3600


def si(table, row, column, unit=1):
    return number(text(table, row, column)) * unit


def words_of(options):
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += ["--" + name.replace("_", "-")] + ([] if one is True else [str(one)])
    return words


def plan(**options):
    status, out, err = tipple("plan", *words_of(options), "--json")
    assert status == 0, err
    return json.loads(out)


# ------------------------------------------------------------------------------------------------ the three studies
# Of each line: what the plan is asked, which of its figures is meant, and where the reported one stands.

CARS = si("mot data", "data", "documents")
BSON = si("mot data", "data", "BSON")


def mot(row, column, figure, unit=1, **options):
    at = TABLES["mot configurations"]["rows"][row]
    shards = int((re.search(r"(\d+) shards", row) or [0, 1])[1])
    disk = at["disk GB"] if at["disk GB"] != "-" else text("mot configurations", "WiredTiger zlib", "disk GB")
    return {"documents": int(CARS), "document_bytes": BSON / CARS, "text_bytes": si("mot data", "data", "text") / CARS,
            "shards": shards, "routers": 0, "servers": 1, "cores": 16, "ram": int(si("mot data", "host", "memory")),
            "disk_read": int(si("mot data", "host", "reads")), "ratio": float(disk) * 1e9 / BSON, "even": True,
            "log_ratio": 1e-9, **FREE, **options}, figure, ("mot configurations", row, column), unit


FREE = {"loader_rate": "1000g", "shard_rate": "1000g"}  # what a study does not tell holds nothing back
NONE, TWO, FOUR = "mmap, noPadding", "mmap, noPadding, 2 shards", "mmap, noPadding, 4 shards"
ONE = "WiredTiger zlib"


def zlib(shards):
    return "WiredTiger zlib, %d shards, %s" % (shards, "1 GB" if shards == 2 else "2 MB")


def minutes(row):
    return si("mot configurations", row, "load min", 60)


# the disk's speed of writing is not stated: from two shards, and four were no faster
MMAP = {"disk": 1e9 * si("mot configurations", TWO, "disk GB") / minutes(TWO), "shard_rate": CARS / minutes(NONE)}
TIGER = {"shard_rate": CARS / minutes(ONE), "server_rate": CARS / minutes(zlib(2))}
LOOK_4 = {"scan_us": 4e6 * si("mot configurations", zlib(4), "query") / CARS}
LOOK_1 = {"scan_us": 1e6 * si("mot configurations", ONE, "query") / CARS}
LOAD, SCAN = "load_seconds", lambda said: said["scan"]["seconds"]

VEHICLES = {
    "load, mmap, default (169 GB)": mot("mmap, default", "load min", LOAD, 60, **MMAP),
    "load, mmap, no padding, 4 shards": mot(FOUR, "load min", LOAD, 60, **MMAP),
    "load, WiredTiger, 4 shards": mot(zlib(4), "load min", LOAD, 60, **TIGER),
    "load, WiredTiger, 8 shards": mot(zlib(8), "load min", LOAD, 60, **TIGER),
    "load, WiredTiger, 16 shards": mot(zlib(16), "load min", LOAD, 60, **TIGER),
    "query, mmap, default: 169 GB at 60 MB/s": mot("mmap, default", "query", SCAN),
    "query, mmap, no padding: 127 GB": mot(NONE, "query", SCAN),
    "query, mmap, no padding, 2 shards": mot(TWO, "query", SCAN),
    "query, mmap, no padding, 4 shards": mot(FOUR, "query", SCAN),
    "query, WiredTiger, 2 shards, from the line with 1": mot(zlib(2), "query", SCAN, **LOOK_1),
    "query, WiredTiger, 8 shards, from the line with 4": mot(zlib(8), "query", SCAN, **LOOK_4),
    "query, WiredTiger, 16 shards, from the line with 4": mot(zlib(16), "query", SCAN, **LOOK_4),
}


def weather(side, column, figure, **options):
    shards = 1 if side == "one server" else int(text("weather", side, "shards"))
    return {"documents": int(si("weather", "data", "documents")), "document_bytes": si("weather", "data", "document"),
            "shards": shards, "even": True, "routers": 0, "loaders": 1, **FREE, **options}, \
        figure, ("weather", side, column), 1


def index_us(side, shards):
    return {"index": "ts:1,st:1=16", "index_us": 1e6 * si("weather", side, "index") * shards / si("weather", "data", "documents")}


INDEX = lambda said: said["indexes"][0]["build"]["seconds"]  # noqa: E731
PEAK = {side: si("weather", side, "peak") for side in ("one server", "cluster")}
SUSTAINED = {side: si("weather", side, "sustained") for side in ("one server", "cluster")}
MEMORY = {"ram": int(si("weather", "one server", "memory")), "disk_size": int(si("weather", "one server", "disks"))}

CENTURY = {
    "load, one server, at its sustained 70,000/s": weather("one server", "load", LOAD, server_rate=SUSTAINED["one server"]),
    "load, one server, at its peak of 85,000/s": weather("one server", "load", LOAD, server_rate=PEAK["one server"]),
    "load, 100 shards, one router at 220,000/s": weather("cluster", "load", LOAD, routers=1, router_rate=PEAK["cluster"]),
    "load, 100 shards, 228,000/s through ten routers":
        weather("cluster", "load", LOAD, loader_rate=SUSTAINED["cluster"], routers=10, router_rate=PEAK["cluster"]),
    "load, 100 shards, a network of 10 Gb/s and nothing else":
        weather("cluster", "load", LOAD, network=si("weather", "cluster", "network")),
    "index {ts, st}, one server, by the cost in the cluster (5 min)": weather("one server", "index", INDEX, **index_us("cluster", 100)),
    "index {ts, st}, 100 shards, by the cost on one server (7.66 h)": weather("cluster", "index", INDEX, **index_us("one server", 1)),
    "data for one of memory, one server": weather("one server", "data to memory", "data_to_memory", **MEMORY),
    "disks for one of memory, one server": weather("one server", "disks to memory", "disk_to_memory", **MEMORY),
    "a year of one server, at the price that the next study tells of that machine":
        weather("one server", "a year", "price_per_year", price=si("petabyte instances", "i2.8xlarge", "price")),
}

PETABYTE = {"documents": int(si("petabyte", "objects", "figure")), "document_bytes": si("petabyte", "avgObjSize", "figure"),
            "routers": 0, "loaders": 1, "ratio": 1, "log_ratio": 1e-9, "even": True, **FREE}
SHARDS, SPINNING, SSD, EBS = int(text("petabyte", "shards", "figure")), "hs1.8xlarge", "i2.8xlarge", "r3.8xlarge, EBS"

RATE = text("petabyte", "MB/s of a server", "figure") + "MB"


def petabyte(servers, figure, *at, **options):
    return {**PETABYTE, "shards": SHARDS, "servers": servers, "server_rate": RATE, **options}, figure, at, 1


def ssd(figure, column):
    servers = int(text("petabyte expected", SSD, "servers"))
    return {**PETABYTE, "shards": servers, "servers": servers, "disk": text("petabyte instances", SSD, "GB/s") + "GB",
            "server_rate": RATE, "price": text("petabyte instances", SSD, "price")}, figure, ("petabyte expected", SSD, column), 1


def one_petabyte(kind, figure, column):
    at = TABLES["petabyte instances"]["rows"][kind]
    return {"documents": "1g", "document_bytes": 1e6, "ratio": 1, "disk_size": at["TB"] + "TB", "price": at["price"],
            "iops": int(1000 * float(at["kIOPS"])), "disk": at["GB/s"] + "GB"}, figure, ("petabyte instances", kind, column), 1


COST = {"price": text("petabyte instances", SPINNING, "price")}
A_PETABYTE = {
    "load, 24 servers, the shortest time that is told": petabyte(24, LOAD, "petabyte load", "load", "shortest"),
    "load, 27 servers": petabyte(27, LOAD, "petabyte load", "load", "shortest"),
    "load, 30 servers": petabyte(30, LOAD, "petabyte load", "load", "shortest"),
    "load, 24 servers, the longest": petabyte(24, LOAD, "petabyte load", "load", "longest"),
    "load, 27 servers, the longest": petabyte(27, LOAD, "petabyte load", "load", "longest"),
    "load, 30 servers, the longest": petabyte(30, LOAD, "petabyte load", "load", "longest"),
    "load, four shards a server: 54 servers": petabyte(54, LOAD, "petabyte load", "load", "shortest"),
    "load again, 27 servers: under 24 h": petabyte(27, LOAD, "petabyte load", "again", "load"),
    "its cost: roughly 3,000 $": petabyte(27, "cost", "petabyte load", "again", "cost", **COST),
    "load, 27 servers, as expected beforehand": petabyte(27, LOAD, "petabyte expected", SPINNING, "load"),
    "its cost, as expected beforehand": petabyte(27, "cost", "petabyte expected", SPINNING, "cost", **COST),
    "load, 160 servers of 8 SSDs, as expected": ssd(LOAD, "load"),
    "its cost, as expected": ssd("cost", "cost"),
    "bytes of two indexes of int64": petabyte(27, "index_bytes", "petabyte", "indexSize", "figure", index=["_id:1=8", "z:1=8"]),
    "an hour for 1 PB, network disks": one_petabyte(EBS, "needed_price_per_hour", "petabyte"),
    "an hour for 1 PB, 8 SSDs": one_petabyte(SSD, "needed_price_per_hour", "petabyte"),
    "an hour for 1 PB, 24 spinning disks": one_petabyte(SPINNING, "needed_price_per_hour", "petabyte"),
    "an operation at full speed, network disks": one_petabyte(EBS, "operation_bytes", "operation"),
    "an operation at full speed, 8 SSDs": one_petabyte(SSD, "operation_bytes", "operation"),
}

# ---------------------------------------------------------------------------------------------------- the tests

PAGE = (ROOT / "docs/planning.md").read_text()
# what the page says in sentences: the figure, as it is written there
TOLD = [("mot data", "data", "documents"), ("mot data", "data", "BSON"), ("mot data", "host", "memory"), ("mot data", "host", "reads"),
        ("petabyte", "objects", "figure"), ("petabyte", "avgObjSize", "figure"), ("petabyte", "MB/s of a server", "figure"), ("petabyte load", "load", "IOPS"),
        ("weather", "data", "documents"), ("weather", "data", "document"), ("weather", "data", "with indexes"),
        ("petabyte", "shards", "figure")]


def shown_off(off):
    return "**%+.0f %%**" % (100 * off) if abs(off) > 0.15 else ("%+.1f %%" % (100 * off)).replace("-0.0", "0.0").replace("+0.0", "0.0")


class Plan(unittest.TestCase):
    maxDiff = None

    def check(self, head, lines):
        """a table of the page has these lines, with the figures that the studies tell and the plan finds"""
        rows = next(rows for at, rows in tables(PAGE.partition("**%s" % head)[2]) if at[0] == "line")
        self.assertEqual(list(lines), [row[0] for row in rows])
        for line, reported, found, off in rows:
            options, figure, at, unit = lines[line]
            said = plan(**options)
            value = figure(said) if callable(figure) else said[figure]
            wanted = number(text(*at)) * unit
            with self.subTest(line=line, plan=value, off=shown_off(value / wanted - 1)):
                self.assertAlmostEqual(1, number(reported) / wanted, delta=0.001)
                self.assertAlmostEqual(1, number(found) / value, delta=0.012)
                self.assertEqual(shown_off(value / wanted - 1), off)

    def test_vehicle_tests(self):
        self.check("Vehicle tests, 2015", VEHICLES)

    def test_weather(self):
        self.check("Weather of a century, 2014", CENTURY)

    def test_petabyte(self):
        self.check("A petabyte, 2014", A_PETABYTE)

    def test_instances(self):
        """the table of instances: what was published of each, and what the plan makes of it"""
        rows = next(rows for head, rows in tables(PAGE) if head[0] == "instance")
        self.assertEqual(list(TABLES["petabyte instances"]["rows"]), [row[0] for row in rows])
        for name, *cells in rows:
            at = TABLES["petabyte instances"]["rows"][name]
            said = plan(**one_petabyte(name, "", "")[0])
            found = [at["TB"], at["kIOPS"], at["GB/s"], at["price"], "%.0f" % said["servers_needed"],
                     "{:,.2f}".format(said["needed_price_per_hour"]), "{:,.0f}".format(said["needed_price_per_year"])]
            self.assertEqual(found, cells[:7], name)
            self.assertAlmostEqual(1, number(cells[7]) / said["operation_bytes"], delta=0.005)

    def test_too_few_servers(self):
        """22 servers of 46 TB cannot hold the petabyte, though a price of 101 an hour is that of 22"""
        files = si("petabyte", "fileSize", "figure")
        options = {**PETABYTE, "document_bytes": files / PETABYTE["documents"], "shards": SHARDS, "servers": 22, "disk_size": "46TB"}
        self.assertEqual(24, plan(**options)["servers_needed"])
        status, out, _ = tipple("plan", *words_of(options))
        self.assertEqual(0, status)
        self.assertIn(b"\n22 servers cannot hold it all, 24 can\n", out)

    def test_sentences(self):
        """figures that the page tells outside of tables are the published ones"""
        for at in TOLD:
            self.assertIn(text(*at), PAGE, at)

    def test_own(self):
        """this project's own rates, of loads that share two cores with their servers (docs/performance.md)"""
        for rate, options in ((809e3, {"documents": "2m", "document_bytes": 156, "cores": 2}),
                              (244e3, {"documents": "1m", "document_bytes": 1413, "cores": 2}),
                              (220e3, {"documents": "800k", "document_bytes": 156, "shards": 2, "servers": 1, "cores": 2})):
            found = plan(**options, routers=0, loaders=0)["documents_per_second"]
            self.assertAlmostEqual(1, found / rate, delta=0.05, msg=options)


MOT_RATIOS = ["engine, options", "query", "published", "load", "published"]


class Elsewhere(unittest.TestCase):
    def test_suites(self):
        """what a suite prints as published is what the file has"""
        ways, rows = TABLES["obd ways"]["rows"], 0
        for suite, prefix in (("obd", ""), ("obd-stored", "stored ")):
            shown = tipple("query", "--show", suite)[1].decode()
            for size, cells in re.findall(r"^      (10*): \{(.*)\}$", shown, re.M):
                for cell in cells.split(", "):
                    name, _, figure = cell.partition(": ")
                    self.assertIn(figure, (ways[size].get(prefix + name), ways[size].get("iMac stored " + name)), cell)
                rows += 1
        self.assertEqual(4 * 7 - 1, rows)
        shown = tipple("query", "--show", "ycsb")[1].decode()
        found = [number(figure) for figure in re.findall(r'published: \{[^{]*\{[\w-]+: "?([\d.,]+)"?\}', shown)]
        self.assertEqual([si("petabyte", "millis", "figure"), si("petabyte", "FindOne/s", "figure")], found)
        shown, petabyte = tipple("query", "--show", "ycsb")[1].decode(), TABLES["petabyte"]["rows"]
        self.assertEqual([petabyte[row]["figure"].replace(",", "") for row in ("millis", "FindOne/s")],
                         re.findall(r"published: \{.*: \{[\w-]+: \"?(\d+)", shown))

    def test_pages(self):
        """so is what stands in a column of a study's page that is called published"""
        seen = 0
        for name, of in (("mot", ["mot configurations"]), ("obd", ["obd ways"]), ("secondaries", ["secondary reads"])):
            rows = {row.replace(",", ""): set(cells.values()) for table in of for row, cells in TABLES[table]["rows"].items()}
            if name == "secondaries":
                rows = {threads: {cells[threads] for cells in TABLES[of[0]]["rows"].values()} for threads in ("8", "16", "32", "64")}
            for head, lines in tables((ROOT / "docs/studies" / (name + ".md")).read_text()):
                columns = [at for at, title in enumerate(head) if title.startswith("published") and head[1:3] != ["here", "published"]]
                if head[0] == "ratio" or head == MOT_RATIOS:
                    continue
                for line in lines:
                    for at in columns:
                        self.assertIn(line[at], rows[line[0].replace(",", "")] | {"-"}, (name, line[0], head[at - 1]))
                        seen += 1
        self.assertGreater(seen, 80)

    def test_ratios(self):
        """a published ratio of ways is the quotient of the two published figures, to two digits"""
        columns = {"Map Reduce": "map-reduce", "Map Reduce, jsMode": "map-reduce-js", "Map Reduce 2": "stored map-reduce",
                   "list": "list", "accumulators": "accumulators", "whole documents": "whole"}
        page = (ROOT / "docs/studies/obd.md").read_text()
        lines = [line for head, lines in tables(page) if head[0] == "ratio" for line in lines]
        for ways, documents, _, published in lines:
            over, under = (float(TABLES["obd ways"]["rows"][documents.replace(",", "")][columns[way]].split()[0])
                           for way in ways.split(" / "))
            self.assertAlmostEqual(over / under, float(published), delta=0.005001, msg=(ways, documents))
        self.assertEqual(10, len(lines))
        rows, first = TABLES["mot configurations"]["rows"], TABLES["mot configurations"]["rows"]["WiredTiger zlib"]
        lines = [line for head, lines in tables((ROOT / "docs/studies/mot.md").read_text()) if head == MOT_RATIOS for line in lines]
        for name, _, query, _, load in lines:
            for column, published in (("query", query), ("load min", load)):
                over, under = (number(row[column]) for row in (rows[name], first))
                self.assertAlmostEqual(over / under, float(published), delta=0.005001, msg=(name, column))
        self.assertEqual(5, len(lines))

    def test_places(self):
        """each published table names its article and the place in it"""
        for name, table in TABLES.items():
            self.assertRegex(table["article"], r"\(20\d\d\)$", name)
            self.assertTrue(table["where"] and table["unit"] and table["rows"], name)


if __name__ == "__main__":
    unittest.main()
