#include "format/guess/column/guess_dates.h"
#include "format/values/calendar.h"
#include "format/values/pattern.h"

#include <pthread.h>
#include <string.h>

/* The first seven are those of the type datetime (schema_read.c); of the others an earlier one is preferred. */
static const date_pattern_t patterns[] = {
    {"YYYY-MM-DD", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ssZ", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm:ss", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSZ", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm:ss.SSS", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSS", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss.SSSSSS", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSS", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSSZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ssZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ssZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss ZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSSZZ", ORDER_SURE, '-', false},
    /* UTC, said in the text */
    {"YYYY-MM-DD hh:mm:ss+00", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss UTC", ORDER_SURE, '-', false},
    {"YYYY/MM/DD", ORDER_SURE, '/', false},
    {"YYYY/MM/DD hh:mm", ORDER_SURE, '/', false},
    {"YYYY/MM/DD hh:mm:ss", ORDER_SURE, '/', false},
    {"YYYY.MM.DD", ORDER_SURE, '.', false},
    {"YYYYMMDD", ORDER_SURE, 0, true},
    {"YYYYMMDDhhmmss", ORDER_SURE, 0, true},
    /* nobody writes the month first here */
    {"DD.MM.YYYY", ORDER_DMY, '.', false},
    {"DD.MM.YYYY hh:mm", ORDER_DMY, '.', false},
    {"DD.MM.YYYY hh:mm:ss", ORDER_DMY, '.', false},
    {"D.M.YYYY", ORDER_DMY, '.', false},
    {"DD MON YYYY", ORDER_SURE, ' ', false},
    {"DD-MON-YYYY", ORDER_SURE, ' ', false},
    {"D MON YYYY", ORDER_SURE, ' ', false},
    {"DD-MON-YY", ORDER_SURE, ' ', false},
    {"MON D, YYYY", ORDER_SURE, ' ', false},
    {"MONTH D, YYYY", ORDER_SURE, ' ', false},
    {"DD/MON/YYYY:hh:mm:ss ZZ", ORDER_SURE, ' ', false},
    {"DD/MM/YYYY", ORDER_DMY, '/', false},
    {"MM/DD/YYYY", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm:ss", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm:ss", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm:ss A", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm:ss A", ORDER_MDY, '/', false},
    {"DD-MM-YYYY", ORDER_DMY, '-', false},
    {"MM-DD-YYYY", ORDER_MDY, '-', false},
    {"DD-MM-YYYY hh:mm", ORDER_DMY, '-', false},
    {"MM-DD-YYYY hh:mm", ORDER_MDY, '-', false},
    {"DD-MM-YYYY hh:mm:ss", ORDER_DMY, '-', false},
    {"MM-DD-YYYY hh:mm:ss", ORDER_MDY, '-', false},
    {"D/M/YYYY", ORDER_DMY, '/', false},
    {"M/D/YYYY", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm:ss", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm:ss", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm A", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm A", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm:ss A", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm:ss A", ORDER_MDY, '/', false},
    {"DD/MM/YY", ORDER_DMY, '/', false},
    {"MM/DD/YY", ORDER_MDY, '/', false},
    {"YY/MM/DD", ORDER_YMD, '/', false},
    {"DD/MM/YY hh:mm", ORDER_DMY, '/', false},
    {"MM/DD/YY hh:mm", ORDER_MDY, '/', false},
    {"YY/MM/DD hh:mm", ORDER_YMD, '/', false},
    {"DD/MM/YY hh:mm:ss", ORDER_DMY, '/', false},
    {"MM/DD/YY hh:mm:ss", ORDER_MDY, '/', false},
    {"YY/MM/DD hh:mm:ss", ORDER_YMD, '/', false},
    {"DD.MM.YY", ORDER_DMY, '.', false}, /* with a year of two digits it may be that which is first */
    {"YY.MM.DD", ORDER_YMD, '.', false},
    {"DD-MM-YY", ORDER_DMY, '-', false},
    {"MM-DD-YY", ORDER_MDY, '-', false},
    {"YY-MM-DD", ORDER_YMD, '-', false},
    {"DD-MM-YY hh:mm", ORDER_DMY, '-', false},
    {"MM-DD-YY hh:mm", ORDER_MDY, '-', false},
    {"YY-MM-DD hh:mm", ORDER_YMD, '-', false},
    {"DD-MM-YY hh:mm:ss", ORDER_DMY, '-', false},
    {"MM-DD-YY hh:mm:ss", ORDER_MDY, '-', false},
    {"YY-MM-DD hh:mm:ss", ORDER_YMD, '-', false},
    {"D/M/YY", ORDER_DMY, '/', false},
    {"M/D/YY", ORDER_MDY, '/', false},
    {"D/M/YY h:mm", ORDER_DMY, '/', false},
    {"M/D/YY h:mm", ORDER_MDY, '/', false},
    {"D/M/YY h:mm:ss", ORDER_DMY, '/', false},
    {"M/D/YY h:mm:ss", ORDER_MDY, '/', false},
    {"D/M/YY h:mm A", ORDER_DMY, '/', false},
    {"M/D/YY h:mm A", ORDER_MDY, '/', false},
    {"D/M/YY h:mm:ss A", ORDER_DMY, '/', false},
    {"M/D/YY h:mm:ss A", ORDER_MDY, '/', false},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns, LEAST_DIGITS = 3 /* 1/2/2003 has more */ };
_Static_assert((int)PATTERNS <= (int)GUESS_MOST_PATTERNS, "a bit for each");

static pattern_t compiled[PATTERNS];
static date_set_t known;

static void compile(void) {
    for (size_t i = 0; i < PATTERNS; i++)
        if (!pattern_compile(patterns[i].text, strlen(patterns[i].text), &compiled[i]))
            known |= (date_set_t)1 << i;
}

size_t guess_pattern_count(void) {
    return PATTERNS;
}

const date_pattern_t *guess_pattern(size_t at) {
    return &patterns[at];
}

/* Eight digits that are a day of these years are hardly anything else. */
static bool is_of_our_time(int64_t ms) {
    const int64_t day = 86400000;
    return ms >= -25567 * day && ms < 47482 * day; /* 1900 to 2099 */
}

date_set_t guess_dates(date_set_t among, const uint8_t *text, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    date_set_t found = 0;
    uint8_t padded[PATTERN_LONGEST + 16] = {0}; /* it is read a little past its end */
    pthread_once(&once, compile);
    size_t digits = 0;
    if (length < 6 || length >= PATTERN_LONGEST)
        return 0;
    for (size_t i = 0; i < length; i++)
        digits += text[i] >= '0' && text[i] <= '9';
    if (digits < LEAST_DIGITS)
        return 0;
    memcpy(padded, text, length);
    for (date_set_t left = among & known; left; left &= left - 1) {
        const size_t i = guess_first_date(left);
        int64_t ms;
        if (pattern_read(&compiled[i], padded, length, &ms) && (!patterns[i].digits || is_of_our_time(ms)))
            found |= (date_set_t)1 << i;
    }
    return found;
}
