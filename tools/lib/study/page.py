"""page: the HTML report of a study: its sentences, its tables, and plots of lines or bars as SVG, which need nothing else."""
import html
import math

COLOURS = ("#1f6fb4", "#c8551b", "#2c8a4b", "#8a4fb0", "#8c6d1f", "#c2337a", "#4a5560", "#1b9aaa")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 720, 300, 62, 46, 30, 215
ORIGIN = "<!-- made by tools/study pages; its words stand in tools/lib/study/study_%s.py -->"
STYLE = """body{font:14px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1060px;padding:0 16px;color:#1c2330;background:#fff}
table{border-collapse:collapse;margin:10px 0 22px;font-size:13px}td,th{padding:3px 9px;border-bottom:1px solid #dde2e8;text-align:right}
td.l,th.l{text-align:left}th{border-bottom:2px solid #9aa5b1}figure{margin:14px 0}svg{max-width:100%;height:auto}div.t{overflow-x:auto}"""


def _ticks(low, high, log):
    if log:
        return [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10**math.floor(math.log10(high / 4)) if high else 1
    step *= next(factor for factor in (1, 2, 5, 10) if high / (step * factor) <= 5)
    return [step * number for number in range(math.ceil(high / step - 1e-9) + 1)]


def _number(value):
    return "{:,.0f}".format(value) if value >= 10 or value == int(value) else "%.3g" % value


def _text(x, y, words, anchor="start", more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>' % (x, y, anchor, more, html.escape(words))


def _lines(number, points, scale, colour):
    """A gap where there is no value."""
    parts, run = [], []
    for at, value in [*points, (0, None)]:
        if value is None:
            parts += ['<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>' % (
                " ".join(run), colour, ' stroke-dasharray="6 4"' if number >= 0 else "")] if len(run) > 1 else []
            run = []
        else:
            run.append("%.1f,%.1f" % (at, scale(value)))
            parts.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (at, scale(value), colour))
    return parts


def plot(title, xs, series, unit, bars=False, log=False):
    """series: {name: values, one for each of xs, or None}; what was published is dashed."""
    values = [value for one in series.values() for value in one if value is not None and (value > 0 or not log)]
    if not any(values):
        return ""
    ticks = _ticks(min(values), max(values), log)
    right, floor = WIDTH - LEGEND, HEIGHT - BOTTOM

    def scale(value):
        share = math.log10(value / ticks[0]) / math.log10(ticks[-1] / ticks[0]) if log else value / ticks[-1]
        return floor - (floor - TOP) * share
    step = (right - LEFT) / len(xs)
    parts = [_text(LEFT, 15, title, more='font-weight="600"'), _text(LEFT, 29, unit, more='fill="#5b6673" font-size="11"')]
    for tick in ticks:
        parts += ['<path d="M%d %.1fH%d" stroke="#dde2e8"/>' % (LEFT, scale(tick), right),
                  _text(LEFT - 6, scale(tick) + 4, _number(tick), "end")]
    parts += [_text(LEFT + step * (i + 0.5), floor + 17, str(x), "middle") for i, x in enumerate(xs)]
    for number, (name, line) in enumerate(series.items()):
        colour, published = COLOURS[number % len(COLOURS)], "published" in name
        line = [None if value is None or (log and value <= 0) else value for value in line]
        if bars:
            width = 0.8 * step / len(series)
            parts += ['<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (
                LEFT + step * (i + 0.1) + width * number, scale(value), width * 0.92, floor - scale(value), colour)
                for i, value in enumerate(line) if value is not None]
        else:
            parts += _lines(number if published else -1, [(LEFT + step * (i + 0.5), value) for i, value in enumerate(line)], scale,
                            colour)
        y = TOP + 18 * number + 6
        parts += ['<path d="M%d %dh18" stroke="%s" stroke-width="%d"%s/>' % (
            right + 14, y, colour, 10 if bars else 3, ' stroke-dasharray="6 4"' if published and not bars else ""),
            _text(right + 38, y + 4, name)]
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="system-ui,sans-serif" font-size="12" '
            'fill="#1c2330" style="background:#fff" role="img" aria-label="%s">%s</svg>' % (
                WIDTH, HEIGHT, WIDTH, html.escape(title), "".join(parts)))


def table(head, rows, left):
    def row(kind, cells):
        return "<tr>%s</tr>" % "".join("<%s%s>%s</%s>" % (kind, ' class="l"' if i < left else "", html.escape(str(cell)), kind)
                                       for i, cell in enumerate(cells))
    return '<div class="t"><table>%s</table></div>' % "".join([row("th", head), *(row("td", cells) for cells in rows)])


def page(title, top, plots, parts):
    """The plots come before the tables: they are what a reader looks for."""
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>%s</title><style>%s</style><h1>%s</h1>%s<div id="plots">%s</div>%s'
            '</html>\n' % (html.escape(title), STYLE, html.escape(title), "\n".join(top),
                           "".join("<figure>%s</figure>" % plot for plot in plots), "\n".join(parts)))
