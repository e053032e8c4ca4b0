-- Forecasts, the fits that they follow from, and their score.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast"}} {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind Enum8('city' = 1, 'station' = 2) COMMENT 'what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that is forecast, Indian calendar (IST)',
    horizon UInt8 COMMENT 'days from the last day with data to the day that is forecast; 0 for no forecast',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology; none for no forecast, see reason',
    served UInt8 COMMENT '1: GET /v1/forecast shows this model; 0: it is stored to be compared',
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
    reason LowCardinality(String) COMMENT 'why there is no forecast, or why persistence is served: no_recent_data, implausible_value, constant_series, too_little_history, persistence_not_beaten; empty for none',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    issued_at DateTime64(3, 'UTC') COMMENT 'when it was issued, UTC: it uses only what was stored before' CODEC(DoubleDelta, LZ4)
)
ENGINE = {{engine "ReplacingMergeTree" "issued_at"}}
PARTITION BY toYYYYMM(day)
ORDER BY (run, place_kind, place, state, parameter, day, horizon, model)
COMMENT 'Forecasts of Indian days. A row is never changed. Written by pipeline/airquality/forecast only. Read with FINAL.';
{{distributed "forecast" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_issue"}} {{.OnCluster}}
(
    run String COMMENT 'forecast.run',
    base Date COMMENT 'last day whose data the forecasts use, Indian calendar',
    issued_at DateTime64(3, 'UTC') COMMENT 'forecast.issued_at, UTC',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_fit.fitted_at, UTC',
    forecasts UInt64 COMMENT 'number of rows of forecast',
    recorded_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when all rows were stored, UTC'
)
ENGINE = {{engine "ReplacingMergeTree" "recorded_at"}}
ORDER BY (run, base)
COMMENT 'One row per completed issue of forecasts. Written by pipeline/airquality/forecast only. Read with FINAL.';
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
    place_kind Enum8('city' = 1, 'station' = 2) COMMENT 'what place is',
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
    place_kind Enum8('all' = 0, 'city' = 1, 'station' = 2) COMMENT 'what place is; all: pooled over all places',
    place LowCardinality(String) COMMENT 'forecast.place',
    state LowCardinality(String) COMMENT 'forecast.state',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    horizon UInt8 COMMENT 'days ahead',
    season UInt8 COMMENT 'season of the target: 1 December to February, 2 March to May, 3 June to August, 4 September to November',
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
    place_kind Enum8('city' = 1, 'station' = 2) COMMENT 'what place is',
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
