/* Reject files as people and crashes leave them: read without harm; and gone on with, the new record is in
 * it. */
#include "format_laws.h"
#include "load/rejects/reject.h"
#include "load/rejects/reject_file.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    size_t count;
    bool found;
} seen_t;

static const char record[] = "1|2|A of the fuzzer";

static void take(seen_t *seen, const retry_t *retry) {
    seen->count++;
    LAB_MUST(retry->entry->input && *retry->entry->input);
    size_t sum = 0;
    for (size_t i = 0; i < retry->length; i++)
        sum += retry->bytes[i];
    LAB_MUST(sum <= 255 * retry->length);
    seen->found |= retry->entry->offset == 123456789 && strcmp(retry->entry->input, "fuzz.txt") == 0 &&
                   retry->length == strlen(record) && memcmp(retry->bytes, record, retry->length) == 0;
}

static bool read_file(const law_t *law, const char *path, seen_t *seen, err_t *err) {
    reject_file_t file;
    if (!reject_file_open_fixed(&file, path, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < file.count; i++) {
        retry_t retry;
        LAB_MUST(reject_file_holds(&file, &file.entries[i]));
        if ((ok = reject_file_record(&file, &file.entries[i], law->schema, &retry, err)))
            take(seen, &retry);
        free(retry.row);
    }
    reject_file_close(&file);
    return ok;
}

/* False: the file is none of ours. */
static bool go_on(const law_t *law, const char *path) {
    static dialect_t dialect;
    input_file_t input = {.name = (char *)"fuzz.txt"};
    active_piece_t piece = {.input = &input, .dialect = &dialect};
    reject_options_t options = {.file = {.path = path, .again = " --uri a.b", .schema = law->schema},
                                .write = true,
                                .format = "mot-item",
                                .most = 1000,
                                .most_percent = -1};
    err_t err = {.text = ""};
    if (!dialect.columns)
        LAB_MUST(dialect_sniff(law->schema, (const uint8_t *)"1|2|A|7|\n", 9, "x", &dialect, &err));
    rejects_t *rejects = rejects_new(&options, &err);
    LAB_MUST(rejects);
    reject_t reject = {.piece = &piece,
                       .offset = 123456789,
                       .line = 3,
                       .column = 1,
                       .reason = "no good",
                       .bytes = (const uint8_t *)record,
                       .length = strlen(record),
                       .kept = strlen(record)};
    bool added = rejects_add(rejects, &reject, &err);
    LAB_MUST(added ? rejects_flush(rejects, &err)
                   : err.status == STATUS_HOST && strstr(err.text, "is no reject file"));
    rejects_free(rejects, false);
    return added;
}

/* A file that is none of ours stays as it was; what was in another one stays in it. */
static bool holds(int file, const uint8_t *data, size_t size, bool added) {
    uint8_t *now = malloc(size + 1);
    LAB_MUST(now);
    ssize_t got = pread(file, now, size + 1, 0);
    bool same = (added ? got >= (ssize_t)size : got == (ssize_t)size) && memcmp(now, data, size) == 0;
    free(now);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    const law_t *law = law_format('1');
    char path[64];
    int file = memfd_create("rejects", MFD_CLOEXEC);
    LAB_MUST(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool added = false;
    for (int round = 0; round < 2; round++) {
        seen_t seen = {0, false};
        err_t err = {.text = ""};
        bool ok = read_file(law, path, &seen, &err);
        LAB_MUST(ok || ((err.status == STATUS_USAGE || err.status == STATUS_INPUT) && err.text[0]));
        /* whoever announces the new run's own mark beforehand would have to guess it */
        if (round && ok && added)
            LAW(seen.found, data, size, (const uint8_t *)record, strlen(record));
        if (!round)
            added = go_on(law, path);
        LAB_MUST(holds(file, data, size, added));
    }
    close(file);
    return 0;
}
