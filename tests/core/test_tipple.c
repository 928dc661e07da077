/* The library's public face, used as a program of someone else's would use it. */
#include "heard.h"
#include "test.h"
#include "tipple/tipple.h"

#include <bson/bson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char ROWS[] = "test_id|rfr_id|rfr_type_code|location_id|dangerous_mark\n"
                           "703671925|30305|A|7|\n"
                           "\n"
                           "1|2|3\n"
                           "618374953|31194|F||D";

TEST(there_and_back) {
    tipple_error_t error;
    tipple_format_t *format = tipple_format_open("mot-item", &error);
    assert_non_null(format);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    assert_true(tipple_reader_begin(reader, ROWS, strlen(ROWS), &error));
    static const struct {
        uint64_t line;
        const char *json, *row;
    } expected[] = {
        {2, "{ \"t\" : 703671925, \"n\" : 30305, \"y\" : \"A\", \"l\" : 7 }", "703671925|30305|A|7|"},
        {4, NULL, "1|2|3"},
        {5, "{ \"t\" : 618374953, \"n\" : 31194, \"y\" : \"F\", \"x\" : \"D\" }", "618374953|31194|F||D"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        tipple_record_t record;
        const char *text;
        size_t length;
        assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        assert_int_equal(record.line, expected[i].line);
        assert_int_equal(record.length, strlen(expected[i].row));
        assert_memory_equal(ROWS + record.offset, expected[i].row, record.length);
        if (!expected[i].json) {
            assert_null(record.document);
            assert_non_null(strstr(record.reason, "3 fields where 5"));
            assert_int_equal(record.column, 6);
            assert_false(tipple_reader_emit(reader, &text, &length, &error));
            continue;
        }
        bson_t document;
        assert_true(bson_init_static(&document, record.document, record.document_length));
        char *json = bson_as_relaxed_extended_json(&document, NULL);
        assert_string_equal(json, expected[i].json);
        bson_free(json);
        assert_true(tipple_reader_emit(reader, &text, &length, &error));
        assert_int_equal(length, strlen(expected[i].row));
        assert_memory_equal(text, expected[i].row, length);
    }
    tipple_record_t record;
    assert_int_equal(tipple_reader_next(reader, &record, &error), 0);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* A record is given without its line end, and the caller may put LF or CR LF after it: it has no CR of its own at its end. */
TEST(carriage_returns) {
    static const char text[] = "a|x\r \r\nb|y\r \nc| z\r\n";
    tipple_error_t error;
    tipple_record_t record;
    const char *row;
    size_t length;
    FILE *file = fopen("bare.yaml", "w");
    assert_true(file &&
                fputs("format: bare\nrecord: {delimiter: \"|\", header: no, quote: none}\n"
                      "fields: [{name: a}, {name: b, type: trimmed}]\n",
                      file) >= 0 &&
                fclose(file) == 0);
    tipple_format_t *format = tipple_format_open("./bare.yaml", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    assert_true(tipple_reader_begin(reader, text, strlen(text), &error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        assert_int_equal(tipple_reader_emit(reader, &row, &length, &error), i == 2);
        assert_true(i == 2 || error.status == 5);
    }
    assert_int_equal(length, 3);
    assert_memory_equal(row, "c|z", 3);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* Whoever asks again after a header with other columns is not given records by the wrong names. */
TEST(another_header) {
    static const char glued[] = "test_id|rfr_id|rfr_type_code|location_id|dangerous_mark\n"
                                "703671925|30305|A|7|\n"
                                "test_id|rfr_id|location_id|rfr_type_code|dangerous_mark\n"
                                "618374953|31194|7|F|D\n";
    tipple_error_t error;
    tipple_record_t record;
    tipple_format_t *format = tipple_format_open("mot-item", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    for (int round = 0; round < 2; round++) {
        assert_true(tipple_reader_begin(reader, glued, strlen(glued), &error));
        assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        for (int again = 0; again < 3; again++) {
            memset(&error, 0, sizeof error);
            assert_int_equal(tipple_reader_next(reader, &record, &error), -1);
            assert_int_equal(error.status, 5);
            assert_non_null(strstr(error.text, "the text:3:"));
        }
    }
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* An array that is not closed is no end, however often it is asked, but an error as in a load. */
TEST(cut_off) {
    static const struct {
        const char *text;
        int records, end;
    } rows[] = {{"[{\"a\":1},{\"a\":2}", 2, -1},
                {"[{\"a\":1},\n{\"a\":2", 1, -1},
                {"[", 0, -1},
                {"[{\"a\":1},{\"a\":2}]", 2, 0},
                {"{\"a\":1}\n{\"a\":2", 2, 0},
                {"\xEF\xBB\xBF[{}", 1, -1},
                {"{\"a\":1}\n[{\"a\":2},{\"a\":3}", 3, -1},
                {"{\"a\":1}\n[{\"a\":2},{\"a\":3}]", 3, 0},
                {"{\"a\":1}\n[{\"a\":2},{\"a\":3", 2, -1},
                {"{\"a\":[1,[2]]}\n{\"a\":\"}[\"}", 2, 0}};
    tipple_error_t error;
    tipple_record_t record;
    tipple_format_t *format = tipple_format_open("json", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(tipple_reader_begin(reader, rows[i].text, strlen(rows[i].text), &error));
        for (int count = 0; count < rows[i].records; count++)
            assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        for (int again = 0; again < 2; again++) {
            memset(&error, 0, sizeof error);
            assert_int_equal(tipple_reader_next(reader, &record, &error), rows[i].end);
            assert_int_equal(error.status, rows[i].end ? 5 : 0);
            assert_true(!rows[i].end || strstr(error.text, "ends within an array"));
        }
    }
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* A text that does not fit takes nothing away from the one before. */
TEST(begin_that_fails) {
    static const char unfit[] = "test_id|rfr\n1|2\n";
    tipple_error_t error;
    tipple_record_t record;
    tipple_format_t *format = tipple_format_open("mot-item", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    assert_int_equal(tipple_reader_next(reader, &record, &error), 0); /* nothing was begun */
    assert_false(tipple_reader_begin(reader, unfit, strlen(unfit), &error));
    assert_int_equal(tipple_reader_next(reader, &record, &error), 0);
    assert_true(tipple_reader_begin(reader, ROWS, strlen(ROWS), &error));
    assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
    assert_false(tipple_reader_begin(reader, unfit, strlen(unfit), &error));
    assert_int_equal(error.status, 5);
    assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
    assert_int_equal(record.line, 4);
    assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
    assert_int_equal(record.line, 5);
    assert_non_null(record.document);
    assert_int_equal(tipple_reader_next(reader, &record, &error), 0);
    assert_true(tipple_reader_begin(reader, "", 0, &error));
    assert_int_equal(tipple_reader_next(reader, &record, &error), 0);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* What a load decodes is nothing that a reader may take for text: no header would show it. */
TEST(what_is_no_text) {
#define TEXT(of) of, sizeof of - 1
    static const struct {
        const char *text;
        size_t length;
        const char *said; /* NULL: it is read */
    } texts[] = {
        {TEXT("\xff\xfex\0,\0001\0\n\0"), "begins as text of UTF-16 does"},
        {TEXT("\xfe\xff\0x\0,\0001\0\n"), "make UTF-8 of it first"},
        {TEXT("x\0,\0001\0\n\0"), "UTF-16"},
        {TEXT("\xff\xfe\0\0x\0\0\0"), "UTF-32"},
        {TEXT("\x1f\x8b\10\0\0\0\0\0\0\3"), "begins as a file of gzip does"},
        {TEXT("\x28\xb5\x2f\xfd\4\0\0\0"), "decompress it first"},
        {TEXT("PK\3\4xxxx"), "zip"},
        {TEXT("\xef\xbb\xbfx,1\n"), NULL},
        {TEXT("MZ,1\n"), NULL},
        {TEXT("# tipple rejects,1\n"), NULL},
        {TEXT("x,\0001\n"), NULL},
        {TEXT("x,1"), NULL},
        {TEXT("x"), NULL},
    };
#undef TEXT
    static const char yaml[] = "format: f\nrecord: {delimiter: [\",\"], header: no}\n"
                               "fields: [{name: a}, {name: b, optional: yes}]\n";
    tipple_error_t error;
    tipple_record_t record;
    FILE *file = fopen("text.yaml", "w");
    assert_true(file && fputs(yaml, file) >= 0 && fclose(file) == 0);
    tipple_format_t *format = tipple_format_open("./text.yaml", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_non_null(reader);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        error.text[0] = '\0';
        const bool begun = tipple_reader_begin(reader, texts[i].text, texts[i].length, &error);
        if (begun != !texts[i].said || (texts[i].said && !strstr(error.text, texts[i].said)))
            fail_msg("text %zu: %s", i, error.text);
        assert_int_equal(tipple_reader_next(reader, &record, NULL), begun);
        if (!begun)
            assert_int_equal(error.status, TIPPLE_INPUT);
    }
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* A NULL that is not allowed is a failure with a sentence; without a place for the sentence, only a failure. */
TEST(nulls) {
    tipple_format_t *format = tipple_format_open("mot-item", NULL);
    tipple_reader_t *reader = tipple_reader_new(format, NULL);
    assert_non_null(reader);
    assert_true(tipple_reader_begin(reader, NULL, 0, NULL));
    assert_true(tipple_reader_begin(reader, ROWS, strlen(ROWS), NULL));
    for (int silent = 0; silent < 2; silent++) {
        tipple_error_t error, *to = silent ? NULL : &error;
        tipple_record_t record;
        tipple_load_t *load = tipple_load_new("mongodb://127.0.0.1:1/a.b", to);
        assert_non_null(load);
        const char *text;
        size_t length;
#define FAILS(call, says)                                                                                    \
    do {                                                                                                     \
        error = (tipple_error_t){.status = 0};                                                               \
        assert_true(call);                                                                                   \
        if (!silent && (error.status != 1 || !strstr(error.text, says " is NULL")))                          \
            fail_msg("%s: %d: %s", #call, error.status, error.text);                                         \
    } while (0)
        FAILS(!tipple_format_open(NULL, to), "name");
        FAILS(!tipple_reader_new(NULL, to), "format");
        FAILS(!tipple_reader_begin(NULL, ROWS, 5, to), "reader");
        FAILS(!tipple_reader_begin(reader, NULL, 5, to), "text");
        FAILS(tipple_reader_next(NULL, &record, to) == -1, "reader");
        FAILS(tipple_reader_next(reader, NULL, to) == -1, "record");
        assert_int_equal(1, tipple_reader_next(reader, &record, to)); /* none was passed over */
        FAILS(!tipple_reader_emit(NULL, &text, &length, to), "reader");
        FAILS(!tipple_reader_emit(reader, NULL, &length, to), "text");
        FAILS(!tipple_reader_emit(reader, &text, NULL, to), "length");
        FAILS(!tipple_format_guess(NULL, 5, to), "text");
        FAILS(!tipple_load_new(NULL, to), "uri");
        FAILS(!tipple_load_set(NULL, "drop", "true", to), "the load");
        FAILS(!tipple_load_set(load, NULL, "true", to), "the option's name");
        FAILS(!tipple_load_set(load, "drop", NULL, to), "the option's value");
        FAILS(!tipple_load_on_log(NULL, NULL, NULL, to), "the load");
        FAILS(!tipple_load_on_progress(NULL, NULL, NULL, to), "the load");
        FAILS(!tipple_load_run(NULL, to), "the load");
        FAILS(!tipple_load_push(NULL, "", 1, to), "the load");
        FAILS(!tipple_load_push(load, NULL, 1, to), "what is pushed");
        FAILS(!tipple_load_push_document(NULL, "", 1, to), "the load");
        FAILS(!tipple_load_push_document(load, NULL, 1, to), "the document");
        FAILS(!tipple_load_finish(NULL, to), "the load");
        assert_null(tipple_load_result(load));
        assert_null(tipple_load_result(NULL));
        assert_null(tipple_load_json(load));
        assert_null(tipple_load_json(NULL));
        tipple_load_cancel(NULL);
        tipple_load_destroy(load);
    }
    assert_null(tipple_format_text(NULL));
    tipple_reader_destroy(reader);
    tipple_reader_destroy(NULL);
    tipple_format_close(format);
    tipple_format_close(NULL);
}

/* What the command warns of is not the library's to print. */
TEST(silence) {
    static const char more[] = "test_id|rfr_id|rfr_type_code|location_id|dangerous_mark|unknown\n";
    tipple_error_t error;
    static ear_t ear;
    listen_to(&ear, STDERR_FILENO);
    tipple_format_t *format = tipple_format_open("mot-item", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    const bool begun = tipple_reader_begin(reader, more, strlen(more), &error);
    assert_string_equal(heard(&ear), "");
    assert_true(begun);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

/* A text's format is guessed, and its file opens the same; what nobody can guess is said. */
TEST(guess) {
    static const char rows[] = "name,born\nAda,1815-12-10\nAlan,1912-06-23\n",
                      json[] = "{\"a\":1}\n{\"a\":2}\n";
    tipple_error_t error;
    tipple_record_t record;
    tipple_format_t *format = tipple_format_guess(rows, strlen(rows), &error);
    if (!format)
        fail_msg("%s", error.text);
    FILE *file = fopen("guessed.yaml", "w");
    assert_true(file && fputs(tipple_format_text(format), file) >= 0 && fclose(file) == 0);
    tipple_format_close(format);
    format = tipple_format_open("./guessed.yaml", &error);
    assert_non_null(format);
    assert_null(tipple_format_text(format));
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_true(tipple_reader_begin(reader, rows, strlen(rows), &error));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        assert_non_null(record.document);
    }
    tipple_reader_destroy(reader);
    tipple_format_close(format);
    format = tipple_format_guess(json, strlen(json), &error);
    assert_non_null(format);
    tipple_format_close(format);
    assert_null(tipple_format_guess(NULL, 0, &error));
    assert_int_equal(error.status, 5);
    assert_true(error.text[0]);
}

/* Wherever the beginning of a text ends, the guess is that of its whole lines. */
TEST(guess_of_beginning) {
    enum { MANY = 40 };
    char text[4096] = "id;born\n";
    size_t length = strlen(text), row = 0;
    for (int i = 0; i < MANY; i++, length += row)
        row = (size_t)snprintf(text + length, sizeof text - length, "%d;1912-06-%02d\n", 100 + i, i % 28 + 1);
    for (size_t cut = length - row; cut <= length; cut++) {
        tipple_error_t error;
        tipple_format_t *format = tipple_format_guess(text, cut, &error);
        assert_non_null(format);
        assert_non_null(strstr(tipple_format_text(format), "name: born, type: date"));
        tipple_format_close(format);
    }
}

TEST(version) {
    const char *version = tipple_version();
    assert_memory_equal(version, "tipple ", 7);
    assert_ptr_equal(version, tipple_version());
    for (const char *const *at =
             (const char *const[]){"libmongoc ", "isal ", "zlib ", "zstd ", "lzma ", "bzip2 ", NULL};
         *at; at++)
        assert_non_null(strstr(version, *at));
}

TEST(errors) {
    tipple_error_t error;
    assert_null(tipple_format_open("mot-itm", &error));
    assert_int_equal(error.status, 1);
    assert_non_null(strstr(error.text, "mot-item"));
    tipple_format_t *format = tipple_format_open("mot", &error);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    assert_false(tipple_reader_begin(reader, ROWS, strlen(ROWS), &error)); /* items are no results */
    assert_int_equal(error.status, 5);
    assert_non_null(strstr(error.text, "vehicle_id"));
    tipple_reader_destroy(reader);
    tipple_format_close(format);
    tipple_load_t *load = tipple_load_new("mongodb://127.0.0.1:1/a.b", &error);
    assert_true(tipple_load_set(load, "format", "mot", &error));
    assert_true(tipple_load_set(load, "input", "/nowhere/at/all.csv", &error));
    assert_false(tipple_load_run(load, &error)); /* before any server is asked */
    assert_int_equal(error.status, 5);
    assert_non_null(strstr(error.text, "/nowhere/at/all.csv"));
    assert_int_equal(tipple_load_result(load)->read, 0);
    tipple_load_destroy(load);
}

/* A sentence is printed somewhere: it has no password, nothing that a terminal obeys, and no half of a character. */
TEST(sentences) {
    static const char odd[] = "mongodb://joe:hunter2@h/\x1b[31m\xe2\x80\xae.yaml\x9b";
    static const char safe[] = "mongodb://joe:***@h/\\x1b[31m\\u202e.yaml\\x9b";
    static const char input[] = "/nowhere\x1b[31m\xe2\x80\xae.csv\x9b",
                      safe_input[] = "/nowhere\\x1b[31m\\u202e.csv\\x9b";
    tipple_error_t error;
    assert_null(tipple_format_open(odd, &error));
    if (!strstr(error.text, safe))
        fail_msg("%s", error.text);
    tipple_load_t *load = tipple_load_new("mongodb://127.0.0.1:1/a.b", &error);
    assert_false(tipple_load_set(load, odd, "x", &error));
    assert_non_null(strstr(error.text, safe));
    assert_true(tipple_load_set(load, "format", "mot", &error));
    assert_true(tipple_load_set(load, "input", input, &error));
    assert_false(tipple_load_run(load, &error));
    assert_non_null(strstr(error.text, safe_input));
    assert_string_equal(tipple_load_result(load)->sentence, error.text);
    tipple_load_destroy(load);
    char longest[4000] = "";
    for (size_t length = 0; length < 3; length++) {
        memset(longest, 'a', length);
        for (size_t at = length; at + 3 < sizeof longest; at += 2)
            strcpy(longest + at, "\xc3\xa4");
        assert_null(tipple_format_open(longest, &error));
        assert_true(bson_utf8_validate(error.text, strlen(error.text), false));
    }
}
