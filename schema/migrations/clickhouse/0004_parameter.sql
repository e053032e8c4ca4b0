-- Readings of any parameter, plain means of hours and days, and withdrawals.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "parameter"}} {{.OnCluster}}
(
    id String COMMENT 'identifier, as in reading.parameter',
    name String COMMENT 'name shown to people',
    unit LowCardinality(String) COMMENT 'unit of its values',
    substance_group LowCardinality(String) COMMENT 'particle, gas, organic, metal or weather',
    in_index Bool COMMENT 'whether it has a sub-index of the National AQI',
    molar_mass Float64 COMMENT 'g/mol; µg/m³ = ppb · molar_mass / 24.45 (25 °C, 1 atm); 0 where there is no volume ratio',
    least Float64 COMMENT 'least value that is believed, in its unit',
    most Float64 COMMENT 'largest value that is believed, in its unit',
    written_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was written, UTC; of equal ids the latest row counts'
)
ENGINE = {{engine "ReplacingMergeTree" "written_at"}}
ORDER BY id
COMMENT 'What stations measure: the catalogue. Written by the program when it changes. Read with FINAL.';
{{distributed "parameter" "cityHash64(id)"}}

-- The plain means of readings that 0.1.0 rolled up are computed by the first roll-up of a newer program.
ALTER TABLE {{.Database}}.{{local "rollup"}} {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS seen UInt64 DEFAULT 0 COMMENT 'fingerprint of the readings of the minute before started, as the roll-up saw them; 0: unknown' AFTER started,
    ADD COLUMN IF NOT EXISTS means Enum8('none' = 0, 'wanted' = 1, 'done' = 2) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are';
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.rollup {{.OnCluster}}
    ADD COLUMN IF NOT EXISTS seen UInt64 DEFAULT 0 COMMENT 'fingerprint of the readings of the minute before started, as the roll-up saw them; 0: unknown' AFTER started,
    ADD COLUMN IF NOT EXISTS means Enum8('none' = 0, 'wanted' = 1, 'done' = 2) DEFAULT 'none' COMMENT 'wanted: plain means of the readings before are to be computed; done: they are';
{{end -}}

-- The table reading gets its new form beside the old one, and its name when the old one has lost it. Then the old rows are
-- copied. Programs that migrate at the same time rename once: the second finds the new name taken.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "reading_0004"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id: what was measured',
    at DateTime('UTC') COMMENT 'end of the averaging interval, UTC' CODEC(DoubleDelta, LZ4),
    value Float64 COMMENT 'value in the unit of the parameter, or a sub-index 0-500: see kind' CODEC(ZSTD(1)),
    kind Enum8('concentration' = 1, 'sub_index' = 2) COMMENT 'what value is; concentration: a measured value of whatever parameter',
    averaging UInt16 COMMENT 'averaging interval, minutes',
    flag Enum8('plain' = 0, 'stuck' = 1, 'clipped' = 2) COMMENT 'something odd that the source says about a reading, which is kept all the same',
    source LowCardinality(String) COMMENT 'name of the source that brought it',
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was stored, UTC; of equal keys the latest reading counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the source has corrected the value to missing; FINAL leaves the row out' CODEC(ZSTD(1)),
    INDEX ingested ingested_at TYPE minmax GRANULARITY 4
)
ENGINE = {{engine "ReplacingMergeTree" "ingested_at" "removed"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, parameter, at, kind, averaging)
COMMENT 'Every reading as its source gave it. Written by ingest only. Read with FINAL.';
-- when column {{local "reading"}}.pollutant
RENAME TABLE {{.Database}}.{{local "reading"}} TO {{.Database}}.{{local "reading_0001"}}, {{.Database}}.{{local "reading_0004"}} TO {{.Database}}.{{local "reading"}} {{.OnCluster}};
{{if .OnCluster -}}
-- when column reading.pollutant
DROP TABLE IF EXISTS {{.Database}}.reading {{.OnCluster}} SYNC;
{{distributed "reading" "cityHash64(station)"}}
-- when column {{local "reading_0001"}}.pollutant
{{distributed "reading_0001" "cityHash64(station)"}}
{{end -}}
-- when column reading_0001.pollutant
INSERT INTO {{.Database}}.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at)
SELECT station, toString(pollutant), at, value, kind, averaging, flag, source, ingested_at FROM {{.Database}}.reading_0001
SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1;
-- An insert that was under way when the tables changed names has ended in the old one since.
-- when column reading_0001.pollutant
INSERT INTO {{.Database}}.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at)
SELECT station, toString(pollutant), at, value, kind, averaging, flag, source, ingested_at FROM {{.Database}}.reading_0001 WHERE ingested_at > now() - INTERVAL 1 HOUR
SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1;
-- when column reading_0001.pollutant
INSERT INTO {{.Database}}.rollup (started, hours_from, hours_to, stations, means)
SELECT toDateTime64(0, 3, 'UTC'), min(at), max(at), 0, 'wanted' FROM {{.Database}}.reading_0001 HAVING count() > 0;
{{if .OnCluster -}}
DROP TABLE IF EXISTS {{.Database}}.reading_0001 {{.OnCluster}} SYNC;
{{end -}}
DROP TABLE IF EXISTS {{.Database}}.{{local "reading_0001"}} {{.OnCluster}} SYNC;
DROP TABLE IF EXISTS {{.Database}}.{{local "reading_0004"}} {{.OnCluster}} SYNC;

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "withdrawal"}} {{.OnCluster}}
(
    id String COMMENT 'withdrawal, wdr_…',
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; empty for all',
    from_at DateTime('UTC') COMMENT 'readings whose interval ends after this, UTC, are left out',
    to_at DateTime('UTC') COMMENT 'and not after this, UTC',
    reason String COMMENT 'reason given by the operator',
    actor String COMMENT 'who withdrew them',
    made_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when, UTC; of equal ids the latest row counts',
    removed UInt8 DEFAULT 0 COMMENT '1: the withdrawal was taken back; FINAL leaves the row out'
)
ENGINE = {{engine "ReplacingMergeTree" "made_at" "removed"}}
ORDER BY (station, id)
COMMENT 'Readings that were withdrawn by hand. The readings stay; no mean and no index has them. Written by vayu readings withdraw only. Read with FINAL.';
{{distributed "withdrawal" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station_parameter_hour"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; its unit is that of the means',
    kind Enum8('concentration' = 1, 'sub_index' = 2, 'daily_mean' = 3) COMMENT 'concentration: a mean of the hour; sub_index: the figure 0-500 that the source published in the hour; daily_mean: a mean of a day that ends in the hour',
    at DateTime('UTC') COMMENT 'end of the hour, UTC; hours are those of an Indian clock, so they end at hh:30' CODEC(DoubleDelta, LZ4),
    mean Nullable(Float64) COMMENT 'mean of the readings of the hour; a direction: of unit vectors; NULL when all of them are excluded' CODEC(ZSTD(1)),
    minimum Nullable(Float64) COMMENT 'least of the readings' CODEC(ZSTD(1)),
    maximum Nullable(Float64) COMMENT 'largest of the readings' CODEC(ZSTD(1)),
    count UInt16 COMMENT 'readings in the mean' CODEC(ZSTD(1)),
    expected UInt16 COMMENT 'readings that make a full hour: 60 divided by the averaging interval, at least 1' CODEC(ZSTD(1)),
    coverage Float32 ALIAS least(1, count / expected) COMMENT 'share of the expected readings that the mean has, 0-1',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect' CODEC(ZSTD(1)),
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn' CODEC(ZSTD(1)),
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'worst verdict of the readings in the mean; fail when all are excluded' CODEC(ZSTD(1)),
    averaging UInt16 COMMENT 'shortest averaging interval of the readings, minutes' CODEC(ZSTD(1)),
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the mean, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the hour has no readings any more; FINAL leaves the row out' CODEC(ZSTD(1))
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at" "removed"}}
PARTITION BY toYYYYMM(at)
ORDER BY (station, at, parameter, kind)
SETTINGS index_granularity = 1024
COMMENT 'A parameter at a station in an hour: plain figures, not rolling ones. Written by pipeline/airquality only. Read with FINAL.';
{{distributed "station_parameter_hour" "cityHash64(station)"}}

CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "station_parameter_day"}} {{.OnCluster}}
(
    station LowCardinality(String) COMMENT 'station.id',
    parameter LowCardinality(String) COMMENT 'parameter.id; its unit is that of the means',
    day Date COMMENT 'Indian calendar day (IST)',
    mean Nullable(Float64) COMMENT 'mean of the hours of the day, or the mean that the source published; NULL when all are excluded' CODEC(ZSTD(1)),
    minimum Nullable(Float64) COMMENT 'least of the readings' CODEC(ZSTD(1)),
    maximum Nullable(Float64) COMMENT 'largest of the readings' CODEC(ZSTD(1)),
    count UInt16 COMMENT 'hours in the mean; 1 for a published mean of the day' CODEC(ZSTD(1)),
    expected UInt16 COMMENT '24; 1 for a published mean of the day' CODEC(ZSTD(1)),
    coverage Float32 ALIAS least(1, count / expected) COMMENT 'share of the expected hours that the mean has, 0-1',
    suspect UInt16 COMMENT 'readings in the mean that a quality test calls suspect' CODEC(ZSTD(1)),
    excluded UInt16 COMMENT 'readings left out: failed a quality test, or withdrawn' CODEC(ZSTD(1)),
    flag Enum8('good' = 1, 'not_evaluated' = 2, 'suspect' = 3, 'fail' = 4, 'missing' = 9) COMMENT 'worst verdict of the readings in the mean; fail when all are excluded' CODEC(ZSTD(1)),
    updated DateTime('UTC') COMMENT 'end of the latest averaging interval in the mean, UTC' CODEC(DoubleDelta, LZ4),
    computed_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the row was computed, UTC; of equal keys the latest row counts' CODEC(DoubleDelta, LZ4),
    removed UInt8 DEFAULT 0 COMMENT '1: the day has no readings any more; FINAL leaves the row out' CODEC(ZSTD(1))
)
ENGINE = {{engine "ReplacingMergeTree" "computed_at" "removed"}}
PARTITION BY toYear(day)
ORDER BY (station, parameter, day)
COMMENT 'A parameter at a station on an Indian day: plain figures of concentrations. Written by pipeline/airquality only. Read with FINAL.';
{{distributed "station_parameter_day" "cityHash64(station)"}}
