"""compared: the questions that tools/compare asks of two builds: command lines, and the files that they read.

The same questions come out each time. Files are those of tests/data and tests/fuzz/corpus, or are made below
build/compare/inputs: by `tipple generate`, packed, or drawn from a fixed seed. Commands run in the project's folder.
"""
import ast
import bz2
import collections
import concurrent.futures
import datetime
import functools
import gzip
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INPUTS = ROOT / "build/compare/inputs"
sys.path.insert(0, str(ROOT / "tests/lib"))
import dumplab  # noqa: E402
import livetest  # noqa: E402

# name: of the input. words: after `tipple`. gives: what stdout is, and so the kind of a difference in it.
Question = collections.namedtuple("Question", "name words gives stdin", defaults=("output", None))


class Error(Exception):
    """A sentence for the user: the comparison cannot be made."""


def files(folder):
    """The path of each file below, from the project's folder."""
    found = [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    if not found:
        raise Error("%s has no files: nothing would be compared" % folder)
    return found


def make(name, text):
    """Writes an input; returns its path from the project's folder."""
    path = INPUTS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path.relative_to(ROOT))


def parse(name, *words, form=None, raw=False, stdin=None):
    """The documents of an input with their _ids, and with raw=True its records written again."""
    said = ["parse", "-q", *(["-f", form] if form else []), *words, "--emit"]
    yield Question(name, [*said, "bson", *([] if "--id" in words else ["--ids"])], "documents", stdin)
    if raw:
        yield Question(name, [*said, "raw"], "records", stdin)


def guess(name, *words):
    """The documents by the guess, and the format file that was guessed."""
    yield from parse(name, *words)
    yield Question(name, ["formats", "-q", "--guess", *words], "guess")


# -------------------------------------------------------------------------------------------- tests/data and formats

DATA_FORMATS = {"mot": ("mot", "mot-long", "mot-item"), "isd": ("isd", "isd-study", "isd-stations"), "input": ()}


def data(_):
    for path in files("tests/data"):
        name, folder = path.removeprefix("tests/"), path.split("/")[2]
        yield from guess(name, path)
        for form in DATA_FORMATS.get(folder, ()):
            limit = ["--limit", "1000"] if folder == "isd" else []
            yield from parse(name, path, *limit, form=form, raw=True)
    yield from parse("data/isd", "tests/data/isd", form="isd")


def formats(new):
    for path in files("src/builtin/formats"):
        form = pathlib.Path(path).stem
        yield Question("formats/" + form, ["formats", "-q", "--check", form])
        yield Question("formats/" + form, ["formats", "-q", "--show", form], "guess")
    for path in files("src/builtin/suites"):
        yield Question("formats/suites", ["query", "-q", "--show", pathlib.Path(path).stem], "guess")
    small = [make("small/%d" % number, text) for number, text in enumerate((
        b"a,b,c\n1,2,3\n", b"1|2|2013-01-01|4\n\"x\"|NULL||\n",
        b"\"a\"\"b\",\"c\\\"d\",'e',x\r\n,,,\n\n x , 5 ,1.50,\xE9\n",
        b"1;2;3;4\n19991231;31/12/1999;1999-12-31;0\n-1;00;+1;1e3",
        b"16+201401022400-12.0 45ABADDAA199AC1x#A12ab!xyz\n00-99999999999900000000  ADDAA9x?\r\nADDAA1##!!"))]

    def check(one):
        return subprocess.run([new, "formats", "--check", one[2]], cwd=ROOT, capture_output=True).returncode == 0
    given = list(corpus("yaml"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        right = list(pool.map(check, given))
    for (name, _, path), is_right in zip(given, right):
        yield Question(name, ["formats", "-q", "--check", path])
        if is_right:
            for each in small:
                yield from parse(name, each, form=path, raw=True)
    for name, _, path in corpus("suite"):
        yield Question(name, ["query", "-q", "--show", path])


# ----------------------------------------------------------------- tests/fuzz/corpus, as tests/fuzz/fuzz_*.c reads it

def corpus(target, skip=0):
    """(name, the bytes that choose something, the file of the others) of each input."""
    for path in files("tests/fuzz/corpus/" + target):
        raw, name = (ROOT / path).read_bytes(), "%s/%s" % (target, pathlib.Path(path).name[:12])
        if len(raw) > skip:
            yield name, raw[:skip], make("corpus/" + name, raw[skip:])


def law_formats(array):
    """The formats that a first byte chooses from: names, or files made of the texts in format_laws.h."""
    header = (ROOT / "tests/lib/format_laws.h").read_text()
    body = re.sub(r"/\*.*?\*/", "", header.partition(array + "[] = {")[2].partition("\n};")[0], flags=re.S)
    found = []
    for name, text in re.findall(r'\{"([\w-]+)",\s*(NULL|(?:"(?:[^"\\]|\\.)*"\s*)+)\}', body):
        yaml = b"".join(ast.literal_eval("b" + piece) for piece in re.findall(r'"(?:[^"\\]|\\.)*"', text))
        found.append(make("formats/%s.yaml" % name, yaml) if yaml else name)
    if not found:
        raise Error("tests/lib/format_laws.h has no %s: nothing would be compared" % array)
    return found


def fuzzed(_):
    for target, skip, array in (("delimited", 2, "law_formats"), ("emit", 1, "law_formats"),
                                ("fixed", 2, "law_fixed_formats")):
        choices = law_formats(array)
        for name, choice, path in corpus(target, skip):
            yield from parse(name, path, form=choices[(choice[0] - ord("0")) % 256 % len(choices)], raw=True)
    for name, (byte,), path in corpus("guess", 1):
        said = (["", "--with dates=dmy", "--with dates=mdy", "--with dates=ymd"][byte % 4],
                ["", "--with header=yes", "--with header=no"][byte // 4 % 3],
                ["", "--with decimal=.", "--with decimal=,", ""][byte // 12 % 4],
                ["", "--with nested=yes"][byte // 48 % 2], ["", "--with delimiter=none", "--with delimiter=blanks"][byte // 96])
        yield from guess(name, path, *" ".join(said).split())
    for name, choice, path in corpus("ends", 2):
        yield from parse(name, path, *([] if choice[0] >= 192 else ["--with", "header=no", "--with", "delimiter=,"]))
    for name, _, path in corpus("json"):
        yield from parse(name, path, form="json")
    for name, _, path in corpus("bson", 1):
        yield from parse(name, path, form="bson")
        yield Question(name, ["parse", "-q", "-f", "bson", "--emit", "json", path], "records")
    lines = make("formats/lines.yaml", "format: x\nfields: [{name: a}]\nsurplus: {into: a, left: 0}\n"
                 "record: {delimiter: \"|\", header: no, quote: none, encoding: latin1}\n")
    for name, choice, path in corpus("tar", 1):
        raw = bytearray((ROOT / path).read_bytes())
        for at in range(0, len(raw) - 511, 512):
            if choice[0] & 1 and raw[at + 257:at + 262] == b"ustar":  # its checksum is made right
                raw[at + 148:at + 156] = b" " * 8
                raw[at + 148:at + 155] = b"%06o\0" % sum(raw[at:at + 512])
        yield from parse(name, make("corpus/" + name, bytes(raw)), form=lines)
    for name, choice, path in corpus("dump", 1):
        begun = bytes.fromhex("6de299810500000000ffffffff") if choice[0] & 1 else b""
        yield from parse(name, make("corpus/" + name, begun + (ROOT / path).read_bytes()) + "!a.b", form="bson")


def filters(new):
    rows = make("filtered.txt", b"|||||||||||||\nx|9999999999|2013-02-30|=|&&|'P'|-5|<|>|!=|A B||0|0004-02-20\n" +
                generate(new, "mot-2013")[:9000])
    for name, _, path in corpus("filter"):
        text = (ROOT / path).read_bytes()
        if b"\0" not in text:
            yield from parse(name, rows, "--filter=" + os.fsdecode(text), form="mot")


# ----------------------------------------------------------------------------------------------------- drawn from seeds

WORDS = ["", "x", "red", "Rd. 5", "O'Hara", "say \"hi\"", "a,b", "a;b", "a|b", "5 \" pipe", "naïve", "Ü 漢字 🙂",
         " padded ", "007", "+4930123", "N/A", "true", "1e5", "back\\slash", "two\nlines", "\ttab", "#hash", "null",
         "-"]
DATES = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%y", "%Y%m%d", "%d.%m.%Y", "%d-%b-%Y", "%Y-%m-%dT%H:%M:%SZ", "%H:%M",
         "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.123+01:00", "%m/%d/%Y %I:%M %p", "%B %d, %Y"]


def moment(draw, pattern):
    since = datetime.timedelta(seconds=draw.randrange(-2**30, 2**31))
    return (datetime.datetime(1970, 1, 1) + since).strftime(pattern)


COLUMNS = {  # how a column's values are written
    "small": lambda draw: str(draw.randrange(100)),
    "long": lambda draw: str(draw.randrange(-10**18, 10**18) // 10 ** draw.randrange(18)),
    "money": lambda draw: "%.2f" % draw.uniform(0, 2000),
    "double": lambda draw: "%.*g" % (draw.choice((6, 15, 17)), draw.gauss(0, 1) * 10 ** draw.randrange(-9, 9)),
    "groups": lambda draw: format(draw.randrange(10**7), ",") + draw.choice(("", ".50")),
    "german": lambda draw: format(draw.randrange(10**7), ",").replace(",", ".") + ",%02d" % draw.randrange(100),
    "boolean": lambda draw: draw.choice(("true", "false")),
    "uuid": lambda draw: "%08x-%04x-4%03x-a%03x-%012x" % tuple(map(draw.getrandbits, (32, 16, 12, 12, 48))),
    "objectid": lambda draw: "%024x" % draw.getrandbits(96),
    "word": lambda draw: draw.choice(WORDS),
    "text": lambda draw: " ".join(draw.choice(WORDS) for _ in range(3)),
    "letters": lambda draw: "".join(draw.choice("abcdefg ") for _ in range(draw.randrange(1, 12))),
    **{pattern: lambda draw, pattern=pattern: moment(draw, pattern) for pattern in DATES}}


def table(draw):
    """A delimited text as programs and people write it."""
    delimiter = draw.choice(",,,,;;;|\t:") if draw.random() < 0.95 else draw.choice(("||", "\x01", " "))
    quoting, quote = draw.choice(("needed", "needed", "always", "texts", "never")), draw.choice('""""\'')
    pair = draw.choice((quote * 2, quote * 2, "\\" + quote))

    def cell(text, is_text=True):
        if quoting == "never":
            return text.replace(delimiter, " ").replace("\n", " ")
        needed = any(sign in text for sign in (delimiter, quote, "\n"))
        quoted = needed or quoting == "always" or (quoting == "texts" and is_text)
        return quote + text.replace(quote, pair) + quote if quoted else text

    def column(kind):
        null, nulls = draw.choice(("", "", "NULL", "NA", "-")), draw.choice((0, 0.1, 0.6))
        kinds = [kind] * 30 + draw.choice(([], [], [draw.choice(list(COLUMNS))]))
        return lambda: null if draw.random() < nulls else cell(
            COLUMNS[draw.choice(kinds)](draw), kind in ("word", "text", "letters"))
    columns = [column(kind) for kind in draw.choices(list(COLUMNS), k=draw.randrange(1, 9))]
    rows = [delimiter.join(draw.choice(("c%d", "Name %d", "n.k%d")) % number for number in range(len(columns)))]
    rows = draw.choice((rows, rows, rows, [], ["Report of May", *rows], ["# made by hand", *rows]))
    for _ in range(draw.choice((draw.randrange(1, 9), draw.randrange(1, 9), 20, 60))):
        rows.append(delimiter.join(value() for value in columns))
        if draw.random() < 0.01:
            rows[-1] += draw.choice((delimiter, delimiter + "1" + delimiter, "\n", quote))
    end = draw.choice(("\n", "\n", "\n", "\r\n"))
    text = end.join(rows) + draw.choice((end, end, ""))
    return text.encode(draw.choice(("utf-8",) * 6 + ("utf-8-sig", "cp1252", "utf-16")), "replace")


def spoiled(draw, text):
    """The same rows with oddities that a guess from other files has not met."""
    odd = (lambda line: re.sub(rb"^([^,;|\t]*)", rb'"\1"', line), lambda line: b'"' + line, lambda line: b"---",
           lambda line: line + b"\r\r", lambda line: line + b"\\", lambda line: line + b",")
    return b"\n".join(draw.choice(odd)(line) if number and draw.random() < 0.3 else line
                      for number, line in enumerate(text.split(b"\n")))


def tree(draw, depth=0):
    """A value of JSON, plain or extended."""
    kind = draw.randrange(10)
    if kind < 2:
        return draw.choice((draw.randrange(100), draw.getrandbits(70) >> draw.randrange(70), draw.gauss(0, 1e3)))
    if kind < 4:
        return draw.choice((None, True, {"$numberLong": "5"}, {"$numberDecimal": "1.50"}, {"$numberInt": "x"}))
    if kind < 6:
        return draw.choice(({"$date": moment(draw, DATES[6])}, {"$oid": COLUMNS["objectid"](draw)}))
    if kind < 8:
        return draw.choice((draw.choice(WORDS), moment(draw, draw.choice(DATES))))
    values = [tree(draw, depth + 1) for _ in range(draw.randrange(4 - depth))]
    return values if kind == 8 else {draw.choice("abc.") + str(key): value for key, value in enumerate(values)}


def objects(draw):
    """A text of JSON objects."""
    rows = [{"c%d" % key: tree(draw) for key in range(4) if draw.random() < 0.9} for _ in range(draw.randrange(1, 20))]
    if draw.random() < 0.2:
        rows = [{**row, "_id": draw.choice((number, str(number), 3))} for number, row in enumerate(rows)]
    ascii, indent = draw.random() < 0.5, draw.choice((None, None, 1))
    lines = [json.dumps(row, ensure_ascii=ascii, indent=indent) for row in rows]
    return draw.choice(("\n".join(lines) + "\n", "[" + ",\n".join(lines) + "]", "".join(lines)[:-3])).encode()


SAID = ["--with header=yes", "--with header=no", "--with header=2", "--with dates=dmy", "--with dates=mdy", "--with dates=ymd", "--with decimal=,",
        "--with decimal=.", "--with delimiter=;", "--with delimiter=,", "--with delimiter=none", "--with quote=none", "--with quote=single",
        "--with encoding=latin1", "--with encoding=utf-8-or-windows-1252", "--with nested=yes", "-t c0:text", "-t c0:long", "-t c0:date",
        "-t c0:key:", "-t c0:double", "--on-bad-value null", "--on-bad-value reject",
        "--id c0", "--filter c0>=5", "--filter c0==x", "--limit 3", "--max-rejects 0"]


def drawn(_):
    for kind, write, count in (("table", table, 350), ("objects", objects, 150)):
        for number in range(count):
            draw, name = random.Random("%s %d" % (kind, number)), "drawn/%s-%03d" % (kind, number)
            text = write(draw)
            path = make(name, text)
            yield from guess(name, path)
            if kind == "table" and number % 5 == 0:  # of nine files the guess reads eight
                for each in range(8):
                    make("%s.d/%d" % (name, each), text)
                make("%s.d/8" % name, spoiled(draw, text))
                yield from parse(name, path + ".d")
            said = draw.choice(SAID).split()
            yield from parse(name, path, *said, raw=kind == "table" and "--id" not in said)


TYPES = ["int", "long", "number", "decimal", "boolean", "date", "datetime", "objectid", "uuid", "binary", "json",
         "trimmed", "number, divide: 10", "number, divide: 1000", "number, multiply: 100", "decimal, divide: 100",
         "int, exact: yes", "number, decimal: \",\", thousands: \".\"", "decimal, thousands: \",\"",
         "binary, encoding: hex", "date, pattern: [D/M/YYYY, DD/MM/YYYY, epoch_s]",
         "date, pattern: [\"DD-MON-YY\", \"MONTH D, YYYY\"]", "date, pattern: [\"M/D/YY h:mm A\", \"YYYYMMDD\"]",
         "text, nulls: [\"\", NULL, \"0\"]", "text, nulls: [NULL]", "int, nulls: [\"0\", \"7\"]",
         "date, pattern: [\"YYYY-MM-DDThh:mm:ssZZ\", \"YYYY-MM-DD hh:mm:ss.SSS\", epoch_ms]"]


def values(_):
    """One column of values that are hard to read, as each type."""
    draw = random.Random("values")
    lines = [line for _, _, path in corpus("convert", 1) for line in (ROOT / path).read_bytes().split(b"\n") if line]
    lines += [b"%.*g" % (digits, draw.uniform(-1, 1) * 10 ** draw.randrange(-320, 308))
              for digits in (1, 6, 15, 16, 17, 18) for _ in range(50)]
    lines += [b"%d" % (sign * 2**bits + more)
              for bits in (31, 32, 53, 63, 64) for sign in (-1, 1) for more in (-1, 0, 1)]
    lines += [write(draw).encode() for write in COLUMNS.values() for _ in range(9)]
    path = make("values.csv", b"".join(b'"%s"\n' % line.replace(b'"', b'""') for line in lines))
    for number, kind in enumerate(TYPES):
        form = make("formats/values-%d.yaml" % number, "format: x\nrecord: {delimiter: \",\", header: no}\n"
                    "fields: [{name: a, type: %s}]\n" % kind)
        for bad in ("text", "null", "reject"):
            yield from parse("values/" + kind, path, "--on-bad-value", bad, form=form, raw=bad == "text")


# ----------------------------------------------------------------------------------------------- generated and packed

GENERATED = {**{"mot-" + release: "mot --rows 400 --release " + release
                for release in ("2013", "2016", "2017-first", "2017", "2020", "2021", "2023", "2024")},
             "mot-blocks": "mot --rows 7000", "isd": "isd --rows 300 --stations 7", "obd": "obd --rows 200",
             "ycsb": "ycsb --rows 90 --first 50", "ycsb-study": "ycsb --rows 3 --study"}
ASKED = {"mot": ["--filter y==NT", "--filter m>=50000&&k!=FORD --filter d<2023-06-01", "--limit 7", "--id t",
                 "--id t,v", "--filter k==FORD --limit 2"],
         "isd": ["--limit 50", "--filter airTemp>10"], "obd": [],
         "ycsb": ["--id k", "--filter k<1000"]}


@functools.lru_cache
def generate(new, name):
    done = subprocess.run([new, "generate", *GENERATED[name].split(), "--seed", "50"], capture_output=True)
    if done.returncode or not done.stdout:
        raise Error("tipple generate %s ended with status %d: %s" % (
            GENERATED[name], done.returncode, done.stderr.decode(errors="replace").strip()))
    return done.stdout


def generated(new):
    for each, words in GENERATED.items():
        name, form = "generated/" + each, words.split()[0]
        path = make(name, generate(new, each))
        yield Question(name, ["generate", "-q", *words.split(), "--seed", "50"], "records")
        yield from guess(name, path)
        yield from parse(name, path, form=form, raw=form != "ycsb")
        yield Question(name, ["parse", "-q", "-f", form, "--emit", "json", "--relaxed", path], "records")
        for said in ASKED[form]:
            yield from parse(name, path, *said.split(), form=form, raw=form != "ycsb" and "--id" not in said)


def plain(new):
    """{name: text} of small files."""
    mot, ycsb = generate(new, "mot-2023"), generate(new, "ycsb")
    words = "parse -q -f ycsb --emit bson --ids -".split()
    bson = subprocess.run([new, *words], input=ycsb, capture_output=True).stdout
    return {"a.csv": mot, "b.csv": mot[:9000], "x.json": ycsb, "c.bson": bson}


def zipped(members):
    return livetest.zip_of(*((name, text, zipfile.ZIP_DEFLATED) for name, text in members.items()))


def packed(new):
    """Files that are packed, joined, cut off, damaged, in folders or come through a pipe."""
    whole = plain(new)
    for name, text in whole.items():
        gz, tar = gzip.compress(text, mtime=0), livetest.tar_of((name, text))
        for kind, packed_text in (
                ("", text), (".gz", gz), (".two.gz", gz + gz), (".cut.gz", gz[:len(gz) // 2]),
                (".bad.gz", gz[:500] + b"?" + gz[501:]), (".bz2", bz2.compress(text)), (".xz", lzma.compress(text)),
                (".zst", livetest.zstd_frame(text)), (".zip", zipped({name: text})), (".tgz", gzip.compress(tar))):
            path = make("packed/" + name + kind, packed_text)
            yield from guess("packed/" + name + kind, path)
            yield from parse("packed/" + name + kind, "-", stdin=path)
    tables, documents = {name: whole[name] for name in ("a.csv", "b.csv")}, dumplab.split(whole["c.bson"])
    dump = dumplab.archive({"s.a": documents, "s.b": documents[:9]})
    for name, text, inner in (("csv.zip", zipped(tables), "b.csv"), ("all.zip", zipped(whole), "x.json"),
                              ("csv.tar", livetest.tar_of(*tables.items()), "b.csv"), ("dump", dump, "s.b")):
        path = make("packed/" + name, text)
        yield from guess("packed/" + name, path)
        yield from guess("packed/" + name, path + "!" + inner)
    for name, text in tables.items():
        make("folder/" + name, text)
        folder = str(pathlib.Path(make("folder/deep/%s.gz" % name, gzip.compress(text, mtime=0))).parents[1])
    for said in (folder, folder + "/deep", folder + "/*.csv", folder + "/b.csv " + folder + "/a.csv"):
        yield from parse("packed/folder", *said.split(), form="mot", raw=True)


# ---------------------------------------------------------------------------------------------------------- mistakes

MISTAKES = ["parse", "parse --nonsense", "parse nothere.csv", "parse -f mott {0}", "parse --emit xml {0}",
            "parse --limit x {0}", "parse -f mot --filter zz==1 {0}", "parse -f mot --with dates=dmy {0}",
            "parse -t nothing:int {0}", "loadx", "where 5",
            "parse -f mot tests/data/mot/odd", "formats --show x", "formats --check {0}", "formats --guess",
            "generate", "generate mot --release 1999", "query --show x", "status", "load {0}",
            "load --uri x {0}", "load --uri mongodb://127.0.0.1:1/ {0}", "verify {0}", "forget", "tune", "drill"]


def mistakes(new):
    path = make("mistaken.txt", generate(new, "mot-2013")[:9000])
    for words in MISTAKES:
        yield Question("mistakes/" + words.split()[0], words.replace("{0}", path).split())


def questions(new):
    """All of them. NEW is asked which formats can be read, and generates files."""
    shutil.rmtree(INPUTS, ignore_errors=True)
    INPUTS.mkdir(parents=True)
    families = data, formats, fuzzed, filters, drawn, values, generated, packed, mistakes
    return [question for family in families for question in family(new)]
