/* fault: the sentences for files that cannot be opened or read. Any thread may call. */
#ifndef TIPPLE_INPUT_FILE_FAULT_H
#define TIPPLE_INPUT_FILE_FAULT_H

#include "base/err.h"

#include <stdint.h>

/* Why the system refused this file (an errno), and what to do. Always false. */
bool fault_system(err_t *err, const char *name, int error);

/* The same for a byte position in the file. */
bool fault_at(err_t *err, const char *name, uint64_t offset, int error);

/* The file is not the one that was listed: sets err->changed. Always false. */
bool fault_changed(err_t *err, const char *name);

/* A signal has ended a wait. Always false. */
bool fault_stopped(err_t *err, const char *name, int signal);

#endif
