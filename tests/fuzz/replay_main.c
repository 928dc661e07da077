/* Runs a fuzz target without a fuzzer: an empty input, every file of the corpus folders named on the command
 * line, and FUZZ_MUTATIONS (2,000) seeded mutations of them, the same ones every time. When the target
 * crashes, the input is left in crash-input, which `fuzz_NAME crash-input` runs again alone. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 1 << 16 };

typedef struct {
    uint8_t *data;
    size_t size;
} input_t;

static struct {
    input_t *inputs;
    size_t count;
} corpus;

static input_t current; /* what a crash handler has to save */

static uint64_t state = 0x9E3779B97F4A7C15u;

static size_t below(size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? (size_t)(state % limit) : 0;
}

static void on_crash(int number) {
    int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && write(file, current.data, current.size) == (ssize_t)current.size)
        (void)!write(2, "the input is in crash-input\n", 28);
    signal(number, SIG_DFL);
    raise(number);
}

/* The sanitizers end the process their own way; this is theirs to call, and absent without them. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void on_death(void) {
    on_crash(SIGABRT);
}

/* A copy of its exact size, so that a read past its end is seen. */
static void run(const uint8_t *data, size_t size) {
    current.data = malloc(size ? size : 1);
    if (!current.data)
        abort();
    current.size = size;
    if (size)
        memcpy(current.data, data, size);
    LLVMFuzzerTestOneInput(current.data, size);
    free(current.data);
    current = (input_t){0};
}

static void add_input(const char *path, off_t size) {
    FILE *file = fopen(path, "rb");
    input_t input = {malloc((size_t)size + 1), 0};
    corpus.inputs = realloc(corpus.inputs, (corpus.count + 1) * sizeof *corpus.inputs);
    if (!file || !input.data || !corpus.inputs) {
        perror(path);
        exit(2);
    }
    input.size = fread(input.data, 1, (size_t)size, file);
    fclose(file);
    corpus.inputs[corpus.count++] = input;
}

/* A file, or the files of a folder in the order of their names, so that a run can be repeated. */
static void add_path(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0)
        return;
    if (!S_ISDIR(facts.st_mode)) {
        add_input(path, facts.st_size);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(inside, &facts) == 0 && S_ISREG(facts.st_mode))
            add_input(inside, facts.st_size);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static size_t insert(uint8_t *data, size_t size, size_t at, const uint8_t *piece, size_t length) {
    if (size + length > LONGEST)
        length = LONGEST - size;
    memmove(data + at + length, data + at, size - at);
    memcpy(data + at, piece, length);
    return size + length;
}

static size_t mutate_once(uint8_t *data, size_t size) {
    static const uint8_t telling[] = "\0\n\r\t\"\\,|-+ 0923:{}[]#'\x7f\x80\xc3\xff";
    size_t at = below(size + 1), length = 1 + below(below(2) ? 8 : 64);
    uint8_t piece[64];
    if (at + length > size)
        length = size - at;
    switch (below(6)) {
    case 0: /* flip a bit */
        if (at < size)
            data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1: /* put a telling byte */
        if (at < size)
            data[at] = telling[below(sizeof telling - 1)];
        return size;
    case 2: /* insert telling bytes */
        for (size_t i = 0; i < sizeof piece; i++)
            piece[i] = telling[below(sizeof telling - 1)];
        return insert(data, size, at, piece, 1 + below(4));
    case 3: /* take a piece away */
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    case 4: /* repeat a piece somewhere */
        memcpy(piece, data + at, length);
        return insert(data, size, below(size + 1), piece, length);
    default: { /* a piece of another input */
        const input_t *other = &corpus.inputs[below(corpus.count)];
        size_t from = below(other->size), most = other->size - from < 64 ? other->size - from : 64;
        return insert(data, size, at, other->data + from, below(most + 1));
    }
    }
}

static void run_mutation(void) {
    static uint8_t data[LONGEST];
    const input_t *from = &corpus.inputs[below(corpus.count)];
    size_t size = from->size < LONGEST ? from->size : LONGEST;
    memcpy(data, from->data, size);
    for (size_t times = 1 + below(6); times > 0; times--)
        size = mutate_once(data, size);
    run(data, size);
}

int main(int argc, char **argv) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], on_crash);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_death);

    for (int i = 1; i < argc; i++)
        add_path(argv[i]);
    struct stat facts;
    bool alone = argc == 2 && stat(argv[1], &facts) == 0 && S_ISREG(facts.st_mode);
    const char *told = getenv("FUZZ_MUTATIONS");
    unsigned long mutations = alone ? 0 : told ? strtoul(told, NULL, 10) : 2000;

    for (size_t i = 0; i < corpus.count; i++)
        run(corpus.inputs[i].data, corpus.inputs[i].size);
    if (!alone)
        run(NULL, 0);
    printf("%zu inputs of the corpus", corpus.count);
    if (corpus.count == 0)
        add_input("/dev/null", 0); /* nothing to mutate but the empty input */
    for (unsigned long i = 0; i < mutations; i++) {
        alarm(300); /* a target that hangs is a crash too */
        run_mutation();
    }
    alarm(0);
    printf(", %lu mutations\n", mutations);
    for (size_t i = 0; i < corpus.count; i++)
        free(corpus.inputs[i].data);
    free(corpus.inputs);
    return 0;
}
