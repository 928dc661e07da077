#include "input/file/fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int error;
    status_t status;
    const char *sentence;
} reason_t;

#define TOO_MANY                                                                                             \
    "too many open files; raise the limit of this process (ulimit -n) or of this host (fs.file-max), or "    \
    "lower --threads, then run the same command again"

static const reason_t reasons[] = {
    {ENOENT, STATUS_INPUT, "there is no such file; check the name and the folder"},
    {EACCES, STATUS_INPUT, "this user may not read it; allow it (chmod, chown) or run as a user who may"},
    {EISDIR, STATUS_INPUT, "is a folder where a file is meant; name a file"},
    {ENXIO, STATUS_INPUT,
     "nothing can be read from it (a socket, or a device that is not there); pipe the data in"},
    {EIO, STATUS_INPUT,
     "the disk could not read it (input/output error); see the system's log, and try a copy "
     "of the file on another disk"},
    {EMFILE, STATUS_HOST, TOO_MANY},
    {ENFILE, STATUS_HOST, TOO_MANY},
    {EINTR, STATUS_INTERRUPTED, "interrupted while it was to be read"},
    {ENOMEM, STATUS_HOST,
     "this host is out of memory; lower --memory or --threads, then run the same command again"},
};

bool fault_system(err_t *err, const char *name, int error) {
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == error)
            return err_set(err, reasons[i].status, "%.1000s: %s", name, reasons[i].sentence);
    return err_set(err, STATUS_INPUT, "%.1000s: cannot be read: %s", name, strerror(error));
}

bool fault_at(err_t *err, const char *name, uint64_t offset, int error) {
    char place[1100];
    snprintf(place, sizeof place, "%.950s: byte %llu", name, (unsigned long long)offset);
    return fault_system(err, place, error);
}

bool fault_changed(err_t *err, const char *name) {
    err_set(err, STATUS_INPUT,
            "%.1000s: changed while it was read; wait until nothing writes to it any more, then run the same "
            "command again",
            name);
    err->changed = true;
    return false;
}

bool fault_stopped(err_t *err, const char *name, int signal) {
    return err_set(err, (status_t)(128 + signal), "interrupted while waiting for %.1000s", name);
}
