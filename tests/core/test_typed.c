/* typed: booleans, decimals, ObjectIds and UUIDs in delimited files: what becomes a value, what stays text, and
 * what is written of it. */
#include "field_lab.h"
#include "test.h"

#define YES "true"
#define NO  "false"

TEST(booleans) {
    FIELD_TABLE("", ", type: boolean", IS("true", YES), BACK("True", YES, "true"), BACK("TRUE", YES, "true"),
                IS("false", NO), BACK("False", NO, "false"), BACK("FALSE", NO, "false"), KEPT("tRUE"),
                KEPT(" true"), KEPT("1"), KEPT("yes"), KEPT("t"));
    FIELD_TABLE("", ", type: bool, true: [yes, Y, \"1\"], false: [no, N, \"0\"]", IS("yes", YES),
                BACK("Y", YES, "yes"), BACK("1", YES, "yes"), IS("no", NO), BACK("N", NO, "no"),
                BACK("0", NO, "no"), KEPT("true"), KEPT("y"), KEPT("01"));
    /* words of another encoding; the other side keeps its usual words */
    FIELD_TABLE(", encoding: utf-8-or-latin1", ", type: boolean, true: oui, false: \"n\xC3\xA9\"",
                IS("oui", YES), BACK("n\xE9", NO, "n\xC3\xA9"), IS("n\xC3\xA9", NO));
    FIELD_TABLE("", ", type: boolean, true: x", IS("x", YES), BACK("FALSE", NO, "false"), KEPT("true"));
}

TEST(words_with_delimiters) {
    FIELD_TABLE("", ", type: boolean, nulls: [], true: \"a|b\", false: \"\"", IS("\"a|b\"", YES),
                IS("\"\"", NO));
}

#define DEC(number) "{'$numberDecimal':'" number "'}"

TEST(decimals) {
    FIELD_TABLE("", ", type: decimal", IS("12.50", DEC("12.50")), IS("0", DEC("0")), IS("0.00", DEC("0.00")),
                IS("-0.00", DEC("-0.00")), IS("-12", DEC("-12")), IS("100", DEC("100")),
                IS("12345678901234567890.12", DEC("12345678901234567890.12")),
                IS("9999999999999999999999999999999999", DEC("9999999999999999999999999999999999")),
                IS("-0.9999999999999999999999999999999999", DEC("-0.9999999999999999999999999999999999")),
                KEPT("12345678901234567890123456789012345"), KEPT("0.12345678901234567890123456789012345"),
                KEPT("1.0000000000000000000000000000000000"), /* 35 digits, of which no zero may go */
                BACK("0.00000012", DEC("1.2E-7"), "1.2E-7"),
                BACK("0.00000000000000000000000000000000001", DEC("1E-35"), "1E-35"));
    /* the same number, and the same digits */
    FIELD_TABLE("", ", type: decimal128", BACK(" 12.50 ", DEC("12.50"), "12.50"),
                BACK("+007.0", DEC("7.0"), "7.0"), BACK(".5", DEC("0.5"), "0.5"), BACK("5.", DEC("5"), "5"),
                BACK("1e3", DEC("1E+3"), "1E+3"), BACK("1.20E-5", DEC("0.0000120"), "0.0000120"),
                IS("1.5E+10", DEC("1.5E+10")), BACK("1e6111", DEC("1E+6111"), "1E+6111"), KEPT("1e6112"),
                BACK("1e-6176", DEC("1E-6176"), "1E-6176"), KEPT("1e-6177"), KEPT("1e99999999999999999999"),
                KEPT("0e7000"));
    FIELD_TABLE("", ", type: decimal", KEPT("1,5"), KEPT("abc"), KEPT("-"), KEPT("."), KEPT("1e"),
                KEPT("0x10"), KEPT("inf"), KEPT("NaN"), KEPT("1 2"), KEPT("--1"), KEPT("1.2.3"));
    FIELD_TABLE("", ", type: decimal, divide: 100", IS("1999", DEC("19.99")), IS("19.990", DEC("0.19990")),
                IS("0", DEC("0.00")));
    FIELD_TABLE("", ", type: decimal, nulls: [\"\", \"0\"]", IS("0.0", DEC("0.0")), IS("1", DEC("1")));
}

#define OID(digits)  "{'$oid':'" digits "'}"
#define UUID(base64) "{'$binary':{'base64':'" base64 "','subType':'04'}}"

TEST(object_ids) {
    FIELD_TABLE("", ", type: objectid", IS("507f1f77bcf86cd799439011", OID("507f1f77bcf86cd799439011")),
                BACK("507F1F77BCF86CD799439011", OID("507f1f77bcf86cd799439011"), "507f1f77bcf86cd799439011"),
                IS("000000000000000000000000", OID("000000000000000000000000")),
                KEPT("507F1F77bcf86cd799439011"), KEPT("507f1f77bcf86cd79943901"),
                KEPT("507f1f77bcf86cd7994390111"), KEPT("507f1f77bcf86cd79943901g"),
                KEPT(" 507f1f77bcf86cd799439011"), KEPT("ObjectId(507f1f77bcf86cd799439011)"));
}

TEST(uuids) {
    FIELD_TABLE("", ", type: uuid",
                IS("00112233-4455-6677-8899-aabbccddeeff", UUID("ABEiM0RVZneImaq7zN3u/w==")),
                BACK("00112233-4455-6677-8899-AABBCCDDEEFF", UUID("ABEiM0RVZneImaq7zN3u/w=="),
                     "00112233-4455-6677-8899-aabbccddeeff"),
                KEPT("00112233-4455-6677-8899-AABBCCDDeeff"), KEPT("00112233445566778899aabbccddeeff"),
                KEPT("{00112233-4455-6677-8899-aabbccddeeff}"), KEPT("001122334455-6677-8899-aabb-ccddeeff"),
                KEPT("00112233-4455-6677-8899-aabbccddeef"), KEPT("00112233-4455-6677-8899-aabbccddeefff"),
                KEPT("00112233-4455-6677-8899-aabbccddeegg"));
    /* text that is not UTF-8 is a binary of another kind */
    FIELD_TABLE("", ", type: uuid", BYTES("\xE9", "{'$binary':{'base64':'6Q==','subType':'00'}}"));
}

#define INT(number)  "{'$numberInt':'" number "'}"
#define LONG(number) "{'$numberLong':'" number "'}"
#define NUM(number)  "{'$numberDouble':'" number "'}"

TEST(whole_numbers) {
    FIELD_TABLE("", ", type: int", IS("0", INT("0")),
                BACK("0000000000000000000000000000042", INT("42"), "42"), BACK("+5", INT("5"), "5"),
                BACK("5  ", INT("5"), "5"), BACK("  -5 ", INT("-5"), "-5"), BACK("+0", INT("0"), "0"),
                IS("9223372036854775807", LONG("9223372036854775807")),
                IS("-9223372036854775808", LONG("-9223372036854775808")), KEPT("9223372036854775808"),
                KEPT("-9223372036854775809"), KEPT("18446744073709551615"), KEPT("18446744073709551617"),
                KEPT("99999999999999999999999999"), KEPT("-0"), KEPT("-000"), KEPT(" "), KEPT("-"), KEPT("+"),
                KEPT("--5"), KEPT("+-5"), KEPT("5-"), KEPT("- 5"), KEPT("1 2"), KEPT("1.0"), KEPT("1e3"),
                KEPT("0x1"), KEPT("1,000"), KEPT("\t5"), KEPT("NULL"));
}

/* A double has not room for these: nothing of them may be lost. */
TEST(numbers_keep_their_digits) {
    FIELD_TABLE("", ", type: number", KEPT(" "), KEPT("."), KEPT("-"), KEPT("+"), KEPT("e5"), KEPT("1e"),
                KEPT("1e+"), KEPT("1.2.3"), KEPT("inf"), KEPT("-inf"), KEPT("nan"), KEPT("0x10"), KEPT("1f"),
                KEPT("1,5"), KEPT("--1"), KEPT("+-1"), KEPT("1 2"), KEPT("1e5.5"), KEPT("infinity"),
                KEPT("1e400"), KEPT("-1e400"), KEPT("1e99999999999999999999"), KEPT("1e1e1"), KEPT("1_000"),
                KEPT("\u0661"), KEPT("1e-99999999999999999999"), KEPT("1e-9223372036854775808"),
                KEPT("1e-2147483649"), KEPT("123.456e-100000"), KEPT("1e9223372036854775807"),
                KEPT("1e2147483648"), KEPT("0.30000000000000002"), KEPT("123456789012345678901"),
                KEPT("4.9406564584124654e-324"), KEPT("5.8581906792798085e-244"),
                /* 2^-808, whose neighbours lie unevenly */
                IS("5.858190679279809e-244", NUM("5.858190679279809e-244")),
                BACK("123456789012345680000", NUM("1.2345678901234568e+20"), "1.2345678901234568e20"),
                IS("1.7976931348623157e308", NUM("1.7976931348623157e+308")), BACK(".5", NUM("0.5"), "0.5"),
                BACK("5.", NUM("5.0"), "5"), BACK("1E3", NUM("1000.0"), "1000"));
    FIELD_TABLE("", ", type: number, divide: 10", BACK("+0105", NUM("10.5"), "105"),
                BACK("25e1", NUM("25.0"), "250"), KEPT("1e-9223372036854775807"));
    FIELD_TABLE(
        "", ", type: number", KEPT("12345678901234567890.12"), KEPT("9007199254740993"),
        IS("9007199254740992", NUM("9007199254740992")), KEPT("9223372036854775808"), KEPT("1e-400"),
        KEPT("0.1000000000000000055511151231257827"), IS("9.007199254740993", NUM("9.007199254740993")),
        KEPT("9.0071992547409925"), KEPT("123456789012345678901234567890"), KEPT("4.9e-324"),
        IS("5e-324", NUM("5e-324")), IS("0.30000000000000004", NUM("0.30000000000000004")),
        BACK("100000000000000000000", NUM("1e+20"), "1e20"), IS("1e23", NUM("1e+23")),
        BACK("0.10000000000000000000000000000", NUM("0.1"), "0.1"),
        BACK("0000000000000000000000000012.5", NUM("12.5"), "12.5"), BACK("+78.250", NUM("78.25"), "78.25"),
        BACK("-0.0", NUM("-0.0"), "-0"), BACK("0e99999", NUM("0.0"), "0"));
    FIELD_TABLE("", ", type: number, divide: 1000000000", KEPT("123456789012345678"),
                IS("123456789012345", NUM("123456.789012345")));
}

TEST(mistakes) {
    field_mistake("", ", true: [x]", "4:21", "'true' goes with");
    field_mistake("", ", type: int, false: [x]", "4:33", "'false' goes with");
    field_mistake("", ", type: boolean, true: []", "4:36", "1 to 8 words");
    field_mistake("", ", type: boolean, true: [a, b, c, d, e, f, g, h, i]", "4:36", "1 to 8 words");
    field_mistake("", ", type: boolean, true: {a: b}", "4:36", "1 to 8 words");
    field_mistake("", ", type: boolean, true: [x], false: [y, x]", "4:5", "'x' has two meanings");
    field_mistake("", ", type: boolean, true: [x, FALSE]", "4:5", "'FALSE' has two meanings");
    field_mistake("", ", type: boolean, nulls: [\"\", n], false: [n]", "4:5", "'n' has two meanings");
    field_mistake("", ", type: uuid, divide: 10", "4:35", "number, decimal");
    field_mistake("", ", type: boolaen", "4:21", "datetime, boolean, decimal");
}
