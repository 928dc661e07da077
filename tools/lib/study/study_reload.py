"""The fastest reload of a replica set: all members load by the oplog, or one loads alone and the others get its data."""
import contextlib
import os
import statistics
import time

from workplace import collection, count, ratio, say, time_of

ARTICLE = ("The fastest reload of a replica set",
           "\"Resync a Member of a Replica Set\", MongoDB's manual, which has these ways to fill a member and no figures",
           "Is a replica set made faster by loading it, or by loading one server that becomes its first member?")
SET, SYNC, COPY = "set first", "one member first, initial sync", "one member first, its files copied"
MEMBERS = 3
LAST = "until all have all"  # of the steps


class Clock:
    """The seconds of each step, in order."""

    def __init__(self):
        self.steps = {}

    @contextlib.contextmanager
    def step(self, name):
        began = time.monotonic()
        yield
        self.steps[name] = self.steps.get(name, 0) + time.monotonic() - began


def wait_for_all(place, documents):
    """Until each member, asked alone, counts all documents."""
    for member in place.members():
        with place.client(member) as client:
            while client.command("study", {"count": "mot", "$readPreference": {"mode": "secondaryPreferred"}})["n"] < documents:
                time.sleep(0.02)


def reload(place, way, members, documents, paths):
    """From no server to `members` that answer; the seconds of each step. The proof is not part of the time."""
    clock = Clock()
    with contextlib.ExitStack() as stack:
        with clock.step("start"):
            server = stack.enter_context(place.server(replset=members if way == SET else 0))
        with clock.step("load and indexes"):
            place.load("mot", collection(server, "study.mot"), paths, "--index", "d:1,k:1")
        if way != SET:
            server = place.grow_server(phase=clock.step, replset=members, copied=way == COPY)
        with clock.step(LAST):
            wait_for_all(place, documents)
        place.run("verify", "-f", "mot", "--uri", collection(server, "study.mot"), "-q", "--json", *paths)
    return clock.steps


def note_steps(place, ways, page=True):
    names = sorted(dict.fromkeys(step for steps in ways.values() for step in steps), key=lambda step: step == LAST)
    place.table(["step", *ways], [[step, *(time_of(steps.get(step)) for steps in ways.values())] for step in names], page=page)


def run(place):
    documents, rounds = place.documents(2_000_000, 300_000, 2_000), place.choose(3, 2, 1)
    found, cpu, alone, paths = {}, {}, {}, place.made("mot", "--rows", str(documents))
    for number in range(rounds):
        for way in (SET, SYNC, COPY):
            say("round %d of %d: %s", number + 1, rounds, way)
            with place.meter("%s, round %d" % (way, number + 1), documents) as cost:
                found.setdefault(way, []).append(reload(place, way, MEMBERS, documents, paths))
            cpu.setdefault(way, []).append(cost.clients)
    for way in (SYNC, COPY):
        say("a set of two: %s", way)
        alone[way] = reload(place, way, 2, documents, paths)
    total = {way: statistics.median(sum(steps.values()) for steps in one) for way, one in found.items()}
    place.note("%s documents and an index, from no server to %d members that have all of them. Medians of %d rounds, in"
               " turns. After each reload verify found no difference.",
               count(documents), MEMBERS, rounds)
    place.table(["way", "time", "by the time of the set first"],
                [[way, time_of(one), ratio(one, total[SET])] for way, one in total.items()])
    for way, one in found.items():
        place.note("Steps, %s:", way, page=False)
        place.table(["step", "median", "least", "most"],
                    [[step, *(time_of(pick(steps[step] for steps in one)) for pick in (statistics.median, min, max))] for step in one[0]], page=False)
    place.note("Steps, medians:")
    note_steps(place, {way: {step: statistics.median(steps[step] for steps in one) for step in one[0]} for way, one in found.items()})
    place.note("The same with one member more only, so that no other member takes CPU meanwhile:", page=False)
    note_steps(place, alone, page=False)
    place.note("What differs elsewhere: %d CPUs and one disk serve all members here. Members with hosts of their own apply the"
               " oplog at the same time, so the set loads faster than here; a copy then goes over the network. A single server writes no"
               " oplog. Starts and elections take as long with more data. docs/disaster-recovery.md has the commands.", os.cpu_count())
    place.conclude_counts("The set first takes %.3g seconds of CPU of servers and client, one member first %.3g with an initial sync"
                          " and %.3g with copied files.", *(statistics.median(cpu[way]) for way in (SET, SYNC, COPY)))
    place.conclude("A member that is loaded alone, whose files are copied to the others, makes the set in %s of the time that"
                   " loading the set takes (%s and %s); with an initial sync instead it is %s.",
                   ratio(total[COPY], total[SET]), time_of(total[COPY]), time_of(total[SET]), ratio(total[SYNC], total[SET]))
