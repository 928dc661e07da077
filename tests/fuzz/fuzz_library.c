/* Formats and readers of the public library (tipple/tipple.h), any calls in any order: nothing crashes, nothing leaks, what fails has a sentence;
 * and what a reader gives does not depend on what was done with it before: another one, that is new, gives the same. */
#include "format_lab.h"
#include "tipple/tipple.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READERS = 3, FORMATS = 3, LONGEST = 512 };

/* The third is a file, of records of fixed width: what is made for `isd` takes longer than a thousand calls. */
static const char *names[FORMATS] = {"mot-item", "obd", NULL};
static const char fixed[] =
    "format: fixed\nrecord: {fixed: 4}\nfields: [{name: n, width: 2, type: length}, {name: i, width: 2, "
    "type: int, nulls: \"99\"}]\ntail:\n  - {marker: \"#\", name: any, repeat: [{name: a, width: 1}, "
    "{name: text, lengthWidth: 1}]}\n";

typedef struct {
    const tipple_format_t *format;
    tipple_reader_t *reader, *other; /* other: made anew for every fourth text; NULL */
    uint8_t text[LONGEST];
    size_t length, last; /* last: where the last record ended */
    uint64_t line;
    bool begun, has_document;
} used_t;

static struct {
    const uint8_t *at;
    size_t left;
    tipple_format_t *formats[FORMATS]; /* stay open: they are read-only, and shared */
    used_t used[READERS];
} calls;

static uint8_t byte(void) {
    if (!calls.left)
        return 0;
    calls.left--;
    return *calls.at++;
}

static void has_sentence(const tipple_error_t *error) {
    LAB_MUST(error->status > 0 && error->text[0] && memchr(error->text, '\0', sizeof error->text));
}

static void close_reader(used_t *used) {
    tipple_reader_destroy(used->reader);
    tipple_reader_destroy(used->other);
    *used = (used_t){.reader = NULL};
}

static void open_reader(used_t *used) {
    tipple_error_t error;
    close_reader(used);
    used->format = calls.formats[byte() % FORMATS];
    used->reader = tipple_reader_new(used->format, &error);
    LAB_MUST(used->reader);
}

/* A text that the format may like, pieces of it, or any bytes. */
static size_t make_text(const used_t *used, uint8_t text[LONGEST]) {
    static const char *const pieces[FORMATS][4] = {
        {"1|2|A|7|X\n", "test_id|rfr_id|rfr_type_code|location_id|dangerous_mark\n", "5|6|B|\"8|D\"\n",
         "|\n"},
        {"Time,Engine RPM\n", "2019-01-01 00:00:00,1\n", ",,\n", "\"\"\"\n"},
        {"0099\n", "0712#a3xyz\n", "0401#b", "\n"}};
    size_t which = 0, length = 0;
    while (which + 1 < FORMATS && calls.formats[which] != used->format)
        which++;
    for (uint8_t count = byte() % 8; count; count--) {
        const uint8_t choice = byte();
        const char *piece = pieces[which][choice % 4];
        size_t size = strlen(piece);
        if (choice >= 200) {
            size = choice - 200u < calls.left ? choice - 200u : calls.left;
            piece = (const char *)calls.at;
            calls.at += size;
            calls.left -= size;
        }
        size = size < LONGEST - length ? size : LONGEST - length;
        memcpy(text + length, piece, size);
        length += size;
    }
    return length;
}

/* Its own copy, which ends where the text does, and is gone right after it. */
static bool begin_with(tipple_reader_t *reader, const uint8_t *text, size_t length, tipple_error_t *error) {
    uint8_t *copy = length ? malloc(length) : NULL;
    LAB_MUST(copy || !length);
    if (length)
        memcpy(copy, text, length);
    const bool ok = tipple_reader_begin(reader, copy, length, error);
    free(copy);
    return ok;
}

static void begin(used_t *used) {
    tipple_error_t error;
    uint8_t text[LONGEST];
    const size_t length = make_text(used, text);
    tipple_reader_t *other = byte() & 3 ? NULL : tipple_reader_new(used->format, &error);
    const bool fits = begin_with(used->reader, text, length, &error);
    if (!fits) { /* goes on with the one it had */
        has_sentence(&error);
        LAB_MUST(!other || !begin_with(other, text, length, &error));
        tipple_reader_destroy(other);
        return;
    }
    LAB_MUST(!other || begin_with(other, text, length, &error));
    tipple_reader_destroy(used->other);
    used->other = other;
    memcpy(used->text, text, length);
    used->length = length;
    used->last = 0;
    used->line = 0;
    used->begun = true;
    used->has_document = false;
}

static void next(used_t *used) {
    tipple_error_t error;
    tipple_record_t record, same = {.offset = 0};
    bson_t document;
    const int got = tipple_reader_next(used->reader, &record, &error);
    LAB_MUST(got >= -1 && got <= 1);
    LAB_MUST(!used->other || got == tipple_reader_next(used->other, &same, &error));
    LAB_MUST(!got || used->begun);
    used->has_document = got > 0 && record.document;
    if (got < 0) { /* a header that names other columns: nothing after it, ever */
        has_sentence(&error);
        LAB_MUST(tipple_reader_next(used->reader, &record, &error) == got);
    }
    if (got <= 0)
        return;
    if (!used->other)
        same = record;
    LAB_MUST(record.offset == same.offset && record.length == same.length && record.line == same.line &&
             record.document_length == same.document_length && record.column == same.column &&
             !record.document == !same.document && !record.reason == !same.reason);
    LAB_MUST(record.offset >= used->last && record.offset + record.length <= used->length &&
             record.line > used->line);
    used->last = record.offset + record.length;
    used->line = record.line;
    if (record.document)
        LAB_MUST(!record.reason && bson_init_static(&document, record.document, record.document_length) &&
                 bson_validate(&document, BSON_VALIDATE_NONE, NULL) &&
                 memcmp(record.document, same.document, record.document_length) == 0);
    else
        LAB_MUST(record.reason[0] && strcmp(record.reason, same.reason) == 0 && record.column >= 1);
}

static void emit(used_t *used) {
    tipple_error_t error;
    const char *text, *same;
    size_t length, same_length;
    const bool ok = tipple_reader_emit(used->reader, &text, &length, &error);
    if (!ok)
        has_sentence(&error);
    LAB_MUST(used->has_document || !ok);
    if (!used->other)
        return;
    LAB_MUST(tipple_reader_emit(used->other, &same, &same_length, &error) == ok);
    LAB_MUST(!ok || (length == same_length && memcmp(text, same, length) == 0));
}

static void refused(void) {
    static const char *const wrong[] = {"",   "no-such-format", "/dev/null", "/", "mot-item ",
                                        "..", "\xff\xfe"};
    tipple_error_t error = {.status = 0};
    LAB_MUST(!tipple_format_open(wrong[byte() % 7], &error));
    has_sentence(&error);
}

/* The beginning of any text has a format, which opens again and reads it, or a sentence. */
static void guess(void) {
    tipple_error_t error;
    const size_t length = calls.left < LONGEST ? calls.left : LONGEST;
    tipple_format_t *format = tipple_format_guess(calls.at, length, &error);
    if (!format) {
        has_sentence(&error);
        return;
    }
    LAB_MUST(tipple_format_text(format) && tipple_format_text(format)[0]);
    tipple_reader_t *reader = tipple_reader_new(format, &error);
    LAB_MUST(reader);
    if (!tipple_reader_begin(reader, calls.at, length, &error))
        has_sentence(&error);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
}

static void open_formats(void) {
    static char path[64];
    tipple_error_t error;
    const int file = memfd_create("format", MFD_CLOEXEC);
    LAB_MUST(file >= 0 && write(file, fixed, sizeof fixed - 1) == (ssize_t)(sizeof fixed - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    names[FORMATS - 1] = path;
    for (size_t i = 0; i < FORMATS; i++)
        LAB_MUST((calls.formats[i] = tipple_format_open(names[i], &error)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!calls.formats[0])
        open_formats();
    calls.at = data;
    calls.left = size;
    while (calls.left) {
        const uint8_t call = byte();
        used_t *used = &calls.used[call % READERS];
        const uint8_t what = call / READERS;
        if (what < 2)
            close_reader(used);
        else if (what == 2)
            refused();
        else if (what == 4)
            guess();
        else if (what < 9 || !used->reader)
            open_reader(used);
        else if (what < 24)
            begin(used);
        else if (what < 60)
            next(used);
        else
            emit(used);
    }
    for (size_t i = 0; i < READERS; i++)
        close_reader(&calls.used[i]);
    tipple_format_close(NULL);
    return 0;
}
