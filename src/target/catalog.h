/* catalog: the books of a load, kept beside the data in the target.
 *
 *   NAME.tipple.files   {_id: "catalog", uuid, format, digest, laneRule, filter, nextExtent (in MiB),
 *                        nextOrdinal, ...}
 *                       {_id: <ordinal>, path, kind, size, digest, extents: [{base, start, length}], started,
 *                        done: [[from, to), ...] in blocks, blocks, complete, read, loaded, already,
 * rejected, filtered} NAME.tipple.loads   one a run: see presence.h
 *
 * Books are written majority and journaled, and come after the data that they describe. One catalog object is
 * used by one thread at a time (the load's main thread); catalog_file_t is the caller's to read and is
 * changed only here, except where said. */
#ifndef TIPPLE_TARGET_CATALOG_H
#define TIPPLE_TARGET_CATALOG_H

#include "base/runs.h"
#include "input/manifest.h"
#include "target/place.h"
#include "target/server.h"

typedef struct catalog catalog_t;

typedef struct {
    const char *format;        /* "mot" */
    const char *format_digest; /* hex; another digest is another document for the same bytes */
    const char *filter;        /* normalised text of --filter, "" when none */
    bool starts;               /* new files count as started when they are registered */
    bool restored;             /* the collection may have come back under another UUID: nothing is written */
} catalog_settings_t;

/* Reads the books, or opens new ones. Refused with status 1 and what to do: a non-empty collection without
 * books, books of another collection (UUID), of another format, digest, filter or lane rule. */
catalog_t *catalog_open(server_t *server, mongoc_client_t *client, const place_t *place,
                        const catalog_settings_t *settings, err_t *err);
/* The same without writing anything (--dry-run, where). *catalog is NULL when there are no books yet. Without
 * settings only the lane rule is checked. Files that such a catalog registers get the ordinals and extents
 * that they would get, and everything that would write does nothing. */
bool catalog_peek(server_t *server, mongoc_client_t *client, const place_t *place,
                  const catalog_settings_t *settings, catalog_t **catalog, err_t *err);
void catalog_close(catalog_t *catalog);

/* The filter that the collection was loaded with (normalised, "" when none), as long as the catalog lives. */
const char *catalog_filter(const catalog_t *catalog);

typedef struct {
    uint64_t base;  /* first voff */
    uint64_t start; /* the file offset that base stands for */
    uint64_t length;
} extent_t;

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered;
} counts_t;

/* What can be done by itself: a file, or one of the ranges of a large plain file. Whoever has claimed it (see
 * claims.h) owns it. */
typedef struct {
    uint64_t from, to; /* windows of 256 KiB; the last part has no end: UINT64_MAX */
    bson_oid_t owner;  /* the load that writes it down, as last read; all zeros: nobody yet */
    bool doubtful; /* it may have been begun before: blocks that are not done may hold documents already */
    bool suspect; /* the caller's: its data was found damaged; what it gave is compared, not taken for granted
                   */
    bool complete;   /* everything is done */
    bool lost;       /* another load has taken it over: nothing of it may be written down here any more */
    runs_t done;     /* blocks that an earlier run, or this one, has made durable */
    counts_t counts; /* of the done blocks, over all runs */
} catalog_part_t;

typedef struct {
    uint32_t ordinal;
    char *path; /* identity's name */
    extent_t *extents;
    size_t extent_count;
    bool started; /* written down as started, by this run or an earlier one */
    catalog_part_t *parts;
    size_t part_count;
} catalog_file_t;

bool catalog_is_complete(const catalog_file_t *file); /* all of its parts */

/* From now on parts are written down as this load's, and those that are another's are not. */
void catalog_own(catalog_t *catalog, const bson_oid_t *load);

/* Finds or registers all files of the manifest with few commands however many there are (one findAndModify
 * for the extents of all new ones, one insert in large batches). files[i] belongs to manifest->files[i], and
 * is freed with the catalog. A file that changed since it was registered: status 1 with what changed. */
bool catalog_register(catalog_t *catalog, const manifest_t *manifest, catalog_file_t **files, err_t *err);

/* Extends a file of unknown size so that `offset` has a place. */
bool catalog_extend(catalog_t *catalog, catalog_file_t *file, uint64_t offset, err_t *err);

/* The virtual offset of a file offset; false when no extent holds it. */
bool catalog_voff(const catalog_file_t *file, uint64_t offset, uint64_t *voff);

/* Before the first byte of these files is sent: they are in doubt from now on. One command for all of them
 * that are not started yet. */
bool catalog_start(catalog_t *catalog, catalog_file_t **files, size_t count, err_t *err);

/* Everything that was acknowledged to this process becomes durable (standalones: a j:true write to the same
 * server process; elsewhere the acknowledgement was proof). False with status 4 when the server process
 * changed: what was acknowledged since the last barrier must be sent again. */
bool catalog_barrier(catalog_t *catalog, err_t *err);

/* Parts that another load had claimed become this one's, and are read again as it has left them. */
typedef struct {
    catalog_file_t *file;
    size_t part;
} piece_t;
bool catalog_adopt(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err);

/* Their progress as the books have it now, whoever they belong to. */
bool catalog_look_again(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err);

/* Writes these parts' done runs and counts, to which the caller has added, and their completeness, in few
 * commands. Call catalog_barrier first. Parts that are another load's by now are left alone, and marked lost.
 */
typedef struct {
    piece_t piece;
    bool complete;
    uint64_t blocks; /* when complete: behind its last one */
} checkpoint_t;
bool catalog_checkpoint(catalog_t *catalog, const checkpoint_t *changed, size_t count, err_t *err);

/* Marks those that are another load's by now as lost. */
bool catalog_find_lost(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err);

/* The file and offset that an `_id` stands for. found is false when no extent of the books holds it. */
typedef struct {
    bool found;
    uint32_t ordinal;
    char path[4096];
    uint64_t offset;
    bool lane_fits; /* false: the lane does not belong to this place, so tipple did not make this _id */
} where_t;
bool catalog_where(catalog_t *catalog, int64_t id, where_t *where, err_t *err);

/* The file of this path in the books, for --retry: the newest, where there are several. NULL with status 0
 * in err: there is none; with another status: it could not be looked up. */
catalog_file_t *catalog_find(catalog_t *catalog, const char *path, err_t *err);

/* The sums over all files of a collection's books; zeros where there are none. */
typedef struct {
    uint64_t files, complete, loaded, rejected;
} catalog_summary_t;
bool catalog_summary(server_t *server, mongoc_client_t *client, catalog_summary_t *summary, err_t *err);

#endif
