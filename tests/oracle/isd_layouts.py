"""The layouts of an ISD record: its 105 fixed characters, and the 91 kinds of sections after them.

    FIRST-LAST name field:width:kind[:filler] ...     the fixed part without the first two

Kinds: text; code (text without the blanks after it); int; /10, /100, /1000 (a decimal number without its point);
x10 (tens). A number whose filler starts with a plus always has a sign in front; int- has a minus where it is
negative. A field without a filler is never left out. Long lines go on, indented."""

FIXED = """
count:4:text usaf:6:text:999999 wban:5:text:99999 date:8:text time:4:text dataSource:1:text:9 latitude:6:/1000:+99999
    longitude:7:/1000:+999999 type:5:code:99999 elevation:5:int:+9999 callLetters:5:code:99999
    qualityControlProcess:4:text
    wind.direction.angle:3:int:999 wind.direction.quality:1:text:9 wind.type:1:text:9 wind.speed.rate:4:/10:9999
    wind.speed.quality:1:text:9
    skyCondition.ceilingHeight.value:5:int:99999 skyCondition.ceilingHeight.quality:1:text:9
    skyCondition.ceilingHeight.determination:1:text:9 skyCondition.cavok:1:text:9
    visibility.distance.value:6:int:999999 visibility.distance.quality:1:text:9
    visibility.variability.value:1:text:9 visibility.variability.quality:1:text:9
    airTemperature.value:5:/10:+9999 airTemperature.quality:1:text:9
    dewPoint.value:5:/10:+9999 dewPoint.quality:1:text:9
    atmosphericPressure.value:5:/10:99999 atmosphericPressure.quality:1:text:9
"""

SECTIONS = """
AA1-AA4 liquidPrecipitation periodHours:2:int:99 depth:4:/10:9999 condition:1:text:9 depthQuality:1:text
AB1 liquidPrecipitationMonth depth:5:/10:99999 condition:1:text:9 depthQuality:1:text
AC1 precipitationHistory duration:1:text:9 characteristic:1:text:9 historyQuality:1:text
AD1 liquidPrecipitationGreatest24hMonth depth:5:/10:99999 condition:1:text:9 dates1:4:text:9999 dates2:4:text:9999
    dates3:4:text:9999 depthQuality:1:text
AE1 liquidPrecipitationDaysMonth daysGe001in:2:int:99 daysGe001inQuality:1:text daysGe010in:2:int:99
    daysGe010inQuality:1:text daysGe050in:2:int:99 daysGe050inQuality:1:text daysGe100in:2:int:99
    daysGe100inQuality:1:text
AG1 precipitationEstimated discrepancy:1:text:9 estimatedDepth:3:int:999
AH1-AH6 maxShortDurationPrecipitationMonth periodMinutes:3:int:999 depth:4:/10:9999 condition:1:text:9
    endTime:6:text:999999 depthQuality:1:text
AI1-AI6 maxShortDurationPrecipitationMonth2 periodMinutes:3:int:999 depth:4:/10:9999 condition:1:text:9
    endTime:6:text:999999 depthQuality:1:text
AJ1 snowDepth depth:4:int:9999 condition:1:text:9 depthQuality:1:text waterEquivalent:6:/10:999999
    waterEquivalentCondition:1:text:9 waterEquivalentQuality:1:text
AK1 snowDepthGreatestMonth depth:4:int:9999 condition:1:text:9 dates:6:text:999999 depthQuality:1:text
AL1-AL4 snowAccumulation periodHours:2:int:99 depth:3:int:999 condition:1:text:9 depthQuality:1:text
AM1 snowAccumulationGreatest24hMonth depth:4:/10:9999 condition:1:text:9 dates1:4:text:9999 dates2:4:text:9999
    dates3:4:text:9999 depthQuality:1:text
AN1 snowAccumulationPeriod periodHours:3:int:999 depth:4:/10:9999 condition:1:text:9 depthQuality:1:text
AO1-AO4 liquidPrecipitationMinutes periodMinutes:2:int:99 depth:4:/10:9999 condition:1:text:9 depthQuality:1:text
AP1-AP4 precipitationGauge15min gaugeDepth:4:/10:9999 condition:1:text:9 gaugeDepthQuality:1:text
AT1-AT8 dailyPresentWeather source:2:text weatherType:2:text weatherAbbreviation:4:code weatherQuality:1:text
AU1-AU9 presentWeatherCoded intensity:1:text:9 descriptor:1:text:9 precipitation:2:text:99 obscuration:1:text:9
    other:1:text:9 combination:1:text:9 weatherQuality:1:text
AW1-AW4 presentWeatherAutomated condition:2:text:99 conditionQuality:1:text
AX1-AX6 pastWeatherSummaryOfDay condition:2:text:99 conditionQuality:1:text periodHours:2:int:99 periodQuality:1:text
AY1-AY2 pastWeatherManual condition:1:text conditionQuality:1:text periodHours:2:int:99 periodQuality:1:text
AZ1-AZ2 pastWeatherAutomated condition:1:text conditionQuality:1:text periodHours:2:int:99 periodQuality:1:text
CB1-CB2 precipitationSecondarySensor periodMinutes:2:int:99 depth:6:/10:+99999 depthQuality:1:text:9 depthFlag:1:text
CF1-CF3 fanSpeed fanSpeed:4:/10:9999 fanSpeedQuality:1:text:9 fanSpeedFlag:1:text
CG1-CG3 precipitationPrimarySensor depth:6:/10:+99999 depthQuality:1:text:9 depthFlag:1:text
CH1-CH2 relativeHumidityTemperature periodMinutes:2:int:99 temperature:5:/10:+9999 temperatureQuality:1:text:9
    temperatureFlag:1:text relativeHumidity:4:/10:9999 relativeHumidityQuality:1:text:9 relativeHumidityFlag:1:text
CI1 relativeHumidityTemperatureHour temperatureMin:5:/10:+9999 temperatureMinQuality:1:text:9
    temperatureMinFlag:1:text temperatureMax:5:/10:+9999 temperatureMaxQuality:1:text:9 temperatureMaxFlag:1:text
    temperatureStdDev:5:/10:99999 temperatureStdDevQuality:1:text:9 temperatureStdDevFlag:1:text
    relativeHumidityStdDev:5:/10:99999 relativeHumidityStdDevQuality:1:text:9 relativeHumidityStdDevFlag:1:text
CN1 batteryVoltage batteryVoltage:4:/10:9999 batteryVoltageQuality:1:text:9 batteryVoltageFlag:1:text
    batteryVoltageFullLoad:4:/10:9999 batteryVoltageFullLoadQuality:1:text:9 batteryVoltageFullLoadFlag:1:text
    batteryVoltageDatalogger:4:/10:9999 batteryVoltageDataloggerQuality:1:text:9 batteryVoltageDataloggerFlag:1:text
CN2 diagnostics panelTemperature:5:/10:+9999 panelTemperatureQuality:1:text:9 panelTemperatureFlag:1:text
    inletTemperatureMax:5:/10:+9999 inletTemperatureMaxQuality:1:text:9 inletTemperatureMaxFlag:1:text
    doorOpenMinutes:2:int:99 doorOpenMinutesQuality:1:text:9 doorOpenMinutesFlag:1:text
CN3 diagnosticsSecondary referenceResistance:6:/10:999999 referenceResistanceQuality:1:text:9
    referenceResistanceFlag:1:text signature:6:/10:999999 signatureQuality:1:text:9 signatureFlag:1:text
CN4 diagnosticsTransmitter gaugeHeater:1:text:9 gaugeHeaterQuality:1:text:9 gaugeHeaterFlag:1:text
    doorFlag:4:text:9999 doorFlagQuality:1:text:9 doorFlagFlag:1:text forwardPower:3:/10:999
    forwardPowerQuality:1:text:9 forwardPowerFlag:1:text reflectedPower:3:/10:999 reflectedPowerQuality:1:text:9
    reflectedPowerFlag:1:text
CO1 networkMetadata climateDivision:2:int:99 utcOffsetHours:3:int:+99
CO2-CO9 elementTimeOffset elementId:3:text:999 offsetHours:5:/10:+9999
CR1 dataloggerProgram version:5:/1000:99999 versionQuality:1:text:9 versionFlag:1:text
CT1-CT3 temperature5min temperature:5:/10:+9999 temperatureQuality:1:text:9 temperatureFlag:1:text
CU1-CU3 temperatureHour temperature:5:/10:+9999 temperatureQuality:1:text:9 temperatureFlag:1:text
    temperatureStdDev:4:/10:9999 temperatureStdDevQuality:1:text:9 temperatureStdDevFlag:1:text
CV1-CV3 temperatureExtremesHour temperatureMin:5:/10:+9999 temperatureMinQuality:1:text:9 temperatureMinFlag:1:text
    temperatureMinTime:4:text:9999 temperatureMinTimeQuality:1:text:9 temperatureMinTimeFlag:1:text
    temperatureMax:5:/10:+9999 temperatureMaxQuality:1:text:9 temperatureMaxFlag:1:text temperatureMaxTime:4:text:9999
    temperatureMaxTimeQuality:1:text:9 temperatureMaxTimeFlag:1:text
CW1 wetness5min wetness1:5:/10:99999 wetness1Quality:1:text:9 wetness1Flag:1:text wetness2:5:/10:99999
    wetness2Quality:1:text:9 wetness2Flag:1:text
CX1-CX3 gaugeWireHour precipitation:6:/10:+99999 precipitationQuality:1:text:9 precipitationFlag:1:text
    frequencyAvg:4:int:9999 frequencyAvgQuality:1:text:9 frequencyAvgFlag:1:text frequencyMin:4:int:9999
    frequencyMinQuality:1:text:9 frequencyMinFlag:1:text frequencyMax:4:int:9999 frequencyMaxQuality:1:text:9
    frequencyMaxFlag:1:text
ED1 runwayVisualRange runwayDirection:2:x10:99 runwayDesignator:1:text:9 visibility:4:int:9999
    visibilityQuality:1:text
GA1-GA6 skyCoverLayer coverage:2:text:99 coverageQuality:1:text baseHeight:6:int:+99999 baseHeightQuality:1:text
    cloudType:2:text:99 cloudTypeQuality:1:text
GD1-GD6 skyCoverSummation coverage:1:text:9 coverageDetailed:2:text:99 coverageQuality:1:text baseHeight:6:int:+99999
    baseHeightQuality:1:text characteristic:1:text:9
GE1 skyConditionConvective convectiveCloud:1:text:9 verticalDatum:6:code:999999 baseHeightUpper:6:int:+99999
    baseHeightLower:6:int:+99999
GF1 skyCover totalCoverage:2:text:99 opaqueCoverage:2:text:99 coverageQuality:1:text lowestCover:2:text:99
    lowestCoverQuality:1:text lowCloudType:2:text:99 lowCloudTypeQuality:1:text lowestBaseHeight:5:int:99999
    lowestBaseHeightQuality:1:text midCloudType:2:text:99 midCloudTypeQuality:1:text highCloudType:2:text:99
    highCloudTypeQuality:1:text
GG1-GG6 belowStationCloud coverage:2:text:99 coverageQuality:1:text topHeight:5:int:99999 topHeightQuality:1:text
    cloudType:2:text:99 cloudTypeQuality:1:text cloudTop:2:text:99 cloudTopQuality:1:text
GH1 solarRadiationHour radiation:5:/10:99999 radiationQuality:1:text:9 radiationFlag:1:text radiationMin:5:/10:99999
    radiationMinQuality:1:text:9 radiationMinFlag:1:text radiationMax:5:/10:99999 radiationMaxQuality:1:text:9
    radiationMaxFlag:1:text radiationStdDev:5:/10:99999 radiationStdDevQuality:1:text:9 radiationStdDevFlag:1:text
GJ1 sunshineDuration duration:4:int:9999 durationQuality:1:text
GK1 sunshinePercent percent:3:int:999 percentQuality:1:text
GL1 sunshineDurationMonth duration:5:int:99999 durationQuality:1:text
GM1 solarIrradiance periodMinutes:4:int:9999 global:4:int:9999 globalFlag:2:text:99 globalQuality:1:text:9
    direct:4:int:9999 directFlag:2:text:99 directQuality:1:text:9 diffuse:4:int:9999 diffuseFlag:2:text:99
    diffuseQuality:1:text:9 uvb:4:int:9999 uvbQuality:1:text:9
GN1 solarRadiation periodMinutes:4:int:9999 upwellingGlobal:4:int:9999 upwellingGlobalQuality:1:text:9
    downwellingInfrared:4:int:9999 downwellingInfraredQuality:1:text:9 upwellingInfrared:4:int:9999
    upwellingInfraredQuality:1:text:9 photosynthetic:4:int:9999 photosyntheticQuality:1:text:9
    solarZenithAngle:3:int:999 solarZenithAngleQuality:1:text:9
GO1 netRadiation periodMinutes:4:int:9999 netSolar:4:int-:9999 netSolarQuality:1:text:9 netInfrared:4:int-:9999
    netInfraredQuality:1:text:9 net:4:int-:9999 netQuality:1:text:9
GP1 modeledIrradiance periodMinutes:4:int:9999 globalHorizontal:4:int:9999 globalHorizontalSource:2:text:99
    globalHorizontalUncertainty:3:int:999 directNormal:4:int:9999 directNormalSource:2:text:99
    directNormalUncertainty:3:int:999 diffuseHorizontal:4:int:9999 diffuseHorizontalSource:2:text:99
    diffuseHorizontalUncertainty:3:int:999
GQ1 solarAngle periodMinutes:4:int:9999 zenithAngle:4:/10:9999 zenithAngleQuality:1:text:9 azimuthAngle:4:/10:9999
    azimuthAngleQuality:1:text:9
GR1 extraterrestrialRadiation periodMinutes:4:int:9999 horizontal:4:int:9999 horizontalQuality:1:text:9
    normal:4:int:9999 normalQuality:1:text:9
HL1 hail size:3:/10:999 sizeQuality:1:text
IA1 groundCondition condition:2:text:99 conditionQuality:1:text
IA2 groundMinTemperature periodHours:3:/10:999 temperatureMin:5:/10:+9999 temperatureMinQuality:1:text
IB1 surfaceTemperatureHour temperature:5:/10:+9999 temperatureQuality:1:text:9 temperatureFlag:1:text
    temperatureMin:5:/10:+9999 temperatureMinQuality:1:text:9 temperatureMinFlag:1:text temperatureMax:5:/10:+9999
    temperatureMaxQuality:1:text:9 temperatureMaxFlag:1:text temperatureStdDev:4:/10:9999
    temperatureStdDevQuality:1:text:9 temperatureStdDevFlag:1:text
IB2 surfaceTemperatureSensor temperature:5:/10:+9999 temperatureQuality:1:text:9 temperatureFlag:1:text
    temperatureStdDev:4:/10:9999 temperatureStdDevQuality:1:text:9 temperatureStdDevFlag:1:text
IC1 panEvaporation periodHours:2:int:99 windMovement:4:int:9999 windMovementCondition:1:text:9
    windMovementQuality:1:text evaporation:3:/100:999 evaporationCondition:1:text:9 evaporationQuality:1:text
    waterTemperatureMax:4:/10:+999 waterTemperatureMaxCondition:1:text:9 waterTemperatureMaxQuality:1:text
    waterTemperatureMin:4:/10:+999 waterTemperatureMinCondition:1:text:9 waterTemperatureMinQuality:1:text
KA1-KA4 extremeAirTemperature periodHours:3:/10:999 kind:1:text:9 temperature:5:/10:+9999 temperatureQuality:1:text
KB1-KB3 averageAirTemperature periodHours:3:int:999 kind:1:text:9 temperature:5:/100:+9999 temperatureQuality:1:text
KC1-KC2 extremeAirTemperatureMonth kind:1:text:9 condition:1:text:9 temperature:5:/10:+9999 dates:6:text:999999
    temperatureQuality:1:text
KD1-KD2 degreeDays periodHours:3:int:999 kind:1:text degreeDays:4:int:9999 degreeDaysQuality:1:text
KE1 extremeTemperatureDaysMonth daysMaxLe32F:2:int:99 daysMaxLe32FQuality:1:text daysMaxGe90F:2:int:99
    daysMaxGe90FQuality:1:text daysMinLe32F:2:int:99 daysMinLe32FQuality:1:text daysMinLe0F:2:int:99
    daysMinLe0FQuality:1:text
KF1 calculatedTemperatureHour temperature:5:/10:+9999 temperatureQuality:1:text:9
KG1-KG2 averageDewPointWetBulb periodHours:3:int:999 kind:1:text:9 temperature:5:/10:+9999 derived:1:text:9
    temperatureQuality:1:text:9
MA1 stationPressure altimeter:5:/10:99999 altimeterQuality:1:text stationPressure:5:/10:99999
    stationPressureQuality:1:text
MD1 pressureChange tendency:1:text:9 tendencyQuality:1:text change3h:3:/10:999 change3hQuality:1:text
    change24h:4:/10:+999 change24hQuality:1:text
ME1 geopotentialHeight level:1:text:9 height:4:int:9999 heightQuality:1:text
MF1 pressureDay stationPressureAvg:5:/10:99999 stationPressureAvgQuality:1:text:9 seaLevelPressureAvg:5:/10:99999
    seaLevelPressureAvgQuality:1:text:9
MG1 pressureDayMin stationPressureAvg:5:/10:99999 stationPressureAvgQuality:1:text seaLevelPressureMin:5:/10:99999
    seaLevelPressureMinQuality:1:text
MH1 pressureMonth stationPressureAvg:5:/10:99999 stationPressureAvgQuality:1:text seaLevelPressureAvg:5:/10:99999
    seaLevelPressureAvgQuality:1:text
MK1 pressureExtremesMonth seaLevelPressureMax:5:/10:99999 seaLevelPressureMaxTime:6:text:999999
    seaLevelPressureMaxQuality:1:text seaLevelPressureMin:5:/10:99999 seaLevelPressureMinTime:6:text:999999
    seaLevelPressureMinQuality:1:text
MV1-MV7 presentWeatherVicinity condition:2:text:99 conditionQuality:1:text
MW1-MW7 presentWeatherManual condition:2:text conditionQuality:1:text
OA1-OA3 supplementaryWind kind:1:text:9 periodHours:2:int:99 speed:4:/10:9999 speedQuality:1:text
OB1-OB2 windCrn periodMinutes:3:int:999 speedMax:4:/10:9999 speedMaxQuality:1:text:9 speedMaxFlag:1:text:9
    directionMax:3:int:999 directionMaxQuality:1:text:9 directionMaxFlag:1:text:9 speedStdDev:5:/100:99999
    speedStdDevQuality:1:text:9 speedStdDevFlag:1:text:9 directionStdDev:5:/100:99999 directionStdDevQuality:1:text:9
    directionStdDevFlag:1:text:9
OC1 windGust speed:4:/10:9999 speedQuality:1:text
OD1-OD3 supplementaryWindDirection kind:1:text:9 periodHours:2:int:99 speed:4:/10:9999 speedQuality:1:text:9
    direction:3:int:999
OE1-OE3 windSummaryOfDay kind:1:text periodHours:2:int:99 speed:5:/100:99999 direction:3:int:999 time:4:text:9999
    windQuality:1:text
RH1-RH3 relativeHumidity periodHours:3:int:999 kind:1:text:9 percent:3:int:999 derived:1:text:9
    percentQuality:1:text:9
SA1 seaSurfaceTemperature temperature:4:/10:+999 temperatureQuality:1:text
ST1 soilTemperature kind:1:text:9 temperature:5:/10:+9999 temperatureQuality:1:text depth:4:/10:9999
    depthQuality:1:text soilCover:2:text:99 soilCoverQuality:1:text subPlot:1:int:9 subPlotQuality:1:text
UA1 waves method:1:text:9 periodSeconds:2:int:99 height:3:/10:999 heightQuality:1:text seaState:2:text:99
    seaStateQuality:1:text
UG1 swellPrimary periodSeconds:2:int:99 height:3:/10:999 direction:3:int:999 swellQuality:1:text
UG2 swellSecondary periodSeconds:2:int:99 height:3:/10:999 direction:3:int:999 swellQuality:1:text
WA1 iceAccretion source:1:text:9 thickness:3:/10:999 tendency:1:text:9 iceQuality:1:text
WD1 surfaceIce edgeBearing:2:text:99 concentration:3:int:999 concentrationNonUniform:2:text:99 shipPosition:1:text:9
    penetrability:1:text:9 trend:1:text:9 development:2:text:99 growlerPresence:1:text:9 growlerCount:3:int:999
    icebergCount:3:int:999 iceQuality:1:text
WG1 surfaceIceHistorical edgeBearing:2:text:99 edgeDistance:2:int:99 edgeOrientation:2:text:99 formation:2:text:99
    navigation:2:text:99 iceQuality:1:text
WJ1 waterLevel iceThickness:3:int:999 discharge:5:int:99999 icePrimary:2:text:99 iceSecondary:2:text:99
    stageHeight:5:int:+9999 slush:1:text:9 waterLevel:1:text:9
"""
