-- Forecasts of the PM2.5 of the next {{.HourHorizons}} hours of each place, by both models, or the reason for none.
-- The 50th percentile of persistence is the value that it repeats, and that of the model the median of its past errors.
-- Parameters: see hour.go.
INSERT INTO {{.Database}}.forecast_hour (run, place_kind, place, state, parameter, base, horizon, at, model, served, compared, p10, p50, p90, widening, reason, fitted_at, issued_at)
WITH
residuals AS
(
    SELECT place_kind, place, state, until, model, mae, low, middle, high FROM {{.Database}}.forecast_hour_residual
    WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
),
samples AS
(
    SELECT *, position AS origin FROM
    (
{{.HourSamples}}
    )
    WHERE (place_kind, place, state) NOT IN
    (
        SELECT place_kind, place, state FROM {{.Database}}.forecast_hour
        WHERE run = {run:String} AND base = {base:DateTime('UTC')} AND base IN (SELECT base FROM {{.Database}}.forecast_hour_issue WHERE run = {run:String})
    )
),
centred AS
(
    SELECT place_kind, place, state, horizon, until, isNaN(normal) AS young, named.1 AS model, named.2 AS centre, NOT isNaN(normal + latest + day + weighted) AS compared
    FROM
    (
        SELECT place_kind, place, state, horizon, until, normal, latest, day, if(fit.samples = 0, nan, latest_weight * latest + day_weight * day) AS weighted,
            arrayJoin([('diurnal_anomaly', normal + weighted), ('persistence', toFloat64(again))]) AS named
        FROM (SELECT * FROM samples WHERE hours >= {{.MinHours}} AND NOT steady AND NOT isNaN(again)) AS samples
        LEFT JOIN
        (
            SELECT toUInt16(horizon) AS horizon, latest_weight, day_weight, samples FROM {{.Database}}.forecast_hour_fit WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
        ) AS fit USING (horizon)
    )
    WHERE NOT isNaN(centre)
),
spread AS
(
    SELECT place_kind, place, state, horizon, until, young, model, centre, compared, own.samples > 0 AS judged, if(judged, (own.low, own.middle, own.high), (pooled.low, pooled.middle, pooled.high)) AS errors,
        if(model = 'persistence', errors.2, 0) AS offset, if(score.forecasts >= {{.MinErrors}}, score.widening, 0) AS widening,
        multiIf(score.forecasts >= {{.MinErrors}}, score.mae, judged, own.mae, nan) AS mae,
        greatest(own.samples > 0, pooled.places > 0) AS has_errors
    FROM centred
    LEFT JOIN (SELECT *, 1 AS samples FROM residuals) AS own USING (place_kind, place, state, until, model)
    LEFT JOIN
    (
        SELECT until, model, avg(low) AS low, avg(middle) AS middle, avg(high) AS high, count() AS places FROM residuals WHERE {{.Shared}} GROUP BY until, model
    ) AS pooled USING (until, model)
    LEFT JOIN
    (
        SELECT place_kind, place, state, until, model, forecasts, mae, widening FROM {{.Database}}.forecast_hour_score
        WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
    ) AS score USING (place_kind, place, state, until, model)
),
chosen AS
(
    SELECT *, compared AND maxIf(mae, model = 'diurnal_anomaly') OVER same <= maxIf(mae, model = 'persistence') OVER same AND countIf(model = 'diurnal_anomaly' AND isFinite(mae)) OVER same > 0 AS better,
        if(better, 'diurnal_anomaly', 'persistence') = model AS served
    FROM spread
    WHERE has_errors
    WINDOW same AS (PARTITION BY place_kind, place, state, horizon)
)
SELECT {run:String}, place_kind, place, state, 'pm25', {base:DateTime('UTC')}, horizon, {base:DateTime('UTC')} + toIntervalHour(horizon), model, served, compared,
    least(p50, exp(centre + errors.1 - offset - widening)), exp(centre + errors.2 - offset) AS p50, greatest(p50, exp(centre + errors.3 - offset + widening)), widening,
    multiIf(model != 'persistence' OR better, '', young, 'too_little_history', NOT compared, 'recent_gaps', isNaN(mae), 'too_little_history', 'persistence_not_beaten'),
    {fitted:DateTime64(3, 'UTC')}, {issued:DateTime64(3, 'UTC')}
FROM chosen
UNION ALL
SELECT {run:String}, place_kind, place, state, 'pm25', {base:DateTime('UTC')}, 0, {base:DateTime('UTC')}, 'none', 1, 0, 0, 0, 0, 0,
    multiIf(max(hours) < {{.MinHours}}, 'no_recent_data', max(steady) > 0, 'constant_series', 'too_little_history'),
    {fitted:DateTime64(3, 'UTC')}, {issued:DateTime64(3, 'UTC')}
FROM samples
WHERE (place_kind, place, state) NOT IN (SELECT place_kind, place, state FROM chosen)
GROUP BY place_kind, place, state
{{.HourSettings}}
