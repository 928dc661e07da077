/* The languages of pages. All go to stdout. */
#include "base/log.h"
#include "cli/pages/pages.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* ---- a terminal of 80 columns ---- */

enum { WIDTH = 80 };

/* Wraps a text after an indent. */
static void wrap(const char *text, int indent) {
    int column = indent;
    for (const char *at = text; *at;) {
        const size_t word = strcspn(at, " \n");
        if (*at == '\n' || (column > indent && column + 1 + (int)word > WIDTH)) {
            out_print("\n%*s", indent, "");
            column = indent;
            at += *at == '\n';
            continue;
        }
        out_print("%s%.*s", column > indent ? " " : "", (int)word, at);
        column += (column > indent) + (int)word;
        at += word + strspn(at + word, " ");
    }
    out_print("\n");
}

static void terminal_title(const char *name, const char *about) {
    out_print("tipple%s%s: %s\n", *name ? " " : "", name, about);
}

static void terminal_usage(const char *line) {
    out_print("\nUsage: %s\n", line);
}

static void terminal_heading(const char *text, bool part) {
    (void)part;
    out_print("\n%s%s\n", text, text[strlen(text) - 1] == '?' ? "" : ":");
}

static void terminal_text(const char *text) {
    out_print("\n");
    wrap(text, 0);
}

static void terminal_lines(const char *text) {
    out_lines(text);
    out_print("\n");
}

static void terminal_entry(const char *words, const char *means, int column) {
    if ((int)strlen(words) > column - 3)
        out_print("  %s\n%*s", words, column, "");
    else
        out_print("  %-*s", column - 2, words);
    wrap(means, column);
}

const writer_t terminal_writer = {false,         terminal_title, terminal_usage, terminal_heading,
                                  terminal_text, terminal_lines, terminal_entry};

/* ---- man ---- */

/* A sentence that ends within a line would be spaced as one of the line: each is a line of its own. */
static bool ends_sentence(const char *at) {
    return *at == '.' && at[1] == ' ' && isupper((unsigned char)at[2]);
}

/* A typesetter would print another character, which no shell knows. */
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

static void man_text(const char *text) {
    put(text, true);
    out_lines("\n");
}

static void man_title(const char *name, const char *about) {
    const char *dash = *name ? "-" : "";
    out_print(".TH TIPPLE%s", dash);
    for (const char *at = name; *at; at++)
        out_print("%c", toupper((unsigned char)*at));
    out_print(" 1 \"" TIPPLE_DAY "\" \"tipple %s\"\n.SH NAME\ntipple%s%s \\- ", TIPPLE_VERSION, dash, name);
    man_text(about);
}

static void man_usage(const char *line) {
    out_lines(".SH SYNOPSIS\n.B ");
    put(line, false);
    out_lines("\n.SH DESCRIPTION\n");
}

static void man_heading(const char *text, bool part) {
    out_lines(part ? ".SS " : ".SH ");
    for (; *text; text++)
        out_print("%c", part ? *text : toupper((unsigned char)*text));
    out_lines("\n");
}

static void man_lines(const char *text) {
    out_lines(".nf\n");
    put(text, false);
    out_lines("\n.fi\n");
}

static void man_entry(const char *words, const char *means, int column) {
    (void)column;
    out_lines(".TP\n.B ");
    put(words, false);
    out_lines("\n");
    man_text(means);
}

const writer_t man_writer = {true, man_title, man_usage, man_heading, man_text, man_lines, man_entry};
