#include "load/rejects/reject_known.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Where it is, or the free place where it belongs. */
static reject_known_place_t *place_of(const reject_known_t *known, const reject_identity_t *identity) {
    size_t i = (size_t)reject_identity_number(identity) & (known->room - 1);
    while (known->places[i].is.input && !reject_identity_equal(&known->places[i].is, identity))
        i = (i + 1) & (known->room - 1);
    return &known->places[i];
}

static bool grow(reject_known_t *known) {
    reject_known_t larger = *known;
    larger.room = known->room ? known->room * 2 : 64;
    if (!(larger.places = calloc(larger.room, sizeof *larger.places)))
        return false;
    for (size_t i = 0; i < known->room; i++)
        if (known->places[i].is.input)
            *place_of(&larger, &known->places[i].is) = known->places[i];
    free(known->places);
    *known = larger;
    return true;
}

/* Entries of one input mostly follow one another, so the last name is looked at first and no others are. */
static const char *keep_name(reject_known_t *known, const char *name) {
    if (known->name_count && strcmp(known->names[known->name_count - 1], name) == 0)
        return known->names[known->name_count - 1];
    if (!GROW(known->names, known->name_room, known->name_count + 1, NULL))
        return NULL;
    char *own = strdup(name);
    if (own)
        known->names[known->name_count++] = own;
    return own;
}

static bool add(reject_known_t *known, const reject_identity_t *identity, uint64_t from) {
    if (2 * known->count >= known->room && !grow(known))
        return false;
    reject_known_place_t *place = place_of(known, identity);
    if (place->is.input) {
        place->from = from < place->from ? from : place->from;
        return true;
    }
    const char *name = keep_name(known, identity->input);
    if (!name)
        return false;
    *place = (reject_known_place_t){*identity, from};
    place->is.input = name;
    known->count++;
    return true;
}

bool reject_known_add(reject_known_t *known, const reject_identity_t *identity) {
    return add(known, identity, 0);
}

bool reject_known_add_gone(reject_known_t *known, const reject_identity_t *identity, uint64_t from) {
    reject_identity_t by_name = *identity;
    by_name.ordinal = UINT64_MAX;
    return add(known, &by_name, from);
}

bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity) {
    return known->count && place_of(known, identity)->is.input != NULL;
}

bool reject_known_has_of(const reject_known_t *known, const reject_identity_t *identity) {
    reject_identity_t by_name = *identity;
    by_name.ordinal = UINT64_MAX;
    return reject_known_has(known, identity) ||
           (reject_known_has(known, &by_name) && place_of(known, &by_name)->from <= identity->ordinal);
}

void reject_known_free(reject_known_t *known) {
    for (size_t i = 0; i < known->name_count; i++)
        free(known->names[i]);
    free(known->names);
    free(known->places);
    *known = (reject_known_t){0};
}
