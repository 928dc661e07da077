#include "base/clock.h"
#include "base/log.h"
#include "format/columns/columns.h"
#include "input/file/fault.h"
#include "input/source.h"
#include "library/library.h"
#include "load/spec/load_options.h"
#include "load/spec/load_result.h"
#include "report/load_figures.h"

#include <errno.h>
#include <inttypes.h>
#include <mongoc/mongoc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert((int)TIPPLE_SOME_REJECTED == (int)STATUS_SOME_REJECTED &&
                   (int)TIPPLE_SERVER == (int)STATUS_SERVER &&
                   (int)TIPPLE_TOO_MANY_REJECTED == (int)STATUS_TOO_MANY_REJECTED &&
                   (int)TIPPLE_INPUT == (int)STATUS_INPUT && (int)TIPPLE_HOST == (int)STATUS_HOST &&
                   (int)TIPPLE_CANCELLED == (int)STATUS_INTERRUPTED,
               "the statuses of the header are the command's");

enum { LEAST_DOCUMENT = 5 /* bytes */, MOST_DOCUMENT = 16 << 20 };

typedef enum { PUSHED_TEXT, PUSHED_DOCUMENTS, PUSHED_ROWS } pushed_t;

struct tipple_load {
    load_options_t options;
    texts_list_t copies; /* of all texts that were given, which the options point to */
    caller_t caller;
    enum { NEW, WORKING, ENDED } state;
    bool pushes;         /* it is not of inputs; once it works */
    pushed_t what;       /* is pushed */
    char drawn[32];      /* the name of rows for which none was set */
    columns_sums_t sums; /* of rows */
    int pushed[2];       /* sockets: the load's thread reads the first, who pushes writes the other; or -1 */
    pthread_t thread;
    load_result_t *result; /* of the thread, until it is joined; as the next two */
    bool ok;
    err_t err;
    tipple_log_fn *log;
    void *log_context;
    tipple_result_t found;
    char sentence[LIBRARY_WORDS];
    char *json;
};

static void start_driver(void) {
    mongoc_log_set_handler(NULL, NULL);
    mongoc_init();
}

static const char *keep(tipple_load_t *load, const char *text, err_t *err) {
    texts_list_t *copies = &load->copies;
    char *copy = strdup(text);
    if (!copy || !GROW(copies->items, copies->room, copies->count + 1, err)) {
        free(copy);
        err_memory(err, strlen(text));
        return NULL;
    }
    return copies->items[copies->count++] = copy;
}

tipple_load_t *tipple_load_new(const char *uri, tipple_error_t *error) {
    err_t err;
    if (library_misses(uri, "the load's uri", error))
        return NULL;
    tipple_load_t *load = calloc(1, sizeof *load);
    if (load) {
        load->pushed[0] = load->pushed[1] = -1;
        load_options_init(&load->options);
        caller_init(&load->caller);
        if ((load->result = calloc(1, sizeof *load->result)) &&
            (load->options.spec.uri = keep(load, uri, &err)))
            return load;
    }
    library_no_memory(error, sizeof *load->result);
    tipple_load_destroy(load);
    return NULL;
}

static bool is_new(const tipple_load_t *load, tipple_error_t *error) {
    if (library_misses(load, "the load", error))
        return false;
    return load->state == NEW || library_refuse(error, "the load has begun; what is set must be set before");
}

static const option_t *find_option(const char *name, err_t *err) {
    enum { MOST = 80 };
    const char *names[MOST];
    size_t count = 0;
    const option_t *option = load_options_find(name, TAKEN_BY_LIBRARY);
    const char *instead = option ? NULL : library_gone(name, true);
    for (const option_t *row = load_options; row->name && count < MOST; row++)
        if (row->takers & TAKEN_BY_LIBRARY)
            names[count++] = row->name;
    if (!option)
        err_set(err, STATUS_USAGE, "there is no option '%.200s'%s%s", name, instead ? "; instead: " : "",
                instead ? instead : suggestion(name, names, count).text);
    return option;
}

bool tipple_load_set(tipple_load_t *load, const char *option, const char *value, tipple_error_t *error) {
    err_t err;
    if (!is_new(load, error) || library_misses(option, "the option's name", error) ||
        library_misses(value, "the option's value", error))
        return false;
    const option_t *row = find_option(option, &err);
    const char *copy = row ? keep(load, value, &err) : NULL;
    return (copy && option_set(row, copy, &load->options, &err)) || library_tell(error, &err);
}

bool tipple_load_set_format(tipple_load_t *load, const tipple_format_t *format, tipple_error_t *error) {
    err_t err;
    if (!is_new(load, error) || library_misses(format, "the format", error))
        return false;
    const char *copy = keep(load, format->text ? format->text : format->name, &err);
    if (!copy)
        return library_tell(error, &err);
    load->options.spec.format = format->text ? NULL : copy;
    load->options.spec.guessed = format->text ? copy : NULL;
    return true;
}

static void hear(void *context, log_level_t level, const char *line) {
    const tipple_load_t *load = context;
    load->log(load->log_context, (int)level - LOG_SILENT, line);
}

/* Who begins to listen does so before the load begins; who listens no longer may say so at any time. */
static bool may_listen(const tipple_load_t *load, bool begins, tipple_error_t *error) {
    return begins ? is_new(load, error) : !library_misses(load, "the load", error);
}

bool tipple_load_on_log(tipple_load_t *load, tipple_log_fn *log, void *context, tipple_error_t *error) {
    if (!may_listen(load, log != NULL, error))
        return false;
    pthread_mutex_lock(&load->caller.lock);
    load->log = log;
    load->log_context = context;
    load->caller.hear = log ? hear : NULL;
    load->caller.hear_context = load;
    pthread_mutex_unlock(&load->caller.lock);
    return true;
}

bool tipple_load_on_progress(tipple_load_t *load, tipple_progress_fn *progress, void *context,
                             tipple_error_t *error) {
    if (!may_listen(load, progress != NULL, error))
        return false;
    pthread_mutex_lock(&load->caller.lock);
    load->caller.progress = progress;
    load->caller.progress_context = context;
    pthread_mutex_unlock(&load->caller.lock);
    return true;
}

static void *work(void *context) {
    tipple_load_t *load = context;
    caller_set(&load->caller);
    load->ok = load_run(&load->options.spec, load->result, &load->err);
    if (load->ok) /* what went wrong was overcome */
        load->err.text[0] = '\0';
    shutdown(load->pushed[0], SHUT_RDWR); /* nobody reads any more */
    return NULL;
}

/* Of the format that is given; NULL: it is to be found. */
static const char *format_name(const load_spec_t *spec) {
    return spec->format ? spec->format : spec->guessed ? GUESS_FORMAT : NULL;
}

/* Threads take the mask of whoever starts them: so no signal of the host is handled by any of the load, nor of the driver. */
static bool start(tipple_load_t *load, const char *format, tipple_error_t *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;
    err_t err;
    const columns_how_t *how = &load->options.spec.frames;
    if (load->what != PUSHED_ROWS && (how->keep_nulls || how->bad == COLUMNS_STOP))
        return library_refuse(
            error, "nulls, and stop as on-bad-value, are for rows of Arrow (tipple_load_push_arrow)");
    if (!load_options_settle(&load->options, format, &err))
        return library_tell(error, &err);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_once(&once, start_driver);
    library_be_silent();
    const bool ok = pthread_create(&load->thread, NULL, work, load) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        load->state = WORKING;
    else
        err_set(&err, STATUS_HOST, "no thread can be made for the load");
    return ok || library_tell(error, &err);
}

/* What the encoder of rows has changed was changed by the load. */
static void add_sums(tipple_load_t *load) {
    load_result_t *result = load->result;
    const columns_sums_t *sums = &load->sums;
    caller_t *const before = caller_current();
    caller_set(&load->caller);
    columns_tell(sums, load->options.spec.input_name);
    caller_set(before);
    for (size_t i = 0; i < sums->count; i++) {
        const columns_sum_t *sum = sums->columns[i];
        bad_result_t changed = {.count = sum->kept.count};
        if (!sum->kept.count ||
            !GROW(result->bad_fields, result->bad_field_room, result->bad_field_count + 1, NULL))
            continue;
        snprintf(changed.name, sizeof changed.name, "%s", sum->path);
        if (asprintf(&changed.places, "%s:%" PRIu64, load->options.spec.input_name, sum->kept.first) < 0)
            changed.places = NULL;
        result->bad_values += sum->kept.count;
        result->became[sums->how.bad] += sum->kept.count;
        result->bad_fields[result->bad_field_count++] = changed;
    }
}

/* instead: why it ends, where that is not the load's own reason; or NULL. */
static void end(tipple_load_t *load, const err_t *instead) {
    const counts_t *counts = &load->result->counts;
    pthread_join(load->thread, NULL);
    load->state = ENDED;
    add_sums(load);
    if (instead) {
        load->ok = false;
        load->err = *instead;
    }
    library_words(load->sentence, load->err.text);
    load->found = (tipple_result_t){.read = counts->read,
                                    .loaded = counts->of[FATE_LOADED],
                                    .already_there = counts->of[FATE_THERE],
                                    .rejected = counts->of[FATE_REJECTED],
                                    .filtered = counts->of[FATE_FILTERED],
                                    .open_rejects = load->result->open_rejects,
                                    .records_skipped = load->result->records_skipped,
                                    .files_skipped = load->result->files_skipped,
                                    .seconds = (double)load->result->took_ns / 1e9,
                                    .status = (int)load->err.status,
                                    .sentence = load->sentence,
                                    .rejects = counts->of[FATE_REJECTED] ? load->result->rejects_path : "",
                                    .format = load->result->format,
                                    .input_name = load->pushes ? load->options.spec.input_name : ""};
}

static bool tell_end(const tipple_load_t *load, tipple_error_t *error) {
    library_tell(error, &load->err);
    return load->ok;
}

bool tipple_load_run(tipple_load_t *load, tipple_error_t *error) {
    if (library_misses(load, "the load", error))
        return false;
    if (load->pushes)
        return library_refuse(error, "the load is of what was pushed: call tipple_load_finish");
    if (load->state == NEW && !load->options.inputs.count)
        return library_refuse(error, "nothing to load: set input, or push");
    if (load->state == NEW && !start(load, format_name(&load->options.spec), error))
        return false;
    if (load->state == WORKING)
        end(load, NULL);
    return tell_end(load, error);
}

/* ---- pushed ---- */

static bool is_of_documents(const load_spec_t *spec, tipple_error_t *error) {
    err_t err;
    schema_t *schema = load_spec_open_format(spec, &err);
    if (!schema)
        return library_tell(error, &err);
    const bool ok = schema->kind == RECORDS_BSON;
    schema_destroy(schema);
    return ok ||
           library_refuse(error, "the load's format is one of texts, not of BSON documents: push its text");
}

static bool may_push(const tipple_load_t *load, pushed_t what, tipple_error_t *error) {
    const load_spec_t *spec = &load->options.spec;
    const char *format = format_name(spec);
    if (load->options.inputs.count)
        return library_refuse(error, "the load has inputs: run it, and push into another one");
    if (!spec->input_name || !*spec->input_name)
        return library_refuse(error,
                              "set input-name, by which a load that did not end well can be completed");
    if (spec->limit != UINT64_MAX)
        return library_refuse(error, "limit is for inputs: push no more than is to be loaded");
    if (spec->reload_changed || spec->reload_missing)
        return library_refuse(
            error, "reload-changed and reload-missing are for inputs; push what is new under another name");
    if (what == PUSHED_ROWS && format && strcmp(format, COLUMNS_FORMAT) != 0)
        return library_refuse(error,
                              "rows of Arrow are loaded by the format " COLUMNS_FORMAT ": set no other one");
    return what != PUSHED_DOCUMENTS || !format || is_of_documents(spec, error);
}

/* A name that no other frame has, by which this one can be completed, too. */
static void draw_name(tipple_load_t *load) {
    uint64_t bits = (uint64_t)clock_wall_ms();
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        bits = chance_mix(bits + (uint64_t)getpid());
    snprintf(load->drawn, sizeof load->drawn, "frame-%016" PRIu64, bits % UINT64_C(10000000000000000));
    load->options.spec.input_name = load->drawn;
}

static bool begin(tipple_load_t *load, pushed_t what, tipple_error_t *error) {
    static const char *const usual[] = {
        [PUSHED_TEXT] = NULL, [PUSHED_DOCUMENTS] = "bson", [PUSHED_ROWS] = COLUMNS_FORMAT};
    load_spec_t *spec = &load->options.spec;
    const char *given = format_name(spec), *format = given ? given : usual[what];
    if (what == PUSHED_ROWS && (!spec->input_name || !*spec->input_name))
        draw_name(load);
    if (!may_push(load, what, error))
        return false;
    if (load->pushed[1] < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, load->pushed) != 0 &&
        !fault_system(&load->err, spec->input_name, errno))
        return library_tell(error, &load->err);
    spec->pushed = load->pushed;
    if (!given)
        spec->format = format;
    load->what = what;
    return load->pushes = start(load, format, error);
}

/* To whoever pushes. */
static bool tell_no_more(const tipple_load_t *load, tipple_error_t *error) {
    return load->ok
               ? library_refuse(error, "the load has ended; begin another one for what is still to be loaded")
               : tell_end(load, error);
}

static bool push(tipple_load_t *load, pushed_t what, const void *bytes, size_t length,
                 tipple_error_t *error) {
    if (load->state == NEW && !begin(load, what, error))
        return false;
    if (load->state == WORKING) {
        if (what != load->what)
            return library_refuse(
                error,
                "a load is of texts or of documents or of rows of Arrow, and this one is of another kind");
        if (source_push(load->pushed[1], bytes, length))
            return true;
        end(load, NULL);
    }
    return tell_no_more(load, error);
}

/* ---- rows ---- */

bool tipple_load_push_arrow(tipple_load_t *load, struct ArrowArrayStream *stream, tipple_error_t *error) {
    err_t err;
    const uint8_t *bytes;
    size_t length;
    int more = 0;
    if (library_misses(load, "the load", error) || library_misses(stream, "the stream", error))
        return false;
    load_spec_t *spec = &load->options.spec;
    load->sums.how = spec->frames;
    frame_t *columns = columns_open(stream, &load->sums, &err);
    if (!columns)
        return library_tell(error, &err);
    if (load->state == NEW) {
        spec->guess.bad_value_given = false; /* it is for the encoder */
        if (columns_has_id(columns) && !spec->id)
            spec->id = "_id";
    }
    const bool begun = push(load, PUSHED_ROWS, "", 0, error);
    while (begun && (more = columns_next(columns, &bytes, &length, &err)) > 0)
        if (!source_push(load->pushed[1], bytes, length))
            break;
    columns_close(columns);
    if (!begun || !more)
        return begun;
    if (more < 0) /* not all rows were given */
        tipple_load_cancel(load);
    if (load->state == WORKING) /* a producer may have ended it */
        end(load, more < 0 ? &err : NULL);
    return tell_no_more(load, error);
}

/* ---- texts and documents ---- */

bool tipple_load_push(tipple_load_t *load, const void *bytes, size_t length, tipple_error_t *error) {
    if (library_misses(load, "the load", error) || (length && library_misses(bytes, "what is pushed", error)))
        return false;
    return push(load, PUSHED_TEXT, bytes, length, error);
}

bool tipple_load_push_document(tipple_load_t *load, const void *document, size_t length,
                               tipple_error_t *error) {
    if (library_misses(load, "the load", error) || library_misses(document, "the document", error))
        return false;
    uint32_t says = 0;
    if (length >= LEAST_DOCUMENT)
        memcpy(&says, document, sizeof says);
    if (length < LEAST_DOCUMENT || BSON_UINT32_FROM_LE(says) != length ||
        ((const char *)document)[length - 1])
        return library_refuse(error,
                              "what is pushed is not one whole BSON document; nothing of it was taken");
    if (length > MOST_DOCUMENT) /* a length at which its reader would take the stream for damaged, for ever */
        return library_refuse(error, "the document is larger than the 16 MiB that a server stores; nothing "
                                     "of it was taken, and the load goes on");
    return push(load, PUSHED_DOCUMENTS, document, length, error);
}

bool tipple_load_finish(tipple_load_t *load, tipple_error_t *error) {
    if (library_misses(load, "the load", error))
        return false;
    if (load->state == NEW && !begin(load, PUSHED_TEXT, error)) /* nothing was pushed: that is all there is */
        return false;
    if (!load->pushes)
        return library_refuse(error, "the load is of inputs, and tipple_load_run has reported its end");
    if (load->state == WORKING) {
        shutdown(load->pushed[1], SHUT_WR);
        end(load, NULL);
    }
    return tell_end(load, error);
}

void tipple_load_cancel(tipple_load_t *load) {
    if (load)
        load->caller.stops = true;
}

const tipple_result_t *tipple_load_result(const tipple_load_t *load) {
    return load && load->state == ENDED ? &load->found : NULL;
}

const char *tipple_load_json(tipple_load_t *load) {
    size_t length;
    if (!tipple_load_result(load) || load->json)
        return load ? load->json : NULL;
    result_t *result = result_new("load", NULL);
    load_figures(&result->document, &load->options.spec, load->result);
    load->json = result_json(result, load->found.status, &length);
    result_free(result);
    return load->json;
}

void tipple_load_destroy(tipple_load_t *load) {
    if (!load)
        return;
    tipple_load_cancel(load);
    if (load->state == WORKING)
        end(load, NULL);
    if (load->result)
        load_result_free(load->result);
    free(load->result);
    close(load->pushed[0]);
    close(load->pushed[1]);
    caller_free(&load->caller);
    options_free(load_options, &load->options);
    for (size_t i = 0; i < load->copies.count; i++)
        free(load->copies.items[i]);
    columns_sums_free(&load->sums);
    free(load->copies.items);
    free(load->json);
    free(load);
}
