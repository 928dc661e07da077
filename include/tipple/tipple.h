/* tipple: bulk data into MongoDB. The library's public face: open a format, turn records into BSON documents
 * and back, run a load. Everything else under src/ may change from version to version.
 *
 * `pkg-config --cflags --libs tipple` tells what to compile and to link with. The library prints nothing: what went
 * wrong is in tipple_error_t, also when memory is out; but where the driver (libmongoc, libbson) gets none for itself,
 * it ends the process with abort(). A host that wants another end gives it functions of its own, before its first call
 * here: bson_mem_set_vtable(). The command tipple does; the library never does. The first tipple_load starts the driver (mongoc_init) and turns its log off; a
 * program that wants that log calls mongoc_log_set_handler() behind it.
 *
 * `error` may be NULL everywhere: then only what is returned tells of a failure. What else may be NULL is said where
 * it may; any other NULL is a failure of that call, with status 1, and nothing happens. */
#ifndef TIPPLE_TIPPLE_H
#define TIPPLE_TIPPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIPPLE_API __attribute__((visibility("default")))

typedef struct {
    int status;      /* one of the command's exit statuses */
    char text[1600]; /* a sentence for a person: what happened, where, what to do */
} tipple_error_t;

/* --- formats
 * ------------------------------------------------------------------------------------------------------ */

typedef struct tipple_format tipple_format_t;

/* A built-in format's name, or the path of a format file. NULL: error says what is wrong, with line and
 * column. A format is read-only and may be shared by threads. */
TIPPLE_API tipple_format_t *tipple_format_open(const char *name, tipple_error_t *error);
/* NULL: nothing is done. */
TIPPLE_API void tipple_format_close(tipple_format_t *format);

/* --- records into documents and back
 * -------------------------------------------------------------------------------- */

typedef struct tipple_reader tipple_reader_t;

/* A reader belongs to one thread. NULL: error says why. */
TIPPLE_API tipple_reader_t *tipple_reader_new(const tipple_format_t *format, tipple_error_t *error);
/* NULL: nothing is done. */
TIPPLE_API void tipple_reader_destroy(tipple_reader_t *reader);

/* The text of a whole file, or the first lines of one: its delimiter, header and columns are found from it.
 * The text is copied; it may be NULL where length is 0. False: the text does not fit the format, and the reader goes on with the one it had. */
TIPPLE_API bool tipple_reader_begin(tipple_reader_t *reader, const void *text, size_t length,
                                    tipple_error_t *error);

typedef struct {
    size_t offset, length;   /* of the record in the text, without its line end */
    uint64_t line;           /* from 1 */
    const uint8_t *document; /* BSON; NULL for a record that was rejected. Until the next call */
    size_t document_length;
    const char *reason; /* of a reject */
    uint32_t column;    /* of a reject: byte of the line, from 1 */
} tipple_record_t;

/* 1: a record; 0: the end; -1: error. Headers and blank lines are passed over. Errors: out of memory; a NULL; an array of
 * JSON that is not closed, behind its whole records. Behind two errors, with status 5, nothing is read, however often it is
 * asked: a header with other columns in the middle of the text; and, by a format that says `on_bad_value: stop`, a value that
 * does not fit its field's type, of which the sentence has the line, the byte and the field. What was given before stands; nothing of that
 * record is given. After tipple_reader_begin the reader can be used again. */
TIPPLE_API int tipple_reader_next(tipple_reader_t *reader, tipple_record_t *record, tipple_error_t *error);

/* The record of the document that tipple_reader_next gave last, in the spelling of its file. Until the next
 * call. */
TIPPLE_API bool tipple_reader_emit(tipple_reader_t *reader, const char **text, size_t *length,
                                   tipple_error_t *error);

/* --- loads
 * ----------------------------------------------------------------------------------------------------------
 */

typedef struct {
    const char *uri; /* mongodb://HOST/DATABASE.COLLECTION */
    const char *format;
    const char *const *inputs; /* files, directories, patterns, "-" */
    size_t input_count;
    uint32_t threads, batch; /* 0: the defaults; at most 256 and 100000 */
    const char *rejects;     /* path; NULL: DATABASE.COLLECTION.rejects */
    bool drop;               /* the collection and what its catalog says, first */
} tipple_load_t;

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered; /* read is the sum of the others */
    double seconds;
} tipple_loaded_t;

/* True: done, error->status is 0, or 2 when some records were rejected. False: error says why it stopped;
 * *loaded holds what was settled until then, and the same call goes on from there. By a format that says `on_bad_value: stop`
 * the first value that does not fit its field's type ends the load with status 5; the same call ends there again until the
 * input is corrected. `loaded` may be NULL, and the
 * inputs where input_count is 0. */
TIPPLE_API bool tipple_load(const tipple_load_t *load, tipple_loaded_t *loaded, tipple_error_t *error);

#ifdef __cplusplus
}
#endif

#endif
