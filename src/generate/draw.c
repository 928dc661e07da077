#include "generate/draw.h"

#include <stdlib.h>
#include <string.h>

char *plain_text(char *word) {
    for (char *at = word; *at; at++)
        *at = *at == '_' ? ' ' : *at == '%' ? '|' : *at == '^' ? '\0' : *at == '~' ? '\xC9' : *at;
    return word;
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
    if (plan->count == 1 || odd->next < plan->next)
        plan->next = odd->next;
}

static bool make_odd(odd_t *odd, odd_change_t *change, void *record) {
    char copy[1024], *rest = strcpy(copy, odd->text);
    for (char *place; (place = strsep(&rest, ";"));) {
        char *texts = strchr(place, '='), *text[ODD_TEXTS], *chosen;
        size_t count = 0;
        *texts++ = '\0';
        while ((text[count] = strsep(&texts, "|")))
            count++;
        chosen = plain_text(text[odd->turn % count]);
        for (char *any = chosen; (any = strchr(any, '#')); odd->bits /= 10)
            *any = (char)('0' + odd->bits % 10);
        place += strspn(place, " ");
        const bool asks = *place == '?' || *place == '!';
        if (!change(record, asks ? *place : '\0', place + asks, chosen))
            return false;
    }
    return true;
}

void odd_apply(odd_plan_t *plan, odd_change_t *change, void *row) {
    const uint64_t now = plan->next;
    bool made = false;
    plan->next = UINT64_MAX;
    for (odd_t *odd = plan->odd; odd < plan->odd + plan->count; odd++) {
        if (!made && odd->next <= now && make_odd(odd, change, row)) {
            made = true;
            odd->turn++;
            appoint(plan, odd);
        }
        if (odd->next <= now) /* it is put off: one oddity a record */
            odd->next = now + 1 + chance_bits(plan->key, now) % 32;
        if (odd->next < plan->next)
            plan->next = odd->next;
    }
}

void shares_guide(const shares_t *shares) {
    const double sum = shares->below[shares->count - 1];
    uint32_t at = 0;
    for (size_t step = 0; step <= shares->steps; step++) {
        while (at < shares->count - 1 && sum * (double)step / (double)shares->steps >= shares->below[at])
            at++;
        shares->guide[step] = at;
    }
}
