/* fixes: what the entries of reject files make, by the `_id`s of their records: documents, or nothing if the fixed record still
 * makes none, or was left out. Entries are read and their documents made once (fixes_read); later, when nobody else can change what
 * the catalog has of them, they are judged (fixes_judge): an entry counts only if the catalog has its reject, and others are left
 * out, with a warning. Only hashes of documents are kept, because documents may be long; fixes_record reads a record again. One
 * thread reads and judges; then threads share it read-only. */
#ifndef TIPPLE_LOAD_REJECTS_FIXES_H
#define TIPPLE_LOAD_REJECTS_FIXES_H

#include "catalog/ledger/ledger.h"
#include "catalog/places.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "load/rejects/reject_file.h"

/* What becomes of an entry of a reject file. */
typedef enum {
    FIX_COUNTS,
    FIX_CUT_OFF,     /* by a kill: the beginning of a record */
    FIX_CLOSED,      /* no such record is rejected, or no longer; or it is there, fixed otherwise */
    FIX_NOT_YET,     /* the load that rejected it has not written that down yet, or only now */
    FIX_DOUBLE,      /* another entry of the record says as much, or more */
    FIX_CONTRADICTS, /* an earlier entry of the record makes another document */
} fix_verdict_t;

/* An entry, and what is made of it. */
typedef struct {
    const reject_file_t *file;
    const reject_entry_t *entry;
    uint64_t spelled; /* the hash of the dialect that its head spells */
    /* what was read: */
    bool placed; /* its input was known: so is the `_id` of its record, and the document, if any */
    int64_t id;  /* of the record */
    /* of the document, whose hash is is.mark.hash until the fix is settled; 0: none is expected */
    uint32_t length;
    bad_value_t read_as; /* what became of values that do not fit */
    /* how it was judged: */
    fix_verdict_t verdict;
    bool open;   /* the catalog knows no fix of the record, so it was probably not loaded */
    bool loaded; /* with only_fixes: the catalog knows this document as the record's */
    /* is.makes: what its record makes as it is now; is.entry: its input in the catalog, NULL: the entry does not count */
    fix_item_t is;
    /* --retry: */
    const work_t *held; /* the piece of the record */
    /* the hash of a document that an earlier run has made of it; FIX_NOTHING: none was found */
    uint64_t there;
} fix_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    uint32_t max_document;
    const char *name;    /* of the collection, for messages */
    const char *catalog; /* the catalog's own id; NULL: not checked */
    /* For verify, which wants records that were fixed: leaves out an entry that nobody has touched if the catalog knows no fix
     * of it, and one that makes no document if the catalog knows a document that another try made of its record. */
    bool only_fixes;
} fixes_options_t;

/* Callers change only the verdict of a fix and the members after the verdict. */
typedef struct {
    fixes_options_t options;
    reject_file_t *files;
    size_t file_count;
    fix_t *all; /* of all entries, in the order of the files */
    size_t entries;
    fix_t **items; /* those that count, each record once, by `_id`; a caller may sort them otherwise */
    size_t count;
    uint32_t longest; /* the length of the longest document */
    size_t left_open; /* entries that stay open: their load has not ended, or they were cut off */
} fixes_t;

/* Reads the files, and makes the documents of their entries. places: the inputs of the catalog; NULL: none is known (a dry run),
 * so each whole entry counts. Status 1 with the entry that is wrong. */
bool fixes_read(fixes_t *fixes, char *const *paths, size_t count, const places_t *places,
                const fixes_options_t *options, err_t *err);
void fixes_free(fixes_t *fixes); /* what it holds; zeroed is allowed */

/* Judges the entries by these inputs. held: the pieces that are held, entries of others wait; NULL: none is held, none waits. If two
 * entries have one place, the first that makes a document counts; with only_fixes, the loaded one. Status 1 if no entry of a file
 * belongs to this collection, or if an input was loaded anew since the files were read. */
bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err);

/* Returns the input of an entry's record: by ordinal, while that input is there; else by name. Among inputs of the name that came
 * after the ordinal's was forgotten (any, if the file is of another catalog), that is the newest that has rejected the record and
 * knows no fix of it, else the newest that has rejected it, else the newest. NULL: there is no such input. */
const entry_t *fixes_input(const fixes_t *fixes, const fix_t *fix, const places_t *places);
/* The same, but NULL also if the record of the entry is no open reject of the input. */
const entry_t *fixes_open_input(const fixes_t *fixes, const fix_t *fix, const places_t *places);

/* Returns what becomes of misfit values of a fixed record: what the user says, or what became of those of its input. */
bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *input);

/* Reads the record of an entry again; retry->row is to be freed. False if the file was changed since it was read. */
bool fixes_record(const fixes_t *fixes, const fix_t *fix, retry_t *retry, err_t *err);
/* Makes the document of a fix again. False also if the file was changed since. */
bool fixes_make(const fixes_t *fixes, const fix_t *fix, records_t *reader, records_place_t *place,
                err_t *err);

/* The first of the items at or after this `_id`; `count`: none. */
size_t fixes_first(const fixes_t *fixes, int64_t id);

#endif
