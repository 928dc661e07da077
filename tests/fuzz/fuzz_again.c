/* The command line of a report that repeats a run: a shell reads the same words from it, but for passwords, which are
 * nowhere in it. Words end at NULs; byte 1, with the two behind it, stands for a URI with a password. */
#include "cli/options/paste.c"
#include "format_lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 6, LONGEST = 300 };

static const char secret[] = "s3cret";

static void put(char *word, size_t *length, const char *text) {
    for (; *text && *length + 1 < LONGEST; text++)
        word[(*length)++] = *text;
    word[*length] = '\0';
}

/* What may stand in a password as it is. */
static void put_some_uri(char *word, size_t *length, uint8_t before, uint8_t behind) {
    static const char *const pieces[] = {"",      "a", "%40", "%2F", "!$&'()*+,;=", "-._~",
                                         "x%3Ay", "0", "***", "%",   "mongodb",     "$$"};
    static const char *const ends[] = {"@h/d.c", "@h", "@h:27017,k/d.c?tls=true", "@%2Ftmp%2Fs.sock/d.c",
                                       "@[::1]:5/d.c"};
    enum { PIECES = sizeof pieces / sizeof *pieces };
    if (*length + 120 > LONGEST) /* whole, or not at all */
        return;
    put(word, length, before & 128 ? "mongodb+srv://joe:" : "mongodb://joe:");
    put(word, length, pieces[before % PIECES]);
    put(word, length, secret);
    put(word, length, pieces[behind % PIECES]);
    put(word, length, ends[behind / PIECES % 5]);
}

/* in_uris: how often the secret stands in a URI of the word. */
static int make_words(const uint8_t *data, size_t size, char words[WORDS][LONGEST], int *in_uris) {
    int count = 0;
    size_t length = 0;
    for (size_t i = 0; i < size && count < WORDS; i++) {
        const char plain[2] = {(char)data[i], '\0'};
        if (!data[i] || i + 1 == size) {
            count++;
            length = 0;
        } else if (data[i] == 1 && i + 2 < size) {
            const size_t before = length;
            put_some_uri(words[count], &length, data[i + 1], data[i + 2]);
            in_uris[count] += length > before;
            i += 2;
        } else {
            put(words[count], &length, plain);
        }
    }
    return count;
}

static int count_secrets(const char *word) {
    int count = 0;
    for (const char *at = word; (at = strstr(at, secret)); at++)
        count++;
    return count;
}

/* As a shell reads a word: quotes, backslashes, and a blank behind it; anything that a shell would act on is wrong. */
static const char *next_word(const char *at, char *word) {
    bool quoted = false;
    LAB_MUST(*at == ' ');
    for (at++; *at && (quoted || *at != ' '); at++)
        if (*at == '\'')
            quoted = !quoted;
        else if (!quoted && *at == '\\')
            *word++ = *++at;
        else {
            LAB_MUST(quoted || !strchr("\t\n\"$`*?[]#~;&|<>(){}!^", *at));
            *word++ = *at;
        }
    LAB_MUST(!quoted);
    *word = '\0';
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const option_t none[] = {{.name = NULL}};
    static const command_t command = {.name = "load", .options = none};
    char words[WORDS][LONGEST] = {{0}}, *argv[WORDS + 1] = {NULL}, word[4 * LONGEST];
    int in_uris[WORDS] = {0};
    const int count = make_words(data, size, words, in_uris);
    for (int i = 0; i < count; i++)
        argv[i] = words[i];
    const run_t run = {.command = &command, .line = argv, .line_count = count};
    char *line = paste_again(&run, size & 1 ? "mongodb://joe:s3cret@h/d.c" : NULL);
    LAB_MUST(strncmp(line, "tipple load", 11) == 0);
    const char *at = line + 11;
    for (int i = 0; i < count; i++) {
        char *expected = paste_conceal(words[i], size & 1 ? "mongodb://joe:s3cret@h/d.c" : NULL);
        at = next_word(at, word);
        LAB_MUST(strcmp(word, expected) == 0);
        LAB_MUST(count_secrets(words[i]) > in_uris[i] ||
                 !strstr(word, secret)); /* outside of a URI it may stand */
        free(expected);
    }
    LAB_MUST(!*at);
    free(line);
    return 0;
}
