/* Columns that come and go between the files of a collection: what is added to a kept format, what stays left out, and what is
 * refused. Each row is a file that is loaded after those before it; then documents are counted, and all files that were taken are
 * verified. */
#include "load_lab.h"

#define AB "id,a,b\n1,x,1.5\n2,y,2.5\n"
#define FORMAT                                                                                               \
    "format: f\nrecord: {delimiter: [\",\"], header: yes}\nfields:\n  - {name: id, type: int}\n  - {name: "  \
    "a}\n"
#define WITH_B FORMAT "  - {name: b, optional: yes}\n"
#define NIGHT(name, content, ...)                                                                            \
    { .file = (name), .text = (content), __VA_ARGS__ }
#define WITH_C FORMAT "  - {name: c, optional: yes}\n"

typedef struct {
    const char *file, *text;
    const char *format;        /* of --format; NULL: guessed, or kept */
    const char *type;          /* one --type */
    new_columns_t new_columns; /* or what is usual */
    status_t status;
    const char *says; /* in the error, or on stderr */
} night_t;

typedef struct {
    const char *name;
    night_t steps[7];
    struct {
        const char *filter;
        size_t count;
    } there[5];
} nights_t;

static const nights_t feeds[] = {
    {"a column comes, goes, moves",
     {NIGHT("1", AB), NIGHT("2", "id,a,b,new\n3,x,1.5,7\n"), NIGHT("3", "new,id,b\n8,4,3.5\n"),
      NIGHT("4", "id,a,b\n5,z,4.5\n")},
     {{"{\"new\": 7}", 1},
      {"{\"new\": 8, \"a\": {\"$exists\": false}, \"b\": 3.5}", 1},
      {"{\"a\": {\"$exists\": true}}", 4}}},
    {"its type is said, then or never",
     {NIGHT("1", AB), NIGHT("2", AB, .type = "new:k:text", .status = STATUS_USAGE, .says = "new:k:text"),
      NIGHT("3", "id,a,b,new\n3,x,1.5,007\n", .type = "new:k:text"), NIGHT("4", "id,a,b,new\n4,x,1.5,8\n"),
      NIGHT("5", "id,a,b,new\n5,x,1.5,9\n", .type = "new:k:text"),
      NIGHT("6", AB, .type = "new:k:int", .status = STATUS_USAGE, .says = "new:k:int")},
     {{"{\"k\": \"007\"}", 1},
      {"{\"k\": {\"$in\": [\"8\", \"9\"]}}", 2},
      {"{\"new\": {\"$exists\": true}}", 0}}},
    {"what is left out stays out",
     {NIGHT("1", AB), NIGHT("2", "id,a,b,out\n3,x,1.5,7\n", .new_columns = NEW_COLUMNS_IGNORE),
      NIGHT("3", "id,a,b,OUT,new\n4,x,1.5,7,8\n"),
      NIGHT("4", "id,a,b,p,q,r,s\n5,x,1.5,7,8,9,0\n", .new_columns = NEW_COLUMNS_IGNORE),
      NIGHT("5", "id,a,b,t,u,v,w\n5,x,1.5,7,8,9,0\n")},
     {{"{\"out\": {\"$exists\": true}}", 0}, {"{\"OUT\": {\"$exists\": true}}", 0}, {"{\"new\": 8}", 1}}},
    {"refused on demand",
     {NIGHT("1", AB), NIGHT("2", "id,a,b,new\n3,x,1.5,7\n", .new_columns = NEW_COLUMNS_REFUSE,
                            .status = STATUS_INPUT, .says = "for new")},
     {{"{}", 2}}},
    {"half of the names are too few",
     {NIGHT("1", AB), NIGHT("2", "id,q,r\n3,x,1\n", .status = STATUS_INPUT, .says = "1 of 3"),
      NIGHT("3", "id,a\n4,x\n"), NIGHT("4", "a,q\n4,x\n", .status = STATUS_INPUT, .says = "1 of 2")},
     {{"{}", 3}}},
    {"names that cannot be added",
     {NIGHT("1", AB), NIGHT("2", "id,a,b,q,q\n3,x,1,2,3\n", .status = STATUS_INPUT, .says = "'q' twice"),
      NIGHT("3", "id,a,b,\n3,x,1,2\n", .status = STATUS_INPUT, .says = "column 4"),
      NIGHT("4", "id,a,b,a!\n3,x,1,2\n", .status = STATUS_INPUT, .says = "a!:KEY:"),
      NIGHT("5", "id,a,b,a!\n3,x,1,2\n", .type = "a!:again:"), NIGHT("6", "id,a,b,\"a!.q\"\n3,x,1,2\n")},
     {{"{\"again\": 2}", 1}, {"{\"a_q\": 2}", 1}}},
    {"nothing in it",
     {NIGHT("1", AB), NIGHT("2", "id,a,b,new\n3,x,1.5,\n"), NIGHT("3", "id,a,b,new\n4,x,1.5,7\n")},
     {{"{\"new\": \"7\"}", 1}}},
    {"a guess decides as the kept one did",
     {NIGHT("1", "id,d,v\n1,31/12/2024,\"1,5\"\n2,30/12/2024,\"2,5\"\n"),
      NIGHT("2", "id,d,v,e,w\n3,31/12/2024,\"1,5\",03/04/2024,\"7,25\"\n")},
     {{"{\"e\": {\"$date\": \"2024-04-03T00:00:00Z\"}, \"w\": 7.25}", 1}}},
    {"a format file gets a field",
     {NIGHT("1", "id,a\n1,x\n", .format = FORMAT), NIGHT("2", "id,b,a\n2,7,x\n", .format = WITH_B),
      NIGHT("3", "id,a\n3,x\n", .format = FORMAT, .status = STATUS_USAGE, .says = "'b'"),
      NIGHT("4", "id,a,c\n3,x,q\n", .format = WITH_C, .status = STATUS_USAGE, .says = "'b'"),
      NIGHT("5", "id,a,c\n3,x,q\n", .format = WITH_B, .says = ""),
      NIGHT("6", "id,a,c\n4,x,q\n", .format = WITH_B "  - {name: c, optional: yes}\n", .status = STATUS_INPUT,
            .says = "--delete 5"),
      NIGHT("7", "id,a,c\n4,x,q\n", .format = WITH_B "  - {name: c}\n", .status = STATUS_USAGE,
            .says = "'f'")},
     {{"{\"b\": \"7\"}", 1}, {"{\"c\": {\"$exists\": true}}", 0}}},
    {"not of a format file",
     {NIGHT("1", AB, .format = FORMAT, .new_columns = NEW_COLUMNS_ADD, .status = STATUS_USAGE,
            .says = "./rows.yaml")},
     {{"{}", 0}}},
    {"not of objects",
     {NIGHT("1", "{\"a\": 1}\n", .new_columns = NEW_COLUMNS_REFUSE, .status = STATUS_USAGE,
            .says = "--new-columns")},
     {{"{}", 0}}},
    {"not without a header",
     {NIGHT("1", "1,2\n3,4\n",
            .format = "format: f\nrecord: {delimiter: [\",\"], header: no}\nfields: [{name: a}, {name: b}]\n",
            .new_columns = NEW_COLUMNS_IGNORE, .status = STATUS_USAGE, .says = "--new-columns")},
     {{"{}", 0}}},
};

static void load_step(lab_t *lab, const night_t *step, const char *feed) {
    char *types[] = {(char *)step->type};
    if (step->format)
        lab_write("rows.yaml", step->format);
    lab_write(step->file, step->text);
    lab->load.format = step->format ? "./rows.yaml" : NULL;
    lab->load.guess.types = types;
    lab->load.guess.type_count = step->type != NULL;
    lab->load.new_columns = step->new_columns;
    lab_load(lab, (char *)step->file);
    if (lab->err.status != step->status || (step->status && !strstr(lab->err.text, step->says)) ||
        (step->new_columns == NEW_COLUMNS_REFUSE && strstr(lab->err.text, "anew")))
        fail_msg("%s, file %s: %d %s", feed, step->file, lab->err.status, lab->err.text);
}

TEST(feeds) {
    for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++) {
        const nights_t *feed = &feeds[i];
        char *taken[8] = {NULL};
        size_t count = 0;
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        for (const night_t *step = feed->steps; step < feed->steps + 7 && step->file; step++) {
            load_step(&lab, step, feed->name);
            if (!step->status)
                taken[count++] = (char *)step->file;
        }
        for (size_t j = 0; j < 5 && feed->there[j].filter; j++)
            if (box_count(lab.box, LAB_TARGET, feed->there[j].filter) != feed->there[j].count)
                fail_msg("%s: not %zu of %s", feed->name, feed->there[j].count, feed->there[j].filter);
        if (feed->steps->format) /* the last one that fits */
            lab_write("rows.yaml", WITH_B);
        lab.verify.load.format = feed->steps->format ? "./rows.yaml" : NULL;
        if (count && lab_verify_all(&lab, taken) != STATUS_OK)
            fail_msg("%s: %s", feed->name, lab.err.text);
        lab_close(&lab);
    }
}

/* A file whose column cannot be added holds up no other one. */
LAB_TEST(odd_one_out, lab_open(lab, BOX_STANDALONE)) {
    lab->load.format = lab->verify.load.format = NULL;
    lab->load.skip_bad_files = true;
    lab_write("1", AB);
    lab_write("2", "id,a,b,x y,x-y\n3,x,1,2,3\n");
    lab_write("3", "id,a,b,new\n4,x,1,2\n");
    lab_write("4", "id,a,b,caf\xe9\n4,x,1,2\n");
    assert_status(lab, lab_load(lab, "1"), STATUS_OK);
    assert_status(lab, lab_load(lab, "1", "2", "3", "4"), STATUS_SOME_REJECTED);
    assert_int_equal(lab->loaded.skipped.count, 2);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"new\": 2}"), 1);
    lab->load.skip_bad_files = false;
    assert_status(lab, lab_load(lab, "2", "3"), STATUS_INPUT);
    assert_says(lab->err.text, ":KEY:");
    assert_status(lab, lab_verify(lab, "1", "3"), STATUS_OK);
}

/* With what the load says of it: columns, and the first file of each. */
LAB_TEST(figures, lab_open(lab, BOX_STANDALONE)) {
    lab->load.format = NULL;
    lab_write("1", "id,a,b\n1,x,2\n");
    assert_status(lab, lab_load(lab, "1"), STATUS_OK);
    assert_int_equal(lab->loaded.column_count, 0);
    lab_write("2", "id,a,c\n1,x,2.5\n");
    lab_write("3", "id,a,b,c\n1,x,2,2.5\n");
    lab->load.dry_run = true;
    assert_status(lab, lab_load(lab, "1", "2", "3"), STATUS_OK);
    assert_int_equal(lab->loaded.column_count, 2);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"widened\": {\"$exists\": true}}"), 0);
    lab->load.dry_run = false;
    assert_status(lab, lab_load(lab, "1", "2", "3"), STATUS_OK);
    const column_result_t *columns = lab->loaded.columns;
    assert_int_equal(lab->loaded.column_count, 2);
    assert_true(columns[0].news == COLUMN_ADDED && columns[1].news == COLUMN_MISSING);
    assert_string_equal(columns[0].name, "c");
    assert_string_equal(columns[0].type, "number");
    assert_string_equal(columns[0].file, "2");
    assert_string_equal(columns[1].name, "b");
    assert_string_equal(columns[1].file, "2");
    assert_says(lab->said, "'b' is gone and 'c' is new");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"widened\": 1, \"columns.list.0.name\": \"c\"}"), 1);
    lab_write("2", "id,a,c\n1,x,2.5\n"); /* anew, so that it is compared */
    assert_status(lab, lab_load(lab, "1", "2", "3"), STATUS_OK);
    assert_int_equal(lab->loaded.column_count, 0); /* of files that were loaded before nothing is said */
}

/* A file whose filter, or whose _id, names a column that is gone would be left out, or rejected, in silence. */
TEST(needed) {
    for (int id = 0; id < 3; id++) {
        char *filter[] = {"b>0"};
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab.load.format = NULL;
        lab.load.filters = filter;
        lab.load.filter_count = !id;
        lab.load.id = id ? "b" : NULL;
        lab_write("1", "id,a,b\n1,x,2\n");
        lab_write("2", "id,a,c\n1,x,2\n");
        assert_status(&lab, lab_load(&lab, "1"), STATUS_OK);
        lab.load.id = id == 1 ? "b" : NULL; /* or by what the catalog keeps */
        assert_status(&lab, lab_load(&lab, "2"), STATUS_INPUT);
        assert_says(lab.err.text, "'b'");
        assert_null(strstr(lab.err.text, "anew")); /* that would be no help */
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 1);
        lab_close(&lab);
    }
}

/* What was left out of one file may be added when that is forgotten with its documents; what was left out of several stays so. */
TEST(forgotten) {
    for (int several = 0; several < 3; several++) { /* 2: at once */
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write("rows.yaml", FORMAT);
        lab_write("1", "id,a,b\n1,x,7\n");
        lab_write("2", (const char *[]){"id,a\n2,x\n", "id,a,B\n2,x,8\n", "id,a,b\n2,x,8\n"}[several]);
        assert_status(&lab, several == 2 ? lab_load(&lab, "1", "2") : lab_load(&lab, "1"), STATUS_OK);
        assert_status(&lab, lab_load(&lab, "1", "2"), STATUS_OK);
        assert_int_equal(lab.loaded.column_count, several == 1); /* said each time */
        lab_write("rows.yaml", WITH_B);
        lab_shorten_lease(&lab);
        assert_status(&lab, lab_load(&lab, "1"), STATUS_INPUT);
        assert_says(lab.err.text, several ? "other files" : "--delete 1");
        assert_status(&lab, lab_forget(&lab, true, "1"), STATUS_OK);
        assert_status(&lab, lab_load(&lab, "1"), several ? STATUS_INPUT : STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"b\": \"7\"}"), !several);
        lab_close(&lab);
    }
}

/* A drop that is refused takes no columns away: what was left out stays so. */
LAB_TEST(drop_that_is_refused, lab_open(lab, BOX_STANDALONE)) {
    lab_write("rows.yaml", FORMAT);
    lab_write("1", "id,a,b\n1,x,7\n");
    assert_status(lab, lab_load(lab, "1"), STATUS_OK);
    lab->load.drop = true;
    box_deny(lab->box, "drop", "c", 0, 1);
    assert_status(lab, lab_load(lab, "1"), STATUS_USAGE);
    lab->load.drop = false;
    lab_write("rows.yaml", WITH_B);
    assert_status(lab, lab_load(lab, "1"), STATUS_INPUT);
    assert_says(lab->err.text, "--delete 1");
}

/* An earlier version notes nothing of columns, so a format file gets no field; to a guess, of which it has left out nothing, columns are
 * added. Whatever is there of a dropped collection says nothing. */
TEST(bound_by_an_earlier_version) {
    /* of a collection that was dropped; and an input that an earlier version has registered since */
    static const char *const of_earlier[] = {
        "{\"$set\": {\"columns\": {\"of\": 3, \"all\": true, \"list\": []}}}",
        "{\"$set\": {\"nextOrdinal\": {\"$numberLong\": \"9\"}}}"};
    for (size_t how = 0; how < 3; how++) {
        const bool guessed = how == COUNT(of_earlier);
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write("rows.yaml", FORMAT);
        lab.load.format = guessed ? NULL : "./rows.yaml";
        lab_write("1", "id,a\n1,x\n");
        lab_write("2", "id,a,b\n2,x,7\n");
        assert_status(&lab, lab_load(&lab, "1"), STATUS_OK);
        box_update(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}",
                   guessed ? "{\"$unset\": {\"columns\": 1}}" : of_earlier[how]);
        lab_write("rows.yaml", WITH_B);
        assert_status(&lab, lab_load(&lab, "2"), guessed ? STATUS_OK : STATUS_USAGE);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"b\": {\"$exists\": true}}"), guessed);
        lab_close(&lab);
    }
}

/* Another load has written the header between our look and our write: it has no place for both, and we begin again. */
static bool was_first;

static void widen_otherwise(void *context) {
    lab_t *lab = context;
    if (box_count(lab->box, LAB_FILES, "{\"widened\": {\"$exists\": true}}"))
        return; /* it is too late */
    was_first = true;
    box_update(
        lab->box, LAB_FILES, "{\"_id\": \"catalog\"}",
        "{\"$set\": {\"widened\": 1, \"columns\": {\"of\": 0, \"list\": [{\"name\": \"b\", \"by\": \"9\", "
        "\"type\": \"text\", \"digest\": \"\", \"at\": {\"$date\": \"2026-01-01T00:00:00Z\"}}]}, "
        "\"formatText\": \"format: guessed\\nrecord: {delimiter: [\\\",\\\"], header: yes, exact: "
        "yes}\\nfields:\\n"
        "  - {name: id, type: int}\\n  - {name: a, type: text}\\n"
        "  - {name: b, type: text, optional: yes, added: \\\"9\\\"}\\n\"}}");
}

/* At any time: before its writes, and between its reads. */
TEST(another_was_first) {
    for (uint32_t round = 0; round < 20; round++) {
        const bool stream = round % 2, reads = round >= 8;
        const char *text = reads ? "id,a,c\n2,x,8\n" : "id,a,c,b\n2,x,8,7\n";
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        was_first = false;
        lab.load.format = lab.verify.load.format = NULL;
        lab_write("1", "id,a\n1,x\n");
        lab_write("2", text);
        assert_status(&lab, lab_load(&lab, "1"), STATUS_OK);
        box_watch(lab.box, reads ? "find" : "update", "c.tipple.files", (reads ? round - 8 : round) / 2, 1,
                  widen_otherwise, &lab);
        const status_t status =
            stream ? lab_load_stream(&lab, text, (char *[]){"-", NULL}) : lab_load(&lab, "2");
        box_end_faults(lab.box);
        assert_status(&lab, status, STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET,
                                   reads       ? "{\"c\": 8}"
                                   : was_first ? "{\"b\": \"7\", \"c\": 8}"
                                               : "{\"b\": 7, \"c\": 8}"),
                         1);
        assert_int_equal(box_count(lab.box, LAB_FILES, "{\"columns.list.name\": \"c\"}"), 1);
        assert_true(round > 1 || was_first);
        assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": {\"$exists\": true}}"), 2); /* once each */
        assert_status(&lab, stream ? lab_verify(&lab, "1") : lab_verify(&lab, "1", "2"), STATUS_OK);
        lab_close(&lab);
    }
}

/* A load that has dropped the collection loses the first bind to another load: it begins again, without another drop, and what
 * it has rejected before is in the reject file once. */
static void *load_other(void *context) {
    lab_t *lab = context;
    load_spec_t spec = lab->load;
    load_result_t result;
    err_t err;
    caller_t caller;
    caller_init(&caller);
    caller_set(&caller);
    spec.inputs = (char *[]){"2"};
    spec.input_count = 1;
    spec.drop = false;
    was_first = load_run(&spec, &result, &err);
    load_result_free(&result);
    caller_free(&caller);
    return NULL;
}

static void let_another_load(void *context) {
    lab_t *lab = context;
    pthread_t thread;
    if (was_first || box_count(lab->box, LAB_FILES, "{\"_id\": \"catalog\", \"dropping\": null}") == 0)
        return;
    assert_int_equal(pthread_create(&thread, NULL, load_other, lab), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(drops_once) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    was_first = false;
    lab.load.format = lab.verify.load.format = NULL;
    lab_write("0", "id\n0\n");
    lab_write("1", "id,a\n1,x\nq\n");
    lab_write("2", "id,a,c\n2,x,8\n");
    assert_status(&lab, lab_load(&lab, "0"), STATUS_OK);
    lab.load.drop = true;
    box_watch(lab.box, "insert", "c.tipple.files", 0, 100, let_another_load, &lab);
    assert_status(&lab, lab_load(&lab, "1"), STATUS_SOME_REJECTED);
    box_end_faults(lab.box);
    assert_true(was_first);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
    char *kept = lab_read("c.rejects"),
         *entry = strstr(kept, "\nq\n"); /* as the load that ended rejects it */
    assert_non_null(entry);
    assert_null(strstr(entry + 1, "\nq\n"));
    free(kept);
    assert_status(&lab, lab_verify(&lab, "1", "2"), STATUS_OK);
    lab_close(&lab);
}

/* The next load's inputs, after "1". What is not loaded of them says nothing of the type of a column. */
typedef struct {
    const char *name, *texts[3], *stream; /* contents of the files 1, 2 and 3; and of stdin, "feed" */
    bool skip, replace;
    uint64_t limit;
    status_t status;
    const char *says;
    size_t typed; /* documents with the number 7 in `new` */
} not_loaded_t;

#define WORD  "id,a,b,new\n3,x,1,word\n"
#define SEVEN "id,a,b,new\n4,x,1,7\n"

static const not_loaded_t not_loaded[] = {
    {"another stream", .stream = WORD, .status = STATUS_INPUT, .says = "another stream"},
    {"another stream next to a file",
     {NULL, NULL, SEVEN},
     WORD,
     true,
     .status = STATUS_SOME_REJECTED,
     .typed = 1},
    {"columns of one key",
     {NULL, NULL, SEVEN},
     "id,a,b,x y,x-y\n3,x,1,2,3\n",
     true,
     .status = STATUS_SOME_REJECTED,
     .typed = 1},
    {"a file that has changed", {WORD, NULL, SEVEN}, NULL, true, .status = STATUS_SOME_REJECTED, .typed = 1},
    {"a file that waits", {AB, "q\n1\n", WORD}, NULL, true, true, .status = STATUS_SOME_REJECTED},
    {"a file that does not fit",
     {NULL, "q,new\n1,word\n", SEVEN},
     NULL,
     true,
     .status = STATUS_SOME_REJECTED,
     .typed = 1},
    {"after the limit", {NULL, AB, WORD}, .limit = 1},
    {"before the limit", {NULL, AB, WORD}, .limit = 3, .status = STATUS_INPUT, .says = "With --limit"},
};

TEST(typed_by_what_is_loaded) {
    for (const not_loaded_t *row = not_loaded; row < not_loaded + COUNT(not_loaded); row++) {
        char *names[] = {"1", "2", "3"}, *inputs[5] = {NULL};
        size_t count = 0;
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab.load.format = NULL;
        lab.load.id = row->replace ? "id" : NULL;
        lab.load.existing = row->replace ? "replace" : NULL;
        lab.load.input_name = row->stream ? "feed" : NULL;
        lab_write("1", AB);
        lab_load_stream(&lab, AB, (char *[]){row->stream ? "-" : "1", NULL});
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
        lab.load.limit = row->limit ? row->limit : UINT64_MAX;
        lab.load.skip_bad_files = row->skip;
        for (size_t i = 0; i < 3; i++)
            if (row->texts[i]) {
                lab_write(names[i], row->texts[i]);
                inputs[count++] = names[i];
            }
        inputs[count] = row->stream ? "-" : NULL;
        const status_t status = lab_load_stream(&lab, row->stream ? row->stream : "", inputs);
        if (status != row->status || (row->says && !strstr(lab.err.text, row->says)))
            fail_msg("%s: %d %s", row->name, status, lab.err.text);
        if (box_count(lab.box, LAB_TARGET, "{\"new\": 7}") != row->typed ||
            box_count(lab.box, LAB_FILES, "{\"widened\": {\"$exists\": true}}") != row->typed)
            fail_msg("%s: the column is not that of %zu file", row->name, row->typed);
        lab_close(&lab);
    }
}
