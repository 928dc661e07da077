/* tuned: what tunes found, for loads and drills that leave threads or batch size to it (`auto`). It is kept on this host,
 * since it depends on this host as much as on the target: a line of JSON for each tune in a file in the user's cache folder
 * ($XDG_CACHE_HOME/tipple/tunes.json, or in ~/.cache). The last line of a target and compressor counts. Nothing is stored in
 * the target. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNED_H
#define TIPPLE_STUDY_TUNE_TUNED_H

#include "load/spec/load_spec.h"
#include "study/tune/matrix.h"

/* What a tune found. */
typedef struct {
    const load_spec_t *setting; /* the load to do again, with its compressor */
    const char *format;
    matrix_figure_t figure; /* of that setting */
    bool settled;
} tuned_found_t;

/* Keeps it. The target is identified by its collection and the URI's hosts. False: it is not kept, and err has the reason:
 * the setting was tried only once, a settled tune is kept and this one is not settled, or, with status 8, the file. */
bool tuned_keep(const char *uri, const tuned_found_t *found, err_t *err);

/* Where threads or batch size is OPTION_AUTO: sets it as the last tune of the target with the load's compressor found it,
 * or to the default where there was none, and says so (log_note). False: the URI is not valid. */
bool tuned_choose(load_spec_t *spec, err_t *err);

#endif
