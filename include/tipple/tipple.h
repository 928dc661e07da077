/* tipple: bulk data into MongoDB. The library's public face: open or guess a format, turn records into BSON documents and
 * back, load files, or push records into a load. Everything else under src/ may change from version to version.
 * docs/library.md is the page for users, and examples/ has programs in C and C++; python/tipple is the module for Python.
 *
 * `pkg-config --cflags --libs tipple` tells what to compile and to link with. The library prints nothing, installs no
 * handlers of signals, and its own threads take none. What went wrong is in tipple_error_t, also when memory is out; but where
 * the driver (libmongoc, libbson) gets none for itself, it ends the process with abort(). A host that wants another end gives
 * it functions of its own, before its first call here: bson_mem_set_vtable(). The command tipple does; the library never does.
 * The first load starts the driver (mongoc_init) and turns its log off; a program that wants that log calls
 * mongoc_log_set_handler() behind it.
 *
 * Threads: a reader and a load belong to one thread at a time; only tipple_load_cancel, and the end of listening
 * (tipple_load_on_log and tipple_load_on_progress with NULL), may be called by any. A format is
 * read-only, and may be shared. What belongs to different handles may happen at the same time. A load works in threads of its
 * own, which do not survive fork().
 *
 * Structures: tipple_error_t and tipple_record_t stay as they are while the library is libtipple.so.0. tipple_result_t is the
 * library's own, and may become longer.
 *
 * `error` may be NULL everywhere: then only what is returned tells of a failure. What else may be NULL is said where
 * it may; any other NULL is a failure of that call, with status 1, and nothing happens. */
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

/* Of tipple_error_t and tipple_result_t: the command's exit statuses. */
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
    char text[1600]; /* a sentence for a person: what happened, where, what to do */
} tipple_error_t;

/* Lines: "tipple 0.2.0", then the driver's version and what else is built in, as `tipple --version` prints them. */
TIPPLE_API const char *tipple_version(void);

/* --- formats
 * ------------------------------------------------------------------------------------------------------ */

typedef struct tipple_format tipple_format_t;

/* A built-in format's name, or the path of a format file. NULL: error says what is wrong, with line and
 * column. A format is read-only and may be shared by threads. */
TIPPLE_API tipple_format_t *tipple_format_open(const char *name, tipple_error_t *error);
/* The format of a text, or of the beginning of one, such as its first MiB: delimited text, JSON or BSON, with its types. It may end
 * anywhere: of ten lines and more, a last one without a line end is not looked at, since it may be cut off. NULL: error says
 * what the text may be, and what nobody can tell. */
TIPPLE_API tipple_format_t *tipple_format_guess(const void *text, size_t length, tipple_error_t *error);
/* The format file of a format that was guessed, to be kept and opened the next time; NULL: it was opened. As long as the
 * format is open. A load takes the format without a file: tipple_load_set_format. */
TIPPLE_API const char *tipple_format_text(const tipple_format_t *format);
/* NULL: nothing is done. */
TIPPLE_API void tipple_format_close(tipple_format_t *format);

/* --- records into documents and back
 * -------------------------------------------------------------------------------- */

typedef struct tipple_reader tipple_reader_t;

/* A reader belongs to one thread. The format has to stay open until its last reader is destroyed. NULL: error says why. */
TIPPLE_API tipple_reader_t *tipple_reader_new(const tipple_format_t *format, tipple_error_t *error);
/* NULL: nothing is done. */
TIPPLE_API void tipple_reader_destroy(tipple_reader_t *reader);

/* The text of a whole file, or the first lines of one: its delimiter, header and columns are found from it.
 * The text is copied; it may be NULL where length is 0. It is UTF-8, or what the format's `encoding` says, but UTF-8 where that is
 * an encoding from which a load converts (shift_jis); UTF-16 and compressed files, which a load decodes, are refused. False: the text does not fit the format, and the reader goes on with the one it had. */
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
 * JSON that is not closed, behind its whole records. After a header with other columns in the middle of the text (status
 * 5) nothing is read, however often it is asked. What was given before stands. After tipple_reader_begin the reader can be used again. */
TIPPLE_API int tipple_reader_next(tipple_reader_t *reader, tipple_record_t *record, tipple_error_t *error);

/* The record of the document that tipple_reader_next gave last, in the spelling of its file, without its line end: LF or CR LF
 * may be put after it. Until the next call. False also where no such record makes this document again. */
TIPPLE_API bool tipple_reader_emit(tipple_reader_t *reader, const char **text, size_t *length,
                                   tipple_error_t *error);

/* --- rows of Arrow as documents
 * ---------------------------------------------------------------------------------------------------- */

typedef struct tipple_arrow tipple_arrow_t;

/* The documents that tipple_load_push_arrow would load, without a load: `tipple verify --format arrow1` compares them with what is
 * there. The stream is taken over, and was released when tipple_arrow_close returns, or when this fails: NULL, with status 5 and
 * what is wrong, such as a column of a type that no document can hold. */
TIPPLE_API tipple_arrow_t *tipple_arrow_open(struct ArrowArrayStream *stream, tipple_error_t *error);
/* Before the first tipple_arrow_next. nulls: "leave-out" or "keep"; on-bad-value: "text", "null", "reject" or "stop". */
TIPPLE_API bool tipple_arrow_set(tipple_arrow_t *rows, const char *option, const char *value,
                                 tipple_error_t *error);
/* The next whole documents of BSON, one after the other, until the next call. 1: there are some; 0: the end; -1: error. */
TIPPLE_API int tipple_arrow_next(tipple_arrow_t *rows, const void **bytes, size_t *length,
                                 tipple_error_t *error);
/* NULL: nothing is done. */
TIPPLE_API void tipple_arrow_close(tipple_arrow_t *rows);

/* --- loads
 *
 * One handle is one load: new, set, then either tipple_load_run (of files) or pushes and tipple_load_finish, the result,
 * destroy. A load that did not end well is completed by a new handle that is told the same, and given the same: what is there
 * is not loaded again.
 * ---------------------------------------------------------------------------------------------------------- */

typedef struct tipple_load tipple_load_t;

/* uri: mongodb://HOST/DATABASE.COLLECTION. Nothing is connected yet. NULL: error says why. */
TIPPLE_API tipple_load_t *tipple_load_new(const char *uri, tipple_error_t *error);

/* An option of `tipple load`, by its name without "--"; `tipple load --help` explains them:
 *   texts     format (none: as the collection was loaded before, or guessed; see also tipple_load_set_format), input-name,
 *             id, existing, shard-key, compressor, rejects (path; none: DATABASE.COLLECTION.rejects)
 *   lists     input (a file, directory, pattern, or "-"), index, filter, type: each call adds one
 *   guessing  with ("header=no", "delimiter=;": each call adds one) and type: not next to a format that is set; and
 *             on-bad-value, also of a format that was opened by its name
 *   numbers   threads, batch, memory, max-rejects, limit, max-rate, patience: spelled as there
 *   switches  drop (does not ask), append, direct, unsafe, dry-run, skip-bad-files, reload-changed,
 *             reload-missing, same-collection: "true" or "false"
 * The value is copied. False: there is no such option, the value does not fit or is out of range, or holds a URI with a password, or the load has
 * begun; nothing is changed. */
TIPPLE_API bool tipple_load_set(tipple_load_t *load, const char *option, const char *value,
                                tipple_error_t *error);

/* The format of the load, in the place of the option `format`; whichever is set last counts. Nothing of it is borrowed: it may
 * be closed at once, and be given to other loads, also of other threads. One that was opened by its name or path is opened
 * again by that when the load begins. One that was guessed is copied, and kept with the collection as if the load had guessed
 * it: later loads and `tipple verify` need none. Where another one is kept already the load ends with status 1.
 * False: the load has begun; nothing is changed. */
TIPPLE_API bool tipple_load_set_format(tipple_load_t *load, const tipple_format_t *format,
                                       tipple_error_t *error);

/* Calls back with `context`, from threads of the load, one call at a time, and none after tipple_load_run,
 * tipple_load_finish or tipple_load_destroy has returned. A callback may call tipple_load_cancel and nothing else here, and holds the load up as
 * long as it takes. To be set before the load begins. NULL, at any time: nobody listens any more, and no call is under way. */
typedef void tipple_log_fn(void *context, int level,
                           const char *line); /* 1: a warning, 2: a note, 3: a detail */
typedef void tipple_progress_fn(void *context, uint64_t documents, uint64_t bytes_read);
TIPPLE_API bool tipple_load_on_log(tipple_load_t *load, tipple_log_fn *log, void *context,
                                   tipple_error_t *error);
/* Five times a second at most, while documents are sent: how many are there, of how many bytes of input. */
TIPPLE_API bool tipple_load_on_progress(tipple_load_t *load, tipple_progress_fn *progress, void *context,
                                        tipple_error_t *error);

/* Loads the inputs. True: done; error->status is 0, or 2 when some records were rejected. False: error says why it
 * stopped. */
TIPPLE_API bool tipple_load_run(tipple_load_t *load, tipple_error_t *error);

/* Gives the load the next bytes of one stream: text of the format, also compressed, in pieces of any size. They are copied, and the call
 * waits while the load has enough to do. The first push begins the load; it needs input-name, by which the stream is
 * recognised: to complete a load that did not end well, push the same bytes again, from the first one, under the same name.
 * True says only that the bytes were taken. False: error says why the load has stopped, now and at every later
 * call. */
TIPPLE_API bool tipple_load_push(tipple_load_t *load, const void *bytes, size_t length,
                                 tipple_error_t *error);

/* The same with a whole BSON document. It keeps the `_id` that it brings. The format is `bson` if none was set.
 * A load is of texts or of documents. A document that is not whole, or larger than the 16 MiB that a server stores, is refused with
 * status 1: nothing of it was taken, and the load goes on with the next one. */
TIPPLE_API bool tipple_load_push_document(tipple_load_t *load, const void *document, size_t length,
                                          tipple_error_t *error);

/* The same with the rows of an Arrow stream, such as any __arrow_c_stream__ of Python gives: a document a row, by the types of
 * docs/types.md. The stream is taken over, and was released when this returns. The format is `arrow1`. Without input-name a name is
 * drawn, which the result has. The options on-bad-value (here also "stop") and nulls say what becomes of values that no document
 * can hold, and of nulls; a column `_id` is the document's own one. To complete a load that did not end well, push the same rows
 * with the same two options under the same name, in batches of any size. False: where the stream cannot be begun (status 5 with
 * the column), nothing of it was taken, and the load goes on; else the load has ended, and error says why: a producer that fails
 * ends it with status 5 and the producer's own words. */
TIPPLE_API bool tipple_load_push_arrow(tipple_load_t *load, struct ArrowArrayStream *stream,
                                       tipple_error_t *error);

/* Nothing more is pushed: waits until everything is loaded. Only this call says that it is; it returns what tipple_load_run does, again if
 * it is called again. */
TIPPLE_API bool tipple_load_finish(tipple_load_t *load, tipple_error_t *error);

/* Asks the load to stop: it ends with status 130 soon, but not before a server that it waits for has answered or is given up.
 * Any thread, a callback, or a handler of signals, as long as the load is not destroyed; also before it begins. */
TIPPLE_API void tipple_load_cancel(tipple_load_t *load);

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered; /* read is the sum of the others */
    uint64_t open_rejects; /* of these inputs, in all loads of them, that were not fixed yet */
    uint64_t records_skipped, files_skipped; /* loaded before, and not read again */
    double seconds;
    int status;             /* as error->status */
    const char *sentence;   /* as error->text; "" after a success */
    const char *rejects;    /* the path of the reject file; "" if none was written */
    const char *format;     /* its name */
    const char *input_name; /* of what was pushed: by it the load is completed; "" of a load of inputs */
} tipple_result_t;

/* What was settled until the load ended, well or not; as long as the load. NULL: it has not ended. */
TIPPLE_API const tipple_result_t *tipple_load_result(const tipple_load_t *load);

/* The same, and all else that the load found, as the object that `tipple load --json` prints: docs/automate.md names its keys.
 * As long as the load. NULL: it has not ended. Where there is no memory for it, the process ends. */
TIPPLE_API const char *tipple_load_json(tipple_load_t *load);

/* A load that was not finished is cancelled, and this waits for its end: then a last record that has no line end is not taken
 * for a whole one. NULL: nothing is done. */
TIPPLE_API void tipple_load_destroy(tipple_load_t *load);

#ifdef __cplusplus
}
#endif

#endif
