/* load_spec: what is to be loaded, into which collection, and how. */
#ifndef TIPPLE_LOAD_SPEC_LOAD_SPEC_H
#define TIPPLE_LOAD_SPEC_LOAD_SPEC_H

#include "format/columns/columns.h"
#include "format/guess/guess.h"
#include "load/spec/timeline.h"
#include "server/collection.h"

/* documents, where nothing is said; and what the tables of options allow */
enum {
    LOAD_BATCH = 1000,
    LOAD_MOST_BATCH = 100000,
    LOAD_MOST_THREADS = 256,
    LOAD_LEAST_MEMORY = 16 << 20,
};
#define LOAD_MOST_MEMORY (1ull << 40)

typedef struct {
    const char *uri;
    const char *format;
    char *const *inputs;
    size_t input_count;
    const char *input_name; /* of a stream, or NULL */
    uint32_t copies;        /* each input is taken so many times; 0: once */
    const int *pushed;      /* the descriptor that is loaded under that name instead of inputs; or NULL */
    uint32_t threads;       /* 0: twice the CPUs, 4 to 16 */
    uint32_t batch;         /* documents */
    uint64_t batch_bytes, memory;
    const char *create;     /* options of the server's `create` as JSON, or NULL */
    const char *compressor; /* or NULL */
    const char *id;         /* fields of the records that make their `_id`; NULL: as the inputs tell */
    const char *existing;   /* one of existing_names; NULL: as the catalog says, or reject */
    const char *shard_key;  /* "st:hashed"; NULL: _id; "none": an unsharded collection stays one */
    char *const *indexes;   /* 'd:1,k:1' */
    size_t index_count;
    char *const *filters;
    size_t filter_count;
    uint64_t limit;      /* UINT64_MAX: none */
    bool limit_is_about; /* a little fewer will do, and need not be counted one by one: for samples */
    uint64_t max_rejects;
    double max_rejects_percent; /* < 0: max_rejects counts */
    bool max_rejects_given;     /* or what is usual: with --retry, no limit */
    const char *rejects;        /* path, or NULL: NAMESPACE.rejects */
    bool counts_rejects;        /* they are kept in no file: of studies */
    const char *retry;          /* a reject file to load instead of inputs, or NULL */
    int64_t patience_ns;
    uint64_t max_rate; /* documents a second, or bytes of BSON; 0: as fast as it goes */
    bool max_rate_bytes, max_rate_auto;
    bool append; /* to documents that tipple did not load */
    bool drop, dry_run, unsafe, direct;
    bool same_collection;  /* its UUID has changed, and its documents have not: they are read back */
    bool reload_changed;   /* inputs that changed: their documents are removed, and they are loaded again */
    bool reload_missing;   /* what the catalog calls loaded is read again, and sent where it is not there */
    bool trial;            /* of a study: nobody has to be told of what it may lose */
    guess_options_t guess; /* without a format; */
    /* or what was guessed before, by a study or a program: a format file; NULL: nothing */
    const char *guessed;
    new_columns_t new_columns; /* --new-columns */
    columns_how_t
        frames; /* of rows that a program pushes: what becomes of nulls, and of values that do not fit */
    bool skip_bad_files;  /* inputs that do not fit the format are left out, and named */
    timeline_told_t told; /* of its phases */
} load_spec_t;

void load_spec_init(load_spec_t *spec); /* the defaults */

/* "1000" or "0.1%": how many records may be rejected. False: it is neither, and nothing is changed. */
bool load_spec_max_rejects(load_spec_t *spec, const char *text);

/* What its --create says of clustering: "yes", "no", or NULL for nothing. */
const char *load_spec_clustered(const load_spec_t *spec);

/* Its format, or the one that was guessed for it before. */
schema_t *load_spec_open_format(const load_spec_t *spec, err_t *err);

/* The word of its --on-bad-value, where a --format needs it again; or NULL. */
const char *load_spec_bad_value(const load_spec_t *spec);

/* The options that the command for the fixed records of a load needs besides `tipple load --retry FILE`, so that it makes the documents
 * that the load would have made: " --format mot --uri ...", to be pasted into a shell. What the catalog keeps (a guessed format, --id,
 * --existing, --append) is not repeated. namespace: of the target ("mot.results"). NULL: memory is out. To be freed. Any thread. */
char *retry_options(const load_spec_t *spec, const char *namespace, err_t *err);

#endif
