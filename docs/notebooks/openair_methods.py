# %% [markdown]
# # The methods of openair
#
# This notebook is for analysts who know the R package openair, or who need its methods in Python. Each section names
# the published definition. The view `openair` has the columns that the package expects, so R needs no conversion
# ([the guide](../guides/analysis.md#r)).
#
# * Carslaw and Ropkins (2012): openair, an R package for air quality data analysis. Environmental Modelling &
#   Software 27–28, 52–61.
# * Theil (1950) and Sen (1968): the slope is the median of the slopes of all pairs. Hirsch, Slack and Smith (1982):
#   pairs of the same month only.
# * Gilbert (1987): Statistical Methods for Environmental Pollution Monitoring, chapter 17: the interval of the slope.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from connect import CITY, connect, indian_time

client = connect()
air = client.query_df(
    """
    SELECT date, station, name, pm25, no2, ws, wd FROM openair
    WHERE city = {city:String} AND kind = 'reference' ORDER BY station, date
    """,
    {"city": CITY},
)
air["date"] = indian_time(air["date"]).dt.tz_localize(None)
station = air.groupby("station")["pm25"].count().idxmax()
one = air[air["station"] == station].set_index("date").asfreq("h")
print(f"{station}: {one.index[0]} to {one.index[-1]}, {one['pm25'].count()} hours of PM2.5")

# %% [markdown]
# ## timeAverage with a threshold of data
#
# `timeAverage(mydata, avg.time = "month", data.thresh = 75)` gives a mean only to periods with at least 75 % of their
# hours. Directions are averaged as unit vectors.


# %%
def time_average(values, period, threshold=75):
    """Returns means and captures of periods. A period with less capture has no mean."""
    groups = values.groupby(values.index.to_period(period))
    index = groups.mean().index
    expected = np.array([(p.end_time - p.start_time).total_seconds() / 3600 for p in index]).round()
    capture = groups.count() / expected
    return pd.DataFrame({"mean": groups.mean().where(capture >= threshold / 100), "capture": capture})


monthly = time_average(one["pm25"], "M")
view = client.query_df(
    """
    SELECT month, mean, capture FROM monthly_statistics
    WHERE station = {station:String} AND parameter = 'pm25' AND complete
    """,
    {"station": station},
)
view.index = pd.to_datetime(view["month"]).dt.to_period("M")
both = monthly.dropna().join(view.add_suffix("_view"), how="outer")
assert np.allclose(both["mean"], both["mean_view"], rtol=0, atol=1e-9)
assert np.allclose(both["capture"], both["capture_view"], rtol=0, atol=1e-9)
print(f"{len(both)} months equal the view monthly_statistics")
monthly.tail(3).round(3)

# %% [markdown]
# ## TheilSen
#
# A trend of monthly means, without the season: the median of the slopes between equal months of different years. The
# interval of 95 % follows from the variance of Kendall's statistic. openair computes its interval by a bootstrap, so
# it differs a little. The view `trend` has the same figures for every station with complete months of three years.


# %%
def theil_sen(means):
    """Returns the slope a year and the ends of its interval of 95 %, or None with fewer than three years."""
    means = means.dropna()
    if means.index.year.nunique() < 3:
        return None
    slopes, variance = [], 0.0
    for _, month in means.groupby(means.index.month):
        years, values = month.index.year.to_numpy(), month.to_numpy()
        n = len(values)
        before, after = np.triu_indices(n, 1)
        slopes.extend((values[after] - values[before]) / (years[after] - years[before]))
        ties = np.unique(values, return_counts=True)[1]
        variance += (n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18
    slopes = np.sort(slopes)
    reach = 1.959963984540054 * np.sqrt(variance)
    ranks = np.clip([(len(slopes) - reach) / 2, (len(slopes) + reach) / 2 + 1], 1, len(slopes))
    lower, upper = np.interp(ranks, np.arange(1, len(slopes) + 1), slopes)
    return np.median(slopes), lower, upper


trend = theil_sen(monthly["mean"])
stored = client.query_df(
    "SELECT slope, lower, upper, p FROM trend WHERE station = {station:String} AND parameter = 'pm25'",
    {"station": station},
)
if trend is None:
    assert stored.empty
    print("No trend: it needs complete months of three years.")
else:
    assert np.allclose(trend, stored.loc[0, ["slope", "lower", "upper"]].astype(float), rtol=0, atol=1e-9)
    print(f"PM2.5: {trend[0]:.2f} µg/m³ a year [{trend[1]:.2f}, {trend[2]:.2f}], p = {stored.loc[0, 'p']:.3f}")

# %% [markdown]
# ## timeVariation
#
# Means by hour of the day and by day of the week, with the interval of 95 % of each mean by a bootstrap of 200
# samples.


# %%
def mean_interval(values, samples=200):
    """Returns the mean and the ends of its bootstrap interval of 95 %. The seed is fixed."""
    values = values.dropna().to_numpy()
    if len(values) == 0:
        return pd.Series({"mean": np.nan, "lower": np.nan, "upper": np.nan})
    chance = np.random.default_rng(1)
    means = [chance.choice(values, len(values)).mean() for _ in range(samples)]
    return pd.Series({"mean": values.mean(), "lower": np.percentile(means, 2.5), "upper": np.percentile(means, 97.5)})


figure, axes = plt.subplots(1, 2, figsize=(10, 3), sharey=True)
keys = {"hour": one.index.hour, "day of the week, 0 is Monday": one.index.day_of_week}
for axis, (label, key) in zip(axes, keys.items()):
    course = one.groupby(key)["pm25"].apply(mean_interval).unstack()
    axis.plot(course.index, course["mean"], color="tab:blue")
    axis.fill_between(course.index, course["lower"], course["upper"], alpha=0.3)
    axis.set_xlabel(label)
axes[0].set_ylabel("PM2.5, µg/m³")
plt.show()

# %% [markdown]
# ## windRose and polarPlot
#
# A wind rose counts hours by direction and speed. A polar plot shows the mean concentration by direction and speed,
# so a source nearby shows as a sector. openair smooths the bins with a generalised additive model (mgcv). The plot
# here shows the bins as they are, and leaves out bins of fewer than five hours.

# %%
wind = one.dropna(subset=["ws", "wd", "pm25"])
if wind.empty:
    print(f"{station} measures no wind.")
else:
    sectors = np.radians(np.arange(-11.25, 360, 22.5))  # the edges of 16 sectors
    sector = (((wind["wd"] + 11.25) % 360) // 22.5).astype(int)
    speeds = [0, 1, 2, 3, 4, np.inf]
    speed = pd.cut(wind["ws"], speeds, labels=["to 1", "1–2", "2–3", "3–4", "over 4"], include_lowest=True)
    share = pd.crosstab(sector, speed, normalize="all").reindex(range(16), fill_value=0) * 100

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), subplot_kw={"projection": "polar"})
    base = np.zeros(16)
    for label in share:
        axes[0].bar(np.radians(np.arange(0, 360, 22.5)), share[label], width=0.36, bottom=base, label=f"{label} m/s")
        base += share[label].to_numpy()
    axes[0].legend(loc="lower left", fontsize=7)
    axes[0].set_title("wind rose, % of hours")

    rings = np.arange(0, np.ceil(wind["ws"].quantile(0.99)) + 0.5, 0.5)
    ring = pd.cut(wind["ws"], rings, labels=False, include_lowest=True)
    bins = wind["pm25"].groupby([sector, ring]).agg(["mean", "count"])
    grid = bins["mean"].where(bins["count"] >= 5).unstack().reindex(index=range(16), columns=range(len(rings) - 1))
    mesh = axes[1].pcolormesh(sectors, rings, grid.T.to_numpy(dtype=float), cmap="viridis")
    axes[1].set_title("PM2.5, µg/m³, by wind")
    figure.colorbar(mesh, ax=axes[1])
    for axis in axes:
        axis.set_theta_zero_location("N")
        axis.set_theta_direction(-1)
    plt.show()
