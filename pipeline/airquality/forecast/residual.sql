-- Quantiles of the residuals of each model, in logarithms, by series, horizon and season of the target.
-- Season 0 has all seasons, for the first weeks of a season. Series with two years of data need none.
-- A row of a group has the residuals of all three models, because rows are what the grouping costs.
INSERT INTO {{.Database}}.forecast_residual (run, fitted_at, place_kind, place, state, parameter, horizon, season, model, samples, low, high, quantiles)
WITH residuals AS
(
    SELECT place_kind, place, state, parameter, horizon, arrayJoin(if(days < {{.LongHistory}}, [{{.Season}}, 0], [{{.Season}}])) AS season,
        toFloat32(target - normal - day_weight * anomaly - week_weight * week) AS damped, toFloat32(target - level) AS persistent, toFloat32(target - normal) AS climatic
    FROM
    (
        SELECT samples.*, fit.day_weight AS day_weight, fit.week_weight AS week_weight
        FROM
        (
{{.Samples}}
        ) AS samples
        LEFT JOIN
        (
            SELECT parameter, horizon, day_weight, week_weight FROM {{.Database}}.forecast_fit
            WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')}
        ) AS fit USING (parameter, horizon)
        WHERE NOT isNaN(target)
    )
)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, place_kind, place, state, parameter, horizon, season, named.1, named.2, named.3[{{.Members}} + 1], named.3[{{.Members}} + 2], arrayResize(named.3, {{.Members}})
FROM
(
    SELECT place_kind, place, state, parameter, horizon, season,
        arrayJoin([('damped_anomaly', damped_count, damped_quantiles), ('persistence', persistent_count, persistent_quantiles), ('climatology', climatic_count, climatic_quantiles)]) AS named
    FROM
    (
        SELECT place_kind, place, state, parameter, horizon, season{{range $name := .Residuals}},
            countIf(NOT isNaN({{$name}})) AS {{$name}}_count, quantilesExactIf({{$.Levels}}, 0.1, 0.9)({{$name}}, NOT isNaN({{$name}})) AS {{$name}}_quantiles{{end}}
        FROM residuals
        GROUP BY place_kind, place, state, parameter, horizon, season
    )
)
WHERE named.2 >= {{.MinResiduals}}
{{.Settings}}
