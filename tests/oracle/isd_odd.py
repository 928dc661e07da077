"""Odd records of the Integrated Surface Database, made by hand, and the document of an ordinary one."""
import collections

from isd_reader import Date

Odd = collections.namedtuple("Odd", "name line")

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


AA1 = b"AA1" b"06" b"0021" b"3" b"1"
AG1 = b"AG1" b"1" b"012"
GA1 = b"GA1" b"02" b"1" b"+00450" b"1" b"07" b"1"
OC1 = b"OC1" b"0123" b"1"
SYN = b"SYN" b"005" b"AB CD"
Q01 = b"Q01" b"  0000" b"2" b"PRCP24"
E11 = b"E" b"11 1" b" 00299"

EMPTY = put(4, b"999999" b"99999", 27, b"9" b"+99999" b"+999999" b"99999" b"+9999" b"99999",
            60, b"999" b"9" b"9" b"9999" b"9" b"99999" b"9" b"9" b"9" b"999999" b"9" b"9" b"9"
            b"+9999" b"9" b"+9999" b"9" b"99999" b"9")
LINES = [
    # position
    ("north pole", put(28, b"+90000+000000")),
    ("south pole", put(28, b"-90000-000000")),
    ("beyond the north pole", put(28, b"+90001+010000")),
    ("beyond the south pole", put(28, b"-90001+010000")),
    ("date line, east", put(28, b"+10000+180000")),
    ("date line, west", put(28, b"+10000-180000")),
    ("beyond the date line", put(28, b"+10000+180001")),
    ("beyond the date line, west", put(28, b"+10000-180001")),
    ("middle of the world", put(28, b"+00000+000000")),
    ("minus zero", put(28, b"-00000-000000")),
    ("no latitude", put(28, b"+99999")),
    ("no longitude", put(34, b"+999999")),
    ("no position", put(28, b"+99999+999999")),
    ("minus nines are no filler", put(28, b"-99999-999999")),
    ("latitude without a sign", put(28, b"041983")),
    ("latitude in blanks", put(28, b"      ")),
    ("longitude with a letter", put(34, b"-08790X")),
    ("longitude with a point", put(34, b"-87.900")),
    ("latitude with blanks after it", put(28, b"+4198 ")),
    ("two signs", put(28, b"+-1983")),
    ("thousandths", put(28, b"+00001-000001")),
    # time
    ("the epoch", put(15, b"197001010000")),
    ("a minute before the epoch", put(15, b"196912312359")),
    ("before 1900", put(15, b"189912312359")),
    ("year 0", put(15, b"000001010000")),
    ("year 0 is a leap year", put(15, b"000002290000")),
    ("year 1", put(15, b"000101010000")),
    ("last minute of year 9999", put(15, b"999912312359")),
    ("hour 24 at the end of a year", put(15, b"202312312400")),
    ("hour 24 before a leap day", put(15, b"202402282400")),
    ("hour 24 of a leap day", put(15, b"202402292400")),
    ("hour 24 of 28 February", put(15, b"202302282400")),
    ("hour 24 of 28 February 1900", put(15, b"190002282400")),
    ("hour 24 before 1970", put(15, b"196912312400")),
    ("hour 24 at the end of year 9999", put(15, b"999912312400")),
    ("a minute after hour 24", put(15, b"202312312401")),
    ("hour 25", put(15, b"202312312500")),
    ("minute 60", put(15, b"202312312360")),
    ("no 29 February", put(15, b"202302290000")),
    ("no 29 February 1900", put(15, b"190002292400")),
    ("29 February 2000", put(15, b"200002290000")),
    ("31 April", put(15, b"202404310000")),
    ("month 13", put(15, b"202413010000")),
    ("month 0", put(15, b"202400010000")),
    ("day 0", put(15, b"202401000000")),
    ("blanks in a date", put(15, b"2024 1 11200")),
    ("signs in a date", put(15, b"+2024010 120")),
    ("nines", put(15, b"999999999999")),
    ("a time of blanks", put(23, b"    ")),
    ("a date that is not UTF-8", put(15, b"2024022\xff")),
    # ids and values
    ("an ordinary record", BASE),
    ("nothing is there", EMPTY),
    ("no usaf id", put(4, b"999999")),
    ("no wban id", put(10, b"99999")),
    ("no id", put(4, b"99999999999")),
    ("ids with letters and blanks", put(4, b"A00001 4846")),
    ("a blank usaf id", put(4, b"      ")),
    ("a usaf id that is not UTF-8", put(4, b"72\xe9300")),
    ("a wban id that is not UTF-8", put(10, b"9\xe9846")),
    ("only a wban id, not UTF-8", put(4, b"9999999\xe9846")),
    ("elevation zero", put(46, b"+0000")),
    ("elevation minus zero", put(46, b"-0000")),
    ("below the sea", put(46, b"-0430")),
    ("no elevation", put(46, b"+9999")),
    ("elevation of minus nines", put(46, b"-9999")),
    ("elevation without a sign", put(46, b"00201")),
    ("elevation of blanks", put(46, b"     ")),
    ("call letters with a blank in front", put(51, b" ORD ")),
    ("call letters of blanks", put(51, b"     ")),
    ("four nines are call letters", put(51, b"9999 ")),
    ("no call letters", put(51, b"99999")),
    ("report type with a blank inside", put(41, b"A  B ")),
    ("quality process of blanks", put(56, b"    ")),
    ("quality process of nines", put(56, b"9999")),
    ("minus zero degrees", put(87, b"-0000")),
    ("zero degrees", put(87, b"+0000")),
    ("no temperature", put(87, b"+9999")),
    ("no temperature, no quality", put(87, b"+99999")),
    ("temperature of minus nines", put(87, b"-9999")),
    ("temperature without a sign", put(87, b"00211")),
    ("temperature with a small sign", put(87, b"  -12")),
    ("temperature with a letter", put(87, b"+02l1")),
    ("temperature of another script", put(87, b"+0\xd9\xa12")),
    ("pressure with a sign", put(99, b"+0078")),
    ("pressure zero", put(99, b"00000")),
    ("no pressure", put(99, b"999999")),
    ("calm", put(60, b"9999C00001")),
    ("no wind", put(60, b"9999999999")),
    ("only a wind type", put(60, b"9999V99999")),
    ("wind from blanks", put(60, b"   ")),
    ("wind with a sign", put(60, b"-70")),
    ("only cavok", put(70, b"99999" b"9" b"9" b"Y")),
    ("no sky", put(70, b"99999" b"9" b"9" b"9")),
    ("only variability", put(78, b"999999" b"9" b"N" b"9")),
    ("no visibility", put(78, b"999999" b"9" b"9" b"9")),
    ("quality letters", put(63, b"A", 92, b" ")),
    ("UTF-8", put(51, b"K\xc3\xa9  ")),
    ("half a character in each of two fields", put(27, b"\xc3\xa9")),
    ("code that is not UTF-8", put(51, b"K\xe9   ")),
    ("overlong UTF-8", put(51, b"K\xc0\x80  ")),
    ("a surrogate", put(41, b"\xed\xa0\x80  ")),
    ("beyond Unicode", put(41, b"\xf4\x90\x80\x80 ")),
    ("NUL, quotes and control characters", put(51, b"\x00\"\\\t\x7f")),
    ("a tab is no blank", put(51, b"KO\t  ")),
    ("a wide blank is no blank", put(51, b"K\xe3\x80\x80 ")),
    ("a hard blank is no blank", put(51, b"K\xc2\xa0  ")),
    ("a carriage return inside", put(51, b"K\rD  ")),
    # wrong counts
    ("a count too large", put(0, b"0001")),
    ("a count too small", b"0003" + tail(b"ADDAA1060021315")[4:]),
    ("the largest count", put(0, b"9999")),
    ("a count of blanks", put(0, b"    ")),
    ("a count with a sign", put(0, b"+000")),
    ("a count padded with blanks", put(0, b"   0")),
    ("a count that is not UTF-8", put(0, b"00\xff0")),
    ("10,000 characters", b"1000" + BASE[4:] + b"REM" + (b"SYN999" + b"y" * 999) * 9 + b"MET946" + b"z" * 946),
]

SECTIONS = [
    ("one section", AA1),
    ("a family of one", AG1),
    ("several families", AA1 + AG1 + GA1 + OC1),
    ("families stand in the order of their first appearance", OC1 + AA1 + b"OC2" b"0200" b"5"),
    ("nothing left of sections", b"GO1" + b"9999" + b"99999" * 3 + b"KF1+99999" b"OB1" b"999" b"9999" b"99" b"999"
        b"99" b"99999" b"99" b"99999" b"99"),
    ("fillers of the other sign are none", b"KF1-99999" b"CO199-99"),
    ("a section twice", AA1 + b"AA1" b"99" b"9999" b"9" b"9"),
    ("a family of one twice", AG1 + b"AG1" b"9" b"999"),
    ("out of order", GA1 + AA1),
    ("members out of order", b"AA2" b"12" b"0005" b"9" b"5" + AA1),
    ("AW5 is of the family", b"AW5" b"10" b"1"),
    ("AA0 and AA9 are of the family", b"AA0" b"01" b"0000" b"1" b"1" + AA1 + b"AA9" b"24" b"0100" b"9" b"9"),
    ("OC2 alone", b"OC2" b"0123" b"1"),
    ("OC0 before OC1", b"OC0" b"0123" b"1" + OC1),
    ("OC2 twice", b"OC2" b"0123" b"1" b"OC2" b"0123" b"1"),
    ("KB4 in hundredths", b"KB4" b"744" b"N" b"-0667" b"1"),
    ("swell", b"UG1" b"10" b"025" b"270" b"1" b"UG2" b"08" b"010" b"999" b"9"),
    ("UG3 is like the last one", b"UG3" b"10" b"025" b"270" b"1"),
    ("UG0 and UG2 together", b"UG0" b"99" b"025" b"999" b"1" b"UG2" b"08" b"010" b"999" b"9"),
    ("tens of degrees", b"ED1" b"28" b"L" b"0450" b"1"),
    ("tens of no degrees", b"ED1" b"00" b"9" b"-450" b"1" b"ED1" b" 8" b"9" b"9999" b"9"),
    ("a minus in the first place", b"GO1" b"0060" b"-012" b"1" b"0345" b"1" b"-000" b"1"),
    ("a sign in another place", b"GO1" b"-060" b"+012" b"1" b" -45" b"1" b"-999" b"9"),
    ("codes lose the blanks at their ends", b"AT1" b"AU" b"01" b"FG  " b"5" b"AT2" b"  " b"1 " b" FG " b" " b"GE1" b"1"
        b"MSL   " b"+01000" b"+99999"),
    ("thousandths", b"CR1" b"01234" b"1" b"0"),
    ("one family of two kinds", b"CO1" b"99" b"-06" b"CO2" b"KA1" b"-0050" b"CO3" b"999" b"-0000"),
    ("minus no hours", b"CO1" b"05" b"-00"),
    ("short signed numbers", b"MD1" b"6" b"1" b"024" b"1" b"-012" b"9" b"SA1" b"+034" b"1"),
    ("blanks", b"AA1        "),
    ("not UTF-8", b"AA1" b"\xff\xfe" b"\xc3\xa9\xc3\xa9" b"\x80" b"\x00"),
    ("sky condition of a section", b"GF1" b"08" b"99" b"1" b"05" b"1" b"06" b"1" b"01000" b"1" b"99" b"9" b"99" b"9"),
]

TAILS = [
    # gaps
    ("an unknown section first", b"ADD" b"XX1123" + AA1),
    ("an unknown section first, remarks after", b"ADD" b"XX1123" + AA1 + b"REM" + SYN),
    ("only an unknown section, remarks after", b"ADD" b"XX1123" b"REM" + SYN),
    ("unknown entries first in later parts", b"ADD" + AA1 + b"REM" b"syn001x" + SYN),
    ("an unknown entry first in EQD", b"REM" + SYN + b"EQD" b"Z01  00002SLP  5" + Q01),
    ("an unknown entry first in QNN", b"QNN" b"Z11 1 00299" + E11),
    ("a marker twice, at once", b"ADDADD" + AA1),
    ("a marker too early", b"EQD" b"ADD" + AA1),
    ("an unknown section in the middle", b"ADD" + AA1 + b"XX1123" + AG1),
    ("an unknown section last", b"ADD" + AA1 + b"XX1123"),
    ("an unknown section before remarks", b"ADD" + AA1 + b"XX1123" b"REM" + SYN),
    ("two unknown sections", b"ADD" + AA1 + b"XX1123" + AG1 + b"YY1456" + OC1),
    ("an unknown section, out of order", b"ADD" + OC1 + b"XX1" + AA1),
    ("members of families of many layouts", b"ADD" + AA1 + b"CN5" b"0120" b"10" + AG1),
    ("CO0", b"ADD" + AA1 + b"CO0" b"05" b"-06"),
    ("IA3 and IB3", b"ADD" + AA1 + b"IA3011" b"IB3+0123" + OC1),
    ("small letters", b"ADD" + AA1 + b"aa2" b"06" b"0021" b"3" b"1"),
    ("a section cut short", b"ADD" + AA1 + GA1[:-1]),
    ("the gap holds a section's name by chance", b"ADD" + AA1 + b"XX1AG1" + AG1),
    ("the gap is as short as can be", b"ADD" + AA1 + b"XX1" + AG1 + AG1),
    ("ADD alone", b"ADD"),
    ("REM alone", b"REM"),
    ("EQD alone", b"EQD"),
    ("QNN alone", b"QNN"),
    ("ADD with nothing, then REM", b"ADD" b"REM" + SYN),
    ("all markers with nothing", b"ADDREMEQDQNN"),
    ("markers with nothing after sections", b"ADD" + AA1 + b"REMEQD" b"QNN" + E11),
    ("no marker", AA1),
    ("blanks", b"   "),
    ("a blank before ADD", b" ADD" + AA1),
    ("a blank at the end", b"ADD" + AA1 + b" "),
    ("ADD twice", b"ADD" + AA1 + b"ADD" + AG1),
    ("sections after remarks", b"REM" b"SYN001X" b"ADD" + AA1),
    ("quality after observations", b"QNN" + E11 + b"EQD" + Q01),
    ("a gap that is not UTF-8", b"ADD" + AA1 + b"\xff\x00" + AG1),
    ("a marker inside a section", b"ADD" + b"AA1" b"RE" b"MSYN" b"0" b"0"),
    # remarks, quality, observations
    ("remarks", b"REM" + SYN),
    ("all parts", b"ADD" + AA1 + b"REM" + SYN + b"EQD" + Q01 + b"QNN" + E11),
    ("sections and observations", b"ADD" + AA1 + b"QNN" + E11),
    ("a remark of no characters", b"REM" b"SYN000"),
    ("remarks of no characters", b"REM" b"SYN000" b"MET002ab" b"AWY000"),
    ("a remark of 999 characters", b"REM" b"SOM999" + b"x" * 999),
    ("remarks that look like parts", b"REM" b"SYN023REMEQDQ01 QNNE11 ADDAA1" b"MET003EQD"),
    ("a remark's length one too small", b"REM" b"SYN022REMEQDQ01 QNNE11 ADDAA1" b"MET003EQD"),
    ("a remark longer than the record", b"REM" b"SYN006AB CD"),
    ("the second remark longer than the record", b"REM" + SYN + b"MET004abc"),
    ("a remark longer than the record, quality in it", b"REM" b"SYN099" b"abc" b"EQD" + Q01),
    ("a remark cut in its length", b"REM" + SYN + b"MET00"),
    ("a kind of small letters", b"REM" + SYN + b"Met000"),
    ("a length with a blank", b"REM" + SYN + b"MET 00"),
    ("a gap between remarks", b"REM" + SYN + b";;" b"MET001x"),
    ("kinds that are markers", b"REM" b"EQD003abc" b"QNN001x" b"REM000" b"ADD000"),
    ("a remark that is not UTF-8", b"REM" b"SYN003a\xe9b"),
    ("a remark in UTF-8", b"REM" b"SYN006a\xf0\x9f\x98\x80 "),
    ("a remark's length counts bytes", b"REM" b"SYN002\xc3\xa9" b"MET001\xc3"),
    ("remarks with blanks and odd characters", b"REM" b"SYN010 \"\\/\t\x00\x7f\r ="),
    ("EQD after remarks", b"REM" b"SYN001X" b"EQD" + Q01),
    ("EQD with nothing after remarks", b"REM" b"SYN001X" b"EQD"),
    ("every family of EQD", b"EQD" + b"".join(b"%c99      9      " % letter for letter in b"QPRCDN")),
    ("an unknown family of EQD", b"EQD" + Q01 + b"Z01  00002PRCP24"),
    ("an unknown family of EQD in the middle", b"EQD" + Q01 + b"Z01  00002SLP  5" + Q01),
    ("a number of EQD with a letter", b"EQD" + Q01 + b"Q0A  00002PRCP24"),
    ("EQD cut short", b"EQD" + Q01 + Q01[:-1]),
    ("EQD that is not UTF-8", b"EQD" b"N00\xe9     \xc3\xa9   \xff "),
    ("observations", b"QNN" + E11 + E11 + b"A" b"    " b"      " b"Y" b"\x00\"\\ " b"QNNQNN"),
    ("no element Z", b"QNN" + E11 + b"Z" b"11 1" b" 00299" + E11),
    ("only Z", b"QNN" b"Z" b"11 1" b" 00299"),
    ("an observation cut short", b"QNN" + E11 + E11[:-1]),
    ("an observation that is not UTF-8", b"QNN" b"B" b"\xff   " b" \xc3\xa9   "),
    ("9,999 characters", b"REM" + (b"SYN999" + b"y" * 999) * 9 + b"MET945" + b"z" * 945),
    ("9,999 characters of nothing", b"ADD" + AA1 + b"REM100" * 1664 + b" "),
]

RECORDS = [Odd(*record) for record in LINES]
RECORDS += [Odd(name, tail(b"ADD" + text)) for name, text in SECTIONS]
RECORDS += [Odd(name, tail(text)) for name, text in TAILS]
