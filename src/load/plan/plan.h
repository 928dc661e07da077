/* plan: what to load, and in which form. The main thread makes the plan before anything is written: the format (given, kept by
 * the catalog or guessed), the inputs (listed and checked against the format), the filter, the shard key, the indexes, and what
 * dumps among the inputs say of their collection. Invariants:
 *
 * - A plan_t says what is loaded, a target_t (target.h) where it goes, a run_t (run.h) who loads it now. A target points to its
 *   plan, a run to both. The plan is made in target/make_plan.c, because the catalog may keep the format.
 * - Without --format, the server is connected before records are read, since the catalog may keep the format. Until the inputs
 *   are registered, the catalog may still change the plan: its format, --existing, its columns. After that all threads only
 *   read the plan, except for the result. */
#ifndef TIPPLE_LOAD_PLAN_PLAN_H
#define TIPPLE_LOAD_PLAN_PLAN_H

#include "catalog/catalog.h"
#include "format/records.h"
#include "input/manifest.h"
#include "load/blocks/block.h"
#include "load/spec/load_result.h"
#include "load/spec/load_spec.h"
#include "server/cluster.h"

enum { PLAN_MOST_INDEXES = 64, PLAN_MOST_USUAL_THREADS = 64 };

typedef struct {
    const load_spec_t *spec;
    load_result_t *result; /* filled by whoever finds something out that the load reports */
    schema_t *schema;
    char *format_text;      /* the file of a guessed format; NULL: --format was given */
    header_column_t *added; /* the columns of the schema's last fields, which this load adds */
    size_t added_count;
    text_t left_out;  /* columns that the catalog knows to be left out of several inputs */
    uint64_t widened; /* as in catalog_settings_t */
    filter_t *filter;
    existing_t existing;
    shardkey_t shard_key; /* of --shard-key; without the option, or with `none`, the `_id` */
    bool one_shard;       /* --shard-key none */
    index_spec_t indexes[PLAN_MOST_INDEXES]; /* those of --index first */
    size_t index_count;
    bson_t *dumped;  /* the options that a dump has for its collection; NULL: none */
    bson_t *options; /* for a new collection: --create, completed by `dumped` */
    manifest_t manifest;
    misfits_t misfits;   /* found, but not yet moved to the result's list */
    char *retry_options; /* for a command in the reject file */
} plan_t;

/* Frees what target_make_plan made. */
void plan_free(plan_t *plan);

/* ---- target/dump_metadata.c: what --create and dumps among the inputs say of the collection ---- */

/* Reads the metadata of dumps, after the inputs were listed. */
bool plan_take_dumps(plan_t *plan, err_t *err);

/* True if a new collection gets this option. */
bool plan_has_option(const plan_t *plan, const char *option);

/* True if --index asks for this index. */
bool plan_has_asked(const plan_t *plan, const index_spec_t *index);

/* True if --index asks for this index in words: then it gets the collation of its collection. As a server lists an index, it
 * has none unless it names one. */
bool plan_gets_collation(const plan_t *plan, const index_spec_t *index);

#define PLAN_NO_METADATA "take the metadata of the dump away, and give its other indexes by --index"

/* ---- target/find_format.c; plan_check_copies is in target/load_catalog.c ---- */

bool plan_list_inputs(plan_t *plan, err_t *err); /* once */

/* Finds out, without --id, whether the documents bring their `_id`s; after the inputs were listed. The catalog may overrule it. */
bool plan_find_id(plan_t *plan, err_t *err);

/* Refuses --copies (status 1) unless the `_id`s are made of the records' positions. */
bool plan_check_copies(const plan_t *plan, err_t *err);

/* Decides what becomes of columns that the format lacks; before the inputs are checked. */
bool plan_take_new_columns(plan_t *plan, err_t *err);

/* Notes for the result what a header lacks of the format, and the columns that are left out. One thread at a time. */
bool plan_note_header(plan_t *plan, const active_piece_t *file, const dialect_t *dialect,
                      const text_t *unknown, err_t *err);

/* ---- target/shard_key.c ---- */

/* True if this shard key brings all documents with the same `_id` to one shard. */
bool plan_check_key_of_ids(const plan_t *plan, const shardkey_t *key, err_t *err);

#endif
