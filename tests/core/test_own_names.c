/* own_names: which collections are tipple's own. */
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(names) {
    static const struct {
        const char *collection, *kept;
        bool own;
    } cases[] = {
        {"orders", NULL, false},
        {"orders.tipple.files", "a load's catalog", true},
        {"a.b.tipple.loads", "a load's catalog", true},
        {"orders.tipple.tune", NULL, true},
        {"orders.tipple.drill", NULL, true},
        {"orders.tipple.tune.tipple.files", "a load's catalog", true},
        {"orders.tipple.drill.tipple.loads", "a load's catalog", true},
        {"orders.tipple.tune.0123456789ab", NULL, true},
        {"orders.tipple.drill.0123456789ab.tipple.files", "a load's catalog", true},
        {"orders.tipple", NULL, false},
        {"orders.tipple.file", NULL, false},
        {"orders.tipple.files.old", NULL, false},
        {"orders.Tipple.files", NULL, false},
        {"orders-tipple.files", NULL, false},
        {"tipple.files", NULL, false}, /* beside which collection? */
        {"tipple.tune", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *kept = own_names_kept(cases[i].collection);
        if (own_names_has(cases[i].collection) != cases[i].own || !kept != !cases[i].kept)
            fail_msg("'%s' was taken for %s", cases[i].collection, kept ? kept : "something else");
        if (kept)
            assert_non_null(strstr(kept, cases[i].kept));
    }
}
