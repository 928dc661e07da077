"""Reads from secondaries, 2018: 95th and 99th percentile of finds by _id, alone and beside a load."""
import os
import time

from meter import costs_table
from workplace import collection, count, say

MODES = ("primary", "secondary", "nearest")
SPARED = 400  # requests a second that leave the CPUs of this host time


def catch_up(client):
    """Seconds until every secondary has what the primary has now."""
    began = time.monotonic()
    wanted = None
    while True:
        members = client.command("admin", {"replSetGetStatus": 1})["members"]
        done = [int(member["optime"]["ts"]) for member in members if member["stateStr"] == "SECONDARY"]
        wanted = wanted or max(int(member["optime"]["ts"]) for member in members)
        if min(done) >= wanted or time.monotonic() - began > 60:
            return time.monotonic() - began
        time.sleep(0.01)


def ask(place, uri, clients, more, report, modes=MODES, rate=()):
    """The figures by clients and member, and what all of it cost."""
    with place.meter() as cost:
        said = place.query("ycsb", uri, "by-id", "--repeats", 2, "--clients", ",".join(map(str, clients)), "--read-preference",
                           ",".join(modes), "--duration", "%ds" % place.choose(20, 5, 1), *rate, *more, report=report)
    found = {(one["clients"], one["reads"]): one for one in said["queries"]}
    return found, sum(one["n"] for one in said["queries"]), cost


def shown(value):
    return "-" if value is None else "%.3g" % value


def tell_shares(place, clients, alone, beside, published):
    """The percentiles, alone and beside the load."""
    for share, name in (("p95", "95th"), ("p99", "99th")):
        rows = []
        for number in clients:
            row = [number, *(shown(found[number, mode][share + "_ms"]) for found in (alone, beside) for mode in MODES)]
            if share == "p95":
                row += [published[state].get(str(number), "-") for state in ("Feature off", "Feature on")]
            rows.append(row)
        place.tell("%s percentile, milliseconds:", name)
        place.tell()
        place.table(["clients", *("%s, %s" % (mode, when) for when in ("alone", "beside") for mode in MODES),
                     *(["published off", "published on"] if share == "p95" else [])], rows)


def tell_reason(place, clients, found, published):
    """With as many clients the load of the host is the same here: what is left is what the writes do to a read."""
    rows = [[number, *(shown(one[number, "secondary"]["p95_ms"]) for one in found),
             *(published[state].get(str(number), "-") for state in ("Feature off", "Feature on"))] for number in clients]
    place.tell("The same with %d requests a second, however many clients there are (95th percentile of a secondary, milliseconds):", SPARED)
    place.tell()
    place.table(["clients", "alone", "beside", "published off", "published on"], rows)


def tell_ratios(place, clients, alone, beside, spared, published):
    few, many = clients[0], clients[-1]

    def growth(found):
        return "%.2f" % (found[many, "secondary"]["p95_ms"] / found[few, "secondary"]["p95_ms"])

    def by_load(number, mode):
        return "%.2f" % (beside[number, mode]["p95_ms"] / alone[number, mode]["p95_ms"])
    off = published["Feature off"]
    place.tell("What carries over, of the 95th percentile:")
    place.tell()
    place.table(["ratio", "here", "published off", "published on"], [
        ["secondary beside the load, %d clients by %d" % (many, few), growth(beside),
         "%.0f" % (int(off["64"]) / int(off["8"])), "none: 0 at both"],
        ["the same, %d requests a second" % SPARED, growth(spared), "", ""],
        *(["%s, %d clients, beside the load by alone" % (mode, number), by_load(number, mode), "-", "-"]
          for number in (few, many) for mode in ("primary", "secondary"))])


def run(place):
    documents = place.documents(300_000, 30_000, 2_000)
    clients = place.choose((8, 16, 32, 64), (8, 16, 32, 64), (2, 4))
    paths = place.made("ycsb", "--rows", str(documents))
    more = place.made("ycsb", "--rows", str(6 * documents), "--first", str(documents))
    published = place.published("secondary reads")
    with place.server(replset=3, steady=True) as server:
        uri = collection(server, "study.ycsb")
        say("loading %s documents", count(documents))
        place.load("ycsb", uri, paths)
        found = {}
        for when in ("alone", "beside"):
            for name, modes, rate in ((when, MODES, ()), ("spared, " + when, ("secondary",), ("--rate", SPARED))):
                say("asking, %s", name)
                load = "%s load -f ycsb --uri '%s' -q --max-rate 5k %s" % (place.tipple, collection(server, "study.more%d" % len(found)),
                                                                         more[0])
                found[name] = ask(place, uri, clients, ("--while", load) if when == "beside" else (), name.replace(", ", "-"), modes, rate)
                with place.client(server) as client:
                    lag = max(lag, catch_up(client)) if when == "beside" else 0
    figures = {name: one for name, (one, _, _) in found.items()}
    place.tell("A replica set of three on %s, whose CPUs its members and the readers share, so secondaries cannot be faster"
               " than the primary here; %s documents, one by its _id at a time; beside: a load of 5,000 documents a second."
               " Published: 95th percentile of reads from a secondary beside writes, before 4.0 (off) and with"
               " 4.0 (on); no server of today has the feature off.", place.host(), count(documents))
    place.tell()
    tell_shares(place, clients, figures["alone"], figures["beside"], published)
    place.tell("Requests a second:")
    place.tell()
    place.table(["clients", *("%s, %s" % (mode, when) for when in ("alone", "beside") for mode in MODES)],
                [[number, *(count(round(figures[when][number, mode]["ops_per_second"])) for when in ("alone", "beside") for mode in MODES)]
                 for number in clients])
    tell_reason(place, clients, (figures["spared, alone"], figures["spared, beside"]), published)
    tell_ratios(place, clients, figures["alone"], figures["beside"], figures["spared, beside"], published)
    place.plot("Reads from a secondary: 95th percentile by clients", list(clients), {
        **{"%s" % name: [one[number, "secondary"]["p95_ms"] for number in clients] for name, one in figures.items()},
        **{"published, %s" % state.lower(): [int(published[state].get(str(number), 0)) for number in clients]
           for state in ("Feature off", "Feature on")}}, "milliseconds")
    place.tell("Who had the CPUs (seconds of CPU; the load beside is not among the clients before it ends):")
    place.tell()
    costs_table(place, [(name, number, cost) for name, (_, number, cost) in found.items()], "", "a request")
    place.tell("Replication lag when the load was stopped: the last secondary had everything %.2f s later.", lag)
    place.tell()
    place.tell("What differs on this host: %d CPUs serve three members, the readers and the load, so with more clients than CPUs a latency is the"
               " time of waiting for a CPU; the study's members had hosts of their own.", os.cpu_count())
