#include "study/drill/drills.h"
#include "base/chars/own_names.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With twice as many documents it is another kind of drill. */
static const double FACTOR = 2;

static void name_drills(const server_t *server, char name[300]) {
    snprintf(name, 300, "%s" OWN_DRILLS, server_collection(server));
}

double drills_rate(const drills_entry_t *entry) {
    return (double)entry->documents / entry->phases[DRILL_LOAD];
}

/* ---- into BSON ---- */

static void append_seconds(bson_t *to, const char *key, double seconds) {
    if (!isnan(seconds))
        BSON_APPEND_DOUBLE(to, key, seconds);
}

static void append_forecast(bson_t *to, const forecast_t *forecast) {
    bson_t inner;
    if (isnan(forecast->mid))
        return;
    BSON_APPEND_DOCUMENT_BEGIN(to, "predicted", &inner);
    BSON_APPEND_DOUBLE(&inner, "seconds", forecast->mid);
    append_seconds(&inner, "low", forecast->low);
    append_seconds(&inner, "high", forecast->high);
    bson_append_document_end(to, &inner);
}

static void append_phases(bson_t *to, const drills_entry_t *entry) {
    bson_t phases, phase;
    char index[16];
    uint32_t count = 0;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "phases", &phases);
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        const char *key;
        if (isnan(entry->phases[i]))
            continue;
        bson_uint32_to_string(count++, &key, index, sizeof index);
        bson_append_document_begin(&phases, key, -1, &phase);
        BSON_APPEND_UTF8(&phase, "phase", drill_phase_name(i));
        BSON_APPEND_DOUBLE(&phase, "seconds", entry->phases[i]);
        append_forecast(&phase, &entry->phases_predicted[i]);
        bson_append_document_end(&phases, &phase);
    }
    bson_append_array_end(to, &phases);
}

static void append_entry(bson_t *to, const drills_entry_t *entry) {
    BSON_APPEND_INT32(to, "schema", 1);
    BSON_APPEND_UTF8(to, "namespace", entry->namespace);
    BSON_APPEND_UTF8(to, "mode", entry->scratch ? "scratch" : "real");
    BSON_APPEND_UTF8(to, "format", entry->format);
    BSON_APPEND_UTF8(to, "indexes", entry->indexes);
    BSON_APPEND_UTF8(to, "keys", entry->keys);
    BSON_APPEND_UTF8(to, "query", entry->query);
    BSON_APPEND_INT64(to, "documents", (int64_t)entry->documents);
    BSON_APPEND_INT64(to, "bytes", (int64_t)entry->bytes);
    BSON_APPEND_INT64(to, "rejected", (int64_t)entry->rejected);
    BSON_APPEND_INT64(to, "differences", (int64_t)entry->differences);
    BSON_APPEND_INT32(to, "threads", (int32_t)entry->threads);
    BSON_APPEND_INT32(to, "batch", (int32_t)entry->batch);
    append_seconds(to, "seconds", entry->seconds);
    append_seconds(to, "verifiedSeconds", entry->verified);
    append_forecast(to, &entry->predicted);
    append_phases(to, entry);
    BSON_APPEND_UTF8(to, "server", entry->server);
    BSON_APPEND_UTF8(to, "version", entry->version);
    BSON_APPEND_UTF8(to, "host", entry->host);
}

/* An update: the server dates it, and sending it twice changes nothing. */
bool drills_write(server_t *server, mongoc_client_t *client, const drills_entry_t *entry, err_t *err) {
    bson_t fields = BSON_INITIALIZER;
    bson_oid_t id;
    char name[300];
    name_drills(server, name);
    bson_oid_init(&id, NULL);
    append_entry(&fields, entry);
    bson_t *command = BCON_NEW("update", BCON_UTF8(name), "updates", "[", "{", "q", "{", "_id", BCON_OID(&id),
                               "}", "u", "{", "$currentDate", "{", "when", BCON_BOOL(true), "}", "$set",
                               BCON_DOCUMENT(&fields), "}", "upsert", BCON_BOOL(true), "}", "]");
    const bool ok = server_command(server, client, server_database(server), command, true, NULL, err);
    bson_destroy(command);
    bson_destroy(&fields);
    return ok;
}

/* ---- out of BSON ---- */

static uint64_t count_of(const bson_t *document, const char *key) {
    const double found = bson_read_number(document, key);
    return found >= 0 && found < 0x1p63 ? (uint64_t)found : 0;
}

static void text(const bson_t *document, const char *key, char *out, size_t room) {
    snprintf(out, room, "%s", bson_read_text(document, key));
}

static forecast_t forecast_of(const bson_t *document) {
    bson_t inner;
    if (!bson_read_field(document, "predicted", &inner))
        return (forecast_t){NAN, NAN, NAN};
    return (forecast_t){bson_read_number(&inner, "low"), bson_read_number(&inner, "seconds"),
                        bson_read_number(&inner, "high")};
}

static void take_phases(const bson_t *document, drills_entry_t *entry) {
    bson_iter_t at, phases;
    bson_t phase;
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        entry->phases[i] = NAN;
        entry->phases_predicted[i] = (forecast_t){NAN, NAN, NAN};
    }
    if (!bson_iter_init_find(&at, document, "phases") || !bson_iter_recurse(&at, &phases))
        return;
    while (bson_read_next(&phases, &phase)) {
        char name[32];
        text(&phase, "phase", name, sizeof name);
        for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
            if (strcmp(name, drill_phase_name(i)) == 0) {
                entry->phases[i] = bson_read_number(&phase, "seconds");
                entry->phases_predicted[i] = forecast_of(&phase);
            }
    }
}

static void take_entry(const bson_t *document, drills_entry_t *entry) {
    bson_iter_t at;
    char mode[16];
    *entry = (drills_entry_t){.documents = count_of(document, "documents"),
                              .bytes = count_of(document, "bytes"),
                              .rejected = count_of(document, "rejected"),
                              .differences = count_of(document, "differences"),
                              .threads = (uint32_t)count_of(document, "threads"),
                              .batch = (uint32_t)count_of(document, "batch"),
                              .seconds = bson_read_number(document, "seconds"),
                              .verified = bson_read_number(document, "verifiedSeconds"),
                              .predicted = forecast_of(document)};
    const struct {
        const char *key;
        char *out;
        size_t room;
    } texts[] = {{"namespace", entry->namespace, sizeof entry->namespace},
                 {"format", entry->format, sizeof entry->format},
                 {"indexes", entry->indexes, sizeof entry->indexes},
                 {"keys", entry->keys, sizeof entry->keys},
                 {"query", entry->query, sizeof entry->query},
                 {"server", entry->server, sizeof entry->server},
                 {"version", entry->version, sizeof entry->version},
                 {"host", entry->host, sizeof entry->host},
                 {"mode", mode, sizeof mode}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text(document, texts[i].key, texts[i].out, texts[i].room);
    entry->scratch = strcmp(mode, "scratch") == 0;
    if (bson_iter_init_find(&at, document, "when") && BSON_ITER_HOLDS_DATE_TIME(&at))
        entry->when_ms = bson_iter_date_time(&at);
    take_phases(document, entry);
}

static bool take_all(const bson_t *reply, drills_entry_t **entries, size_t *count, err_t *err) {
    bson_iter_t documents;
    bson_t document;
    size_t found = 0;
    if (!bson_read_batch(reply, &documents))
        return true;
    for (bson_iter_t at = documents; bson_read_next(&at, &document);)
        found++;
    if (!(*entries = calloc(found + 1, sizeof **entries)))
        return err_memory(err, (found + 1) * sizeof **entries);
    /* the reply has the newest first */
    for (*count = found; found-- > 0 && bson_read_next(&documents, &document);)
        take_entry(&document, &(*entries)[found]);
    return true;
}

bool drills_read(server_t *server, mongoc_client_t *client, drills_entry_t **entries, size_t *count,
                 err_t *err) {
    char name[300];
    bson_t reply;
    name_drills(server, name);
    *entries = NULL;
    *count = 0;
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "}", "sort", "{", "when",
                               BCON_INT32(-1), "_id", BCON_INT32(-1), "}", "limit", BCON_INT32(DRILLS_MOST),
                               "batchSize", BCON_INT32(DRILLS_MOST), "singleBatch", BCON_BOOL(true));
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    ok = ok && take_all(&reply, entries, count, err);
    bson_destroy(&reply);
    return ok;
}

/* ---- comparing ---- */

static bool can_compare(const drills_entry_t *one, const drills_entry_t *other) {
    const double times = (double)one->documents / (double)other->documents;
    return one->scratch == other->scratch && strcmp(one->format, other->format) == 0 &&
           strcmp(one->indexes, other->indexes) == 0 && strcmp(one->keys, other->keys) == 0 &&
           times <= FACTOR && times >= 1 / FACTOR && !one->differences && !other->differences;
}

const drills_entry_t *drills_before(const drills_entry_t *entries, size_t count,
                                    const drills_entry_t *entry) {
    while (count-- > 0)
        if (can_compare(&entries[count], entry))
            return &entries[count];
    return NULL;
}
