#include "format/guess/column/guess_name.h"
#include "format/values/digits.h"

#include <string.h>

/* Of ASCII, whatever the locale of the program is. */
static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_same_word(const char *word, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((is_letter((unsigned char)text[i]) ? text[i] | 0x20 : text[i]) != word[i])
            return false;
    return true;
}

/* Written like_this or likeThis, with parts of some letters; digits only at a part's end. */
static bool is_joined(const char *text, size_t length) {
    size_t parts = 1;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i], before = i ? text[i - 1] : '_';
        const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
        if ((!digit && !lower && !upper && c != '_') || ((lower || upper) && before >= '0' && before <= '9'))
            return false;
        parts += (c == '_' && i) || (upper && before >= 'a' && before <= 'z');
    }
    return parts > 1 && length >= 3 * parts;
}

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && is_same_word(words[i], text, length))
            return true;
    return false;
}

bool guess_is_known_word(const char *text, size_t length) {
    static const char *const words[] = {
        "id",        "name",      "date",     "time",    "code",     "type",      "city",        "country",
        "state",     "status",    "email",    "phone",   "address",  "title",     "price",       "amount",
        "count",     "total",     "value",    "year",    "month",    "day",       "description", "note",
        "notes",     "comment",   "text",     "key",     "label",    "category",  "url",         "first name",
        "last name", "number",    "quantity", "zip",     "region",   "gender",    "lat",         "lon",
        "latitude",  "longitude", "company",  "user",    "data",     "timestamp", "role",        "group",
        "username",  "firstname", "lastname", "surname", "street",   "postcode",  "department",  "position",
        "salary",    "age",       "brand",    "model",   "colour",   "color",     "size",        "weight",
        "height",    "product",   "item",     "order",   "customer", "client",    "supplier",    "sku",
        "currency",  "language",  "version",  "host",    "message",  "level",     "event",       "action",
        "result",    "score",     "source",   "target",  "src",      "dst",       "start",       "end",
        "from",      "to",        "datum",    "ip",      "share",    "cost",      "file",        "path",
        "birthday",  "firma",     "nombre",   "nom",     "prix",     "preis",     "ort",         "stadt",
        "land",      "vorname",   "nachname", "strasse", "plz",      "telefon",   "menge",       "anzahl",
        "betrag",    "ville",     "pays",     "adresse", "prenom",   "fecha",     "ciudad"};
    return is_one_of(words, sizeof words / sizeof *words, text, length);
}

bool guess_is_column_word(const char *text, size_t length) {
    return guess_is_known_word(text, length) || is_joined(text, length);
}

/* A further number, as in Q1_1, is a part of a name behind _ only: Jan 3 2020, P1Y2M and 5x10 are values. */
static size_t count_numbers(const char *text, size_t length) {
    size_t numbers = 0;
    bool joined = false, plain = true;
    for (size_t i = 0; i < length; i++) {
        const bool digit = digits_is_one((unsigned char)text[i]);
        joined |= text[i] == '_';
        plain &= digit || is_letter((unsigned char)text[i]) || text[i] == '_';
        if (!digit || (i && digits_is_one((unsigned char)text[i - 1])))
            continue;
        numbers += !numbers || !joined || !plain;
        joined = false;
    }
    return numbers;
}

/* Consumption April 2014 - March 2015 */
static bool has_long_word(const char *text, size_t length) {
    enum { LONG = 6, MOST_OF_A_VALUE = 16 };
    size_t letters = 0, longest = 0;
    for (size_t i = 0; i < length; i++) {
        letters = is_letter((unsigned char)text[i]) ? letters + 1 : 0;
        longest = letters > longest ? letters : longest;
    }
    return length > MOST_OF_A_VALUE && longest >= LONG;
}

bool guess_means_nothing(const char *text, size_t length) {
    static const char *const words[] = {
        "none",      "null",     "inf",       "infinity", "tbd",       "tba",     "tbc",       "nil",
        "nan",       "na",       "n/a",       "n.a.",     "n/d",       "n.d.",    "s/d",       "unknown",
        "undefined", "undef",    "missing",   "empty",    "blank",     "offline", "nothing",   "no data",
        "no value",  "not set",  "not known", "unset",    "k.a.",      "k. a.",   "n.v.",      "n. v.",
        "keine",     "keiner",   "keines",    "kein",     "leer",      "fehlt",   "unbekannt", "nichts",
        "inconnu",   "inconnue", "aucun",     "aucune",   "vide",      "ninguno", "ninguna",   "vacio",
        "sin datos", "nessuno",  "nessuna",   "geen",     "onbekend",  "brak",    "nenhum",    "(null)",
        "(none)",    "(empty)",  "(blank)",   "(leer)",   "(unknown)", "<null>",  "<none>",    "<na>",
        "[null]",    "#n/a",     "#null!",    "#value!",  "#ref!",     "#div/0!", "#num!",     "#name?",
        "\\n"};
    bool signs = length > 0;
    for (; length && text[length - 1] == ' '; length--)
        ;
    for (; length && *text == ' '; length--)
        text++;
    if (is_one_of(words, sizeof words / sizeof *words, text, length))
        return true;
    for (size_t i = 0; i < length; i++)
        signs &= strchr("-?._*/", text[i]) && text[i];
    return signs;
}

bool guess_is_name_like(const char *text, size_t length) {
    if (length > 2 && *text == '<' && text[length - 1] == '>' && !guess_means_nothing(text, length))
        return guess_is_name_like(text + 1, length - 2); /* <DATE> */
    if (length > 2 && *text == '#' && text[1] == ' ')
        return guess_is_name_like(text + 2, length - 2); /* # energy */
    const unsigned char first = length ? (unsigned char)*text : 0,
                        next = length > 1 ? (unsigned char)text[1] : 0;
    const bool sign = first == 0xC2 || (first == 0xE2 && next <= 0x84); /* such as a pound, a dash, a euro */
    return !guess_means_nothing(text, length) &&
           (is_letter(first) || first == '_' || (first >= 0x80 && !sign)) &&
           (count_numbers(text, length) < 2 || has_long_word(text, length));
}

static bool is_year(const char *digits, size_t count) {
    return count == 4 && strncmp(digits, "1800", 4) >= 0 && strncmp(digits, "2200", 4) <= 0;
}

static size_t count_digits(const char *text, size_t length) {
    size_t count = 0;
    while (count < length && digits_is_one((unsigned char)text[count]))
        count++;
    return count;
}

bool guess_is_period(const char *text, size_t length) {
    size_t years = 0, parts = 0;
    for (size_t i = 0, count; i < length; i += count ? count : 1) {
        count = count_digits(text + i, length - i);
        if (!count && (!text[i] || !strchr("-/ QWMHS", text[i])))
            return false;
        const bool year = is_year(text + i, count);
        if (count > 2 && !year)
            return false;
        years += year;
        parts += count > 0;
    }
    return parts == 2 && years == 1;
}

bool guess_is_numbered_alike(const char *one, size_t length, const char *other, size_t other_length) {
    size_t at = 0, other_at = 0, numbers = 0, letters = 0;
    while (at < length && other_at < other_length) {
        const size_t digits = count_digits(one + at, length - at),
                     others = count_digits(other + other_at, other_length - other_at);
        if (!digits != !others || (!digits && one[at] != other[other_at]))
            return false;
        numbers += digits > 0;
        letters += is_letter((unsigned char)one[at]);
        at += digits ? digits : 1;
        other_at += digits ? others : 1;
    }
    return at == length && other_at == other_length && numbers && letters;
}
