/* The kernel's table of network links, and speeds: any text is read or refused, and nothing of loopback is in
 * it. */
#include "format_lab.h"
#include "study/tune/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static net_t net, later;
    char *text = strndup((const char *)data, size);
    LAB_MUST(text);
    net_parse(text, &net);
    LAB_MUST(net.count <= NET_MOST_LINKS);
    net.at_ns = 0;
    for (size_t i = 0; i < net.count; i++) {
        LAB_MUST(net.links[i].name[0] && strlen(net.links[i].name) < NET_NAME);
        LAB_MUST(strcmp(net.links[i].name, "lo") != 0);
        net.links[i].speed = net_parse_speed(text);
    }
    later = net;
    later.at_ns = 1;
    const double fullest = net_fullest(&net, &later);
    LAB_MUST(fullest != fullest || fullest >= 0);
    free(text);
    return 0;
}
