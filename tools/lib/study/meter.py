"""meter: what a span of time cost this host: CPU of the servers, of routers, of their clients and of all other programs,
what the servers read, and the writes of the disks (Linux)."""
import os
import resource
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def _cpu(pid):
    fields = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _files(pid):
    """Bytes that the server read of its files, and those of them that came from the disk and not from the page cache."""
    found = dict(line.split(": ") for line in open("/proc/%d/io" % pid).read().splitlines())
    return int(found["rchar"]), int(found["read_bytes"])


def _disk_writes():
    """Writes that the disks of this host have completed."""
    disks = [name for name in os.listdir("/sys/block") if not name.startswith(("loop", "ram", "dm-", "md"))]
    return sum(int(fields[7]) for fields in map(str.split, open("/proc/diskstats")) if fields[2] in disks)


class Meter:
    """Between its two ends these servers and routers must live. CPU in seconds, what was read in bytes."""

    def __init__(self, servers, routers=()):
        self.groups = {"servers": list(servers), "routers": list(routers)}

    def _now(self):
        children = resource.getrusage(resource.RUSAGE_CHILDREN)  # that have ended
        files = [_files(pid) for pid in self.groups["servers"]]
        user, nice, system = (int(one) / TICKS for one in open("/proc/stat").readline().split()[1:4])
        return {"seconds": time.monotonic(), "writes": _disk_writes(), "host": user + nice + system, "clients": children.ru_utime + children.ru_stime,
                "asked": sum(one for one, _ in files), "read": sum(one for _, one in files),
                **{name: sum(map(_cpu, pids)) for name, pids in self.groups.items()}}

    def __enter__(self):
        self.before = self._now()
        return self

    def __exit__(self, *_):
        for name, after in self._now().items():
            setattr(self, name, after - self.before[name])
        self.others = max(0, self.host - self.servers - self.routers - self.clients)


class Sampler:
    """Asks every half second, in a thread of its own, from the beginning of its body to its end: [(seconds, the answer)]."""

    def __init__(self, ask):
        self.ask, self.points, self.ended = ask, [], threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        ended = False
        while not ended:
            ended = self.ended.wait(0.5 if self.points else 0)
            self.points.append((time.monotonic() - self.began, self.ask()))

    def __enter__(self):
        self.began = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
