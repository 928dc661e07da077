/* absence: why no server can be written to. Some reasons pass with time. Others, such as TLS on one side only, never
 * do; waiting for them would hide the mistake. */
#ifndef TIPPLE_SERVER_ABSENCE_H
#define TIPPLE_SERVER_ABSENCE_H

#include "server/address.h"

/* True: waiting is useless, and err holds the sentence (status 1). May connect once more to find out. tries: how many
 * tries have failed so far, from 1. */
bool absence_is_final(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      uint32_t tries, err_t *err);

/* What is known of servers that cannot be written to, as a part of a sentence: "no answer from a:27017 [...]". True: the URI's
 * host answers, but the names that its set gives do not. May connect once more to find out. */
bool absence_describe(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      char *text, size_t size);

#endif
