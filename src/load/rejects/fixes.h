/* fixes: the documents that fixed reject files have put into the collection, by `_id`. There is none where the fixed
 * record still makes no document, or was left out. An entry counts only where the catalog has its
 * reject; the others are left out, with a warning. Documents may be long, so only their hashes are kept. Read once, then
 * read-only and shared by threads. */
#ifndef TIPPLE_LOAD_REJECTS_FIXES_H
#define TIPPLE_LOAD_REJECTS_FIXES_H

#include "catalog/ledger/ledger.h"
#include "catalog/places.h"
#include "format/filter.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "load/rejects/reject_read.h"

typedef struct fixes fixes_t;

typedef struct {
    int64_t id;
    const entry_t *entry; /* its input */
    uint64_t offset, of;  /* the reject's: its place, and the hash of its bytes */
    uint64_t hash;        /* of the document, */
    uint32_t length;      /* and its length; 0: nothing is expected there */
    const char *file;     /* the reject file, */
    size_t at;            /* where its entry begins there, */
    bad_value_t read_as;  /* and what became of values that do not fit */
    bool left_out;        /* by the person: there is no record any more */
    bool open;            /* the catalog knows no fix of the record: this one was not loaded, it seems */
    bool loaded;          /* with only_fixes: the catalog knows this document as what came of the record */
    bool filtered;        /* it makes a document, which the filter leaves out */
    size_t number;        /* as it was read */
} fix_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    uint32_t max_document;
    const char *name;    /* of the collection, for sentences */
    const char *catalog; /* the own id of its catalog; NULL: nobody asks */
    bool later;          /* --retry: they are judged by fixes_judge */
    /* To verify. Left out are entries that nobody has touched, and of which the catalog knows no fix; and those of
     * earlier tries: they make no document, but another file did. */
    bool only_fixes;
} fixes_options_t;

/* What becomes of an entry of a reject file. */
typedef enum {
    FIX_COUNTS,
    FIX_CUT_OFF,     /* by a kill: the beginning of a record */
    FIX_CLOSED,      /* no such record is rejected (any more) */
    FIX_NOT_YET,     /* the load that has rejected it has not written that down yet, or only now */
    FIX_DOUBLE,      /* another entry of the same record says as much, or more */
    FIX_CONTRADICTS, /* another entry of the same record, before it, makes another document */
} fix_verdict_t;

/* Whose record it is: by the ordinal that the entry says, while that input is there. Else by its name: of those that came after
 * it was forgotten (any, where it is of another catalog than this) the newest that has rejected the record and knows no fix of
 * it, or else the newest that has rejected it. NULL: there is no such input. */
const entry_t *fixes_input(const places_t *places, const reject_head_t *retry, const char *catalog);

/* What becomes of values of a fixed record that do not fit: what the user says, or else what became of those of its input. */
bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *entry);

/* Reads the files once, and judges their entries, or not yet. Where two entries have one place, the first that makes a document
 * counts (with only_fixes the one that was loaded).
 * Status 1 with the entry that is wrong, or where no entry of a file belongs to this collection. */
fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err);
void fixes_free(fixes_t *fixes); /* NULL is allowed */

/* All entries, in the order of their numbers, from 0. */
size_t fixes_entries(const fixes_t *fixes);
const reject_head_t *fixes_head(const fixes_t *fixes, size_t number);
uint32_t fixes_longest(const fixes_t *fixes); /* the bytes of the longest document */

/* By these inputs, of which some pieces are held; entries of others wait. Status 1 as above, or where the inputs are others
 * than when the file was read. */
bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err);

/* The entry of this number, from 0, as all files were read. Those that a load has added since wait, as those
 * that it has not written down. False: it is another entry than then, since the file was changed. */
bool fixes_verdict(const fixes_t *fixes, size_t number, const retry_t *retry, fix_verdict_t *verdict);
/* Entries that neither count nor are closed: their load has not ended, or they were cut off. */
size_t fixes_left_open(const fixes_t *fixes);

/* Makes the document of a fix again, by this reader, into this place. Status 5 if the reject file was changed since. */
bool fixes_make(const fixes_t *fixes, const fix_t *fix, records_t *reader, records_place_t *place,
                err_t *err);

size_t fixes_count(const fixes_t *fixes);
/* By `_id`; and the first that is not before this one (fixes_count: none). */
const fix_t *fixes_at(const fixes_t *fixes, size_t at);
size_t fixes_first(const fixes_t *fixes, int64_t id);

#endif
