/* job: one running load, and what its parts share. Only for files of src/load. */
#ifndef TIPPLE_LOAD_RUN_JOB_H
#define TIPPLE_LOAD_RUN_JOB_H

#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/register/register.h"
#include "catalog/store/store_mongo.h"
#include "format/filter.h"
#include "input/manifest.h"
#include "load/feed/feeder.h"
#include "load/rate/rate_step.h"
#include "load/rate/throttle.h"
#include "load/rejects/fixes.h"
#include "load/rejects/reject.h"
#include "load/spec/load_result.h"
#include "load/spec/load_spec.h"
#include "load/spec/progress.h"
#include "load/threads/loader.h"
#include "server/cluster.h"

enum { JOB_MOST_DEFAULT_THREADS = 64, JOB_MOST_INDEXES = 64 };

/* A portion (portion_t) is what this load has read in the last two seconds, within these bounds. */
enum { JOB_LEAST_PORTION = 1 << 20, JOB_MOST_PORTION = 64 << 20 };

typedef struct retry_marks retry_marks_t;

typedef struct {
    const load_spec_t *spec;
    load_result_t *result;
    schema_t *schema;
    char *retry_options;    /* for a command in the reject file */
    char *format_text;      /* the file of a guessed format; NULL: --format was given */
    header_column_t *added; /* the columns of its last fields, which this load adds */
    size_t added_count;
    text_t left_out;  /* columns that the catalog knows to be left out of several inputs */
    uint64_t widened; /* as in catalog_settings_t */
    filter_t *filter;
    shardkey_t shard_key; /* of --shard-key; without it, or with `none`, that of the `_id` */
    bool one_shard;       /* --shard-key none */
    index_spec_t indexes[JOB_MOST_INDEXES];
    size_t index_count;
    bson_t *dumped;  /* the options that a dump has for its collection; NULL: none */
    bson_t *options; /* for a new collection: --create, and what the dump has besides */
    manifest_t manifest;
    misfits_t misfits; /* on their way to the result's */
    server_t *server;
    mongoc_client_t *client;
    collection_t place;
    bool drop_done, dropped; /* --drop has ended; and it has taken documents away */
    bool touched; /* something was taken away or loaded: no refusal says any more that nothing was touched */

    /* on a cluster */
    bool placed;       /* this load has sharded the collection, or tried to */
    bool must_balance; /* a shard that is being drained has chunks */
    bool held;         /* this load has turned balancing off */
    bool was_off;      /* a user had turned balancing off before --drop */

    /* the catalog: the main thread's */
    store_t *store;
    catalog_settings_t settings;
    load_id_t id;     /* of this load; nobody: it is not written down (yet) */
    load_id_t before; /* registration_t.before */
    existing_t existing;
    /* a load that had replaced documents did not end well, and messages of it may be on their way, */
    bool inherited;
    bool outlived; /* or not any more */
    int64_t lease_ms;
    char process[25]; /* of a standalone, when the load began */
    heartbeat_t *heartbeat;
    atomic_ullong documents;     /* loaded or already there, as last looked at: for the heartbeat's thread */
    registration_t registration; /* an input each, in the order of the manifest */
    const removed_t *removed;    /* inputs that are being taken out */
    size_t removed_count;
    reject_inputs_t known_inputs;
    int64_t registered_ns;       /* by clock_awake_or_not_ns, before the catalog was asked for them */
    ledger_t ledger;             /* nothing in it: every file is read, as in a dry run */
    char own_catalog[STORE_OWN]; /* catalog_header_t.own */
    bool began_bound;            /* the collection had a format when the catalog was opened */
    bool waits_told;
    size_t lost_told; /* pieces that were lost when it was last said */

    fixes_t *fixes; /* --retry: what its reject file says */
    retry_marks_t *marks;
    places_t *places;        /* --retry: all inputs that the collection knows */
    places_t *places_before; /* the same, before any of them was ours */
    load_file_t *files;      /* pieces of inputs, as the ledger's works; without a ledger, inputs */
    size_t file_count;
    uint64_t to_read;         /* bytes on disk of those that were not done when the load began */
    const load_file_t *first; /* that was not done then; or NULL */
    hand_out_t *hand_out;
    void **kept; /* memory that goes with the load */
    size_t kept_count, kept_room;
    late_t *late;                /* documents that may come late */
    const load_file_t *ended_by; /* a file that could not be read on, nor be left out; or NULL */
    const load_file_t *aside;    /* the first file that is skipped, until its blocks are settled */
    news_t *torn;                /* last records without a line end, that wait to be sent */
    feeder_t *feeder;

    load_state_t loading;
    loader_t *loaders[LOAD_MOST_THREADS];
    uint32_t loader_count;
    counts_t twice; /* of blocks that were counted before: see count_once in collect.c */
    progress_t progress;
    step_t step; /* what is done besides moving data */
} job_t;

/* target.c: the deployment, the collection and its catalog. The target is looked at first, so that one that must not be
 * loaded into is left as it was. */
bool job_connect(job_t *job, err_t *err);
bool job_open_target(job_t *job, err_t *err);
/* Is there a collection to load again into (--retry)? */
bool job_may_retry(job_t *job, err_t *err);

/* dump_metadata.c: what --create and dumps among the inputs say of the collection. take: when the inputs are listed. may_make:
 * can a new collection have these options? Before anything is changed. has_option: will a new one have this option? has_asked: is this
 * one of the job's indexes asked for by --index? gets_collation: in words, so that it has the collation of its collection? An index
 * that is written as a server lists it has none then. keep_collations: sees to that, when the collection is there. */
bool job_take_dumps(job_t *job, err_t *err);
bool job_may_make(const job_t *job, err_t *err);
bool job_has_option(const job_t *job, const char *option);
bool job_gets_collation(const job_t *job, const index_spec_t *index);
void job_keep_collations(job_t *job);
bool job_has_asked(const job_t *job, const index_spec_t *index);
#define JOB_NO_METADATA "take the metadata of the dump away, and give its other indexes by --index"

/* find_format.c. list_inputs: once. find_format: without --format; connects first. */
bool job_find_format(job_t *job, err_t *err);
/* Do the documents bring their `_id`s? The catalog may say otherwise. Without --id; after list_inputs. */
bool job_find_id(job_t *job, err_t *err);

/* columns.c. take: what becomes of columns that the format lacks; before the inputs are checked. list: those that were added, for the
 * catalog and the result; once the catalog was looked at. add: writes them down; when the inputs are registered. see: for
 * feeder_options_t. leave_out_columns: for the main thread; those of file->left_out. */
bool job_take_new_columns(job_t *job, err_t *err);
bool job_list_added(job_t *job, const catalog_header_t *header, err_t *err);
bool job_add_columns(job_t *job, err_t *err);
bool job_see_columns(void *context, load_file_t *file, const dialect_t *dialect, const text_t *unknown,
                     err_t *err);
bool job_leave_out_columns(job_t *job, const load_file_t *file, err_t *err);

/* With --copies, documents have `_id`s of their places. */
bool job_check_copies(const job_t *job, err_t *err);
bool job_list_inputs(job_t *job, err_t *err);

/* target.c: --existing. bound: the name that the catalog has, or NULL. */
bool job_find_existing(job_t *job, const char *bound, err_t *err);
/* May the inputs be loaded one after the other, where documents are replaced? Before they are registered. */
bool job_check_turns(job_t *job, err_t *err);

/* shard_key.c. key_of_ids: does this key bring all documents with one `_id` of the data to one shard? unique_ids: does the one that
 * the collection has now, if any? new_key: does all that is asked for go with --shard-key, or else the `_id`? present_key: with the
 * key that the collection has already, as far as this user may read it? build: indexes that are asked for and have the fields of the
 * key, before the empty collection is sharded. */
bool job_check_key_of_ids(const job_t *job, const shardkey_t *key, err_t *err);
bool job_check_unique_ids(const job_t *job, err_t *err);
bool job_check_new_key(const job_t *job, err_t *err);
bool job_check_present_key(const job_t *job, err_t *err);
bool job_build_key_index(const job_t *job, const shardkey_t *key, err_t *err);

/* move_data.c: starts the threads, waits until they have moved all data, and ends them. *err: why not all was moved;
 * what was settled until then is written down all the same, where that is possible. */
bool job_move_data(job_t *job, err_t *err);
/* The next phase begins: in the timeline, and for whoever watches. */
void job_enter(job_t *job, timeline_phase_t phase);
uint64_t job_bytes_to_read(const job_t *job); /* in all, without what other loads have done meanwhile */

/* load_catalog.c: what a load has to do with the catalog, from its first look to its end. */
bool job_look_at_catalog(job_t *job, err_t *err); /* writes nothing; refuses what must not be loaded into */
bool job_enroll(job_t *job, err_t *err);          /* this load is alive from now on */
bool job_open_catalog(job_t *job, err_t *err);    /* after the collection was made */
bool job_drop(job_t *job, err_t *err);
/* How to wait for the other loads of the collection, until they have ended or are taken for dead. */
others_t job_others(job_t *job, int64_t lease_ms);
void job_close_catalog(job_t *job, const err_t *err, bool ok);
/* Makes durable what was acknowledged so far, and its rejects. Status 4 if some of it may be lost. */
bool job_make_durable(job_t *job, err_t *err);

/* register_inputs.c: makes job->files. Inputs that are refused may be skipped: then the load begins again with the others (err->again).
 * tell_what_is_there: tells the rejects what the catalog knows of inputs that are
 * begun; before anything is handed out. */
bool job_register_inputs(job_t *job, err_t *err);
void job_tell_what_is_there(const job_t *job);
/* Has the input become what another load has registered meanwhile? */
bool job_has_grown(const job_t *job, const ledger_input_t *input);

/* remove_inputs.c. remove: takes inputs that have changed out of the catalog, with their documents (or they have none). */
bool job_may_remove_inputs(const job_t *job, err_t *err); /* May this user remove their documents? */
bool job_remove_inputs(job_t *job, removed_t *inputs, size_t count, err_t *err);
/* What a `tipple forget --delete`, or a load with --reload-changed, has left. */
bool job_finish_removals(job_t *job, err_t *err);
/* Inputs that another command has removed while this load worked on them: what it has sent of them since then is to be
 * removed, too. After its threads have ended. */
void job_tell_removed(job_t *job);

/* conduct.c: the main thread while data moves: the coordinator's functions. False: the load ended before
 * everything was done. */
bool job_conduct(job_t *job, err_t *err);
/* Without a catalog: waits until everything is read and settled. */
bool job_wait(job_t *job, block_t **done, err_t *err); /* *done: the settled blocks, to be freed */
/* What was settled is written down, after the threads have ended. */
bool job_flush(job_t *job, err_t *err);

/* answer.c: what feeders and senders cannot do without the catalog, which they ask for; the collection belongs to this
 * load's format; and what they are to know of a piece, before it is handed out. */
void job_answer(job_t *job);
bool job_bind(job_t *job, err_t *err);
bool job_tell_file(job_t *job, const work_t *work, load_file_t *file, err_t *err);

/* collect.c: what the threads have settled and found out, into the ledger; and records that were held back, on to the
 * senders, once the catalog knows their places. */
bool job_collect(job_t *job, err_t *err);
void job_send_torn(job_t *job);

/* shards.c: places an empty collection over the shards, and reads the map of one that is sharded. After the
 * collection was made. */
bool job_open_shards(job_t *job, err_t *err);
/* Do --shard-key and --direct go with this server, and can the collection be spread without a contradiction to what a
 * person has set? Before anything is touched. */
bool job_may_shard(const job_t *job, err_t *err);
/* Chunks stay where they are from now on; the map again, now and then; zones and balancing as they were, when
 * no other load is alive. */
void job_hold_shards(job_t *job);
void job_follow_shards(job_t *job);
void job_close_shards(job_t *job);
size_t job_shard_count(const job_t *job); /* 1 where there are none */

/* late_misfits.c: a feeder could not begin with this file, for the reason in *err. With --skip-bad-files:
 * named and put aside, and true. Not from two threads at once. */
bool job_skip_misfit(void *context, load_file_t *file, err_t *err);
/* If the load ended because of such a file: adds to *err what was loaded before it. */
void job_tell_late_misfit(const job_t *job, err_t *err);

/* retry_hold.c: --retry owns the pieces whose rejects it fixes until it gives them back. It waits for loads that own
 * them. */
bool job_hold_retried(job_t *job, err_t *err);
/* The catalog is asked whether they still are this load's, now and then or in any case; and senders may go on. */
bool job_keep_held(job_t *job, bool in_any_case, err_t *err);
/* Changes of what is held. False where it is held no more. */
bool job_change_held(job_t *job, const entry_change_t *changes, size_t count, err_t *err);
void job_give_back_held(job_t *job);

/* retry_marks.c: fixed records in the catalog: noted before they are sent, confirmed when they are there. Read fills
 * job->fixes, before anything is held; note judges them, when it is. Settle finds out what is there, and is called before job_make_durable, confirm after it. */
bool retry_marks_read(job_t *job, err_t *err);
bool retry_marks_note(job_t *job, err_t *err);
bool retry_marks_verdict(const retry_marks_t *marks, size_t number, const retry_t *retry,
                         fix_verdict_t *verdict);
bool retry_marks_settle(job_t *job, const block_t *done, err_t *err);
bool retry_marks_confirm(job_t *job, err_t *err);
void retry_marks_free(retry_marks_t *marks); /* NULL is allowed */

/* retry.c: instead of feeders, the records of a reject file, as blocks of one record each: what they come to is noted, as many
 * loaders as have room for such records are to start; then to the end. */
bool job_prepare_again(job_t *job, err_t *err);
bool job_load_again(job_t *job, err_t *err);

#endif
