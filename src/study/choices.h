/* choices: what `tune` varies. The lists that were given, filled up with what this host and the target
 * suggest, and every combination of them: a row of choices (all but threads and batch), and for each of these
 * the settings of a matrix. Main thread. */
#ifndef TIPPLE_STUDY_CHOICES_H
#define TIPPLE_STUDY_CHOICES_H

#include "load/load.h"
#include "study/matrix.h"

enum { CHOICES_LISTED = 16, CHOICES_MOST_CELLS = 512 };

/* As given; a list of none is filled up by choices_fill. */
typedef struct {
    uint32_t threads[CHOICES_LISTED], batches[CHOICES_LISTED], routers[CHOICES_LISTED];
    size_t thread_count, batch_count, router_count;
    clustered_t clustered[2];
    size_t clustered_count;
    bool direct[2];
    size_t direct_count;
    const char *compressors[CHOICES_LISTED], *wires[CHOICES_LISTED]; /* block and wire */
    size_t compressor_count, wire_count;
    const char *concerns[CHOICES_LISTED]; /* "majority", "1", "2", ... */
    size_t concern_count;
} choice_lists_t;

typedef struct {
    clustered_t clustered;  /* as load_spec_t */
    const char *compressor; /* or NULL */
    const char *wire;       /* or NULL: as the URI says */
    const char *concern;    /* the write concern of documents; NULL: a load's own, which is safe */
    uint32_t routers;       /* 0: all of the URI's */
    bool direct;
} choice_t;

/* Threads from 1 doubled up to four a CPU of this host (8 to 32), and on a cluster to four a shard (64 at
 * most); batches of 100, 300, 1000 and 3000; one choice of everything else, the load's own. shards: 0 where
 * the target is no cluster. */
void choices_fill(choice_lists_t *lists, const load_spec_t *load, size_t shards);

/* Lists that do not go with this kind of target, or would be too many settings: status 1. */
bool choices_check(const choice_lists_t *lists, const char *uri, server_kind_t kind, err_t *err);

/* A write concern with which acknowledged documents may be lost; and what stands in the URI for it, or NULL.
 */
bool choice_is_unsafe(const choice_t *choice);
const char *choice_uri_concern(const choice_t *choice);

/* All combinations; free both. */
bool choices_combine(const choice_lists_t *lists, choice_t **choices, size_t *choice_count,
                     matrix_setting_t **settings, size_t *cell_count, err_t *err);

/* "clustered, zstd, 2 routers": what differs between the choices, so "" when there is only one. */
enum { CHOICE_NAME = 96 };
const char *choice_name(const choice_lists_t *lists, const choice_t *choice, char out[CHOICE_NAME]);

/* What a load into an existing target would find, into the options that were not given: clustered or plain,
 * its compressor, its shard key (into `key`). A target that does not exist leaves them alone. Nothing is
 * written. */
bool choices_like_target(const char *uri, int64_t patience_ns, load_spec_t *load, char key[512], err_t *err);

#endif
