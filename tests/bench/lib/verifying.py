"""verifying: what it costs to compare a collection with its files, next to the load that filled it."""
import json

import figures
from compare import Loaders, Outcome, cost_table, every, interleave
from figures import Failed, Target


def verify(lab, options):
    """tools/bench verify: a clean collection, clustered and plain, and the ways to examine less of it."""
    with lab.server(options.cache) as server:
        loaders = Loaders(lab, server, options)
        file = lab.rows(options.rows)
        collections = {"clustered": (), "plain": ("--create", '{"clusteredIndex": false}')}
        runs, reasons = {}, []
        for kind, words in collections.items():
            ways = {"load, %s" % kind: lambda words=words: loaders.tipple(more=words)}
            ways.update({"verify, %s" % kind: lambda: looked(lab, loaders, file)})
            if kind == "clustered":
                ways.update({"verify --files-only": lambda: looked(lab, loaders, file, "--files-only")})
            some, why = interleave(options.rounds, ways)
            runs.update(some)
            reasons += why
    table = cost_table("Verify, next to the load", runs, [
        "%s rows of %s; each verify reads what the load before it has left" % (
            figures.thousands(options.rows), file.name), figures.others_note(every(runs)), *reasons])
    whole, load = runs["verify, clustered"], runs["load, clustered"]
    return Outcome([table], [
        Target("verify, clustered: at most a third of the server CPU of the load before it",
               figures.of_pairs(whole, load, lambda a, b: a.server_cpu / b.server_cpu), figures.percent, most=1 / 3),
        Target("verify, clustered: at most 0.35 us of client CPU a document",
               figures.of_runs(whole, lambda run: run.client_each), figures.micro, most=0.35e-6)])


def looked(lab, loaders, file, *more):
    words = [lab.tipple, "verify", "--format", loaders.format, "--uri", loaders.server.namespace_uri, "--json", *more]
    if loaders.options.threads:
        words += ["--threads", loaders.options.threads]
    run = lab.run([*words, file], loaders.rows, loaders.server)
    said = json.loads(run.output)
    if said["as_expected"] != loaders.rows:
        raise Failed("%d of %d documents are as expected" % (said["as_expected"], loaders.rows))
    return run
