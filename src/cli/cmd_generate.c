#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "generate/generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOT_GIVEN UINT64_MAX

typedef struct {
    uint64_t rows, records, stations, documents, first, text_bytes, seed;
    const char *release, *output, *directory;
    bool gzip, study;
} values_t;

static values_t values = {.rows = NOT_GIVEN,
                          .records = NOT_GIVEN,
                          .stations = NOT_GIVEN,
                          .documents = NOT_GIVEN,
                          .first = NOT_GIVEN,
                          .text_bytes = NOT_GIVEN,
                          .seed = 1};

static const option_t options[] = {
    OPTION("rows", COUNT, rows, .group = GROUP_MADE, .letter = 'n', .argument = "N",
           .help = "mot, obd: how many rows (default 1m)."),
    OPTION(
        "release", TEXT, release, .argument = "R", .offers = "2013 2016 2017-first 2017 2020 2021 2023 2024",
        .help =
            "mot: in the manner of this release of the files: 2013, 2016, 2017-first, 2017, 2020, 2021, 2023 "
            "(the default) or 2024."),
    OPTION("records", COUNT, records, .argument = "N", .help = "isd: how many records (default 1m)."),
    OPTION("stations", COUNT, stations, .argument = "M", .least = 1,
           .help = "isd: of how many stations (default 100); one station's records follow the other's."),
    OPTION("documents", COUNT, documents, .argument = "N", .help = "ycsb: how many documents (default 1m)."),
    OPTION("seed", COUNT, seed, .argument = "S", .help = "The same seed gives the same bytes (default 1)."),
    OPTION(
        "first", COUNT, first, .argument = "ID",
        .help =
            "ycsb: ids from this one on (default 0). An id has the same document in every file of the same "
            "seed."),
    OPTION("text-bytes", COUNT, text_bytes, .argument = "N", .least = 1,
           .help = "ycsb: the length of each text, to 100,000 (default 100: documents of about a kilobyte)."),
    OPTION("study", FLAG, study,
           .help = "ycsb: documents of 147,439 bytes, as in the petabyte study of 2014."),
    OPTION("output", TEXT, output, .group = GROUP_RESULT, .letter = 'o', .argument = "FILE", .typed = true,
           .help = "Write here instead of to stdout."),
    OPTION("directory", TEXT, directory, .argument = "DIR",
           .help = "isd: write a file for each year of each station here, named as they are published: "
                   "010010-99999-2014."),
    OPTION("gzip", FLAG, gzip, .letter = 'z', .help = "Pack what is written."),
    {.name = NULL},
};

/* ---- the kinds, and the options that are not for every kind ---- */

enum { KINDS = 4, OWN_OPTIONS = 4 };

typedef struct {
    const generate_kind_t *makes;
    const char *options[OWN_OPTIONS];
} kind_t;

static const kind_t kinds[KINDS] = {
    {&generate_mot, {"rows", "release"}},
    {&generate_isd, {"records", "stations", "directory"}},
    {&generate_obd, {"rows"}},
    {&generate_ycsb, {"documents", "first", "text-bytes", "study"}},
};

static uint64_t or_else(uint64_t given, uint64_t usual) {
    return given == NOT_GIVEN ? usual : given;
}

static bool is_given(const option_t *option) {
    const void *value = (const char *)&values + option->offset;
    return option->kind == OPTION_COUNT  ? *(const uint64_t *)value != NOT_GIVEN
           : option->kind == OPTION_FLAG ? *(const bool *)value
                                         : *(const char *const *)value != NULL;
}

static bool has_option(const kind_t *kind, const char *name) {
    for (size_t i = 0; i < OWN_OPTIONS && kind->options[i]; i++)
        if (strcmp(kind->options[i], name) == 0)
            return true;
    return false;
}

static bool only_own_options(const kind_t *kind, err_t *err) {
    for (const option_t *option = options; option->name; option++) {
        bool owned = false;
        for (size_t i = 0; i < KINDS; i++)
            owned = owned || has_option(&kinds[i], option->name);
        if (owned && is_given(option) && !has_option(kind, option->name))
            return err_set(err, STATUS_USAGE, "--%s is not for tipple generate %s. %s", option->name,
                           kind->makes->name, option->help);
    }
    return true;
}

static bool generate_into(const kind_t *kind, const generate_t *what, generate_made_t *made, err_t *err) {
    int fd = STDOUT_FILENO;
    if (values.output && (fd = open(values.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", values.output, strerror(errno));
    step_t step = {.shown = false};
    char count[UNITS_MAX];
    if (values.output || values.directory)
        step_begin(&step, "writing %s %s", units_count(count, what->count), kind->makes->unit);
    bool ok = generate_write(kind->makes, what, fd, made, err);
    step_end(&step);
    if (values.output && close(fd) != 0 && ok)
        ok = err_set(err, STATUS_HOST, "%s cannot be written: %s", values.output, strerror(errno));
    return ok;
}

static const apart_t apart[] = {
    {"output", "directory", "is for one file, and --directory for many"},
    {.option = NULL},
};

/* Checks everything before a file that is there is overwritten. */
static bool generate(const kind_t *kind, err_t *err) {
    const uint64_t documents = or_else(values.documents, 1000000);
    generate_made_t made = {.files = 0};
    generate_t what = {
        .count = or_else(values.rows, or_else(values.records, documents)), /* one is for each kind */
        .seed = values.seed,
        .gzip = values.gzip,
        .directory = values.directory,
        .release = values.release,
        .stations = or_else(values.stations, 0),
        .first = or_else(values.first, 0),
        .text_bytes = or_else(values.text_bytes, 0),
        .study = values.study};
    char size[UNITS_MAX], count[UNITS_MAX];
    if (!only_own_options(kind, err) || !generate_check(kind->makes, &what, err) ||
        !generate_into(kind, &what, &made, err))
        return false;
    if (values.directory)
        log_detail("%s file%s", units_count(count, made.files), units_s(made.files));
    log_detail("%s %s, %s", units_count(count, what.count), kind->makes->unit, units_size(size, made.bytes));
    return true;
}

static int make(run_t *run, err_t *err) {
    const char *names[KINDS], *word = run->count ? run->words[0] : "";
    if (values.output && strcmp(values.output, "-") == 0) /* standard output, as without it */
        values.output = NULL;
    if (run->count > 1)
        return err_set(err, STATUS_USAGE, "one kind at a time; '%s' is too much", run->words[1]),
               STATUS_USAGE;
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].makes->name;
        if (strcmp(word, names[i]) == 0)
            return generate(&kinds[i], err) ? STATUS_OK : (int)err->status;
    }
    return err_set(err, STATUS_USAGE, "tipple generate %s: '%s' is none of them%s", run->command->arguments,
                   word, suggestion(word, names, KINDS).text),
           STATUS_USAGE;
}

const command_t command_generate = {
    .name = "generate",
    .group = COMMANDS_TRY,
    .arguments = "mot|isd|obd|ycsb",
    .about = "make realistic test data",
    .help = "Makes MOT test results (mot), the hourly weather of a network of stations (isd), the "
            "trips of a fleet of cars, second by second (obd), or JSON documents by _id (ycsb).\n\n"
            "mot and isd: records like those of the published files, with their values, codes and odd "
            "cases in their usual shares. obd: 40 columns, documents of 1,400 bytes. ycsb: eight "
            "random texts, and eight numbers from 0 to 999,999 of which few are frequent: k has a "
            "share in proportion to 1 / (k + 1)^0.99 (Zipf), 0 is in 6.5% of them. All of it is "
            "invented: no record describes a real vehicle or a real day.",
    .examples = "  tipple generate mot --rows 2m --seed 1 > mot.txt\n"
                "  tipple generate mot --rows 500k --release 2020 -o mot2020.csv\n"
                "  tipple generate isd --records 1m --stations 100 > isd.txt\n"
                "  tipple generate isd --records 5m --stations 1k --directory isd --gzip\n"
                "  tipple generate obd --rows 1300k > obd.csv\n"
                "  tipple generate ycsb --documents 1m --first 1m > ycsb.json",
    .options = options,
    .apart = apart,
    .values = &values,
    .body = make,
};
