/* options: what can be set by name, as rows of a table. A command line, the environment, a caller of the library and the
 * printed pages walk over the same rows. The value of a row lies at its offset in the struct that the table is for. */
#ifndef TIPPLE_LOAD_SPEC_OPTIONS_H
#define TIPPLE_LOAD_SPEC_OPTIONS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    OPTION_FLAG,         /* bool: alone, or with true or false */
    OPTION_TEXT,         /* const char * */
    OPTION_LIST,         /* texts_list_t: may be given several times */
    OPTION_COUNT,        /* uint64_t: 1000, 5k, 2m */
    OPTION_COUNT32,      /* uint32_t */
    OPTION_COUNT32_AUTO, /* the same, or "auto": OPTION_AUTO */
    OPTION_SIZE,         /* uint64_t: 64K, 256M */
    OPTION_TIME,         /* int64_t ns: 30s, 5m */
    OPTION_CUSTOM,       /* set by `custom`, which gets the address of the value */
} option_kind_t;

#define OPTION_AUTO UINT32_MAX

/* The texts are borrowed; options_free frees the list. */
typedef struct {
    char **items;
    size_t count, room;
} texts_list_t;

typedef struct option {
    const char *name;  /* without the dashes */
    const char *group; /* NULL: that of the row before it */
    bool destroys;     /* it destroys something, or allows that: never proposed as the correction of a typo */
    bool once;         /* twice is refused, as both would be meant. Else the last one counts, for aliases */
    char letter;       /* or 0 */
    const char *argument; /* what --help calls it, NULL for flags */
    /* words that completion offers, "@formats", "@suites", "@files"; NULL: as the argument says */
    const char *offers;
    const char *help; /* one sentence or two */
    option_kind_t kind;
    size_t offset;        /* of its value in the command's struct */
    uint64_t least, most; /* of counts and sizes; most 0: no bound. least: of times, too */
    bool typed;           /* it destroys or selects data: never taken from the environment */
    bool tried;           /* `tipple tune` takes several values of it */
    unsigned takers;      /* of a shared table: the commands that take this row */
    bool (*custom)(void *at, const char *text, err_t *err); /* of a list: checks a text, at is NULL */
} option_t;

/* A row whose value is this member of the table's values_t. */
#define OPTION(called, is, member, ...)                                                                      \
    { .name = (called), .kind = OPTION_##is, .offset = offsetof(values_t, member), __VA_ARGS__ }

/* Sets the value of a row from a text, which is borrowed; NULL for a flag. False: the text is no value of this option, or holds
 * a password. */
bool option_set(const option_t *option, const char *text, void *values, err_t *err);

/* Frees the lists of a table's values. */
void options_free(const option_t *table, void *values);

/* Refuses a text that holds a password, since it would be written into a catalog or a report. where: "--id" */
bool option_no_password(const char *where, const char *text, err_t *err);

/* Copies a URI without the blanks at its ends. *uri is valid until the next call. */
bool option_take_uri(const char *text, size_t length, const char **uri, err_t *err);

#endif
