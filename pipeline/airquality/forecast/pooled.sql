-- The residuals of persistence over all cities and reference stations, for places with too little history. Each of them has
-- an equal share.
INSERT INTO {{.Database}}.forecast_residual (run, fitted_at, place_kind, place, state, parameter, horizon, season, model, samples, low, high, quantiles)
SELECT {run:String}, {fitted:DateTime64(3, 'UTC')}, 'all', '', '', parameter, horizon, season, model, n, pooled[{{.Members}} + 1], pooled[{{.Members}} + 2], arrayResize(pooled, {{.Members}})
FROM
(
    SELECT parameter, horizon, season, model, toUInt32(sum(samples)) AS n, quantilesExactArray({{.Levels}}, 0.1, 0.9)(quantiles) AS pooled
    FROM {{.Database}}.forecast_residual
    WHERE run = {run:String} AND fitted_at = {fitted:DateTime64(3, 'UTC')} AND model = 'persistence' AND place_kind != 'all' AND {{.Shared}} AND parameter = {{.Names}}[{slots:Array(UInt8)}[1]]
    GROUP BY parameter, horizon, season, model
)
{{.Settings}}
