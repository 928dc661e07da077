/* The headers of a tar: any bytes are read without harm, and what is found does not depend on how they
 * arrive. The first byte says how: its lowest bit whether the checksums of ustar headers are fixed first,
 * without which few mutations would get any further. */
#include "input/archive/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                       \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* Where a feed has its bytes from: at most `piece` at once. */
typedef struct {
    const uint8_t *bytes;
    size_t left, piece;
} memory_t;

static ssize_t pull(void *context, void *out, size_t size, err_t *err) {
    memory_t *memory = context;
    (void)err;
    size = size < memory->piece ? size : memory->piece;
    size = size < memory->left ? size : memory->left;
    memcpy(out, memory->bytes, size);
    memory->bytes += size;
    memory->left -= size;
    return (ssize_t)size;
}

static void fix(uint8_t *bytes, size_t size) {
    for (uint8_t *block = bytes; size >= TAR_BLOCK; block += TAR_BLOCK, size -= TAR_BLOCK) {
        unsigned sum = 8 * ' ';
        if (memcmp(block + 257, "ustar", 5) != 0)
            continue;
        for (size_t i = 0; i < TAR_BLOCK; i++)
            sum += i < 148 || i >= 156 ? block[i] : 0;
        char digits[9];
        snprintf(digits, sizeof digits, "%06o", sum);
        memcpy(block + 148, digits, 8);
        block[155] = ' ';
    }
}

typedef struct {
    size_t size;
    uint64_t at, after, digest;
} headers_t;

static bool visit(void *context, const archive_entry_t *entry, err_t *err) {
    headers_t *headers = context;
    (void)err;
    MUST(headers->after <= headers->size); /* the one before was all there */
    MUST(entry->from % TAR_BLOCK == 0 && entry->from >= headers->at + TAR_BLOCK &&
         entry->from <= headers->size);
    MUST(entry->from + entry->size >= entry->from);
    MUST(strlen(entry->name) < headers->size + 2 * TAR_BLOCK);
    headers->at = entry->from;
    headers->after = entry->from + entry->size;
    headers->digest = headers->digest * 31 + entry->from + entry->size + strlen(entry->name);
    return true;
}

/* Reads all headers. A digest of what they say. */
static uint64_t read_headers(feed_t *feed, size_t size) {
    headers_t headers = {.size = size};
    err_t err = {.text = ""};
    const bool ok = tar_list(feed, visit, &headers, &err);
    MUST(ok ? headers.after <= size : err.status == STATUS_INPUT && strncmp(err.text, "fuzz.tar", 8) == 0);
    return headers.digest * 31 + ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere; /* for warnings; sanitizers write past stderr */
    if (!nowhere && (nowhere = fopen("/dev/null", "w")))
        stderr = nowhere;
    if (!size)
        return 0;
    uint8_t *bytes = malloc(size);
    MUST(bytes);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        fix(bytes, size - 1);
    if (size - 1 >= TAR_BLOCK)
        (void)tar_begins(bytes);
    memory_t memory = {.bytes = bytes, .left = size - 1, .piece = 1 + (size_t)data[0] * 7};
    feed_t whole, pieces;
    memory_t all = {.bytes = bytes, .left = size - 1, .piece = size};
    feed_init(&whole, "fuzz.tar", &(origin_t){.fd = -1, .pull = pull, .context = &all}, false, 0, UINT64_MAX);
    feed_init(&pieces, "fuzz.tar", &(origin_t){.fd = -1, .pull = pull, .context = &memory}, false, 0,
              UINT64_MAX);
    MUST(read_headers(&whole, size - 1) == read_headers(&pieces, size - 1));
    feed_free(&whole);
    feed_free(&pieces);
    free(bytes);
    return 0;
}
