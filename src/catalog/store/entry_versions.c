/* The versions of an entry: found by number and by content, and dropped when they are not needed any more. */
#include "base/text.h"
#include "catalog/store/entry.h"

#include <stdlib.h>
#include <string.h>

const version_t *entry_newest(const entry_t *entry) {
    return &entry->versions[entry->version_count - 1];
}

version_t *entry_version(const entry_t *entry, uint32_t number) {
    const size_t at = SEARCH_FIRST(entry->version_count, i, entry->versions[i].number < number);
    return at < entry->version_count && entry->versions[at].number == number ? &entry->versions[at] : NULL;
}

uint32_t entry_version_of(const entry_t *entry, uint64_t size, const char *digest) {
    for (size_t i = entry->version_count; i-- > 0;)
        if (entry->versions[i].size == size && strcmp(entry->versions[i].digest, digest) == 0)
            return entry->versions[i].number;
    return 0;
}

static bool has_fix_of(const entry_t *entry, const torn_t *torn) {
    for (size_t i = 0; torn->length && i < entry->fix_count; i++)
        if (entry->fixes[i].offset == torn->offset && entry->fixes[i].of == torn->hash)
            return true;
    return false;
}

uint32_t entry_next_slot(const entry_t *entry, uint32_t complete) {
    for (size_t i = 0; i + ENTRY_USUAL_VERSIONS <= entry->version_count; i++) {
        const version_t *version = &entry->versions[i];
        if (version->number < complete && !has_fix_of(entry, &version->torn))
            return version->slot;
    }
    return (uint32_t)entry->version_count;
}

bool entry_add_version(entry_t *entry, const version_t *version, err_t *err) {
    return entry_put_version(entry, version, (uint32_t)entry->version_count, err);
}

bool entry_put_version(entry_t *entry, const version_t *version, uint32_t slot, err_t *err) {
    size_t kept = 0;
    for (size_t i = 0; slot < entry->version_count && i < entry->version_count; i++)
        if (entry->versions[i].slot != slot)
            entry->versions[kept++] = entry->versions[i];
    if (slot < entry->version_count)
        entry->version_count = kept;
    version_t *larger = realloc(entry->versions, (entry->version_count + 1) * sizeof *larger);
    if (!larger)
        return err_memory(err, (entry->version_count + 1) * sizeof *larger);
    entry->versions = larger;
    version_t *added = &larger[entry->version_count++];
    *added = *version;
    added->number = ++entry->version;
    added->slot = slot;
    return true;
}
