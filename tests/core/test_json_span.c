/* json_span: where records of JSON end: by a plain reading of the rules in texts of nothing but odd bytes, and in
 * texts whose records are known because they were put together here. */
#include "ends_lab.h"
#include "test.h"

static schema_t *json_schema(void) {
    return lab_schema("format: x\nrecord: {json: yes}\n");
}

/* ---- the rules, read plainly ---- */

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool is_around(char byte) {
    return is_blank(byte) || byte == ',' || byte == '[' || byte == ']' || byte == 0x1E;
}

static size_t over_blanks(const char *text, size_t length, size_t at) {
    while (at < length && is_blank(text[at]))
        at++;
    return at;
}

/* The byte before text[at] that is no blank; SIZE_MAX: none. */
static size_t last_before(const char *text, size_t at) {
    while (at-- && is_blank(text[at]))
        ;
    return at;
}

/* An array within another one? */
static bool is_element(const char *text, size_t length, size_t at) {
    const size_t before = last_before(text, at);
    return at < length && text[at] == '[' && before != SIZE_MAX &&
           (text[before] == ',' || text[before] == '[');
}

/* After what belongs to no object, at most to the end of a line; or where an array within another one is. */
static size_t around(const char *text, size_t length, size_t at) {
    for (; at < length && is_around(text[at]) && !is_element(text, length, at); at++)
        if (text[at] == '\n') {
            const size_t next = over_blanks(text, length, at);
            return is_element(text, length, next) ? next : at + 1;
        }
    return at;
}

/* After the object at text[at]; 0: it is none; SIZE_MAX: the text ends within it. */
static size_t object_end(const char *text, size_t length, size_t at) {
    char open[4096];
    size_t depth = 0;
    char before = 0;
    bool inside = false, escaped = false;
    for (; at < length; at++) {
        const char byte = text[at];
        const bool is_escaped = escaped;
        escaped = byte == '\\' && !is_escaped;
        if (inside && byte == '\n')
            return 0;
        if (byte == '"' && !is_escaped)
            inside = !inside;
        else if (inside)
            continue;
        if (byte == '{' || byte == '[') {
            const bool in_array = depth && open[depth - 1] == '[';
            if (depth && (in_array ? before != ',' && before != '[' : before != ':'))
                return 0;
            open[depth++] = byte;
        } else if (byte == '}' || byte == ']') {
            if (open[--depth] != (byte == '}' ? '{' : '['))
                return 0;
            if (!depth)
                return at + 1;
        }
        if (!is_blank(byte))
            before = byte;
    }
    return SIZE_MAX;
}

/* Lines that are records, whatever comes before them. */
static bool divides(const char *text, size_t length, size_t at) {
    return at < length && at > 1 && text[at] == '{' &&
           (text[at - 2] == '}' || (at > 2 && text[at - 2] == '\r' && text[at - 3] == '}'));
}

/* The first line after text[at] that begins with { after this number of blanks, or follows one that ends with }. */
static size_t next_line(const char *text, size_t length, size_t at, size_t blanks) {
    while (at < length) {
        while (at < length && text[at] != '\n')
            at++;
        size_t begin = ++at, of_these = 0;
        if (divides(text, length, at))
            return at;
        for (; begin < length && strchr(" \t,", text[begin]) && text[begin]; begin++)
            of_these = text[begin] == ',' ? 0 : of_these + 1;
        if (begin < length && text[begin] == '{' && of_these == blanks)
            return at;
    }
    return length;
}

/* 0: within brackets. */
static size_t other_end(const char *text, size_t length, size_t at) {
    bool inside = false, escaped = false;
    size_t depth = 0;
    char before = 0;
    for (; at < length; at++) {
        const bool is_escaped = escaped;
        escaped = text[at] == '\\' && !is_escaped;
        if (text[at] == '\n' && depth)
            return 0;
        if (text[at] == '\n') {
            const size_t next = over_blanks(text, length, at);
            return !inside && is_element(text, length, next) ? last_before(text, next) : at + 1;
        }
        if (text[at] == '{' && !inside && !depth && before == ',')
            return at;
        if (!inside && strchr("{[", text[at]))
            depth++;
        else if (!inside && strchr("}]", text[at]) && depth)
            depth--;
        if (text[at] == '"' && !is_escaped)
            inside = !inside;
        if (!is_blank(text[at]))
            before = text[at];
    }
    return length;
}

static size_t plainly(const char *text, size_t length) {
    const size_t begin = around(text, length, 0);
    if (begin == length || (text[begin - (begin > 0)] == '\n' && !is_element(text, length, begin)))
        return begin;
    const bool object = text[begin] == '{';
    const size_t end = object ? object_end(text, length, begin) : other_end(text, length, begin);
    if (end == SIZE_MAX)
        return length;
    if (end && object) {
        const size_t after = around(text, length, end);
        return is_element(text, length, after) ? last_before(text, after) : after;
    }
    if (end)
        return end;
    size_t blanks = 0;
    while (blanks < begin && (text[begin - blanks - 1] == ' ' || text[begin - blanks - 1] == '\t'))
        blanks++;
    return next_line(text, length, begin, blanks);
}

/* The first end at or after some place, without those before it. */
static void leap(const schema_t *schema, const slack_t *slack, const list_t *plain, uint64_t *seed) {
    ends_t ends = ends_begin(schema, ',');
    const size_t from = 1 + lab_chance(seed, slack->length + 1);
    size_t i = 0;
    if (!ends_on(&ends, slack->text, slack->length, true, from))
        return;
    while (plain->at[i] < from)
        i++;
    LAB_MUST(ends.record == plain->at[i]);
}

TEST(odd_bytes) {
    uint64_t seed = 3;
    schema_t *schema = json_schema();
    for (int round = 0; round < 30000 / TEST_SHARE; round++) {
        const size_t length = lab_chance(&seed, round % 50 ? 300 : 3000), rare = 1 + lab_chance(&seed, 12);
        char *text = malloc(length + 1);
        LAB_MUST(text);
        for (size_t i = 0; i < length; i++)
            text[i] = lab_chance(&seed, rare) ? (char)('0' + i % 3)
                                              : "{}[]{}[]:,,:\"\"\"\"\\\\\n\r \t{\n"[lab_chance(&seed, 24)];
        for (size_t i = 0; i + 3 < length && round % 3 == 0; i += 1 + lab_chance(&seed, 40))
            memcpy(text + i, round % 2 ? "}\n{" : "}\r\n{", round % 2 ? 3 : 4);
        slack_t slack = slack_new((uint8_t *)text, length);
        list_t plain = {0};
        for (size_t at = 0; at < length;)
            add(&plain, at += plainly(text + at, length - at));
        list_t found = by_find(schema, slack.text, length),
               steps = by_steps(schema, slack.text, length, &seed), records = by_records(schema, &slack);
        same(&plain, &found, "find", slack.text, length);
        same(&plain, &steps, "steps", slack.text, length);
        same(&plain, &records, "records", slack.text, length);
        for (int i = 0; i < 4; i++)
            leap(schema, &slack, &plain, &seed);
        free(plain.at);
        free(found.at);
        free(steps.at);
        free(records.at);
        slack_free(&slack);
        free(text);
    }
    schema_destroy(schema);
}

/* ---- records that are known, because they are put together here ---- */

/* A comma decides what follows it, but not of what is far away: text is not read on for that. */
TEST(far) {
    enum { MOST = JSON_SPAN_BLANKS };
    uint8_t *text = malloc(MOST + 8);
    LAB_MUST(text);
    for (size_t blanks = MOST - 1; blanks <= MOST; blanks++)
        for (size_t feed = 0; feed < 2; feed++) {
            const bool element = blanks < MOST;
            memset(text, ' ', MOST + 8);
            memcpy(text, "{},", 3);
            text[3] = feed ? '\n' : ' ';
            memcpy(text + 3 + blanks, "[{}]", 4);
            for (size_t length = 3 + blanks; length <= 3 + blanks + 2; length++) {
                const size_t end = json_span_find(&(json_span_t){0}, text, length, false);
                const bool seen = length > 3 + blanks;
                if (feed)
                    assert_int_equal(end, seen && element ? 2 : seen || !element ? 4 : 0);
                else
                    assert_int_equal(end, !seen ? 0 : element ? 2 : length > 4 + blanks ? 4 + blanks : 0);
            }
        }
    free(text);
}

/* A record that is not kept ends where it ends if it is. */
TEST(skip) {
    static const struct {
        const char *text;
        size_t end, unknown; /* that many bytes do not show the end yet */
    } rows[] = {
        {"{\"a\": [1, {\"b\": \"}\"}, 2]}, \n{}", 28, 28},
        {"{\"a\": [1, {\"b\": \"}\"}, 2]} {}", 26, 26},
        /* broken: to the next line that begins with { in the same column, */
        {"{\"a\": \"x\ny\n  {\"b\": 1}\n\n  }\n{\"c\": 2}", 27, 27},
        {" {\"a\": [1} \n{\"b\": 1},\n   {\"c\": 1},\n  ,\n  , {\"d\": 2}", 39, 39},
        {" {\"a\": \"xyz}\n{\"c\": 2}", 13, 13}, /* or follows a } at the end of a line, */
        {"oops oops [\n{}\n[]]\n{}", 12, 12},
        {"oops oops\n{}", 10, 9},                  /* or to the end of the line that is no object */
        {"{\"a\": [1, 2]} ,\r\n \n[{}],", 14, 19}, /* or before the comma of an array that is an element */
        {"{\"a\": [1, 2]}], [{}],", 14, 16},
        {"{\"a\": [1, 2]} ,\r\n \n {}", 17, 20},
        {"oops oops, \n \n {}\n{}", 12, 15},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t length = strlen(rows[i].text);
        for (size_t kept = 1; kept <= rows[i].unknown; kept++)
            for (size_t step = 1; step < length; step++) {
                json_span_t span = {0};
                assert_int_equal(json_span_find(&span, (const uint8_t *)rows[i].text, kept, false), 0);
                size_t end = 0, again = json_span_forget(&span, kept), at = kept - again;
                for (size_t have = kept; !end && have < length; at += end ? end : have - at - again) {
                    have = have + step < length ? have + step : length;
                    end = json_span_find(&span, (const uint8_t *)rows[i].text + at, have - at, false);
                    again = end ? 0 : json_span_forget(&span, have - at);
                }
                if (!end || at != rows[i].end)
                    fail_msg("%s\nkept %zu, step %zu: ends at %zu", rows[i].text, kept, step, at);
            }
    }
}

/* Any number of blanks between two values: no record grows by more of them, however much of the text is there at once. */
TEST(blanks) {
    enum { MANY = 3 * JSON_SPAN_BLANKS, LENGTH = 2 + MANY + 3 };
    static const size_t lengths[] = {2 + JSON_SPAN_BLANKS, JSON_SPAN_BLANKS, JSON_SPAN_BLANKS + 3};
    uint8_t *text = malloc(LENGTH);
    LAB_MUST(text);
    memset(text, ' ', LENGTH);
    memcpy(text, "{}", 2);
    memcpy(text + LENGTH - 3, "{}\n", 3);
    for (size_t step = 1; step <= LENGTH; step = 10 * step + 7) {
        size_t begin = 0;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            json_span_t span = {0};
            size_t found = 0;
            for (size_t have = 0; !found && have < LENGTH - begin;) {
                have = have + step < LENGTH - begin ? have + step : LENGTH - begin;
                found = json_span_find(&span, text + begin, have, false);
            }
            assert_int_equal(found, lengths[i]);
            begin += found;
        }
        assert_int_equal(begin, LENGTH);
        /* after an object that is skipped */
        json_span_t span = {0};
        assert_int_equal(json_span_find(&span, text, 1, false), 0);
        size_t end = 0, at = 1 - json_span_forget(&span, 1);
        for (size_t have = 1; !end && have < LENGTH;) {
            have = have + step < LENGTH ? have + step : LENGTH;
            end = json_span_find(&span, text + at, have - at, false);
            at += end ? end : have - at - json_span_forget(&span, have - at);
        }
        assert_int_equal(at, lengths[0]);
    }
    free(text);
}

/* Deeper than the brackets that are kept: an object all the same, or text of one line, that ends where its brackets do. */
TEST(deep) {
    static const struct {
        const char *begin, *deepest, *after;
        bool ends; /* with `deepest` */
    } rows[] = {
        {"{\"a\":", "{\"x\":1},\n{\"x\":2}\n", "}\n", false},
        {"{\"a\":", "{\"x\":1}\n", "{\"a\":1}", true}, /* no object has a { there */
        {"x[", "1", ",{\"x\":1}]\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int levels = JSON_SPAN_LEVELS - 3; levels < 2 * JSON_SPAN_LEVELS; levels++) {
            char text[4096] = "", *at = stpcpy(text, rows[i].begin);
            at = stpcpy(memset(at, '[', (size_t)levels) + levels, rows[i].deepest);
            const size_t divided = (size_t)(at - text);
            at = rows[i].ends ? at : memset(at, ']', (size_t)levels) + levels;
            at = stpcpy(at, rows[i].after);
            const size_t end = rows[i].ends ? divided : (size_t)(at - text);
            stpcpy(at, "{}\n");
            assert_int_equal(json_span_find(&(json_span_t){0}, (uint8_t *)text, strlen(text), true), end);
        }
}
