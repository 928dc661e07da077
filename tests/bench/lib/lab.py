"""lab: the bench's workplace below build/bench. Builds, makes the files, runs commands and measures them, and runs
the one server that a measurement needs. Everything it starts ends with it."""
import collections
import contextlib
import csv
import datetime
import fcntl
import gzip
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lib"), str(ROOT / "tests/lib")]
import minimongo  # noqa: E402
import mongods  # noqa: E402
import mongotools  # noqa: E402
import procs  # noqa: E402
from figures import Failed  # noqa: E402

BENCH = ROOT / "build/bench"
SOURCES = ROOT / "tests/bench"
DATABASE, COLLECTION = "bench", "records"
CPUS = os.cpu_count() or 1
TICK = os.sysconf("SC_CLK_TCK")
# What `tipple generate` makes of a format when it is asked for a number of records, and how to find the same documents again whatever their
# _ids. Weather records have no key of their own, but every contender gives them the same _id.
Kind = collections.namedtuple("Kind", "words order")
KINDS = {"mot": Kind(["mot", "--rows"], {"t": 1, "v": 1}),
         "isd": Kind(["isd", "--stations", "50", "--rows"], {"_id": 1}),
         "obd": Kind(["obd", "--rows"], {"_id": 1})}
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wstrict-prototypes"]


def say(words, *values):
    print(words % values if values else words, file=sys.stderr, flush=True)


def quietly(command, title, **more):
    """Runs a step of the set-up; its output goes to a log that is named when it fails."""
    say("  %s", title)
    log = BENCH / "logs" / (title.split()[0].rstrip(":") + ".log")
    with open(log, "wb") as out:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, preexec_fn=procs.tied_to_parent(), **more)
    if done.returncode != 0:
        lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
        raise Failed("%s: %s (the whole log is %s)" % (title, lines[-1][:300], log.relative_to(ROOT)))


# -------------------------------------------------------------------------------------------------- set-up

class Lab:
    def __init__(self):
        (BENCH / "logs").mkdir(parents=True, exist_ok=True)
        (BENCH / "data").mkdir(exist_ok=True)
        self.lock = open(BENCH / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed("another tools/bench is at work here; two would measure each other") from None
        self.tipple, self.meter, self.replay, self.reader = (
            BENCH / name for name in ("tipple", "meter", "replay", "reader"))

    def build(self):
        quietly(["cmake", "-S", ROOT, "-B", BENCH, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTIPPLE_TESTS=ON"],
                "cmake: configure a release build")
        self.target("tipple")
        compiler = os.environ.get("CC") or "cc"
        for program, sources in (("meter", ["meter.c"]), ("replay", ["replay.c", "replay_messages.c", "wire.c"]),
                                 ("reader", ["reader.c", "wire.c"])):
            quietly([compiler, "-std=gnu17", "-D_GNU_SOURCE", "-O2", *WARNINGS, "-pthread",
                     *[SOURCES / source for source in sources], "-o", BENCH / program], program + ": compile")

    def target(self, name, folder="."):
        """The path of a program of the project, built."""
        quietly(["cmake", "--build", BENCH, "--target", name], "build " + name)
        return BENCH / folder / name

    def mongotool(self, name):
        """The path of one of MongoDB's tools, built from their pinned module; Failed where there is no Go or no module."""
        program = mongotools.program(name)
        if not program:
            raise Failed("it cannot be built here (build/mongotools/%s.log)" % name)
        return program

    def mongoimport(self):
        return self.mongotool("mongoimport")

    def mongorestore(self):
        return self.mongotool("mongorestore")

    def python(self, venv="venv", requirements="requirements.txt"):
        """A Python that has what is pinned, pymongo and duckdb; Failed where pip cannot."""
        python, wanted = BENCH / venv / "bin/python", SOURCES / requirements
        mark = BENCH / venv / "installed.txt"
        if not mark.exists() or mark.read_text() != wanted.read_text():
            shutil.rmtree(BENCH / venv, ignore_errors=True)
            quietly([sys.executable, "-m", "venv", BENCH / venv], "venv: make")
            quietly([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check",
                     "--only-binary", ":all:", "-r", wanted], "pip: install what is in %s" % requirements)
            mark.write_text(wanted.read_text())
        return python

    pymongo = duckdb = python

    # ------------------------------------------------------------------------------------------- the files

    def made(self, name, make, by=None):
        """A file in build/bench/data, made once for each state of the program that makes it: tipple, or another one."""
        path = BENCH / "data" / name
        if not path.exists() or path.stat().st_mtime < (by or self.tipple).stat().st_mtime:
            say("  data: %s", path.relative_to(ROOT))
            part = path.with_name(path.name + ".part")
            make(part)
            part.rename(path)
        return path

    def generate(self, format, count, release=None):
        """The command that writes that many rows."""
        words = [self.tipple, "generate", *KINDS[format].words, count, "--seed", 1]
        return words + (["--release", release] if release else [])

    def rows(self, count, format="mot", release=None):
        name = "%s-%s%d.txt" % (format, release + "-" if release else "", count)
        return self.made(name, lambda part: self.into(part, self.generate(format, count, release)))

    def bson(self, count, format="mot"):
        rows = self.rows(count, format)
        return self.made("%s-%d.bson" % (format, count), lambda part: self.into(
            part, [self.tipple, "parse", "--format", format, "--emit", "bson", "--ids", rows]))

    def json(self, count, format):
        rows = self.rows(count, format)
        return self.made("%s-%d.json" % (format, count), lambda part: self.into(
            part, [self.tipple, "parse", "--format", format, "--emit", "json", "--ids", rows]))

    def gzip(self, count, format="mot"):
        rows = self.rows(count, format)

        def make(part):
            with open(rows, "rb") as plain, gzip.open(part, "wb", compresslevel=6) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)
        return self.made("%s-%d.txt.gz" % (format, count), make)

    def real_weather(self, count):
        """All weather records of the test data, as often as it takes for about that many; and how many they are."""
        texts = [gzip.decompress(path.read_bytes()) for path in sorted((ROOT / "tests/data/isd").glob("*.gz"))]
        records = sum(text.count(b"\n") for text in texts)
        times = max(1, round(count / records))

        def make(part):
            with open(part, "wb") as out:
                for _ in range(times):
                    out.writelines(texts)
        return self.made("isd-real-%d.txt" % (records * times), make), records * times

    def clean_csv(self, count):
        """The same documents as clean comma-separated text, columns in the order of KEYS: what mongoimport and a
        Python program can read without knowing the odd rows."""
        rows = self.rows(count)

        def make(part):
            words = [str(self.tipple), "parse", "--format", "mot", "--emit", "json", "--relaxed", str(rows)]
            parse = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=procs.tied_to_parent())
            with open(part, "w", newline="", encoding="utf-8") as out:
                writer = csv.DictWriter(out, [name for name, _ in KEYS], lineterminator="\n")
                for line in parse.stdout:
                    document = json.loads(line)
                    for key in ("d", "i"):
                        if key in document:
                            document[key] = _day(document[key]["$date"])
                    writer.writerow(document)
            if parse.wait() != 0:
                raise Failed("tipple parse ended with status %d" % parse.returncode)
        return self.made("mot-%d.csv" % count, make)

    @staticmethod
    def into(path, words):
        with open(path, "wb") as out:
            done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.PIPE, preexec_fn=procs.tied_to_parent())
        if done.returncode != 0:
            raise Failed("%s ended with status %d: %s" % (words[1], done.returncode,
                                                          done.stderr.decode().strip()[-300:]))

    @staticmethod
    def warm(path):
        """Into the page cache, piece by piece: this process stays small."""
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass

    # ------------------------------------------------------------------------------------------- measuring

    def run(self, command, documents, server=None, stdin=None, cpu=None, accept=(0,)):
        """Runs a command to its end and gives what it cost. The server's CPU is counted until a following fsync
        has come back, so that nobody leaves dirty pages to the next."""
        report, out, error = (BENCH / "logs" / name for name in ("report.json", "stdout", "stderr"))
        report.unlink(missing_ok=True)
        pinned = ["--cpu", str(cpu)] if cpu is not None else []
        cpu_before, busy_before, start = server.cpu() if server else (0, 0), busy_seconds(), time.monotonic()
        with open(out, "wb") as to, open(error, "wb") as to_error:
            process = subprocess.Popen([str(word) for word in [self.meter, *pinned, report, *command]],
                                       stdin=stdin or subprocess.DEVNULL, stdout=to, stderr=to_error,
                                       preexec_fn=procs.tied_to_parent())
            if stdin:
                stdin.close()
            process.wait()
        if server:
            server.settle()
        took = time.monotonic() - start
        cpu_after = server.cpu() if server else (0, 0)
        busy = busy_seconds() - busy_before
        name = pathlib.Path(str(command[0])).name
        if not report.exists():
            raise Failed("%s was not measured: %s" % (name, _last_line(error)))
        cost = json.loads(report.read_text())
        if cost["status"] not in accept:
            raise Failed("%s ended with status %d: %s" % (name, cost["status"], _last_line(error)))
        servers = [after - before for after, before in zip(cpu_after, cpu_before)]
        return Run(documents, cost, servers, busy - sum(servers), took, out.read_text(errors="replace"))

    @contextlib.contextmanager
    def server(self, cache, **more):
        """One server for all runs of a measurement, with no data; gone afterwards, whatever happens."""
        folder = BENCH / "server"
        mongods.clear(folder)
        try:
            yield Server(mongods.start(folder, cache=cache, tied=True, **more))
        finally:
            mongods.clear(folder)


# The MOT documents' keys and what mongoimport calls their types. The generated files are of a release without the
# 15th column.
KEYS = [("t", "int32()"), ("v", "int32()"), ("d", "date(2006-01-02)"), ("c", "string()"), ("y", "string()"),
        ("r", "string()"), ("m", "int32()"), ("s", "string()"), ("k", "string()"), ("o", "string()"),
        ("u", "string()"), ("f", "string()"), ("e", "int32()"), ("i", "date(2006-01-02)")]


def _day(date):
    """Relaxed JSON has a text from 1970 on and a number before."""
    if isinstance(date, str):
        return date[:10]
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=int(date["$numberLong"]))
    return moment.date().isoformat()


def _last_line(path):
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1][:300] if lines else "it said nothing"


def busy_seconds():
    """Seconds that all CPUs together have worked, or were taken away from this machine."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICK


class Run:
    """What one command cost: seconds, CPU seconds of client, servers and routers, bytes."""

    def __init__(self, documents, cost, servers, not_server_cpu, took, output):
        self.documents, self.output = documents, output
        self.seconds, self.peak_bytes = cost["seconds"], cost["peak_bytes"]
        self.user_cpu, self.client_cpu = cost["user"], cost["user"] + cost["system"]
        self.server_cpu, self.router_cpu = servers
        self.others, self.cpu_room = max(0.0, not_server_cpu - self.client_cpu), took * CPUS

    @property
    def rate(self):
        return self.documents / self.seconds

    @property
    def client_each(self):
        return self.client_cpu / self.documents

    @property
    def server_each(self):
        return self.server_cpu / self.documents

    @property
    def router_each(self):
        return self.router_cpu / self.documents


# --------------------------------------------------------------------------------------------- the server

def cpu_of(pids):
    """User and system seconds of these processes, to the clock tick (10 ms)."""
    total = 0
    for pid in pids:
        try:
            fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
        except OSError:
            raise Failed("a server has ended; its log is below build/bench") from None
        total += int(fields[11]) + int(fields[12])
    return total / TICK


class Server:
    def __init__(self, state):
        self.uri, self.pids = state["uri"], [member["pid"] for member in state["members"]]
        self.port = state["members"][0]["port"]
        self.client = minimongo.Client(self.uri, timeout=600)
        self.version = self.client.command("admin", {"buildInfo": 1})["version"]

    @property
    def namespace_uri(self):
        return self.uri.replace("/?", "/%s.%s?" % (DATABASE, COLLECTION))

    def cpu(self):
        """User and system seconds of the server's processes, and of routers before them."""
        return cpu_of(self.pids), 0.0

    def settle(self):
        self.client.command("admin", {"fsync": 1})

    def fresh(self, clustered=False):
        """No collection, or an empty clustered one; and nothing left to write of what was there before."""
        self.client.drop_database(DATABASE)
        if clustered:
            self.client.command(DATABASE, {"create": COLLECTION, "clusteredIndex": {"key": {"_id": 1}, "unique": True}})
        self.settle()
        time.sleep(0.3)

    def count(self):
        return self.client.command(DATABASE, {"count": COLLECTION})["n"]

    def digest(self):
        return self.client.command(DATABASE, {"dbHash": 1, "collections": [COLLECTION]})["collections"][COLLECTION]

    def own_seconds(self):
        """What the server itself says its commands took, all of them together since it started."""
        latencies = self.client.command("admin", {"serverStatus": 1})["opLatencies"]
        return sum(latencies[kind]["latency"] for kind in ("reads", "writes", "commands")) / 1e6

    def sample(self, count, order):
        """The first documents in this order, without their _ids."""
        return list(self.client.find(DATABASE, COLLECTION, projection={"_id": 0}, sort=order, limit=count))


def machine(server_version):
    """The machine in a line, without its name."""
    model = "unknown CPU"
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    with open("/proc/meminfo") as info:
        memory = int(info.readline().split()[1]) / (1 << 20)
    return "%d cores shared by client and server (%s), %.0f GiB memory, Linux %s, mongod %s" % (
        CPUS, model, memory, platform.release().split("-")[0], server_version)
