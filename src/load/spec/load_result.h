/* load_result: what comes of a load, even of one that failed, and the load itself. The main thread fills it in. */
#ifndef TIPPLE_LOAD_SPEC_LOAD_RESULT_H
#define TIPPLE_LOAD_SPEC_LOAD_RESULT_H

#include "base/numbers.h"
#include "catalog/store/entry.h"
#include "format/record/record.h"
#include "format/schema/schema.h"
#include "load/rate/throttle.h"
#include "load/spec/load_spec.h"
#include "load/spec/progress.h"
#include "server/chunks.h"
#include "server/collection.h"
#include "server/send.h"

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

/* A column that came or went. */
typedef enum { COLUMN_ADDED, COLUMN_MISSING, COLUMN_LEFT_OUT, COLUMN_NEWS } column_news_t;
typedef struct {
    column_news_t news;
    char *name;
    const char *type; /* of an added column */
    char *file;       /* the first one of `files` */
    uint64_t files;
} column_result_t;

/* A shard or a router. */
typedef struct {
    char name[512];
    traffic_figures_t figures;
} loaded_place_t;

/* An input that is left out (--skip-bad-files). */
typedef struct {
    char *name;   /* the input's */
    char *reason; /* a sentence that begins with the name */
    size_t input; /* its number in the manifest that was checked */
    bool waits;   /* nothing is wrong with the input: see misfits_add_waiting */
} misfit_t;

typedef struct {
    misfit_t *items;
    size_t count, room;
    size_t after; /* with --existing replace, inputs from this one on wait */
} misfits_t;

typedef struct {
    counts_t counts;
    int64_t took_ns, cpu_ns;
    uint64_t bytes_read, bytes_text, bytes_bson, batches, sent_documents, retries, short_batches,
        peak_memory_bytes;
    uint64_t fixed_otherwise; /* --retry: records of which an earlier run loaded another fix, which stays */
    bool knows_rejects;       /* the load ended well; else the next two are unknown */
    uint64_t open_rejects;    /* of all inputs, whichever load rejected them: not fixed yet */
    uint64_t left_out;        /* rejects that users left out; with --retry: that the file leaves out */
    char open_rejects_text[400]; /* "a.csv 2, b.csv 1" */
    uint64_t files, files_skipped, records_skipped, bad_values, ambiguous_times;
    char *ambiguous_first; /* places: "a.csv:17, a.csv:20"; NULL: memory was out */
    passed_over_t passed_over;
    uint64_t became[BAD_VALUES]; /* the bad values, by what became of them */
    bool bad_stay;               /* bad values of JSON that stay keep their type; others become text, */
    bool bad_binary;             /* or binary, as some did */
    bad_result_t *bad_fields;
    size_t bad_field_count, bad_field_room;
    column_result_t *columns;
    size_t column_count, column_room;
    uint64_t files_done_by_others, records_done_by_others; /* other loads, meanwhile; pieces count as files */
    int64_t waited_ns;                                     /* for other loads, or for a lease of theirs */
    uint32_t threads, batch;
    bool clustered;
    bool appended; /* the collection also holds documents of others, or may */
    char namespace[256], where[512], limited_by[160], format[128];
    char rejects_path[4096];                     /* empty: none was written */
    uint64_t rejects_kept;                       /* rejected records that are in that file */
    loaded_place_t shards[CHUNKMAP_MOST_SHARDS]; /* without shards: one, the server itself */
    size_t shard_count;
    loaded_place_t routers[ROUTERS_MOST]; /* none with --direct */
    size_t router_count;
    int64_t moving_ns;      /* of took_ns, while threads loaded */
    uint64_t unrouted;      /* documents whose shard the router had to find */
    int64_t throttled_ns;   /* waited for --max-rate, by a thread on average */
    char throttled_by[256]; /* the main reason for that; empty: none */
    built_index_t indexes[64];
    size_t index_count;
    char *guessed;         /* the format file that this load has guessed; NULL: none */
    misfits_t skipped;     /* --skip-bad-files */
    size_t skipped_before; /* of these, before the load began: not in `files` */
    timeline_t course;
} load_result_t;

/* Frees what the result points to; the rest stays. */
void load_result_free(load_result_t *result);

void misfits_free(misfits_t *misfits);

/* Loads files into a collection; one call does it all, for the command and for other programs. Everything that can be known at
 * the end is in *result, also after a failure (counts of what was settled). False: err has status and sentence; status 2 (some
 * rejects, or files skipped) is a success with err->status set. */
bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err);

#endif
