#include "catalog/places_show.h"

void places_show(const places_t *places, const entry_t *entry, text_t *out) {
    const size_t length = out->length;
    places_meant_t meant = places_meant(places, entry->path);
    text_append(out, entry->path);
    /* zeros, until no file really has that name */
    for (int digits = 1; !out->lacking && (!meant.is_sure || meant.live != entry); digits++) {
        out->length = length;
        text_print(out, "%s#%0*u", entry->path, digits, entry->ordinal);
        meant = places_meant(places, out->bytes + length);
    }
}

void places_show_meant(const places_t *places, const char *name, text_t *out) {
    enum { MOST = 10 };
    size_t at = 0, shown = 0;
    for (const entry_t *entry; (entry = places_next(places, name, &at));) {
        if (entry->removed || ++shown > MOST)
            continue;
        text_append(out, shown > 1 ? ", " : "");
        places_show(places, entry, out);
    }
    if (shown > MOST)
        text_print(out, " and %zu more", shown - MOST);
}
