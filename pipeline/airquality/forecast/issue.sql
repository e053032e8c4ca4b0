-- All forecasts of an issue: concentrations of each series first, then the AQI of each place from them.
-- A forecast is {{.Members}} equally probable members: the central value with quantiles of residuals, recalibrated. These are the
-- place's own of the season, else its own of all seasons, else the pooled ones of the season, else the pooled ones of all.
-- The 50th percentile is the median of the members. Those of persistence and climatology are moved until it is the value that
-- these repeat.
-- The AQI takes equal ranks of all parameters together, as if they rose and fell together. A parameter without a damped
-- anomaly has the members of persistence in the AQI of the damped anomaly, so that no parameter is left out.
-- Parameters: see issue.go.
INSERT INTO {{.Database}}.forecast
    (run, place_kind, place, state, parameter, day, horizon, model, served, compared, p10, p50, p90, good, satisfactory, moderate, poor, very_poor, severe, widening, history, reason, fitted_at, issued_at)
WITH
[{{.Levels}}] AS ranks,
modelled AS
(
    SELECT place_kind, place, state, parameter, days, base, horizon, day, target, steady, named.1 AS model, named.2 AS centre, NOT isNaN(model_centre) AS both
    FROM
    (
        SELECT *, normal + day_weight * anomaly + week_weight * week AS model_centre, arrayJoin([('damped_anomaly', model_centre), ('persistence', level), ('climatology', normal)]) AS named
        FROM
        (
            SELECT samples.*, if(fit.samples = 0, nan, fit.day_weight) AS day_weight, fit.week_weight AS week_weight
            FROM
            (
{{.Samples}}
            ) AS samples
            LEFT JOIN
            (
                SELECT parameter, horizon, day_weight, week_weight, samples FROM {{.Database}}.forecast_fit
                WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
            ) AS fit USING (parameter, horizon)
        )
    )
    WHERE NOT isNaN(named.2)
),
observed AS
(
    SELECT place_kind, place, state, day, aqi, amounts, figure.1 AS parameter, assumeNotNull(figure.2) AS came
    FROM
    (
        SELECT place_kind, place, state, day, aqi, amounts, arrayJoin(arrayConcat([('aqi', toFloat64(aqi))], arrayZip({{.Names}}, amounts))) AS figure
        FROM {{.Database}}.forecast_input
        WHERE input = {input:String} AND known_at <= {known:DateTime64(3, 'UTC')} AND day > {base:Date} - {{.Judged}} AND day <= {base:Date}
    )
    WHERE figure.2 > 0 OR figure.1 = 'aqi' AND isNotNull(figure.2)
),
issued AS
(
    -- Forecasts that were issued for the last {{.Judged}} days show which model is better, over the days that both forecast. Those
    -- of the last {{.Recalibrated}} recalibrate the interval.
    SELECT place_kind, place, state, parameter, horizon, model, avgIf(abs(p50 - came), compared) AS mae, countIf(compared) AS n,
        arraySort(groupArrayIf(if(parameter = 'aqi', greatest(p10 + widening - came, came - p90 + widening), greatest(log(p10) + widening - log(came), log(came) - log(p90) + widening)),
            day > {base:Date} - {{.Recalibrated}})) AS misses,
        length(misses) AS recent, if(recent >= {{.MinErrors}}, misses[least(recent, toUInt32(ceil((recent + 1) * 0.8)))], 0.) AS moved
    FROM
    (
        SELECT place_kind, place, state, toString(parameter) AS parameter, day, horizon, toString(model) AS model, compared, p10, p50, p90, widening FROM {{.Database}}.forecast FINAL
        WHERE run = {run:String} AND horizon > 0 AND day > {base:Date} - {{.Judged}} AND day <= {base:Date} AND issued_at < {known:DateTime64(3, 'UTC')}
    ) AS earlier
    INNER JOIN (SELECT place_kind, place, state, day, toString(parameter) AS parameter, came FROM observed) AS came USING (place_kind, place, state, parameter, day)
    GROUP BY place_kind, place, state, parameter, horizon, model
),
judged AS
(
    -- Without enough issued forecasts, the errors of the present fit in these days do.
    SELECT place_kind, place, state, parameter, horizon, model, any(days) AS history, any(steady) AS constant, count() AS seen,
        anyIf(centre, base = {base:Date}) AS latest, {base:Date} + horizon AS ahead,
        groupArrayIf(target - centre, NOT isNaN(target) AND day > {base:Date} - {{.Recalibrated}}) AS errors,
        avgIf(abs(exp(target) - exp(centre)), NOT isNaN(target) AND both AND day > {base:Date} - {{.Judged}}) AS fitted_mae
    FROM modelled
    -- An issue of the same base may have been before this one. A place keeps the forecasts that it has.
    WHERE (place_kind, place, state) NOT IN
    (
        SELECT place_kind, place, state FROM {{.Database}}.forecast
        WHERE run = {run:String} AND horizon > 0 AND day > {base:Date} AND day <= {base:Date} + {{.Farthest}} AND day - horizon = {base:Date}
            AND issued_at <= (SELECT max(issued_at) FROM {{.Database}}.forecast_issue WHERE run = {run:String} AND base = {base:Date})
    )
    GROUP BY place_kind, place, state, parameter, horizon, model
    HAVING countIf(base = {base:Date}) > 0 AND seen >= {{.MinSeen}} AND NOT constant
),
spread AS
(
    SELECT place_kind, place, state, parameter, horizon, model, history, day, season, latest AS centre, if(issued.n >= {{.MinErrors}}, issued.mae, fitted_mae) AS mae,
        multiIf(notEmpty(own.quantiles), (own.quantiles, own.low, own.high), notEmpty(own_all.quantiles), (own_all.quantiles, own_all.low, own_all.high),
            notEmpty(pooled.quantiles), (pooled.quantiles, pooled.low, pooled.high), (pooled_all.quantiles, pooled_all.low, pooled_all.high)) AS residuals,
        if(model = 'damped_anomaly' OR empty(residuals.1), 0, (residuals.1[{{.Half}}] + residuals.1[{{.Half}} + 1]) / 2) AS median,
        arrayMap(q -> q - median, residuals.1) AS quantiles, residuals.2 - median AS low, residuals.3 - median AS high,
        arraySort(arrayMap(e -> greatest(low - e, e - high), errors)) AS misses,
        multiIf(issued.recent >= {{.MinErrors}}, issued.moved, length(misses) >= {{.MinErrors}}, misses[least(length(misses), toUInt32(ceil((length(misses) + 1) * 0.8)))], 0.) AS widening
    FROM (SELECT *, ahead AS day, {{.Season}} AS season FROM judged) AS judged
    LEFT JOIN
    (
        SELECT place_kind, place, state, parameter, horizon, season, model, low, high, quantiles FROM {{.Database}}.forecast_residual
        WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')} AND place_kind != 'all'
    ) AS own USING (place_kind, place, state, parameter, horizon, season, model)
    LEFT JOIN
    (
        SELECT place_kind, place, state, parameter, horizon, model, low, high, quantiles FROM {{.Database}}.forecast_residual
        WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')} AND place_kind != 'all' AND season = 0
    ) AS own_all USING (place_kind, place, state, parameter, horizon, model)
    LEFT JOIN
    (
        SELECT parameter, horizon, season, model, low, high, quantiles FROM {{.Database}}.forecast_residual
        WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')} AND place_kind = 'all'
    ) AS pooled USING (parameter, horizon, season, model)
    LEFT JOIN
    (
        SELECT parameter, horizon, model, low, high, quantiles FROM {{.Database}}.forecast_residual
        WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')} AND place_kind = 'all' AND season = 0
    ) AS pooled_all USING (parameter, horizon, model)
    LEFT JOIN issued USING (place_kind, place, state, parameter, horizon, model)
),
drawn AS
(
    SELECT place_kind, place, state, parameter, horizon, model, history, day, mae, widening, exp(centre + (quantiles[{{.Half}}] + quantiles[{{.Half}} + 1]) / 2) AS middle,
        arraySort(arrayMap((q, r) -> exp(centre + q + widening * (r - 0.5) / 0.4), quantiles, ranks)) AS members,
        least(middle, exp(centre + low - widening)) AS bottom, greatest(middle, exp(centre + high + widening)) AS top,
        arrayMap(v -> toInt32(ifNull(multiIf({{range $i, $p := .Parameters}}{{if $i}}parameter = '{{$p}}', naqi_{{$p}}(v), {{end}}{{end}}naqi_{{index .Parameters 0}}(v)), 0)), members) AS indices,
        maxIf(mae, model = 'damped_anomaly') OVER same AS damped_mae, maxIf(mae, model = 'persistence') OVER same AS persistence_mae, countIf(model = 'damped_anomaly') OVER same AS damped,
        damped > 0 AND damped_mae <= persistence_mae AS damped_served
    FROM spread
    WHERE notEmpty(quantiles)
    WINDOW same AS (PARTITION BY place_kind, place, state, parameter, horizon)
),
places AS
(
    SELECT place_kind, place, state, horizon, day, part.1 AS model,
        groupArrayIf((parameter, if(damped_served, 'damped_anomaly', 'persistence') = drawn.model, bottom, middle, top, widening, history,
            multiIf(drawn.model != 'persistence' OR damped_served, '', damped > 0, 'persistence_not_beaten', history > 0, 'recent_gaps', 'too_little_history'), damped > 0), NOT part.2) AS series,
        count() >= {{.MinPollutants}} AND countIf(NOT part.2 AND parameter IN ('pm25', 'pm10')) > 0 AS has_index,
        count() AS pollutants, maxForEach(indices) AS index, max(history) AS longest, minIf(damped_served, parameter IN ('pm25', 'pm10')) AS particles_damped
    FROM drawn
    ARRAY JOIN if(drawn.model = 'persistence' AND damped = 0, [('persistence', false), ('damped_anomaly', true)], [(toString(drawn.model), false)]) AS part
    GROUP BY place_kind, place, state, horizon, day, model
),
today AS
(
    -- The AQI of a city is the mean of its stations, so it is higher than that of its mean concentrations, by about as much as
    -- in the last {{.Recalibrated}} days.
    SELECT place_kind, place, state, toUInt16(came) AS aqi, excess FROM observed
    INNER JOIN
    (
        SELECT place_kind, place, state, if(count() >= {{.MinErrors}}, avg(came - arrayMax([{{range $i, $p := .Parameters}}{{if $i}}, {{end}}ifNull(naqi_{{$p}}(amounts[{{$i}} + 1]), 0){{end}}])), 0) AS excess
        FROM observed WHERE parameter = 'aqi' AND day > {base:Date} - {{.Recalibrated}}
        GROUP BY place_kind, place, state
    ) AS usual USING (place_kind, place, state)
    WHERE parameter = 'aqi' AND day = {base:Date}
),
indexed AS
(
    SELECT place_kind, place, state, horizon, day, model, series, particles_damped, has_index AND today.known AS counted, longest,
        floor((index[{{.Half}}] + index[{{.Half}} + 1]) / 2 + 0.5) AS median, if(model = 'persistence', aqi - median, floor(excess + 0.5)) AS moved,
        toInt32(greatest(0, least(500, median + moved))) AS middle, issued.moved AS widening,
        arrayMap((m, r) -> toInt32(greatest(0, least(500, floor(m + moved + widening * (r - 0.5) / 0.4 + 0.5)))), index, ranks) AS members,
        maxIf(issued.mae, model = 'damped_anomaly' AND issued.n >= {{.MinErrors}}) OVER same AS damped_mae, maxIf(issued.mae, model = 'persistence' AND issued.n >= {{.MinErrors}}) OVER same AS persistence_mae,
        pollutants = maxIf(pollutants, model = 'persistence') OVER same AS complete,
        countIf(model = 'damped_anomaly' AND counted) OVER same AS damped, damped > 0 AND countIf(model = 'persistence' AND counted) OVER same > 0 AS compared,
        damped > 0 AND if(damped_mae > 0 AND persistence_mae > 0, damped_mae <= persistence_mae, max(particles_damped) OVER same) AS damped_served
    FROM places
    LEFT JOIN (SELECT * FROM issued WHERE parameter = 'aqi') AS issued USING (place_kind, place, state, horizon, model)
    LEFT JOIN (SELECT place_kind, place, state, aqi, excess, true AS known FROM today) AS today USING (place_kind, place, state)
    WINDOW same AS (PARTITION BY place_kind, place, state, horizon)
),
emitted AS
(
    SELECT place_kind, place, state, horizon, day, model,
        arrayJoin(arrayConcat(
            arrayMap(s -> (s.1, toUInt8(s.2), toFloat32(s.3), toFloat32(s.4), toFloat32(s.5), toFloat32(s.6), s.7, s.8, CAST([], 'Array(Float32)'), toUInt8(s.9)), series),
            if(counted AND complete, [('aqi', toUInt8(if(damped_served, 'damped_anomaly', 'persistence') = model),
                toFloat32(least(middle, floor((members[5] + members[6]) / 2 + 0.5))), toFloat32(middle), toFloat32(greatest(middle, floor((members[45] + members[46]) / 2 + 0.5))),
                toFloat32(widening), longest,
                multiIf(model != 'persistence' OR damped_served, '', damped > 0, 'persistence_not_beaten', longest > 0, 'recent_gaps', 'too_little_history'),
                arrayMap(c -> toFloat32(countEqual(arrayMap(m -> toUInt8(multiIf(m <= 50, 1, m <= 100, 2, m <= 200, 3, m <= 300, 4, m <= 400, 5, 6)), members), c) / {{.Members}}), [1, 2, 3, 4, 5, 6]), toUInt8(compared))],
                []))) AS out
    FROM indexed
)
SELECT {run:String}, place_kind, place, state, out.1, day, horizon, model, out.2, out.10, out.3, out.4, out.5,
    out.9[1], out.9[2], out.9[3], out.9[4], out.9[5], out.9[6], out.6, out.7, out.8, {fitted:DateTime64(3, 'UTC')}, {known:DateTime64(3, 'UTC')}
FROM emitted
-- An issue that failed half-way left forecasts. They stay as they are, and this issue adds the others.
WHERE (place_kind, place, state, out.1, horizon, model) NOT IN
(
    SELECT place_kind, place, state, toString(parameter), horizon, toString(model) FROM {{.Database}}.forecast
    WHERE run = {run:String} AND horizon > 0 AND day > {base:Date} AND day <= {base:Date} + {{.Farthest}} AND day - horizon = {base:Date}
)
{{.Settings}}
