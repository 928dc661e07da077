#include "input/magic.h"
#include "base/chars.h"
#include "format/cut/bson_span.h"
#include "input/archive/archive.h"
#include "input/decode/decoder.h"

#include <string.h>

typedef struct {
    magic_t magic;
    uint16_t offset, length;
    const char *bytes;
    const char *name;
} mark_t;

/* "PK" and "BZh" alone may begin a header line: so only marks that no text contains. */
static const mark_t marks[] = {
    {MAGIC_GZIP, 0, 2, "\x1f\x8b", "gzip"},
    {MAGIC_ZSTD, 0, 4, "\x28\xb5\x2f\xfd", "zstd"},
    {MAGIC_ZSTD, 1, 3, "\x2a\x4d\x18", "zstd"}, /* a skippable frame: the byte before is 50 to 5f */
    {MAGIC_ZIP, 0, 4, "PK\3\4", "zip"},
    {MAGIC_ZIP, 0, 4, "PK\5\6", "zip"}, /* a zip without members */
    {MAGIC_ZIP, 0, 4, "PK\7\10", "zip"},
    {MAGIC_PROGRAM, 0, 2, "MZ", NULL},
    {MAGIC_PROGRAM, 0, 4, "\177ELF", NULL},
    {MAGIC_PROGRAM, 0, 2, "#!", NULL},
    {MAGIC_DUMP, 0, DUMP_MAGIC_BYTES, DUMP_MAGIC, "mongodump"},
    {MAGIC_XZ, 0, 6,
     "\xfd"
     "7zXZ\0",
     "xz"},
    {MAGIC_BZIP2, 4, 6, "1AY&SY", "bzip2"},
    {MAGIC_BZIP2, 4, 6, "\x17\x72\x45\x38\x50\x90", "bzip2"}, /* without text */
    {MAGIC_REFUSED, 0, 6, "7z\xbc\xaf\x27\x1c", "7z"},
    {MAGIC_REFUSED, 0, 4, "\x04\x22\x4d\x18", "lz4"},
    {MAGIC_REFUSED, 0, 6, "Rar!\x1a\x07", "rar"},
    {MAGIC_REFUSED, 0, 2, "\x1f\x9d", "compress (.Z)"},
    {MAGIC_REFUSED, 0, 3, "]\0\0", "lzma"},
    {MAGIC_REFUSED, 0, 5, "PAR1\x15", "Parquet"},
    {MAGIC_REFUSED, 0, 8, "ARROW1\0\0", "Arrow"},
    {MAGIC_REFUSED, 0, 4, "Obj\1", "Avro"},
    {MAGIC_REFUSED, 0, 16, "SQLite format 3\0", "SQLite"},
    {MAGIC_REFUSED, 0, 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel"},
    {MAGIC_REFUSED, 0, 4, "\xff\xfe\0\0", "UTF-32"}, /* it begins like UTF-16 */
    {MAGIC_REFUSED, 0, 4, "\0\0\xfe\xff", "UTF-32"},
};

/* Its first length may be the mark of something else. What begins as gzip does is gzip. */
static bool is_bson(const uint8_t *head, size_t size) {
    return bson_span_begins(head, size) && memcmp(head, "\x1f\x8b\x08", 3) != 0;
}

static bool is_line_of_rejects(const uint8_t *line, size_t length) {
    static const char *const begin[] = {MAGIC_REJECT_WORDS, MAGIC_REJECT_MARK};
    bool is = false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        is |= length >= strlen(begin[i]) && memcmp(line, begin[i], strlen(begin[i])) == 0;
    return is;
}

/* Also as an editor has saved it: with a byte-order mark, as UTF-16, or with other lines above its own. */
static bool is_of_rejects(const uint8_t *head, size_t size) {
    const utf16_order_t order = decoder_utf16_order(head, size);
    const size_t step = order ? 2 : 1, mark = order && head[0] && head[1] ? 2 : lines_bom(head, size);
    const bool big = order == UTF16_BIG;
    uint8_t text[MAGIC_BYTES];
    size_t length = 0;
    for (size_t at = mark; at + step <= size && length < sizeof text; at += step)
        text[length++] = order && head[at + !big] ? UINT8_MAX : head[at + big];
    const uint8_t *line = text, *const end = text + length;
    while (line && !is_line_of_rejects(line, (size_t)(end - line)))
        line = (line = memchr(line, '\n', (size_t)(end - line))) ? line + 1 : NULL;
    return line;
}

magic_t magic_of(const uint8_t *head, size_t size, const char **compressed) {
    /* first, because a tar begins with a name, which may be any word */
    if (size >= TAR_BLOCK && tar_begins(head)) {
        *compressed = "tar";
        return MAGIC_TAR;
    }
    *compressed = NULL;
    if (is_bson(head, size))
        return MAGIC_TEXT;
    for (const mark_t *mark = marks; mark < marks + sizeof marks / sizeof *marks; mark++) {
        if (size < (size_t)mark->offset + mark->length ||
            memcmp(head + mark->offset, mark->bytes, mark->length) != 0)
            continue;
        if (mark->offset == 1 && (head[0] & 0xf0) != 0x50)
            continue;
        if (mark->offset == 4 && memcmp(head, "BZh", 3) != 0)
            continue;
        *compressed = mark->name;
        return mark->magic;
    }
    *compressed = NULL;
    if (is_of_rejects(head, size))
        return MAGIC_REJECTS;
    return decoder_utf16_order(head, size) ? MAGIC_UTF16 : MAGIC_TEXT;
}

input_kind_t magic_kind(magic_t magic) {
    switch (magic) {
    case MAGIC_GZIP:
        return INPUT_GZIP;
    case MAGIC_ZSTD:
        return INPUT_ZSTD;
    case MAGIC_XZ:
        return INPUT_XZ;
    case MAGIC_BZIP2:
        return INPUT_BZIP2;
    case MAGIC_UTF16:
        return INPUT_UTF16;
    default:
        return INPUT_PLAIN;
    }
}

/* Kinds of files with a program that makes text of them. */
static const struct {
    const char *kind, *command;
} converters[] = {
    {"Parquet",
     "duckdb -c \"COPY (FROM 'FILE') TO '/dev/stdout' (FORMAT json)\" | tipple load --format json ... -"},
    {"Arrow",
     "duckdb -c \"COPY (FROM 'FILE') TO '/dev/stdout' (FORMAT json)\" | tipple load --format json ... -"},
    {"Avro", "avrocat FILE | tipple load --format json ... -"},
    {"SQLite", "sqlite3 -csv -header FILE 'SELECT * FROM TABLE' | tipple load ... -"},
    {"Excel", "libreoffice --headless --convert-to csv FILE"},
    {"old Excel", "libreoffice --headless --convert-to csv FILE"},
};

bool magic_refuse(err_t *err, const char *name, const char *compressed) {
    for (size_t i = 0; i < sizeof converters / sizeof *converters; i++)
        if (strcmp(converters[i].kind, compressed) == 0)
            return err_set(
                err, STATUS_INPUT,
                "%.1000s: is a file of %s, which is not read here; make text of it, for example with: %s "
                "(FILE is its name; dates and decimal numbers become text)",
                name, compressed, converters[i].command);
    if (strncmp(compressed, "UTF-", 4) == 0)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: holds %s text, which is not read here; make it UTF-8 first (iconv -f %s -t "
                       "UTF-8), or pipe that in and name the input '-'",
                       name, compressed, compressed);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: holds %s data, which is not read here; decompress it first, or pipe the "
                   "decompressed text in and name the input '-'",
                   name, compressed);
}

bool magic_refuse_dump(err_t *err, const char *name) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: an archive of mongodump cannot be read from a stream, nor from within another archive, "
        "because its collections are listed before one is loaded; give it as a file",
        name);
}

bool magic_refuse_rejects(err_t *err, const char *name, bool packed) {
    return err_set(
        err, STATUS_USAGE,
        "%.1000s: is a reject file of tipple, no data: leave it out, or, if its records were fixed, "
        "give it alone%s, with --retry",
        name, packed ? " and unpacked" : "");
}
