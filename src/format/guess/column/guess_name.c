#include "format/guess/column/guess_name.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <string.h>

enum { LONGEST_WORD = 16 };

/* Each word stands between two bars, in small letters. */
static const char known_words[] =
    "|id|name|date|time|code|type|city|country|state|status|email|phone|address|title|price|amount|count|"
    "total|value|year|month|day|description|note|notes|comment|text|key|label|category|url|first name|"
    "last name|number|quantity|zip|region|gender|lat|lon|latitude|longitude|company|user|data|timestamp|"
    "role|group|username|firstname|lastname|surname|street|postcode|department|position|salary|age|brand|"
    "model|colour|color|size|weight|height|product|item|order|customer|client|supplier|sku|currency|"
    "language|version|host|message|level|event|action|result|score|source|target|src|dst|start|end|from|"
    "to|datum|ip|share|cost|file|path|birthday|firma|nombre|nom|prix|preis|ort|stadt|land|vorname|"
    "nachname|strasse|plz|telefon|menge|anzahl|betrag|ville|pays|adresse|prenom|fecha|ciudad|";
static const char nothing_words[] =
    "|none|null|inf|infinity|tbd|tba|tbc|nil|nan|na|n/a|n.a.|n/d|n.d.|s/d|unknown|undefined|undef|"
    "missing|empty|blank|offline|nothing|no data|no value|not set|not known|unset|k.a.|k. a.|n.v.|n. v.|"
    "keine|keiner|keines|kein|leer|fehlt|unbekannt|nichts|inconnu|inconnue|aucun|aucune|vide|ninguno|"
    "ninguna|vacio|sin datos|nessuno|nessuna|geen|onbekend|brak|nenhum|(null)|(none)|(empty)|(blank)|"
    "(leer)|(unknown)|<null>|<none>|<na>|[null]|#n/a|#null!|#value!|#ref!|#div/0!|#num!|#name?|\\n|";

/* Of ASCII, whatever the locale of the program is. */
static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(const char *words, const char *text, size_t length) {
    char word[LONGEST_WORD + 3] = "|";
    if (!length || length > LONGEST_WORD || memchr(text, '|', length) || memchr(text, 0, length))
        return false;
    for (size_t i = 0; i < length; i++)
        word[1 + i] = (char)(is_letter((unsigned char)text[i]) ? text[i] | 0x20 : text[i]);
    word[1 + length] = '|';
    return strstr(words, word) != NULL;
}

bool guess_is_known_word(const char *text, size_t length) {
    return is_one_of(known_words, text, length);
}

/* True for a word like_this or likeThis, of parts with three characters on average, and digits only at the end of a part. */
static bool is_joined(const char *text, size_t length) {
    size_t parts = 1;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i], before = i ? text[i - 1] : '_';
        const bool letter = is_letter((unsigned char)c), upper = letter && c <= 'Z';
        if ((!digits_is_one((uint8_t)c) && !letter && c != '_') || (letter && digits_is_one((uint8_t)before)))
            return false;
        parts += (c == '_' && i) || (upper && before >= 'a' && before <= 'z');
    }
    return parts > 1 && length >= 3 * parts;
}

bool guess_is_column_word(const char *text, size_t length) {
    return guess_is_known_word(text, length) || is_joined(text, length);
}

/* True for a word, or signs, for a missing value: "unknown", "k.A.", "-", "#N/A". */
static bool means_nothing(const char *text, size_t length) {
    const uint8_t *word = (const uint8_t *)text;
    blanks_trim(&word, &length);
    size_t signs = 0;
    while (signs < length && memchr("-?._*/", word[signs], 6))
        signs++;
    return (signs && signs == length) || is_one_of(nothing_words, (const char *)word, length);
}

bool guess_is_name_like(const char *text, size_t length) {
    if (length > 2 && *text == '<' && text[length - 1] == '>' && !means_nothing(text, length))
        return guess_is_name_like(text + 1, length - 2); /* <DATE> */
    size_t letters = 0, digits = 0, numbers = 0;
    for (size_t i = 0; i < length; i++) {
        const bool digit = digits_is_one((uint8_t)text[i]);
        letters += is_letter((unsigned char)text[i]);
        digits += digit;
        /* 12 of Q1_12 is a part of the name; 2020 of Jan 3 2020 is not */
        numbers += digit && (!i || !digits_is_one((uint8_t)text[i - 1])) && (!numbers || text[i - 1] != '_');
    }
    const unsigned char first = length ? (unsigned char)*text : 0,
                        next = length > 1 ? (unsigned char)text[1] : 0;
    const bool sign = first == 0xC2 || (first == 0xE2 && next <= 0x84); /* such as a pound, a dash, a euro */
    return !means_nothing(text, length) && (is_letter(first) || first == '_' || (first >= 0x80 && !sign)) &&
           (numbers < 2 || letters >= 2 * digits);
}

bool guess_is_period(const char *text, size_t length) {
    bool is = length > 5 && length <= 8 && memcmp(text, "1800", 4) >= 0 && memcmp(text, "2200", 4) <= 0;
    for (size_t i = 0; is && i < length; i++)
        is = i == 4 ? memchr("-/ QWMHS", text[i], 8) != NULL
                    : digits_is_one((uint8_t)text[i]) || (i > 4 && memchr("QWMHS", text[i], 5));
    return is;
}
