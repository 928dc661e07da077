"""reader: a reader at a fixed low pace while a load runs, on one server whose cache is too small for all of it."""
import json
import subprocess
import time

import figures
from compare import Outcome, every, interleave
from figures import Failed, Table, Target
from lab import BENCH, CPUS, DATABASE, busy_seconds, procs

READERS, ROWS_READ = "readers", 1_000_000
CACHE, PACE = "256M", 100
SECONDS, QUICK_SECONDS, WARM_SECONDS = 20, 4, 3
LOADS = {"no load": None, "load": [], "load --max-rate auto": ["--max-rate", "auto"]}
MOST = 2.0


class Company:
    """The answers that a reader got while a load was at work, or none was."""

    def __init__(self, reader, load, took, others):
        answers = sorted(reader["microseconds"])
        self.p50, self.p99 = (answers[int(len(answers) * share)] / 1e6 for share in (0.5, 0.99))
        self.rate = load["loaded"] / load["seconds"] if load else None
        self.slowed_down = load["throttled_seconds"] / load["seconds"] if load else None
        self.others, self.cpu_room = others, took * CPUS


def describe(run):
    rate = "%8.0f documents/s" % run.rate if run.rate else ""
    return "p50 %6.2f ms  p99 %7.2f ms  %20s" % (run.p50 * 1e3, run.p99 * 1e3, rate)


class Bench:
    def __init__(self, lab, server, options):
        self.lab, self.server = lab, server
        self.seconds = QUICK_SECONDS if options.quick else SECONDS
        self.ids, self.file = lab.bson(ROWS_READ), lab.rows(options.rows)
        lab.run(self.load_words(READERS, lab.rows(ROWS_READ)), ROWS_READ)

    def load_words(self, database, path, *more):
        uri = self.server.uri.replace("/?", "/%s.records?" % database)
        return [str(word) for word in (self.lab.tipple, "load", "--format", "mot", "--uri", uri, "--json", *more, path)]

    def read(self, seconds):
        """One reader from start to end; what it said."""
        words = [self.lab.reader, "--port", self.server.port, "--of", READERS + ".records", "--pace", PACE,
                 "--seconds", seconds, self.ids]
        done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True,
                              preexec_fn=procs.tied_to_parent())
        if done.returncode != 0:
            raise Failed("the reader: %s" % (done.stderr.decode().strip()[-200:] or "it did not find every document"))
        return json.loads(done.stdout)

    def start(self, more):
        """A load that is at work: something of it is in the collection."""
        with open(BENCH / "logs/stderr", "wb") as error:
            load = subprocess.Popen(self.load_words(DATABASE, self.file, *more), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=error, preexec_fn=procs.tied_to_parent())
        while not self.server.count():
            if load.poll() is not None:
                raise Failed("the load ended with status %d" % load.returncode)
            time.sleep(0.05)
        return load

    @staticmethod
    def end(load):
        """Interrupts it; what it said."""
        over = load.poll() is not None
        load.terminate()
        said = load.communicate()[0]
        if over:
            raise Failed("the load was over before the reader was; it needs more --rows")
        return json.loads(said)

    def next_to(self, more):
        self.server.fresh()
        self.read(WARM_SECONDS)
        before, busy, began = sum(self.server.cpu()), busy_seconds(), time.monotonic()
        load = self.start(more) if more is not None else None
        try:
            reader = self.read(self.seconds)
        finally:
            said = self.end(load) if load else None
        took = time.monotonic() - began
        ours = sum(self.server.cpu()) - before + reader["cpu_seconds"] + (said["client_cpu_seconds"] if said else 0)
        return Company(reader, said, took, max(0.0, busy_seconds() - busy - ours))


def reader(lab, options):
    """tools/bench reader: what a reader notices of a load of the same server."""
    with lab.server(CACHE, replset=1) as server:
        bench = Bench(lab, server, options)
        runs, reasons = interleave(options.rounds, {
            name: lambda more=more: bench.next_to(more) for name, more in LOADS.items()}, describe)
    alone, rate_runs = runs["no load"], runs["load --max-rate auto"]
    ratios = {name: figures.of_pairs(each, alone, lambda a, b: a.p99 / b.p99) for name, each in runs.items()}
    table = Table("A reader next to a load", [
        "", "p50, ms", "p99, ms", "p99 / p99 without a load", "documents/s of the load", "n"], [
        "%d finds by _id a second among %s documents, %d s a round; replica set of one, cache %s" % (
            PACE, figures.thousands(ROWS_READ), bench.seconds, CACHE),
        "--max-rate auto slowed down %s of the time" % figures.of_runs(rate_runs, lambda run: run.slowed_down).text(figures.percent),
        figures.others_note(every(runs)), *reasons])
    for name, each in runs.items():
        p99 = figures.of_runs(each, lambda run: run.p99)
        table.add(name, figures.of_runs(each, lambda run: run.p50).text(milli), p99.text(milli),
                  *(["", ""] if each is alone else [ratios[name].text(figures.times),
                                                    figures.of_runs(each, lambda run: run.rate).text(figures.thousands)]),
                  p99.n)
    return Outcome([table], [Target("a reader's p99 next to load --max-rate auto: under twice that without a load",
                                    ratios["load --max-rate auto"], figures.times, most=MOST)])


def milli(value):
    return "%.2f" % (value * 1e3)
