r"""Tables: many small inputs or command lines, and what the command makes of each.

A table is one file, tests/cli/tables/NAME.table. The sign at the beginning of a line says what the line is:

    # A comment.
    @ mkdir data                                   a line of sh, run before all rows, in an empty folder
    $ tipple load --threads 0 a.csv => 1 '0' 256   a command line: its exit status, and words of what it prints
    < id,n\n1,Ann\n => , header / id:int n         an input and the format that is guessed for it
    < apple,pear\nplum,cherry\n                    an input with several settings, which are options of the guess:
        5 header                                   refused with status 5, in a sentence with this word
        header=yes => , header / apple pear        the format: delimiter, keys of the record / columns with their types
            ["plum","cherry"] !3:2                 documents by the columns (_ for no value), LINE:COLUMN of rejects
        kept => 0                                  the format that is guessed for the first input, for all inputs
        format=./own.yaml => 2                     a format that a line of sh has made

A column without a type is a text. The format may end in "says WORD ...": these words, and no !WORD, are in what `tipple
parse` prints about the guess. In words, _ stands for any character. Documents with ... at one end are a part of all.

Two lines of input in a row are two files. `<+ ` continues a long line; `<file NAME` is a file that a line of sh made.
\n, \t, \r, \\ and \xHH are characters; \[20*{n},x{n*2}\n\] is its inner text for n from 1 to 20, and \[2,3,17*...\] for
these n.
"""
import json
import re
import shlex

WIDTH = 120
CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
REPEATED = re.compile(r"\\\[([\d,]+)\*(.*?)\\\]")
NUMBER = re.compile(r"\{([n0-9+*%/() -]+)(?::(\w+))?\}")
QUOTED = r'"(?:\\.|[^"\\])*"'
ITEM = re.compile(r'(\w+): +((?:\[(?:%s|[^]"])*\]|%s|[^,\["])+)' % (QUOTED, QUOTED))  # of a map in a line of YAML
PLAIN = re.compile(r'"([^\s"\\,:()]+)"')
REJECT = re.compile(r"warning: rejected [^\n]*?:(\d+:\d+) \(offset ")


def characters(escaped):
    """Returns the bytes that a line of input stands for."""
    def copies(match):
        numbers = [int(number) for number in match[1].split(",")]
        return "".join(NUMBER.sub(lambda each: format(eval(each[1], {"n": n}), each[2] or ""), match[2])
                       for n in (numbers if len(numbers) > 1 else range(1, numbers[0] + 1)))

    def character(name):
        return bytes([int(name[1:], 16)]) if name[0] == "x" else CHARACTERS[name].encode()

    parts = re.split(r"\\(x[0-9a-f]{2}|.)", REPEATED.sub(copies, escaped))
    return b"".join(character(part) if at % 2 else part.encode() for at, part in enumerate(parts))


def has_words(text, words):
    return all(bool(re.search(re.escape(word.lstrip("!")).replace("_", "."), text)) != word.startswith("!")
               for word in words)


def wrapped(indent, words):
    """Returns words as lines of the table."""
    lines = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += " " + word
        else:
            lines.append(" " * (8 if lines else indent) + word)
    return lines


def shown(key, value):
    return key if value == "yes" else "%s=%s" % (key, value)


def column(keys):
    """Returns a column of a format as NAME, NAME:TYPE or NAME:TYPE(KEY=VALUE ...)."""
    name, kind = PLAIN.sub(r"\1", keys.pop("name")), keys.pop("type", "text")
    pattern = [keys.pop("pattern")] if "pattern" in keys else []
    rest = " ".join(pattern + [shown(*pair) for pair in keys.items()])
    return name + (":" + kind if kind != "text" else "") + ("(%s)" % rest if rest else "")


def reading(text):
    """Returns a printed format file in the words of the table, and the names of its columns."""
    record = dict(ITEM.findall(re.search(r"^record: \{(.*)\}$", text, re.M)[1]))
    delimiter = re.sub(r'^\["(.*)"\]$', r"\1", record.pop("delimiter", "")).replace("\\t", "tab")
    others = re.findall(r"^(?!format|about|record|fields)(\w+): (.*)$", text, re.M)
    others += [("layout", columns) for columns in re.findall(r"^  - (\[.*\])$", text, re.M)]
    fields = [dict(ITEM.findall(line)) for line in re.findall(r"^  - \{(.*)\}$", text, re.M)]
    names = [json.loads(field["name"]) if field["name"][0] == '"' else field["name"] for field in fields]
    words = [delimiter] * bool(delimiter) + [shown(*pair) for pair in [*record.items(), *others]]
    return " ".join(words + ["/"] * bool(fields) + [column(field) for field in fields]), names


def value(found):
    """Returns a value as JSON; a date, and other types that JSON does not have, as DATE or TYPE:VALUE."""
    if not isinstance(found, dict):
        return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    kind, inner = next(iter(found.items()), ("", ""))
    if kind == "$date":
        return inner.replace("T00:00:00Z", "")
    if kind.startswith("$"):
        return kind[1:] + ":" + (inner if isinstance(inner, str) else inner["base64"])
    return "{%s}" % ",".join('"%s":%s' % (key, value(each)) for key, each in found.items())


def document(line, names):
    found = json.loads(line)
    if set(found) <= set(names):
        return "[%s]" % ",".join(value(found[name]) if name in found else "_" for name in names)
    return value(found)


def some(wanted, lines, names):
    """Returns the documents of these lines, or as many of the first or last ones as are wanted."""
    first, last = wanted.endswith("..."), wanted.startswith("...")
    if not first and not last:
        return [document(line, names) for line in lines]
    room = len(re.sub(r"( !\d+:\d+)+$|\.\.\.", "", wanted).strip())
    taken = []
    for line in reversed(lines[1:]) if last else lines[:-1]:
        if len(" ".join([*taken, document(line, names)])) > room and taken:
            break
        taken.append(document(line, names))
    return ["...", *reversed(taken)] if last else [*taken, "..."]


class Expectation:
    """What a row is expected to give with some settings: `SETTINGS => WANTED`, and documents."""

    def __init__(self, name, text, inline=False):
        self.name, self.inline = name, inline  # inline: it stands in the line of its input or command
        self.settings, self.wanted, self.documents = "", "", ""
        self.add(text)

    def add(self, text):
        """Takes a line of it."""
        if self.documents or text[0] in "[{!" or text.startswith("... "):
            self.documents = (self.documents + " " + text).strip()
        else:
            settings, _, self.wanted = (self.text(self.wanted) + " " + text).strip().rpartition("=> ")
            self.settings = settings.strip()

    def text(self, wanted):
        return (self.settings + " => " if self.settings else "") + wanted

    def given(self):
        """Is the format given, not guessed?"""
        return bool(re.search(r"\bkept\b|\bformat=", self.settings))

    def refused(self):
        return self.wanted[:1].isdigit() and not self.given()

    @staticmethod
    def option(word):
        """header=no is --with header=no; type=a:int is an option itself."""
        option = re.match("(header|dates|decimal|delimiter|quote|encoding|nested)=", word)
        return "--with " + shlex.quote(word) if option else shlex.quote("--" + word)

    def script(self, files):
        """Returns lines of sh that keep what the commands print in the files NAME.out and so on."""
        options = " ".join(self.option(word) for word in shlex.split(self.settings) if word != "kept")
        guess = "tipple formats --guess %s %s" % (options, files)
        parse = "tipple parse --relaxed %s %s" % (options, files)
        if "format=" in self.settings:
            guess = "true"
        elif self.given():
            guess = "tipple formats --guess %s %s" % (options, files.split()[0])
            parse = "tipple parse --relaxed -f ./%s.out %s" % (self.name, files)
        lines = "%s >%s.out 2>%s.err; status=$?; echo $status >%s.status\n" % (guess, *[self.name] * 3)
        if self.documents or self.given() or self.refused() or " says " in self.wanted:
            lines += "if [ $status = 0 ]; then %s >%s.docs 2>%s.err; echo $? >%s.parsed; fi\n" % (
                parse, *[self.name] * 3)
        return lines

    def found(self, folder, command):
        """Returns what came out, as (WANTED, documents)."""
        def text(kind):
            path = folder / (self.name + "." + kind)
            return path.read_bytes().decode(errors="backslashreplace").rstrip("\n") if path.exists() else "none"

        status, said = text("status"), text("err")
        if command:
            said += text("out")
        elif status == "0" and self.refused():  # by a record, not by the guess
            status, said = text("parsed"), text("err")
        if command or status != "0":
            words = self.wanted.split()[1:]
            right = has_words(said, words) and (words or status == "0")
            return " ".join([status, *(words if right else said.split())]), []
        wanted, names = reading(text("out")) if text("out") else ("", [])
        if self.given():
            wanted = text("parsed")
        elif " says " in self.wanted:
            words = self.wanted.partition(" says ")[2].split()
            wanted += " says " + " ".join(words if has_words(text("err"), words) else text("err").split())
        if not self.documents:
            return wanted, []
        printed, rejects = text("docs").splitlines(), REJECT.findall(text("err"))
        names = names or ([name for line in printed for name in json.loads(line)] if self.given() else [])
        names = list(dict.fromkeys(names))
        if not self.given() and text("parsed") != ("2" if rejects else "0"):
            wanted += " status " + text("parsed")
        return wanted, some(self.documents, printed, names) + ["!" + at for at in rejects]


class Row:
    def __init__(self, number, begin):
        self.name, self.begin = "r%d" % number, begin  # begin: its lines in the table, without expectations
        self.inputs, self.command, self.expectations = [], None, []

    def expect(self, text, inline=False):
        self.expectations.append(Expectation("%s-%d" % (self.name, len(self.expectations)), text, inline))

    def take(self, line):
        if line.startswith("<file "):
            self.inputs.append(line[6:])
        elif line.startswith("<+ "):
            self.inputs[-1] += characters(line[3:])
        elif line.startswith("< "):
            self.inputs.append(characters(line[2:]))
        else:
            self.command = line[2:]

    def script(self, folder):
        """Writes the inputs; returns lines of sh."""
        if self.command:
            return "( %s\n) >%s-0.out 2>%s-0.err; echo $? >%s-0.status\n" % (self.command, *[self.name] * 3)
        files = [each if isinstance(each, str) else "%s.%d" % (self.name, at) for at, each in enumerate(self.inputs)]
        for name, each in zip(files, self.inputs):
            if isinstance(each, bytes):
                (folder / name).write_bytes(each)
        return "".join(each.script(" ".join(files)) for each in self.expectations)

    def lines(self, folder):
        """Returns its lines with what came out in the place of what was expected."""
        lines = self.begin.splitlines()
        for each in self.expectations:
            wanted, documents = each.found(folder, self.command)
            text = each.text(wanted)
            if each.inline and len(lines[-1] + text) + 4 <= WIDTH:
                lines[-1] += " => " + text
            else:
                lines += wrapped(4, text.split(" "))
            lines += wrapped(8, documents)
        return lines


class Table:
    def __init__(self, text):
        self.parts, self.setup = [], ""  # parts: rows, and other lines as they are
        row = None
        for number, line in enumerate(text.splitlines(), 1):
            begin, inline, wanted = line.partition(" => ")
            if line.startswith(" " * 8):
                row.expectations[-1].add(line.strip())
            elif line.startswith("    "):
                row.expect(line.strip())
            elif line[:1] in ("<", "$"):
                if row and not row.expectations and line[0] == "<":
                    row.begin += "\n" + begin
                else:
                    row = Row(number, begin)
                    self.parts.append(row)
                row.take(begin)
                if inline:
                    row.expect(wanted, True)
            else:
                self.setup += line[2:] + "\n" if line.startswith("@ ") else ""
                self.parts.append(line)

    def script(self, folder):
        return self.setup + "".join(part.script(folder) for part in self.parts if isinstance(part, Row))

    def outcome(self, folder):
        """Returns the table as it would have to be to pass."""
        lines = [line for part in self.parts for line in ([part] if isinstance(part, str) else part.lines(folder))]
        return "".join(line + "\n" for line in lines)
