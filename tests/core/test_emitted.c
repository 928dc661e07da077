/* emitted: a file of records is read as the documents that it was written from, or it is refused before its first
 * byte. */
#include "format/records.h"
#include "format_laws.h"
#include "test.h"

#define MARK "\xEF\xBB\xBF"

/* What is printed of the inputs' documents number `from` and later; NULL: it is refused, and *why says why. */
static char *printed(const char *yaml, const char *const *inputs, size_t from, char *why) {
    law_t law = law_for(lab_schema(yaml));
    grown_t file = {0};
    err_t err = {.text = ""};
    emitted_t emitted = {.schema = law.schema, .head = 1 << 18, .put = law_grow, .to = &file};
    bool ok = true;
    size_t number = 0;
    for (; ok && *inputs; inputs++) {
        const uint8_t *text = (const uint8_t *)*inputs;
        const size_t length = strlen(*inputs);
        dialect_t dialect;
        LAB_MUST(dialect_sniff(law.schema, text, length, "in", &dialect, &err));
        lab_records_t all = lab_parse(law.reader, &dialect, text, length, (lab_how_t){.careful = true}),
                      some = all;
        some.records = calloc(all.count + 1, sizeof *some.records);
        some.count = 0;
        LAB_MUST(some.records);
        for (size_t i = 0; i < all.count; i++)
            if (all.records[i].parsed != PARSED_DOCUMENT || number++ >= from)
                some.records[some.count++] = all.records[i];
        ok = law_emit_into(&law, &emitted, &dialect, &some, text, &err);
        free(some.records);
        lab_records_free(&all);
    }
    ok = emitted_end(&emitted, &err) && ok;
    snprintf(why, sizeof err.text, "%s", err.text);
    text_free(&emitted.kept);
    law_end(&law);
    if (ok)
        return (char *)file.at ? (char *)file.at : strdup("");
    grown_free(&file);
    return NULL;
}

#define INPUTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void prints(const char *yaml, const char *const *inputs, size_t from, const char *expected) {
    char why[sizeof(err_t)];
    char *got = printed(yaml, inputs, from, why);
    if (!got)
        fail_msg("refused: %s", why);
    assert_string_equal(got, expected);
    free(got);
}

static void refuses(const char *yaml, const char *const *inputs, size_t from, const char *words) {
    char why[sizeof(err_t)];
    char *got = printed(yaml, inputs, from, why);
    if (got)
        fail_msg("printed: %s", got);
    assert_non_null(strstr(why, words));
}

#define PAIR "format: pair\nrecord: {delimiter: [\",\"], header: no}\nfields: [{name: x}, {name: y}]\n"

/* A first record that begins with the bytes of a mark keeps them after a mark. */
TEST(mark) {
    prints(PAIR, INPUTS("a,1\n" MARK "b,2\n"), 1, MARK MARK "b,2\n");
    prints(PAIR, INPUTS("\"" MARK "b\",2\nc,4\n"), 0, MARK MARK "b,2\nc,4\n");
    prints(PAIR, INPUTS(MARK MARK "b,2\n"), 0, MARK MARK "b,2\n");
    prints(PAIR, INPUTS(MARK "b,2\n"), 0, MARK "b,2\n");
    prints("format: fx\nrecord: {fixed: 6}\nfields: [{name: a, width: 4}, {name: n, width: 2, type: int}]\n",
           INPUTS("abcd01\n" MARK "x02\n"), 1, MARK MARK "x02\n");
}

#define WORDS "format: w\nrecord: {delimiter: [\",\"], header: [id]}\nfields: [{name: id}, {name: y}]\n"

/* The marks of several inputs, and line ends that are missing between them. */
TEST(inputs) {
    prints(WORDS, INPUTS("id,y\n", MARK "id,y\n1,2\n"), 0, "id,y\n1,2\n");
    prints(WORDS, INPUTS(MARK "id,y\n1,2", MARK "3,4\n"), 0, MARK "id,y\n1,2\n3,4\n");
    prints(PAIR, INPUTS("a,1\r", "b,2\n"), 0, "a,1\r\nb,2\n");
}

#define EITHER                                                                                               \
    "format: e\nrecord: {delimiter: [%s], header: no}\nfields: [{name: x, type: trimmed}, {name: y, type: "  \
    "trimmed}]\n"

/* The first lines of the new file speak for another delimiter, or for other columns. */
TEST(guess) {
    char yaml[300];
    snprintf(yaml, sizeof yaml, EITHER, "\" \", \",\"");
    refuses(yaml, INPUTS(" x y , z \n v w , u \n"), 0,
            "would be 2 with the delimiter ' ' instead of 2 with ','");
    snprintf(yaml, sizeof yaml, EITHER, "\";\", \",\"");
    prints(yaml, INPUTS(" x y , z \n v w , u \n"), 0, "x y,z\nv w,u\n");
    static const char layouts[] =
        "format: l\nrecord: {delimiter: [\"|\", \",\"], header: no}\n"
        "fields: [{name: x}, {name: y}, {name: n, type: int, optional: yes}]\nlayouts: [[x, y], [x, y, n]]\n";
    static const char rows[] = "c,d,5\ne,f,1\ng,h,2\ni|j,k,3\n";
    prints(layouts, INPUTS(rows), 0, rows);
    prints(layouts, INPUTS(rows), 3,
           "i|j,k,3\n"); /* of the delimiters that fit as often the one of more columns */
}

/* Only the first lines count: with that many before it, the odd one is no harm. */
TEST(later) {
    static const char layouts[] =
        "format: l\nrecord: {delimiter: [\"|\", \",\"], header: no}\nfields: [{name: x}, {name: y}]\n";
    grown_t text = {0};
    for (int i = 0; i < 64; i++)
        grown_text(&text, "a,b\n");
    for (int i = 0; i < 500; i++)
        grown_text(&text, "c|d,e\n");
    prints(layouts, INPUTS((const char *)text.at), 0, (const char *)text.at);
    refuses(layouts, INPUTS((const char *)text.at), 64, "instead of 2 with ','");
    grown_free(&text);
}

/* One file has one delimiter and one list of columns. */
TEST(other_inputs) {
    static const char two[] =
        "format: t\nrecord: {delimiter: [\",\", \"|\"], header: yes}\nfields: [{name: x}, {name: y}]\n";
    prints(two, INPUTS("x,y\n1,2\n", "X,Y\n3,4\n"), 0, "x,y\n1,2\n3,4\n");
    refuses(two, INPUTS("x,y\n1,2\n", "y,x\n3,4\n"), 0, "other columns");
    refuses(two, INPUTS("x,y\n1,2\n", "x|y\n3|4\n"), 0, "another delimiter");
    prints(two, INPUTS("x,y\n1,2\n", "\n", "x,y\n3,4\n"), 0, "x,y\n1,2\n3,4\n");
    prints(two, INPUTS("\n", "x,y\n1,2\n"), 0, "x,y\n1,2\n");
    static const char bare[] =
        "format: b\nrecord: {delimiter: [\",\", \"|\"], header: no}\nfields: [{name: x}, {name: y}]\n";
    prints(bare, INPUTS("1|2\n", "\n", "3|4\n"), 0,
           "1|2\n3|4\n"); /* an input without records has any dialect */
    prints(bare, INPUTS("1,2\n", "3|4\n"), 1, "3|4\n");
    static const char one[] = "format: o\nrecord: {delimiter: [\",\"], header: yes}\nfields: [{name: x}]\n";
    prints(one, INPUTS("x\n1\n", "x\n3\n"), 0, "x\n1\n3\n"); /* after records it would be one */
    prints(one, INPUTS("x\n1\n", "X\n3\n"), 0, "x\n1\n3\n");
    prints(one, INPUTS("x\nX\n"), 0, "x\nX\n");
}
