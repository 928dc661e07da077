/* Rows of Arrow as documents: what each type becomes, and which arrays are broken. */
#include "arrow_lab.h"
#include "base/document.h"
#include "format/columns/columns.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "heard.h"
#include "test.h"

#include <stdio.h>

/* ---- all rows of a stream ---- */

typedef struct {
    char text[20000]; /* of the documents, or the sentence of the failure */
    char notes[4000];
    size_t rows;
    bool ok;
    status_t status;
} made_t;

static void add_document(made_t *made, const uint8_t *bytes, uint32_t length) {
    bson_t document;
    assert_true(bson_init_static(&document, bytes, length));
    char *json = ejson_print(&document, false, NULL);
    assert_non_null(json);
    if (made->rows++)
        strcat(made->text, "; ");
    assert_true(strlen(made->text) + strlen(json) + 3 < sizeof made->text);
    strcat(made->text, json);
    bson_free(json);
}

static made_t read_source(arrow_source_t *source, columns_how_t how) {
    made_t made = {.ok = true};
    columns_sums_t sums = {.how = how};
    err_t err;
    struct ArrowArrayStream stream = arrow_stream(source);
    frame_t *frame = columns_open(&stream, &sums, &err);
    assert_null(stream.release);
    const uint8_t *bytes;
    size_t length = 0;
    int more = frame ? 0 : -1;
    if (frame) {
        while ((more = columns_next(frame, &bytes, &length, &err)) > 0)
            for (size_t at = 0; at < length;) {
                uint32_t document;
                memcpy(&document, bytes + at, sizeof document);
                assert_true(document <= length - at);
                add_document(&made, bytes + at, document);
                at += document;
            }
        if (more < 0) {
            err_t again;
            assert_int_equal(columns_next(frame, &bytes, &length, &again), -1);
            assert_string_equal(again.text, err.text);
        }
    }
    columns_close(frame);
    assert_int_equal(source->released, 1);
    static ear_t ear;
    listen_to(&ear, STDERR_FILENO);
    columns_tell(&sums, "rows");
    snprintf(made.notes, sizeof made.notes, "%s", heard(&ear));
    columns_sums_free(&sums);
    if (more < 0) {
        made.ok = false;
        made.status = err.status;
        snprintf(made.text, sizeof made.text, "%s", err.text);
    }
    return made;
}

/* One column, `v` unless it has a name, as all rows of one batch. */
static arrow_part_t rows_of(const arrow_part_t *column) {
    return (arrow_part_t){
        .format = "+s", .length = column->length, .count = 1, .child_count = 1, .children = column};
}

static made_t read_column(const arrow_part_t *column, columns_how_t how) {
    arrow_part_t named = *column, rows = rows_of(&named);
    named.name = column->name ? column->name : "v";
    arrow_source_t source = {.batches = &rows, .count = 1};
    return read_source(&source, how);
}

/* ---- what each type becomes ---- */

#define V(value)  "{ \"v\" : " value " }"
#define INT(n)    "{ \"$numberInt\" : \"" n "\" }"
#define LONG(n)   "{ \"$numberLong\" : \"" n "\" }"
#define DOUBLE(n) "{ \"$numberDouble\" : \"" n "\" }"
#define DEC(n)    "{ \"$numberDecimal\" : \"" n "\" }"
#define DATE(n)   "{ \"$date\" : { \"$numberLong\" : \"" n "\" } }"
#define BIN(s, t) "{ \"$binary\" : { \"base64\" : \"" s "\", \"subType\" : \"" t "\" } }"
#define OID(s)    "{ \"$oid\" : \"" s "\" }"

#define BITS(...) ARROW(uint8_t, __VA_ARGS__)

/* A metadata with one key. */
#define EXTENSION(name) "\1\0\0\0\x14\0\0\0ARROW:extension:name" name

/* The keys and values of a map. */
#define ENTRIES(pairs, ...)                                                                                  \
    {                                                                                                        \
        {                                                                                                    \
            .format = "+s", .name = "entries", .length = (pairs), .count = 1, .child_count = 2,              \
            .children = (const arrow_part_t[]) {                                                             \
                __VA_ARGS__                                                                                  \
            }                                                                                                \
        }                                                                                                    \
    }

static const arrow_part_t ints[] = {ARROW_PART("i", "item", 5, 0, ARROW_NONE, ARROW(int32_t, 1, 2, 3, 4, 5))};
static const arrow_part_t words[] = {
    ARROW_PART("u", "words", 3, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 3, 3), ARROW_TEXT("abb"))};
static const arrow_part_t pair[] = {
    ARROW_PART("i", "a", 3, 1, BITS(5), ARROW(int32_t, 1, 2, 3)),
    ARROW_PART("u", "b", 3, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 3, 3), ARROW_TEXT("abb"))};
static const arrow_part_t entries[] =
    ENTRIES(3, ARROW_PART("u", "keys", 3, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 2, 3), ARROW_TEXT("xyz")),
            ARROW_PART("i", "values", 3, 1, BITS(5), ARROW(int32_t, 1, 2, 3)));
static const arrow_part_t bad_entries[] =
    ENTRIES(3, ARROW_PART("u", "keys", 3, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 2, 3), ARROW_TEXT("xxz")),
            ARROW_PART("c", "values", 3, 0, ARROW_NONE, ARROW(int8_t, 1, 2, 3)));
static const arrow_part_t int_entries[] =
    ENTRIES(2, ARROW_PART("c", "k", 2, 0, ARROW_NONE, ARROW(int8_t, 7, 8)),
            ARROW_PART("c", "v", 2, 1, BITS(1), ARROW(int8_t, 1, 2)));
static const arrow_part_t runs[] = {
    ARROW_PART("s", "run_ends", 3, 0, ARROW_NONE, ARROW(int16_t, 2, 3, 9)),
    ARROW_PART("u", "values", 3, 1, BITS(5), ARROW(int32_t, 0, 1, 1, 2), ARROW_TEXT("az"))};
static const arrow_part_t fields[] = {
    ARROW_PART("c", "int", 3, 0, ARROW_NONE, ARROW(int8_t, 1, 2, 3)),
    ARROW_PART("u", "text", 3, 1, BITS(3), ARROW(int32_t, 0, 1, 2, 2), ARROW_TEXT("xy"))};

/* Two maps of two maps each. */
static const arrow_part_t outer_entries[] =
    ENTRIES(2, ARROW_PART("u", "k", 2, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 2), ARROW_TEXT("qp")),
            {.format = "+m",
             .name = "v",
             .length = 2,
             .count = 2,
             .child_count = 1,
             .children = entries,
             .buffers = {ARROW_NONE, ARROW(int32_t, 0, 2, 3)}});

typedef struct {
    const char *what;
    arrow_part_t column;
    const char *expected; /* documents */
    columns_how_t how;
    const char *notes; /* words of them; NULL: there are none */
} row_t;

#define TYPE(is, ...)   .column = {.format = (is), __VA_ARGS__}
#define BUFFERS(n, ...) .count = (n), .buffers = {__VA_ARGS__}

static const row_t rows[] = {
    {"int8", TYPE("c", .length = 3, .nulls = 1, BUFFERS(2, BITS(5), ARROW(int8_t, -128, 9, 127))),
     V(INT("-128")) "; { }; " V(INT("127"))},
    {"uint8", TYPE("C", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint8_t, 255))), V(INT("255"))},
    {"int16", TYPE("s", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int16_t, -32768))), V(INT("-32768"))},
    {"uint16", TYPE("S", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint16_t, 65535))), V(INT("65535"))},
    {"int32", TYPE("i", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int32_t, INT32_MIN))),
     V(INT("-2147483648"))},
    {"uint32", TYPE("I", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint32_t, UINT32_MAX))),
     V(LONG("4294967295"))},
    {"int64 stays int64", TYPE("l", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1, INT64_MIN))),
     V(LONG("1")) "; " V(LONG("-9223372036854775808"))},
    {"uint64", TYPE("L", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(uint64_t, INT64_MAX, 1ull << 63))),
     V(LONG("9223372036854775807")) "; " V("\"9223372036854775808\""), .notes = "column 'v': 1 value "},
    {"uint64, null",
     TYPE("L", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint64_t, 1ull << 63))),
     V("null"),
     {.bad = BAD_VALUE_NULL},
     "became null"},
    {"uint64, reject",
     TYPE("L", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint64_t, 1ull << 63))),
     V("{ \"$symbol\" : \"9223372036854775808\" }"),
     {.bad = BAD_VALUE_REJECT}},
    {"float16",
     TYPE("e", .length = 6,
          BUFFERS(2, ARROW_NONE, ARROW(uint16_t, 0x3C00, 0xC000, 1, 0x7BFF, 0xFC00, 0x7E01))),
     V(DOUBLE("1.0")) "; " V(DOUBLE("-2.0")) "; " V(DOUBLE("5.960464477539063e-08")) "; " V(
         DOUBLE("65504.0")) "; " V(DOUBLE("-Infinity")) "; " V(DOUBLE("NaN"))},
    {"float", TYPE("f", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(float, 0.5F))), V(DOUBLE("0.5"))},
    {"double", TYPE("g", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(double, -0.0, 0.1))),
     V(DOUBLE("-0.0")) "; " V(DOUBLE("0.1"))},
    {"bool, from the 7th bit", TYPE("b", .length = 3, .offset = 7, BUFFERS(2, BITS(0x80, 2), BITS(0x80, 3))),
     V("true") "; { }; " V("true")},
    {"null", TYPE("n", .length = 2, .nulls = 2, BUFFERS(0)), "{ }; { }"},
    {"null, kept", TYPE("n", .length = 1, .nulls = 1, BUFFERS(0)), V("null"), {.keep_nulls = true}},
    {"decimal128", TYPE("d:38,2", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 150, 0, -1, -1))),
     V(DEC("1.50")) "; " V(DEC("-0.01"))},
    {"decimal128 of 34 digits",
     TYPE("d:38,0", .length = 1,
          BUFFERS(2, ARROW_NONE, ARROW(uint64_t, 0x378D8E63FFFFFFFF, 0x1ED09BEAD87C0))),
     V(DEC("9999999999999999999999999999999999"))},
    {"decimal128 of 35 digits",
     TYPE("d:38,1", .length = 1,
          BUFFERS(2, ARROW_NONE, ARROW(uint64_t, 0x378D8E6400000000, 0x1ED09BEAD87C0))),
     V("\"1000000000000000000000000000000000.0\""), .notes = "row 1"},
    {"decimal32", TYPE("d:9,-2,32", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int32_t, -105))),
     V(DEC("-1.05E+4"))},
    {"decimal64", TYPE("d:18,3,64", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1000))),
     V(DEC("1.000"))},
    {"decimal256",
     TYPE("d:76,0,256", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, -5, -1, -1, -1, 0, 0, 1, 0))),
     V(DEC("-5")) "; " V("\"340282366920938463463374607431768211456\""), .notes = "row 2"},
    {"text",
     TYPE("u", .length = 3, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 2, 2, 3), ARROW_TEXT("\xC3\xA9x"))),
     V("\"\xC3\xA9\"") "; " V("\"\"") "; " V("\"x\"")},
    {"large text, sliced",
     TYPE("U", .length = 1, .offset = 1, BUFFERS(3, ARROW_NONE, ARROW(int64_t, 0, 1, 3), ARROW_TEXT("abc"))),
     V("\"bc\"")},
    {"empty texts without bytes",
     TYPE("u", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 0), ARROW_NONE)), V("\"\"")},
    {"other bytes as a text",
     TYPE("u", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 2), ARROW_TEXT("a\xFF"))),
     V(BIN("Yf8=", "00")), .notes = "binary"},
    {"views of text",
     TYPE("vu", .length = 2,
          BUFFERS(4, ARROW_NONE,
                  ARROW(uint8_t, 3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0, 0, 0, 0, 0, 0, /**/ 13, 0, 0, 0, 'l',
                        'o', 'n', 'g', 0, 0, 0, 0, 1, 0, 0, 0),
                  ARROW_TEXT("_longer than 1"), ARROW(int64_t, 14))),
     V("\"abc\"") "; " V("\"longer than 1\"")},
    {"binary", TYPE("z", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 2), ARROW_TEXT("\0\1"))),
     V(BIN("AAE=", "00"))},
    {"large binary", TYPE("Z", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int64_t, 0, 0), ARROW_NONE)),
     V(BIN("", "00"))},
    {"views of binary without buffers",
     TYPE("vz", .length = 1,
          BUFFERS(3, ARROW_NONE, ARROW(uint8_t, 1, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                  ARROW_NONE)),
     V(BIN("YQ==", "00"))},
    {"fixed-size binary", TYPE("w:2", .length = 2, BUFFERS(2, ARROW_NONE, ARROW_TEXT("abcd"))),
     V(BIN("YWI=", "00")) "; " V(BIN("Y2Q=", "00"))},
    {"fixed-size binary of no bytes", TYPE("w:0", .length = 1, BUFFERS(2, ARROW_NONE, ARROW_NONE)),
     V(BIN("", "00"))},
    {"uuid",
     TYPE("w:16", .length = 1, .metadata = EXTENSION("\x0A\0\0\0arrow.uuid"),
          BUFFERS(2, ARROW_NONE, ARROW_TEXT("0123456789abcdef"))),
     V(BIN("MDEyMzQ1Njc4OWFiY2RlZg==", "04"))},
    {"objectid",
     TYPE("w:12", .length = 1, .metadata = EXTENSION("\x15\0\0\0pymongoarrow.objectid"),
          BUFFERS(2, ARROW_NONE, ARROW_TEXT("0123456789ab"))),
     V(OID("303132333435363738396162"))},
    {"another extension",
     TYPE("c", .length = 1, .metadata = EXTENSION("\x0B\0\0\0arrow.bool8"),
          BUFFERS(2, ARROW_NONE, ARROW(int8_t, 1))),
     V(INT("1")), .notes = "extension type arrow.bool8"},
    {"date32", TYPE("tdD", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int32_t, 1, -1))),
     V(DATE("86400000")) "; " V(DATE("-86400000"))},
    {"date64", TYPE("tdm", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 86400000))),
     V(DATE("86400000"))},
    {"seconds of UTC", TYPE("tss:UTC", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 2))),
     V(DATE("2000"))},
    {"seconds beyond all dates",
     TYPE("tss:UTC", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, INT64_MAX))),
     V("\"9223372036854775807\""), .notes = "row 1"},
    {"milliseconds without a zone", TYPE("tsm:", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, -1))),
     V(DATE("-1")), .notes = "without a time zone"},
    {"microseconds, cut towards the past",
     TYPE("tsu:UTC", .length = 3, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1000, 1999, -1))),
     V(DATE("1")) "; " V(DATE("1")) "; " V(DATE("-1")), .notes = "column 'v': 2 times lost"},
    {"nanoseconds, reject",
     TYPE("tsn:UTC", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, -1, 1000000))),
     V("{ \"$symbol\" : \"1969-12-31T23:59:59.999999999Z\" }") "; " V(DATE("1")),
     {.bad = BAD_VALUE_REJECT}},
    {"seconds of a day", TYPE("tts", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int32_t, 86399))),
     V("\"23:59:59.000000\"")},
    {"milliseconds of a day", TYPE("ttm", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int32_t, 1))),
     V("\"00:00:00.001000\"")},
    {"microseconds of a day, and none",
     TYPE("ttu", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 3600000001, 86400000000))),
     V("\"01:00:00.000001\"") "; " V("\"86400000000\""), .notes = "row 2"},
    {"nanoseconds of a day", TYPE("ttn", .length = 2, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1, 1000))),
     V("\"00:00:00.000000001\"") "; " V("\"00:00:00.000001\"")},
    {"duration", TYPE("tDn", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, -5))), V(LONG("-5"))},
    {"list",
     TYPE("+l", .length = 3, .nulls = 1, .child_count = 1, .children = ints,
          BUFFERS(2, BITS(5), ARROW(int32_t, 0, 2, 2, 3))),
     V("[ " INT("1") ", " INT("2") " ]") "; { }; " V("[ " INT("3") " ]")},
    {"large list",
     TYPE("+L", .length = 1, .child_count = 1, .children = ints,
          BUFFERS(2, ARROW_NONE, ARROW(int64_t, 4, 5))),
     V("[ " INT("5") " ]")},
    {"list view",
     TYPE("+vl", .length = 2, .child_count = 1, .children = ints,
          BUFFERS(3, ARROW_NONE, ARROW(int32_t, 3, 0), ARROW(int32_t, 1, 0))),
     V("[ " INT("4") " ]") "; " V("[  ]")},
    {"fixed-size list, sliced",
     TYPE("+w:2", .length = 1, .offset = 1, .child_count = 1, .children = ints, BUFFERS(1, ARROW_NONE)),
     V("[ " INT("3") ", " INT("4") " ]")},
    {"list with a null",
     TYPE("+l", .length = 1, .child_count = 1, .children = pair,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 2))),
     V("[ " INT("1") ", null ]")},
    {"struct",
     TYPE("+s", .length = 2, .offset = 1, .child_count = 2, .children = pair, BUFFERS(1, ARROW_NONE)),
     V("{ \"b\" : \"bb\" }") "; " V("{ \"a\" : " INT("3") ", \"b\" : \"\" }")},
    {"map",
     TYPE("+m", .length = 2, .child_count = 1, .children = entries,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 2, 3))),
     V("{ \"x\" : " INT("1") ", \"y\" : null }") "; " V("{ \"z\" : " INT("3") " }")},
    {"map with a key twice",
     TYPE("+m", .length = 2, .child_count = 1, .children = bad_entries,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 2, 3))),
     V("[ { \"key\" : \"x\", \"value\" : " INT("1") " }, { \"key\" : \"x\", \"value\" : " INT(
         "2") " } ]") "; " V("{ \"z\" : " INT("3") " }"),
     .notes = "row 1"},
    {"map of maps",
     TYPE("+m", .length = 1, .child_count = 1, .children = outer_entries,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 2))),
     V("{ \"q\" : { \"x\" : " INT("1") ", \"y\" : null }, \"p\" : { \"z\" : " INT("3") " } }")},
    {"map of numbers",
     TYPE("+m", .length = 1, .child_count = 1, .children = int_entries,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 2))),
     V("[ { \"key\" : " INT("7") ", \"value\" : " INT("1") " }, { \"key\" : " INT(
         "8") ", \"value\" : null } ]")},
    {"dictionary",
     TYPE("C", .length = 3, .nulls = 1, .dictionary = words, BUFFERS(2, BITS(3), ARROW(uint8_t, 1, 0, 255))),
     V("\"bb\"") "; " V("\"a\"") "; { }"},
    {"runs", TYPE("+r", .length = 4, .offset = 1, .child_count = 2, .children = runs, BUFFERS(0)),
     V("\"a\"") "; { }; " V("\"z\"") "; " V("\"z\"")},
    {"sparse union",
     TYPE("+us:4,7", .length = 3, .child_count = 2, .children = fields, BUFFERS(1, ARROW(int8_t, 7, 4, 7))),
     V("\"x\"") "; " V(INT("2")) "; { }"},
    {"dense union",
     TYPE("+ud:0,1", .length = 2, .offset = 1, .child_count = 2, .children = fields,
          BUFFERS(2, ARROW(int8_t, 0, 1, 0), ARROW(int32_t, 0, 1, 2))),
     V("\"y\"") "; " V(INT("3"))},
    {"null_count -1, and validity",
     TYPE("c", .length = 2, .nulls = -1, BUFFERS(2, BITS(2), ARROW(int8_t, 1, 2))), "{ }; " V(INT("2"))},
    {"no rows, and no buffers", TYPE("u", .length = 0, BUFFERS(3, ARROW_NONE, ARROW_NONE, ARROW_NONE)), ""},
};

TEST(what_each_type_becomes) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const made_t made = read_column(&rows[i].column, rows[i].how);
        if (!made.ok || strcmp(made.text, rows[i].expected) != 0)
            fail_msg("%s: %s\nnot %s", rows[i].what, made.text, rows[i].expected);
        if (rows[i].notes ? !strstr(made.notes, rows[i].notes) : *made.notes)
            fail_msg("%s: notes are %s", rows[i].what, made.notes);
    }
}

/* ---- what is refused ---- */

typedef struct {
    const char *what;
    arrow_part_t column;
    const char *words; /* of the sentence */
    columns_how_t how;
} refused_t;

#define EMPTY(called, values)                                                                                \
    { .format = "n", .name = (called), .length = (values) }

static const arrow_part_t short_int[] = {ARROW_PART("i", "a", 1, 0, ARROW_NONE, ARROW(int32_t, 1))};
static const arrow_part_t twins[] = {EMPTY("x", 0), EMPTY("y", 0), EMPTY("x", 0)};
static const arrow_part_t falling_runs[] = {
    ARROW_PART("i", "run_ends", 2, 0, ARROW_NONE, ARROW(int32_t, 2, 2)), EMPTY("values", 2)};
static const arrow_part_t few_runs[] = {ARROW_PART("i", "run_ends", 1, 0, ARROW_NONE, ARROW(int32_t, 2)),
                                        EMPTY("values", 1)};

static const refused_t refused[] = {
    {"interval", TYPE("tiD", BUFFERS(0)), "column 'v' is an interval, 'tiD'"},
    {"unknown", TYPE("xx", BUFFERS(0)), "the Arrow type 'xx'"},
    {"decimal of no digits", TYPE("d:x", BUFFERS(0)), "'d:x'"},
    {"two of one name", TYPE("+s", .child_count = 3, .children = twins, BUFFERS(1)), "v: columns 1 and 3 "},
    {"name that is not UTF-8", TYPE("n", .name = "\xFF", BUFFERS(0)), "column 1 is not UTF-8"},
    {"negative length", TYPE("c", .length = -1, BUFFERS(2)), "broken array: row 1"},
    {"negative offset", TYPE("c", .length = 1, .offset = -1, BUFFERS(2, ARROW_NONE, ARROW(int8_t, 1))),
     "row 1"},
    {"offset that overflows",
     TYPE("l", .length = 1, .offset = INT64_MAX, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1))), "row 1"},
    {"more nulls than values", TYPE("c", .length = 1, .nulls = 2, BUFFERS(2, BITS(1), ARROW(int8_t, 1))),
     "row 1"},
    {"nulls without bits", TYPE("c", .length = 1, .nulls = 1, BUFFERS(2, ARROW_NONE, ARROW(int8_t, 1))),
     "row 1"},
    {"fewer nulls than none", TYPE("c", .length = 1, .nulls = -2, BUFFERS(2, ARROW_NONE, ARROW(int8_t, 1))),
     "row 1"},
    {"no values", TYPE("c", .length = 1, BUFFERS(2, ARROW_NONE, ARROW_NONE)), "row 1"},
    {"too few buffers", TYPE("u", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 0))), "row 1"},
    {"a decimal's third buffer",
     TYPE("d:5,2", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int64_t, 1, 0), ARROW(int64_t, 1))), "row 1"},
    {"falling offsets",
     TYPE("u", .length = 2, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 2, 1), ARROW_TEXT("a"))), "row 1"},
    {"falling offsets in the middle",
     TYPE("u", .length = 3, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 1, 0, 1), ARROW_TEXT("a"))), "row 2"},
    {"offset below 0",
     TYPE("U", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int64_t, -1, 1), ARROW_TEXT("ab"))), "row 1"},
    {"texts without bytes", TYPE("u", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int32_t, 0, 1), ARROW_NONE)),
     "row 1"},
    {"view of no buffer",
     TYPE("vu", .length = 1,
          BUFFERS(4, ARROW_NONE, ARROW(int32_t, 13, 0, 1, 0), ARROW_TEXT("1234567890123"),
                  ARROW(int64_t, 13))),
     "row 1"},
    {"view beyond its buffer",
     TYPE("vu", .length = 1,
          BUFFERS(4, ARROW_NONE, ARROW(int32_t, 13, 0, 0, 1), ARROW_TEXT("1234567890123"),
                  ARROW(int64_t, 13))),
     "row 1"},
    {"view of negative length",
     TYPE("vz", .length = 1, BUFFERS(3, ARROW_NONE, ARROW(int32_t, -1, 0, 0, 0), ARROW_NONE)), "row 1"},
    {"list beyond its values",
     TYPE("+l", .length = 2, .child_count = 1, .children = ints,
          BUFFERS(2, ARROW_NONE, ARROW(int32_t, 0, 5, 6))),
     "row 2"},
    {"list view that overflows",
     TYPE("+vL", .length = 1, .child_count = 1, .children = ints,
          BUFFERS(3, ARROW_NONE, ARROW(int64_t, 1), ARROW(int64_t, INT64_MAX))),
     "row 1"},
    {"fixed-size list beyond its values",
     TYPE("+w:3", .length = 2, .child_count = 1, .children = ints, BUFFERS(1, ARROW_NONE)), "column 'v'"},
    {"struct longer than its fields",
     TYPE("+s", .length = 2, .child_count = 1, .children = short_int, BUFFERS(1, ARROW_NONE)),
     "column 'v.a', row 1"},
    {"dictionary's index",
     TYPE("c", .length = 2, .dictionary = words, BUFFERS(2, ARROW_NONE, ARROW(int8_t, 2, 3))),
     "column 'v', row 2"},
    {"negative dictionary's index",
     TYPE("c", .length = 1, .dictionary = words, BUFFERS(2, ARROW_NONE, ARROW(int8_t, -1))), "row 1"},
    {"runs that fall", TYPE("+r", .length = 1, .child_count = 2, .children = falling_runs, BUFFERS(0)),
     "row 1"},
    {"runs that are too short",
     TYPE("+r", .length = 2, .offset = 1, .child_count = 2, .children = few_runs, BUFFERS(0)), "row 1"},
    {"type id of no field",
     TYPE("+us:4,7", .length = 1, .child_count = 2, .children = fields, BUFFERS(1, ARROW(int8_t, 5))),
     "row 1"},
    {"negative type id",
     TYPE("+us:4,7", .length = 1, .child_count = 2, .children = fields, BUFFERS(1, ARROW(int8_t, -1))),
     "row 1"},
    {"offset of a dense union",
     TYPE("+ud:0,1", .length = 1, .child_count = 2, .children = fields,
          BUFFERS(2, ARROW(int8_t, 0), ARROW(int32_t, 3))),
     "row 1"},
    {"stop",
     TYPE("L", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(uint64_t, 1ull << 63))),
     "column 'v', row 1: a document cannot hold '9223372036854775808'",
     {.bad = COLUMNS_STOP}},
    {"stop, digits",
     TYPE("tsu:UTC", .length = 1, BUFFERS(2, ARROW_NONE, ARROW(int64_t, 1))),
     "'1970-01-01T00:00:00.000001Z'",
     {.bad = COLUMNS_STOP}},
};

TEST(what_is_refused) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const made_t made = read_column(&refused[i].column, refused[i].how);
        if (made.ok || made.status != STATUS_INPUT || !strstr(made.text, refused[i].words))
            fail_msg("%s: %s", refused[i].what, made.text);
    }
}

/* ---- streams ---- */

/* Rows before a broken one are given; rows of all batches are numbered. */
TEST(rows_before_a_broken_one) {
    const arrow_part_t good =
        ARROW_PART("u", "v", 2, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 2), ARROW_TEXT("ab"));
    const arrow_part_t bad =
        ARROW_PART("u", "v", 3, 0, ARROW_NONE, ARROW(int32_t, 0, 1, 0, 1), ARROW_TEXT("a"));
    const arrow_part_t batches[] = {
        rows_of(&good), rows_of(&(arrow_part_t){.format = "u", .name = "v", .count = 3}), rows_of(&bad)};
    arrow_source_t source = {.batches = batches, .count = 3};
    struct ArrowArrayStream stream = arrow_stream(&source);
    err_t err;
    const uint8_t *bytes;
    size_t length;
    columns_sums_t sums = {.count = 0};
    frame_t *frame = columns_open(&stream, &sums, &err);
    assert_int_equal(columns_next(frame, &bytes, &length, &err), 1);
    assert_int_equal(length, 3 * 14);
    assert_int_equal(columns_next(frame, &bytes, &length, &err), -1);
    assert_non_null(strstr(err.text, "row 4"));
    columns_close(frame);
    columns_sums_free(&sums);
}

TEST(streams_that_fail) {
    const arrow_part_t batch = rows_of(ints), single = {.format = "i", .length = 1};
    made_t made =
        read_source(&(arrow_source_t){.batches = &batch, .count = 1, .fails = "the disk is on fire"},
                    (columns_how_t){.bad = 0});
    assert_int_equal(made.rows, 5);
    assert_non_null(strstr(made.text, ": the disk is on fire"));
    made = read_source(&(arrow_source_t){.batches = &single, .count = 1}, (columns_how_t){.bad = 0});
    assert_non_null(strstr(made.text, "single values"));
    made = read_source(&(arrow_source_t){.count = 0}, (columns_how_t){.bad = 0});
    assert_non_null(strstr(made.text, ": Input/output error"));
    err_t err;
    columns_sums_t sums = {.count = 0};
    const arrow_part_t times = rows_of(&(arrow_part_t){.format = "tss:", .name = "v", .count = 2});
    struct ArrowArrayStream stream = arrow_stream(&(arrow_source_t){.batches = &times, .count = 1});
    columns_close(
        columns_open(&stream, &sums, &err)); /* refused by its reader: nothing is said of its columns */
    assert_int_equal(sums.count, 2);
    assert_false(sums.columns[1]->unzoned);
    columns_sums_free(&sums);
    struct ArrowArrayStream used = {.release = NULL};
    assert_null(columns_open(&used, &(columns_sums_t){.count = 0}, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "read already"));
}

/* The bytes do not depend on batches, and there may be no columns or many. */
TEST(columns_and_batches) {
    enum { MANY = 2000 };
    const arrow_part_t none = {.format = "+s", .length = 3, .count = 1};
    made_t made = read_source(&(arrow_source_t){.batches = &none, .count = 1}, (columns_how_t){.bad = 0});
    assert_string_equal(made.text, "{ }; { }; { }");
    static arrow_part_t many[MANY];
    static char names[MANY][40];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "a column with a long name, number %d", i);
        many[i] = ints[0];
        many[i].name = names[i];
    }
    const arrow_part_t wide = {
        .format = "+s", .length = 5, .count = 1, .child_count = MANY, .children = many};
    arrow_source_t source = {.batches = &wide, .count = 1};
    struct ArrowArrayStream stream = arrow_stream(&source);
    err_t err;
    const uint8_t *bytes;
    size_t length;
    bson_t row;
    columns_sums_t sums = {.count = 0};
    frame_t *frame = columns_open(&stream, &sums, &err);
    assert_int_equal(columns_next(frame, &bytes, &length, &err), 1);
    uint32_t first;
    memcpy(&first, bytes, sizeof first);
    assert_true(bson_init_static(&row, bytes, first));
    assert_int_equal(bson_count_keys(&row), MANY);
    columns_close(frame);
    columns_sums_free(&sums);
}

/* A document above 16 MiB is a reject, and one of 16 MiB is none; later rows are not touched by it. */
TEST(large_rows) {
    enum { ROOM = 16 << 20, AROUND = 4 + 1 + 2 + 4 + 1 + 1 };
    char *text = malloc(2 * ROOM);
    memset(text, 'x', 2 * ROOM);
    for (int more = 0; more < 2; more++) {
        const int32_t large = ROOM - AROUND + more, offsets[] = {0, large, large + 1};
        const arrow_part_t column = ARROW_PART("u", "v", 2, 0, ARROW_NONE, {offsets, sizeof offsets},
                                               {text, (size_t)large + 1}),
                           batch = rows_of(&column);
        arrow_source_t source = {.batches = &batch, .count = 1};
        struct ArrowArrayStream stream = arrow_stream(&source);
        err_t err;
        const uint8_t *bytes;
        size_t length;
        columns_sums_t sums = {.count = 0};
        frame_t *frame = columns_open(&stream, &sums, &err);
        assert_int_equal(columns_next(frame, &bytes, &length, &err), 1);
        if (more) {
            bson_t row;
            uint32_t first;
            memcpy(&first, bytes, sizeof first);
            assert_true(bson_init_static(&row, bytes, first));
            char *json = ejson_print(&row, false, NULL);
            assert_non_null(strstr(json, "{ \"\" : { \"$symbol\" : \"its document"));
            bson_free(json);
            assert_int_equal(length, first + 14);
        } else {
            assert_int_equal(length, ROOM);
            assert_int_equal(columns_next(frame, &bytes, &length, &err), 1);
            assert_int_equal(length, 14);
        }
        assert_int_equal(columns_next(frame, &bytes, &length, &err), 0);
        columns_close(frame);
        columns_sums_free(&sums);
    }
    free(text);
}

/* A reader by arrow1 rejects documents with a symbol, also within others, and says which value it is. */
TEST(symbols_are_rejects) {
    static const char *const formats[] = {COLUMNS_FORMAT, "bson"};
    err_t err;
    bson_t *row = BCON_NEW("a", "{", "b", "[", BCON_SYMBOL("9223372036854775808"), "]", "}");
    slack_t slack = slack_new(bson_get_data(row), row->len);
    for (int any = 0; any < 2; any++) {
        schema_t *schema = format_open(formats[any], &err);
        records_place_t place = {0};
        record_t record;
        records_t *records = records_new(schema);
        records_begin(records, NULL, slack.text, (uint32_t)slack.length, true, true, 1);
        assert_int_equal(records_next_into(records, &place, &record, NULL),
                         any ? PARSED_DOCUMENT : PARSED_REJECT);
        if (!any)
            assert_non_null(strstr(record.reason, ": 9223372036854775808"));
        records_destroy(records);
        free(place.bytes);
        schema_destroy(schema);
    }
    slack_free(&slack);
    bson_destroy(row);
}
