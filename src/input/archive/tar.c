#include "input/archive/tar.h"
#include "input/file/bytes.h"
#include "input/file/fault.h"

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
    {'3', KIND_OTHER, "a device, not a file"},
    {'4', KIND_OTHER, "a device, not a file"},
    {'5', KIND_FOLDER, NULL},
    {'6', KIND_OTHER, "a pipe, not a file"},
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

static bool broken(const tar_t *tar, uint64_t at, const char *why, err_t *err) {
    return err_set(err, STATUS_INPUT, "%.1000s: the tar archive is broken: %s at byte %llu; fetch it again",
                   tar->name, why, (unsigned long long)at);
}

static bool cut_off(const tar_t *tar, err_t *err) {
    if (tar->member)
        return err_set(err, STATUS_INPUT,
                       "%.700s: the tar archive is cut off: it ends before byte %llu, inside of its member "
                       "%.500s; fetch the whole archive",
                       tar->name, (unsigned long long)tar->at, tar->member);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the tar archive is cut off in the middle of a header; fetch the whole archive",
                   tar->name);
}

static bool refused(const tar_t *tar, const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.700s!%.500s: %s; unpack the archive with tar and load the unpacked files", tar->name,
                   path, what);
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

/* Old programs added up signed bytes. */
static bool sum_fits(const uint8_t *block) {
    uint64_t stated;
    if (block[CHECKSUM] & 0x80 || !read_number(block + CHECKSUM, CHECKSUM_BYTES, &stated))
        return false;
    int32_t sum = 0, sum_signed = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool inside = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES;
        sum += inside ? ' ' : block[i];
        sum_signed += inside ? ' ' : (int8_t)block[i];
    }
    return stated == (uint64_t)sum || (sum_signed >= 0 && stated == (uint64_t)sum_signed);
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

static void forget(tar_facts_t *facts) {
    free(facts->path);
    *facts = (tar_facts_t){.path = NULL};
}

static bool keep_path(tar_facts_t *facts, const char *path, size_t length, err_t *err) {
    free(facts->path);
    facts->path = length ? strndup(path, length) : NULL;
    return !length || facts->path || err_memory(err, length);
}

/* Takes one "key=value". */
static bool take_pair(tar_facts_t *facts, const char *pair, size_t length, err_t *err) {
    const char *equals = memchr(pair, '=', length);
    size_t key = (size_t)(equals - pair), rest = length - key - 1;
    const char *value = equals + 1;
    if (key == 4 && memcmp(pair, "path", 4) == 0)
        return keep_path(facts, value, rest, err);
    if (key >= 10 && memcmp(pair, "GNU.sparse", 10) == 0)
        facts->is_sparse = true;
    if (key != 4 || memcmp(pair, "size", 4) != 0)
        return true;
    facts->size = 0;
    facts->has_size = rest > 0;
    for (size_t i = 0; i < rest; i++) {
        if (value[i] < '0' || value[i] > '9' || facts->size > INT64_MAX / 10 - 1)
            return err_set(err, STATUS_INPUT, "a size that is no number");
        facts->size = facts->size * 10 + (uint64_t)(value[i] - '0');
    }
    return true;
}

/* Lines of "LENGTH key=value\n"; the length is that of the whole line. */
static bool take_pax(tar_facts_t *facts, const char *text, size_t size, err_t *err) {
    while (size && *text) {
        size_t length = 0, digits = 0;
        while (digits < size && digits < 8 && text[digits] >= '0' && text[digits] <= '9')
            length = length * 10 + (size_t)(text[digits++] - '0');
        if (!digits || length > size || length < digits + 3 || text[digits] != ' ' ||
            text[length - 1] != '\n' || !memchr(text + digits + 1, '=', length - digits - 2))
            return err_set(err, STATUS_INPUT, "a pax header that makes no sense");
        if (!take_pair(facts, text + digits + 1, length - digits - 2, err))
            return false;
        text += length;
        size -= length;
    }
    return true;
}

/* Reads the body of a header that describes others. */
static bool take_description(tar_t *tar, kind_t kind, uint64_t size, err_t *err) {
    uint64_t from = tar->at;
    size_t got;
    if (size > LARGEST_DESCRIPTION)
        return broken(tar, from - TAR_BLOCK, "a header longer than 1 MB", err);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return err_memory(err, (size_t)size);
    bool ok = tar->read(tar->context, from, (uint8_t *)text, (size_t)size, &got, err);
    if (ok && got != size) {
        free(tar->member);
        tar->member = NULL;
        ok = cut_off(tar, err);
    } else if (ok) {
        text[size] = 0;
        tar->at = from + size;
        err_t why = {.status = STATUS_OK};
        ok = kind == KIND_LONG_NAME
                 ? keep_path(&tar->local, text, strnlen(text, (size_t)size), &why)
                 : take_pax(kind == KIND_GLOBAL ? &tar->global : &tar->local, text, (size_t)size, &why);
        if (!ok && why.status == STATUS_INPUT)
            broken(tar, from - TAR_BLOCK, why.text, err);
        else if (!ok)
            *err = why;
    }
    free(text);
    return ok;
}

/* ---- entries ---- */

void tar_open(tar_t *tar, const char *name, tar_read_t *read, void *context) {
    *tar = (tar_t){.name = name, .read = read, .context = context};
}

void tar_close(tar_t *tar) {
    forget(&tar->global);
    forget(&tar->local);
    free(tar->member);
}

/* Finds the path of the entry that the header describes, for the next sentence and for the caller. */
static bool name_member(tar_t *tar, const uint8_t *block, err_t *err) {
    const char *known = tar->local.path ? tar->local.path : tar->global.path;
    size_t prefix = is_posix(block) ? strnlen((const char *)block + PREFIX, PREFIX_BYTES) : 0;
    size_t length = strnlen((const char *)block + NAME, NAME_BYTES);
    free(tar->member);
    if (known) {
        tar->member = strdup(known);
    } else if ((tar->member = malloc(prefix + length + 2))) {
        char *end = mempcpy(tar->member, block + PREFIX, prefix);
        if (prefix)
            *end++ = '/';
        end = mempcpy(end, block + NAME, length);
        *end = 0;
    }
    return tar->member || err_memory(err, prefix + length);
}

/* Called after the first block of zeros. Usually only zeros follow. If another archive's header follows, it must not be
 * ignored silently. */
static int end(tar_t *tar, uint64_t at, err_t *err) {
    uint8_t blocks[16 * TAR_BLOCK];
    size_t got;
    tar->has_ended = true;
    for (;; at += sizeof blocks) {
        if (!tar->read(tar->context, at, blocks, sizeof blocks, &got, err))
            return -1;
        if (!got || got == TAR_BEHIND)
            return 0;
        for (size_t i = 0; i < got; i += TAR_BLOCK) {
            size_t size = got - i < TAR_BLOCK ? got - i : TAR_BLOCK;
            uint64_t there = at + i;
            if (bytes_are_zero(blocks + i, size))
                continue;
            if (size == TAR_BLOCK && sum_fits(blocks + i)) {
                err_set(err, STATUS_INPUT,
                        "%.1000s: another tar archive follows after the end of the first at byte %llu; "
                        "divide them (tail -c +%llu) and load both",
                        tar->name, (unsigned long long)there, (unsigned long long)there + 1);
                return -1;
            }
            fault_tell_rest(tar->name, there);
            return 0;
        }
    }
}

/* Reads the next block that is a header. 1: found; 0: there is none; -1: failed. */
static int next_header(tar_t *tar, uint8_t block[TAR_BLOCK], err_t *err) {
    uint8_t bytes[2 * TAR_BLOCK];
    size_t padding = (size_t)(-tar->at & (TAR_BLOCK - 1)), got;
    uint64_t at = tar->at + padding;
    if (tar->has_ended)
        return 0;
    if (!tar->read(tar->context, tar->at, bytes, padding + TAR_BLOCK, &got, err))
        return -1;
    if (got == TAR_BEHIND)
        return cut_off(tar, err) - 1;
    size_t have = got > padding ? got - padding : 0;
    memcpy(block, bytes + padding, have);
    if (got < padding)
        return cut_off(tar, err) - 1;
    if (have && bytes_are_zero(block, have))
        return have < TAR_BLOCK ? 0 : end(tar, at + TAR_BLOCK, err);
    if (!have) {
        err_set(err, STATUS_INPUT,
                "%.1000s: ends at byte %llu without the blocks of zeros that every tar ends with: perhaps it "
                "was cut off between two members; copy it again, or, if it is whole, add them (head -c 1024 "
                "/dev/zero >> FILE)",
                tar->name, (unsigned long long)at);
        return -1;
    }
    free(tar->member);
    tar->member = NULL;
    if (have < TAR_BLOCK)
        return cut_off(tar, err) - 1;
    if (!sum_fits(block))
        return broken(tar, at, "the checksum of a header is wrong", err) - 1;
    tar->at = at + TAR_BLOCK;
    return 1;
}

static bool has_name_of_folder(const tar_t *tar) {
    const size_t length = strlen(tar->member);
    return length && tar->member[length - 1] == '/';
}

/* What is no file has no body. Its header may state a size all the same, which means nothing then; but a body may also be
 * there, as of a hard link that brings its data. What follows tells: another header, or the end; or not. -1: failed. */
static int has_body(const tar_t *tar, err_t *err) {
    uint8_t block[TAR_BLOCK];
    size_t got;
    if (!tar->read(tar->context, tar->at, block, sizeof block, &got, err))
        return -1;
    return got == sizeof block && !sum_fits(block) && !bytes_are_zero(block, got);
}

static bool refuse_body(const tar_t *tar, const char *words, uint64_t size, err_t *err) {
    if (words)
        return err_set(
            err, STATUS_INPUT,
            "%.700s!%.500s: is %s, and has %llu bytes of its own; unpack the archive with tar and load "
            "the unpacked files",
            tar->name, tar->member, words, (unsigned long long)size);
    return err_set(
        err, STATUS_INPUT,
        "%.700s!%.500s: is a folder by its name or its type, but has %llu bytes, as a file has; if "
        "they are not needed, take it out of the archive (tar --delete), else give it another name "
        "there",
        tar->name, tar->member, (unsigned long long)size);
}

/* 1: the entry is to be shown; 0: it is not; -1: failed. */
static int take_header(tar_t *tar, const uint8_t *block, tar_entry_t *entry, err_t *err) {
    kind_t kind = KIND_BODY;
    const char *words = "of a kind that is not known here";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == (char)block[TYPE]) {
            kind = types[i].kind;
            words = types[i].words;
        }
    uint64_t header = tar->at - TAR_BLOCK, size;
    if (!read_number(block + SIZE, SIZE_BYTES, &size))
        return broken(tar, header, "a header with a size that is no number", err) - 1;
    if (kind == KIND_PAX || kind == KIND_GLOBAL || kind == KIND_LONG_NAME)
        return take_description(tar, kind, size, err) - 1;
    const tar_facts_t *facts = tar->local.has_size ? &tar->local : &tar->global;
    size = facts->has_size ? facts->size : size;
    bool is_sparse = tar->local.is_sparse || tar->global.is_sparse;
    if (kind == KIND_PASSED) {
        if (block[TYPE] != 'K') /* K comes between a long name and its member */
            forget(&tar->local);
        tar->at += size;
        return tar->at < size ? broken(tar, header, "a header with an impossible size", err) - 1 : 0;
    }
    if (!name_member(tar, block, err))
        return -1;
    forget(&tar->local);
    if (kind == KIND_FILE && has_name_of_folder(tar))
        kind = KIND_FOLDER; /* this is how v7 wrote folders */
    if (kind == KIND_REFUSED || (kind == KIND_FILE && is_sparse))
        return refused(tar, tar->member, is_sparse ? sparse : words, err) - 1;
    if (kind == KIND_FOLDER || kind == KIND_OTHER) {
        const int body = size ? has_body(tar, err) : 0;
        if (body)
            return body < 0 ? -1 : refuse_body(tar, words, size, err) - 1;
        size = 0;
    }
    if (tar->at + size < size || tar->at + size > INT64_MAX)
        return broken(tar, header, "a header with an impossible size", err) - 1;
    *entry = (tar_entry_t){.path = tar->member, .no_file = words, .from = tar->at, .size = size};
    tar->at += size;
    return kind != KIND_FOLDER;
}

int tar_next(tar_t *tar, tar_entry_t *entry, err_t *err) {
    uint8_t block[TAR_BLOCK];
    int found, shown = 0;
    do
        if ((found = next_header(tar, block, err)) == 1)
            shown = take_header(tar, block, entry, err);
    while (found == 1 && !shown);
    tar->has_ended |= found != 1 || shown < 0;
    return found == 1 ? shown : found;
}
