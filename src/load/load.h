/* load: loads files into a collection. One call does it all, from the command or from your own program. */
#ifndef TIPPLE_LOAD_LOAD_H
#define TIPPLE_LOAD_LOAD_H

#include "base/numbers/hist.h"
#include "catalog/store/entry.h"
#include "format/guess/guess.h"
#include "format/schema/schema.h"
#include "load/before/misfits.h"
#include "load/rate/server_checkpoints.h"
#include "load/rate/traffic.h"
#include "load/timeline.h"
#include "server/chunks/chunkmap.h"
#include "server/collection.h"
#include "server/send/existing.h"
#include "server/send/routers.h"

enum { LOAD_BATCH = 1000 }; /* documents, where nothing is said */

typedef struct {
    const char *uri;
    const char *format;
    bool validate; /* documents of BSON are checked as a whole */
    char *const *inputs;
    size_t input_count;
    const char *input_name; /* of a stream, or NULL */
    uint32_t threads;       /* 0: twice the CPUs, 4 to 16 */
    uint32_t batch;         /* documents */
    uint64_t batch_bytes, memory, max_record;
    clustered_t clustered;
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
    double max_rejects_percent;   /* < 0: max_rejects counts */
    const char *rejects;          /* path, or NULL: NAMESPACE.rejects */
    const char *retry;            /* a reject file to load instead of inputs, or NULL */
    const uint32_t *reject_codes; /* of write errors that are the documents' fault, too */
    size_t reject_code_count;
    int64_t patience_ns;
    uint64_t max_rate; /* documents a second, or bytes of BSON; 0: as fast as it goes */
    bool max_rate_bytes, polite;
    bool append; /* to documents that tipple did not load */
    bool drop, dry_run, unsafe, direct;
    bool same_collection; /* its UUID has changed, and its documents have not: they are read back */
    bool
        reload_changed; /* inputs that have changed: their documents are removed, and they are loaded again */
    bool trial;         /* of a study: nobody has to be told of what it may lose */
    guess_options_t guess; /* without a format */
    bool skip_bad_files;   /* inputs that do not fit the format are left out, and named */
    bool short_keys;       /* the format's keys shortened (format/schema/schema_short.h); for trials */
    bool indexes_first;    /* they are built before the first document comes */
    timeline_told_t told;  /* of its phases */
    bool watch_flushes;    /* find out when the server wrote checkpoints */
} load_spec_t;

void load_spec_init(load_spec_t *spec); /* the defaults */

typedef struct {
    char keys[128];
    int64_t took_ns;
} built_index_t;

/* A field with values that do not fit. */
typedef struct {
    char name[128];
    uint64_t count;
    char *places; /* the first ones: "a.csv:17, a.csv:20"; NULL: memory was out */
} bad_result_t;

/* A shard or a router. */
typedef struct {
    char name[512];
    traffic_figures_t figures;
} loaded_place_t;

typedef struct {
    counts_t counts;
    int64_t took_ns, cpu_ns;
    uint64_t bytes_read, bytes_text, bytes_bson, batches, sent_documents, retries, short_batches,
        peak_memory_bytes;
    uint64_t open_rejects;       /* of all inputs, whoever met them: not fixed yet */
    char open_rejects_text[400]; /* "a.csv 2, b.csv 1" */
    uint64_t files, files_skipped, records_skipped, bad_values;
    bad_value_t bad_value; /* what became of those */
    bad_result_t *bad_fields;
    size_t bad_field_count, bad_field_room;
    uint64_t files_done_by_others, records_done_by_others; /* other loads, meanwhile; parts count as files */
    uint32_t threads, batch;
    bool clustered;
    bool appended; /* the collection holds documents of others, too, or may */
    char namespace[256], where[512], limited_by[160], format[128];
    char rejects_path[4096];                     /* empty: none was written */
    loaded_place_t shards[CHUNKMAP_MOST_SHARDS]; /* one that is the server itself, where there are none */
    size_t shard_count;
    loaded_place_t routers[ROUTERS_MOST]; /* none with --direct */
    size_t router_count;
    int64_t moving_ns;            /* of took_ns, while threads loaded */
    server_checkpoints_t flushes; /* not known without watch_flushes */
    hist_t batch_times;           /* from sending to the reply; none where nothing was sent */
    uint64_t unrouted;            /* documents that the router had to find a shard for */
    int64_t throttled_ns,
        slowed_down_ns;     /* of a thread, on average: it waited for --max-rate or --polite; the latter */
    char throttled_by[256]; /* what for, mostly; empty: for nothing */
    built_index_t indexes[64];
    size_t index_count;
    misfits_t skipped;     /* --skip-bad-files */
    size_t skipped_before; /* of them, before the load began: `files` does not count those */
    timeline_t course;
} load_result_t;

/* The word of its --on-bad-value, where a --format needs it again; or NULL. */
const char *load_bad_value(const load_spec_t *spec);

void load_result_free(load_result_t *result); /* what it points to; the rest stays */

/* Everything that can be known at the end is in *result, also after a failure (counts of what was settled).
 * False: err has status and sentence; status 2 (some rejects, or files skipped) is a success with err->status
 * set. */
bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err);

#endif
