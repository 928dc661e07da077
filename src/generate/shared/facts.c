#include "generate/shared/facts.h"
#include "builtin/builtin.h"

#include <stdlib.h>
#include <string.h>

bool facts_open(facts_t *facts, const char *name, err_t *err) {
    const builtin_t *file = builtin_find(builtin_generate, name);
    facts->next = facts->text = strndup(file->text, file->length);
    return facts->text || err_memory(err, file->length);
}

/* Up to the next line that does not begin with a blank. */
static char *end_of_line(char *at) {
    for (at += strcspn(at, "\n"); at[0] && at[1] == ' '; at += strcspn(at, "\n"))
        *at = ' ';
    return at;
}

char *facts_line(facts_t *facts) {
    while (*facts->next) {
        char *line = facts->next, *end = end_of_line(line);
        facts->next = end + (*end != '\0');
        *end = '\0';
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}

char *facts_word(char **line) {
    char *word = *line + strspn(*line, " "), *end = word + strcspn(word, " ");
    *line = end + (*end != '\0');
    *end = '\0';
    return word;
}

int32_t facts_number(char **line) {
    return (int32_t)strtol(facts_word(line), NULL, 10);
}

void facts_range(char **line, int32_t *low, int32_t *high) {
    char *rest;
    *high = *low = (int32_t)strtol(facts_word(line), &rest, 10);
    if (*rest == '-')
        *high = (int32_t)strtol(rest + 1, NULL, 10);
}
