#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

char *number_print(char out[NUMBER_ROOM], double number) {
    /* fewer digits than 15 are told by zeros at the end, which %g leaves out; but the smallest doubles have fewer */
    int digits = number != 0 && fabs(number) < DBL_MIN ? 1 : 15;
    do {
        snprintf(out, NUMBER_ROOM, "%.*g", digits, number);
    } while (digits++ < 17 && strtod(out, NULL) != number && !isnan(number));
    return out;
}
