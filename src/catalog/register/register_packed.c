/* New inputs that may hold what another one does, packed otherwise: a.csv, a.csv.gz, and a.csv in a zip. Nothing but their names
 * tells, so it is no more than noted. */
#include "base/text.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

struct packed_name {
    const char *path, *bare; /* bare: its last name, in an archive or not; */
    size_t length;           /* without the ending that a packed file has */
    const entry_t *entry;    /* or */
    size_t number;           /* of a new input */
};

static packed_name_t take_apart(const char *path) {
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2"};
    packed_name_t name = {.path = path, .bare = register_last_name(path)};
    const char *const member = strrchr(name.bare, '!');
    name.bare = member ? member + 1 : name.bare;
    name.length = strlen(name.bare);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (name.length > length && strcmp(name.bare + name.length - length, endings[i]) == 0) {
            name.length -= length;
            break;
        }
    }
    return name;
}

static int compare_bare(const packed_name_t *left, const packed_name_t *right) {
    const size_t length = left->length < right->length ? left->length : right->length;
    const int order = memcmp(left->bare, right->bare, length);
    return order ? order : (left->length > right->length) - (left->length < right->length);
}

static int order_names(const void *a, const void *b) {
    return compare_bare(a, b);
}

static bool is_packed_alike(const packed_name_t *one, const packed_name_t *other) {
    return strcmp(one->bare + one->length, other->bare + other->length) == 0 &&
           (strchr(one->path, '!') != NULL) == (strchr(other->path, '!') != NULL);
}

static bool may_be_packed(const wanted_t *wanted) {
    return wanted->named && !wanted->by_name && wanted->seen.size &&
           !(wanted->copy_mark && *wanted->copy_mark);
}

static bool list_names(matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    packed_name_t *names = calloc(m->count + registering->count + 1, sizeof *names);
    size_t count = 0;
    if (!names) {
        err_memory(err, (m->count + registering->count) * sizeof *names);
        return false;
    }
    for (size_t i = 0; i < m->count; i++) {
        const entry_t *entry = m->by_path.entries[i];
        if (entry_is_by_name(entry) || !register_may_hold_records(entry))
            continue;
        names[count] = take_apart(entry->path);
        names[count++].entry = entry;
    }
    for (size_t i = 0; i < registering->count; i++) {
        if (m->found[i] || !may_be_packed(&registering->wanted[i]))
            continue;
        names[count] = take_apart(registering->wanted[i].name);
        names[count++].number = i;
    }
    if (count)
        qsort(names, count, sizeof *names, order_names);
    m->packed = names;
    m->packed_count = count;
    return true;
}

/* Of a member of an archive, the archive's. */
static size_t folder_length(const char *path) {
    size_t end = strcspn(path, "!");
    while (end && path[end - 1] != '/')
        end--;
    return end;
}

/* Is it what unpacking the archive in its folder, or in one below that, makes of the member? */
static bool is_unpacked(const packed_name_t *member, const packed_name_t *file) {
    const char *const name = strchr(member->path, '!') + 1;
    const size_t folder = folder_length(member->path),
                 length = (size_t)(member->bare + member->length - name),
                 room = (size_t)(file->bare + file->length - file->path);
    const char *const end = file->path + room - length;
    return room >= folder + length && memcmp(member->path, file->path, folder) == 0 &&
           memcmp(end, name, length) == 0 && (end == file->path || end[-1] == '/');
}

static bool is_same_place(const packed_name_t *one, const packed_name_t *other) {
    const bool one_in = strchr(one->path, '!'), other_in = strchr(other->path, '!');
    const size_t folder = folder_length(one->path);
    return one_in != other_in
               ? is_unpacked(one_in ? one : other, one_in ? other : one)
               : folder == folder_length(other->path) && memcmp(one->path, other->path, folder) == 0;
}

/* In another folder it may be the same one, moved, if no other has its name: where files of one name come again and again, that says
 * nothing. */
bool register_find_packed(matching_t *m, size_t number, err_t *err) {
    wanted_t *wanted = &m->registering->wanted[number];
    const packed_name_t *elsewhere = NULL, *here = NULL;
    size_t others = 0;
    if (!may_be_packed(wanted))
        return true;
    if (!m->packed && !list_names(m, err))
        return false;
    const packed_name_t own = take_apart(wanted->name);
    size_t at = SEARCH_FIRST(m->packed_count, i, compare_bare(&m->packed[i], &own) < 0);
    for (; !here && at < m->packed_count && compare_bare(&m->packed[at], &own) == 0; at++) {
        const packed_name_t *other = &m->packed[at];
        others += other->entry || other->number != number;
        if (is_packed_alike(other, &own) || (!other->entry && other->number >= number))
            continue;
        elsewhere = other;
        here = is_same_place(&own, other) ? other : NULL;
    }
    const packed_name_t *like = here ? here : others == 1 ? elsewhere : NULL;
    const like_t how = here ? LIKE_PACKED : LIKE_PACKED_ELSEWHERE;
    if (like && like->entry)
        register_be_like_entry(m, number, like->entry, how);
    else if (like)
        register_be_like_input(m, number, like->number, how);
    return true;
}
