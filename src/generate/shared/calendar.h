/* calendar: dates by the number of their day since 1 January 1970. */
#ifndef TIPPLE_GENERATE_SHARED_CALENDAR_H
#define TIPPLE_GENERATE_SHARED_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int32_t year, month, day, yearday; /* the last from 0 */
} date_t;

static inline bool calendar_is_leap(int32_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int32_t calendar_days_in(int32_t year, int32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && calendar_is_leap(year));
}

/* The day of 1 January. */
static inline int32_t calendar_new_year(int32_t year) {
    int32_t past = year - 1;
    return past * 365 + past / 4 - past / 100 + past / 400 - 719162;
}

static inline date_t calendar_date(int32_t day) {
    date_t date = {.year = 1970 + day / 366, .month = 1};
    while (calendar_new_year(date.year) > day)
        date.year--;
    while (calendar_new_year(date.year + 1) <= day)
        date.year++;
    date.yearday = day - calendar_new_year(date.year);
    date.day = date.yearday + 1;
    for (; date.day > calendar_days_in(date.year, date.month); date.month++)
        date.day -= calendar_days_in(date.year, date.month);
    return date;
}

#endif
