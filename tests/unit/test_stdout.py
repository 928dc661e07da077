"""What src writes to stdout goes through src/base/out.c, which escapes it; and JSON is printed by src/base/ejson.c alone."""
import re
import unittest

from testnames import ROOT

BARE = re.compile(r"(?<![\w.>])(?:printf|vprintf|puts|putchar)\s*\(|(?<!fflush\()(?<!ferror\()(?<!setvbuf\()\bstdout\b")
JSON = re.compile(r"\bbson_(array_)?as_(\w+_)?json\w*\s*\(")


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
        wrong = ["%s:%d" % (path, line) for path, text in self.source(["base/out.c"]) for line in bare(text)]
        self.assertEqual([], wrong, "print it by out_print or out_lines (src/base/out.h)")

    def test_json(self):
        """nobody else has libbson print JSON, which leaves control characters of the C1 set as they are"""
        wrong = [str(path) for path, text in self.source(["base/ejson.c"]) if JSON.search(without_words(text))]
        self.assertEqual([], wrong, "print it by ejson_print (src/base/ejson.h)")

    def test_found(self):
        """what the check looks for"""
        for text, lines in (('int a;\nprintf("%s", a);', [2]), ("fputs(a,\n stdout);", [2]), ("fwrite(a, 1, 2, stdout);", [1]),
                            ("FILE *out = a ? stdout : stderr;", [1]), ('snprintf(a, 1, "printf(");', []),
                            ("fputs(a, stderr);\nfflush(stdout);", []), ("/* printf( */ out_print(a);", []),
                            ("if (ferror(stdout)) putchar('a');", [1])):
            self.assertEqual(lines, bare(text), text)


if __name__ == "__main__":
    unittest.main()
