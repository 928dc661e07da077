#include "generate/draw.h"
#include "builtin/builtin.h"

#include <stdio.h>
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

void odd_init(odd_plan_t *plan, uint64_t key) {
    *plan = (odd_plan_t){.key = key, .next = UINT64_MAX};
}

static void appoint(odd_plan_t *plan, odd_t *odd) {
    uint64_t key = chance_bits(plan->key, (uint64_t)(odd - plan->odd));
    odd->next = odd->turn * odd->every + chance_bits(key, odd->turn) % odd->every;
    odd->bits = chance_bits(~key, odd->turn);
}

void odd_add(odd_plan_t *plan, const char *line) {
    odd_t *odd = &plan->odd[plan->count++];
    odd->every = strtoull(line, (char **)&odd->text, 10);
    appoint(plan, odd);
    if (odd->next < plan->next)
        plan->next = odd->next;
}

static bool make_odd(odd_t *odd, odd_change_t *change, void *record) {
    char copy[1024], *rest = strcpy(copy, odd->text);
    for (char *place; (place = strsep(&rest, ";"));) {
        char *texts = strchr(place, '='), *text;
        size_t choices = 1;
        *texts++ = '\0';
        for (text = texts; (text = strchr(text, '|')); text++)
            choices++;
        for (size_t skip = odd->turn % choices; skip; skip--)
            strsep(&texts, "|");
        text = strsep(&texts, "|");
        for (char *any = text; (any = strchr(any, '#')); odd->bits /= 10)
            *any = (char)('0' + odd->bits % 10);
        place += strspn(place, " ");
        const bool asks = *place == '?' || *place == '!';
        if (!change(record, asks ? *place : '\0', place + asks, text))
            return false;
    }
    return true;
}

void odd_apply(odd_plan_t *plan, odd_change_t *change, void *row) {
    const uint64_t now = plan->next;
    plan->next = UINT64_MAX;
    for (odd_t *odd = plan->odd; odd < plan->odd + plan->count; odd++) {
        if (odd->next <= now && make_odd(odd, change, row)) {
            odd->turn++;
            appoint(plan, odd);
        }
        if (odd->next <= now) /* it is put off, or was, beyond its turn */
            odd->next = now + 1 + chance_bits(plan->key, now) % 32;
        if (odd->next < plan->next)
            plan->next = odd->next;
    }
}
