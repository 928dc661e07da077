/* parts_inner: what the modules of parts share. */
#ifndef TIPPLE_QUERY_SPLIT_PARTS_INNER_H
#define TIPPLE_QUERY_SPLIT_PARTS_INNER_H

#include "query/split/parts.h"

enum { NUMBER = 16 };

/* "7": the key of the list's next element */
typedef struct {
    bson_t *list;
    uint32_t count;
    char digits[NUMBER];
} list_t;

static inline const char *parts_next_key(list_t *list) {
    const char *key;
    bson_uint32_to_string(list->count++, &key, list->digits, sizeof list->digits);
    return key;
}

/* {NAME: value} */
static inline void parts_add(list_t *list, const char *name, const bson_t *value) {
    bson_t stage;
    bson_append_document_begin(list->list, parts_next_key(list), -1, &stage);
    bson_append_document(&stage, name, -1, value);
    bson_append_document_end(list->list, &stage);
}

typedef struct {
    parts_t *parts;
    uint32_t number; /* of the stage, from 1 */
    char name[64];
} reader_t;

/* ---- parts_stages.c ---- */

/* Says why the stage at hand cannot be split. Always false. */
bool parts_refuse(reader_t *reader, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The only item of a map: a stage, or an accumulator. */
bool parts_only_one(const bson_iter_t *map, bson_iter_t *one);

/* Goes on to a stage: its name and value. False: it is not a stage; the server will say so. */
bool parts_open_stage(reader_t *reader, const bson_iter_t *stage, bson_iter_t *value);

/* Of the stage at hand: is it a kind of $group; if not, may it stand before one? */
bool parts_groups(const reader_t *reader);
bool parts_leads(reader_t *reader, const bson_iter_t *value);

/* May this stage stand after the $group? */
bool parts_follows(reader_t *reader, const bson_iter_t *stage);

/* ---- parts_group.c ---- */

/* The stage at hand as the $group of a part; what puts the parts together is added to `merge`. */
bool parts_take_group(reader_t *reader, const bson_iter_t *value, list_t *merge);

#endif
