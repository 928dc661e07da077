"""livereport: pages that --report has written, read without any of tipple.

    page = livereport.Page(path)        # fails where the page is not whole, or needs anything but itself
    page.figures["documents loaded"]    # as a person reads it
    page.tables["By shard"]             # [{"shard": "a", "documents": "1,200", ...}, ...]

    livereport.look_at(case, folder, paths)    # in a browser: phone and desktop, light and dark, print
"""
import html.parser
import pathlib
import re

import chromium

ALONE = {"meta"}
WITHIN = {"small", "span", "svg", "rect", "b"}  # the words around it go on
FORBIDDEN = {"src", "srcset", "style", "action", "xlink:href"}
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
PAPER = 680  # of A4 between its margins
SCHEMES = ("light", "dark")
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


def check_colours(case, page, where):
    def colour(name):
        return page.value("getComputedStyle(document.documentElement).getPropertyValue('--%s').trim()" % name)
    for pairs, least in ((TEXTS, 4.5), (PICTURES, 3)):
        for one, other in pairs:
            case.assertGreaterEqual(contrast(colour(one), colour(other)), least, "%s: %s on %s" % (where, one, other))


def check_width(case, page, width, where):
    """Nothing sticks out, nor does it when all details are open."""
    wide = page.value("document.documentElement.scrollWidth")
    page.value("document.querySelectorAll('details').forEach(each => { each.open = true })")
    opened = page.value("document.documentElement.scrollWidth")
    case.assertLessEqual(max(wide, opened), width, where)


def check_tables(case, page, where):
    """No table is wider than its place, so that nobody has to scroll it."""
    wide = page.value("Array.from(document.querySelectorAll('.scroll')).filter("
                      "each => each.scrollWidth > each.clientWidth + 1).map(each => each.innerText.slice(0, 60))")
    case.assertEqual([], wide, where)


# of every picture, the pairs of texts of which one lies over the other, and the texts that leave the window
OVERLAPS = """Array.from(document.querySelectorAll('svg')).flatMap(svg => {
    const texts = Array.from(svg.querySelectorAll('text')).map(each => [each.textContent, each.getBoundingClientRect()])
        .filter(each => each[1].width)
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
    return texts.flatMap((one, i) => texts.slice(0, i).filter(other => over(one[1], other[1]))
        .map(other => one[0] + ' over ' + other[0])).concat(
        texts.filter(one => one[1].left < 0 || one[1].right > innerWidth).map(one => one[0] + ' is outside'))
})"""


def look_at(case, folder, paths):
    """Every page on phone and desktop, light and dark, and printed. A browser that ends by itself is no fault of a page,
    unless it does so again and again."""
    paths, ends = list(paths), 0
    while paths:
        try:
            with chromium.Browser(folder) as browser:
                while paths:
                    look_at_page(case, browser, paths[0])
                    del paths[0]
        except chromium.Ended as ended:
            print("%s: %s" % (paths[0], ended), flush=True)
            ends += 1
            if ends == 3:
                raise


def look_at_page(case, browser, path):
    for width in (360, 1280):
        for scheme in SCHEMES:
            where = "%s, %d wide, %s" % (pathlib.Path(path).name, width, scheme)
            page = browser.open(path, width=width, height=800, scheme=scheme)
            seen = chromium.colours(page.screenshot(scale=0.25))
            case.assertGreater(len(seen), 20, where + ": nothing is drawn")
            background = max(seen, key=seen.get)
            case.assertEqual(scheme == "light", sum(background) > 384, where)
            check_width(case, page, width, where)
            check_tables(case, page, where)
            check_colours(case, page, where)
            case.assertEqual([], page.value(OVERLAPS), where)
            case.assertEqual(([page.url], []), (page.requests, page.said), where)
            page.close()
    page = browser.open(path, width=800)
    check_width(case, page, 800, path)
    check_tables(case, page, path)
    page.close()
    page = browser.open(path, width=PAPER, scheme="dark", media="print")
    check_width(case, page, PAPER, "%s, printed" % path)
    check_colours(case, page, "printed")
    case.assertEqual("#ffffff", page.value(
        "getComputedStyle(document.documentElement).getPropertyValue('--page').trim()"))
    case.assertTrue(page.pdf().startswith(b"%PDF"))
    case.assertEqual([], page.said)
    page.close()
