/* replacing: the checks of --existing keep and --existing replace. */
#include "base/log.h"
#include "base/numbers.h"
#include "catalog/register/turns.h"
#include "load/job/job.h"

#include <string.h>

bool job_find_existing(job_t *job, const char *bound, err_t *err) {
    const char *name = bound ? bound : job->spec->existing;
    return existing_named(name, &job->existing) ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded with --existing %s by another version of tipple: use that version",
                   server_namespace(job->server), name);
}

bool job_check_existing(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const char *name = existing_names[job->existing];
    if (job->existing != EXISTING_REJECT && !job->schema->id)
        return err_set(err, STATUS_USAGE,
                       "--existing %s goes with _ids that are the data's own, and here they are places of "
                       "records, which no two records share: give --id FIELD, or leave it out",
                       name);
    if (job->existing == EXISTING_REPLACE && spec->unsafe && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--existing replace does not go with --unsafe: what an election loses could not be "
                       "replaced in its order again; leave one of them out");
    return true;
}

enum { WARNINGS = 3 };

/* It was moved or copied; or it has come back, as a list does whose last change was taken back. */
static void tell_old_content(const registration_t *registering, const entries_t *all) {
    size_t told = 0;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        const char *since = turns_since(registering, wanted, all);
        if (since && told++ < WARNINGS)
            log_warn("%s has the name and content of %s, but another time of modification, and %s was loaded "
                     "since: nothing of it is loaded again. If its records are to be the newest, `tipple "
                     "forget` %s#%u, and load it again",
                     wanted->name, wanted->entry.path, since, wanted->entry.path, wanted->entry.ordinal);
    }
    if (told > WARNINGS)
        log_warn("... and %zu more file%s of which nothing is loaded again", told - WARNINGS,
                 units_s(told - WARNINGS));
}

bool job_check_turns(job_t *job, err_t *err) {
    registration_t *registering = &job->registration;
    if (job->existing != EXISTING_REPLACE)
        return true;
    registering->read_only = true;
    places_t *places = places_read(job->store, err);
    const bool ok = places && catalog_register(job->store, registering, err) &&
                    turns_check(registering, places_entries(places), err);
    if (ok)
        tell_old_content(registering, places_entries(places));
    register_free(registering);
    registering->read_only = false;
    places_free(places);
    return ok;
}
