#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

static const asked_t *ask(const registration_t *registering, asked_t *asked, const char *path) {
    if (asked->is == NOT_ASKED) {
        const bool found = path && registering->file_at && registering->file_at(path, &asked->file);
        asked->is = found ? A_FILE : NO_FILE;
    }
    return asked;
}

const asked_t *register_what_stands(const matching_t *m, const entry_t *entry) {
    return ask(m->registering, &m->there[entry - m->entries.entries],
               entry_is_by_name(entry) ? NULL : entry->path);
}

const asked_t *register_own_file(const matching_t *m, size_t number) {
    return ask(m->registering, &m->own[number], m->registering->wanted[number].path);
}

/* "ARCHIVE!MEMBER" */
static bool is_name_of_member(const char *name, const char *member) {
    const size_t length = strlen(name), end = strlen(member);
    return length > end && name[length - end - 1] == '!' && strcmp(name + length - end, member) == 0;
}

static bool is_same_copy(const char *one, const char *other) {
    return strcmp(one ? one : "", other ? other : "") == 0;
}

static bool is_same_file(const asked_t *one, const asked_t *other) {
    return one->is == A_FILE && other->is == A_FILE && one->file.device == other->file.device &&
           one->file.inode == other->file.inode;
}

bool register_stands_itself(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const asked_t *there = register_what_stands(m, entry);
    return is_same_file(register_own_file(m, number), there) &&
           is_same_copy(wanted->copy_mark, there->file.copy) &&
           (!there->file.member || is_name_of_member(wanted->name, there->file.member));
}

/* Is the file at the entry's path, which is longer, as a whole what was loaded as another one? Then that was moved there: it
 * did not grow. */
static bool is_of_another(const matching_t *m, const entry_t *entry) {
    const asked_t *there = register_what_stands(m, entry);
    const wanted_t name = {.name = entry->path};
    const entry_t *other;
    if (there->file.member || there->file.size == entry_newest(entry)->size)
        return false;
    for (size_t at = register_first_in(m, &m->by_last_name, &name);
         (other = register_like_at(m, &m->by_last_name, &name, at)); at++) {
        entry_t here = *other;
        here.path = entry->path;
        if (other != entry && entry_newest(other)->size == there->file.size &&
            m->registering->holds(m->registering->holds_context, &here))
            return true;
    }
    return false;
}

/* Does the entry's content stand under its path? What has that name may be anything: a path is read in the folder that
 * the command was given in, and files come and go. */
bool register_stands_content(const matching_t *m, const entry_t *entry) {
    asked_t *there = &m->there[entry - m->entries.entries];
    if (register_what_stands(m, entry)->is == NO_FILE)
        return false;
    if (there->holds == NOT_READ)
        there->holds = m->registering->holds(m->registering->holds_context, entry) && !is_of_another(m, entry)
                           ? ITS_CONTENT
                           : OTHER_CONTENT;
    return there->holds == ITS_CONTENT;
}

const char *register_stands_further(const matching_t *m, size_t number, const entry_t *entry) {
    const asked_t *own = register_own_file(m, number);
    for (size_t i = 0; i < entry->name_count; i++) {
        asked_t there = {.is = NOT_ASKED};
        entry_t here = *entry;
        here.path = entry->names[i];
        if (ask(m->registering, &there, here.path)->is == A_FILE && !is_same_file(own, &there) &&
            m->registering->holds(m->registering->holds_context, &here))
            return here.path;
    }
    return NULL;
}

bool register_stands_beside(const matching_t *m, size_t number, const entry_t *entry) {
    if (register_own_file(m, number)->is != A_FILE || register_stands_itself(m, number, entry))
        return false;
    return register_stands_content(m, entry) || register_stands_further(m, number, entry);
}

/* By what the file system says, where that is enough: thousands of entries need not be read for a file that begins with none of
 * them. */
static bool stands_untouched(const matching_t *m, const entry_t *entry) {
    const asked_t *there = register_what_stands(m, entry);
    const version_t *newest = entry_newest(entry);
    return there->is == A_FILE && (there->file.member || (there->file.size == newest->size &&
                                                          there->file.modified_ns == newest->modified_ns));
}

/* Looked at once: many inputs and many entries may have one last name. */
static const group_t *group_of(const matching_t *m, const wanted_t *wanted, size_t first) {
    static const group_t none = {.made = true};
    group_t *group = &m->groups[first];
    if (!register_like_at(m, &m->by_last_name, wanted, first)) /* there the next name's begins */
        return &none;
    if (group->made)
        return group;
    group->made = true;
    const entry_t *entry;
    for (size_t at = first; (entry = register_like_at(m, &m->by_last_name, wanted, at)); at++)
        if (!entry_is_by_name(entry) && !stands_untouched(m, entry) && !register_stands_content(m, entry))
            m->gone[first + group->gone++] = entry;
    return group;
}

const entry_t *register_next_gone(const matching_t *m, size_t number, size_t *at) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const size_t first = register_first_in(m, &m->by_last_name, wanted);
    const group_t *group = group_of(m, wanted, first);
    while (*at < group->gone) {
        const entry_t *entry = m->gone[first + (*at)++];
        if (registration_is_called(wanted, entry->path) && !register_stands_itself(m, number, entry) &&
            !register_stands_further(m, number, entry))
            return entry;
    }
    return NULL;
}
