/* magic: what kind of file it is, from its first bytes. */
#ifndef TIPPLE_INPUT_MAGIC_H
#define TIPPLE_INPUT_MAGIC_H

#include "base/err.h"
#include "input/file/input_file.h"

/* MAGIC_BYTES always decide. MAGIC_LEAST are enough for what is decompressed: bzip2 has the longest mark. */
enum { MAGIC_LEAST = 10, MAGIC_BYTES = 512 };

typedef enum {
    MAGIC_TEXT, /* nothing is recognised: text */
    MAGIC_GZIP,
    MAGIC_ZSTD,
    MAGIC_XZ,
    MAGIC_BZIP2,
    MAGIC_ZIP,
    MAGIC_TAR,
    MAGIC_UTF16,
    MAGIC_DUMP,    /* an archive that mongodump has written */
    MAGIC_PROGRAM, /* an executable or a script: perhaps a self-extracting zip */
    MAGIC_REJECTS, /* text: the rejects of a load, which are not an input */
    MAGIC_REFUSED, /* a format, compressed or not, or an encoding, that tipple cannot read */
} magic_t;

/* The first words of a file that holds the rejects of a load, and those of the line that --retry knows it by. */
#define MAGIC_REJECT_WORDS "# tipple rejects"
#define MAGIC_REJECT_MARK  "# marked #@"

/* *compressed: the format's name for people ("xz"); NULL if it does not matter. */
magic_t magic_of(const uint8_t *head, size_t size, const char **compressed);

/* How such a file is read: one of the compressed kinds, or INPUT_PLAIN. */
input_kind_t magic_kind(magic_t magic);

/* The sentence for MAGIC_REFUSED, and for what must not be compressed at this place. Always false. */
bool magic_refuse(err_t *err, const char *name, const char *compressed);

/* The sentence for MAGIC_DUMP where it cannot be read: in a stream, or within another archive. Always false. */
bool magic_refuse_dump(err_t *err, const char *name);

/* The sentence for MAGIC_REJECTS (status 1), whatever it is packed in. Always false. */
bool magic_refuse_rejects(err_t *err, const char *name, bool packed);

#endif
