#include "cli/print/passed_over.h"
#include "base/numbers.h"

void passed_over_tell(text_t *out, const passed_over_t *passed) {
    char count[UNITS_MAX];
    text_append(out, "no records: ");
    if (passed->skipped)
        text_print(out, "%s line%s skipped", units_count(count, passed->skipped),
                   passed->skipped == 1 ? "" : "s");
    if (passed->comments)
        text_print(out, "%s%s comment line%s", passed->skipped ? ", " : "",
                   units_count(count, passed->comments), passed->comments == 1 ? "" : "s");
}
