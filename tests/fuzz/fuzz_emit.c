/* Texts of delimited formats into documents and back: the same documents again, and the same bytes where the
 * text was written the usual way. The first byte names the format ('0' is mot, see format_laws.h). */
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    if (size >= 1)
        law_holds(law_format(data[0]), data + 1, size - 1, 0, true);
    return 0;
}
