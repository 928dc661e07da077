/* number: a double in as few digits as read back the same. */
#ifndef TIPPLE_BASE_NUMBER_H
#define TIPPLE_BASE_NUMBER_H

enum { NUMBER_ROOM = 32 };

/* 12.067, -0, 5, 1e+22, inf, nan; returns out. */
char *number_print(char out[NUMBER_ROOM], double number);

#endif
