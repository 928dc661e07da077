/* What verify finds, each difference alone, and what disturbs it on its way. */
#include "load_lab.h"
#include "test.h"

enum { ROWS = 150, WIDE_ROWS = 3000 };

static void load_rows(lab_t *lab, box_kind_t kind) {
    lab_open(lab, kind);
    lab_write_rows("a.csv", 0, ROWS);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
}

static uint64_t found(const lab_t *lab, difference_kind_t kind) {
    return differences_count(lab->verified.differences, kind);
}

static const difference_t *first(const lab_t *lab, difference_kind_t kind) {
    size_t count;
    const difference_t *all = differences_of(lab->verified.differences, kind, &count);
    assert_true(count > 0);
    return all;
}

/* One more or less of this kind, and no other; verify's own words for it. */
static void expect(lab_t *lab, difference_kind_t kind, uint64_t count, const char *words) {
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(found(lab, kind), count);
    assert_int_equal(differences_total(lab->verified.differences), count);
    assert_says(lab->err.text, words);
}

TEST(all_is_well) {
    for (box_kind_t kind = BOX_STANDALONE; kind <= BOX_REPLICA_SET; kind++) {
        lab_t lab;
        load_rows(&lab, kind);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.records, ROWS);
        assert_int_equal(lab.verified.counts.same, ROWS);
        assert_int_equal(lab.verified.all_documents, ROWS);
        assert_true(lab.verified.counted);
        lab_close(&lab);
    }
}

LAB_TEST(missing, load_rows(lab, BOX_STANDALONE)) {
    box_delete(lab->box, LAB_TARGET, "{\"n\": {\"$in\": [10, 11, 50]}}");
    expect(lab, DIFFERENCE_MISSING, 3, ": 3 missing");
    const difference_t *difference = first(lab, DIFFERENCE_MISSING);
    assert_int_equal(difference->line, 12); /* neighbours are one difference */
    assert_int_equal(difference->last_line, 13);
    assert_int_equal(difference->records, 2);
    assert_string_equal(difference->name, "a.csv");
}

TEST(changed) {
    static const struct {
        const char *update, *field, *stored, *expected;
    } cases[] = {
        {"{\"$set\": {\"w\": \"other\"}}", "w", "\"other\"", "\"w7\""},
        {"{\"$set\": {\"n\": {\"$numberLong\": \"7\"}}}", "n", "{ \"$numberLong\" : \"7\" }",
         "{ \"$numberInt\" : \"7\" }"},
        {"{\"$set\": {\"more\": {\"a\": [1, null]}}}", "more",
         "{ \"a\" : [ { \"$numberInt\" : \"1\" }, null ] }", ""},
        {"{\"$unset\": {\"w\": true}}", "w", "", "\"w7\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        load_rows(&lab, BOX_STANDALONE);
        box_update(lab.box, LAB_TARGET, "{\"n\": 7}", cases[i].update);
        expect(&lab, DIFFERENCE_CHANGED, 1, "1 changed");
        const difference_t *difference = first(&lab, DIFFERENCE_CHANGED);
        assert_int_equal(difference->line, 9);
        assert_string_equal(difference->changed->field, cases[i].field);
        assert_string_equal(difference->changed->stored, cases[i].stored);
        assert_string_equal(difference->changed->expected, cases[i].expected);
        lab_close(&lab);
    }
}

/* Documents that no record of a file makes: in the places of a file, after its end, of nobody, and with other _ids. */
TEST(extra_and_unrelated) {
    static const struct {
        const char *id;
        long long plus; /* to the _id of the record 7 */
        difference_kind_t kind;
        const char *why;
    } cases[] = {
        {NULL, 1, DIFFERENCE_EXTRA, "no record begins there"},
        {NULL, 2 << 20, DIFFERENCE_UNRELATED, "no file of"},
        {NULL, 1ll << 53, DIFFERENCE_UNRELATED, "its lane is not"},
        {"{\"$numberLong\": \"-5\"}", 0, DIFFERENCE_UNRELATED, "no file of"},
        {"\"text\"", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$oid\": \"64a000000000000000000001\"}", 0, DIFFERENCE_UNRELATED, NULL},
        {"true", 0, DIFFERENCE_UNRELATED, NULL},
        {"null", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$date\": {\"$numberLong\": \"7\"}}", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$timestamp\": {\"t\": 5, \"i\": 1}}", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$minKey\": 1}", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$maxKey\": 1}", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"a\": 1}", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}}", 0, DIFFERENCE_UNRELATED, NULL},
        {"1e300", 0, DIFFERENCE_UNRELATED, NULL},
        {"{\"$numberDouble\": \"NaN\"}", 0, DIFFERENCE_UNRELATED, NULL},
        {"0.5", 0, DIFFERENCE_UNRELATED, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char document[200];
        lab_t lab;
        load_rows(&lab, BOX_STANDALONE);
        bson_t *record = box_one(lab.box, LAB_TARGET, "{\"n\": 7}");
        if (cases[i].id)
            snprintf(document, sizeof document, "{\"_id\": %s}", cases[i].id);
        else
            snprintf(document, sizeof document, "{\"_id\": {\"$numberLong\": \"%lld\"}}",
                     (long long)lab_number(record, "_id") + cases[i].plus);
        bson_destroy(record);
        box_insert(lab.box, LAB_TARGET, document);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_DIFFERENT);
        if (found(&lab, cases[i].kind) != 1 || differences_total(lab.verified.differences) != 1)
            fail_msg("%s: %s", document, lab.err.text);
        if (cases[i].kind == DIFFERENCE_EXTRA)
            assert_int_equal(first(&lab, DIFFERENCE_EXTRA)->line, 9);
        if (cases[i].why)
            assert_says(first(&lab, cases[i].kind)->why, cases[i].why);
        else
            assert_non_null(first(&lab, cases[i].kind)->other_id);
        assert_int_equal(lab.verified.all_documents, ROWS + 1);
        lab_close(&lab);
    }
}

/* A number that is the same to people, but not to the server's types. */
LAB_TEST(duplicated, load_rows(lab, BOX_STANDALONE)) {
    bson_t *record = box_one(lab->box, LAB_TARGET, "{\"n\": 7}");
    char document[100];
    snprintf(document, sizeof document, "{\"_id\": %lld.5}", (long long)lab_number(record, "_id"));
    bson_destroy(record);
    box_insert(lab->box, LAB_TARGET, document);
    expect(lab, DIFFERENCE_UNRELATED, 1, "1 unrelated");
}

/* Documents of a file that was not given are counted, and are no difference. */
LAB_TEST(other_files, load_rows(lab, BOX_STANDALONE)) {
    lab_write_rows("b.csv", 1000, 1040);
    assert_int_equal(mkdir("else", 0700), 0);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    box_update(lab->box, LAB_TARGET, "{\"n\": 1007}", "{\"$set\": {\"w\": \"other\"}}");
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.other_documents, 40);
    assert_int_equal(lab->verified.all_documents, ROWS + 40);
    assert_int_equal(lab->verified.catalog_files, 2);
    assert_int_equal(rename("a.csv", "else/a.csv"), 0); /* known all the same */
    assert_status(lab, lab_verify(lab, "else/a.csv"), STATUS_OK);
    lab->verify.files_only = true;
    assert_status(lab, lab_verify(lab, "else/a.csv"), STATUS_OK);
    assert_false(lab->verified.counted);
}

LAB_TEST(sample, lab_open(lab, BOX_STANDALONE)) {
    lab_write_wide_rows("a.csv", 0, WIDE_ROWS); /* some blocks */
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    /* the same share each time, and a larger one holds it */
    uint64_t looked_at = 1;
    for (int percent = 40; percent < 100; percent += 20) {
        lab->verify.sample_percent = percent;
        assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
        const uint64_t blocks = lab->verified.counts.blocks, documents = lab->verified.counts.same;
        assert_true(blocks >= looked_at && blocks < lab->verified.blocks + (percent > 40));
        assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
        assert_true(lab->verified.counts.blocks == blocks && lab->verified.counts.same == documents);
        looked_at = blocks;
    }
    lab->verify.sample_percent = 1e-9;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "nothing was looked at");
    lab->verify.sample_percent = 100;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 3000);
}

LAB_TEST(rejects_and_filters, lab_open(lab, BOX_STANDALONE)) {
    static char *filters[] = {"n>5"};
    lab_write("a.csv", "n,w\n1,a\nx\n7,b\n8,c\n");
    lab->load.filters = filters;
    lab->load.filter_count = 1;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK); /* by the catalog's own filter */
    assert_int_equal(lab->verified.counts.records, 4);
    assert_int_equal(lab->verified.counts.expected, 2);
    assert_int_equal(lab->verified.counts.rejected, 1);
    assert_int_equal(lab->verified.counts.filtered, 1);
    assert_string_equal(lab->verified.filter, "n>5");
    filters[0] = "n>6";
    lab->verify.load.filters = filters;
    lab->verify.load.filter_count = 1;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c was loaded with --filter 'n>5'");
}

/* A record that was fixed and is not loaded yet is no difference, but its collection is not whole. */
LAB_TEST(unloaded_fix, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\nx\n7,b\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\nx\n", "\n5,e\n");
    lab->verify.retry = (char *[]){"fixed.rejects"};
    lab->verify.retry_count = 1;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(lab->verified.counts.unloaded, 1);
    assert_int_equal(differences_total(lab->verified.differences), 0);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    lab->verify.retry_count = 0;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 3);
}

/* What the server has refused is missing until it was fixed; then the fix is what is expected there. */
LAB_TEST(refused_by_the_server, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    box_refuse(lab->box, LAB_TARGET, "{\"n\": 5}", 121);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    expect(lab, DIFFERENCE_MISSING, 1, "1 missing");
    assert_int_equal(first(lab, DIFFERENCE_MISSING)->line, 7);

    assert_int_equal(system("cp c.rejects untouched.rejects"), 0);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\n5,w5\n", "\n500,w5\n");
    lab->load.retry = "fixed.rejects";
    assert_status(lab, lab_load(lab, NULL), STATUS_OK);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.fixed, 1);

    /* the fix itself is looked at, too: with its file, whose words are known, and without */
    box_update(lab->box, LAB_TARGET, "{\"n\": 500}", "{\"$set\": {\"w\": \"x5\"}}");
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(found(lab, DIFFERENCE_CHANGED), 1);
    lab->verify.retry = (char *[]){"untouched.rejects", "fixed.rejects"}; /* what was loaded counts */
    lab->verify.retry_count = 2;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(found(lab, DIFFERENCE_CHANGED), 1);
    assert_string_equal(first(lab, DIFFERENCE_CHANGED)->changed->expected, "\"w5\"");
    box_delete(lab->box, LAB_TARGET, "{\"n\": 500}");
    expect(lab, DIFFERENCE_MISSING, 1, "1 missing");
    assert_says(first(lab, DIFFERENCE_MISSING)->why, "as it was fixed");
    lab->verify.retry_count = 0;
    expect(lab, DIFFERENCE_MISSING, 1, "1 missing");
    assert_int_equal(first(lab, DIFFERENCE_MISSING)->line, 7);
}

LAB_TEST(limit, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, ROWS);
    lab->load.limit = lab->verify.load.limit = 20;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 20);
    lab->verify.load.limit = UINT64_MAX;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(found(lab, DIFFERENCE_MISSING), ROWS - 20);
    assert_int_equal(lab->verified.unfinished_files, 1);
    assert_says(lab->said, "a.csv is not loaded");
}

/* What a file has grown by is missing; nothing that is there becomes wrong. */
LAB_TEST(grown, load_rows(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, ROWS + 7);
    expect(lab, DIFFERENCE_MISSING, 7, "7 missing");
}

/* ---- refused ---- */

LAB_TEST(refused, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, ROWS);
    lab_write("empty.csv", "n,w\n");
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c has no catalog");
    assert_status(lab, lab_verify(lab, "empty.csv"), STATUS_OK);
    assert_says(lab->said, "nothing is expected there");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write_rows("b.csv", 0, 5);
    assert_status(lab, lab_verify(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "b.csv is not in");
    lab->verify.retry = (char *[]){"nothing.rejects"};
    lab->verify.retry_count = 1;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "the reject file nothing.rejects cannot be read");
    lab->verify.retry_count = 0;
    box_drop(lab->box, LAB_TARGET);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c is gone");
    box_delete(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}");
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "its header was removed");
}

/* A restored collection has another identity: said, and looked at all the same. Running loads are reported. */
LAB_TEST(notes, load_rows(lab, BOX_STANDALONE)) {
    box_update(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}",
               "{\"$set\": {\"uuid\": {\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": "
               "\"04\"}}}}");
    lab_other_load(lab, "2100-01-01T00:00:00Z");
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "d.c is not the collection");
    assert_says(lab->said, "1 load of d.c is running");
}

/* ---- on the way ---- */

/* Whatever breaks off is read again, and what was found until then is not counted twice. */
TEST(lost_replies) {
    static const struct {
        const char *command, *reply;
        uint32_t after;
    } cases[] = {
        {"find", NULL, 0},
        {"find", NULL, 3},
        {"find", BOX_ERROR(91, "shutting down"), 5},
        {"find", BOX_ERROR(11602, "interrupted"), 1},
        {"find", BOX_ERROR(43, "cursor id 5 not found"), 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        load_rows(&lab, BOX_REPLICA_SET);
        box_delete(lab.box, LAB_TARGET, "{\"n\": 10}");
        const size_t before = box_asked(lab.box, cases[i].command, "c");
        box_fault(lab.box, &(box_fault_t){.command = cases[i].command,
                                          .collection = "c",
                                          .after = cases[i].after + 1, /* the check of what there is */
                                          .reply = cases[i].reply});
        expect(&lab, DIFFERENCE_MISSING, 1, "1 missing");
        assert_true(lab.verified.counts.same == ROWS - 1);
        assert_true(lab.verified.counts.retries > 0);
        assert_true(box_asked(lab.box, cases[i].command, "c") > before);
        lab_close(&lab);
    }
}

/* What lasts ends it, at once or after --patience. What was found until then is said. */
TEST(refused_reads) {
    static const struct {
        const char *reply, *words;
        status_t status;
    } cases[] = {
        {BOX_ERROR(13, "not authorized"), "not authorized", STATUS_USAGE},
        {BOX_ERROR(14031, "disk full"), "make room", STATUS_SERVER},
        {BOX_ERROR(91, "shutting down"), "--patience", STATUS_SERVER},
        {NULL, "--patience", STATUS_SERVER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write_wide_rows("a.csv", 0, WIDE_ROWS); /* some blocks */
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        box_update(lab.box, LAB_TARGET, "{\"n\": 2}", "{\"$set\": {\"w\": \"other\"}}");
        lab.verify.load.patience_ns = 2000000000;
        lab.verify.load.threads = 1;
        box_fault(lab.box, &(box_fault_t){.command = "find",
                                          .collection = "c",
                                          .after = 3, /* the first block, twice */
                                          .times = 1000,
                                          .reply = cases[i].reply});
        assert_status(&lab, lab_verify(&lab, "a.csv"), cases[i].status);
        assert_says(lab.err.text, cases[i].words);
        assert_int_equal(found(&lab, DIFFERENCE_CHANGED), 1);
        assert_true(lab.verified.counts.same < WIDE_ROWS - 1);
        lab_close(&lab);
    }
}

static void take_one(void *context) {
    lab_t *lab = context;
    if (box_count(lab->box, LAB_TARGET, "{\"n\": 10}"))
        box_delete(lab->box, LAB_TARGET, "{\"n\": 10}");
}

static void add_one(void *context) {
    box_insert(((lab_t *)context)->box, LAB_TARGET, "{\"_id\": \"late\"}");
}

static void load_another_file(void *context) {
    lab_t other = {.uri = "", .load = ((lab_t *)context)->load};
    assert_status(&other, lab_load(&other, "b.csv"), STATUS_OK);
    load_result_free(&other.loaded);
}

/* Each place counts as it was when it was read. Other files that are loaded meanwhile do no harm. */
TEST(changed_meanwhile) {
    static const struct {
        void (*hook)(void *);
        status_t status;
    } cases[] = {{take_one, STATUS_OK}, {add_one, STATUS_DIFFERENT}, {load_another_file, STATUS_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        load_rows(&lab, BOX_REPLICA_SET);
        lab_write_rows("b.csv", ROWS, ROWS + 30);
        /* the first is for what there is, the second for the block, the third for the rest */
        box_watch(lab.box, "find", "c", 2, 1, cases[i].hook, &lab);
        assert_status(&lab, lab_verify(&lab, "a.csv"), cases[i].status);
        assert_int_equal(lab.verified.counts.same, ROWS);
        assert_int_equal(found(&lab, DIFFERENCE_UNRELATED), cases[i].status == STATUS_DIFFERENT);
        lab_close(&lab);
    }
}

/* Something of another load, as JSON: it comes while verify runs. */
typedef struct {
    lab_t *lab;
    const char *namespace;
    char *document;
} late_t;

static void come(void *context) {
    late_t *late = context;
    if (late->document)
        box_insert(late->lab->box, late->namespace, late->document);
    bson_free(late->document);
    late->document = NULL;
}

/* The document is taken away, and comes when a command is asked for. */
static late_t comes_late(lab_t *lab, const char *namespace, const char *filter) {
    bson_t *document = box_one(lab->box, namespace, filter);
    late_t late = {lab, namespace, bson_as_canonical_extended_json(document, NULL)};
    bson_destroy(document);
    box_delete(lab->box, namespace, filter);
    return late;
}

static void when_asked(late_t *late, const char *command, uint32_t after) {
    box_watch(late->lab->box, command, "c", after, 1, come, late);
}

/* Only a difference that a second look confirms counts. */
LAB_TEST(comes_meanwhile, load_rows(lab, BOX_STANDALONE)) {
    late_t late = comes_late(lab, LAB_TARGET, "{\"n\": 10}");
    when_asked(&late, "find", 2); /* the first is for what there is, the second for the block */
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_null(late.document);
    assert_int_equal(lab->verified.counts.same, ROWS);
}

/* The documents of a file that was registered since the catalog was read are those of another file. */
LAB_TEST(registered_meanwhile, load_rows(lab, BOX_STANDALONE)) {
    lab_write_rows("b.csv", 1000, 1040);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    late_t late = comes_late(lab, LAB_FILES, "{\"path\": \"b.csv\"}");
    when_asked(&late, "find", 2);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_null(late.document);
    assert_int_equal(lab->verified.other_documents, 40);
}
