#include "generate/isd/isd_synops.h"

/* clang-format off */

/* Pieces of synoptic groups that all of them have. */
#define AIR                   " 1{temp:s4} 2{dew:s4}"
#define PRESSURES             " 3{stpsyn:4} 4{slpsyn:4}"
#define TENDENCY              " 5{tend:1}{change3:3}"
#define MISSING_SKY_AND_SIGHT "9999999N999999999"
#define HEAT                  "{temp:+5?1}{~1}{dew:+5?2}{~1}"
#define TENDENCY_SECTION      "MD1{tend:1}{9*56|1*944}{change3:3}{~1}+9999"

const isd_report_t isd_island_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[calm?9999C99999|{dir:3}{~1}N{speedms:4}{~1}]" MISSING_SKY_AND_SIGHT HEAT "{slp:5?1}{~1}",
    .sections = "[hour=6&~930?KA1240N{min12:+5}{~1}][hour=18&~920?KA1120M{max12:+5}{~1}]"
                "MA1999990{stp:5?1}{~1}"
                "[~1022?[~140?MD1{tend:1}{9*97|0*3}{change3:3}4|MD1{tend:1}{1*97|0*3}{change3:3}1]+9999]"
                "[six&~980?OD1399{speedgust:4}1999]",
    .remarks = "^SYN{$block} 46/// /{dir10:2}{ms:2}" AIR PRESSURES TENDENCY "[six? 333 911{gustms:2}]=^",
    .elements = "[~145?{#Q}{.23APC3      *35|.13APC3      *34|.33APC3      *19|.2    3APC3  *5|.1    3APC3 "
                " *3|43APCTEN     |.3    3APC3  }]",
};

const isd_report_t isd_inland_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[calm?9999C00001|{dir:3}{~1}N{speed:4}{~1}]"
            "[six&hour>0?{ceil:5}{~1}CN{metres:6}{~1}99|" MISSING_SKY_AND_SIGHT "]" HEAT "{slp:5?2}{~1}",
    .sections = "AA101{rain1:4?1}9{~1}"
                "[six?AA2[hour=0?06|[hour=12?06|12]]{rain6:4}9{~1}[hour=6?AA324{rain24:4}9{~1}]]"
                "[hour=6&depth>0?AJ1{depth:4}9{~1}{0..300:6?700}9{~1}AL124{snow24:3}9{~1}]"
                "[six&hour>0&weather?AY1{past:1}{~1}{06|12}{~1}AY2{pastagain:1}{~1}{06|12}{~1}]"
                "[six&hour>0?GF1{oktas:2}99{~1}{eights1:2?600}{~1}{low:2?500}{~1}{base1:5?500}{~1}"
                "{mid:2?700}{~1}{high:2?800}{~1}]"
                "[hour=6?IA1{23|01|00|02}9KA1240N{min12:+5}{~1}]"
                "[hour=18?IA1{23|01|00|02}9KA1120M{max12:+5}{~1}]"
                "MA1999999{stp:5?2}{~1}" TENDENCY_SECTION "[six&hour>0&weather?MW1{ww:2}{~1}]"
                "[~930?OD1399{gust:4}1999OD2599{speed:4}1999]",
    .remarks =
        "^SYN{$block} [six&hour>0?0[weather?1|2]"
        "/{viscode:2} {oktas:1}{dir10:2}{knots:2}|{0|1|2}3/// /{dir10:2}{knots:2}]" AIR PRESSURES TENDENCY
        "[six? 6{mm6:3}2 7{ww:2}{past:1}{pastagain:1}]"
        " 333[hour=6? 2{min12:s4}][hour=18? 1{max12:s4}] 553{0..10:2} 2{0..2200:4} 6{mm6:3}5"
        "[six? 907{0..69:2} 93100] 911{gustknots:2} 912{knots:2}=^",
};

const isd_report_t isd_machine_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[~6?9999999999|[calm?9999C99999|{dir:3}{~1}N{speedms:4}{~1}]]9999999{N*794|9*206}999999999"
            "{temp:+5?6}{~1}{dew:+5?6}{~1}999999",
    .sections = "[falls&~850?AW1[snows?{70*95|40*5}|{60*90|40*10}]{~1}]",
    .remarks =
        "[~210?^SYNBUFR^|^SYN{$block} 4[falls?7|6]/// /{dir10:2}{ms:2}" AIR "[falls? 7[snows?7|6]0//]=^]",
};

const isd_report_t isd_airport_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[~1?9999999999|[calm?9999C00001|[variable?9999V|{dir:3}{~1}N]{speed:4}{~1}]]"
            "[~310?9999999|[ceil<22000?{ceil:5}{~1}{C*99|W}|220001{9*85|C*15}]]{N*978|9*22}"
            "[metres=9999?010000|{metres:6}]{~1}99{temp:+5?2}{~1}{dew:+5?3}{~1}{slp:5?7}{~1}",
    .sections = "[six&hour=12&rain6>0?AA106{rain6:4}3{~1}AA224{rain24:4}3{~1}]"
                "[six&!hour=12?AA1{06*95|24*3|99*2}{rain6:4?18}{9*78|3*15|2*7}{~1}]"
                "[weather?AY1{past:1}{~1}{02*97|99*3}1AY2{pastagain:1}{~1}{02*97|99*3}"
                "1|[~110?AY1{4|6|9|5|2|0}{~1}021AY2{2*4|0*2|6*2|5|4}{~1}021]]"
                "[three&!six&~64?AZ101999AZ201999]"
                "[layers>0&~950?GA1{eights1:2?7}{~1}{base1:+6}{~1}{genus1:2?6}{~1}"
                "[layers>1?GA2{eights2:2?140}{~1}{base2:+6?140}{~1}{genus2:2}{~1}]"
                "[layers>2?GA3{eights3:2?210}{~1}{base3:+6?210}{~1}{genus3:2}{~1}]"
                "[layers>3?GA4{eights4:2?100}{~1}{base4:+6?100}{~1}{genus4:2}{~1}]"
                "GE19AGL   +99999+99999GF1{oktas:2}99{~1}{eights1:2?22}{~1}999{base1:5?17}{~1}999999]"
                "[hour=0?KA1120M{max12:+5}{~1}KA2240N{min24:+5}{~1}]"
                "[hour=12?KA1240M{max24:+5}{~1}KA2120N{min12:+5}{~1}]"
                "[~1018?MA1999999{stp:5}{~1}" TENDENCY_SECTION "]"
                "[weather?MW1{ww:2}{~1}|[~90?MW1{02*10|11*7|21*5|20*4|03*4|01*3}{~1}]]",
    .remarks =
        "^SYN{$block} 4{2*70|1*15|0*8|3*7}{height:1}{viscode:2} {oktas:1}{dir10:2}{knots:2}" AIR PRESSURES
            TENDENCY "[six&rain6>0? 6{mm6:3}1][weather? 7{ww:2}{past:1}{pastagain:1}]"
        "[layers>0? 8{eights1:1}{low:1}{mid:1}{high:1}]"
        "[twelve? 333[hour=0? 1{max12:s4} 2{min24:s4}| 1{max24:s4} 2{min12:s4}]]"
        "[layers>0&~700?[!twelve? 333] 56{000|060|200|069|360|002}"
        "[twelve? 8{eights1:1}{genus1:1}{feet1:2}]]=^",
    .elements = "[~7?{#Q} 0{60*6|30*3|09|13|18}003SCOCIG]",
};

const isd_report_t isd_asos_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[calm?9999C00001|[~165?9999|{dir:3}{~1}]N{speed:4}{~1}]9999999N"
            "[miles=1000?016000|{sight:6}]{~1}99{temp:+5?2}{~1}{dew:+5?4}{~1}{slp:5?2}{~1}",
    .sections = "[rain6>0?AA106{rain6:4}{3*70|9*20|2*10}{~1}[hour=12&rain24>0?AA224{rain24:4}3{~1}]]"
                "[weather?AW1{aw:2}{~1}]"
                "[layers>0&~640?GE19MSL   +99999+99999GF1{08*78|06*9|02*6|04*6|09}991990990999990991991]"
                "[twelve?KA1240M{max24:+5}{~1}KA2120N{min12:+5}{~1}|KA1120M{max12:+5}{~1}KA2240N{min24:+5}"
                "{~1}]"
                "MA1999990[~518?999999|{stp:5}{2*58|1*42}]"
                "[~1013?MD1[~125?90|{tendus:1}1]{change3:3}1+9999]"
                "[knots>9&~560?OD1499{gust:4}1999]",
    .remarks = "^SYN{$block} 35966 {oktas:1}{dir10:2}{knots:2}" AIR PRESSURES TENDENCY
               "[rain6>0? 6{mm6:3}1][weather? 7{ww:2}//]"
               " 9{0..23:2}51 333 1{max24:s4} 2{min24:s4}[knots>9? 910{gustknots:2}]"
               " 555 9{0..24:2}00=^",
    .elements = "[~549?[rain6>0&~300?{#Q}  00002PRCP06]{#Q} {stp:5}3APOSP ]",
};

const isd_report_t isd_forties_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[~173?9999999999|[calm?9991C00101|{dir:3}{~1}N{force:4}{~1}]]"
            "[~197?9999999|[ceil<1500&~450?{ceil:5}{~1}C|220001C]]N"
            "[weather?{002000*3|001000*3|004000*2|000050|000500}|{004000*40|010000*38|020000*5|002000*5}]"
            "1N9"
            "{temp:+5?424}{~1}{dew:+5?585}{~1}999999",
    .sections = "[~851?AY1{2*38|1*31|0*10|4*9|6*5|5*4|8*2}{~1}999]"
                "[~612?GA1{00*40|05*26|99*9|08*5|02*4|09*4|06*3|07*3|01*2}{1*91|9*9}[~880?+99999|+00450]"
                "9{99*87|00*10|04|03|05}9]"
                "[~1023?GF1{oktas:2?219}99{~1}{eights1:2?175}{~1}{low:2?49}{~1}"
                "{00800*20|00450*17|01250*15|00250*6|00025*5|01750*2|99999*35}"
                "{1*66|9*34}{mid:2?356}{~1}999]"
                "[weather?MW1[falls?{ww:2}|{05*65|10*13|44*5|46*3|42*3|45*2}]{~1}|[~60?MW1{05|10}{~1}]]",
    .elements =
        "[~117?{#Q}{+000042SCOTCV*22|    "
        "003SCCGA1*19|+000992SCOLCB*12|+000082SCOTCV*11|+000452PRSWM1*9|+000072SCOTCV*7|+000022SCOTCV*6}]",
};

const isd_report_t isd_twenties_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[calm?9991C00101|[~490?99999{force:4}{~1}|{dir:3}{~1}N{force:4}{~1}]]"
            "{220001C*280|000151C*245|9999999*175|004501C*110|030001C*45|002401C*35|075001C*35}N"
            "{020000*37|000000*23|010000*14|050000*12|000050*5|000200*3|004000*3}1N9"
            "{temp:+5?153}{~1}{dew:+5?169}{~1}999999",
    .sections = "[rain24>0&hour=6?AA199{rain24:4}9{~1}]AY1{1*28|4*25|0*20|6*9|2*8|8*4|7*4|9}{~1}061"
                "[~1021?GF1{oktas:2?3}99{~1}{eights1:2?284}{~1}{low:2}{~1}{base1:5?349}{~1}{mid:2?480}{~1}"
                "{high:2?480}{~1}]"
                "[hour=6&~985?KA1999N{min12:+5?29}{~1}]"
                "[~415?MD1{3*43|8*37|6*7|4*3|5*3|1*3|0|9*3}"
                "1{006*44|014*28|020*10|000*7|026*4|066*3|060*2|034*2}{~1}+9999]"
                "[weather?MW1{ww:2}{~1}]",
    .elements = "[~63?{#Q}{+000662APC3  *4| -02563ATOD  *4|+000602APC3  *3|+024043ATOD  *2| -00222ATMN  "
                "*2}]",
};

const isd_report_t isd_first_synop = {
    .head = "4{$position}FM-12{$elevation}99999V020"
            "[~3?9999999999|[calm?9991C00001|{dir:3}{~1}N{speed:4}{~1}]]9999999N0000001N9"
            "{temp:+5}{~1}+99999{slp:5?3}{~1}",
    .sections = "[~1022?GF1{08*40|00*17|02*13|06*9|01*6|04*5|07*4|03*4|05*3}991999999999999999999]"
                "[falls&~500?MW1[snows?{72*9|70|74}|{62*9|60|90}]{~1}]",
    .elements = "[~1?{#Q}+000742PRSWM1]",
};
