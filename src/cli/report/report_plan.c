#include "cli/report/report_plan.h"
#include "base/numbers/units.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>

static void say(report_t *report, const planned_t *planned) {
    const plan_t *plan = planned->plan;
    const char *about = planned->spec->estimated ? "About " : "";
    char took[SCALE_TEXT], rate[SCALE_TEXT], documents[SCALE_TEXT];
    const char *s = units_s((uint64_t)planned->spec->documents);
    scale_value(documents, planned->spec->documents, "documents");
    if (plan->limit == PLAN_LIMITS)
        report_say(report, STATUS_OK, "%s%s document%s: nothing is known that takes time.", about, documents,
                   s);
    else
        report_say(report, STATUS_OK, "%s%s document%s would be loaded in %s, at %s, limited by %s.", about,
                   documents, s, scale_value(took, plan->load, "s"),
                   scale_value(rate, plan->documents_per_second, "documents/s"),
                   plan_limit_names[plan->limit].name);
}

static void add_result(report_t *report, const bson_t *document) {
    static const struct {
        const char *name, *path, *unit;
    } figures[] = {{"the load takes", "load_seconds", "s"},
                   {"documents a second", "documents_per_second", "documents/s"},
                   {"a look at every document takes", "scan.seconds", "s"},
                   {"BSON", "bson_bytes", "bytes"},
                   {"data on disk", "stored_bytes", "bytes"},
                   {"indexes", "index_bytes", "bytes"},
                   {"on disk of a server", "server_bytes", "bytes"},
                   {"servers", "servers", "servers"},
                   {"servers needed for the data", "servers_needed", "servers"},
                   {"documents of a shard, about", "shard_documents", "documents"},
                   {"cost until it is done", "cost", ""},
                   {"cost of the servers, a year", "price_per_year", ""}};
    report_begin(
        report, REPORT_FIGURES, "Result",
        "Computed, not measured: nothing was connected to. docs/planning.md says how far such a plan "
        "can be trusted.");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const double value = bson_read_number(document, figures[i].path);
        if (value > 0) /* what is not known is 0 */
            report_figure(report, figures[i].name, value, figures[i].unit);
    }
    report_end(report);
}

static void add_limits(report_t *report, const planned_t *planned) {
    const plan_t *plan = planned->plan;
    report_begin(
        report, REPORT_BARS, "What could hold the load back",
        "How long the load would take if nothing else took time; and how many times as fast each has "
        "to be to load in half of the time.");
    report_column(report, "part", "");
    report_bar_column(report, "alone", "s", 0);
    report_column(report, "for half of the time", "");
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++) {
        if (plan->use[limit] <= 0)
            continue;
        report_row(report);
        report_word(report, plan_limit_names[limit].name);
        report_number(report, plan->use[limit]);
        report_number(report, plan_ease(plan, limit));
    }
    report_end(report);
}

static void add_indexes(report_t *report, const planned_t *planned) {
    if (!planned->spec->index_count)
        return;
    report_begin(report, REPORT_BARS, "Indexes", "Built after the load, one after the other.");
    report_column(report, "keys", "");
    report_bar_column(report, "takes", "s", 0);
    for (size_t i = 0; i < planned->spec->index_count; i++) {
        report_row(report);
        report_word(report, planned->spec->indexes[i].keys);
        report_number(report, planned->plan->indexes[i].seconds);
    }
    report_end(report);
}

static void add_compressors(report_t *report, const bson_t *document) {
    bson_t item;
    report_begin(report, REPORT_BARS, "Compressors", NULL);
    report_column(report, "compressor", "");
    report_bar_column(report, "data on disk", "bytes", 0);
    report_column(report, "the load takes", "s");
    for (size_t at = 0; result_item(document, "compressors", at, &item); at++) {
        if (!bson_read_text(&item, "name"))
            continue;
        report_row(report);
        report_word(report, bson_read_text(&item, "name"));
        report_number(report, bson_read_number(&item, "stored_bytes"));
        report_number(report, bson_read_number(&item, "load_seconds"));
    }
    report_end(report);
}

static void add_simulation(report_t *report, const planned_t *planned) {
    char note[700];
    if (!planned->simulation)
        return;
    snprintf(note, sizeof note,
             "Played %u time%s, with servers of different speed that fail. All shards in step: loaders send "
             "to all shards in "
             "turn, as tipple load does, so the slowest shard sets the pace. A loader for each shard: each "
             "is filled at its "
             "own speed. Others take over: and where a loader fails, another goes on. Lanes handed out "
             "again: and a shard "
             "that is done takes parts of the data (lanes) from those that are not.",
             planned->values->simulation.runs, units_s(planned->values->simulation.runs));
    report_begin(report, REPORT_BARS, "With slow and failing servers", note);
    report_column(report, "way", "");
    report_bar_column(report, "half of the loads take at most", "s", 0);
    report_column(report, "1 of 20 takes less than", "s");
    report_column(report, "19 of 20 take at most", "s");
    report_column(report, "the longest", "s");
    report_column(report, "waiting for the last", "%");
    report_column(report, "failures", "");
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        const simulate_figures_t *figures = &planned->simulation[way];
        report_row(report);
        report_word(report, simulate_names[way]);
        report_number(report, figures->p50);
        report_number(report, figures->p5);
        report_number(report, figures->p95);
        report_number(report, figures->most);
        report_number(report, 100 * figures->waiting);
        report_number(report, figures->failed);
    }
    report_end(report);
}

static void add_settings(report_t *report, const planned_t *planned) {
    const plan_spec_t *spec = planned->spec;
    report_set_text(report, "format", planned->values->format);
    report_set_text(report, "compressor", planned->values->compressor);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"documents", spec->documents},
                   {"bytes a document", spec->document_bytes},
                   {"shards", spec->shards},
                   {"members of a shard", spec->replicas},
                   {"routers", spec->routers},
                   {"loaders", spec->loaders},
                   {"loader's CPU a document, us", spec->client_us},
                   {"router's CPU a document, us", spec->router_us},
                   {"primary's CPU a document, us", spec->primary_us},
                   {"secondary's CPU a document, us", spec->secondary_us},
                   {"bytes on disk for one of BSON", spec->stored_ratio}};
    const struct {
        const char *name;
        double value;
    } given[] = {{"disks write, bytes/s", spec->disk_write},    {"disks read, bytes/s", spec->disk_read},
                 {"disks, operations/s", spec->iops},           {"disk of a server, bytes", spec->disk_bytes},
                 {"network, bytes/s", spec->network},           {"cores of a server", spec->cores},
                 {"memory of a server, bytes", spec->ram_bytes}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        report_set_number(report, numbers[i].name, numbers[i].value);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].value > 0) /* what is not known is 0 */
            report_set_number(report, given[i].name, given[i].value);
}

report_t *report_plan(const planned_t *planned, const bson_t *document) {
    char shards[UNITS_MAX], target[UNITS_MAX + 16];
    report_t *report = report_new("plan");
    snprintf(target, sizeof target, "%s shard%s",
             units_count(shards, (uint64_t)llround(planned->spec->shards)),
             planned->spec->shards == 1 ? "" : "s");
    report_head(report, target, "", "tipple plan");
    say(report, planned);
    add_result(report, document);
    add_limits(report, planned);
    add_indexes(report, planned);
    add_compressors(report, document);
    add_simulation(report, planned);
    add_settings(report, planned);
    return report;
}
