"""figures: what several runs of the same thing showed, and tables of it.

A cell that cannot be trusted does not look like a number: "failed", "too noisy (0.31–0.55)", or, of few runs or
on a machine that was busy with something else, "~0.31".
"""
import re
import statistics

FEW = 3       # fewer runs than this are a hint, not a measurement
NOISY = 0.20  # of the median: what the middle half of the runs may span
BUSY = 0.10   # of all CPUs: what other programs may take while a run is measured


class Failed(Exception):
    """A measurement that gave no number; the text says why."""


class Figures:
    """The values of one quantity, one a run; None is a run that failed. Scatter is judged against `scale`, the
    median unless given: a small difference of two large figures scatters more than itself."""

    def __init__(self, values, disturbed=False, enough=FEW, scale=None):
        values, self.enough, self.scale = list(values), enough, scale
        self.values = [value for value in values if value is not None]
        self.failed = len(values) - len(self.values)
        self.disturbed = disturbed
        self.n = len(self.values)
        if self.n:
            self.median, self.low, self.high = statistics.median(self.values), min(self.values), max(self.values)

    @property
    def noisy(self):
        if self.n < 2:
            return False
        first, _, third = statistics.quantiles(self.values, n=4, method="inclusive")
        return third - first > NOISY * (self.scale or abs(self.median))

    @property
    def usable(self):
        return self.n > 0 and not self.failed and not self.noisy

    @property
    def doubtful(self):
        return self.n < self.enough or self.disturbed

    def text(self, unit):
        if self.failed or not self.n:
            return "failed"
        spread = "%s–%s" % (unit(self.low).removesuffix(" %"), unit(self.high))
        if self.noisy:
            return "too noisy (%s)" % spread
        shown = ("~" if self.doubtful else "") + unit(self.median)
        return "%s (%s)" % (shown, spread) if self.n > 1 else shown


def of_runs(runs, function, enough=FEW):
    return Figures([function(run) if run else None for run in runs], disturbed(runs), enough)


def of_pairs(first, second, function, scale=None):
    """One value a round, of two runs that stood side by side in it."""
    values = [function(a, b) if a and b else None for a, b in zip(first, second)]
    return Figures(values, disturbed(first + second), scale=scale)


def others_share(runs):
    """What other programs took of the CPUs while these ran. Summed, because the kernel counts in steps of 10 ms."""
    room = sum(run.cpu_room for run in runs if run)
    return sum(run.others for run in runs if run) / room if room else 0


def disturbed(runs):
    return others_share(runs) > BUSY


def others_note(runs):
    return "other programs took %s of the CPUs meanwhile" % percent(others_share(runs)) + (
        "; ~ marks what that makes doubtful" if disturbed(runs) else "")


# ---------------------------------------------------------------------------------------------------- units

def thousands(value):
    return "%.2fm" % (value / 1e6) if value >= 1e6 else "%.0fk" % (value / 1e3)


def micro(value):  # of seconds
    return "%.3f" % (value * 1e6) if abs(value) < 1e-6 else "%.2f" % (value * 1e6) if abs(value) < 1e-4 \
        else "%.0f" % (value * 1e6)


def nano(value):
    return "%.0f" % (value * 1e9)


def milli(value):
    return "%.1f" % (value * 1e3)


def seconds(value):
    return "%.2f" % value


def mebibytes(value):
    return "%.0f" % (value / (1 << 20))


def megabytes(value):
    return "%.0f" % (value / 1e6)


def percent(value):
    return "%.1f %%" % (value * 100)


def times(value):
    return "%.3g" % value if value < 100 else "%.0f" % value


# --------------------------------------------------------------------------------------------------- tables

class Table:
    def __init__(self, title, header, notes=()):
        self.title, self.header, self.rows, self.notes = title, header, [], list(notes)
        self.columns, self.chosen, self.facts = None, None, []  # of the page: None is all

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def text(self):
        lines = [self.header] + self.rows
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        drawn = ["  ".join([line[0].ljust(widths[0])] +
                           [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]) for line in lines]
        drawn.insert(1, "-" * len(drawn[0]))
        return "\n".join(["", self.title, ""] + drawn + self._notes("  "))

    def on_page(self, columns=None, rows=None, facts=()):
        """The columns besides the first and the rows that the page shows, by name, and sentences below them."""
        self.columns, self.chosen, self.facts = columns, rows, list(facts)

    def markdown(self, titled=True):
        """For the page: without ranges, since what scatters says so itself, and without the conditions of a run."""
        shown = [at for at, name in enumerate(self.header) if name != "n" and (at == 0 or self.columns is None or name in self.columns)]
        rows = [row for row in self.rows if self.chosen is None or row[0] in self.chosen]
        lines = ["| " + " | ".join(_median(line[at]) for at in shown) + " |" for line in [self.header, *rows]]
        lines.insert(1, "|---|" + "---:|" * (len(shown) - 1))
        title = ["**%s**" % self.title, ""] if titled else []
        return "\n".join(title + lines + ([""] + ["- " + fact for fact in self.facts] if self.facts else []))

    def _notes(self, mark):
        return [mark + note for note in self.notes]


def _median(cell):
    """A cell without its range or deviation."""
    return re.sub(r"^(~?-?\d.*?) (\(.*\)|σ .*)$", r"\1", cell).replace("|", "\\|")


def on_page(tables):
    """The tables of one section of the page, with their titles where there are several."""
    shown = [table for table in tables if table.chosen != []]
    return "\n\n".join(table.markdown(len(shown) > 1) for table in shown)


class Target:
    """A promise, and what became of it."""

    def __init__(self, promise, figures, unit, most=None, least=None):
        self.promise, self.figures, self.text = promise, figures, figures.text(unit)
        self.most, self.least = most, least

    def verdict(self, preliminary):
        if not self.figures.usable:
            return self._every_run() or "not measured"
        met = self.figures.median <= self.most if self.most is not None else self.figures.median >= self.least
        doubt = ", as far as can be seen" if preliminary or self.figures.doubtful else ""
        return ("met" if met else "**not met**") + doubt

    def _every_run(self):
        """Runs that scatter can still be on one side, all of them."""
        figures = self.figures
        if figures.failed or not figures.n:
            return None
        if self.most is not None:
            return "every run below" if figures.high <= self.most else None
        return "every run above" if figures.low >= self.least else None


def targets_table(targets, preliminary):
    """Targets that are not met; the others are counted."""
    table = Table("Targets that are not met", ["target that is not met", "measured", ""])
    for target in targets:
        if not target.verdict(preliminary).startswith(("met", "every run")):
            table.add(target.promise, target.text, target.verdict(preliminary))
    table.notes.append("%d of %d targets are met" % (len(targets) - len(table.rows), len(targets)))
    table.on_page(facts=table.notes)
    return table
