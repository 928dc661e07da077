/* The headers of a tar: any bytes are read without harm, and what is found does not depend on how they
 * arrive. The first byte says how: its lowest bit whether the checksums of ustar headers are fixed first,
 * without which few mutations would get any further. */
#include "input/archive/tar.h"

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

typedef struct {
    const uint8_t *bytes;
    size_t size;
    uint64_t last; /* where the last call began */
} memory_t;

static bool read_memory(void *context, uint64_t offset, uint8_t *out, size_t size, size_t *got, err_t *err) {
    memory_t *memory = context;
    (void)err;
    MUST(offset >= memory->last);
    memory->last = offset;
    *got = offset > memory->size          ? TAR_BEHIND
           : memory->size - offset < size ? memory->size - (size_t)offset
                                          : size;
    if (*got != TAR_BEHIND && *got)
        memcpy(out, memory->bytes + offset, *got);
    return true;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere; /* for warnings; sanitizers write past stderr */
    if (!nowhere && (nowhere = fopen("/dev/null", "w")))
        stderr = nowhere;
    if (!size)
        return 0;
    uint8_t *bytes = malloc(size); /* exactly, so that a read beyond is noticed */
    MUST(bytes);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        fix(bytes, size - 1);
    memory_t memory = {.bytes = bytes, .size = size - 1};
    if (memory.size >= TAR_BLOCK)
        (void)tar_begins(bytes);
    tar_t tar;
    tar_entry_t entry;
    err_t err = {.text = ""};
    uint64_t at = 0, entries = 0, behind = 0;
    int found;
    tar_open(&tar, "fuzz.tar", read_memory, &memory);
    while ((found = tar_next(&tar, &entry, &err)) == 1) {
        MUST(behind <= memory.size); /* the one before was all there */
        MUST(entry.from % TAR_BLOCK == 0 && entry.from >= at + TAR_BLOCK && entry.from <= memory.size);
        MUST(entry.from + entry.size >= entry.from);
        MUST(strlen(entry.path) < size + 2 * TAR_BLOCK);
        at = entry.from;
        behind = entry.from + entry.size;
        MUST(++entries <= memory.size / TAR_BLOCK);
    }
    MUST(found == 0 || (err.status == STATUS_INPUT && strncmp(err.text, "fuzz.tar", 8) == 0));
    MUST(found < 0 || behind <= memory.size);
    MUST(tar_next(&tar, &entry, &err) != 1);
    tar_close(&tar);
    free(bytes);
    return 0;
}
