/* study: what tune and drill have in common. A study finds the format of its files, reads the settings of the target,
 * and loads into a scratch collection next to the target: NAME.tipple.tune.ID or NAME.tipple.drill.ID, with the catalog
 * of the loads into it. ID is drawn, so studies of one target never meet. A study that is killed leaves its collection,
 * and the next study of the target drops it: when the process of the last load into it is gone from this host, or when
 * that load gave no sign of life for a day. The target is never written to. Main thread. */
#ifndef TIPPLE_STUDY_STUDY_H
#define TIPPLE_STUDY_STUDY_H

#include "load/spec/load_result.h"
#include "server/server.h"

typedef struct {
    const load_spec_t *given;
    load_spec_t load; /* the same into the scratch collection, with the settings of an existing target */
    char namespace[256], collection[280]; /* the target; the scratch collection */
    char where[512], version[32], format[128];
    server_t *server;        /* of the scratch collection; NULL: it is not open */
    mongoc_client_t *client; /* the main thread's */
    /* what `load` points into: */
    char *place, *guessed, *create, key[512];
    char **indexes;
    size_t index_count, index_room;
    char **inputs; /* the collections of dumps, by name */
    size_t input_count;
    bool told_rejects, no_checkpoints;
} study_t;

/* A target's URI with this tail after its collection's name. The caller frees it. NULL: status 1. */
char *study_place(const char *uri, const char *tail, err_t *err);

/* Finds the format: --format, or the one that the target's catalog keeps, or a guess. Refuses files that can be read
 * once only; why: "trials read their sample again and again". Fills in what no option says with what a load would find in
 * an existing target: its options, its shard key, and with `indexes` its indexes. Then opens the scratch collection. */
bool study_open(study_t *study, const load_spec_t *load, const char *tail, const char *why, bool indexes,
                err_t *err);
/* Opens the scratch collection for study->given, and drops what dead studies have left. tail: SCRATCH_TUNE or
 * SCRATCH_DRILL. */
bool study_open_scratch(study_t *study, const char *tail, err_t *err);

/* Drops the scratch collection and its catalog. */
bool study_drop(study_t *study, err_t *err);

/* Makes the servers write a checkpoint, so that sizes are known, and what one trial has not yet written does not slow
 * the next one. False: this user, or this kind of target, may not; it is not tried again. */
bool study_checkpoint(study_t *study);

/* A load of a setting as one of a sample of this many records: rejects do not end it, and are counted only. */
load_spec_t study_sample(const load_spec_t *setting, uint64_t records);

/* Loads of samples are silent, or they would warn of each reject many times: warns of rejects once. False: the sample's
 * load made no document (status 1). what: "measured". */
bool study_judge_sample(study_t *study, const counts_t *counts, const char *what, err_t *err);

/* Drops everything, and disconnects. ok, err: how the study ended. False: it failed, or something is left, which the
 * next study drops. */
bool study_close(study_t *study, bool ok, err_t *err);
void study_free(study_t *study);

#endif
