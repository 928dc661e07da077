/* What the files of register share: the entries of the catalog in three orders (register_orders.c), the files that are
 * under their paths today (register_files.c, register_stands.c), the rules by which an input is recognised
 * (register_recognise.c; register_changed.c: if its content is another one) or told to be like another one (register_alike.c,
 * register_packed.c), and the keys of new entries (register_keys.c). */
#ifndef TIPPLE_CATALOG_REGISTER_REGISTER_INNER_H
#define TIPPLE_CATALOG_REGISTER_REGISTER_INNER_H

#include "catalog/register/register.h"

/* The entries that are not removed, in an order. compare: by the newest versions and the paths of two entries, or of an
 * entry and of what is looked for. */
typedef struct {
    const entry_t **entries;
    int (*compare)(const version_t *left, const char *left_path, const version_t *right,
                   const char *right_path);
} order_t;

/* A file, asked for once: many entries may have one last name. */
typedef struct {
    enum { NOT_ASKED, NO_FILE, A_FILE } is;
    enum { NOT_READ, ITS_CONTENT, OTHER_CONTENT } holds; /* of an entry's */
    file_id_t file;
} asked_t;

/* The entries of one last name whose content does not stand under their path any more, in the order of ordinals. They begin
 * in `gone` where those of the name do in by_last_name. */
typedef struct {
    bool made;
    size_t gone;
} group_t;

/* The entries whose paths have a file today, by that. */
typedef struct {
    bool made;
    const entry_t **files;
    size_t file_count;
} standing_files_t;

/* Where a search among the files is; begins as {0}. */
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

typedef struct packed_name packed_name_t; /* see register_packed.c */
typedef struct content content_t;         /* see register_alike.c */

typedef struct {
    registration_t *registering;
    entries_t entries, fresh; /* as read; and new ones, in the order of the inputs that have none of those */
    order_t by_path, by_content, by_last_name;
    size_t count;     /* of each */
    size_t *taken_by; /* by entry: the number of the input that it is, and one more; 0: none's */
    asked_t *there;   /* by entry: under its path */
    group_t *groups;  /* by the place of the first in by_last_name */
    const entry_t **gone;
    standing_files_t *files; /* looked at once, when first asked for */
    further_t *further;      /* all of them, by name */
    size_t further_count;
    packed_name_t *packed; /* looked at once, when first asked for */
    size_t packed_count;
    content_t *contents; /* likewise */
    size_t content_count;
    const entry_t **found; /* by wanted */
    asked_t *own;          /* by wanted: what it is read from */
} matching_t;

bool register_sort(matching_t *m, err_t *err); /* makes the orders, and room for what is found */
void register_matching_free(matching_t *m);
/* The first that is not before what is wanted. */
size_t register_first_in(const matching_t *m, const order_t *order, const wanted_t *wanted);
/* NULL: behind the last one that is like what is wanted. */
const entry_t *register_like_at(const matching_t *m, const order_t *order, const wanted_t *wanted, size_t at);
bool register_is_taken(const matching_t *m, const entry_t *entry);
size_t register_input_of(const matching_t *m, const entry_t *entry); /* of one that is taken */
void register_take(matching_t *m, size_t wanted, const entry_t *entry);
int register_compare_content(const version_t *left, const char *left_name, const version_t *right,
                             const char *right_name);
const char *register_last_name(const char *path);
bool register_is_stream(const version_t *version);
/* May the entry be this input, as far as their kinds tell: a file by its path, a file by --input-name, a stream? */
bool register_is_of_kind(const entry_t *entry, const wanted_t *wanted);

/* What the file system has under the entry's path, and as what the input is read from: asked once. */
const asked_t *register_what_stands(const matching_t *m, const entry_t *entry);
const asked_t *register_own_file(const matching_t *m, size_t number);
/* Is the file that the input is read from under the entry's path? */
bool register_stands_itself(const matching_t *m, size_t number, const entry_t *entry);
/* Is the input that is read from another file a copy of it, then? False: nobody can tell, or it has become the input. */
bool register_stands_beside(const matching_t *m, size_t number, const entry_t *entry);
/* Under which further name of it the entry's content stands, in another file than the input's; NULL: under none. */
const char *register_stands_further(const matching_t *m, size_t number, const entry_t *entry);
/* The entries that are called for the file that it is read from, by whatever name; NULL: no more. */
const entry_t *register_next_of_file(const matching_t *m, size_t number, file_place_t *place);
/* Does the entry's content stand under its path? It is read. */
bool register_stands_content(const matching_t *m, const entry_t *entry);
/* Of an input that is new: an entry, or an input before it that is new, too, whose name says that it may hold the same, packed
 * otherwise: the input is like it. False: err. */
bool register_find_packed(matching_t *m, size_t number, err_t *err);
/* Those whose files are nowhere any more. */
const entry_t *register_next_gone(const matching_t *m, size_t number, size_t *at);

/* Entries of its name, the newest input last. *at: the first of that name at first. */
const entry_t *register_next_of_name(const matching_t *m, const wanted_t *wanted, size_t *at);
/* The input may be what the entry is; or what an input is that is new, too. */
void register_be_like_entry(const matching_t *m, size_t number, const entry_t *entry, like_t how);
void register_be_like_input(const matching_t *m, size_t number, size_t other, like_t how);
void register_like_none(wanted_t *wanted);
/* Entries that were recognised under its name. */
const entry_t *register_next_of_further_name(const matching_t *m, const wanted_t *wanted, size_t *at);
/* Of the inputs that bring something: all that each is like. False: err. */
bool register_find_alike(matching_t *m, err_t *err);
/* Of register_next_gone those of fewer bytes, which may have become this input. */
const entry_t *register_next_gone_below(const matching_t *m, size_t number, uint64_t bytes, size_t *at);
/* Something of it was sent, perhaps. Of an empty file, or a mere header line, a longer one is nothing but another file. */
bool register_may_hold_records(const entry_t *entry);
/* Another load has seen this file after us, when it was longer. */
bool register_has_grown_meanwhile(const registration_t *registering, size_t number, const version_t *newest);

/* Of those that are not found yet: the inputs whose content is not that of any entry. Failure: as catalog_register. */
bool register_match_changed(matching_t *m, err_t *err);

/* Finds the entry of each input, or none. Failure: as catalog_register. */
bool register_match(matching_t *m, err_t *err);

/* Inputs that get a new key, since they are new or have grown, and equal each other or other entries, are told apart
 * by a number, too. */
bool register_number_copies(matching_t *m, err_t *err);
void register_print_key(wanted_t *wanted, uint32_t ordinal);

#endif
