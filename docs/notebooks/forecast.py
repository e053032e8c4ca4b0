# %% [markdown]
# # A forecast and its skill
#
# This notebook is for analysts who want to forecast PM2.5 of a city and to know what a forecast is worth. A model is
# useful only if it is better than simple references, on a time that it has not seen. The definitions are those of
# Wilks, Statistical Methods in the Atmospheric Sciences, chapter 9, and Murphy (1988), Monthly Weather Review 116,
# 2417–2424.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from connect import CITY, connect, indian_time

client = connect()
hours = client.query_df(
    """
    SELECT date, avg(pm25) AS mean FROM openair
    WHERE city = {city:String} AND kind = 'reference'
    GROUP BY date HAVING mean IS NOT NULL ORDER BY date
    """,
    {"city": CITY},
)
hours["date"] = indian_time(hours["date"]).dt.tz_localize(None)
series = hours.set_index("date")["mean"].asfreq("h")
print(f"{CITY}: {series.index[0]} to {series.index[-1]}, {series.isna().mean():.1%} of the hours missing")

# %% [markdown]
# ## The hold-out
#
# The last quarter of the time is for the test. Nothing about it enters a model: neither values nor averages. A day
# between both parts keeps lags of the test out of the training. Rows are never shuffled, because neighbouring hours
# are alike, and a shuffled test would flatter each model.

# %%
border = series.index[int(len(series) * 0.75)]
train = series[: border - pd.Timedelta(hours=25)]
test = series[border:]
print(f"training until {train.index[-1]}, test from {test.index[0]}")

# %% [markdown]
# ## References and a regression
#
# The forecast is for the hour that lies `horizon` hours after the last known one.
#
# * **persistence**: the last known value
# * **yesterday**: the value of the same hour of the day before, as far as it is known
# * **climatology**: the mean of the hour of the day in the training, weighted by nearness of the day of the year
# * **regression**: least squares on the logarithm, with the last values, the mean of the last day and the course of
#   the day

# %%
HORIZONS = [1, 6, 24]


def climatology(known, index):
    """Returns means of the hour of the day in known. Days within three weeks of the day of the year count."""
    known = known.dropna()
    table = known.groupby([known.index.day_of_year, known.index.hour]).mean().unstack().reindex(range(1, 367))
    smooth = pd.concat([table] * 3, ignore_index=True).rolling(43, center=True, min_periods=1).mean()
    smooth = smooth.iloc[366:732].set_axis(range(1, 367)).fillna(table.mean())
    return pd.Series([smooth.at[t.day_of_year, t.hour] for t in index], index)


def features(values, horizon):
    """Returns the inputs of the regression for the hour of each row. They end horizon hours before it."""
    log = np.log(values.clip(lower=1))
    past = log.shift(horizon)
    clock = 2 * np.pi * values.index.hour.to_numpy() / 24
    columns = {"one": 1.0, "last": past, "before": past.shift(1), "day": past.rolling(24, min_periods=18).mean()}
    columns["same hour"] = log.shift(24 * int(np.ceil(horizon / 24)))
    for n in (1, 2):
        columns[f"sin {n}"], columns[f"cos {n}"] = np.sin(n * clock), np.cos(n * clock)
        then = clock - 2 * np.pi * horizon / 24
        columns[f"then sin {n}"], columns[f"then cos {n}"] = np.sin(n * then), np.cos(n * then)
    return pd.DataFrame(columns, index=values.index)


def regression(horizon):
    inputs = features(train, horizon).assign(target=np.log(train.clip(lower=1))).dropna()
    weights = np.linalg.lstsq(inputs.drop(columns="target"), inputs["target"], rcond=None)[0]
    return np.exp(features(series, horizon) @ weights)[test.index]


normal = climatology(train, test.index)
forecasts = {
    horizon: pd.DataFrame(
        {
            "observed": test,
            "persistence": series.shift(horizon)[test.index],
            "yesterday": series.shift(24 * int(np.ceil(horizon / 24)))[test.index],
            "climatology": normal,
            "regression": regression(horizon),
        }
    ).dropna()
    for horizon in HORIZONS
}

# %% [markdown]
# ## Scores
#
# All methods are compared on the same hours. `bias` and the errors are in µg/m³. `skill` is 1 − MSE / MSE of
# persistence: 1 is perfect, 0 is as good as persistence, and below 0 is worse. `detected` is the share of the hours
# above 120 µg/m³ that were forecast, and `false` is the share of such forecasts that were wrong.

# %%
LIMIT = 120
rows = []
for horizon, table in forecasts.items():
    high = table["observed"] > LIMIT
    reference = ((table["persistence"] - table["observed"]) ** 2).mean()
    for method in table.columns[1:]:
        error = table[method] - table["observed"]
        alarm = table[method] > LIMIT
        rows.append(
            {
                "horizon": horizon,
                "method": method,
                "hours": len(table),
                "bias": error.mean(),
                "MAE": error.abs().mean(),
                "RMSE": np.sqrt((error**2).mean()),
                "skill": 1 - (error**2).mean() / reference,
                "detected": (high & alarm).sum() / max(high.sum(), 1),
                "false": (alarm & ~high).sum() / max(alarm.sum(), 1),
            }
        )
scores = pd.DataFrame(rows).set_index(["horizon", "method"])
assert scores["RMSE"].notna().all() and (scores["hours"] > 100).all()
scores.round(2)

# %% [markdown]
# ## How certain is the skill?
#
# Errors of neighbouring hours are alike, so the hours are no independent samples. The interval is from a bootstrap of
# whole days. A skill whose interval has 0 in it can be chance.

# %%
chance = np.random.default_rng(1)
for horizon, table in forecasts.items():
    squares = table[["persistence", "regression"]].sub(table["observed"], axis=0) ** 2
    by_day = squares.groupby(squares.index.date).sum().to_numpy()
    drawn = by_day[chance.integers(len(by_day), size=(1000, len(by_day)))].sum(axis=1)
    lower, upper = np.percentile(1 - drawn[:, 1] / drawn[:, 0], [2.5, 97.5])
    skill = scores.at[(horizon, "regression"), "skill"]
    print(f"{horizon:>2} h: skill of the regression {skill:.2f} [{lower:.2f}, {upper:.2f}]")

# %%
week = forecasts[24].tail(7 * 24)
axis = week.drop(columns="persistence").plot(figsize=(10, 3), ylabel="PM2.5, µg/m³", xlabel="")
axis.set_title("the last week of the test, 24 hours ahead")
plt.show()

# %% [markdown]
# The figures of an invented city say nothing about real air. Run the notebook on measured data before you use a
# method, and report these four references beside yours. A model with weather forecasts has to beat the regression at
# 24 hours.
