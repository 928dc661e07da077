"""workplace: one folder for the data, the servers and the results of one study. Everything it starts ends with it.

Sentences and tables are collected while a study measures, and printed at its end, below the title, the article, the
conclusion, and the warnings of all commands. What its servers used meanwhile is the last table."""
import contextlib
import html
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import textwrap
import time

import clusters
import minimongo
import mongods
import page
import procs
from meter import Meter

ROOT = pathlib.Path(__file__).resolve().parents[3]
PUBLISHED = json.loads((ROOT / "docs/studies/published.json").read_text())
DEVIATION = re.compile(r" σ \S+")
WIDTH, PAGE_WIDTH = 80, 150  # columns of a screen, and of a page of docs
OTHERS = 10  # percent of the CPUs: with more for other programs a figure is not this host's


class Failed(Exception):
    """The sentence says what went wrong."""


def say(words, *values):
    print(words % values if values else words, file=sys.stderr, flush=True)


def count(number):
    return "{:,}".format(number)


def shown(value, form="%.3g"):
    return "-" if value is None else form % value


def ratio(over, under):
    return "%.2f" % (over / under) if over is not None and under else "-"


def time_of(seconds):
    """Minutes and seconds from a minute on, as the studies write it."""
    if seconds is None:
        return "-"
    return "%d:%02d min" % divmod(round(seconds), 60) if seconds >= 60 else "%.3g s" % seconds


def collection(server, name):
    """The URI of a collection, DATABASE.COLLECTION, of a server or a cluster."""
    head, _, options = server.partition("?")
    return "%s/%s%s" % (head.rstrip("/"), name, "?" + options if options else "")


def first_line(*command):
    """What this program prints first; nothing if it cannot."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.partition("\n")[0]


def empty_page_cache():
    """False: this host does not let us."""
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3\n")
    except OSError:
        return False
    return True


class Workplace:
    def __init__(self, options, name, article):
        """article: its title; who published it, when and where; and what it asked."""
        self.options, self.name, self.article = options, name, article
        self.folder, self.data = (options.dir.absolute() / part for part in (name, "data"))
        self.tipple = os.environ.get("TIPPLE") or ROOT / "build/release/tipple"
        self.parts, self.plots, self.costs, self.warnings, self.processes = [], [], [], [], ((), ())
        self.page_parts = []  # those of the page of docs
        self.measured, self.counted = "", ""  # the sentences on top
        self.page, self.began = self.folder / "page", time.monotonic()
        self.commit = first_line("git", "describe", "--always", "--dirty", "--exclude=*")  # nothing without a repository

    def __enter__(self):
        if not os.access(self.tipple, os.X_OK):
            raise Failed("%s is not there: build it first (tools/quickstart does)" % self.tipple)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.data.mkdir(exist_ok=True)
        self._remove_servers()
        shutil.rmtree(self.page, ignore_errors=True)
        return self

    def __exit__(self, kind, *_):
        self._remove_servers()
        if kind:
            self.warn("the study failed, and this is not all of it")
        if self.parts:
            self._publish(whole=not kind)

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
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode not in (0, 2):
            raise Failed("tipple %s: %s" % (words[0], said[-600:]))
        for line in said.splitlines():
            if line.startswith("tipple: warning: "):
                self.warn("tipple %s: %s", words[0], line.partition("warning: ")[2])
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
            self.processes = (), ()
            shutil.rmtree(folder, ignore_errors=True)

    def _start_server(self, wanted, start=mongods.start):
        state = start(self.folder / "servers-one", tied=True, **wanted)
        self.processes = mongods.pids(state), ()
        return state["uri"]

    def grow_server(self, **wanted):
        """Makes it the first member of a replica set."""
        return self._start_server(wanted, mongods.grow)

    def members(self):
        """The URI of each member."""
        return ["mongodb://127.0.0.1:%d/?directConnection=true" % member["port"]
                for member in mongods.read_state(self.folder / "servers-one")["members"]]

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
            if folder.exists():  # else it could not be started, and the error says why
                clusters.stop(folder, gently=False)
                shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def shards(self, shards):
        """The members of this cluster that hold data, and a function that connects to one of them."""
        state = clusters.state_of(self.folder / ("servers-%d" % shards))
        yield [member for member in state["members"] if member["role"] == "shard"], \
            lambda member: clusters.client(state, [member])

    # ---------------------------------------------------------------------------------------------- results

    def note(self, words, *values, page=True):
        """A sentence; page: the page of docs has it, too."""
        self.parts.append(words % values if values else words)
        if page:
            self.page_parts.append(self.parts[-1])

    def table(self, head, rows, left=1, together=1, page=True):
        """A table of texts; the first columns begin at the left. A wide one becomes several, each with these columns and
        some of the others, of which `together` are kept next to each other. page: the page of docs has it, too, or the rows
        that this function takes, without deviations."""
        cells = [[str(cell) for cell in row] for row in rows]
        head = [str(cell) for cell in head]
        self.parts.append(([head, *cells], left, together))
        chosen = [row for row in cells if page(row)] if callable(page) else cells if page else []
        if chosen:
            self.page_parts.append(([head, *([DEVIATION.sub("", cell) for cell in row] for row in chosen)], left, together))

    def plot(self, title, *words, **looks):
        drawn = page.plot(title, *words, **looks)
        if drawn:
            self.plots.append((title, drawn))

    def conclude(self, words, *values):
        """The sentence on top, from times and rates. Where other programs disturbed them, there is no such sentence."""
        self.measured = words % values

    def conclude_counts(self, words, *values):
        """A sentence on top from sizes, counts and seconds of CPU, which stands in any case."""
        self.counted = words % values

    def leave_out(self, names):
        """Rows of the article's tables that are not made at this scale."""
        if names:
            self.note("Left out at this scale: %s.", "; ".join(names))

    @contextlib.contextmanager
    def meter(self, name=None, number=1):
        """What a span of time costs the servers that run now, and those who ask them. With a name it is a row of the last
        table; `number` of the result is how many documents or requests share the costs."""
        cost = Meter(*self.processes)
        cost.name, cost.number = name, number
        with cost:
            yield cost
        if name:
            self.costs.append(cost)

    def warn(self, words, *values):
        said = words % values if values else words
        if said not in self.warnings:
            self.warnings.append(said)

    def _tell_costs(self):
        self.note("What the machine did (seconds of CPU; µs of all but others for each document or request; MB read from the disk):")
        routers = any(cost.routers for cost in self.costs)
        self.table(["what", "seconds", "servers", *(["routers"] if routers else []), "clients", "others", "µs each", "disk MB"],
                   [[cost.name, *("%.3g" % one for one in (
                       cost.seconds, cost.servers, *([cost.routers] if routers else []), cost.clients, cost.others,
                       1e6 * (cost.servers + cost.routers + cost.clients) / (cost.number or 1), cost.read / 1e6))]
                    for cost in self.costs])

    def _publish(self, whole):
        """For a screen, as a report and, of a whole study, as a page of docs with its pictures."""
        shares = {cost.name: 100 * cost.others / cost.seconds / os.cpu_count() for cost in self.costs}
        held, disturbed = max(shares.values(), default=0), [name for name, share in shares.items() if share > OTHERS]
        if disturbed:
            self.warn("other programs disturbed %s", "; ".join(disturbed))
            self.measured = "No conclusion about times, because other programs disturbed them."
        title, source, question = self.article
        conclusion = " ".join(filter(None, (self.counted, self.measured)))
        top = ["After %s. %s" % (source, question), self._made("other programs held up to %.0f %% of the CPUs" % held)]
        top += ["**%s**" % conclusion] if conclusion else []
        top += ["Warnings: %s." % "; ".join(self.warnings)] if self.warnings else []
        if whole:
            self._write_page(["# " + title, page.ORIGIN % self.name, *top])
        if self.costs:
            self._tell_costs()
        text = "\n\n".join(_markdown(part, WIDTH) for part in ["# " + title, *top, *self.parts])
        print(text, flush=True)
        (self.folder / "table.md").write_text(text + "\n")
        report = self.folder / "report.html"
        report.write_text(page.page(title, map(_html, top), [drawn for _, drawn in self.plots], map(_html, self.parts)))
        say("the table is in %s, the report with plots in %s", *(os.path.relpath(self.folder / name) for name in ("table.md", report.name)))

    def _write_page(self, top):
        self.page.mkdir()
        pictures = []
        for number, (title, drawn) in enumerate(self.plots, 1):
            name = "%s-%d.svg" % (self.name, number)
            (self.page / name).write_text(drawn + "\n")
            pictures.append("![%s](%s)" % (title, name))
        text = "\n\n".join(_markdown(part, PAGE_WIDTH) for part in [*top, *pictures, *self.page_parts])
        (self.page / (self.name + ".md")).write_text(text + "\n")

    def _made(self, disturbance):
        """What the figures depend on, and the command that makes them again."""
        memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1]) / 2**20
        scale = "tiny" if self.tiny else "%g" % self.options.scale
        command = ["tools/study", self.name, "--scale", scale, *(["--quick"] if self.options.quick else []),
                   *(["--data", "FILE..."] if self.options.data else [])]
        return "Scale %s, %s: %s on %d CPUs, %.0f GB, %s, with mongod %s and %s%s; %s. Again: `%s`" % (
            scale, time.strftime("%-d %B %Y"), time_of(time.monotonic() - self.began), os.cpu_count(), memory, platform.machine(),
            first_line(mongods.find(), "--version").rpartition("v")[2], first_line(self.tipple, "--version"),
            self.commit and ", commit " + self.commit, disturbance, " ".join(command))

    def published(self, table):
        """The rows of a published table: {row: {column: text}}."""
        return PUBLISHED[table]["rows"]

    @staticmethod
    def client(uri):
        return minimongo.Client(uri)


def _pieces(cells, left, together, most):
    """The table as tables of at most that many columns of text."""
    widths = [max(len(row[i]) for row in cells) + 3 for i in range(len(cells[0]))]
    chosen, room = [], 0
    for at in range(left, len(widths), together):
        group = range(at, min(at + together, len(widths)))
        wide = sum(widths[i] for i in group)
        if not chosen or wide > room:
            chosen.append(list(range(left)))
            room = most - 1 - sum(widths[:left])
        chosen[-1] += group
        room -= wide
    return [[[row[i] for i in piece] for row in cells] for piece in chosen]


def _markdown(part, width):
    """A table that reads well as it is, or a sentence."""
    if isinstance(part, str):
        return part if part.startswith("# ") else textwrap.fill(part, min(width, 145), break_long_words=False, break_on_hyphens=False)
    tables, left = [], part[1]
    for cells in _pieces(*part, width):
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = ["| " + " | ".join(cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in enumerate(
            zip(row, widths))) + " |" for row in cells]
        lines.insert(1, "|" + "".join("-" * (width + 1) + ("-|" if i < left else ":|") for i, width in enumerate(widths)))
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _html(part):
    if isinstance(part, str):
        words = html.escape(part)
        return "<p>%s</p>" % ("<b>%s</b>" % words[2:-2] if words.startswith("**") else words)
    return "".join(page.table(cells[0], cells[1:], part[1]) for cells in _pieces(*part, 2 * WIDTH))
