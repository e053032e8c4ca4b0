-- Forecasts, the fits that they follow from, and their score.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast"}} {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that is forecast, Indian calendar (IST)',
    horizon UInt8 COMMENT 'days from the last day with data to the day that is forecast; 0 for no forecast; GET /v1/forecast shows 2 to 4',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology; none for no forecast, see reason',
    served UInt8 COMMENT '1: the best model, which GET /v1/forecast shows from horizon 2 on; 0: it is stored to be compared',
    p10 Float32 COMMENT '10th percentile: µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'central value of the model, in the unit of p10',
    p90 Float32 COMMENT '90th percentile, in the unit of p10',
    good Float32 COMMENT 'probability of AQI 0-50, 0-1; 0 for concentrations, as the next five',
    satisfactory Float32 COMMENT 'probability of AQI 51-100, 0-1',
    moderate Float32 COMMENT 'probability of AQI 101-200, 0-1',
    poor Float32 COMMENT 'probability of AQI 201-300, 0-1',
    very_poor Float32 COMMENT 'probability of AQI 301-400, 0-1',
    severe Float32 COMMENT 'probability of AQI 401-500, 0-1',
    widening Float32 COMMENT 'by how much recalibration moved p10 down and p90 up: natural logarithm, or AQI',
    history UInt32 COMMENT 'days of data in the climatology of the place; 0 for none',
    reason LowCardinality(String) COMMENT 'why there is no forecast, or why persistence is served: no_recent_data, implausible_value, constant_series, too_little_history, no_residuals, recent_gaps, persistence_not_beaten; empty for none',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    issued_at DateTime64(3, 'UTC') COMMENT 'when it was issued, UTC: it uses only what was stored before' CODEC(DoubleDelta, LZ4)
)
ENGINE = {{engine "ReplacingMergeTree" "issued_at"}}
PARTITION BY toYYYYMM(day)
ORDER BY (run, place_kind, place, state, parameter, day, horizon, model)
COMMENT 'Forecasts of Indian days. A forecast is never changed; a reason for none may be. Written by pipeline/airquality/forecast only. Read with FINAL.';
{{distributed "forecast" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_issue"}} {{.OnCluster}}
(
    run String COMMENT 'forecast.run',
    base Date COMMENT 'last day whose data the forecasts use, Indian calendar',
    issued_at DateTime64(3, 'UTC') COMMENT 'latest forecast.issued_at of the base, UTC: places whose day was late are issued later',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    forecasts UInt64 COMMENT 'number of forecasts of the base',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when all rows were stored, UTC'
)
ENGINE = {{engine "ReplacingMergeTree" "recorded_at"}}
ORDER BY (run, base)
COMMENT 'One row per day from which forecasts were issued. Written by pipeline/airquality/forecast only. Read with FINAL.';
{{distributed "forecast_issue" "cityHash64(run)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_fit"}} {{.OnCluster}}
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'when it was fitted, UTC; of a replay the time that it replays',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    horizon UInt8 COMMENT 'days ahead',
    first Date COMMENT 'first day of the data, Indian calendar',
    last Date COMMENT 'last day of the data, Indian calendar',
    day_weight Float64 COMMENT 'weight of the anomaly of the last day; an anomaly is the natural logarithm of the ratio to the climatology',
    week_weight Float64 COMMENT 'weight of the mean anomaly of the last seven days',
    samples UInt64 COMMENT 'pairs of a day and its target',
    series UInt32 COMMENT 'places with enough history'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, parameter, horizon)
COMMENT 'Coefficients of the damped anomaly, one fit a week, pooled over all places. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_fit" "cityHash64(run)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_climate"}} {{.OnCluster}}
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    days UInt32 COMMENT 'days with data',
    climate Array(Float32) COMMENT 'mean natural logarithm by day of the year ± 15 days, 365 values; NaN for too few days',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, place_kind, place, state, parameter)
TTL stored_at + INTERVAL 40 DAY
COMMENT 'Climatologies of places, of the fits of the last 40 days. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_climate" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_residual"}} {{.OnCluster}}
(
    run String COMMENT 'forecast.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is; all: pooled over all places',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    horizon UInt8 COMMENT 'days ahead',
    season UInt8 COMMENT 'season of the target: 1 December to February, 2 March to May, 3 June to August, 4 September to November, 0 all, of series with less than two years of data',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    samples UInt32 COMMENT 'number of residuals',
    low Float32 COMMENT '10th percentile of the natural logarithm of measured over forecast',
    high Float32 COMMENT '90th percentile of the natural logarithm of measured over forecast',
    quantiles Array(Float32) COMMENT '50 quantiles of the natural logarithm of measured over forecast: 0.01, 0.03, … 0.99',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, place_kind, place, state, parameter, horizon, season, model)
TTL stored_at + INTERVAL 40 DAY
COMMENT 'Errors of the models in the past, of the fits of the last 40 days. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_residual" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_input"}} {{.OnCluster}}
(
    input String COMMENT 'id of a fit, an issue or a replay',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    day Date COMMENT 'Indian calendar day (IST)',
    aqi Nullable(UInt16) COMMENT 'National AQI of the day, 0-500',
    amounts Array(Nullable(Float64)) COMMENT 'pm25, pm10, no2, so2, co and o3 of the day, µg/m³, CO mg/m³; NULL for none',
    known_at DateTime64(3, 'UTC') COMMENT 'from when on a forecast may use the day, UTC',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (input, place_kind, place, state, day)
TTL stored_at + INTERVAL 3 DAY
COMMENT 'Days on which fits, issues and replays of the last 3 days worked. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_input" "cityHash64(place)"}}

CREATE OR REPLACE VIEW {{.Database}}.forecast_outcome {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that was forecast, Indian calendar (IST)',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed, for horizon 1 the one that it would have shown',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'forecast: central value, in the unit of p10',
    p90 Float32 COMMENT 'forecast: 90th percentile, in the unit of p10',
    probabilities Array(Float32) COMMENT 'forecast: probability of each AQI category from Good to Severe, 0-1; zeros for concentrations',
    observed Float64 COMMENT 'figure of the day as it is stored now, in the unit of p10',
    error Float64 COMMENT 'p50 - observed, in the unit of p10',
    covered UInt8 COMMENT '1: observed is from p10 to p90',
    warnings Array(Tuple(String, UInt8, UInt8, Float32)) COMMENT 'of the AQI: events (categories, over 200, over 300, over 400), whether p50 and observed have them, and their probability'
)
AS
SELECT run, place_kind, place, state, parameter, day, ['winter', 'spring', 'summer', 'autumn'][1 + intDiv(toMonth(day) % 12, 3)] AS season, horizon, model, served,
    p10, p50, p90, [good, satisfactory, moderate, poor, very_poor, severe] AS probabilities, observed, p50 - observed AS error, observed BETWEEN p10 AND p90 AS covered,
    if(parameter = 'aqi', arrayConcat(
        arrayMap((name, chance) -> (name, ifNull(naqi_category(toUInt16(p50)) = name, 0), ifNull(naqi_category(toUInt16(observed)) = name, 0), chance), ['Good', 'Satisfactory', 'Moderate', 'Poor', 'Very Poor', 'Severe'], probabilities),
        arrayMap((edge, first) -> (concat('over ', toString(edge)), p50 > edge, observed > edge, toFloat32(arraySum(arraySlice(probabilities, first)))), [200, 300, 400], [4, 5, 6])), []) AS warnings
FROM (SELECT * FROM {{.Database}}.forecast FINAL WHERE horizon > 0) AS issued
INNER JOIN
(
    SELECT place_kind, place, state, day, figure.1 AS parameter, assumeNotNull(figure.2) AS observed
    FROM
    (
        SELECT 'city' AS place_kind, city AS place, state, day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toNullable(toFloat64(aqi)))]) AS figure
        FROM {{.Database}}.city_day FINAL WHERE at >= toDateTime(day, 'UTC') - 19800 + 86400 - 6 * 3600
        UNION ALL
        SELECT 'station' AS place_kind, station AS place, '' AS state, toDate(at + 19800 - 1) AS day,
            arrayJoin([('pm25', pm25), ('pm10', pm10), ('no2', no2), ('so2', so2), ('co', co), ('o3', o3), ('aqi', toFloat64(aqi))]) AS figure
        FROM {{.Database}}.station_hour FINAL WHERE (toUnixTimestamp(at) + 19800) % 86400 = 0
    )
    WHERE isNotNull(figure.2)
) AS came USING (place_kind, place, state, day, parameter)
COMMENT 'Forecasts beside what came. One row per forecast of a day that has data to within six hours of its end.';

CREATE OR REPLACE VIEW {{.Database}}.forecast_score {{.OnCluster}}
(
    run String COMMENT 'empty for issued forecasts; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology; two rows of as many forecasts are of the same days',
    forecasts UInt64 COMMENT 'number of forecasts with an observation',
    served UInt64 COMMENT 'number of them whose model was served; those of horizon 1 were never shown',
    mae Float64 COMMENT 'mean absolute error, µg/m³ (CO mg/m³), or AQI',
    rmse Float64 COMMENT 'root of the mean square error, in the unit of mae',
    bias Float64 COMMENT 'mean of forecast - observed, in the unit of mae',
    coverage80 Float64 COMMENT 'share of the observations from p10 to p90, 0-1; 0.8 is right'
)
AS
SELECT run, place_kind, place, state, parameter, horizon, season, model, count() AS forecasts, sum(served) AS served, avg(abs(error)) AS mae, sqrt(avg(error * error)) AS rmse, avg(error) AS bias, avg(covered) AS coverage80
FROM {{.Database}}.forecast_outcome
GROUP BY run, place_kind, place, state, parameter, horizon, season, model
COMMENT 'Score of the forecasts by place, parameter, horizon, season and model.';

CREATE OR REPLACE VIEW {{.Database}}.forecast_event {{.OnCluster}}
(
    run String COMMENT 'empty for issued forecasts; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    event LowCardinality(String) COMMENT 'category of the AQI, or over 200, over 300, over 400',
    forecasts UInt64 COMMENT 'number of forecasts with an observation',
    hits UInt64 COMMENT 'the central value and the observation have the event',
    misses UInt64 COMMENT 'only the observation has it',
    false_alarms UInt64 COMMENT 'only the central value has it',
    brier Float64 COMMENT 'mean square of probability - observation (0 or 1); 0 is perfect'
)
AS
SELECT run, place_kind, place, state, horizon, season, model, warned.1 AS event, count() AS forecasts,
    countIf(warned.2 AND warned.3) AS hits, countIf(NOT warned.2 AND warned.3) AS misses, countIf(warned.2 AND NOT warned.3) AS false_alarms, avg(pow(warned.4 - warned.3, 2)) AS brier
FROM
(
    SELECT run, place_kind, place, state, horizon, season, model,
        arrayJoin(warnings) AS warned
    FROM {{.Database}}.forecast_outcome
    WHERE parameter = 'aqi'
)
GROUP BY run, place_kind, place, state, horizon, season, model, event
COMMENT 'Warnings of the AQI forecasts by place, horizon, season, model and event.';
