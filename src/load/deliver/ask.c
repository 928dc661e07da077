#include "load/deliver/ask.h"
#include "base/chars.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { AT_ONCE = 1000 /* `_id`s in one question */ };

void ask_free(ask_t *ask) {
    free(ask->asked);
    free(ask->indexes);
    free(ask->kept);
    ask->kept = NULL;
    ask->kept_used = ask->kept_room = 0;
    ask->asked = NULL;
    ask->indexes = NULL;
}

bool ask_make_room(ask_t *ask, uint32_t count, err_t *err) {
    ask_free(ask);
    ask->asked = malloc(count * sizeof *ask->asked);
    ask->indexes = malloc(count * sizeof *ask->indexes);
    return (ask->asked && ask->indexes) || err_memory(err, count * sizeof *ask->asked);
}

/* Returns the length of a document's `_id` with its type and name; 0: `_id` is not the first field, or has a type that no server
 * allows. */
static uint32_t id_length(const uint8_t *document, uint32_t length) {
    static const struct {
        uint8_t type, bytes;
        bool counted; /* begins with a length that counts what follows */
    } types[] = {{0x12, 8, false}, {0x10, 4, false},  {0x07, 12, false}, {0x02, 4, true},  {0x01, 8, false},
                 {0x09, 8, false}, {0x13, 16, false}, {0x05, 5, true},   {0x11, 8, false}, {0x08, 1, false},
                 {0x03, 0, true},  {0x0D, 4, true},   {0x0E, 4, true},   {0x0F, 0, true},  {0x0C, 16, true},
                 {0x0A, 0, false}, {0xFF, 0, false},  {0x7F, 0, false}};
    const uint32_t head = 1 + sizeof "_id";
    int32_t counted = 0;
    if (length < 4 + head + 1 || memcmp(document + 5, "_id", sizeof "_id") != 0)
        return 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != document[4])
            continue;
        if (types[i].counted && length >= 4 + head + 4)
            memcpy(&counted, document + 4 + head, sizeof counted);
        const uint32_t all = head + types[i].bytes + (uint32_t)counted;
        return counted >= 0 && all <= length - 4 ? all : 0;
    }
    return 0;
}

uint64_t ask_id_hash(const uint8_t *document, uint32_t length) {
    const uint32_t id = id_length(document, length);
    return id ? XXH3_64bits(document + 4, id) : 0;
}

bool ask_same_id(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length) {
    const uint32_t id = id_length(a, a_length);
    return id && id == id_length(b, b_length) && memcmp(a + 4, b + 4, id) == 0;
}

static bool keep(ask_t *ask, asked_t *asked, const uint8_t *stored, uint32_t length, err_t *err) {
    if (!GROW(ask->kept, ask->kept_room, ask->kept_used + length, err))
        return false;
    memcpy(ask->kept + ask->kept_used, stored, length);
    asked->kept_at = ask->kept_used;
    asked->kept_length = length;
    ask->kept_used += length;
    return true;
}

static bool take_found(ask_t *ask, asked_t *asked, const uint8_t *stored, uint32_t stored_length,
                       err_t *err) {
    uint32_t length;
    const uint8_t *document = documents_at(ask->documents, asked->index, &length);
    if ((length == stored_length && memcmp(document, stored, length) == 0) ||
        (ask->accepts && ask->accepts(ask->context, asked->index, stored, stored_length)))
        asked->found = FOUND_SAME;
    else if (!asked->others++) {
        asked->found = asked->found == FOUND_SAME ? FOUND_SAME : FOUND_OTHER;
        return !ask->keeps || keep(ask, asked, stored, stored_length, err);
    }
    return true;
}

/* Returns the slot where the search for a document's `_id` begins; ASK_SLOTS: its type is not known. */
static uint32_t slot_of(const uint8_t *document, uint32_t length, uint32_t *id) {
    *id = id_length(document, length);
    return *id ? (uint32_t)XXH3_64bits(document + 4, *id) % ASK_SLOTS : ASK_SLOTS;
}

static void fill_table(ask_t *ask, uint32_t from, uint32_t to) {
    memset(ask->table, 0xff, sizeof ask->table);
    for (uint32_t i = from; i < to; i++) {
        uint32_t length, id;
        const uint8_t *document = documents_at(ask->documents, ask->asked[i].index, &length);
        uint32_t slot = slot_of(document, length, &id);
        if (!id)
            continue;
        while (ask->table[slot] != UINT32_MAX)
            slot = (slot + 1) % ASK_SLOTS;
        ask->table[slot] = i;
    }
}

/* Matches a stored document. Each shard may have one, and several may have been asked for with one `_id`. */
static bool find_asked(void *finder, const uint8_t *stored, uint32_t stored_length, err_t *err) {
    ask_t *ask = finder;
    uint32_t id;
    bool any = false;
    if (ask->to - ask->from == 1) /* whatever its bytes: 1 and 1.0 are one `_id` */
        return take_found(ask, &ask->asked[ask->from], stored, stored_length, err);
    uint32_t slot = slot_of(stored, stored_length, &id);
    for (; id && ask->table[slot] != UINT32_MAX; slot = (slot + 1) % ASK_SLOTS) {
        asked_t *asked = &ask->asked[ask->table[slot]];
        uint32_t length;
        const uint8_t *document = documents_at(ask->documents, asked->index, &length);
        if (id_length(document, length) != id || memcmp(document + 4, stored + 4, id) != 0)
            continue;
        if (!take_found(ask, asked, stored, stored_length, err))
            return false;
        any = true;
    }
    ask->strangers |= !any;
    return true;
}

/* Asks for [from, to) in one question, and again while the server is unreachable. */
static bool ask_some(ask_t *ask, uint32_t from, uint32_t to, err_t *err) {
    const wire_t *wire = ask->wire;
    const message_t message = {.all = ask->documents, .indexes = ask->indexes, .count = to - from};
    ask->from = from;
    ask->to = to;
    if (to - from > 1)
        fill_table(ask, from, to);
    for (;;) {
        for (uint32_t i = from; i < to; i++) {
            ask->asked[i].found = FOUND_NOTHING;
            ask->asked[i].others = 0;
            ask->indexes[i - from] = ask->asked[i].index;
        }
        const fetched_t fetched = wire->fetch(wire->context, &message, find_asked, ask, err);
        if (fetched != FETCH_AGAIN)
            return fetched == FETCHED;
        if (!wire->again(wire->context, NULL, err))
            return false;
    }
}

bool ask_all(ask_t *ask, const documents_t *documents, err_t *err) {
    ask->documents = documents;
    ask->strangers = false;
    for (uint32_t from = 0, to; from < ask->count; from = to) {
        to = from + AT_ONCE < ask->count ? from + AT_ONCE : ask->count;
        if (!ask_some(ask, from, to, err))
            return false;
    }
    for (uint32_t i = 0; ask->strangers && i < ask->count; i++)
        if (ask->asked[i].found == FOUND_NOTHING && !ask_some(ask, i, i + 1, err))
            return false;
    return true;
}

/* Writes an `_id` of a usual type for messages; "" for other types. */
static void print_id(const uint8_t *document, uint32_t length, char *text, size_t room) {
    const uint8_t *value = document + 5 + sizeof "_id";
    const uint32_t id = id_length(document, length);
    int64_t wide;
    int32_t narrow;
    char shown[60];
    size_t used = 0;
    text[0] = '\0';
    if (!id || id < 1 + sizeof "_id" + sizeof narrow)
        return;
    memcpy(&narrow, value, sizeof narrow);
    switch (document[4]) {
    case 0x12:
        memcpy(&wide, value, sizeof wide);
        snprintf(text, room, " (%lld)", (long long)wide);
        return;
    case 0x10:
        snprintf(text, room, " (%d)", narrow);
        return;
    case 0x02:
        escape_text(shown, sizeof shown, (const char *)value + 4, (size_t)narrow - 1);
        snprintf(text, room, " (\"%s\")", shown);
        return;
    case 0x07:
        used = (size_t)snprintf(text, room, " (ObjectId ");
        for (size_t i = 0; i < 12; i++)
            used += (size_t)snprintf(text + used, room - used, "%02x", value[i]);
        snprintf(text + used, room - used, ")");
    }
}

void ask_say_taken(char reason[WIRE_WORDS], const uint8_t *document, uint32_t length) {
    char id[80];
    print_id(document, length, id, sizeof id);
    snprintf(reason, WIRE_WORDS,
             "another document with its _id%s is in the collection, and it is not this one", id);
}
