#!/usr/bin/env python3
"""Writes invented hourly readings of one city for the notebooks:

    docs/notebooks/sample.py FOLDER && bin/vayu import FOLDER/Raw*.csv

The files have the form of CPCB's yearly files: three stations in Delhi, 2023 to 2025, with wind. The values are the
same in each run. They have the courses of real air: season, day, week, trend, wind and days without data. Import them
into an installation of their own, because `vayu import` stores them as measured air.
"""

import math
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

YEARS = range(2023, 2026)

COLUMNS = {
    "pm25": "PM2.5 (µg/m³)",
    "pm10": "PM10 (µg/m³)",
    "no2": "NO2 (µg/m³)",
    "o3": "Ozone (µg/m³)",
    "ws": "WS (m/s)",
    "wd": "WD (deg)",
}

# Number, name, level relative to the city, and direction of a source of particles nearby in degrees.
STATIONS = [
    (901, "Invented North", 1.1, 310),
    (902, "Invented East", 1.2, 110),
    (903, "Invented South", 0.8, 20),
]

# Particles by month relative to the annual mean, January first, and by hour of the day.
SEASON = [1.75, 1.25, 0.85, 0.80, 0.85, 0.70, 0.42, 0.38, 0.48, 1.10, 1.85, 1.75]
DAY = [1.1, 1.0, 0.95, 0.9, 0.9, 0.95, 1.1, 1.25, 1.35, 1.3, 1.1, 0.9, 0.75, 0.65]
DAY += [0.6, 0.65, 0.75, 0.9, 1.15, 1.35, 1.4, 1.35, 1.25, 1.15]


def weather(year):
    """Returns for each hour of a year: wind speed in m/s, direction in degrees, and a factor of the particles."""
    chance = random.Random(year)
    rows, calm, turn = [], 0.0, 300.0
    for hour in range(hours(year)):
        of_day = hour % 24
        of_year = hour / 24 / 365
        calm = 0.985 * calm + 0.17 * chance.gauss(0, 0.5)  # a pattern of weather lasts some days
        turn = (turn + chance.gauss(0, 9) + 0.02 * ((300 if of_year < 0.45 or of_year > 0.75 else 100) - turn)) % 360
        sun = max(0, math.sin(math.pi * (of_day - 6) / 12))
        speed = max(0.2, 1.2 + 1.6 * sun - 0.8 * calm + chance.gauss(0, 0.3))
        rows.append((speed, turn, math.exp(0.3 * calm)))
    return rows


def hours(year):
    return 24 * (datetime(year + 1, 1, 1) - datetime(year, 1, 1)).days


def level(begin, factor):
    """Returns PM2.5 of the city in µg/m³. It falls by 7 per cent a year."""
    month = begin.month - 1
    part = (begin.day - 1) / 31
    season = SEASON[month] * (1 - part) + SEASON[(month + 1) % 12] * part
    weekend = 0.92 if begin.weekday() >= 5 else 1
    years = begin.year - 2023 + begin.timetuple().tm_yday / 365
    return 105 * 0.93**years * season * DAY[begin.hour] * weekend * factor


def path(folder, year, station):
    number, name, *_ = station
    return folder / f"Raw_data_1Hr_{year}_site_{number}_{name.replace(' ', '_')}_Delhi_Sample_1Hr.csv"


def write(folder, year, station, conditions):
    number, _, share, direction = station
    chance = random.Random(100 * year + number)
    silent = {chance.randrange(hours(year) // 24) for _ in range(18)}
    with open(path(folder, year, station), "w", encoding="utf-8") as file:
        file.write(",".join(["Timestamp", *COLUMNS.values()]) + "\n")
        for hour, (speed, turn, factor) in enumerate(conditions):
            begin = datetime(year, 1, 1) + timedelta(hours=hour)
            row = ["NA"] * len(COLUMNS)
            if hour // 24 not in silent and chance.random() > 0.03:
                upwind = max(0, math.cos(math.radians(turn - direction))) ** 3
                fine = share * level(begin, factor) * (0.8 + 2 * upwind / (1 + speed)) * chance.uniform(0.92, 1.08)
                sun = max(0, math.sin(math.pi * (begin.hour - 6) / 12))
                row = [
                    f"{fine:.2f}",
                    f"{1.9 * fine + 15 * speed:.2f}",
                    f"{0.35 * fine ** 0.9 + 8:.2f}",
                    f"{18 + 60 * sun + chance.gauss(0, 3):.2f}",
                    f"{speed:.2f}",
                    f"{turn:.0f}",
                ]
            file.write(",".join([begin.strftime("%Y-%m-%d %H:%M:%S"), *row]) + "\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["file,station"]
    for year in YEARS:
        conditions = weather(year)
        for station in STATIONS:
            write(folder, year, station, conditions)
            lines.append(f'{path(folder, year, station).name},"{station[1]}, Delhi - Sample"')
    (folder / "stations.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
