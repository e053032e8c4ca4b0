-- Least squares of a target's anomaly on the anomaly of a day and of its week, over all series with a climatology: of cities
-- and of reference stations. A sensor uses the weights of all, and has no part in them.
-- It has two predictors and no intercept, so five sums per parameter and horizon are enough.
INSERT INTO {{.Database}}.forecast_fit (run, fitted_at, parameter, horizon, first, last, day_weight, week_weight, samples, series)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, parameter, horizon, min(base), max(day),
    (sum(anomaly * y) * sum(week * week) - sum(week * y) * sum(anomaly * week)) / (sum(anomaly * anomaly) * sum(week * week) - sum(anomaly * week) * sum(anomaly * week)) AS day_weight,
    (sum(week * y) * sum(anomaly * anomaly) - sum(anomaly * y) * sum(anomaly * week)) / (sum(anomaly * anomaly) * sum(week * week) - sum(anomaly * week) * sum(anomaly * week)) AS week_weight,
    count(), uniqExact(place_kind, place, state)
FROM
(
    SELECT *, target - normal AS y FROM
    (
{{.Samples}}
    )
    WHERE NOT isNaN(anomaly + week + target + normal) AND {{.Shared}}
)
GROUP BY parameter, horizon
HAVING isFinite(day_weight) AND isFinite(week_weight)
{{.Settings}}
