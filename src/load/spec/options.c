#include "load/spec/options.h"
#include "base/conceal.h"
#include "base/numbers.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a bound as a user would type it. */
static const char *print_bound(char out[UNITS_MAX], uint64_t bound, bool size) {
    static const char letters[] = "KMGT";
    size_t units = 0;
    while (size && units < strlen(letters) && bound && bound % 1024 == 0) {
        bound /= 1024;
        units++;
    }
    if (!units)
        return units_count(out, bound);
    snprintf(out, UNITS_MAX, "%llu%c", (unsigned long long)bound, letters[units - 1]);
    return out;
}

static bool out_of_range(const option_t *option, const char *text, err_t *err) {
    char least[UNITS_MAX], most[UNITS_MAX];
    bool size = option->kind == OPTION_SIZE;
    print_bound(least, option->least, size);
    if (option->most)
        return err_set(err, STATUS_USAGE, "--%s: %s is out of range; it goes from %s to %s", option->name,
                       text, least, print_bound(most, option->most, size));
    return err_set(err, STATUS_USAGE, "--%s: %s is too small; the least is %s", option->name, text, least);
}

static bool read_number(const option_t *option, const char *text, void *at, err_t *err) {
    uint64_t number;
    bool size = option->kind == OPTION_SIZE;
    if (!(size ? units_parse_size(text, &number) : units_parse_count(text, &number)))
        return err_set(err, STATUS_USAGE, "--%s: '%s' is not a %s; write it like %s", option->name, text,
                       size ? "size" : "whole number", size ? "65536, 64K, 256M or 1G" : "1000, 5k or 2m");
    if (number < option->least || (option->most && number > option->most))
        return out_of_range(option, text, err);
    if (number == UINT64_MAX) /* stands for a number that was not given */
        return err_set(err, STATUS_USAGE, "--%s: %s is too large", option->name, text);
    if (option->kind == OPTION_COUNT32 || option->kind == OPTION_COUNT32_AUTO)
        *(uint32_t *)at = (uint32_t)number;
    else
        *(uint64_t *)at = number;
    return true;
}

bool option_no_password(const char *where, const char *text, err_t *err) {
    return !text || !conceal_finds(text) ||
           err_set(err, STATUS_USAGE, "%s holds a password: the URI of a server goes with --uri", where);
}

static const char blanks[] = " \t\r\n\v\f";

bool option_take_uri(const char *text, size_t length, const char **uri, err_t *err) {
    static char *taken;
    while (length && strchr(blanks, text[length - 1]))
        length--;
    for (; length && strchr(blanks, *text); length--)
        text++;
    free(taken);
    taken = strndup(text, length);
    *uri = taken;
    return taken || err_memory(err, length);
}

static bool takes_password(const option_t *option) {
    return option->argument &&
           (strncmp(option->argument, "URI", 3) == 0 || strcmp(option->argument, "COMMAND") == 0);
}

bool option_set(const option_t *option, const char *text, void *values, err_t *err) {
    void *at = (char *)values + option->offset;
    texts_list_t *list = at;
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    if (!takes_password(option) && !option_no_password(name, text, err))
        return false;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)at = !text || strcmp(text, "true") == 0;
        return !text || *(bool *)at || strcmp(text, "false") == 0 ||
               err_set(err, STATUS_USAGE, "--%s: '%s' is neither true nor false", option->name, text);
    case OPTION_TEXT:
        if (!*text)
            return err_set(err, STATUS_USAGE, "--%s needs a value: %s", option->name, option->argument);
        if (strcmp(option->argument, "URI") == 0)
            return option_take_uri(text, strlen(text), at, err);
        *(const char **)at = text;
        return true;
    case OPTION_LIST:
        if (option->custom && !option->custom(NULL, text, err))
            return false;
        if (!GROW(list->items, list->room, list->count + 1, err))
            return false;
        list->items[list->count++] = (char *)text;
        return true;
    case OPTION_TIME:
        if (!units_parse_time(text, at))
            return err_set(err, STATUS_USAGE, "--%s: '%s' is not a time; write it like 30s, 500ms, 5m or 2h",
                           option->name, text);
        return *(const int64_t *)at >= (int64_t)option->least ||
               err_set(err, STATUS_USAGE, "--%s: %s is no time at all; leave it out, or give a longer one",
                       option->name, text);
    case OPTION_COUNT32_AUTO:
        if (strcmp(text, "auto") != 0)
            return read_number(option, text, at, err);
        *(uint32_t *)at = OPTION_AUTO;
        return true;
    case OPTION_CUSTOM:
        return option->custom(at, text, err);
    default:
        return read_number(option, text, at, err);
    }
}

void options_free(const option_t *table, void *values) {
    for (const option_t *option = table; option->name; option++) {
        texts_list_t *list = (texts_list_t *)((char *)values + option->offset);
        if (option->kind == OPTION_LIST) {
            free(list->items);
            *list = (texts_list_t){.items = NULL};
        }
    }
}
