"""Frames and dicts, loaded and compared on a real server: pymongo reads every document back, and it is what to_pylist() of pyarrow
says by the table of docs/types.md, which is written here a second time.
needs: standalone; labels: quick"""
import datetime
import decimal
import logging
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import textwrap
import unittest.mock
import uuid

import lab
import live

if not lab.VENV.exists():
    print("skipped: build/venv is not there; tools/test makes it, as build/logs/venv.log says")
    sys.exit(77)
if pathlib.Path(sys.prefix) != lab.VENV.parents[1]:
    os.execv(lab.VENV, [str(lab.VENV), *sys.argv])
try:
    import bson
    import duckdb
    import pandas
    import polars
    import pyarrow as pa
    import pymongo
except ImportError as problem:
    print("skipped: %s; rm -r build/venv, and tools/test makes it again" % problem)
    sys.exit(77)

ROWS = 120
SIZES = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = datetime.datetime(1970, 1, 1)


def setUpModule():
    lab.install()
    global tipple
    import tipple
    logging.getLogger("tipple").addHandler(logging.NullHandler())


# ---- the table of types ----

class ObjectIds(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.binary(12), "pymongoarrow.objectid")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, *_):
        return cls()


def document(fields, row, keep):
    """Of a row, or of a struct: fields that are null are left out."""
    return {field.name: stored(field.type, row[field.name], keep) for field in fields if keep or row[field.name] is not None}


def moment(value):
    """Without a zone, in UTC, and without digits below a millisecond."""
    if isinstance(value, pandas.Timestamp):
        value = value.floor("us").to_pydatetime()
    if value.tzinfo:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def stored(kind, value, keep=False):
    """What a document has of a value of to_pylist()."""
    of = pa.types
    if value is None:
        return None
    if of.is_union(kind):
        (kind,) = (field.type for field in kind if of.is_string(field.type) == isinstance(value, str))
    if of.is_dictionary(kind) or of.is_run_end_encoded(kind):
        return stored(kind.value_type, value, keep)
    if of.is_int64(kind) or of.is_uint32(kind) or of.is_uint64(kind):
        return bson.Int64(value)
    if of.is_floating(kind):
        return float(value)
    if of.is_decimal(kind):
        return bson.Decimal128(value)
    if kind == pa.uuid():
        return bson.Binary(value.bytes, 4)
    if kind == ObjectIds():
        return bson.ObjectId(value)
    if of.is_date(kind):
        return datetime.datetime(value.year, value.month, value.day)
    if of.is_timestamp(kind):
        return moment(value)
    if of.is_time(kind):
        return value.strftime("%H:%M:%S.%f")
    if of.is_duration(kind):
        return bson.Int64(value // datetime.timedelta(microseconds=1) * SIZES[kind.unit] // 10**6)
    if of.is_struct(kind):
        return document(kind, value, keep)
    if of.is_map(kind) and of.is_string(kind.key_type):
        return {key: stored(kind.item_type, item, keep) for key, item in value}
    if of.is_map(kind):
        return [{"key": stored(kind.key_type, key, keep), "value": stored(kind.item_type, item, keep)} for key, item in value]
    if isinstance(value, list):
        return [stored(kind.value_type, item, keep) for item in value]
    return value


# ---- made frames ----

def several(make, least=0, most=3):
    return lambda chance: [make(chance) for _ in range(chance.randint(least, most))]


def integer(bits, signed):
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << min(bits, 63)) - 1)
    return lambda chance: chance.choice([least, most, 0, 1, chance.randint(least, most)])


def digits(precision, scale):
    return lambda chance: decimal.Decimal(chance.randint(-10**precision + 1, 10**precision - 1)).scaleb(-scale, context)


def floating(chance):
    return chance.choice([0.0, -0.0, float("inf"), float("nan"), chance.uniform(-1, 1), chance.uniform(-60000, 60000)])


def text(chance):
    return "".join(chance.choice("abz é漢\0\n😀") for _ in range(chance.choice([0, 1, 5, 20, 300])))


def key(chance):
    return "k%d" % chance.randrange(1000)


def moments(chance):
    return EPOCH + datetime.timedelta(seconds=chance.randint(-3 * 10**9, 5 * 10**9), microseconds=chance.choice([0, 1000, 999, 1001, 999999]))


def second(chance):
    return moments(chance).replace(microsecond=0)


def distinct(make, value=lambda chance: chance.choice([None, "x", text(chance)])):
    """Pairs of a map without a key twice."""
    return lambda chance: list({make(chance): value(chance) for _ in range(3)}.items())


context = decimal.Context(prec=60)
word, small = text, integer(32, True)
PLAIN = [
    *((pa_type, integer(bits, True)) for pa_type, bits in ((pa.int8(), 8), (pa.int16(), 16), (pa.int32(), 32), (pa.int64(), 64))),
    *((pa_type, integer(bits, False)) for pa_type, bits in ((pa.uint8(), 8), (pa.uint16(), 16), (pa.uint32(), 32), (pa.uint64(), 64))),
    *((kind, floating) for kind in (pa.float16(), pa.float32(), pa.float64())),
    (pa.decimal32(9, 2), digits(9, 2)), (pa.decimal64(18, 0), digits(18, 0)), (pa.decimal128(34, 10), digits(34, 10)),
    (pa.decimal256(40, 3), digits(34, 3)), (pa.bool_(), lambda chance: chance.random() < 0.5), (pa.null(), lambda chance: None),
    *((kind, word) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *((kind, lambda chance: text(chance).encode()) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())),
    (pa.binary(5), lambda chance: chance.randbytes(5)), (pa.uuid(), lambda chance: uuid.UUID(int=chance.getrandbits(128)).bytes),
    (ObjectIds(), lambda chance: chance.randbytes(12)),
    *((kind, lambda chance: moments(chance).date()) for kind in (pa.date32(), pa.date64())),
    *((pa.timestamp(unit, zone), second if unit == "s" else moments if unit != "ms" else second) for unit in SIZES
      for zone in (None, "UTC", "+05:30")),
    *((pa.time32(unit), lambda chance: second(chance).time()) for unit in ("s", "ms")),
    *((pa.time64(unit), lambda chance: moments(chance).time()) for unit in ("us", "ns")),
    *((pa.duration(unit), lambda chance: second(chance) - EPOCH) for unit in SIZES),
    *((make_list(pa.string()), several(word)) for make_list in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view)),
    (pa.list_(pa.float64(), 3), several(floating, 3, 3)), (pa.list_(pa.list_(pa.uint32())), several(several(integer(32, False)))),
    (pa.struct([("a", pa.int8()), ("é", pa.struct([("b", pa.string())]))]),
     lambda chance: {"a": chance.choice([None, 3]), "é": chance.choice([None, {}, {"b": text(chance)}])}),
    (pa.list_(pa.struct([("day", pa.timestamp("us")), ("of", pa.list_(pa.int64()))])),
     several(lambda chance: {"day": moments(chance), "of": chance.choice([None, [1, None]])})),
    (pa.map_(pa.string(), pa.string()), distinct(key)), (pa.map_(pa.int32(), pa.large_string()), distinct(small, text)),
    (pa.dictionary(pa.int8(), pa.string()), lambda chance: chance.choice("abc")),
    (pa.dictionary(pa.uint32(), pa.int64()), lambda chance: chance.choice([1, 2**40])),
]


def array(kind, make, chance, count):
    values = [None if chance.random() < 0.15 else make(chance) for _ in range(count)]
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def odd_arrays(chance, count):
    """Of types that pa.array does not make."""
    which = pa.array([chance.randrange(2) for _ in range(count)], pa.int8())
    numbers, words = pa.array(range(count), pa.int64()), pa.array([text(chance) for _ in range(count)])
    yield pa.UnionArray.from_sparse(which, [numbers, words])
    yield pa.UnionArray.from_dense(which, pa.array([chance.randrange(count) for _ in range(count)], pa.int32()), [numbers, words])
    yield pa.RunEndEncodedArray.from_arrays(pa.array([3, 50, count], pa.int32()), pa.array(["a", None, "c"]))


def made(seed, count=ROWS):
    chance = random.Random(seed)
    arrays = [array(kind, make, chance, count) for kind, make in PLAIN] + list(odd_arrays(chance, count))
    names = ["%d %s" % (number, str(one.type)[:20].replace(".", "_")) for number, one in enumerate(arrays)]
    return pa.table([pa.array(range(count), pa.int64()), *arrays], ["row", *names])


def small_table(count=1000):
    return pa.table([pa.array(range(count), pa.int64()), pa.array(["word %d" % row for row in range(count)], pa.string())], ["row", "word"])


class Case(live.Case):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.folder)  # reject files are made there
        self.addCleanup(os.chdir, before)
        reader = pymongo.MongoClient(live.URI)
        self.addCleanup(reader.close)
        self.results = reader[self.database].results

    def fails(self, kind, words, call, *arguments, **options):
        with self.assertRaisesRegex(kind, words) as raised:
            call(*arguments, **options)
        self.assertIs(kind, type(raised.exception))
        return raised.exception

    def has(self, wanted):
        """the collection, byte by byte, in the order of the column `row`"""
        found = list(self.results.find(sort=[("row", 1)]))
        self.assertEqual(len(wanted), len(found))
        for one, other in zip(wanted, found):
            if "_id" not in one:
                del other["_id"]
            if bson.encode(one) != bson.encode(other):
                differ = [name for name in {**one, **other} if bson.encode({"": one.get(name)}) != bson.encode({"": other.get(name)})]
                self.fail("row %d: %r" % (one["row"], [(name, one.get(name), other.get(name)) for name in differ] or (list(one), list(other))))

    def loads(self, frame, table, keep=False, **options):
        result = tipple.load(frame, self.uri(), name="rows", **options)
        self.assertEqual((table.num_rows, 0), (result.loaded, result.rejected))
        self.has([document(table.schema, row, keep) for row in table.to_pylist()])
        return result


class Types(Case):
    def test_all(self):
        """each type of the table, twice, with nulls left out and kept; and compared by verify"""
        for seed, keep in (1, False), (2, True):
            table = made(seed)
            options = {"nulls": "keep"} if keep else {}
            self.loads(table, table, keep, drop=True, **options)
            self.assertTrue(tipple.verify(table, self.uri(), name="rows", **options).ok)

    def test_parts(self):
        """slices, arrays in chunks, batches of any size, a generator, and an iterable of batches give the same documents"""
        whole = made(3, 200)
        part = whole.slice(13, 131)
        cuts = [0, 1, 1, 40, 77, 131]
        chunks = pa.concat_tables([whole.slice(13 + first, after - first) for first, after in zip(cuts, cuts[1:])])
        self.loads(part, part, drop=True)
        batches = chunks.to_batches()
        for frame in (chunks, pa.RecordBatchReader.from_batches(chunks.schema, (batch for batch in batches)),
                      part.combine_chunks(), (batch for batch in batches), batches, [part.slice(0, 5), part.slice(5)]):
            again = tipple.load(frame, self.uri(), name="rows")
            self.assertEqual((0, 131), (again.read, again.records_skipped))

    def test_empty(self):
        for frame in (small_table(0), pa.table({}), pa.RecordBatchReader.from_batches(small_table(0).schema, iter(())),
                      polars.DataFrame({"row": []}), pandas.DataFrame({"row": []}), iter(()), (row for row in [])):
            result = tipple.load(frame, self.uri("empty"))
            self.assertEqual((0, 0, True), (result.read, result.loaded, result.ok))
        self.assertEqual(0, self.client.count(self.database, "empty"))

    def test_wide(self):
        table = pa.table({"row": pa.array([0, 1], pa.int64()), **{"column %d" % number: [number, None] for number in range(2000)}})
        self.loads(table, table)

    def test_nanoseconds(self):
        """which the classes of Python do not have"""
        table = pa.table({"time": pa.array([1, 86399999999999, None], pa.time64("ns")), "at": pa.array([-1, 10**6, None], pa.timestamp("ns"))})
        tipple.load(table, self.uri(), name="rows")
        self.assertEqual([("00:00:00.000000001", EPOCH - datetime.timedelta(milliseconds=1)),
                          ("23:59:59.999999999", EPOCH + datetime.timedelta(milliseconds=1)), (None, None)],
                         [(one.get("time"), one.get("at")) for one in self.results.find(sort=[("_id", 1)])])

    def test_polars(self):
        frame = polars.DataFrame({
            "row": [0, 1, 2], "text": ["a", None, "é" * 40], "number": [1.5, None, float("nan")], "list": [[1, None], [], None],
            "struct": [{"a": 1, "b": "x"}, {"a": None, "b": "y"}, None], "day": [datetime.date(2024, 2, 29), None, datetime.date(1600, 1, 1)],
            "at": [EPOCH, None, datetime.datetime(2024, 1, 1, 1, 2, 3, 4000)], "time": [datetime.time(1, 2, 3), None, datetime.time(23, 59, 59)],
            "for": [datetime.timedelta(1), None, datetime.timedelta(-1)], "price": [decimal.Decimal("1.50"), None, decimal.Decimal("-0.01")],
            "bytes": [b"\0", None, b""], "flag": [True, None, False], "none": [None, None, None]}).with_columns(
                polars.Series("enum", ["a", "b", None], dtype=polars.Enum(["a", "b"])),
                polars.Series("category", ["x", None, "x"], dtype=polars.Categorical))
        self.loads(frame, frame.to_arrow())

    def test_pandas(self):
        frame = pandas.DataFrame({
            "row": [0, 1, 2], "text": ["a", None, "é"], "number": [1.5, float("nan"), 2], "whole": pandas.array([1, None, 3], dtype="Int64"),
            "flag": pandas.array([True, None, False], dtype="boolean"), "category": pandas.Categorical(["x", None, "y"]),
            "at": pandas.to_datetime(["2024-01-01 01:02:03.004", None, "1969-12-31 23:59:59.999"]).tz_localize("Europe/Paris"),
            "list": [[1, 2], [], None]})
        self.loads(frame, pa.Table.from_pandas(frame))

    def test_duckdb(self):
        query = """SELECT range AS row, 'word ' || range AS word, range / 7 AS number, [range, NULL] AS list, {'a': (range % 100)::TINYINT} AS struct,
            DATE '2024-02-29' + range::INTEGER AS day, TIMESTAMP '2024-02-29 01:02:03.004' AS at, (range / 4)::DECIMAL(9, 2) AS price,
            (range % 200)::UTINYINT AS small, 'ab'::BLOB AS bytes, CASE range % 3 WHEN 0 THEN 'a' END::ENUM ('a', 'b') AS enum,
            MAP {'k': range} AS map FROM range(5000)"""
        table = duckdb.sql(query).to_arrow_table()
        self.assertIn("word", table.column_names)
        self.loads(duckdb.sql(query), table)


class Misfits(Case):
    def setUp(self):
        super().setUp()
        self.frame = pa.table({"row": pa.array(range(4), pa.int64()), "number": pa.array([1, 2**63, None, 2**64 - 1], pa.uint64())})

    def test_text(self):
        with self.assertLogs("tipple", "INFO") as heard:
            result = tipple.load(self.frame, self.uri(), name="rows")
        self.assertEqual((4, 2), (result.loaded, result.values_kept_as_text))
        self.assertRegex("\n".join(heard.output), "column 'number'.* row 2")
        self.has([{"row": bson.Int64(0), "number": bson.Int64(1)}, {"row": bson.Int64(1), "number": str(2**63)}, {"row": bson.Int64(2)},
                  {"row": bson.Int64(3), "number": str(2**64 - 1)}])
        table = pa.table({"at": pa.array([1, 1001, 2000], pa.timestamp("us"))})
        with self.assertLogs("tipple", "INFO") as heard:
            tipple.load(table, self.uri("cut"))
        self.assertRegex("\n".join(heard.output), "'at': 2 times lost digits .* row 1")

    def test_null(self):
        self.assertEqual(4, tipple.load(self.frame, self.uri(), name="rows", on_bad_value="null").loaded)
        self.assertEqual(2, self.client.count(self.database, "results", {"number": {"$type": "null"}}))
        self.assertTrue(tipple.verify(self.frame, self.uri(), name="rows", on_bad_value="null").ok)

    def test_reject(self):
        """the rows keep their numbers; corrected in the reject file, they are loaded"""
        result = tipple.load(self.frame, self.uri(), name="rows", on_bad_value="reject")
        self.assertEqual((2, 2, 2, False), (result.loaded, result.rejected, result.status, result.ok))
        rejects = pathlib.Path(result.rejects)
        self.assertRegex(rejects.read_text(), r"rows:2:18: [^\n]*\n[^\n]*\$symbol")
        lines = rejects.read_text()
        for number in 2**63, 2**64 - 1:
            lines = lines.replace('{"$symbol":"%d"}' % number, "7").replace('{ "$symbol" : "%d" }' % number, "7")
        rejects.write_text(lines)
        tipple.run("load", "--retry", rejects, "--format", "arrow1", uri=self.uri())
        self.assertEqual([1, 7, None, 7], [one.get("number") for one in self.results.find(sort=[("row", 1)])])

    def test_stop(self):
        failed = self.fails(tipple.InputError, "'number', row 2.*stop", tipple.load, self.frame, self.uri(), on_bad_value="stop")
        self.assertRegex(failed.sentence, r"'frame-\d{16}'\)$")
        self.fails(tipple.UsageError, "on-bad-value: 'x'", tipple.load, self.frame, self.uri(), on_bad_value="x")

    def test_ids(self):
        """a column _id is the document's own"""
        table = pa.table({"_id": ["a", "b"], "row": pa.array([0, 1], pa.int64())})
        self.loads(table, table)
        self.assertTrue(tipple.verify(table, self.uri(), name="rows").ok)


class Names(Case):
    def test_drawn(self):
        """each call is a new input; by its name a load is completed and compared"""
        table = small_table()
        one, other = tipple.load(table, self.uri()), tipple.load(table, self.uri())
        self.assertEqual(2000, self.client.count(self.database, "results"))
        self.assertNotEqual(one.input_name, other.input_name)
        self.assertRegex(one.input_name, r"^frame-\d{16}$")
        self.assertIn(one.input_name, repr(one))
        self.assertEqual(0, tipple.load(table, self.uri(), name=one.input_name).read)
        self.assertTrue(tipple.verify(table, self.uri(), name=one.input_name).ok)

    def test_exceptions(self):
        def broken():
            yield small_table(3)
            raise ZeroDivisionError("own words")
        failed = self.fails(ZeroDivisionError, "own words", tipple.load, broken(), self.uri())
        self.assertRegex(failed.__notes__[0], r"'frame-\d{16}'$")
        schema = small_table(0).schema
        reader = pa.RecordBatchReader.from_batches(schema, (batch for table in broken() for batch in table.to_batches()))
        failed = self.fails(tipple.InputError, r"producer.*own words[^$]*'frame-\d{16}'\)$", tipple.load, reader, self.uri())
        self.assertEqual(failed.result.input_name, failed.sentence[-24:-2])
        self.fails(tipple.ServerError, r"'frame-\d{16}'\)$", tipple.load, small_table(), "mongodb://127.0.0.1:1/a.b", patience="100ms")

    def test_another(self):
        """another frame under a used name is refused, and nothing is lost; the same rows in another frame are not another one"""
        table = small_table()
        tipple.load(table, self.uri(), name="rows")
        self.fails(tipple.InputError, "rows.*another stream|another stream.*rows", tipple.load, small_table(999), self.uri(), name="rows")
        self.assertEqual(0, tipple.load(polars.DataFrame(table), self.uri(), name="rows").read)
        self.assertEqual(1000, self.client.count(self.database, "results"))

    def test_verify(self):
        """finds what was changed, and what is missing"""
        table = small_table()
        tipple.load(table, self.uri(), name="rows")
        self.results.update_one({"row": 500}, {"$set": {"word": "other"}})
        self.results.delete_one({"row": 501})
        found = tipple.verify(table, self.uri(), name="rows")
        self.assertEqual((False, 7, 1), (found.ok, found.status, found.missing))
        self.fails(tipple.UsageError, "give name=", tipple.verify, table, self.uri())
        self.fails(tipple.UsageError, "nope is not in the catalog", tipple.verify, table, self.uri(), name="nope")
        self.fails(tipple.UsageError, "nulls: 'x'", tipple.verify, table, self.uri(), name="rows", nulls="x")

    def test_pushed(self):
        """frames into one load; bytes do not go with them"""
        with tipple.Load(self.uri(), name="rows") as load:
            load.push(small_table(10))
            load.push(polars.DataFrame(small_table(20)).slice(10))
        self.assertEqual(20, load.result.loaded)
        self.assertEqual(0, tipple.load(small_table(20), self.uri(), name="rows").read)
        with tipple.Load(self.uri()) as load:
            load.push(small_table(5))
        self.assertRegex(load.result.input_name, r"^frame-\d{16}$")
        load = tipple.Load(self.uri(), name="mixed")
        load.push(small_table(5))
        load.push(b"text")
        self.fails(tipple.UsageError, "of another kind", load.finish)
        load, table = tipple.Load(self.uri(), name="itself"), small_table(5)

        def finishes():
            yield from table.to_batches()
            load.finish()
        self.fails(tipple.InputError, "can neither push into this load nor finish it", load.push,
                   pa.RecordBatchReader.from_batches(table.schema, finishes()))

    def test_refused(self):
        class Old:  # pandas before 2.2
            columns = ["a"]

            def __iter__(self):
                return iter(self.columns)

        class Used:
            def __init__(self, table):
                self.capsule = table.__arrow_c_stream__()

            def __arrow_c_stream__(self, requested_schema=None):
                return self.capsule
        used = Used(small_table())
        tipple.load(used, self.uri("used"))
        load, uri = tipple.load, self.uri()
        self.fails(tipple.InputError, "read already", load, used, uri)
        self.fails(tipple.UsageError, r"\.collect\(\) first", load, polars.LazyFrame({"a": [1]}), uri)
        self.fails(tipple.UsageError, "pandas has it from 2.2", load, Old(), uri)
        self.fails(tipple.UsageError, "of the type set_item|of the type int", load, {5}, uri)
        self.fails(tipple.UsageError, "of the type dict", load, {"a": 1}, uri)
        self.fails(tipple.InputError, "batch 2 is of the type int", load, [small_table(), 5], uri)
        self.fails(tipple.InputError, "single values", load, pa.chunked_array([[1]]), uri)
        self.fails(tipple.InputError, "pandas.DataFrame.*Could not convert", load, pandas.DataFrame({"a": [1, "x"]}), uri)
        self.fails(tipple.InputError, "both called 'a'", load, pa.table([[1], [2]], ["a", "a"]), uri)
        self.fails(tipple.InputError, "'a'.*interval", load, pa.table({"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}), uri)
        self.fails(tipple.UsageError, "arrow1: set no other", load, small_table(), uri, format="bson")
        self.assertEqual(0, self.client.count(self.database, "results"))


class Dicts(Case):
    def test_dicts(self):
        """generators, lists, cursors; a second time; compared"""
        rows = [{"row": row, "word": "é" * (row % 5), "at": EPOCH, "of": [None, {"x": 1.5}], "raw": b"\0"} for row in range(8000)]
        self.assertEqual(8000, tipple.load((row for row in rows), self.uri(), name="rows").loaded)
        self.has(rows)
        self.assertEqual(0, tipple.load(rows, self.uri(), name="rows").read)
        self.assertTrue(tipple.verify(rows, self.uri(), name="rows").ok)
        copied = tipple.load(self.results.find().sort("row"), self.uri("copy"))
        self.assertEqual(8000, copied.loaded)
        self.results = self.results.database.copy
        self.has(list(self.results.database.results.find(sort=[("row", 1)])))

    def test_refused(self):
        self.fails(tipple.InputError, "row 2 is of the type int", tipple.load, [{"a": 1}, 5], self.uri())
        self.fails(tipple.InputError, "row 2 cannot be a document: .*8-byte", tipple.load, [{"a": 1}, {"a": 2**64}], self.uri())
        with unittest.mock.patch.dict(sys.modules, {"bson": None}):
            self.fails(tipple.HostError, "pip install pymongo", tipple.load, [{"a": 1}], self.uri())


class Pages(Case):
    def setUp(self):
        super().setUp()
        self.frame = pandas.DataFrame({"item": ["ink", "glue", "ink"], "price": [decimal.Decimal("1.50"), None, decimal.Decimal("3.00")]})

    def runs(self, program):
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(lab.MODULE)}, capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_page(self):
        """the program of docs/python.md, as printed"""
        page = (live.ROOT / "docs/python.md").read_text()
        block = re.search(r"test_frames\.py runs it -->\n((?:    .*\n|\n)+)", page)[1]
        self.frame.to_parquet("may.parquet")
        address = "mongodb://127.0.0.1/shop.tables"
        self.assertIn(address, block)
        self.assertEqual("True\n", self.runs(textwrap.dedent(block).replace(address, self.uri("tables"))))
        self.assertEqual([2 + 3 * 3 + 2, 1000], [self.client.count(self.database, name) for name in ("tables", "dicts")])

    def test_refusals(self):
        """what the command says of Parquet and Arrow is a line that loads them, with their types"""
        self.frame.to_parquet("frame.parquet")
        self.frame.to_feather("frame.feather")
        for name in "frame.parquet", "frame.feather":
            said = self.tipple("load", name, "--uri", self.uri(name), status=5).stderr
            program = re.search(r'python3 -c "([^"]*)"', said)[1]
            self.runs(program.replace("FILE", name).replace("URI", self.uri(name)))
            self.assertEqual(2, self.client.count(self.database, name, {"price": {"$type": "decimal"}}))


class Ends(Case):
    """A load that ends in the middle, and the same call again."""
    ROWS = 20000
    PROGRAM = """
import signal, sys, pyarrow as pa, tipple
signal.signal(signal.SIGINT, signal.default_int_handler)
def progress(documents, size):
    if documents:
        print("under way", flush=True)
table = pa.table({"row": pa.array(range(20000), pa.int64()), "word": ["word %%d" %% row for row in range(20000)]})
frame = %s
try:
    tipple.load(frame, sys.argv[1], name="rows", progress=progress, max_rate="2k")
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(tipple.load(table, sys.argv[1], name="rows").ok, flush=True)
"""

    def begin(self, frame):
        process = lab.begin(self.PROGRAM % frame, self.uri(), python=[sys.executable])
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual("under way\n", process.stdout.readline(), process.poll() is not None and process.stderr.read())
        return process

    def whole(self):
        table = small_table(self.ROWS)
        self.has([document(table.schema, row, False) for row in table.to_pylist()])

    def test_killed(self):
        process = self.begin("table")
        process.kill()
        process.wait()
        before = self.client.count(self.database, "results")
        self.assertLess(before, self.ROWS)
        result = tipple.load(small_table(self.ROWS), self.uri(), name="rows")
        self.assertEqual(self.ROWS, result.read + result.records_skipped)
        self.whole()

    def test_interrupted(self):
        """a table, a generator in Python, and batches"""
        for frame in "table", "pa.RecordBatchReader.from_batches(table.schema, (b for b in table.to_batches(100)))", "table.to_batches(1000)":
            self.client.drop_database(self.database)
            process = self.begin(frame)
            process.send_signal(signal.SIGINT)
            out, said = process.communicate(timeout=live.LONG)
            self.assertEqual("interrupted\nTrue\n", out.replace("under way\n", ""), said)
            self.whole()


if __name__ == "__main__":
    live.main()
