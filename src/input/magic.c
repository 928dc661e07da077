#include "input/magic.h"
#include "base/chars.h"
#include "format/cut/ends.h"
#include "input/archive/archive.h"
#include "input/decode/decoder.h"

#include <string.h>

#define BY_PYTHON(of)                                                                                        \
    "load it from Python, which keeps its types: python3 -c \"import tipple, pyarrow.dataset as d; "         \
    "tipple.load(d.dataset('FILE'" of ").scanner().to_reader(), 'URI', name='FILE')\""
#define MAKE_TEXT   "make text of it, for example with: "
#define WITH_ICONV  MAKE_TEXT "iconv -f UTF-32 -t UTF-8 FILE | tipple load ... -"
#define WITH_OFFICE MAKE_TEXT "libreoffice --headless --convert-to csv FILE"

/* "PK" and "BZh" alone may begin a header line: so only marks that no text contains. */
static const magic_t marks[] = {
    {MAGIC_PACKED, "gzip", INPUT_GZIP, 0, 2, "\x1f\x8b", NULL},
    {MAGIC_PACKED, "zstd", INPUT_ZSTD, 0, 4, "\x28\xb5\x2f\xfd", NULL},
    {MAGIC_PACKED, "zstd", INPUT_ZSTD, 1, 3, "\x2a\x4d\x18", NULL}, /* skippable: 50 to 5f come before */
    {MAGIC_ZIP, "zip", INPUT_PLAIN, 0, 4, "PK\3\4", NULL},
    {MAGIC_ZIP, "zip", INPUT_PLAIN, 0, 4, "PK\5\6", NULL}, /* a zip without members */
    {MAGIC_ZIP, "zip", INPUT_PLAIN, 0, 4, "PK\7\10", NULL},
    {MAGIC_DUMP, "mongodump", INPUT_PLAIN, 0, DUMP_MAGIC_BYTES, DUMP_MAGIC, NULL},
    {MAGIC_PACKED, "xz", INPUT_XZ, 0, 6, "\xfd\67zXZ\0", NULL},
    {MAGIC_PACKED, "bzip2", INPUT_BZIP2, 4, 6, "1AY&SY", NULL},
    {MAGIC_PACKED, "bzip2", INPUT_BZIP2, 4, 6, "\x17\x72\x45\x38\x50\x90", NULL}, /* without text */
    {MAGIC_REFUSED, "7z", INPUT_PLAIN, 0, 6, "7z\xbc\xaf\x27\x1c", NULL},
    {MAGIC_REFUSED, "lz4", INPUT_PLAIN, 0, 4, "\x04\x22\x4d\x18", NULL},
    {MAGIC_REFUSED, "rar", INPUT_PLAIN, 0, 6, "Rar!\x1a\x07", NULL},
    {MAGIC_REFUSED, "compress (.Z)", INPUT_PLAIN, 0, 2, "\x1f\x9d", NULL},
    {MAGIC_REFUSED, "lzma", INPUT_PLAIN, 0, 3, "]\0\0", NULL},
    {MAGIC_REFUSED, "Parquet", INPUT_PLAIN, 0, 5, "PAR1\x15", BY_PYTHON("")},
    {MAGIC_REFUSED, "Arrow", INPUT_PLAIN, 0, 8, "ARROW1\0\0", BY_PYTHON(", format='ipc'")},
    {MAGIC_REFUSED, "Avro", INPUT_PLAIN, 0, 4, "Obj\1",
     MAKE_TEXT "avrocat FILE | tipple load --format json ... -"},
    {MAGIC_REFUSED, "SQLite", INPUT_PLAIN, 0, 16, "SQLite format 3\0",
     MAKE_TEXT "sqlite3 -csv -header FILE 'SELECT * FROM TABLE' | tipple load ... -"},
    {MAGIC_REFUSED, "old Excel", INPUT_PLAIN, 0, 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", WITH_OFFICE},
    {MAGIC_REFUSED, "UTF-32", INPUT_PLAIN, 0, 4, "\xff\xfe\0\0", WITH_ICONV}, /* it begins like UTF-16 */
    {MAGIC_REFUSED, "UTF-32", INPUT_PLAIN, 0, 4, "\0\0\xfe\xff", WITH_ICONV},
};

/* Kinds without a mark: a function for each sees how such a file begins. */
static const magic_t text = {.is = MAGIC_TEXT, .kind = INPUT_PLAIN},
                     rejects = {.is = MAGIC_REJECTS, .kind = INPUT_PLAIN},
                     utf16 = {.is = MAGIC_UTF16, .name = "UTF-16", .kind = INPUT_UTF16},
                     tar = {.is = MAGIC_TAR, .name = "tar", .kind = INPUT_PLAIN};

const magic_t magic_of_office = {.is = MAGIC_REFUSED, .name = "Excel", .advice = WITH_OFFICE};

/* The length of the first document may look like another mark; the mark of gzip wins. */
static bool is_bson(const uint8_t *head, size_t size) {
    return bson_span_begins(head, size) && memcmp(head, "\x1f\x8b\x08", 3) != 0;
}

/* Also as an editor has saved it: with a byte order mark, as UTF-16, or with other lines above its own. So only what is ASCII is
 * looked at. */
static bool is_of_rejects(const uint8_t *head, size_t size) {
    char ascii[1 + MAGIC_BYTES + 1] = "\n";
    size_t length = 1;
    size = size < MAGIC_BYTES ? size : MAGIC_BYTES;
    if (!memchr(head, '#', size))
        return false;
    for (size_t at = 0; at < size; at++)
        if (head[at] && head[at] < 0x80)
            ascii[length++] = (char)head[at];
    return strstr(ascii, "\n" MAGIC_REJECT_WORDS) || strstr(ascii, "\n" MAGIC_REJECT_MARK);
}

static bool fits(const magic_t *mark, const uint8_t *head, size_t size) {
    if (size < (size_t)mark->offset + mark->length ||
        memcmp(head + mark->offset, mark->bytes, mark->length) != 0)
        return false;
    return mark->offset == 1   ? (head[0] & 0xf0) == 0x50
           : mark->offset == 4 ? memcmp(head, "BZh", 3) == 0
                               : true;
}

const magic_t *magic_of(const uint8_t *head, size_t size) {
    /* first, because a tar begins with a name, which may be any word */
    if (size >= TAR_BLOCK && tar_begins(head))
        return &tar;
    if (is_bson(head, size))
        return &text;
    for (const magic_t *mark = marks; mark < marks + sizeof marks / sizeof *marks; mark++)
        if (fits(mark, head, size))
            return mark;
    return is_of_rejects(head, size) ? &rejects : decoder_utf16_order(head, size) ? &utf16 : &text;
}

bool magic_of_cr_lines(const uint8_t *head, size_t size) {
    size = size < MAGIC_LINES ? size : MAGIC_LINES;
    const uint8_t *cr = memchr(head, '\r', size);
    size_t quotes = 0;
    for (const uint8_t *at = head; cr && at < cr; at++)
        quotes += *at == '"';
    return cr && cr + 1 < head + size && quotes % 2 == 0 && !memchr(head, '\n', size) &&
           !memchr(head, 0, size);
}

bool magic_accept(const magic_t *magic, magic_place_t place, const char *name, err_t *err) {
    const bool in_text = place == MAGIC_IN_TEXT, archive = magic->is >= MAGIC_ZIP && magic->is <= MAGIC_DUMP;
    if (magic->is <= MAGIC_UTF16 || (!in_text && magic->is <= MAGIC_PACKED) ||
        (archive && place == MAGIC_IN_FILE))
        return true;
    if (magic->is == MAGIC_REJECTS)
        return magic_refuse_rejects(err, name);
    if (archive)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: a %s archive cannot be read from a stream, nor from within another file, "
                       "because what it holds is listed before any of it is loaded; give it as a file, or "
                       "unpack it",
                       name, magic->name);
    return err_set(err, STATUS_INPUT, "%.1000s: holds %s data, which is not read here; %s", name, magic->name,
                   magic->advice ? magic->advice
                                 : "decompress it first, or pipe the decompressed text in and name the "
                                   "input '-'");
}

bool magic_refuse_rejects(err_t *err, const char *name) {
    return err_set(
        err, STATUS_USAGE,
        "%.1000s: is a reject file of tipple, no data: leave it out, or, if its records were fixed, "
        "give it alone, unpacked, with --retry",
        name);
}
