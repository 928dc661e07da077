/* Filters: a mistake is reported; a good one answers for any document, and the same under its spelling for the
 * books. */
#include "format/records.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static filter_t *parse(const schema_t *schema, const char *text, err_t *err) {
    char *texts[] = {(char *)text};
    return filter_parse(schema, texts, 1, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char rows[] = "100|200|2013-01-01|4|N|P|45000|SO|FORD|FIESTA|BLUE|P|1242|2001-03-01\n"
                               "|||||||||||||\n"
                               "x|9999999999|2013-02-30|=|&&|'P'|-5|<|>|!=|A B||0|0004-02-20\n";
    law_quiet();
    const law_t *law = law_format('0');
    err_t err = {.text = ""};
    char *text = strndup((const char *)data, size);
    LAB_MUST(text);
    filter_t *filter = parse(law->schema, text, &err);
    if (!filter)
        LAW(err.status == STATUS_USAGE && strncmp(err.text, "--filter: ", 10) == 0 && err.text[10], data,
            size, (const uint8_t *)err.text, strlen(err.text));
    if (filter) {
        dialect_t dialect;
        LAB_MUST(dialect_sniff(law->schema, (const uint8_t *)rows, strlen(rows), "rows", &dialect, &err));
        lab_records_t all =
            lab_parse(law->reader, &dialect, rows, strlen(rows), (lab_how_t){.careful = false});
        LAB_MUST(all.count == 3 && strlen(filter_text(filter)) <= size + 3 * 64);
        for (size_t i = 0; i < all.count; i++) {
            bool passes =
                filter_passes(filter, all.records[i].document, all.records[i].record.document_length);
            LAB_MUST(passes ==
                     filter_passes(filter, all.records[i].document, all.records[i].record.document_length));
        }
        lab_records_free(&all);
    }
    filter_free(filter);
    free(text);
    return 0;
}
