-- Score of the forecasts of hours that were issued in the last {{.Judged}} days, and how much the last {{.Recalibrated}} widen the interval.
-- Parameters: from and base, the first and last hour of the score.
INSERT INTO {{.Database}}.forecast_hour_score (run, fitted_at, place_kind, place, state, until, model, forecasts, mae, coverage80, widening)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, place_kind, place, state, until, name, count(), avg(abs(p50 - observed)), avg(covered),
    if(countIf(recent) >= {{.MinErrors}}, quantileExactHighIf(0.8)(miss, recent), 0)
FROM
(
    SELECT place_kind, place, state, toUInt8(intDiv(horizon + 5, 6) * 6) AS until, value AS observed, p50, observed BETWEEN p10 AND p90 AS covered,
        toFloat32(greatest(log(p10) + widening - log(observed), log(observed) - log(p90) + widening)) AS miss,
        arrayJoin(arrayConcat(if(compared, [toString(model)], []), if(served, ['served'], []), if(model = 'persistence', ['repeated'], []))) AS name,
        compared AND model = name AND base > {base:DateTime('UTC')} - toIntervalDay({{.Recalibrated}}) AS recent
    FROM
    (
        SELECT place_kind, place, state, horizon, base, at, model, served, compared, p10, p50, p90, widening FROM {{.Database}}.forecast_hour FINAL
        WHERE run = {run:String} AND horizon > 0 AND base > {from:DateTime('UTC')} AND at <= {base:DateTime('UTC')}
    ) AS issued
    INNER JOIN
    (
{{.Hours}}
    ) AS came USING (place_kind, place, state, at)
)
GROUP BY place_kind, place, state, until, name
{{.HourSettings}}
