/* guess_study: one text, as one way cuts it: what guess_structure weighs. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STUDY_H

#include "format/cut/split.h"
#include "format/guess/structure/guess_cut.h"

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

/* ---- guess_study.c ---- */

bool guess_cut_all(study_t *study, const way_t *way, err_t *err);

/* Splits one of the records that were cut, by this delimiter, into study->split. */
bool guess_split(study_t *study, char delimiter, size_t record, err_t *err);
/* How many fields most records have; of equals, the larger number. Comments do not count, where there is anything else. */
size_t guess_usual_fields(const study_t *study);

/* Between blanks, and tabs where they count; a text in quotes is one word. */
size_t guess_count_words(const uint8_t *text, size_t length, bool tabs);

/* Is it a value of a type, or a null value? */
bool guess_is_typed(const uint8_t *text, size_t length);
/* What one value is by itself; nothing: empty, or a word for a null value. guess_is_typed is true of that, too. */
typedef enum { IS_NOTHING, IS_TYPED, IS_TEXT } value_is_t;
value_is_t guess_classify(const uint8_t *text, size_t length);

/* ---- guess_doubt.c: refuses what was found, where another reading may be right, or nothing divides the lines ---- */

bool guess_refuse_structure(study_t *study, const structure_t *best, const char *name, err_t *err);
/* A log whose #Fields: line names the columns that blanks divide is refused. */
bool guess_check_fields(const study_t *study, const char *name, err_t *err);
/* So is a text of which nothing but comments (##) is looked at. */
bool guess_check_hashes(const study_t *study, const char *name, err_t *err);
bool guess_refuse_two(const structure_t *one, const structure_t *other, const char *name, err_t *err);

/* ---- guess_first.c ---- */

/* Which lines come before the records, and which are comments. Returns how many records fit. */
size_t guess_find_first(study_t *study, structure_t *found, size_t *of, err_t *err);

/* ---- guess_rivals.c: what else may divide the lines ---- */

/* Two delimiters divide the same lines: which is right? *better: -1 the one, 1 the other, 0 nothing tells. False: out of
 * memory. */
bool guess_compare_rivals(study_t *study, const structure_t *one, const structure_t *other, int *better,
                          err_t *err);

/* Commas that may be a part of texts or numbers: behind words, before blanks; between the seconds of a time and their
 * fraction; so, too, semicolons beside a blank that may divide. False: err. */
bool guess_check_commas(study_t *study, const structure_t *found, const char *name, err_t *err);

/* ---- guess_colons.c ---- */

/* Do two colons make records, rather than stand in names such as std::vector: three columns or more, one of them of numbers or
 * the like, of times, or of links behind them; or two, of which the first is of numbers, or the other one of links? *are: so
 * it is. */
bool guess_are_two_colons(study_t *study, const structure_t *found, bool *are, err_t *err);

/* Do most lines hold links or times, of which one colon is a part; or are they times or addresses, such as 12:30:00,
 * 00:1a:2b:3c:4d:5e, fe80::1 or 10.0.0.1:80? */
bool guess_are_colons_of_texts(const study_t *study, const way_t *way);

/* *better: as of guess_compare_rivals, where the other one is a colon: it is never surely right, but for two. */
bool guess_compare_colons(study_t *study, const structure_t *found, int *better, err_t *err);

/* Colons that divide where nothing tells it, or may divide where nothing does. False: refused, or err. */
bool guess_check_colons(study_t *study, const structure_t *best, const char *name, err_t *err);

/* ---- guess_links.c ---- */

/* Does it begin as https://x does? */
bool guess_begins_link(const uint8_t *text, size_t length);
/* Is it of digits and colons, as 12:30, 12:30:00.5, and addresses such as fe80::1? */
bool guess_is_time(const uint8_t *text, size_t length);
/* Commas or semicolons, where each line may be one link that holds them. False: refused, or err. */
bool guess_check_links(study_t *study, const structure_t *found, const char *name, err_t *err);

/* ---- guess_within.c ---- */

/* Tabs within most records that something else divides; backslashes in front of what divides most of them. False: refused, or
 * err. */
bool guess_check_within(study_t *study, const structure_t *found, const char *name, err_t *err);

/* ---- guess_wide.c ---- */

/* Columns that blanks divide: as many words in each line, most of them numbers or in quotes, or several blanks in a row.
 * *unsure: each line may be one number, too. *even_words: each has as many words, two at least, and all but the first one such of digits. */
bool guess_is_aligned(study_t *study, bool *unsure, bool *even_words, err_t *err);

/* Is each line one number with a comma in it: 1.234,50, -5,25, 1,234,567? False: err. */
bool guess_is_of_amounts(study_t *study, bool *is, err_t *err);

/* Of columns that blanks divide: has a line words where most others have none, beside several blanks? Then a field of it may
 * be empty, and another one have a blank within. False: no line has, or err. */
bool guess_find_gap(study_t *study, const structure_t *found, size_t *record, err_t *err);

/* Is every second field of all records empty, or the same sign? Then the delimiter is that long: *wide. */
bool guess_is_widened(study_t *study, const structure_t *found, char wide[4], err_t *err);

/* Do most lines begin with a text in quotes, a blank, and more? */
bool guess_has_quoted_words(const study_t *study);

/* Blanks within values: only a person knows the widths. */
bool guess_refuse_by_width(const study_t *study, const char *name, err_t *err);

#endif
