#include "server/absence.h"
#include "base/clock.h"
#include "base/conceal.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_MS = 2000 };

typedef enum { PROBE_ANSWERED, PROBE_CLOSED, PROBE_FAILED } probe_t;

/* Sends hello to a host, with TLS (no certificate is checked) or without it. No credentials are sent. */
static probe_t probe(const mongoc_host_list_t *host, bool tls, bson_t *reply) {
    bson_error_t error;
    err_t ignored;
    mongoc_client_t *client = NULL;
    mongoc_uri_t *uri = address_uri_of(host->host_and_port, &ignored);
    bson_init(reply);
    if (uri) {
        address_set_waits(uri, PROBE_MS);
        client = mongoc_client_new_from_uri(uri);
        mongoc_uri_destroy(uri);
    }
    if (!client)
        return PROBE_FAILED;
    if (tls) {
        mongoc_ssl_opt_t trusting = {.weak_cert_validation = true, .allow_invalid_hostname = true};
        mongoc_client_set_ssl_opts(client, &trusting);
    }
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1));
    const int64_t began_ns = clock_now_ns();
    bson_destroy(reply);
    bool answered = mongoc_client_command_simple(client, "admin", hello, NULL, reply, &error);
    bson_destroy(hello);
    mongoc_client_destroy(client);
    if (answered)
        return PROBE_ANSWERED;
    /* a host that does not answer at all has not closed the connection */
    if (clock_now_ns() - began_ns >= (int64_t)PROBE_MS * 1000000)
        return PROBE_FAILED;
    /* this is what a server does that requires a client certificate: the handshake succeeds, and then it closes the
     * connection */
    return strstr(error.message, "Failed to receive length header") ? PROBE_CLOSED : PROBE_FAILED;
}

/* With TLS the handshake is enough. */
static bool speaks(const mongoc_host_list_t *host, bool tls) {
    bson_t reply;
    probe_t result = probe(host, tls, &reply);
    bson_destroy(&reply);
    return result == PROBE_ANSWERED || (tls && result == PROBE_CLOSED);
}

/* A server may take both, and a connection that broke once tells nothing of it. */
static bool speaks_only(const mongoc_host_list_t *host, bool tls) {
    return speaks(host, tls) && !speaks(host, !tls);
}

/* Of a reply that names no set. A member that has just begun does not know its set yet. */
static bool is_alone(const bson_t *reply, bool wants_set, bool several) {
    if (bson_has_field(reply, "isreplicaset"))
        return false;
    return wants_set || (several && strcmp(bson_read_text(reply, "msg"), "isdbgrid") != 0);
}

/* The driver drops a server that is not of the replica set it looks for, and then says that it knows no server; also one whose
 * connection broke, whatever it is. */
static bool is_of_another_set(const address_t *address, const mongoc_host_list_t *host, bool tls,
                              err_t *err) {
    bson_t reply;
    bson_iter_t iter;
    const char *wanted = mongoc_uri_get_replica_set(address->uri), *set = NULL;
    bool other = false;
    if (probe(host, tls, &reply) == PROBE_ANSWERED) {
        if (bson_iter_init_find(&iter, &reply, "setName") && BSON_ITER_HOLDS_UTF8(&iter))
            set = bson_iter_utf8(&iter, NULL);
        /* a URI with one host means that server alone, however late it answered */
        bool several = mongoc_uri_get_hosts(address->uri)->next;
        other = set ? wanted && strcmp(set, wanted) != 0 : is_alone(&reply, wanted, several);
    }
    if (other && set)
        err_set(err, STATUS_USAGE,
                "the server at %s belongs to the replica set '%s', not '%s': correct replicaSet= in the "
                "URI",
                host->host_and_port, set, wanted);
    else if (other && wanted)
        err_set(err, STATUS_USAGE,
                "the server at %s belongs to no replica set: leave replicaSet=%s out of the URI",
                host->host_and_port, wanted);
    else if (other)
        err_set(err, STATUS_USAGE,
                "a server at %s is a standalone, and the URI names several hosts: name one",
                host->host_and_port);
    bson_destroy(&reply);
    return other;
}

static size_t servers_known(mongoc_client_t *client) {
    size_t count;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    mongoc_server_descriptions_destroy_all(servers, count);
    return count;
}

static bool closed_at_hello(const char *words) {
    return strstr(words, "Failed to read 4 bytes") || strstr(words, "closed calling hello") ||
           strstr(words, "connection closed");
}

/* The first bytes of another protocol, such as "HTTP", make a length that no reply of a server can have. */
static bool is_other_protocol(const char *words) {
    enum { LONGEST_REPLY = 48000000 };
    const char *read = strstr(words, "Failed to read ");
    return strstr(words, "Invalid reply from server") ||
           (read && strtoull(read + strlen("Failed to read "), NULL, 10) > LONGEST_REPLY);
}

/* The driver's own reasons, in brackets. Before them are words about its options; after them, in newer drivers, its
 * name for the type of the deployment. NULL: it gives none. */
static const char *reasons_of(const bson_error_t *error, char out[sizeof error->message]) {
    const char *from = strchr(error->message, '['), *to = from ? strrchr(from, ']') : NULL;
    if (!from)
        return NULL;
    snprintf(out, sizeof error->message, "%.*s", to ? (int)(to + 1 - from) : (int)sizeof error->message,
             from);
    return out;
}

#define UNTRUSTED "certificate verify failed"

/* One host with a wrong certificate says nothing of another one, which may only be slower to answer. A long list of reasons
 * is cut off: then it is the number of tries that tells. */
static bool all_are_untrusted(const mongoc_host_list_t *host, const char *words, uint32_t tries) {
    enum { MANY_TRIES = 20 };
    for (const char *at = words; host && (at = strstr(at, UNTRUSTED)); host = host->next)
        at += strlen(UNTRUSTED);
    return !host || tries > MANY_TRIES;
}

bool absence_is_final(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      uint32_t tries, err_t *err) {
    char room[sizeof error->message];
    const char *words = error->message, *hosts = address->hosts, *reasons = reasons_of(error, room);
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    bool tls = mongoc_uri_get_tls(address->uri);
    bool told = true;
    if (error->domain == MONGOC_ERROR_PROTOCOL && error->code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION) {
        err_set(err, STATUS_USAGE, "the server at %s is of a version that cannot be spoken to: %s", hosts,
                words);
    } else if ((error->domain != MONGOC_ERROR_SERVER_SELECTION && error->domain != MONGOC_ERROR_STREAM) ||
               servers_known(client) > 0) {
        told = false; /* a host answers: the others may do so later, or may not be needed */
    } else if (strstr(words, UNTRUSTED) && all_are_untrusted(host, words, tries)) {
        err_set(
            err, STATUS_USAGE,
            "the certificate of %s is not trusted here: name the file of the authority that signed it with "
            "tlsCAFile=FILE in the URI, and the host as the certificate does %s",
            hosts, reasons ? reasons : words);
    } else if (strstr(words, "initialize TLS")) {
        err_set(
            err, STATUS_USAGE,
            "TLS cannot be set up: a file that the URI names as tlsCAFile or "
            "tlsCertificateKeyFile is missing, unreadable, or no PEM file, or its key is encrypted and its "
            "password, tlsCertificateKeyFilePassword in the URI, is missing or wrong");
    } else if (tls && host && strstr(words, "TLS handshake failed") && speaks_only(host, false)) {
        err_set(err, STATUS_USAGE,
                "the server at %s does not speak TLS: leave tls=true out of the URI, and every other option "
                "whose name begins with tls or ssl, which asks for TLS whatever its value is",
                hosts);
    } else if (!tls && host && closed_at_hello(words) && speaks_only(host, true)) {
        err_set(err, STATUS_USAGE,
                "the server at %s expects TLS: add tls=true to the URI, and tlsCAFile=FILE where its "
                "certificate is not signed by an authority known to this host",
                hosts);
    } else if (tls && !mongoc_uri_has_option(address->uri, MONGOC_URI_TLSCERTIFICATEKEYFILE) &&
               closed_at_hello(words) && tries > 2) {
        err_set(err, STATUS_USAGE,
                "the server at %s closes the connection after the TLS handshake: it may ask for a "
                "client certificate; add tlsCertificateKeyFile=FILE to the URI",
                hosts);
    } else if (host && !host->next && is_other_protocol(words)) {
        err_set(
            err, STATUS_USAGE,
            "what answers at %s does not speak MongoDB's protocol: correct the host and the port in the URI",
            hosts);
    } else {
        told = host && tries <= 2 && (!reasons || strstr(words, "set name")) &&
               is_of_another_set(address, host, tls, err);
    }
    if (told)
        conceal_known(err->text);
    return told;
}

/* The driver's name for a type of server, in words for people. */
static const char *type_words(const char *type) {
    static const char *const words[][2] = {
        {"RSSecondary", "a secondary"},
        {"RSArbiter", "an arbiter"},
        {"RSOther", "a member in recovery"},
        {"RSGhost", "not yet initiated as a replica set"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], type) == 0)
            return words[i][1];
    return type;
}

/* "a:1 is a secondary, b:2 is in recovery"; false when no server answered at all. */
static bool describe_members(mongoc_client_t *client, char *text, size_t size) {
    size_t count, used = 0;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %s", i ? ", " : "",
                                 mongoc_server_description_host(servers[i])->host_and_port,
                                 type_words(mongoc_server_description_type(servers[i])));
    mongoc_server_descriptions_destroy_all(servers, count);
    return count > 0;
}

/* The members in a hello, as far as there is room. */
static void name_members(const bson_t *hello, char *text, size_t size) {
    bson_iter_t list;
    size_t used = 0;
    *text = 0;
    if (!bson_read_list(hello, "hosts", &list))
        return;
    for (const char *host; used < size && (host = bson_read_next_text(&list));)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", host);
}

/* The driver leaves the URI's hosts for those that the set names, which may be known in a container or in a private network
 * only. Its reasons then name none of the URI's. */
static bool describe_own_names(const address_t *address, const char *reasons, char *text, size_t size) {
    const mongoc_host_list_t *first = mongoc_uri_get_hosts(address->uri), *host = first;
    char members[300];
    bson_t hello;
    if (!reasons || !host ||
        !(strstr(reasons, "Failed to resolve ") || strstr(reasons, "target host: ") ||
          strstr(reasons, "calling hello on ")))
        return false;
    for (; host; host = host->next)
        if (strstr(reasons, host->host))
            return false;
    bool found = probe(first, mongoc_uri_get_tls(address->uri), &hello) == PROBE_ANSWERED &&
                 bson_has_field(&hello, "setName");
    if (found) {
        name_members(&hello, members, sizeof members);
        snprintf(text, size,
                 "%s answers, but the replica set %.60s names its members %s, and of these none does %s",
                 first->host_and_port, bson_read_text(&hello, "setName"), members, reasons);
    }
    bson_destroy(&hello);
    return found;
}

bool absence_describe(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      char *text, size_t size) {
    char members[400], room[sizeof error->message];
    const char *reasons = reasons_of(error, room);
    bool own_names = false;
    if (error->domain != MONGOC_ERROR_SERVER_SELECTION)
        snprintf(text, size, "%s", error->message);
    else if (client && describe_members(client, members, sizeof members))
        snprintf(text, size, "no primary: %s%s%s", members, reasons ? " " : "", reasons ? reasons : "");
    else if (!(own_names = describe_own_names(address, reasons, text, size)))
        snprintf(text, size, "no answer from %s%s%s", address->hosts, reasons ? " " : "",
                 reasons ? reasons : "");
    conceal_known(text);
    return own_names;
}
