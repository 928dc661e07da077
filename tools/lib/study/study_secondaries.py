"""Reads from secondaries, 2018: 95th and 99th percentile of finds by _id, alone and next to a load."""
import os
import statistics

from meter import Sampler
from workplace import collection, count, ratio, say, shown

ARTICLE = ("Reads from secondaries next to writes",
           "\"Scaling Your Replica Set: Non-Blocking Secondary Reads in MongoDB 4.0\", 2018, MongoDB's blog; the article names no author",
           "What does a load do to the latency of reads from secondaries, which until 4.0 waited for each batch of the oplog?")
MODES = ("primary", "secondary")
SPARED = 400       # requests a second that leave the CPUs of this host time
LOAD_RATE = 5_000  # documents a second
CALM, SPARED_CALM, BUSY, SPARED_BUSY = "alone", "alone, spared", "next to the load", "next to the load, spared"


def lag_of(client):
    """Seconds that the slowest secondary is late, by the times of the last writes that members have applied."""
    members = client.command("admin", {"replSetGetStatus": 1})["members"]
    times = {state: [one["lastAppliedWallTime"] for one in members if one["stateStr"] == state] for state in ("PRIMARY", "SECONDARY")}
    return max(0, max(times["PRIMARY"]) - min(times["SECONDARY"])) / 1000


def ask(place, server, name, clients, seconds, load):
    """The figures by clients and member, and the lags meanwhile."""
    modes, rate = (("secondary",), ("--rate", SPARED)) if "spared" in name else (MODES, ())
    with place.client(server) as client, place.meter(name) as cost, Sampler(lambda: lag_of(client)) as lags:
        said = place.query("ycsb", collection(server, "study.ycsb"), "by-id", "--repeats", 2, "--clients", ",".join(map(str, clients)),
                           "--read-preference", ",".join(modes), "--duration", "%ds" % seconds, *rate, *load,
                           report=name.replace(", ", "-").replace(" ", "-"))
        cost.number = sum(one["n"] for one in said["queries"])
    if said.get("while_ended"):
        place.warn("%s: the load ended %s before the measurements did", name, said["while_ended"])
    return {(one["clients"], one["reads"]): one for one in said["queries"]}, sorted(lag for _, lag in lags.points)


def run(place):
    documents, seconds = place.documents(300_000, 30_000, 2_000), place.choose(20, 3, 1)
    clients = place.choose((8, 16, 32, 64), (8, 16, 32, 64), (2, 4))
    paths = place.made("ycsb", "--rows", str(documents))
    # the load lasts for twice as long as the longest measurement, which stops it
    more = place.made("ycsb", "--rows", str(LOAD_RATE * (2 * seconds * len(clients) * len(MODES) + 20)), "--first", str(documents))
    published = place.published("secondary reads")
    found, lags = {}, {}
    with place.server(replset=3, steady=True) as server:
        say("loading %s documents", count(documents))
        place.load("ycsb", collection(server, "study.ycsb"), paths)
        for name in (CALM, SPARED_CALM, BUSY, SPARED_BUSY):
            say("asking, %s", name)
            load = () if name in (CALM, SPARED_CALM) else ("--while", "%s load -f ycsb --uri '%s' -q --max-rate %d %s" % (
                place.tipple, collection(server, "study.more%d" % len(found)), LOAD_RATE, more[0]))
            found[name], lags[name] = ask(place, server, name, clients, seconds, load)

    def figure(name, number, mode, key="p95_ms"):
        return found[name][number, mode][key]

    def published_of(number):
        return [published[state].get(str(number), "-") for state in ("Feature off", "Feature on")]
    place.note("A replica set of three; %s documents, read one by its _id at a time; the load sends %s documents"
               " a second. Published: reads next to writes before 4.0 (off) and with 4.0 (on); no server of today has"
               " the feature off.",
               count(documents), count(LOAD_RATE))
    off_and_on = ["published off", "published on"]
    place.note("With %d requests a second of all clients, so that the CPUs have time: 95th percentile of a secondary,"
               " milliseconds.", SPARED)
    place.table(["clients", "alone", "load", *off_and_on],
                [[number, *(shown(figure(name, number, "secondary")) for name in (SPARED_CALM, SPARED_BUSY)), *published_of(number)]
                 for number in clients])
    for words, key, form, known in (("95th percentile, milliseconds", "p95_ms", "%.3g", off_and_on),
                                    ("99th percentile, milliseconds", "p99_ms", "%.3g", []),
                                    ("requests a second", "ops_per_second", "%.0f", [])):
        place.note("As fast as the clients can, alone and next to the load: %s.", words, page=bool(known))
        place.table(["clients", *("%s%s" % (mode, more) for mode in MODES for more in (", alone", ", load")), *known],
                    [[number, *(shown(figure(name, number, mode, key), form) for mode in MODES for name in (CALM, BUSY)),
                      *(published_of(number) if known else [])] for number in clients], together=2, page=bool(known))
    place.note("Replication lag while the clients read: how late the slowest secondary was, in seconds. Published, in words: less lag.")
    place.table(["", "samples", "median", "95th percentile", "largest"],
                [[name, len(lag), *("%.2f" % one for one in (statistics.median(lag), lag[int(0.95 * (len(lag) - 1))], lag[-1]))]
                 for name, lag in lags.items() if name in (BUSY, SPARED_BUSY)])
    few, many, off = clients[0], clients[-1], published["Feature off"]
    place.note("What carries over. Published in words: throughput with the feature is 1 to 2 times that without it.")
    place.table(["ratio", "here", "off", "on"], [
        *(["p95 of a secondary, %d clients by %d%s" % (many, few, words), ratio(figure(name, many, "secondary"), figure(name, few, "secondary")),
           "%.0f" % (int(off["64"]) / int(off["8"])), "0 by 0"] for name, words in ((BUSY, ", load"), (SPARED_BUSY, ", load, spared"))),
        *(["%s of a %s, %d clients, load by alone" % (words, mode, number), ratio(figure(BUSY, number, mode, key),
                                                                               figure(CALM, number, mode, key)), "-", "-"]
          for words, key in (("p95", "p95_ms"), ("requests/s", "ops_per_second")) for number in (few, many) for mode in MODES)],
        page=lambda row: row[-1] != "-")
    place.plot("Reads from a secondary: 95th percentile by clients", list(clients), {
        **{name: [figure(name, number, "secondary") for number in clients] for name in found},
        **{"published, %s" % state.lower(): [int(published[state].get(str(number), 0)) for number in clients]
           for state in ("Feature off", "Feature on")}}, "milliseconds")
    place.note("What differs here: %d CPUs serve three members, the readers and the load, so with more clients than"
               " CPUs a latency is mostly the time of waiting for a CPU; the article's members had hosts of their own."
               " The article does not say how heavy its writes were.", os.cpu_count())
    place.conclude("With %d requests a second, 95 %% of the reads from a secondary next to the load end within %s ms"
                   " for %d clients and %s ms for %d (published: 1 and 5 ms with the feature off, 0 and 0 with it on).",
                   SPARED,
                   shown(figure(SPARED_BUSY, few, "secondary")), few, shown(figure(SPARED_BUSY, many, "secondary")), many)
