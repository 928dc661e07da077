#include "server/uri_option.h"

#include <mongoc/mongoc.h>
#include <strings.h>

/* Those with a grammar of their own, which the driver's functions do not tell. */
static const char *const others[] = {
    "w",           "authMechanism",     "authMechanismProperties", "authSource",
    "compressors", "gssapiServiceName", "readConcernLevel",        "readPreferenceTags"};

/* What somebody may have meant; not what has a newer name. */
static const char *const usual[] = {
    "appName",
    "authMechanism",
    "authMechanismProperties",
    "authSource",
    "compressors",
    "connectTimeoutMS",
    "directConnection",
    "heartbeatFrequencyMS",
    "journal",
    "loadBalanced",
    "localThresholdMS",
    "maxIdleTimeMS",
    "maxPoolSize",
    "maxStalenessSeconds",
    "minPoolSize",
    "readConcernLevel",
    "readPreference",
    "readPreferenceTags",
    "replicaSet",
    "retryReads",
    "retryWrites",
    "serverMonitoringMode",
    "serverSelectionTimeoutMS",
    "serverSelectionTryOnce",
    "socketCheckIntervalMS",
    "socketTimeoutMS",
    "srvMaxHosts",
    "srvServiceName",
    "tls",
    "tlsAllowInvalidCertificates",
    "tlsAllowInvalidHostnames",
    "tlsCAFile",
    "tlsCertificateKeyFile",
    "tlsCertificateKeyFilePassword",
    "tlsDisableCertificateRevocationCheck",
    "tlsDisableOCSPEndpointCheck",
    "tlsInsecure",
    "w",
    "waitQueueTimeoutMS",
    "wTimeoutMS",
    "zlibCompressionLevel",
};

bool uri_option_is_known(const char *name) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(name, others[i]) == 0)
            return true;
    return mongoc_uri_option_is_int32(name) || mongoc_uri_option_is_int64(name) ||
           mongoc_uri_option_is_bool(name) || mongoc_uri_option_is_utf8(name);
}

bool uri_option_is_open(const char *name, size_t length) {
    static const char *const secret[] = {"authMechanismProperties", "tlsCertificateKeyFilePassword"};
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        if (strlen(secret[i]) == length && strncasecmp(secret[i], name, length) == 0)
            return false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strlen(usual[i]) == length && strncasecmp(usual[i], name, length) == 0)
            return true;
    return false;
}

suggestion_t uri_option_meant(const char *name) {
    const char *known[sizeof usual / sizeof *usual];
    size_t count = 0;
    if (!name[0] || !name[1]) /* one letter is as near to w as to any other */
        return (suggestion_t){""};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (uri_option_is_known(usual[i]))
            known[count++] = usual[i];
    return suggestion(name, known, count);
}
