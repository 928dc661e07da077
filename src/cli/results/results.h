/* results: what each command found, as a result (report/result.h): the figures that docs/automate.md lists, under their
 * keys, and the views that the terminal and the page of --report show. One file a command. Main thread, when the work is
 * done; also after a failure, with what was found until then.
 *
 *     result_t *result = results_load(&spec, &found, status, err);
 *     return cli_end(run, result, true, status, err); */
#ifndef TIPPLE_CLI_RESULTS_RESULTS_H
#define TIPPLE_CLI_RESULTS_RESULTS_H

#include "cli/options/cli.h"
#include "query/query.h"
#include "study/drill/drill.h"
#include "study/tune/tune.h"
#include "verify/verify.h"

#include <stdio.h>

/* ---- for the commands ---- */

result_t *results_load(const load_spec_t *spec, const load_result_t *load, int status, const err_t *err);
result_t *results_verify(const verify_spec_t *spec, const verify_result_t *verify, int status,
                         const err_t *err);
/* then: what compare_read read; NULL without --compare. */
result_t *results_query(const query_spec_t *spec, const query_result_t *query, int status, const err_t *err);
result_t *results_tune(const tune_spec_t *spec, const tune_result_t *tune, int status, const err_t *err);
/* within: seconds, or 0. history: a file to which a drill that finished is appended; or NULL. */
result_t *results_drill(const drill_spec_t *spec, const drill_result_t *drill, double within, FILE *history,
                        int status, const err_t *err);
/* Of several collections. */
result_t *results_drills(const drill_result_t *drills, size_t count, double within, int status,
                         const err_t *err);

/* The answers of a query, a document a line; named: each after its query's name. The requests that would be sent. */
void results_print_answers(const query_result_t *query, bool named);
void results_print_plans(const query_result_t *query);

/* ---- what a drill has of its load ---- */

/* The list of indexes that were built. */
result_field_t results_indexes(const load_result_t *load);
/* How many documents a second were loaded, and its view. */
void results_put_course(bson_t *to, const timeline_t *course, const server_checkpoints_t *checkpoints);
#define RESULTS_COURSE                                                                                       \
    CHART("-course", "-bands", "Documents a second", "{-checkpoints}", COLUMN("seconds", "time"),            \
          COLUMN("docs_per_second", "documents a second"))

#endif
