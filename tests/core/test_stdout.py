"""What src writes to stdout goes through src/base/log.c, which escapes it; and JSON is printed by src/base/document.c alone, from a
document."""
import re
import unittest

from prose import ROOT

BARE = re.compile(r"(?<![\w.>])(?:printf|vprintf|puts|putchar)\s*\(|(?<!fflush\()(?<!ferror\()(?<!setvbuf\()\bstdout\b")
JSON = re.compile(r"\bbson_(array_)?as_(\w+_)?json\w*\s*\(")
RAW = re.compile(r"""\b(?:sh|db)\.\w+\((?:\\"|')%.*""")

TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
NAMES = re.compile(r'[{\[,]\s*\\"|\\"\s*:')  # of fields, in the middle of a text


def without_comments(text):
    """Nor characters; texts and lines stay where they are."""
    return re.sub(r'("(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/|//[^\n]*',
                  lambda found: found[1] or "\n" * found[0].count("\n"), text, flags=re.S)


def json_by_hand(text):
    """Texts with names of JSON fields."""
    return [found[1] for found in TEXT.finditer(without_comments(text)) if NAMES.search(found[1])]


def line_ends(text):
    """Texts with a line end that stand for a %s of out_print, which shows it as \\x0a."""
    code, wrong = without_comments(text), []
    for call in re.finditer(r"\bout_print\(", code):
        depth, at, first = 1, call.end(), True
        while depth:
            word = TEXT.match(code, at)
            if word and not first and "\\n" in word[1]:
                wrong.append(word[1])
            depth += not word and (code[at] in "([{") - (code[at] in ")]}")
            first = first and (word is not None or depth != 1 or code[at] != ",")
            at = word.end() if word else at + 1
    return wrong


def without_words(text):
    """Comments and what stands in quotes are no code; lines stay where they are."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])+\'',
                  lambda found: "\n" * found[0].count("\n") or '""', text, flags=re.S)


def bare(text):
    """Lines that print to stdout by themselves."""
    code = without_words(text)
    return [code.count("\n", 0, found.start()) + 1 for found in BARE.finditer(code)]


class Stdout(unittest.TestCase):
    def source(self, but):
        for path in sorted((ROOT / "src").rglob("*.[ch]")):
            if path.relative_to(ROOT / "src").as_posix() not in but:
                yield path, path.read_text()

    def test_one_way(self):
        """nobody else prints to stdout"""
        wrong = ["%s:%d" % (path, line) for path, text in self.source(["base/log.c"]) for line in bare(text)]
        self.assertEqual([], wrong, "print it by out_print or out_lines (src/base/log.h)")

    def test_json(self):
        """nobody else has libbson print JSON, which leaves control characters of the C1 set as they are"""
        wrong = [str(path) for path, text in self.source(["base/document.c"]) if JSON.search(without_words(text))]
        self.assertEqual([], wrong, "print it by ejson_print (src/base/document.h)")

    def test_json_by_hand(self):
        """no JSON is put together of pieces: a result is a document, and result_print prints it"""
        wrong = [(str(path), text) for path, code in self.source([]) if "src/cli/" in str(path) for text in json_by_hand(code)]
        self.assertEqual([], wrong, "put it into the result's document (src/report/result.h)")

    def test_line_ends(self):
        """a line end is in the format, not in what stands for a %s"""
        wrong = [(str(path), text) for path, code in self.source(["base/log.c"]) for text in line_ends(code)]
        self.assertEqual([], wrong, "two formats with and without it, or a call of its own")

    def test_shell(self):
        """no name stands raw in a command for the mongo shell"""
        wrong = ["%s: %s" % (path, found[0]) for path, text in self.source([]) for found in RAW.finditer(text)]
        self.assertEqual([], wrong, "quote it by ejson_append_text or ejson_text (src/base/document.h)")
        self.assertTrue(RAW.search('"sh.enableBalancing(\\"%s\\")"') and RAW.search('"db.getCollection(\'%s\')"'))


if __name__ == "__main__":
    unittest.main()
