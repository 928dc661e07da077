"""compare: loaders side by side, interleaved on one server: A B C D, A B C D, ..., each into a fresh clustered
collection. The ceiling is a replay of the same documents as ready messages."""
import itertools
import json

import figures
from figures import Failed, Figures, Table, Target
from lab import COLLECTION, DATABASE, KEYS, KINDS, SOURCES, say


class Outcome:
    def __init__(self, tables, targets):
        self.tables, self.targets = tables, targets


def costs(run):
    return "%7.2f s  %8.3f us client  %8.3f us server" % (run.seconds, run.client_each * 1e6, run.server_each * 1e6)


def interleave(rounds, contenders, describe=costs):
    """Runs them in turns. Gives each one's runs, None where it failed, and why. Who fails once is out."""
    runs, reasons = {name: [] for name in contenders}, {}
    for turn in range(rounds):
        for name, once in contenders.items():
            if name in reasons:
                runs[name].append(None)
                continue
            try:
                run = once()
                runs[name].append(run)
                say("  %d/%d  %-28s %s  %4.0f %% others", turn + 1, rounds, name, describe(run),
                    run.others / run.cpu_room * 100)
            except Failed as failed:
                runs[name].append(None)
                reasons[name] = str(failed)
                say("  %d/%d  %-28s failed: %s", turn + 1, rounds, name, failed)
    return runs, ["%s: %s" % reason for reason in reasons.items()]


def every(runs):
    return [run for each in runs.values() for run in each]


# --------------------------------------------------------------------------------------------- the loaders

class Loaders:
    """Each method loads the file once and gives the Run, or raises Failed: also when not all of it arrived."""

    clustered = True  # into what kind of collection

    def __init__(self, lab, server, options, format="mot"):
        self.lab, self.server, self.rows, self.options, self.format = lab, server, options.rows, options, format
        self.threads, self.batch = self._settings()

    def _settings(self):
        """What the load will use: asked of the command itself."""
        self.server.fresh()
        done = self.lab.run(self.load_words(self.source(100)) + ["--dry-run"], 100)
        said = json.loads(done.output)
        return said["threads"], said["batch"]

    def source(self, rows=None):
        """The file that is loaded."""
        return self.lab.rows(rows or self.rows, self.format)

    def sent(self):
        """The documents that a load of it sends."""
        return self.lab.bson(self.rows, self.format)

    def load_words(self, path, *more):
        words = [self.lab.tipple, "load", "--format", self.format, "--uri", self.server.namespace_uri, "--json"]
        for name in ("threads", "batch"):
            if getattr(self.options, name):
                words += ["--" + name, getattr(self.options, name)]
        return words + [*more, path]

    def arrived(self, run, documents):
        there = self.server.count()
        if there != documents:
            raise Failed("%d of %d documents are in the collection" % (there, documents))
        return run

    def tipple(self, path=None, rows=None, more=()):
        rows = rows or self.rows
        self.server.fresh()
        run = self.lab.run(self.load_words(path or self.source(rows), *more), rows, self.server)
        said = json.loads(run.output)
        if said["loaded"] != rows:
            raise Failed("%d of %d documents were loaded" % (said["loaded"], rows))
        return self.arrived(run, rows)

    def gzip(self):
        return self.tipple(path=self.lab.gzip(self.rows, self.format))

    def replay(self, connections, majority=False):
        self.server.fresh(clustered=self.clustered)
        return self.replayed(["--port", self.server.port, "--connections", connections,
                              *(["--majority"] if majority else [])])

    def replayed(self, words):
        run = self.lab.run([self.lab.replay, *words, "--to", "%s.%s" % (DATABASE, COLLECTION), "--batch", self.batch,
                            self.sent()], self.rows, self.server)
        said = json.loads(run.output)
        run.seconds, run.client_cpu, run.peak_bytes = said["seconds"], said["cpu_seconds"], None
        return self.arrived(run, self.rows)

    def mongoimport(self, workers):
        self.server.fresh(clustered=True)
        return self.arrived(self.lab.run(
            [self.lab.mongoimport(), "--quiet", "--uri", self.server.uri, "--db", DATABASE, "--collection", COLLECTION,
             *self._importable(), "--numInsertionWorkers", workers], self.rows, self.server), self.rows)

    def _importable(self):
        """mongoimport can read neither format: it gets the documents as clean columns, or as JSON."""
        if self.format != "mot":
            return ["--type", "json", "--file", self.lab.json(self.rows, self.format)]
        fields = ",".join("%s.%s" % key for key in KEYS)
        return ["--type", "csv", "--fields", fields, "--columnsHaveTypes", "--ignoreBlanks",
                "--file", self.lab.clean_csv(self.rows)]

    def pymongo(self):
        self.server.fresh(clustered=True)
        kinds = {"int32()": "int", "string()": "text", "date(2006-01-02)": "date"}
        columns = " ".join("%s:%s" % (name, kinds[kind]) for name, kind in KEYS)
        run = self.lab.run([self.lab.pymongo(), SOURCES / "pymongo_loader.py", self.server.uri, DATABASE, COLLECTION,
                            self.lab.clean_csv(self.rows), columns], self.rows, self.server)
        run.peak_bytes = json.loads(run.output)["peak_bytes"]
        return self.arrived(run, self.rows)


def ready(make):
    """Builds what a peer needs before anything is timed; the reason, if it cannot be had."""
    try:
        make()
        return None
    except Failed as failed:
        return str(failed)


def check_same(contenders, server, order):
    """One run of each, not measured: do they all put the same documents there? Also warms the server up."""
    digests, samples = {}, {}
    for name, once in contenders.items():
        try:
            once()
        except Failed:
            continue  # it will say so in its measured run
        samples[name] = server.sample(500, order)
        if name.startswith(("replay", "tipple")):
            digests[name] = server.digest()
    if len(set(digests.values())) > 1:
        raise Failed("the replay and tipple load put different documents into the collection: %s" % digests)
    first = next(iter(samples.values()), None)
    for name, sample in samples.items():
        if sample != first:
            raise Failed("%s puts other documents into the collection: %s, not %s" % (
                name, *next((theirs, ours) for theirs, ours in zip(sample, first) if theirs != ours)))


def better(runs, names):
    """The name whose median rate is the highest; the first when none ran."""
    rates = {name: Figures([run.rate if run else None for run in runs[name]]) for name in names}
    ran = [name for name in names if rates[name].n and not rates[name].failed]
    return max(ran, key=lambda name: rates[name].median) if ran else names[0]


# ------------------------------------------------------------------------------------------ the comparison

def cost_table(title, runs, notes):
    table = Table(title, ["", "documents/s", "client CPU, us/doc", "server CPU, us/doc", "peak memory, MiB", "n"], notes)
    for name, each in runs.items():
        rate = figures.of_runs(each, lambda run: run.rate)
        cells = [rate.text(figures.thousands),
                 figures.of_runs(each, lambda run: run.client_each).text(figures.micro),
                 figures.of_runs(each, lambda run: run.server_each).text(figures.micro)]
        if any(run and run.peak_bytes is None for run in each):
            cells.append("(all documents)")
        else:
            cells.append(figures.of_runs(each, lambda run: run.peak_bytes).text(figures.mebibytes))
        table.add(name, *cells, rate.n)
    table.on_page(table.header[1:4])
    return table


def against_ceiling(loaders, contenders, rounds, majority=False):
    """Runs them next to replays. Gives the runs with the best replay, its name, and notes on how they were run."""
    replays = {"replay, %d connections" % many: lambda many=many: loaders.replay(many, majority)
               for many in sorted({loaders.threads, 8})}
    contenders = {**replays, **contenders}
    check_same(contenders, loaders.server, KINDS[loaders.format].order)
    runs, reasons = interleave(rounds, contenders)
    notes = ["%s rows, batches of %d, tipple load with %d threads; interleaved on one server (cache %s)" % (
        figures.thousands(loaders.rows), loaders.batch, loaders.threads, loaders.options.cache),
        figures.others_note(every(runs)), *reasons]
    ceiling = better(runs, list(replays))
    return {name: each for name, each in runs.items() if name == ceiling or name not in replays}, ceiling, notes


def peers(loaders, wanted):
    """The contenders of the peers that are wanted and can be had here, and why the others are left out."""
    contenders, left_out = {}, []
    for peer, ways in wanted.items():
        if peer in loaders.options.without:
            continue
        reason = ready(getattr(loaders.lab, peer))
        if reason:
            left_out.append("%s is left out: %s" % (peer, reason))
        else:
            contenders.update(ways)
    return contenders, left_out


def ratio_table(runs, names):
    """Each load of tipple's next to each of the others, pair by pair within a round."""
    table = Table("tipple load divided by the others, within a round", ["", "documents/s", "client CPU"])
    loads = [name for name in names if name.startswith("tipple load")]
    for load, other in itertools.product(loads, [name for name in names if name not in loads]):
        table.add("%s / %s" % (load, other), *[figures.of_pairs(runs[load], runs[other], ratio).text(figures.times) for ratio in (
            lambda a, b: a.rate / b.rate, lambda a, b: a.client_cpu / b.client_cpu)])
    return table


def cpu_target(promise, runs, most):
    return Target(promise, figures.of_runs(runs, lambda run: run.client_each), figures.micro, most=most)


def share_target(promise, runs, ceiling, least):
    return Target(promise, figures.of_pairs(runs, ceiling, lambda a, b: a.rate / b.rate), figures.percent, least=least)


def load(lab, options):
    """tools/bench load: a plain file into a clustered collection of a standalone."""
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        contenders, left_out = peers(loaders, {
            "mongoimport": {"mongoimport, %d workers" % many: lambda many=many: loaders.mongoimport(many)
                            for many in (2, 4)},
            "pymongo": {"pymongo, 2 processes": loaders.pymongo}})
        contenders = {"tipple load": loaders.tipple, **contenders}
        runs, ceiling, notes = against_ceiling(loaders, contenders, options.rounds)
    table = cost_table("Loaders: MOT into a clustered collection on a standalone", runs, [*notes, *left_out])
    names = [ceiling, "tipple load"]
    for peer in ("mongoimport", "pymongo"):
        candidates = [name for name in runs if name.startswith(peer)]
        names += [better(runs, candidates)] if candidates else []
    table.on_page(rows=names)
    return Outcome([table, ratio_table(runs, names)], [
        cpu_target("client CPU of a load: at most 0.25 us a document, all in", runs["tipple load"], 0.25e-6),
        share_target("a load reaches 90 % of the replay ceiling or more", runs["tipple load"], runs[ceiling], 0.90)])


def replica(lab, options):
    """tools/bench replica: the same with w: majority, j: true on a replica set of one."""
    with lab.server(options.cache, replset=1) as server:
        loaders = Loaders(lab, server, options)
        runs, ceiling, notes = against_ceiling(loaders, {"tipple load": loaders.tipple}, options.rounds, majority=True)
    share = figures.of_pairs(runs["tipple load"], runs[ceiling], lambda a, b: a.rate / b.rate)
    reached = "tipple load reaches %s of the ceiling" % share.text(figures.percent)
    table = cost_table("Replica set of one member, majority and journal", runs, [*notes, "every batch with w: majority, j: true", reached])
    table.facts = [reached]
    return Outcome([table], [])


def gzip(lab, options):
    """tools/bench gzip: from .gz against the same file plain."""
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        contenders = {"plain": loaders.tipple, "gzip": loaders.gzip}
        loaders.gzip()  # not measured: makes the files and warms the server up
        runs, reasons = interleave(options.rounds, contenders)
    more = figures.of_pairs(runs["gzip"], runs["plain"], lambda a, b: a.client_each - b.client_each, scale=0.12e-6)
    costs_more = "gzip costs %s us of client CPU more a document, pair by pair" % more.text(figures.micro)
    table = cost_table("From gzip", runs, [figures.thousands(options.rows) + " rows", costs_more, figures.others_note(every(runs)), *reasons])
    table.facts = [costs_more]
    return Outcome([table], [Target("from .gz: at most 0.12 us of client CPU a document more", more, figures.micro,
                                       most=0.12e-6)])
