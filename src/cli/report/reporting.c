#include "cli/report/reporting.h"
#include "base/log.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <stdlib.h>

int reporting_run(const command_t *command, int argc, char **argv, void *values, reporting_body_t *body,
                  err_t *err) {
    int rest, status;
    again_t again;
    again_keep(&again, command, argc, argv);
    if (cli_read(command, argc, argv, values, &rest, &status, err))
        status = body(values, argv, rest, &again, err);
    cli_free(command, values);
    again_free(&again);
    return status;
}

int reporting_end(report_t *report, const char *path, const again_t *again, const char *uri, int status,
                  err_t *err) {
    char *shown = uri ? again_conceal(uri, uri) : NULL, *line = again_line(again, uri);
    err_t problem;
    report_set_text(report, "uri", shown);
    report_set_text(report, "again", line);
    bson_free(shown);
    free(line);
    const bool ok = report_write(report, path, &problem);
    report_free(report);
    if (ok)
        return status;
    if (reporting_is_trouble(status)) {
        log_warn("%s", problem.text);
        return status;
    }
    *err = problem;
    return (int)problem.status;
}

bool reporting_of_none(const char *path, err_t *err) {
    return !path ||
           err_set(err, STATUS_USAGE,
                   "--report is of one collection, and the URI names none: leave the option out, or name "
                   "one in the URI");
}

bool reporting_is_trouble(int status) {
    return status != STATUS_OK && status != STATUS_SOME_REJECTED;
}

bool reporting_is_interrupted(int status) {
    return status == STATUS_INTERRUPTED || status == STATUS_TERMINATED || status == STATUS_HUNG_UP;
}

char *reporting_trouble(int status, double seconds, const err_t *err) {
    char took[SCALE_TEXT];
    scale_value(took, seconds, "s");
    if (reporting_is_interrupted(status))
        return bson_strdup_printf("Interrupted after %s", took);
    return bson_strdup_printf("Failed after %s: %s", took, err->text);
}

void reporting_figure(report_t *report, const bson_t *result, const char *name, const char *path,
                      const char *unit) {
    report_figure(report, name, bson_read_number(result, path), unit);
}

/* Only as far as so many tell: some lie beyond each percentile that is given. */
void reporting_latencies(report_t *report, const hist_t *times, const char *name) {
    static const double percents[] = {0,  10,   25,   50,   75,    90,    95,    98,
                                      99, 99.5, 99.8, 99.9, 99.95, 99.98, 99.99, 99.999};
    report_series(report, name);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
        if (times->moments.count && (double)times->moments.count * (100 - percents[i]) >= 100 * (1 - 1e-9))
            report_point(report, percents[i], hist_quantile_ns(times, percents[i] / 100) / 1e6);
    if (times->moments.count)
        report_point(report, 100, (double)times->most_ns / 1e6);
}
