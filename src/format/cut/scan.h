/* scan: finds where fields and rows end in a delimited text, 64 bytes at a time.
 *
 *     12|3||4\n   ends  2  4  5  7      (offsets of delimiters and line ends)
 *                 rows  4               (ends that belong to rows up to here)
 *
 * Quotes are only detected here: rows with quotes are read by split.h, and where quoted fields may contain line ends,
 * ends.h scans. A scan_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_CUT_SCAN_H
#define TIPPLE_FORMAT_CUT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between two bytes of a text, what the bytes before say; each is 0 or 1, but inside 0 or all bits. */
typedef struct {
    uint64_t inside;    /* of quotes */
    uint64_t starts;    /* a field begins */
    uint64_t closed;    /* a closing quote was the last byte, */
    uint64_t backslash; /* or a backslash */
} scan_quotes_t;

typedef struct {
    uint32_t *ends; /* room for every byte of the text, and SCAN_SLACK more */
    uint32_t *rows;
    uint32_t *row_quotes; /* how many quote characters there are from the start to each row's end */
    size_t end_count, row_count;
    uint32_t quote_count;
    bool high;           /* a byte above 0x7F was seen */
    bool quotes;         /* the quote character was seen */
    scan_quotes_t state; /* see ends.h */
} scan_t;

enum { SCAN_SLACK = 16 };

/* Scans text[from, to) and appends to scan. Reads up to 63 bytes after `to`. quote 0: none. */
typedef void scan_fn(const uint8_t *text, uint32_t from, uint32_t to, char delimiter, char quote,
                     scan_t *scan);

/* The fastest one for this CPU. */
scan_fn *scan_best(void);

/* Byte by byte: for CPUs without vectors, and to compare the others with in tests. */
scan_fn scan_plain;

#endif
