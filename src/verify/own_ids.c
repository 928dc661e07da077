/* Where `_id`s are the data's own: a hash that equal ones share, the `_id`s that were found, and the last record of
 * each. */
#include "verify/own_ids.h"
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- the hash of an `_id` ---- */

static uint64_t hash_as(char kind, const void *bytes, size_t length) {
    const uint64_t hash = XXH3_64bits_withSeed(bytes, length, (uint64_t)kind);
    return hash ? hash : 1;
}

static uint64_t hash_number(double value) {
    const int64_t whole = value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : 0;
    if ((double)whole == value)
        return hash_as('n', &whole, sizeof whole);
    if (isnan(value))
        return hash_as('N', "", 0);
    return hash_as('d', &value, sizeof value);
}

/* "-12.50E+3" as its sign, the digits 125, and the exponent 2 of the last digit. */
typedef struct {
    char digits[48];
    size_t count;
    long exponent;
    bool negative;
} plain_number_t;

static void read_plain(const char *text, plain_number_t *number) {
    const char *e = strpbrk(text, "eE");
    bool fraction = false;
    *number = (plain_number_t){.exponent = e ? strtol(e + 1, NULL, 10) : 0, .negative = *text == '-'};
    for (; *text && text != e; text++) {
        fraction |= *text == '.';
        if (*text < '0' || *text > '9' || number->count == sizeof number->digits)
            continue;
        number->exponent -= fraction;
        if (number->count || *text != '0')
            number->digits[number->count++] = *text;
    }
    for (; number->count && number->digits[number->count - 1] == '0'; number->exponent++)
        number->digits[--number->count] = '\0';
}

/* A decimal that equals a double exactly has the double's hash, because to the server both are one `_id`. */
static uint64_t hash_digits(const char *text) {
    plain_number_t number, other;
    char exact[96];
    double value;
    number_read(text, strlen(text), &value);
    read_plain(text, &number);
    number_print_digits(exact, sizeof exact, 40, value);
    read_plain(exact, &other);
    if (isfinite(value) && number.negative == other.negative && number.exponent == other.exponent &&
        number.count == other.count && memcmp(number.digits, other.digits, number.count) == 0)
        return hash_number(value);
    const int used = snprintf(exact, sizeof exact, "%c%.48se%ld", number.negative ? '-' : '+', number.digits,
                              number.exponent);
    return hash_as('D', exact, (size_t)used);
}

/* Exact, because a decimal has more digits and larger exponents than any number of the machine. */
static bool is_whole(const plain_number_t *number, int64_t *whole) {
    enum { MOST_DIGITS = 19 };
    const uint64_t most = (uint64_t)INT64_MAX + number->negative;
    uint64_t value = 0;
    *whole = 0;
    if (!number->count)
        return true;
    if (number->exponent < 0 || number->exponent > MOST_DIGITS - (long)number->count)
        return false;
    for (size_t i = 0; i < number->count + (size_t)number->exponent; i++)
        value = 10 * value + (i < number->count ? (uint64_t)(number->digits[i] - '0') : 0);
    *whole = (int64_t)(number->negative ? -value : value);
    return value <= most;
}

static uint64_t hash_decimal(const bson_iter_t *id) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    plain_number_t number;
    int64_t whole;
    double value;
    if (!bson_iter_decimal128(id, &decimal))
        return 1;
    bson_decimal128_to_string(&decimal, text);
    if (!strpbrk(text, "0123456789"))
        return number_read(text, strlen(text), &value), hash_number(value); /* NaN or Infinity */
    read_plain(text, &number);
    return is_whole(&number, &whole) ? hash_as('n', &whole, sizeof whole) : hash_digits(text);
}

/* Any other value: its type and bytes. */
static uint64_t hash_bytes(const bson_iter_t *id) {
    bson_t alone = BSON_INITIALIZER;
    element_append(&alone, "", id);
    const uint64_t hash = hash_as('v', bson_get_data(&alone), alone.len);
    bson_destroy(&alone);
    return hash;
}

uint64_t id_hash_of(const bson_iter_t *id) {
    int64_t whole;
    switch (bson_iter_type(id)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        whole = bson_iter_as_int64(id);
        return hash_as('n', &whole, sizeof whole);
    case BSON_TYPE_DOUBLE:
        return hash_number(bson_iter_double(id));
    case BSON_TYPE_DECIMAL128:
        return hash_decimal(id);
    default:
        return hash_bytes(id);
    }
}

uint64_t id_hash(const uint8_t *document, uint32_t length) {
    bson_t whole;
    bson_iter_t id;
    return bson_init_static(&whole, document, length) && element_of(&whole, "_id", &id) ? id_hash_of(&id) : 0;
}

/* ---- what was found ---- */

bool verified_ids_note(verified_ids_t *ids, uint64_t hash, err_t *err) {
    if (!GROW(ids->hashes, ids->room, ids->count + 1, err))
        return false;
    ids->hashes[ids->count++] = hash;
    return true;
}

bool verified_ids_await(verified_ids_t *ids, const awaited_fix_t *fix, err_t *err) {
    if (!GROW(ids->awaited, ids->awaited_room, ids->awaited_count + 1, err))
        return false;
    ids->awaited[ids->awaited_count++] = *fix;
    return true;
}

bool verified_ids_add(verified_ids_t *to, const verified_ids_t *from, err_t *err) {
    if (!GROW(to->hashes, to->room, to->count + from->count, err) ||
        !GROW(to->awaited, to->awaited_room, to->awaited_count + from->awaited_count, err))
        return false;
    for (size_t i = 0; i < from->count; i++)
        to->hashes[to->count++] = from->hashes[i];
    for (size_t i = 0; i < from->awaited_count; i++)
        to->awaited[to->awaited_count++] = from->awaited[i];
    return true;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static int by_hash(const void *a, const void *b) {
    return by_number(&((const awaited_fix_t *)a)->hash, &((const awaited_fix_t *)b)->hash);
}

void verified_ids_sort(verified_ids_t *ids) {
    size_t kept = 0;
    if (ids->count)
        qsort(ids->hashes, ids->count, sizeof *ids->hashes, by_number);
    for (size_t i = 0; i < ids->count; i++)
        if (!kept || ids->hashes[i] != ids->hashes[kept - 1])
            ids->hashes[kept++] = ids->hashes[i];
    ids->count = kept;
    if (ids->awaited_count)
        qsort(ids->awaited, ids->awaited_count, sizeof *ids->awaited, by_hash);
}

bool verified_ids_has(const verified_ids_t *ids, uint64_t hash) {
    return ids->count && bsearch(&hash, ids->hashes, ids->count, sizeof hash, by_number);
}

bool verified_ids_take(const verified_ids_t *ids, uint64_t content) {
    const size_t first = SEARCH_FIRST(ids->awaited_count, i, ids->awaited[i].hash < content);
    size_t at = first;
    for (; at < ids->awaited_count && ids->awaited[at].hash == content; at++)
        ids->awaited[at].found = true;
    return at > first;
}

bool verified_ids_tell_missing(const verified_ids_t *ids, differences_t *differences, err_t *err) {
    for (size_t i = 0; i < ids->awaited_count; i++) {
        difference_t missing = ids->awaited[i].missing;
        if (!ids->awaited[i].found &&
            (!difference_say_why(&missing, "the document that it was fixed to", err) ||
             !differences_add(differences, &missing, err)))
            return false;
    }
    return true;
}

/* ---- the last record of an `_id` ---- */

enum { NO_DETAIL = UINT32_MAX };

bool last_wins_note(last_wins_t *last, const last_record_t *record, const difference_t *detail, err_t *err) {
    difference_t owned = detail ? *detail : (difference_t){.file = 0};
    if (!GROW(last->records, last->room, last->count + 1, err) ||
        (detail && !GROW(last->details, last->detail_room, last->detail_count + 1, err))) {
        difference_free(&owned);
        return false;
    }
    last_record_t *noted = &last->records[last->count++];
    *noted = *record;
    noted->detail = detail ? (uint32_t)last->detail_count : NO_DETAIL;
    if (detail)
        last->details[last->detail_count++] = owned;
    return true;
}

bool last_wins_move(last_wins_t *to, last_wins_t *from, err_t *err) {
    if (!GROW(to->records, to->room, to->count + from->count, err) ||
        !GROW(to->details, to->detail_room, to->detail_count + from->detail_count, err))
        return false;
    for (size_t i = 0; i < from->count; i++) {
        last_record_t record = from->records[i];
        record.detail += record.detail == NO_DETAIL ? 0 : (uint32_t)to->detail_count;
        to->records[to->count++] = record;
    }
    for (size_t i = 0; i < from->detail_count; i++)
        to->details[to->detail_count++] = from->details[i];
    from->count = from->detail_count = 0;
    return true;
}

void last_wins_clear(last_wins_t *last) {
    for (size_t i = 0; i < last->detail_count; i++)
        difference_free(&last->details[i]);
    last->count = last->detail_count = 0;
}

void last_wins_free(last_wins_t *last) {
    last_wins_clear(last);
    free(last->records);
    free(last->details);
    *last = (last_wins_t){.count = 0};
}

#define BEFORE(a, b) (((a) > (b)) - ((a) < (b)))

static int by_place(const void *a, const void *b, void *ordinals) {
    const last_record_t *left = a, *right = b;
    const uint32_t *of = ordinals;
    return left->hash != right->hash   ? BEFORE(left->hash, right->hash)
           : left->file != right->file ? BEFORE(of[left->file], of[right->file])
                                       : BEFORE(left->offset, right->offset);
}

static bool report(last_wins_t *last, const last_record_t *record, const char *const *names,
                   differences_t *differences, err_t *err) {
    difference_t difference = {.kind =
                                   record->found == LAST_MISSING ? DIFFERENCE_MISSING : DIFFERENCE_CHANGED,
                               .file = record->file,
                               .name = names[record->file],
                               .offset = record->offset,
                               .end = record->offset + 1,
                               .records = 1,
                               .nameless = true};
    if (record->detail != NO_DETAIL) {
        difference = last->details[record->detail];
        last->details[record->detail] = (difference_t){.file = 0};
    }
    return differences_add(differences, &difference, err);
}

bool last_wins_judge(last_wins_t *last, const uint32_t *ordinals, const char *const *names, bool all,
                     differences_t *differences, last_judged_t *judged, err_t *err) {
    *judged = (last_judged_t){.equal = 0};
    if (last->count)
        qsort_r(last->records, last->count, sizeof *last->records, by_place, (void *)ordinals);
    for (size_t i = 0; i < last->count; i++) {
        const last_record_t *record = &last->records[i];
        const bool later = i + 1 < last->count && record[1].hash == record->hash;
        if (later)
            judged->superseded++;
        else if (record->found == LAST_EQUAL)
            judged->equal++;
        else if (record->found == LAST_CHANGED && !all)
            judged->undecided++;
        else if (!report(last, record, names, differences, err))
            return false;
    }
    return true;
}
