/* A program of a user: prints the documents of a file's text. */
#include <stdio.h>
#include <string.h>
#include <tipple/tipple.h>

int main(void) {
    static const char text[] =
        "test_id|vehicle_id|test_date|test_class_id|test_type|test_result|test_mileage|postcode_area|"
        "make|model|colour|fuel_type|cylinder_capacity|first_use_date\n"
        "1|2|2016-01-31|4|NT|P|41000|B|FORD|FIESTA|RED|PE|998|2010-01-31\n"
        "3|4|2016-01-31\n";
    tipple_error_t error;
    tipple_record_t record;
    tipple_format_t *format = tipple_format_open("mot", &error);
    tipple_reader_t *reader = format ? tipple_reader_new(format, &error) : NULL;
    int got = reader && tipple_reader_begin(reader, text, strlen(text), &error) ? 1 : -1;
    while (got == 1 && (got = tipple_reader_next(reader, &record, &error)) == 1)
        printf("%d: %s\n", (int)record.line, record.document ? "a document" : record.reason);
    if (got < 0)
        fprintf(stderr, "%s\n", error.text);
    tipple_reader_destroy(reader);
    tipple_format_close(format);
    return got < 0;
}
