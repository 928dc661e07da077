/* zones: which are a load's own. */
#include "server/cluster.h"
#include "test.h"

#include <string.h>

TEST(names) {
    static const struct {
        const char *namespace, *zone;
        bool own;
    } cases[] = {
        {"rx.c", "tipple.rx.c.0", true},
        {"rx.c", "tipple.rx.c.1023", true},
        {"rx.c.d", "tipple.rx.c.d.0", true},
        {"rx.c.0", "tipple.rx.c.0.1", true},
        {"rx.c", "tipple.rx.c.d.0", false}, /* of another collection */
        {"rx.c", "tipple.rx.c.tipple.tune.0", false},
        {"rx.c", "tipple.rx.c.0.1", false},
        {"rx.c", "tipple.rx.c.archive", false}, /* a user's */
        {"rx.c", "tipple.rx.c.0a", false},
        {"rx.c", "tipple.rx.c.", false},
        {"rx.c", "tipple.rx.c", false},
        {"rx.c", "tipple.rx.c.-1", false},
        {"rx.c", "tipple.rxxc.0", false},
        {"rx.c", "tipple.rx.cc.0", false},
        {"rx.c", "EU", false},
        {"rx.c", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (zones_is_own(cases[i].namespace, cases[i].zone) != cases[i].own)
            fail_msg("%s in %s", cases[i].zone, cases[i].namespace);
    char name[ZONES_NAME];
    zones_name("rx.c", 7, name);
    assert_string_equal(name, "tipple.rx.c.7");
    assert_true(zones_is_own("rx.c", name));
}
