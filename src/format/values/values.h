/* values: texts of single values and what they mean, in both directions, without the C library for the usual cases: digits,
 * whole numbers, doubles and decimals, marks of other countries, hexadecimal digits and base64, dates and their patterns, and
 * encodings. The functions keep no state, and any thread may call them. Functions that read may read up to 8 bytes after
 * the text: buffers have POOL_SLACK for that. */
#ifndef TIPPLE_FORMAT_VALUES_VALUES_H
#define TIPPLE_FORMAT_VALUES_VALUES_H

#include "base/text.h"
#include "base/zone.h"

#include <bson/bson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* ---- digits, eight at a time in a word ---- */

/* For functions of hot loops, which the compiler makes anew for each set of constants. */
#define INLINED __attribute__((always_inline)) static inline

static const uint64_t DIGITS_ZEROS = 0x3030303030303030ull;

/* The powers of ten that 64 bits hold. */
static const uint64_t digits_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

static inline uint64_t digits_load(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* The value of eight digits in a word; the first digit is in the lowest byte; '0' is already subtracted from each. */
static inline uint32_t digits_value(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)((((digits & 0x000000FF000000FFull) * 0x000F424000000064ull) +
                       (((digits >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
                      32);
}

static inline bool digits_is_one(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* Writes the last digits of a number, as many as `width`. */
static inline uint8_t *digits_write(uint8_t *out, size_t width, uint64_t value) {
    for (size_t i = width; i; i--, value /= 10)
        out[i - 1] = (uint8_t)('0' + value % 10);
    return out + width;
}

/* Is every byte of a word (after xor with '0') 0 to 9? */
static inline bool digits_only(uint64_t digits) {
    return ((digits | (digits + 0x7676767676767676ull)) & 0x8080808080808080ull) == 0;
}

/* How many of the first bytes of a word (after xor with '0') are digits. */
static inline size_t digits_count(uint64_t digits) {
    const uint64_t others = (digits | (digits + 0x7676767676767676ull)) & 0x8080808080808080ull;
    return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

/* How many of the first bytes of a word are digits, or signs that are below the digits in ASCII. */
static inline size_t digits_before_letter(uint64_t word) {
    const uint64_t others = (word | (word + 0x4646464646464646ull)) & 0x8080808080808080ull;
    return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

/* ---- convert ----
 *
 * Numbers and their texts, without libc for the usual cases: whole numbers, doubles, decimals, and
 * the marks with which other countries write them (1.234,56 is the plain number 1234.56). A number is read only if it keeps
 * all of its digits, and printed so that it reads back as the same number. Functions that read may read up to 8 bytes after
 * the text: buffers have POOL_SLACK for that. */

/* 1 to 16 plain digits and nothing else: the usual case. */
static inline bool convert_digits(const uint8_t *text, size_t length, uint64_t *value) {
    if (length - 1 < 8) {
        uint64_t digits = (digits_load(text) ^ DIGITS_ZEROS) << (8 * (8 - length));
        *value = digits_value(digits);
        return digits_only(digits);
    }
    if (length - 9 < 8) {
        uint64_t low = digits_load(text + length - 8) ^ DIGITS_ZEROS;
        uint64_t high = (digits_load(text) ^ DIGITS_ZEROS) << (8 * (16 - length));
        *value = (uint64_t)digits_value(high) * 100000000u + digits_value(low);
        return digits_only(low) && digits_only(high);
    }
    return false;
}

/* True if the number keeps all that its text has: no zero in front of another digit, no plus sign, and no exponent but one with
 * a sign, or after a fraction. Blanks around it do not count. */
bool convert_is_exact(const uint8_t *text, size_t length);

/* Any whole number that fits in int64, with blanks around it, a sign, and zeros in front. Not "-0": printing the number
 * would lose the sign. */
bool convert_int(const uint8_t *text, size_t length, int64_t *value);
size_t convert_print_int(int64_t value, uint8_t *out); /* at most 20 bytes */

/* digits * 10^scale where both of them are exact: only one rounding, so it is the nearest double. */
extern const double convert_powers[];
static inline bool convert_scaled(uint64_t digits, long scale, double *value) {
    if (digits > 1ull << 53 || scale < -22 || scale > 22)
        return false;
    *value = scale < 0 ? (double)digits / convert_powers[-scale] : (double)digits * convert_powers[scale];
    return true;
}

/* A decimal number, exactly the double nearest to text / 10^divide. No inf, nan or hexadecimal, and no number of which nothing
 * but 0 would be left. */
bool convert_number(const uint8_t *text, size_t length, int divide, double *value);
/* The same, but false if the double is printed with other digits: then it has not room for all of them. */
bool convert_kept(const uint8_t *text, size_t length, int divide, double *value);
/* The shortest text that reads back as this double times 10^divide; at most CONVERT_PRINTED bytes. */
enum { CONVERT_PRINTED = 40 };
size_t convert_print_number(double value, int divide, uint8_t *out);

/* ---- decimals ---- */

enum {
    DECIMAL_LEAST = -6176, /* the exponents of 128 bits */
    DECIMAL_MOST = 6111,
    DECIMAL_PRINTED = BSON_DECIMAL128_STRING,
};

/* A sign, digits with a point or without, an exponent; blanks around. The decimal has the same digits, also the zeros at the
 * end, and the exponent divided by 10^divide. False: it is no number, or has more than 34 digits or no such exponent. */
bool decimal_read(const uint8_t *text, size_t length, int divide, bson_decimal128_t *decimal);

/* The text of what decimal_read reads, which reads back as the same decimal. Returns its length. */
size_t decimal_print(bson_decimal128_t decimal, int divide, uint8_t out[DECIMAL_PRINTED]);

/* Neither infinite nor NaN. */
static inline bool decimal_is_number(const bson_decimal128_t *decimal) {
    return (decimal->high >> 61 & 3) != 3;
}

/* Less than, equal to, or more than 0, by the values of two numbers: 1.0 equals 1, and -0 equals 0. */
int decimal_compare(const bson_decimal128_t *a, const bson_decimal128_t *b);

/* ---- numbers with a decimal comma, or with marks between the thousands, as plain ones and back ---- */

enum { NUMERAL_LONGEST = 500 };

typedef struct {
    char point; /* before the fraction: '.' or ',' */
    char mark;  /* between groups of three digits; 0: none */
} numeral_t;

/* Writes the plain number, without blanks around it, into `out`; it is no longer than the text. False: marks stand elsewhere, or
 * the text is too long. What is no number stays none. */
bool numeral_read(const numeral_t *numeral, const uint8_t *text, size_t length, uint8_t out[NUMERAL_LONGEST],
                  size_t *size);

/* Writes a plain number as we print it, with marks. A third longer at most, and one byte. */
size_t numeral_write(const numeral_t *numeral, const uint8_t *plain, size_t length, uint8_t *out);

/* Leaves out the spaces around a text. Tabs stay. */
static inline void blanks_trim(const uint8_t **text, size_t *length) {
    while (*length && (*text)[0] == ' ')
        ++*text, --*length;
    while (*length && (*text)[*length - 1] == ' ')
        --*length;
}

/* ---- hex ----
 *
 * Bytes as texts and back: hexadecimal digits, ObjectIds, UUIDs, and base64. */

enum { HEX_OBJECTID = 12, HEX_UUID = 16, HEX_UUID_TEXT = 36 };

/* One or two digits. */
bool hex_read_byte(const uint8_t *text, size_t length, uint8_t *out);

/* Any even number of digits, into half as many bytes. capital: its letters are; without letters it is false. They must all
 * be small or all capital; NULL: they may be mixed. */
bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital);
/* Two digits a byte, in small letters. Returns how many there are. */
size_t hex_print(const uint8_t *bytes, size_t count, uint8_t *out);

/* 32 digits in groups of 8, 4, 4, 4 and 12, with a dash between them. */
bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital);
size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], uint8_t *out);

/* A text with = to a multiple of four, as it is written of these bytes and of no others. `out` has room for three bytes
 * of each four. Returns the end of what is written, or NULL: it is not base64. */
uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out);

/* Writes four bytes for each three of them, the last ones with =, and a NUL. Returns the end, where the NUL is. */
uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out);

/* ---- calendar ----
 *
 * Dates of the proleptic Gregorian calendar, from year 0. Functions that read text may read up to 8 bytes
 * after it: buffers have POOL_SLACK for that. */

/* Days since 1970-01-01; false: there is no such date. */
bool calendar_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days);

typedef struct {
    uint32_t year, month, day;
} date_t;

/* The date that is this many days after 1970-01-01; false: before year 0 or after year 9999. */
bool calendar_date(int64_t days, date_t *date);

/* YYYY-MM-DDThh:mm, perhaps with :ss and .fff, then Z or an offset like +01:00 or +0100; without zoned, neither means Z. False:
 * it is no such moment, or milliseconds do not keep its digits. */
bool calendar_moment(const uint8_t *text, size_t length, bool zoned, int64_t *ms);

/* Milliseconds since 1970; false: there is no such date. */
bool calendar_rare(uint32_t year, uint32_t month, uint32_t day, int64_t *ms);

/* YYYY-MM-DD, 10 bytes; it must be a real date. Fast for 1901 to 2099, where every fourth year is a leap year. */
static inline bool calendar_iso(const uint8_t *text, int64_t *ms) {
    static const uint8_t month_days[16] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};
    static const uint16_t before[16] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 0, 0, 0};
    uint16_t last;
    memcpy(&last, text + 8, 2);
    /* after xor with '0' or '-', each byte is a digit or out of range; a hyphen is 0 */
    const uint64_t first = digits_load(text) ^ 0x2D30302D30303030ull;
    const uint64_t digits =
        (first & 0xFFFFFFFF) | (first >> 8 & 0xFFFF00000000) | (uint64_t)(last ^ 0x3030) << 48;
    if (__builtin_expect((first & 0xFF0000FF00000000ull) || !digits_only(digits), 0))
        return false;
    const uint64_t pairs = digits * 10 + (digits >> 8); /* each of two digits, in every second byte */
    const uint32_t year = (uint32_t)(pairs & 0xFF) * 100 + (uint32_t)(pairs >> 16 & 0xFF);
    const uint32_t month = (uint32_t)(pairs >> 32 & 0xFF), day = (uint32_t)(pairs >> 48 & 0xFF);
    const uint32_t leap = (year & 3) == 0;
    if (__builtin_expect(
            year - 1901 > 198 || month > 12 || day - 1 >= month_days[month] + (leap & (month == 2)), 0))
        return calendar_rare(year, month, day, ms);
    int32_t days = ((int32_t)year - 1970) * 365 + (((int32_t)year - 1901) >> 2) - 17 + before[month] +
                   (int32_t)(leap & (month > 2)) + (int32_t)day - 1;
    *ms = (int64_t)days * 86400000;
    return true;
}

/* ---- pattern ----
 *
 * Dates by a pattern such as "DD/MM/YYYY hh:mm". Where a part has several texts for one value (letters, offsets), the
 * first of them is written: Jan, AM, Z. */

enum {
    PATTERN_LONGEST = 40,
    PATTERN_PRINTED = 64, /* bytes of a printed date, at most */
};

/* A part of a date, such as the day in two digits, or a character between two parts. */
typedef struct {
    uint8_t how;         /* it is written; 0: it is the character `literal` */
    uint8_t what;        /* it means: year, hour, ... */
    uint8_t width, most; /* characters of the pattern, and digits of the date at most */
    uint8_t literal;
} pattern_part_t;

typedef struct {
    pattern_part_t parts[PATTERN_LONGEST];
    uint8_t count;
    uint8_t length; /* of the text, unless it varies */
    bool varies;    /* it has parts without a full width */
    bool iso;       /* it begins with YYYY-MM-DD?hh:mm:ss, which is read fast */
    bool half_days; /* with AM or PM */
    bool rounds;    /* to milliseconds */
    bool local;     /* it has an hour, and names no zone: neither ZZ, nor Z, UTC, GMT or + after the hour */
    uint16_t epoch; /* milliseconds of the unit that is counted since 1970, in place of all parts; 0: none */
    /* of the clocks that a local pattern shows; NULL: UTC. Set by the owner of the pattern */
    const zone_t *zone;
} pattern_t;

/* NULL, or what is wrong with the pattern, after which there is a zero. */
const char *pattern_compile(const char *text, size_t length, pattern_t *pattern);

/* Milliseconds since 1970, and how often the clocks of its zone showed the text. ZONE_NEVER: it is not a real date of this pattern. */
zone_times_t pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms);

/* Returns how many bytes it wrote. 0: the pattern cannot show this moment (its year, its finer parts, or the second of two hours
 * that look alike). */
size_t pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out);

/* ---- encoding ----
 *
 * Text of one byte a character, as UTF-8. */

/* windows-1252 is Latin-1 except for the bytes 80 to 9f: 27 of them are characters, five are none. The numbers stand in the
 * digests of formats. */
typedef enum {
    ENCODING_NONE,           /* UTF-8 */
    ENCODING_UTF8_OR_LATIN1, /* by the value: one that is UTF-8 stays, of another each byte is a character */
    ENCODING_UTF8_OR_WINDOWS_1252, /* so, too */
    ENCODING_LATIN1,               /* each byte is a character, */
    ENCODING_WINDOWS_1252,         /* also where they could be UTF-8 */
    ENCODING_WINDOWS_1252_NOT_UTF8, /* the same, but a value that could be UTF-8 is doubted: nobody has said which */
    ENCODINGS
} encoding_t;

/* As a format file calls it; "utf-8" for none. */
extern const char *const encoding_names[ENCODINGS];

/* Does UTF-8 stay as it is? */
static inline bool encoding_keeps_utf8(encoding_t encoding) {
    return encoding <= ENCODING_UTF8_OR_WINDOWS_1252;
}

bool encoding_is_ascii(const uint8_t *text, size_t length);

/* Is this text one whose bytes are to be made characters, and can be? */
bool encoding_converts(encoding_t encoding, const uint8_t *text, size_t length);

/* Could it be UTF-8, too, where that is doubted? */
bool encoding_doubts(encoding_t encoding, const uint8_t *text, size_t length);

enum { ENCODING_MOST_BYTES = 3 /* of UTF-8 for one byte, in any encoding */ };
/* The same in this encoding. */
size_t encoding_most_bytes(encoding_t encoding);

/* One byte as UTF-8, into ENCODING_MOST_BYTES bytes; returns how many. 0: the byte is no character. */
size_t encoding_character(encoding_t encoding, uint8_t byte, uint8_t *out);

/* Are all bytes characters? Not with ENCODING_NONE. */
bool encoding_is(encoding_t encoding, const uint8_t *text, size_t length);

/* Writes at most ENCODING_MOST_BYTES * length bytes of a text that is one; returns how many. */
size_t encoding_to_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length);

/* Appends a text in UTF-8: one that does not convert stays as it is. */
void encoding_append(text_t *to, encoding_t encoding, const uint8_t *text, size_t length);

/* The other way: writes at most `length` bytes of a text of UTF-8 as the encoding has them. SIZE_MAX: it has no such
 * character. */
size_t encoding_from_utf8(encoding_t encoding, uint8_t *out, const uint8_t *text, size_t length);

/* Is the text these words of UTF-8, written in the encoding? False for what is UTF-8, and kept by the encoding. any_case: ASCII
 * letters match in any case. */
bool encoding_writes(encoding_t encoding, const char *words, size_t count, const uint8_t *text, size_t length,
                     bool any_case);

/* The same, or the very words. */
static inline bool encoding_same(encoding_t encoding, const char *words, size_t count, const uint8_t *text,
                                 size_t length, bool any_case) {
    if (count == length && (!length || encoding_keeps_utf8(encoding)) &&
        (any_case ? strncasecmp(words, (const char *)text, length) : memcmp(words, text, length)) == 0)
        return true;
    return encoding && length && encoding_writes(encoding, words, count, text, length, any_case);
}

/* ---- other encodings, of which whoever reads a text makes UTF-8 ---- */

/* True if iconv reads text of this encoding, and each byte stands for itself: in an encoding with shift states a single
 * damaged byte would damage all the rest. False also for UTF-8 and UTF-16, which are recognised in the text, for "", which
 * is the locale's, and for names with //IGNORE, by which characters would be lost. */
bool encoding_iconv_knows(const char *encoding);

#endif
