/* source: one input as a stream of decompressed bytes. A source belongs to one thread at a time. */
#ifndef TIPPLE_INPUT_SOURCE_H
#define TIPPLE_INPUT_SOURCE_H

#include "base/threads.h"
#include "input/decode/decoder.h"

#include <sys/types.h>

typedef struct source source_t;

/* What a thread takes from one source to the next. It begins as zeros. */
typedef struct {
    /* the compressed tar that was read last: its members are read in one pass if they are opened in order */
    source_t *archive;
    /* if it is closed, a wait for a stream's bytes ends: source_read fails, and err->text is empty */
    pool_t *pool;
    /* only examines beginnings: reads less at once, and an archive of mongodump not on after the collection. What an input keeps of
     * its text (input_file_t.head) is given out without opening it; it is opened for more than that. Without `looks`, only if it
     * keeps all of its text, and is no member of a compressed tar, which is read in one pass. */
    bool looks;
    remote_pace_t pace; /* of objects */
} source_kit_t;

void source_kit_close(source_kit_t *kit);

/* The file (and its manifest) must live longer than the source. Opening a stream never waits: the first read does.
 * NULL: *err says why (status 5; 8 if this host has no descriptor or memory left). */
source_t *source_open(const input_file_t *file, err_t *err);

/* The same with a kit, which must live longer than the source. Only one member of a compressed tar may be open at a
 * time. */
source_t *source_open_in(source_kit_t *kit, const input_file_t *file, err_t *err);

/* Opens a file as it is, whatever its text is: a compressed tar itself, to find its members. fd: of the file, or of the archive of
 * the member, where it is open already, and stays the caller's; else -1. */
source_t *source_open_packed(source_kit_t *kit, const input_file_t *file, int fd, err_t *err);

/* Fills the buffer as far as possible: `size` bytes, fewer only at the end or before a fault, or of a stream. Returns the number
 * of bytes; 0: the end; -1: a fault with its sentence (file, place, what to do; status 5, or 130 and 143 if a signal ended
 * a wait for a stream). Earlier calls have already returned everything before a fault, so nothing that could be
 * decompressed is lost. A fault stays: every later call reports it again. At the end everything is checked that can be
 * checked: CRCs and lengths of gzip and zip, and that the file still has the size and mtime of the manifest ("changed
 * while it was read"). */
ssize_t source_read(source_t *source, void *buffer, size_t size, err_t *err);

/* Continues at this offset of the decompressed text. Plain files seek; other inputs read up to it, so only forward. An
 * offset after the end is a fault. */
bool source_skip_to(source_t *source, uint64_t offset, err_t *err);

/* Of an object nothing from this offset of its text on is fetched before it is read: where a piece ends. */
void source_read_until(source_t *source, uint64_t offset);

/* The last bytes that were read are to be read again. False: memory is out. */
bool source_unread(source_t *source, const uint8_t *text, size_t length, err_t *err);

/* A caller that stops before the end must ask this itself: is the file still the one of the manifest? */
bool source_is_unchanged(const source_t *source, err_t *err);

/* True after source_read failed because its file could not be read, and not because its text is damaged. */
bool source_is_unreadable(const source_t *source);

/* True if the next bytes of a stream of text (not a compressed one), or its end, come within this time. */
bool source_waits(const source_t *source, int milliseconds);

/* Is its text UTF-16, which is given as UTF-8? After the first read. */
bool source_is_utf16(const source_t *source);

/* What sentences call it. */
const char *source_name(const source_t *source);

/* How many bytes were read from the disk, or from a pipe, so far: for a member of a compressed archive, how many bytes of
 * that since the member was opened. Any thread may ask. */
uint64_t source_disk_bytes(const source_t *source);

void source_close(source_t *source);

/* Instead of closing a stream, of which only the beginning was looked at: the next source of the file gives out text[0,
 * length), which is all that was read of it, and goes on after it. The source was opened without a kit. It takes over the
 * source and the text, which was allocated. False: it takes over nothing. */
bool source_leave(source_t *source, input_file_t *file, uint8_t *text, size_t length, err_t *err);

/* Returns how many bytes of it are kept, and can be read without waiting for more. */
size_t source_kept(const input_file_t *file);

/* Writes into the other end of a pair of sockets, of which the first is input_file_t.pushed; waits while there is no room.
 * False: nobody reads any more, and the rest of the bytes was not taken. */
bool source_push(int socket, const void *bytes, size_t length);

/* How many lines of a file, of BSON documents, end before this offset of its text; reads everything up to there. False: it
 * cannot be read, or the offset is so far into the file (256 MiB) that reading would take long: say the offset then. */
bool source_lines(const input_file_t *file, bool bson, uint64_t offset, uint64_t *lines);

#endif
