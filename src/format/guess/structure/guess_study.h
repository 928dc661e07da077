/* guess_study: one text, as one way cuts it: what guess_structure.c and the search for the first record share. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H

#include "format/guess/structure/guess_structure.h"

enum { GUESS_MOST_RECORDS = 500 };

/* One text, as one way cuts it. */
typedef struct {
    const uint8_t *text, *end;
    bool last;
    const char *quote;   /* as a person says: see guess_options_t */
    char delimiter;      /* so, too, or as the first line tells */
    bool named;          /* a person says which line names the columns */
    size_t lines_before; /* of the whole text */
    schema_t schema;
    split_t split;
    size_t count;
    struct {
        uint16_t fields; /* 0: its quotes do not go around whole fields */
        bool hash;       /* begins with # */
        size_t at, length;
    } records[GUESS_MOST_RECORDS];
} study_t;

/* ---- guess_cut.c ---- */

bool guess_cut_all(study_t *study, const way_t *way, err_t *err);

/* Splits one of the records that were cut, by this delimiter, into study->split. */
bool guess_split(study_t *study, char delimiter, size_t record, err_t *err);
/* How many fields most records have; of equals, the larger number. Comments do not count, where there is anything else. */
size_t guess_usual_fields(const study_t *study);

/* Is it a value of a type, or a null value? */
bool guess_is_typed(const uint8_t *text, size_t length);
/* What one value is by itself; nothing: empty, or a word for a null value. guess_is_typed is true of that, too. */
typedef enum { IS_NOTHING, IS_TYPED, IS_TEXT } value_is_t;
value_is_t guess_classify(const uint8_t *text, size_t length);

/* ---- guess_first.c ---- */

/* Which lines come before the records, and which are comments. Returns how many records fit. */
size_t guess_find_first(study_t *study, structure_t *found, size_t *of, err_t *err);

#endif
