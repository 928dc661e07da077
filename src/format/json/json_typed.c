#include "format/json/json_typed.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <math.h>
#include <stdlib.h>

enum { DAY = 10, MINUTE = 16, MOST_DECIMALS = 9 }; /* bytes of YYYY-MM-DD, and of YYYY-MM-DDThh:mm */

static const char *const FORM =
    "a date is written like 2024-05-31T23:59:59.123Z or 2024-05-31T23:59:59+01:00";

/* Two digits, less than `below`. */
static bool two(const uint8_t *at, uint32_t below, int64_t *value) {
    const uint32_t tens = (uint32_t)at[0] - '0', ones = (uint32_t)at[1] - '0';
    *value = tens * 10 + ones;
    return tens <= 9 && ones <= 9 && *value < below;
}

/* Z, +hh:mm, +hhmm, or the same with -. */
static bool zone(const uint8_t *at, size_t length, int64_t *offset_ms) {
    int64_t hours, minutes;
    *offset_ms = 0;
    if (length == 1)
        return *at == 'Z';
    if ((length != 5 && length != 6) || (*at != '+' && *at != '-') || (length == 6 && at[3] != ':') ||
        !two(at + 1, 24, &hours) || !two(at + length - 2, 60, &minutes))
        return false;
    *offset_ms = (hours * 60 + minutes) * 60000 * (*at == '-' ? -1 : 1);
    return true;
}

/* The decimals of a second. Returns how many; more than MOST_DECIMALS: something is wrong. *ms is less than 0 if it
 * would lose some. */
static size_t decimals(const uint8_t *at, size_t left, int64_t *ms) {
    size_t count = 0;
    int64_t value = 0;
    bool lost = false;
    for (; count < left && at[count] >= '0' && at[count] <= '9'; count++) {
        if (count < 3)
            value = value * 10 + at[count] - '0';
        else
            lost |= at[count] != '0';
    }
    for (size_t i = count; i < 3; i++)
        value *= 10;
    *ms = lost ? -1 : value;
    return count ? count : MOST_DECIMALS + 1;
}

const char *json_date(const uint8_t *text, size_t length, json_date_form_t form, int64_t *ms) {
    int64_t day, hours, minutes, seconds = 0, fraction = 0, offset;
    if (length < DAY)
        return FORM;
    if (!calendar_iso(text, &day))
        return text[4] == '-' && text[7] == '-' ? "there is no such day" : FORM;
    *ms = day;
    if (length == DAY && form != JSON_DATE_FULL)
        return NULL;
    if (length < MINUTE || text[10] != 'T' || text[13] != ':')
        return FORM;
    if (!two(text + 11, 24, &hours) || !two(text + 14, 60, &minutes))
        return "there is no such time of day";
    size_t at = MINUTE;
    if (at < length && text[at] == ':') {
        if (length - at < 3)
            return FORM;
        if (!two(text + at + 1, 60, &seconds))
            return "there is no such time of day";
        at += 3;
        if (at < length && text[at] == '.') {
            const size_t count = decimals(text + at + 1, length - at - 1, &fraction);
            if (count > MOST_DECIMALS)
                return FORM;
            if (fraction < 0)
                return "a date is kept in milliseconds, and this one has more digits";
            at += 1 + count;
        }
    }
    if (at == length && form == JSON_DATE_NO_ZONE)
        offset = 0;
    else if (at == length || !zone(text + at, length - at, &offset))
        return "a date ends with Z, or with an offset like +01:00";
    *ms = day + (hours * 60 + minutes) * 60000 + seconds * 1000 + fraction - offset;
    return NULL;
}

enum { LONGEST_NUMBER = 400 };

bool json_vanishes(const uint8_t *text, size_t length, double value) {
    if (value != 0)
        return false;
    for (const uint8_t *at = text; at < text + length && *at != 'e' && *at != 'E'; at++)
        if (*at >= '1' && *at <= '9')
            return true;
    return false;
}

static bool room_for(json_value_t *json, size_t more) {
    return json_fits(json, more) || json_full(json, json->out + more);
}

bool json_put_oid(json_value_t *json, const json_quoted_t *text, uint8_t *type) {
    if (!hex_read_objectid(text->text, text->length, json->out, NULL))
        return json_reject(json, text->at, "an ObjectId is 24 hexadecimal digits");
    *type = BSON_TYPE_OID;
    json->out += HEX_OBJECTID;
    return true;
}

bool json_put_uuid(json_value_t *json, const json_quoted_t *text, uint8_t *type) {
    uint8_t *const bytes = json->out + 5;
    if (!hex_read_uuid(text->text, text->length, bytes, NULL))
        return json_reject(
            json, text->at,
            "a UUID is written like 01234567-89ab-cdef-0123-456789abcdef, in hexadecimal digits");
    *type = BSON_TYPE_BINARY;
    *bsonw_int32(json->out, HEX_UUID) = BSON_SUBTYPE_UUID;
    json->out = bytes + HEX_UUID;
    return true;
}

bool json_put_date_ms(json_value_t *json, int64_t ms, uint8_t *type) {
    *type = BSON_TYPE_DATE_TIME;
    json->out = bsonw_int64(json->out, ms);
    return true;
}

bool json_put_date(json_value_t *json, const json_quoted_t *date, json_date_form_t form, uint8_t *type) {
    int64_t ms;
    const char *wrong = json_date(date->text, date->length, form, &ms);
    if (wrong)
        return json_reject(json, date->at, "%s", wrong);
    return json_put_date_ms(json, ms, type);
}

/* ------------------------------------------------------------------------------------------------------ numbers */

bool json_whole(const json_quoted_t *digits, int64_t *value) {
    const uint8_t *const text = digits->text;
    const size_t length = digits->length, minus = length && text[0] == '-';
    if (length == minus || text[minus] < '0' || text[minus] > '9' || text[length - 1] < '0')
        return false;
    for (size_t i = minus; i < length; i++)
        if (text[i] != '0') /* -0 is no number of convert_int, but 0 is the same whole number */
            return convert_int(text, length, value);
    *value = 0;
    return true;
}

bool json_put_int(json_value_t *json, const json_quoted_t *digits, uint8_t *type) {
    int64_t value;
    if (!json_whole(digits, &value) || value < INT32_MIN || value > INT32_MAX)
        return json_reject(json, digits->at, "this is not a whole number of 32 bits");
    *type = BSON_TYPE_INT32;
    json->out = bsonw_int32(json->out, (int32_t)value);
    return true;
}

bool json_put_long(json_value_t *json, const json_quoted_t *digits, uint8_t *type) {
    int64_t value;
    if (!json_whole(digits, &value))
        return json_reject(json, digits->at, "this is not a whole number of 64 bits");
    *type = BSON_TYPE_INT64;
    json->out = bsonw_int64(json->out, value);
    return true;
}

static bool has_blank(const json_quoted_t *text) {
    return text->length && (text->text[0] == ' ' || text->text[text->length - 1] == ' ');
}

bool json_put_double(json_value_t *json, const json_quoted_t *number, uint8_t *type) {
    double value;
    if (json_is(number, "NaN"))
        value = NAN;
    else if (json_is(number, "Infinity"))
        value = INFINITY;
    else if (json_is(number, "-Infinity"))
        value = -INFINITY;
    else if (has_blank(number) || !convert_number(number->text, number->length, 0, &value) ||
             json_vanishes(number->text, number->length, value))
        return json_reject(json, number->at, "this is no double, nor NaN, Infinity or -Infinity");
    *type = BSON_TYPE_DOUBLE;
    json->out = bsonw_double(json->out, value);
    return true;
}

bool json_put_decimal(json_value_t *json, const json_quoted_t *number, uint8_t *type) {
    bson_decimal128_t value;
    char few[LONGEST_NUMBER]; /* of more, most are zeros, or it has too many digits */
    char *text = number->length < sizeof few ? few : malloc(number->length + 1);
    bool ok = text;
    if (ok) {
        memcpy(text, number->text, number->length);
        text[number->length] = '\0';
        ok = strlen(text) == number->length && bson_decimal128_from_string(text, &value);
    }
    if (text != few)
        free(text);
    if (!ok)
        return json_reject(json, number->at, "this is not a number of decimal128, which has 34 digits");
    *type = BSON_TYPE_DECIMAL128;
    json->out = bsonw_int64(json->out, (int64_t)value.low);
    json->out = bsonw_int64(json->out, (int64_t)value.high);
    return true;
}

bool json_put_timestamp(json_value_t *json, uint32_t seconds, uint32_t increment, uint8_t *type) {
    *type = BSON_TYPE_TIMESTAMP;
    json->out = bsonw_int64(json->out, (int64_t)((uint64_t)seconds << 32 | increment));
    return true;
}

/* ------------------------------------------------------------------------------------------------------- binary */

bool json_put_binary(json_value_t *json, const json_quoted_t *base64, uint8_t subtype, uint8_t *type) {
    if (!room_for(json, base64->length / 4 * 3))
        return false;
    uint8_t *const begin = json->out, *const data = begin + 5;
    const size_t twice = subtype == BSON_SUBTYPE_BINARY_DEPRECATED ? 4 : 0; /* its length is there again */
    const uint8_t *const end = base64_read(base64->text, base64->length, data + twice);
    if (!end)
        return json_reject(json, base64->at, "this is not base64");
    *type = BSON_TYPE_BINARY;
    bsonw_int32(begin, (int32_t)(end - data));
    begin[4] = subtype;
    if (twice)
        bsonw_int32(data, (int32_t)(end - data) - 4);
    json->out += end - begin;
    return true;
}

/* -------------------------------------------------------------------------------------------------------- texts */

bool json_put_string(json_value_t *json, const json_quoted_t *text) {
    if (!room_for(json, text->length + 5))
        return false;
    json->out = bsonw_string(json->out, text->text, text->length);
    return true;
}

bool json_put_cstring(json_value_t *json, const json_quoted_t *text) {
    if (memchr(text->text, 0, text->length))
        return json_reject(json, text->at, "this must not contain the character \\u0000");
    if (!room_for(json, text->length + 1))
        return false;
    memcpy(json->out, text->text, text->length);
    json->out += text->length;
    *json->out++ = 0;
    return true;
}

/* In the order of the alphabet, as BSON wants them. */
bool json_put_regex(json_value_t *json, const json_quoted_t *pattern, const json_quoted_t *options,
                    uint8_t *type) {
    static const char known[] = "ilmsux";
    for (size_t i = 0; i < options->length; i++)
        if (!options->text[i] || !strchr(known, options->text[i]))
            return json_reject(json, options->at, "the options of a regular expression are %s", known);
    if (!json_put_cstring(json, pattern))
        return false;
    for (const char *option = known; *option; option++)
        if (memchr(options->text, *option, options->length))
            *json->out++ = (uint8_t)*option;
    *json->out++ = 0;
    *type = BSON_TYPE_REGEX;
    return true;
}

/* ------------------------------------------------------------------------------------------ what they are made of */

static bool is_of_number(uint8_t byte) {
    return (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
           byte == 'E';
}

const uint8_t *json_item(json_value_t *json, const uint8_t *at, const char *sentence, json_item_t *item) {
    at = json_blanks(json, at);
    item->quoted = at < json->end && *at == '"';
    if (item->quoted)
        return json_quoted(json, at, sentence, &item->span);
    const uint8_t *const begin = at;
    while (at < json->end && is_of_number(*at))
        at++;
    item->span = (json_quoted_t){begin, (size_t)(at - begin), begin};
    const uint8_t *const digits = begin + (at > begin && *begin == '-');
    if (at - digits > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
        return json_reject(json, digits, "a number begins with 0");
    return at > digits && *digits >= '0' && *digits <= '9' ? at : json_reject(json, begin, "%s", sentence);
}

/* Exchanges two pieces that lie one behind the other. */
bool json_exchange(json_value_t *json, uint8_t *first, uint8_t *second, const uint8_t *end) {
    const size_t before = (size_t)(second - first), after = (size_t)(end - second);
    if (!GROW(json->moved, json->moved_room, after, NULL))
        return json_memory(json);
    memcpy(json->moved, second, after);
    memmove(first + after, first, before);
    memcpy(first, json->moved, after);
    return true;
}
