-- The index of cities as agencies publish it, apart from the figures that the program computes.
CREATE TABLE IF NOT EXISTS {{.Database}}.{{local "bulletin"}} {{.OnCluster}}
(
    day Date COMMENT 'day of the bulletin, Indian time',
    name LowCardinality(String) COMMENT 'city, as the bulletin spells it',
    city LowCardinality(String) COMMENT 'city, canonical name, as in city_day',
    state LowCardinality(String) COMMENT 'state or union territory; empty if the name of the city is ambiguous',
    until DateTime('UTC') COMMENT 'end of the 24 hours whose mean the index is, UTC: 16:00 Indian time of the day; city_day has the Indian day instead' CODEC(DoubleDelta, LZ4),
    aqi UInt16 COMMENT 'National AQI that the agency published, 0-500, without unit: mean of the stations of the city',
    category LowCardinality(String) COMMENT 'category that the agency published: Good, Satisfactory, Moderate, Poor, Very Poor or Severe',
    prominent Array(LowCardinality(String)) COMMENT 'pollutants with the largest sub-index, as published: parameter.id; several if they are equal',
    stations_used UInt16 COMMENT 'number of stations whose index entered',
    stations_total UInt16 COMMENT 'number of stations of the city; 0 if unknown',
    source LowCardinality(String) COMMENT 'name of the source that brought it',
    run UInt64 COMMENT 'vayu_ops.source_run.run: the run that brought it' CODEC(ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was stored, UTC; of equal days and names the latest row counts' CODEC(DoubleDelta, LZ4)
)
ENGINE = {{engine "ReplacingMergeTree" "ingested_at"}}
PARTITION BY toYear(day)
ORDER BY (name, day)
COMMENT 'The index of cities as CPCB published it in its daily bulletins. Written by ingest only. No figure uses it. Read with FINAL.';
{{distributed "bulletin" "cityHash64(name)"}}
