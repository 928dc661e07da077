/* server_errors: the error codes of servers, as a table: what each means for a load, and what the user can do. Pure: it
 * does not use the driver, so all code that decides can be tested and simulated without a server. */
#ifndef TIPPLE_SERVER_SERVER_ERRORS_H
#define TIPPLE_SERVER_SERVER_ERRORS_H

#include "base/err.h"

#include <stdint.h>

/* Codes that are treated individually. */
enum {
    CODE_UNAUTHORIZED = 13,
    CODE_NAMESPACE_NOT_FOUND = 26,
    CODE_NAMESPACE_EXISTS = 48,
    CODE_COMMAND_NOT_FOUND = 59,
    CODE_INVALID_OPTIONS = 72,
    CODE_INDEX_OPTIONS_CONFLICT = 85,
    CODE_NOT_ON_A_VIEW = 166,
    CODE_OTHER_COLLECTION = 361,
    CODE_TOO_LARGE = 10334,
    CODE_DUPLICATE_KEY = 11000,
    CODE_STALE_CONFIG = 13388,
};

typedef enum {
    CODE_UNKNOWN, /* not in the table: treated as the server's fault until more is known */
    CODE_PASSING, /* network, election, moving chunks, full queues: try again; a write may have happened */
    CODE_NOT_ALLOWED, /* password, permission: status 1 */
    CODE_STATE,       /* the target's state, whatever is sent: read-only, disk full, another collection */
    CODE_OF_DOCUMENT, /* the document's own fault, if a write error has it; the table lists all such codes */
} code_class_t;

typedef struct {
    int code;
    code_class_t class;
    status_t status;
    const char *hint; /* what to do; NULL: there is no general advice */
} code_row_t;

/* CODE_UNKNOWN for a code that is not in the table. */
code_row_t code_row(int code);

/* words: the server's own, for codes that say little; NULL or "": none. */
code_class_t code_class(int code, const char *words);

/* What to do about a state of the server that no code shows, only the words. */
extern const char code_hint_room[];

/* Is a write error of this code a reject? Not for 11000: there it depends on the index. */
bool code_rejects(int code);

#endif
