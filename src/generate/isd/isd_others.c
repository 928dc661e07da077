#include "generate/isd/isd_others.h"

/* clang-format off */

/* ---- the airways of 1948 to 1995, with every original observation ---- */

#define AIRWAYS_HEAD(type)                                                                                   \
    "C{$position}" type "{$elevation}{$call}V020"                                                            \
    "[calm?9995900005|{dir:3}{~5}N{speed:4}{~5}]"                                                            \
    "[ceil=22000?2200059|{ceil:5}4{M*65|E*31|W*4}]N[miles=1000?024000|{sight:6}]"                            \
    "{~5}{N*999|V}1{temp:+5}{~5}{dew:+5}{~5}{slp:5}{~5}"
#define AIRWAYS_LAYERS                                                                                       \
    "GA1999{base1:+6}4{genus1:2}4[~690?[layers>1?GA2999{base2:+6}4{genus2:2}4|GA2999+999999999]"             \
    "[~830?[layers>2?GA3999{base3:+6}4{genus3:2}4|GA3999+999999999]GA4999+999999999]]"
#define AIRWAYS_SUMS(detail, none)                                                                           \
    "[layers=0?GD10" none "{~5}+9999999|GD1{class1:1}" detail "{~5}{base1:+6}9{9*90|3*8|1*2}]"               \
    "[layers>1?GD2{class2:1}" detail "{~5}{base2:+6}9{9*96|3*4}|GD20" none "{~5}+9999999]"                   \
    "[layers>2?GD3{class3:1}" detail "5{base3:+6}99|GD30" none "{~5}+9999999][~800?GD40" none "5+9999999]"
#define AIRWAYS_SKY(cover, kind, height, high)                                                               \
    "GF1{oktas:2}{oktas:2}{~5}{eights1:2?" cover "}{~1}{low:2?" kind "}{~1}{base1:5?" height                 \
    "}{~1}{mid:2?" height "}{~1}99" high
#define AIRWAYS_WEATHER(none)                                                                                \
    "[weather?[wwagain?MW1{45*7|10*3}{5*85|1*15}MW2{ww:2}{5*98|1*2}|MW1[falls?{ww:2}|{45*54|05*46}]"         \
    "{5*85|1*15}"                                                                                            \
    "[falls&~400?MW2{95|97}{5*9|1}]]|MW1" none "{1*97|5*3}]"                                                 \
    "[gusty&~330?OC1{gust:4}{~1}]"
#define PRESENT_WEATHER_ELEMENT "{#N} {element:5}JPWTH 1"
#define ORIGINALS(clouds)                                                                                    \
    "[layers=0?E11 1 00099|E11 1 00{2|4|6}{99*6|01|03|10}]"                                                  \
    "[layers>1?E11 1 00{2|4|6}99|E11 1 000{99*9|00}]E11 1 000{99*9|00}E11 1 000{99*9|00}"                    \
    "[ceil=22000?G11U1 99999|G11 1 {feet1:5}[three?H11 1 {15|23|37|32}{feet1:3}]]" clouds                    \
    "K11 1{dewf:b6}L11 1 [miles=1000?01500|{miles:5}]"                                                       \
    "M11 1 {inhgstp:4}0N11 1 {element:5}Q11 1 {slp:5}S11 1{tempf:b6}"                                        \
    "V11 1 0{1010*38|0000*21|0909*3|0808*3|0202*3|0101*3|0303*2|1009*2|0404*2|0605*2}X11 1 "                 \
    "[calm?00000|{dir10:2}{knots:3}]"

const isd_report_t isd_airways_hourly = {
    .head = AIRWAYS_HEAD("SAO  "),
    .sections =
        "AA101{rain1:4}9{~5}[three&rain3>0&~550?AA2{06*6|99*4}{rain3:4?70}{9*93|2*7}{~1}]"
        "[~974?AG1[rain1>0?{0*9|4}{0..9:3}|0{999*8|000*2}]]"
        "[three&depth>0&~20?AJ1{depth:4}9{~1}99999999]"
        "[~10?AY1{past:1}{~1}999]"
        "[metres<2000&~150?ED114U{180..1900:4}9]"
        "[three&layers>0?" AIRWAYS_LAYERS "]"
        AIRWAYS_SUMS("{99*80|08*7|02*4|06*3|01*2}", "{99*88|00*12}")
        AIRWAYS_SKY("1012", "860", "1016", "{9*9|1}")
        "[~26?[~390?KA1999M{max6:+5?10}{~1}KA2999N{min6:+5?10}{~1}|KA1999{M*57|N*43}{temp:+5?10}{~1}]]"
        "MA1{alt:5}{~1}{stp:5}{~5}[three?MD1{tend:1}{~1}{change3:3}{~1}+9999]"
        AIRWAYS_WEATHER("00"),
    .remarks = "[~410?^AWY[three?{tend:1}{0..30:2} {15|10|23}{//|70|03}?|[thunder?CB {W|NW|S} MOVG "
               "{E|NE}?|[falls?RE{5..55:2}?|[ceil<900?CIG{2..9:1}V{7|9}?|{FEW CI?|FEW AC NW?|SB35?|TCU DSNT "
               "SW?|98632?|FEW SC E?}]]]]^]",
    .elements = "[~33?{#Q}{  00003PRCP99*39|    003PRSWM1*20|  00033PRCP99*10|    053SCOLCG*8|    "
                "013SCOLCG*5}][~14?{#P}{     03SCCGD2|     03SCCGD1|    003SCCGD1}]" PRESENT_WEATHER_ELEMENT,
    .originals = ORIGINALS("[layers>1&~150?H11 1 {23|37|32}{feet2:3}H11 1 00999]"),
};

const isd_report_t isd_airways_synop = {
    .head = AIRWAYS_HEAD("SY-SA"),
    .sections =
        "AA101{rain1:4}9{~5}AA206{rain6:4?140}{9*86|2*14}{~1}[~533?AA324{rain24:4?89}{9*91|2*9}{~1}]"
        "AG1{4*56|0*44}{0..7:3?26}"
        "[depth>0?AJ1{depth:4}9{~1}99999999[snow24>0?AL106{snow24:3}9{~1}]]"
        "[~1018?AY1{0*62|8*9|7*8|6*7|1*4|9*4|2*3|5*3}{~1}999]"
        "[metres<2000&~150?ED114U{180..1900:4}9]"
        "[layers>0?" AIRWAYS_LAYERS "]"
        AIRWAYS_SUMS("{08*34|02*15|06*12|01*10|03*7|05*6|07*4|99*15}", "{99*55|00*45}")
        AIRWAYS_SKY("2", "38", "400", "{1*64|9*36}")
        "KA1999M{max6:+5?10}{~1}KA2999N{min6:+5?10}{~1}"
        "MA1{alt:5}{~1}{stp:5}{~5}[~1012?MD1{tend:1}{~1}{change3:3}{~1}+9999]"
        AIRWAYS_WEATHER("{02*93|10*3|01*2|05*2}")
        "[hour=18&~370?SA1{sea:+4}9]",
    .remarks = "^SYN333   1{max6:s4} 2{min6:s4}[depth>0? 4/{depth:3}]"
               "[~400? 555   10{tempf:/2}  0{maxf:/2}0{minf:/2}| 909{0..46:2}]^"
               "^AWY{tend:1}{0..30:2} {15|10|23}{//|70|03} {tempf:/2}?^",
    .elements = "[~827?{#Q}{    003PRSWM1*89|  00003PRCP99*6|    003SCOLCG*4}[~330?{#Q}  "
                "{0000|9999}3PRCP99]][~53?{#P}{    003SCOTCV*5|    003SCCGD1*4}]" PRESENT_WEATHER_ELEMENT,
    .originals = ORIGINALS("[layers>1?H11 1 {23|37|32}{feet2:3}]"
                           "[~560?H11 1 00999H11 1 00999[~600?H11 1 00999]]"),
};

/* ---- climate reference stations ---- */

#define CRN_HEAD(missing)                                                                                    \
    "I{$position}CRN05{$elevation}99999V020[~" missing "?9999999999|{dir:3}{~1}{H*9|R}{speed:4}{~1}]"        \
    "9999999N999999999{temp:+5?3}{~1}+99999999999"
#define CRN_GAUGES "CG1{-30..4000:+6?3}{1*99|3}0CG2{-30..4000:+6?3}{1*99|3}0CG3{-30..4000:+6?3}{1*99|3}0"
#define CRN_PROBES "CT1{temp:+5?3}10CT2{temp:+5?3}10CT3{temp:+5?3}10"
#define CRN_WETNESS "CW1{200..1200:5}10{200..1200:5}10"
#define CRN_WIND(minutes) "OB1" minutes "{gust:4?4}10{dir:3?4}10{0..90:5?900}{1*99|9}0{100..3000:5?4}10"

const isd_report_t isd_crn_hour = {
    .head = CRN_HEAD("20"),
    .sections =
        "AA101{rain1:4}9{~1}AO105{0..3:4}9{~1}[~500?CB105+0000010]"
        "CF1{950..1150:4}{1*99|3}0CF2{950..1150:4}{1*99|3}0CF3{950..1150:4}{1*99|3}0" CRN_GAUGES
        "[~500?CH105{temp:+5?3}10{rh:3}010CI1{min6:+5}10{max6:+5}10{0..20:5}10{0..40:5}10]"
        "CN1{120..135:4}10{118..132:4}10{119..133:4}10CN2[~900?+99999|{temp:+5}1]"
        "0{temp:+5}10{0*9|1}{0..9:1}10CN3{149900..150100:6}10{10000..99000:6}10"
        "[~950?CN4010000010{350..450:3?2}10{0..140:3}10]CO199{-10..-5:+3}CR1{00105*6|02424}10" CRN_PROBES
        "CU1[~980?+99999|{temp:+5}1]0{0..9:4}10CU2[~980?+99999|{temp:+5}1]"
        "0{0..9:4}10CU3[~980?+99999|{temp:+5}1]0{0..9:4}10"
        "CV1{min6:+5}10999990{max6:+5}10999990CV2{min6:+5}10999990{max6:+5}10999990CV3{min6:+5}"
        "10999990{max6:+5}10999990" CRN_WETNESS
        "[~30?CX1{0..90:+6}10{900..3000:4}10{900..3000:4}10{900..3000:4}10]"
        "GH1{global:4}010{diffuse:4}010{space:4}010{0..60:5}10"
        "[~20?IB1{temp:+5}10{min6:+5}10{max6:+5}10{0..20:4}10]"
        "[~500?IB2{temp:+5}10{0..9:4}10]KA1010M{max6:+5}{~1}KA2010N{min6:+5}{~1}KF1{temp:+5}1" CRN_WIND(
            "060"),
};

const isd_report_t isd_crn_5_minutes = {
    .head = CRN_HEAD("20"),
    .sections = "AO105{0..3:4}9{~1}[~200?CB105{0..9:+6}10]" CRN_GAUGES "[~200?CH105{temp:+5?3}10{rh:3}010]"
                "CO199{-10..-5:+3}" CRN_PROBES CRN_WETNESS CRN_WIND("005"),
};

/* ---- sunshine: a model beside the hourly reports ---- */

#define NOTHING_OBSERVED "999999999999999999999999999+99999+99999999999"

const isd_report_t isd_solar_model = {
    .head = "9{$position}NSRDB{$elevation}99999V020" NOTHING_OBSERVED,
    .sections = "[~100?GM10060{global:4}01{0..9:1}{direct:4}{06|89}{0..9:1}{diffuse:4}02{0..9:1}99999]"
                "[~60?GN10060{0..300:4}9{200..480:4}9{220..600:4}999999{0..90:3}9]"
                "[~60?GO10060{-50..600:-4}1{-200..40:-4}1{-150..500:-4}1]"
                "GP10060{global:4}01{000|010|024}{direct:4}01{000|024|027}{diffuse:4}01{000|012|024}"
                "GQ10060{zenith:4}9{azimuth:4}9GR10060{space:4}9{1320..1415:4}9",
};

const isd_report_t isd_solar_metar = {
    .head = "C{$position}FM-15{$elevation}{$call}V020[calm?9999C|{dir:3}{~5}N]"
            "{speed:4}{~5}{ceil:5}{~5}[ceil<22000?M|9]N{vis:6}{~5}N5{temp:+5}{~5}{dew:+5}{~5}{slp:5}{~5}",
    .sections = "AA101{rain1:4}{9*8|2*2}{~5}[three&rain3>0?AA203{rain3:4}{9|2}{~1}]"
                "[layers>0?GD1{class1:1}99{~5}{base1:+6}59[layers>1?GD2{class2:1}99{~5}{base2:+6}59]"
                "[layers>2?GD3{class3:1}99{~5}{base3:+6}59]]"
                "GF1{oktas:2}991999999999999999999[~60?GJ1{0..60:4}{~5}]"
                "MA1{alt:5}{~5}{stp:5}{~5}[three?MD1{tend:1}{~1}{change3:3}{~1}+9999]"
                "[weather?MW1{ww:2}{~5}]",
    .remarks = "^MET{$icao} {day:2}{hour:2}53Z [calm?00000|{dir:3}{knots:2}]"
               "KT {$sm}SM{$wxus}[layers=0? CLR| {$cover1}{feet1:3}[layers>1? {$cover2}{feet2:3}]]"
               " {tempc:m2}/{dewc:m2} A{inhg:4} RMK AO2 SLP{slp3:3} T{temp:s4}{dew:s4}[three? "
               "5{tend:1}{change3:3}];^",
    .elements = "[falls?{#Q}{+000003|    003}PRSWM{1|2}]{#N} {element:5}JPWTH 0",
    .originals = "A{A|B}1{ |D}0 02{feet1:3}B{A|B}1 0 01{feet1:3}[layers>1?AA1D0 04{feet2:3}BA1 0 "
                 "04{feet2:3}]GA1 0 {feet1:5}KA1D0{dewf:b6}"
                 "JA1 0{dew:b6}LA1 0 [miles=1000?01000|{miles:5}]"
                 "CA1 0 0{inhg:4}NA1 0 {element:5}QA1 0 {slp:5}SA1D0{tempf:b6}RA1 0{temp:b6}YA1 0 "
                 "[calm?00000|{dir10:2}{knots:3}]",
};

/* ---- at sea ---- */

const isd_report_t isd_marine_synop = {
    .head = "9{$position}FM-13{$elevation}{$call}V020[~40?9999999999|[calm?9999C00001|{dir:3}{~1}N{speed:4}"
            "{~1}]]"
            "[~600?9999999|{ceil:5}{~1}C]N[~500?9999999|{004000|010000*4|020000*2}{~1}]"
            "N9{temp:+5?150}{~1}{dew:+5?400}{~1}{slp:5?100}{~1}",
    .sections = "[~300?AG12000|[~30?AG10{0..9:3}]][~400?AY1{past:1}{~1}{06|99}{~1}]"
                "[~20?GA1{eights1:2}{~1}{base1:+6}{~1}{genus1:2}{~1}]"
                "[~400?GF1{oktas:2}99{~1}{eights1:2?200}{~1}{low:2?200}{~1}{base1:5?300}{~1}{mid:2?500}{~1}"
                "{high:2?600}{~1}][~8?GG1{eights1:2}{~1}{100..2400:5}{~1}{06|07}{~1}999]"
                "[~600?MD1{tend:1?20}{~1}{change3:3?20}{~1}+9999][weather?MW1{ww:2}{~1}]"
                "[~60?OA1{1|3}{06|99}{gust:4}{~1}]"
                "[~700?SA1{sea:+4}{~1}][~500?UA1{I|M|9}{2..13:2?80}{2..70:3}{~1}{0..9:2?700}{~1}]"
                "[~300?UG1{3..18:2?60}{2..60:3?60}{dir:3?60}{~1}[~250?UG2{3..18:2?60}{2..60:3?60}{dir:3?60}"
                "{~1}]]"
                "[temp<0?[~100?WA1{1..5:1}{0..90:3}{0..4:1}{~1}]"
                "[~50?WD1{0..10:2}{0..100:3?100}{0..9:2?300}{0..9:1}{0..9:1}{0..9:1}{0..9:2?300}{0..8:1}"
                "{0..90:3?400}{0..40:3?400}{~1}]"
                "[~50?WG1{0..10:2?400}{0..40:2?400}{0..9:2?400}{0..9:2?400}{0..9:2?400}{~1}]]",
    .remarks = "[~350?^SYN00{tend:1}{change3:3} 222{0..9:1}{0..9:1}^]",
};

/* ---- cooperative observers ---- */

const isd_report_t isd_cooperative_rain = {
    .head = "2{$position}PCP60{$elevation}99999V020" NOTHING_OBSERVED,
    .sections = "AA101{rain1:4?10}{9*9|2}{~5}",
    .remarks = "[~100?^HPD{lmonth:2}{lday:2} {lhour:2}00 {rain1:4} MM ACCUMULATED^]",
};

const isd_report_t isd_cooperative_day = {
    .head = "{2|4}{$position}{COOPD*8|SHEF |SURF }{$elevation}99999V020" NOTHING_OBSERVED,
    .sections = "AA124{rain24:4?10}{9*8|2|3}{~5}AJ1{depth:4?20}{9*9|3}{~5}99999999[snow24>0?AL124{snow24:3}"
                "9{~5}]AN1024{snow24:4}9{~5}"
                "[falls?AT1{AU01FG  |AU18SN  |AW16RN  |MW03TS  }{~5}]"
                "[~300?GJ1{0..900:4?30}{~5}GK1{0..100:3}{~5}][thunder&~60?HL1{5..45:3}{~5}]"
                "[temp>0&~500?IC124{0..180:4?60}9{~5}{0..60:3?60}9{~5}{-20..350:+4?300}9{~5}"
                "{-30..250:+4?300}9{~5}]"
                "KA1024M{max24:+5?20}{~5}KA2024N{min24:+5?20}{~5}[~300?ST1{1|2|3}{-60..320:+5}{~5}"
                "{0010|0020|0050}402494]",
};
