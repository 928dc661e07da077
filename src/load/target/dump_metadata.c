/* dump_metadata: the options and indexes that --create and the metadata of dumps ask for. A new collection gets these options,
 * unless they could lose documents; indexes of a dump are built like those of --index. */
#include "base/document.h"
#include "base/log.h"
#include "format/json/json.h"
#include "load/target/target.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool plan_has_asked(const plan_t *plan, const index_spec_t *index) {
    return (size_t)(index - plan->indexes) < plan->spec->index_count;
}

/* Returns the index of this name that --index or another dump asks for; NULL: none. */
static const index_spec_t *known_as(const plan_t *plan, const char *name) {
    for (size_t i = 0; i < plan->index_count; i++)
        if (strcmp(plan->indexes[i].name, name) == 0)
            return &plan->indexes[i];
    return NULL;
}

static bool refuse_name(const plan_t *plan, const input_file_t *file, const index_spec_t *known, err_t *err) {
    if (plan_has_asked(plan, known))
        return err_set(err, STATUS_USAGE,
                       "--index %.500s: %.1000s has an index of the same name, %s, with other keys, and no "
                       "collection can have both: give yours another name (;name=NAME)",
                       plan->spec->indexes[known - plan->indexes], file->name, known->name);
    return err_set(err, STATUS_USAGE,
                   "%.1000s: the index %s is in the metadata twice, or is another one in those of another "
                   "input, and no collection can have both: load the inputs into two collections, or take "
                   "the metadata away and give the indexes by --index, under other names",
                   file->name, known->name);
}

/* Leaves out an index of a name that is already known. The known index is built: --index may ask for other options. */
static bool leave_out(const plan_t *plan, const input_file_t *file, const bson_t *index,
                      const index_spec_t *known, err_t *err) {
    const bool asked = plan_has_asked(plan, known);
    index_spec_t spec;
    if (!collection_take_index(index, &spec, err))
        return false;
    const bool same = collection_same_index(&spec, known, asked),
               keys = same || (asked && collection_same_keys(&spec.keys, &known->keys));
    collection_free_index(&spec);
    if (!keys)
        return refuse_name(plan, file, known, err);
    if (!same)
        log_warn("the index %s is built as --index says, with other options than those of the dump",
                 known->name);
    return true;
}

static bool add_index(plan_t *plan, const input_file_t *file, const bson_t *index, err_t *err) {
    index_spec_t *spec = &plan->indexes[plan->index_count];
    const char *name = bson_read_text(index, "name");
    /* the index of a clustered collection is made with it, whatever its name */
    if (strcmp(name, "_id_") == 0 || bson_has_field(index, "clustered"))
        return true;
    const index_spec_t *known = known_as(plan, name);
    if (known)
        return leave_out(plan, file, index, known, err);
    if (bson_has_field(index, "expireAfterSeconds")) {
        log_warn("the index %s of the dump is not built: it removes documents by their age, which `tipple "
                 "verify` would miss; build it after that",
                 name);
        return true;
    }
    if (plan->index_count == PLAN_MOST_INDEXES)
        return err_set(err, STATUS_USAGE, "--index and the dump: more than %d indexes at once",
                       PLAN_MOST_INDEXES);
    if (!collection_take_index(index, spec, err))
        return false;
    plan->index_count++;
    return true;
}

static bool refuse_metadata(const input_file_t *file, const char *what, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the metadata of its collection are damaged: %s. Get the dump again, or take the "
                   "metadata away and give the indexes by --index",
                   file->name, what);
}

static bool add_indexes(plan_t *plan, const input_file_t *file, bson_iter_t *list, err_t *err) {
    bson_iter_t at;
    bool ok = true;
    if (!BSON_ITER_HOLDS_ARRAY(list) || !bson_iter_recurse(list, &at))
        return BSON_ITER_HOLDS_NULL(list) || refuse_metadata(file, "'indexes' is no list", err);
    while (ok && bson_iter_next(&at)) {
        bson_t index;
        ok = bson_read_document(&at, &index)
                 ? add_index(plan, file, &index, err)
                 : refuse_metadata(file, "an entry of 'indexes' is no document", err);
    }
    return ok;
}

/* Takes the options of a dump, without those that today's servers always apply or no longer know. */
static bool take_options(plan_t *plan, const input_file_t *file, bson_iter_t *found, err_t *err) {
    bson_t all;
    if (!bson_read_document(found, &all))
        return BSON_ITER_HOLDS_NULL(found) || refuse_metadata(file, "'options' is no document", err);
    bson_t *options = bson_new();
    bson_copy_to_excluding_noinit(&all, options, "autoIndexId", "flags", "temp", "create", NULL);
    if (!plan->dumped) {
        plan->dumped = options;
        return true;
    }
    const bool same = bson_equal(options, plan->dumped);
    bson_destroy(options);
    return same || err_set(err, STATUS_USAGE,
                           "%.1000s: its collection had other options than that of another input: load them "
                           "one by one, or create the collection before",
                           file->name);
}

static bool read_metadata(plan_t *plan, const input_file_t *file, err_t *err) {
    bson_iter_t iter;
    err_t why;
    bson_t *metadata = json_document(file->metadata, true, &why);
    if (!metadata)
        return err_set(err, why.status == STATUS_USAGE ? STATUS_INPUT : why.status,
                       "%.1000s: the metadata of its collection is no JSON (%.500s): get the dump again, or "
                       "take the metadata away and give the indexes by --index",
                       file->name, why.text);
    const bool ok =
        (!bson_iter_init_find(&iter, metadata, "options") || take_options(plan, file, &iter, err)) &&
        (!bson_iter_init_find(&iter, metadata, "indexes") || add_indexes(plan, file, &iter, err));
    bson_destroy(metadata);
    return ok;
}

bool plan_has_option(const plan_t *plan, const char *option) {
    return bson_has_field(plan->options, option);
}

/* --create overrides the options of a dump. */
bool plan_take_dumps(plan_t *plan, err_t *err) {
    const load_spec_t *spec = plan->spec;
    bson_iter_t at;
    if (!(plan->options = spec->create ? json_document(spec->create, true, err) : bson_new()))
        return false;
    for (size_t i = 0; i < plan->manifest.count; i++)
        if (plan->manifest.files[i].metadata && !read_metadata(plan, &plan->manifest.files[i], err))
            return false;
    for (bool more = plan->dumped && bson_iter_init(&at, plan->dumped); more && bson_iter_next(&at);)
        if (!plan_has_option(plan, bson_iter_key(&at)))
            bson_append_iter(plan->options, NULL, 0, &at);
    return true;
}

bool plan_gets_collation(const plan_t *plan, const index_spec_t *index) {
    return plan_has_asked(plan, index) && plan->spec->indexes[index - plan->indexes][0] != '{';
}

void target_keep_collations(target_t *target) {
    plan_t *plan = target->plan;
    for (size_t i = 0; target->place.collated && i < plan->index_count; i++)
        if (!plan_gets_collation(plan, &plan->indexes[i]))
            collection_keep_uncollated(&plan->indexes[i]);
}

/* Says which options an existing collection does not get. Those of a dump do not matter if the collection was loaded before. */
static void tell_kept(const target_t *target) {
    const plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    text_t asked = {.length = 0};
    if (spec->create || (target->place.empty && !bson_empty(plan->options)))
        ejson_append(&asked, plan->options, true);
    if (spec->compressor)
        text_print(&asked, "%s--compressor %s", asked.length ? " and " : "", spec->compressor);
    char *words = asked.length ? text_take_or_end(&asked) : NULL;
    if (words) /* if the collection was loaded before, its first load has warned */
        (target->place.empty ? log_warn : log_note)(
            "%s exists, and keeps its own options; these are for a new collection: %s",
            server_namespace(target->server), words);
    free(words);
}

bool target_may_make(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    const char *name = server_namespace(target->server);
    if (target->place.exists && !spec->drop) {
        tell_kept(target);
        return true;
    }
    if (bson_read_true(plan->options, "capped"))
        return err_set(err, STATUS_USAGE,
                       "a capped collection throws old documents away, and then it is not known whether all "
                       "were loaded. Create %s as a plain collection, load it, and make it capped afterwards "
                       "(convertToCapped). Nothing was touched",
                       name);
    if (plan_has_option(plan, "timeseries") || plan_has_option(plan, "viewOn"))
        return err_set(err, STATUS_USAGE,
                       "%s would be a %s, and only a plain collection can be loaded: create it as a plain "
                       "collection, and load it. Nothing was touched",
                       name, plan_has_option(plan, "viewOn") ? "view" : "time series");
    if (plan_has_option(plan, "expireAfterSeconds"))
        return err_set(
            err, STATUS_USAGE,
            "expireAfterSeconds removes documents by their age, and then it is not known whether all were "
            "loaded. Create %s without that, load it, and set it afterwards (collMod). Nothing was touched",
            name);
    if (plan_has_option(plan, "collation") && server_facts(target->server)->kind == SERVER_ROUTER &&
        !plan->one_shard)
        return err_set(err, STATUS_USAGE,
                       "%s would have a collation, and texts of a shard key are compared without one: leave "
                       "it on one shard with --shard-key none. Nothing was touched",
                       name);
    return true;
}
