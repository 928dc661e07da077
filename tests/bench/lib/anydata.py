"""anydata: made-up orders as CSV, quoted CSV, lines of JSON and BSON: parsing each on one core, and whole loads next to
mongoimport and mongorestore."""
import pathlib
import random

import figures
from compare import Loaders, Outcome, better, check_same, cost_table, every, interleave, peers, ratio_table
from figures import Table, Target
from lab import COLLECTION, CPUS, DATABASE

HERE = pathlib.Path(__file__)

WORDS = ("amber anchor basket bright candle copper dusty ember falcon garden harbour island jacket kettle lantern meadow "
         "needle orchard pepper quarry ribbon silver timber velvet window yellow").split()
COLUMNS = ["order_id", "customer", "city", "ordered_at", "amount", "discount", "paid", "pieces", "shipped", "channel", "note"]
BY_HAND = """format: orders
record: {delimiter: [","], header: yes}
fields:
  - {name: order_id, type: int}
  - {name: customer}
  - {name: city}
  - {name: ordered_at, type: datetime}
  - {name: amount, type: number}
  - {name: discount, type: number}
  - {name: paid, type: boolean}
  - {name: pieces, type: int}
  - {name: shipped, type: date}
  - {name: channel}
  - {name: note}
"""
PARSED = {  # name: the kind of the file, and how its format is known
    "CSV, guessed and parsed": ("csv", None), "CSV, as guessed": ("csv", "guessed"), "CSV, format by hand": ("csv", "by hand"),
    "CSV, quoted, lines in quotes": ("quoted", "guessed"), "JSON lines": ("json", "json"), "BSON": ("bson", "bson")}


def orders(count):
    """Rows of COLUMNS, the same each time; the texts of some are longer than of others."""
    chance = random.Random(1)
    people = ["%s %s" % (chance.choice(WORDS).title(), chance.choice(WORDS).title()) for _ in range(997)]
    notes = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 8))) for _ in range(991)]
    for i in range(count):
        r = chance.getrandbits(40)
        yield (1000000 + i, people[r % 997], WORDS[r % 26].upper(),
               "2024-%02d-%02dT%02d:%02d:%02dZ" % (1 + r % 12, 1 + r // 12 % 28, r % 24, r // 24 % 60, r // 1440 % 60),
               "%d.%02d" % (r % 5000, 1 + r // 7 % 99), "0.%d" % (1 + r % 9), "true" if r & 1 else "false", 1 + r // 3 % 40,
               "2024-%02d-%02d" % (1 + r // 5 % 12, 1 + r // 77 % 28), "web" if r & 6 else "shop", notes[r // 11 % 991])


def write_csv(part, count):
    with open(part, "w", encoding="ascii") as out:
        out.write(",".join(COLUMNS) + "\n")
        out.writelines("%d,%s,%s,%s,%s,%s,%s,%d,%s,%s,%s\n" % row for row in orders(count))


def write_quoted(part, count):
    """Each text in quotes, the note of three lines, with quotes and a delimiter in it."""
    row = '%d,"%s","%s","%s",%s,%s,"%s",%d,"%s","%s","%s,\nas ""agreed"" with\n%s"\n'
    with open(part, "w", encoding="ascii") as out:
        out.write(",".join('"%s"' % name for name in COLUMNS) + "\n")
        out.writelines(row % (*each, each[1]) for each in orders(count))


def write_json(part, count):
    row = ('{"order_id":%d,"customer":"%s","city":"%s","ordered_at":"%s","amount":%s,"discount":%s,"paid":%s,"pieces":%d,'
           '"shipped":"%s","channel":"%s","note":"%s"}\n')
    with open(part, "w", encoding="ascii") as out:
        out.writelines(row % each for each in orders(count))


def write_dated(part, count):
    """As a server stores them: with ObjectIds, and dates that are dates."""
    row = ('{"_id":{"$oid":"65f0%020x"},"order_id":%d,"customer":"%s","city":"%s","ordered_at":{"$date":"%s"},"amount":%s,'
           '"discount":%s,"paid":%s,"pieces":%d,"shipped":{"$date":"%sT00:00:00Z"},"channel":"%s","note":"%s"}\n')
    with open(part, "w", encoding="ascii") as out:
        out.writelines(row % (each[0], *each) for each in orders(count))


class Files:
    """The files, made once; JSON and BSON hold the same orders."""

    def __init__(self, lab, count):
        self.lab, self.count = lab, count

    def path(self, kind):
        write, ending = {"csv": (write_csv, "csv"), "quoted": (write_quoted, "quoted.csv"), "json": (write_json, "ndjson"),
                         "bson": (self.write_bson, "bson")}[kind]
        return self.lab.made("orders-%d.%s" % (self.count, ending), lambda part: write(part, self.count), HERE)

    def format(self, kind, known):
        """The words that explain it."""
        if known == "by hand":
            return ["--format", self.lab.made("orders.yaml", lambda part: part.write_text(BY_HAND), HERE)]
        if known == "guessed":
            return ["--format", self.lab.made("guessed-%d-%s.yaml" % (self.count, kind), lambda part: self.lab.into(
                part, [self.lab.tipple, "formats", "--guess", self.path(kind)]))]
        return ["--format", known] if known else []

    def write_bson(self, part, count):
        dated = part.with_name("dated")
        write_dated(dated, count)
        self.lab.into(part, [self.lab.tipple, "parse", "-q", "--format", "json", "--emit", "bson", dated])
        dated.unlink()

    def sent(self, kind):
        """The documents that a load of them sends."""
        source = self.path(kind)
        return self.lab.made("orders-%d-%s-sent.bson" % (self.count, kind), lambda part: self.lab.into(
            part, [self.lab.tipple, "parse", "-q", "--format", kind, "--emit", "bson", "--ids", source]))


def anydata(lab, options):
    """tools/bench any: parsing on one core, then loads of JSON lines and of a BSON dump."""
    parsed, loads = parse(lab, options), [load(lab, options, kind) for kind in ("json", "bson")]
    parts = [parsed, *loads]
    return Outcome([table for part in parts for table in part.tables],
                   [target for part in parts for target in part.targets])


def parse(lab, options):
    files = Files(lab, options.rows)

    def once(kind, known):
        path, format = files.path(kind), files.format(kind, known)
        lab.warm(path)
        run = lab.run([lab.tipple, "parse", "-q", *format, "--emit", "none", path], options.rows, cpu=CPUS - 1)
        run.bytes = path.stat().st_size
        return run

    runs, reasons = interleave(options.rounds, {
        name: lambda of=of: once(*of) for name, of in PARSED.items()})
    table = Table("Any data: parse and encode, one core (tipple parse --emit none, the whole process)",
                  ["", "CPU, ns/record", "MB/s", "bytes/record", "n"],
                  ["%s records, from the page cache" % figures.thousands(options.rows), figures.others_note(every(runs)), *reasons])
    table.on_page(table.header[1:3], facts=["guessing examines 2 MB of a large file: %s ms of CPU, whatever its size" % figures.of_pairs(
        runs["CSV, guessed and parsed"], runs["CSV, as guessed"], lambda a, b: a.client_cpu - b.client_cpu).text(figures.milli)])
    table.notes += table.facts
    speed = {}
    for name, each in runs.items():
        speed[name] = figures.of_runs(each, lambda run: run.bytes / run.seconds)
        table.add(name, figures.of_runs(each, lambda run: run.client_each).text(figures.nano),
                  speed[name].text(figures.megabytes),
                  "%.0f" % (files.path(PARSED[name][0]).stat().st_size / options.rows), speed[name].n)
    guessed, by_hand = runs["CSV, as guessed"], runs["CSV, format by hand"]
    return Outcome([table], [
        Target("parse and encode, CSV as guessed: at most 1.3 times the CPU of a format by hand",
               figures.of_pairs(guessed, by_hand, lambda a, b: a.client_each / b.client_each), figures.times, most=1.3),
        *(Target("parse and encode, %s: above %d MB/s on one core" % (name, least), speed[name], figures.megabytes,
                 least=least * 1e6)
          for name, least in (("CSV, quoted, lines in quotes", 500), ("JSON lines", 400), ("BSON", 2000)))])


class AnyLoaders(Loaders):
    """Of JSON lines or BSON, by all into a plain collection."""

    clustered = False

    def __init__(self, lab, server, options, files, kind):
        self.files, self.kind = files, kind
        super().__init__(lab, server, options, kind)

    def source(self, rows=None):
        return Files(self.lab, rows or self.rows).path(self.kind)

    def load_words(self, path, *more):
        return super().load_words(path, "--create", '{"clusteredIndex": false}', *more)

    def sent(self):
        return self.files.sent(self.kind)

    def peer(self, tool, workers):
        self.server.fresh()
        words = {"mongoimport": ["--type", "json", "--numInsertionWorkers", workers, "--file"],
                 "mongorestore": ["--numInsertionWorkersPerCollection", workers]}[tool]
        return self.arrived(self.lab.run(
            [self.lab.mongotool(tool), "--quiet", "--uri", self.server.uri, "--db", DATABASE, "--collection", COLLECTION,
             *words, self.source()], self.rows, self.server), self.rows)


def load(lab, options, kind):
    """A plain collection of a standalone; the peer's best number of workers is what counts."""
    peer, title, faster, lighter = {
        "json": ("mongoimport", "JSON lines", 4, 15), "bson": ("mongorestore", "a BSON dump", 1.5, 5)}[kind]
    options = type(options)(**{**vars(options), "rows": options.rows // 5})
    files = Files(lab, options.rows)
    size = files.path(kind).stat().st_size / options.rows
    with lab.server(options.cache) as server:
        loaders = AnyLoaders(lab, server, options, files, kind)
        theirs, left_out = peers(loaders, {peer: {
            "%s, %d workers" % (peer, many): lambda many=many: loaders.peer(peer, many) for many in (1, 4, 8)}})
        replays = {"replay, %d connections" % many: lambda many=many: loaders.replay(many)
                   for many in sorted({loaders.threads, 8})}
        contenders = {**replays, "tipple load": loaders.tipple, **theirs}
        check_same(contenders, server, {"order_id": 1})
        runs, reasons = interleave(options.rounds, contenders)
    ceiling, best, ours = better(runs, list(replays)), better(runs, list(theirs)) if theirs else "", runs["tipple load"]
    shown = {name: runs[name] for name in (ceiling, "tipple load", best) if name in runs}
    table = cost_table("Any data: %s into a plain collection on a standalone" % title, shown, [
        "%s documents of %.0f bytes in the file; batches of %d, tipple load with %d threads; interleaved on one server "
        "(cache %s)" % (figures.thousands(options.rows), size, loaders.batch, loaders.threads, options.cache),
        figures.others_note(every(runs)), *reasons, *left_out])
    targets = [Target("a load of %s reaches 90 %% of the replay ceiling or more" % title,
                      figures.of_pairs(ours, runs[ceiling], lambda a, b: a.rate / b.rate), figures.percent, least=0.90)]
    if theirs:
        targets += [
            Target("a load of %s: at least %g times the documents/s of %s" % (title, faster, peer),
                   figures.of_pairs(ours, runs[best], lambda a, b: a.rate / b.rate), figures.times, least=faster),
            Target("a load of %s: %d times less client CPU than %s" % (title, lighter, peer),
                   figures.of_pairs(runs[best], ours, lambda a, b: a.client_cpu / b.client_cpu), figures.times, least=lighter)]
    return Outcome([table, ratio_table(runs, [ceiling, "tipple load", *([best] if theirs else [])])], targets)
