#include "study/tune/net.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Older kernels print -1 as a number without a sign. */
static const double MEGABIT_BYTES = 125000, MOST_MEGABITS = 1e8;

static bool parse_link(const char *line, net_link_t *link) {
    int used = 0;
    /* the name may be directly before its first number: "eth0:123" */
    if (sscanf(line, " %31[^: \n]:%n", link->name, &used) != 1 || !used)
        return false;
    link->speed = NAN;
    return sscanf(line + used, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &link->received,
                  &link->sent) == 2;
}

bool net_parse(const char *text, net_t *net) {
    size_t heads = 0;
    net->count = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        if (memchr(line, '|', length)) {
            heads++;
            continue;
        }
        if (net->count == NET_MOST_LINKS || !parse_link(line, &net->links[net->count]))
            continue;
        net->count += strcmp(net->links[net->count].name, "lo") != 0;
    }
    return heads == 2;
}

double net_parse_speed(const char *text) {
    double megabits = 0;
    return !number_read(text, strlen(text), &megabits) || !(megabits > 0) || megabits > MOST_MEGABITS
               ? NAN
               : megabits * MEGABIT_BYTES;
}

bool net_look(net_t *net) {
    char text[16384], path[96];
    host_read_file("/proc/net/dev", text, sizeof text);
    const bool ok = net_parse(text, net);
    for (size_t i = 0; i < net->count; i++) {
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", net->links[i].name);
        host_read_file(path, text, sizeof text);
        net->links[i].speed = net_parse_speed(text);
    }
    net->at_ns = clock_now_ns();
    return ok;
}

double net_fullest(const net_t *before, const net_t *now) {
    const double seconds = (double)(now->at_ns - before->at_ns) / 1e9;
    double fullest = NAN;
    for (size_t i = 0; seconds > 0 && i < now->count; i++)
        for (size_t j = 0; j < before->count; j++) {
            const net_link_t *link = &now->links[i], *then = &before->links[j];
            if (strcmp(link->name, then->name) != 0 || isnan(link->speed) ||
                link->received < then->received || link->sent < then->sent)
                continue;
            const double received = (double)(link->received - then->received),
                         sent = (double)(link->sent - then->sent);
            fullest = fmax(fullest, fmax(received, sent) / seconds / link->speed);
        }
    return fullest;
}
