/* net: the kernel's table of links, in the form of several releases, and what two looks at it tell. */
#include "study/tune/net.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                                 \
    "Inter-|   Receive                                                |  Transmit\n"                         \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "     \
    "colls carrier compressed\n"

TEST(links) {
    net_t net;
    assert_true(net_parse(HEAD
                          "    lo: 77 1 0 0 0 0 0 0 77 1 0 0 0 0 0 0\n"
                          "  eth0: 3066697394   86620    1    2    3     4          5         6  4647221   "
                          "59343    0    0    0     0       0          0\n"
                          "eth1:18446744073709551615 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
                          " bond0.42:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
                          &net));
    assert_int_equal(net.count, 3);
    assert_string_equal(net.links[0].name, "eth0");
    assert_int_equal(net.links[0].received, 3066697394);
    assert_int_equal(net.links[0].sent, 4647221);
    assert_string_equal(net.links[1].name, "eth1");
    assert_true(net.links[1].received == UINT64_MAX && net.links[1].sent == 9);
    assert_string_equal(net.links[2].name, "bond0.42");
    assert_int_equal(net.links[2].sent, 9);
    for (size_t i = 0; i < net.count; i++)
        assert_true(isnan(net.links[i].speed));
    assert_true(net_parse(HEAD, &net));
    assert_int_equal(net.count, 0);
    /* a last line without its end, one that is cut short */
    assert_true(net_parse(HEAD "  a: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n  b: 1 0 0 0 0 0 0 0 2", &net));
    assert_int_equal(net.count, 2);
    assert_true(net_parse(HEAD "  a: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n  b: 1 0 0 0", &net));
    assert_int_equal(net.count, 1);
}

TEST(no_table) {
    static const char *const texts[] = {"", "\n", "Inter-|\n", "  eth0: 1 0 0 0 0 0 0 0 2 0\n",
                                        "cpu 1 2 3 4\n"};
    net_t net;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(net_parse(texts[i], &net));
}

TEST(many_links) {
    char text[8192] = HEAD;
    net_t net;
    for (int i = 0; i < 50; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "v%d: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n",
                 i);
    assert_true(net_parse(text, &net));
    assert_int_equal(net.count, NET_MOST_LINKS);
    assert_string_equal(net.links[NET_MOST_LINKS - 1].name, "v31");
}

TEST(speeds) {
    assert_true(net_parse_speed("1000\n") == 125e6);
    assert_true(net_parse_speed("10") == 1.25e6);
    assert_true(net_parse_speed("400000\n") == 50e9);
    static const char *const unknown[] = {"", "\n", "-1\n", "0\n", "4294967295\n", "unknown\n"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_true(isnan(net_parse_speed(unknown[i])));
}

/* The fuller direction of the fullest link counts; links without a speed, that were not there before, or that
 * began anew, do not. */
TEST(fullest) {
    const net_t before = {.count = 3,
                          .at_ns = 1000000000,
                          .links = {{.name = "a", .received = 1000, .sent = 1000, .speed = 100},
                                    {.name = "b", .received = 0, .sent = 0, .speed = 1000},
                                    {.name = "c", .received = 5, .sent = 5, .speed = NAN}}};
    net_t now = {.count = 4,
                 .at_ns = 3000000000,
                 .links = {{.name = "c", .received = 99999, .sent = 99999, .speed = NAN},
                           {.name = "b", .received = 100, .sent = 1500, .speed = 1000},
                           {.name = "a", .received = 1040, .sent = 1010, .speed = 100},
                           {.name = "d", .received = 99999, .sent = 99999, .speed = 1}}};
    assert_true(fabs(net_fullest(&before, &now) - 0.75) < 1e-9);
    now.links[2].received = 1190;
    assert_true(fabs(net_fullest(&before, &now) - 0.95) < 1e-9);
    now.links[2].received = 999;
    assert_true(fabs(net_fullest(&before, &now) - 0.75) < 1e-9);
    now.count = 1;
    assert_true(isnan(net_fullest(&before, &now)));
    assert_true(isnan(net_fullest(&before, &before)));
}

/* This host's own, whatever it has. */
TEST(this_host) {
    net_t net;
    if (!net_look(&net))
        skip();
    for (size_t i = 0; i < net.count; i++)
        assert_string_not_equal(net.links[i].name, "lo");
    assert_true(net.at_ns > 0);
}
