/* coverage: how often the intervals of query/ratio.h hold the true ratio, on drawn rounds. tests/core/test_ratio.c has the
 * part of it that takes seconds; this is all of it, and it draws single requests as well.
 *
 *     coverage [RUNS]       10,000 by default, which takes about five minutes of a quiet core
 *
 * For each kind of noise (lib/drawn_rounds.h), of 6, 10 and 20 rounds: percent of intervals that hold the truth, of times of
 * rounds, and of medians and 99th percentiles of rounds of 100 requests, which scatter by 50 %; and the middle width of the
 * first, as how many times as long its upper end is as its lower one. Rounds of two runs that are alike by more than 0.5, or
 * that drift, are shown, but not promised. Prints a table in Markdown. */
#include "drawn_rounds.h"
#include "query/hist.h"
#include "query/ratio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 20, REQUESTS = 100 };
static const size_t sizes[] = {6, 10, 20};
static const double truth = 1.3, scatter = 0.5;

typedef enum { TIMES, MEDIANS, TAILS, FIGURES } figure_t;

/* A figure of requests around each time. */
static void ask(double *times, size_t rounds, figure_t figure, uint64_t *seed) {
    static hist_t hist;
    for (size_t i = 0; figure != TIMES && i < rounds; i++) {
        memset(&hist, 0, sizeof hist);
        for (int k = 0; k < REQUESTS; k++)
            hist_add(&hist, (int64_t)(1e6 * times[i] * exp(scatter * drawn_normal(seed))));
        times[i] = hist_quantile_ns(&hist, figure == MEDIANS ? 0.5 : 0.99);
    }
}

static ratio_t draw_turns(const drawn_noise_t *noise, size_t rounds, figure_t figure, uint64_t *seed) {
    double moments[2 * MOST_ROUNDS], of[MOST_ROUNDS], to[MOST_ROUNDS];
    drawn_times(noise, seed, moments, 2 * rounds);
    for (size_t i = 0; i < rounds; i++) {
        const size_t first = drawn_bits(seed) & 1;
        of[i] = moments[2 * i + first] * truth;
        to[i] = moments[2 * i + !first];
    }
    ask(of, rounds, figure, seed);
    ask(to, rounds, figure, seed);
    return ratio_in_turns(of, to, rounds);
}

static ratio_t draw_runs(const drawn_noise_t *noise, size_t rounds, figure_t figure, uint64_t *seed) {
    double of[MOST_ROUNDS], to[MOST_ROUNDS];
    drawn_times(noise, seed, to, rounds);
    drawn_times(noise, seed, of, rounds);
    for (size_t i = 0; i < rounds; i++)
        of[i] *= truth;
    ask(of, rounds, figure, seed);
    ask(to, rounds, figure, seed);
    return ratio_of_runs(of, rounds, to, rounds);
}

static int in_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show(const char *what, ratio_t (*draw)(const drawn_noise_t *, size_t, figure_t, uint64_t *),
                 size_t runs) {
    double *widths = malloc(runs * sizeof *widths);
    if (!widths)
        exit(1);
    for (size_t i = 0; i < DRAWN_NOISES; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            printf("| %s | %s | %zu |", what, drawn_noises[i].name, sizes[k]);
            for (figure_t figure = TIMES; figure < FIGURES; figure++) {
                uint64_t seed = 66;
                size_t held = 0;
                for (size_t run = 0; run < runs; run++) {
                    const ratio_t ratio = draw(&drawn_noises[i], sizes[k], figure, &seed);
                    held += ratio.low <= truth && truth <= ratio.high;
                    widths[run] = figure == TIMES ? ratio.high / ratio.low : widths[run];
                }
                printf(" %.1f |", 100 * (double)held / (double)runs);
            }
            qsort(widths, runs, sizeof *widths, in_order);
            printf(" %.2f |\n", widths[runs / 2]);
            fflush(stdout);
        }
    free(widths);
}

int main(int count, char **words) {
    const size_t runs = count > 1 ? strtoul(words[1], NULL, 10) : 10000;
    if (!runs)
        return 1;
    printf("| compared | noise | rounds | held, %% | medians | 99th percentiles | width "
           "|\n|---|---|---|---|---|---|---|\n");
    show("in turns", draw_turns, runs);
    show("two runs", draw_runs, runs);
    return 0;
}
