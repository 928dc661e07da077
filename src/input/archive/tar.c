#include "input/archive/archive.h"
#include "input/file/bytes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME = 0,
    NAME_BYTES = 100,
    SIZE = 124,
    SIZE_BYTES = 12,
    CHECKSUM = 148,
    CHECKSUM_BYTES = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_BYTES = 155,
    LARGEST_DESCRIPTION = 1 << 20,
};

typedef enum {
    KIND_FILE,
    KIND_FOLDER,
    KIND_OTHER,     /* listed with a clause that says what it is; it has no body */
    KIND_BODY,      /* the same, but with a body */
    KIND_PAX,       /* describes the next header */
    KIND_GLOBAL,    /* describes all that follow */
    KIND_LONG_NAME, /* the path of the next header */
    KIND_PASSED,    /* ignored */
    KIND_REFUSED,   /* an error: this kind cannot be read */
} kind_t;

typedef struct {
    char path[PATH_MAX]; /* from a description; "": none */
    bool has_size, is_sparse;
    uint64_t size;
} tar_facts_t;

typedef struct {
    feed_t *feed;
    uint64_t at;           /* the end of the last body, without its padding */
    char member[PATH_MAX]; /* the path of the last entry */
    tar_facts_t global, local;
} tar_t;

static const char sparse[] = "is a sparse file, of which the tar leaves out the empty stretches";

static const struct {
    char type;
    kind_t kind;
    const char *words;
} types[] = {
    {'0', KIND_FILE, NULL},
    {'\0', KIND_FILE, NULL},
    {'7', KIND_FILE, NULL},
    {'1', KIND_OTHER, "a hard link to another member"},
    {'2', KIND_OTHER, "a symbolic link"},
    {'5', KIND_FOLDER, NULL},
    {'D', KIND_PASSED, NULL}, /* a folder's list of names, in an incremental archive */
    {'K', KIND_PASSED, NULL}, /* the long target of a link */
    {'V', KIND_PASSED, NULL}, /* the volume's label */
    {'L', KIND_LONG_NAME, NULL},
    {'x', KIND_PAX, NULL},
    {'X', KIND_PAX, NULL},
    {'g', KIND_GLOBAL, NULL},
    {'S', KIND_REFUSED, sparse},
    {'M', KIND_REFUSED, "begins in another part of an archive that was divided over several files"},
};

/* ---- sentences ---- */

static bool refuse(const tar_t *tar, const char *words, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.700s!%.500s: %s; unpack the archive with tar and load the unpacked files",
                   tar->feed->name, tar->member, words);
}

static bool refuse_end(const tar_t *tar, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: ends at byte %llu without the zeros that end a tar; none of its members was read. "
        "If it was cut off, fetch the whole file; else append the zeros (head -c 1024 /dev/zero >> "
        "FILE, unpacked before if it is compressed); then run the same command",
        tar->feed->name, (unsigned long long)feed_offset(tar->feed));
}

/* ---- numbers and sums ---- */

/* Octal digits between blanks; or, if the highest bit is set, a number in base 256. */
static bool read_number(const uint8_t *field, size_t length, uint64_t *value) {
    const uint8_t *end = field + length;
    *value = 0;
    if (*field & 0x80) {
        if (*field != 0x80)
            return false; /* negative, or larger than any disk */
        for (field++; field < end; field++) {
            if (*value >> 55)
                return false;
            *value = *value << 8 | *field;
        }
        return true;
    }
    while (field < end && *field == ' ')
        field++;
    for (; field < end && *field >= '0' && *field <= '7'; field++)
        *value = *value << 3 | (uint64_t)(*field - '0'); /* at most 12 digits */
    return field == end || *field == ' ' || *field == '\0';
}

/* Some old programs have added the bytes as numbers with a sign. */
static bool sum_fits(const uint8_t *block) {
    uint64_t stated;
    if (block[CHECKSUM] & 0x80 || !read_number(block + CHECKSUM, CHECKSUM_BYTES, &stated))
        return false;
    int64_t sum = 0, sum_signed = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool inside = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES;
        sum += inside ? ' ' : block[i];
        sum_signed += inside ? ' ' : (int8_t)block[i];
    }
    return (int64_t)stated == sum || (int64_t)stated == sum_signed;
}

static bool is_posix(const uint8_t *block) {
    return memcmp(block + MAGIC, "ustar", 6) == 0;
}

bool tar_begins(const uint8_t *block) {
    if (is_posix(block) || memcmp(block + MAGIC, "ustar ", 6) == 0)
        return true;
    return block[NAME] && memchr(block, 0, TAR_BLOCK) && sum_fits(block); /* v7: text contains no zeros */
}

/* ---- descriptions ---- */

/* NULL, or why a description cannot be used. */
static const char *keep_path(tar_facts_t *facts, const char *path, size_t length) {
    if (length >= PATH_MAX)
        return "a path that is longer than that of any file";
    memcpy(facts->path, path, length);
    facts->path[length] = '\0';
    return NULL;
}

/* Takes one "key=value". */
static const char *take_pair(tar_facts_t *facts, const char *pair, size_t length) {
    const char *equals = memchr(pair, '=', length), *value = equals + 1, *end = pair + length;
    const size_t key = (size_t)(equals - pair);
    if (key == 4 && memcmp(pair, "path", 4) == 0)
        return keep_path(facts, value, (size_t)(end - value));
    if (key >= 10 && memcmp(pair, "GNU.sparse", 10) == 0)
        facts->is_sparse = true;
    if (key != 4 || memcmp(pair, "size", 4) != 0)
        return NULL;
    char *stop = (char *)(uintptr_t)end;
    facts->has_size = value < end;
    facts->size = value < end && *value >= '0' ? strtoull(value, &stop, 10) : 0;
    return stop == end && facts->size < INT64_MAX ? NULL : "a pax header that makes no sense";
}

/* Lines of "LENGTH key=value\n"; the length is that of the whole line. */
static const char *take_pax(tar_facts_t *facts, const char *text, size_t size) {
    const char *why = NULL;
    while (!why && size && *text) {
        size_t length = 0, digits = 0;
        while (digits < size && digits < 8 && text[digits] >= '0' && text[digits] <= '9')
            length = length * 10 + (size_t)(text[digits++] - '0');
        if (!digits || length > size || length < digits + 3 || text[digits] != ' ' ||
            text[length - 1] != '\n' || !memchr(text + digits + 1, '=', length - digits - 2))
            return "a pax header that makes no sense";
        why = take_pair(facts, text + digits + 1, length - digits - 2);
        text += length;
        size -= length;
    }
    return why;
}

/* Reads the body of a header that describes others. */
static bool take_description(tar_t *tar, kind_t kind, uint64_t size, err_t *err) {
    const size_t length = (size_t)size;
    if (size > LARGEST_DESCRIPTION)
        return feed_damaged(tar->feed, "a header longer than 1 MB", err);
    if (feed_want(tar->feed, length) < length)
        return feed_damaged(tar->feed, NULL, err);
    tar->at += size;
    const char *text = (const char *)feed_bytes(tar->feed),
               *why = kind == KIND_LONG_NAME ? keep_path(&tar->local, text, strnlen(text, length))
                      : kind == KIND_GLOBAL  ? take_pax(&tar->global, text, length)
                                             : take_pax(&tar->local, text, length);
    return !why || feed_damaged(tar->feed, why, err);
}

/* ---- entries ---- */

/* Finds the path of the entry that the header describes, for the next sentence and for the caller. */
static void name_member(tar_t *tar, const uint8_t *block) {
    const char *known = *tar->local.path ? tar->local.path : tar->global.path;
    const size_t prefix = is_posix(block) ? strnlen((const char *)block + PREFIX, PREFIX_BYTES) : 0,
                 length = strnlen((const char *)block + NAME, NAME_BYTES);
    if (*known)
        strcpy(tar->member, known);
    else
        snprintf(tar->member, PATH_MAX, "%.*s%s%.*s", (int)prefix, block + PREFIX, prefix ? "/" : "",
                 (int)length, block + NAME);
}

/* Called at the first block of zeros, which only zeros may follow. */
static int end(tar_t *tar, err_t *err) {
    for (size_t n; (n = feed_want(tar->feed, TAR_BLOCK)); feed_take(tar->feed, n)) {
        n = n < TAR_BLOCK ? n : TAR_BLOCK;
        if (!bytes_are_zero(feed_bytes(tar->feed), n))
            return feed_followed(tar->feed, err) - 1;
    }
    return 0;
}

/* Finds the next block that is a header, and takes it. 1: found; 0: there is none; -1: failed. */
static int next_header(tar_t *tar, uint8_t block[TAR_BLOCK], err_t *err) {
    const uint64_t at = tar->at + (-tar->at & (TAR_BLOCK - 1));
    if (!feed_skip_to(tar->feed, at))
        return feed_damaged(tar->feed, NULL, err) - 1;
    const size_t there = feed_want(tar->feed, TAR_BLOCK), have = there < TAR_BLOCK ? there : TAR_BLOCK;
    if (!have) /* perhaps it was cut off between two members: a tar should end with zeros */
        return refuse_end(tar, err) - 1;
    memcpy(block, feed_bytes(tar->feed), have);
    if (bytes_are_zero(block, have))
        return have < TAR_BLOCK ? 0 : end(tar, err);
    if (have < TAR_BLOCK)
        return feed_damaged(tar->feed, NULL, err) - 1;
    if (!sum_fits(block))
        return feed_damaged(tar->feed, "the checksum of a header is wrong", err) - 1;
    feed_take(tar->feed, TAR_BLOCK);
    tar->at = at + TAR_BLOCK;
    return 1;
}

/* 1: the entry is to be shown; 0: it is not; -1: failed. */
static int take_header(tar_t *tar, const uint8_t *block, archive_entry_t *entry, err_t *err) {
    kind_t kind = KIND_BODY;
    const char *words = "a device, a pipe, or of a kind that is not known here";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == (char)block[TYPE]) {
            kind = types[i].kind;
            words = types[i].words;
        }
    uint64_t size;
    if (!read_number(block + SIZE, SIZE_BYTES, &size))
        return feed_damaged(tar->feed, "a header with a size that is no number", err) - 1;
    if (kind == KIND_PAX || kind == KIND_GLOBAL || kind == KIND_LONG_NAME)
        return take_description(tar, kind, size, err) - 1;
    const tar_facts_t *facts = tar->local.has_size ? &tar->local : &tar->global;
    const bool is_sparse = tar->local.is_sparse || tar->global.is_sparse;
    size = facts->has_size ? facts->size : size;
    if (kind != KIND_PASSED)
        name_member(tar, block);
    if (kind != KIND_PASSED || block[TYPE] != 'K') /* K comes between a long name and its member */
        tar->local = (tar_facts_t){.path = ""};
    const size_t length = strlen(tar->member);
    if (kind == KIND_FILE && length && tar->member[length - 1] == '/')
        kind = KIND_FOLDER; /* this is how v7 wrote folders */
    if (kind == KIND_REFUSED || (kind == KIND_FILE && is_sparse))
        return refuse(tar, is_sparse ? sparse : words, err) - 1;
    if (kind == KIND_FOLDER || kind == KIND_OTHER) /* bytes that are there all the same are no header */
        size = 0;
    if (size > INT64_MAX - tar->at)
        return feed_damaged(tar->feed, "a header with an impossible size", err) - 1;
    *entry = (archive_entry_t){
        .name = tar->member, .length = length, .no_file = words, .from = tar->at, .size = size};
    tar->at += size;
    return kind != KIND_FOLDER && kind != KIND_PASSED;
}

bool tar_list(feed_t *feed, archive_visit_t *visit, void *context, err_t *err) {
    tar_t tar = {.feed = feed};
    feed->what = "tar";
    archive_entry_t entry;
    uint8_t block[TAR_BLOCK];
    bool ok = true;
    for (int found; ok && (found = next_header(&tar, block, err));) {
        const int shown = found < 0 ? -1 : take_header(&tar, block, &entry, err);
        ok = shown >= 0 && (!shown || visit(context, &entry, err));
    }
    if (feed->failed)
        *err = feed->fault;
    return ok && !feed->failed;
}
