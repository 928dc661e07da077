"""Checks a made-up file of MOT results against what is known of the published files of its release.

Every line is read by the rules of its release (delimiter, quoting, header, columns, codes, ranges), ids must be
unique, a vehicle must stay the same from test to test, and in files that are long enough the shares must be near
the published ones. It knows nothing of the generator but its promise."""
import collections
import datetime
import re

COLUMNS = ("test_id vehicle_id test_date test_class_id test_type test_result test_mileage postcode_area make model "
           "colour fuel_type cylinder_capacity first_use_date completed_date").split()
NUMBERS = {0, 1, 3, 6, 12}  # the columns that are written bare where text is quoted

NEW_TYPES = {"NT", "RT", "ES", "EI"}
PARTIAL_TYPES = {"PL", "PV"}  # not seen any more in the files of 2021 and later
NEW_RESULTS = {"P", "F", "PRS", "ABA", "ABR", "ABRVE", "R"}
OLD_TYPES = {"N", "F", "PL", "PM", "PR", "RF"}
OLD_RESULTS = {"P", "F", "PRS", "ABA", "ABR", "R", "ABO"}
RETESTS = {"RT", "PL", "PV", "PM", "PR", "F"}
FUELS = set("PE DI EL ST LP CN LN FC OT GA GB HY GD ED".split())
COLOURS = {"BEIGE", "BLACK", "BLUE", "BRONZE", "BROWN", "CREAM", "GOLD", "GREEN", "GREY", "MAROON", "MULTI-COLOUR",
           "NOT STATED", "ORANGE", "PINK", "PURPLE", "RED", "SILVER", "TURQUOISE", "WHITE", "YELLOW"}
AREAS = set("""AB AL B BA BB BD BH BL BN BR BS CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E EC EH EN
EX FK FY G GL GU HA HD HG HP HR HS HU HX IG IP IV KA KT KW KY L LA LD LE LL LN LS LU M ME MK ML N NE NG NN NP NR NW
OL OX PA PE PH PL PO PR RG RH RM S SA SE SG SK SL SM SN SO SP SR SS ST SW SY TA TD TF TN TQ TR TS TW UB W WA WC WD
WF WN WR WS WV YO ZE XX""".split())

Release = collections.namedtuple(
    "Release", "year delimiter header quoting types results fuels null width columns surplus")
RELEASES = {
    "2013": Release(2013, "|", False, "none", OLD_TYPES, OLD_RESULTS, None, "NULL", 30, 14, set()),
    "2016": Release(2016, "|", True, "none", NEW_TYPES | PARTIAL_TYPES, NEW_RESULTS, FUELS, "", 50, 14, {2}),
    "2017-first": Release(2017, ",", True, "none", NEW_TYPES | PARTIAL_TYPES, NEW_RESULTS, FUELS, "", 50, 14,
                          {1, 2, 3}),
    "2017": Release(2017, "|", True, "none", NEW_TYPES | PARTIAL_TYPES, NEW_RESULTS, FUELS, "", 50, 14, set()),
    "2020": Release(2020, ",", True, "needed", NEW_TYPES | PARTIAL_TYPES, NEW_RESULTS, FUELS, "", 50, 14, set()),
    "2021": Release(2021, ",", True, "text", NEW_TYPES, NEW_RESULTS, FUELS, "", 50, 14, set()),
    "2023": Release(2023, "|", True, "none", NEW_TYPES, NEW_RESULTS, FUELS, "", 50, 14, set()),
    "2024": Release(2024, ",", True, "needed", NEW_TYPES, NEW_RESULTS, FUELS, "", 50, 15, set()),
}

# What a file must hold of each kind: near the published share where there is one, else a rarity. Chance gets five
# standard deviations on top.
RARE = (1 / 400000, 1 / 20000)
SHARES = {
    "all": {
        "class 4": (0.90, 0.97), "class 1": (0.002, 0.02), "class 2": (0.01, 0.04), "class 3": (1e-5, 1e-3),
        "class 5": (5e-4, 5e-3), "class 7": (0.01, 0.05),
        "result P": (0.66, 0.80), "result F": (0.18, 0.32), "result PRS": (0.03, 0.07),
        "result ABA": (1e-4, 1e-2), "result ABR": (1e-4, 1e-2), "result R": RARE,
        "retest": (0.12, 0.24), "retest after a failure": (0.11, 0.24),
        "first use 1971-01-01": (0.005, 0.02), "first use empty": (1e-4, 5e-3), "first use before 1900": RARE,
        "first use after the test": RARE, "engine empty, not electric": (0.003, 0.012),
        "engine 99999": (1 / 200000, 1 / 5000), "engine above 10000": (1 / 50000, 1 / 1000),
        "mileage empty": (0.001, 0.012), "mileage 0": (1 / 20000, 1 / 500), "mileage 999999": (1 / 200000, 1 / 5000),
        "mileage above 900000": (1 / 20000, 1 / 500), "stray area": RARE, "area XX": (1e-3, 2e-2),
        "model with a comma": (1 / 400000, 1 / 40000), "make UNCLASSIFIED": (1e-5, 1e-2),
    },
    "new": {"petrol": (0.52, 0.68), "diesel": (0.29, 0.45), "steam": (1 / 100000, 1 / 1000),
            "type ES": (1 / 2e6, 1 / 4e5), "type EI": (1 / 4e6, 1 / 20000), "result ABRVE": (1 / 100000, 1 / 5000)},
    "partial": {"type PL": RARE, "type PV": RARE},
    "2013": {"petrol": (0.60, 0.75), "diesel": (0.25, 0.40), "padded class": (1 / 5000, 1 / 200),
             "test date NULL": RARE, "bytes above 127": RARE, "type RF": RARE, "result ABO": RARE},
    "2016": {"surplus fields": RARE, "class 0": RARE},
    "2017-first": {"surplus fields": (1 / 260000, 1 / 65000)},
    "2020": {"quoted model": (1 / 200000, 1 / 20000), "escaped quote": RARE, "hybrid or electric": (0.008, 0.04)},
    "2021": {"DVSA": (1 / 100000, 1 / 40000), "first use in year 4": RARE, "make empty": RARE,
             "hybrid or electric": (0.01, 0.05)},
    "2023": {"hybrid or electric": (0.02, 0.08), "electric": (0.003, 0.02)},
    "2024": {"quoted model": (1 / 200000, 1 / 20000), "escaped quote": RARE, "header again": (1 / 600000, 1 / 250000),
             "mileage empty": (0.006, 0.014), "engine empty": (0.01, 0.025), "completed empty": RARE,
             "hybrid or electric": (0.03, 0.12)},
}


def shares_of(name):
    release = RELEASES[name]
    wanted = dict(SHARES["all"])
    if release.types is not OLD_TYPES:
        wanted.update(SHARES["new"])
    if "PV" in release.types:
        wanted.update(SHARES["partial"])
    wanted.update(SHARES.get(name, {}))
    return wanted


class Bad(Exception):
    """A row that the release does not allow."""


def split_quoted(line, delimiter):
    """Fields as (text, was quoted); a quote inside quotes is written with a backslash."""
    fields, at = [], 0
    while True:
        if at < len(line) and line[at] == '"':
            text, at = [], at + 1
            while at < len(line) and line[at] != '"':
                if line[at] == "\\":
                    at += 1
                    if line[at:at + 1] != '"':
                        raise Bad("a backslash before something else than a quote")
                text.append(line[at])
                at += 1
            if at >= len(line):
                raise Bad("an open quote")
            at += 1
            fields.append(("".join(text), True))
        else:
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            fields.append((line[at:end], False))
            at = end
        if at == len(line):
            return fields
        if line[at] != delimiter:
            raise Bad("text after a closing quote")
        at += 1


DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z")
NUMBER = re.compile(r"(0|[1-9]\d*)\Z")
COMPLETED = re.compile(r"(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z\Z")
dates = {}


def date_of(text):
    """A real date of the usual shape, else None."""
    if text not in dates:
        match = DATE.match(text)
        try:
            dates[text] = match and datetime.date(*map(int, match.groups()))
        except ValueError:
            dates[text] = None
    return dates[text]


class Checker:
    def __init__(self, name):
        self.name, self.release = name, RELEASES[name]
        self.counts = collections.Counter()
        self.test_ids, self.vehicles, self.failed = set(), {}, set()
        self.rows = 0
        self.last_date = datetime.date(1, 1, 1)
        self.miles_by_age = collections.defaultdict(lambda: [0, 0])
        columns = COLUMNS[:self.release.columns]
        self.header = self.release.delimiter.join(columns)

    def need(self, condition, what):
        if not condition:
            raise Bad(what)

    def fields_of(self, line):
        release = self.release
        if release.quoting == "none":
            self.need('"' not in line, "a quote")
            texts = line.split(release.delimiter)
            surplus = len(texts) - release.columns
            if surplus:
                self.need(surplus in release.surplus, f"{len(texts)} fields")
                texts[9:10 + surplus] = [release.delimiter.join(texts[9:10 + surplus])]
                self.counts["surplus fields"] += 1
                self.counts[f"rows of {release.columns + surplus} fields"] += 1
                if release.delimiter == "|":
                    self.need(texts[8:10] == ["TOYOTA", "Estima ||"], "pipes in another model than the Estima")
            return texts
        fields = split_quoted(line, release.delimiter)
        self.need(len(fields) == release.columns, f"{len(fields)} fields")
        for column, (text, quoted) in enumerate(fields):
            if release.quoting == "text":
                self.need(quoted == (column not in NUMBERS and text != ""), f"quoting of {COLUMNS[column]}")
            else:
                self.need(quoted == (release.delimiter in text or '"' in text), f"quoting of {COLUMNS[column]}")
                if quoted:
                    self.counts["quoted model"] += 1
                    self.need(column == 9, f"a quoted {COLUMNS[column]}")
        return [text for text, _ in fields]

    def number(self, text, least, most, what):
        self.need(NUMBER.match(text), f"{what} '{text}' is not a plain number")
        number = int(text)
        self.need(least <= number <= most, f"{what} {number} is out of range")
        return number

    def ids(self, fields):
        test, vehicle = (self.number(fields[0], 1, 1999999999, "test id"),
                         self.number(fields[1], 1, 1499999999, "vehicle id"))
        self.need(test not in self.test_ids, f"test id {test} for the second time")
        self.test_ids.add(test)
        return vehicle

    def test_date(self, text, test_class):
        if text == "NULL" and self.release.null == "NULL":
            self.counts["test date NULL"] += 1
            return self.last_date
        date = date_of(text)
        self.need(date, f"test date '{text}'")
        if test_class == "0":
            self.need(date.year == 2005, "a row of class 0 from another year than 2005")
            return date
        self.need(date.year == self.release.year, f"test date {text} in a file of {self.release.year}")
        self.need(date >= self.last_date, "test dates go back")
        self.last_date = date
        return date

    def first_use(self, text, tested, test_class):
        if text == self.release.null:
            self.counts["first use empty"] += 1
            return None
        if self.name == "2021" and text in ("4-02-20", "0004-02-20"):
            self.counts["first use in year 4"] += 1
            self.counts[f"written {text}"] += 1
            return None
        date = date_of(text)
        self.need(date, f"first use date '{text}'")
        self.need(test_class != "0", "a first use date in a row of class 0")
        if text == "1971-01-01":
            self.counts["first use 1971-01-01"] += 1
            return None
        if date.year < 1900:
            self.need(date.year >= 1894, f"first use in {date.year}")
            self.counts["first use before 1900"] += 1
            return None
        if date > tested:
            self.counts["first use after the test"] += 1
            self.need(date.year <= tested.year + 30, f"first use in {date.year}")
            return None
        return date

    def codes(self, fields):
        release, counts = self.release, self.counts
        test_class = fields[3]
        if test_class.endswith(" "):
            self.need(self.name == "2013" and len(test_class) == 2, "a padded class")
            counts["padded class"] += 1
            test_class = test_class[0]
        self.need(test_class in ("1", "2", "3", "4", "5", "7") or (test_class == "0" and self.name == "2016"),
                  f"class '{fields[3]}'")
        counts[f"class {test_class}"] += 1
        kind, result = fields[4], fields[5]
        self.need(kind in release.types, f"test type '{kind}'")
        self.need(result in release.results, f"test result '{result}'")
        self.need(len(result) <= (3 if self.name == "2013" else 5), "a result too wide")
        counts[f"type {kind}"] += 1
        counts[f"result {result}"] += 1
        return test_class

    def mileage(self, text):
        if text == "":
            self.counts["mileage empty"] += 1
            return None
        miles = self.number(text, 0, 999999, "mileage")
        for condition, what in ((miles == 0, "mileage 0"), (miles == 999999, "mileage 999999"),
                                (900000 <= miles < 999999, "mileage above 900000")):
            if condition:
                self.counts[what] += 1
                return None
        return miles

    def vehicle_text(self, fields):
        area, make, model, colour = fields[7:11]
        counts, width = self.counts, self.release.width
        self.need(area in AREAS or area == "MM", f"postcode area '{area}'")
        counts["stray area"] += area == "MM"
        counts["area XX"] += area == "XX"
        if make == "":
            self.need(self.name == "2021", "an empty make")
            counts["make empty"] += 1
        self.need(model != "", "an empty model")
        self.need(len(make) <= width and len(model) <= width, "a make or model too wide")
        self.need(make == make.upper().strip() and (model == model.upper().strip() or model == "Estima ||"),
                  f"make '{make}' or model '{model}' as nobody wrote it")
        self.need(colour in COLOURS, f"colour '{colour}'")
        counts["make UNCLASSIFIED"] += make == "UNCLASSIFIED"
        counts["model with a comma"] += "," in model
        if '"' in model:
            self.need(model == 'STREETZONE 50 2T 12"', f"a quote in model {model}")
            counts["escaped quote"] += 1

    def engine(self, fields):
        fuel, cc, counts = fields[11], fields[12], self.counts
        if self.release.fuels is None:
            self.need(len(fuel) == 1 and "A" <= fuel <= "Z", f"fuel '{fuel}'")
        else:
            self.need(fuel in self.release.fuels, f"fuel '{fuel}'")
        counts["petrol"] += fuel in ("PE", "P")
        counts["diesel"] += fuel in ("DI", "D")
        counts["steam"] += fuel == "ST"
        counts["electric"] += fuel in ("EL", "E")
        counts["hybrid or electric"] += fuel in ("EL", "HY", "ED", "E", "H")
        if cc == "":
            counts["engine empty"] += 1
            counts["engine empty, not electric"] += fuel not in ("EL", "E")
            return
        self.need(fuel not in ("EL", "E"), "an electric vehicle with an engine size")
        size = self.number(cc, 1, 99999, "cylinder capacity")
        counts["engine 99999"] += size == 99999
        counts["engine above 10000"] += 10000 < size < 99999

    def history(self, vehicle, fields, test_class):
        """The same vehicle stays the same; a retest follows a failure."""
        if vehicle == 223981155:
            self.need(self.name == "2021" and fields[8:10] == ["DVSA", "DVSA"], "the DVSA's vehicle in another row")
        if fields[8] == "DVSA":
            self.need(vehicle == 223981155 and fields[10:14] == ["BEIGE", "OT", "999", "2018-09-27"],
                      "a test entry of another vehicle")
            self.counts["DVSA"] += 1
            return
        same = hash((test_class, *fields[7:14]))
        self.need(self.vehicles.setdefault(vehicle, same) == same, f"vehicle {vehicle} has changed")
        if fields[4] in RETESTS:
            self.counts["retest"] += 1
            self.counts["retest after a failure"] += vehicle in self.failed
        if fields[5] == "F":
            self.failed.add(vehicle)

    def row(self, line):
        fields = self.fields_of(line)
        if not line.isascii():
            self.need(self.name == "2013", "a byte above 127")
            self.need(all(text.isascii() for i, text in enumerate(fields) if i != 9), "a byte above 127 next to a model")
            self.counts["bytes above 127"] += 1
        vehicle = self.ids(fields)
        test_class = self.codes(fields)
        tested = self.test_date(fields[2], test_class)
        miles = self.mileage(fields[6])
        self.vehicle_text(fields)
        self.engine(fields)
        first = self.first_use(fields[13], tested, test_class)
        if test_class == "0":
            self.need(fields[9] == "UNCLASSIFIED" and fields[12] == "" and fields[13] == "", "a full row of class 0")
        if self.release.columns == 15:
            if fields[14] == "":
                self.counts["completed empty"] += 1
            else:
                match = COMPLETED.match(fields[14])
                self.need(match and match.group(1) == fields[2], f"completed date '{fields[14]}'")
        self.history(vehicle, fields, test_class)
        if first and miles is not None and test_class == "4":
            age = self.miles_by_age[(tested - first).days // 365]
            age[0] += 1
            age[1] += miles

    def line(self, number, line):
        if line == self.header:
            self.need(self.release.header, "a header in a release without one")
            if number > 1:
                self.need(self.name == "2024", "a header in the middle")
                self.counts["header again"] += 1
            return
        self.need(number > 1 or not self.release.header, "the first line is not the header")
        self.need(not line.lower().startswith(("test_id", "testid", '"test_id')), "a header of another shape")
        self.rows += 1
        self.row(line)

    def share_violations(self):
        for what, (least, most) in sorted(shares_of(self.name).items()):
            count = self.counts[what]
            few, many = self.rows * least, self.rows * most
            if not few - 5 * few ** 0.5 <= count <= many + 5 * many ** 0.5 + 1:
                yield f"share of {what}: {count} of {self.rows} rows, wanted {least:.2g} to {most:.2g}"
            elif self.rows >= 2000000 and count == 0:
                yield f"share of {what}: none in {self.rows} rows"
        mean = {age: miles / n for age, (n, miles) in self.miles_by_age.items() if n >= 500}
        for young, old in ((3, 5), (5, 8), (8, 12)):
            if young in mean and old in mean and not mean[old] > mean[young] * 1.15:
                yield f"mileage: {mean[young]:.0f} at {young} years, {mean[old]:.0f} at {old}"


def violations(path, release, rows):
    """What is wrong with a file of this many rows, in sentences."""
    checker, found = Checker(release), []
    with open(path, encoding="latin-1", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            try:
                checker.need(line.endswith("\n"), "the last line has no end")
                line = line[:-1]
                checker.need("\r" not in line and "\0" not in line, "a control character")
                checker.line(number, line)
            except Bad as bad:
                found.append(f"line {number}: {bad}: {line.strip()}")
                if len(found) >= 20:
                    return found
    if checker.rows != rows:
        found.append(f"{checker.rows} rows instead of {rows}")
    return [*found, *checker.share_violations()]
