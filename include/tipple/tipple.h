/* tipple: bulk data into MongoDB. This is the public interface of the library: it opens or guesses a format, turns records
 * into BSON documents and back, loads files, and loads records that a program pushes. Everything else under src/ may change
 * from version to version. docs/library.md is the page for users, examples/ has programs in C and C++, and python/tipple is
 * the module for Python. `pkg-config --cflags --libs tipple` prints the compiler's and the linker's options.
 *
 * Failures: each call that can fail fills in a tipple_error_t, even when memory runs out. `error` may be NULL: then only the
 * returned value shows a failure. The comment of a function says which other arguments may be NULL; with any other NULL the
 * call fails with status 1 and does nothing. The library prints nothing. Only where the driver (libmongoc, libbson) runs out
 * of memory does it end the process, by abort(); a host that wants something else calls bson_mem_set_vtable() with functions
 * of its own before its first call here. The command tipple does so, the library never does.
 *
 * Threads: one thread at a time may use a reader or a load. Any thread may call tipple_load_cancel, and tipple_load_on_log and
 * tipple_load_on_progress with NULL. A format is read-only and may be shared. Different handles may be used at the same time.
 * A load works in threads of its own, which do not survive fork().
 *
 * The host: the library installs no signal handlers, and its threads block all signals. The first load starts the driver
 * (mongoc_init) and turns off the driver's log; a program that wants this log calls mongoc_log_set_handler() afterwards.
 *
 * Structures: tipple_error_t and tipple_record_t stay as they are as long as the library is libtipple.so.0. A tipple_result_t is
 * allocated by the library alone, and may get more fields at its end. */
#ifndef TIPPLE_TIPPLE_H
#define TIPPLE_TIPPLE_H

#include "tipple/arrow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIPPLE_API __attribute__((visibility("default")))

/* The status in tipple_error_t and tipple_result_t, which is also the exit status of the command. */
enum {
    TIPPLE_OK = 0,
    TIPPLE_USAGE = 1,             /* the call was wrong; nothing was touched */
    TIPPLE_SOME_REJECTED = 2,     /* done, but some records were rejected, or files left out */
    TIPPLE_TOO_MANY_REJECTED = 3, /* stopped at max-rejects */
    TIPPLE_SERVER = 4,            /* the server refused, or was away for longer than patience */
    TIPPLE_INPUT = 5,      /* an input cannot be read, is damaged, has changed, or does not fit its format */
    TIPPLE_HOST = 8,       /* this host: memory, disk full, descriptors, threads */
    TIPPLE_CANCELLED = 130 /* by tipple_load_cancel */
};

typedef struct {
    int status;      /* one of the above */
    char text[1600]; /* a sentence for the user: what happened, where, what to do */
} tipple_error_t;

/* The lines that `tipple --version` prints: "tipple 0.2.0", then the versions of the driver and of the other libraries. */
TIPPLE_API const char *tipple_version(void);

/* ---- formats ---- */

typedef struct tipple_format tipple_format_t;

/* Opens a built-in format by its name, or a format file by its path. Returns NULL if it is wrong; error has line and column. */
TIPPLE_API tipple_format_t *tipple_format_open(const char *name, tipple_error_t *error);
/* Guesses the format and the types of delimited text, JSON or BSON from the whole text or its beginning, such as the first MiB.
 * The text may end anywhere: from ten lines on, a last line without a line end is ignored, since it may be cut off. Returns NULL
 * if no format can be guessed; error lists the formats that the text may have, and what the text does not show. */
TIPPLE_API tipple_format_t *tipple_format_guess(const void *text, size_t length, tipple_error_t *error);
/* Returns the format file of a guessed format, which a program may keep and open the next time; NULL if the format was opened.
 * The text is valid until the format is closed. A load takes a guessed format without a file: tipple_load_set_format. */
TIPPLE_API const char *tipple_format_text(const tipple_format_t *format);
/* Does nothing with NULL. */
TIPPLE_API void tipple_format_close(tipple_format_t *format);

/* ---- records into documents and back ---- */

typedef struct tipple_reader tipple_reader_t;

/* The format has to stay open until its last reader is destroyed. Returns NULL on a failure. */
TIPPLE_API tipple_reader_t *tipple_reader_new(const tipple_format_t *format, tipple_error_t *error);
/* Does nothing with NULL. */
TIPPLE_API void tipple_reader_destroy(tipple_reader_t *reader);

/* Gives the reader a whole file, or its first lines, from which it takes delimiter, header and columns. The text is copied; it may
 * be NULL if length is 0. It has to be UTF-8, or in the format's `encoding`; for an encoding that a load converts (shift_jis) it
 * has to be UTF-8, too. UTF-16 and compressed text, which a load decodes, are refused. Returns false if the text does not fit
 * the format; then the reader goes on with the text that it had. */
TIPPLE_API bool tipple_reader_begin(tipple_reader_t *reader, const void *text, size_t length,
                                    tipple_error_t *error);

typedef struct {
    size_t offset, length;   /* where the record is in the text, without its line end */
    uint64_t line;           /* from 1 */
    const uint8_t *document; /* BSON, valid until the next call; NULL for a rejected record */
    size_t document_length;
    const char *reason; /* why the record was rejected */
    uint32_t column;    /* of a rejected record: the byte in its line, from 1 */
} tipple_record_t;

/* Returns 1 with a record, 0 at the end, -1 on a failure. Headers and blank lines are skipped. An array of JSON that is not closed
 * fails after its whole records. A header with other columns in the middle of the text fails with status 5, now and at every
 * later call. Records that were given before a failure are valid. tipple_reader_begin makes the reader usable again. */
TIPPLE_API int tipple_reader_next(tipple_reader_t *reader, tipple_record_t *record, tipple_error_t *error);

/* Writes the last document of tipple_reader_next as a record again, as its file spells it, without a line end: a program may add
 * LF or CR LF. The text is valid until the next call. Returns false if no such record would give this document again. */
TIPPLE_API bool tipple_reader_emit(tipple_reader_t *reader, const char **text, size_t *length,
                                   tipple_error_t *error);

/* ---- rows of Arrow as documents ---- */

typedef struct tipple_arrow tipple_arrow_t;

/* Gives the documents that tipple_load_push_arrow would load, without a load: `tipple verify --format arrow1` compares them with
 * the collection. The library owns the stream from now on, and has released it when tipple_arrow_close returns or this call
 * fails. Returns NULL with status 5 if, for instance, a column has a type that no document can hold. */
TIPPLE_API tipple_arrow_t *tipple_arrow_open(struct ArrowArrayStream *stream, tipple_error_t *error);
/* Sets "nulls" ("leave-out" or "keep") or "on-bad-value" ("text", "null", "reject" or "stop"), before the first
 * tipple_arrow_next. */
TIPPLE_API bool tipple_arrow_set(tipple_arrow_t *rows, const char *option, const char *value,
                                 tipple_error_t *error);
/* Returns 1 with some whole BSON documents, one after the other, which are valid until the next call; 0 at the end; -1 on a
 * failure. */
TIPPLE_API int tipple_arrow_next(tipple_arrow_t *rows, const void **bytes, size_t *length,
                                 tipple_error_t *error);
/* Does nothing with NULL. */
TIPPLE_API void tipple_arrow_close(tipple_arrow_t *rows);

/* ---- loads ----
 *
 * One handle is one load: tipple_load_new, tipple_load_set, then either tipple_load_run (of files) or pushes and
 * tipple_load_finish, then the result and tipple_load_destroy. To complete a load that did not end well, make a new handle with
 * the same options and the same input: records that are in the collection already are not loaded again. */

typedef struct tipple_load tipple_load_t;

/* uri: mongodb://HOST/DATABASE.COLLECTION. Does not connect yet. Returns NULL on a failure. */
TIPPLE_API tipple_load_t *tipple_load_new(const char *uri, tipple_error_t *error);

/* Sets an option of `tipple load`, by its name without "--"; `tipple load --help` explains them:
 *   texts     format (by default the one that the collection was loaded by, or a guess; see also tipple_load_set_format),
 *             input-name, id, existing, shard-key, create, new-columns, compressor, rejects (a path; by default
 *             DATABASE.COLLECTION.rejects)
 *   lists     input (a file, directory, pattern, URL, or "-"), index, filter, type: each call adds one
 *   guessing  with ("header=no", "delimiter=;": each call adds one) and type, neither together with a format; and
 *             on-bad-value, which applies to any format
 *   numbers   threads, batch, memory, max-rejects, limit, max-rate, patience: spelled as for the command
 *   switches  drop (does not ask), append, direct, unsafe, dry-run, skip-bad-files, reload-changed,
 *             reload-missing, same-collection: "true" or "false"
 * The value is copied. Returns false and changes nothing if there is no such option, if the value does not fit, is out of range
 * or holds a URI with a password, or if the load has begun. */
TIPPLE_API bool tipple_load_set(tipple_load_t *load, const char *option, const char *value,
                                tipple_error_t *error);

/* Sets the format of the load, as the option `format` does; the last call counts. The load keeps a copy: the format may be closed at
 * once, and other loads may share it. A format that was opened by name or path is opened again when the load begins. A guessed
 * format is kept with the collection, as if the load had guessed it, so that later loads and `tipple verify` need none; if the
 * collection has another format, the load ends with status 1. Returns false and changes nothing if the load has begun. */
TIPPLE_API bool tipple_load_set_format(tipple_load_t *load, const tipple_format_t *format,
                                       tipple_error_t *error);

/* Callbacks get `context`. Threads of the load make these calls, one at a time, and none after tipple_load_run,
 * tipple_load_finish or tipple_load_destroy has returned. A callback may call tipple_load_cancel, and no other function here; the load
 * waits for it. Callbacks are set before the load begins. NULL removes one at any time: when the call returns, no callback is
 * under way. */
typedef void tipple_log_fn(void *context, int level,
                           const char *line); /* 1: a warning, 2: a note, 3: a detail */
typedef void tipple_progress_fn(void *context, uint64_t documents, uint64_t bytes_read);
TIPPLE_API bool tipple_load_on_log(tipple_load_t *load, tipple_log_fn *log, void *context,
                                   tipple_error_t *error);
/* At most five times a second, while documents are sent: the number of documents loaded, and of bytes read. */
TIPPLE_API bool tipple_load_on_progress(tipple_load_t *load, tipple_progress_fn *progress, void *context,
                                        tipple_error_t *error);

/* Loads the inputs. Returns true when all are loaded: error->status is 0, or 2 if some records were rejected or files
 * left out. Returns false if the load stopped; error says why. */
TIPPLE_API bool tipple_load_run(tipple_load_t *load, tipple_error_t *error);

/* Gives the load the next bytes of one stream: text of the format, which may be compressed, in pieces of any size. The bytes are
 * copied; the call waits while the load is busy. The first push begins the load, and needs the option input-name, by which the
 * stream is recognised: to complete a load that did not end well, push the same bytes from the first one, under the same name.
 * True only says that the bytes were taken. Returns false once the load has stopped, now and at every later call; error says
 * why. */
TIPPLE_API bool tipple_load_push(tipple_load_t *load, const void *bytes, size_t length,
                                 tipple_error_t *error);

/* Pushes one whole BSON document, which keeps its `_id`. The format is `bson` if none was set. One load cannot take both texts and
 * documents. A document that is not whole, or larger than the 16 MiB that a server stores, is refused with status 1, and the load
 * goes on with the next one. */
TIPPLE_API bool tipple_load_push_document(tipple_load_t *load, const void *document, size_t length,
                                          tipple_error_t *error);

/* Pushes the rows of an Arrow stream, such as __arrow_c_stream__ of a data frame in Python gives: each row becomes a document, by
 * the types of docs/types.md, and a column `_id` becomes the `_id`. The library owns the stream, and has released it when this
 * returns. The format is `arrow1`. Without input-name the load draws a name, which its result has. The options on-bad-value (here
 * also "stop") and nulls decide about values that no document can hold, and about nulls. To complete a load that did not end well,
 * push the same rows with the same two options and name, in batches of any size. If the stream cannot begin, this returns false
 * with status 5 and the column, nothing of it was taken, and the load goes on. After any other failure the load has ended; a
 * producer that fails ends it with status 5 and the producer's own words. */
TIPPLE_API bool tipple_load_push_arrow(tipple_load_t *load, struct ArrowArrayStream *stream,
                                       tipple_error_t *error);

/* Ends the pushes and waits until everything is loaded. Only this call confirms that. It returns what tipple_load_run returns, and
 * may be called again. */
TIPPLE_API bool tipple_load_finish(tipple_load_t *load, tipple_error_t *error);

/* Asks the load to stop. It ends with status 130 as soon as a server that it waits for has answered or is given up. Any thread, a
 * callback and a signal handler may call this, even before the load begins, until the load is destroyed. */
TIPPLE_API void tipple_load_cancel(tipple_load_t *load);

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered; /* read is the sum of the others */
    uint64_t open_rejects; /* rejected by this or an earlier load of these inputs, and not fixed yet */
    uint64_t records_skipped, files_skipped; /* loaded by an earlier load, and not read again */
    double seconds;
    int status;           /* as error->status */
    const char *sentence; /* as error->text; "" after a success */
    const char *rejects;  /* the path of the reject file; "" if none was written */
    const char *format;   /* the name of the format */
    /* the name under which a load of pushes is completed; "" after a load of inputs */
    const char *input_name;
} tipple_result_t;

/* The result of a load that has ended, well or not; NULL before. It is valid until the load is destroyed. */
TIPPLE_API const tipple_result_t *tipple_load_result(const tipple_load_t *load);

/* The object that `tipple load --json` prints, with the result and all else that the load found; docs/automate.md names its keys.
 * NULL before the load has ended. It is valid until the load is destroyed. The process ends if there is no memory for it. */
TIPPLE_API const char *tipple_load_json(tipple_load_t *load);

/* Cancels a load that has not ended, and waits for its end: a last record without a line end is then not loaded, as it may be cut
 * off. Does nothing with NULL. */
TIPPLE_API void tipple_load_destroy(tipple_load_t *load);

#ifdef __cplusplus
}
#endif

#endif
