"""Odd records of the Integrated Surface Database, made by hand, each with the document that it must become: also
written by hand, so that the slow reader is judged as well as tipple."""
import collections

from isd_reader import Date

Odd = collections.namedtuple("Odd", "name line document")

# An ordinary record without a variable part. By its offsets:
#       0    4      10    15      23   27 28     34      41    46    51    56
BASE = (b"0000" b"725300" b"94846" b"20240229" b"1200" b"4" b"+41983" b"-087900" b"FM-15" b"+0201" b"KORD " b"V020"
        b"070" b"5" b"N" b"0052" b"1" b"01829" b"5" b"M" b"N" b"011200" b"5" b"V" b"1"
        b"+0211" b"5" b"-0032" b"6" b"10078" b"7")
#       60     63   64   65      69   70       75   76   77   78        84   85   86
#       87       92   93       98   99       104
DOCUMENT = {
    "st": "u725300", "ts": Date(1709208000000), "usaf": "725300", "wban": "94846",
    "position": {"type": "Point", "coordinates": [-87.9, 41.983]},
    "elevation": 201, "callLetters": "KORD", "qualityControlProcess": "V020", "dataSource": "4", "type": "FM-15",
    "wind": {"direction": {"angle": 70, "quality": "5"}, "type": "N", "speed": {"rate": 5.2, "quality": "1"}},
    "skyCondition": {"ceilingHeight": {"value": 1829, "quality": "5", "determination": "M"}, "cavok": "N"},
    "visibility": {"distance": {"value": 11200, "quality": "5"}, "variability": {"value": "V", "quality": "1"}},
    "airTemperature": {"value": 21.1, "quality": "5"}, "dewPoint": {"value": -3.2, "quality": "6"},
    "atmosphericPressure": {"value": 1007.8, "quality": "7"}}
KEYS = ["st", "ts", "hour24", "usaf", "wban", "position", "latitude", "longitude", "date", "time", "elevation",
        "callLetters", "qualityControlProcess", "dataSource", "type", "wind", "skyCondition", "visibility",
        "airTemperature", "dewPoint", "atmosphericPressure", "declaredLength"]
GONE = object()


def put(*pieces):
    """The ordinary record with other bytes at some offsets: put(offset, bytes, offset, bytes, ...)."""
    line = bytearray(BASE)
    for offset, piece in zip(pieces[::2], pieces[1::2]):
        line[offset:offset + len(piece)] = piece
    assert len(line) == 105
    return bytes(line)


def tail(text, fixed=BASE):
    """With a variable part, and the right count."""
    return b"%04d" % len(text) + fixed[4:] + text


def but(**changes):
    """The ordinary document with other values; keys that it has no place for follow in the order given."""
    values = {**DOCUMENT, **changes}
    ordered = [key for key in KEYS if key in values] + [key for key in values if key not in KEYS]
    return {key: values[key] for key in ordered if values[key] is not GONE}


# ----------------------------------------------------------------------------------------------------- position

def position(longitude, latitude):
    return but(position={"type": "Point", "coordinates": [longitude, latitude]})


def apart(**values):
    return but(position=GONE, **values)


POSITIONS = [
    ("north pole", put(28, b"+90000+000000"), position(0.0, 90.0)),
    ("south pole", put(28, b"-90000-000000"), position(-0.0, -90.0)),
    ("beyond the north pole", put(28, b"+90001+010000"), apart(latitude=90.001, longitude=10.0)),
    ("beyond the south pole", put(28, b"-90001+010000"), apart(latitude=-90.001, longitude=10.0)),
    ("date line, east", put(28, b"+10000+180000"), position(180.0, 10.0)),
    ("date line, west", put(28, b"+10000-180000"), position(-180.0, 10.0)),
    ("beyond the date line", put(28, b"+10000+180001"), apart(latitude=10.0, longitude=180.001)),
    ("beyond the date line, west", put(28, b"+10000-180001"), apart(latitude=10.0, longitude=-180.001)),
    ("middle of the world", put(28, b"+00000+000000"), position(0.0, 0.0)),
    ("minus zero", put(28, b"-00000-000000"), position(-0.0, -0.0)),
    ("no latitude", put(28, b"+99999"), apart(longitude=-87.9)),
    ("no longitude", put(34, b"+999999"), apart(latitude=41.983)),
    ("no position", put(28, b"+99999+999999"), apart()),
    ("minus nines are no filler", put(28, b"-99999-999999"), apart(latitude=-99.999, longitude=-999.999)),
    ("latitude without a sign", put(28, b"041983"), apart(latitude="041983", longitude=-87.9)),
    ("latitude in blanks", put(28, b"      "), apart(latitude="      ", longitude=-87.9)),
    ("longitude with a letter", put(34, b"-08790X"), apart(latitude=41.983, longitude="-08790X")),
    ("longitude with a point", put(34, b"-87.900"), apart(latitude=41.983, longitude="-87.900")),
    ("latitude with blanks behind", put(28, b"+4198 "), apart(latitude="+4198 ", longitude=-87.9)),
    ("two signs", put(28, b"+-1983"), apart(latitude="+-1983", longitude=-87.9)),
    ("thousandths", put(28, b"+00001-000001"), position(-0.001, 0.001)),
]

# --------------------------------------------------------------------------------------------------------- time


def at(ms, **more):
    return but(ts=Date(ms), **more)


def text_time(date, time):
    return but(ts=GONE, date=date, time=time)


TIMES = [
    ("the epoch", put(15, b"197001010000"), at(0)),
    ("a minute before the epoch", put(15, b"196912312359"), at(-60000)),
    ("before 1900", put(15, b"189912312359"), at(-2208988860000)),
    ("year 0", put(15, b"000001010000"), at(-62167219200000)),
    ("year 0 is a leap year", put(15, b"000002290000"), at(-62162121600000)),
    ("year 1", put(15, b"000101010000"), at(-62135596800000)),
    ("last minute of year 9999", put(15, b"999912312359"), at(253402300740000)),
    ("hour 24 at the end of a year", put(15, b"202312312400"), at(1704067200000, hour24=True)),
    ("hour 24 before a leap day", put(15, b"202402282400"), at(1709164800000, hour24=True)),
    ("hour 24 of a leap day", put(15, b"202402292400"), at(1709251200000, hour24=True)),
    ("hour 24 of 28 February", put(15, b"202302282400"), at(1677628800000, hour24=True)),
    ("hour 24 of 28 February 1900", put(15, b"190002282400"), at(-2203891200000, hour24=True)),
    ("hour 24 before 1970", put(15, b"196912312400"), at(0, hour24=True)),
    ("hour 24 at the end of year 9999", put(15, b"999912312400"), at(253402300800000, hour24=True)),
    ("a minute after hour 24", put(15, b"202312312401"), text_time("20231231", "2401")),
    ("hour 25", put(15, b"202312312500"), text_time("20231231", "2500")),
    ("minute 60", put(15, b"202312312360"), text_time("20231231", "2360")),
    ("no 29 February", put(15, b"202302290000"), text_time("20230229", "0000")),
    ("no 29 February 1900", put(15, b"190002292400"), text_time("19000229", "2400")),
    ("29 February 2000", put(15, b"200002290000"), at(951782400000)),
    ("31 April", put(15, b"202404310000"), text_time("20240431", "0000")),
    ("month 13", put(15, b"202413010000"), text_time("20241301", "0000")),
    ("month 0", put(15, b"202400010000"), text_time("20240001", "0000")),
    ("day 0", put(15, b"202401000000"), text_time("20240100", "0000")),
    ("blanks in a date", put(15, b"2024 1 11200"), text_time("2024 1 1", "1200")),
    ("signs in a date", put(15, b"+2024010 120"), text_time("+2024010", " 120")),
    ("nines", put(15, b"999999999999"), text_time("99999999", "9999")),
    ("a time of blanks", put(23, b"    "), text_time("20240229", "    ")),
    ("a date that is not UTF-8", put(15, b"2024022\xff"), text_time(b"2024022\xff", "1200")),
]

# --------------------------------------------------------------------------------------------------- ids, values

EMPTY = put(4, b"999999" b"99999", 27, b"9" b"+99999" b"+999999" b"99999" b"+9999" b"99999",
            60, b"999" b"9" b"9" b"9999" b"9" b"99999" b"9" b"9" b"9" b"999999" b"9" b"9" b"9"
            b"+9999" b"9" b"+9999" b"9" b"99999" b"9")
VALUES = [
    ("an ordinary record", BASE, but()),
    ("nothing is there", EMPTY, {"ts": Date(1709208000000), "qualityControlProcess": "V020"}),
    ("no usaf id", put(4, b"999999"), but(st="w94846", usaf=GONE)),
    ("no wban id", put(10, b"99999"), but(wban=GONE)),
    ("no id", put(4, b"99999999999"), but(st=GONE, usaf=GONE, wban=GONE)),
    ("ids with letters and blanks", put(4, b"A00001 4846"), but(st="uA00001", usaf="A00001", wban=" 4846")),
    ("a blank usaf id", put(4, b"      "), but(st="u      ", usaf="      ")),
    ("a usaf id that is not UTF-8", put(4, b"72\xe9300"), but(st=GONE, usaf=b"72\xe9300")),
    ("a wban id that is not UTF-8", put(10, b"9\xe9846"), but(wban=b"9\xe9846")),
    ("only a wban id, not UTF-8", put(4, b"9999999\xe9846"), but(st=GONE, usaf=GONE, wban=b"9\xe9846")),
    ("elevation zero", put(46, b"+0000"), but(elevation=0)),
    ("elevation minus zero", put(46, b"-0000"), but(elevation="-0000")),
    ("below the sea", put(46, b"-0430"), but(elevation=-430)),
    ("no elevation", put(46, b"+9999"), but(elevation=GONE)),
    ("elevation of minus nines", put(46, b"-9999"), but(elevation=-9999)),
    ("elevation without a sign", put(46, b"00201"), but(elevation="00201")),
    ("elevation of blanks", put(46, b"     "), but(elevation="     ")),
    ("call letters with a blank in front", put(51, b" ORD "), but(callLetters=" ORD")),
    ("call letters of blanks", put(51, b"     "), but(callLetters="")),
    ("four nines are call letters", put(51, b"9999 "), but(callLetters="9999")),
    ("no call letters", put(51, b"99999"), but(callLetters=GONE)),
    ("report type with a blank inside", put(41, b"A  B "), but(type="A  B")),
    ("quality process of blanks", put(56, b"    "), but(qualityControlProcess="    ")),
    ("quality process of nines", put(56, b"9999"), but(qualityControlProcess="9999")),
    ("minus zero degrees", put(87, b"-0000"), but(airTemperature={"value": -0.0, "quality": "5"})),
    ("zero degrees", put(87, b"+0000"), but(airTemperature={"value": 0.0, "quality": "5"})),
    ("no temperature", put(87, b"+9999"), but(airTemperature={"quality": "5"})),
    ("no temperature, no quality", put(87, b"+99999"), but(airTemperature=GONE)),
    ("temperature of minus nines", put(87, b"-9999"), but(airTemperature={"value": -999.9, "quality": "5"})),
    ("temperature without a sign", put(87, b"00211"), but(airTemperature={"value": "00211", "quality": "5"})),
    ("temperature with a small sign", put(87, b"  -12"), but(airTemperature={"value": "  -12", "quality": "5"})),
    ("temperature with a letter", put(87, b"+02l1"), but(airTemperature={"value": "+02l1", "quality": "5"})),
    ("temperature of another script", put(87, b"+0\xd9\xa12"), but(airTemperature={"value": "+0\u06612", "quality": "5"})),
    ("pressure with a sign", put(99, b"+0078"), but(atmosphericPressure={"value": "+0078", "quality": "7"})),
    ("pressure zero", put(99, b"00000"), but(atmosphericPressure={"value": 0.0, "quality": "7"})),
    ("no pressure", put(99, b"999999"), but(atmosphericPressure=GONE)),
    ("calm", put(60, b"9999C00001"), but(wind={"type": "C", "speed": {"rate": 0.0, "quality": "1"}})),
    ("no wind", put(60, b"9999999999"), but(wind=GONE)),
    ("only a wind type", put(60, b"9999V99999"), but(wind={"type": "V"})),
    ("wind from blanks", put(60, b"   "), but(wind={"direction": {"angle": "   ", "quality": "5"}, "type": "N",
                                                 "speed": {"rate": 5.2, "quality": "1"}})),
    ("wind with a sign", put(60, b"-70"), but(wind={"direction": {"angle": "-70", "quality": "5"}, "type": "N",
                                                "speed": {"rate": 5.2, "quality": "1"}})),
    ("only cavok", put(70, b"99999" b"9" b"9" b"Y"), but(skyCondition={"cavok": "Y"})),
    ("no sky", put(70, b"99999" b"9" b"9" b"9"), but(skyCondition=GONE)),
    ("only variability", put(78, b"999999" b"9" b"N" b"9"), but(visibility={"variability": {"value": "N"}})),
    ("no visibility", put(78, b"999999" b"9" b"9" b"9"), but(visibility=GONE)),
    ("quality letters", put(63, b"A", 92, b" "), but(
        wind={"direction": {"angle": 70, "quality": "A"}, "type": "N", "speed": {"rate": 5.2, "quality": "1"}},
        airTemperature={"value": 21.1, "quality": " "})),
    ("UTF-8", put(51, b"K\xc3\xa9  "), but(callLetters="K\u00e9")),
    ("half a character in each of two fields", put(27, b"\xc3\xa9"), but(
        dataSource=b"\xc3", latitude=b"\xa941983", longitude=-87.9, position=GONE)),
    ("code that is not UTF-8", put(51, b"K\xe9   "), but(callLetters=b"K\xe9   ")),
    ("overlong UTF-8", put(51, b"K\xc0\x80  "), but(callLetters=b"K\xc0\x80  ")),
    ("a surrogate", put(41, b"\xed\xa0\x80  "), but(type=b"\xed\xa0\x80  ")),
    ("beyond Unicode", put(41, b"\xf4\x90\x80\x80 "), but(type=b"\xf4\x90\x80\x80 ")),
    ("NUL, quotes and control characters", put(51, b"\x00\"\\\t\x7f"), but(callLetters="\x00\"\\\t\x7f")),
    ("a tab is no blank", put(51, b"KO\t  "), but(callLetters="KO\t")),
    ("a wide blank is no blank", put(51, b"K\xe3\x80\x80 "), but(callLetters="K\u3000")),
    ("a hard blank is no blank", put(51, b"K\xc2\xa0  "), but(callLetters="K\u00a0")),
    ("a carriage return inside", put(51, b"K\rD  "), but(callLetters="K\rD")),
]

# -------------------------------------------------------------------------------------------------- wrong counts

COUNTS = [
    ("a count too large", put(0, b"0001"), but(declaredLength=1)),
    ("a count too small", b"0003" + tail(b"ADDAA1060021315")[4:],
     but(declaredLength=3, liquidPrecipitation=[
         {"id": "AA1", "periodHours": 6, "depth": 2.1, "condition": "3", "depthQuality": "1"}],
         unparsed={"at": 119, "text": "5"})),
    ("the largest count", put(0, b"9999"), but(declaredLength=9999)),
    ("a count of blanks", put(0, b"    "), but(declaredLength="    ")),
    ("a count with a sign", put(0, b"+000"), but(declaredLength="+000")),
    ("a count padded with blanks", put(0, b"   0"), but(declaredLength="   0")),
    ("a count that is not UTF-8", put(0, b"00\xff0"), but(declaredLength=b"00\xff0")),
]

# ------------------------------------------------------------------------------------------------------ sections

AA1 = b"AA1" b"06" b"0021" b"3" b"1"
AA1_ENTRY = {"id": "AA1", "periodHours": 6, "depth": 2.1, "condition": "3", "depthQuality": "1"}
AG1 = b"AG1" b"1" b"012"
AG1_ENTRY = {"discrepancy": "1", "estimatedDepth": 12}
GA1 = b"GA1" b"02" b"1" b"+00450" b"1" b"07" b"1"
GA1_ENTRY = {"id": "GA1", "coverage": "02", "coverageQuality": "1", "baseHeight": 450, "baseHeightQuality": "1",
             "cloudType": "07", "cloudTypeQuality": "1"}
OC1 = b"OC1" b"0123" b"1"
OC1_ENTRY = {"speed": 12.3, "speedQuality": "1"}
SYN = b"SYN" b"005" b"AB CD"
SYN_ENTRY = {"kind": "SYN", "text": "AB CD"}
Q01 = b"Q01" b"  0000" b"2" b"PRCP24"
Q01_ENTRY = {"id": "Q01", "originalValue": "  0000", "reason": "2", "parameter": "PRCP24"}
E11 = b"E" b"11 1" b" 00299"
E11_ENTRY = {"element": "E", "sourceAndFlags": "11 1", "value": " 00299"}


def sections(name, text, **parts):
    text = b"ADD" + text
    return name, tail(text), but(**parts)


SECTIONS = [
    sections("one section", AA1, liquidPrecipitation=[AA1_ENTRY]),
    sections("a family of one", AG1, precipitationEstimated=AG1_ENTRY),
    sections("several families", AA1 + AG1 + GA1 + OC1, liquidPrecipitation=[AA1_ENTRY],
             precipitationEstimated=AG1_ENTRY, skyCoverLayer=[GA1_ENTRY], windGust=OC1_ENTRY),
    sections("families stand in the order of their first appearance", OC1 + AA1 + b"OC2" b"0200" b"5",
             windGust=[OC1_ENTRY, {"id": "OC2", "speed": 20.0, "speedQuality": "5"}], liquidPrecipitation=[AA1_ENTRY],
             order=["OC1", "AA1", "OC2"]),
    sections("nothing left of sections", b"GO1" + b"9999" + b"99999" * 3 + b"KF1+99999"
             b"OB1" b"999" b"9999" b"99" b"999" b"99" b"99999" b"99" b"99999" b"99",
             netRadiation={}, calculatedTemperatureHour={}, windCrn=[{"id": "OB1"}]),
    sections("fillers of the other sign are none", b"KF1-99999" b"CO199-99",
             calculatedTemperatureHour={"temperature": -999.9}, networkMetadata={"utcOffsetHours": -99},
             order=["KF1", "CO1"]),
    sections("a section twice", AA1 + b"AA1" b"99" b"9999" b"9" b"9",
             liquidPrecipitation=[AA1_ENTRY, {"id": "AA1", "depthQuality": "9"}], order=["AA1", "AA1"]),
    sections("a family of one twice", AG1 + b"AG1" b"9" b"999",
             precipitationEstimated=[AG1_ENTRY, {}], order=["AG1", "AG1"]),
    sections("out of order", GA1 + AA1, skyCoverLayer=[GA1_ENTRY], liquidPrecipitation=[AA1_ENTRY],
             order=["GA1", "AA1"]),
    sections("members out of order", b"AA2" b"12" b"0005" b"9" b"5" + AA1,
             liquidPrecipitation=[{"id": "AA2", "periodHours": 12, "depth": 0.5, "depthQuality": "5"}, AA1_ENTRY],
             order=["AA2", "AA1"]),
    sections("AW5 is of the family", b"AW5" b"10" b"1", presentWeatherAutomated=[
        {"id": "AW5", "condition": "10", "conditionQuality": "1"}]),
    sections("AA0 and AA9 are of the family", b"AA0" b"01" b"0000" b"1" b"1" + AA1 + b"AA9" b"24" b"0100" b"9" b"9",
             liquidPrecipitation=[
                 {"id": "AA0", "periodHours": 1, "depth": 0.0, "condition": "1", "depthQuality": "1"}, AA1_ENTRY,
                 {"id": "AA9", "periodHours": 24, "depth": 10.0, "depthQuality": "9"}]),
    sections("OC2 alone", b"OC2" b"0123" b"1", windGust={"id": "OC2", "speed": 12.3, "speedQuality": "1"}),
    sections("OC0 before OC1", b"OC0" b"0123" b"1" + OC1, windGust=[
        {"id": "OC0", "speed": 12.3, "speedQuality": "1"}, OC1_ENTRY]),
    sections("OC2 twice", b"OC2" b"0123" b"1" b"OC2" b"0123" b"1", windGust=[
        {"id": "OC2", "speed": 12.3, "speedQuality": "1"}] * 2, order=["OC2", "OC2"]),
    sections("KB4 in hundredths", b"KB4" b"744" b"N" b"-0667" b"1", averageAirTemperature=[
        {"id": "KB4", "periodHours": 744, "kind": "N", "temperature": -6.67, "temperatureQuality": "1"}]),
    sections("swell", b"UG1" b"10" b"025" b"270" b"1" b"UG2" b"08" b"010" b"999" b"9",
             swellPrimary={"periodSeconds": 10, "height": 2.5, "direction": 270, "swellQuality": "1"},
             swellSecondary={"periodSeconds": 8, "height": 1.0, "swellQuality": "9"}),
    sections("UG3 is like the last one", b"UG3" b"10" b"025" b"270" b"1", swellSecondary={
        "id": "UG3", "periodSeconds": 10, "height": 2.5, "direction": 270, "swellQuality": "1"}),
    sections("UG0 and UG2 together", b"UG0" b"99" b"025" b"999" b"1" b"UG2" b"08" b"010" b"999" b"9",
             swellSecondary=[{"id": "UG0", "height": 2.5, "swellQuality": "1"},
                             {"periodSeconds": 8, "height": 1.0, "swellQuality": "9"}]),
    sections("tens of degrees", b"ED1" b"28" b"L" b"0450" b"1", runwayVisualRange={
        "runwayDirection": 280, "runwayDesignator": "L", "visibility": 450, "visibilityQuality": "1"}),
    sections("tens of no degrees", b"ED1" b"00" b"9" b"-450" b"1" b"ED1" b" 8" b"9" b"9999" b"9", runwayVisualRange=[
        {"runwayDirection": 0, "visibility": "-450", "visibilityQuality": "1"},
        {"runwayDirection": " 8", "visibilityQuality": "9"}], order=["ED1", "ED1"]),
    sections("a minus in the first place", b"GO1" b"0060" b"-012" b"1" b"0345" b"1" b"-000" b"1", netRadiation={
        "periodMinutes": 60, "netSolar": -12, "netSolarQuality": "1", "netInfrared": 345, "netInfraredQuality": "1",
        "net": "-000", "netQuality": "1"}),
    sections("a sign in another place", b"GO1" b"-060" b"+012" b"1" b" -45" b"1" b"-999" b"9", netRadiation={
        "periodMinutes": "-060", "netSolar": "+012", "netSolarQuality": "1", "netInfrared": " -45",
        "netInfraredQuality": "1", "net": -999}),
    sections("codes lose the blanks behind", b"AT1" b"AU" b"01" b"FG  " b"5" b"AT2" b"  " b"1 " b" FG " b" "
             b"GE1" b"1" b"MSL   " b"+01000" b"+99999", dailyPresentWeather=[
                 {"id": "AT1", "source": "AU", "weatherType": "01", "weatherAbbreviation": "FG", "weatherQuality": "5"},
                 {"id": "AT2", "source": "  ", "weatherType": "1 ", "weatherAbbreviation": " FG", "weatherQuality": " "}],
             skyConditionConvective={"convectiveCloud": "1", "verticalDatum": "MSL", "baseHeightUpper": 1000}),
    sections("thousandths", b"CR1" b"01234" b"1" b"0", dataloggerProgram={
        "version": 1.234, "versionQuality": "1", "versionFlag": "0"}),
    sections("one family of two kinds", b"CO1" b"99" b"-06" b"CO2" b"KA1" b"-0050" b"CO3" b"999" b"-0000",
             networkMetadata={"utcOffsetHours": -6}, elementTimeOffset=[
                 {"id": "CO2", "elementId": "KA1", "offsetHours": -5.0}, {"id": "CO3", "offsetHours": -0.0}]),
    sections("minus no hours", b"CO1" b"05" b"-00", networkMetadata={"climateDivision": 5, "utcOffsetHours": "-00"}),
    sections("short signed numbers", b"MD1" b"6" b"1" b"024" b"1" b"-012" b"9" b"SA1" b"+034" b"1",
             pressureChange={"tendency": "6", "tendencyQuality": "1", "change3h": 2.4, "change3hQuality": "1",
                             "change24h": -1.2, "change24hQuality": "9"},
             seaSurfaceTemperature={"temperature": 3.4, "temperatureQuality": "1"}),
    sections("blanks", b"AA1        ", liquidPrecipitation=[
        {"id": "AA1", "periodHours": "  ", "depth": "    ", "condition": " ", "depthQuality": " "}]),
    sections("not UTF-8", b"AA1" b"\xff\xfe" b"\xc3\xa9\xc3\xa9" b"\x80" b"\x00", liquidPrecipitation=[
        {"id": "AA1", "periodHours": b"\xff\xfe", "depth": "\u00e9\u00e9", "condition": b"\x80", "depthQuality": "\0"}]),
    sections("sky condition of a section", b"GF1" b"08" b"99" b"1" b"05" b"1" b"06" b"1" b"01000" b"1" b"99" b"9" b"99" b"9",
             skyCover={"totalCoverage": "08", "coverageQuality": "1", "lowestCover": "05", "lowestCoverQuality": "1",
                       "lowCloudType": "06", "lowCloudTypeQuality": "1", "lowestBaseHeight": 1000,
                       "lowestBaseHeightQuality": "1", "midCloudTypeQuality": "9", "highCloudTypeQuality": "9"}),
]

# ----------------------------------------------------------------------------------------------------------- gaps


def gap(at, text):
    return {"at": at, "text": text}


def variable(name, text, **parts):
    return name, tail(text), but(**parts)


GAPS = [
    variable("an unknown section first", b"ADD" b"XX1123" + AA1, liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(105, "ADDXX1123")),
    variable("an unknown section first, remarks behind", b"ADD" b"XX1123" + AA1 + b"REM" + SYN,
             liquidPrecipitation=[AA1_ENTRY], remarks=[SYN_ENTRY], unparsed=gap(105, "ADDXX1123")),
    variable("only an unknown section, remarks behind", b"ADD" b"XX1123" b"REM" + SYN, remarks=[SYN_ENTRY],
             unparsed=gap(105, "ADDXX1123")),
    variable("unknown entries first in later parts", b"ADD" + AA1 + b"REM" b"syn001x" + SYN, liquidPrecipitation=[AA1_ENTRY],
             remarks=[SYN_ENTRY], unparsed=gap(119, "REMsyn001x")),
    variable("an unknown entry first in EQD", b"REM" + SYN + b"EQD" b"Z01  00002SLP  5" + Q01, remarks=[SYN_ENTRY],
             elementQuality=[Q01_ENTRY], unparsed=gap(119, "EQDZ01  00002SLP  5")),
    variable("an unknown entry first in QNN", b"QNN" b"Z11 1 00299" + E11, originalObservation=[E11_ENTRY],
             unparsed=gap(105, "QNNZ11 1 00299")),
    variable("a marker twice, at once", b"ADDADD" + AA1, liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(105, "ADDADD")),  # the first one has opened its part
    variable("a marker too early", b"EQD" b"ADD" + AA1, unparsed=gap(105, "EQDADDAA106002131")),
    variable("an unknown section in the middle", b"ADD" + AA1 + b"XX1123" + AG1, liquidPrecipitation=[AA1_ENTRY],
             precipitationEstimated=AG1_ENTRY, unparsed=gap(119, "XX1123")),
    variable("an unknown section last", b"ADD" + AA1 + b"XX1123", liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(119, "XX1123")),
    variable("an unknown section before remarks", b"ADD" + AA1 + b"XX1123" b"REM" + SYN,
             liquidPrecipitation=[AA1_ENTRY], remarks=[SYN_ENTRY], unparsed=gap(119, "XX1123")),
    variable("two unknown sections", b"ADD" + AA1 + b"XX1123" + AG1 + b"YY1456" + OC1, liquidPrecipitation=[AA1_ENTRY],
             windGust=OC1_ENTRY, unparsed=gap(119, "XX1123AG11012YY1456")),
    variable("an unknown section, out of order", b"ADD" + OC1 + b"XX1" + AA1, windGust=OC1_ENTRY,
             liquidPrecipitation=[AA1_ENTRY], order=["OC1", "AA1"], unparsed=gap(116, "XX1")),
    variable("members of families of many layouts", b"ADD" + AA1 + b"CN5" b"0120" b"10" + AG1,
             liquidPrecipitation=[AA1_ENTRY], precipitationEstimated=AG1_ENTRY, unparsed=gap(119, "CN5012010")),
    variable("CO0", b"ADD" + AA1 + b"CO0" b"05" b"-06", liquidPrecipitation=[AA1_ENTRY], unparsed=gap(119, "CO005-06")),
    variable("IA3 and IB3", b"ADD" + AA1 + b"IA3011" b"IB3+0123" + OC1, liquidPrecipitation=[AA1_ENTRY],
             windGust=OC1_ENTRY, unparsed=gap(119, "IA3011IB3+0123")),
    variable("small letters", b"ADD" + AA1 + b"aa2" b"06" b"0021" b"3" b"1", liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(119, "aa206002131")),
    variable("a section cut short", b"ADD" + AA1 + GA1[:-1], liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(119, "GA1021+00450107")),
    variable("the gap holds a section's name by chance", b"ADD" + AA1 + b"XX1AG1" + AG1,
             # the first AG1 would take "AG1" and one character more, and leave a rest that is nothing
             liquidPrecipitation=[AA1_ENTRY], precipitationEstimated=AG1_ENTRY, unparsed=gap(119, "XX1AG1")),
    variable("the gap is as short as can be", b"ADD" + AA1 + b"XX1" + AG1 + AG1, liquidPrecipitation=[AA1_ENTRY],
             precipitationEstimated=[AG1_ENTRY, AG1_ENTRY], order=["AA1", "AG1", "AG1"], unparsed=gap(119, "XX1")),
    variable("ADD alone", b"ADD", unparsed=gap(105, "ADD")),
    variable("REM alone", b"REM", unparsed=gap(105, "REM")),
    variable("EQD alone", b"EQD", unparsed=gap(105, "EQD")),
    variable("QNN alone", b"QNN", unparsed=gap(105, "QNN")),
    variable("ADD with nothing, then REM", b"ADD" b"REM" + SYN, remarks=[SYN_ENTRY], unparsed=gap(105, "ADD")),
    variable("all markers with nothing", b"ADDREMEQDQNN", unparsed=gap(105, "ADDREMEQDQNN")),
    variable("markers with nothing behind sections", b"ADD" + AA1 + b"REMEQD" b"QNN" + E11,
             liquidPrecipitation=[AA1_ENTRY], originalObservation=[E11_ENTRY], unparsed=gap(119, "REMEQD")),
    variable("no marker", AA1, unparsed=gap(105, "AA106002131")),
    variable("blanks", b"   ", unparsed=gap(105, "   ")),
    variable("a blank before ADD", b" ADD" + AA1, liquidPrecipitation=[AA1_ENTRY], unparsed=gap(105, " ")),
    variable("a blank at the end", b"ADD" + AA1 + b" ", liquidPrecipitation=[AA1_ENTRY], unparsed=gap(119, " ")),
    variable("ADD twice", b"ADD" + AA1 + b"ADD" + AG1, liquidPrecipitation=[AA1_ENTRY],
             precipitationEstimated=AG1_ENTRY, unparsed=gap(119, "ADD")),
    variable("sections behind remarks", b"REM" b"SYN001X" b"ADD" + AA1, remarks=[{"kind": "SYN", "text": "X"}],
             unparsed=gap(115, "ADDAA106002131")),
    variable("quality behind observations", b"QNN" + E11 + b"EQD" + Q01,
             # EQD and what follows looks like an observation of E
             originalObservation=[E11_ENTRY, {"element": "E", "sourceAndFlags": "QDQ0", "value": "1  000"}],
             unparsed=gap(130, "02PRCP24")),
    variable("a gap that is not UTF-8", b"ADD" + AA1 + b"\xff\x00" + AG1, liquidPrecipitation=[AA1_ENTRY],
             precipitationEstimated=AG1_ENTRY, unparsed=gap(119, b"\xff\x00")),
    variable("a marker inside a section", b"ADD" + b"AA1" b"RE" b"MSYN" b"0" b"0", liquidPrecipitation=[
        {"id": "AA1", "periodHours": "RE", "depth": "MSYN", "condition": "0", "depthQuality": "0"}]),
]

# ----------------------------------------------------------------------------------- remarks, quality, observations

LISTS = [
    variable("remarks", b"REM" + SYN, remarks=[SYN_ENTRY]),
    variable("all parts", b"ADD" + AA1 + b"REM" + SYN + b"EQD" + Q01 + b"QNN" + E11, liquidPrecipitation=[AA1_ENTRY],
             remarks=[SYN_ENTRY], elementQuality=[Q01_ENTRY], originalObservation=[E11_ENTRY]),
    variable("sections and observations", b"ADD" + AA1 + b"QNN" + E11, liquidPrecipitation=[AA1_ENTRY],
             originalObservation=[E11_ENTRY]),
    variable("a remark of no characters", b"REM" b"SYN000", remarks=[{"kind": "SYN", "text": ""}]),
    variable("remarks of no characters", b"REM" b"SYN000" b"MET002ab" b"AWY000", remarks=[
        {"kind": "SYN", "text": ""}, {"kind": "MET", "text": "ab"}, {"kind": "AWY", "text": ""}]),
    variable("a remark of 999 characters", b"REM" b"SOM999" + b"x" * 999, remarks=[{"kind": "SOM", "text": "x" * 999}]),
    variable("remarks that look like parts", b"REM" b"SYN023REMEQDQ01 QNNE11 ADDAA1" b"MET003EQD", remarks=[
        {"kind": "SYN", "text": "REMEQDQ01 QNNE11 ADDAA1"}, {"kind": "MET", "text": "EQD"}]),
    variable("a remark's length one too small", b"REM" b"SYN022REMEQDQ01 QNNE11 ADDAA1" b"MET003EQD", remarks=[
        {"kind": "SYN", "text": "REMEQDQ01 QNNE11 ADDAA"}, {"kind": "MET", "text": "EQD"}], unparsed=gap(136, "1")),
    variable("a remark longer than the record", b"REM" b"SYN006AB CD", unparsed=gap(105, "REMSYN006AB CD")),
    variable("the second remark longer than the record", b"REM" + SYN + b"MET004abc", remarks=[SYN_ENTRY],
             unparsed=gap(119, "MET004abc")),
    variable("a remark longer than the record, quality in it", b"REM" b"SYN099" b"abc" b"EQD" + Q01,
             elementQuality=[Q01_ENTRY], unparsed=gap(105, "REMSYN099abc")),
    variable("a remark cut in its length", b"REM" + SYN + b"MET00", remarks=[SYN_ENTRY], unparsed=gap(119, "MET00")),
    variable("a kind of small letters", b"REM" + SYN + b"Met000", remarks=[SYN_ENTRY], unparsed=gap(119, "Met000")),
    variable("a length with a blank", b"REM" + SYN + b"MET 00", remarks=[SYN_ENTRY], unparsed=gap(119, "MET 00")),
    variable("a gap between remarks", b"REM" + SYN + b";;" b"MET001x", remarks=[SYN_ENTRY, {"kind": "MET", "text": "x"}],
             unparsed=gap(119, ";;")),
    variable("kinds that are markers", b"REM" b"EQD003abc" b"QNN001x" b"REM000" b"ADD000", remarks=[
        {"kind": "EQD", "text": "abc"}, {"kind": "QNN", "text": "x"}, {"kind": "REM", "text": ""},
        {"kind": "ADD", "text": ""}]),
    variable("a remark that is not UTF-8", b"REM" b"SYN003a\xe9b", remarks=[{"kind": "SYN", "text": b"a\xe9b"}]),
    variable("a remark in UTF-8", b"REM" b"SYN006a\xf0\x9f\x98\x80 ", remarks=[{"kind": "SYN", "text": "a\U0001f600 "}]),
    variable("a remark's length counts bytes", b"REM" b"SYN002\xc3\xa9" b"MET001\xc3", remarks=[
        {"kind": "SYN", "text": "\u00e9"}, {"kind": "MET", "text": b"\xc3"}]),
    variable("remarks with blanks and odd characters", b"REM" b"SYN010 \"\\/\t\x00\x7f\r =", remarks=[
        {"kind": "SYN", "text": " \"\\/\t\x00\x7f\r ="}]),
    variable("EQD behind remarks", b"REM" b"SYN001X" b"EQD" + Q01, remarks=[{"kind": "SYN", "text": "X"}],
             elementQuality=[Q01_ENTRY]),
    variable("EQD with nothing behind remarks", b"REM" b"SYN001X" b"EQD", remarks=[{"kind": "SYN", "text": "X"}],
             unparsed=gap(115, "EQD")),
    variable("every family of EQD", b"EQD" + b"".join(b"%c99      9      " % letter for letter in b"QPRCDN"),
             elementQuality=[{"id": letter + "99", "originalValue": "      ", "reason": "9", "parameter": "      "}
                             for letter in "QPRCDN"]),
    variable("an unknown family of EQD", b"EQD" + Q01 + b"Z01  00002PRCP24", elementQuality=[Q01_ENTRY],
             unparsed=gap(124, "Z01  00002PRCP24")),
    variable("an unknown family of EQD in the middle", b"EQD" + Q01 + b"Z01  00002SLP  5" + Q01,
             elementQuality=[Q01_ENTRY, Q01_ENTRY], unparsed=gap(124, "Z01  00002SLP  5")),
    variable("a number of EQD with a letter", b"EQD" + Q01 + b"Q0A  00002PRCP24", elementQuality=[Q01_ENTRY],
             unparsed=gap(124, "Q0A  00002PRCP24")),
    variable("EQD cut short", b"EQD" + Q01 + Q01[:-1], elementQuality=[Q01_ENTRY], unparsed=gap(124, "Q01  00002PRCP2")),
    variable("EQD that is not UTF-8", b"EQD" b"N00\xe9     \xc3\xa9   \xff ", elementQuality=[
        {"id": "N00", "originalValue": b"\xe9     ", "reason": b"\xc3", "parameter": b"\xa9   \xff "}]),
    variable("observations", b"QNN" + E11 + E11 + b"A" b"    " b"      " b"Y" b"\x00\"\\ " b"QNNQNN", originalObservation=[
        E11_ENTRY, E11_ENTRY, {"element": "A", "sourceAndFlags": "    ", "value": "      "},
        {"element": "Y", "sourceAndFlags": "\x00\"\\ ", "value": "QNNQNN"}]),
    variable("no element Z", b"QNN" + E11 + b"Z" b"11 1" b" 00299" + E11, originalObservation=[E11_ENTRY, E11_ENTRY],
             unparsed=gap(119, "Z11 1 00299")),
    variable("only Z", b"QNN" b"Z" b"11 1" b" 00299", unparsed=gap(105, "QNNZ11 1 00299")),
    variable("an observation cut short", b"QNN" + E11 + E11[:-1], originalObservation=[E11_ENTRY],
             unparsed=gap(119, "E11 1 0029")),
    variable("an observation that is not UTF-8", b"QNN" b"B" b"\xff   " b" \xc3\xa9   ", originalObservation=[
        {"element": "B", "sourceAndFlags": b"\xff   ", "value": " \u00e9   "}]),
]

# -------------------------------------------------------------------------------------------------------- the limit

LIMITS = [
    variable("9,999 characters", b"REM" + (b"SYN999" + b"y" * 999) * 9 + b"MET945" + b"z" * 945, remarks=[
        {"kind": "SYN", "text": "y" * 999}] * 9 + [{"kind": "MET", "text": "z" * 945}]),
    ("10,000 characters", b"1000" + BASE[4:] + b"REM" + (b"SYN999" + b"y" * 999) * 9 + b"MET946" + b"z" * 946, but(
        declaredLength=1000,
        remarks=[{"kind": "SYN", "text": "y" * 999}] * 9 + [{"kind": "MET", "text": "z" * 946}])),
    variable("9,999 characters of nothing", b"ADD" + AA1 + b"REM100" * 1664 + b" ", liquidPrecipitation=[AA1_ENTRY],
             unparsed=gap(119, "REM100" * 1664 + " ")),
]

RECORDS = [Odd(*record) for record in
           POSITIONS + TIMES + VALUES + COUNTS + SECTIONS + GAPS + LISTS + LIMITS]
