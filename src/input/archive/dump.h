/* dump: the documents between which an archive of mongodump (`--archive`) puts those of its collections.
 *
 *     6d e2 99 81   facts  {db, collection, metadata, type}...  -1       what is in it
 *     {db, collection, EOF: false, CRC: 0}  documents...  -1             a block: some documents of one collection
 *     {db, collection, EOF: true, CRC}  -1                               it is whole; the CRC-64 is of all its documents
 *
 * -1 is four bytes ff. Blocks of several collections come in any order. */
#ifndef TIPPLE_INPUT_ARCHIVE_DUMP_H
#define TIPPLE_INPUT_ARCHIVE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#define DUMP_MAGIC "\x6d\xe2\x99\x81"
enum { DUMP_MAGIC_BYTES = sizeof DUMP_MAGIC - 1, DUMP_NAME = 512 /* a namespace has 255 bytes at most */ };
static const uint32_t dump_terminator = 0xffffffff;

typedef struct {
    char name[DUMP_NAME]; /* "db.collection"; of what belongs to no database ".collection" */
    bool ends;            /* EOF */
    uint64_t crc;
    char type[32];        /* "collection", "view", "timeseries", or empty */
    const char *metadata; /* JSON; within the document; NULL: none */
} dump_header_t;

/* Reads such a document. False: it is another one. */
bool dump_header_read(const uint8_t *document, uint32_t length, dump_header_t *header);

#endif
