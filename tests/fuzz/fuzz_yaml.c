/* Format files: a mistake is reported with its place; a good one means the same each time it is read, and texts
 * read by it obey the laws of every format. */
#include "format/schema/schema.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_place(const char *said, const uint8_t *data, size_t size) {
    unsigned long line = 0, column = 0, lines = 1;
    int used = 0;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n' || data[i] == '\r';
    LAW(sscanf(said, "fuzz.yaml:%lu:%lu: %n", &line, &column, &used) == 2 && used > 0, data, size,
        (const uint8_t *)said, strlen(said));
    /* YAML knows three more line ends, of two and three bytes */
    LAW(line >= 1 && line <= lines + size / 2 + 1 && column >= 1 && column <= size + 2, data, size,
        (const uint8_t *)said, strlen(said));
    LAW(said[used] != '\0', data, size, (const uint8_t *)said, strlen(said));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const texts[] = {
        "",
        "a,b,c\n1,2,3\n",
        "1|2|2013-01-01|4\n\"x\"|NULL||\n",
        "\"a\"\"b\",\"c\\\"d\",'e',x\r\n,,,\n\n x , 5 ,1.50,\xE9\n",
        "1;2;3;4\n19991231;31/12/1999;1999-12-31;0\n-1;00;+1;1e3",
        "16+201401022400-12.0 45ABADDAA199AC1x#A12ab!xyz\n00-99999999999900000000  ADDAA9x?\r\nADDAA1##!!",
    };
    law_quiet();
    err_t err = {.text = ""}, again = {.text = ""};
    char digest[33];
    schema_t *schema = schema_parse((const char *)data, size, "fuzz.yaml", &err);
    if (!schema) {
        LAB_MUST(err.status == STATUS_USAGE);
        expect_place(err.text, data, size);
        return 0;
    }
    memcpy(digest, schema->digest, sizeof digest);
    LAB_MUST(strlen(digest) == 32);
    for (size_t i = 0; i < schema->field_count; i++)
        LAB_MUST(schema_field(schema, schema->fields[i].name) == &schema->fields[i]);
    law_t law = law_for(schema);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        law_holds(&law, (const uint8_t *)texts[i], strlen(texts[i]), i, true);
    law_end(&law);
    schema = schema_parse((const char *)data, size, "fuzz.yaml", &again);
    LAB_MUST(schema && strcmp(schema->digest, digest) == 0);
    schema_destroy(schema);
    return 0;
}
