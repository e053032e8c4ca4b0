-- Quantiles of the residuals of each model, in logarithms, by series, horizon and season of the target.
INSERT INTO {{.Database}}.forecast_residual (run, fitted_at, place_kind, place, state, parameter, horizon, season, model, samples, low, high, quantiles)
WITH residuals AS
(
    SELECT place_kind, place, state, parameter, horizon, {{.Season}} AS season, named.1 AS model, toFloat32(named.2) AS residual
    FROM
    (
        SELECT *, arrayJoin([('damped_anomaly', target - normal - day_weight * anomaly - week_weight * week), ('persistence', target - level), ('climatology', target - normal)]) AS named
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
    WHERE NOT isNaN(named.2)
)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, place_kind, place, state, parameter, horizon, season, model, n, all[{{.Members}} + 1], all[{{.Members}} + 2], arrayResize(all, {{.Members}})
FROM
(
    SELECT place_kind, place, state, parameter, horizon, season, model, count() AS n, quantilesExact({{.Levels}}, 0.1, 0.9)(residual) AS all
    FROM residuals
    GROUP BY place_kind, place, state, parameter, horizon, season, model
    HAVING n >= {{.MinResiduals}}
)
{{.Settings}}
