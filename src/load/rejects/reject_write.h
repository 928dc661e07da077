/* reject_write: the only place that writes reject files (reject_file.h has what is in them). The file is opened for the first reject
 * that it lacks, and locked as long as the load lives. A second load, or a load of another collection (the file names its catalog),
 * takes the next free name: NAME.2, NAME.3 and so on. Entries are only appended, whole ones at a time: the beginning of an entry that
 * could not be written whole is cut off. One thread at a time. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_WRITE_H
#define TIPPLE_LOAD_REJECTS_REJECT_WRITE_H

#include "base/text.h"
#include "load/blocks/block.h"
#include "load/rejects/reject_file.h"

/* Borrowed, as long as the writer lives. */
typedef struct {
    const char *path;
    const char *retried;    /* the reject file that the records come from, which stays as it is; or NULL */
    const char *again;      /* retry_options, for the comment in the file; or NULL */
    const char *catalog;    /* the own id of the collection's catalog; NULL or "": unknown */
    reject_inputs_t inputs; /* of that catalog */
    const schema_t *schema;
} reject_target_t;

typedef struct {
    const active_piece_t *piece;
    uint64_t offset, line; /* line: 0 if unknown */
    uint32_t column;       /* 0: the whole line */
    const char *field;     /* or NULL */
    const char *reason;
    const uint8_t *bytes;
    uint64_t length; /* of the record; the first `kept` of its bytes are here */
    uint64_t kept;
    /* the hash of the bytes that were first rejected, if a user has edited them since; 0: these bytes */
    uint64_t of;
} reject_t;

enum { REJECT_PATH = 4096, REJECT_PLACE = PLACE_MAX + 12 };

typedef struct {
    const reject_target_t *target; /* NULL: not begun */
    char path[REJECT_PATH];
    int fd;      /* -1: not opened yet */
    int problem; /* errno of a failed write: later entries would begin in the middle of one */
    bool gone;   /* some of what was written is missing */
    off_t size;  /* the file is at least this long */
    off_t kept;  /* its size when it was opened, or at the last flush */
    char mark[REJECT_MARK];
    reject_known_t known; /* the rejects that the file has */
    bool own_is_retried;
    text_t spelling; /* of the dialect in a head */
} reject_writer_t;

/* True if a reject file is there or can be made. False also for a user's own file, to which nothing may be added. */
bool rejects_may_use(const char *path, err_t *err);

/* Opens no file for writing yet. If the retried file is the load's own, reads which rejects it has. False: status 8. */
bool reject_writer_begin(reject_writer_t *writer, const reject_target_t *target, err_t *err);
/* back: removes what was written since the last flush. Zeroed is allowed. */
void reject_writer_end(reject_writer_t *writer, bool back);

/* Writes an entry, unless the file has it. False: status 8. */
bool reject_writer_add(reject_writer_t *writer, const reject_t *reject, err_t *err);
bool reject_writer_flush(reject_writer_t *writer, err_t *err);

/* The line or the offset of a reject, for people; with the column if the line is known. */
const char *reject_place(const reject_t *reject, char out[REJECT_PLACE]);

#endif
