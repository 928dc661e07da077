/* supplies: what a study that loads many times needs before it changes anything: files that can be read again, and a
 * place for the rejects of its loads. Main thread. */
#ifndef TIPPLE_STUDY_SUPPLIES_H
#define TIPPLE_STUDY_SUPPLIES_H

#include "load/load.h"

#include <limits.h>

/* why: "trials read their sample again and again". *count: how many files there are. */
bool supplies_check_files(const load_spec_t *load, const char *why, size_t *count, err_t *err);

/* The format of a study's loads: --format, or what the files tell, which is said once. After supplies_check_files.
 * *guessed: the format file for load_spec_t.guessed, to be freed; NULL: there is a --format. */
schema_t *supplies_find_format(const load_spec_t *load, char **guessed, err_t *err);

typedef struct {
    char folder[PATH_MAX];
    char path[PATH_MAX + 16]; /* of the reject file in it */
} supplies_rejects_t;

/* In TMPDIR. study: "tune"; whose: "trials". Failure: status 8. */
bool supplies_make_rejects(supplies_rejects_t *rejects, const char *study, const char *whose, err_t *err);
void supplies_remove_rejects(supplies_rejects_t *rejects); /* a zeroed one is allowed */

/* Loads of samples would warn of each reject many times, and name a file that is deleted when they end. So they run at
 * LOG_SILENT, and the study says it once. If there are rejects, warns and returns true. */
bool supplies_tell_rejects(const counts_t *counts);

/* Makes a load one of a sample of this many records: rejects do not end it, and are only counted. */
void supplies_make_sample(load_spec_t *load, uint64_t records);

/* Always false. An error that says that all records were rejected is repeated without the file. */
bool supplies_all_rejected(const load_spec_t *load, err_t *err);

/* Did a sample's load make any document? what: "measured". If not: status 1. */
bool supplies_made_documents(const counts_t *counts, const char *what, err_t *err);

#endif
