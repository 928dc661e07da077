/* loose_hash: a hash of a document that all documents have in common which a server's comparison takes for equal: 1, 1.0
 * and NumberLong(1) are, and so are a text and a symbol. Others may have it, too. */
#ifndef TIPPLE_LOAD_DELIVER_LOOSE_HASH_H
#define TIPPLE_LOAD_DELIVER_LOOSE_HASH_H

#include <stdint.h>

uint64_t loose_hash(const uint8_t *document, uint32_t length);

#endif
