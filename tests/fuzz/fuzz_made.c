/* Whole formats that make keys of fields, any of a small grammar, and records for them: a document never takes more
 * than is reserved for it, and makes the same record again or is refused. The first eight bytes choose the format; the
 * others are the text as it is, or choose its pieces. */
#include "format/schema/schema.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A few records: what is long takes as long as it is, and often that times itself. */
enum { LONGEST = 400 };

static uint64_t seed;
static grown_t yaml;

static size_t chance(size_t below) {
    return (size_t)lab_chance(&seed, below);
}

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...) {
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    grown_text(&yaml, text);
}

#define ONE_OF(...)                                                                                          \
    ((const char *const[]){__VA_ARGS__})[chance(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))]

/* Names of different fields, as an item of `first`. */
static void say_item(size_t fields) {
    const size_t joined = 1 + chance(fields < SCHEMA_MOST_FROM ? fields : SCHEMA_MOST_FROM),
                 start = chance(fields);
    if (joined == 1) {
        say("f%zu", start);
        return;
    }
    for (size_t i = 0; i < joined; i++)
        say("%sf%zu", i ? ", " : "[", (start + i) % fields);
    say("]");
}

static void say_first(size_t number, size_t fields, bool delimited) {
    const size_t items = 1 + chance(SCHEMA_MOST_FROM);
    const bool with = chance(2);
    const char *how = ONE_OF("first", "first", "join", "lower", "sha256");
    say("  - {made%zu: %s, from: [", number, delimited ? how : "first");
    for (size_t i = 0; i < items; i++) {
        say("%s", i ? ", " : "");
        say_item(fields);
    }
    for (size_t i = 0; with && i < items; i++)
        say("%s%s", i ? ", " : "], with: [", ONE_OF("\"\"", "u", "12345678", "\"\xC3\xA9\""));
    say("]%s%s}\n",
        delimited && how[0] != 'f' && !with ? ONE_OF("", ", with: \" \"", ", with: \"\xC3\xA9-\"") : "",
        delimited
            ? ONE_OF("", ", type: int", ", type: decimal", ", type: date, pattern: [YYYYMMDD, DD/MM/YYYY]",
                     ", type: trimmed, nulls: [\"\", XX]", ", type: uuid")
            : "");
}

static void say_delimited(size_t fields) {
    size_t numbers[8], count = 0;
    say("format: x\nrecord: {delimiter: %s, header: %s%s%s%s}\nfields:\n",
        ONE_OF("\"|\"", "[\"|\", \",\"]", "\" \"", "\"||\"", "blanks"), ONE_OF("no", "yes"),
        ONE_OF("", ", quote: none", ", quote: \"'\"", ", comment: \"@\"", ", skip: 1"),
        ONE_OF("", ", escape: []", ", escape: [backslash]", ", escape: [double, backslash]",
               ", escape: backslashes", ", escape: [double, backslashes]"),
        ONE_OF("", ", encoding: latin1", ", encoding: windows-1252", ", multiline: no", ", quoted: needed",
               ", exact: yes", ", decimal: \",\"", ", decimal: \",\", thousands: \".\""));
    for (size_t i = 0; i < fields; i++) {
        static const char *const types[] = {"text",    "trimmed", "int",      "long", "number", "date",
                                            "boolean", "decimal", "objectid", "uuid", "binary", "json"};
        const size_t type = chance(sizeof types / sizeof *types);
        if (type == 4)
            numbers[count++] = i;
        say("  - {name: f%zu, type: %s%s%s%s%s}\n", i, types[type],
            type == 5
                ? ONE_OF(", pattern: [YYYYMMDD, DD/MM/YYYY]", ", pattern: [D/M/YYYY, \"MON D YY\", epoch_s]",
                         ", pattern: [\"YYYYMMDDThhmmZZ\", \"D MONTH YYYY h A\", DD/MM/YYYY]")
                : "",
            type == 4 || type == 7 ? ONE_OF("", ", divide: 100", ", multiply: 1000")
            : type == 6            ? ONE_OF("", ", true: [a, \"50.\"], false: XY")
            : type == 10           ? ONE_OF("", ", encoding: hex")
                                   : "",
            ONE_OF("", ", nulls: []", ", nulls: [\"\", NULL]", ", nulls: [\"50\", XX, \"\"]"),
            i + 1 == fields ? ONE_OF("", ", optional: yes") : "");
    }
    say("make:\n");
    for (size_t i = 0, keys = 1 + chance(chance(4) ? 3 : SCHEMA_MOST_MADE); i < keys; i++) {
        if (count && !chance(4))
            say("  - {made%zu: point, from: [f%zu, f%zu]}\n", i, numbers[chance(count)],
                numbers[chance(count)]);
        else if (!chance(16))
            say("  - {made%zu: file}\n", i);
        else if (!chance(8))
            say("  - {made%zu: constant, value: %s}\n", i,
                ONE_OF("x", "\"50\", type: int", "\"\", type: trimmed"));
        else
            say_first(i, fields, true);
    }
    say("on_bad_value: %s\n", ONE_OF("text", "text", "null", "reject"));
}

static void say_by_width(size_t fields) {
    size_t width = 12, numbers[8], count = 0;
    grown_t list = {0};
    grown_t own = yaml;
    yaml = list;
    say("  - {name: day, width: 8}\n  - {name: clock, width: 4}\n");
    for (size_t i = 0; i < fields; i++) {
        const size_t wide = 1 + chance(8), type = chance(4);
        width += wide;
        if (type == 3)
            numbers[count++] = i;
        say("  - {name: f%zu, width: %zu, type: %s", i, wide,
            ((const char *[]){"text", "trimmed", "int", "number"})[type]);
        if (type > 1 && wide > 1)
            say("%s", ONE_OF("", ", sign: always", ", sign: minus"));
        if (type == 3)
            say("%s", ONE_OF("", ", divide: 10"));
        if (chance(2))
            say(", nulls: \"%.*s\"", (int)wide, ONE_OF("99999999", "        ", "+9999999"));
        say("}\n");
    }
    say("make:\n");
    if (chance(2))
        say("  - {ts: utc, from: [day, clock]}\n");
    for (size_t i = 0, keys = 1 + chance(3); i < keys; i++) {
        if (count && !chance(3))
            say("  - {made%zu: point, from: [f%zu, f%zu]}\n", i, numbers[chance(count)],
                numbers[chance(count)]);
        else
            say_first(i, fields, false);
    }
    if (chance(2))
        say("tail: [{marker: \"+\", name: more, repeat: [{name: kind, width: 2}, {name: text, lengthWidth: "
            "1}]}]\n");
    list = yaml;
    yaml = own;
    say("format: x\nrecord: {fixed: %zu}\nfields:\n", width);
    grown_add(&yaml, list.at, list.size);
    grown_free(&list);
}

/* Types for values of JSON. */
static void say_json(size_t fields) {
    say("format: x\nrecord: {json: yes}\non_bad_value: %s\nfields:\n",
        ONE_OF("text", "text", "null", "reject"));
    for (size_t i = 0; i < fields; i++)
        say("  - {name: %s%zu, type: %s%s}\n", ONE_OF("f", "g.f", "g.h.f"), i,
            ONE_OF("text", "trimmed", "int", "long", "number", "number, decimal: \",\"",
                   "date, pattern: [YYYYMMDD, epoch_s]", "datetime", "boolean, true: [\"1\"], false: [a]",
                   "decimal", "objectid", "uuid"),
            ONE_OF("", ", nulls: [\"\"]", ", nulls: [a, \"50\"]"));
}

static void json_pieces(const uint8_t *data, size_t size, grown_t *text) {
    static const char *const words[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        "\"f0\":",
                                        "\"f1\":",
                                        "\"g\":{",
                                        "\"h\":{",
                                        "\"f2\":",
                                        "\"1\"",
                                        "\"1\",",
                                        "1",
                                        "1,",
                                        "12.5",
                                        "null",
                                        "true",
                                        "\"\"",
                                        "\"a\"",
                                        "\"50\"",
                                        "\"20240229\"",
                                        "\"2024-02-29T00:00:00Z\"",
                                        "\" a \"",
                                        "{}",
                                        "[]",
                                        "\n",
                                        "\"507f1f77bcf86cd799439011\"",
                                        "\"00112233-4455-6677-8899-AABBCCDDEEFF\"",
                                        "\"1,5\"",
                                        "{\"$date\": 5}",
                                        "-7",
                                        "1e300",
                                        "\"_id\":",
                                        "\"x\":",
                                        "\"f3\":"};
    grown_text(text, "{\"f0\":");
    for (size_t i = 0; i < size && text->size < LONGEST; i++)
        grown_text(text, words[data[i] % (sizeof words / sizeof *words)]);
}

/* A text of pieces that mean something to one type of field or the other. */
static void pieces(const uint8_t *data, size_t size, grown_t *text) {
    static const char *const words[] = {"|",
                                        "|",
                                        "|",
                                        "\n",
                                        "\n",
                                        ",",
                                        " ",
                                        "a",
                                        "ab c",
                                        "\xE9",
                                        "\x80",
                                        "\x81",
                                        "\xC3",
                                        "\xC3\xA9",
                                        "50",
                                        "050",
                                        "50.",
                                        "XX",
                                        "NULL",
                                        "\"",
                                        "'",
                                        "\\",
                                        "\r",
                                        "\r\n",
                                        "-0",
                                        "1.5",
                                        "007",
                                        "+1",
                                        "-179",
                                        "9999",
                                        "f0",
                                        "f0|f1|f2|f3|f4|f5\n",
                                        "20140102",
                                        "31/12/1999",
                                        "2400",
                                        "+",
                                        "+ab1x",
                                        "        ",
                                        "99999999",
                                        "true",
                                        "False",
                                        "1.50",
                                        "1.234,5",
                                        "3/2/2024",
                                        "MAY 1 70",
                                        "20140102T0600+0130",
                                        "3 June 2024 12 am",
                                        "1 234",
                                        ";",
                                        "{\"a\": [1, 2]}",
                                        "[0,0,0]",
                                        "1,",
                                        "QQ==",
                                        "1;2;",
                                        "a;XX;50",
                                        "507f1f77bcf86cd799439011",
                                        "00112233-4455-6677-8899-AABBCCDDEEFF"};
    for (size_t i = 0; i < size && text->size < LONGEST; i++) {
        const bool again = i && data[i] >= 246; /* the one before, many times: a long field */
        const char *word = words[data[i - again] % (sizeof words / sizeof *words)];
        for (int times = 0; again && times < 200; times++)
            grown_text(text, word);
        grown_text(text, word);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    if (size < sizeof seed)
        return 0;
    memcpy(&seed, data, sizeof seed);
    data += sizeof seed;
    size -= sizeof seed;
    grown_t text = {0};
    grown_text(&text, "");
    const bool json = !chance(5);
    if (json)
        json_pieces(data, size, &text);
    else if (chance(4))
        pieces(data, size, &text);
    else
        grown_add(&text, data, size < LONGEST ? size : LONGEST);
    const size_t cut = chance(256), fields = 1 + chance(6);
    if (json)
        say_json(fields);
    else if (chance(3))
        say_delimited(fields);
    else
        say_by_width(fields);
    err_t err = {.text = ""};
    schema_t *schema = schema_parse((const char *)yaml.at, yaml.size, "made.yaml", &err);
    if (!schema && !strstr(err.text, "null value")) { /* a null of a width that its field cannot have */
        dprintf(2, "%s\n%s\n", yaml.at, err.text);
        LAB_MUST(schema);
    }
    if (schema) {
        law_t law = law_for(schema);
        law.may_refuse = true;
        if (json)
            law_whole_holds(&law, text.at, text.size, cut);
        else
            law_holds(&law, text.at, text.size, cut, true);
        law_end(&law);
    }
    grown_free(&yaml);
    grown_free(&text);
    return 0;
}
