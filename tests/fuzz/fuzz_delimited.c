/* Texts of delimited formats into documents. The first byte names the format ('0' is mot, see format_laws.h),
 * the second says where the text is cut into blocks. */
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    if (size >= 2)
        law_holds(law_format(data[0]), data + 2, size - 2, data[1], false);
    return 0;
}
