/* Numbers and dates from texts and back: whatever is taken must be what libc or a plain reading makes of it,
 * and must come back when it is printed. The first byte is the division ('0' to '9'); a line end parts a date
 * pattern from a date. */
#include "format/values/values.h"
#include "format_laws.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_int(const uint8_t *text, size_t length) {
    int64_t value, again;
    uint64_t digits = 0;
    uint8_t out[32];
    bool is = convert_int(text, length, &value);
    bool plain = length >= 1 && length <= 16;
    for (size_t i = 0; i < length; i++)
        plain &= text[i] >= '0' && text[i] <= '9';
    if (length && length <= 16)
        LAW(convert_digits(text, length, &digits) == plain, text, length, text, length);
    LAW(!plain || (is && (uint64_t)value == digits), text, length, text, length);
    if (!is)
        return;
    size_t printed = convert_print_int(value, out);
    LAB_MUST(printed <= 20);
    memset(out + printed, '7', sizeof out - printed);
    LAW(convert_int(out, printed, &again) && again == value, text, length, out, printed);
}

/* [+-] digits and at most one point, at least one digit, perhaps an exponent. */
static bool is_decimal(const char *text) {
    size_t at = *text == '+' || *text == '-', digits = 0, points = 0;
    for (; (text[at] >= '0' && text[at] <= '9') || (text[at] == '.' && !points); at++) {
        points += text[at] == '.';
        digits += text[at] != '.';
    }
    if (!digits)
        return false;
    if (text[at] == 'e' || text[at] == 'E') {
        at++;
        at += text[at] == '+' || text[at] == '-';
        if (text[at] < '0' || text[at] > '9')
            return false;
        while (text[at] >= '0' && text[at] <= '9')
            at++;
    }
    return !text[at];
}

static void try_number(const uint8_t *text, size_t length, int divide) {
    double value = 0, again = 0;
    uint8_t out[64];
    bool is = convert_number(text, length, divide, &value);
    char copy[400], shifted[500];
    size_t from = 0, to = length;
    while (from < to && text[from] == ' ')
        from++;
    while (to > from && text[to - 1] == ' ')
        to--;
    if (to - from >= sizeof copy)
        return;
    memcpy(copy, text + from, to - from);
    copy[to - from] = '\0';
    bool decimal = strlen(copy) == to - from && is_decimal(copy);
    LAW(decimal || !is, text, length, text, length);
    if (decimal) {
        char *exponent = strpbrk(copy, "eE");
        long power = exponent ? strtol(exponent + 1, NULL, 10) : 0;
        power = power > 1000000 ? 1000000 : power < -1000000 ? -1000000 : power;
        snprintf(shifted, sizeof shifted, "%.*se%ld", exponent ? (int)(exponent - copy) : (int)strlen(copy),
                 copy, power - divide);
        double expected = strtod(shifted, NULL);
        const bool vanishes = expected == 0 && strcspn(copy, "123456789") < strcspn(copy, "eE");
        LAW(is == (isfinite(expected) && !vanishes), text, length, text, length);
        LAW(!is || memcmp(&expected, &value, sizeof value) == 0, text, length, text, length);
    }
    if (!is)
        return;
    size_t printed = convert_print_number(value, divide, out);
    LAB_MUST(printed <= 40);
    memset(out + printed, '7', sizeof out - printed);
    /* times 10^divide the largest ones have no such text */
    if (fabs(value) < 1e298)
        LAW(convert_number(out, printed, divide, &again) && memcmp(&again, &value, sizeof value) == 0, text,
            length, out, printed);
}

static bool same_bits(const bson_decimal128_t *a, const bson_decimal128_t *b) {
    return a->low == b->low && a->high == b->high;
}

/* A decimal has all digits of its text, as libbson reads it; and a double that is kept, too. */
static void try_decimal(const uint8_t *text, size_t length, int divide) {
    bson_decimal128_t decimal, again, theirs;
    double value;
    uint8_t out[DECIMAL_PRINTED + CONVERT_PRINTED];
    const bool is = decimal_read(text, length, 0, &decimal),
               kept = convert_kept(text, length, divide, &value);
    size_t from = 0, to = length, digits = 0;
    for (; from < to && text[from] == ' '; from++)
        ;
    for (; to > from && text[to - 1] == ' '; to--)
        ;
    char *copy = strndup((const char *)text + from, to - from);
    LAB_MUST(copy);
    const bool number = strlen(copy) == to - from && is_decimal(copy);
    for (const char *at = copy; *at && *at != 'e' && *at != 'E'; at++)
        digits += *at >= '0' && *at <= '9';
    LAW(number || (!is && !kept), text, length, text, length);
    LAW(is || !number || digits > 34 || strpbrk(copy, "eE"), text, length, text, length);
    if (is && digits <= 15 && strlen(copy) < 20 && !strpbrk(copy, "eE"))
        LAW(kept, text, length, text, length);
    if (kept && is && decimal_read(text, length, divide, &decimal) && fabs(value) < 1e298) {
        size_t printed = convert_print_number(value, 0, out);
        LAW(decimal_read(out, printed, 0, &again) && decimal_compare(&again, &decimal) == 0, text, length,
            out, printed);
    }
    if (is && decimal_read(text, length, 0, &decimal)) {
        const size_t printed = decimal_print(decimal, 0, out);
        LAB_MUST(printed <= DECIMAL_PRINTED);
        LAW(decimal_read(out, printed, 0, &again) && same_bits(&again, &decimal), text, length, out, printed);
        LAW(bson_decimal128_from_string(copy, &theirs) && same_bits(&theirs, &decimal), text, length, out,
            printed);
    }
    free(copy);
}

/* What is printed with marks and commas is read as the same number. */
static void try_numeral(const uint8_t *text, size_t length) {
    static const numeral_t ways[] = {{',', 0}, {',', '.'}, {'.', ','}, {'.', '\''}, {',', ' '}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint8_t plain[NUMERAL_LONGEST], printed[DECIMAL_PRINTED], written[2 * DECIMAL_PRINTED],
            again[NUMERAL_LONGEST];
        size_t size, again_size;
        bson_decimal128_t decimal;
        if (!numeral_read(&ways[i], text, length, plain, &size))
            continue;
        LAW(size <= length, text, length, plain, size);
        if (!decimal_read(plain, size, 0, &decimal))
            continue;
        const size_t is = decimal_print(decimal, 0, printed);
        const size_t wrote = numeral_write(&ways[i], printed, is, written);
        LAW(numeral_read(&ways[i], written, wrote, again, &again_size), text, length, written, wrote);
        LAW(again_size == is && memcmp(again, printed, is) == 0, text, length, written, wrote);
    }
}

static void try_hex(const uint8_t *text, size_t length) {
    uint8_t bytes[HEX_UUID], out[HEX_UUID_TEXT];
    bool capital;
    if (length == 2 * HEX_OBJECTID && hex_read(text, length, bytes, &capital))
        LAW(hex_print(bytes, HEX_OBJECTID, out) == length && (capital || memcmp(out, text, length) == 0),
            text, length, out, length);
    if (hex_read_uuid(text, length, bytes, &capital))
        LAW(hex_print_uuid(bytes, out) == length && (capital || memcmp(out, text, length) == 0), text, length,
            out, length);
}

static void try_date(const uint8_t *text, size_t length) {
    static const char *const usual = "YYYY-MM-DD";
    const uint8_t *end = length ? memchr(text, '\n', length) : NULL;
    pattern_t pattern, iso;
    int64_t ms, again;
    uint8_t out[PATTERN_PRINTED];
    if (length >= 10) {
        LAB_MUST(!pattern_compile(usual, 10, &iso));
        bool is = pattern_read(&iso, text, 10, &ms);
        LAW(calendar_iso(text, &again) == is && (!is || again == ms), text, length, text, 10);
    }
    if (!end)
        return;
    char *copy =
        strndup((const char *)text, (size_t)(end - text)); /* patterns come from texts with a NUL after */
    LAB_MUST(copy);
    const char *problem = pattern_compile(copy, strlen(copy), &pattern);
    const uint8_t *date = end + 1;
    size_t date_length = length - (size_t)(date - text);
    if (!problem) {
        LAB_MUST(pattern.length < PATTERN_LONGEST + 1);
        if (pattern_read(&pattern, date, date_length, &ms)) {
            LAW(pattern.varies || date_length == pattern.length, text, length, date, date_length);
            const size_t again_length = pattern_write(&pattern, ms, out);
            LAW(pattern.varies || strstr(copy, "SSSu") ||
                    (again_length == date_length && memcmp(out, date, date_length) == 0),
                date, date_length, out, again_length);
            /* a zone moves the hours; a pattern without hours has no other way to write that moment */
            const bool no_hours = !again_length && !strchr(copy, 'h') && ms % 86400000;
            LAW(no_hours ||
                    (again_length && pattern_read(&pattern, out, again_length, &again) && again == ms),
                date, date_length, out, again_length);
        }
    } else {
        LAB_MUST(problem[0]);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    slack_t slack = slack_new(data + 1, size - 1);
    try_int(slack.text, slack.length);
    try_number(slack.text, slack.length, (uint8_t)(data[0] - '0') % 10);
    try_decimal(slack.text, slack.length, (uint8_t)(data[0] - '0') % 10);
    try_numeral(slack.text, slack.length);
    try_hex(slack.text, slack.length);
    try_date(slack.text, slack.length);
    slack_free(&slack);
    return 0;
}
