/* fixes: the documents that fixed reject files have put into the collection, by `_id`. There is none if the fixed record still
 * makes no document, or was left out. An entry of a file counts only if the catalog has its reject; others are left out, with
 * a warning. Only hashes of documents are kept, because documents may be long. One thread reads and judges; then threads share
 * it read-only. */
#ifndef TIPPLE_LOAD_REJECTS_FIXES_H
#define TIPPLE_LOAD_REJECTS_FIXES_H

#include "catalog/ledger/ledger.h"
#include "catalog/places.h"
#include "format/filter.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "load/rejects/reject_file.h"

typedef struct fixes fixes_t;

typedef struct {
    int64_t id;
    const entry_t *entry; /* its input */
    uint64_t offset, of;  /* of the reject: its place, and the hash of its bytes */
    uint64_t hash;        /* of the document, */
    uint32_t length;      /* and its length; 0: no document is expected */
    const char *file;     /* the reject file, */
    size_t at;            /* where its entry begins in the file, */
    bad_value_t read_as;  /* and what became of values that do not fit */
    bool left_out;        /* the person has deleted the record */
    bool open;            /* the catalog knows no fix of the record, so it was probably not loaded */
    bool loaded;          /* with only_fixes: the catalog knows this document as the record's */
    bool filtered;        /* the filter leaves its document out */
    size_t number;        /* of its entry */
} fix_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    uint32_t max_document;
    const char *name;    /* of the collection, for messages */
    const char *catalog; /* the catalog's own id; NULL: not checked */
    bool later;          /* --retry: fixes_judge judges the entries */
    /* For verify: leaves out entries that nobody has touched if the catalog knows no fix of them; and entries of earlier tries,
     * which make no document if another file did. */
    bool only_fixes;
} fixes_options_t;

/* What becomes of an entry of a reject file. */
typedef enum {
    FIX_COUNTS,
    FIX_CUT_OFF,     /* by a kill: the beginning of a record */
    FIX_CLOSED,      /* no such record is rejected, or no longer */
    FIX_NOT_YET,     /* the load that rejected it has not written that down yet, or only now */
    FIX_DOUBLE,      /* another entry of the record says as much, or more */
    FIX_CONTRADICTS, /* an earlier entry of the record makes another document */
} fix_verdict_t;

/* Returns the input of an entry's record: by ordinal, while that input is there; else by name. Among inputs of the name that came
 * after the ordinal's was forgotten (any, if the file is of another catalog), that is the newest that has rejected the record and
 * knows no fix of it, else the newest that has rejected it, else the newest. NULL: there is no such input. */
const entry_t *fixes_input(const places_t *places, const reject_head_t *retry, const char *catalog);

/* Returns what becomes of misfit values of a fixed record: what the user says, or what became of those of its input. */
bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *entry);

/* Reads the files once, and judges their entries, unless `later`. If two entries have one place, the first that makes a document
 * counts; with only_fixes, the loaded one. Status 1 with the wrong entry, or if no entry of a file belongs to this collection. */
fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err);
void fixes_free(fixes_t *fixes); /* NULL is allowed */

/* All entries, by number, from 0. */
size_t fixes_entries(const fixes_t *fixes);
const reject_head_t *fixes_head(const fixes_t *fixes, size_t number);
uint32_t fixes_longest(const fixes_t *fixes); /* the length of the longest document */

/* Judges the entries by these inputs, of which some pieces are held; entries of others wait. Status 1 as above, or if the inputs
 * have changed since the file was read. */
bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err);

/* Finds the verdict on the entry of this number when the file is read again. Entries that a load has added or not written down
 * wait. False: the file was changed, so that this is another entry. */
bool fixes_verdict(const fixes_t *fixes, size_t number, const retry_t *retry, fix_verdict_t *verdict);
/* Counts entries that stay open: their load has not ended, or they were cut off. */
size_t fixes_left_open(const fixes_t *fixes);

/* Makes the document of a fix again. Status 5 if the reject file was changed since. */
bool fixes_make(const fixes_t *fixes, const fix_t *fix, records_t *reader, records_place_t *place,
                err_t *err);

size_t fixes_count(const fixes_t *fixes);
/* By `_id`; and the first at or after this `_id` (fixes_count: none). */
const fix_t *fixes_at(const fixes_t *fixes, size_t at);
size_t fixes_first(const fixes_t *fixes, int64_t id);

#endif
