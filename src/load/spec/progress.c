#include "load/spec/progress.h"
#include "base/clock.h"
#include "base/numbers/units.h"

#include <stdio.h>
#include <string.h>

enum { BAR_WIDTH = 20 };

void progress_start(progress_t *progress, uint64_t total_bytes) {
    *progress = (progress_t){.started_ns = clock_now_ns(), .total_bytes = total_bytes};
    log_progress_begin(&progress->said);
}

static void describe(const progress_t *progress, uint64_t bytes, uint64_t documents, char *line,
                     size_t room) {
    char read[UNITS_MAX], total[UNITS_MAX], count[UNITS_MAX], rate[UNITS_MAX], eta[UNITS_MAX];
    double seconds = (double)(clock_now_ns() - progress->started_ns) / 1e9;
    units_count(count, documents);
    units_rate(rate, seconds > 0 ? (double)documents / seconds : 0);
    units_size(read, bytes);
    if (!progress->total_bytes) {
        snprintf(line, room, "%s   %s docs   %s docs/s", read, count, rate);
        return;
    }
    double share = (double)bytes / (double)progress->total_bytes;
    share = share > 1 ? 1 : share;
    char bar[BAR_WIDTH + 1];
    memset(bar, '-', BAR_WIDTH);
    memset(bar, '#', (size_t)(share * BAR_WIDTH));
    bar[BAR_WIDTH] = '\0';
    double left = share > 0.01 ? seconds * (1 - share) / share : 0;
    units_seconds(eta, left);
    snprintf(line, room, "[%s] %3.0f%%  %s/%s   %s docs   %s docs/s%s%s", bar, share * 100, read,
             units_size(total, progress->total_bytes), count, rate, left > 0 ? "   eta " : "",
             left > 0 ? eta : "");
}

void progress_show(progress_t *progress, uint64_t bytes, uint64_t documents) {
    char line[256];
    if (!log_progress_is_due(&progress->said))
        return;
    describe(progress, bytes, documents, line, sizeof line);
    log_progress_say(&progress->said, line);
}

void progress_end(progress_t *progress) {
    log_progress_end(&progress->said);
}
