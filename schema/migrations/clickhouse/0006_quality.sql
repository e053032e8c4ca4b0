-- What the quality tests say of readings. Raw values stay as they are.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "reading_quality"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'reading.parameter',
    at DateTime('UTC') COMMENT 'reading.at: end of the averaging interval, UTC; for flag missing the end of an interval without a reading' CODEC(DoubleDelta, LZ4),
    kind Enum8('concentration' = 1, 'sub_index' = 2) COMMENT 'reading.kind',
    averaging UInt16 COMMENT 'reading.averaging, minutes',
    test LowCardinality(String) COMMENT 'name of the test',
    version UInt16 COMMENT 'version of the test; a change of its rule or of a threshold raises it',
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'result of the test, numbered as in QARTOD; good results have no row',
    detail String COMMENT 'figures on which the result rests',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the result was computed, UTC; of equal keys the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the test no longer finds anything; FINAL leaves the row out'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at, removed"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, parameter, at, kind, averaging, test)
COMMENT 'Results of the quality tests that are not good: one row per reading and test. Written by pipeline/airquality/quality only. Read with FINAL.';
{{distributed "reading_quality" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "nox_form"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    day Date COMMENT 'Indian calendar day (IST)',
    documented UInt16 COMMENT 'times at which NO + NO2 = NOx holds as CPCB documents it: NO and NO2 in µg/m³ at 25 °C, NOx in ppb',
    zero_celsius UInt16 COMMENT 'times at which it holds with NO and NO2 in µg/m³ at 0 °C',
    one_unit UInt16 COMMENT 'times at which it holds for the bare numbers, so that all three have one unit',
    neither UInt16 COMMENT 'times at which it holds in none of these forms',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at"}}
PARTITION BY toYear(day)
ORDER BY (station, day)
COMMENT 'In which units a station reports NO, NO2 and NOx, by day. Written by pipeline/airquality/quality only. Read with FINAL.';
{{distributed "nox_form" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "corrected"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id of a low-cost sensor',
    at DateTime('UTC') COMMENT 'reading.at: end of the averaging interval, UTC' CODEC(DoubleDelta, LZ4),
    averaging UInt16 COMMENT 'reading.averaging, minutes',
    raw Float64 COMMENT 'PM2.5 as the sensor reported it, µg/m³' CODEC(ZSTD(1)),
    corrected Float64 COMMENT 'PM2.5 by the formula, µg/m³' CODEC(ZSTD(1)),
    humidity Float64 COMMENT 'relative humidity that the formula took, percent' CODEC(ZSTD(1)),
    channels Enum8('unknown' = 0, 'agree' = 1, 'differ' = 2) COMMENT 'whether the two channels of the sensor agree; unknown: the source does not deliver both',
    formula LowCardinality(String) COMMENT 'name of the formula',
    version UInt16 COMMENT 'version of the formula as it is written here',
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the reading or its humidity was corrected to missing; FINAL leaves the row out'
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at, removed"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, at, averaging, formula)
COMMENT 'PM2.5 of low-cost sensors, raw and corrected. Written by pipeline/airquality/quality only. Read with FINAL.';
{{distributed "corrected" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "colocation"}} {{.OnCluster}}
(
    sensor LowCardinality(String) COMMENT 'station.id of the sensor',
    reference LowCardinality(String) COMMENT 'station.id of the reference station beside it',
    hours_from DateTime('UTC') COMMENT 'first hour that was looked at, UTC',
    hours_to DateTime('UTC') COMMENT 'last hour that was looked at, UTC',
    distance_m Float64 COMMENT 'distance of the two, metres; NaN when a position is unknown',
    hours UInt32 COMMENT 'hours with both PM2.5 and the humidity of the sensor',
    slope Float64 COMMENT 'reference = slope * sensor + humidity * relative humidity + intercept',
    humidity Float64 COMMENT 'µg/m³ per percent of relative humidity',
    intercept Float64 COMMENT 'µg/m³',
    error Float64 COMMENT 'root of the mean square of what the fit leaves, µg/m³',
    error_raw Float64 COMMENT 'root of the mean square difference of the raw values, µg/m³',
    r2 Float64 COMMENT 'share of the variance of the reference that the fit explains',
    fitted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was computed, UTC; of equal keys the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "fitted_at"}}
ORDER BY (sensor, reference, hours_from, hours_to)
COMMENT 'Fits of low-cost sensors to reference stations beside them. Written by pipeline/airquality/quality only. Read with FINAL.';
{{distributed "colocation" "cityHash64(sensor)"}}
