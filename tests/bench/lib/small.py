"""small: what thousands of small files cost beyond their bytes, in folders and in tars."""
import gzip
import io
import json
import shutil
import tarfile

import figures
from compare import Loaders, Outcome, cost_table, every, interleave
from figures import Failed, Table, Target
from lab import BENCH, say

ROWS = 20  # in a file
MOST = 50e-6
MOST_AGAIN = 2 / 13000  # 13,000 files in two seconds


def files(lab, options):
    """tools/bench files: 10,000 small files against one with the same bytes."""
    count = max(10, options.rows // ROWS)
    folder = BENCH / "data/files"
    make(lab.rows(count * ROWS), folder, count)
    many = {"%d files" % count: ("plain", "plain.txt"), "%d .gz files" % count: ("gz", "whole.gz"),
            "a tar of them": ("gz.tar", "whole.gz"), "a tar.gz of them": ("gz.tar.gz", "whole.gz")}
    names = {"plain.txt": "one file", "whole.gz": "one .gz", **{path: name for name, (path, _) in many.items()}}
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        runs, reasons = interleave(options.rounds, {
            name: lambda path=path: loaders.tipple(path=folder / path, rows=count * ROWS)
            for path, name in names.items()})
        again, why = interleave(options.rounds, {"%d files, all done" % count: lambda: second_run(lab, loaders, folder)})
        runs.update(again)
        reasons += why
    shutil.rmtree(folder)
    table = cost_table("Many small files of %d rows" % ROWS, runs, [figures.others_note(every(runs)), *reasons])
    cost = Table("What a file costs beyond its bytes", ["", "time, us", "client CPU, us", "server CPU, us", "n"],
                 ["against one file with the same bytes, in the same round"])
    table.on_page(rows=[])
    cost.on_page(["time, us", "client CPU, us"])
    targets = []
    for name, (_, whole) in many.items():
        def more(function, name=name, whole=whole):
            return figures.of_pairs(runs[name], runs[names[whole]], lambda a, b: (function(a) - function(b)) / count)
        time = more(lambda run: run.seconds)
        cost.add(name, time.text(figures.micro), more(lambda run: run.client_cpu).text(figures.micro),
                 more(lambda run: run.server_cpu).text(figures.micro), time.n)
        targets.append(Target("a small file (%s): at most %.0f us beyond its bytes" % (name, MOST * 1e6), time,
                              figures.micro, most=MOST))
    again = figures.of_runs(runs["%d files, all done" % count], lambda run: run.seconds / count)
    targets.append(Target("a small file that is done, in a second run: at most %.0f us (13,000 in 2 s)" % (MOST_AGAIN * 1e6),
                          again, figures.micro, most=MOST_AGAIN))
    return Outcome([table, cost], targets)


def second_run(lab, loaders, folder):
    """Of all plain files, when nothing is left to do."""
    loaders.tipple(path=folder / "plain", rows=loaders.rows)
    run = lab.run(loaders.load_words(folder / "plain"), loaders.rows, loaders.server)
    if json.loads(run.output)["read"]:
        raise Failed("something was left to do")
    return run


def make(rows, folder, count):
    """The same parts as plain files, as gzips, in a tar and in a tar.gz; and all of them one after the other."""
    say("  data: %d files, plain and packed", count)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("plain", "gz"):
        (folder / name).mkdir(parents=True)
    with open(rows, "rb") as source, open(folder / "plain.txt", "wb") as plain, open(folder / "whole.gz", "wb") as whole, \
            tarfile.open(folder / "gz.tar", "w") as tar, tarfile.open(folder / "gz.tar.gz", "w:gz", compresslevel=6) as tgz:
        header = source.readline()
        for number in range(count):
            text = header + b"".join(source.readline() for _ in range(ROWS))
            packed = gzip.compress(text, 6)
            (folder / ("plain/part-%05d.txt" % number)).write_bytes(text)
            (folder / ("gz/part-%05d.gz" % number)).write_bytes(packed)
            plain.write(text)
            whole.write(packed)
            for archive in (tar, tgz):
                member = tarfile.TarInfo("gz/part-%05d.gz" % number)
                member.size = len(packed)
                archive.addfile(member, io.BytesIO(packed))
