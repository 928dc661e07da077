#include "format/cut/delimiter.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

bool guess_cut_all(study_t *study, const way_t *way, err_t *err) {
    const uint8_t *at = study->text;
    guess_line_t line;
    guess_schema(&study->schema, way);
    study->schema.guessed = false; /* odd quotes are weighed here, and rejected later */
    study->count = 0;
    while (study->count < GUESS_MOST_RECORDS &&
           guess_next(&study->schema, &at, study->end, study->last, &line)) {
        if (!split_record(&study->split, &study->schema, way->delimiter, line.text, line.length))
            return err_memory(err, line.length);
        study->records[study->count].fields =
            split_is_sound(&study->split) ? (uint16_t)study->split.count : 0;
        study->records[study->count].hash = line.text[0] == '#';
        study->records[study->count].at = (size_t)(line.text - study->text);
        study->records[study->count++].length = line.length;
    }
    return true;
}

bool guess_split(study_t *study, char delimiter, size_t record, err_t *err) {
    const uint8_t *text = study->text + study->records[record].at;
    const size_t length = study->records[record].length;
    return split_record(&study->split, &study->schema, delimiter, text, length) || err_memory(err, length);
}

size_t guess_usual_fields(const study_t *study) {
    static _Thread_local uint16_t seen[SPLIT_MOST + 1];
    size_t best = 0, most = 0;
    bool all_hashes = true;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < study->count; i++)
        all_hashes &= study->records[i].hash;
    for (size_t i = 0; i < study->count; i++)
        if (all_hashes || !study->records[i].hash)
            seen[study->records[i].fields]++;
    for (size_t i = 1; i <= SPLIT_MOST; i++)
        if (seen[i] && seen[i] >= most) {
            most = seen[i];
            best = i;
        }
    return best;
}

size_t guess_count_words(const uint8_t *text, size_t length, bool tabs) {
    bool quoted = false, before = false;
    size_t words = 0;
    for (size_t i = 0; i < length; i++) {
        const bool blank = (tabs ? delimiter_is_blank(text[i]) : text[i] == ' ') && !quoted;
        quoted ^= text[i] == '"';
        words += !blank && !before;
        before = !blank;
    }
    return words;
}

value_is_t guess_classify(const uint8_t *text, size_t length) {
    value_t value;
    guess_read(&value, text, length);
    return value.nothing ? IS_NOTHING : guess_is_of_type(&value) ? IS_TYPED : IS_TEXT;
}

bool guess_is_typed(const uint8_t *text, size_t length) {
    return guess_classify(text, length) != IS_TEXT;
}
