"""Writes concentrations with the index that libraries of others compute: table, concentration, least and largest index.

python-aqi 0.6.1 rounds a half to even, where Vayu rounds it up, so ours may be one higher for an exact half. It has
EPA's table of 2012, so PM2.5 and O3 over 8 hours are left out. Its table has two bands above an index of 300, where
EPA has had one since 2024, so higher indices are left out, too.

aqi-hub 0.3.3 has the table of 2024. It truncates the index, where EPA rounds it, so ours may be one higher. It also
multiplies concentrations in binary fractions before it truncates them, so concentrations here are half a step above
a step. Its bands of CO and O3 begin at the end of the band before, where EPA's have a gap, and are left out. So is NO2
above 1,249 ppb, which it caps.
"""

import random
import sys
import warnings
from decimal import ROUND_DOWN, Decimal

import aqi
from aqi.algos.epa import AQI
from aqi_hub.aqi_usa.aqi import cal_iaqi_usa

warnings.simplefilter("ignore")
EACH = 20_000


def half(name, value):
    """Reports whether the index of a concentration lies exactly between two integers."""
    table = AQI.piecewise
    value = value.quantize(table["prec"][name], rounding=ROUND_DOWN)
    for (low, high), (first, last) in zip(table["bp"][name], table["aqi"]):
        if high and low <= value <= high:
            return 2 * (last - first) * (value - low) % (2 * (high - low)) == high - low
    return False


chance = random.Random(20)
rows = []

# table, name in python-aqi, largest concentration with an index of 300, its step, and the factor to the library's unit
for table, name, last, step, factor in [
    ("pm10", aqi.POLLUTANT_PM10, "424", "0.1", 1),
    ("co", aqi.POLLUTANT_CO_8H, "30.4", "0.01", 1),
    ("so2_1h", aqi.POLLUTANT_SO2_1H, "304", "0.1", 1),
    ("no2", aqi.POLLUTANT_NO2_1H, "1249", "0.1", 1),
    ("o3_1h", aqi.POLLUTANT_O3_1H, "404", "0.1", Decimal("0.001")),
]:
    first = 125 if table == "o3_1h" else 0
    steps = int((Decimal(last) - first) / Decimal(step))
    for _ in range(EACH):
        value = first + chance.randint(0, steps) * Decimal(step)
        index = int(aqi.to_iaqi(name, value * factor, algo=aqi.ALGO_EPA))
        rows.append((table, value, index, index + half(name, value * factor)))

for table, name, last in [("pm25", "PM25_24H", 3253), ("pm10", "PM10_24H", 603), ("no2", "NO2_1H", 1248)]:
    for _ in range(EACH):
        whole = chance.randint(0, last)
        value = (Decimal(whole) + Decimal("0.5")) / (10 if table == "pm25" else 1)
        index = cal_iaqi_usa(float(value), name)
        if index is None:
            sys.exit(f"aqi-hub has no index for {value} of {name}")
        rows.append((table, value, index, index + 1))

for row in rows:
    print(*row, sep=",")
