#include "cli/pages/complete.h"
#include "base/log.h"
#include "builtin/builtin.h"
#include "cli/options/cli_inner.h"
#include "query/suite/suite.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What is typed of a word: `before` stays, and `typed` is the beginning of what is looked for. */
typedef struct {
    const char *before, *typed;
    int before_length;
    const char *suite; /* whose queries are looked for, or NULL */
} place_t;

/* The first sentence is enough for a line of a list. */
static void offer(const place_t *place, const char *word, const char *about) {
    if (strncmp(word, place->typed, strlen(place->typed)) != 0)
        return;
    out_print("%.*s%s", place->before_length, place->before, word);
    if (about) {
        const char *end = strstr(about, ". ");
        const size_t length = end ? (size_t)(end - about) : strlen(about);
        out_print("\t%.*s", (int)(length - (length && about[length - 1] == '.')), about);
    }
    out_print("\n");
}

static void offer_commands(const place_t *place) {
    for (const command_t *const *command = cli_commands; *command; command++)
        offer(place, (*command)->name, (*command)->about);
}

static void offer_builtin(const place_t *place, const builtin_t *builtin) {
    for (; builtin->name; builtin++)
        offer(place, builtin->name, NULL);
}

static void offer_queries(const place_t *place, bool with_tags) {
    err_t ignored;
    suite_t *suite = place->suite ? suite_open(place->suite, &ignored) : NULL;
    for (size_t i = 0; suite && i < suite->query_count; i++) {
        const query_t *query = &suite->queries[i];
        offer(place, query->name, query->about);
        for (const yaml_item_t *tag = with_tags && query->tags ? query->tags->first : NULL; tag;
             tag = tag->next) {
            bool before = false;
            for (size_t j = 0; j < i; j++)
                before = before || suite_has_tag(&suite->queries[j], tag->text);
            if (!before)
                offer(place, tag->text, NULL);
        }
    }
    suite_close(suite);
}

/* SUITE[:NAME]: a suite, whose name a colon may follow, and behind the colon its queries. */
static void offer_query_of_suite(place_t place) {
    const char *colon = strrchr(place.typed, ':');
    if (!colon) {
        for (const builtin_t *suite = builtin_suites; suite->name; suite++) {
            char name[80];
            snprintf(name, sizeof name, "%s:", suite->name);
            offer(&place, suite->name, NULL);
            offer(&place, name, NULL);
        }
        out_print(":files\n");
        return;
    }
    char suite[PATH_MAX];
    snprintf(suite, sizeof suite, "%.*s", (int)(colon - place.typed), place.typed);
    place.suite = suite;
    place.before_length += (int)(colon + 1 - place.typed);
    place.typed = colon + 1;
    offer_queries(&place, false);
}

/* A word of what --help calls an argument, or of an option's values. */
static void offer_kind(const place_t *place, const char *kind) {
    if (strcmp(kind, "FILE") == 0 || strcmp(kind, "DIR") == 0 || strcmp(kind, "INPUT") == 0 ||
        strcmp(kind, "@files") == 0)
        out_print(":files\n");
    else if (strcmp(kind, "COMMAND") == 0)
        offer_commands(place);
    else if (strcmp(kind, "QUERY") == 0)
        offer_queries(place, true);
    else if (strcmp(kind, "@queries") == 0)
        offer_query_of_suite(*place);
    else if (strcmp(kind, "@formats") == 0)
        offer_builtin(place, builtin_formats);
    else if (strcmp(kind, "@suites") == 0)
        offer_builtin(place, builtin_suites);
    else if (!isupper((unsigned char)*kind))
        offer(place, kind, NULL);
}

/* "N|auto", "none snappy", "[FILE...]": the words between | , [ ] and blanks, without dots after them. */
static void offer_kinds(const place_t *place, const char *kinds) {
    static const char between[] = "|,[] ";
    for (const char *at = kinds; *(at += strspn(at, between));) {
        char kind[40];
        const size_t length = strcspn(at, between);
        snprintf(kind, sizeof kind, "%.*s", (int)length, at);
        at += length;
        char *dots = strstr(kind, "...");
        if (dots)
            *dots = '\0';
        if (*kind && strcmp(kind, "-") != 0)
            offer_kind(place, kind);
    }
}

static void offer_values(place_t place, const option_t *option) {
    const char *comma = strstr(option->argument, ",...") ? strrchr(place.typed, ',') : NULL;
    if (comma) {
        place.before_length += (int)(comma + 1 - place.typed);
        place.typed = comma + 1;
    }
    if (option->offers)
        offer_kinds(&place, option->offers);
    else if (strcmp(option->argument, "COMMAND") != 0) /* of the shell */
        offer_kinds(&place, option->argument);
}

static void offer_options(const place_t *place, const command_t *command) {
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        char name[OPTION_WORDS];
        snprintf(name, sizeof name, "--%s", rows.rows[i].option->name);
        offer(place, name, rows.rows[i].option->help);
    }
}

/* The option whose value comes in the next word, or in this one after its =, where *value is. */
static const option_t *option_of(const command_t *command, const char *word, const char **value) {
    const bool is_long = word[0] == '-' && word[1] == '-';
    const size_t length = strcspn(word, "=");
    *value = is_long && word[length] ? word + length + 1 : NULL;
    if (word[0] != '-' || !word[1])
        return NULL;
    cli_rows_t rows;
    cli_rows(command, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        const option_t *option = rows.rows[i].option;
        const bool is_it =
            is_long ? strlen(option->name) == length - 2 && strncmp(option->name, word + 2, length - 2) == 0
                    : option->letter && word[strlen(word) - 1] == option->letter;
        if (is_it)
            return option->argument ? option : NULL;
    }
    return NULL;
}

static const command_t *command_of(const char *word) {
    for (const command_t *const *command = cli_commands; *command; command++)
        if (strcmp((*command)->name, word) == 0)
            return *command;
    return NULL;
}

static void complete_of(const command_t *command, char **words, size_t count) {
    place_t place = {.before = words[count - 1], .typed = words[count - 1]};
    const option_t *waiting = NULL;
    const char *value;
    bool options = true;
    for (size_t i = 0; i + 1 < count; i++) {
        const option_t *option = waiting || !options ? NULL : option_of(command, words[i], &value);
        const char *suite = waiting ? words[i] : option ? value : NULL;
        const option_t *of = waiting ? waiting : option;
        if (suite && strcmp(of->name, "suite") == 0)
            place.suite = suite;
        options = options && (waiting || strcmp(words[i], "--") != 0);
        waiting = option && !value ? option : NULL;
    }
    const option_t *own = waiting || !options ? NULL : option_of(command, place.typed, &value);
    if (waiting) {
        offer_values(place, waiting);
    } else if (own && value) {
        place.before_length = (int)(value - place.typed);
        place.typed = value;
        offer_values(place, own);
    } else if (options && *place.typed == '-') {
        offer_options(&place, command);
    } else {
        offer_kinds(&place, command->arguments);
    }
}

void complete_words(char **words, size_t count) {
    const command_t *command = count > 1 ? command_of(words[0]) : NULL;
    const place_t place = {.before = words[count - 1], .typed = words[count - 1]};
    if (command) {
        complete_of(command, words + 1, count - 1);
    } else if (count == 1) {
        offer_commands(&place);
        if (*place.typed == '-') {
            offer(&place, "--help", "commands by what one wants to know");
            offer(&place, "--version", "print the version");
        }
    }
}
