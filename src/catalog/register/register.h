/* register: finds which entry of the catalog belongs to which input of a load; new inputs get an entry. An input is
 * recognised
 *
 *   - by its name, size and digest;
 *   - under another folder by its last name, size and digest, unless its old path still has a file of that content:
 *     then this one is a copy, if it was not recognised under its path before. A member of an archive has the archive's
 *     last name and the member's whole one;
 *   - as grown, if it is longer than its entry and begins with the same bytes: under its own name; or under another
 *     folder, if its file is nowhere under the old name any more and no other entry fits.
 *
 * A stream is recognised by its whole name, and never without one. An input that is not recognised may still be like
 * another one (like_t): that is reported, and decides nothing.
 *
 * The main thread fills a registration_t with what it wants to know, and catalog_register fills in the answer. The
 * names and the functions of the registration stay the caller's. */
#ifndef TIPPLE_CATALOG_REGISTER_REGISTER_H
#define TIPPLE_CATALOG_REGISTER_REGISTER_H

#include "catalog/ledger/ledger.h"
#include "input/file/input_file.h"

/* ---- what an input is like ---- */

/* An input that brings records may be, in part or as a whole, one that is loaded under another name. The surest way
 * first: */
typedef enum {
    LIKE_EQUAL,  /* it has the content of the other one */
    LIKE_PART,   /* it is the beginning of the other one, or an earlier version of it */
    LIKE_BEGINS, /* it begins with the content of the other one */
    LIKE_LEADS,  /* the other name is a link that leads to this file today, and may have led elsewhere then */
    LIKE_MOVED,  /* only the other one had this name, in another folder, and is not there any more */
    LIKE_PACKED, /* the other one has the same name and folder, but another compression; it may be there */
    LIKE_PACKED_ELSEWHERE, /* likewise in another folder, and it is the only one of that name */
    LIKE_KINDS
} like_t;

enum { LIKE_NEW = UINT32_MAX }; /* instead of an ordinal: an input of the same load, which is new itself */

/* The other one. */
typedef struct {
    char *path;       /* as the catalog has it, or the name of the input; NULL: there is none */
    uint32_t ordinal; /* of its entry, or LIKE_NEW */
    bool unfinished;  /* it is not loaded to its end, and this load does not name it */
    bool by_name;     /* --input-name has named it */
    bool before;      /* LIKE_NEW: it comes before this input, */
    size_t input;     /* as this one of the inputs */
} alike_t;

/* ---- a registration ---- */

typedef struct {
    const char *name;      /* as the catalog writes it */
    const char *kind;      /* "plain", "gzip", "zstd", "xz", "bzip2", "zip", "stream" */
    const char *last_name; /* within name: for a member of an archive, of both; NULL: after the last / */
    const char *path;      /* of the file that it is read from, on this machine; NULL: none */
    const char *copy_mark; /* what makes it a copy in its name; "" or NULL: it is none */
    bool named;            /* it can be recognised; false: a stream without --input-name */
    bool by_name;          /* a stream, or by --input-name: recognised by its name alone */
    bool of_archive;       /* a member of a zip or a tar: digest_as is asked about it */
    bool may_grow;         /* a file of its own, to which another program may still be writing */
    version_t seen;
    input_begins_t begins; /* zeros: not known */
    uint64_t extent_units; /* for all of its text, in units of RECORD_ID_EXTENT_UNIT */
    uint64_t ordinals;     /* how many ordinals it takes */
    uint64_t piece_blocks; /* blocks of each piece, if there are several */
    size_t pieces;         /* 1, or more for a large plain file */
    uint64_t text_end;     /* see ledger_input_t */
    uint64_t bytes;        /* what it costs to read, for portions of work */
    size_t group;          /* see ledger_input_t */
    bool reload;           /* if it has changed, its old entry does not stop the load: it will be replaced */
    bool replaced; /* it was: it stays an input of its own, even if its file is another one's as well */

    /* the answer */
    entry_t entry; /* the caller moves it into the ledger, or frees it */
    bool moved;    /* it was loaded from another folder; it may also have grown since */
    /* how many entries could be this input, moved and grown; it is recognised only if this is 1 */
    size_t resembles;
    uint32_t copy; /* how many equal inputs come before it: a part of its key */
    alike_t *like; /* LIKE_KINDS: all that is known, reported or not; NULL: it is like nothing */
    bool changed;  /* with `reload`: `entry` is the old one, and its content differs */
    bool unread;   /* with `changed`: nothing of the old content was ever read */
    bool refused;  /* `refuse` was given the reason */
} wanted_t;

/* The digest that an input would have if it ended after `size` bytes on disk. */
typedef bool register_digest_fn(const void *context, size_t input, uint64_t size, char digest[33],
                                err_t *err);

/* The digest that a member of an archive would have by another name. */
typedef void register_digest_as_fn(const void *context, size_t input, const char *member, char digest[33]);

/* A file of this machine. */
typedef struct {
    uint64_t device, inode;
    uint64_t size; /* of the file; of the archive, if the path is that of a member */
    int64_t modified_ns;
    const char *copy; /* of a path of an entry: as copy_mark */
    /* its name, after ARCHIVE!, in the path that was asked for; NULL: the path is that of a file */
    const char *member;
} file_id_t;

/* The file at the path of an entry or an input. False: none. */
typedef bool register_file_fn(const char *path, file_id_t *file);

/* True if a symbolic link leads there, to the file or to a folder: then another file may have been there before. */
typedef bool register_link_fn(const char *path);

/* True if the file at this path has the content of the entry, or begins with it. The file must be read for that. */
typedef bool register_holds_fn(void *context, const char *path, const entry_t *entry);

/* Why an input cannot be registered (status 5). True: go on with the others. */
typedef bool register_refuse_fn(void *refuse_context, size_t input, const err_t *err);

/* False if the input surely holds no more than a header line. */
typedef bool register_records_fn(void *holds_context, size_t input);

typedef struct {
    wanted_t *wanted;
    size_t count;
    load_id_t self;
    /* the same command's first load, which has registered its inputs and begun again; or nobody */
    load_id_t before;
    uint32_t generation; /* of the collection */
    uint32_t bad_value;  /* of new inputs: see piece_t */
    portion_t portion;   /* of new pieces, whose entries are made as taken by this load; none: all are free */
    bool read_only;      /* nothing is written: new inputs get no entry (their pieces are 0) */
    bool own_ids;        /* documents of different inputs cannot be distinguished */
    bool known_only;     /* new inputs are refused with status 1 */
    bool bound;          /* documents were sent before: each of their inputs has an entry */
    register_digest_fn *digest_at;
    register_digest_as_fn *digest_as; /* asked only about members of archives */
    register_records_fn *may_hold;    /* NULL: each may */
    register_refuse_fn *refuse;       /* NULL: the first input that is refused ends the registration */
    register_file_fn *file_at;        /* NULL: it cannot be known */
    register_link_fn *by_link;        /* likewise */
    register_holds_fn *holds;         /* asked only where there is file_at */
    const void *context;              /* of digest_at and digest_as */
    void *holds_context;              /* of holds and may_hold */
    void *refuse_context;
    const char *name; /* of the collection, for sentences */

    /* the answer */
    uint64_t entries, loaded; /* how many entries there are; how many records they have as loaded */
    char **keys; /* by input: the key of its entry, as this input would have it; NULL: as it is */
    standing_input_t *standings; /* whose their rejects are, by ordinal */
    size_t standing_count;
    /* a removal was interrupted: call catalog_finish_removals before the first document is sent */
    bool remains;
} registration_t;

/* Status 5: an input has changed since it was loaded; `refuse` was given each, and nothing was written. Status 1: a
 * stream has the name of a file. */
bool catalog_register(store_t *store, registration_t *registering, err_t *err);
/* Frees the answers, except entries that the caller has moved out. */
void register_free(registration_t *registering);
/* Frees only those in `wanted`, which is then free to go. */
void register_free_wanted(registration_t *registering);

/* ---- how an input compares with an entry ---- */

/* True if the path of an entry, or the name of an input, has the last name of this input, in whatever folder. */
bool registration_is_called(const wanted_t *wanted, const char *path);

/* What the input is like in this way; NULL: nothing. */
const alike_t *registration_like(const wanted_t *wanted, like_t how);

/* The likeness that is reported: the surest. LIKE_KINDS: none. Of two new inputs only the longer one reports it. */
like_t registration_tells(const wanted_t *wanted);

/* Compares an input with its entry, as ledger_options_t.relate does. */
bool registration_relate(const entry_t *entry, const version_t *seen, bool may_grow,
                         register_digest_fn *digest_at, const void *context, size_t input, view_t *view,
                         uint32_t *version, err_t *err);

/* True if the input has become the newest version of its entry, which is longer than what this command has seen of
 * it. */
bool registration_has_grown(const version_t *newest, const version_t *seen, bool may_grow,
                            register_digest_fn *digest_at, const void *context, size_t input);
/* Sets the sentence about such an input, with status 5. Always false. */
bool registration_refuse_grown(const char *name, err_t *err);

/* ---- how many numbers an input takes ---- */

/* The most text that it can hold, in whole units of extents. */
uint64_t room_units(const input_file_t *input);
/* How many ordinals it takes. A plain file takes as many as let the next file's lanes continue where its own end, so
 * that files share the lanes as evenly as if they were one file. Only the number modulo the lanes counts. */
uint64_t room_ordinals(const input_file_t *input);

/* ---- turns (turns.c): where later records replace earlier ones, inputs are loaded in the order of their ordinals
 * ---- */

/* registering: with its answer, and with or without entries of new inputs. all: the catalog's entries. False (status
 * 1): an input before these is not loaded to its end, or one after them is begun. */
bool turns_check(const registration_t *registering, const entries_t *all, err_t *err);

/* An input that is done and is known from another folder for the first time may be a new file with old content, whose
 * records are to be the newest, if its file was written at another time. Then returns the path of an input that was
 * loaded since; else NULL. */
const char *turns_since(const registration_t *registering, const wanted_t *wanted, const entries_t *all);

#endif
