"""remote: objects of https and s3 against curl and a pipe, and against the same files on disk."""
import json
import os
import shlex
import shutil
import unittest

import figures
import storelab
import weblab
from compare import Loaders, Outcome, cost_table, every, interleave
from figures import Failed, Table, Target
from lab import BENCH, ROOT, quietly

OBJECT_BYTES = 100_000
METERED = 8  # connections


def remote(lab, options):
    """tools/bench remote: nginx with TLS, with 5 MB/s a connection and without a limit; s3s-fs for lists."""
    try:
        web = weblab.Nginx()
    except unittest.SkipTest as reason:
        raise Failed(str(reason)) from None
    count = 1000 if options.rows >= 1_000_000 else 50
    rows, (folder, of_objects) = lab.rows(options.rows), objects(lab, count)
    web.put("rows.txt", rows.read_bytes())
    (web.folder / "www/objects").symlink_to(folder)
    store, reason = listed(folder)
    os.environ.update(web.environment)
    with lab.server(options.cache) as server:
        server.pids += [web.process.pid, *([store.process.pid] if store else [])]
        loaders = Loaders(lab, server, options)
        url, metered = web.https + "/rows.txt", web.https + "/metered/rows.txt"
        names = [web.https + "/objects/" + path.name for path in sorted(folder.iterdir())]
        contenders = {
            "the file on disk": loaders.tipple,
            "curl | tipple": lambda: piped(lab, loaders, web, url),
            "https": lambda: loaders.tipple(path=url),
            "curl | tipple, 5 MB/s a connection": lambda: piped(lab, loaders, web, metered),
            "https, 5 MB/s a connection": lambda: loaders.tipple(path=metered, more=("--threads", METERED)),
            "%d files of 100 kB on disk" % count: lambda: loaders.tipple(path=folder, rows=of_objects),
            "%d objects of 100 kB by https" % count: lambda: loaders.tipple(
                path=names[0], rows=of_objects, more=names[1:])}
        runs, reasons = interleave(options.rounds, contenders)
        again = [None]
        if store:
            os.environ.update(store.user(), AWS_ENDPOINT_URL=store.url, AWS_EC2_METADATA_DISABLED="true")
            loaders.tipple(path="s3://bench/objects/", rows=of_objects)
            listing, more = interleave(options.rounds, {
                "%d objects of s3, all done" % count: lambda: nothing_left(lab, loaders, of_objects)})
            again, reasons = next(iter(listing.values())), reasons + more
    reasons += ["s3: " + reason] if reason else []
    disk, pipe, https, slow_pipe, slow, files, by_https = runs.values()
    table = cost_table("Objects that URLs name", runs, [
        "%s rows, %d MB; %d objects with %s rows; server CPU is that of nginx, too" % (
            figures.thousands(options.rows), rows.stat().st_size / 1e6, count, figures.thousands(of_objects)),
        figures.others_note(every(runs)), *reasons])
    table.on_page(rows=[])
    ratios = Table("What an object costs beyond a file", ["", "measured", "target", "n"])
    targets = []
    for promise, ratio, unit, bound in (
            ("rate: https, 5 MB/s a connection, %d connections, to curl | tipple" % METERED,
             figures.of_pairs(slow, slow_pipe, lambda a, b: a.rate / b.rate), figures.times, {"least": 4}),
            ("client CPU: https to curl | tipple",
             figures.of_pairs(https, pipe, lambda a, b: a.client_cpu / b.client_cpu), figures.times, {"most": 1.15}),
            ("rate: https to curl | tipple",
             figures.of_pairs(https, pipe, lambda a, b: a.rate / b.rate), figures.times, {"least": 0.9}),
            ("rate: https to the file on disk",
             figures.of_pairs(https, disk, lambda a, b: a.rate / b.rate), figures.times, {}),
            ("rate: %d objects of 100 kB to the same files on disk" % count,
             figures.of_pairs(by_https, files, lambda a, b: a.rate / b.rate), figures.times, {"least": 0.5}),
            ("%d objects of s3, listed and known again: seconds" % count,
             figures.of_runs(again, lambda run: run.seconds), figures.seconds, {"most": 3})):
        said = ["at %s %s" % word for word in bound.items()]
        ratios.add(promise, ratio.text(unit), said[0] if said else "", ratio.n)
        if bound:
            targets.append(Target(promise + ", " + said[0], ratio, unit, **bound))
    return Outcome([table, ratios], targets)


def piped(lab, loaders, web, url):
    """The load that is printed for servers that tipple cannot ask; curl's CPU counts."""
    loaders.server.fresh()
    load = shlex.join(map(str, loaders.load_words("-")))
    curl = shlex.join(["curl", "--silent", "--show-error", "--fail", "--cacert", web.environment["SSL_CERT_FILE"], url])
    run = lab.run(["sh", "-c", curl + " | " + load], loaders.rows, loaders.server)
    if json.loads(run.output)["loaded"] != loaders.rows:
        raise Failed("the pipe loaded %s" % run.output[:300])
    return loaders.arrived(run, loaders.rows)


def nothing_left(lab, loaders, rows):
    run = lab.run(loaders.load_words("s3://bench/objects/"), rows, loaders.server)
    if json.loads(run.output)["read"]:
        raise Failed("something was left to do")
    return run


def objects(lab, count):
    """A folder with `count` files of 100 kB, and how many rows all of them have."""
    folder, rows = BENCH / "data/objects", 0
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with open(lab.rows(count * OBJECT_BYTES // 50), "rb") as source:
        header = source.readline()
        for number in range(count):
            lines, size = [header], len(header)
            while size < OBJECT_BYTES:
                lines.append(source.readline())
                size += len(lines[-1])
            (folder / ("part-%04d.txt" % number)).write_bytes(b"".join(lines))
            rows += len(lines) - 1
    return folder, rows


def listed(folder):
    """s3s-fs with these objects; or None, and why."""
    try:
        if not storelab.FILES.exists():
            quietly(["cargo", "install", "s3s-fs", "--version", "0.11.1", "--locked", "--features", "binary", "--root",
                     ROOT / "build/s3s"], "s3s-fs: cargo install")
        store = storelab.Files()
    except (Failed, OSError) as reason:
        return None, str(reason)
    for path in folder.iterdir():
        store.put("bench", "objects/" + path.name, path.read_bytes())
    return store, None
