/* The kit of a thread that reads many sources: an inflater's tables and windows are some 90 KB, a file may
 * have less than one. */
#include "input/source_with.h"

#include <stdlib.h>

enum { PEEK_BYTES = 16 * 1024 };

source_kit_t *source_kit_new(void) {
    return calloc(1, sizeof(source_kit_t));
}

void source_kit_watch(source_kit_t *kit, pool_t *pool) {
    kit->pool = pool;
}

void source_kit_free(source_kit_t *kit) {
    if (!kit)
        return;
    source_close(kit->archive); /* gives its decoder back */
    for (int kind = 0; kind <= INPUT_STREAM; kind++)
        if (kit->spare[kind])
            kit->spare[kind]->close(kit->spare[kind]);
    free(kit);
}

void source_kit_peek(source_kit_t *kit) {
    kit->engine = INFLATE_ZLIB; /* begins with less ado than faster ones */
    kit->piece = PEEK_BYTES;
}

decoder_t *source_kit_take(source_kit_t *kit, input_kind_t kind) {
    decoder_t *decoder = kit->spare[kind];
    kit->spare[kind] = NULL;
    if (decoder)
        decoder->restart(decoder);
    return decoder              ? decoder
           : kind == INPUT_GZIP ? decoder_gzip(kit->engine)
           : kind == INPUT_ZSTD ? decoder_zstd()
                                : decoder_stored();
}

void source_kit_give(source_kit_t *kit, input_kind_t kind, decoder_t *decoder) {
    if (decoder && decoder->restart && !kit->spare[kind])
        kit->spare[kind] = decoder;
    else if (decoder)
        decoder->close(decoder);
}
