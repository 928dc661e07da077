/* zones: which are a load's own, which shards may be given something, and by whom balancing is off. */
#include "server/cluster.h"
#include "test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

TEST(numbers) {
    static const struct {
        const char *namespace, *zone;
        size_t number;
    } cases[] = {
        {"rx.c", "tipple.rx.c.0", 0},
        {"rx.c", "tipple.rx.c.1023", 1023},
        {"rx.c.d", "tipple.rx.c.d.0", 0},
        {"rx.c.0", "tipple.rx.c.0.1", 1},
        {"rx.c", "tipple.rx.c.d.0", SIZE_MAX}, /* of another collection */
        {"rx.c", "tipple.rx.c.tipple.tune.0", SIZE_MAX},
        {"rx.c", "tipple.rx.c.0.1", SIZE_MAX},
        {"rx.c", "tipple.rx.c.archive", SIZE_MAX}, /* a person's */
        {"rx.c", "tipple.rx.c.0a", SIZE_MAX},
        {"rx.c", "tipple.rx.c.", SIZE_MAX},
        {"rx.c", "tipple.rx.c", SIZE_MAX},
        {"rx.c", "tipple.rx.c.-1", SIZE_MAX},
        {"rx.c", "tipple.rxxc.0", SIZE_MAX},
        {"rx.c", "tipple.rx.cc.0", SIZE_MAX},
        {"rx.c", "tipple.rx.c.007", SIZE_MAX},
        {"rx.c", "tipple.rx.c.00", SIZE_MAX},
        {"rx.c", "tipple.rx.c.99999999999999999999", SIZE_MAX},
        {"rx.c", "EU", SIZE_MAX},
        {"rx.c", "", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (zones_number(cases[i].namespace, cases[i].zone) != cases[i].number)
            fail_msg("%s in %s", cases[i].zone, cases[i].namespace);
    char name[ZONES_NAME];
    zones_name("rx.c", 7, name);
    assert_string_equal(name, "tipple.rx.c.7");
    assert_int_equal(zones_number("rx.c", name), 7);
}

static bool collect(void *context, const char *shard, const char *zone) {
    char *text = context;
    strcat(strcat(strcat(text, shard), zone + strlen("tipple.rx.c")), " ");
    return true;
}

TEST(tags) {
    bson_t *shards[] = {
        BCON_NEW("_id", "s0", "tags", "[", "EU", "tipple.rx.c.0", "tipple.rx.c.d.4", "tipple.rx.c.2", "]"),
        BCON_NEW("_id", "s1", "tags", "[", "]"),
        BCON_NEW("_id", "s2", "tags", "[", BCON_INT32(1), "tipple.rx.c.archive", "tipple.rx.c.1", "]"),
        BCON_NEW("_id", "s3"),
    };
    zones_t zones = {.shards = {shards, 4}, .noted = 3};
    char text[200] = "", noted[200] = "", none[200] = "";
    assert_true(zones_each_tag(&zones, "rx.c", collect, text));
    assert_string_equal(text, "s0.0 s0.2 s2.1 ");
    zones.noted = 2; /* no load has noted .2 */
    assert_true(zones_each_tag(&zones, "rx.c", collect, noted));
    assert_string_equal(noted, "s0.0 s2.1 ");
    zones.noted = 0;
    assert_true(zones_each_tag(&zones, "rx.c", collect, none));
    assert_string_equal(none, "");
    for (size_t i = 0; i < 4; i++)
        bson_destroy(shards[i]);
}

TEST(shards) {
    const struct {
        bson_t *shard;
        bool may;
    } cases[] = {{BCON_NEW("_id", "s0", "host", "s0/a:1"), true},
                 {BCON_NEW("_id", "s0", "draining", BCON_BOOL(false)), true},
                 {BCON_NEW("_id", "s0", "draining", BCON_BOOL(true)), false},
                 {BCON_NEW("host", "s0/a:1"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(presplit_may_use(cases[i].shard) == cases[i].may);
        bson_destroy(cases[i].shard);
    }
}

TEST(balancing) {
    const balancer_note_t notes[] = {BALANCER_NO_NOTE, BALANCER_BEGUN, BALANCER_DONE};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(balancer_judge(false, notes[i]), BALANCER_ON);
    assert_int_equal(balancer_judge(true, BALANCER_NO_NOTE), BALANCER_PERSONS);
    assert_int_equal(balancer_judge(true, BALANCER_BEGUN), BALANCER_IN_DOUBT);
    assert_int_equal(balancer_judge(true, BALANCER_DONE), BALANCER_OURS);
}

/* The privileges of servers' own roles, as connectionStatus tells them. */
TEST(rights) {
#define OF(resource, actions) "{\"resource\": {" resource "}, \"actions\": [" actions "]}"
#define MANAGER                                                                                              \
    OF("\"db\": \"\", \"collection\": \"\"", "\"moveChunk\", \"enableSharding\"")                            \
    ", " OF("\"db\": \"config\", \"collection\": \"\"", "\"find\", \"update\"")
    static const struct {
        const char *privileges;
        bool may;
    } cases[] = {
        {"", false},
        {MANAGER, true},
        {OF("\"anyResource\": true", "\"anyAction\""), true},
        {OF("\"cluster\": true", "\"listShards\", \"enableSharding\""),
         false}, /* it may not shard the collection */
        {OF("\"cluster\": true", "\"enableSharding\"") ", " OF("\"db\": \"d\", \"collection\": \"\"",
                                                               "\"enableSharding\""),
         true},
        {OF("\"cluster\": true", "\"listShards\""), false},
        {OF("\"db\": \"\", \"collection\": \"\"", "\"insert\", \"update\", \"find\""), false},
        {OF("\"db\": \"d\", \"collection\": \"\"", "\"enableSharding\""), false}, /* it may set no zones */
        {OF("\"db\": \"e\", \"collection\": \"\"",
            "\"enableSharding\"") ", " OF("\"db\": \"config\", \"collection\": \"\"", "\"update\""),
         false},
        {OF("\"db\": \"d\", \"collection\": \"c.c\"", "\"enableSharding\"") ", " OF(
             "\"db\": \"config\", \"collection\": \"shards\"",
             "\"update\"") ", " OF("\"db\": \"config\", \"collection\": \"tags\"", "\"update\""),
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[1000];
        snprintf(json, sizeof json,
                 "{\"authInfo\": {\"authenticatedUsers\": [{\"user\": \"u\"}], "
                 "\"authenticatedUserPrivileges\": [%s]}}",
                 cases[i].privileges);
        bson_t *status = bson_new_from_json((const uint8_t *)json, -1, NULL);
        assert_non_null(status);
        if (rights_to_shard(status, "d.c.c") != cases[i].may)
            fail_msg("%s", json);
        bson_destroy(status);
    }
    static const char *const silent[] = {
        "{\"ok\": 1}", "{\"authInfo\": {\"authenticatedUsers\": [{\"user\": \"u\"}]}}",
        "{\"authInfo\": {\"authenticatedUsers\": [], \"authenticatedUserPrivileges\": []}}"};
    for (size_t i = 0; i < 3; i++) {
        bson_t *status = bson_new_from_json((const uint8_t *)silent[i], -1, NULL);
        assert_true(rights_to_shard(status, "d.c"));
        bson_destroy(status);
    }
}
