/* Inputs that bring something which may be there under another name: all of it, its beginning, or more than it. The
 * content of a file proves that (except for its middle, which is not read); a name only suggests it. These are facts
 * about two inputs; the user decides which of them is not needed, if any. */
#include "base/text.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

/* Equal contents are found for every input. The rest takes time, and is bounded for all inputs together: */
enum {
    MOST_LOOKS = 1000,  /* files that are read to see whether one begins another */
    MOST_NAMES = 1000,  /* names of members of one size that one input is compared with, */
    ALL_NAMES = 4000000 /* and all inputs together */
};

/* A version of an entry, or an input. */
struct content {
    uint64_t size;
    const char *digest;
    const entry_t *entry; /* or NULL: */
    size_t number;        /* the input */
};

void register_like_none(wanted_t *wanted) {
    for (like_t how = 0; wanted->like && how < LIKE_KINDS; how++)
        free(wanted->like[how].path);
    free(wanted->like);
    wanted->like = NULL;
}

/* Notes nothing when memory is out. */
static void be_like(wanted_t *wanted, like_t how, const char *path, const alike_t *alike) {
    if (!wanted->like && !(wanted->like = calloc(LIKE_KINDS, sizeof *wanted->like)))
        return;
    free(wanted->like[how].path);
    wanted->like[how] = *alike;
    wanted->like[how].path = strdup(path);
}

void register_be_like_entry(const matching_t *m, size_t number, const entry_t *entry, like_t how) {
    const alike_t alike = {.ordinal = entry->ordinal,
                           .by_name = entry_is_by_name(entry),
                           .unfinished = !register_is_taken(m, entry) &&
                                         !entry_is_complete(entry, m->registering->generation, false)};
    be_like(&m->registering->wanted[number], how, entry->path, &alike);
}

static void be_like_input(const matching_t *m, size_t number, size_t other, like_t how) {
    const alike_t alike = {.ordinal = LIKE_NEW, .before = other < number, .input = other};
    be_like(&m->registering->wanted[number], how, m->registering->wanted[other].name, &alike);
}

static int compare_size(uint64_t left, uint64_t right) {
    return (left > right) - (left < right);
}

/* By size and digest; then entries before inputs, and older before newer. */
static int order_contents(const void *a, const void *b) {
    const content_t *left = a, *right = b;
    int order = compare_size(left->size, right->size);
    order = order ? order : strcmp(left->digest, right->digest);
    order = order ? order : (left->entry == NULL) - (right->entry == NULL);
    order = order || !left->entry ? order : compare_size(left->entry->ordinal, right->entry->ordinal);
    return order ? order : compare_size(left->number, right->number);
}

/* True if its documents will be removed (--reload-changed). */
static bool is_replaced(const matching_t *m, const entry_t *entry) {
    return register_is_taken(m, entry) && m->registering->wanted[register_input_of(m, entry)].changed;
}

static bool is_copy(const wanted_t *wanted) {
    return wanted->copy_mark && *wanted->copy_mark;
}

/* True if the input is new, has grown, or will be loaded anew. Copies (--copies) are meant to be there several
 * times. */
static bool brings(const matching_t *m, size_t number) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const entry_t *entry = m->found[number];
    return wanted->named && !is_copy(wanted) && wanted->seen.size && !register_is_stream(&wanted->seen) &&
           (!entry || wanted->changed || !entry_version_of(entry, wanted->seen.size, wanted->seen.digest));
}

/* True if the input has no entry, or one without records, which may be anything now. */
static bool is_as_new(const matching_t *m, size_t number) {
    const entry_t *entry = m->found[number];
    return !entry || !register_may_hold_records(entry);
}

/* True if this load makes it a copy, which is meant to be there next to the original. */
static bool is_of_copy(const matching_t *m, const entry_t *entry) {
    return register_is_taken(m, entry) && is_copy(&m->registering->wanted[register_input_of(m, entry)]);
}

static bool may_hold_records(const registration_t *registering, size_t number) {
    return !registering->may_hold || registering->may_hold(registering->holds_context, number);
}

/* True if the entry has records, or gets them from this load. */
static bool holds_records(const matching_t *m, const entry_t *entry) {
    return register_may_hold_records(entry) ||
           (register_is_taken(m, entry) && may_hold_records(m->registering, register_input_of(m, entry)));
}

static size_t count_contents(const matching_t *m) {
    size_t count = m->registering->count;
    for (size_t i = 0; i < m->count; i++)
        count += m->by_path.entries[i]->version_count;
    return count;
}

static bool list_contents(matching_t *m, err_t *err) {
    const size_t bytes = (count_contents(m) + 1) * sizeof *m->contents;
    if (!(m->contents = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < m->count; i++) {
        const entry_t *entry = m->by_path.entries[i];
        if (register_is_stream(entry_newest(entry)) || !holds_records(m, entry) || is_replaced(m, entry) ||
            is_of_copy(m, entry))
            continue;
        for (size_t j = 0; j < entry->version_count; j++)
            if (entry->versions[j].size)
                m->contents[m->content_count++] =
                    (content_t){entry->versions[j].size, entry->versions[j].digest, entry, 0};
    }
    for (size_t i = 0; i < m->registering->count; i++)
        if (brings(m, i))
            m->contents[m->content_count++] = (content_t){m->registering->wanted[i].seen.size,
                                                          m->registering->wanted[i].seen.digest, NULL, i};
    if (m->content_count)
        qsort(m->contents, m->content_count, sizeof *m->contents, order_contents);
    return true;
}

/* The entry of this content; NULL for an input that is new, or will be loaded anew. */
static const entry_t *entry_of(const matching_t *m, const content_t *content) {
    const entry_t *found = content->entry ? content->entry : m->found[content->number];
    return found && !is_replaced(m, found) ? found : NULL;
}

static void be_like_content(const matching_t *m, size_t number, const content_t *content, like_t how) {
    const entry_t *const entry = entry_of(m, content);
    if (entry)
        register_be_like_entry(m, number, entry, how);
    else
        be_like_input(m, number, content->number, how);
}

/* True if this content is all of its input, not an earlier version. Another input that begins like an earlier version
 * may have gone on differently, so only a whole input counts as a beginning. An input that has grown is larger in this
 * load than the catalog says. */
static bool is_whole(const matching_t *m, const content_t *content) {
    const entry_t *const entry = content->entry;
    if (!entry)
        return true;
    const uint64_t size = entry_newest(entry)->size,
                   now = register_is_taken(m, entry)
                             ? m->registering->wanted[register_input_of(m, entry)].seen.size
                             : 0;
    return content->size == (now > size ? now : size);
}

static bool is_another(const matching_t *m, size_t number, const content_t *content) {
    return content->entry ? content->entry != m->found[number]
                          : content->number != number && may_hold_records(m->registering, content->number);
}

/* The first content that is not before this size and, if given, this digest. */
static size_t first_of(const matching_t *m, uint64_t size, const char *digest) {
    return SEARCH_FIRST(m->content_count, i,
                        m->contents[i].size < size || (digest && m->contents[i].size == size &&
                                                       strcmp(m->contents[i].digest, digest) < 0));
}

/* Finds the content that equals all of an input (LIKE_EQUAL) or its beginning. Of several entries the newest counts,
 * because it was loaded last. An earlier version of one is only noted as LIKE_PART. Of two new inputs that are equal,
 * the later one is like the other. Inputs that are equal as a whole both have records, or neither has; of an earlier
 * version nobody knows. */
static const content_t *find_equal(const matching_t *m, size_t number, uint64_t size, const char *digest,
                                   like_t how) {
    const content_t *equal = NULL;
    for (size_t at = first_of(m, size, digest);
         at < m->content_count && m->contents[at].size == size && strcmp(m->contents[at].digest, digest) == 0;
         at++) {
        const content_t *content = &m->contents[at];
        if (!content->entry)
            return equal || (how == LIKE_EQUAL && content->number > number) || !is_another(m, number, content)
                       ? equal
                       : content;
        if (is_another(m, number, content) && is_whole(m, content))
            equal = content;
        else if (is_another(m, number, content) && how == LIKE_EQUAL &&
                 may_hold_records(m->registering, number))
            be_like_content(m, number, content, LIKE_PART);
    }
    return equal;
}

/* A member's digest includes its name. Finds the content whose digest it has by that content's name. */
static const content_t *find_member(const matching_t *m, size_t number, size_t names) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const content_t *equal = NULL;
    if (!wanted->of_archive || !registering->digest_as)
        return NULL;
    for (size_t at = first_of(m, wanted->seen.size, NULL);
         names && at < m->content_count && m->contents[at].size == wanted->seen.size; at++, names--) {
        const content_t *content = &m->contents[at];
        const char *name = content->entry ? content->entry->path : registering->wanted[content->number].name;
        while ((name = strchr(name, '!')) && is_another(m, number, content) &&
               (content->entry || (!equal && content->number < number))) {
            char digest[33];
            registering->digest_as(registering->context, number, ++name, digest);
            if (strcmp(digest, content->digest) == 0 &&
                (!equal || !equal->entry || equal->entry->ordinal < content->entry->ordinal))
                equal = content;
        }
    }
    return equal;
}

static bool may_begin_alike(const matching_t *m, size_t one, size_t other) {
    const wanted_t *wanted = m->registering->wanted;
    return input_may_begin_alike(&wanted[one].begins, &wanted[other].begins);
}

/* False if the input surely begins with no content of this size: then it is not read. */
static bool may_begin_with(const matching_t *m, size_t number, uint64_t size) {
    for (size_t at = first_of(m, size, NULL); at < m->content_count && m->contents[at].size == size; at++)
        if (m->contents[at].entry || may_begin_alike(m, number, m->contents[at].number))
            return true;
    return false;
}

/* Finds the longest content that the input begins with, and that is longer than the input's own entry. */
static bool find_beginning(const matching_t *m, size_t number, size_t *looks, err_t *err) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const entry_t *const own = wanted->changed ? NULL : m->found[number];
    uint64_t size = wanted->seen.size;
    for (bool found = false; wanted->may_grow && *looks && !found; --*looks) {
        const size_t before = first_of(m, size, NULL);
        char digest[33];
        if (!before || (size = m->contents[before - 1].size) <= (own ? entry_newest(own)->size : 0))
            return true;
        if (!may_begin_with(m, number, size))
            continue;
        if (!registering->digest_at(registering->context, number, size, digest, err))
            return false;
        const content_t *beginning = find_equal(m, number, size, digest, LIKE_BEGINS);
        if ((found = beginning))
            be_like_content(m, number, beginning, LIKE_BEGINS);
    }
    return true;
}

/* True if an input begins with a shorter one, which is `beginning`. */
static bool begins_so(const matching_t *m, size_t number, size_t shorter, const version_t *beginning) {
    const registration_t *registering = m->registering;
    char digest[33];
    err_t ignored;
    return registering->wanted[number].may_grow && may_begin_alike(m, number, shorter) &&
           registering->digest_at(registering->context, number, beginning->size, digest, &ignored) &&
           strcmp(digest, beginning->digest) == 0;
}

/* True if the longer content, of an input or of the file under the entry's path, begins with the input. */
static bool is_beginning_of(const matching_t *m, size_t number, const content_t *whole) {
    const registration_t *registering = m->registering;
    const entry_t *const entry = whole->entry;
    version_t version = registering->wanted[number].seen;
    if (!entry)
        return begins_so(m, whole->number, number, &version);
    if (register_is_taken(m, entry))
        return begins_so(m, register_input_of(m, entry), number, &version);
    const asked_t *there = register_what_stands(m, entry);
    const bool stands = there->is == A_FILE && !there->file.member &&
                        !(there->file.copy && *there->file.copy) &&
                        !register_stands_itself(m, number, entry) && register_stands_content(m, entry);
    const char *const path = stands ? entry->path : register_stands_further(m, number, entry);
    version.number = 1;
    const entry_t as_entry = {.version = 1, .versions = &version, .version_count = 1};
    return path && registering->holds(registering->holds_context, path, &as_entry);
}

static void find_whole(const matching_t *m, size_t number, size_t *looks) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (!wanted->may_grow || !m->registering->file_at || registration_like(wanted, LIKE_PART))
        return;
    for (size_t at = first_of(m, wanted->seen.size + 1, NULL); *looks && at < m->content_count; at++) {
        const content_t *content = &m->contents[at];
        if (!is_whole(m, content) || !is_another(m, number, content))
            continue;
        --*looks;
        if (is_beginning_of(m, number, content)) {
            if (may_hold_records(m->registering, number))
                be_like_content(m, number, content, LIKE_PART);
            return;
        }
    }
}

static bool find_by_content(const matching_t *m, size_t number, size_t looks, size_t names, size_t *left,
                            err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const content_t *equal = find_equal(m, number, wanted->seen.size, wanted->seen.digest, LIKE_EQUAL);
    if (!equal)
        equal = find_member(m, number, names);
    if (equal)
        be_like_content(m, number, equal, LIKE_EQUAL);
    size_t room = looks < *left ? looks : *left, rest = room;
    find_whole(m, number, &rest);
    *left -= room - rest;
    room = rest = looks < *left ? looks : *left;
    const bool ok = equal || find_beginning(m, number, &rest, err);
    *left -= room - rest;
    return ok;
}

/* ---- the same name, compressed differently ---- */

/* a.csv, a.csv.gz, or a.csv in a zip: nothing but the names suggests that they hold the same. */
struct packed_name {
    const char *path, *bare; /* bare: its last name, in an archive or not */
    size_t length;           /* of that, without the ending of a packed file */
    const entry_t *entry;    /* or NULL: */
    size_t number;           /* a new input */
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

/* The length of the folder's name; for a member of an archive, that of the archive's folder. */
static size_t folder_length(const char *path) {
    size_t end = strcspn(path, "!");
    while (end && path[end - 1] != '/')
        end--;
    return end;
}

/* True if the file is what unpacking the archive in its folder, or in one below, makes of the member. */
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

/* Finds an entry, or an earlier new input, whose name says that it may hold the same, packed differently. In another
 * folder it counts only if no other one has that name: where files of one name come again and again, the name says
 * nothing. */
static bool find_packed(matching_t *m, size_t number, err_t *err) {
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
        be_like_input(m, number, like->number, how);
    return true;
}

/* ---- all inputs ---- */

/* The entry that the input may be, moved and changed, which its user may not expect to be another input. If several
 * entries of its name are gone, files simply come and go there. */
static const entry_t *find_moved(const matching_t *m, size_t number) {
    size_t at = 0;
    const entry_t *entry = register_next_gone_below(m, number, UINT64_MAX, &at);
    return entry && !register_next_gone_below(m, number, UINT64_MAX, &at) ? entry : NULL;
}

/* An input that has changed is in its own place: it is no other one, moved or packed. */
static bool find_by_name(matching_t *m, size_t number, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (wanted->by_name || wanted->replaced || wanted->changed || !is_as_new(m, number))
        return true;
    const entry_t *moved = registration_tells(wanted) == LIKE_KINDS ? find_moved(m, number) : NULL;
    if (moved)
        register_be_like_entry(m, number, moved, LIKE_MOVED);
    return find_packed(m, number, err);
}

static size_t share(size_t all, size_t count) {
    return all / count ? all / count : 1;
}

bool register_find_alike(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    size_t count = 0, left = 2 * MOST_LOOKS;
    for (size_t i = 0; i < registering->count; i++)
        count += brings(m, i);
    if (!count)
        return true;
    if (!list_contents(m, err))
        return false;
    const size_t looks = share(MOST_LOOKS, count), all_names = share(ALL_NAMES, count),
                 names = all_names < MOST_NAMES ? all_names : MOST_NAMES;
    for (size_t i = 0; i < registering->count; i++)
        if (brings(m, i) && (!find_by_content(m, i, looks, names, &left, err) || !find_by_name(m, i, err)))
            return false;
    return true;
}
