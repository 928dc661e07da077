/* Texts of records of fixed width into documents and back, each record byte for byte. The first byte names
 * the format ('0' is isd, see law_fixed_formats in format_laws.h), the second says where the text is cut into
 * blocks. */
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    if (size >= 2)
        law_holds(law_fixed(data[0]), data + 2, size - 2, data[1], true);
    return 0;
}
