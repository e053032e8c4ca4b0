# %% [markdown]
# # A year in a city
#
# This notebook is for analysts who know pandas. It reads a year of a city from Vayu's views, checks how complete it
# is, and shows the course of the year, the exceedances of India's limits, and the typical day and week. [The
# guide](../guides/analysis.md) lists the views.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from connect import CITY, DATABASE, connect, indian_time

client = connect()
last = client.query_df("SELECT max(date) AS last FROM openair WHERE city = {city:String}", {"city": CITY})["last"]
end = (indian_time(last)[0] + pd.Timedelta(hours=1)).floor("D")  # the last whole day
span = {"city": CITY, "from": end.date() - pd.Timedelta(days=365), "to": end.date()}
print(f"{CITY} in {DATABASE}: from {span['from']} until {span['to']}")

# %% [markdown]
# ## Completeness
#
# A mean without its data capture is not comparable. `data_capture` has the share of the hours of each month that have
# a mean. Below 75 % openair and the European Union call a period incomplete, and so does Vayu. The first and the last
# month can be partial.

# %%
capture = client.query_df(
    """
    SELECT name, month, capture FROM data_capture
    WHERE city = {city:String} AND parameter = 'pm25' AND month BETWEEN {from:Date} AND {to:Date}
    ORDER BY name, month
    """,
    span,
)
capture["month"] = pd.to_datetime(capture["month"]).dt.strftime("%Y-%m")
capture.pivot(index="name", columns="month", values="capture").mul(100).round(0)

# %% [markdown]
# ## The course of the year
#
# `openair` has one row per station and hour. `date` is the beginning of the hour in Indian time. Concentrations are
# in µg/m³, CO in mg/m³.

# %%
hours = client.query_df(
    """
    SELECT date, station, name, pm25, pm10, no2, o3 FROM openair
    WHERE city = {city:String} AND kind = 'reference'
        AND date >= toDateTime({from:Date}, 'Asia/Kolkata') AND date < toDateTime({to:Date}, 'Asia/Kolkata')
    ORDER BY station, date
    """,
    span,
)
hours["date"] = indian_time(hours["date"])
hours["day"] = hours["date"].dt.tz_localize(None).dt.floor("D")
assert not hours.duplicated(["station", "date"]).any()

# %% [markdown]
# A day needs 16 hours with a mean (CPCB, National Air Quality Index, 2014). The city is the mean of its stations.

# %%
by_day = hours.groupby(["station", "day"])["pm25"].agg(["mean", "count"])
valid = by_day[by_day["count"] >= 16]["mean"]
city = valid.groupby("day").mean()
figure, axis = plt.subplots(figsize=(10, 3))
axis.plot(city.index, city, color="tab:blue", linewidth=0.8, label="day")
axis.plot(city.index, city.rolling(30, min_periods=20).mean(), color="black", label="30 days")
axis.axhline(60, color="tab:red", linestyle="--", label="NAAQS, 24 hours")
axis.set_ylabel("PM2.5, µg/m³")
axis.legend()
plt.show()

# %% [markdown]
# The view `daily` has the same means. The next cell compares every valid day.

# %%
daily = client.query_df(
    """
    SELECT station, day, mean FROM daily
    WHERE city = {city:String} AND kind = 'reference' AND parameter = 'pm25' AND valid AND NOT published
        AND day >= {from:Date} AND day < {to:Date}
    """,
    span,
)
daily["day"] = pd.to_datetime(daily["day"])
both = daily.set_index(["station", "day"])["mean"].to_frame("view").join(valid.rename("pandas"), how="outer")
assert len(both) > 0 and both.notna().all().all()
difference = (both["view"] - both["pandas"]).abs().max()
assert difference < 1e-9, difference
print(f"{len(both)} days of stations, largest difference {difference:.1e} µg/m³")

# %% [markdown]
# ## The calendar
#
# `city_day` has the National AQI of each Indian day. The AQI of a city is the mean of the AQIs of its stations. The
# colours are those of the six categories.

# %%
days = client.query_df(
    "SELECT day, aqi FROM city_day WHERE city = {city:String} AND day >= {from:Date} AND day < {to:Date} ORDER BY day",
    span,
)
days["day"] = pd.to_datetime(days["day"])
LIMITS = [0, 50, 100, 200, 300, 400, 500]
NAMES = ["Good", "Satisfactory", "Moderate", "Poor", "Very Poor", "Severe"]
COLOURS = ["#00b050", "#92d050", "#ffff00", "#ff9900", "#ff0000", "#c00000"]
days["category"] = pd.cut(days["aqi"], LIMITS, labels=NAMES, include_lowest=True)

months = days["day"].dt.strftime("%Y-%m")
grid = days.assign(month=months, date=days["day"].dt.day).pivot(index="month", columns="date", values="aqi")
figure, axis = plt.subplots(figsize=(10, 4))
axis.pcolormesh(
    np.arange(grid.shape[1] + 1) + 0.5,
    np.arange(grid.shape[0] + 1),
    grid,
    cmap=plt.matplotlib.colors.ListedColormap(COLOURS),
    norm=plt.matplotlib.colors.BoundaryNorm([0, 50.5, 100.5, 200.5, 300.5, 400.5, 500.5], 6),
    edgecolor="white",
)
axis.set_yticks(np.arange(grid.shape[0]) + 0.5, grid.index)
axis.invert_yaxis()
axis.set_xlabel("day of the month")
plt.show()
days["category"].value_counts().reindex(NAMES).to_frame("days")

# %% [markdown]
# ## Exceedances
#
# `exceedance` compares with the limits in `standard`: NAAQS 2009 and the WHO guidelines of 2021. `complies` is empty
# if the capture of the year is below 75 %.

# %%
client.query_df(
    """
    SELECT name, year, standard, period, value AS limit, evaluated, exceeded, round(capture, 2) AS capture, complies
    FROM exceedance
    WHERE city = {city:String} AND kind = 'reference' AND parameter = 'pm25' AND year = toYear({to:Date} - 1)
    ORDER BY name, standard, period
    """,
    span,
)

# %% [markdown]
# ## The typical day and week
#
# Peaks in the morning and in the evening are usual: traffic, and a shallow layer of air.

# %%
clock = hours.groupby(hours["date"].dt.hour)[["pm25", "no2", "o3"]].mean()
week = hours.groupby(hours["date"].dt.day_name())[["pm25", "no2", "o3"]].mean()
week = week.reindex(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"])
figure, axes = plt.subplots(1, 2, figsize=(10, 3), sharey=True)
clock.plot(ax=axes[0], xlabel="hour", ylabel="µg/m³")
week.plot(ax=axes[1], xlabel="", rot=30, legend=False)
plt.show()
