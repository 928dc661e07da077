#include "generate/isd/isd_metars.h"

/* clang-format off */

#define US_WIND          "[calm?9999C|[variable?9999V|{dir:3}{~5}N]]{speed:4}{~5}"
#define US_SKY_AND_SIGHT "{ceil:5}{~5}[ceil<22000?{M*985|W*15}|9]N{vis:6}{5*990|1*9|6}{N*997|V}{5*991|A*9}"
#define WIND             "[calm?9999C00001|[variable?9999V{speed:4}{~1}|{dir:3}{~1}[swing?V|N]{speed:4}{~1}]]"
#define METAR_WIND                                                                                           \
    "[calm?00000KT|[variable?VRB|{dir:3}]{knots:2}[gusty?G{gustknots:2}]"                                    \
    "KT[swing? {dirlow:3}V{dirhigh:3}]]"
#define US_METAR_WIND "[calm?00000KT|[variable?VRB|{dir:3}]{knots:2}[gusty?G{gustknots:2}]KT]"
#define LAYERS                                                                                               \
    " {$cover1}{feet1:3}[layers>1? {$cover2}{feet2:3}[layers>2? "                                            \
    "{$cover3}{feet3:3}[layers>3? {$cover4}{feet4:3}]]]"
#define CLEAR_GF "GF100991999999999999999999"

/* ---- US airports ---- */

#define RAIN_SECTIONS                                                                                        \
    "[three&rain3>0&~800?AA2[six?06{rain6:4}|03{rain3:4}]"                                                   \
    "{2*57|9*43}{1*99|2}[hour=11&rain24>0?AA324{rain24:4?100}{9*9|1}{~1}]]"
#define WEATHER_SECTIONS                                                                                     \
    "[weather?AU1{$au}{5*943|9*53|6*5}[wwagain?AU2{$auagain}{5*92|9*8}]"                                     \
    "AW1{aw:2}{5*86|1*8|6*6}[wwagain?AW2{awagain:2}{5*88|6*8|1*4}[thunder?AW3{90|91|92}{~5}AW4{92|95}1]]]"
#define LAYER(n)  "GA" #n "{okta" #n ":2}{~5}{base" #n ":+6}{~5}99{1*97|9*2|5}"
#define SUMMED(n) "GD" #n "{class" #n ":1}99{1*999|9}{base" #n ":+6}{~5}{9*993|1*7}"
#define UPPER(more) "[layers>1?" more(2) "][layers>2?" more(3) "]"
#define LAYER_SECTIONS                                                                                       \
    "[layers=0?GA1005+999999999GD10991+9999999|"                                                             \
    LAYER(1) UPPER(LAYER) "[layers>3?GA4991{base4:+6}1991]"                                                  \
    SUMMED(1) UPPER(SUMMED) "[layers>3?" SUMMED(4) "]"                                                       \
    "[~780?GE19{MSL   *9|AGL   }+99999+99999]]"
#define GF_SECTION(share)                                                                                    \
    "[~" #share "?[layers=0?" CLEAR_GF "|GF1[ceil=22000?{02|04}991|99999]990990{base1:5}1991991]]"
#define EXTREMES                                                                                             \
    "[six?KA1060M{max6:+5}{~1}KA2060N{min6:+5}{~1}]"                                                         \
    "[lhour=23?[six?KA3|KA1]240M{max24:+5}{~1}[six?KA4|KA2]240N{min24:+5}{~1}]"
#define GUST_SECTIONS "[gusty?OC1{gust:4}{5*99|1}[~500?OD149999990{dir:3}]]"
#define SIGHT_ELEMENTS                                                                                       \
    "[miles<150&~400?{#R} {1/2*4|1/4*2|1/8}SM7VIS018{#R}{    BR*4|-DZ BR*2|    FG|-RA BR}7AWW018"            \
    "{#R}SEERMK7MVW018{#R}{    BR*4|-DZ BR*2|    FG|-RA BR}7MWW018]"
#define OBSERVER "[~640? ({WM*9|DP*7|JP*5|DF*4|JTP})]"

const isd_report_t isd_asos_metar = {
    .head = "{7*990|6*8|4*2}{$position}FM-15{$elevation}{$call}V0{3*756|2*244}0" US_WIND US_SKY_AND_SIGHT
            "{temp:+5}{~5}{dew:+5}{~5}{slp:5?6}{~5}",
    .sections =
        "[~1008?AA101{rain1:4}{9*94|2*6}{~5}]" RAIN_SECTIONS WEATHER_SECTIONS LAYER_SECTIONS GF_SECTION(1013)
            EXTREMES "MA1{alt:5}{~5}{stp:5}{~5}[three?MD1{tendus:1}{9*999|0}{change3:3}4+9999]"
                     "[~1?MV1{01*9|06}5][ww=5?MW105{~5}]" GUST_SECTIONS,
    .remarks = "^MET{lmonth:2}/{lday:2}/{lyear:2} {lhour:2}:53:0{2*80|3*12|1*8} METAR {$icao} "
               "{day:2}{hour:2}53Z " US_METAR_WIND " {$sm}SM{$wxus}[layers=0? CLR|" LAYERS "]"
               " {tempc:m2}/{dewc:m2} A{inhg:4} RMK AO2[gusty&~430? PK WND "
               "{dir:3}{gustknots:2}/{hour:2}{0..52:2}]"
               "[thunder? LTG DSNT ALQDS TSB{1..50:2}]"
               "[falls&~300? RAB{1..26:2}E{27..52:2}] SLP{slp3:3}[falls? P{inches1:4}]"
               "[six&rain6>0? 6{inches6:4}|[three&rain3>0? 6{inches1:4}]] T{temp:s4}{dew:s4}"
               "[six? 1{max6:s4} 2{min6:s4}][lhour=23? 4{max24:s4}{min24:s4}]"
               "[three? 5{tendus:1}{change3:3}][~70? $]" OBSERVER "^",
    .elements = "[~2?{#D}{+000000ADE726*6|      0ADE726*4}]"
                "[three&rain3>0&~640?{#Q}  00{002*4|008*3|078|028|108}PRCP0{3|6}[~170?{#Q}  "
                "00{008*9|278}PRCP{06|24}]]" SIGHT_ELEMENTS,
};

const isd_report_t isd_asos_special = {
    .head = "{7*774|6*226}{$position}FM-16{$elevation}{$call}V0{3*756|2*244}0" US_WIND US_SKY_AND_SIGHT
            "{whole:+5}{~5}{wholedew:+5}{~5}999999",
    .sections = "[~253?AA101{rain1:4}{2*6|3*4}1]" WEATHER_SECTIONS LAYER_SECTIONS GF_SECTION(
        790) "[~1022?MA1{alt:5}{~5}{stp:5}{~5}][~5?MV1{01*9|06}5][ww=5?MW105{~5}]" GUST_SECTIONS,
    .remarks = "^MET{lmonth:2}/{lday:2}/{lyear:2} {lhour:2}:{minute:2}:0{2*90|3*10} SPECI {$icao} "
               "{day:2}{hour:2}{minute:2}Z " US_METAR_WIND
               " {$sm}SM[metres<1600? R17L/4000VP6000FT]{$wxus}[layers=0? CLR|" LAYERS "]"
               " {tempc:m2}/{dewc:m2} A{inhg:4} RMK AO2[gusty&~430? PK WND "
               "{dir:3}{gustknots:2}/{hour:2}{minute:2}][metres<3000? SFC VIS {1 1/2|2|3}]"
               "[falls? P{inches1:4}] T{temp:s4}{dew:s4}[~80? $]" OBSERVER "^",
    .elements = "[~1?{#D}      0ADE726]" SIGHT_ELEMENTS,
};

const isd_report_t isd_asos_synop_metar = {
    .head = "7{$position}SY-MT{$elevation}{$call}V030" US_WIND US_SKY_AND_SIGHT
            "{temp:+5}{~5}{dew:+5}{~5}{slp:5}{~5}",
    .sections = "AA101{rain1:4}95[weather?AW1{aw:2}{~1}]" LAYER_SECTIONS GF_SECTION(
        340) "KA1240M{max24:+5}{~1}KA2240N{min24:+5?300}{~1}MA1{alt:5}{~5}{stp:5}{~5}MD1{tendus:1}"
             "9{change3:3}4+9999",
    .remarks =
        "^SYN{$block} 35966 {oktas:1}{dir10:2}{knots:2} 1{temp:s4} 2{dew:s4} 3{stpsyn:4} "
        "4{slpsyn:4} 5{tendus:1}{change3:3}"
        " 91151 333 1{max24:s4} 2{min24:s4} 555 9{0..24:2}12=^"
        "^MET{lmonth:2}/{lday:2}/{lyear:2} {lhour:2}:53:02 METAR {$icao} {day:2}{hour:2}53Z " US_METAR_WIND
        " {$sm}SM{$wxus}[layers=0? CLR|" LAYERS "] {tempc:m2}/{dewc:m2} A{inhg:4} RMK AO2 "
        "SLP{slp3:3} T{temp:s4}{dew:s4}"
        " 1{max6:s4} 2{min6:s4} 5{tendus:1}{change3:3}" OBSERVER "^",
    .elements = "[~340?{#Q} {min24:+5}2ATMN  ]",
};

#define NOTHING_OBSERVED "999999999999999999999999999+99999+99999999999"

const isd_report_t isd_asos_day = {
    .head = "6{$position}SOD  {$elevation}{$call}V0{3*765|2*235}0" NOTHING_OBSERVED,
    .sections = "AA124{rain24:4}{9*79|2*21}{~5}AJ1{depth:4}{9*97|3*3}{~5}99999999[snow24>0?AL124{snow24:3}"
                "{9*96|3*4}{~5}|[~235?AL1240009{~5}]]"
                "AN1024{snow24:4}{9*95|3*5}{5*97|9*3}[weather?AX1{01*8|08|04|03}{5*8|6*2}24{5*8|6*2}"
                "|[~190?AX1{01|08}{5*8|6*2}24{5*8|6*2}]]"
                "KA1[~780?024|240]M{max24:+5}{~5}KA2[~780?024|240]N{min24:+5}{~5}"
                "[~774?KG1024W{wet:+5}D4KG2024D{dew:+5}D4MF1{stp:5}4{slp:5}4]MG1{stp:5?8}{~4}{slp:5?8}{~4}"
                "OE11240{gust:4}{bearing:3?8}9999{5*99|9}OE22240{speed:4}{bearing:3?8}9999{5*99|9}"
                "OE33240{speed:4}9999999{~5}"
                "[~774?RH1024X{85..100:3}D4RH2024N{rh:3}D4RH3024M{rh:3}D4]",
    .remarks = "^SOD24 HR PRECIPITATION (IN): {inches24:d1} SNOW DEPTH (IN):{depthin:p1}     24 HR "
               "SNOWFALL (IN):{snow24:p1}.0  "
               "[weather?WEATHER(CODE):{ww:2}  ]"
               "24 HR MAX TEMP (F):{maxf:p3}24 HR MIN TEMP (F):{minf:p3}AVERAGE STATION "
               "PRESSURE:{inhgstp:d1}0 "
               "MINIMUM SEA LEVEL PRESSURE:{inhgslp:d1} TIME OF OCCURRENCE:{0|1}{0..9:1}{0..59:2} PEAK "
               "WIND SPEED (MPH):{gustmph:p3} "
               "PEAK WIND DIR (DEG):{bearing:p3} PEAK WIND TIME (LST):      FASTEST 2MIN SPEED "
               "(MPH):{mph:p3}FASTEST 2MIN DIR (DEG):{bearing:p3} "
               "FASTEST 2MIN TIME (LST):     AVERAGE WIND SPEED (MPH):{mph:p2}.{0..9:1} 24 HR AVG TEMP "
               "(F):{avgf:p3}DEPART FROM NORMAL:{-12..12:p3}  "
               "[~300?SKY COVER SR-SS (TENTHS): {oktas:1}]"
               "HEATING DEGREE DAYS:{heat:p3} COOLING DEGREE DAYS:{cool:p3} "
               "LATEST DAY MAX TEMP (0700-1900 LST):{maxf:p2}  LATEST NIGHT MIN TEMP(1900-0800 "
               "LST):{minf:p2} HOURLY INCREMENTAL PRECIPITATION VALUES (IN):"
               "[rain24>0?    T    {0..9:d1} 0.00 T    T    {0..6:d1} {0..3:d1} T    T    0.00 |.00 0.00 "
               "0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 ]"
               "0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00^",
    .elements = "[~258?{#R}{    12*23|    18*23|     1*13|    46*7|   136*7}7AXW09{0|3}[~135?{#R}    "
                "187AXW030[~500?{#R}    107SOE079]]]",
};

/* The most precipitation in so many minutes: {number, minutes, hundredths of mm above the shortest}. */
#define MOST(id, minutes, low, high) id minutes "{" low ".." high ":4}9{mmostday:2}{0|1}{0..9:1}{0..59:2}{~5}"
#define MOST_TEXT(minutes)           "MIN:" minutes " {0..60:d1}  {mmostday:2}/{0|1}{0..9:1}{0..59:2} "

const isd_report_t isd_asos_month = {
    .head = "6{$position}SOM  {$elevation}{$call}V030" NOTHING_OBSERVED,
    .sections =
        "AB1{mrain:5}9{5|9}AD1{mmost:5}9{mmostday:2}{mmostday:2}99999999{5|9}"
        "AE1{mwetdays:2}{5|9}{0..4:2}{5|9}{0..2:2}{5|9}00{5|9}"
        "[~768?" MOST("AH1", "005", "2", "40") MOST("AH2", "010", "40", "60") MOST("AH3", "015", "60", "80")
            MOST("AH4", "020", "80", "90") MOST("AH5", "030", "90", "100") MOST("AH6", "045", "100", "110")
                MOST("AI1", "060", "110", "120") MOST("AI2", "080", "120", "140")
                    MOST("AI3", "100", "140", "150") MOST("AI4", "120", "150", "160")
                        MOST("AI5", "150", "160", "180")
                            MOST("AI6", "180", "180",
                                 "200") "]"
                                        "AK1{depth:4}{9|4}{999999|289999|069999}9AM1{snow24:4}{9|4|2}{0808|"
                                        "2828|9999*2}999999999"
                                        "AN1{monthhours:3}{depth:4}{3*3|9}9KB1{monthhours:3}N{mavgmin:+5}{5*"
                                        "3|9}KB2{monthhours:3}"
                                        "M{mavgmax:+5}{5|9}KB3{monthhours:3}A{mavg:+5}{5|9}"
                                        "KC1N9{mmin:+5}{mminday:2}9999{5*3|9}KC2M9{mmax:+5}{mmaxday:2}"
                                        "99995KD1{monthhours:3}"
                                        "H{mheat:4}{5|6}KD2{monthhours:3}C{mcool:4}5"
                                        "KE1{0..4:2}9{0..9:2}9{0..20:2}9009MH1{stp:5}U{slp:5}9"
                                        "MK1{10200..10420:5}{mmaxday:2}{0|1}{0..9:1}{0..59:2}9{9900..10080:5}"
                                        "{mminday:2}{0|1}"
                                        "{0..9:1}{0..59:2}9",
    .remarks =
        "^SOMPCP MTOT:{mrainin:d1} PCP GT 24HRS:{mmostin:d1} DATE(S):{mmostday:p1} DAYS W/PCP "
        ">=.01:{mwetdays:p1}  DAYS W/PCP >=.10:{0..4:1}  "
        "DAYS W/ PCP >=.50:{0|1} DAYS W/PCP >=1.00:0 MSDP AMTS W/DATE-TIME TAGS:" MOST_TEXT("5")
            MOST_TEXT("10") MOST_TEXT("15") MOST_TEXT("20") MOST_TEXT("30") MOST_TEXT("45") MOST_TEXT("60")
                MOST_TEXT("80") MOST_TEXT("100") MOST_TEXT("120") MOST_TEXT("150") MOST_TEXT(
                    "180") "AVG DLY MIN:{mminf:p2}.{0..9:1}  AVG DLY MAX:{mmaxf:p2}.{0..9:1}  AVG MLY "
                           "TMP:{avgf:p2}.{0..9:1}  MIN TMP:{mminf:p1} DATE(S):{mminday:2} "
                           "MAX TMP:{mmaxf:p1}  DATE(S):{mmaxday:2} DAYS MAX <=32:{0..3:1} DAYS MAX "
                           ">=90:{0..3:1}  "
                           "DAYS MIN <=32:{0..20:p1} DAYS MIN  <=0:0  "
                           "AVG STP:{inhgstp:d1}0 LWST SLP:{inhgslp:d1} "
                           "DATE/TIME:{mminday:2}{0|1}{0..9:1}{0..59:2} "
                           "HGST SLP:{inhgslp:d1} DATE/TIME:{mmaxday:2}{0|1}{0..9:1}{0..59:2} "
                           "HDD MTH TOT:{mheat:p1} DEP NORM:-2553 SEASON(JUL 1-JUN 30):{mheat:p1} DEP "
                           "NORM:-25536 CDD "
                           "MTH TOT:{mcool:p1} DEP NORM:-2553 "
                           "SEASON(JAN 1-DEC 31):{mcool:p1} DEP NORM:-25536^",
    .elements = "[~768?{#R}  {0.41|0.05|1.08}7ABP071{#R}  0.057ADP081{#R}     27AE1100[~680?{#R}     "
                "17AE2103{#R}  31 47KCN026[~500?{#R}   2567KDH045{#R}     37KE3038]]]",
};

/* ---- airports elsewhere ---- */

#define CAVOK_OR_NOT                                                                                         \
    "[cavok?9999999Y009900599|[layers>0?{ceil:5}{~1}[ceil<22000?C|9]|9999999]"                               \
    "N[metres=9999?009999|{metres:6}]{~1}99]"
#define AIRPORT_LAYER(n) "GA" #n "{okta" #n ":2}{~1}{base" #n ":+6}{~1}[~20?{09|08}1|999]"
#define AIRPORT_SECTIONS                                                                                     \
    "[metres<3000&~700?ED105U99999]"                                                                         \
    "[!cavok?[layers=0?" CLEAR_GF "|"                                                                        \
    AIRPORT_LAYER(1) UPPER(AIRPORT_LAYER) "[layers>3?" AIRPORT_LAYER(4) "]"                                  \
    "GE19AGL   +99999+99999GF199999{okta1:2}{~1}999{base1:5}{~1}999999]]"                                    \
    "MA1{qnh:5}{~1}999999[weather?MW1{ww:2}{~1}[wwagain?MW2{wwagain:2}{~1}]]"                                \
    "[gusty&knots>17?OC1{gust:4}{~1}]"
#define AIRPORT_TEXT                                                                                         \
    " {$icao} {day:2}{hour:2}{minute:2}Z " METAR_WIND                                                        \
    " [cavok?CAVOK|{metres:4}{$wxint}[layers=0? NSC|" LAYERS                                                 \
    "]] {tempc:m2}/{dewc:m2} Q{qnhhpa:4}[falls&~300? RMK PP{rain1:3}]=^"

const isd_report_t isd_airport_metar = {
    .head = "4{$position}FM-15{$elevation}99999V020" WIND CAVOK_OR_NOT "{whole:+5}{~1}{wholedew:+5}{~1}"
            "999999",
    .sections = AIRPORT_SECTIONS,
    .remarks = "^METMETAR[~160? COR]" AIRPORT_TEXT,
    .elements = "[~1?{#Q} 101003APOA  ]",
};

const isd_report_t isd_airport_special = {
    .head = "4{$position}FM-16{$elevation}99999V020" WIND CAVOK_OR_NOT "{whole:+5}{~1}{wholedew:+5}{~1}"
            "999999",
    .sections = AIRPORT_SECTIONS,
    .remarks = "^METSPECI" AIRPORT_TEXT,
    .elements = "[~6?{#Q}{ 101003APOA  | 100503APOA  |1006  3APOA  | +00903ATOD  }]",
};

/* ---- Canada ---- */

#define CANADA_SKY_AND_SIGHT "[ceil=22000?220005|{ceil:5}{~1}]9N[miles=1000?024140|{vis:6}]199"
#define CANADA_SUMMED(n)     "GD" #n "{class" #n ":1}991{base" #n ":+6}{~1}9"
#define CANADA_SECTIONS                                                                                      \
    "[layers=0?" CLEAR_GF "|"                                                                                \
    CANADA_SUMMED(1) UPPER(CANADA_SUMMED) "[layers>3?" CANADA_SUMMED(4) "]"                                  \
    "GE19AGL   +99999+99999GF1[ceil=22000?{02*8|04*2}995|99999]999999{base1:5}{~1}999999]"                   \
    "MA1{alt:5}{~1}999999[weather?MW1{ww:2}{~1}[wwagain?MW2{wwagain:2}{~1}]]"                                \
    "[gusty?OC1{gust:4}{~1}]"
#define CANADA_TEXT                                                                                          \
    " {$icao} {day:2}{hour:2}{minute:2}Z " METAR_WIND                                                        \
    " [miles=1000?15|{$sm}]SM{$wxint}[layers=0? SKC|" LAYERS "] {tempc:m2}/{dewc:m2} A{inhg:4}"              \
    " RMK[layers>0?[~300?     ] {$cloud1}{eights1:1}[layers>1?{$cloud2}{eights2:1}][~250? {$cloud1} TR]]"    \
    "[~250? /S0{0..9:1}/][~80? LAST STFD OBS]"                                                               \
    " SLP{slp3:3}[temp>120? DENSITY ALT {5..22:p1}00FT]=^"

const isd_report_t isd_canada_metar = {
    .head = "4{$position}FM-15{$elevation}99999V020" WIND CANADA_SKY_AND_SIGHT
            "{whole:+5}{~1}{wholedew:+5?2}{~1}{slp:5}{~1}",
    .sections = "[~2?GA1999+999999071]" CANADA_SECTIONS,
    .remarks = "^METMETAR" CANADA_TEXT,
    .elements = "[~338?{#D}      0ADE{726*99|693}]",
};

const isd_report_t isd_canada_special = {
    .head = "4{$position}FM-16{$elevation}99999V020" WIND CANADA_SKY_AND_SIGHT "{whole:+5}{~1}{wholedew:+5}"
            "{~1}{slp:5}{~1}",
    .sections = CANADA_SECTIONS,
    .remarks = "^METSPECI" CANADA_TEXT,
    .elements = "[~101?{#D}      0ADE726]",
};

/* ---- small US airfields ---- */

const isd_report_t isd_awos_metar = {
    .head = "4{$position}FM-15{$elevation}99999V020" WIND "{ceil:5}{~1}9N{vis:6}{~1}99{whole:+5?4}{~1}"
            "{wholedew:+5?6}{~1}999999",
    .sections = "[layers>0?GA1{okta1:2}{~1}{base1:+6}{~1}999[layers>1?GA2{okta2:2}{~1}{base2:+6}{~1}999]"
                "GF199999999999{base1:5}{~1}999999]MA1{alt:5}{~1}999999[weather?MW1{ww:2}{~1}]"
                "[gusty?OC1{gust:4}{~1}]",
    .remarks = "^METMETAR {$icao} {day:2}{hour:2}{minute:2}Z AUTO " US_METAR_WIND
               " {$sm}SM{$wxus}[layers=0? CLR|" LAYERS "]"
               " {tempc:m2}/{dewc:m2} A{inhg:4} RMK AO{1|2}=^",
};
