/* One record into its fields, against a reading of the same rules that is as plain as can be. The first byte
 * chooses the escapes ('0' to '3', '5', '6'), whether there are quotes ('4': none), and how a surplus is merged.
 */
#include "format/cut/split.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    uint8_t *value;
    size_t length, raw_length;
    bool quoted;
} plain_t;

/* The quoted field at text[0]: its value, or false when it is not closed before a delimiter or the end. */
static bool read_quoted(const uint8_t *text, size_t length, bool doubled, const char *escaped,
                        plain_t *field) {
    field->length = 0;
    for (size_t at = 1; at < length;) {
        if (at + 1 < length && text[at] == '\\' && text[at + 1] && strchr(escaped, text[at + 1])) {
            field->value[field->length++] = text[at + 1];
            at += 2;
            continue;
        }
        if (text[at] != '"') {
            field->value[field->length++] = text[at++];
            continue;
        }
        if (at + 1 == length || text[at + 1] == ',') {
            field->raw_length = at + 1;
            field->quoted = true;
            return true;
        }
        if (!doubled || text[at + 1] != '"')
            return false;
        field->value[field->length++] = '"';
        at += 2;
    }
    return false;
}

/* escaped: what a backslash stands before. */
static void read_field(const uint8_t *text, size_t length, bool quotes, bool doubled, const char *escaped,
                       plain_t *field) {
    field->quoted = false;
    if (quotes && length && text[0] == '"' &&
        (read_quoted(text, length, doubled, escaped, field) || read_quoted(text, length, doubled, "", field)))
        return;
    size_t end = 0;
    while (end < length && text[end] != ',')
        end++;
    memcpy(field->value, text, end);
    field->length = field->raw_length = end;
}

static void compare(const split_t *split, const schema_t *schema, const uint8_t *record, size_t size) {
    plain_t field = {.value = malloc(size + 1)};
    size_t at = 0, count = 0;
    bool quoted = false;
    LAB_MUST(field.value);
    for (;; at++) {
        if (count == SPLIT_MOST) {
            LAB_MUST(split->count == SPLIT_MOST);
            break;
        }
        read_field(record + at, size - at, schema->quote != 0, schema->escape_double,
                   schema->escape_backslashes ? "\"\\"
                   : schema->escape_backslash ? "\""
                                              : "",
                   &field);
        LAB_MUST(count < split->count);
        const span_t *span = &split->spans[count++];
        LAW(span->at == at && span->raw_length == field.raw_length && span->length == field.length &&
                memcmp(span->text, field.value, field.length) == 0,
            record, size, span->text, span->length);
        quoted |= field.quoted;
        at += field.raw_length;
        if (at >= size) {
            LAB_MUST(split->count == count);
            break;
        }
    }
    LAB_MUST(split->count == SPLIT_MOST || split->quoted == quoted);
    free(field.value);
}

static void merge(split_t *split, const uint8_t *record, size_t size, size_t left) {
    if (split->count < 2 || split->count == SPLIT_MOST)
        return;
    left %= split->count;
    size_t right = (split->count - left - 1) / 2, first = split->spans[left].at;
    size_t kept = split->count - right - 1, after = split->spans[kept].at + split->spans[kept].raw_length;
    bool one = left == kept;
    split_merge(split, record, left, right);
    LAB_MUST(split->count == left + 1 + right);
    LAB_MUST(split->spans[left].at == first && (one || split->spans[left].length == after - first));
    LAB_MUST(one || memcmp(split->spans[left].text, record + first, after - first) == 0);
    LAB_MUST(!right || split->spans[left + 1].at == after + 1);
    LAB_MUST(right || after == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const quoting[] = {", escape: [double, backslash]",
                                          ", escape: double",
                                          ", escape: backslash",
                                          ", escape: []",
                                          ", quote: none",
                                          ", escape: backslashes",
                                          ", escape: [double, backslashes]"};
    static schema_t *schemas[7];
    static split_t split;
    law_quiet();
    if (!size)
        return 0;
    size_t which = (size_t)(uint8_t)(data[0] - '0') % 7;
    if (!schemas[which]) {
        char yaml[200];
        snprintf(yaml, sizeof yaml,
                 "format: x\nrecord: {delimiter: \",\", multiline: no%s}\nfields: [{name: a}]\n",
                 quoting[which]);
        schemas[which] = lab_schema(yaml);
    }
    slack_t slack = slack_new(data + 1, size - 1);
    LAB_MUST(split_record(&split, schemas[which], ',', slack.text, slack.length));
    compare(&split, schemas[which], slack.text, slack.length);
    merge(&split, slack.text, slack.length, data[0]);
    slack_free(&slack);
    return 0;
}
