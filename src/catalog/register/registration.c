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

bool registration_has_grown(const version_t *newest, const version_t *seen, bool may_grow,
                            register_digest_fn *digest_at, const void *context, size_t input) {
    char now[33];
    err_t ignored; /* it is not as long */
    return may_grow && newest->size > seen->size && digest_at(context, input, newest->size, now, &ignored) &&
           strcmp(now, newest->digest) == 0;
}

bool registration_refuse_grown(const char *name, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%s has grown since this command began, and another load has registered the longer "
                   "version: run the same command again",
                   name);
}

bool registration_is_called(const wanted_t *wanted, const char *path) {
    const char *const slash = strrchr(wanted->name, '/');
    const char *const name = wanted->last_name ? wanted->last_name : slash ? slash + 1 : wanted->name;
    const size_t length = strlen(name), end = strlen(path);
    return end >= length && strcmp(path + end - length, name) == 0 &&
           (end == length || path[end - length - 1] == '/');
}

like_t registration_tells(const wanted_t *wanted) {
    for (like_t how = 0; how < LIKE_KINDS; how++)
        if (wanted->like[how].path && !(how == LIKE_PART && wanted->like[how].ordinal == LIKE_NEW))
            return how;
    return LIKE_KINDS;
}
