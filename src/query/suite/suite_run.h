/* suite_run: how a suite says that it is measured. Read-only afterwards; any thread. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_RUN_H
#define TIPPLE_QUERY_SUITE_SUITE_RUN_H

#include "base/yaml_tree.h"

enum { SUITE_MOST_CHOICES = 16, SUITE_MOST_CLIENTS = 1024 };

/* How the suite's own measurement was made; 0: it does not say. Options on the command line win. */
typedef struct {
    uint32_t repeats, warmups; /* warmups SUITE_UNSAID: it does not say */
    int64_t duration_ns;
    uint32_t clients[SUITE_MOST_CHOICES];
    const char *reads[SUITE_MOST_CHOICES]; /* words of suite_read_modes */
    size_t client_choices, reads_choices;
} suite_run_t;

#define SUITE_UNSAID UINT32_MAX

/* primary, secondary, ...; their number. */
extern const char *const suite_read_modes[];
extern const size_t suite_read_mode_count;

/* map NULL: the suite says nothing. */
bool suite_read_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err);
/* Of a query, which has clients alone. */
bool suite_read_query_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err);

#endif
