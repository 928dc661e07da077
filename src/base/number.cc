#include "base/numbers.h"

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

/* From 1e-4 to below 10^15, and beyond while there are more digits than that, a number is printed without an exponent. */
static constexpr size_t USUAL_DIGITS = 15;

/* In these a point is a point, whatever the process has set. */
static locale_t points() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    return made;
}

size_t number_read(const char *text, size_t length, double *number) {
    const char *const begin = length > 1 && *text == '+' && text[1] != '-' ? text + 1 : text;
    const std::from_chars_result result = std::from_chars(begin, text + length, *number);
    if (result.ec == std::errc::result_out_of_range) /* then *number is as it was */
        *number = strtod_l(std::string(begin, result.ptr).c_str(), nullptr, points());
    return result.ptr == begin ? 0 : static_cast<size_t>(result.ptr - text);
}

/* Not by std::from_chars: libc++ has none for a long double. */
size_t number_read_long(const char *text, size_t length, long double *number) {
    double nearest;
    const size_t read = number_read(text, length, &nearest);
    if (read)
        *number = strtold_l(std::string(text, read).c_str(), nullptr, points());
    return read;
}

size_t number_shortest(double number, char digits[NUMBER_DIGITS], int *exponent) {
    char text[NUMBER_ROOM] = {}; /* d.ddde+xx */
    const char *const end =
        std::to_chars(text, text + sizeof text, std::fabs(number), std::chars_format::scientific).ptr;
    const char *const power = end - (end[-4] == 'e' ? 4 : 5);
    const size_t after = power > text + 2 ? static_cast<size_t>(power - text) - 2 : 0;
    digits[0] = *text;
    std::memcpy(digits + 1, text + 2, NUMBER_DIGITS - 1);
    std::memset(digits + 1 + after, '0', NUMBER_DIGITS - 1 - after);
    *exponent = 0;
    for (const char *at = power + 2; at < end; at++)
        *exponent = *exponent * 10 + (*at - '0');
    *exponent = power[1] == '-' ? -*exponent : *exponent;
    return 1 + after;
}

char *number_print(char out[NUMBER_ROOM], double number) {
    char digits[NUMBER_DIGITS];
    int exponent = 0;
    const size_t count = std::isfinite(number) ? number_shortest(number, digits, &exponent) : 0;
    const bool plain = exponent >= -4 && exponent < static_cast<int>(std::max(count, USUAL_DIGITS));
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    *std::to_chars(out, out + NUMBER_ROOM - 1, number, format).ptr = '\0';
    return out;
}

void number_print_digits(char *out, size_t room, int digits, double number) {
    *std::to_chars(out, out + room - 1, number, std::chars_format::scientific, digits).ptr = '\0';
}
