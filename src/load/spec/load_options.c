#include "load/spec/load_options.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/guess/guess_options.h"
#include "format/json/json_document.h"
#include "load/before/copies.h"
#include "load/spec/limits.h"
#include "server/wire.h"

#include <string.h>

/* ---- values that are no plain number or text; each function is given the place of its row ---- */

static bool read_max_rate(void *load_spec, const char *text, err_t *err) {
    load_spec_t *spec = load_spec;
    spec->max_rate = 0; /* of two, the last one counts */
    spec->max_rate_auto = strcmp(text, "auto") == 0;
    if (spec->max_rate_auto)
        return true;
    if (!units_parse_rate(text, &spec->max_rate, &spec->max_rate_bytes))
        return err_set(
            err, STATUS_USAGE,
            "--max-rate: '%s' is neither auto, nor documents a second, like 50k, nor, with a B at its end, "
            "bytes a second, like 20MB",
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
    bson_t *options = json_document(text, &why);
    if (!options)
        return err_set(err, why.status, "--create: %s; write it like '{\"validator\": {...}}'", why.text);
    bson_destroy(options);
    *(const char **)create = text;
    return true;
}

static bool check_type(void *unused, const char *text, err_t *err) {
    (void)unused;
    return guess_options_type(text, err);
}

/* ---- the table ---- */

#define AT(member)   .offset = offsetof(load_options_t, member)
#define SPEC(member) AT(spec.member)

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
    {.name = "uri",
     .group = GROUP_COLLECTION,
     .argument = "URI",
     .kind = OPTION_TEXT,
     .takers = COMMANDS,
     SPEC(uri),
     .help = "The collection: mongodb://HOST/DATABASE.COLLECTION, with any option that a MongoDB URI "
             "can have."},
    {.name = "uri-file",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .takers = COMMANDS,
     AT(uri_file),
     .help = "Read the URI from this file, so that no password is on the command line."},
    {.name = "id",
     .once = true,
     .argument = "FIELD,...",
     .kind = OPTION_TEXT,
     .takers = LOADS | TAKEN_BY_PARSE,
     SPEC(id),
     .help = "Make the _id of this field, or of several. _id: the documents bring their own. Without it "
             "the _id is made of the record's position."},
    {.name = "existing",
     .typed = true,
     .argument = "MODE",
     .offers = "reject keep replace",
     .kind = OPTION_CUSTOM,
     .takers = LOADS,
     SPEC(existing),
     .custom = read_existing,
     .help = "If another document has a record's _id: reject the record (the default), keep the other, "
             "or replace it."},
    {.name = "index",
     .argument = "KEYS",
     .kind = OPTION_LIST,
     .takers = DRILLS,
     AT(indexes),
     .help = "Build an index after the load: 'd:1,k:1', 'st:hashed', 'email:1;unique;sparse;name=mail', "
             "or in JSON, as a server lists it. Repeatable."},
    {.name = "append",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(append),
     .help = "Load into a collection that holds documents of others, and leave these as they are."},
    {.name = "shard-key",
     .argument = "KEY",
     .kind = OPTION_TEXT,
     .takers = STUDIES,
     SPEC(shard_key),
     .help = "On a cluster, shard a new collection on this key: 'st:hashed', 'a,b' (default _id), or "
             "none: do not shard it."},
    {.name = "create",
     .argument = "JSON",
     .kind = OPTION_CUSTOM,
     .takers = STUDIES,
     SPEC(create),
     .custom = read_create,
     .help = "Options of a new collection, as the server's create command takes them: '{\"validator\": "
             "{...}}'. It is clustered on _id where that is possible and fast; '{\"clusteredIndex\": "
             "false}' makes a plain one."},
    {.name = "compressor",
     .argument = "NAME",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     .takers = DRILLS,
     SPEC(compressor),
     .custom = read_compressor,
     .help = "The block compressor of a new collection: none, snappy, zlib or zstd (default: the "
             "server's)."},
    {.name = "drop",
     .destroys = true,
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(drop),
     .help = "Drop the collection and its catalog first. It asks on a terminal; needs --yes elsewhere."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     .takers = COMPARES | TAKEN_BY_ASKING,
     SPEC(patience_ns),
     .help = "How long a server may be away (default 30s)."},

    {.name = "format",
     .group = GROUP_INPUT,
     .letter = 'f',
     .argument = "NAME",
     .offers = "@formats @files",
     .kind = OPTION_TEXT,
     .takers = READS,
     SPEC(format),
     .help = "How to read the input: a name of `tipple formats`, or a format file such as ./my.yaml "
             "(default: the format that the catalog keeps, or a guess)."},
    {.name = "filter",
     .typed = true,
     .argument = "EXPR",
     .kind = OPTION_LIST,
     .takers = READS,
     AT(filters),
     .help = "Take only records that pass, such as 'testType==NT && m>=100000'. Repeatable; all must "
             "hold."},
    {.name = "input", .argument = "FILE", .kind = OPTION_LIST, .takers = TAKEN_BY_LIBRARY, AT(inputs)},
    {.name = "limit",
     .typed = true,
     .argument = "N",
     .kind = OPTION_COUNT,
     .takers = LOADS | TAKEN_BY_PARSE,
     SPEC(limit),
     .help = "Stop after the first N records."},
    {.name = "dry-run",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(dry_run),
     .help = "Connect, read and parse everything, write nothing."},
    {.name = "input-name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     .takers = LOADS | TAKEN_BY_VERIFY,
     SPEC(input_name),
     .help = "A name for what comes from stdin, so that its load can be completed, and a second one "
             "loads nothing."},
    {.name = "copies",
     .typed = true,
     .argument = "N",
     .kind = OPTION_COUNT32,
     .takers = TAKEN_BY_LOAD | TAKEN_BY_VERIFY,
     .least = 1,
     .most = COPIES_MOST,
     SPEC(copies),
     .help = "Take each input N times (default 1), each time with _ids of its own."},

    {.name = "with",
     .group = GROUP_INPUT,
     .argument = "KEY=VALUE",
     .offers = "header=yes header=no delimiter=blanks delimiter=tab delimiter=none quote=double quote=single "
               "quote=none "
               "encoding=windows-1252 encoding=latin1 dates=dmy dates=mdy dates=ymd decimal=. nested=yes",
     .kind = OPTION_CUSTOM,
     .takers = GUESSES,
     SPEC(guess),
     .custom = guess_options_with,
     .help = "Correct the guess of a format: header=no, yes or LINE; delimiter=';' (or tab, blanks, "
             "none, \\x01); quote=double, single or none; encoding=windows-1252; dates=dmy, mdy or ymd; "
             "decimal=, or . ; nested=yes (dots in names make subdocuments). Repeatable."},
    {.name = "type",
     .letter = 't',
     .argument = "SPEC",
     .kind = OPTION_LIST,
     .takers = GUESSES,
     AT(types),
     .custom = check_type,
     .help = "Correct the guess of a column: NAME:TYPE or NAME:TYPE(PATTERN); NAME:KEY: stores it under "
             "another key, NAME:KEY:TYPE does both. Without a header the columns are column_1, column_2 "
             "and so on. Repeatable."},

    {.name = "on-bad-value",
     .group = GROUP_MISFITS,
     .argument = "WHAT",
     .offers = "text null reject",
     .kind = OPTION_CUSTOM,
     .takers = LOADS | TAKEN_BY_PARSE | TAKEN_BY_FORMATS,
     SPEC(guess),
     .custom = guess_options_bad_value,
     .help = "A value that does not fit its column's type becomes text (the default), null, or a reject "
             "(its record)."},
    {.name = "max-rejects",
     .argument = "N|P%",
     .kind = OPTION_CUSTOM,
     .takers = DRILLS,
     AT(spec),
     .custom = read_max_rejects,
     .help = "Stop when more records than this are rejected (default 1000; with --retry, no limit)."},
    {.name = "rejects",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .takers = DRILLS,
     SPEC(rejects),
     .help = "Where rejected records are kept (default DATABASE.COLLECTION.rejects)."},
    {.name = "skip-bad-files",
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(skip_bad_files),
     .help = "Leave out files that do not fit the format. Without it nothing is written when one does "
             "not fit."},

    {.name = "retry",
     .typed = true,
     .group = GROUP_AGAIN,
     .once = true,
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .takers = TAKEN_BY_LOAD,
     SPEC(retry),
     .help = "Load the fixed records of a reject file, each under the _id of its first position."},
    {.name = "reload-changed",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(reload_changed),
     .help = "Remove the documents of changed inputs, and load these again. Inputs that only grew need "
             "no option."},
    {.name = "reload-missing",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(reload_missing),
     .help = "Documents were deleted or lost: read the inputs again, and load the records whose "
             "documents are missing."},
    {.name = "same-collection",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(same_collection),
     .help = "The collection was resharded, moved or restored (another UUID) and has lost nothing: read "
             "it back, and go on."},

    {.name = "threads",
     .group = GROUP_SPEED,
     .letter = 'j',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     .takers = TAKEN_BY_LOAD | TAKEN_BY_DRILL,
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     SPEC(threads),
     .help = "Loader threads, each with a connection (default: twice the CPUs, 4 to 16). auto: as "
             "`tipple tune` found."},
    {.name = "threads",
     .letter = 'j',
     .argument = "N",
     .kind = OPTION_COUNT32,
     .takers = TAKEN_BY_VERIFY | TAKEN_BY_LIBRARY,
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     SPEC(threads),
     .help = "Threads, each with a connection of its own (default: twice the CPUs, 4 to 16)."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     .takers = TAKEN_BY_LOAD | TAKEN_BY_DRILL,
     .least = 1,
     .most = LIMITS_MOST_BATCH,
     SPEC(batch),
     .help = "Documents in a batch (default 1000). auto: as `tipple tune` found."},
    {.name = "batch",
     .letter = 'b',
     .argument = "N",
     .kind = OPTION_COUNT32,
     .takers = TAKEN_BY_LIBRARY,
     .least = 1,
     .most = LIMITS_MOST_BATCH,
     SPEC(batch),
     .help = "Documents in a batch (default 1000)."},
    {.name = "memory",
     .argument = "SIZE",
     .kind = OPTION_SIZE,
     .takers = COMPARES & ~TAKEN_BY_TUNE,
     .least = LIMITS_LEAST_MEMORY,
     .most = LIMITS_MOST_MEMORY,
     SPEC(memory),
     .help = "Memory for text and batches on their way (default 256M)."},
    {.name = "direct",
     .kind = OPTION_FLAG,
     .takers = STUDIES,
     SPEC(direct),
     .help = "Send each batch to its shard's primary, past the routers. Refused where that is not safe."},
    {.name = "max-rate",
     .argument = "RATE",
     .kind = OPTION_CUSTOM,
     .takers = LOADS,
     AT(spec),
     .custom = read_max_rate,
     .help = "At most this in a second: documents (20k) or bytes of documents (20MB). auto: less while "
             "the server is slow."},
    {.name = "unsafe",
     .kind = OPTION_FLAG,
     .takers = DRILLS,
     SPEC(unsafe),
     .help = "Use the URI's own write concern: faster on replica sets, but an election can lose counted "
             "documents."},
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
