/* load_spec: what to load, into which collection, and how, as the user asked for it. A load does not change its spec, which
 * points to memory of the caller; all threads of the load may read it. */
#ifndef TIPPLE_LOAD_SPEC_LOAD_SPEC_H
#define TIPPLE_LOAD_SPEC_LOAD_SPEC_H

#include "format/columns/columns.h"
#include "format/guess/guess.h"
#include "load/spec/progress.h"
#include "server/collection.h"

enum { COPIES_MOST = 1000 };

/* The default of a batch, in documents; and bounds for the tables of options. */
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
    uint32_t copies;        /* --copies: how often each input is taken; 0: once */
    const int *pushed;      /* a descriptor that is loaded under input_name instead of inputs; or NULL */
    uint32_t threads;       /* 0: twice the CPUs, 4 to 16 */
    uint32_t batch;         /* documents */
    uint64_t batch_bytes, memory;
    const char *create;     /* options of the server's `create` as JSON, or NULL */
    const char *compressor; /* or NULL */
    const char *id;         /* fields of the records that make their `_id`; NULL: found from the inputs */
    const char *existing;   /* one of existing_names; NULL: as the catalog says, or reject */
    const char *shard_key;  /* "st:hashed"; NULL: _id; "none": an unsharded collection stays unsharded */
    char *const *indexes;   /* 'd:1,k:1' */
    size_t index_count;
    char *const *filters;
    size_t filter_count;
    uint64_t limit;      /* UINT64_MAX: none */
    bool limit_is_about; /* for samples: a little fewer will do, so records need not be counted exactly */
    uint64_t max_rejects;
    double max_rejects_percent; /* < 0: max_rejects counts */
    bool max_rejects_given;     /* false: the default, which is no limit with --retry */
    const char *rejects;        /* path, or NULL: NAMESPACE.rejects */
    bool counts_rejects;        /* of studies: rejects are counted, but written to no file */
    const char *retry;          /* a reject file to load instead of inputs, or NULL */
    int64_t patience_ns;
    uint64_t max_rate; /* documents a second, or bytes of BSON; 0: no limit */
    bool max_rate_bytes, max_rate_auto;
    bool append; /* to documents that tipple did not load */
    bool drop, dry_run, unsafe, direct;
    bool same_collection;  /* the UUID has changed, and the documents have not: they are read back */
    bool reload_changed;   /* documents of changed inputs are removed, and the inputs are loaded again */
    bool reload_missing;   /* inputs that the catalog calls loaded are read again, and missing records sent */
    bool trial;            /* of a study: nobody needs to hear what it may lose */
    guess_options_t guess; /* without a format; */
    const char *guessed;   /* or a format file that a study or a program guessed before; NULL: none */
    new_columns_t new_columns;
    columns_how_t frames; /* rows that a program pushes: nulls, and values that do not fit */
    bool skip_bad_files;
    timeline_listener_t listener; /* of the load's phases */
} load_spec_t;

void load_spec_init(load_spec_t *spec); /* the defaults */

/* Sets how many records may be rejected: "1000" or "0.1%". False: the text is neither, and no limit was changed. */
bool load_spec_max_rejects(load_spec_t *spec, const char *text);

/* Returns what --create says of clustering: "yes", "no", or NULL for nothing. */
const char *load_spec_clustered(const load_spec_t *spec);

/* Opens the spec's format, or the one that was guessed before. */
schema_t *load_spec_open_format(const load_spec_t *spec, err_t *err);

/* Returns the options that the command for the fixed records of a load needs besides `tipple load --retry FILE`, so that it
 * makes the documents that the load would have made: " --format mot --uri ...", quoted for a shell. Leaves out what the catalog
 * keeps: a guessed format, --id, --existing, --append. namespace: of the target ("mot.results"). NULL: err. The caller frees
 * it. Any thread. */
char *retry_options(const load_spec_t *spec, const char *namespace, err_t *err);

/* Returns which collection a URI names ("mot.results"), without connecting. The caller frees it. NULL: the URI is bad, which is
 * reported where it is used. */
char *uri_target(const char *uri);

#endif
