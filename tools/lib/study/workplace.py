"""workplace: one folder for the data, the servers and the results of one study. Everything it starts ends with it."""
import contextlib
import html
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import clusters
import chromium
import minimongo
import mongods
import page
import procs
from meter import Meter

ROOT = pathlib.Path(__file__).resolve().parents[3]
PUBLISHED = json.loads((ROOT / "docs/studies/published.json").read_text())


class Failed(Exception):
    """The sentence says what went wrong."""


def say(words, *values):
    print(words % values if values else words, file=sys.stderr, flush=True)


def count(number):
    return "{:,}".format(number)


def time_of(seconds):
    """As the studies write it: minutes and seconds from a minute on."""
    if seconds is None:
        return "-"
    return "%d:%02d" % divmod(round(seconds), 60) if seconds >= 60 else "%.3g s" % seconds


def collection(server, name):
    """The URI of a collection, DATABASE.COLLECTION, of a server or a cluster."""
    head, _, options = server.partition("?")
    return "%s/%s%s" % (head.rstrip("/"), name, "?" + options if options else "")


def empty_page_cache():
    """False: this host does not let us."""
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3\n")
    except OSError:
        return False
    return True


class Workplace:
    def __init__(self, options):
        self.options, self.name = options, options.name
        self.folder, self.data = (options.dir.absolute() / name for name in (options.name, "data"))
        self.tipple = os.environ.get("TIPPLE") or ROOT / "build/release/tipple"
        self.lines, self.parts, self.plots, self.processes = [], [], [], ((), ())

    def __enter__(self):
        if not os.access(self.tipple, os.X_OK):
            raise Failed("%s is not there: build it first (tools/quickstart does)" % self.tipple)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self._remove_servers()
        return self

    def __exit__(self, *_):
        if not self.options.keep:
            self._remove_servers()
        if self.lines:
            (self.folder / "table.md").write_text("\n".join(self.lines) + "\n")
            report = self.folder / "report.html"
            report.write_text(page.page("tools/study %s" % self.name, self.parts, self.plots))
            say("the table is in %s, the report with plots in %s", *(os.path.relpath(self.folder / name)
                                                                     for name in ("table.md", report.name)))
            if self.options.picture and self.plots:
                self._picture(report)

    def _picture(self, report):
        with chromium.Browser(self.folder) as browser:
            shown = browser.open(report, width=780, height=60 + 330 * len(self.plots))
            shown.look(780, int(shown.value("document.getElementById('plots').getBoundingClientRect().bottom")) + 8)
            shown.screenshot(self.options.picture)

    def _remove_servers(self):
        for left in self.folder.glob("servers-*"):
            shutil.rmtree(left)

    # ---------------------------------------------------------------------------------------------- how much

    @property
    def tiny(self):
        return self.options.scale == 0

    def choose(self, full, quick, tiny):
        return tiny if self.tiny else quick if self.options.quick else full

    def documents(self, full, quick, tiny):
        return tiny if self.tiny else max(1, int((quick if self.options.quick else full) * self.options.scale))

    # ---------------------------------------------------------------------------------------------- programs

    def run(self, *words):
        """tipple with --json; what it printed. Rejects are no failure."""
        done = subprocess.run([str(word) for word in (self.tipple, *words)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=procs.tied_to_parent())
        if done.returncode not in (0, 2):
            raise Failed("tipple %s: %s" % (words[0], done.stderr.decode(errors="replace").strip()[-600:]))
        return json.loads(done.stdout) if done.stdout else None

    def made(self, kind, *words):
        """The file that `tipple generate` makes of these words, made once; or what --data names."""
        if self.options.data:
            return self.options.data
        path = self.data / ("-".join([kind, *(word.strip("-") for word in words)]) + ".txt")
        if not path.exists():
            say("making %s", path.name)
            part = path.with_suffix(".part")
            self.run("generate", kind, *words, "-q", "-o", part)
            part.rename(path)
        return [path]

    def load(self, form, uri, paths, *words):
        return self.run("load", "-f", form, "--uri", uri, "-q", "--json", *words, *paths)

    def query(self, suite, uri, *words, report=None):
        report_words = ("--report", self.folder / (report + ".html")) if report else ()
        return self.run("query", "--suite", suite, "--uri", uri, "--json", *words, *report_words)

    # ---------------------------------------------------------------------------------------------- servers

    @contextlib.contextmanager
    def server(self, **wanted):
        folder = self.folder / "servers-one"
        try:
            yield self._start_server(wanted)
        finally:
            mongods.stop(folder, gently=False)
            shutil.rmtree(folder, ignore_errors=self.options.keep is False)

    def _start_server(self, wanted):
        state = mongods.start(self.folder / "servers-one", tied=True, **wanted)
        self.processes = mongods.pids(state), ()
        return state["uri"]

    def restart_server(self, **wanted):
        """With other settings, and so with nothing in its cache."""
        mongods.stop(self.folder / "servers-one")
        return self._start_server(wanted)

    @contextlib.contextmanager
    def cluster(self, shards, cache, **wanted):
        """Gives a function that starts it again with another cache, and so with nothing in it, and says its URI."""
        folder = self.folder / ("servers-%d" % shards)

        def up(cache=cache, fresh=False):
            state = clusters.start(folder, fresh=True, tied=True, shards=shards, cache=cache, **wanted) if fresh else \
                clusters.restart(folder, tied=True, cache=cache)
            routers = [member["pid"] for member in state["members"] if member["role"] == "router"]
            self.processes = [pid for pid in mongods.pids(state) if pid not in routers], routers
            return state["uri"]
        try:
            yield up
        finally:
            clusters.stop(folder, gently=False)
            if not self.options.keep:
                shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def shards(self, shards):
        """Of the cluster of so many shards: its members that hold data, and a function that connects to one of them."""
        state = clusters.state_of(self.folder / ("servers-%d" % shards))
        yield [member for member in state["members"] if member["role"] == "shard"], \
            lambda member: clusters.client(state, [member])

    def meter(self):
        """What a span of time costs the servers that run now, and those who ask them."""
        return Meter(*self.processes)

    # ---------------------------------------------------------------------------------------------- results

    def tell(self, words="", *values):
        words = words % values if values else words
        self._print(words)
        self.parts += ["<p>%s</p>" % html.escape(words)] if words else []

    def _print(self, line):
        self.lines.append(line)
        print(line, flush=True)

    def plot(self, *words, **looks):
        self.plots.append(page.plot(*words, **looks))

    def table(self, head, rows, left=1):
        """A table of texts, as Markdown that reads well as it is; the first columns begin at the left."""
        cells = [[str(cell) for cell in row] for row in [head, *rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        line = ["-" * width if i < left else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
        for row in [cells[0], line, *cells[1:]]:
            self._print("| " + " | ".join(cell.ljust(width) if i < left else cell.rjust(width)
                                          for i, (cell, width) in enumerate(zip(row, widths))) + " |")
        self._print("")
        self.parts.append(page.table(cells[0], cells[1:], left))

    def host(self):
        memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1]) / 2**20
        return "%d CPUs, %.0f GB, %s" % (os.cpu_count(), memory, platform.machine())

    def published(self, table):
        """The rows of a published table: {row: {column: text}}."""
        return PUBLISHED[table]["rows"]

    @staticmethod
    def client(uri):
        return minimongo.Client(uri)
