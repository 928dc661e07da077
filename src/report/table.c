#include "report/table.h"
#include "report/scale.h"

#include <math.h>
#include <string.h>

enum { NARROW_COLUMNS = 3, WIDE_COLUMNS = 7, WIDER_COLUMNS = 10 };

void table_begin(table_t *table, markup_t *out, const char *caption, const table_column_t *columns,
                 size_t count) {
    *table = (table_t){.out = out, .count = count < TABLE_COLUMNS ? count : TABLE_COLUMNS};
    memcpy(table->columns, columns, table->count * sizeof *columns);
    markup_print(out, "<div class=\"scroll\"><table role=\"table\"%s>\n<caption>",
                 table->count > WIDER_COLUMNS    ? " class=\"wider widest\""
                 : table->count > WIDE_COLUMNS   ? " class=\"wider\""
                 : table->count > NARROW_COLUMNS ? " class=\"wide\""
                                                 : "");
    markup_text(out, caption);
    markup_put(out, "</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">");
    for (size_t i = 0; i < table->count; i++) {
        const char *word = scale_word(columns[i].unit);
        markup_print(out, "<th role=\"columnheader\" scope=\"col\"%s>",
                     columns[i].numbers ? " class=\"n\"" : "");
        markup_text(out, columns[i].name);
        if (*word && !strstr(columns[i].name, word)) {
            markup_put(out, " <small>");
            markup_text(out, word);
            markup_put(out, "</small>");
        }
        markup_put(out, "</th>");
    }
    markup_put(out, "</tr></thead>\n<tbody role=\"rowgroup\">\n");
}

static void end_row(table_t *table) {
    if (table->row_open)
        markup_put(table->out, "</tr>\n");
    table->row_open = false;
}

void table_row(table_t *table) {
    end_row(table);
    table->row_open = true;
    table->at = 0;
    markup_put(table->out, "<tr role=\"row\">");
}

/* The first cell of a row is its header. */
static const char *begin_cell(table_t *table, bool number) {
    const bool head = table->at == 0;
    const table_column_t *column = &table->columns[table->at++];
    markup_print(table->out,
                 head ? "<th role=\"rowheader\" scope=\"row\"%s data-label=\""
                      : "<td role=\"cell\"%s data-label=\"",
                 number ? " class=\"n\"" : "");
    markup_text(table->out, column->name);
    markup_put(table->out, "\">");
    return head ? "</th>" : "</td>";
}

void table_text(table_t *table, const char *text) {
    if (table->at == table->count)
        return;
    const char *end = begin_cell(table, table->columns[table->at].numbers);
    markup_text(table->out, text);
    markup_put(table->out, end);
}

static void put_bar(markup_t *out, double share) {
    share = share > 0 ? share < 1 ? share : 1 : 0;
    markup_print(
        out,
        "<svg class=\"bar\" aria-hidden=\"true\" focusable=\"false\"><rect class=\"bar-all\" width=\"100%%\" "
        "height=\"100%%\"/><rect class=\"bar-part\" width=\"%.2f%%\" height=\"100%%\"/></svg>",
        share * 100);
}

void table_number(table_t *table, double value) {
    char text[SCALE_TEXT];
    if (table->at == table->count)
        return;
    const table_column_t *column = &table->columns[table->at];
    const char *end = begin_cell(table, true);
    markup_put(table->out, "<span>");
    markup_text(table->out, scale_value(text, value, column->unit));
    markup_put(table->out, "</span>");
    if (column->most > 0 && !isnan(value))
        put_bar(table->out, value / column->most);
    markup_put(table->out, end);
}

void table_end(table_t *table) {
    end_row(table);
    markup_put(table->out, "</tbody>\n</table></div>\n");
}
