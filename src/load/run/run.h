/* run: one load under way. A run_t holds what the catalog knows of the inputs, the pieces under way, the threads, and what these
 * share. The main thread makes it and owns it; senders use only `loading`, feeders also its callbacks. Only for files of
 * src/load. Invariants:
 *
 * - `pieces` has one entry for each work of the ledger, except with --retry. Blocks point into it, so it never moves.
 * - The ledger and the store are the main thread's. Other threads use them only while it waits (load_state_enter); what they
 *   have settled they hand back, and conduct.c collects it. */
#ifndef TIPPLE_LOAD_RUN_RUN_H
#define TIPPLE_LOAD_RUN_RUN_H

#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/register/register.h"
#include "load/feed/feeder.h"
#include "load/rate/throttle.h"
#include "load/rejects/fixes.h"
#include "load/rejects/reject.h"
#include "load/target/target.h"
#include "load/threads/loader.h"
#include "server/free_space.h"

/* A portion (portion_t) is as much text as this load has read in the last two seconds, within these bounds. */
enum { RUN_LEAST_PORTION = 1 << 20, RUN_MOST_PORTION = 64 << 20 };

typedef struct {
    plan_t *plan;
    target_t *target;

    /* what the catalog knows of the inputs */
    registration_t registration; /* one entry for each input, in the order of the manifest */
    int64_t registered_ns;       /* by clock_awake_or_not_ns: before the inputs were registered */
    ledger_t ledger;             /* empty in a dry run, which reads every file */

    /* --retry */
    fixes_t fixes;    /* the entries of its reject file; its items by input and place */
    places_t *places; /* all inputs of the catalog, read when the pieces were ours; NULL in a dry run */
    places_t *places_before; /* the same, read before any piece was ours */

    active_piece_t *pieces; /* as the ledger's works; in a dry run, inputs */
    size_t piece_count;
    uint64_t to_read;            /* bytes on disk of the files that were not done when the load began */
    const active_piece_t *first; /* the first of these; NULL: none */
    free_space_t *space;         /* warns where there is no room for them; NULL: nobody does */
    void **kept;                 /* see run_keep */
    size_t kept_count, kept_room;
    late_document_t *late;          /* documents that may arrive late */
    const active_piece_t *ended_by; /* a file that could neither be read further nor be skipped; or NULL */
    const active_piece_t *aside;    /* the first skipped file, until its blocks are settled */
    news_t *torn;                   /* last records without a line end, waiting to be sent */
    feeder_t *feeder;

    load_state_t loading;
    loader_t *loaders[LOAD_MOST_THREADS];
    uint32_t loader_count;
    counts_t twice; /* of blocks that were counted before: see count_once in conduct.c */
    progress_t progress;
} run_t;

/* ---- register_inputs.c ---- */

/* Makes run->pieces. Inputs that are refused may be skipped: then the load begins again with the others (err->again). */
bool run_register_inputs(run_t *run, err_t *err);

/* Gives the rejects what the catalog knows of inputs that earlier loads began. Call it before anything is handed out. */
void run_tell_what_is_there(const run_t *run);

/* True if the input is by now the longer version that another load has registered meanwhile. */
bool run_has_grown(const run_t *run, const ledger_input_t *input);

/* Notes in the catalog inputs that another command has removed while this load worked on them: what this load has sent of
 * them since then must be removed as well. Call it after the threads have ended. */
void run_tell_removed(run_t *run);

/* ---- move_data.c ---- */

/* Starts the threads, waits until they have moved all data, and ends them. False: *err says why not all was moved; what was
 * settled is written down all the same, where that is possible. */
bool run_move_data(run_t *run, err_t *err);

/* Shows how far the load is. bytes: of the inputs that are done with. */
void run_show_progress(run_t *run, const counts_t *counts, uint64_t bytes);

/* ---- conduct.c: the main thread while data moves ---- */

/* Makes durable what was acknowledged so far, and its rejects. Status 4 if some of it may be lost. */
bool run_make_durable(run_t *run, err_t *err);

/* Frees the memory with the run, not before: senders may still read that of a stream. Returns the
 * memory; NULL: it was NULL, or is freed now. */
void *run_keep(run_t *run, void *memory, err_t *err);

/* For feeder_options_t, called by feeders: numbers a stream, whose size is not known, while it is read; begins to load a stream that
 * goes on; notes the columns of a header, and which of them are left out. */
bool run_extend(void *context, active_piece_t *piece, uint64_t offset, err_t *err);
bool run_go_on(void *context, active_piece_t *piece, err_t *err);
bool run_see_columns(void *context, active_piece_t *piece, const dialect_t *dialect, const text_t *unknown,
                     err_t *err);

/* Runs the coordinator until everything is done. False: the load ended before that. */
bool run_conduct(run_t *run, err_t *err);

/* Without the coordinator: waits until everything is read and settled. *done: the settled blocks, to be freed. */
bool run_wait(run_t *run, block_t **done, err_t *err);

/* Writes down what was settled, after the threads have ended. */
bool run_flush(run_t *run, err_t *err);

/* Called when a feeder cannot begin or go on with this file, for the reason in *err. With --skip-bad-files: notes the file as
 * skipped, and returns true. Not from two threads at once. */
bool run_skip_misfit(void *context, active_piece_t *piece, err_t *err);

/* If the load ended because of such a file: adds to *err what was loaded before it. */
void run_tell_late_misfit(const run_t *run, err_t *err);

/* ---- retry/retry.c: the records of a reject file instead of feeders ----
 *
 * --retry owns the pieces whose rejects it fixes until its end. Fixes are noted in the catalog before they are sent, and
 * confirmed when they are there. */

/* Asks the catalog whether the pieces are still this load's, if the last answer is old or in any case; then senders may go on. */
bool run_keep_held(run_t *run, bool in_any_case, err_t *err);

/* Notes the fixes, and lowers the number of loaders to those that memory has room for. */
bool run_prepare_again(run_t *run, err_t *err);
bool run_load_again(run_t *run, err_t *err); /* to the end */

#endif
