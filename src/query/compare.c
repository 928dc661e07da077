#include "query/compare.h"
#include "base/log.h"
#include "base/text.h"
#include "server/bson_read.h"

#include <bson/bson.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Student's t ---- */

/* From here on, the normal distribution with four correction terms is exact to twelve digits, and logarithms of large
 * factorials are not. */
static const double NEARLY_NORMAL = 1000;

static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* Keeps a continued fraction away from a division by zero. */
static double not_zero(double x) {
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (Lentz's method, from its first step on):
 *
 *     1     d1    d2                  -(a + m)(a + b + m) x               m (b - m) x
 *    ----- ----- -----  ...   d2m+1 = -----------------------,   d2m = -----------------------
 *     1 +   1 +   1 +                 (a + 2m)(a + 2m + 1)             (a + 2m - 1)(a + 2m) */
static double beta_fraction(double a, double b, double x) {
    enum { MOST_STEPS = 10000 };
    double value = 1, c = INFINITY, d = 1;
    for (int step = 1; step < MOST_STEPS; step++) {
        const double m = step / 2;
        const double term = step % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                     : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + term * d);
        c = not_zero(1 + term / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return value;
}

/* The share of a beta distribution below x. The fraction converges fast only on one side of the mean. */
static double beta_below(double a, double b, double x) {
    if (x <= 0 || x >= 1)
        return x > 0;
    const double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x > (a + 1) / (a + b + 2))
        return 1 - front * beta_fraction(b, a, 1 - x) / b;
    return front * beta_fraction(a, b, x) / a;
}

/* The probability to be farther from zero than t, on either side. With infinite freedom: of the normal distribution. */
static double student_beyond(double t, double freedom) {
    return isinf(freedom) ? erfc(t / sqrt(2)) : beta_below(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The slope of student_beyond. */
static double student_slope(double t, double freedom) {
    const double at_zero = isinf(freedom) ? sqrt(2 / M_PI)
                                          : 2 * exp(log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2)) /
                                                sqrt(freedom * M_PI);
    return at_zero * (isinf(freedom) ? exp(-t * t / 2) : exp(-(freedom + 1) / 2 * log1p(t * t / freedom)));
}

/* Newton's method: the function falls ever more slowly, so steps from zero never go too far. */
static double find_student(double beyond, double freedom) {
    enum { MOST_STEPS = 2000 };
    double t = 0;
    for (int i = 0; i < MOST_STEPS; i++) {
        const double step = (student_beyond(t, freedom) - beyond) / student_slope(t, freedom);
        if (!(step > 1e-15 * t))
            break;
        t += step;
    }
    return t;
}

/* The expansion of Cornish and Fisher. */
static double expand(double z, double freedom) {
    const double z2 = z * z, a = (z2 + 1) / 4, b = ((5 * z2 + 16) * z2 + 3) / 96,
                 c = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
                 d = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z * (1 + (a + (b + (c + d / freedom) / freedom) / freedom) / freedom);
}

double compare_student(double probability, double freedom) {
    const double beyond = 2 * (1 - probability);
    return freedom > NEARLY_NORMAL ? expand(find_student(beyond, INFINITY), freedom)
                                   : find_student(beyond, freedom);
}

/* ---- ratios ---- */

/* The variance of the logarithm of a mean. */
static double variance(sample_t sample) {
    return sample.sd * sample.sd / ((double)sample.n * sample.mean * sample.mean);
}

ratio_t compare_means(sample_t before, sample_t now) {
    ratio_t ratio = {NAN, NAN, NAN, false, false, false};
    if (!before.n || !now.n || !(before.mean > 0) || !(now.mean > 0))
        return ratio;
    ratio.times = now.mean / before.mean;
    if (before.n < 2 || now.n < 2 || !(before.sd >= 0) || !(now.sd >= 0))
        return ratio;
    const double a = variance(before), b = variance(now);
    const double freedom = (a + b) * (a + b) / (a * a / (double)(before.n - 1) + b * b / (double)(now.n - 1));
    const double wide = a + b > 0 ? compare_student(0.975, freedom) * sqrt(a + b) : 0;
    ratio.low = ratio.times * exp(-wide);
    ratio.high = ratio.times * exp(wide);
    ratio.differs = ratio.low > 1 || ratio.high < 1;
    return ratio;
}

const char *compare_verdict(const ratio_t *ratio) {
    return ratio->other        ? "another question"
           : ratio->nothing    ? "another answer"
           : isnan(ratio->low) ? "not known: too few"
           : !ratio->differs   ? "noise"
           : ratio->times < 1  ? "faster"
                               : "slower";
}

/* ---- an earlier run's results ---- */

/* What a measurement can have taken: from a nanosecond to thirty thousand years. */
static const double SHORTEST_MS = 1e-6, LONGEST_MS = 1e15;

/* Reads a whole file, or a pipe; *size is at most COMPARE_MOST_BYTES. */
static char *read_file(const char *path, size_t *size, err_t *err) {
    char part[16 * 1024];
    text_t text = {.length = 0};
    size_t got = 0;
    FILE *file = fopen(path, "re");
    bool ok = file;
    while (ok && text.length <= COMPARE_MOST_BYTES && (got = fread(part, 1, sizeof part, file)) > 0)
        text_append_bytes(&text, part, got);
    ok = ok && !ferror(file);
    if (!ok)
        err_set(err, err_status_of(errno), "--compare: %s cannot be read: %m", path);
    if (file)
        fclose(file);
    if (ok && text.length > COMPARE_MOST_BYTES)
        ok = err_set(err, STATUS_USAGE,
                     "--compare: %s is larger than %d MB, which no result of `tipple query --json` is", path,
                     COMPARE_MOST_BYTES >> 20);
    *size = text.length;
    if (ok)
        return text_take(&text, err);
    text_free(&text);
    return NULL;
}

static bool broken(const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_USAGE, "--compare: %s is not what `tipple query --json` printed: %.*s", path,
                   (int)strcspn(what, "\n"), what);
}

/* Behind the quote that ends a text; at: behind the one that begins it. */
static const char *behind_text(const char *at, const char *end) {
    for (; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* Behind the bracket that closes this one; the end, where none does. */
static const char *behind_brackets(const char *at, const char *end) {
    for (size_t depth = 0; at < end;) {
        const char byte = *at++;
        if (byte == '"')
            at = behind_text(at, end);
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        if (!depth)
            break;
    }
    return at;
}

/* Empties whatever is nested but the result itself, its list of queries, and these: an answer holds other people's data,
 * of which not all that was printed can be read again ({"$oid": "x"} where that is a field's name, or very deep). Returns
 * the size that is left. */
static size_t leave_out_data(char *text, size_t size) {
    static const char queries[] = "\"queries\"";
    const char *end = text + size;
    char *to = text;
    bool is_list = false; /* what follows the last text */
    size_t depth = 0;
    for (const char *at = text; at < end;) {
        const char *from = at++;
        const bool opens = *from == '{' || *from == '[';
        if (*from == '"') {
            at = behind_text(at, end);
            is_list =
                (size_t)(at - from) == sizeof queries - 1 && memcmp(from, queries, sizeof queries - 1) == 0;
        } else if (opens && (depth == 1 ? !is_list : depth > 2)) {
            *to++ = *from;
            at = behind_brackets(from, end);
            from = at - 1;
        } else if (opens) {
            depth++;
        } else if (*from == '}' || *from == ']') {
            depth -= depth > 0;
        }
        memmove(to, from, (size_t)(at - from));
        to += at - from;
    }
    return (size_t)(to - text);
}

/* Parses the one JSON document of a file. */
static bool parse(const char *path, char *text, size_t size, bson_t *document, err_t *err) {
    bson_error_t error;
    size = leave_out_data(text, size);
    bson_json_reader_t *reader = bson_json_data_reader_new(false, 0);
    bson_t more = BSON_INITIALIZER;
    bson_json_data_reader_ingest(reader, (const uint8_t *)text, size);
    int found = bson_json_reader_read(reader, document, &error);
    bool ok = found > 0 || broken(path, found ? error.message : "there is nothing in it", err);
    if (ok && bson_json_reader_read(reader, &more, &error) != 0)
        ok = broken(path, "something follows after the result", err);
    bson_json_reader_destroy(reader);
    bson_destroy(&more);
    return ok;
}

/* NAN for null or a missing field. False: it is not a number. */
static bool take_number(const bson_t *entry, const char *key, double *value) {
    bson_iter_t at;
    *value = NAN;
    if (!bson_iter_init_find(&at, entry, key) || BSON_ITER_HOLDS_NULL(&at))
        return true;
    if (!BSON_ITER_HOLDS_NUMBER(&at))
        return false;
    *value = bson_iter_as_double(&at);
    return true;
}

/* "" for null or a missing field. NULL: it is not a text, or memory is out. */
static char *take_text(const bson_t *entry, const char *key) {
    bson_iter_t at;
    if (!bson_iter_init_find(&at, entry, key) || BSON_ITER_HOLDS_NULL(&at))
        return strdup("");
    return BSON_ITER_HOLDS_UTF8(&at) ? strdup(bson_iter_utf8(&at, NULL)) : NULL;
}

/* Returns what is wrong with the entry; NULL: nothing. */
static const char *take_entry(const bson_t *entry, earlier_t *earlier) {
    const struct {
        const char *key;
        char **to;
    } texts[] = {{"name", &earlier->name},
                 {"with", &earlier->with},
                 {"reads", &earlier->reads},
                 {"question", &earlier->question}};
    double clients, n, empty, failures;
    const struct {
        const char *key;
        double *to;
    } numbers[] = {{"clients", &clients},
                   {"n", &n},
                   {"empty", &empty},
                   {"failures", &failures},
                   {"mean_ms", &earlier->ms.mean},
                   {"sd_ms", &earlier->ms.sd}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i].to = take_text(entry, texts[i].key)))
            return texts[i].key;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!take_number(entry, numbers[i].key, numbers[i].to))
            return numbers[i].key;
    if (!*earlier->name)
        return "name";
    if (!(clients >= 1 && clients <= UINT32_MAX && clients == floor(clients)))
        return "clients";
    if (!(n >= 0 && n < 1e18 && n == floor(n)))
        return "n";
    if (earlier->ms.mean < SHORTEST_MS || earlier->ms.mean > LONGEST_MS) /* not known is NAN, and neither */
        return "mean_ms";
    if (earlier->ms.sd < 0 || earlier->ms.sd > LONGEST_MS)
        return "sd_ms";
    earlier->clients = (uint32_t)clients;
    earlier->ms.n = (uint64_t)n;
    earlier->nothing = n > 0 && empty == n;
    if (failures > 0)
        earlier->ms = (sample_t){0, NAN, NAN};
    return NULL;
}

static bool take_entries(const char *path, const bson_t *document, earlier_list_t *list, err_t *err) {
    bson_iter_t at, entries;
    size_t count = 0;
    if (!bson_iter_init_find(&at, document, "queries") || !BSON_ITER_HOLDS_ARRAY(&at))
        return broken(path, "it has no list 'queries'", err);
    for (bson_iter_recurse(&at, &entries); bson_iter_next(&entries);)
        count++;
    if (!(list->items = calloc(count + 1, sizeof *list->items)))
        return err_memory(err, count * sizeof *list->items);
    for (bson_iter_recurse(&at, &entries); bson_iter_next(&entries);) {
        const char *wrong = "name";
        bson_t entry;
        char what[100];
        size_t number = list->count++;
        if (bson_read_document(&entries, &entry) && !(wrong = take_entry(&entry, &list->items[number])))
            continue;
        snprintf(what, sizeof what, "number %zu of its 'queries' has no '%s', or none that can be used",
                 number + 1, wrong);
        return broken(path, what, err);
    }
    return true;
}

static bool take_head(const char *path, const bson_t *document, earlier_list_t *list, err_t *err) {
    bson_iter_t at;
    double schema;
    char what[100];
    if (!bson_iter_init_find(&at, document, "command") || !BSON_ITER_HOLDS_UTF8(&at))
        return broken(path, "it does not say which command it is of", err);
    if (strcmp(bson_iter_utf8(&at, NULL), "query") != 0) {
        snprintf(what, sizeof what, "it is of `tipple %.40s`", bson_iter_utf8(&at, NULL));
        return broken(path, what, err);
    }
    if (!take_number(document, "schema", &schema) || isnan(schema))
        return broken(path, "it does not say which schema it has", err);
    snprintf(what, sizeof what, "it has schema %g, and this tipple reads schema 1", schema);
    if (schema != 1)
        return broken(path, what, err);
    list->suite = take_text(document, "suite");
    list->namespace = take_text(document, "namespace");
    return (list->suite && list->namespace) || broken(path, "its 'suite' or 'namespace' is no text", err);
}

bool compare_read(const char *path, earlier_list_t *list, err_t *err) {
    bson_t document = BSON_INITIALIZER;
    size_t size;
    *list = (earlier_list_t){.count = 0};
    char *text = read_file(path, &size, err);
    bool ok = text && parse(path, text, size, &document, err) && take_head(path, &document, list, err) &&
              take_entries(path, &document, list, err);
    free(text);
    bson_destroy(&document);
    if (!ok)
        compare_free(list);
    return ok;
}

void compare_free(earlier_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].with);
        free(list->items[i].reads);
        free(list->items[i].question);
    }
    free(list->suite);
    free(list->namespace);
    free(list->items);
    *list = (earlier_list_t){.count = 0};
}

void compare_warn(const earlier_list_t *list, const char *path, const char *suite, const char *namespace) {
    if (list->suite && *list->suite && strcmp(list->suite, suite) != 0)
        log_warn("--compare: %s is of the suite %s, and this is %s", path, list->suite, suite);
    if (list->namespace && *list->namespace && strcmp(list->namespace, namespace) != 0)
        log_warn("--compare: %s is of the collection %s, and this is %s", path, list->namespace, namespace);
}

const earlier_t *compare_find(const earlier_list_t *list, const char *name, const char *with,
                              const char *reads, uint32_t clients) {
    for (size_t i = 0; i < list->count; i++) {
        const earlier_t *item = &list->items[i];
        if (item->clients == clients && strcmp(item->name, name) == 0 && strcmp(item->with, with) == 0 &&
            strcmp(item->reads, reads) == 0)
            return item;
    }
    return NULL;
}
