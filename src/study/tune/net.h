/* net: how many bytes went through the links of this host, as the kernel counts them, and how many a link can carry.
 * Loopback is not a link. Any thread. */
#ifndef TIPPLE_STUDY_TUNE_NET_H
#define TIPPLE_STUDY_TUNE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NET_NAME = 32, NET_MOST_LINKS = 32 };

typedef struct {
    char name[NET_NAME];
    uint64_t received, sent; /* bytes since the link exists */
    double speed;            /* bytes a second in either direction; NAN: not known */
} net_link_t;

typedef struct {
    net_link_t links[NET_MOST_LINKS]; /* further links are left out */
    size_t count;
    int64_t at_ns;
} net_t;

/* False: the kernel does not report it. */
bool net_look(net_t *net);

/* From two readings: the share that the busiest direction of any link has used; NAN: no link's speed is known. */
double net_fullest(const net_t *before, const net_t *now);

/* From the text of /proc/net/dev, which has no speeds. False: the text is something else. */
bool net_parse(const char *text, net_t *net);

/* The text of /sys/class/net/NAME/speed, in megabits, as bytes a second; NAN: not known, as for virtual links. */
double net_parse_speed(const char *text);

#endif
