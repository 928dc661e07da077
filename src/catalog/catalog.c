/* The header of a collection's catalog: may this load use the collection? Opening, binding, and checking it at the
 * end. */
#include "catalog/catalog.h"
#include "format/record/record_id.h"
#include "server/wire.h"

#include <stdlib.h>
#include <string.h>

#define ANEW                                                                                                 \
    "load into another collection, or start over with --drop, which drops the collection and its catalog"

/* quote: put around the values of the option. */
static bool refuse_option(const char *name, const char *option, const char *quote, const char *then,
                          const char *now, err_t *err) {
    if (!then[0])
        return err_set(err, STATUS_USAGE, "%s was loaded without %s: leave it out, or " ANEW, name, option);
    return err_set(err, STATUS_USAGE, "%s was loaded with %s %s%s%s%s%s%s%s: give the same one, or " ANEW,
                   name, option, quote, then, quote, now[0] ? ", not " : "", now[0] ? quote : "", now,
                   now[0] ? quote : "");
}

/* No name stands for a guessed format. A format that is named and has the same digest, such as json, counts as the
 * same. */
static bool check_format(const catalog_header_t *header, const catalog_settings_t *settings, err_t *err) {
    if (!header->format)
        return true;
    const bool named = settings->format && strcmp(header->format, settings->format) != 0,
               other = settings->format_digest && header->format_digest &&
                       strcmp(header->format_digest, settings->format_digest) != 0;
    if (other && header->format_text && settings->format_text)
        return catalog_refuse_lost(settings, err);
    if (named && !header->format_text)
        return err_set(err, STATUS_USAGE, "%s was loaded with --format %s, not %s: give the same one, or %s",
                       settings->name, header->format, settings->format, ANEW);
    if (named && other)
        return err_set(
            err, STATUS_USAGE,
            "%s was loaded with a format that was guessed, not with --format %s: leave --format out, or %s",
            settings->name, settings->format, ANEW);
    if (other)
        return err_set(err, STATUS_USAGE,
                       "the format '%s' has changed since %s was loaded: the same record would now make "
                       "another document; use the old format file, or %s",
                       header->format, settings->name, ANEW);
    if (settings->filter && strcmp(header->filter ? header->filter : "", settings->filter) != 0)
        return refuse_option(settings->name, "--filter", "'", header->filter ? header->filter : "",
                             settings->filter, err);
    if (settings->id && strcmp(header->id ? header->id : "", settings->id) != 0)
        return refuse_option(settings->name, "--id", "", header->id ? header->id : "", settings->id, err);
    const char *existing = header->existing ? header->existing : existing_names[EXISTING_REJECT];
    if (settings->existing && strcmp(existing, settings->existing) != 0)
        return err_set(err, STATUS_USAGE,
                       "%s was loaded with --existing %s, not %s: give the same one, or " ANEW,
                       settings->name, existing, settings->existing);
    return true;
}

bool catalog_is_other(const catalog_header_t *header, const uint8_t uuid[STORE_UUID]) {
    return !store_is_no_uuid(header->uuid) && memcmp(header->uuid, uuid, STORE_UUID) != 0;
}

static bool refuse_other_uuid(const catalog_settings_t *settings, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s " CATALOG_OTHER
        ". If all of its documents are the old ones, --same-collection reads them back; otherwise %s",
        settings->name, ANEW);
}

const char *catalog_collection_of(const char *name) {
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

bool catalog_refuse_none(const char *name, const catalog_header_t *header, err_t *err) {
    if (header->has_entries)
        return err_set(err, STATUS_USAGE,
                       "the catalog of %s is damaged: it has entries of inputs, but its header was removed; "
                       "start over with --drop",
                       name);
    return err_set(err, STATUS_USAGE,
                   "%s has no catalog: `tipple load` has not put a record into it yet, or its catalog "
                   "(%s.tipple.files) was dropped; check the collection in the URI, or load the files first",
                   name, catalog_collection_of(name));
}

bool catalog_refuse_gone(const char *name, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s is gone, but the catalog of its loads is still there: if it was renamed, give it this "
                   "name again; if not, start over with --drop",
                   name);
}

bool catalog_check_header(const catalog_header_t *header, const catalog_settings_t *settings, err_t *err) {
    if (header->layout != STORE_LAYOUT)
        return err_set(err, STATUS_USAGE,
                       "the catalog of %s was written by another version of tipple, in another layout (%d; "
                       "this one reads %d): use that version, or %s",
                       settings->name, header->layout, STORE_LAYOUT, ANEW);
    if (header->lane_rule != RECORD_ID_LANE_RULE)
        return err_set(err, STATUS_USAGE,
                       "%s was loaded by another version of tipple, which gave its records other _ids: use "
                       "that version, or %s",
                       settings->name, ANEW);
    if (!load_id_is_nobody(&header->dropping))
        return err_set(err, STATUS_USAGE,
                       "a load with --drop is dropping %s, or was killed while it did: wait for it, or run a "
                       "load with --drop again",
                       settings->name);
    if (settings->added_count && header->format && header->widened != settings->widened)
        return catalog_refuse_lost(settings, err);
    return check_format(header, settings, err);
}

/* Makes the header describe this collection, if the user says that it is the same one or if nothing was ever loaded. */
static bool follow_uuid(store_t *store, const catalog_settings_t *settings, catalog_header_t *header,
                        bool *again, err_t *err) {
    *again = false;
    if (memcmp(header->uuid, settings->uuid, STORE_UUID) == 0)
        return true;
    if (catalog_is_other(header, settings->uuid) && header->format && !settings->accepts_other_uuid)
        return refuse_other_uuid(settings, err);
    /* believes the generation, so that a load that slept meanwhile does not undo what others have loaded */
    header_change_t change = {
        .kind = HEADER_NEW_UUID, .generation = header->generation, .unbound = header->format == NULL};
    memcpy(change.uuid, settings->uuid, STORE_UUID);
    bool changed;
    *again = true;
    return store->change_header(store, &change, &changed, err);
}

bool catalog_refuse_unknown_data(const char *name, bool has_catalog, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s holds documents that tipple did not load (%s): add to them with --append, " ANEW, name,
                   has_catalog ? "its catalog knows of none" : "it has no catalog");
}

bool catalog_open(store_t *store, const catalog_settings_t *settings, catalog_header_t *header, err_t *err) {
    for (bool again = true; again;) {
        bool found;
        if (!store_read_header(store, header, &found, err))
            return false;
        if (!found) {
            catalog_header_t fresh = {
                .layout = STORE_LAYOUT, .lane_rule = RECORD_ID_LANE_RULE, .generation = 1};
            memcpy(fresh.uuid, settings->uuid, STORE_UUID);
            if (header->has_entries)
                return catalog_refuse_none(settings->name, header, err);
            if (!settings->empty && !settings->append)
                return catalog_refuse_unknown_data(settings->name, false, err);
            if (!store->make_header(store, &fresh, err))
                return false;
            continue; /* another load may have made the header first */
        }
        if (!catalog_check_header(header, settings, err) ||
            !follow_uuid(store, settings, header, &again, err)) {
            catalog_header_free(header);
            return false;
        }
        if (again)
            catalog_header_free(header);
    }
    return true;
}

bool catalog_expect_others(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                           err_t *err) {
    const header_change_t change = {.kind = HEADER_APPEND, .generation = generation};
    bool changed;
    return !settings->append || (store->change_header(store, &change, &changed, err) &&
                                 (changed || catalog_check_collection(store, settings, generation, err)));
}

bool catalog_refuse_lost(const catalog_settings_t *settings, err_t *err) {
    err_set(err, STATUS_SERVER,
            "another load was the first one that wrote down a format or columns of %s: run the same "
            "command again",
            settings->name);
    err->again = true;
    return false;
}

bool catalog_refuse_removed(const char *name, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the catalog of %s was removed while it was loaded: start over with --drop", name);
}

bool catalog_bind(store_t *store, const catalog_settings_t *settings, err_t *err) {
    header_change_t change = {
        .kind = HEADER_BIND,
        .format = settings->format,
        .format_digest = settings->format_digest,
        .id = settings->id,
        .existing = settings->existing && strcmp(settings->existing, existing_names[EXISTING_REJECT]) != 0
                        ? settings->existing
                        : NULL,
        .format_text = settings->format_text,
        .columns = settings->added,
        .column_count = settings->added_count,
        .knows_columns = true,
        .filter = settings->filter};
    for (bool bound = false; !bound;) {
        catalog_header_t header = {0};
        bool found;
        if (!store_read_header(store, &header, &found, err))
            return false;
        if (!found)
            return catalog_refuse_removed(settings->name, err);
        bool ok = catalog_check_header(&header, settings, err);
        if (ok && memcmp(header.uuid, settings->uuid, STORE_UUID) != 0)
            ok = err_set(err, STATUS_SERVER,
                         "%s was dropped and made again while it was loaded: start over with --drop",
                         settings->name);
        bound = ok && header.format != NULL;
        /* the generation, so that a bind that arrives after a drop binds nothing */
        change.generation = header.generation;
        change.drops = header.drops;
        catalog_header_free(&header);
        if (!ok || (!bound && !store->change_header(store, &change, &bound, err)))
            return false;
    }
    return true;
}

bool catalog_check_collection(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                              err_t *err) {
    uint8_t uuid[STORE_UUID];
    catalog_header_t header = {0};
    bool found;
    if (!store->collection(store, uuid, err))
        return false;
    if (memcmp(uuid, settings->uuid, STORE_UUID) != 0)
        return err_set(err, STATUS_SERVER, "%s was dropped%s while it was loaded: start over with --drop",
                       settings->name, store_is_no_uuid(uuid) ? "" : " and made again");
    if (!store_read_header(store, &header, &found, err))
        return false;
    const bool same = found && header.generation == generation;
    /* a load that has sent nothing has bound nothing, so another load may have bound the collection to another
     * format */
    const bool ok = !same || check_format(&header, settings, err);
    catalog_header_free(&header);
    if (!ok)
        return false;
    return same || err_set(err, STATUS_SERVER,
                           "the catalog of %s was removed or changed while it was loaded: run "
                           "the same command again, or start over with --drop",
                           settings->name);
}
