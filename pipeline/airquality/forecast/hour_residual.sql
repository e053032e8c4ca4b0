-- Errors of both models over the hours that both forecast, by place and six horizons. Errors of one day depend on each other, so
-- the interval has the levels of a sample of {{.HourDays}} days.
INSERT INTO {{.Database}}.forecast_hour_residual (run, fitted_at, place_kind, place, state, until, model, samples, mae, low, middle, high)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, place_kind, place, state, until, model, count() AS n, avg(abs(exp(target) - exp(centre))),
    (quantilesExact({{.HourLevels}})(target - centre) AS errors)[1], errors[2], errors[3]
FROM
(
    SELECT place_kind, place, state, until, target, named.1 AS model, named.2 AS centre
    FROM
    (
        SELECT place_kind, place, state, until, target, arrayJoin([('diurnal_anomaly', normal + latest_weight * latest + day_weight * day), ('persistence', toFloat64(again))]) AS named
        FROM
        (
{{.HourSamples}}
        ) AS samples
        INNER JOIN (SELECT toUInt16(horizon) AS horizon, latest_weight, day_weight FROM {{.Database}}.forecast_hour_fit WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}) AS fit USING (horizon)
        WHERE NOT isNaN(target + normal + latest + day + again)
    )
)
GROUP BY place_kind, place, state, until, model
HAVING n >= {{.MinHourErrors}}
{{.HourSettings}}
