/* filter: comparisons of a document's fields, and what is wrong with one. */
#include "format/records.h"
#include "format/schema/schema.h"
#include "format_lab.h"
#include "test.h"

static int set_up(void **state) {
    *state = lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields:\n"
                        "  - {name: testId, key: t, type: int}\n  - {name: testDate, key: d, type: date}\n"
                        "  - {name: testType, key: y, type: trimmed}\n  - {name: model, key: o}\n  - {name: "
                        "weight, key: p.w, type: number}\n"
                        "  - {name: when, type: datetime}\n");
    return 0;
}

static int tear_down(void **state) {
    schema_destroy(*state);
    return 0;
}

static bson_t *document_of(const char *json) {
    char text[400];
    size_t length = 0;
    for (; json[length]; length++)
        text[length] = json[length] == '\'' ? '"' : json[length];
    bson_error_t problem;
    bson_t *document = bson_new_from_json((const uint8_t *)text, (ssize_t)length, &problem);
    LAB_MUST(document);
    return document;
}

static filter_t *filter_of(const schema_t *schema, const char *text) {
    err_t err = {.text = ""};
    filter_t *filter = filter_parse(schema, (char *const *)&text, 1, &err);
    if (!filter)
        fail_msg("%s: %s", text, err.text);
    return filter;
}

static bool passes(const schema_t *schema, const char *text, const char *json) {
    filter_t *filter = filter_of(schema, text);
    bson_t *document = document_of(json);
    bool passed = filter_passes(filter, bson_get_data(document), document->len);
    bson_destroy(document);
    filter_free(filter);
    return passed;
}

static void refuses(const schema_t *schema, const char *text, const char *says) {
    err_t err = {.text = ""};
    if (filter_parse(schema, (char *const *)&text, 1, &err))
        fail_msg("this is taken: %s", text);
    assert_int_equal(err.status, STATUS_USAGE);
    if (strncmp(err.text, "--filter", 8) != 0 || !strstr(err.text, says))
        fail_msg("%s: %s", text, err.text);
}

#define ONE                                                                                                  \
    "{'_id':1,'t':5,'d':{'$date':'2013-01-02T00:00:00Z'},'y':'NT','o':'A B','p':{'w':1.5},"                  \
    "'when':{'$date':'2024-03-01T12:00:00Z'}}"

TEST(comparisons) {
    static const struct {
        const char *text;
        bool passes;
    } cases[] = {
        {"t==5", true},
        {"t=5", true},
        {"t!=5", false},
        {"t<5", false},
        {"t<=5", true},
        {"t>5", false},
        {"testId==5", true},
        {" testId == 5 ", true},
        {"t==5.0", true},
        {"t<5.5", true},
        {"t<100000000000000000000", true},
        {"t>-1e19", true},
        {"t==-5", false},
        {"t==05", true},
        {"y==NT", true},
        {"y!=NT", false},
        {"y==N", false},
        {"y<NU", true},
        {"y=='NT'", true},
        {"y==nt", false},
        {"o=='A B'", true},
        {"o==A B", true},
        {"o>?", true}, /* by two, as bytes */
        {"y>L", true},
        {"d==2013-01-02", true},
        {"d<2013-01-03", true},
        {"d>2013-01-02", false},
        {"testDate<=2013-01-01", false},
        {"p.w==1.5", true},
        {"when==2024-03-01T12:00:00Z", true},
        {"when>2024-03-01", true},
        {"when<2024-03-01 12:00:01", true},
        {"t>=5 && y==NT", true},
        {"t>=5&&y==N", false},
        {"t>0 && t<10 && y!=RT && d>=2013-01-01 && weight<2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (passes(*state, cases[i].text, ONE) != cases[i].passes)
            fail_msg("%s", cases[i].text);
}

/* What stands in quotes is the value, "&&" and blanks included. */
TEST(quotes) {
    static const struct {
        const char *text, *model;
        bool passes;
    } cases[] = {
        {"o=='A && B'", "A && B", true},
        {"o==\"A && B\" && o!='A && C'", "A && B", true},
        {"o=='A && B'", "A", false},
        {"o==' A'", " A", true},
        {"o==' A'", "A", false},
        {"o== A ", "A", true},
        {"o==it's && o!=''", "it's", true},
        {"o==\"'A\"", "'A", true},
        {"o==B&Q", "B&Q", true},
        {"o==B & Q", "B & Q", true},
        {"o==A or B", "A or B", true},
        {"o==A(B)!~|C", "A(B)!~|C", true},
        {"o=='>A'", ">A", true},
        {"o=='A || o==B'", "A || o==B", true},
        {"o==\"A' || 'B\"", "A' || 'B", true},
        {"o=='A\" || \"B'", "A\" || \"B", true},
        {"o==\"it's' \" && o!=x", "it's' ", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        filter_t *filter = filter_of(*state, cases[i].text);
        bson_t document = BSON_INITIALIZER;
        BSON_APPEND_UTF8(&document, "o", cases[i].model);
        if (filter_passes(filter, bson_get_data(&document), document.len) != cases[i].passes)
            fail_msg("%s: %s", cases[i].text, cases[i].model);
        bson_destroy(&document);
        filter_free(filter);
    }
}

/* A field that is missing, or of another kind than the value, passes only '!='; and so does no number. */
TEST(missing_and_odd) {
    static const char *const operators[] = {"==", "=", "<", "<=", ">", ">="};
    static const struct {
        const char *field, *value;
    } fields[] = {{"t", "5"}, {"d", "2013-01-02"}, {"y", "NT"}, {"p.w", "1.5"}, {"when", "2024-03-01"}};
    static const char *const documents[] = {
        "{'_id':1}",
        "{'t':'5','d':'2013-01-02','y':5,'p':{'w':'1.5'},'when':'2024-03-01'}",
        "{'p':{}}",
        "{'p':7}",
        "{'t':{'x':5},'d':null,'y':[5],'p':{'w':{'w':1.5}},'when':true}",
        "{'p':{'w':{'$numberDouble':'NaN'}}}"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        for (size_t j = 0; j < sizeof fields / sizeof *fields; j++) {
            char text[100];
            for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
                snprintf(text, sizeof text, "%s%s%s", fields[j].field, operators[k], fields[j].value);
                if (passes(*state, text, documents[i]))
                    fail_msg("%s passes %s", documents[i], text);
            }
            snprintf(text, sizeof text, "%s!=%s", fields[j].field, fields[j].value);
            if (!passes(*state, text, documents[i]))
                fail_msg("%s does not pass %s", documents[i], text);
        }
    }
}

/* Whole numbers are compared exactly, however large. */
TEST(large_numbers) {
    static const struct {
        const char *text, *document;
        bool passes;
    } cases[] = {
        {"t==9007199254740993", "{'t':{'$numberLong':'9007199254740993'}}", true},
        {"t==9007199254740992", "{'t':{'$numberLong':'9007199254740993'}}", false},
        {"t>9007199254740992", "{'t':{'$numberLong':'9007199254740993'}}", true},
        {"t==9223372036854775807", "{'t':{'$numberLong':'9223372036854775807'}}", true},
        {"t==-9223372036854775808", "{'t':{'$numberLong':'-9223372036854775808'}}", true},
        {"t==-9223372036854775808", "{'t':{'$numberLong':'-9223372036854775807'}}", false},
        {"t==9.007199254740992e15", "{'t':{'$numberLong':'9007199254740993'}}", false},
        {"t>9.007199254740992e15", "{'t':{'$numberLong':'9007199254740993'}}", true},
        {"t==9.007199254740992e15", "{'t':{'$numberLong':'9007199254740992'}}", true},
        {"weight==9007199254740993", "{'p':{'w':9007199254740992.0}}", false},
        {"weight<9007199254740993", "{'p':{'w':9007199254740992.0}}", true},
        {"weight>-1", "{'p':{'w':-0.5}}", true},
        {"weight<0", "{'p':{'w':-0.5}}", true},
        {"weight>9223372036854775807", "{'p':{'w':1e300}}", true},
        {"weight<-9223372036854775807", "{'p':{'w':-1e300}}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (passes(*state, cases[i].text, cases[i].document) != cases[i].passes)
            fail_msg("%s: %s", cases[i].text, cases[i].document);
}

/* An array does what one of its elements does; != is what == is not. */
TEST(arrays) {
    static const struct {
        const char *document;
        bool equal, unequal, less;
    } cases[] = {
        {"{'p':[{'w':7},{'w':9}]}", true, false, false}, {"{'p':[{'w':6},{'w':9}]}", false, true, true},
        {"{'p':{'w':[1,[7]]}}", true, false, true},      {"{'p':[]}", false, true, false},
        {"{'p':{'w':[]}}", false, true, false},          {"{'p':[7,{'x':7},[{'w':7}]]}", true, false, false},
        {"{'p':[7,'w']}", false, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is[] = {cases[i].equal, cases[i].unequal, cases[i].less};
        static const char *const texts[] = {"weight==7", "weight!=7", "weight<7"};
        for (size_t j = 0; j < 3; j++)
            if (passes(*state, texts[j], cases[i].document) != is[j])
                fail_msg("%s: %s", texts[j], cases[i].document);
    }
    assert_true(passes(*state, "y==a", "{'y':['b','a']}"));
    assert_false(passes(*state, "y!=a", "{'y':['b','a']}"));
}

/* One spelling for the books: keys instead of names, "==" instead of "=", no blanks. */
TEST(normal_text) {
    static const struct {
        const char *text, *normal;
    } cases[] = {{"testType = NT", "y==NT"},
                 {" testId>=5 && model != 'A B' ", "t>=5 && o!=A B"},
                 {"weight<1.5", "p.w<1.5"},
                 {"model==' A'", "o==' A'"}, /* values that would be others without quotes keep theirs */
                 {"model==\"A \" && t>4", "o=='A ' && t>4"},
                 {"model==\"'A'\"", "o==\"'A'\""},
                 {"model=='A && B'&&t>4", "o=='A && B' && t>4"},
                 {"model==\"A' && B\"", "o==\"A' && B\""},
                 {"model> '=A'", "o>'=A'"},
                 {"model==\"'\"", "o==\"'\""},
                 {"model=='<A'", "o=='<A'"},
                 {"model==\"A or o=B\"", "o=='A or o=B'"},
                 {"model==\"A' or =B\"", "o==\"A' or =B\""},
                 {"model==B&Q", "o==B&Q"},
                 {"model==it's", "o==it's"},
                 {"model==''", "o=="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *texts[] = {cases[i].text, cases[i].normal};
        for (size_t j = 0; j < 2; j++) { /* the normal text is read as the same filter */
            filter_t *filter = filter_of(*state, texts[j]);
            assert_string_equal(filter_text(filter), cases[i].normal);
            filter_free(filter);
        }
    }
}

/* Where the key of one field is the name of another, the catalog's text still means the same field. */
TEST(swapped_names) {
    schema_t *schema = lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields:\n"
                                  "  - {name: a, key: b}\n  - {name: b, key: a}\n  - {name: c, key: d}\n");
    static const struct {
        const char *text, *normal;
    } cases[] = {{"a==1", "a==1"}, {"b==1", "b==1"}, {"c==1", "d==1"}, {"d==1", "d==1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        filter_t *filter = filter_of(schema, cases[i].text);
        assert_string_equal(filter_text(filter), cases[i].normal);
        filter_free(filter);
        assert_true(passes(schema, cases[i].normal,
                           cases[i].text[0] == 'a'   ? "{'b':'1'}"
                           : cases[i].text[0] == 'b' ? "{'a':'1'}"
                                                     : "{'d':'1'}"));
    }
    schema_destroy(schema);
}

/* What utc and point are made of is in no document by itself; what first is made of is. */
TEST(not_stored) {
    schema_t *schema = lab_schema("format: x\nrecord: {fixed: 21}\nfields:\n"
                                  "  - {name: day, width: 8}\n  - {name: clock, key: t, width: 4}\n"
                                  "  - {name: north, width: 4, type: number, sign: always}\n"
                                  "  - {name: east, width: 4, type: number, sign: always}\n"
                                  "  - {name: id, width: 1}\n"
                                  "make:\n  - {ts: utc, from: [day, clock]}\n"
                                  "  - {place: point, from: [north, east]}\n  - {k: first, from: [id]}\n");
    static const struct {
        const char *text, *says;
    } cases[] = {{"day==20240203", "but in ts"},
                 {"t!=0600", "but in ts"},
                 {"north>50", "but in place"},
                 {"ts>=2024-02-03 && east<0", "but in place"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(schema, cases[i].text, cases[i].says);
    assert_true(passes(schema, "id==A && k==A", "{'k':'A','id':'A'}"));
    assert_true(passes(schema, "ts>=2024-02-03", "{'ts':{'$date':'2024-02-03T00:00:00Z'}}"));
    schema_destroy(schema);
}

static void check_refused(const char *format, const char *text, const char *says) {
    schema_t *schema = lab_schema(format);
    refuses(schema, text, says);
    schema_destroy(schema);
}

TEST(types) {
    static const char format[] =
        "format: x\nrecord: {delimiter: \",\"}\nfields:\n  - {name: o, type: objectid}\n"
        "  - {name: b, type: boolean, true: yes, false: no}\n"
        "  - {name: u, type: uuid}\n  - {name: d, type: decimal}\n";
    schema_t *schema = lab_schema(format);
    assert_true(passes(schema, "o>507f1f77bcf86cd799439011", "{'o':{'$oid':'527f1f77bcf86cd799439011'}}"));
    assert_false(passes(schema, "o<507f1f77bcf86cd799439011", "{'o':{'$oid':'527f1f77bcf86cd799439011'}}"));
    assert_true(passes(schema, "d>=12.5 && b==no", "{'b':false,'d':{'$numberDecimal':'12.50'}}"));
    assert_true(passes(schema, "u==00112233-4455-6677-8899-aabbccddeeff",
                       "{'u':{'$binary':{'base64':'ABEiM0RVZneImaq7zN3u/w==','subType':'04'}}}"));
    check_refused(format, "b==perhaps", "boolean was expected");
    check_refused(format, "o==1", "objectid was expected");
    schema_destroy(schema);
}

/* A filter has a point before the fraction, whatever the format says; what could be read both ways is refused. */
TEST(marks_in_numbers) {
    static const char marks[] =
        "format: x\nrecord: {delimiter: \";\", decimal: \",\", thousands: \".\"}\nfields:\n"
        "  - {name: n, type: number}\n  - {name: d, type: decimal}\n"
        "  - {name: i, type: int}\n  - {name: t}\n";
    static const char *const unclear[] = {"n==1.234", "d>=1.234", "i<1.234", "n==-1.234", "n==12.345"};
    for (size_t i = 0; i < sizeof unclear / sizeof *unclear; i++)
        check_refused(marks, unclear[i], "is another number");
    check_refused(marks, "n==1.234,5", "is another number");
    check_refused(marks, "d==1,5", "is another number");
    schema_t *schema = lab_schema(marks);
    assert_true(passes(schema, "n==1.2340 && t==1.234", "{'n':1.234,'t':'1.234'}"));
    assert_true(passes(schema, "n==1234 && n<1234.5", "{'n':1234}"));
    schema_destroy(schema);
    schema = lab_schema(
        "format: x\nrecord: {delimiter: \";\", decimal: \",\"}\nfields:\n  - {name: n, type: number}\n");
    assert_true(passes(schema, "n==1.234", "{'n':1.234}")); /* in the files it is no number */
    schema_destroy(schema);
}

/* As in the files: local time, unless it says an offset. */
TEST(local_times) {
    static const char format[] = "format: x\nrecord: {delimiter: \";\"}\ntimezone: Europe/Berlin\n"
                                 "fields:\n  - {name: w, type: datetime}\n";
    schema_t *schema = lab_schema(format);
    assert_true(
        passes(schema, "w==2024-07-01 02:00:00 && w==2024-07-01", "{'w':{'$date':'2024-07-01T00:00:00Z'}}"));
    assert_true(passes(schema, "w==2024-07-01T00:00:00Z", "{'w':{'$date':'2024-07-01T00:00:00Z'}}"));
    check_refused(format, "w==2024-03-31 02:30:00", "the clocks");
    check_refused(format, "w==x", "YYYY-MM-DDThh:mm:ssZ was expected");
    schema_destroy(schema);
}

TEST(without_fields) {
    check_refused("format: x\nrecord: {delimiter: [\",\"]}\nfields: [{name: l, type: long}]\n",
                  "l<9223372036854775807.0", "17 digits");
    check_refused("format: x\nrecord: {json: yes}\n", "m=1", "--type 'm:int'");
    check_refused("format: x\nrecord: {bson: yes}\n", "m=1", "mongodump --query");
}

TEST(mistakes) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "comparison"},
        {"t", "comparison"},
        {"==5", "comparison"},
        {"t && y==NT", "comparison"},
        {"t==5 &&", "comparison"},
        {"&& t==5", "comparison"},
        {"tt==5", "'tt'"},
        {"testTyp==NT", "'testType'"},
        {"t==x", "number"},
        {"t==1e400", "number"},
        {"t==9007199254740992.5", "17 digits"},
        {"t<9223372036854775807.0", "17 digits"},
        {"t==0x10", "number"},
        {"t<99999999999999999999", "64 bits"},
        {"o==\xff", "text was expected"},
        {"d==yesterday", "YYYY-MM-DD"},
        {"d==2013-02-30", "YYYY-MM-DD"},
        {"p==1", "'p'"},
        {"t=>5", "column 3 of 't=>5'"},
        {"t==5 || t==6", "column 4"},
        {"o==A and o==B", "there is no 'or'"},
        {"o=~A", "column 3"},
        {"o==!A", "column 4"},
        {"o==A & y==B", "column 4"},
        {"o=='A", "column 4"},
        {"o=='", "not closed"},
        {"o=='A' B", "column 4"},
        {"o=='it's'", "column 4"},
        {"o==(A)", "column 4"},
        {"y==N && o=='A' & o=='B'", "column 12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(*state, cases[i].text, cases[i].says);
    grown_t many = {0};
    grown_text(&many, "t>0");
    for (int i = 0; i < 100; i++)
        grown_text(&many, " && t>0");
    refuses(*state, (const char *)many.at, "comparisons");
    grown_free(&many);
}

/* What is no document passes nothing, and nothing is read beyond it. */
TEST(broken_documents) {
    filter_t *filter = filter_of(*state, "t!=5");
    assert_false(filter_passes(filter, (const uint8_t *)"\x05\0\0\0", 4));
    assert_false(filter_passes(filter, (const uint8_t *)"\xff\0\0\0\0", 5));
    assert_true(filter_passes(filter, (const uint8_t *)"\x05\0\0\0\0", 5));
    filter_free(filter);
}

/* Of a document whose binary data libbson takes for its end. */
TEST(behind_odd_binary) {
    static const uint8_t bytes[] = "\x17\0\0\0\5b\0\3\0\0\0\2xyz\x10t\0\5\0\0\0",
                         nested[] = "\x23\0\0\0\3p\0\x1B\0\0\0\5b\0\3\0\0\0\2xyz\1w\0\0\0\0\0\0\0\xF8\x3F\0";
    static const struct {
        const char *text;
        const uint8_t *document;
        uint32_t length;
        bool passes;
    } cases[] = {{"t=5", bytes, sizeof bytes, true},
                 {"t!=5", bytes, sizeof bytes, false},
                 {"p.w=1.5", nested, sizeof nested, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        filter_t *filter = filter_of(*state, cases[i].text);
        if (filter_passes(filter, cases[i].document, cases[i].length) != cases[i].passes)
            fail_msg("case %zu", i);
        filter_free(filter);
    }
}

TEST_GROUP(set_up, tear_down);
