-- Forecasts of the PM2.5 of hours, the fits that they follow from, and their score. Forecasts of days that can be compared.
ALTER TABLE {{.Database}}.{{local "forecast"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS compared UInt8 DEFAULT 0 COMMENT '1: the damped anomaly and persistence both have this forecast; only such rows show which is better' AFTER served,
    ADD COLUMN IF NOT EXISTS stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC',
    COMMENT COLUMN horizon 'days from the last day with data to the day that is forecast; 0 for no forecast; GET /v1/forecast shows 2 to 5',
    COMMENT COLUMN p50 '50th percentile, in the unit of p10; of persistence and climatology the value that they repeat';
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.forecast {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS compared UInt8 DEFAULT 0 COMMENT '1: the damped anomaly and persistence both have this forecast; only such rows show which is better' AFTER served,
    ADD COLUMN IF NOT EXISTS stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC',
    COMMENT COLUMN horizon 'days from the last day with data to the day that is forecast; 0 for no forecast; GET /v1/forecast shows 2 to 5',
    COMMENT COLUMN p50 '50th percentile, in the unit of p10; of persistence and climatology the value that they repeat';
{{end -}}
-- Replays may be many. Issued forecasts have no end.
ALTER TABLE {{.Database}}.{{local "forecast"}} {{.OnCluster}} MODIFY TTL stored_at + INTERVAL 90 DAY DELETE WHERE run != '';

CREATE OR REPLACE VIEW {{.Database}}.forecast_outcome {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25, pm10, no2, so2, co, o3, or aqi',
    day Date COMMENT 'day that was forecast, Indian calendar (IST)',
    season LowCardinality(String) COMMENT 'of the day: winter (December to February), spring, summer or autumn, three months each',
    horizon UInt8 COMMENT 'days from the last day with data to the day that was forecast; 1 is the day of the issue, which GET /v1/forecast never shows; it shows 5 only from midnight until the next issue',
    model LowCardinality(String) COMMENT 'damped_anomaly, persistence or climatology',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed, for horizon 1 the one that it would have shown',
    compared UInt8 COMMENT '1: the damped anomaly and persistence both have a forecast of this day; compare models by these rows',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³ (CO mg/m³), or AQI 0-500',
    p50 Float32 COMMENT 'forecast: 50th percentile, in the unit of p10',
    p90 Float32 COMMENT 'forecast: 90th percentile, in the unit of p10',
    probabilities Array(Float32) COMMENT 'forecast: probability of each AQI category from Good to Severe, 0-1; zeros for concentrations',
    observed Float64 COMMENT 'figure of the day as it is stored now, in the unit of p10',
    error Float64 COMMENT 'p50 - observed, in the unit of p10',
    covered UInt8 COMMENT '1: observed is from p10 to p90',
    warnings Array(Tuple(String, UInt8, UInt8, Float32)) COMMENT 'of the AQI: events (categories, over 200, over 300, over 400), whether p50 and observed have them, and their probability'
)
AS
SELECT run, place_kind, place, state, parameter, day, ['winter', 'spring', 'summer', 'autumn'][1 + intDiv(toMonth(day) % 12, 3)] AS season, horizon, model, served, compared,
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

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour"}} {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a test or replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    parameter LowCardinality(String) COMMENT 'pm25',
    base DateTime('UTC') COMMENT 'end of the last hour whose data the forecast uses, UTC' CODEC(DoubleDelta, LZ4),
    horizon UInt8 COMMENT 'hours from base to at, 1-60; 0 for no forecast, see reason',
    at DateTime('UTC') COMMENT 'end of the hour that is forecast, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    model LowCardinality(String) COMMENT 'diurnal_anomaly, or persistence: the last 24 hours repeated; none for no forecast',
    served UInt8 COMMENT '1: the better model, which GET /v1/forecast shows; 0: it is stored to be compared',
    compared UInt8 COMMENT '1: both models have a forecast of this hour',
    p10 Float32 COMMENT '10th percentile, µg/m³',
    p50 Float32 COMMENT '50th percentile, µg/m³',
    p90 Float32 COMMENT '90th percentile, µg/m³',
    widening Float32 COMMENT 'by how much recalibration moved p10 down and p90 up, natural logarithm',
    reason LowCardinality(String) COMMENT 'why there is no forecast, or why persistence is served: no_recent_data, constant_series, too_little_history, recent_gaps, persistence_not_beaten; empty for none',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    issued_at DateTime64(3, 'UTC') COMMENT 'when it was issued, UTC: it uses only what was stored before' CODEC(DoubleDelta, LZ4),
    precedence UInt64 DEFAULT 18446744073709551615 - toUInt64(toUnixTimestamp64Milli(issued_at)) COMMENT 'of equal keys the row with the largest counts: the first that was issued' CODEC(DoubleDelta, LZ4)
)
ENGINE = {{engine "ReplacingMergeTree" "precedence"}}
PARTITION BY toYYYYMM(base)
ORDER BY (run, place_kind, place, state, parameter, base, horizon, model)
COMMENT 'Forecasts of the PM2.5 of hours, issued every six hours. A forecast is never changed. Written by pipeline/airquality/forecast only. Read with FINAL.';
{{distributed "forecast_hour" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour_issue"}} {{.OnCluster}}
(
    run String COMMENT 'forecast_hour.run',
    base DateTime('UTC') COMMENT 'forecast_hour.base',
    issued_at DateTime64(3, 'UTC') COMMENT 'forecast_hour.issued_at',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    forecasts UInt64 COMMENT 'number of forecasts of the base'
)
ENGINE = {{engine "ReplacingMergeTree" "issued_at"}}
ORDER BY (run, base)
COMMENT 'One row per hour from which forecasts of hours were issued, stored after all of them. Written by pipeline/airquality/forecast only. Read with FINAL.';
{{distributed "forecast_hour_issue" "cityHash64(run)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour_fit"}} {{.OnCluster}}
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'when it was fitted, UTC',
    horizon UInt8 COMMENT 'hours ahead, 1-60',
    latest_weight Float64 COMMENT 'weight of the mean anomaly of the last three hours; an anomaly is the natural logarithm of the ratio to the usual value of the hour',
    day_weight Float64 COMMENT 'weight of the mean anomaly of the last 24 hours',
    samples UInt64 COMMENT 'pairs of an hour and its target',
    series UInt32 COMMENT 'places with enough data'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, horizon)
COMMENT 'Coefficients of the diurnal anomaly, one fit a day over the last four weeks, pooled over all places. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_hour_fit" "cityHash64(run)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour_residual"}} {{.OnCluster}}
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    until UInt8 COMMENT 'last of six horizons: 6, 12, … 60',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence',
    samples UInt32 COMMENT 'number of residuals',
    mae Float64 COMMENT 'mean absolute error, µg/m³',
    low Float32 COMMENT '10th percentile of the natural logarithm of measured over forecast',
    middle Float32 COMMENT '50th percentile of the natural logarithm of measured over forecast',
    high Float32 COMMENT '90th percentile of the natural logarithm of measured over forecast',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, place_kind, place, state, until, model)
TTL stored_at + INTERVAL 10 DAY
COMMENT 'Errors of both models in the four weeks before a fit, of the fits of the last 10 days. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_hour_residual" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour_score"}} {{.OnCluster}}
(
    run String COMMENT 'forecast_hour.run',
    fitted_at DateTime64(3, 'UTC') COMMENT 'forecast_hour_fit.fitted_at, UTC: the score is of the 90 days before',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    until UInt8 COMMENT 'last of six horizons: 6, 12, … 60',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence, of the forecasts that both have; served, of those that were shown; or repeated, of persistence in the same hours as served',
    forecasts UInt64 COMMENT 'number of issued forecasts with an observation',
    mae Float64 COMMENT 'mean absolute error, µg/m³',
    coverage80 Float64 COMMENT 'share of the observations from p10 to p90, 0-1; 0.8 is right',
    widening Float64 COMMENT 'by how much p10 must move down and p90 up for 80 % of the last 60 days, natural logarithm; 0 with fewer than 20 forecasts'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (run, fitted_at, place_kind, place, state, until, model)
COMMENT 'Score of the issued forecasts of hours over the 90 days before each fit. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_hour_score" "cityHash64(place)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "forecast_hour_input"}} {{.OnCluster}}
(
    input String COMMENT 'id of a fit or an issue',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'forecast_hour.place',
    state LowCardinality(String) COMMENT 'forecast_hour.state',
    position UInt16 COMMENT 'hour of the input, from 1; the last 60 are after the base',
    level Float32 COMMENT 'natural logarithm of the mean of the hour; NaN for none, as in all columns',
    usual Array(Float32) COMMENT 'mean level of this hour of the day over two weeks that end 1, 2 and 3 days before',
    repeated Array(Float32) COMMENT 'last level of this hour of the day, at least 1, 2 and 3 days before',
    latest Float32 COMMENT 'mean anomaly of the last three hours',
    day Float32 COMMENT 'mean anomaly of the last 24 hours',
    hours UInt8 COMMENT 'hours with data of the last 24',
    steady UInt8 COMMENT '1: the values of the last 24 hours are all equal',
    stored_at DateTime DEFAULT now() COMMENT 'when the row was stored, UTC'
)
ENGINE = {{engine "MergeTree"}}
ORDER BY (input, place_kind, place, state, position)
TTL stored_at + INTERVAL 1 DAY
COMMENT 'Hours on which fits and issues of the last day worked. Written by pipeline/airquality/forecast only.';
{{distributed "forecast_hour_input" "cityHash64(place)"}}

CREATE OR REPLACE VIEW {{.Database}}.forecast_hour_outcome {{.OnCluster}}
(
    run String COMMENT 'empty for an issued forecast; of a test or replay its id',
    place_kind LowCardinality(String) COMMENT 'city or station: what place is',
    place LowCardinality(String) COMMENT 'city as in station.city, or station.id',
    state LowCardinality(String) COMMENT 'state of a city; empty for a station',
    base DateTime('UTC') COMMENT 'end of the last hour whose data the forecast uses, UTC',
    horizon UInt8 COMMENT 'hours from base to at, 1-60',
    at DateTime('UTC') COMMENT 'end of the hour that was forecast, UTC',
    model LowCardinality(String) COMMENT 'diurnal_anomaly or persistence',
    served UInt8 COMMENT '1: the model that GET /v1/forecast showed',
    compared UInt8 COMMENT '1: both models have a forecast of this hour',
    p10 Float32 COMMENT 'forecast: 10th percentile, µg/m³',
    p50 Float32 COMMENT 'forecast: 50th percentile, µg/m³',
    p90 Float32 COMMENT 'forecast: 90th percentile, µg/m³',
    widening Float32 COMMENT 'forecast_hour.widening',
    observed Float64 COMMENT 'mean of the hour as it is stored now, µg/m³',
    error Float64 COMMENT 'p50 - observed, µg/m³',
    covered UInt8 COMMENT '1: observed is from p10 to p90'
)
AS
SELECT run, place_kind, place, state, base, horizon, at, model, served, compared, p10, p50, p90, widening, observed, p50 - observed AS error, observed BETWEEN p10 AND p90 AS covered
FROM (SELECT * FROM {{.Database}}.forecast_hour FINAL WHERE horizon > 0) AS issued
INNER JOIN
(
    SELECT 'station' AS place_kind, toString(station) AS place, '' AS state, at, assumeNotNull(mean) AS observed
    FROM {{.Database}}.station_parameter_hour FINAL
    WHERE parameter = 'pm25' AND kind = 'concentration' AND mean > 0 AND mean < 999 AND station IN (SELECT id FROM {{.Database}}.station FINAL)
    UNION ALL
    SELECT 'city' AS place_kind, city AS place, state, at, if(countIf(reference) > 0, avgIf(value, reference), avg(value)) AS observed
    FROM
    (
        SELECT described.city AS city, described.state AS state, described.physical AS physical, described.kind = 'reference' AS reference, at, avg(assumeNotNull(mean)) AS value
        FROM {{.Database}}.station_parameter_hour AS hour FINAL
        INNER JOIN (SELECT id, city, state, kind, if(same_as = '', id, same_as) AS physical FROM {{.Database}}.station FINAL WHERE city != '' AND kind != 'sensor') AS described ON described.id = hour.station
        WHERE parameter = 'pm25' AND hour.kind = 'concentration' AND mean > 0 AND mean < 999
        GROUP BY city, state, physical, reference, at
    )
    GROUP BY city, state, at
) AS came USING (place_kind, place, state, at)
COMMENT 'Forecasts of hours beside what came. One row per forecast of an hour that has data.';
