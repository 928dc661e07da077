#include "generate/shared/odd.h"
#include "base/numbers/chance.h"
#include "generate/shared/facts.h"

#include <string.h>

void odd_init(odd_plan_t *plan, uint64_t key) {
    *plan = (odd_plan_t){.key = key, .next = UINT64_MAX};
}

static void appoint(odd_plan_t *plan, odd_t *odd) {
    uint64_t key = chance_bits(plan->key, (uint64_t)(odd - plan->odd));
    odd->next = odd->turn * odd->every + chance_bits(key, odd->turn) % odd->every;
    odd->bits = chance_bits(~key, odd->turn);
}

void odd_add(odd_plan_t *plan, uint64_t every, const char *text) {
    odd_t *odd = &plan->odd[plan->count++];
    *odd = (odd_t){.text = text, .every = every};
    appoint(plan, odd);
    if (odd->next < plan->next)
        plan->next = odd->next;
}

void odd_read(odd_plan_t *plan, char *line) {
    uint64_t every = (uint64_t)facts_number(&line);
    odd_add(plan, every, line);
}

void odd_apply(odd_plan_t *plan, bool (*apply)(void *row, odd_t *odd), void *row) {
    uint64_t now = plan->next;
    plan->next = UINT64_MAX;
    for (odd_t *odd = plan->odd; odd < plan->odd + plan->count; odd++) {
        if (odd->next <= now && apply(row, odd)) {
            odd->turn++;
            appoint(plan, odd);
        }
        if (odd->next <= now) /* it is put off, or was, beyond its turn */
            odd->next = now + 1 + chance_bits(plan->key, now) % 32;
        if (odd->next < plan->next)
            plan->next = odd->next;
    }
}

bool odd_change(odd_t *odd, const char **at, char place[ODD_WORD], char text[ODD_WORD]) {
    const char *from = *at + strspn(*at, " "), *value = from + strcspn(from, "=") + 1, *choice = value;
    if (!*from)
        return false;
    memcpy(place, from, (size_t)(value - 1 - from));
    place[value - 1 - from] = '\0';
    size_t length = strcspn(value, ";"), choices = 1, used = 0;
    for (size_t i = 0; i < length; i++)
        choices += value[i] == '|';
    for (size_t skip = odd->turn % choices; skip; choice++)
        skip -= *choice == '|';
    for (; choice < value + length && *choice != '|'; choice++) {
        text[used++] = *choice;
        if (*choice == '#') {
            text[used - 1] = (char)('0' + odd->bits % 10);
            odd->bits /= 10;
        }
    }
    text[used] = '\0';
    *at = value + length + (value[length] == ';');
    return true;
}
