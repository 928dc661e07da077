#include "cli/reporting.h"
#include "base/log.h"
#include "report/scale.h"

int reporting_end(report_t *report, const char *path, const again_t *again, const char *uri, int status,
                  err_t *err) {
    char *shown = uri ? again_conceal(uri, uri) : NULL, *line = again_line(again, uri);
    err_t problem;
    report_set_text(report, "uri", shown);
    report_set_text(report, "again", line);
    bson_free(shown);
    bson_free(line);
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

bool reporting_is_trouble(int status) {
    return status != STATUS_OK && status != STATUS_SOME_REJECTED;
}

char *reporting_trouble(int status, double seconds, const err_t *err) {
    char took[SCALE_TEXT];
    scale_value(took, seconds, "s");
    if (status == STATUS_INTERRUPTED || status == STATUS_TERMINATED)
        return bson_strdup_printf("Interrupted after %s", took);
    return bson_strdup_printf("Failed after %s: %s", took, err->text);
}
