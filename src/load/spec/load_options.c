#include "load/spec/load_options.h"
#include "base/choose.h"
#include "base/numbers/units.h"
#include "format/guess/guess_options.h"
#include "load/before/copies.h"
#include "load/spec/limits.h"
#include "server/send/existing.h"

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
    COMMANDS = TAKEN_BY_LOAD | TAKEN_BY_TUNE | TAKEN_BY_DRILL | TAKEN_BY_VERIFY,
};

const option_t load_options[] = {
    {.name = "uri",
     .group = GROUP_COLLECTION,
     .argument = "URI",
     .kind = OPTION_TEXT,
     .takers = COMMANDS,
     SPEC(uri),
     .help =
         "The collection: mongodb://HOST/DATABASE.COLLECTION, with any option that a MongoDB URI can have."},
    {.name = "uri-file",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .takers = COMMANDS,
     AT(uri_file),
     .help = "Read the URI from a file of one line, so that no password is on the command line."},
    {.name = "id",
     .once = true,
     .argument = "FIELD,...",
     .kind = OPTION_TEXT,
     .takers = LOADS,
     SPEC(id),
     .help = "The _id of a document is the value of this field, or of several; _id: the one that the "
             "document brings. Otherwise it is the place of the record."},
    {.name = "existing",
     .typed = true,
     .argument = "MODE",
     .offers = "reject keep replace",
     .kind = OPTION_CUSTOM,
     .takers = LOADS,
     SPEC(existing),
     .custom = read_existing,
     .help =
         "With --id, or documents that bring their _id: if another document has a record's _id, reject "
         "makes it a reject (the default), keep leaves what is there, replace puts the record's document in "
         "its place. The catalog keeps it."},
    {.name = "index",
     .argument = "KEYS",
     .kind = OPTION_LIST,
     .takers = DRILLS,
     AT(indexes),
     .help = "Build an index after the load, such as 'd:1,k:1' or 'st:hashed'. With options: "
             "'email:1;unique;sparse;name=mail', 'at:1;expire=3600', and at last partial={...}, a "
             "filter as JSON. May be given several times. A drill without it builds those of the target."},
    {.name = "append",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(append),
     .help = "Load into a collection that holds documents which tipple did not load. They stay as they are, "
             "except those that --existing replace replaces. The catalog keeps it: later loads need no "
             "--append."},
    {.name = "shard-key",
     .argument = "KEY",
     .kind = OPTION_TEXT,
     .takers = STUDIES,
     SPEC(shard_key),
     .help =
         "On a cluster: shard a new collection on this key, such as st:hashed (default _id; tune and drill: "
         "the key of the target, where it exists); none: do not shard it."},
    {.name = "clustered",
     .kind = OPTION_FLAG,
     .takers = STUDIES & ~TAKEN_BY_LIBRARY,
     AT(clustered),
     .help = "Make the collection clustered on _id (the default where the server can, from 5.3 on, and the "
             "_ids are places of records; tune and drill: as the target is)."},
    {.name = "no-clustered",
     .kind = OPTION_FLAG,
     .takers = STUDIES & ~TAKEN_BY_LIBRARY,
     AT(not_clustered),
     .help = "Make a plain collection with an index on _id."},
    {.name = "compressor",
     .argument = "NAME",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_CUSTOM,
     .takers = DRILLS,
     SPEC(compressor),
     .custom = read_compressor,
     .help =
         "The collection's block compressor: none, snappy, zlib or zstd (default: the server's own choice; "
         "drill: that of the target)."},
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
     .takers = COMPARES,
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
     .help = "How to read the input: a name from `tipple formats`, or a format file of your own such as "
             "./my.yaml. Without it the format is recognised, or is the one that the catalog keeps."},
    {.name = "filter",
     .typed = true,
     .argument = "EXPR",
     .kind = OPTION_LIST,
     .takers = READS,
     AT(filters),
     .help = "Take only records that pass, such as 'testType==NT && m>=100000'; several must all hold. The "
             "rest is counted as filtered."},
    {.name = "input",
     .argument = "FILE",
     .kind = OPTION_LIST,
     .takers = TAKEN_BY_LIBRARY,
     AT(inputs),
     .help = ""},
    {.name = "limit",
     .typed = true,
     .argument = "N",
     .kind = OPTION_COUNT,
     .takers = LOADS | TAKEN_BY_PARSE,
     SPEC(limit),
     .help = "Stop after the first N records."},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(dry_run),
     .help = "Connect, read and parse everything, write nothing."},
    {.name = "input-name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     .takers = LOADS | TAKEN_BY_VERIFY,
     SPEC(input_name),
     .help = "A name for what comes from stdin, so that an interrupted load of it can be completed, and a "
             "second one loads nothing. Other data need another name."},
    {.name = "copies",
     .argument = "N",
     .kind = OPTION_COUNT32,
     .takers = TAKEN_BY_LOAD | TAKEN_BY_VERIFY,
     .least = 1,
     .most = COPIES_MOST,
     SPEC(copies),
     .help = "Take each input N times (default 1), as if there were N equal files: each copy has _ids of its "
             "own."},

    {.name = "with",
     .group = GROUP_GUESS,
     .argument = "KEY=VALUE",
     .offers = "header=yes header=no delimiter=blanks delimiter=tab delimiter=none quote=double quote=single "
               "quote=none "
               "encoding=windows-1252 encoding=latin1 dates=dmy dates=mdy dates=ymd decimal=. nested=yes",
     .kind = OPTION_CUSTOM,
     .takers = GUESSES,
     SPEC(guess),
     .custom = guess_options_with,
     .help = "What the text does not say: header=yes|no|LINE (which line names the columns), delimiter=, ; | "
             ": :: tab "
             "\\x01 blanks or none, quote=double|single|none, encoding=NAME (utf-8, windows-1252, latin1, "
             "utf-8-or-windows-1252, utf-8-or-latin1), dates=dmy|mdy|ymd (03/04/24), decimal=. or , (1,234), "
             "nested=yes "
             "(dots in names make subdocuments). May be given several times."},
    {.name = "type",
     .letter = 't',
     .argument = "SPEC",
     .kind = OPTION_LIST,
     .takers = GUESSES,
     AT(types),
     .custom = check_type,
     .help =
         "What the column NAME is, if it is not as guessed: NAME:TYPE, NAME:TYPE(PATTERN), NAME:KEY:TYPE, "
         "or NAME:KEY: with a colon at its end. KEY: the key under which it is stored; of JSON, NAME:TYPE "
         "says of which type the values of a key are. May be given several times."},

    {.name = "on-bad-value",
     .group = GROUP_MISFITS,
     .argument = "WHAT",
     .offers = "text null reject",
     .kind = OPTION_CUSTOM,
     .takers = LOADS | TAKEN_BY_PARSE | TAKEN_BY_FORMATS,
     SPEC(guess),
     .custom = guess_options_bad_value,
     .help =
         "What becomes of a value that does not fit its column's type: text (kept as text, as without this "
         "option), null, or reject (its record is a reject)."},
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
     .help = "Where rejected records are kept (default DATABASE.COLLECTION.rejects; a drill of a copy keeps "
             "none). "
             "FILE.2 and so on while another load has it."},
    {.name = "skip-bad-files",
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(skip_bad_files),
     .help = "Leave out files that do not fit the format, name them, and end with status 2. Without it "
             "nothing is written when one does not fit."},
    {.name = "max-record",
     .argument = "SIZE",
     .kind = OPTION_SIZE,
     .takers = READS & ~TAKEN_BY_TUNE,
     .least = 1,
     .most = LIMITS_MOST_RECORD,
     SPEC(max_record),
     .help = "Records longer than this are rejected (default 16M)."},

    {.name = "retry",
     .group = GROUP_AGAIN,
     .once = true,
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .takers = TAKEN_BY_LOAD,
     SPEC(retry),
     .help = "Load the fixed records of a reject file, each under the _id of its first position. The file is "
             "only read."},
    {.name = "reload-changed",
     .typed = true,
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(reload_changed),
     .help = "Of inputs that have changed since they were loaded, remove the documents and load them again. "
             "Inputs that have only grown are loaded on without it."},
    {.name = "reload-missing",
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(reload_missing),
     .help =
         "Documents of these inputs were deleted or lost: read the inputs again from their beginning, and "
         "load the records whose documents are not there."},
    {.name = "same-collection",
     .kind = OPTION_FLAG,
     .takers = LOADS,
     SPEC(same_collection),
     .help = "The collection has another UUID than when it was loaded (it was resharded, moved or restored), "
             "and has lost nothing: what was loaded is read back, and what is missing is sent."},

    {.name = "threads",
     .group = GROUP_SPEED,
     .letter = 'j',
     .argument = "N|auto",
     .kind = OPTION_COUNT32_AUTO,
     .takers = TAKEN_BY_LOAD | TAKEN_BY_DRILL,
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     SPEC(threads),
     .help = "Loader threads, each with a connection of its own (default: twice the CPUs, 4 to 16). "
             "With auto: as the last `tipple tune` of this target on this host found best."},
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
     .help = "Documents in a batch (default 1000). With auto: as for --threads."},
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
     .help = "Send each batch straight to its shard's primary, past the routers. Refused where a shard would "
             "not notice that a chunk has moved away."},
    {.name = "max-rate",
     .argument = "N|SIZE|auto",
     .kind = OPTION_CUSTOM,
     .takers = LOADS,
     AT(spec),
     .custom = read_max_rate,
     .help = "Send no more than this in a second: documents, such as 50k, or with a B at its end bytes of "
             "documents, such as 20MB. auto: batches of 100 documents, one at a time, and fewer while they "
             "take longer than usual."},
    {.name = "unsafe",
     .kind = OPTION_FLAG,
     .takers = DRILLS,
     SPEC(unsafe),
     .help = "Write with the URI's own write concern. Faster on replica sets; an election can lose what was "
             "counted. No effect on --retry."},
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
    if (options->clustered || options->not_clustered)
        spec->clustered = options->clustered ? CLUSTERED_YES : CLUSTERED_NO;
    return guess_options_check(&spec->guess, options->types.items, options->types.count, format, err);
}
