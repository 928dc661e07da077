"""asking: what the query runner adds to the driver, and how fast clients accumulate."""
import json
import subprocess

import figures
from compare import Outcome, cost_table, every, interleave
from figures import Failed, Figures, Table, Target
from lab import BENCH, COLLECTION, DATABASE, procs

CLIENTS, FINDS = 16, 20_000
SUITE = """suite: findloop
queries:
  - name: by-id
    draw: {gives: [id], pipeline: [{$sample: {size: 1000}}, {$project: {_id: 0, id: $_id}}]}
    find: {filter: {_id: {$param: id}}}
"""


def query(lab, uri, *words):
    """What `tipple query --json` says."""
    done = subprocess.run([str(word) for word in (lab.tipple, "query", "-q", "--uri", uri, "--json", *words)],
                          stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=procs.tied_to_parent())
    if done.returncode != 0:
        raise Failed("tipple query ended with status %d: %s" % (done.returncode, done.stderr.decode().strip()[-300:]))
    return json.loads(done.stdout)["queries"]


# ------------------------------------------------------------------------------------- next to a bare loop

def overhead(lab, server, options):
    suite = BENCH / "findloop.yaml"
    suite.write_text(SUITE)
    loop, finds = lab.target("findloop", "tests"), FINDS // 10 if options.quick else FINDS
    bare = [loop, server.uri, DATABASE, COLLECTION, CLIENTS, finds]
    ours = [lab.tipple, "query", "-q", "--uri", server.namespace_uri, "--suite", suite, "--clients", CLIENTS, "--count",
            finds, "--repeats", 1, "--warmup", 0, "--json"]
    runs, reasons = interleave(options.rounds, {
        "a loop over the driver": lambda: lab.run(bare, CLIENTS * finds, server),
        "tipple query": lambda: lab.run(ours, CLIENTS * finds, server)})
    table = cost_table("Finding by _id, %d clients: CPU an operation" % CLIENTS, runs, [
        "%s finds of each client; both draw 1,000 _ids first" % figures.thousands(finds),
        figures.others_note(every(runs)), *reasons])
    table.on_page(["client CPU, us/doc", "server CPU, us/doc"])
    more = figures.of_pairs(runs["tipple query"], runs["a loop over the driver"],
                            lambda a, b: a.client_each - b.client_each, scale=2e-6)
    return table, Target("the query runner: at most 2 us of CPU an operation more than a loop over the driver, 16 clients",
                         more, figures.micro, most=2e-6)


def whole(value):
    return "%.0f" % value


# -------------------------------------------------------------------------------------- accumulating clients

def sensors(lab, server, options):
    """The study of car sensors: statistics of one field, on the server and in the client."""
    rows = min(options.rows, 1_000_000)
    server.fresh()
    lab.run([lab.tipple, "load", "-q", "--format", "obd", "--uri", server.namespace_uri, lab.rows(rows, "obd")], rows)
    found = query(lab, server.namespace_uri, "--suite", "obd", "list", "accumulators", "whole", "group")
    names = list(dict.fromkeys(each["name"] for each in found))
    sizes = list(dict.fromkeys(each["with"] for each in found))
    table = Table("Statistics of one field, documents/ms", ["documents", *names],
                  ["%s documents; mean and deviation of 10 repeats" % figures.thousands(rows)])
    by = {(each["with"], each["name"]): each for each in found}
    for size in sizes:
        table.add(size.partition("=")[2], *["%.1f σ %.1f" % (by[size, name]["docs_per_ms"], by[size, name]["docs_per_ms_sd"])
                                           for name in names])
    table.on_page(rows=["1", "1000", table.rows[-1][0]])
    return table, by, sizes[-1]


def asking(lab, options):
    """tools/bench query"""
    with lab.server(options.cache) as server:
        server.fresh()
        lab.run([lab.tipple, "load", "-q", "--format", "mot", "--uri", server.namespace_uri, lab.rows(options.rows)],
                options.rows)
        tables, targets = [], []
        table, target = overhead(lab, server, options)
        tables.append(table)
        targets.append(target)
        table, by, largest = sensors(lab, server, options)
        tables.append(table)
        client = [each for (size, name), each in by.items() if size == largest and name == "accumulators"]
        if client:
            targets.append(Target("accumulators in the client over a projected cursor: at least 400 documents/ms",
                                  Figures([client[0]["docs_per_ms"]] * client[0]["n"]), whole, least=400))
    return Outcome(tables, targets)
