#include "format/values/calendar.h"

static const uint16_t days_before[2][13] = {{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
                                            {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366}};

static bool leap(uint32_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The date must be a real one. */
static int32_t count_days(uint32_t year, uint32_t month, uint32_t day) {
    /* leap days before this year, counted so that year 0 (a leap year) is no special case */
    uint32_t leaps = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    return (int32_t)(year * 365 + leaps + days_before[leap(year)][month - 1] + day - 1) - 719528;
}

bool calendar_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days) {
    if (month - 1 > 11 ||
        day - 1 >= (uint32_t)(days_before[leap(year)][month] - days_before[leap(year)][month - 1]))
        return false;
    *days = count_days(year, month, day);
    return true;
}

bool calendar_date(int64_t days, date_t *date) {
    const int64_t since_zero = days + 719528;
    if (since_zero < 0 || since_zero >= 3652425)
        return false;
    uint32_t year = (uint32_t)(since_zero * 400 / 146097), month = 1;
    while (count_days(year + 1, 1, 1) <= days)
        year++;
    while (count_days(year, 1, 1) > days)
        year--;
    const uint32_t in_year = (uint32_t)(days - count_days(year, 1, 1));
    while (days_before[leap(year)][month] <= in_year)
        month++;
    *date = (date_t){year, month, in_year - days_before[leap(year)][month - 1] + 1};
    return true;
}

bool calendar_any_iso(const uint8_t *text, int64_t *ms) {
    /* "YYYY-MM-" minus '0': a dash is xored with a dash, which gives 0 */
    uint64_t digits = digits_load(text) ^ 0x2D30302D30303030ull;
    uint8_t tens = (uint8_t)(text[8] - '0'), ones = (uint8_t)(text[9] - '0');
    if (!digits_only(digits) || tens > 9 || ones > 9 || text[4] != '-' || text[7] != '-')
        return false;
    uint32_t year = (uint32_t)(digits & 0xF) * 1000 + (uint32_t)(digits >> 8 & 0xF) * 100 +
                    (uint32_t)(digits >> 16 & 0xF) * 10 + (uint32_t)(digits >> 24 & 0xF);
    uint32_t month = (uint32_t)(digits >> 40 & 0xF) * 10 + (uint32_t)(digits >> 48 & 0xF);
    int32_t days;
    if (!calendar_days(year, month, (uint32_t)tens * 10 + ones, &days))
        return false;
    *ms = (int64_t)days * 86400000;
    return true;
}
