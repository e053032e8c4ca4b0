-- Least squares of a target's anomaly on the mean anomaly of three hours and of 24, over cities and reference stations.
INSERT INTO {{.Database}}.forecast_hour_fit (run, fitted_at, horizon, latest_weight, day_weight, samples, series)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, horizon,
    (sum(latest * y) * sum(day * day) - sum(day * y) * sum(latest * day)) / (sum(latest * latest) * sum(day * day) - sum(latest * day) * sum(latest * day)) AS latest_weight,
    (sum(day * y) * sum(latest * latest) - sum(latest * y) * sum(latest * day)) / (sum(latest * latest) * sum(day * day) - sum(latest * day) * sum(latest * day)) AS day_weight,
    count(), uniqExact(place_kind, place, state)
FROM
(
    SELECT place_kind, place, state, horizon, toFloat64(latest) AS latest, toFloat64(day) AS day, toFloat64(target) - normal AS y FROM
    (
{{.HourSamples}}
    )
    WHERE NOT isNaN(target + normal + latest + day) AND {{.Shared}}
)
GROUP BY horizon
HAVING isFinite(latest_weight) AND isFinite(day_weight)
{{.HourSettings}}
