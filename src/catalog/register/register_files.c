/* All entries by the files that their paths lead to today: an input may have been loaded by another name of its file. */
#include "base/text.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

static int compare(const file_id_t *left, const char *left_member, const file_id_t *right,
                   const char *right_member) {
    int order = (left->device > right->device) - (left->device < right->device);
    order = order ? order : (left->inode > right->inode) - (left->inode < right->inode);
    return order ? order : strcmp(left_member, right_member);
}

static const char *member_of(const file_id_t *file) {
    return file->member ? file->member : "";
}

static int order_by_file(const void *a, const void *b, void *context) {
    const matching_t *m = *(const matching_t *const *)context;
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    const file_id_t *one = &register_what_stands(m, left)->file,
                    *other = &register_what_stands(m, right)->file;
    const int order = compare(one, member_of(one), other, member_of(other));
    return order ? order : (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static const standing_files_t *look(const matching_t *m) {
    standing_files_t *files = m->files;
    if (files->made)
        return files;
    files->made = true;
    for (size_t i = 0; i < m->count; i++) {
        const entry_t *entry = m->by_path.entries[i];
        if (entry_is_by_name(entry) || strchr(entry->path, '\\'))
            continue; /* where control characters are spelled, another file may have that name */
        if (register_what_stands(m, entry)->is == A_FILE)
            files->files[files->file_count++] = entry;
    }
    if (files->file_count)
        qsort_r(files->files, files->file_count, sizeof *files->files, order_by_file, &m);
    return files;
}

static int compare_at(const matching_t *m, const standing_files_t *files, size_t at, const file_id_t *own,
                      const char *member) {
    const file_id_t *file = &register_what_stands(m, files->files[at])->file;
    return compare(file, member_of(file), own, member);
}

/* Where a search begins, or goes on: what the input's name has behind its next !, where it is a member of an archive. False:
 * there is no other. */
static bool go_on(const wanted_t *wanted, file_place_t *place) {
    const bool begins = !place->member;
    const char *mark = begins ? NULL : strchr(place->rest, '!');
    if (!begins && !mark)
        return false;
    place->rest = begins ? wanted->name : mark + 1;
    place->member = begins ? "" : place->rest;
    return true;
}

const entry_t *register_next_of_file(const matching_t *m, size_t number, file_place_t *place) {
    const asked_t *own = register_own_file(m, number);
    if (own->is != A_FILE)
        return NULL;
    const standing_files_t *files = look(m);
    for (bool begins = !place->member;; begins = true) {
        if (begins) {
            if (!go_on(&m->registering->wanted[number], place))
                return NULL;
            place->at =
                SEARCH_FIRST(files->file_count, i, compare_at(m, files, i, &own->file, place->member) < 0);
        }
        while (place->at < files->file_count &&
               compare_at(m, files, place->at, &own->file, place->member) == 0) {
            const entry_t *entry = files->files[place->at++];
            if (register_stands_itself(m, number, entry))
                return entry;
        }
    }
}
