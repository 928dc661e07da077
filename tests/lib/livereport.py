"""livereport: pages that --report has written, read without any of tipple.

    page = livereport.Page(path)        # fails where the page is not whole, or needs anything but itself
    page.figures["documents loaded"]    # as a user reads it
    page.tables["By shard"]             # [{"shard": "a", "documents": "1,200", ...}, ...]

    livereport.look_at(case, folder, paths)    # in a browser: phone and desktop, light and dark, print
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess

ALONE = {"meta"}
WITHIN = {"small", "span", "svg", "rect", "b"}  # the words around it go on
FORBIDDEN = {"src", "srcset", "style", "action", "xlink:href"}
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
WIDTHS, PAPER = (360, 800, 1280), 680  # of A4 between its margins
# what is read, and what it is read on; a picture needs less
TEXTS = [("ink", "page"), ("soft", "page"), ("fair", "page"), ("ink", "wash"), ("ink", "track"), ("good", "good-wash"),
         ("fair", "fair-wash"), ("bad", "bad-wash")]
PICTURES = [("s0", "page")]


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.text = pathlib.Path(path).read_text(encoding="utf-8")
        self.open, self.found, self.figures, self.tables, self.notes = [], [], {}, {}, []
        self.words, self.name, self.heading, self.caption, self.row, self.style = [], None, "", None, None, ""
        self.sentence, self.pictures, self.lines = "", [], []
        assert self.text.startswith("<!DOCTYPE html>\n"), self.text[:80]
        self.feed(self.text)
        self.close()
        assert not self.open, "not closed: %s" % self.open
        assert "script" not in self.found and "link" not in self.found and "img" not in self.found
        assert not re.search(r"url\(|@import|@font-face|expression", self.style, re.I)
        assert ("meta", "Content-Security-Policy", POLICY) in self.metas()
        assert "width=device-width" in self.text
        for picture in self.pictures:
            assert picture[:2] == ["title", "desc"], "a picture without title and description"

    def metas(self):
        return re.findall(r'<(meta) http-equiv="([^"]*)" content="([^"]*)">', self.text)

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        for name, value in attributes:
            assert not name.startswith("on") and name not in FORBIDDEN, (tag, name)
            assert name != "href" or value.startswith("#"), (tag, value)
        if tag not in ALONE:
            self.open.append((tag, dict(attributes)))
        attributes = dict(attributes)
        outer = self.open[-2][1] if len(self.open) > 1 else {}
        if outer.get("role") == "img" and len(self.pictures[-1]) < 2:
            self.pictures[-1].append(tag)
        if attributes.get("role") == "img":
            self.pictures.append([])
        if tag == "tr":
            self.row = []
        if tag not in WITHIN:
            self.words = []

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "style":
            self.style += data
        elif self.open and self.open[-1][0] != "small":
            self.words.append(data)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, "%s closes %s" % (tag, self.open[-1:])
        words, attributes = "".join(self.words).strip(), self.open[-1][1]
        if tag == "h2":
            self.heading = words
        elif tag == "p" and attributes.get("class") == "sentence":
            self.sentence = words
        elif tag == "p" and attributes.get("class", "").startswith("line"):
            self.notes.append(words)
        elif tag == "dt":
            self.name = words
        elif tag == "dd":
            self.figures[self.name] = words
        elif tag == "caption":
            self.caption = words
            self.tables.setdefault(self.caption, [])
            self.columns = []
        elif tag in ("th", "td") and any(each[0] == "thead" for each in self.open):
            self.columns.append(words)
        elif tag in ("th", "td"):
            self.row.append(words)
        elif tag == "tr" and self.row:
            self.tables[self.caption].append(dict(zip(self.columns, self.row)))
        elif tag == "code":
            self.lines.append(words)
        self.open.pop()
        if tag not in WITHIN:
            self.words = []


# ---------------------------------------------------------------------------------------------------- browser

def contrast(one, other):
    """As the Web Content Accessibility Guidelines compute it, of "#rrggbb"."""
    def luminance(colour):
        parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


BROWSER = os.environ.get("TIPPLE_CHROMIUM") or shutil.which("chromium")

# Stands before a page's own policy, and says what the page looks like where it is shown; with all details open nothing may
# stick out, no table be wider than its place, and no text of a picture lie over another one or leave the window.
PROBE = """<script>onload = () => {
    const root = document.documentElement, colour = name => getComputedStyle(root).getPropertyValue('--' + name).trim()
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
    const all = (where, what) => Array.from(where.querySelectorAll(what)), wide = root.scrollWidth
    all(document, 'details').forEach(each => { each.open = true })
    const wrong = all(document, '.scroll').filter(each => each.scrollWidth > each.clientWidth + 1).map(
        each => 'wide: ' + each.innerText.slice(0, 60))
    all(document, 'svg').forEach(svg => {
        const texts = all(svg, 'text').map(each => [each.textContent, each.getBoundingClientRect()]).filter(each => each[1].width)
        texts.forEach(([one, at], i) => {
            wrong.push(...texts.slice(0, i).filter(other => over(at, other[1])).map(other => one + ' over ' + other[0]))
            if (at.left < 0 || at.right > innerWidth) wrong.push(one + ' is outside')
        })
    })
    if (Math.max(wide, root.scrollWidth) > innerWidth) wrong.push('it sticks out')
    if (document.body.innerText.length < 200) wrong.push('nothing is shown')
    parent.postMessage([name, wrong, Object.fromEntries(COLOURS.map(each => [each, colour(each)]))], '*')
}</script>"""
ALL = """<!DOCTYPE html><script>const all = []
onmessage = message => { if (all.push(message.data) == FRAMES) document.body.textContent = JSON.stringify(all) }</script>"""


def shown(folder, *words):
    """What the browser prints, and its complaints about a page: anything that the page asked for is one."""
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                           "--user-data-dir=%s" % (folder / "browser"), *words], capture_output=True, timeout=600, check=True)
    return done.stdout.decode(), [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line]


def look_at(case, folder, paths):
    """Every page on phone and desktop, light and dark, and as it is printed."""
    names = sorted({name for pair in TEXTS + PICTURES for name in pair})
    frames = []
    for path in paths:
        text = path.read_text(encoding="utf-8").replace("<head>", "<head>" + PROBE.replace("COLOURS", json.dumps(names)))
        path.with_suffix(".seen.html").write_text(text, encoding="utf-8")
        printed = text.replace("@media print", "@media all").replace("@media screen and", "@media not all and")
        path.with_suffix(".printed.html").write_text(printed, encoding="utf-8")
        frames += [(path.with_suffix(".seen.html"), width) for width in WIDTHS] + [(path.with_suffix(".printed.html"), PAPER)]
    (folder / "all.html").write_text(ALL.replace("FRAMES", str(len(frames))) + "".join(
        '<iframe name="%s, %d wide" src="%s" width="%d" height="800" style="border: 0"></iframe>' % (
            path.name, width, path.name, width) for path, width in frames), encoding="utf-8")
    for number, scheme in enumerate(("dark", "light")):
        out, complaints = shown(folder, "--blink-settings=preferredColorScheme=%d" % number, "--virtual-time-budget=60000",
                                "--dump-dom", (folder / "all.html").as_uri())
        case.assertEqual([], complaints)
        seen = json.loads(html.unescape(re.search("<body>(.*)</body>", out, re.S)[1]))
        case.assertEqual(len(frames), len(seen))
        for where, wrong, colours in seen:
            case.assertEqual([], wrong, "%s, %s" % (where, scheme))
            case.assertEqual(scheme == "light" or "printed" in where, contrast(colours["page"], "#ffffff") < 2, where)
            for pairs, least in ((TEXTS, 4.5), (PICTURES, 3)):
                for one, other in pairs:
                    case.assertGreaterEqual(contrast(colours[one], colours[other]), least, "%s, %s: %s on %s" % (
                        where, scheme, one, other))
    shown(folder, "--print-to-pdf=%s" % (folder / "all.pdf"), paths[0].as_uri())
    case.assertTrue((folder / "all.pdf").read_bytes().startswith(b"%PDF"))
