#include "study/supplies.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "format/format.h"
#include "input/manifest.h"
#include "load/before/guess_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool supplies_check_files(const load_spec_t *load, const char *why, size_t *count, err_t *err) {
    const manifest_options_t options = {.input_name = NULL};
    manifest_t manifest;
    if (!manifest_build(&manifest, load->inputs, load->input_count, &options, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < manifest.count; i++)
        if (manifest.files[i].kind == INPUT_STREAM)
            ok = err_set(err, STATUS_USAGE, "%s can be read once only, and %s: name a file",
                         strcmp(manifest.files[i].path, "-") == 0 ? "stdin" : manifest.files[i].name, why);
    *count = manifest.count;
    manifest_free(&manifest);
    return ok;
}

schema_t *supplies_find_format(const load_spec_t *load, char **guessed, err_t *err) {
    const manifest_options_t options = {.input_name = NULL};
    guessed_t found = {.yaml = NULL};
    manifest_t manifest;
    *guessed = NULL;
    if (load->format)
        return format_open(load->format, err);
    if (!manifest_build(&manifest, load->inputs, load->input_count, &options, err))
        return NULL;
    schema_t *schema = guess_inputs_open(&manifest, &load->guess, &found, err);
    if (schema) {
        *guessed = found.yaml;
        found.yaml = NULL;
    }
    guessed_free(&found);
    manifest_free(&manifest);
    return schema;
}

bool supplies_make_rejects(supplies_rejects_t *rejects, const char *study, const char *whose, err_t *err) {
    const char *temporary = getenv("TMPDIR");
    snprintf(rejects->folder, sizeof rejects->folder, "%s/tipple-%s-XXXXXX",
             temporary && *temporary ? temporary : "/tmp", study);
    if (!mkdtemp(rejects->folder)) {
        rejects->folder[0] = '\0';
        return err_set(err, STATUS_HOST, "no folder for what %s reject can be made in TMPDIR: %m", whose);
    }
    snprintf(rejects->path, sizeof rejects->path, "%s/rejects", rejects->folder);
    return true;
}

void supplies_remove_rejects(supplies_rejects_t *rejects) {
    if (!rejects->folder[0])
        return;
    unlink(rejects->path);
    rmdir(rejects->folder);
}

bool supplies_tell_rejects(const counts_t *counts) {
    if (!counts->rejected)
        return false;
    log_warn("%llu of %llu record%s of a sample %s rejected, and left out of it; `tipple parse` tells why",
             (unsigned long long)counts->rejected, (unsigned long long)counts->read, units_s(counts->read),
             counts->rejected == 1 ? "is" : "are");
    return true;
}

bool supplies_all_rejected(const load_spec_t *load, err_t *err) {
    if (err->status == STATUS_TOO_MANY_REJECTED && load->format)
        err_set(err, STATUS_TOO_MANY_REJECTED,
                "the first records of the sample were all rejected; is --format %s the right one for these "
                "files? `tipple parse` tells why",
                load->format);
    else if (err->status == STATUS_TOO_MANY_REJECTED)
        err_set(err, STATUS_TOO_MANY_REJECTED,
                "the first records of the sample were all rejected; `tipple parse` tells why");
    return false;
}

void supplies_make_sample(load_spec_t *load, uint64_t records) {
    load->trial = true;
    load->limit = records;
    load->watch_flushes = false;
    load->max_rejects = UINT64_MAX;
    load->max_rejects_percent = -1;
}

bool supplies_made_documents(const counts_t *counts, const char *what, err_t *err) {
    return counts->loaded ||
           err_set(
               err, STATUS_USAGE,
               "nothing can be %s: of %llu record%s of the sample no document came out (%llu were rejected, "
               "%llu filtered)",
               what, (unsigned long long)counts->read, units_s(counts->read),
               (unsigned long long)counts->rejected, (unsigned long long)counts->filtered);
}
