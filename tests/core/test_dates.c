/* dates: patterns with parts of no full width, names, offsets and epochs: which moment a text is, and what is written of it. */
#include "field_lab.h"
#include "test.h"

#define DAY(ms) "{'$date':{'$numberLong':'" ms "'}}"

TEST(bare_parts) {
    FIELD_TABLE("", ", type: date, pattern: D/M/YYYY", IS("3/2/2024", DAY("1706918400000")),
                IS("29/2/2024", DAY("1709164800000")), IS("10/12/1969", DAY("-1900800000")),
                KEPT("03/2/2024"), KEPT("3/02/2024"), KEPT("30/2/2024"), KEPT("0/2/2024"), KEPT("3/13/2024"),
                KEPT("3/2/24"), KEPT("3/2/2024 "), KEPT("123/2/2024"), KEPT("/2/2024"), KEPT("3/2/20245"));
    FIELD_TABLE("", ", type: date, pattern: [D/M/YYYY, DD/MM/YYYY]", IS("03/02/2024", DAY("1706918400000")),
                KEPT("3/02/2024"));
    FIELD_TABLE("", ", type: date, pattern: \"D.M.YYYY h:mm\"", IS("3.2.2024 9:05", DAY("1706951100000")),
                IS("3.2.2024 0:00", DAY("1706918400000")), IS("3.2.2024 23:59", DAY("1707004740000")),
                KEPT("3.2.2024 09:05"), KEPT("3.2.2024 24:00"));
    FIELD_TABLE("", ", type: date, pattern: \"DD.MM.YYYY hhhmm\"",
                IS("03.02.2024 14h30", DAY("1706970600000")));
    FIELD_TABLE("", ", type: date, pattern: YYYY\u5e74M\u6708D\u65e5",
                IS("2024\u5e742\u67083\u65e5", DAY("1706918400000")));
}

TEST(names) {
    FIELD_TABLE("", ", type: date, pattern: DD-MON-YYYY", IS("03-Feb-2024", DAY("1706918400000")),
                BACK("03-FEB-2024", DAY("1706918400000"), "03-Feb-2024"),
                BACK("03-feb-2024", DAY("1706918400000"), "03-Feb-2024"),
                BACK("03-fEb-2024", DAY("1706918400000"), "03-Feb-2024"), KEPT("03-February-2024"),
                KEPT("03-Fev-2024"), KEPT("31-Apr-2024"), KEPT("03-Fe"));
    FIELD_TABLE("", ", type: date, pattern: \"MONTH D, YYYY\"", IS("February 3, 2024", DAY("1706918400000")),
                BACK("MAY 1, 1970", DAY("10368000000"), "May 1, 1970"),
                IS("September 30, 2001", DAY("1001808000000")), KEPT("Feb 3, 2024"), KEPT("Februar 3, 2024"));
}

TEST(short_years) {
    FIELD_TABLE("", ", type: date, pattern: DD-MON-YY", BACK("23-NOV-20", DAY("1606089600000"), "23-Nov-20"),
                IS("01-Jan-69", DAY("-31536000000")), IS("31-Dec-68", DAY("3124137600000")),
                IS("01-Jan-00", DAY("946684800000")), IS("29-Feb-00", DAY("951782400000")), KEPT("29-Feb-99"),
                KEPT("01-Jan-1999"));
    /* a year that two digits cannot say is written by the other pattern */
    FIELD_TABLE("", ", type: date, pattern: [DD/MM/YY, DD/MM/YYYY]", IS("01/01/1850", DAY("-3786825600000")),
                IS("01/01/70", DAY("0")));
}

TEST(half_days) {
    FIELD_TABLE("", ", type: date, pattern: \"M/D/YYYY h:mm A\"", IS("1/1/1970 12:00 AM", DAY("0")),
                IS("1/1/1970 12:30 PM", DAY("45000000")), IS("1/1/1970 1:00 AM", DAY("3600000")),
                IS("1/1/1970 11:59 PM", DAY("86340000")),
                BACK("1/1/1970 11:59 pm", DAY("86340000"), "1/1/1970 11:59 PM"), KEPT("1/1/1970 0:30 AM"),
                KEPT("1/1/1970 13:00 PM"), BACK("1/1/1970 1:00 Pm", DAY("46800000"), "1/1/1970 1:00 PM"),
                KEPT("1/1/1970 1:00"));
    FIELD_TABLE("", ", type: date, pattern: \"MON D YYYY hh:mmA\"",
                BACK("JAN 1 1970 01:00pm", DAY("46800000"), "Jan 1 1970 01:00PM"),
                BACK("Jan 1 1970 01:00pm", DAY("46800000"), "Jan 1 1970 01:00PM"));
}

TEST(offsets) {
    FIELD_TABLE(
        "", ", type: date, pattern: \"YYYY-MM-DDThh:mm:ssZZ\"", IS("1970-01-01T00:00:00Z", DAY("0")),
        BACK("1970-01-01T01:00:00+01:00", DAY("0"), "1970-01-01T00:00:00Z"),
        BACK("1970-01-01T01:00:00+0100", DAY("0"), "1970-01-01T00:00:00Z"),
        BACK("1969-12-31T19:30:00-04:30", DAY("0"), "1970-01-01T00:00:00Z"),
        BACK("1970-01-01T00:00:00+00:00", DAY("0"), "1970-01-01T00:00:00Z"),
        BACK("1970-01-01T14:00:00+1400", DAY("0"), "1970-01-01T00:00:00Z"), KEPT("1970-01-01T00:00:00-00:00"),
        KEPT("1970-01-01T00:00:00+01"), KEPT("1970-01-01T00:00:00z"), KEPT("1970-01-01T00:00:00+24:00"),
        KEPT("1970-01-01T00:00:00+01:60"), KEPT("1970-01-01T00:00:00"), KEPT("1970-01-01T00:00:00 +01:00"),
        /* in UTC it would be of the year -1, or 10000 */
        KEPT("0000-01-01T00:00:00+01:00"), KEPT("9999-12-31T23:30:00-01:00"),
        BACK("0000-01-01T01:00:00+01:00", DAY("-62167219200000"), "0000-01-01T00:00:00Z"),
        BACK("9999-12-31T23:30:00+01:00", DAY("253402295400000"), "9999-12-31T22:30:00Z"));
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss ZZ\"",
                BACK("1970-01-01 01:00:00 +0100", DAY("0"), "1970-01-01 00:00:00 Z"));
}

/* Hours without an offset are of the format's zone; which moments these are is for the oracle timezones. */
TEST(local) {
#define BERLIN "}\ntimezone: Europe/Berlin #"
    FIELD_TABLE(BERLIN, ", type: date, pattern: [\"YYYY-MM-DD hh:mm\", \"YYYY-MM-DD hh:mmZZ\"]",
                IS("1970-07-01 01:00", DAY("15638400000")), IS("1980-07-01 02:00", DAY("331257600000")),
                BACK("1980-07-01 02:00+02:00", DAY("331257600000"), "1980-07-01 00:00Z"),
                KEPT("2024-03-31 02:00"), KEPT("2024-03-31 02:59"),
                IS("2024-03-31 03:00", DAY("1711846800000")), IS("2024-10-27 02:30", DAY("1729989000000")));
    FIELD_TABLE(BERLIN, ", type: datetime, pattern: YYYY-MM-DD hh:mm:ss.SSSu",
                IS("1980-07-01 02:00:00.1250", DAY("331257600125")),
                BACK("2024-03-31 01:59:59.9999", DAY("1711846800000"), "2024-03-31 03:00:00.0000"));
    /* of the first year there is less in UTC */
    FIELD_TABLE(BERLIN, ", type: datetime", KEPT("0000-01-01 00:00:00"),
                IS("1980-07-01", DAY("331257600000")), IS("1980-07-01T00:00:00Z", DAY("331257600000")),
                IS("1980-07-01T02:00:00", DAY("331257600000")));
    static const char *const named[] = {"Z", " UTC", "+00:00", " GMT"};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        char field[100], text[60];
        snprintf(field, sizeof field, ", type: date, pattern: \"DD/MM/YYYY hh:mm%s\"", named[i]);
        snprintf(text, sizeof text, "01/07/1980 00:00%s", named[i]);
        FIELD_TABLE(BERLIN, field, IS(text, DAY("331257600000")));
    }
    FIELD_TABLE(BERLIN, ", type: date, pattern: epoch_s", IS("331257600", DAY("331257600000")));
}

TEST(fractions) {
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss.S\"",
                IS("1970-01-01 00:00:00.5", DAY("500")), KEPT("1970-01-01 00:00:00.50"));
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss.SS\"",
                IS("1970-01-01 00:00:00.25", DAY("250")));
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss.SSSSSS\"",
                IS("1970-01-01 00:00:00.123000", DAY("123")), KEPT("1970-01-01 00:00:00.123456"));
    FIELD_TABLE("", ", type: date, pattern: \"DD.MM.YYYY hh:mm:ss.SSS\"",
                IS("02.01.1970 03:04:05.678", DAY("97445678")), KEPT("02.01.1970 24:00:00.000"),
                KEPT("02.01.1970 03:60:00.000"), KEPT("02.01.1970 03:04:60.000"));
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss.SSSSSSSSS\"",
                IS("1970-01-01 00:00:00.123000000", DAY("123")), KEPT("1970-01-01 00:00:00.123000001"),
                KEPT("1970-01-01 00:00:00.123456789"));
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DD hh:mm:ss.SSSS\"",
                IS("1970-01-01 00:00:00.1230", DAY("123")), KEPT("1970-01-01 00:00:00.1234"));
    FIELD_TABLE("", ", type: date, pattern: \"DD-MON-YY hh.mm.ss.SSSSSS A\"",
                BACK("23-NOV-20 10.57.36.827000 PM", DAY("1606172256827"), "23-Nov-20 10.57.36.827000 PM"));
}

TEST(rounded_fractions) {
    FIELD_TABLE("", ", type: date, pattern: \"YYYY-MM-DDThh:mm:ss.SSSuuuZZ\"",
                BACK("1970-01-01T00:00:00.123499Z", DAY("123"), "1970-01-01T00:00:00.123000Z"),
                BACK("1969-12-31T23:59:59.999500Z", DAY("0"), "1970-01-01T00:00:00.000000Z"),
                BACK("1970-01-01T02:00:00.000501+02:00", DAY("1"), "1970-01-01T00:00:00.001000Z"),
                KEPT("1970-01-01T00:00:00.123Z"), KEPT("9999-12-31T23:59:59.999500Z"));
    /* only after milliseconds, and only as many as a fraction has */
    FIELD_TABLE("",
                ", type: date, pattern: [\"YYYY-MM-DD hh:mm:ss.SSu\", \"YYYY-MM-DD hh:mm:ss.SSSuuuuuuu\"]",
                IS("1970-01-01 00:00:00.25u", DAY("250")),
                BACK("1970-01-01 00:00:00.123456789u", DAY("123"), "1970-01-01 00:00:00.123000000u"));
}

TEST(epochs) {
    FIELD_TABLE("", ", type: date, pattern: epoch_s", IS("0", DAY("0")),
                IS("1706950800", DAY("1706950800000")), IS("-1", DAY("-1000")),
                IS("253402300799", DAY("253402300799000")), KEPT("253402300800"),
                IS("-62167219200", DAY("-62167219200000")), KEPT("-62167219201"), KEPT("01"), KEPT("+1"),
                KEPT("-0"), KEPT(" 1"), KEPT("1.5"), KEPT("9223372036854775807"));
    FIELD_TABLE("", ", type: date, pattern: epoch_ms", IS("1706950800123", DAY("1706950800123")),
                IS("-1", DAY("-1")), KEPT("9223372036854775807"));
    FIELD_TABLE("", ", type: date, pattern: [epoch_s, epoch_ms, YYYY-MM-DD]",
                IS("1706950800", DAY("1706950800000")), IS("1706950800123", DAY("1706950800123")),
                IS("1970-01-02", DAY("86400000")));
}

TEST(patterns_that_are_none) {
    static const struct {
        const char *pattern, *says;
    } cases[] = {{"DD/MM", "MON or MONTH"},
                 {"YYYY-MM-DD YY", "twice"},
                 {"MON MM D YYYY", "twice"},
                 {"D/M", "needed"},
                 {"DMYYYY", "no digit"},
                 {"MD-YYYY", "no digit"},
                 {"YYYY-MM-DD hmm", "no digit"},
                 {"D1 MM YYYY", "no digit"},
                 {"YYYY-MM-DD A", "hh or h"},
                 {"YYYY-MM-DD hh hh", "twice"},
                 {"YYYY-MM-DD S SS", "twice"},
                 {"YYYY-MM-DD ZZ ZZ", "twice"},
                 {"epoch", "needed"},
                 {"YYYY", "needed"},
                 {"hh:mm:ss", "needed"},
                 {"YYYY-MM-DD hh:mm:SS", "needs ss"},
                 {"YYYYMMDD--------------------------------", "1 to 39"},
                 {"epoch_us", "needed"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char field[100];
        snprintf(field, sizeof field, ", type: date, pattern: \"%s\"", cases[i].pattern);
        field_mistake("", field, "4:36", cases[i].says);
    }
}
