"""Computes the views of schema/views with pandas, and compares every figure.

Usage: independent.py HOURS CAAQM15 DAILY DUMPS

HOURS is cmd/vayu/testdata/caaqm15, whose independent.py reads the raw 15-minute files of the folder
CAAQM15. DAILY is a CAAQM table of means of days. DUMPS has NAME.csv of each view. Nothing here uses
the SQL of Vayu. The definitions are those of docs/guides/analysis.md: rolling means and percentiles
as pandas and openair define them (type 7), the trend as Gilbert (1987) does.
"""

import csv
import math
import re
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

TOLERANCE = 1e-9
PERCENTILES = {"minimum": 0, "p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "p98": 0.98, "maximum": 1}
COLUMNS = {
    "PM2.5": "pm25", "PM10": "pm10", "NO": "no", "NO2": "no2", "NOx": "nox", "NH3": "nh3", "SO2": "so2", "CO": "co",
    "Ozone": "o3", "Benzene": "benzene", "Toluene": "toluene",
}
KEY = ["name", "parameter"]
# CPCB's notification of 18 November 2009 and the WHO's guidelines of 2021.
LIMITS = [
    ("naaqs_2009", p, period, limit, share)
    for p, period, limit, share in [
        ("pm25", "year", 40, 0), ("pm25", "24h", 60, 98), ("pm10", "year", 60, 0), ("pm10", "24h", 100, 98), ("no2", "year", 40, 0),
        ("no2", "24h", 80, 98), ("so2", "year", 50, 0), ("so2", "24h", 80, 98), ("nh3", "year", 100, 0), ("nh3", "24h", 400, 98),
        ("o3", "8h", 100, 98), ("o3", "1h", 180, 98), ("co", "8h", 2, 98), ("co", "1h", 4, 98), ("benzene", "year", 5, 0),
    ]
] + [
    ("who_2021", p, period, limit, share)
    for p, period, limit, share in [
        ("pm25", "year", 5, 0), ("pm25", "24h", 15, 99), ("pm10", "year", 15, 0), ("pm10", "24h", 45, 99), ("no2", "year", 10, 0),
        ("no2", "24h", 25, 99), ("no2", "1h", 200, 100), ("so2", "24h", 40, 99), ("o3", "8h", 100, 99), ("co", "24h", 4, 99),
        ("co", "8h", 10, 100), ("co", "1h", 35, 100),
    ]
]
SEASONS = {1: "winter", 2: "winter", 3: "pre-monsoon", 4: "pre-monsoon", 5: "pre-monsoon", 6: "monsoon", 7: "monsoon", 8: "monsoon", 9: "monsoon"}


def spelled(name):
    """The name of a station as Vayu spells it: a hyphen with blanks before the agency, and nothing after it."""
    return re.sub(r"\s*-\s*([A-Z]+)( .*)?$", r" - \1", name)


def read_hours(module, folder):
    """Hourly means of the raw files: name, parameter, begin (Indian time), value."""
    sys.path.insert(0, str(module))
    import independent as raw  # the file of the same name in that folder

    rows = []
    with open(folder / "stations.csv", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            for parameter, hours in raw.means(folder / row["file"]).items():
                for end, (total, count) in hours.items():
                    rows.append((spelled(row["station"]), parameter, end + raw.INDIA - 3600, float(total / count)))
    frame = pd.DataFrame(rows, columns=[*KEY, "begin", "value"])
    frame["begin"] = pd.to_datetime(frame["begin"], unit="s")
    return frame


def days_of_hours(hours):
    """Days with their mean, and the largest 8-hour mean of at least 6 hours that ends in the day."""
    frames = []
    for key, group in hours.groupby(KEY):
        series = group.set_index("begin")["value"].sort_index()
        found = series.groupby(series.index.normalize()).agg(["mean", "count", "max"])
        grid = series.reindex(pd.date_range(found.index[0], found.index[-1] + pd.Timedelta(hours=23), freq="h"))
        eight = grid.rolling(8, min_periods=6).mean()
        found["max_8h"] = eight.groupby(eight.index.normalize()).max().reindex(found.index)
        found = found.reset_index(names="day").rename(columns={"count": "hours", "max": "max_1h"})
        found["name"], found["parameter"], found["published"], found["measured_hours"] = *key, False, found["hours"]
        frames.append(found)
    return pd.concat(frames)


def read_days(path):
    """Published means of days of a table that names both ends of them."""
    table = pd.read_csv(path, sep=";", dtype=str)
    long = table.melt(id_vars=["site_name", "from_date"], value_vars=list(COLUMNS), var_name="column", value_name="mean")
    long["mean"] = pd.to_numeric(long["mean"], errors="coerce")
    long = long[long["mean"] >= 0].drop_duplicates(["site_name", "from_date", "column"], keep="last")
    return pd.DataFrame({
        "name": long["site_name"], "parameter": long["column"].map(COLUMNS), "day": pd.to_datetime(long["from_date"], format="%d-%b-%Y"),
        "mean": long["mean"], "hours": 24, "measured_hours": 0, "max_1h": np.nan, "max_8h": np.nan, "published": True,
    })


def figures(days, hours, keys, expected):
    """Figures of periods; keys are the columns of a period beside station and parameter."""
    by = [*KEY, *keys]
    valid = days[days["hours"] >= 16]
    weighted = days.assign(total=days["mean"] * days["hours"]).groupby(by)
    out = pd.DataFrame({"hours": weighted["hours"].sum(), "measured_hours": weighted["measured_hours"].sum(), "max_8h": weighted["max_8h"].max()})
    out["mean"] = weighted["total"].sum() / out["hours"]
    out["days"] = valid.groupby(by).size().reindex(out.index, fill_value=0)
    out["max_day"] = valid.groupby(by)["mean"].max()
    quantiles = hours.groupby(by)["value"].quantile(list(PERCENTILES.values())).unstack()
    for name, share in PERCENTILES.items():
        out[name] = quantiles[share].reindex(out.index)
    for name, share in {"day_median": 0.5, "day_p98": 0.98, "day_p99": 0.99}.items():
        out[name] = valid.groupby(by)["mean"].quantile(share)
    out = covered(out.reset_index(), expected)
    # Published means can make a period complete whose percentiles rest on few hours.
    few = out["complete"] & (out["measured_hours"] < 0.75 * out["expected_hours"])
    out.loc[few, [*PERCENTILES, "max_8h"]] = np.nan
    return out


def covered(frame, expected):
    frame["expected_hours"] = expected(frame)
    frame["capture"] = frame["hours"] / frame["expected_hours"]
    frame["complete"] = frame["capture"] >= 0.75
    return frame


def year_hours(frame):
    return [24 * (366 if pd.Timestamp(int(y), 1, 1).is_leap_year else 365) for y in frame["year"]]


def month_hours(frame):
    return 24 * frame["month"].dt.days_in_month


def season_hours(frame):
    spans = {"winter": (1, 3), "pre-monsoon": (3, 6), "monsoon": (6, 10), "post-monsoon": (10, 13)}
    out = []
    for y, season in zip(frame["year"], frame["season"]):
        first, last = spans[season]
        out.append(24 * len(pd.date_range(f"{y}-{first:02d}-01", f"{y + last // 13}-{(last - 1) % 12 + 1:02d}-01", freq="D", inclusive="left")))
    return out


def weekday_hours(frame):
    return [24 * sum(d.weekday() + 1 == w for d in pd.date_range(f"{y}-01-01", f"{y}-12-31")) for y, w in zip(frame["year"], frame["weekday"])]


def on_consecutive_days(figures, limit):
    """How many days of monitoring are above a limit and follow one that is, too. figures has one of each day of monitoring, by day."""
    above = [round(v, 6) > limit for v in figures.sort_index()]
    return sum(today and before for before, today in zip(above, above[1:]))


def exceedances(days, hours, annual):
    """Limits by the note of the NAAQS: "24 hourly or 08 hourly or 01 hourly monitored values, as applicable, shall be complied
    with 98% of the time in a year. 2% of the time, they may exceed the limits but not on two consecutive days of monitoring."
    The levels of the WHO have no rule of consecutive days.
    """
    rows = []
    hourly, daily = dict(list(hours.groupby([*KEY, "year"]))), dict(list(days.groupby([*KEY, "year"])))
    for year in annual.to_dict("records"):
        key = (year["name"], year["parameter"], year["year"])
        valid, measured = (daily[key][daily[key][column] >= 16].set_index("day") for column in ("hours", "measured_hours"))
        single = hourly[key].set_index("day")["value"] if key in hourly else pd.Series(dtype=float)
        for standard, parameter, period, limit, share in LIMITS:
            if parameter != year["parameter"]:
                continue
            series = {"year": [year["mean"]], "24h": valid["mean"], "8h": measured["max_8h"].dropna(), "1h": single}[period]
            values = np.asarray(series, dtype=float)
            above = np.round(values, 6) > limit
            pairs = 0 if period == "year" else on_consecutive_days(series.groupby(level=0).max(), limit)
            hours_known = year["measured_hours"] >= 0.75 * year["expected_hours"]
            if not year["complete"] or not len(values) or (period in ("1h", "8h") and not hours_known):
                complies = None
            elif period == "year":
                complies = not above[0] and (standard == "who_2021" or year["days"] >= 104)
            else:
                complies = 100 * above.sum() <= (100 - share) * len(values) and (standard == "who_2021" or pairs == 0)
            rows.append({**{k: year[k] for k in [*KEY, "year", "hours", "measured_hours", "capture"]}, "standard": standard, "period": period, "value": limit, "evaluated": len(values),
                         "exceeded": int(above.sum()), "successive": pairs, "largest": values.max() if len(values) else np.nan, "complies": complies})
    return pd.DataFrame(rows)


def rank_at(values, rank):
    """The value of a rank from 1, interpolated."""
    return float(np.interp(min(max(rank, 1), len(values)), np.arange(1, len(values) + 1), values))


def trends(monthly):
    rows = []
    complete = monthly[monthly["complete"]].assign(year=lambda f: f["month"].dt.year)
    for key, group in complete.groupby(KEY):
        slopes, score, spread = [], 0, 0.0
        for _, season in group.groupby(group["month"].dt.month):
            points = season.sort_values("year")[["year", "mean"]].to_numpy()
            n = len(points)
            for i in range(n):
                for j in range(i + 1, n):
                    slopes.append((points[j, 1] - points[i, 1]) / (points[j, 0] - points[i, 0]))
                    score += np.sign(slopes[-1])
            ties = pd.Series(points[:, 1]).value_counts()
            spread += (n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
        if group["year"].nunique() < 3 or not slopes:
            continue
        slopes, c = sorted(slopes), NormalDist().inv_cdf(0.975) * math.sqrt(spread)
        z = max(abs(score) - 1, 0) / math.sqrt(spread) if spread else 0
        mean = group["mean"].mean()
        rows.append({"name": key[0], "parameter": key[1], "months": len(group), "from_month": group["month"].min(), "to_month": group["month"].max(), "slope": np.median(slopes),
                     "lower": rank_at(slopes, (len(slopes) - c) / 2), "upper": rank_at(slopes, (len(slopes) + c) / 2 + 1), "p": math.erfc(z / math.sqrt(2)) if spread else 1.0,
                     "mean": mean, "percent_per_year": 100 * np.median(slopes) / mean, "hours": group["hours"].sum()})
    return pd.DataFrame(rows)


def rankings(annual, cities):
    complete = annual[annual["complete"]].assign(city=lambda f: f["name"].map(cities))
    out = complete[complete["city"] != ""].groupby(["year", "parameter", "city"]).agg(mean=("mean", "mean"), stations=("mean", "size"), hours=("hours", "sum")).reset_index()
    out["rank"] = out.groupby(["year", "parameter"])["mean"].rank(method="min", ascending=False)
    return out


def compare(name, want, got, keys):
    """Compares all columns that both have, and the rows of both. It returns the number of figures."""
    for key in keys:
        if key in ("day", "month", "begin"):
            got[key] = pd.to_datetime(got[key])
    both = want.merge(got, on=keys, how="outer", suffixes=("", "_got"), indicator=True)
    alone = both[both["_merge"] != "both"]
    faults = [f"{len(alone)} rows only here or there: {alone[[*keys, '_merge']].head(3).to_dict('records')}"] if len(alone) else []
    both, figures_compared = both[both["_merge"] == "both"], 0
    for column in sorted(set(want) & set(got) - set(keys)):
        a, b = both[column], both[column + "_got"]
        if column in ("from_month", "to_month"):
            wrong = a != pd.to_datetime(b)
        elif column in ("complete", "complies", "published", "valid"):
            wrong = a.map(str).str.lower() != b.map(str).str.lower().replace("nan", "none")
        else:
            a, b = a.astype(float), b.astype(float)
            wrong = ~(np.isclose(a, b, rtol=TOLERANCE, atol=TOLERANCE) | (a.isna() & b.isna()))
        figures_compared += len(both)
        if wrong.any():
            shown = both[wrong].head(3)
            faults.append(f"{column}: {int(wrong.sum())} of {len(both)} differ: {shown[[*keys, column, column + '_got']].to_dict('records')}")
    print(f"{name}: {len(both)} rows, {figures_compared} figures, {len(faults)} faults")
    for fault in faults:
        print("  " + fault)
    return figures_compared, len(faults)


def main():
    module, folder, table, dumps = map(Path, sys.argv[1:])
    hours = read_hours(module, folder)
    days = pd.concat([days_of_hours(hours), read_days(table)], ignore_index=True)
    hours["day"] = hours["begin"].dt.normalize()
    for frame in (hours, days):
        frame["year"], frame["month"] = frame["day"].dt.year, frame["day"].dt.to_period("M").dt.to_timestamp()
        frame["season"] = frame["day"].dt.month.map(SEASONS).fillna("post-monsoon")
        frame["weekday"] = frame["day"].dt.day_of_week + 1
    days["valid"], days["capture"] = days["hours"] >= 16, days["hours"] / 24
    monthly, annual = figures(days, hours, ["month"], month_hours), figures(days, hours, ["year"], year_hours)
    hours["hour"] = hours["begin"].dt.hour
    diurnal = hours.groupby([*KEY, "year", "hour"])["value"].agg(mean="mean", hours="size").reset_index()
    wide = hours.pivot(index=["name", "begin"], columns="parameter", values="value").reset_index()
    got = {}
    for path in sorted(dumps.glob("*.csv")):
        got[path.stem] = pd.read_csv(path, keep_default_na=False, na_values=["\\N"])
        if "parameter" in got[path.stem]:
            got[path.stem] = got[path.stem][got[path.stem]["parameter"].isin(set(days["parameter"]))]
    cities = dict(zip(got["daily"]["name"], got["daily"]["city"]))
    got["openair"] = got["openair"].rename(columns={"date": "begin"})
    got["openair"] = got["openair"][got["openair"]["name"].isin(set(hours["name"]))]
    results = [
        compare("daily", days, got["daily"], [*KEY, "day"]),
        compare("openair", wide, got["openair"], ["name", "begin"]),
        compare("data_capture", monthly, got["data_capture"], [*KEY, "month"]),
        compare("monthly_statistics", monthly, got["monthly_statistics"], [*KEY, "month"]),
        compare("annual_statistics", annual, got["annual_statistics"], [*KEY, "year"]),
        compare("season", figures(days, hours, ["year", "season"], season_hours), got["season"], [*KEY, "year", "season"]),
        compare("weekday", figures(days, hours, ["year", "weekday"], weekday_hours), got["weekday"], [*KEY, "year", "weekday"]),
        compare("diurnal", covered(diurnal, lambda f: [h // 24 for h in year_hours(f)]), got["diurnal"], [*KEY, "year", "hour"]),
        compare("exceedance", exceedances(days, hours, annual), got["exceedance"], [*KEY, "year", "standard", "period"]),
        compare("ranking", rankings(annual, cities), got["ranking"], ["year", "parameter", "city"]),
        compare("trend", trends(monthly), got["trend"], KEY),
    ]
    compared, faults = sum(r[0] for r in results), sum(r[1] for r in results)
    print(f"{compared} figures compared")
    if faults or compared < 100_000:
        sys.exit(1)


if __name__ == "__main__":
    main()
