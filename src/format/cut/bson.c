#include "base/chars.h"
#include "format/cut/ends.h"
#include "format/values/values.h"

#include <string.h>

/* What follows the key of an element. 0: no element has this type. */
enum {
    BOOLEAN = 1,
    TEXT,    /* a length and the text with its zero */
    BINARY,  /* a length, a subtype and the bytes */
    NESTED,  /* a document */
    REGEX,   /* two keys */
    POINTER, /* a text and 12 bytes */
    SYMBOL,  /* as a text */
    SCOPED,  /* code with the document of its variables */
    FIXED,   /* and this number of bytes more than that */
};

static const uint8_t types[256] = {
    [0x01] = FIXED + 8, [0x02] = TEXT,       [0x03] = NESTED,    [0x04] = NESTED,     [0x05] = BINARY,
    [0x06] = FIXED,     [0x07] = FIXED + 12, [0x08] = BOOLEAN,   [0x09] = FIXED + 8,  [0x0A] = FIXED,
    [0x0B] = REGEX,     [0x0C] = POINTER,    [0x0D] = TEXT,      [0x0E] = SYMBOL,     [0x0F] = SCOPED,
    [0x10] = FIXED + 4, [0x11] = FIXED + 8,  [0x12] = FIXED + 8, [0x13] = FIXED + 16, [0x7F] = FIXED,
    [0xFF] = FIXED,
};

enum { OLD_BINARY = 2 }; /* a subtype, whose data begins with its length once more */

bool bson_walk_knows(uint8_t type) {
    return types[type] != 0;
}

typedef struct {
    const uint8_t *document;
    uint32_t at, end; /* of the innermost document; its zero is at end - 1 */
    uint32_t level, ends[BSON_WALK_LEVELS];
    bson_walk_t *walk;
} walker_t;

static bool broken(walker_t *walker, uint32_t at, const char *fault) {
    walker->walk->at = at;
    walker->walk->fault = fault;
    return false;
}

/* The bytes from `at` up to the zero before the place at hand. */
static __attribute__((noinline)) bool is_utf8(walker_t *walker, uint32_t at, const char *fault) {
    const uint8_t *const wrong = utf8_wrong(walker->document + at, walker->document + walker->at - 1);
    return !wrong || broken(walker, (uint32_t)(wrong - walker->document), fault);
}

/* Finds the zero of a key, which is before the end. */
INLINED bool find_zero(walker_t *walker) {
    const uint8_t *text = walker->document;
    uint32_t at = walker->at;
    for (; walker->end - at > 8; at += 8) {
        const uint64_t bytes = digits_load(text + at);
        const uint64_t zeros = (bytes - 0x0101010101010101u) & ~bytes & 0x8080808080808080u;
        if (zeros) {
            walker->at = at + (uint32_t)__builtin_ctzll(zeros) / 8 + 1;
            return true;
        }
    }
    for (; walker->end - at > 1; at++)
        if (!text[at]) {
            walker->at = at + 1;
            return true;
        }
    return broken(walker, walker->at, "a key has no end");
}

/* Passes a key with its zero. */
INLINED bool pass_key(walker_t *walker, bool utf8) {
    const uint32_t at = walker->at;
    return find_zero(walker) && (!utf8 || is_utf8(walker, at, "a key is not UTF-8"));
}

/* Passes a value of this number of bytes, after which the document has its zero at least. */
static bool pass(walker_t *walker, uint32_t bytes) {
    if (bytes >= walker->end - walker->at)
        return broken(walker, walker->at, "a value is longer than its document");
    walker->at += bytes;
    return true;
}

/* Takes the length of a value, which is at least this, and that number of bytes is there after its head, which holds the length. */
INLINED bool take_length(walker_t *walker, uint32_t least, uint32_t head, uint32_t *bytes) {
    const uint32_t left = walker->end - walker->at;
    *bytes = left > 4 ? bson_length(walker->document + walker->at) : 0;
    return (left > 4 && *bytes >= least && *bytes < left - head) ||
           broken(walker, walker->at, "the length of a value is none that fits into its document");
}

INLINED bool pass_text(walker_t *walker, bool utf8) {
    const uint32_t text = walker->at + 4;
    uint32_t bytes;
    if (!take_length(walker, 1, 4, &bytes))
        return false;
    walker->at = text + bytes;
    if (walker->document[walker->at - 1])
        return broken(walker, walker->at - 1, "a text does not end with a zero");
    return !utf8 || is_utf8(walker, text, "a text is not UTF-8");
}

static bool pass_binary(walker_t *walker) {
    const uint8_t *const value = walker->document + walker->at;
    uint32_t bytes;
    if (!take_length(walker, 0, 5, &bytes))
        return false;
    if (value[4] == OLD_BINARY && (bytes < 4 || bson_length(value + 5) != bytes - 4))
        return broken(walker, walker->at + 5,
                      "the second length of old binary data (subtype 2) is not that of its bytes");
    walker->at += 5 + bytes;
    return true;
}

/* The document at hand is within this one; `end` is where that has to end, 0: anywhere. */
static bool enter(walker_t *walker, uint32_t end) {
    const uint32_t at = walker->at;
    uint32_t bytes;
    if (!take_length(walker, BSON_LENGTH_LEAST, 0, &bytes))
        return false;
    if (walker->document[at + bytes - 1] || (end && at + bytes != end))
        return broken(walker, at + bytes - 1,
                      "a document within it does not end with a zero where it should");
    if (walker->level + 1 == BSON_WALK_LEVELS)
        return broken(walker, at, "it is nested deeper than the 180 levels that a server stores");
    walker->ends[walker->level++] = walker->end;
    walker->end = at + bytes;
    walker->at = at + 4;
    return true;
}

INLINED bool pass_value(walker_t *walker, uint32_t element, uint8_t follows, bool utf8) {
    const uint32_t at = walker->at;
    uint32_t bytes;
    switch (follows) {
    case BOOLEAN:
        return pass(walker, 1) &&
               (walker->document[at] <= 1 || broken(walker, at, "a boolean is neither 0 nor 1"));
    case TEXT:
        return pass_text(walker, utf8);
    case SYMBOL:
        if (!walker->walk->symbol)
            walker->walk->symbol = element;
        return pass_text(walker, utf8);
    case BINARY:
        return pass_binary(walker);
    case NESTED:
        return enter(walker, 0);
    case REGEX:
        return pass_key(walker, utf8) && pass_key(walker, utf8);
    case POINTER:
        return pass_text(walker, utf8) && pass(walker, 12);
    default:
        return take_length(walker, 4 + 5 + BSON_LENGTH_LEAST, 0, &bytes) && pass(walker, 4) &&
               pass_text(walker, utf8) && enter(walker, at + bytes);
    }
}

/* Instanced for both values of utf8, so that keys and texts cost nothing more where they need not be UTF-8. */
INLINED bool walk_all(const uint8_t *document, uint32_t length, bool utf8, bson_walk_t *walk) {
    static const uint8_t zeros[8];
    walker_t walker;
    walker.document = document;
    walker.at = 4;
    walker.end = length;
    walker.level = 0;
    walker.walk = walk;
    *walk = (bson_walk_t){.own_id = 0};
    for (;;) {
        const uint32_t element = walker.at;
        if (walk->own_id && !walk->own_id_end && !walker.level)
            walk->own_id_end = element;
        const uint8_t type = document[walker.at++], follows = types[type];
        if (!type && walker.at == walker.end) {
            if (!walker.level)
                return true;
            walker.end = walker.ends[--walker.level];
            continue;
        }
        if (!follows)
            return broken(&walker, element,
                          type ? "no element has this type" : "a document ends before its length says");
        if (!pass_key(&walker, utf8))
            return false;
        if (!walker.level && !walk->own_id && walker.at - element == 5 &&
            memcmp(document + element + 1, "_id", 4) == 0)
            walk->own_id = element;
        if (__builtin_expect(follows < FIXED, 0)) {
            if (!pass_value(&walker, element, follows, utf8))
                return false;
            continue;
        }
        if (!pass(&walker, (uint32_t)follows - FIXED))
            return false;
        if (__builtin_expect(type == 0x11, 0) && !walker.level && element != walk->own_id &&
            memcmp(document + walker.at - sizeof zeros, zeros, sizeof zeros) == 0)
            walk->replaced = element;
    }
}

bool bson_walk(const uint8_t *document, uint32_t length, bool utf8, bson_walk_t *walk) {
    return utf8 ? walk_all(document, length, true, walk) : walk_all(document, length, false, walk);
}

size_t bson_span_find(const uint8_t *text, size_t length, bool *lies) {
    *lies = false;
    if (length < 4)
        return 0;
    const uint32_t document = bson_length(text);
    *lies = !bson_length_may_be(document) || (document <= length && text[document - 1]);
    return *lies || document > length ? 0 : document;
}

uint64_t bson_span_count(bson_span_counter_t *counter, const uint8_t *text, size_t length) {
    uint64_t count = 0;
    for (size_t at = 0, passed; at < length; at += passed) {
        passed = counter->left < length - at ? counter->left : length - at;
        if (counter->have < 4) {
            counter->head[counter->have++] = text[at];
            const uint32_t document = bson_length(counter->head);
            counter->left = bson_length_may_be(document) ? document - 4 : UINT32_MAX;
            passed = 1;
        } else if (!(counter->left -= (uint32_t)passed)) {
            counter->have = 0;
            count++;
        }
    }
    return count;
}

/* Of a document that is only there in part: its first element has a known type and a key of text. An empty one may be UTF-16. */
static bool begins_with_element(const uint8_t *text, size_t length) {
    if (length < 6 || !bson_walk_knows(text[4]))
        return false;
    const uint8_t *key = text + 5, *end = memchr(key, 0, length - 5);
    return end && *key >= ' ' && utf8_valid(key, (size_t)(end - key));
}

bool bson_span_begins(const uint8_t *text, size_t length) {
    bool lies;
    bson_walk_t walk;
    const size_t document = bson_span_find(text, length, &lies);
    if (lies || length < BSON_LENGTH_LEAST)
        return false;
    return document ? bson_walk(text, (uint32_t)document, false, &walk) : begins_with_element(text, length);
}
