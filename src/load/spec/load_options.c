/* load_options: the table of load_options.h. Above it are the functions that read values other than numbers and texts; each
 * gets the address of its row's value. */
#include "load/spec/load_options.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/guess/guess.h"
#include "format/json/json.h"
#include "server/wire.h"

#include <stdlib.h>
#include <string.h>

static bool read_max_rate(void *load_spec, const char *text, err_t *err) {
    load_spec_t *spec = load_spec;
    spec->max_rate = 0; /* given twice, the last one counts */
    spec->max_rate_auto = strcmp(text, "auto") == 0;
    if (spec->max_rate_auto)
        return true;
    if (!units_parse_rate(text, &spec->max_rate, &spec->max_rate_bytes))
        return err_set(err, STATUS_USAGE,
                       "--max-rate: '%s' is neither auto, nor documents a second, like 50k, nor, with a B at "
                       "its end, bytes a second, like 20MB",
                       text);
    return spec->max_rate ||
           err_set(err, STATUS_USAGE, "--max-rate: at %s nothing would ever be loaded", text);
}

static bool read_existing(void *name, const char *text, err_t *err) {
    existing_t existing;
    if (!*text || !existing_named(text, &existing))
        return err_set(err, STATUS_USAGE, "--existing: '%s' is none of reject, keep and replace", text);
    *(const char **)name = existing_names[existing];
    return true;
}

static bool read_max_rejects(void *load_spec, const char *text, err_t *err) {
    return load_spec_max_rejects(load_spec, text) ||
           err_set(err, STATUS_USAGE, "--max-rejects: '%s' is %s 0.1%%", text,
                   strchr(text, '%') ? "not a share; write it like"
                                     : "neither a number nor a share; write it like 1000 or");
}

static bool read_compressor(void *name, const char *text, err_t *err) {
    static const char *const known[] = {"none", "snappy", "zlib", "zstd"};
    const int chosen = choose_word("compressor", text, known, sizeof known / sizeof *known, err);
    if (chosen >= 0)
        *(const char **)name = known[chosen];
    return chosen >= 0;
}

static bool read_create(void *create, const char *text, err_t *err) {
    err_t why;
    bson_t *options = json_document(text, true, &why);
    if (!options)
        return err_set(err, why.status, "--create: %s; write it like '{\"validator\": {...}}'", why.text);
    bson_destroy(options);
    *(const char **)create = text;
    return true;
}

static bool read_new_columns(void *wanted, const char *text, err_t *err) {
    const int chosen = choose_word("new-columns", text, schema_new_columns + 1, NEW_COLUMNS - 1, err);
    *(new_columns_t *)wanted = chosen < 0 ? NEW_COLUMNS_USUAL : (new_columns_t)(chosen + 1);
    return chosen >= 0;
}

static bool read_nulls(void *how, const char *text, err_t *err) {
    return columns_how_read(how, "nulls", text, err);
}

/* Reads --on-bad-value, which may also be stop for rows of Arrow. */
static bool read_bad_value(void *load_spec, const char *text, err_t *err) {
    load_spec_t *spec = load_spec;
    return columns_how_read(&spec->frames, "on-bad-value", text, err) &&
           (spec->frames.bad == COLUMNS_STOP || guess_options_bad_value(&spec->guess, text, err));
}

static bool check_type(void *unused, const char *text, err_t *err) {
    (void)unused;
    return guess_options_type(text, err);
}

/* ---- the table ---- */

typedef load_options_t values_t;

enum {
    LOADS = TAKEN_BY_LOAD | TAKEN_BY_LIBRARY,
    DRILLS = LOADS | TAKEN_BY_DRILL,
    STUDIES = DRILLS | TAKEN_BY_TUNE,
    COMPARES = STUDIES | TAKEN_BY_VERIFY,
    READS = COMPARES | TAKEN_BY_PARSE,
    GUESSES = STUDIES | TAKEN_BY_PARSE | TAKEN_BY_FORMATS,
    COMMANDS = TAKEN_BY_LOAD | TAKEN_BY_TUNE | TAKEN_BY_DRILL | TAKEN_BY_VERIFY | TAKEN_BY_ASKING,
};

const option_t load_options[] = {
    OPTION("uri", TEXT, spec.uri, .group = GROUP_COLLECTION, .argument = "URI", .takers = COMMANDS,
           .help = "The collection: mongodb://HOST/DATABASE.COLLECTION, with any option that a MongoDB URI "
                   "can have."),
    OPTION("uri-file", TEXT, uri_file, .argument = "FILE", .takers = COMMANDS,
           .help = "Read the URI from this file, so that no password is on the command line."),
    OPTION("id", TEXT, spec.id, .argument = "FIELD,...", .once = true, .takers = LOADS | TAKEN_BY_PARSE,
           .help = "Make the _id of this field, or of several. _id: the documents bring their own. Without "
                   "it the _id is made of the record's position."),
    OPTION("existing", CUSTOM, spec.existing, .argument = "MODE", .offers = "reject keep replace",
           .custom = read_existing, .typed = true, .takers = LOADS,
           .help = "If another document has a record's _id: reject the record (the default), keep the other, "
                   "or replace it."),
    OPTION("index", LIST, indexes, .argument = "KEYS", .takers = DRILLS,
           .help = "Build an index after the load: 'd:1,k:1', 'st:hashed', "
                   "'email:1;unique;sparse;name=mail', or in JSON, as a server lists it. Repeatable."),
    OPTION("append", FLAG, spec.append, .typed = true, .takers = LOADS,
           .help = "Load into a collection that holds documents of others, and leave these as they are."),
    OPTION(
        "shard-key", TEXT, spec.shard_key, .argument = "KEY", .tried = true, .takers = STUDIES,
        .help =
            "On a cluster, shard a new collection on this key: 'st:hashed', 'a,b' (default _id), or none."),
    OPTION("create", CUSTOM, spec.create, .argument = "JSON", .custom = read_create, .tried = true,
           .takers = STUDIES,
           .help = "Options of a new collection for the server's create: '{\"validator\": {...}}'. It is "
                   "clustered on _id where that is fast; '{\"clusteredIndex\": false}' makes a plain one."),
    OPTION("compressor", CUSTOM, spec.compressor, .argument = "NAME", .offers = "none snappy zlib zstd",
           .custom = read_compressor, .tried = true, .takers = STUDIES,
           .help = "Block compressor of a new collection: none, snappy, zlib, zstd (default: the server's)."),
    OPTION("drop", FLAG, spec.drop, .destroys = true, .typed = true, .takers = LOADS,
           .help =
               "Drop the collection and its catalog first. It asks on a terminal; needs --yes elsewhere."),
    OPTION("patience", TIME, spec.patience_ns, .argument = "TIME", .takers = COMPARES | TAKEN_BY_ASKING,
           .help = "How long a server may be away (default 30s)."),

    OPTION("format", TEXT, spec.format, .group = GROUP_INPUT, .letter = 'f', .argument = "NAME",
           .offers = "@formats @files", .takers = READS,
           .help = "How to read the input: a name of `tipple formats`, or a format file such as ./my.yaml "
                   "(default: the format that the catalog keeps, or a guess)."),
    OPTION(
        "filter", LIST, filters, .argument = "EXPR", .typed = true, .takers = READS,
        .help =
            "Take only records that pass, such as 'testType==NT && m>=100000'. Repeatable; all must hold."),
    OPTION("input", LIST, inputs, .argument = "FILE", .takers = TAKEN_BY_LIBRARY),
    OPTION("limit", COUNT, spec.limit, .argument = "N", .typed = true, .takers = LOADS | TAKEN_BY_PARSE,
           .help = "Stop after the first N records."),
    OPTION("dry-run", FLAG, spec.dry_run, .typed = true, .takers = LOADS,
           .help = "Connect, read and parse everything, write nothing."),
    OPTION("input-name", TEXT, spec.input_name, .argument = "NAME", .takers = LOADS | TAKEN_BY_VERIFY,
           .help = "A name for stdin or one file, known by it alone: a second load completes the first, or "
                   "loads nothing."),
    OPTION("copies", COUNT32, spec.copies, .argument = "N", .least = 1, .most = COPIES_MOST, .typed = true,
           .takers = TAKEN_BY_LOAD | TAKEN_BY_VERIFY,
           .help = "Take each input N times, each with _ids of its own."),

    OPTION("with", CUSTOM, spec.guess, .group = GROUP_INPUT, .argument = "KEY=VALUE",
           .offers = "header=yes header=no delimiter=blanks delimiter=tab delimiter=none quote=double "
                     "quote=single quote=none validate=yes encoding=windows-1252 encoding=latin1 dates=dmy "
                     "dates=mdy dates=ymd decimal=. nested=yes timezone=UTC",
           .custom = guess_options_with, .takers = GUESSES,
           .help = "Correct the guess of a format: header=no, yes or LINE; delimiter=';' (or tab, blanks, "
                   "none, \\x01); quote=double, single or none; encoding=windows-1252; dates=dmy, mdy, ymd; "
                   "decimal=, or .; nested=yes (dots); validate=yes; timezone=NAME. Repeatable."),
    OPTION("type", LIST, types, .letter = 't', .argument = "SPEC", .custom = check_type, .takers = GUESSES,
           .help = "Correct the guess of a column: NAME:TYPE or NAME:TYPE(PATTERN); NAME:KEY: stores it "
                   "under another key, NAME:KEY:TYPE does both. Without a header the columns are column_1, "
                   "column_2 and so on. Repeatable."),

    OPTION("new-columns", CUSTOM, spec.new_columns, .argument = "WHAT", .offers = "add ignore refuse",
           .custom = read_new_columns, .takers = LOADS,
           .help =
               "A column that the format lacks: add (usual for a guess), ignore (with --format), refuse."),

    OPTION("on-bad-value", CUSTOM, spec.guess, .group = GROUP_MISFITS, .argument = "WHAT",
           .offers = "text null reject", .custom = guess_options_bad_value,
           .takers = TAKEN_BY_LOAD | TAKEN_BY_PARSE | TAKEN_BY_FORMATS,
           .help = "A value that does not fit its column's type becomes text (the default), null, or a "
                   "reject (its record)."),
    OPTION("on-bad-value", CUSTOM, spec, .argument = "WHAT", .custom = read_bad_value,
           .takers = TAKEN_BY_LIBRARY,
           .help = "The same; with rows of Arrow also stop: the load ends with status 5."),
    OPTION("nulls", CUSTOM, spec.frames, .argument = "WHAT", .custom = read_nulls, .takers = TAKEN_BY_LIBRARY,
           .help = "Nulls in rows of Arrow: leave-out (the default) or keep."),
    OPTION("max-rejects", CUSTOM, spec, .argument = "N|P%", .custom = read_max_rejects, .takers = DRILLS,
           .help = "Stop when more records than this are rejected (default 1000; with --retry, no limit)."),
    OPTION("rejects", TEXT, spec.rejects, .argument = "FILE", .takers = DRILLS,
           .help = "Where rejected records are kept (default DATABASE.COLLECTION.rejects)."),
    OPTION("skip-bad-files", FLAG, spec.skip_bad_files, .takers = LOADS,
           .help = "Leave out files that do not fit the format, are damaged or unreadable, or have changed."),

    OPTION("retry", TEXT, spec.retry, .group = GROUP_AGAIN, .argument = "FILE", .once = true, .typed = true,
           .takers = TAKEN_BY_LOAD,
           .help = "Load the fixed records of a reject file, each under the _id of its first position."),
    OPTION("reload-changed", FLAG, spec.reload_changed, .typed = true, .takers = LOADS,
           .help = "Remove the documents of changed inputs, and load these again. Inputs that only grew need "
                   "no option."),
    OPTION("reload-missing", FLAG, spec.reload_missing, .typed = true, .takers = LOADS,
           .help = "Documents were deleted or lost: read the inputs again, and load the records whose "
                   "documents are missing."),
    OPTION("same-collection", FLAG, spec.same_collection, .typed = true, .takers = LOADS,
           .help = "The collection was resharded, moved or restored (another UUID) and has lost nothing: "
                   "read it back, and go on."),

    OPTION("threads", COUNT32_AUTO, spec.threads, .group = GROUP_SPEED, .letter = 'j', .argument = "N|auto",
           .least = 1, .most = LOAD_MOST_THREADS, .takers = TAKEN_BY_LOAD | TAKEN_BY_DRILL,
           .help = "Loader threads, each with a connection (default: twice the CPUs, 4 to 16). auto: as "
                   "`tipple tune` found."),
    OPTION("threads", COUNT32, spec.threads, .letter = 'j', .argument = "N", .least = 1,
           .most = LOAD_MOST_THREADS, .takers = TAKEN_BY_VERIFY | TAKEN_BY_LIBRARY,
           .help = "Threads, each with a connection of its own (default: twice the CPUs, 4 to 16)."),
    OPTION("batch", COUNT32_AUTO, spec.batch, .letter = 'b', .argument = "N|auto", .least = 1,
           .most = LOAD_MOST_BATCH, .takers = TAKEN_BY_LOAD | TAKEN_BY_DRILL,
           .help = "Documents a batch (default 1000; auto: by tipple tune)."),
    OPTION("batch", COUNT32, spec.batch, .letter = 'b', .argument = "N", .least = 1, .most = LOAD_MOST_BATCH,
           .takers = TAKEN_BY_LIBRARY, .help = "Documents in a batch (default 1000)."),
    OPTION("memory", SIZE, spec.memory, .argument = "SIZE", .least = LOAD_LEAST_MEMORY,
           .most = LOAD_MOST_MEMORY, .tried = true, .takers = COMPARES,
           .help = "Memory for text and batches on their way (default 256M)."),
    OPTION("direct", FLAG, spec.direct, .takers = DRILLS,
           .help =
               "Send each batch to its shard's primary, past the routers. Refused where that is not safe."),
    OPTION("max-rate", CUSTOM, spec, .argument = "RATE", .custom = read_max_rate, .takers = LOADS,
           .help = "At most this in a second: documents (20k) or bytes of documents (20MB). auto: less while "
                   "the server is slow."),
    OPTION("unsafe", FLAG, spec.unsafe, .takers = DRILLS,
           .help = "Use the URI's own write concern: faster on replica sets, but an election can lose "
                   "counted documents."),
    {.name = NULL},
};

const option_t *load_options_find(const char *name, unsigned takers) {
    for (const option_t *row = load_options; row->name; row++)
        if (row->takers & takers && strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

void load_options_init(load_options_t *options) {
    *options = (load_options_t){.uri_file = NULL};
    load_spec_init(&options->spec);
}

bool load_options_settle(load_options_t *options, const char *format, err_t *err) {
    load_spec_t *spec = &options->spec;
    spec->inputs = options->inputs.items;
    spec->input_count = options->inputs.count;
    spec->indexes = options->indexes.items;
    spec->index_count = options->indexes.count;
    spec->filters = options->filters.items;
    spec->filter_count = options->filters.count;
    return guess_options_check(&spec->guess, options->types.items, options->types.count, format, err);
}
