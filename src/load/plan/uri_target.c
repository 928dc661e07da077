#include "load/plan/uri_target.h"
#include "server/server.h"

char *uri_target(const char *uri) {
    address_t address;
    err_t ignored;
    if (!uri || !address_parse(&address, uri, &ignored))
        return NULL;
    char *target = address.name;
    address.name = NULL;
    address_free(&address);
    return target;
}
