"""meter: what a span of time cost this host: CPU of the servers, of routers, of what asks them and of everybody else, how
the CPUs' time was divided, and what the servers read from disk and wrote to it (Linux)."""
import os
import resource
import time

TICKS = os.sysconf("SC_CLK_TCK")
SHARES = ("user", "sys", "iowait", "idle")


def _host():
    """Seconds of all CPUs since the start, without what a hypervisor gave to others."""
    user, nice, system, idle, iowait, irq, soft = (int(one) / TICKS for one in open("/proc/stat").readline().split()[1:8])
    return {"user": user + nice, "sys": system + irq + soft, "iowait": iowait, "idle": idle}


def _cpu(pid):
    fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _disk(pid):
    found = dict(line.split(": ") for line in open("/proc/%d/io" % pid).read().splitlines())
    return int(found["read_bytes"]), int(found["write_bytes"])


class Meter:
    """Between its two ends these servers and routers must live. CPU in seconds, disk in bytes, shares of all CPUs."""

    def __init__(self, servers, routers=()):
        self.groups = {"servers": list(servers), "routers": list(routers)}

    def _now(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)  # that have ended
        disk = [_disk(pid) for pid in self.groups["servers"]]
        return {"seconds": time.monotonic(), "host": _host(), "clients": children.ru_utime + children.ru_stime,
                "read": sum(one for one, _ in disk), "written": sum(one for _, one in disk),
                **{name: sum(map(_cpu, pids)) for name, pids in self.groups.items()}}

    def __enter__(self):
        self.before = self._now()
        return self

    def __exit__(self, *_):
        after, before = self._now(), self.before
        for name in ("seconds", "servers", "routers", "clients", "read", "written"):
            setattr(self, name, after[name] - before[name])
        host = {name: after["host"][name] - before["host"][name] for name in SHARES}
        total = sum(host.values()) or 1
        self.shares = {name: host[name] / total for name in SHARES}
        self.others = max(0, host["user"] + host["sys"] - self.servers - self.routers - self.clients)


def costs_table(place, rows, left="", unit="a document"):
    """rows: name, how many documents or requests, meter. CPU seconds show who had the CPUs; per document they compare."""
    table = []
    for name, number, cost in rows:
        ours = cost.servers + cost.routers + cost.clients
        table.append([name, "%.3g" % cost.seconds, *("%.3g" % one for one in (cost.servers, cost.routers, cost.clients, cost.others)),
                      "%.3g" % (1e6 * ours / number), *("%.0f" % (100 * cost.shares[share]) for share in SHARES),
                      "%.3g" % (cost.read / 1e6), "%.3g" % (cost.written / 1e6)])
    place.table([left, "seconds", "servers", "routers", "clients", "others", "µs " + unit, *("%s %%" % share for share in SHARES),
                 "read MB", "written MB"], table)
