/* The columns of a dialect: set, hashed, written down and read back; and dialects that are kept. */
#include "format/record/dialect_inner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void dialect_start(dialect_t *dialect) {
    static atomic_ullong serials;
    memset(dialect, 0, sizeof *dialect);
    dialect->serial = ++serials;
}

void dialect_clear_columns(dialect_t *dialect) {
    memset(dialect->field_of, 0xFF, sizeof dialect->field_of);
    memset(dialect->column_of, 0xFF, sizeof dialect->column_of);
    dialect->columns = 0;
    dialect->surplus_column = -1;
}

void dialect_set_column(const schema_t *schema, dialect_t *dialect, size_t column, size_t field) {
    dialect->field_of[column] = (uint16_t)field;
    dialect->column_of[field] = (uint16_t)column;
    if ((int)field == schema->surplus_field)
        dialect->surplus_column = (int)column;
}

uint64_t dialect_hash_of(const schema_t *schema, const dialect_t *dialect) {
    const uint64_t format =
        XXH3_64bits_withSeed(schema->digest, strlen(schema->digest), (unsigned char)dialect->delimiter);
    const uint64_t hash =
        XXH3_64bits_withSeed(dialect->field_of, dialect->columns * sizeof *dialect->field_of, format);
    return hash ? hash : 1;
}

void dialect_use_layout(const schema_t *schema, dialect_t *dialect, const layout_t *layout) {
    dialect_clear_columns(dialect);
    dialect->columns = (uint16_t)layout->count;
    for (size_t i = 0; i < layout->count; i++)
        dialect_set_column(schema, dialect, i, layout->fields[i]);
}

bool dialect_take_earlier(const schema_t *schema, uint64_t hash, dialect_t *dialect) {
    if (dialect->hash == hash)
        return true;
    for (size_t d = 0; !dialect->header && d < schema->delimiter_count; d++)
        for (size_t i = 0; i < schema->layout_count; i++) {
            dialect->delimiter = schema->delimiters[d];
            dialect_use_layout(schema, dialect, &schema->layouts[i]);
            if ((dialect->hash = dialect_hash_of(schema, dialect)) == hash)
                return true;
        }
    return false;
}

bool dialect_is_of_first_line(const dialect_t *dialect) {
    bool known = dialect->header;
    for (size_t i = 0; known && i < dialect->columns; i++)
        known = dialect->field_of[i] != DIALECT_NO_FIELD;
    return known;
}

size_t dialect_print(const schema_t *schema, const dialect_t *dialect, char *out, size_t room) {
    (void)schema;
    int used = snprintf(out, room, "delimiter=%02x columns=", (unsigned char)dialect->delimiter);
    for (size_t i = 0; i < dialect->columns && used > 0 && (size_t)used < room; i++) {
        uint16_t field = dialect->field_of[i];
        if (field == DIALECT_NO_FIELD)
            used += snprintf(out + used, room - (size_t)used, "%s-", i ? "," : "");
        else
            used += snprintf(out + used, room - (size_t)used, "%s%u", i ? "," : "", field);
    }
    return used > 0 && (size_t)used < room ? (size_t)used : 0;
}

bool dialect_read(const schema_t *schema, const char *line, dialect_t *dialect) {
    unsigned delimiter, field;
    int used = 0;
    dialect_start(dialect);
    dialect_clear_columns(dialect);
    if (sscanf(line, "delimiter=%2x columns=%n", &delimiter, &used) != 1 || !used || delimiter > 127)
        return false;
    dialect->delimiter = (char)delimiter;
    dialect->line_end = 1;
    for (const char *at = line + used; *at && *at != ' ' && *at != '\n';) {
        size_t length = strcspn(at, ", \n");
        bool none = length == 1 && *at == '-';
        if (!none && (!length || length > 4 || strspn(at, "0123456789") != length))
            return false;
        if (dialect->columns == SCHEMA_MOST_FIELDS * 2 ||
            (!none && (sscanf(at, "%u", &field) != 1 || field >= schema->field_count)))
            return false;
        if (!none && dialect->column_of[field] != DIALECT_NO_FIELD)
            return false;
        if (!none)
            dialect_set_column(schema, dialect, dialect->columns, field);
        dialect->columns++;
        at += length + (at[length] == ',');
    }
    dialect->hash = dialect_hash_of(schema, dialect);
    return dialect->columns > 0 || schema->kind != RECORDS_DELIMITED;
}

typedef struct kept {
    struct kept *next;
    dialect_t dialect;
} kept_t;

struct dialect_shelf {
    pthread_mutex_t lock;
    kept_t *first;
};

dialect_shelf_t *dialect_shelf_new(void) {
    dialect_shelf_t *shelf = calloc(1, sizeof *shelf);
    if (shelf)
        pthread_mutex_init(&shelf->lock, NULL);
    return shelf;
}

void dialect_shelf_destroy(dialect_shelf_t *shelf) {
    if (!shelf)
        return;
    for (kept_t *kept = shelf->first; kept;) {
        kept_t *next = kept->next;
        free(kept);
        kept = next;
    }
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

const dialect_t *dialect_shelf_keep(dialect_shelf_t *shelf, const dialect_t *dialect) {
    dialect_t same;
    memcpy(&same, dialect, sizeof same); /* padding too: it is zero in all of them */
    pthread_mutex_lock(&shelf->lock);
    kept_t *kept = shelf->first;
    for (; kept; kept = kept->next) {
        same.serial = kept->dialect.serial;
        if (memcmp(&same, &kept->dialect, sizeof same) == 0) // NOLINT(bugprone-suspicious-memory-comparison)
            break;
    }
    if (!kept && (kept = calloc(1, sizeof *kept))) {
        memcpy(&kept->dialect, dialect, sizeof *dialect);
        kept->next = shelf->first;
        shelf->first = kept;
    }
    pthread_mutex_unlock(&shelf->lock);
    return kept ? &kept->dialect : NULL;
}
