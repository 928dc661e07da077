#include "catalog/register/register_inner.h"

#include <string.h>

static const asked_t *ask(const registration_t *registering, asked_t *asked, const char *path) {
    if (asked->is == NOT_ASKED) {
        const bool found = path && registering->file_at && registering->file_at(path, &asked->file);
        asked->is = found ? A_FILE : NO_FILE;
    }
    return asked;
}

static const asked_t *what_stands(const matching_t *m, const entry_t *entry) {
    return ask(m->registering, &m->there[entry - m->entries.entries], entry->path);
}

/* "ARCHIVE!MEMBER" */
static bool is_name_of_member(const char *name, const char *member) {
    const size_t length = strlen(name), end = strlen(member);
    return length > end && name[length - end - 1] == '!' && strcmp(name + length - end, member) == 0;
}

bool register_stands_itself(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const asked_t *own = ask(registering, &m->own[number], wanted->path);
    const asked_t *there = what_stands(m, entry);
    return own->is == A_FILE && there->is == A_FILE && own->file.device == there->file.device &&
           own->file.inode == there->file.inode &&
           (!there->file.member || is_name_of_member(wanted->name, there->file.member));
}

/* Does the entry's content stand under its path? What has that name may be anything: a path is read in the folder that
 * the command was given in, and files come and go. */
static bool stands_content(const matching_t *m, const entry_t *entry) {
    asked_t *there = &m->there[entry - m->entries.entries];
    if (what_stands(m, entry)->is == NO_FILE)
        return false;
    if (there->holds == NOT_READ)
        there->holds =
            m->registering->holds(m->registering->holds_context, entry) ? ITS_CONTENT : OTHER_CONTENT;
    return there->holds == ITS_CONTENT;
}

bool register_stands_beside(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    return ask(registering, &m->own[number], registering->wanted[number].path)->is == A_FILE &&
           !register_stands_itself(m, number, entry) && stands_content(m, entry);
}

/* The same by what the file system says, where that is enough: thousands of entries need not be read for a file that
 * begins with none of them. */
static bool stands_untouched(const matching_t *m, const entry_t *entry) {
    const asked_t *there = what_stands(m, entry);
    const version_t *newest = entry_newest(entry);
    return there->is == A_FILE && (there->file.member || (there->file.size == newest->size &&
                                                          there->file.modified_ns == newest->modified_ns));
}

bool register_is_gone(const matching_t *m, size_t number, const entry_t *entry) {
    return !register_stands_itself(m, number, entry) && !stands_untouched(m, entry) &&
           !stands_content(m, entry);
}
