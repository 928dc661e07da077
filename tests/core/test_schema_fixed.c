/* schema of records by width: what such a format file means, and every mistake in one with its place. */
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static const char all[] =
    "format: mine\n"
    "record: {fixed: 30}\n"
    "document: [who, when, a]\n"
    "fields:\n"
    "  - {name: count, width: 2, type: length}\n"
    "  - {name: station, width: 3, nulls: \"999\"}\n"
    "  - {name: day, width: 8}\n"
    "  - {name: time, width: 4}\n"
    "  - {name: a.b, width: 5, type: number, sign: always, divide: 100}\n"
    "  - {name: a.c, key: a.sea, width: 4, type: number, sign: minus}\n"
    "  - {name: tens, width: 3, type: int, multiply: 10}\n"
    "  - {name: code, width: 1, type: trimmed}\n"
    "make:\n"
    "  - {who: first, from: [station, [day, time]], with: [s, \"\"]}\n"
    "  - {when: utc, from: [day, time]}\n"
    "  - {where: point, from: [a.b, a.c]}\n"
    "tail:\n"
    "  - {marker: ADD, sections: yes, list: ids}\n"
    "  - {marker: R., name: remarks, leaveOut: yes, repeat: [{name: k, width: 2, is: "
    "\"[A-C0]x\"}, {name: text, lengthWidth: 3}]}\n"
    "sections:\n"
    "  - {ids: [AA1-AA4, AB2], name: rain, fields: [{name: hours, width: 2, type: int, nulls: "
    "\"99\"}, {name: how, width: 1}]}\n"
    "  - {ids: AG1, name: snow, fields: [{name: x, width: 7}]}\n";

TEST(all_of_it) {
    schema_t *schema = lab_schema(all);
    static const struct {
        const char *name, *key;
        field_type_t type;
        uint32_t offset, width;
        sign_t sign;
        int divide;
    } fields[] = {
        {"count", "count", TYPE_LENGTH, 0, 2, SIGN_NEVER, 0},
        {"station", "station", TYPE_TEXT, 2, 3, SIGN_NEVER, 0},
        {"day", "day", TYPE_TEXT, 5, 8, SIGN_NEVER, 0},
        {"time", "time", TYPE_TEXT, 13, 4, SIGN_NEVER, 0},
        {"a.b", "a.b", TYPE_NUMBER, 17, 5, SIGN_ALWAYS, 2},
        {"a.c", "a.sea", TYPE_NUMBER, 22, 4, SIGN_MINUS, 0},
        {"tens", "tens", TYPE_INT, 26, 3, SIGN_NEVER, -1},
        {"code", "code", TYPE_TRIMMED, 29, 1, SIGN_NEVER, 0},
    };
    assert_int_equal(schema->fixed, 30);
    assert_int_equal(schema->field_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const field_t *field = &schema->fields[i];
        assert_string_equal(field->name, fields[i].name);
        assert_string_equal(field->key, fields[i].key);
        assert_int_equal(field->type, fields[i].type);
        assert_int_equal(field->offset, fields[i].offset);
        assert_int_equal(field->width, fields[i].width);
        assert_int_equal(field->sign, fields[i].sign);
        assert_int_equal(field->divide, fields[i].divide);
        assert_int_equal(field->nulls.count, i == 1);
    }
    assert_int_equal(schema->document.count, 3);
    assert_int_equal(schema->made_count, 3);
    const make_t *made = schema->made;
    assert_int_equal(made[0].kind, MAKE_FIRST);
    assert_string_equal(made[0].field.key, "who");
    assert_int_equal(made[0].from_count, 2);
    assert_int_equal(made[0].from[0].fields[0], 1);
    assert_string_equal(made[0].from[0].with.text, "s");
    assert_int_equal(made[0].from[1].count, 2);
    assert_int_equal(made[0].from[1].fields[1], 3);
    assert_int_equal(made[0].from[1].with.length, 0);
    assert_int_equal(made[1].kind, MAKE_UTC);
    assert_int_equal(made[1].field.type, TYPE_DATE);
    assert_int_equal(made[2].kind, MAKE_POINT);
    assert_int_equal(made[2].from[1].fields[0], 5);
    assert_int_equal(schema->part_count, 2);
    assert_true(schema->parts[0].sections);
    assert_false(schema->parts[0].leave_out);
    assert_string_equal(schema->parts[0].list, "ids");
    assert_string_equal(schema->parts[1].marker.text, "R.");
    assert_string_equal(schema->parts[1].name, "remarks");
    assert_true(schema->parts[1].leave_out);
    assert_int_equal(schema->parts[1].width, 5);
    const field_t *kind = &schema->parts[1].fields[0], *text = &schema->parts[1].fields[1];
    for (unsigned byte = 0; byte < 256; byte++) {
        assert_int_equal(byteset_has(&kind->is[0], (uint8_t)byte),
                         (byte >= 'A' && byte <= 'C') || byte == '0');
        assert_int_equal(byteset_has(&kind->is[1], (uint8_t)byte), byte == 'x');
    }
    assert_true(text->counted);
    assert_int_equal(text->offset, 2);
    assert_int_equal(schema->section_count, 2);
    const section_t *rain = &schema->sections[0], *snow = &schema->sections[1];
    assert_string_equal(rain->name, "rain");
    assert_int_equal(rain->width, 3);
    assert_true(section_several(rain));
    assert_false(section_several(snow));
    assert_true(section_lists(rain, "AA1") && section_lists(rain, "AA4") && section_lists(rain, "AB2"));
    assert_false(section_lists(rain, "AA0") || section_lists(rain, "AA5") || section_lists(rain, "AB1"));
    assert_true(section_lists(snow, "AG1"));
    assert_ptr_equal(schema_field(schema, "who"), &made[0].field); /* made keys can be compared, points not */
    assert_ptr_equal(schema_field(schema, "when"), &made[1].field);
    assert_null(schema_field(schema, "where"));
    assert_ptr_equal(schema_field(schema, "a.sea"), &schema->fields[5]);
    schema_destroy(schema);
}

#define HEAD   "format: x\nrecord: {fixed: 6}\n"
#define FIELDS HEAD "fields: [{name: a, width: 4}, {name: b, width: 2}]\n"
#define ONE    HEAD "fields:\n  - {name: a, width: 6, "
#define MAKE                                                                                                 \
    "format: x\nrecord: {fixed: 20}\nfields: [{name: d, width: 8}, {name: t, width: 4}, {name: lat, width: " \
    "4, "                                                                                                    \
    "type: number}, {name: lon, width: 4, type: number}]\nmake:\n"
#define TAIL     FIELDS "tail:\n"
#define SECTIONS FIELDS "tail: [{marker: ADD, sections: yes}]\nsections:\n"

TEST(mistakes) {
    static const struct {
        const char *yaml, *place, *says;
    } cases[] = {
        /* the record */
        {"format: x\nrecord: {fixed: 0}\nfields: [{name: a, width: 1}]\n", "2:17", "1 to 4096"},
        {"format: x\nrecord: {fixed: 4097}\nfields: [{name: a, width: 1}]\n", "2:17", "1 to 4096"},
        {"format: x\nrecord: {fixed: wide}\nfields: [{name: a, width: 1}]\n", "2:17", "whole number"},
        {"format: x\nrecord: {fixed: 1, delimiter: \",\"}\nfields: [{name: a, width: 1}]\n", "2:20",
         "delimiter"},
        {HEAD "fields: [{name: a, width: 5}]\n", "3:9", "5 characters wide"},
        {HEAD "fields: [{name: a, width: 6}, {name: b, width: 1}]\n", "3:9", "7 characters wide"},
        {FIELDS "surplus: {into: a, left: 0}\n", "4:10", "delimited"},
        {FIELDS "layouts: [[a, b]]\n", "4:10", "delimited"},
        {HEAD "fields: a\n", "3:9", "list"},
        {HEAD "fields: []\n", "3:9", "1 to 2048"},
        {HEAD "fields: [a]\n", "3:10", "width: 4"},
        /* fields */
        {HEAD "fields:\n  - {width: 6}\n", "4:5", "no name"},
        {HEAD "fields:\n  - {name: a}\n", "4:5", "'width' was expected"},
        {HEAD "fields:\n  - {name: a, width: 6, lengthWidth: 2}\n", "4:5", "'width' was expected"},
        {HEAD "fields:\n  - {name: a, width: 0}\n", "4:22", "1 to 512"},
        {HEAD "fields:\n  - {name: a, width: 513}\n", "4:22", "1 to 512"},
        {HEAD "fields:\n  - {name: a, width: six}\n", "4:22", "whole number"},
        {HEAD "fields:\n  - {name: a, lengthWidth: 5}\n", "4:28", "1 to 4"},
        {HEAD "fields:\n  - {name: a, lengthWidth: 4}\n  - {name: b, width: 2}\n", "4:5",
         "entries of a part"},
        {ONE "is: AAAAAA}\n", "4:5", "entries of a part"},
        {ONE "optional: yes}\n", "4:25", "optional"},
        {ONE "pattern: YYYY}\n", "4:25", "pattern"},
        {ONE "type: long}\n", "4:5", "text, trimmed, int, number"},
        {ONE "type: date}\n", "4:5", "text, trimmed, int, number"},
        {ONE "type: datetime}\n", "4:5", "text, trimmed, int, number"},
        {ONE "type: itn}\n", "4:31", "'int'"},
        {"format: x\nrecord: {fixed: 9}\nfields:\n  - {name: a, width: 9, type: int}\n", "4:5", "at most 8"},
        {"format: x\nrecord: {fixed: 9}\nfields:\n  - {name: a, width: 9, type: length}\n", "4:5",
         "at most 8"},
        {ONE "sign: always}\n", "4:31", "int and number"},
        {ONE "type: int, sign: plus}\n", "4:42", "never, always or minus"},
        {ONE "type: int, sign: [minus]}\n", "4:42", "never, always or minus"},
        {ONE "type: int, divide: 10}\n", "4:44", "number"},
        {ONE "type: number, divide: 11}\n", "4:47", "power of ten"},
        {ONE "type: number, multiply: 10}\n", "4:49", "int"},
        {ONE "type: int, multiply: 7}\n", "4:46", "10 was expected"},
        {ONE "type: int, multiply: 100}\n", "4:46", "1 to 10"},
        {ONE "nulls: \"99999\"}\n", "4:32", "6 characters"},
        {ONE "nulls: [\"999999\", \"888888\"]}\n", "4:32", "one null value"},
        {ONE "nulls: {a: b}}\n", "4:32", "word"},
        {ONE "type: length, nulls: \"999999\"}\n", "4:46", "no null"},
        {ONE "key: $a}\n", "4:30", "'$'"},
        {ONE "key: _id}\n", "4:30", "_id"},
        {HEAD "fields:\n  - {name: a, width: 3}\n  - {name: a, key: b, width: 3}\n", "5:5", "line 4"},
        {HEAD "fields:\n  - {name: a, width: 3}\n  - {name: a.b, width: 3}\n", "5:5", "in the way"},
        /* keys that stand first */
        {FIELDS "document: [c]\n", "4:12", "'c'"},
        {FIELDS "document: [a, b, a]\n", "4:18", "twice"},
        {FIELDS "document: [\"a\\0bcdefghijklmnopqrstuvwxyz\", a]\n", "4:44", "twice"},
        {FIELDS "document: {a: b}\n", "4:11", "word"},
        {FIELDS "document: [[a]]\n", "4:12", "word"},
        {FIELDS "document: ['']\n", "4:12", "''"},
        {HEAD "fields: [{name: a.b, width: 4}, {name: a.c, width: 2}]\ndocument: [a.b]\n", "4:12", "'a.b'"},
        {HEAD "fields: [{name: a.b, width: 4}, {name: ab, width: 2}]\ndocument: [a, ab, b]\n", "4:19", "'b'"},
        {MAKE "  - {ts: utc, from: [d, t]}\ndocument: [t, ts]\n", "6:12", "'t' is before 'ts'"},
        {MAKE "  - {p: point, from: [lat, lon]}\ndocument: [d, lon, p]\n", "6:15", "'lon' is before 'p'"},
        /* keys made of several fields */
        {MAKE "  a: b\n", "5:3", "list"},
        {MAKE "  - a\n", "5:5", "map"},
        {MAKE "  - {from: [d]}\n", "5:5", "from"},
        {MAKE "  - {s: first}\n", "5:5", "from"},
        {MAKE "  - {s: first, from: [d], r: first}\n", "5:30", "one key is made"},
        {MAKE "  - {s: fist, from: [d]}\n", "5:9", "'first'"},
        {MAKE "  - {s: [first], from: [d]}\n", "5:9", "first, utc or point"},
        {MAKE "  - {s.t: first, from: [d]}\n", "5:11", "plain key"},
        {MAKE "  - {$s: first, from: [d]}\n", "5:10", "plain key"},
        {MAKE "  - {_id: first, from: [d]}\n", "5:11", "plain key"},
        {MAKE "  - {'': first, from: [d]}\n", "5:10", "plain key"},
        {MAKE "  - {a1234567890123456789012345678: first, from: [d]}\n", "5:37", "28 bytes"},
        {MAKE "  - {d: first, from: [t]}\n", "5:5", "line 3"},
        {MAKE "  - {s: first, from: [d]}\n  - {s: first, from: [t]}\n", "6:5", "line 5"},
        {MAKE "  - {s: first, from: d}\n", "5:22", "list"},
        {MAKE "  - {s: first, from: []}\n", "5:22", "1 to 4"},
        {MAKE "  - {s: first, from: [d, t, d, t, d]}\n", "5:22", "1 to 4"},
        {MAKE "  - {s: first, from: [x]}\n", "5:23", "'x'"},
        {MAKE "  - {s: first, from: [latt]}\n", "5:23", "'lat'"},
        {MAKE "  - {s: first, from: [[]]}\n", "5:23", "up to 4"},
        {MAKE "  - {s: first, from: [[d, t, d, t, d]]}\n", "5:23", "up to 4"},
        {MAKE "  - {s: first, from: [[d, [t]]]}\n", "5:27", "field's name"},
        {MAKE "  - {s: first, from: [d, t], with: [a]}\n", "5:36", "one prefix for each"},
        {MAKE "  - {s: first, from: [d], with: [[a]]}\n", "5:34", "a list of words"},
        {MAKE "  - {s: first, from: [d], with: [\"123456789\"]}\n", "5:33", "8 bytes"},
        {MAKE "  - {s: utc, from: [d]}\n", "5:20", "two fields"},
        {MAKE "  - {s: utc, from: [d, t, t]}\n", "5:20", "two fields"},
        {MAKE "  - {s: utc, from: [t, d]}\n", "5:20", "width 8"},
        {MAKE "  - {s: utc, from: [d, lat]}\n", "5:20", "two text fields"},
        {MAKE "  - {s: utc, from: [d, [t]]}\n", "5:24", "field's name"},
        {MAKE "  - {s: utc, from: [d, t], with: [a, b]}\n", "5:34", "first"},
        {MAKE "  - {s: utc, from: [d, t]}\n  - {t2: utc, from: [d, t]}\n", "6:5", "line 5"},
        {MAKE "  - {s: point, from: [lat]}\n", "5:22", "two fields"},
        {MAKE "  - {s: point, from: [lat, t]}\n", "5:22", "type number"},
        {MAKE "  - {hour24: first, from: [d]}\n", "1:1", "'hour24'"},
        {MAKE "  - {unparsed: first, from: [d]}\n", "1:1", "'unparsed'"},
        /* the tail */
        {FIELDS "tail: a\n", "4:7", "list"},
        {TAIL "  - a\n", "5:5", "marker: ADD"},
        {TAIL "  - {name: r, repeat: [{name: x, width: 1}]}\n", "5:5", "marker"},
        {TAIL "  - {marker: '', name: r, repeat: [{name: x, width: 1}]}\n", "5:14", "marker"},
        {TAIL "  - {marker: ABCDEFGHI, name: r, repeat: [{name: x, width: 1}]}\n", "5:14", "1 to 8"},
        {TAIL "  - {marker: [A], name: r, repeat: [{name: x, width: 1}]}\n", "5:14", "1 to 8"},
        {TAIL "  - {marker: A, name: r, repeats: [{name: x, width: 1}]}\n", "5:26", "'repeat'"},
        {TAIL "  - {marker: A, name: r}\n", "5:5", "either"},
        {TAIL "  - {marker: A, sections: no}\n", "5:5", "either"},
        {TAIL "  - {marker: A, sections: maybe}\n", "5:27", "yes or no"},
        {TAIL "  - {marker: A, name: r, leaveOut: 3, repeat: [{name: x, width: 1}]}\n", "5:36", "yes or no"},
        {TAIL "  - {marker: A, sections: yes, repeat: [{name: x, width: 1}]}\n", "5:5", "either"},
        {TAIL "  - {marker: A, repeat: [{name: x, width: 1}]}\n", "5:5", "'name'"},
        {TAIL "  - {marker: A, name: r.s, repeat: [{name: x, width: 1}]}\n", "5:23", "plain key"},
        {TAIL "  - {marker: A, name: $r, repeat: [{name: x, width: 1}]}\n", "5:23", "plain key"},
        {TAIL "  - {marker: A, name: r, list: l, repeat: [{name: x, width: 1}]}\n", "5:32", "sections"},
        {TAIL "  - {marker: ADD, sections: yes, list: l.m}\n", "5:40", "plain key"},
        {TAIL "  - {marker: A, name: r, repeat: x}\n", "5:34", "list"},
        {TAIL "  - {marker: A, name: r, repeat: []}\n", "5:34", "1 to 2048"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x}]}\n", "5:35", "'width'"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, lengthWidth: 1}, {name: y, width: 1}]}\n", "5:35",
         "last"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, lengthWidth: 1, type: int}]}\n", "5:35",
         "text, trimmed"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, lengthWidth: 1, nulls: \"0\"}]}\n", "5:68",
         "no null"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 4, type: length}]}\n", "5:35",
         "fixed part"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 2, is: A}]}\n", "5:59", "wide (2)"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 2, is: ABC}]}\n", "5:59", "wide (2)"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[A-Z\"}]}\n", "5:59",
         "not closed"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[\"}]}\n", "5:59", "not closed"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[]\"}]}\n", "5:59", "not closed"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[9-0]\"}]}\n", "5:59",
         "'9' and '0'"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: [A]}]}\n", "5:59", "sets"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[^a]\"}]}\n", "5:59",
         "all but some"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 2, is: \"A[^]\"}]}\n", "5:59",
         "all but some"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1}]}\n  - {marker: A, name: s, repeat: "
              "[{name: x, "
              "width: 1}]}\n",
         "6:5", "marker A"},
        {TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1}]}\n  - {marker: B, name: r, repeat: "
              "[{name: x, "
              "width: 1}]}\n",
         "1:1", "'r'"},
        {TAIL "  - {marker: A, name: a, repeat: [{name: x, width: 1}]}\n", "1:1", "'a'"},
        {TAIL "  - {marker: A, name: order, repeat: [{name: x, width: 1}]}\n", "1:1", "'order'"},
        {TAIL "  - {marker: ADD, sections: yes}\n", "5:3", "'sections' is missing"},
        {TAIL
         "  - {marker: ADD, sections: yes}\n  - {marker: BDD, sections: yes}\nsections: [{ids: AA1, name: s, "
         "fields: [{name: x, width: 1}]}]\n",
         "6:5", "one part"},
        {TAIL
         "  - {marker: AA1, sections: yes}\nsections: [{ids: AB1, name: s, fields: [{name: x, width: 1}]}]\n",
         "5:14", "identifier"},
        {TAIL "  - {marker: AA12, sections: yes}\nsections: [{ids: AB1, name: s, fields: [{name: x, width: "
              "1}]}]\n",
         "5:14", "identifier"},
        {TAIL
         "  - {marker: A, sections: yes}\nsections: [{ids: AB1, name: s, fields: [{name: x, width: 1}]}]\n",
         "5:14", "identifier"},
        {TAIL
         "  - {marker: ZZ, sections: yes}\nsections: [{ids: AB1, name: s, fields: [{name: x, width: 1}]}]\n",
         "5:14", "identifier"},
        /* sections */
        {FIELDS "sections: [{ids: AB1, name: s, fields: [{name: x, width: 1}]}]\n", "4:11", "'tail'"},
        {FIELDS "tail: [{marker: A, name: r, repeat: [{name: x, width: 1}]}]\nsections: [{ids: AB1, name: s, "
                "fields: [{name: x, width: 1}]}]\n",
         "4:17", "identifier"},
        {FIELDS
         "tail: [{marker: '#', name: r, repeat: [{name: x, width: 1}]}]\nsections: [{ids: AB1, name: s, "
         "fields: [{name: x, width: 1}]}]\n",
         "4:7", "sections: yes"},
        {SECTIONS "  a\n", "6:3", "list"},
        {SECTIONS "  - a\n", "6:5", "ids: AA1-AA4"},
        {SECTIONS "  - {name: s, fields: [{name: x, width: 1}]}\n", "6:5", "'ids'"},
        {SECTIONS "  - {ids: AA1, fields: [{name: x, width: 1}]}\n", "6:5", "'name'"},
        {SECTIONS "  - {ids: AA1, name: s}\n", "6:5", "fields"},
        {SECTIONS "  - {ids: AA1, name: s, fields: x}\n", "6:33", "list"},
        {SECTIONS "  - {ids: AA1, name: s, feilds: [{name: x, width: 1}]}\n", "6:25", "'fields'"},
        {SECTIONS "  - {ids: AA, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: aA1, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: AA1-AB4, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: AA4-AA1, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: AA1_AA4, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: {AA1: 1}, name: s, fields: [{name: x, width: 1}]}\n", "6:11", "two capitals"},
        {SECTIONS "  - {ids: [], name: s, fields: [{name: x, width: 1}]}\n", "6:11", "1 to 4 ranges"},
        {SECTIONS "  - {ids: [AA1, AA3, AA5, AA7, AA9], name: s, fields: [{name: x, width: 1}]}\n", "6:11",
         "1 to 4 ranges"},
        {SECTIONS "  - {ids: [AA1-AA3, AA3], name: s, fields: [{name: x, width: 1}]}\n", "6:21", "AA3"},
        {SECTIONS
         "  - {ids: AA1-AA3, name: s, fields: [{name: x, width: 1}]}\n  - {ids: AA0-AA9, name: t, fields: "
         "[{name: x, width: 1}]}\n",
         "7:11", "AA1 is in line 6"},
        {SECTIONS
         "  - {ids: AA1, name: s, fields: [{name: x, width: 1}]}\n  - {ids: AA2, name: s, fields: [{name: x, "
         "width: 1}]}\n",
         "7:22", "line 6"},
        {SECTIONS "  - {ids: AA1, name: s.t, fields: [{name: x, width: 1}]}\n", "6:22", "dot"},
        {SECTIONS "  - {ids: AA1, name: _id, fields: [{name: x, width: 1}]}\n", "6:22", "_id"},
        {SECTIONS "  - {ids: AA1, name: a, fields: [{name: x, width: 1}]}\n", "1:1", "'a'"},
        {SECTIONS "  - {ids: AA1, name: hour24, fields: [{name: x, width: 1}]}\n", "1:1", "'hour24'"},
        {SECTIONS "  - {ids: AA1, name: s, fields: [{name: id, width: 1}]}\n", "6:34", "identifier"},
        {SECTIONS "  - {ids: AA1, name: s, fields: [{name: id.x, width: 1}]}\n", "6:34", "identifier"},
        {SECTIONS "  - {ids: AA1, name: s, fields: [{name: x, lengthWidth: 1}]}\n", "6:34", "last field"},
        {SECTIONS "  - {ids: AA1, name: s, fields: [{name: x, width: 1, is: A}]}\n", "6:34", "entry"},
        {SECTIONS "  - {ids: AA1, name: s, fields: [{name: x, width: 1, type: length}]}\n", "6:34",
         "fixed part"},
        {SECTIONS
         "  - {ids: AA1, name: s, fields: [{name: x, width: 512}, {name: y, width: 512}, {name: z, width: "
         "512}, {name: p, width: 512}, {name: q, width: 512}, {name: r, width: 512}, {name: s, width: 512}, "
         "{name: t, width: 512}, {name: u, width: 1}]}\n",
         "6:218", "4097 characters"},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = "taken"};
        char place[64];
        schema_t *schema = schema_parse(cases[i].yaml, strlen(cases[i].yaml), "lab.yaml", &err);
        snprintf(place, sizeof place, "lab.yaml:%s: ", cases[i].place);
        if (schema || strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, cases[i].says) ||
            err.status != STATUS_USAGE) {
            print_error("not at %s or does not say \"%s\": %s\n%s\n", place, cases[i].says, err.text,
                        cases[i].yaml);
            wrong++;
        }
        schema_destroy(schema);
    }
    assert_int_equal(wrong, 0);
}

/* What looks like a mistake and is none. */
TEST(good_ones) {
    static const char *const good[] = {
        FIELDS,
        ONE "type: text, nulls: []}\n",
        ONE "type: int, multiply: 1, sign: never}\n",
        FIELDS "tail: []\n",
        FIELDS "document: b\n",
        HEAD
        "fields: [{name: p.a, width: 2}, {name: b, width: 2}, {name: p.c, width: 2}]\ndocument: [b, p]\n",
        TAIL
        "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[-A]\"}]}\n", /* a dash for itself */
        TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 1, is: \"[]]\"}]}\n",
        TAIL
        "  - {marker: AA1, name: r, repeat: [{name: x, width: 1}]}\n", /* no sections to take it for one */
        TAIL "  - {marker: A, sections: no, name: r, repeat: [{name: id, width: 1}]}\n",
        MAKE "  - {ts: utc, from: [d, t]}\ndocument: [ts, t, d]\n",
        MAKE "  - {ts: utc, from: [d, t]}\ndocument: [t, d]\n", /* what is not named comes first of all */
        MAKE "  - {s: first, from: [d]}\ndocument: [d, s]\n",   /* takes no field's place */
        TAIL "  - {marker: A, name: r, repeat: [{name: x, width: 2, is: \"[a^]^\"}]}\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        schema_t *schema = lab_schema(good[i]);
        assert_true(schema->fixed > 0);
        schema_destroy(schema);
    }
    schema_t *schema = lab_schema(good[6]);
    assert_true(byteset_has(schema->parts[0].fields->is, '-') &&
                byteset_has(schema->parts[0].fields->is, 'A'));
    assert_false(byteset_has(schema->parts[0].fields->is, '['));
    schema_destroy(schema);
    schema = lab_schema(good[7]);
    assert_true(byteset_has(schema->parts[0].fields->is, ']'));
    schema_destroy(schema);
}

TEST(limits) {
    err_t err = {.text = ""};
    static const struct {
        const char *before, *each; /* %1$d: the list's length, or the item's number */
        int most;
    } lists[] = {
        {"format: x\nrecord: {fixed: %1$d}\nfields:\n", "  - {name: f%1$d, width: 1}\n", SCHEMA_MOST_FIELDS},
        {TAIL, "  - {marker: m%1$d, name: n%1$d, repeat: [{name: x, width: 1}]}\n", 7},
        {MAKE, "  - {m%1$d: first, from: [d]}\n", 16},
        {SECTIONS, "  - {ids: A%2$c%3$d, name: s%1$d, fields: [{name: x, width: 1}]}\n", 254},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int count = lists[i].most; count <= lists[i].most + 1; count++) {
            grown_t yaml = {0};
            char line[400];
            snprintf(line, sizeof line, lists[i].before, count);
            grown_text(&yaml, line);
            for (int n = 0; n < count; n++) {
                snprintf(line, sizeof line, lists[i].each, n, 'A' + n / 10, n % 10);
                grown_text(&yaml, line);
            }
            schema_t *schema = schema_parse((const char *)yaml.at, yaml.size, "lab.yaml", &err);
            if ((schema != NULL) != (count == lists[i].most))
                fail_msg("list %zu of %d: %s", i, count, err.text);
            snprintf(line, sizeof line, "%d", lists[i].most);
            assert_true(schema || strstr(err.text, line));
            schema_destroy(schema);
            grown_free(&yaml);
        }
}

static void digest_of(const char *yaml, char out[33]) {
    schema_t *schema = lab_schema(yaml);
    memcpy(out, schema->digest, 33);
    schema_destroy(schema);
}

/* `all` with the first place of `from` made `to`. */
static char *changed(const char *from, const char *to) {
    const char *at = strstr(all, from);
    grown_t text = {0};
    LAB_MUST(at);
    grown_add(&text, all, (size_t)(at - all));
    grown_text(&text, to);
    grown_text(&text, at + strlen(from));
    return (char *)text.at;
}

/* The digest follows from what documents are made of, and from nothing else. */
TEST(digest) {
    static const struct {
        const char *from, *to;
        bool same;
    } changes[] = {
        {"mine", "yours", true},
        {"record:", "about: other words\n# a comment\nrecord:", true},
        {"name: tens", "name: scores, key: tens", true},
        {"[who, when, a]", "[who, when]", false},
        {"[who, when, a]", "[when, who, a]", false},
        {"name: station", "name: station, key: s", false},
        {"\"999\"", "\"998\"", false},
        {"type: length", "type: int", false},
        {"sign: always", "sign: minus", false},
        {"divide: 100", "divide: 10", false},
        {", multiply: 10", "", false},
        {"type: trimmed", "type: text", false},
        {"width: 3, type: int, multiply: 10}\n  - {name: code, width: 1",
         "width: 2, type: int, multiply: 10}\n  - {name: "
         "code, width: 2",
         false},
        {"where: point", "spot: point", false},
        {"[station, [day", "[count, [day", false},
        {"[day, time]],", "[time, day]],", false},
        {"with: [s, \"\"]", "with: [t, \"\"]", false},
        {", with: [s, \"\"]", "", false},
        {"where: point, from: [a.b, a.c]", "where: point, from: [a.c, a.b]", false},
        {"where: point, from: [a.b, a.c]", "where: first, from: [a.b, a.c]", false},
        {"marker: ADD", "marker: ADE", false},
        {", list: ids", "", false},
        {", list: ids", ", list: identifiers", false},
        {"name: remarks", "name: remark", false},
        {"leaveOut: yes", "leaveOut: no", false},
        {"\"[A-C0]x\"", "\"[A-D0]x\"", false},
        {", is: \"[A-C0]x\"", "", false},
        {"lengthWidth: 3", "lengthWidth: 2", false},
        {"lengthWidth: 3", "width: 3", false},
        {"AA1-AA4, AB2", "AA1-AA4, AB3", false},
        {"AA1-AA4, AB2", "AA1-AA5, AB2", false},
        {"AA1-AA4, AB2", "AA1-AA4", false},
        {"name: rain", "name: rains", false},
        {"name: hours", "name: hour", false},
        {"\"99\"", "\"98\"", false},
        {"width: 7", "width: 8", false},
    };
    enum { CHANGES = sizeof changes / sizeof *changes };
    char first[33], digests[CHANGES][33];
    digest_of(all, first);
    for (size_t i = 0; i < CHANGES; i++) {
        char *yaml = changed(changes[i].from, changes[i].to);
        digest_of(yaml, digests[i]);
        bool same = strcmp(digests[i], first) == 0;
        if (same != changes[i].same)
            fail_msg("%s -> %s: %s digest", changes[i].from, changes[i].to, same ? "the same" : "another");
        for (size_t j = 0; j < i && !same; j++)
            if (strcmp(digests[i], digests[j]) == 0)
                fail_msg("changes %zu and %zu have one digest", i, j);
        free(yaml);
    }
}
