/* inputs: what a load finds out about its inputs before it registers them; verify and forget use parts of it. Main thread, but
 * check_inputs_find has threads of its own, and feeders add misfits.
 *
 * check_inputs checks the first line of each input, decompressed, before anything is dropped or written. Inputs that can only
 * be read in order (stdin, pipes, members of a compressed tar beyond what memory holds) are checked by the feeder that reads them. */
#ifndef TIPPLE_LOAD_PLAN_INPUTS_H
#define TIPPLE_LOAD_PLAN_INPUTS_H

#include "base/err.h"
#include "catalog/register/register.h"
#include "format/guess/guess.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/plan/peek.h"
#include "load/spec/load_result.h"
#include "server/chunks.h"

/* ---- check_inputs ---- */

/* Puts the inputs that do not fit into *misfits, in the order of the manifest. longest: of a record; a longer first line fits
 * here, as the feeder skips it. fresh (or NULL): marks inputs with columns that the format neither knows nor leaves out. False:
 * the check itself failed (memory, descriptors), or a signal came. */
bool check_inputs_find(const schema_t *schema, const manifest_t *manifest, uint64_t longest,
                       misfits_t *misfits, bool *fresh, err_t *err);

/* How a guessed format gets the columns that it lacks. */
typedef struct {
    const guess_options_t *options;
    char **yaml; /* the format file, which is written anew */
    /* --limit: perhaps only the first input is read. A later input with new columns is refused when it is read. */
    bool first_only;
} check_adds_t;

/* Checks that all inputs fit; if not, status 5 with all of their names. adds (or NULL): the schema is extended (schema_extend).
 * skip, skipped: as misfits_take_out; the caller frees *skipped, also after a failure. */
bool check_inputs(schema_t *schema, manifest_t *manifest, const check_adds_t *adds, bool skip,
                  misfits_t *skipped, err_t *err);

/* True if the header in a text has columns that the format neither knows nor leaves out. */
bool check_inputs_is_fresh(const schema_t *schema, const uint8_t *text, size_t length);

/* ---- misfits: inputs that a load leaves out (--skip-bad-files), each with the reason ----
 *
 * A misfit cannot be listed or read, does not fit the format, has changed since it was loaded, or waits for a misfit before it.
 * The list of inputs, check_inputs, the registration and the feeders find misfits; all are put into one list and reported by
 * the same sentences. Only one thread at a time may change a list. */

enum { MISFITS_SHOWN = 20 };

#define MISFITS_REMEDY "--skip-bad-files loads the other files"

/* Adds a misfit. False: out of memory. */
bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err);

/* Sorts them by input. */
void misfits_sort(misfits_t *misfits);

/* Warns that the misfits from this number on are skipped, or wait: how many, and a line for each of the first ones. */
void misfits_warn(const misfits_t *misfits, size_t from, size_t files);

/* Adds a file that waits, because files are loaded in order and `other` before it is a misfit. False: as misfits_add. */
bool misfits_add_waiting(misfits_t *misfits, const char *name, const char *other, size_t input, err_t *err);

/* Moves all of the first list to the other one. */
bool misfits_move(misfits_t *misfits, misfits_t *to, err_t *err);

/* Warns of the misfits, which are sorted, takes them out of the manifest, and moves them to *skipped. False: status 5, since no
 * input is left, or since they may not be skipped (format: the name of the format that they do not fit, or NULL; skipped: NULL
 * if the command has no --skip-bad-files); or out of memory. */
bool misfits_take_out(misfits_t *misfits, manifest_t *manifest, bool skip, misfits_t *skipped,
                      const char *format, err_t *err);

/* With --existing replace: takes out the inputs that come after the first of *skipped. */
bool misfits_let_wait(manifest_t *manifest, misfits_t *skipped, err_t *err);

/* True if the reason is the first line of the input, and not, say, that it cannot be read. */
bool misfits_is_header(const char *name, const char *reason);

/* ---- sample: keys of some of the records of a load, to cut the range of a shard key evenly ---- */

typedef struct {
    bson_t **keys;
    size_t count;
} sample_t;

/* Reads some places of some of the files; not streams, which can be read only once. A file that cannot be read is no failure
 * here: the load itself will report it. False: out of memory. */
bool sample_take(const schema_t *schema, const manifest_t *manifest, const shardkey_t *key, sample_t *sample,
                 err_t *err);
void sample_free(sample_t *sample);

/* Returns the offset in the middle of BSON where a document surely begins, because others follow it; `length`: none. */
size_t sample_find_document(const uint8_t *text, size_t length);

/* ---- copies: each input of a load several times (--copies N), as if there were N equal files ----
 *
 * A copy is an input of its own, with its own entry in the catalog and its own `_id`s. The first has the name of the file, the
 * second that name and "!copy-2", and so on. No other input may have such a name. */

/* Adds the copies after all files of the manifest. copies: 0 and 1 add none. Status 1: a stream cannot be read twice, or an
 * input has the name of a copy. */
bool copies_make(manifest_t *manifest, uint32_t copies, err_t *err);

/* True if this is the end of a copy's name: "!copy-2". */
bool copies_is_mark(const char *end);

/* Returns that end of a copy's name; of any other name, the "" at its end. */
const char *copies_mark_of(const char *name);

/* True if the input of this name is this file, or a copy of it. */
bool copies_is_of(const char *input, const char *file);

/* ---- describe: an input of the manifest as the catalog describes it ---- */

void describe_input(const input_file_t *input, wanted_t *wanted);
bool describe_may_grow(const input_file_t *input);

/* Fills *registration with what the catalog has of these inputs, without writing; as catalog_register. The caller frees its
 * entries (register_free) and `wanted`. */
bool describe_known(store_t *store, const manifest_t *manifest, const char *collection, bool own_ids,
                    registration_t *registration, err_t *err);

typedef enum { DESCRIBE_NOT_LOOKED, DESCRIBE_NO_RECORDS, DESCRIBE_RECORDS } describe_records_t;

/* What the callbacks of a registration answer from. */
typedef struct {
    const manifest_t *inputs;
    const schema_t *schema;
    describe_records_t *records; /* by input; NULL: none was looked at */
    peek_t *peek;                /* made when it is first needed */
    char *path; /* the archive that was listed last: thousands of entries may be members of one */
    manifest_t members;
} describe_asked_t;
void describe_asked_free(describe_asked_t *asked);

/* Sets the callbacks of a registration, which ask about these inputs and files of this host. schema: of the inputs; NULL: not
 * known. All stay the caller's, and must live as long as the registration. */
void describe_asked(registration_t *registration, const manifest_t *manifest, const schema_t *schema,
                    describe_asked_t *asked);

#endif
