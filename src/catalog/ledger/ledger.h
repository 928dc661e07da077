/* ledger: one load's view of who owns what, what is done, and when the load may end. Everything that decides
 * is here, and nothing else: it reads no clock, talks to no server and starts no thread, so that the
 * simulator runs this very code. What it knows is what was read from the catalog, and what its own owner told
 * it.
 *
 *   a piece, as this load sees it:
 *
 *              take succeeded, or registered as taken      checkpoint with `complete` was written
 *        OPEN ------------------------------------> OURS -----------------------------------> DONE
 *         |  ^                                       |                                          ^
 *         |  | its owner is dead, or has let it go   | the catalog names another owner or epoch |
 *         |  |                                       v                                          |
 *         |  +----------------------------------- OTHERS ---------------------------------------+
 *         |                                          it was read as complete                    |
 *         +-------------------------------------------------------------------------------------+
 *
 *        CHECK: it is complete, but the file has another modification time, or it is a stream: its text is
 *        read and compared with the hashes of the done blocks, and then it is DONE. Otherwise the input has
 *        changed.
 *
 * An input is compared with its entry by `relate`: it is the same, it is longer (VIEW_GROWN: the rest will be
 * loaded, as a new version), it is an earlier version (VIEW_OLDER: nothing of the rest can be loaded from
 * here), or it has changed, which ends the load. */
#ifndef TIPPLE_CATALOG_LEDGER_LEDGER_H
#define TIPPLE_CATALOG_LEDGER_LEDGER_H

#include "catalog/ledger/liveness.h"
#include "catalog/store/store.h"

typedef enum { WORK_OPEN, WORK_OURS, WORK_OTHERS, WORK_CHECK, WORK_DONE } work_state_t;
typedef enum { VIEW_SAME, VIEW_GROWN, VIEW_OLDER, VIEW_CHANGED } view_t;

/* One piece of one input. */
typedef struct {
    size_t input;
    uint32_t piece;
    work_state_t state;
    uint32_t epoch;  /* of our ownership, while OURS */
    bool handed_out; /* whoever feeds it knows of it (OURS, CHECK) */
    bool by_others;  /* DONE by another load during this run */
    bool dirty;      /* OURS: something is to be written */
    bool fed;        /* OURS: all of its blocks were handed to the senders; end_block is known */
    uint64_t end_block;
    uint32_t tail_parts, tail_settled; /* how many blocks make the tail, and how many of them are settled */
    tail_t tail;                       /* as far as it is settled */
    reject_mark_t *tail_rejects;
    size_t tail_reject_count;
    torn_t torn; /* to be written down before the record is sent */
    bool torn_written;
    bool outgrown;        /* OURS: a record that an earlier version had cut off is longer now */
    uint64_t read_before; /* records that were done when this run began */
    int64_t confirmed_ns; /* OURS: when the catalog was asked that has said so last */
    fix_mark_t *gone;     /* OURS: fixes that are confirmed, and whose documents were not there */
    size_t gone_count, gone_room;
    uint64_t written; /* DONE: by this write of ours; 0: by none that was acknowledged in this run */
    /* blocks that are done, and would make too many runs: they wait until gaps are filled */
    struct held *held;
    size_t held_count, held_room;
} work_t;

typedef struct {
    entry_t entry;  /* as last read; for a piece that is OURS, its progress is what we know */
    version_t seen; /* what this run sees of the input */
    const char *name;
    const char *key;   /* the entry's, if the input is taken as grown */
    uint64_t text_end; /* extents must reach this far, whole units; 0: they grow while it is read */
    uint64_t bytes;    /* what it costs to read, for portions of work */
    bool plain;        /* its blocks can be read one by one */
    bool stream;       /* nothing but its name is known before it is read */
    size_t group;      /* inputs of one stream follow one another and have one group; else their own */
    view_t view;
    uint32_t version; /* that `seen` is, or will be */
    size_t first_work, work_count;
    uint64_t read_number; /* which reading of the catalog this is from */
    bool taken;           /* a piece of it was ours, in this run */
    bool removed;         /* another command has taken it out of the catalog */
} ledger_input_t;

typedef struct {
    load_id_t self;
    uint32_t generation; /* of the collection */
    bool safe;           /* without --unsafe */
    bool holds;          /* pieces are not loaded, but kept, done or not, and given back as they were */
    int64_t lease_ns;
    /* How does the input that we see compare with its entry? *version: the one that it is (SAME, OLDER). */
    bool (*relate)(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err);
    void *context;
} ledger_options_t;

typedef struct {
    ledger_options_t options;
    ledger_input_t *inputs;
    size_t input_count, input_room;
    work_t *works;
    size_t work_count, work_room;
    size_t first_open;    /* no piece before it is OPEN, OTHERS or CHECK */
    size_t hand_out_from; /* all before it that are to be handed out were */
    liveness_t liveness;
    uint64_t readings;      /* of entries, so far */
    uint64_t writes;        /* of ours, so far */
    uint64_t loads_reading; /* the last reading of entries before the last one of loads */
    size_t lost;            /* pieces that another load has taken from us, so far */
    int64_t
        asked_ns; /* by its owner's clock: before the catalog was asked for what is told next, or earlier */
} ledger_t;

enum {
    LEDGER_MOST_TAKES = 10000, /* of small files: about a second's work */
    LEDGER_MOST_RUNS = 1000,
    LEDGER_EXTENT_SHARE = 16, /* a grown input takes room for this part of its text at least */
    LEDGER_MOST_REJECTS = 500000,
    LEDGER_BLOCK_BYTES = 256 * 1024
};

void ledger_init(ledger_t *ledger, const ledger_options_t *options);
void ledger_free(ledger_t *ledger);

/* One more input, whose entry was found or made; input->entry becomes the ledger's. The order is that in
 * which pieces are taken. Pieces that were registered as taken by this load are OURS: asked_ns is to be set before. */
bool ledger_add(ledger_t *ledger, ledger_input_t *input, err_t *err);

/* ---- what was read ---- */

/* Entries as they were read from the catalog, after everything that we had written before: all of our inputs'
 * (whole; but for those that are settled), or some. False: status 5 where an input has changed, status 4 where an entry is gone. */
bool ledger_read(ledger_t *ledger, const entries_t *entries, bool whole, err_t *err);
bool ledger_read_loads(ledger_t *ledger, const loads_t *loads, int64_t now_ns, uint64_t own_beats,
                       err_t *err);

/* ---- taking ---- */

/* What a load takes at once: `least` pieces where there are so many, and more as long as they are not `most_bytes`
 * together; the inputs of a group as a whole, but not the pieces of a large file. It begins as {least, most_bytes}. */
typedef struct {
    size_t least;
    uint64_t most_bytes;
    size_t count;
    uint64_t bytes;
    size_t group; /* of the last piece */
} portion_t;

/* Is there room for a piece of an input of this group? */
bool portion_has_room(const portion_t *portion, size_t group, size_t piece);
void portion_add(portion_t *portion, size_t group, uint64_t bytes);

/* A piece that we want, as a conditional change. The change points into the rest of it. */
typedef struct {
    size_t work;
    entry_change_t change;
    piece_t progress; /* where the piece begins anew */
    version_t version;
    extent_t extent; /* length != 0: the base is still to be filled in */
} take_t;

/* The next portion of pieces that may be taken. They are to be freed by takes_free, also after a failure. */
bool ledger_choose(ledger_t *ledger, size_t least, uint64_t most_bytes, take_t **takes, size_t *count,
                   err_t *err);
void takes_free(take_t *takes, size_t count);

/* The takes were sent, whatever came of them, and the entries were read again after that: which are ours? */
bool ledger_taken(ledger_t *ledger, const take_t *takes, size_t count, const entries_t *entries, err_t *err);

/* The next piece that is OURS (or to be checked) and not handed out yet; NULL: none. */
work_t *ledger_hand_out(ledger_t *ledger);

/* ---- working ---- */

typedef struct {
    uint64_t from, to, hash;
    counts_t counts;
    const reject_mark_t *rejects;
    size_t reject_count;
    bool tail;     /* one of the blocks that make the tail */
    bool outgrown; /* a record that an earlier version had cut off is longer in it */
} settled_block_t;

/* A block that was cut under this epoch is settled: all of its documents are proven, and its rejects will be
 * on disk before anything is written down. Forgotten if the piece is not ours any more. */
bool ledger_block(ledger_t *ledger, work_t *work, uint32_t epoch, const settled_block_t *block, err_t *err);
/* All blocks of the piece were handed over; the last of them ends before end_block. */
void ledger_fed(ledger_t *ledger, work_t *work, uint32_t epoch, uint64_t end_block, uint32_t tail_parts);
/* The input's last record has no line end. It is sent after ledger_torn_is_written says true. */
void ledger_torn(ledger_t *ledger, work_t *work, uint32_t epoch, torn_t torn);
bool ledger_torn_is_written(const work_t *work, uint32_t epoch);
/* The piece is left out of this run: it is as good as done. */
void ledger_skip(ledger_t *ledger, work_t *work);
/* The text of a piece that is to be checked is what it was. */
void ledger_checked(ledger_t *ledger, work_t *work);

/* What is to be written down now; call it only after everything that was told by ledger_block is durable and
 * its rejects are on disk. The changes point into the ledger. */
bool ledger_checkpoint(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err);
/* All of these were made. If some were not, the entries have to be read again instead (ledger_read). */
void ledger_written(ledger_t *ledger, const entry_change_t *changes, size_t count);

/* Are the done blocks of the piece of a file with another modification time than the one that is here, or of
 * a stream? Then they have to show that they are the same. */
bool ledger_needs_check(const ledger_input_t *input, const piece_t *piece);

/* Did the answer to the last write of ours say that all of the input is done, and is nothing else to be known of it? */
bool ledger_is_settled(const ledger_t *ledger, const ledger_input_t *input);

/* A change of fixes of a piece that is ours: it is made only while it is. */
entry_change_t ledger_fix_change(const ledger_t *ledger, const work_t *work, const fix_mark_t *fixes,
                                 size_t count);

/* Confirmed fixes whose documents turned out to be gone are open from now on: to be written down before the checkpoint that
 * says that their records are rejected again. *fixes is to be freed with *changes, which point into it. */
bool ledger_gone_fixes(const ledger_t *ledger, entry_change_t **changes, fix_mark_t **fixes, size_t *count,
                       err_t *err);
void ledger_gone_written(ledger_t *ledger);

/* ---- holding (options.holds) ---- */

/* May all of them be taken, where they are not ours? Else *waits_for has one; NULL: it is not known. */
bool ledger_may_hold(const ledger_t *ledger, const load_seen_t **waits_for);
/* Are all of them ours? */
bool ledger_holds(const ledger_t *ledger);
/* Is this piece, which is ours, that of the entry's record at this offset? NULL: it is not ours. */
const work_t *ledger_held(const ledger_t *ledger, uint32_t ordinal, uint64_t offset);
/* All that is ours is free from now on, when these changes were made: the rest of it stays as it was. */
bool ledger_give_back(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err);

/* Since when is the catalog silent about one of the pieces that are OURS? The oldest; asked_ns where there are none. */
int64_t ledger_confirmed(const ledger_t *ledger);

/* ---- what to do next ---- */

typedef enum {
    NEXT_TAKE, /* some pieces may be taken */
    NEXT_WORK, /* pieces of ours are not done */
    NEXT_WAIT, /* others work on the rest */
    NEXT_END,  /* everything is done, as of the last reading */
} next_t;

/* waits_for: one of the loads, for NEXT_WAIT; may be NULL. False: the load cannot end well (status 5). */
bool ledger_next(const ledger_t *ledger, next_t *next, const load_seen_t **waits_for, err_t *err);

/* Rejected records of all inputs that are not fixed, and those of them that earlier runs (or others) have
 * met. */
uint64_t ledger_open_rejects(const ledger_t *ledger);

#endif
