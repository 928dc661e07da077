/* supplies: what the studies share: what they look up before they change anything, and what makes a load one of a
 * sample. Main thread. */
#ifndef TIPPLE_STUDY_SUPPLIES_H
#define TIPPLE_STUDY_SUPPLIES_H

#include "load/load.h"

/* The format of a study's loads: --format, or the one that the target's catalog keeps, or what the files tell, which is said
 * once. Refuses files that can be read once only; why: "trials read their sample again and again". *guessed: the format file for load_spec_t.guessed, to be freed;
 * NULL: there is a --format. */
schema_t *supplies_find_format(const load_spec_t *load, const char *why, char **guessed, err_t *err);

/* What an existing target has; the load's options point into it. */
typedef struct {
    char *create; /* to be freed */
    char key[512];
} target_settings_t;

/* Fills in what was not given with what a load would find in an existing target: its options, its shard
 * key. If the target does not exist, nothing changes. Writes nothing. */
bool supplies_like_target(server_t *server, mongoc_client_t *client, load_spec_t *load,
                          target_settings_t *own, err_t *err);

/* Loads of samples would warn of each reject many times. So they run at LOG_SILENT, and the study says it once. If there
 * are rejects, warns and returns true. */
bool supplies_tell_rejects(const counts_t *counts);

/* Makes a load one of a sample of this many records: rejects do not end it, and are counted only. */
void supplies_make_sample(load_spec_t *load, uint64_t records);

/* Did a sample's load make any document? what: "measured". If not: status 1. */
bool supplies_made_documents(const counts_t *counts, const char *what, err_t *err);

#endif
