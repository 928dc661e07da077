/* The laws that the fuzz targets judge by: the judge of "written the usual way" must be neither blind nor
 * deaf, or a fuzzer would find nothing for ever. */
#include "base/log.h"
#include "format_laws.h"
#include "test.h"

static const char first[] = "1,2,2013-01-01,4,N,P,1,B,A,B,RED,P,1,2000-01-01\n";

static bool usual(const char *row) {
    dialect_t dialect;
    err_t err;
    const law_t *law = law_format('0');
    LAB_MUST(dialect_sniff(law->schema, (const uint8_t *)first, strlen(first), "x", &dialect, &err));
    return law_usual_row(law->schema, &dialect, (const uint8_t *)row, strlen(row));
}

TEST(usual_rows) {
    static const char *const yes[] = {
        "1,2,2013-01-01,4,N,P,1,B,A,B,RED,P,1,2000-01-01",
        "1,2,NULL,4,N,P,,B,A,B,RED,P,NULL,",
        "1,2,2013-02-30,4,N,P,12x,B,A,B,RED,P,99999,4-02-20",
        "1,2,2013-01-01,4,N,P,1,B,LDV,CONVOY, LWB, HIGH,RED,P,1,2000-01-01",
        "1,2,2013-01-01,4,N,P,1,B,FORD,\"TRANSIT, LWB\",RED,P,1,",
        "1,2,2013-01-01,4,N,P,1,B,FORD,\"12\"\" RIMS\",RED,P,1,",
        "1,2,2013-01-01,4,N,P,1,B,FORD,\"12\\\" RIMS\",RED,P,1,",
        "1,2,2013-01-01,4,N,P,1,B,CITRO\xC3\x8BN,C3,RED,P,1,",
        "1,2,2013-01-01,4,N,P,1,B,FORD,KA\\,RED,P,1,",
    };
    static const char *const no[] = {
        "1,2,2013-01-01,4 ,N,P,1,B,A,B,RED,P,1,2000-01-01", /* padding */
        "1,2,2013-01-01,4,N,P,01,B,A,B,RED,P,1,2000-01-01", /* re-encoding */
        "1,2,2013-01-01,4,N,P,+1,B,A,B,RED,P,1,2000-01-01",
        "1,2,2013-01-01,4,N,P,1,B,\"A\",B,RED,P,1,2000-01-01",      /* needless quotes */
        "1,2,2013-01-01,4,N,P,1,B,CITRO\xCBN,B,RED,P,1,2000-01-01", /* Latin-1 */
        "1,2,2013-01-01,4,N,P,1,B,\"A,B\",12\" RIMS,RED,P,1,",      /* two habits in one row */
        "1,2,2013-01-01,4,N,P,1,B,\"A\"\"B\",\"C\\\"D\",RED,P,1,",
        "1,2,2013-01-01,4,N,P,1,B,A,B,RED,P,1", /* no document at all */
        "1,2,2013-01-01,4,N,P,1,B,A,B,RED,P,1,2000-01-01\r",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!usual(yes[i]))
            fail_msg("not usual: %s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (usual(no[i]))
            fail_msg("usual: %s", no[i]);
}

/* All formats of the fuzz targets are good ones, and the laws hold for a text of each. */
TEST(formats) {
    static const char *const texts[LAW_FORMATS] = {
        first,
        "1|2|A|7|\n",
        "1;2;3;31/12/1999;1970-01-01;x\n",
        "a,b,c\n1,2,3\n",
        "a b c\nx y 5 z\n",
        "0,XX,1,N/A\n5,A,2,20000101\n",
        "x\nNULL\n\n",
        "id,note,n\n1,2,3\n1,a,b,3\n",
        "'a,b',c\n",
        " caf\xE9 |\xE9|10|20\nXX||50|20\nXX|b|050|x\n",
        "a;b;c\nx; y ;7\n;;007\n",
        "TRUE;\xE9;1.50;100;AAAAAAAAAAAAAAAAAAAAAAAA;"
        "00112233-4455-6677-8899-AABBCCDDEEFF\nx;n;1;00;;\n",
        "1.234;1000;1 234,50;51,5;1'234;1.5\n1.23;1.000,5;1 2;x;;\n",
        "\x80;b\n\x96;\x81\n\x99;x\x9F\n\x8D; y\n",
        "3/2/2024;03-FEB-24;1/2/24 1:30 "
        "pm;2024-02-03T10:00:00+01:00\n1706950800;May 1, "
        "1850;1/2/1850 12:00:01.5 AM;2024-02-03T10:00:00.1230000Z\n",
        "of \"two\nlines\n# \"x,\"y\na,b\nx,1\n#x,2\n\"#x\",3\n",
        "1||2||3\na||b||c\n\"x||y\nz\"||\"|\"||7\na|||b||1\nx|||\n",
        "a|~|b\n|~|~|\na|~x\n",
        " a  b\n  x \t12 \n# c\n\"p q\nr\"   7\n",
        "007,+7,-07.5,00.5,01'234\n07,-7,0,0.5,1'234\n7,70,+1,1e3,0\n",
        "%x\na,b\n %,%\n",
        "\"C:\\\\\",x\n\"\\\\,\\\"\\n\",\\\\\n\"\\\n\",\"a\\\",b\n",
        "\"\\\\\"\"\\\"\",\"\"\"\\\\\"\na\\,b\n",
        "# c\n#a,b\n#,\"x\ny\",\n\"#a\", b \nb,\" b \"\n"};
    for (size_t i = 0; i < LAW_FORMATS; i++)
        law_holds(law_format((uint8_t)('0' + i)), (const uint8_t *)texts[i], strlen(texts[i]), 1, true);
}

/* Texts of nothing but what means something to comments, skipped lines, long delimiters and blanks. */
TEST(pieces) {
    static const char *const pieces[] = {
        "0",  "0",    "+",  "1", "a", "b", "7",  "#",  "%",  "|",  "|",    "||",   "|~|", "~",    "\"",
        "\"", "\"\"", "\\", ",", ";", " ", "\t", "\n", "\n", "\n", "\r\n", "\"\n", "\n#", "\n\"", "\r \n"};
    uint64_t seed = 7;
    log_set_level(LOG_SILENT);
    for (int round = 0; round < 40000 / TEST_SHARE; round++) {
        char text[200] = "";
        const size_t count = lab_chance(&seed, 30);
        for (size_t i = 0; i < count; i++)
            strcat(text, pieces[lab_chance(&seed, sizeof pieces / sizeof *pieces)]);
        const uint8_t which = (uint8_t)('0' + LAW_FORMATS - 9 + lab_chance(&seed, 9));
        law_holds(law_format(which), (const uint8_t *)text, strlen(text), lab_chance(&seed, 8), true);
    }
    log_set_level(LOG_NORMAL);
}

/* Texts whose new files begin otherwise: with the bytes of a mark, or with lines that look like another delimiter. */
TEST(new_files) {
    static const struct {
        char format;
        const char *text;
    } files[] = {{'2', "\"\xEF\xBB\xBF\";\n"},
                 {'4', "a b\t1\t c d \nx y\t2\t z w \n"},
                 {'9', " a | b |1,2,3|4\na|b|1,2,3|4\n"},
                 {'8', "a,1\n\xEF\xBB\xBF"
                       "b,2\n"},
                 {'7', "1,2,3\n\xEF\xBB\xBFid,2,3\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        law_holds(law_format((uint8_t)files[i].format), (const uint8_t *)files[i].text, strlen(files[i].text),
                  1, true);
}

TEST(counting) {
    static const char text[] = "\xEF\xBB\xBF\ntest_id,x\n1,2\n\"test_id\"\n\r\ntest_idx,2\nTESTID";
    const dialect_t bar = {.delimiter = '|', .columns = 2}, comma = {.delimiter = ',', .columns = 2};
    law_lines_t lines = law_count(law_format('0')->schema, &bar, (const uint8_t *)text, strlen(text), true);
    assert_int_equal(lines.blank, 2);
    assert_int_equal(lines.headers, 3);
    assert_int_equal(lines.records, 2);
    static const char other[] = "\na,b\n1,2\na,b\n";
    lines = law_count(law_format('3')->schema, &comma, (const uint8_t *)other, strlen(other),
                      true); /* header: yes */
    assert_int_equal(lines.blank, 1);
    assert_int_equal(lines.headers, 2);
    assert_int_equal(lines.records, 1);
}
