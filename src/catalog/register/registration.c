#include "catalog/register/registration.h"

#include <string.h>

bool registration_relate(const entry_t *entry, const version_t *seen, bool may_grow,
                         register_digest_fn *digest_at, const void *context, size_t input, view_t *view,
                         uint32_t *version, err_t *err) {
    const version_t *newest = entry_newest(entry);
    *version = entry_version_of(entry, seen->size, seen->digest);
    *view = *version == entry->version ? VIEW_SAME : *version ? VIEW_OLDER : VIEW_CHANGED;
    if (*version || !may_grow || newest->size >= seen->size)
        return true;
    char then[33];
    if (!digest_at(context, input, newest->size, then, err))
        return false;
    if (strcmp(then, newest->digest) == 0)
        *view = VIEW_GROWN;
    return true;
}
