/* magic: which kind of file it is, found from its first bytes, never from its name.
 *
 * Each kind is a row {what it is, its name, how it is read, the bytes that it begins with}; text is what begins with none of
 * them. A row also decides where such a file may stand: an archive is listed before any of it is loaded, so it must be a file;
 * what is compressed must hold text; formats that are no text are refused with a program that makes text of them. */
#ifndef TIPPLE_INPUT_MAGIC_H
#define TIPPLE_INPUT_MAGIC_H

#include "base/err.h"
#include "input/file/input_file.h"

/* MAGIC_BYTES always decide. MAGIC_LEAST are enough for what can be read: bzip2 has its longest mark. */
enum { MAGIC_LEAST = 10, MAGIC_BYTES = 512 };

typedef enum {
    MAGIC_TEXT,
    MAGIC_UTF16,
    MAGIC_REJECTS, /* text: the rejects of a load, which are not an input */
    MAGIC_PACKED,
    MAGIC_ZIP,
    MAGIC_TAR,
    MAGIC_DUMP,    /* an archive that mongodump has written */
    MAGIC_REFUSED, /* a format, compressed or not, or an encoding, that tipple cannot read */
} magic_is_t;

typedef struct {
    magic_is_t is;
    const char *name;  /* of the format: "xz" */
    input_kind_t kind; /* how it is read */
    uint8_t offset, length;
    const char *bytes;
    const char *advice; /* of what is refused: how to load it all the same; NULL: decompress it */
} magic_t;

/* A zip that an office program has written. */
extern const magic_t magic_of_office;

/* The first words of a file that holds the rejects of a load, and those of the line that --retry knows it by. */
#define MAGIC_REJECT_WORDS "# tipple rejects"
#define MAGIC_REJECT_MARK  "# marked #@"

const magic_t *magic_of(const uint8_t *head, size_t size);

/* Do the lines of this text end with CR alone, as on an old Mac? There is no LF in its first MAGIC_LINES bytes, and the first CR
 * is not within quotes. Each CR is then given out as an LF, so that offsets stay. */
enum { MAGIC_LINES = 64 * 1024 };
bool magic_of_cr_lines(const uint8_t *text, size_t size);

/* Where these bytes are: at the beginning of a file; of a stream, or of a member of an archive; of unpacked text. */
typedef enum { MAGIC_IN_FILE, MAGIC_IN_OTHER, MAGIC_IN_TEXT } magic_place_t;

/* May such bytes stand there? If not, the sentence says what to do. */
bool magic_accept(const magic_t *magic, magic_place_t place, const char *name, err_t *err);

/* The sentence for a reject file that was named (status 1). Always false. */
bool magic_refuse_rejects(err_t *err, const char *name);

#endif
