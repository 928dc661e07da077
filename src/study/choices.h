/* choices: what `tune` varies: the given lists, completed with what this host and the target suggest; and all
 * combinations of them: an array of choices (everything but threads and batch), and for each of them the settings of a
 * matrix. Main thread. */
#ifndef TIPPLE_STUDY_CHOICES_H
#define TIPPLE_STUDY_CHOICES_H

#include "load/load.h"
#include "study/matrix.h"

enum { CHOICES_LISTED = 16, CHOICES_MOST_CELLS = 512 };

/* As given; choices_fill fills in empty lists. */
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
    const char *concern;    /* the write concern of documents; NULL: the default of a load, which is safe */
    uint32_t routers;       /* 0: all of the URI's */
    bool direct;
} choice_t;

/* Fills in empty lists. Threads: powers of two from 1 up to four for each CPU of this host (8 to 32); on a cluster also
 * up to four for each shard (at most 64). Batches: 100, 300, 1000 and 3000. Everything else: one choice, the default of
 * a load. shards: 0 if the target is not a cluster. */
void choices_fill(choice_lists_t *lists, const load_spec_t *load, size_t shards);

/* Status 1 for lists that this kind of target does not support, or that give too many settings. */
bool choices_check(const choice_lists_t *lists, const char *uri, server_kind_t kind, err_t *err);

/* May acknowledged documents be lost with this write concern? And what to write in the URI for it; NULL: nothing. */
bool choice_is_unsafe(const choice_t *choice);
const char *choice_uri_concern(const choice_t *choice);

/* Makes all combinations; the caller frees both arrays. */
bool choices_combine(const choice_lists_t *lists, choice_t **choices, size_t *choice_count,
                     matrix_setting_t **settings, size_t *cell_count, err_t *err);

/* "clustered, zstd, 2 routers": only what differs between the choices; "" if there is one choice. */
enum { CHOICE_NAME = 96 };
const char *choice_name(const choice_lists_t *lists, const choice_t *choice, char out[CHOICE_NAME]);

/* Fills in what was not given with what a load would find in an existing target: clustered or plain, its compressor,
 * its shard key (into `key`). If the target does not exist, nothing changes. Writes nothing. */
bool choices_like_target(const char *uri, int64_t patience_ns, load_spec_t *load, char key[512], err_t *err);

#endif
