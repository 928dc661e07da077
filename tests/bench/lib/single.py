"""single: the measurements of tipple alone."""
import subprocess

import figures
import procs
from compare import Loaders, Outcome, every, interleave
from figures import Table, Target
from lab import CPUS

RELEASES = ["2013", "2016", "2017-first", "2017", "2020", "2021", "2023", "2024"]
USUAL = "2023"  # what generate makes unless given


def parse(lab, options):
    """tools/bench parse: parsing and encoding on one core, and generating."""
    files = {release: (lab.rows(options.rows, release=release), options.rows) for release in RELEASES}
    try:
        table, cpu, speed, generated = parse_and_encode(lab, options, "mot", files, "release")
    finally:
        for path, _ in files.values():
            path.unlink()
    targets = []
    for words, cpu_of, speed_of in (("release %s" % USUAL, USUAL, USUAL),
                                    ("the slowest release", worst(cpu, max), worst(speed, min))):
        targets += [Target("parse and encode, %s: at most 100 ns a row" % words, cpu[cpu_of], figures.nano,
                           most=100e-9),
                    Target("parse and encode, %s: above 800 MB/s on one core" % words, speed[speed_of],
                           figures.megabytes, least=800e6)]
    return Outcome([table], targets + [
        Target("generate: above 5 million rows/s", generated, figures.thousands, least=5e6)])


def parse_and_encode(lab, options, format, files, what):
    """The table, and for each of the files (a path, and its rows) the CPU per row and the speed; then the speed of
    generating."""
    def once(path, rows):
        lab.warm(path)
        run = lab.run([lab.tipple, "parse", "--format", format, "--emit", "none", path], rows, cpu=CPUS - 1)
        run.bytes = path.stat().st_size
        return run

    contenders = {name: lambda file=file: once(*file) for name, file in files.items()}
    contenders["generate"] = lambda: lab.run(lab.generate(format, options.rows), options.rows)
    runs, reasons = interleave(options.rounds, contenders)
    generated = figures.of_runs(runs.pop("generate"), lambda run: run.rate)
    table = Table("Parse and encode, one core (tipple parse --emit none, the whole process)",
                  [what, "CPU, ns/row", "of that user", "MB/s", "bytes/row", "rows", "n"],
                  ["from the page cache", figures.others_note(every(runs)), *reasons])
    table.on_page(["CPU, ns/row", "MB/s"], facts=["generate writes %s rows/s" % generated.text(figures.thousands)])
    table.notes += table.facts
    cpu, speed = {}, {}
    for name, each in runs.items():
        path, rows = files[name]
        cpu[name] = figures.of_runs(each, lambda run: run.client_each)
        speed[name] = figures.of_runs(each, lambda run: run.bytes / run.seconds)
        table.add(name, cpu[name].text(figures.nano),
                  figures.of_runs(each, lambda run: run.user_cpu / run.documents).text(figures.nano),
                  speed[name].text(figures.megabytes), "%.1f" % (path.stat().st_size / rows), figures.thousands(rows),
                  cpu[name].n)
    return table, cpu, speed, generated


def worst(by_name, pick):
    """The name with the worst median; one that failed is worse than any."""
    for name, each in by_name.items():
        if not each.n or each.failed:
            return name
    return pick(by_name, key=lambda name: by_name[name].median)


def memory(lab, options, format="mot"):
    """tools/bench memory: the peak of a load of a long stream from a pipe, with 16 threads."""
    targets, table = [], Table(
        "Peak memory: a stream of %s %s rows from a pipe, 16 threads" % (figures.thousands(options.rows), format),
        ["--memory", "peak, MiB", "documents/s", "client CPU, us/doc", "n"])
    table.on_page(["peak, MiB"])
    runs, options.threads = {}, 16
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options, format)
        for budget in (256, 64):
            contenders = {"--memory %dM" % budget: lambda budget=budget: stream(lab, loaders, server, budget)}
            each, reasons = interleave(options.rounds, contenders)
            runs.update(each)
            table.notes += reasons
    for (name, each), budget in zip(runs.items(), (256, 64)):
        peak = figures.of_runs(each, lambda run: run.peak_bytes, enough=1)
        peak.disturbed = False  # what else runs does not change it
        table.add(name.split()[1], peak.text(figures.mebibytes), figures.of_runs(each, lambda run: run.rate).text(
            figures.thousands), figures.of_runs(each, lambda run: run.client_each).text(figures.micro), peak.n)
        targets.append(Target(
            "peak memory with --memory %dM and 16 threads, %s %s rows from a pipe: at most %d MiB" % (
                budget, figures.thousands(options.rows), format, budget + 64),
            peak, figures.mebibytes, most=(budget + 64) << 20))
    return Outcome([table], targets)


def stream(lab, loaders, server, budget):
    server.fresh()
    source = subprocess.Popen([str(word) for word in lab.generate(loaders.format, loaders.rows)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=procs.tied_to_parent())
    try:
        run = lab.run(loaders.load_words("-", "--memory", "%dM" % budget), loaders.rows, server, stdin=source.stdout)
    finally:
        source.kill()
        source.wait()
    return loaders.arrived(run, loaders.rows)


def startup(lab, options):
    """tools/bench startup: how long the command itself takes."""
    rows = lab.rows(100)
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        runs, reasons = interleave(options.rounds, {
            "tipple --version": lambda: lab.run([lab.tipple, "--version"], 1),
            "load of 100 rows": lambda: small_load(lab, loaders, server, rows)})
    version = figures.of_runs(runs["tipple --version"], lambda run: run.seconds)
    whole, own, beyond = (figures.of_runs(runs["load of 100 rows"], function) for function in (
        lambda run: run.seconds, lambda run: run.server_own, lambda run: run.seconds - run.server_own))
    table = Table("Start-up", ["", "ms", "n"], [
        "the load makes the collection and its books; the server's own time is what it says its commands took "
        "(serverStatus.opLatencies), added up", figures.others_note(every(runs)), *reasons])
    for name, each in (("tipple --version", version), ("load of 100 rows, the whole process", whole),
                       ("of that, the server's own time", own), ("the rest", beyond)):
        table.add(name, each.text(figures.milli), each.n)
    return Outcome([table], [
        Target("start-up (tipple --version): under 20 ms", version, figures.milli, most=20e-3),
        Target("a load of 100 rows: under 100 ms beyond the server's own time", beyond, figures.milli, most=100e-3)])


def small_load(lab, loaders, server, rows):
    server.fresh()
    asking = -server.own_seconds() + server.own_seconds()  # what asking costs by itself
    before = server.own_seconds()
    run = lab.run(loaders.load_words(rows), 100)
    run.server_own = server.own_seconds() - before - asking
    return loaders.arrived(run, 100)
