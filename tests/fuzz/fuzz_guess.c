/* Guessing the format of any text: it is refused, or the format file that comes out is read back without a mistake,
 * fits the text, rejects no more of its records than the guess has counted, and keeps no value as text that is not what
 * its column's type says. The first byte chooses what the user
 * has said already. */
#include "format/guess/guess_inner.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static guess_options_t options_of(uint8_t byte) {
    static const uint8_t marks[] = {0, GUESS_POINT, GUESS_COMMA, 0},
                         delimiters[] = {0, GUESS_DELIMITERS, GUESS_DELIMITERS - 1}; /* none; blanks */
    return (guess_options_t){.dates = byte % 4,
                             .header = byte / 4 % 3,
                             .decimal = marks[byte / 12 % 4],
                             .nested = byte / 48 % 2 ? GUESS_YES : 0,
                             .delimiter = delimiters[byte / 96]};
}

/* How many of the text's records the format rejects; false: another header ends it before. */
static bool count_rejects(const schema_t *schema, const slack_t *text, uint64_t *rejects, uint64_t *kept) {
    static dialect_t dialect;
    err_t err = {.text = ""};
    record_t record;
    records_t *reader = records_new(schema);
    records_place_t place = {NULL, 0};
    bool ok = true;
    *rejects = 0;
    LAB_MUST(reader);
    LAW(dialect_sniff(schema, text->text, text->length, "text", &dialect, &err), text->text, text->length,
        (const uint8_t *)err.text, strlen(err.text));
    records_begin(reader, &dialect, text->text, (uint32_t)text->length, true, false, 0);
    for (parsed_t parsed; ok && (parsed = records_next_into(reader, &place, &record, NULL)) != PARSED_END;) {
        LAB_MUST(parsed != PARSED_MEMORY);
        ok = parsed != PARSED_OTHER_HEADER;
        *rejects += parsed == PARSED_REJECT;
    }
    *kept = records_bad(reader)->count;
    free(place.bytes);
    records_destroy(reader);
    return ok;
}

/* Comments that may be records, and lines that end with a backslash or a CR, are rejects that a guess does not count. */
static bool may_reject_more(const guess_t *guess, const slack_t *text) {
    return guess->structure.comment || guess->nothing.backslash || memchr(text->text, '\r', text->length);
}

static void hold(const guess_t *guess, const slack_t *text) {
    err_t err = {.text = ""};
    uint64_t rejects, kept;
    char *lines, *yaml;
    LAB_MUST(guess_write(guess, &yaml, &lines, &err));
    schema_t *schema = schema_parse_guessed(yaml, "guessed.yaml", &err); /* as loads read it */
    LAW(schema, text->text, text->length, (const uint8_t *)yaml, strlen(yaml));
    /* what is wrong within objects and documents is not looked for */
    if (count_rejects(schema, text, &rejects, &kept) && !schema_any_fields(schema))
        LAW((rejects <= guess->counts.rejects || may_reject_more(guess, text)) && !kept, text->text,
            text->length, (const uint8_t *)yaml, strlen(yaml));
    schema_destroy(schema);
    free(lines);
    free(yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    law_quiet();
    if (!size)
        return 0;
    err_t err = {.text = ""};
    const guess_options_t options = options_of(data[0]);
    slack_t text = slack_new(data + 1, size - 1);
    guess_piece_t piece = {
        .text = text.text, .length = text.length, .begins = true, .ends = true, .input = "text"};
    const guess_sample_t sample = {.pieces = &piece, .count = 1, .every = true};
    guess_t *guess = guess_new(&sample, &options, &err);
    if (guess)
        hold(guess, &text);
    guess_destroy(guess);
    slack_free(&text);
    return 0;
}
