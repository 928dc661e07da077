/* conceal: passwords out of texts, written by hand. The password is s3cret wherever there is one. */
#include "base/conceal.h"
#include "base/err.h"
#include "base/text.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(const char *written, const char *shown) {
    char *copy = text_concealed(written), text[200];
    err_t err;
    if (strcmp(copy, shown) != 0)
        fail_msg("%s became %s", written, copy);
    free(copy);
    snprintf(text, sizeof text, "%s", written);
    assert_string_equal(shown, conceal(text, sizeof text));
    assert_string_equal(shown, conceal(text, sizeof text)); /* once is enough */
    err_set(&err, STATUS_USAGE, "%s", written);
    if (!strchr(shown, '\n')) /* a sentence is one line */
        assert_string_equal(shown, err.text);
}

TEST(concealed) {
    static const char harmless[] =
        "authSource=%24external&readPreferenceTags=dc:ny,rack:1&tlsCAFile=/etc/ca.pem";
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"mongodb://joe:s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"--urx=mongodb://joe:s3cret@h:27017/a.b", "--urx=mongodb://joe:***@h:27017/a.b"},
        {"mongodb+srv://joe:s3cret@h", "mongodb+srv://joe:***@h"},
        {"mongodb://:s3cret@h", "mongodb://:***@h"},
        {"mongodb://joe:x@h", "mongodb://joe:***@h"},
        {"a mongodb://joe:s3cret@h b mongodb://ann:s3cret@k c",
         "a mongodb://joe:***@h b mongodb://ann:***@k c"},
        {"mongodb://joe:p@s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb://joe:s3/s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb://joe:s3:s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb://joe:?s3cret#@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb://joe:it's3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"'mongodb://joe:s3cret@h/a.b'", "'mongodb://joe:***@h/a.b'"},
        {"mongodb://joe:my s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        /* what begins as a port, and is none */
        {"mongodb://joe:1234 s3cret@h:27017/a.b", "mongodb://joe:***@h:27017/a.b"},
        {"'mongodb://joe:12, s3cret@h/a.b' is no file", "'mongodb://joe:***@h/a.b' is no file"},
        {"mongodb://joe:12' s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb://joe:12-34 s3cret@h/a.b", "mongodb://joe:***@h/a.b"},
        {"mongodb:/joe//ann:s3cret@h/a.b", "mongodb:/joe//ann:***@h/a.b"},
        {"mongodb:/joe:s3cret@h/a.b", "mongodb:/joe:***@h/a.b"},
        {"'mongodb:joe:s3cret@h' is no file", "'mongodb:joe:***@h' is no file"},
        {"mongodb:joe@h:27017", "mongodb:joe@h:27017"},
        {"mongodb: joe:x@h", "mongodb: joe:x@h"},
        {"no option '--urx=mongodb://joe:s3cre'; see", "no option '--urx=mongodb://joe:***'; see"},
        {"'mongodb://joe:s3cret...' is too long", "'mongodb://joe:***...' is too long"},
        {"mongodb://joe:123456789", "mongodb://joe:***"},
        {"mongodb://h/?tlsCertificateKeyFilePassword=s3cret&x=y", "mongodb://h/?***"},
        /* of a URI that nobody has parsed, no option is shown */
        {"mongodb://h/a.b?w=1&awsSessionToken=s3cret&tls=true", "mongodb://h/a.b?***"},
        {"'mongodb://h/a.b?pwd=s3cret'", "'mongodb://h/a.b?***'"},
        {"MONGODB+SRV://h/a.b?s3cret", "MONGODB+SRV://h/a.b?***"},
        {"mongodb:/h/a.b?pwd=s3cret; see", "mongodb:/h/a.b?***; see"},
        {"mongodb://joe:s3cret@h/a.b?pwd=it's3cret.", "mongodb://joe:***@h/a.b?***."},
        {"mongodb://h/a.b?tlsCertificateKeyFilePassword=a;s3cret&w=1", "mongodb://h/a.b?***"},
        {"mongodb://h/a.b?tls=true;pwd=s3cret", "mongodb://h/a.b?***"},
        {"mongodb://h/a.b?tlsCertificateKeyFilePassword%3Ds3cret", "mongodb://h/a.b?***"},
        {"mongodb://h/a.b&pwd=s3cret", "mongodb://h/a.b&***"},
        {"mongodb://h/a.b;s3cret", "mongodb://h/a.b;***"},
        {"mongodb://h/a.b?x=s3cret mongodb://k/a.b?y=s3cret", "mongodb://h/a.b?*** mongodb://k/a.b?***"},
        {"--password mongodb://joe:a&s3cret@h/a.b", "--password ***"},
        {"--password mongodb://joe:s3cret@h\001mongodb://ann:a&s3cret@k",
         "--password ***\001mongodb://ann:***@k"},
        {"password=x/mongodb://joe:it's3cret@h mongodb://ann:s3cret@k", "password=*** mongodb://ann:***@k"},
        /* nothing to hide */
        {"mongodb://h:27017/a.b", NULL},
        {"mongodb://h:27017,k:27018/a.b?directConnection=true", NULL},
        {"mongodb://joe:s3cret@h/a.b?directConnection=true", "mongodb://joe:***@h/a.b?directConnection=true"},
        {"mongodb://h/a.b?directConnection=true&x=s3cret", "mongodb://h/a.b?***"},
        {"mongodb://[::1]:27017/a.b", NULL},
        {"mongodb://h:27017/a.b as joe@h, mongodb://h:27017,k:27018 as ann@k", NULL},
        {"at mongodb://h:27017; see", NULL},
        {"mongodb://h:27017\njoe@h", NULL},
        {"'mongodb://h/a.b?authSource=%24external&readPreferenceTags=dc:ny,rack:1&tlsCAFile=/etc/ca.pem', "
         "too",
         NULL},
        {"by `tipple forget a --uri 'mongodb://h/a.b?directConnection=true'`, and", NULL},
        {"https://h/a?year=2013&b=c", NULL},
        {"is it mongodb? yes & no", NULL},
        {"mongodb://joe@h/a.b", NULL},
        {"mongodb://joe:@h/a.b", NULL},
        {"mongodb://joe:***@h/a.b", NULL},
        {"mongodb://HOST:PORT/DATABASE.COLLECTION (with a user: mongodb://USER:PASSWORD@HOST:PORT/...)",
         NULL},
        {"the server at h:27017 knows joe@h: no", NULL},
        {"a file a//b:c is not there", NULL},
        {"the password of the URI is wrong", NULL},
        {"", NULL},
    };
    assert_true(conceal_show_options("directConnection=true") && conceal_show_options(harmless));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *shown = cases[i].shown ? cases[i].shown : cases[i].text;
        check(cases[i].text, shown);
        if (conceal_finds(cases[i].text) != (strcmp(cases[i].text, shown) != 0))
            fail_msg("%s: an argument is refused for exactly what is concealed", cases[i].text);
    }
}

/* An argument may hold these: a field or a folder may have such a name. */
TEST(names) {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        /* without a scheme a database shows that it is a URI */
        {"'joe:s3cret@h/a.b' is no file", "'joe:***@h/a.b' is no file"},
        {"joe:s3/cr:t@h:27017/a.b", "joe:***@h:27017/a.b"},
        {"at 10:30 joe@h/a, a:b@c", "at 10:30 joe@h/a, a:b@c"},
        {"?authMechanismProperties=AWS_SESSION_TOKEN:s3cret", "?authMechanismProperties=***"},
        {"mongosh --password s3cret --host h", "mongosh --password *** --host h"},
        {"ftp://joe:s3cret", "ftp://joe:***"},
        {"PGPASSWORD=s3cret psql", "PGPASSWORD=*** psql"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i].text, cases[i].shown);
        assert_false(conceal_finds(cases[i].text));
    }
}

/* What a URI held is replaced in whatever form it is quoted; one or two letters would spell themselves out. */
TEST(known) {
    char text[100] = "bad opensesame, open%73esame: at that";
    assert_true(conceal_remember("open%73esame", 12) && conceal_remember("opensesame", 10) &&
                conceal_remember("at", 2));
    conceal_known(text);
    assert_string_equal(text, "bad ***, ***: at that");
    assert_string_equal(conceal(text, sizeof text), "bad ***, ***: at that");
    /* a message that the driver has cut off */
    char message[504];
    memset(message, 'x', sizeof message);
    strcpy(message + sizeof message - 22, " mongodb://joe:12/s3c");
    conceal_known(message);
    assert_string_equal(strchr(message, ' '), " mongodb://joe:***");
}

/* However much of a text there is room for, and wherever it was cut off. */
TEST(cut) {
    static const char uri[] = "the file mongodb://joe:s3cretpassword@h/a.b is not there";
    for (size_t length = 1; length < sizeof uri; length++) {
        char text[sizeof uri + 4];
        snprintf(text, sizeof text, "%.*s", (int)length, uri);
        conceal(text, sizeof text);
        if (strstr(text, "s3"))
            fail_msg("%zu: %s", length, text);
    }
    /* which of it is a password is not known then */
    static const char *const ends[] = {"at mongodb://joe:12", "at mongodb://joe:12,s3cr",
                                       "at mongodb://joe:12/s3cr",
                                       "at mongodb://ann:s3cret@h, mongodb://joe:my s3cr"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[100], *colon;
        strcpy(text, ends[i]);
        conceal(text, strlen(text) + 1);
        assert_non_null(colon = strstr(text, "joe:"));
        if (colon[4] && strcmp(colon + 4, "***") != 0)
            fail_msg("%s", text);
        assert_null(strstr(text, "s3"));
    }
    char harmless[] = "at mongodb://h/a: no; see mongodb://joe:s3cret@h:27017/a.b";
    assert_string_equal("at mongodb://h/a: no; see mongodb://joe:***@h:27017/a.b",
                        conceal(harmless, sizeof harmless));
    char small[] = "mongodb://j:x@h";
    assert_string_equal("mongodb://j:*@h", conceal(small, sizeof small));
}

TEST(found) {
    assert_true(conceal_finds("u=mongodb://joe:s3cret@h/a.b"));
    assert_true(conceal_finds("https://a.b/c ftp://joe:s3cret@h"));
    assert_false(conceal_finds("mongodb://h:27017/a.b"));
    assert_true(conceal_finds("mongodb://joe:12 s3cret@h"));
    assert_false(conceal_finds("http://h:abc"));
    assert_false(conceal_finds("password=5"));
    assert_true(conceal_finds("mongodb://joe:s3cret"));
    assert_true(conceal_finds("mongodb:/joe:s3cret@h/a.b"));
    assert_true(conceal_finds("a:1;name=mongodb:joe:s3cret@h/a.b"));
    assert_true(conceal_finds("a:mongodb:/joe:s3cret@h/a.b"));
    assert_true(conceal_finds("password=mongodb:/joe:s3cret@h/a.b"));
    assert_true(conceal_finds("u=mongodb://h/a.b?w=1&token=5"));
    assert_false(conceal_finds("mongodb:27017"));
    assert_false(conceal_finds("mongodb:27017/a.b"));
    assert_false(conceal_finds("mongodb://h:27017"));
    assert_false(conceal_finds("mongodb:joe@h:27017"));
    assert_false(conceal_finds("/data/mongodb: joe:x@h"));
    assert_true(conceal_finds("u=mongodb://h/a.b?w=1"));
}

/* A long text is looked through once, whatever it is made of: 20 seconds are a hundred times what that takes, and each
 * of these took minutes when each piece of a text was looked for from the text's beginning to its end. */
TEST(long_texts) {
    static const char *const pieces[][2] = {{"spotify://track:s3cret "},
                                            {"//"},
                                            {"//:"},
                                            {"mongodb://h/?;;;;"},
                                            {"http://h:80 "},
                                            {"//a:"},
                                            {"password=a//b:c"},
                                            {"mongodb://j:x@h "},
                                            {"://a:1;", "\""},
                                            {"://[a:", "]"}};
    enum { LENGTH = 4000000 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        text_t text = {.length = 0};
        while (text.length < LENGTH / 2)
            text_append(&text, pieces[i][0]);
        while (text.length < LENGTH)
            text_append(&text, pieces[i][1] ? pieces[i][1] : pieces[i][0]);
        const clock_t begin = clock();
        char *shown = text_concealed(text.bytes);
        conceal_finds(text.bytes);
        if (clock() - begin > 20 * (clock_t)CLOCKS_PER_SEC)
            fail_msg("%s: %.1f s", pieces[i][0], (double)(clock() - begin) / CLOCKS_PER_SEC);
        assert_null(strstr(shown, "s3cret"));
        free(shown);
        text_free(&text);
    }
}
