/* ledger: one load's view of who owns what, what is done, and when the load may end. All decisions are here, and
 * nothing else: the ledger reads no clock, talks to no server and starts no thread, so the simulator runs the same
 * code. It knows what was read from the catalog and what its own load has reported. The load's main thread calls it.
 *
 *   a piece, as this load sees it:
 *
 *              take succeeded, or registered as taken      checkpoint with `complete` was written
 *        OPEN ------------------------------------> OURS -----------------------------------> DONE
 *         |  ^                                                                                  ^
 *         |  | its owner is dead, or has let it go                                              |
 *         |  |                                                                                  |
 *         |  +----------------------------------- OTHERS ---------------------------------------+
 *         |                                          it was read as complete                    |
 *         +-------------------------------------------------------------------------------------+
 *
 *        CHECK: it is complete, but the file has another modification time, or it is a stream: its text is read and
 *        compared with the hashes of the done blocks. If they are equal the piece is DONE, or OPEN if a stream has
 *        become longer; if not, the input has changed.
 *
 * The load compares each input with its entry (options.relate): it is the same; longer (VIEW_GROWN: the rest will be
 * loaded, as a new version); an earlier version (VIEW_OLDER: the rest cannot be loaded from here); or changed, which
 * ends the load.
 *
 * What the catalog says of a piece of ours is older than what we know of it: our progress is kept, but the catalog
 * decides whose the piece is. If it names another owner or epoch, the load ends. asked_ns, below: a time by the owner's
 * clock, not after the catalog was asked. */
#ifndef TIPPLE_CATALOG_LEDGER_LEDGER_H
#define TIPPLE_CATALOG_LEDGER_LEDGER_H

#include "catalog/store/store.h"

/* ---- liveness: which loads are dead ---- */

/* No clocks of two machines are compared. A load raises its beat as long as it lives. It is dead when its beat did not
 * change during a whole lease of our own clock, in which at least LIVENESS_OWN_BEATS of our own beats were
 * acknowledged: if they were not, we may be the one who hears nothing. A load that said that it ended, or that is not
 * in the catalog any more, is dead at once. */
enum { LIVENESS_OWN_BEATS = 3 };

typedef struct {
    load_seen_t load;   /* as last read */
    bool fresh;         /* its beat changed with the last update */
    int64_t since_ns;   /* when the first update began that read this beat again */
    uint64_t own_beats; /* how many of our beats were acknowledged until then */
    bool dead, listed;
    bool alive; /* its beat changed in the last update, or this is its first one */
} watched_t;

typedef struct {
    watched_t *watched;
    size_t count, room;
    int64_t lease_ns;
    bool updated; /* at least once */
} liveness_t;

/* Takes in what the catalog says now. now_ns, own_beats (how many of our beats were acknowledged): as they were before
 * the catalog was asked. The lease of a new beat is counted only from the next update on, because the reply may have
 * taken long. */
bool liveness_update(liveness_t *liveness, const loads_t *loads, int64_t now_ns, uint64_t own_beats,
                     err_t *err);

/* As of the last update. A load that it did not list is dead. */
bool liveness_is_dead(const liveness_t *liveness, const load_id_t *load);
/* NULL: the load is not known. */
const load_seen_t *liveness_find(const liveness_t *liveness, const load_id_t *load);
/* NULL: it is not known that it is alive. */
const load_seen_t *liveness_alive(const liveness_t *liveness, const load_id_t *load);
void liveness_free(liveness_t *liveness);

/* ---- inputs and pieces ---- */

typedef enum { WORK_OPEN, WORK_OURS, WORK_OTHERS, WORK_CHECK, WORK_DONE } work_state_t;
typedef enum { VIEW_SAME, VIEW_GROWN, VIEW_OLDER, VIEW_CHANGED } view_t;

/* A block whose records are all settled. */
typedef struct {
    uint64_t from, to, hash;
    counts_t counts;
    const reject_mark_t *rejects;
    size_t reject_count;
    uint64_t dialect; /* by which its records were read; 0: nothing to remember */
    bool tail;        /* one of the blocks of the tail */
    bool outgrown;    /* it holds a record that an earlier version had cut off and that is now longer */
} settled_block_t;

/* One piece of one input. */
typedef struct {
    size_t input;
    uint32_t piece;
    work_state_t state;
    uint32_t epoch;  /* of our ownership; while OURS */
    bool handed_out; /* the thread that feeds it knows of it (OURS, CHECK) */
    bool by_others;  /* DONE by another load during this run */
    bool dirty;      /* OURS: something is to be written */
    bool skipped;    /* OURS: left out of this run, as soon as that is written */
    bool fed;        /* OURS: all of its blocks were handed to the senders, and end_block is known */
    uint64_t end_block;
    uint32_t tail_parts, tail_settled; /* blocks that the tail has, and how many of them are settled */
    tail_t tail;                       /* the tail, as far as it is settled */
    reject_mark_t *tail_rejects;
    size_t tail_reject_count;
    torn_t torn; /* must be written down before the record is sent */
    bool torn_written;
    bool outgrown; /* OURS: a record that an earlier version had cut off is now longer */
    bool again;    /* options.again, and not begun anew in this run yet */
    bool checked;  /* what was done before this run was compared with the text */
    uint64_t read_before, rejected_before; /* records that were done when this run began; their rejects */
    int64_t confirmed_ns; /* OURS: asked_ns of the last answer that said that the piece is ours */
    fix_mark_t *gone;     /* OURS: fixes that are confirmed, but whose documents were missing */
    size_t gone_count, gone_room;
    uint64_t written; /* DONE: number of our write that completed it; 0: none was acknowledged in this run */
    settled_block_t *held; /* done blocks that would make too many runs: they wait until gaps are filled */
    size_t held_count, held_room;
} work_t;

typedef struct {
    entry_t entry;  /* as last read; of a piece that is OURS, the progress that this load knows */
    version_t seen; /* the input, as this run sees it */
    const char *name;
    const char *key;   /* the entry's new key, if the input is taken as grown; NULL: it stays */
    uint64_t text_end; /* extents must reach this far, in whole units; 0: they grow while the input is read */
    uint64_t bytes;    /* what it costs to read, for portions of work */
    bool plain;        /* its blocks can be read one by one */
    bool stream;       /* only its name is known before it is read */
    /* inputs of one stream follow one another and share a group; every other input has its own */
    size_t group;
    view_t view;
    uint32_t version; /* the version that `seen` is, or will be */
    size_t first_work, work_count;
    uint64_t read_number; /* the reading of the catalog that this is from */
    bool taken;           /* a piece of it was ours in this run */
    bool asked_for;       /* the next reading reads its entry */
    bool removed;         /* another command has removed it from the catalog */
} ledger_input_t;

typedef struct {
    load_id_t self;
    uint32_t generation; /* of the collection */
    bool safe;           /* without --unsafe */
    /* what was done before this run is compared, if it has to be, and then each piece is begun anew */
    bool again;
    bool holds; /* pieces are not loaded but held, whether done or not, and given back unchanged */
    int64_t lease_ns;
    int64_t asked_ns; /* of the entries that ledger_add adds */
    /* Compares the input that we see with its entry. *version: which version it is (SAME, OLDER). */
    bool (*relate)(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err);
    void *context;
} ledger_options_t;

typedef struct {
    ledger_options_t options;
    ledger_input_t *inputs;
    size_t input_count, input_room;
    work_t *works;
    size_t work_count, work_room;
    size_t *by_ordinal; /* the first `sorted` inputs, to find that of an entry */
    size_t sorted, by_ordinal_room;
    size_t *order; /* the works by numbers in the catalog (ledger_put_in_order); NULL: any order will do */
    size_t order_from;    /* all works before it in the order are DONE */
    size_t first_open;    /* no piece before it is OPEN, OTHERS or CHECK */
    size_t hand_out_from; /* all pieces before it that are to be handed out were handed out */
    liveness_t liveness;
    uint64_t readings;      /* how often entries were read */
    uint64_t writes;        /* how many writes we made */
    uint64_t loads_reading; /* the last reading of entries before the last reading of loads */
    int64_t asked_ns;       /* of the last question */
} ledger_t;

enum {
    LEDGER_MOST_TAKES = 10000, /* of small files: about a second of work */
    LEDGER_MOST_RUNS = 1000,
    LEDGER_EXTENT_SHARE = 16, /* a grown input takes room for at least this part of its text */
    LEDGER_MOST_REJECTS = 500000,
    LEDGER_BLOCK_BYTES = 256 * 1024
};

void ledger_init(ledger_t *ledger, const ledger_options_t *options);
void ledger_free(ledger_t *ledger);

/* Adds an input whose entry was found or made; input->entry becomes the ledger's. Pieces are taken in the order of
 * these calls. Pieces that were registered as taken by this load are OURS. */
bool ledger_add(ledger_t *ledger, ledger_input_t *input, err_t *err);

/* After the last ledger_add: from now on each piece is taken only when all before it in the catalog's order are done.
 * Inputs of one stream go together. */
bool ledger_put_in_order(ledger_t *ledger, err_t *err);

/* ---- what was read ---- */

/* Begins a reading of all our inputs, or of some: of entries that are read after everything that we had written before. */
bool ledger_begin_reading(ledger_t *ledger, int64_t asked_ns, err_t *err);
/* Moves entries of the reading into the ledger. False: status 5 if an input has changed, status 4 if it was removed, or if
 * another load has taken a piece of ours. */
bool ledger_read(ledger_t *ledger, entries_t *entries, err_t *err);
/* Call it with all entries of the reading, also after a failure, and before they are moved: what this load has sent of a removed
 * input may arrive after the removal. */
void ledger_note_removed(ledger_t *ledger, const entries_t *entries);
/* After a reading of all our inputs, of which those that are settled may be missing. False: status 4, an entry is gone. */
bool ledger_has_read_all(const ledger_t *ledger, err_t *err);

/* ---- taking ---- */

/* What a load takes at once: at least `least` pieces if there are enough, and more as long as they have at most
 * `most_bytes` together (0: no more than `least`). Inputs of a group are taken as a whole; the pieces of a large file are not. Begins as {least,
 * most_bytes}. */
typedef struct {
    size_t least;
    uint64_t most_bytes;
    size_t count;
    uint64_t bytes;
    size_t group; /* of the last piece */
} portion_t;

/* True if there is room for one more piece of this size, the `piece`th of an input of this group. */
bool portion_has_room(const portion_t *portion, size_t group, size_t piece, uint64_t bytes);
void portion_add(portion_t *portion, size_t group, uint64_t bytes);

/* What a take changes beyond the owner of a piece that no load has begun. */
typedef struct {
    piece_t progress; /* the piece's new progress, if the change sets it */
    version_t version;
    extent_t extent; /* length != 0: the base is not filled in yet */
} taken_anew_t;

/* A piece that we want, as a conditional change. */
typedef struct {
    size_t work;
    entry_change_t change;
    taken_anew_t *anew; /* the change points into it; NULL: into nothing */
} take_t;

/* Chooses the next portion of pieces that may be taken; only: this one alone, or NULL. The caller frees them by
 * takes_free, also after a failure. */
bool ledger_choose(ledger_t *ledger, const work_t *only, size_t least, uint64_t most_bytes, take_t **takes,
                   size_t *count, err_t *err);
void takes_free(take_t *takes, size_t count);

/* Finds out which pieces are ours. Call it after the takes were sent, whatever the reply was, and their entries were read
 * after that. */
void ledger_taken(ledger_t *ledger, const take_t *takes, size_t count);

/* The next piece that is OURS (or CHECK) and was not handed out yet, or NULL. */
work_t *ledger_hand_out(ledger_t *ledger);

/* ---- working ---- */

/* A block is settled: all of its documents are proven to be there, and its rejects will be on disk before anything is
 * written down. */
bool ledger_block(ledger_t *ledger, work_t *work, const settled_block_t *block, err_t *err);
/* All blocks of the piece were handed to the senders; the last of them ends before end_block. */
void ledger_fed(work_t *work, uint64_t end_block, uint32_t tail_parts);
/* The input's last record has no line end. It may be sent once work->torn_written is true. */
void ledger_torn(work_t *work, torn_t torn);
/* Leaves the piece out of this run: it counts as done as soon as what was done of it is written down. Call it after the
 * last of its blocks is settled. */
void ledger_skip(ledger_t *ledger, work_t *work);
/* The text of a CHECK piece is unchanged. */
void ledger_checked(ledger_t *ledger, work_t *work);
/* A CHECK stream begins with everything that was loaded of it, and goes on: it is to be taken, like an input that has
 * grown. */
void ledger_goes_on(ledger_t *ledger, work_t *work);

/* Lists what is to be written down now. Call it only when everything that ledger_block was given is durable and its
 * rejects are on disk. The changes point into the ledger. */
bool ledger_checkpoint(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err);
/* All of these changes were made. If some were not, read the entries again instead (ledger_read). */
void ledger_written(ledger_t *ledger, const entry_change_t *changes, size_t count, int64_t asked_ns);

/* True if the done blocks of the piece must be compared with the text: they are from a file with another modification
 * time than the file here, or from a stream. */
bool ledger_needs_check(const ledger_input_t *input, const piece_t *piece);
/* True if the text of an earlier version ends within this piece. Then it ends within a run of blocks and cannot be
 * compared: its modification time must be that of the file which was loaded to its end, or the input counts as
 * changed. */
bool ledger_ends_before(const ledger_input_t *input, const piece_t *piece);

/* True if the answer to our last write said that all of the input is done, and nothing else about it matters. */
bool ledger_is_settled(const ledger_t *ledger, const ledger_input_t *input);

/* A change of a piece of ours that changes nothing yet: it is made only while the piece is ours. */
entry_change_t ledger_change(const ledger_t *ledger, const work_t *work);
/* The same with fixes. */
entry_change_t ledger_fix_change(const ledger_t *ledger, const work_t *work, const fix_mark_t *fixes,
                                 size_t count);

/* ---- holding (options.holds) ---- */

/* True if all pieces that are not ours may be taken. If not, *waits_for is a load that has one; NULL: that load is not
 * known. */
bool ledger_may_hold(const ledger_t *ledger, const load_seen_t **waits_for);
/* True if all of them are ours. */
bool ledger_holds(const ledger_t *ledger);
/* The piece of ours that holds the entry's record at this offset, or NULL. */
const work_t *ledger_held(const ledger_t *ledger, uint32_t ordinal, uint64_t offset);
/* Changes that free all pieces of ours and leave the rest of each unchanged. The pieces are free once these are
 * made. */
bool ledger_give_back(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err);

/* When the catalog last confirmed our pieces: the oldest of these times over all pieces that are OURS; asked_ns if
 * there are none. */
int64_t ledger_confirmed(const ledger_t *ledger);

/* ---- what to do next ---- */

typedef enum {
    NEXT_TAKE, /* some pieces may be taken */
    NEXT_WORK, /* pieces of ours are not done */
    NEXT_WAIT, /* other loads work on the rest */
    NEXT_END,  /* everything is done, as of the last reading */
} next_t;

/* waits_for: one of the loads that NEXT_WAIT waits for; may be NULL. False: the load cannot end well (status 5). */
bool ledger_next(const ledger_t *ledger, next_t *next, const load_seen_t **waits_for, err_t *err);

/* ---- what the two files of the ledger share: the states of pieces ---- */

piece_t *ledger_piece(const ledger_t *ledger, const work_t *work);
/* Frees and resets what is remembered of work that is not ours (any more). */
void ledger_forget(work_t *work);
/* The only function that changes the state of a piece. */
void ledger_become(ledger_t *ledger, work_t *work, work_state_t state);
/* The catalog names us as the owner of the piece. */
void ledger_own(ledger_t *ledger, work_t *work);
/* The piece is complete: it is DONE, or is begun anew once (work->again). */
void ledger_complete(ledger_t *ledger, work_t *work);
/* True if what was done of the piece counts for this load. */
bool ledger_believes(const ledger_t *ledger, const work_t *work);
bool ledger_may_take(const ledger_t *ledger, const work_t *work);

#endif
