/* remote: objects that URLs name, which are read as files are.
 *
 * An object is what one URL names: https://, http:// or s3://. It is seen once, by a GET of its first 128 KiB, and is const
 * from then on: its size, its validators, those bytes, and whether its server gives ranges. Never by HEAD, which pre-signed
 * URLs refuse. A reader is to an object what a descriptor is to a file: remote_read works like pread, so feeds, zips and
 * digests read both in the same way (input/decode/origin.h).
 *
 *     input_file_t.object      one for each URL of a manifest, shared by the members of an archive and by all readers
 *           ^
 *         reader               one for each source: a window of ranges from the place that was read last
 *         [range][range][range]        each is a request on a connection of its own, or whole, or not yet asked for
 *           |
 *        transport (http.c)    libcurl, which is opened at the first URL: connections are kept for the next reader
 *
 * Invariants:
 * - Each answer is of the object that was seen. One of another size, or of which both validators differ (or the only one that
 *   is known), is a change: err->changed, as when a file changes. A weak ETag says nothing, and another ETag with the same
 *   time is another mirror's.
 * - A byte is given out at its own offset or not at all: Content-Range and lengths are checked, an answer without a range
 *   (200) is read up to the place that was asked for, a connection that breaks or stalls goes on at its byte.
 * - What passes (no connection, 408, 429, 5xx) is tried again with growing pauses, until no byte has come for as long as
 *   `patience`. Everything else is a sentence at once.
 * - A URL is shown, and known to the catalog, without user, query and fragment. The whole of it is in pages that are left
 *   out of cores, and nowhere else for longer than a call.
 *
 * Any thread may see objects. A reader belongs to one thread at a time, has no thread of its own, and moves bytes only
 * while it is asked for some. */
#ifndef TIPPLE_INPUT_REMOTE_REMOTE_H
#define TIPPLE_INPUT_REMOTE_REMOTE_H

#include "base/err.h"
#include "base/threads.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- URLs ---- */

/* True if this argument or name is a URL of a scheme that is read here. */
bool remote_is(const char *path);

/* Returns how many objects of the URL's server may be seen at once; 0: the path is no URL. */
size_t remote_at_once(const char *path);

/* Takes the query and the user out of an argument that is a URL of https or http, so that from then on nothing can show or
 * write them, and keeps the whole URL for remote_see, which refuses two arguments that differ only in what was taken out. For
 * arguments of a process (ps shows them), before anything else. */
void remote_hide(char *argument);

/* The URL without user, query and fragment: a new string, which is its name, and stands for the whole of it from then on. NULL:
 * memory is out. */
char *remote_shown(const char *url, err_t *err);

/* True if this URL stands for several objects of s3: for a bucket, a prefix with / at its end, or a pattern. */
bool remote_is_several(const char *url);

/* The URLs of the objects of such a URL, by the bytes of their keys, which the caller frees in any case. As in a shell, * and ?
 * match no /; a prefix has all that is below it. What a console shows as a folder, a key with / at its end, is left out. False:
 * *err says why; there may be no object. */
typedef struct {
    char **urls;
    size_t count, room;
} remote_urls_t;
bool remote_list(const char *url, int64_t patience_ns, remote_urls_t *found, err_t *err);
void remote_free_urls(remote_urls_t *found);

/* ---- objects ---- */

/* As much as a digest is made of: an object that is not longer is fetched once, if its head is kept. */
enum { REMOTE_HEAD = 128 * 1024 };

typedef struct remote_object remote_object_t;

/* NULL: *err says why (status 5; 4 if the server cannot be reached; 1 for a URL that must not be given; 8 if this host has no
 * libcurl). */
remote_object_t *remote_see(const char *url, int64_t patience_ns, err_t *err);
remote_object_t *remote_share(remote_object_t *object); /* one more holder: the object, or NULL */
void remote_forget(remote_object_t *object);            /* when all holders have, it is freed */

/* Says that it is identified: its first bytes are forgotten if those of all objects take more bytes than `most`, or if that is
 * 0. Only one thread may have readers of it. */
void remote_settle(remote_object_t *object, uint64_t most);

uint64_t remote_size(const remote_object_t *object);
int64_t remote_modified_ns(const remote_object_t *object); /* 0: the server does not say */
bool remote_gives_ranges(const remote_object_t *object);

/* ---- reading ---- */

typedef struct {
    size_t ahead;         /* how many bytes may be held; 0: the least, which is one range of 64 KiB */
    unsigned connections; /* at once; 0: one */
    pool_t *pool;         /* if it is closed, a wait ends with an empty err->text; or NULL */
} remote_pace_t;

typedef struct remote_reader remote_reader_t;

/* The object must live longer. NULL: *err says why. */
remote_reader_t *remote_open(const remote_object_t *object, const remote_pace_t *pace, err_t *err);
void remote_close(remote_reader_t *reader);

/* Everything up to this offset is certainly wanted; it begins as 0, and then only what is asked for is fetched. */
void remote_read_until(remote_reader_t *reader, uint64_t offset);

/* Like pread: at least one byte, 0 at the object's end. -1: *err says why; 130 or 143 if a signal ended a wait. */
ssize_t remote_read(remote_reader_t *reader, void *out, size_t size, uint64_t offset, err_t *err);

#endif
