/* guess_study: the beginning of one text, as one way cuts it. guess_structure.c, guess_cut.c and guess_first.c share it. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H

#include "format/guess/structure/guess_structure.h"

enum { GUESS_MOST_RECORDS = 500 };

typedef struct {
    const uint8_t *text, *end;
    bool last;
    const char *quote;   /* as the user says: see guess_options_t */
    char delimiter;      /* as the user or a first line sep=; says; 0: not said */
    bool named;          /* the user says which line names the columns */
    size_t lines_before; /* of the whole text */
    schema_t schema;
    split_t split;
    size_t count;
    struct {
        uint16_t fields; /* 0: a quote is odd */
        bool hash;       /* the record begins with # */
        size_t at, length;
    } records[GUESS_MOST_RECORDS];
} study_t;

/* ---- guess_cut.c ---- */

/* Cuts the first records (GUESS_MOST_RECORDS). */
bool guess_cut_all(study_t *study, const way_t *way, err_t *err);

/* Splits one of the records that were cut, by this delimiter, into study->split. */
bool guess_split(study_t *study, char delimiter, size_t record, err_t *err);
/* The number of fields that most records have; if two numbers are as frequent, the larger. Comments count only if there is
 * nothing else. */
size_t guess_usual_fields(const study_t *study);

/* True for a value of a type, and for a null value. */
bool guess_is_typed(const uint8_t *text, size_t length);
/* What one value is by itself; nothing: empty, or a null word. guess_is_typed is true for that, too. */
typedef enum { IS_NOTHING, IS_TYPED, IS_TEXT } value_is_t;
value_is_t guess_classify(const uint8_t *text, size_t length);

/* ---- guess_first.c ---- */

/* Finds the lines before the records, and the comments. Returns how many of *of records have the usual number of fields. */
size_t guess_find_first(study_t *study, structure_t *found, size_t *of, err_t *err);

#endif
