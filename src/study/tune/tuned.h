/* tuned: what tunes found, for loads and drills that leave threads or batch size to it (`auto`). It is kept on this host,
 * since it depends on this host as much as on the target: a line of JSON for each tune in a file in the user's cache folder
 * ($XDG_CACHE_HOME/tipple/tunes.json, or in ~/.cache). The last line of a target and compressor counts. Nothing is stored in
 * the target. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNED_H
#define TIPPLE_STUDY_TUNE_TUNED_H

#include "load/spec/load_spec.h"

/* The target is identified by its collection and the URI's hosts. setting: the load to do again, with its compressor.
 * Failure: status 8. */
bool tuned_write(const char *uri, const load_spec_t *setting, const char *format, double docs_per_second,
                 err_t *err);

/* Where threads or batch size is OPTION_AUTO: sets it as the last tune of the target with the load's compressor found it,
 * or to the default where there was none, and says so (log_note). False: the URI is not valid. */
bool tuned_choose(load_spec_t *spec, err_t *err);

#endif
