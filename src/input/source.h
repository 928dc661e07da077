/* source: one input as a stream of decompressed bytes. A source belongs to one thread at a time. */
#ifndef TIPPLE_INPUT_SOURCE_H
#define TIPPLE_INPUT_SOURCE_H

#include "base/threads/pool.h"
#include "input/decode/decoder.h"

#include <sys/types.h>

typedef struct source source_t;

/* What a thread carries from one source to the next: decoders, and the stream of a compressed tar, whose members
 * are read out of one pass when they are opened in order. NULL: out of memory. */
typedef struct source_kit source_kit_t;
source_kit_t *source_kit_new(void);
void source_kit_free(source_kit_t *kit);

/* The stream of the compressed tar that was read last, or NULL. */
const source_t *source_kit_stream(const source_kit_t *kit);

/* From now on, who waits for a stream's bytes stops waiting when this pool is closed: source_read fails, and
 * err->text is empty. */
void source_kit_watch(source_kit_t *kit, pool_t *pool);

/* Only the beginnings of files will be read with this kit: not much more of them is fetched from the disk. */
void source_kit_peek(source_kit_t *kit);

/* The file (and its manifest) must outlive the source. A stream is only looked at by the first read, so
 * opening never waits. NULL: *err says why (status 5; 8 when this host has no descriptor or memory left). */
source_t *source_open(const input_file_t *file, err_t *err);

/* The same with a choice of library, for the tests. */
source_t *source_open_with(const input_file_t *file, inflate_engine_t engine, err_t *err);

/* The same with a kit, which must outlive the source. Of the members of compressed tars one may be open at a
 * time.
 */
source_t *source_open_in(source_kit_t *kit, const input_file_t *file, err_t *err);

/* A compressed tar as a whole, to look for its members. */
source_t *source_open_archive(source_kit_t *kit, const input_file_t *archive, err_t *err);

/* Fills the buffer as far as it can: `size` bytes, fewer only at the end or before a fault.
 * Returns the bytes got; 0 is the end. -1: a fault with its sentence (file, place, what to do; status 5, or
 * 130 and 143 when a signal cut a wait for a stream short). What came before a fault has already been
 * returned by earlier calls: nothing that could be decompressed is lost. A fault stays: every further call
 * tells it again. At the end it checks what can be checked: gzip and zip CRCs and lengths, and that the file
 * still has the size and mtime of the manifest ("changed while it was read"). */
ssize_t source_read(source_t *source, void *buffer, size_t size, err_t *err);

/* Continues at this offset of the decompressed text. Plain files seek; others read and throw away, so only
 * forward. An offset behind the end is a fault. */
bool source_skip_to(source_t *source, uint64_t offset, err_t *err);

/* Who stops before the end asks himself what source_read checks there: is the file still the one of the manifest? */
bool source_is_unchanged(const source_t *source, err_t *err);

/* After a fault: the text before it may be wrong as well, because the data is damaged or the file was
 * changed. A file that is cut off, or could not be read on, gave what it holds. */
bool source_is_suspect(const source_t *source);

/* Bytes taken from the disk (or by a member of a compressed tar, from that) so far, for the progress line. May be
 * read by another thread. */
uint64_t source_disk_bytes(const source_t *source);

void source_close(source_t *source);

/* Is the text of a file (no stream) a reject file? What cannot be read is none. With a kit that peeks. */
bool source_begins_rejects(source_kit_t *kit, const input_file_t *file);

/* How many lines of a file end before this offset of its text; reads all of it up to there. */
bool source_lines(const input_file_t *file, uint64_t offset, uint64_t *lines);

#endif
