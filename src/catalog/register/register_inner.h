/* What the files of register share: one matching of inputs and entries. register_lookup.c has the entries in several
 * orders, and the files that are under their paths today; register_recognise.c has the rules by which an input is
 * recognised; register_alike.c finds inputs that are like another one; register.c makes the entries of new inputs. */
#ifndef TIPPLE_CATALOG_REGISTER_REGISTER_INNER_H
#define TIPPLE_CATALOG_REGISTER_REGISTER_INNER_H

#include "catalog/register/register.h"

/* The entries that are not removed, in an order. compare: by the newest versions and the paths of two entries, or of an
 * entry and of an input. */
typedef struct {
    const entry_t **entries;
    int (*compare)(const version_t *left, const char *left_path, const version_t *right,
                   const char *right_path);
} order_t;

/* A file, asked about once: many entries may have one last name. */
typedef struct {
    enum { NOT_ASKED, NO_FILE, A_FILE } is;
    enum { NOT_READ, ITS_CONTENT, OTHER_CONTENT } holds; /* of an entry's */
    file_id_t file;
} asked_t;

/* The entries of one last name whose content is not under their path any more, by ordinal. They begin in `gone` where
 * those of the name begin in by_last_name. */
typedef struct {
    bool made;
    size_t gone;
} group_t;

/* The entries whose paths have a file today, by that file. */
typedef struct {
    bool made;
    const entry_t **files;
    size_t file_count;
} standing_files_t;

/* The position of a search among the files; begins as {0}. */
typedef struct {
    const char *member; /* of an archive, as the input's name says it; NULL: not begun */
    const char *rest;   /* of that name */
    size_t at;
} file_place_t;

/* Another path under which the file of an entry was recognised. */
typedef struct {
    const char *name;
    const entry_t *entry;
} further_t;

typedef struct packed_name packed_name_t; /* see register_alike.c */
typedef struct content content_t;         /* likewise */

typedef struct {
    registration_t *registering;
    entries_t entries; /* as read */
    entries_t fresh;   /* new ones, in the order of the inputs that have none of the former */
    order_t by_path, by_content, by_last_name;
    size_t count;          /* of each order */
    size_t *taken_by;      /* by entry: the number of the input that it is, + 1; 0: none's */
    const entry_t **found; /* by input: its entry */
    asked_t *there;        /* by entry: the file under its path */
    asked_t *own;          /* by input: the file that it is read from */
    further_t *further;    /* all of them, by name */
    size_t further_count;
    /* made when they are first needed */
    group_t *groups; /* by the place of the first in by_last_name */
    const entry_t **gone;
    standing_files_t *files;
    packed_name_t *packed;
    size_t packed_count;
    content_t *contents;
    size_t content_count;
} matching_t;

/* ---- register_lookup.c ---- */

bool register_sort(matching_t *m, err_t *err); /* makes the orders, and room for what is found */
void register_matching_free(matching_t *m);

const char *register_last_name(const char *path);
bool register_is_stream(const version_t *version);
/* True if the entry may be this input, as far as kinds go: a file by its path, a file by --input-name, or a stream. */
bool register_is_of_kind(const entry_t *entry, const wanted_t *wanted);
/* True if records of it may have been sent. An empty file, or a lone header line, has none: a longer file is simply
 * new. */
bool register_may_hold_records(const entry_t *entry);
int register_compare_content(const version_t *left, const char *left_name, const version_t *right,
                             const char *right_name);

/* The place of the first entry that is not before the input. */
size_t register_first_in(const matching_t *m, const order_t *order, const wanted_t *wanted);
/* The entry at this place; NULL after the last one that is equal to the input in this order. */
const entry_t *register_like_at(const matching_t *m, const order_t *order, const wanted_t *wanted, size_t at);

void register_take(matching_t *m, size_t wanted, const entry_t *entry);
bool register_is_taken(const matching_t *m, const entry_t *entry);
size_t register_input_of(const matching_t *m, const entry_t *entry); /* of one that is taken */

/* The file under the entry's path. */
const asked_t *register_what_stands(const matching_t *m, const entry_t *entry);
/* True if the file that the input is read from is under the entry's path. */
bool register_stands_itself(const matching_t *m, size_t number, const entry_t *entry);
/* True if the entry's content is under its path. The file is read for that. */
bool register_stands_content(const matching_t *m, const entry_t *entry);
/* The further name of the entry under which its content is, in another file than the input's; or NULL. */
const char *register_stands_further(const matching_t *m, size_t number, const entry_t *entry);
/* True if the input's file is a copy of the entry's, which is still there. False also if that is not known. */
bool register_stands_beside(const matching_t *m, size_t number, const entry_t *entry);

/* Searches. Each call returns the next entry that the input may be, or NULL; *at begins as 0, *place as {0}. */
/* Entries that were recognised under the input's name. */
const entry_t *register_next_of_further_name(const matching_t *m, const wanted_t *wanted, size_t *at);
/* Entries of the file that the input is read from, by whatever name. */
const entry_t *register_next_of_file(const matching_t *m, size_t number, file_place_t *place);
/* Entries of the input's last name with less than `below` bytes, whose files are nowhere any more. */
const entry_t *register_next_gone_below(const matching_t *m, size_t number, uint64_t below, size_t *at);

/* ---- register_recognise.c ---- */

/* Finds the entry of each input, or none. Failure: as catalog_register. */
bool register_match(matching_t *m, err_t *err);

/* ---- register_alike.c ---- */

/* Notes that the input may be what the entry is. */
void register_be_like_entry(const matching_t *m, size_t number, const entry_t *entry, like_t how);
void register_like_none(wanted_t *wanted);
/* Finds what each input that brings records resembles. */
bool register_find_alike(matching_t *m, err_t *err);

#endif
