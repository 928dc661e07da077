#include "cli/pages/man_files.h"
#include "base/log.h"
#include "builtin/builtin.h"
#include "cli/pages/roff.h"
#include "cli/pages/suite_keys.h"
#include "format/schema/schema.h"
#include "format/schema/schema_keys.h"
#include "query/suite/suite.h"

#include <stdio.h>
#include <string.h>

/* A heading of our tables has `words` in it, which are no bold ones in a heading. */
static void print_heading(const char *title) {
    out_print(".SS ");
    for (; *title; title++)
        if (*title != '`')
            out_bytes(title, 1);
    out_print("\n");
}

/* A timestamp is a datetime, and both are dates, which have other patterns. */
static bool same_type(const schema_type_t *a, const schema_type_t *b) {
    return a->type == b->type && (strcmp(a->name, "date") == 0) == (strcmp(b->name, "date") == 0);
}

static void print_types(void) {
    char types[600] = "";
    size_t used = 0;
    for (size_t i = 0; i < SCHEMA_TYPES && used < sizeof types; i++) {
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known = known || same_type(&schema_types[i], &schema_types[j]);
        if (known)
            continue;
        used += (size_t)snprintf(types + used, sizeof types - used, "%s`%s`", used ? ", " : "",
                                 schema_types[i].name);
        for (size_t j = i + 1; j < SCHEMA_TYPES && used < sizeof types; j++)
            if (same_type(&schema_types[i], &schema_types[j]))
                used += (size_t)snprintf(types + used, sizeof types - used, " or `%s`", schema_types[j].name);
    }
    out_print(".SH TYPES\n");
    roff_text(types);
}

void man_print_formats(void) {
    roff_title("formats", 5, "files that say how records are read");
    out_print(".SH DESCRIPTION\n");
    roff_text("A format file says how records are cut, which fields they have, and which documents they "
              "become. It is YAML, and is given by its path: `--format ./my.yaml`. `tipple formats --guess "
              "FILE` writes one for a file, `tipple formats --show NAME` prints a built-in one, and `tipple "
              "formats --check ./my.yaml` says what is wrong with one, with line and column.");
    out_print(".SH KEYS\n");
    for (size_t i = 0; i < KEYS_PARTS; i++) {
        print_heading(schema_keys[i].title);
        for (size_t j = 0; j < KEYS_MOST && schema_keys[i].keys[j].key; j++)
            roff_entry(schema_keys[i].keys[j].key, schema_keys[i].keys[j].is);
    }
    print_types();
    out_print(".SH BUILT\\-IN FORMATS\n");
    for (const builtin_t *builtin = builtin_formats; builtin->name; builtin++) {
        err_t err;
        schema_t *schema = schema_parse(builtin->text, builtin->length, builtin->name, &err);
        if (!schema)
            continue;
        roff_entry(schema->name, schema->about);
        schema_destroy(schema);
    }
    out_print(".SH EXAMPLES\n");
    roff_lines("format: orders\n"
               "about: orders as the shop exports them\n"
               "record: {delimiter: ';', header: yes}\n"
               "fields:\n"
               "  - {name: order_id, key: order, type: int}\n"
               "  - {name: ordered_at, type: datetime, pattern: 'DD.MM.YYYY hh:mm'}\n"
               "  - {name: amount, type: decimal, decimal: ','}");
    out_print(".SH SEE ALSO\n.BR tipple\\-formats (1),\n.BR tipple\\-load (1)\n");
}

void man_print_suites(void) {
    roff_title("suites", 5, "files of queries to be timed");
    out_print(".SH DESCRIPTION\n");
    roff_text("A suite says which queries `tipple query` times, with which parameters, and what is printed "
              "of them. It is YAML, and is given by its path: `--suite ./my.yaml`. `tipple query --show "
              "NAME` prints a built-in one. The whole file is checked before anything runs; a mistake is "
              "refused with its line and column.");
    out_print(".SH KEYS\n");
    for (size_t i = 0; i < SUITE_PARTS; i++) {
        print_heading(suite_keys[i].title);
        for (size_t j = 0; j < SUITE_KEYS_MOST && suite_keys[i].keys[j].key; j++)
            roff_entry(suite_keys[i].keys[j].key, suite_keys[i].keys[j].is);
    }
    out_print(".SH BUILT\\-IN SUITES\n");
    for (const builtin_t *builtin = builtin_suites; builtin->name; builtin++) {
        err_t err;
        suite_t *suite = suite_parse(builtin->text, builtin->length, builtin->name, &err);
        if (suite)
            roff_entry(suite->name, suite->about ? suite->about : "");
        suite_close(suite);
    }
    out_print(".SH EXAMPLES\n");
    roff_lines("suite: own\n"
               "params: {make: FORD}\n"
               "queries:\n"
               "  - name: colours\n"
               "    pipeline:\n"
               "      - {$match: {k: {$param: make}}}\n"
               "      - {$group: {_id: $u, tests: {$sum: 1}}}\n"
               "  - name: newest\n"
               "    find: {filter: {k: {$param: make}}, sort: {d: -1}, limit: 10}\n"
               "    setup: {indexes: [{key: {k: 1, d: -1}}]}");
    out_print(".SH SEE ALSO\n.BR tipple\\-query (1)\n");
}
