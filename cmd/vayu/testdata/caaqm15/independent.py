"""Computes the figures of CAAQM 15-minute files without any code of Vayu.

Usage: independent.py FOLDER

For every station of FOLDER/stations.csv it prints two kinds of lines:

  h FILE PARAMETER HOUR COUNT NUMERATOR DENOMINATOR   plain mean of an hour
  r FILE HOUR (FIGURE SUBINDEX) x 5 AQI               rolling figures of an hour

HOUR is the end of the hour in Unix seconds. FIGURE is in ten thousandths of
µg/m³ of pm25, pm10, no2, so2, o3; "-" is none. Sums are of integers, so no
figure depends on the order of additions. README.md says which rules these are.
"""

import csv
import datetime
import gzip
import sys
from fractions import Fraction
from pathlib import Path

INDIA = 19800  # seconds ahead of UTC
SCALE = 10**6  # readings are integers of millionths
COLUMNS = {"PM25": "pm25", "PM10": "pm10", "NO": "no", "NO2": "no2", "NOx": "nox", "Ozone": "o3", "SO2": "so2"}
INDEX = ["pm25", "pm10", "no2", "so2", "o3"]
# Above these a reading is no reading (ingest) or fails the gross range test.
MOST = {"pm25": 3000, "pm10": 10000, "no": 1230, "no2": 1880, "nox": 2000, "o3": 1200, "so2": 2620}
EDGES = {
    "pm25": [0, 30, 60, 90, 120, 250, 380],
    "pm10": [0, 50, 100, 250, 350, 430, 510],
    "no2": [0, 40, 80, 180, 280, 400, 520],
    "so2": [0, 40, 80, 380, 800, 1600, 2400],
    "o3": [0, 50, 100, 168, 208, 748, 1288],
}
AQI = [0, 50, 100, 200, 300, 400, 500]
ENDS = {"ballygunge-kolkata-wbpcb-2020.csv.gz"}  # whose times are ends of intervals


def instant(text):
    for form in ("%Y-%m-%d %H:%M:%S", "%d-%m-%Y %H:%M"):
        try:
            t = datetime.datetime.strptime(text, form)
        except ValueError:
            continue
        return int((t - datetime.datetime(1970, 1, 1)).total_seconds()) - INDIA
    raise ValueError(text)


def value(parameter, text):
    text = text.strip()
    if text in ("", "NA", "None", "-", "nan", "NaN"):
        return None
    v = Fraction(text)
    if v < 0 or v > MOST[parameter]:
        return None
    return v


def half_up(x, unit):
    """Rounds a Fraction half-up to multiples of 1/unit."""
    return (2 * x.numerator * unit + x.denominator) // (2 * x.denominator)


def four(x):
    """Ten thousandths of x, half-up by way of millionths."""
    return (half_up(x, SCALE) + 50) // 100


def sub_index(parameter, tenthousandths):
    edge = [e * 10000 for e in EDGES[parameter]]
    if tenthousandths >= edge[6]:
        return 500
    band = next(b for b in range(1, 7) if tenthousandths <= edge[b])
    width, rise = edge[band] - edge[band - 1], AQI[band] - AQI[band - 1]
    return AQI[band - 1] + (2 * rise * (tenthousandths - edge[band - 1]) + width) // (2 * width)


def means(path):
    """Hourly means by parameter: {parameter: {hour: (sum, count)}}."""
    hours = {p: {} for p in COLUMNS.values()}
    with gzip.open(path, "rt", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            end = instant(row["dates"]) + (0 if path.name in ENDS else 900)
            hour = -(-(end + INDIA) // 3600) * 3600 - INDIA
            for column, parameter in COLUMNS.items():
                v = value(parameter, row.get(column) or "")
                if v is None:
                    continue
                total, count = hours[parameter].get(hour, (0, 0))
                hours[parameter][hour] = (total + v, count + 1)
    return hours


def rolling(mean, rows, hour, span, least):
    found = [mean[h] for h in range(hour - (span - 1) * 3600, hour + 1, 3600) if h in mean]
    return sum(found) / len(found) if len(found) >= least else None


def station(path, out):
    name, hours = path.name, means(path)
    mean = {}
    for parameter, all_hours in hours.items():
        mean[parameter] = {h: Fraction(total) / count for h, (total, count) in all_hours.items()}
        for h in sorted(all_hours):
            m = mean[parameter][h]
            out.write(f"h {name} {parameter} {h} {all_hours[h][1]} {m.numerator} {m.denominator}\n")
    rows = sorted(set().union(*(mean[p] for p in INDEX)))
    present = set(rows)
    eight = {h: rolling(mean["o3"], rows, h, 8, 6) for h in rows}
    for h in rows:
        cells, indices = [], {}
        for p in INDEX:
            day = range(h - 23 * 3600, h + 1, 3600)
            figure = rolling(mean[p], rows, h, 24, 16)
            if p == "o3" and figure is not None:
                best = [eight[k] for k in day if k in present and eight[k] is not None]
                figure = max(best) if best else None
            if figure is None:
                cells.append("- -")
                continue
            rounded = four(figure)
            indices[p] = sub_index(p, rounded)
            cells.append(f"{rounded} {indices[p]}")
        qualifies = len(indices) >= 3 and ("pm25" in indices or "pm10" in indices)
        out.write(f"r {name} {h} {' '.join(cells)} {max(indices.values()) if qualifies else '-'}\n")


def main():
    folder = Path(sys.argv[1])
    with open(folder / "stations.csv", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            station(folder / row["file"], sys.stdout)


if __name__ == "__main__":
    main()
