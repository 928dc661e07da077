#!/usr/bin/env python3
"""Generated rows of `tipple generate obd` against what docs/generate.md promises of them: 40 columns in their ranges,
each spelled as short as it can be; trips that are one drive, second by second, in which values belong together (the
way is the sum of the speed, the air is what the engine draws, ...); and `tipple parse` makes of a row what Python
makes of it.

TIPPLE names the program."""
import datetime
import json
import math
import re
import unittest

from reading import date, whole
from running import NIGHTLY, generated, rows_behind, tipple

# column: decimal places, least, most
COLUMNS = {
    "tripTimeSeconds": (0, 0, 2100),
    "tripDistanceKilometres": (3, 0, 80),
    "gpsLatitudeDegrees": (6, 47, 54),
    "gpsLongitudeDegrees": (6, 6, 13.5),
    "gpsAltitudeMetres": (1, -50, 1000),
    "gpsBearingDegrees": (1, 0, 359.9),
    "gpsSpeedKilometresPerHour": (1, 0, 140),
    "gpsHorizontalAccuracyMetres": (1, 1, 20),
    "engineRevolutionsPerMinute": (2, 600, 4500),
    "vehicleSpeedKilometresPerHour": (0, 0, 140),
    "calculatedEngineLoadPercent": (1, 2, 100),
    "absoluteEngineLoadPercent": (1, 1, 95),
    "engineCoolantTemperatureCelsius": (0, -25, 100),
    "engineOilTemperatureCelsius": (0, -25, 115),
    "intakeAirTemperatureCelsius": (0, -25, 70),
    "ambientAirTemperatureCelsius": (0, -25, 40),
    "catalystTemperatureCelsius": (1, -25, 900),
    "intakeManifoldPressureKilopascals": (0, 15, 103),
    "barometricPressureKilopascals": (0, 85, 103),
    "fuelRailPressureKilopascals": (0, 3000, 20000),
    "massAirFlowGramsPerSecond": (2, 0.1, 100),
    "absoluteThrottlePositionPercent": (1, 10, 90),
    "commandedThrottleActuatorPercent": (1, 0, 80),
    "acceleratorPedalPositionPercent": (1, 0, 100),
    "ignitionTimingAdvanceDegrees": (1, -10, 40),
    "shortTermFuelTrimPercent": (1, -25, 25),
    "longTermFuelTrimPercent": (1, -12, 12),
    "commandedEquivalenceRatioLambda": (3, 0.85, 1.999),
    "measuredEquivalenceRatioLambda": (3, 0.7, 1.999),
    "oxygenSensorBehindCatalystVolts": (3, 0, 1.275),
    "commandedEvaporativePurgePercent": (1, 0, 100),
    "engineFuelRateLitresPerHour": (2, 0, 40),
    "fuelTankLevelPercent": (1, 5, 100),
    "controlModuleVoltageVolts": (2, 13, 15),
    "longitudinalAccelerationMetresPerSecondSquared": (2, -5, 5),
    "lateralAccelerationMetresPerSecondSquared": (2, -4, 4),
    "verticalAccelerationMetresPerSecondSquared": (2, 7, 12.5),
}
HEADER = ["timestamp", "vehicleId", "tripId", *COLUMNS]
DOUBLES = {name for name, (places, _, _) in COLUMNS.items() if places}
WHOLE = re.compile(r"0|-?[1-9]\d*")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
EPOCH = datetime.datetime(1970, 1, 1)
EARTH = 6371000
ROWS = 60000 if NIGHTLY else 24000

# Columns in which a second is like the one before it: the mean square of the steps is so small a part of twice the
# variance, which is what white noise would have.
SMOOTH = {
    "gpsSpeedKilometresPerHour": 0.01, "vehicleSpeedKilometresPerHour": 0.01, "engineRevolutionsPerMinute": 0.03,
    "calculatedEngineLoadPercent": 0.1, "massAirFlowGramsPerSecond": 0.1, "engineFuelRateLitresPerHour": 0.1,
    "engineCoolantTemperatureCelsius": 0.01, "engineOilTemperatureCelsius": 0.01, "gpsAltitudeMetres": 0.001,
    "intakeAirTemperatureCelsius": 0.05, "catalystTemperatureCelsius": 0.01, "gpsHorizontalAccuracyMetres": 0.1,
    "longitudinalAccelerationMetresPerSecondSquared": 0.2, "lateralAccelerationMetresPerSecondSquared": 0.4,
}


def made(*arguments):
    return generated("obd", *arguments)


def rows_of(data):
    return rows_behind(HEADER, data)


def milliseconds(stamp):
    return (datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ") - EPOCH) // datetime.timedelta(milliseconds=1)


def document(row):
    """A row's document as pairs, doubles as numbers."""
    pairs = [("timestamp", date(milliseconds(row[0])))]
    for name, text in zip(HEADER[1:], row[1:]):
        pairs.append((name, {"$numberDouble": float(text)} if name in DOUBLES else whole(int(text))))
    return pairs


def found(line):
    pairs = json.loads(line, object_pairs_hook=lambda inner: inner)
    values = []
    for name, value in pairs:
        value = dict(value)
        if "$date" in value:
            value["$date"] = dict(value["$date"])
        if "$numberDouble" in value:
            value["$numberDouble"] = float(value["$numberDouble"])
        values.append((name, value))
    return values


def metres(one, other):
    """Along the earth, for places that are near each other."""
    latitude = math.radians((one["gpsLatitudeDegrees"] + other["gpsLatitudeDegrees"]) / 2)
    north = math.radians(other["gpsLatitudeDegrees"] - one["gpsLatitudeDegrees"])
    east = math.radians(other["gpsLongitudeDegrees"] - one["gpsLongitudeDegrees"]) * math.cos(latitude)
    return EARTH * math.hypot(north, east)


def correlation(xs, ys):
    n, mean_x, mean_y = len(xs), sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / n
    return both / (sum((x - mean_x) ** 2 for x in xs) / n * sum((y - mean_y) ** 2 for y in ys) / n) ** 0.5


class Obd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = made("--rows", str(ROWS), "--seed", "7")
        cls.rows = rows_of(cls.data)
        cls.values = [{name: float(text) for name, text in zip(HEADER[1:], row[1:])} for row in cls.rows]
        cls.times = [milliseconds(row[0]) for row in cls.rows]

    def seconds(self):
        """(before, now) of each second of each trip but its first."""
        for before, now in zip(self.values, self.values[1:]):
            if before["tripId"] == now["tripId"]:
                yield before, now

    def trips(self):
        starts = [i for i, now in enumerate(self.values) if now["tripTimeSeconds"] == 0]
        return [(self.values[first:end], self.times[first]) for first, end in zip(starts, starts[1:])]

    def test_columns(self):
        """40 columns; every value in its range, spelled as short as it can be"""
        self.assertEqual((ROWS, 40), (len(self.rows), len(HEADER)))
        for number, row in enumerate(self.rows, 2):
            self.assertEqual(40, len(row))
            self.assertTrue(STAMP.fullmatch(row[0]), row[0])
            for name, text in zip(HEADER[1:], row[1:]):
                places, least, most = COLUMNS.get(name, (0, 1, 999999))
                before, point, decimals = text.partition(".")
                self.assertTrue(WHOLE.fullmatch(before) or (before == "-0" and point), (number, name, text))
                self.assertEqual(bool(point), 1 <= len(decimals) <= places and decimals[-1] != "0", (number, name, text))
                self.assertTrue(least <= float(text) <= most, (number, name, text))

    def test_other_seeds_keep_the_ranges(self):
        """five more files: every value in its range, cars of their own"""
        cars = set()
        for seed in range(5):
            rows = rows_of(made("--rows", "4k", "--seed", str(seed)))
            cars.add(rows[0][1])
            for name, column in zip(HEADER[1:], list(zip(*rows))[1:]):
                _, least, most = COLUMNS.get(name, (0, 1, 999999))
                self.assertTrue(least <= min(map(float, column)) and max(map(float, column)) <= most, name)
        self.assertGreater(len(cars), 3)

    def test_trips(self):
        """a trip is one car, second by second, from a stand to a stand; a car has one trip at a time, and goes on from
        where it was parked"""
        trips = self.trips()
        self.assertGreater(len(trips), ROWS // 2100)
        parked = {}
        for number, (trip, start) in enumerate(trips, 1):
            first, last = trip[0], trip[-1]
            self.assertEqual({number}, {now["tripId"] for now in trip})
            self.assertEqual(1, len({now["vehicleId"] for now in trip}))
            self.assertEqual(list(range(len(trip))), [now["tripTimeSeconds"] for now in trip])
            self.assertEqual((0, 0), (first["vehicleSpeedKilometresPerHour"], last["vehicleSpeedKilometresPerHour"]))
            self.assertEqual(0, first["tripDistanceKilometres"])
            self.assertTrue(300 <= len(trip) <= 2100)
            if first["vehicleId"] in parked:
                place, end = parked[first["vehicleId"]]
                self.assertLess(metres(place, first), 1)
                self.assertGreater(start, end)
            parked[first["vehicleId"]] = last, start + 1000 * len(trip)
        self.assertEqual(len(trips[:40]), len({trip[0]["vehicleId"] for trip, _ in trips[:40]}))
        steps = [now - before for before, now, value in zip(self.times, self.times[1:], self.values[1:])
                 if value["tripTimeSeconds"]]
        self.assertEqual({1000}, set(steps))

    def test_smooth(self):
        """a second is like the one before it; white noise would be 1 here"""
        pairs = list(self.seconds())
        for name, most in SMOOTH.items():
            values = [now[name] for now in self.values]
            mean = sum(values) / len(values)
            variance = sum((value - mean) ** 2 for value in values) / len(values)
            steps = sum((now[name] - before[name]) ** 2 for before, now in pairs) / len(pairs)
            self.assertGreater(variance, 0, name)
            self.assertLess(steps / (2 * variance), most, name)
        for before, now in pairs:
            for name, most in (("vehicleSpeedKilometresPerHour", 12), ("gpsAltitudeMetres", 4),
                               ("engineCoolantTemperatureCelsius", 3), ("catalystTemperatureCelsius", 25)):
                self.assertLessEqual(abs(now[name] - before[name]), most, (name, before, now))
            self.assertLessEqual(now["fuelTankLevelPercent"], before["fuelTankLevelPercent"])

    def test_the_way_is_the_sum_of_the_speed(self):
        """distance, place and accelerations follow from speed and bearing"""
        accelerations, turns = ([], []), ([], [])
        for before, now in self.seconds():
            speed = now["vehicleSpeedKilometresPerHour"] / 3.6
            way = 1000 * (now["tripDistanceKilometres"] - before["tripDistanceKilometres"])
            self.assertLess(abs(way - speed), 1.2, now)
            self.assertLess(abs(metres(before, now) - way), 0.02 * way + 1.2, now)
            self.assertLess(abs(now["gpsSpeedKilometresPerHour"] - 3.6 * speed), 1.3, now)
            accelerations[0].append((now["gpsSpeedKilometresPerHour"] - before["gpsSpeedKilometresPerHour"]) / 3.6)
            accelerations[1].append(now["longitudinalAccelerationMetresPerSecondSquared"])
            turn = (now["gpsBearingDegrees"] - before["gpsBearingDegrees"] + 180) % 360 - 180
            turns[0].append(speed * math.radians(turn))
            turns[1].append(now["lateralAccelerationMetresPerSecondSquared"])
        self.assertGreater(correlation(*accelerations), 0.85)
        self.assertGreater(correlation(*turns), 0.95)
        bearings = [(before, now) for before, now in self.seconds() if now["vehicleSpeedKilometresPerHour"] > 20]
        for before, now in bearings[::50]:
            north = now["gpsLatitudeDegrees"] - before["gpsLatitudeDegrees"]
            east = (now["gpsLongitudeDegrees"] - before["gpsLongitudeDegrees"]) * math.cos(
                math.radians(now["gpsLatitudeDegrees"]))
            off = (math.degrees(math.atan2(east, north)) - now["gpsBearingDegrees"] + 180) % 360 - 180
            self.assertLess(abs(off), 3, now)

    def test_the_engine(self):
        """air is what the engine draws, fuel is what goes with the air, and heat comes of the fuel"""
        for trip, _ in self.trips():
            air = [now["massAirFlowGramsPerSecond"] for now in trip]
            drawn = [now["engineRevolutionsPerMinute"] * now["calculatedEngineLoadPercent"] for now in trip]
            self.assertGreater(correlation(air, drawn), 0.999)
            self.assertGreater(correlation([now["engineFuelRateLitresPerHour"] for now in trip], air), 0.9)
            coolant = [now["engineCoolantTemperatureCelsius"] for now in trip]
            self.assertLess(coolant[0], 40)
            self.assertGreater(coolant[-1], coolant[0] + 15)
        for now in self.values:
            cut = now["commandedEquivalenceRatioLambda"] == 1.999
            self.assertEqual(cut, now["engineFuelRateLitresPerHour"] == 0)
            if cut:
                self.assertGreater(now["vehicleSpeedKilometresPerHour"], 5)
                self.assertEqual(0, now["acceleratorPedalPositionPercent"])
            if now["vehicleSpeedKilometresPerHour"] == 0:
                self.assertLess(now["engineRevolutionsPerMinute"], 2100)

    def test_documents(self):
        """each row's document, and the row from the document again"""
        head = b"".join(self.data.splitlines(keepends=True)[:1001])
        status, out, err = tipple("parse", "--format", "obd", "-", data=head)
        self.assertEqual(0, status, err)
        lines = out.decode().splitlines()
        self.assertEqual(1000, len(lines))
        for row, line in zip(self.rows, lines):
            self.assertEqual(document(row), found(line))
        self.assertEqual(self.data, tipple("parse", "--format", "obd", "--emit", "raw", "-", data=self.data)[1])

    def test_size(self):
        """documents have about 1,400 bytes, with the _id"""
        out = tipple("parse", "--format", "obd", "--emit", "bson", "-", data=self.data)[1]
        self.assertTrue(1380 <= len(out) / ROWS + len(b"\x12_id\0" + bytes(8)) <= 1420, len(out) / ROWS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
