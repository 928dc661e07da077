/* step: steps within steps. */
#include "base/log.h"
#include "test.h"

#include <stdint.h>

/* Short steps, within one another, with nothing to show: none of them waits for anything. */
TEST(nested) {
    step_t outer, inner, silent;
    for (int i = 0; i < 200; i++) {
        step_begin(&outer, "outer %d", i);
        step_begin(&inner, "%s", "");
        step_change(&inner, "inner");
        step_end(&inner);
        log_set_level(LOG_SILENT);
        step_begin(&silent, "not shown");
        log_set_level(LOG_NORMAL);
        step_end(&silent);
        step_end(&outer);
        step_end(&outer);
    }
}
