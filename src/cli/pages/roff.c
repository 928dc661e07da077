#include "cli/pages/roff.h"
#include "base/log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A sentence that ends within a line would be spaced as one of the line: each is a line of its own. */
static bool ends_sentence(const char *at) {
    return *at == '.' && at[1] == ' ' && isupper((unsigned char)at[2]);
}

/* What is no letter of a typesetter: it would come out as another character, which no shell knows. */
static const char *escaped(char letter) {
    static const struct {
        char letter;
        const char *as;
    } known[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                 {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].letter == letter)
            return known[i].as;
    return NULL;
}

static void put(const char *text, bool running) {
    bool line_start = true, bold = false;
    for (; *text; text++) {
        const bool paragraph = running && strncmp(text, "\n\n", 2) == 0;
        if (line_start && *text == '.')
            out_lines("\\&");
        line_start = *text == '\n' || paragraph;
        if (paragraph) {
            out_lines("\n.PP\n");
            text++;
        } else if (running && *text == '`') {
            bold = !bold;
            out_lines(bold ? "\\fB" : "\\fP");
        } else if (escaped(*text)) {
            out_lines(escaped(*text));
        } else if (running && ends_sentence(text)) {
            out_lines(".\n");
            text++;
            line_start = true;
        } else {
            out_bytes(text, 1);
        }
    }
}

void roff_text(const char *text) {
    put(text, true);
    out_lines("\n");
}

void roff_lines(const char *text) {
    out_lines(".nf\n");
    put(text, false);
    out_lines("\n.fi\n");
}

void roff_title(const char *name, int section, const char *about) {
    const char *dash = *name ? "-" : "";
    out_print(".TH TIPPLE%s", dash);
    for (const char *at = name; *at; at++)
        out_print("%c", toupper((unsigned char)*at));
    out_print(" %d \"" TIPPLE_DAY "\" \"tipple %s\"\n.SH NAME\ntipple%s%s \\- ", section, TIPPLE_VERSION,
              dash, name);
    roff_text(about);
}

void roff_entry(const char *words, const char *means) {
    out_lines(".TP\n.B ");
    put(words, false);
    out_lines("\n");
    roff_text(means);
}
