/* report_page: a report's document as JSON from stdin, as a page to stdout. For tests of pages that no run of
 * a test would give. */
#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 4 << 20 };

int main(void) {
    uint8_t *text = malloc(LARGEST);
    if (!text)
        return 1;
    const size_t length = fread(text, 1, LARGEST, stdin);
    bson_error_t error;
    bson_t *document = bson_new_from_json(text, (ssize_t)length, &error);
    if (!document) {
        fprintf(stderr, "report_page: %s\n", error.message);
        return 1;
    }
    char *page = html_print(document, NULL);
    fputs(page, stdout);
    free(page);
    bson_destroy(document);
    free(text);
    return 0;
}
