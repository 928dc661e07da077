/* own_names: which collections are tipple's own. */
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(names) {
    static const struct {
        const char *collection;
        bool catalog, own;
    } cases[] = {
        {"orders", false, false},
        {"orders.tipple.files", true, true},
        {"a.b.tipple.loads", true, true},
        {"orders.tipple.tune", false, true},
        {"orders.tipple.tune.tipple.files", true, true},
        {"orders.tipple.tune.0123456789ab", false, true},
        {"orders.tipple.drill.0123456789ab.tipple.files", true, true},
        {"orders.tipple.files.old", false, false},
        {"tipple.files", false, false}, /* of which collection? */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool catalog = own_names_catalog(cases[i].collection);
        if (own_names_has(cases[i].collection) != cases[i].own || catalog != cases[i].catalog)
            fail_msg("'%s' was taken for %s", cases[i].collection, catalog ? "a catalog" : "something else");
    }
}
