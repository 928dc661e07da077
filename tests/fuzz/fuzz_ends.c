/* fuzz_ends: where records end whose quoted fields may contain line ends: byte by byte, 64 bytes at a time in a text that
 * grows, and as the rows that a reader finds; and where objects of JSON end, in the same ways. The first byte chooses the
 * escapes, or JSON; the second how the text grows. */
#include "ends_lab.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const escapes[] = {"double", "[double, backslash]", "backslash",
                                          "[]",     "backslashes",         "[double, backslashes]"};
    enum { JSON = 6 };
    static schema_t *schemas[JSON + 1];
    law_quiet();
    if (size < 2)
        return 0;
    const size_t which = data[0] >= 0xC0 ? JSON : data[0] % 6u;
    uint64_t seed = data[1];
    if (!schemas[which]) {
        char yaml[200] = "format: x\nrecord: {json: yes}\n";
        if (which < JSON)
            snprintf(yaml, sizeof yaml,
                     "format: x\nrecord: {delimiter: \",\", header: no, escape: %s}\nfields: [{name: a}]\n",
                     escapes[which]);
        schemas[which] = lab_schema(yaml);
    }
    slack_t slack = slack_new(data + 2, size - 2);
    list_t find = by_find(schemas[which], slack.text, slack.length),
           steps = by_steps(schemas[which], slack.text, slack.length, &seed),
           records = by_records(schemas[which], &slack);
    same(&find, &steps, "steps", slack.text, slack.length);
    same(&find, &records, "records", slack.text, slack.length);
    free(find.at);
    free(steps.at);
    free(records.at);
    slack_free(&slack);
    return 0;
}
