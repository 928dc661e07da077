#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "generate/generate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef generate_t values_t;

static values_t values = {.count = 1000000, .seed = 1};

static const generate_kind_t *const kinds[] = {&generate_mot, &generate_isd, &generate_obd, &generate_ycsb};

/* The takers of an option that is not for every kind: a bit for each of `kinds`. */
enum { MOT = 1, ISD = 2, YCSB = 8 };

static const option_t options[] = {
    OPTION("rows", COUNT, count, .group = GROUP_MADE, .letter = 'n', .argument = "N",
           .help = "How many records (default 1m)."),
    OPTION("release", TEXT, release, .argument = "R", .takers = MOT,
           .offers = "2013 2016 2017-first 2017 2020 2021 2023 2024",
           .help =
               "mot: like this release: 2013, 2016, 2017-first, 2017, 2020, 2021, 2023 (default) or 2024."),
    OPTION("stations", COUNT, stations, .argument = "M", .least = 1, .takers = ISD,
           .help = "isd: of how many stations (default 100); one station's records follow the other's."),
    OPTION("seed", COUNT, seed, .argument = "S", .help = "The same seed gives the same bytes (default 1)."),
    OPTION("first", COUNT, first, .takers = YCSB, .argument = "ID",
           .help = "ycsb: the first id (default 0). An id has the same document in every file of one seed."),
    OPTION("text-bytes", COUNT, text_bytes, .takers = YCSB, .argument = "N", .least = 1,
           .most = GENERATE_LONGEST_TEXT,
           .help = "ycsb: the length of each text, to 100,000 (default 100: documents of about a kilobyte)."),
    OPTION("study", FLAG, study, .takers = YCSB,
           .help = "ycsb: documents of 147,439 bytes, as in the petabyte study of 2014."),
    OPTION("output", TEXT, output, .group = GROUP_RESULT, .letter = 'o', .argument = "FILE", .typed = true,
           .help = "Write here instead of to stdout."),
    OPTION("directory", TEXT, directory, .takers = ISD, .argument = "DIR",
           .help =
               "isd: write a file for each station and year here, named as published: 010010-99999-2014."),
    OPTION("gzip", FLAG, gzip, .letter = 'z', .help = "Pack what is written."),
    {.name = NULL},
};

static bool only_own_options(const run_t *run, size_t kind, err_t *err) {
    for (size_t i = 0; i < run->rows.count; i++) {
        const option_t *option = run->rows.rows[i].option;
        if (run->said[i] && option->takers && !(option->takers & 1U << kind))
            return err_set(err, STATUS_USAGE, "--%s is not for tipple generate %s. %s", option->name,
                           kinds[kind]->name, option->help);
    }
    return true;
}

static const apart_t apart[] = {
    {"output", "directory", "is for one file, and --directory for many"},
    {"study", "text-bytes", "says how long texts are"},
    {.option = NULL},
};

/* Checks everything before a file that is there is overwritten. */
static bool generate(const run_t *run, size_t kind, err_t *err) {
    generate_made_t made = {.files = 0};
    step_t step = {.shown = false};
    char size[UNITS_MAX], count[UNITS_MAX];
    if (!only_own_options(run, kind, err) || !generate_check(kinds[kind], &values, err))
        return false;
    units_count(count, values.count);
    if (values.output || values.directory)
        step_begin(&step, "writing %s %s", count, kinds[kind]->unit);
    bool ok = generate_write(kinds[kind], &values, STDOUT_FILENO, &made, err);
    step_end(&step);
    if (ok && values.directory)
        log_detail("%s file%s", units_count(size, made.files), units_s(made.files));
    if (ok)
        log_detail("%s %s, %s", count, kinds[kind]->unit, units_size(size, (double)made.bytes));
    return ok;
}

static int make(run_t *run, err_t *err) {
    const char *names[COUNT(kinds)], *word = run->count ? run->words[0] : "";
    if (values.output && strcmp(values.output, "-") == 0) /* standard output, as without it */
        values.output = NULL;
    if (run->count > 1)
        return err_set(err, STATUS_USAGE, "one kind at a time; '%s' is too much", run->words[1]),
               STATUS_USAGE;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        names[i] = kinds[i]->name;
        if (strcmp(word, names[i]) == 0)
            return generate(run, i, err) ? STATUS_OK : (int)err->status;
    }
    return err_set(err, STATUS_USAGE, "tipple generate %s: '%s' is none of them%s", run->command->arguments,
                   word, suggestion(word, names, COUNT(kinds)).text),
           STATUS_USAGE;
}

const command_t command_generate = {
    .name = "generate",
    .group = COMMANDS_TRY,
    .arguments = "mot|isd|obd|ycsb",
    .about = "make realistic test data",
    .help = "Makes MOT test results (mot), the hourly weather of a network of stations (isd), the trips of a "
            "fleet of cars, second by second (obd), or JSON documents by _id (ycsb).\n\n"
            "mot and isd: records like those of the published files, with their values, codes and odd cases "
            "in their usual shares. obd: 40 columns, documents of 1,400 bytes. ycsb: eight random texts, and "
            "eight numbers from 0 to 999,999 of which few are frequent: k has a share in proportion to 1 / "
            "(k + 1)^0.99 (Zipf), 0 is in 6.5% of them. All of it is invented: no record describes a real "
            "vehicle or day.",
    .examples = "  tipple generate mot --rows 2m --seed 1 > mot.txt\n"
                "  tipple generate mot --rows 500k --release 2020 -o mot2020.csv\n"
                "  tipple generate isd --rows 5m --stations 1k --directory isd --gzip\n"
                "  tipple generate obd --rows 1300k > obd.csv\n"
                "  tipple generate ycsb --rows 1m --first 1m > ycsb.json",
    .options = options,
    .apart = apart,
    .values = &values,
    .body = make,
};
