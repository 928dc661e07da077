#include "cli/cli.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/units.h"
#include "generate/generate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t rows, seed;
    const char *release, *output;
} values_t;

static const option_t options[] = {
    {.name = "rows",
     .letter = 'n',
     .argument = "N",
     .kind = OPTION_COUNT,
     .offset = offsetof(values_t, rows),
     .help = "How many rows (default 1m)."},
    {.name = "seed",
     .argument = "S",
     .kind = OPTION_COUNT,
     .offset = offsetof(values_t, seed),
     .help = "The same seed gives the same bytes (default 1)."},
    {.name = "release",
     .argument = "R",
     .kind = OPTION_TEXT,
     .offset = offsetof(values_t, release),
     .help = "In the manner of this release of the files: 2013, 2016, 2017-first, 2017, 2020, 2021, 2023 "
             "(the default) or 2024."},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(values_t, output),
     .help = "Write here instead of to stdout."},
    {.name = NULL},
};

static bool generate(const values_t *values, err_t *err) {
    generate_mot_t what = {.rows = values->rows, .seed = values->seed, .release = values->release};
    uint64_t bytes = 0;
    int fd = STDOUT_FILENO;
    if (!generate_mot_check(&what, err))
        return false; /* before an existing file is overwritten */
    if (values->output && (fd = open(values->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", values->output, strerror(errno));
    bool ok = generate_mot(&what, fd, &bytes, err);
    if (values->output && close(fd) != 0 && ok)
        ok = err_set(err, STATUS_HOST, "%s cannot be written: %s", values->output, strerror(errno));
    char size[UNITS_MAX], rows[UNITS_MAX];
    if (ok)
        log_detail("%s rows, %s", units_count(rows, values->rows), units_size(size, bytes));
    return ok;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    static const char *const kinds[] = {"mot"};
    values_t values = {.rows = 1000000, .seed = 1};
    int rest;
    bool help;
    if (!cli_read(command, argc, argv, &values, &rest, &help, err))
        return (int)err->status;
    if (help)
        return STATUS_OK;
    if (!rest)
        return err_set(err, STATUS_USAGE, "say what to generate: tipple generate mot"), STATUS_USAGE;
    if (rest > 1)
        return err_set(err, STATUS_USAGE, "one kind at a time; '%s' is too much", argv[1]), STATUS_USAGE;
    if (strcmp(argv[0], kinds[0]) != 0) {
        const char *near = nearest_word(argv[0], kinds, 1);
        err_set(err, STATUS_USAGE, "'%s' cannot be generated%s%s%s; known is mot", argv[0],
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return STATUS_USAGE;
    }
    return generate(&values, err) ? STATUS_OK : (int)err->status;
}

const command_t command_generate = {
    .name = "generate",
    .arguments = "mot",
    .about = "make realistic test data",
    .help = "Rows like those of the published files, with their makes, models, dates, codes and odd rows in "
            "their usual shares.\n"
            "They are invented: no row describes a real vehicle.",
    .examples = "  tipple generate mot --rows 2m --seed 1 > mot.txt\n"
                "  tipple generate mot --rows 500k --release 2020 -o mot2020.csv",
    .options = options,
    .run = run,
};
