#include "input/decode/spare.h"
#include "input/decode/utf16.h"

decoder_t *spare_take(spare_t *spare, input_kind_t kind) {
    decoder_t *decoder = spare->by_kind[kind];
    spare->by_kind[kind] = NULL;
    if (decoder)
        decoder->restart(decoder);
    return decoder               ? decoder
           : kind == INPUT_GZIP  ? decoder_gzip(spare->engine)
           : kind == INPUT_ZSTD  ? decoder_zstd()
           : kind == INPUT_XZ    ? decoder_xz()
           : kind == INPUT_BZIP2 ? decoder_bzip2()
           : kind == INPUT_UTF16 ? decoder_utf16()
                                 : decoder_stored();
}

void spare_give(spare_t *spare, input_kind_t kind, decoder_t *decoder) {
    if (decoder && decoder->restart && !spare->by_kind[kind])
        spare->by_kind[kind] = decoder;
    else if (decoder)
        decoder->close(decoder);
}

void spare_free(spare_t *spare) {
    for (int kind = 0; kind <= INPUT_STREAM; kind++)
        if (spare->by_kind[kind])
            spare->by_kind[kind]->close(spare->by_kind[kind]);
}
